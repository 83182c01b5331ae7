package execute

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/verdict"
)

// The temperatures that the kernel shows of the drives are in the rows and in the point, and one over
// the drive's limit is a warning.
func TestTemperatures(t *testing.T) {
	lab.Root(t)
	for name, c := range map[string]struct {
		limit string
		hot   bool
	}{"cool": {"82000", false}, "hot": {"81000", true}, "no limit": {"65261850", false}} {
		warm, bare := lab.Loop(t, 1<<20, lab.LoopOptions{}), lab.Loop(t, 1<<20, lab.LoopOptions{})
		o := options()
		o.KeepRows = true
		o.Roots.Host.Sys = t.TempDir()
		dir := filepath.Join(o.Roots.Host.Sys, "class/block", filepath.Base(warm), "device/hwmon0")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"temp1_input": "81000\n", "temp1_crit": c.limit + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		p := job("randread", plan.Target{Spec: warm}, plan.Target{Spec: bare})
		p.Phases[0].Points[0].Runtime = plan.Duration(500 * time.Millisecond)
		doc, err := carryOut(p, o)
		if err != nil {
			t.Fatal(err)
		}
		point := doc.Points[0]
		last := point.Intervals[len(point.Intervals)-1].TemperatureC
		if len(last) != 2 || last[0] == nil || *last[0] != 81 || last[1] != nil {
			t.Errorf("%s: the last row has %v", name, last)
		}
		if max := point.Targets[0].TemperatureMaxC; max == nil || *max != 81 || point.Targets[1].TemperatureMaxC != nil {
			t.Errorf("%s: the point has %v", name, max)
		}
		if got := slices.ContainsFunc(point.Warnings, func(w verdict.Warning) bool { return w.Code == "hot" }); got != c.hot {
			t.Errorf("%s: a warning: %v", name, got)
		}
	}
}
