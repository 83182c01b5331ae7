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

// refuseFio says why jobs are not run: on standard error, and in a document for whoever reads that.
func (a *app) refuseFio(c *fiojob.Command, set *fiojob.Set, work *fiojob.Work, why error) error {
	status, err := newFioStatus(a, c, &fioout.Input{Work: work, Set: set})
	if err != nil {
		return err
	}
	return joined(status.refused(why), status.close())
}

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
	in := &fioout.Input{Work: work, Set: set, PID: os.Getpid(), TerseVersion: c.TerseVersion}
	status, err := newFioStatus(a, c, in)
	if err != nil {
		return err
	}
	if err := a.runFioPlan(ctx, c, in, status); err != nil {
		return joined(status.refused(err), status.close())
	}
	return nil
}

// runFioPlan runs the plan; its error means that nothing ran.
func (a *app) runFioPlan(ctx context.Context, c *fiojob.Command, in *fioout.Input, status *fioStatus) error {
	p := in.Work.Plan
	if err := a.allowFioSignatures(p, c.DestroySignature); err != nil {
		return err
	}
	opts := execute.Options{Version: version, Dir: c.Dir, Roots: a.roots, SkipNone: true}
	opts.Begun = func(d *result.Doc) error {
		in.Doc = d
		return status.head()
	}
	var steadied []*fioSteady
	steadied, in.Steady = newFioSteady(in.Work)
	at := 0
	opts.PointBegun = func(index, _ int, _ string, p *plan.Point) {
		at = index
		if in.Disks == nil {
			in.Disks = fioout.Watch(a.roots.Host, in.Doc.Targets)
		}
		in.PointBegin(p)
		forget(in.Work.Invalidate[index])
	}
	opts.Enough = func(_ *plan.Point, row *runner.Row) bool { return steadied[at].row(row) }
	opts.Measured = func(_ *plan.Point, res *runner.Result) { in.Tuned(at, res) }
	opts.Cells = func(p *plan.Point, row *runner.Row, _ *result.Interval) {
		in.Disks.Update()
		in.Cells(p, row)
		status.progress(p, row)
		status.row(p, row)
	}
	opts.JobsApart = !slices.ContainsFunc(in.Set.Jobs, func(j *fiojob.Job) bool { return j.On("exitall_on_error", false) })
	undo, err := a.makeFolders(in.Work)
	if err != nil {
		return err
	}
	session, err := execute.Prepare(p, opts)
	if err != nil {
		undo()
		return ofJob(in.Work, err)
	}
	ctx, cancel := a.signals.context(ctx)
	defer cancel()
	run := session.Run
	if in.Work.CreateOnly {
		run = session.Make
	}
	doc, err := run(ctx)
	for _, name := range in.Work.Unlink {
		if gone := os.Remove(name); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	if doc == nil {
		return err
	}
	if in.Work.CreateOnly { // the jobs are there, with nothing done
		for range p.Phases[0].Points {
			doc.Points = append(doc.Points, &result.Point{Started: doc.Started})
		}
	}
	in.Doc, in.Now, in.ETA, in.Failed = doc, time.Now(), 0, err
	in.PointBegin(nil)
	if in.Disks != nil {
		in.Disks.Update()
	}
	err = errors.Join(err, status.err, status.write(), status.close())
	a.exit = a.fioExit(doc)
	for _, p := range doc.Points {
		if fault := faultOf(p); fault != nil && a.exit == fioFailed {
			a.complain(fault)
		}
	}
	a.conclude(doc, err)
	return nil
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

// Exit status of fio: 1 for I/O that failed, 128 for a run that a signal ended. A steady state that was not
// reached is in its output only.
const (
	fioFailed = 1
	fioEnded  = 128
)

func (a *app) fioExit(doc *result.Doc) int {
	switch {
	case a.signals.status() != 0:
		return fioEnded
	case execute.Faulted(doc) && !wentOn(doc):
		return fioFailed
	}
	return exitGood
}

// faultOf is what went wrong first in a point, for those who look at standard error alone.
func faultOf(p *result.Point) error {
	switch {
	case p.Failure != "":
		return fmt.Errorf("%s: %s", p.Label, p.Failure)
	case len(p.Errors) > 0:
		e := &p.Errors[0]
		return fmt.Errorf("%s: %d I/Os failed, the first: %s of %d bytes at offset %d of %s: %s", p.Label, p.Faults, e.Op, e.Length, e.Offset, e.Target, e.Message)
	case p.StuckIOs > 0:
		text := fmt.Sprintf("%s: %d I/Os were never answered", p.Label, p.StuckIOs)
		if len(p.Stuck) > 0 {
			i := &p.Stuck[0]
			text += fmt.Sprintf(", the oldest: %s of %d bytes at offset %d of %s, for %.1f s", i.Op, i.Length, i.Offset, i.Target, i.AgeS)
		}
		return errors.New(text)
	}
	return nil
}

// wentOn says whether all that failed are I/Os that continue_on_error counts: for fio that is success, with the
// number of the first error in the job.
func wentOn(doc *result.Doc) bool {
	for i, p := range doc.Points {
		if p.StuckIOs > 0 || p.Failure != "" || endedJob(doc, i) {
			return false
		}
	}
	return true
}

// endedJob says whether a failed I/O of a point may have ended a job: one on the same target that does not go on.
func endedJob(doc *result.Doc, point int) bool {
	p, streams := doc.Points[point], doc.Plan.Phases[0].Points[point].Streams
	for i := range streams {
		if doc.Plan.ContinuesOnError(&streams[i]) {
			continue
		}
		for _, t := range streams[i].Targets {
			if slices.ContainsFunc(p.Errors, func(e result.IOError) bool { return e.Target == doc.Targets[t].Path }) {
				return true
			}
		}
	}
	return false
}

// fioStatus writes documents: the last one, and with --status-interval those before, each of all so far.
type fioStatus struct {
	in   *fioout.Input
	c    *fiojob.Command
	out  io.Writer
	file *os.File
	next time.Time
	err  error
	// live says whether progress is shown on the terminal, and width how long the line is that is there.
	live     bool
	terminal io.Writer
	width    int
}

// newFioStatus opens the file for the output.
func newFioStatus(a *app, c *fiojob.Command, in *fioout.Input) (*fioStatus, error) {
	s := &fioStatus{in: in, c: c, out: a.stdout, terminal: a.stdout}
	s.live = c.ETA == "always" || c.ETA == "auto" && isTerminal(a.stdout) && s.wants("normal")
	if c.StatusInterval > 0 {
		s.next = time.Now().Add(c.StatusInterval)
	}
	if c.Output != "" {
		f, err := os.Create(c.Output)
		if err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		s.file, s.out = f, f
	}
	return s, nil
}

// wants says whether one of the forms is asked for.
func (s *fioStatus) wants(forms ...string) bool {
	if len(s.c.Formats) == 0 {
		return slices.Contains(forms, "normal")
	}
	return slices.ContainsFunc(s.c.Formats, func(f string) bool { return slices.Contains(forms, f) })
}

// head writes what stands before the run.
func (s *fioStatus) head() error {
	if !s.wants("normal") {
		return nil
	}
	return fioout.WriteHead(s.out, s.in)
}

// refused writes the document of a run that is none, in JSON: a program that reads it finds one that says why,
// instead of the end of a file. It returns the reason.
func (s *fioStatus) refused(why error) error {
	if !s.wants("json", "json+") {
		return why
	}
	s.in.Refuse(why, version)
	return joined(why, fioout.WriteJSON(s.out, s.in))
}

// joined is the first error itself if there is no other: what it is counts.
func joined(first, other error) error {
	if other == nil {
		return first
	}
	return errors.Join(first, other)
}

// progress shows how far the run is, on one line of standard output that is written over and over: on a terminal,
// and with --eta=always anywhere.
func (s *fioStatus) progress(p *plan.Point, row *runner.Row) {
	if !s.live || row.Length < p.Interval.D()/2 {
		return // the rest of a window says little
	}
	s.in.ETA = etaOf(p, row)
	line := s.in.Progress(p, row)
	fmt.Fprintf(s.terminal, "%-*s\r", s.width, line)
	s.width = len(line)
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

// write writes a document in the forms that are asked for, in the order in which fio does.
func (s *fioStatus) write() error {
	if s.width > 0 { // the line of progress ends
		fmt.Fprintln(s.terminal)
		s.width = 0
	}
	var errs []error
	if s.wants("terse") {
		errs = append(errs, fioout.WriteTerse(s.out, s.in))
	}
	if s.wants("json", "json+") {
		s.in.Plus = s.wants("json+")
		errs = append(errs, fioout.WriteJSON(s.out, s.in))
	}
	if s.wants("normal") {
		errs = append(errs, fioout.WriteNormal(s.out, s.in))
	}
	return errors.Join(errs...)
}

func (s *fioStatus) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
