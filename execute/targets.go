package execute

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/unit"
	"blkstorm/verdict"
	"blkstorm/workload"
)

// target is one of the plan's targets as it was found.
type target struct {
	plan     *plan.Target
	facts    *device.Facts
	openPath string // what threads open
	create   bool   // the run makes this file
	remade   bool   // in the place of a shorter one
	held     []io.Closer
	info     os.FileInfo // see stat
	looked   bool
	// unwritten is the share of the range read that was never written; nil when that is not known.
	unwritten *float64
}

// ScratchBytes is the size of the file that a run makes when it is given no target.
const ScratchBytes = 1 << 30

// findTargets resolves and inspects every target; files that are to be made get the facts that they
// will have.
func (s *Session) findTargets() error {
	for i := range s.plan.Targets {
		pt := &s.plan.Targets[i]
		t, err := s.find(pt)
		if err != nil {
			return err
		}
		if pt.Spec != "" {
			for _, other := range s.targets {
				if err := distinct(t, other); err != nil {
					return err
				}
			}
		}
		s.targets = append(s.targets, t)
	}
	return nil
}

// distinct says why two targets are the same, or parts of one another: the load on those blocks would
// be that of both.
func distinct(t, other *target) error {
	spec, of := t.plan.Spec, other.plan.Spec
	switch {
	case spec == of:
		return fmt.Errorf("target %s is given twice: each target can be given once; use --threads for more load", spec)
	case t.facts.Path == other.facts.Path || sameFile(t, other):
		return fmt.Errorf("target %s is the same as %s: each target can be given once; use --threads for more load", spec, of)
	case isPart(t.facts, other.facts):
		return fmt.Errorf("target %s is a part of %s, which is a target, too: give one of them", spec, of)
	case isPart(other.facts, t.facts):
		return fmt.Errorf("target %s is a part of %s, which is a target, too: give one of them", of, spec)
	}
	return nil
}

// sameFile finds hard links of one file, and two nodes of one device.
func sameFile(t, other *target) bool {
	if t.facts.Device != "" {
		return t.facts.Device == other.facts.Device
	}
	one, two := t.stat(), other.stat()
	return one != nil && two != nil && os.SameFile(one, two)
}

// stat is nil for a file that is yet to be made. It looks once: every target is compared with all others.
func (t *target) stat() os.FileInfo {
	if !t.looked {
		t.info, _ = os.Stat(t.openPath) // what it cannot be read for, opening it tells
		t.looked = true
	}
	return t.info
}

func isPart(part, whole *device.Facts) bool {
	return part.Kind == "partition" && whole.Kind != device.KindFile && part.Disk == whole.Name
}

func (s *Session) find(pt *plan.Target) (*target, error) {
	roots := s.opts.Roots.Device
	was := s.began(pt)
	if pt.Spec == "" && was != nil {
		return s.newFile(pt, was.Path)
	}
	if pt.Spec == "" {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("scratch file: %w", err)
		}
		return s.newFile(pt, filepath.Join(dir, "blkstorm.scratch"))
	}
	path, err := roots.Resolve(s.specOf(pt))
	missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, device.ErrNoDevice)
	if dry := pt.CreateBytes > 0 && s.driver.Dry; missing && was != nil && !dry {
		return nil, s.gone(pt, err)
	}
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, device.ErrNoDevice) {
		if pt.CreateBytes == 0 {
			return nil, fmt.Errorf("%w; to have it made as a new file, give its --size in bytes (for example --size 1g)", err)
		}
		absolute, absErr := filepath.Abs(s.specOf(pt))
		if absErr != nil {
			return nil, wrapTarget(pt.Spec, absErr)
		}
		return s.newFile(pt, absolute)
	}
	if err != nil {
		return nil, err
	}
	facts, err := roots.Inspect(path)
	if err != nil {
		return nil, err
	}
	if facts.Path != pt.Spec {
		facts.Spec = pt.Spec
	}
	t := &target{plan: pt, facts: facts, openPath: path}
	if was == nil && pt.Remake && facts.Kind == device.KindFile && facts.SizeBytes < pt.CreateBytes {
		return t, s.remake(t)
	}
	if was == nil {
		pt.CreateBytes = 0 // it exists, so it is taken as it is
	}
	return t, nil
}

