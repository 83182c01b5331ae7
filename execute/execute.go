// Package execute carries out a plan from end to end: finds and checks the targets, asks the guard,
// makes the files the plan wants, runs the points and builds the document.
//
// Every command that runs I/O goes through it, so that no front end can leave out a check. It prints
// nothing itself: what people and scripts see are the sinks that the caller gives.
package execute

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/device"
	"blkstorm/host"
	"blkstorm/ioengine"
	"blkstorm/ioengine/registry"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
	"blkstorm/steady"
	"blkstorm/verdict"
)

// Options are what a command adds to a plan. Zero values are fine.
type Options struct {
	Version     string // of this program, for the document
	Percentiles []float64
	Dir         string // result folder; empty for none
	// Resume has Prepare go on with the run whose folder Dir is: it brings its own plan and Percentiles.
	Resume bool
	// RePrecondition has a resumed run repeat its last precondition phase first.
	RePrecondition bool
	KeepRows       bool // keep interval rows in the document
	// SkipNone has Prepare fail where a measured point cannot run, instead of leaving it out.
	SkipNone bool
	// Log takes a sentence for people: which device is about to be written, how far a file is.
	Log func(format string, args ...any)
	// Begun is called with the document's head when everything is checked, before the first I/O.
	Begun func(*result.Doc) error
	// PointBegun is called before a point runs: the index-th of of points, which is -1 when nobody knows.
	// p is nil for an idle phase, which has none.
	PointBegun func(index, of int, kind string, p *plan.Point)
	// Row is called with every row of the running point.
	Row func(*plan.Point, *result.Interval) error
	// Cells is called with the same row as the runner has it, which is used again for the next.
	Cells func(*plan.Point, *runner.Row, *result.Interval)
	// Enough is asked after every row whether the running point has reached its purpose: then it ends, and counts
	// as completed.
	Enough func(*plan.Point, *runner.Row) bool
	// JobsApart has a failed I/O end its thread only: the other streams of the point go on, and so does the run
	// with the points after it.
	JobsApart bool
	// Measured is called with what the runner says of a point that has ended.
	Measured func(*plan.Point, *runner.Result)
	// Steady is called when a round of a phase that looks for steady state has ended.
	Steady func(steady.State)
	// Rounds is called when a round of a phase of rounds has ended.
	Rounds func(*result.Rounds)
	// Point is called when a point has ended, before the folder's document is replaced: what it adds to
	// the document is in there, too.
	Point func(index int, p *result.Point) error
	Roots Roots
	// Drivers, if there are any, take the place of those of the plan's engine: tests have devices that
	// behave as they need.
	Drivers []ioengine.Driver
}

// Roots are the kernel's views that facts are read from.
type Roots struct {
	Device device.Roots
	Host   host.Roots
}

// SystemRoots are the running machine's.
func SystemRoots() Roots { return Roots{Device: device.System()} }

// Session is a plan with its targets found and checked, ready to run. Close it in any case.
type Session struct {
	plan     *plan.Plan
	opts     Options
	drivers  []ioengine.Driver           // candidates, best first
	driver   ioengine.Driver             // the one in use
	own      map[string]*ioengine.Driver // those that streams name
	passed   []registry.Fallback
	targets  []*target
	host     host.Facts
	clock    host.Clock
	started  time.Time
	fills    uint64
	steadied *steadied
	skipped  map[*plan.Point]string // points that cannot run, with the reason
	at       place
	resumed  *resumption // nil in a run that begins now
	notes    []verdict.Warning
	heat     *host.Thermometer
	// promised is the room that new files take, by file system.
	promised map[unix.Fsid]int64
	// alignments are those of the new files so far; see newAlignment.
	alignments [][2]int
}

// Prepare checks a plan against the machine: it finds the targets, compares them with the plan and
// asks the guard. It touches nothing. A *device.RefusedError says that the guard refused, an
// *OtherTargetError that a resumed run would go on with something else, and a *FinishedError that it has
// nothing left to do. With Options.Resume, p is not used: the folder has the plan.
func Prepare(p *plan.Plan, o Options) (*Session, error) {
	if !o.Resume {
		return prepare(p, o, nil)
	}
	r, err := openRun(&o)
	if err != nil {
		return nil, err
	}
	s, err := prepare(r.doc.Plan, o, r)
	if err != nil {
		closeQuietly(r.folder)
	}
	return s, err
}

