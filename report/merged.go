package report

import (
	"fmt"
	"strings"

	"blkstorm/printable"
	"blkstorm/result"
)

// mergedTables are the machines of each point of a merged document, with what is wrong with their parts and how far
// they lie apart; none of another document.
func mergedTables(d *result.Doc) (out []publishedTable) {
	if d.Merge == nil {
		return nil
	}
	for i := range d.Merge.Points {
		if i < len(d.Points) {
			out = append(out, mergedTable(d, i, &d.Merge.Points[i]))
		}
	}
	return out
}

// windows are what the figures of a merged point cover.
var windows = map[string]string{
	result.MergeCommon: "whole intervals within the time that all machines measured",
	result.MergeEqual:  "the windows of all machines, which are the same",
	result.MergeWhole:  "the whole window of each machine, and these differ",
}

func mergedTable(d *result.Doc, i int, m *result.MergePoint) publishedTable {
	smallest := int64(0)
	for _, r := range m.Rows {
		if smallest == 0 || r.MeanNS > 0 && r.MeanNS < smallest {
			smallest = r.MeanNS
		}
	}
	sc := scaleFor(smallest)
	t := &table{ID: fmt.Sprintf("machines%d", i), CSV: fmt.Sprintf("machines-%d", i+1), Sort: true, Caption: nameOf(d, i),
		Head: []head{{"machine", "", true}, {"IOPS", "", false}, {"MB/s", "", false}, {"mean", sc.Unit, false}, {"p50", sc.Unit, false}, {"p95", sc.Unit, false},
			{"p99", sc.Unit, false}, {"p99.9", sc.Unit, false}, {"max", sc.Unit, false}, {"errors", "", false}, {"later", "s", false}, {"used", "s", false}, {"remarks", "", true}}}
	for _, r := range m.Rows {
		name := fmt.Sprintf("machine %d", r.Member+1)
		if r.Member >= 0 && r.Member < len(d.Merge.Members) {
			name = printable.Text(d.Merge.Members[r.Member].Name)
		}
		ns := func(v *int64) cell {
			if v == nil || r.IOs == 0 {
				return none()
			}
			return num(sc.text(*v), float64(*v)/sc.NS)
		}
		t.add(left(name), num(figure(r.IOPS), r.IOPS), num(figure(r.BytesPerS/1e6), r.BytesPerS/1e6), ns(&r.MeanNS), ns(r.P50NS), ns(r.P95NS), ns(r.P99NS), ns(r.P999NS), ns(&r.MaxNS),
			count(r.Errors), num(number(r.SkewS, 3), r.SkewS), num(number(r.UsedS, 3), r.UsedS), wide(printable.Text(strings.Join(append(nonEmpty(r.Missing), r.Notes...), "; "))))
	}
	notes := []string{fmt.Sprintf("The figures cover %s; %s (%.3g %%) of the longest window are not used. The last machine began %s after the first.",
		orElse(windows[m.Window], printable.Text(m.Window)), secondsText(m.LossS), m.LossPct, secondsText(m.SkewS))}
	notes = append(notes, fmt.Sprintf("Spread over the machines: IOPS %s to %s, median %s, standard deviation %s.", figure(m.IOPS.Min), figure(m.IOPS.Max), figure(m.IOPS.Median), figure(m.IOPS.StdDev)))
	if m.P99NS.Max > 0 {
		notes = append(notes, fmt.Sprintf("p99 %s to %s, median %s.", nanosText(m.P99NS.Min), nanosText(m.P99NS.Max), nanosText(m.P99NS.Median)))
	}
	return publishedTable{t, notes}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// leftOut are the inputs of a merge that are no part of it.
func (l *noteList) leftOut(m *result.Merge) {
	if m == nil {
		return
	}
	l.say("", "", "Merged from the results of %s.", plural(len(m.Members), "machine"))
	if len(m.LeftOut) == 0 {
		return
	}
	l.say("bad", "", "Left out: %s, of which nothing could be used.", plural(len(m.LeftOut), "result"))
	n := &l.list[len(l.list)-1]
	for _, o := range m.LeftOut {
		n.More = append(n.More, printable.Name(o.Path)+": "+printable.Text(o.Reason))
	}
}
