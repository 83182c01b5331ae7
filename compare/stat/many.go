package stat

import "slices"

// Level is the alpha at which each of many comparisons is judged, so that of all that are shown as
// differences at most the part rate is expected to be none, and all of them together show any difference
// between things that are alike at most at that rate: the step-up procedure of Y. Benjamini and
// Y. Hochberg (Controlling the False Discovery Rate, J. R. Statist. Soc. B 57 (1995), 289), which holds for
// figures that move together, too (Y. Benjamini, D. Yekutieli, Ann. Statist. 29 (2001), 1165). A difference
// is shown when its P is at most Level, and the intervals at Level say the same: they are those of
// Benjamini and Yekutieli (J. Am. Statist. Assoc. 100 (2005), 71), which are right about what was
// selected.
func Level(ps []float64, rate float64) float64 {
	sorted := slices.Sorted(slices.Values(ps))
	shown := 1
	for i, p := range sorted {
		if p <= float64(i+1)*rate/float64(len(sorted)) {
			shown = i + 1
		}
	}
	return float64(shown) * rate / float64(max(len(sorted), 1))
}
