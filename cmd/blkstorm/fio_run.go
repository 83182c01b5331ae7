package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/execute"
	"blkstorm/plan"
	"blkstorm/plan/fiojob"
	"blkstorm/result"
	"blkstorm/result/fioout"
	"blkstorm/runner"
)

// runFio runs what jobs come to. Standard error stays empty unless it is refused or fails: programs that
// call fio take any text there for a failure.
func (a *app) runFio(ctx context.Context, c *fiojob.Command, set *fiojob.Set, work *fiojob.Work) (err error) {
	p := work.Plan
	for _, f := range work.Create {
		for i := range p.Targets {
			if p.Targets[i].Spec == f.Path {
				p.Targets[i].CreateBytes, p.Targets[i].Remake = f.Bytes, true
			}
		}
	}
	if err := a.allowFioSignatures(p, c.DestroySignature); err != nil {
		return err
	}
	in := &fioout.Input{Work: work, Set: set, PID: os.Getpid(), TerseVersion: c.TerseVersion}
	opts := execute.Options{Version: version, Dir: c.Dir, Roots: a.roots}
	status := newFioStatus(a, c, in)
	opts.Begun = func(d *result.Doc) error {
		in.Doc = d
		return nil
	}
	var steadied []*fioSteady
	steadied, in.Steady = newFioSteady(work)
	at := 0
	opts.PointBegun = func(index, _ int, _ string, p *plan.Point) {
		at = index
		in.PointBegin(p)
		forget(work.Invalidate[index])
	}
	opts.Enough = func(_ *plan.Point, row *runner.Row) bool { return steadied[at].row(row) }
	opts.Measured = func(_ *plan.Point, res *runner.Result) { in.Tuned(at, res) }
	opts.Cells = func(p *plan.Point, row *runner.Row, _ *result.Interval) {
		in.Cells(p, row)
		status.row(p, row)
	}
	opts.Row = func(_ *plan.Point, row *result.Interval) error {
		in.Gather(row)
		return nil
	}
	session, err := execute.Prepare(p, opts)
	if err != nil {
		return ofJob(work, err)
	}
	ctx, cancel := a.signals.context(ctx)
	defer cancel()
	run := session.Run
	if work.CreateOnly {
		run = session.Make
	}
	doc, err := run(ctx)
	for _, name := range work.Unlink {
		if gone := os.Remove(name); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	if doc == nil {
		return err
	}
	if work.CreateOnly { // the jobs are there, with nothing done
		for range p.Phases[0].Points {
			doc.Points = append(doc.Points, &result.Point{Started: doc.Started})
		}
	}
	in.Doc, in.Now, in.ETA = doc, time.Now(), 0
	in.PointBegin(nil)
	if bad := errors.Join(status.err, status.write()); bad != nil {
		err = errors.Join(err, bad)
	}
	err = errors.Join(err, status.close())
	if a.exit = fioStatusOf(a.status(doc)); a.exit == 1 {
		a.complainOf(doc)
	}
	if hung(doc) {
		a.leave(err)
	}
	if err != nil {
		a.complain(err)
		a.exit = max(a.exit, exitUsage)
	}
	return nil
}

// complainOf says on standard error why a run has failed: for each point what broke, or its first error.
func (a *app) complainOf(doc *result.Doc) {
	for _, p := range doc.Points {
		switch {
		case p.Failure != "":
			a.complain(fmt.Errorf("%s: %s", p.Label, p.Failure))
		case len(p.Errors) > 0:
			e := &p.Errors[0]
			a.complain(fmt.Errorf("%s: %s: %s of %d bytes at %d: %s: %s", p.Label, e.Target, e.Op, e.Length, e.Offset, e.Name, e.Message))
		case p.StuckIOs > 0:
			a.complain(fmt.Errorf("%s: %d I/Os were never answered", p.Label, p.StuckIOs))
		}
	}
}

// signatureVariable lists devices whose signatures may be overwritten, for scripts that call fio.
const signatureVariable = "BLKSTORM_DESTROY_SIGNATURE"

// allowFioSignatures takes those of the command line, and those of the environment that are targets.
func (a *app) allowFioSignatures(p *plan.Plan, names []string) error {
	for _, name := range strings.Split(os.Getenv(signatureVariable), ",") {
		for i := range p.Targets {
			if t := &p.Targets[i]; name != "" && (t.Spec == name || a.sameTarget(t.Spec, name)) {
				t.DestroySignature = true
			}
		}
	}
	return a.allowSignatures(p, names)
}

// ofJob names the job that an error of a plan is about.
func ofJob(work *fiojob.Work, err error) error {
	var part *plan.PartError
	if !errors.As(err, &part) {
		return err
	}
	for i := range work.Clones {
		if c := &work.Clones[i]; c.Point == part.Point && c.Stream == max(part.Stream, 0) {
			return fmt.Errorf("%s: job %s: %w", c.Job.Pos, c.Job.Name, err)
		}
	}
	return err
}

// fioStatusOf is fio's exit status: 1 for whatever went wrong. What asserts would say, fio does not have.
func fioStatusOf(status int) int {
	if status == exitFaults || status == exitMissed {
		return 1
	}
	return status
}

// forget has the kernel drop what it caches of files, as fio does before a job that goes through its cache.
// Where that does not work the run is still what it says: buffered.
func forget(paths []string) {
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			continue // it vanishes, or is made by the run as a file without a name
		}
		_ = f.Sync()
		_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		_ = f.Close()
	}
}