func prepare(p *plan.Plan, o Options, r *resumption) (*Session, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	drivers, passed := o.Drivers, []registry.Fallback(nil)
	if len(drivers) == 0 {
		var err error
		if drivers, passed, err = registry.Candidates(p.Engine, p.EngineOptions()); err != nil {
			return nil, err
		}
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	if o.PointBegun == nil {
		o.PointBegun = func(int, int, string, *plan.Point) {}
	}
	own, err := ownDrivers(p)
	if err != nil {
		return nil, err
	}
	s := &Session{plan: p, opts: o, resumed: r, drivers: drivers, driver: drivers[0], own: own, passed: passed, host: o.Roots.Host.Read(), started: time.Now(), promised: map[unix.Fsid]int64{}}
	if p.Quick && p.Profile != "" {
		s.notes = append(s.notes, verdict.Quick(p.Profile))
	}
	if err := s.findTargets(); err != nil {
		return nil, err
	}
	if err := s.checkData(); err != nil {
		return nil, err
	}
	if r != nil {
		if err := s.checkSame(); err != nil {
			return nil, err
		}
	}
	for _, t := range s.targets {
		if err := p.CheckEngine(t.facts); err != nil {
			return nil, err
		}
	}
	if err := checkPins(p); err != nil {
		return nil, err
	}
	if err := s.checkFolder(o.Dir); err != nil {
		return nil, err
	}
	if err := s.findSkips(); err != nil {
		return nil, err
	}
	if err := s.guard(); err != nil {
		return s, err
	}
	return s, s.probe()
}

func (s *Session) folder() (*result.Folder, error) {
	if s.resumed != nil {
		return s.resumed.folder, nil
	}
	if s.opts.Dir == "" {
		return nil, nil
	}
	return result.CreateFolder(s.opts.Dir)
}

func (s *Session) document() *result.Doc {
	if s.resumed != nil {
		return s.goOn()
	}
	doc := &result.Doc{
		Schema: result.Schema, Version: s.opts.Version, ID: newID(), Started: s.started.UTC(),
		Host: s.host, Clock: s.clock, Plan: s.plan, Warnings: s.notes,
		Percentiles: s.opts.Percentiles,
	}
	for _, t := range s.targets {
		doc.Targets = append(doc.Targets, t.facts)
	}
	return doc
}

func newID() string {
	var b [8]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

func (s *Session) runPoint(ctx context.Context, doc *result.Doc, folder *result.Folder, phase *plan.Phase, p *plan.Point) error {
	round := s.round(phase)
	s.announce(p, round)
	if reason, skipped := s.skipped[p]; skipped {
		point, err := s.skip(doc, phase, p, reason)
		if err != nil {
			return err
		}
		point.Round = round
		return s.ended(doc, folder, point)
	}
	s.lookForHoles(p)
	b := doc.NewBuilder(phase.Kind, p, s.opts.Percentiles, s.opts.KeepRows)
	b.KeepHistory(phase)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	rounds := newRounds(phase, p, s.mostBytes(phase, p), s.opts.Steady, func() { end(runner.ErrEnough) })
	var sinkErr error
	keep := func(err error) {
		if err != nil && sinkErr == nil {
			sinkErr = err
		}
	}
	warmth := s.newWarmth()
	cfg := s.config(p)
	cfg.Run = uint64(len(doc.Points))
	cfg.Rows = func(row *runner.Row) {
		in := b.Row(row)
		warmth.row(in)
		if folder != nil {
			keep(folder.Interval(in))
			keep(folder.Histograms(b, row))
		}
		rounds.row(row)
		if s.opts.Cells != nil {
			s.opts.Cells(p, row, in)
		}
		if s.opts.Enough != nil && s.opts.Enough(p, row) {
			end(runner.ErrEnough)
		}
		if s.opts.Row != nil {
			err := s.opts.Row(p, in)
			if keep(err); err != nil && folder == nil {
				end(nil) // nobody is left to see the rest
			}
		}
	}
	res, err := s.runWithFallback(ctx, &cfg)
	if err != nil {
		return err
	}
	if s.opts.Measured != nil {
		s.opts.Measured(p, res)
	}
	point, err := b.Finish(res, s.plan.Seed)
	if err != nil {
		return err
	}
	point.Fallback, point.Round = s.passed, round
	point.Steady = rounds.report()
	s.followDrift(phase, p, point)
	for i, t := range s.targets {
		if t.unwritten != nil {
			pct := 100 * *t.unwritten
			point.Targets[i].UnwrittenPct = &pct
		}
	}
	warmth.into(point)
	point.Completed = point.Completed && s.leftOut(p, point) == ""
	if round > 0 {
		doc.SumUp() // what is judged next is also what the round came to
	}
	point.Warnings = append(point.Warnings, s.judge(p, point, standstill(doc, phase), s.neverSteady(doc, phase))...)
	s.check(phase.Kind, point)
	keep(s.ended(doc, folder, point))
	return sinkErr
}

// ended hands on a point that is in the document.
func (s *Session) ended(doc *result.Doc, folder *result.Folder, point *result.Point) (err error) {
	doc.SumUp()
	if r := s.roundEnded(doc); point.Round > 0 && r != nil && s.opts.Rounds != nil {
		s.opts.Rounds(r)
	}
	if s.opts.Point != nil {
		err = s.opts.Point(len(doc.Points)-1, point)
	}
	if folder != nil {
		err = errors.Join(err, folder.Result(doc))
	}
	return err
}

// runWithFallback runs the point with the best driver that can be set up, and keeps to it.
func (s *Session) runWithFallback(ctx context.Context, cfg *runner.Config) (*runner.Result, error) {
	res, used, passed, err := runBest(ctx, cfg, s.drivers)
	s.drivers, s.driver = s.drivers[used:], s.drivers[used]
	s.passed = append(s.passed, passed...)
	return res, err
}

// runBest runs a point with the first of drivers; while that cannot be set up (nothing has been issued
// then) and another may do, with the next. It returns which one was used, and why not those before.
func runBest(ctx context.Context, cfg *runner.Config, drivers []ioengine.Driver) (res *runner.Result, used int, passed []registry.Fallback, err error) {
	for {
		cfg.Driver = &drivers[used]
		res, err = runner.Run(ctx, *cfg)
		var open *ioengine.OpenError
		if err == nil || !errors.As(err, &open) || open.Engine != drivers[used].Name || used+1 == len(drivers) {
			return res, used, passed, err
		}
		passed = append(passed, registry.Fallback{Engine: open.Engine, Reason: open.Err.Error()})
		used++
	}
}

func (s *Session) config(p *plan.Point) runner.Config {
	cfg := runner.Config{
		Point: p, Driver: &s.driver, Drivers: s.own, CompleteMin: s.plan.CompleteMin, Pin: s.plan.Pin, Seed: s.plan.Seed,
		ContinueOnError: s.plan.ContinueOnError, FaultEndsThread: s.opts.JobsApart, Grace: s.plan.Grace.D(), Roots: s.opts.Roots.Host,
	}
	for i, t := range s.targets {
		write := s.plan.Writes(i) && !s.driver.Dry
		cfg.Targets = append(cfg.Targets, runner.Target{
			Path: t.facts.Path, SizeBytes: t.facts.SizeBytes, Disk: t.facts.Name,
			Open: runner.OpenTarget(t.openPath, device.OpenOptions{Write: write, Direct: s.plan.Direct}),
		})
	}
	return cfg
}

// Faulted says whether a document has I/O errors, short transfers, stuck I/Os, a broken engine, or a purge or
// a fill that left something out.
func Faulted(doc *result.Doc) bool {
	for _, p := range doc.Points {
		whole := p.Phase != plan.Purge && p.Phase != plan.Fill || p.Completed || p.Interrupted
		if p.Faults > 0 || p.StuckIOs > 0 || p.Failure != "" || !whole {
			return true
		}
	}
	return false
}

// release lets go of the targets: scratch files vanish, devices may be mounted again.
func (s *Session) release() {
	for _, t := range s.targets {
		for _, c := range t.held {
			closeQuietly(c)
		}
	}
}

// closeQuietly closes what was only read or held: its close has no news.
func closeQuietly(c io.Closer) { _ = c.Close() }

// FaultError says that writing a new file failed, or that its device hung, before any point began.
type FaultError struct {
	Hung bool // the device did not answer: the unfinished file is left, since removing it could hang too
	Err  error
}

func (e *FaultError) Error() string { return e.Err.Error() }

// Unwrap gives the failure itself.
func (e *FaultError) Unwrap() error { return e.Err }

// ErrInterrupted is returned by Run when ctx was cancelled before the first point began.
var ErrInterrupted = errors.New("interrupted before the first point")

func wrapTarget(spec string, err error) error { return fmt.Errorf("target %s: %w", spec, err) }
