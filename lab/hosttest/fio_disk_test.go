package hosttest

import (
	"bytes"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
)

// logOf is what a disk was asked for in the run, in one direction, behind the part that the guard looks at.
func (s *fioSide) logOf(disk int, o lab.Ops) []lab.Access {
	list := s.disks[disk].Log()[s.seen[disk]:]
	return slices.DeleteFunc(list, func(a lab.Access) bool { return a.Op != o || a.Offset < fioStart || a.Offset >= 60*mib })
}

// touched lists the ranges that were touched in a direction, joined where they meet.
func (s *fioSide) touched(disk int, o lab.Ops) (list []lab.Range) {
	log := s.logOf(disk, o)
	slices.SortFunc(log, func(a, b lab.Access) int { return int(a.Offset - b.Offset) })
	for _, a := range log {
		last := len(list) - 1
		if last >= 0 && a.Offset <= list[last].Offset+list[last].Length {
			list[last].Length = max(list[last].Length, a.Offset+a.Length-list[last].Offset)
			continue
		}
		list = append(list, lab.Range{Offset: a.Offset, Length: a.Length})
	}
	return list
}

// checkContent checks that all that was written repeats a pattern.
func checkContent(t *testing.T, s *fioSide, pattern []byte) {
	t.Helper()
	content := s.disks[0].Content()
	for _, r := range s.touched(0, lab.Writes) {
		got := content[r.Offset : r.Offset+r.Length]
		if want := bytes.Repeat(pattern, len(got)/len(pattern)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes from %d on do not repeat % x", r.Length, r.Offset, pattern)
		}
	}
}

// compareShares compares how many of the I/Os start in a range, within five standard deviations of the
// difference of two binomial shares.
func compareShares(t *testing.T, theirs, ours *fioSide, r lab.Range) {
	t.Helper()
	share := func(s *fioSide) (share, n float64) {
		in := 0
		log := slices.Concat(s.logOf(0, lab.Reads), s.logOf(0, lab.Writes))
		for _, a := range log {
			if at := a.Offset - fioStart; at >= r.Offset && at < r.Offset+r.Length {
				in++
			}
		}
		return float64(in) / float64(max(len(log), 1)), float64(len(log))
	}
	a, n := share(theirs)
	b, m := share(ours)
	if sigma := math.Sqrt(a*(1-a)/n + b*(1-b)/m); math.Abs(a-b) > 5*sigma {
		t.Errorf("%.3f of %.0f I/Os in %+v, fio has %.3f of %.0f: more than 5 x %.4f apart", b, m, r, a, n, sigma)
	}
}

// checkHoles checks that the file below the loop has a hole where the job has trimmed, and data before and
// behind it.
func checkHoles(t *testing.T, s *fioSide) {
	t.Helper()
	f, err := os.Open(s.image)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := map[string]int64{}
	for name, seek := range map[string][2]int64{"hole": {0, unix.SEEK_HOLE}, "data": {4 * mib, unix.SEEK_DATA}} {
		if got[name], err = f.Seek(seek[0], int(seek[1])); err != nil {
			t.Fatalf("%s: %s: %v", s.name, name, err)
		}
	}
	if want := map[string]int64{"hole": 4 * mib, "data": 12 * mib}; !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", s.name, got, want)
	}
}
