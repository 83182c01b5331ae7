package execute

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"

	"blkstorm/device"
	"blkstorm/ioengine/registry"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/runner"
	"blkstorm/unit"
	"blkstorm/workload"
)

// take claims the devices that will be written, says which they are, and makes the new files.
func (s *Session) take(ctx context.Context) error {
	for i, t := range s.targets {
		if writes := s.plan.Writes(i) && !t.create || t.remade; !writes || s.driver.Dry {
			continue
		}
		hold := device.Hold
		if t.facts.Kind == device.KindFile {
			hold = device.LockFile
		}
		held, err := hold(t.facts.Path)
		if err != nil {
			return err
		}
		t.held = append(t.held, held)
		s.opts.Log("writing to %s", Identity(t.facts))
	}
	var made []string
	for _, t := range s.targets {
		if !t.create {
			continue
		}
		if err := s.makeFile(ctx, t); err != nil {
			for _, path := range made {
				_ = os.Remove(path) // made by this run a moment ago: it leaves no part of its files behind
			}
			return err
		}
		if !t.remade {
			made = append(made, t.openPath)
		}
	}
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return nil
}

// Identity is a target in one line, for people who are about to overwrite it.
func Identity(f *device.Facts) string {
	text := f.Path
	for _, part := range []string{f.Vendor, f.Model} {
		if part != "" {
			text += " " + part
		}
	}
	if f.Serial != "" {
		text += " serial " + f.Serial
	}
	return fmt.Sprintf("%s, %s (%s)", text, humanize.Bytes(uint64(f.SizeBytes)), humanize.IBytes(uint64(f.SizeBytes)))
}

// makeFile makes a new file and writes all of it once, so that no read meets a hole. A scratch file
// loses its name before it is written: however the run ends, nothing is left behind. So does every
// file that a dry engine asks for, which moves nothing: it stays a hole.
func (s *Session) makeFile(ctx context.Context, t *target) (err error) {
	scratch := t.plan.Spec == "" || s.driver.Dry
	file, err := openNew(t.openPath, scratch, t.remade)
	if err != nil {
		return err
	}
	t.held = append(t.held, file)
	t.openPath = file.Name()
	named := !t.remade // one that was there is left, if only as a torso
	defer func() {
		var fault *FaultError
		if hung := errors.As(err, &fault) && fault.Hung; err != nil && named && !hung {
			_ = os.Remove(file.Name()) // made by this run a moment ago, and of no use
		}
	}()
	if err := file.Truncate(t.plan.CreateBytes); err != nil {
		return fmt.Errorf("new file %s: %w", t.facts.Path, err)
	}
	if err := s.refresh(t); err != nil {
		return err
	}
	if s.newAlignment(t) {
		if err := s.findSkips(); err != nil {
			return err
		}
	}
	if scratch {
		if err := os.Remove(file.Name()); err != nil {
			return fmt.Errorf("scratch file: %w", err)
		}
		named = false
		t.remade = false
		t.openPath = fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	}
	if err := s.checkDirect(t, scratch); err != nil {
		return err
	}
	if s.driver.Dry {
		return nil
	}
	s.opts.Log("writing %s once to %s", humanize.IBytes(uint64(t.plan.CreateBytes)), t.facts.Path)
	if err := s.fill(ctx, t); err != nil {
		return fmt.Errorf("writing the new file %s: %w", t.facts.Path, err)
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("writing the new file %s: %w", t.facts.Path, err)
	}
	return nil
}

// openNew makes a file; with again, it empties one.
func openNew(path string, scratch, again bool) (*os.File, error) {
	if scratch {
		file, err := os.CreateTemp(filepath.Dir(path), ".blkstorm-scratch-*")
		if err != nil {
			return nil, fmt.Errorf("scratch file: %w", err)
		}
		return file, nil
	}
	if again {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_TRUNC, 0)
		if err != nil {
			return nil, fmt.Errorf("file that is too short: %w", err)
		}
		return file, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("new file: %w", err)
	}
	return file, nil
}

// checkDirect finds out whether the new file can be opened as the plan wants. A newcomer's scratch
// file may fall back to the page cache, with a warning; a file that was named may not.
func (s *Session) checkDirect(t *target, scratch bool) error {
	probe, err := device.Open(t.openPath, device.OpenOptions{Write: true, Direct: s.plan.Direct})
	if errors.Is(err, device.ErrNoDirect) && scratch {
		s.plan.Direct = false
		s.notes = append(s.notes, buffered(filepath.Dir(t.facts.Path)))
		return nil
	}
	if err != nil {
		return err
	}
	return probe.Close()
}

// fillBytes is the block that new files are written with.
const fillBytes = 1 << 20

// fillLogEvery is how often the log says how far a new file is.
const fillLogEvery = 10 * time.Second

