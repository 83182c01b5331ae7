package main

import (
	"testing"

	"blkstorm/result"
)

// point is a run of 60 reads, 30 writes and 10 trims, of which 9 fell into the ramp and 1 was drained,
// with a sync after every tenth write.
func point() *result.Point {
	stat := func(ios, bytes uint64) *result.Stat { return &result.Stat{IOs: ios, Bytes: bytes} }
	row := func(read, write, trim uint64) *result.Interval {
		of := func(n uint64) result.IntervalStat { return result.IntervalStat{IOs: n, Bytes: n * 4096} }
		return &result.Interval{Read: of(read), Write: of(write), Trim: of(trim)}
	}
	return &result.Point{
		Issued: result.Issued{Read: 60, Write: 30, Trim: 10, Sync: 3}, RampIOs: 9, Drained: 1,
		Total: stat(91, 91*4096), Read: stat(55, 55*4096), Write: stat(27, 27*4096), Trim: stat(9, 9*4096), Sync: stat(2, 0),
		Intervals: []*result.Interval{row(30, 20, 4), row(25, 7, 5)},
	}
}

func TestSums(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*result.Point)
		wrong bool
	}{
		{"whole", func(*result.Point) {}, false},
		{"a sync is in no figure", func(p *result.Point) { p.Sync.IOs-- }, true},
		{"a sync too many", func(p *result.Point) { p.Sync.IOs++ }, true},
		{"an I/O is in no figure", func(p *result.Point) { p.Drained-- }, true},
		{"a read counts as a write, too", func(p *result.Point) { p.Write.IOs++ }, true},
		{"a row is missing", func(p *result.Point) { p.Intervals = p.Intervals[:1] }, true},
		{"a trim is in no row", func(p *result.Point) { p.Intervals[0].Trim.IOs-- }, true},
		{"bytes are in no row", func(p *result.Point) { p.Intervals[0].Read.Bytes -= 512 }, true},
		{"what failed is in no figure", func(p *result.Point) { p.Issued.Read++; p.Faults = 1 }, false},
		{"what is stuck is in no figure", func(p *result.Point) { p.Issued.Read++; p.Stuck = make([]result.Stuck, 1) }, false},
	} {
		p := point()
		c.spoil(p)
		if err := sums(p); (err != nil) != c.wrong {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
