package execute

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/host"
	"blkstorm/plan"
	"blkstorm/result"
)

// A hypervisor that takes CPU time away while the point runs: the kernel's counter of it (staged by a
// /proc of our own, whose numbers move between the rows) reaches the rows and the verdict.
func TestStealReachesTheVerdict(t *testing.T) {
	proc := t.TempDir()
	stat := func(idle, steal string) {
		line := "cpu  100 0 100 " + idle + " 0 0 0 " + steal + " 0 0\n"
		if err := os.WriteFile(filepath.Join(proc, "stat"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stat("1000", "0")
	o := options()
	o.Roots.Host = host.Roots{Proc: proc}
	o.KeepRows = true
	o.Row = func(_ *plan.Point, in *result.Interval) error {
		if in.TS == 0 {
			stat("1090", "10")
		}
		return nil
	}
	doc, err := carryOut(job("randread", plan.Target{Spec: file(t, 1<<20)}), o)
	if err != nil {
		t.Fatal(err)
	}
	point := doc.Points[0]
	found := false
	for _, w := range point.Warnings {
		found = found || w.Code == "steal" && strings.Contains(w.Message, "10.0 %")
	}
	if !found || point.CPU.StealPct != 10 {
		t.Errorf("steal %g %%, warnings %+v", point.CPU.StealPct, point.Warnings)
	}
	var rows float64
	for _, in := range point.Intervals {
		rows = max(rows, in.StealPct)
	}
	if rows != 10 {
		t.Errorf("no row shows the steal: the most is %g %%", rows)
	}
}
