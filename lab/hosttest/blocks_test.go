package hosttest

import (
	"bytes"
	"fmt"
	"testing"

	"blkstorm/lab"
)

// What a run writes lies within its range, to the byte, as the disk itself has logged it; random writes
// reach all of it, evenly; and the rest of the disk is as it was.
func TestRandomWritesCoverTheRangeOnly(t *testing.T) {
	const block = 4 * kib
	for _, c := range []struct {
		options string
		first   int64 // bytes
		length  int64
	}{
		{"--offset 8m --size 1m", 8 * mib, 1 * mib},
		{"--offset 25% --size 25% --working-set 3%", 16 * mib, 16 * mib * 3 / 100 / block * block},
		{"--offset 8704 --size 1m --threads 3", 8704, 1 * mib},
		{"--offset 63m --threads 2", 63 * mib, 1 * mib},
		{"--rw randrw --offset 5m --size 1m", 5 * mib, 1 * mib},
	} {
		t.Run(c.options, func(t *testing.T) {
			tries(t, func() error {
				disk := lab.NewProgrammable(t, 64*mib)
				p := run(t, exitGood, "--rw randwrite --bs 4k --iodepth 8 --runtime 1s --destroy "+c.options, disk.Dev)
				log := disk.LogOf(lab.Writes, lab.Range{})
				if uint64(len(log)) != p.Issued.Write {
					t.Errorf("issued %d writes, the disk has seen %d", p.Issued.Write, len(log))
				}
				times := make([]int, c.length/block)
				for _, a := range log {
					at := a.Offset - c.first
					if at < 0 || at+a.Length > c.length || at%block != 0 || a.Length != block {
						t.Fatalf("written: %d bytes at %d; the range is %d bytes at %d", a.Length, a.Offset, c.length, c.first)
					}
					times[at/block]++
				}
				never := 0
				for _, n := range times {
					if n == 0 {
						never++
					}
				}
				// Of n blocks, m random writes miss n * e^(-m/n): at m = 20 n that is one in a million.
				if mean := len(log) / len(times); mean >= 20 && never > 0 {
					t.Errorf("%d of %d blocks were never written by %d writes", never, len(times), len(log))
				} else if mean < 3 {
					return fmt.Errorf("%d writes on %d blocks tell nothing", len(log), len(times))
				}
				// The first half gets half: the standard deviation is half the root of the number.
				half := 0
				for _, n := range times[:len(times)/2] {
					half += n
				}
				want := float64(len(log)) * float64(len(times)/2) / float64(len(times))
				if d := float64(half) - want; d*d > 36*float64(len(log))/4 {
					t.Errorf("%d of %d writes in the first half", half, len(log))
				}
				content := disk.Content()
				if !bytes.Equal(content[:c.first], make([]byte, c.first)) || !bytes.Equal(content[c.first+c.length:], make([]byte, int64(len(content))-c.first-c.length)) {
					t.Error("the disk has changed outside the range")
				}
				return nil
			})
		})
	}
}

// Each thread of a sequential write has a slice of its own and walks through it block by block, round
// and round: in the order that the disk saw, at depth 1, without a gap or a step back.
func TestSequentialSlices(t *testing.T) {
	const block, threads = 64 * kib, 4
	for _, engine := range engines {
		disk := lab.NewProgrammable(t, 64*mib)
		p := run(t, exitGood, fmt.Sprintf("--rw write --bs %d --threads %d --runtime 500ms --destroy --engine %s", block, threads, engine)+middleOptions, disk.Dev)
		slice := middle.Length / threads
		var seen [threads]int64
		for _, a := range disk.LogOf(lab.Writes, lab.Range{}) {
			if a.Offset < middle.Offset || a.Offset+a.Length > middle.Offset+middle.Length {
				t.Fatalf("%s: written outside the range: %+v", engine, a)
			}
			n := (a.Offset - middle.Offset) / slice
			if want := middle.Offset + n*slice + seen[n]*block%slice; a.Offset != want || a.Length != block {
				t.Fatalf("%s: in slice %d the %dth write came at %d, want %d", engine, n, seen[n], a.Offset, want)
			}
			seen[n]++
		}
		for i, th := range p.PerThread {
			if uint64(seen[i]) != th.Issued.Write || seen[i] == 0 {
				t.Errorf("%s: thread %d issued %d writes, its slice has seen %d", engine, i, th.Issued.Write, seen[i])
			}
		}
	}
}

// The mix is exact in each hundred I/Os, counted in the order in which they reached the disk.
func TestMixInTheDisksOrder(t *testing.T) {
	for _, engine := range engines {
		for _, pct := range []int{1, 30, 70} {
			tries(t, func() error {
				disk := lab.NewProgrammable(t, 64*mib)
				p := run(t, exitGood, fmt.Sprintf("--rw randrw --read-pct %d --ramp 50ms --runtime 500ms --destroy --engine %s", pct, engine)+middleOptions, disk.Dev)
				log := disk.LogOf(lab.Both, middle)
				if uint64(len(log)) != p.Issued.Sum() {
					t.Fatalf("%s %d %%: issued %+v, the disk has seen %d", engine, pct, p.Issued, len(log))
				}
				for i := 0; i+100 <= len(log); i += 100 {
					reads := 0
					for _, a := range log[i : i+100] {
						if a.Op == lab.Reads {
							reads++
						}
					}
					if reads != pct {
						t.Fatalf("%s: of I/Os %d to %d %d were reads, want %d", engine, i+1, i+100, reads, pct)
					}
				}
				if len(log) < 200 {
					return fmt.Errorf("%s %d %%: %d I/Os tell little", engine, pct, len(log))
				}
				return nil
			})
		}
	}
}