// fill writes the file once, in order, through the same runner that measures: in large blocks, and
// what is left at the end in one block of its own.
func (s *Session) fill(ctx context.Context, t *target) error {
	size := t.plan.CreateBytes
	if size <= fillBytes {
		return s.fillSmall(t)
	}
	whole := size - size%fillBytes
	if whole > 0 {
		if err := s.fillRange(ctx, t, 0, whole, fillBytes); err != nil {
			return err
		}
	}
	if whole == size {
		return nil
	}
	return s.fillRange(ctx, t, whole, size-whole, size-whole)
}

// fillSmall writes a file of one block without a runner, which takes tens of milliseconds to come and go: jobs
// may ask for thousands of files. It goes through the page cache, which Sync empties of it.
func (s *Session) fillSmall(t *target) error {
	w := workload.Spec{RW: "write", BlockSize: t.plan.CreateBytes, Data: s.dataOn(t.plan)}
	data, err := workload.NewData(&w, s.plan.Seed, s.plan.Seed^workload.Mix(s.nextFill()), 0, t.plan.CreateBytes)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(t.openPath, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	block := make([]byte, t.plan.CreateBytes)
	data.Fill(block, 0)
	_, err = file.WriteAt(block, 0)
	if err = errors.Join(err, file.Close()); err != nil {
		return &FaultError{Err: err}
	}
	return nil
}

func (s *Session) fillRange(ctx context.Context, t *target, offset, length, block int64) error {
	drivers, _, err := registry.Candidates(registry.Auto, registry.Options{})
	if err != nil {
		return err
	}
	point := &plan.Point{Interval: plan.Duration(time.Second), Streams: []plan.Stream{{
		Workload: workload.Spec{RW: "write", BlockSize: block, Offset: unit.Share{Bytes: offset}, Size: unit.Share{Bytes: length}, Data: s.dataOn(t.plan)},
		Targets:  []int{0}, Threads: 1, IODepth: 4, Passes: 1,
	}}}
	res, _, _, err := runBest(ctx, &runner.Config{
		Point: point, CompleteMin: 1, Pin: runner.PinNone, Seed: s.plan.Seed, Run: s.nextFill(), Grace: s.plan.Grace.D(),
		Rows: s.fillProgress(t, length),
		Targets: []runner.Target{{
			Path: t.facts.Path, SizeBytes: t.plan.CreateBytes,
			Open: runner.OpenTarget(t.openPath, device.OpenOptions{Write: true, Direct: s.plan.Direct}),
		}},
	}, drivers)
	switch {
	case err != nil:
		return err
	case res.Failed != nil:
		return &FaultError{Err: res.Failed}
	case len(res.Errors) > 0:
		e := &res.Errors[0]
		return &FaultError{Err: fmt.Errorf("write of %d bytes at %d: %s", e.Length, e.Offset, e.Reason())}
	case len(res.Stuck) > 0:
		return &FaultError{Hung: true, Err: fmt.Errorf("the device did not answer a write of %d bytes at %d", res.Stuck[0].Length, res.Stuck[0].Offset)}
	case res.Interrupted:
		return ErrInterrupted
	}
	return nil
}

// dataOn is what a new file is laid out with: the data that the plan's streams write to it, or would,
// if they did not only read; of several the first.
func (s *Session) dataOn(pt *plan.Target) workload.DataSpec {
	for _, w := range s.workloadsOn(pt) {
		if w.Data.Asked() != "" {
			return w.Data
		}
	}
	return workload.DataSpec{}
}

// checkData asks again for a write that needs the data asked for, now that it is known which targets exist.
// A file that exists may have been made by the run that this one repeats: then its data are these.
func (s *Session) checkData() error {
	err := s.plan.CheckData()
	if err == nil {
		return nil
	}
	for _, t := range s.targets {
		if t.facts.Kind == device.KindFile {
			s.opts.Log("%s exists, and nothing is written to it: what it holds stays as it is", t.facts.Path)
			return nil
		}
	}
	return err
}

// firstFill is far above the number of a point.
const firstFill = 1 << 32

// nextFill numbers the runs that fill files apart from the points, so that the points of a plan are the
// same whether its files exist or not.
func (s *Session) nextFill() uint64 {
	s.fills++
	return firstFill + s.fills
}

// fillProgress logs now and then how far the file is.
func (s *Session) fillProgress(t *target, length int64) func(*runner.Row) {
	var written uint64
	last := time.Now()
	return func(row *runner.Row) {
		for i := range row.Cells {
			written += row.Cells[i].Ops[op.Write].Bytes
		}
		if time.Since(last) >= fillLogEvery {
			last = time.Now()
			s.opts.Log("written %s of %s to %s", humanize.IBytes(written), humanize.IBytes(uint64(length)), t.facts.Path)
		}
	}
}

// refresh reads the facts of the file that has been made.
func (s *Session) refresh(t *target) error {
	path := t.facts.Path
	facts, err := s.opts.Roots.Device.Inspect(t.openPath)
	if err != nil {
		return err
	}
	facts.Path = path
	*t.facts = *facts
	return nil
}
