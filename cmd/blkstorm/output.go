package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"blkstorm/execute"
	"blkstorm/live"
	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/result/published"
)

// writer puts the document on standard output, and nothing else.
type writer struct {
	out    io.Writer
	format string
	show   *live.View
	folder bool // the result is kept there, too
	failed error
}

// attach hooks the writer and the view of the run into it: both see rows and points; on standard output they
// appear where the format is a stream.
func (w *writer) attach(o *execute.Options) {
	o.Log = func(format string, args ...any) { w.show.Note(fmt.Sprintf(format, args...)) }
	o.Begun = func(d *result.Doc) error {
		w.show.Begin(d)
		return w.stream(func() error { return result.WriteNDJSONRun(w.out, d) })
	}
	o.PointBegun = w.show.PointBegin
	o.Row = func(_ *plan.Point, in *result.Interval) error {
		w.show.Row(in)
		return w.stream(func() error { return result.WriteNDJSON(w.out, in) })
	}
	o.Steady, o.Rounds = w.show.Steady, w.show.Rounds
	o.Point = func(i int, p *result.Point) error {
		w.show.PointEnd(p)
		return w.stream(func() error { return result.WriteNDJSONPoint(w.out, i, p) })
	}
}

// stream writes a line of a stream. Whoever reads it may go away, or its disk may be full: with a folder the
// run goes on, nothing follows the line that failed, and finish tells of it.
func (w *writer) stream(line func() error) error {
	if w.format != "ndjson" || w.failed != nil {
		return nil
	}
	err := line()
	if err != nil && w.folder {
		w.failed = err
		return nil
	}
	return err
}

// withoutPipe takes the errors of a reader that has gone away out of err, and says whether there was one.
func withoutPipe(err error) (rest error, gone bool) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, e := range joined.Unwrap() {
			e, pipe := withoutPipe(e)
			list, gone = append(list, e), gone || pipe
		}
		if gone {
			return errors.Join(list...), true
		}
		return err, false
	}
	if errors.Is(err, unix.EPIPE) {
		return nil, true
	}
	return err, false
}

// exitPipe is the status of a command whose reader has gone away, as shells show a SIGPIPE.
const exitPipe = signalBase + int(unix.SIGPIPE)

// readerGone says that whoever read standard output has gone away, and what becomes of the run. Another status
// tells more than that of a pipe.
func (a *app) readerGone(so string) {
	fmt.Fprintln(a.stderr, "blkstorm: whoever read standard output has gone away (broken pipe):", printable.Text(so))
	if a.exit == exitGood {
		a.exit = exitPipe
	}
}

// left is what there is without a reader.
func (w *writer) left(dir string) string {
	switch {
	case dir != "":
		return "the whole result is in " + dir
	case w.format == "ndjson":
		return "the run ended there; with --dir DIR it would have gone on"
	}
	return "the result is lost; --dir DIR would keep it"
}

// isTerminal says whether people see what is written to w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (w *writer) finish(d *result.Doc) error {
	if w.failed != nil {
		return w.failed
	}
	switch w.format {
	case "json":
		return result.WriteJSON(w.out, d)
	case "csv":
		return result.WriteCSV(w.out, d)
	case "ndjson":
		return result.WriteNDJSONEnd(w.out, d)
	default:
		return errors.Join(result.WriteText(w.out, d), published.WriteText(w.out, d))
	}
}

// dryRun prints what a run would do.
func (a *app) dryRun(p *plan.Plan, o execute.Options, format string) error {
	v, err := execute.Look(p, o)
	if err != nil {
		return err
	}
	if v.Refused() {
		a.exit = exitRefused
	}
	switch format {
	case "json":
		return writeJSON(a.stdout, v)
	case "yaml":
		return a.previewYAML(v)
	}
	return previewText(a.stdout, v)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func previewText(w io.Writer, v *execute.Preview) error {
	var err error
	say := func(format string, args ...any) {
		if err == nil {
			_, err = fmt.Fprintln(w, printable.Text(fmt.Sprintf(format, args...)))
		}
	}
	say("dry run: nothing is touched")
	if text := v.Plan.ProfileText(); text != "" {
		say("%s", text)
	}
	for _, t := range v.Targets {
		what := "reads from"
		if t.Writes {
			what = "writes to"
		}
		if t.Create {
			made := "makes a new file, writes it once, and then "
			if v.FillBytes == 0 {
				made = "makes a new file for a moment, and then "
			}
			what = made + what
		}
		say("%s %s", what, execute.Identity(t.Facts))
		if t.StartByte > 0 || t.EndByte < t.SizeBytes {
			say("  bytes %d to %d only (%s)", t.StartByte, t.EndByte, humanize.IBytes(uint64(t.EndByte-t.StartByte)))
		}
		for _, r := range t.Refusals {
			say("  refused [%s] %s", r.Code, r.Reason)
			say("      %s", r.Advice)
		}
	}
	if v.FinishedPoints > 0 {
		say("goes on with a run: %d of its points are finished", v.FinishedPoints)
	}
	for _, again := range v.Repeats {
		say("repeats %s", again)
	}
	for i := range v.Phases {
		previewPhase(say, &v.Phases[i], &v.Plan.Phases[i])
	}
	for _, a := range v.Plan.Asserts {
		say("must keep %s", a)
	}
	if v.Plan.Destroy {
		say("allowed to overwrite the targets (destroy): all data in their ranges is lost")
	}
	takes := "takes %v"
	if v.FillBytes > 0 {
		say("writes %s first, to fill new files", humanize.IBytes(uint64(v.FillBytes)))
		takes += " from then on"
	}
	say(takes, v.Outlook)
	say("plan:")
	if err != nil {
		return err
	}
	return writeJSON(w, v.Plan)
}
