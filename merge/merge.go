// Package merge makes one result of many machines' ones: the same plan, run at the same time in many VMs.
//
// The command merge calls it with the paths of results and prints the document that it returns. Histograms
// are added, bucket by bucket; no percentile is ever made of percentiles. Rates are added over the time
// that all machines measured, where their folders let that time be cut out. It says what each member gave,
// what is wrong with it, and what was lost; it never leaves one out silently. It reads members one after
// the other (a few at a time), so that it needs memory for figures only, however many they are; it asks no
// machine anything, and knows no more of their clocks than what they wrote.
package merge

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"blkstorm/result"
)

// Options say how to merge.
type Options struct {
	// AllowDifferentPlans merges results of plans that differ in more than targets and seed.
	AllowDifferentPlans bool
	Version             string // of the program, for the document
	// Folder gets the document and its series; nil for none. The caller closes it.
	Folder *result.Folder
}

// Result is what came of it.
type Result struct {
	Doc *result.Doc
	// Broken says that a member was left out or is damaged, or that its I/Os failed or were never answered.
	Broken bool
}

var (
	// ErrNothing is wrapped when no input could be used.
	ErrNothing = errors.New("nothing to merge")
	// ErrDiffer is wrapped when the plans of two members differ.
	ErrDiffer = errors.New("the plans differ")
	// ErrTwice is wrapped when a result is given twice.
	ErrTwice = errors.New("is the same run as")
)

// Merge merges the results at the paths, folders or files; their order does not matter.
func Merge(paths []string, o Options) (*Result, error) {
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: no result was named", ErrNothing)
	}
	m := &merger{options: o, points: map[key]*point{}}
	if err := m.readAll(paths); err != nil {
		return nil, err
	}
	if len(m.members) == 0 {
		return nil, m.nothing()
	}
	m.sort()
	if err := m.checkTwice(); err != nil {
		return nil, err
	}
	if err := m.checkPlans(); err != nil {
		return nil, err
	}
	if err := m.cut(); err != nil {
		return nil, err
	}
	doc, err := m.document()
	if err != nil {
		return nil, err
	}
	if o.Folder != nil {
		if err := m.series(doc); err != nil {
			return nil, err
		}
		if err := o.Folder.Result(doc); err != nil {
			return nil, err
		}
	}
	return &Result{Doc: doc, Broken: m.broken()}, nil
}

type merger struct {
	options Options
	mu      sync.Mutex // of all below while members are read
	members []*member  // sorted after they are read
	leftOut []result.MergeLeftOut
	points  map[key]*point
	// targetRows counts the figures of targets; beyond maxTargetRows they are not kept.
	targetRows atomic.Int64
	order      []*point // the points, sorted
	plans      plans
}

// maxTargetRows is how many figures of targets a document has, over all points: each takes some 2 kB of
// JSON. 50 machines with 10 disks each have 500 in a point.
const maxTargetRows = 20_000

// keepsTargets says whether the document has figures of targets.
func (m *merger) keepsTargets() bool { return m.targetRows.Load() <= maxTargetRows }

// readAll reads the members, as many at once as there are CPUs.
func (m *merger) readAll(paths []string) error {
	next := make(chan string)
	var failed error
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		group.Go(func() {
			s := newScratch()
			for path := range next {
				err := m.read(path, s)
				if err == nil {
					continue
				}
				m.mu.Lock()
				if refused := new(refusal); errors.As(err, &refused) {
					failed = cmp.Or(failed, err)
				} else {
					m.leftOut = append(m.leftOut, result.MergeLeftOut{Path: path, Reason: strings.TrimPrefix(err.Error(), path+": ")})
				}
				m.mu.Unlock()
			}
		})
	}
	for _, path := range paths {
		next <- path
	}
	close(next)
	group.Wait()
	return failed
}

// refusal is an error because of which nothing is merged at all.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

// nothing is the error when no input could be read: it has the reason of each.
func (m *merger) nothing() error {
	err := error(ErrNothing)
	slices.SortFunc(m.leftOut, func(a, b result.MergeLeftOut) int { return cmp.Compare(a.Path, b.Path) })
	for i, l := range m.leftOut {
		if i == maxNamed {
			return errors.Join(err, fmt.Errorf("and %d more", len(m.leftOut)-i))
		}
		err = errors.Join(err, errors.New(l.Path+": "+l.Reason))
	}
	return err
}

// sort brings everything into an order that does not depend on that of the inputs.
func (m *merger) sort() {
	slices.SortFunc(m.members, (*member).compare)
	m.nameMembers()
	slices.SortFunc(m.leftOut, func(a, b result.MergeLeftOut) int { return cmp.Compare(a.Path, b.Path) })
	for _, p := range m.points {
		slices.SortFunc(p.parts, func(a, b *part) int { return cmp.Compare(a.member.index, b.member.index) })
		m.order = append(m.order, p)
	}
	slices.SortFunc(m.order, func(a, b *point) int {
		return cmp.Or(cmp.Compare(a.place, b.place), a.key.compare(b.key))
	})
}

// checkTwice refuses the same run given twice, as a folder and the file in it.
func (m *merger) checkTwice() error {
	seen := map[string]string{}
	for _, mem := range m.members {
		for _, one := range mem.rows {
			if one.ID == "" {
				continue
			}
			place := mem.path
			if len(mem.rows) > 1 {
				place = one.Path + " in " + mem.path // a merge
			}
			if before, twice := seen[one.ID]; twice {
				return fmt.Errorf("%s %w %s (%s): name each result once", place, ErrTwice, before, one.ID)
			}
			seen[one.ID] = place
		}
	}
	return nil
}

// broken says whether a member lacks something that no other can make up for.
func (m *merger) broken() bool {
	if len(m.leftOut) > 0 {
		return true
	}
	for _, p := range m.order {
		if p.faults > 0 || p.stuckIOs > 0 || len(p.failures) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(m.members, func(mem *member) bool { return mem.broken })
}
