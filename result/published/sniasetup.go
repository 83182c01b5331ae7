package published

import (
	"fmt"
	"slices"
	"strings"

	"blkstorm/plan"
	"blkstorm/unit"
	"blkstorm/workload"
)

// setup is what the specification wants beside the figures (SNIA SSS PTS 2.0.2, the head of its report pages):
// how the device was purged and preconditioned, and with what it was tested. It says what the plan did, so
// that a purge that was left out cannot be missed.
func (r *run) setup() []Table {
	i := slices.IndexFunc(r.doc.Plan.Phases, func(ph plan.Phase) bool {
		return ph.Rounds != nil && len(ph.Points) > 0 && len(ph.Points[0].Streams) > 0
	})
	if i < 0 || len(r.doc.Rounds) == 0 {
		return nil
	}
	tested := &r.doc.Plan.Phases[i]
	s := &tested.Points[0].Streams[0]
	t := Table{Title: "Test Setup", Corner: "parameter", Columns: []Head{{Name: "value"}}}
	for _, row := range [][2]string{
		{"Purge", before(r.doc.Plan.Phases[:i], plan.Purge, purged)},
		{"Workload Independent Preconditioning", before(r.doc.Plan.Phases[:i], plan.Fill, filled)},
		{"Active Range", activeRange(&s.Workload)},
		{"Data Pattern", dataPattern(&s.Workload.Data)},
		{"Thread Count", fmt.Sprint(s.Threads)},
		{"Outstanding I/O per Thread", fmt.Sprint(s.IODepth)},
		{"Volatile Write Cache", r.writeCache()},
		{"Round Limit", fmt.Sprint(tested.Rounds.Rule.MaxRounds)},
	} {
		t.Rows = append(t.Rows, Row{Head{Name: row[0]}, []Cell{text(row[1])}})
	}
	return []Table{t}
}

// before is what the phases of a kind did; "none" without any.
func before(phases []plan.Phase, kind string, did func(*plan.Stream) string) string {
	for i := range phases {
		if ph := &phases[i]; ph.Kind == kind && len(ph.Points) > 0 && len(ph.Points[0].Streams) > 0 {
			return did(&ph.Points[0].Streams[0])
		}
	}
	return "none"
}

func purged(s *plan.Stream) string {
	if s.Workload.TrimWith == workload.WriteZeroes {
		return "zeroes written to" + reach(s.Workload.Size)
	}
	return "discard of" + reach(s.Workload.Size)
}

func filled(s *plan.Stream) string {
	return fmt.Sprintf("%d x SEQ %s KiB writes of%s", max(1, s.Passes), kib(s.Workload.BlockSize), reach(s.Workload.Size))
}

// reach is how much of the device a phase goes over.
func reach(size unit.Share) string {
	if size.IsZero() {
		return " everything"
	}
	return " " + size.String()
}

// activeRange is the part of the device that the test uses.
func activeRange(w *workload.Spec) string {
	switch {
	case w.WorkingSet.IsZero() && w.Size.IsZero():
		return "100%"
	case w.WorkingSet.IsZero():
		return w.Size.String()
	case w.Size.IsZero():
		return w.WorkingSet.String()
	}
	return fmt.Sprintf("%s of %s", w.WorkingSet, w.Size)
}

func dataPattern(d *workload.DataSpec) string {
	pattern := d.Content.String()
	if d.CompressPct > 0 {
		pattern += fmt.Sprintf(", %d %% compressible", d.CompressPct)
	}
	if d.DedupePct > 0 {
		pattern += fmt.Sprintf(", %d %% duplicates", d.DedupePct)
	}
	return pattern
}

// writeCache is what the kernel says of the targets' caches; files have none of their own.
func (r *run) writeCache() string {
	var kinds []string
	for _, f := range r.doc.Targets {
		kind := "unknown"
		switch {
		case f == nil:
		case f.Queue.WriteCache == "write back":
			kind = "on"
		case f.Queue.WriteCache == "write through":
			kind = "off"
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, ", ")
}
