package result

import (
	"fmt"
	"slices"
	"strings"

	"blkstorm/sweep"
)

// MatrixAxes chooses what the rows and the columns of the matrices are: threads and iodepth where they are
// swept, else the first and the last of the other axes that are left.
func (s *Sweep) MatrixAxes() (row, col string) {
	var others []string
	has := map[string]bool{}
	for _, a := range s.Axes {
		if has[a.Name] = true; a.Name != "threads" && a.Name != "iodepth" {
			others = append(others, a.Name)
		}
	}
	if has["threads"] {
		row = "threads"
	} else if len(others) > 0 && !(len(others) == 1 && !has["iodepth"]) {
		row, others = others[0], others[1:]
	}
	switch {
	case has["iodepth"]:
		col = "iodepth"
	case len(others) > 0:
		col = others[len(others)-1]
	}
	return row, col
}

// textSweep writes the matrices and the knee.
func (d *Doc) textSweep(b *strings.Builder) {
	s := d.Sweep
	spec := &sweep.Spec{Axes: s.Axes}
	var points []*Point
	for _, i := range s.Points {
		points = append(points, d.Points[i])
	}
	var rows []figure
	partial := false
	for _, p := range points {
		rows = append(rows, figure{p.Label, p.Total})
	}
	unit, scale := latencyUnit(rows, func(s *Stat) *Latency { return s.Latency })
	row, col := s.MatrixAxes()
	matrices := spec.Matrices(row, col)
	for _, f := range []struct {
		head, name string
		scale      float64
	}{{"IOPS", "iops", 1}, {"mean latency in " + unit, "latency.mean", scale}, {"p99 latency in " + unit, "latency.p99", scale}} {
		c := column{}
		marks := make([]string, spec.Len())
		for i := range spec.Len() {
			switch {
			case i >= len(points):
				marks[i] = "-"
			case points[i].Skipped != "":
				marks[i] = "skipped"
			}
			if marks[i] != "" {
				continue
			}
			v, err := points[i].Figure("total", f.name)
			if err != nil {
				marks[i] = "-"
				continue
			}
			c.values = append(c.values, v/f.scale)
		}
		cells, next := c.cells()[2:], 0
		for i := range marks {
			if marks[i] != "" {
				continue
			}
			marks[i] = cells[next]
			if next++; !points[i].Completed {
				marks[i] += "*"
				partial = true
			}
		}
		writeMatrices(b, matrices, f.head, marks)
	}
	if partial {
		b.WriteString("  * not completed\n")
	}
	d.textKnee(b, spec)
}

func (d *Doc) textKnee(b *strings.Builder, spec *sweep.Spec) {
	k := d.Sweep.Knee
	if k == nil {
		return
	}
	limit := strings.Replace(k.Limit, "=", " within ", 1)
	b.WriteString("\n")
	if k.Point == nil {
		wrap(b, "  ", "    ", "knee: no point has "+limit, TextWidth)
		return
	}
	metric, _, _ := strings.Cut(k.Limit, "=")
	rows := []figure{{"", d.Points[*k.Point].Total}}
	unit, scale := latencyUnit(rows, func(s *Stat) *Latency { return s.Latency })
	where := ""
	if at := spec.At(slices.Index(d.Sweep.Points, *k.Point)); len(at) > 0 {
		where = " at " + at.String()
	}
	wrap(b, "  ", "    ", fmt.Sprintf("knee: %s IOPS%s ([%d]), the most with %s; there %s is %s %s",
		number(k.IOPS, 0), where, *k.Point+1, limit, metric, number(float64(k.Value)/scale, decimals(float64(k.Value)/scale)), unit), TextWidth)
}
