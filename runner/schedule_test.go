package runner

import (
	"math"
	"testing"
)

func TestSchedule(t *testing.T) {
	s := newSchedule(1000, 250, 100)
	for _, c := range []struct{ t, row int64 }{{900, 0}, {1000, 0}, {1099, 0}, {1100, 1}, {1249, 2}, {1250, 3}, {1349, 3}, {1350, 4}, {math.MaxInt32, 3 + (math.MaxInt32-1250)/100}} {
		if got := s.row(c.t); got != c.row {
			t.Errorf("row(%d) = %d, want %d", c.t, got, c.row)
		}
	}
	for _, c := range []struct{ row, begin, end int64 }{{0, 1000, 1100}, {2, 1200, 1250}, {3, 1250, 1350}} {
		if s.begin(c.row) != c.begin || s.end(c.row) != c.end {
			t.Errorf("row %d: %d to %d, want %d to %d", c.row, s.begin(c.row), s.end(c.row), c.begin, c.end)
		}
	}
	if s := newSchedule(0, 0, 100); s.rampRows != 0 || s.row(0) != 0 || s.begin(0) != 0 {
		t.Errorf("no ramp: %+v", s)
	}
}

func TestPlacement(t *testing.T) {
	allowed := []int{2, 3, 5}
	for _, c := range []struct {
		pin  string
		n    int
		want []int // nil for an error
	}{
		{"auto", 2, []int{2, 3}},
		{"auto", 3, []int{2, 3, 5}},
		{"auto", 4, []int{-1, -1, -1, -1}},
		{"none", 1, []int{-1}},
		{"3", 2, []int{3, 3}},
		{"2-3,5", 4, []int{2, 3, 5, 2}},
		{"4", 1, nil},
		{"x", 1, nil},
		{"3-2", 1, nil},
		{"-1", 1, nil},
		{"0-99999", 1, nil},
		{"", 1, []int{2}},
	} {
		got, err := placement(c.pin, c.n, allowed)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%q: %v", c.pin, err)
			continue
		}
		for i := range c.want {
			if got[i] != c.want[i] {
				t.Errorf("%q: %v, want %v", c.pin, got, c.want)
				break
			}
		}
	}
}