// remake asks the guard whether a file that is too short may be written anew, and gives it the size that it
// will have.
func (s *Session) remake(t *target) error {
	refusals, err := s.opts.Roots.Device.Guard(t.facts, device.Consent{Destroy: s.plan.Destroy, SignatureOverride: t.plan.DestroySignature})
	if err != nil {
		return wrapTarget(t.facts.Path, err)
	}
	if len(refusals) > 0 && !s.driver.Dry {
		return &device.RefusedError{Path: t.facts.Path, Refusals: refusals}
	}
	if err := s.room(t.facts.Path, t.plan.CreateBytes, t.facts.SizeBytes); err != nil {
		return err
	}
	t.create, t.remade, t.facts.SizeBytes = true, true, t.plan.CreateBytes
	return nil
}

// newFile gives the facts of a file that is yet to be made: those of its folder, and the size asked.
func (s *Session) newFile(pt *plan.Target, path string) (*target, error) {
	if pt.CreateBytes == 0 {
		pt.CreateBytes = ScratchBytes
	}
	if s.opts.Roots.Device.InDevFolder(path) {
		return nil, fmt.Errorf("%s: no file is made in the device directory; change to another folder, or name a target", path)
	}
	for _, w := range s.workloadsOn(pt) {
		if pt.Spec != "" && (w.Offset.Percent != 0 || w.Size.Percent != 0) {
			return nil, fmt.Errorf("%s: a new file has no size yet to take a percentage of; give --size and --offset in bytes", path)
		}
	}
	if err := s.room(path, pt.CreateBytes, 0); err != nil {
		return nil, err
	}
	facts := &device.Facts{Path: path, Kind: device.KindFile, SizeBytes: pt.CreateBytes}
	return &target{plan: pt, facts: facts, openPath: path, create: true}, nil
}

// room says why a file of so many bytes cannot be made at path, where one of has bytes gives way to it.
func (s *Session) room(path string, bytes, has int64) error {
	dir := filepath.Dir(path)
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("folder %s for the new file %s: %w", dir, filepath.Base(path), err)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		return fmt.Errorf("folder %s: a file cannot be made there (%w); change to a folder where it can, or name a target", dir, err)
	}
	free := int64(st.Bavail)*st.Bsize - s.promised[st.Fsid] // the run's other new files want room, too
	s.promised[st.Fsid] += bytes - has
	if free < bytes-has && !s.driver.Dry {
		return fmt.Errorf("folder %s: the new file %s needs %s, and only %s are free; give a smaller --size or another folder",
			dir, filepath.Base(path), unit.Size(bytes), unit.Size(free>>20<<20))
	}
	return nil
}

// workloadsOn lists the workloads that a target of the plan is under.
func (s *Session) workloadsOn(pt *plan.Target) []*workload.Spec {
	var list []*workload.Spec
	for i := range s.plan.Phases {
		for j := range s.plan.Phases[i].Points {
			streams := s.plan.Phases[i].Points[j].Streams
			for k := range streams {
				for n, t := range streams[k].Targets {
					if &s.plan.Targets[t] == pt {
						w := streams[k].On(n)
						list = append(list, &w)
					}
				}
			}
		}
	}
	return list
}

// guard asks, for every target that the plan writes to, whether it may.
func (s *Session) guard() error {
	for i, t := range s.targets {
		refusals, err := s.refusals(i, t)
		if err != nil {
			return err
		}
		if len(refusals) > 0 {
			return &device.RefusedError{Path: t.facts.Path, Refusals: refusals}
		}
	}
	return nil
}

func (s *Session) refusals(i int, t *target) ([]device.Refusal, error) {
	if !s.plan.Writes(i) || s.driver.Dry || t.create {
		return nil, nil
	}
	refusals, err := s.opts.Roots.Device.Guard(t.facts, device.Consent{
		// A file that the run itself has made needs no consent when the run goes on.
		Destroy: s.plan.Destroy || s.resumed != nil && t.plan.CreateBytes > 0, SignatureOverride: t.plan.DestroySignature,
	})
	if err != nil {
		return nil, wrapTarget(t.facts.Path, err)
	}
	return refusals, nil
}

// buffered is the note that a run which should be direct is not.
func buffered(path string) verdict.Warning {
	return verdict.Warning{
		Code:    "direct_not_possible",
		Message: "the file system of " + path + " has no direct I/O, so the scratch file is read and written through the page cache",
		Advice:  "these numbers show memory, not a disk: run in a folder on a disk, or name a target",
	}
}
