package uring

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"blkstorm/ioengine"
	"blkstorm/ioengine/enginetest"
	"blkstorm/op"
)

// BenchmarkNop is the floor of the engine: full turns on a ring whose operations do nothing. What it
// costs beyond the kernel's own NOP is what blkstorm adds to an I/O. It needs neither device nor root.
func BenchmarkNop(b *testing.B) {
	for _, depth := range []int{1, 32, 128} {
		b.Run(fmt.Sprintf("Q%d", depth), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if err := tryOut(Options{}); err != nil {
				b.Skip(err)
			}
			e, region := nopEngine(b, depth)
			defer func() {
				if err := e.Close(); err != nil {
					b.Error(err)
				}
				if err := region.Free(); err != nil {
					b.Error(err)
				}
			}()
			slots := make([]uint32, depth)
			done := make([]ioengine.Completion, depth)
			for i := range slots {
				slots[i] = uint32(i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				for _, slot := range slots {
					e.fill(slot)
					s := &e.ring.sqes[(e.ring.tail-1)&e.ring.sqMask]
					*s = sqe{opcode: opNop, userData: s.userData}
				}
				e.ring.publish()
				for left := depth; left > 0; {
					if _, err := e.enter(depth, left, 0); err != nil {
						b.Fatal(err)
					}
					left -= e.take(done)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(depth), "ns/IO")
		})
	}
}

func nopEngine(b *testing.B, depth int) (*engine, *ioengine.Region) {
	b.Helper()
	file, err := os.Open(os.DevNull)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	region, err := ioengine.NewRegion(depth, 4096)
	if err != nil {
		b.Fatal(err)
	}
	slots := make([]ioengine.IO, depth)
	for i := range slots {
		slots[i] = ioengine.IO{Length: 4096, Buf: region.Buffer(i, 4096), Op: op.Read}
	}
	e, err := open(ioengine.Config{Files: []int{int(file.Fd())}, Slots: slots, Region: region.Bytes(), Stride: region.Stride()}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	return e.(*engine), region
}

// BenchmarkWakesBare is how late ppoll ends a wait, which older kernels need (package registry has the
// others).
func BenchmarkWakesBare(b *testing.B) {
	for _, limit := range []time.Duration{100 * time.Microsecond, time.Millisecond} {
		b.Run(limit.String(), func(b *testing.B) { enginetest.Wakes(b, Driver(Options{bare: true}), limit) })
	}
}
