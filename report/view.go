package report

// link leads to a section from the top of the page.
type link struct{ id, name string }

// links are those to the sections that the page has.
func (v *view) links() (out []link) {
	for _, l := range []struct {
		link
		there bool
	}{
		{link{"verdict", "Verdict"}, true}, {link{"tested", "Tested"}, true}, {link{"time", "Over time"}, true},
		{link{"sweep", "Sweep"}, len(v.Sweep) > 0}, {link{"published", "Tables"}, len(v.Published) > 0},
		{link{"search", "Search"}, v.FindMax != nil}, {link{"machines", "Machines"}, len(v.Machines) > 0},
		{link{"points-all", "Points"}, true}, {link{"latency", "Latency"}, true}, {link{"details", "Details"}, true},
		{link{"machine", "Machine"}, true}, {link{"raw", "Plan and raw numbers"}, true},
	} {
		if l.there {
			out = append(out, l.link)
		}
	}
	return out
}

// heatNote says what the map of latencies over time shows.
func (v *view) heatNote() string {
	text := "columns of " + v.HeatBucket + "; the stronger the colour, the larger the share of the column's I/Os; ramps are not in it"
	if v.Estimated {
		text += "; estimated from the minimum, p50, p95, p99 and maximum of the intervals, since " + v.NoLog
	}
	return text
}

func tallClass(tall bool) string {
	if tall {
		return "scroll tall"
	}
	return "scroll"
}

func sortClass(dense bool) string {
	if dense {
		return "sort dense"
	}
	return "sort"
}
