package workload

import (
	"strings"
	"testing"
)

// A pass over the whole of a range of any size touches each byte just once, whatever the number of threads,
// and so do the passes after it; nothing ever lies outside of the range.
func TestWholeLeavesNothingOut(t *testing.T) {
	for _, c := range []struct {
		size     int64
		bs       int64
		threads  int
		backward bool
	}{
		{1 << 20, 128 << 10, 1, false}, {1<<20 + 512, 128 << 10, 1, false}, {1<<20 - 512, 128 << 10, 4, false},
		{1<<20 + 77*512, 64 << 10, 3, true}, {4096, 128 << 10, 1, false}, {512, 64 << 20, 1, true},
	} {
		s := Spec{RW: "write", BlockSize: c.bs, Whole: true, Backward: c.backward}
		r, err := s.RangeOn(c.size)
		if err != nil {
			t.Fatal(err)
		}
		const passes = 3
		touched := make([]int, c.size/512)
		for thread := range c.threads {
			g, err := NewGenerator(&s, r, 1, thread, c.threads)
			if err != nil {
				t.Fatal(err)
			}
			var io Request
			for range passes * g.Pass() {
				g.Next(&io)
				if io.Offset < 0 || io.Offset+io.Length > c.size {
					t.Fatalf("%+v: an I/O of %d bytes at %d", c, io.Length, io.Offset)
				}
				for i := io.Offset / 512; i < (io.Offset+io.Length)/512; i++ {
					touched[i]++
				}
				if io.Length > c.bs || io.Length <= 0 {
					t.Fatalf("%+v: an I/O of %d bytes", c, io.Length)
				}
			}
		}
		for i, n := range touched {
			if n != passes {
				t.Fatalf("%+v: sector %d was touched %d times in %d passes", c, i, n, passes)
			}
		}
	}
}

func TestWholeIsForPasses(t *testing.T) {
	for _, s := range []Spec{
		{RW: "randwrite", BlockSize: 4096, Whole: true}, {RW: "rw", BlockSize: 4096, ReadPct: 50, Whole: true},
		{RW: "write", BlockSize: 4096, Stride: 8192, Whole: true},
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "whole: goes with") {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