// fioStatus writes documents: the last one, and with --status-interval those before, each of all so far.
type fioStatus struct {
	in   *fioout.Input
	c    *fiojob.Command
	out  io.Writer
	file *os.File
	next time.Time
	err  error
}

func newFioStatus(a *app, c *fiojob.Command, in *fioout.Input) *fioStatus {
	s := &fioStatus{in: in, c: c, out: a.stdout}
	if c.StatusInterval > 0 {
		s.next = time.Now().Add(c.StatusInterval)
	}
	return s
}

// row writes a document when it is time for one; it is called in the runner's control goroutine.
func (s *fioStatus) row(p *plan.Point, row *runner.Row) {
	now := time.Now()
	if s.next.IsZero() || now.Before(s.next) || row.Ramp || s.err != nil {
		return
	}
	for !now.Before(s.next) {
		s.next = s.next.Add(s.c.StatusInterval)
	}
	s.in.Now, s.in.ETA = now, etaOf(p, row)
	s.err = s.write()
}

// etaOf is the time that a point has left, in whole seconds.
func etaOf(p *plan.Point, row *runner.Row) int64 {
	var last time.Duration
	for i := range p.Streams {
		s := &p.Streams[i]
		if s.Time == 0 {
			return fioout.Unknown
		}
		last = max(last, max(s.Start.D()+s.Ramp.D()-p.Ramp.D(), 0)+s.Time.D())
	}
	return max(int64(math.Ceil((last - row.Start - row.Length).Seconds())), 0)
}

// write writes a document in the forms that are asked for.
func (s *fioStatus) write() error {
	if s.c.Output != "" && s.file == nil {
		f, err := os.Create(s.c.Output)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		s.file, s.out = f, f
	}
	return writeFioForms(s.out, s.c.Formats, s.in)
}

func (s *fioStatus) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

func writeFioForms(out io.Writer, formats []string, in *fioout.Input) error {
	if len(formats) == 0 {
		formats = []string{"normal"}
	}
	var errs []error
	if slices.Contains(formats, "json") || slices.Contains(formats, "json+") {
		in.Plus = slices.Contains(formats, "json+")
		errs = append(errs, fioout.WriteJSON(out, in))
	}
	if slices.Contains(formats, "normal") {
		errs = append(errs, fioout.WriteNormal(out, in))
	}
	if slices.Contains(formats, "terse") {
		errs = append(errs, fioout.WriteTerse(out, in))
	}
	return errors.Join(errs...)
}
