package runner

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"blkstorm/ioengine/null"
	"blkstorm/ioengine/registry"
	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/workload"
)

// The preemption point must begin with the check of the stack bound: that is where the scheduler can
// stop the loop. If the compiler left it out (inlined it, or called it small), a stop of the world
// would wait for a signal that nearly never lands outside a system call.
func TestPreemptPointHasAPrologue(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "runner.test")
	if out, err := exec.Command("go", "test", "-c", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "tool", "objdump", "-s", `^blkstorm/runner\.preemptPoint$`, binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) < 3 {
		t.Fatalf("preemptPoint is not in the binary:\n%s", out)
	}
	// amd64: CMPQ SP, 0x10(R14); arm64: MOVD 16(R28), R16, then CMP. Both load g.stackguard0.
	if !regexp.MustCompile(`0x10\(R14\)|16\(R28\)`).MatchString(strings.Join(lines[1:3], "\n")) {
		t.Errorf("preemptPoint does not begin with a check of the stack bound:\n%s", out)
	}
	call, err := exec.Command("go", "tool", "objdump", "-s", `^blkstorm/runner\.\(\*thread\)\.loop$`, binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(call), "runner.preemptPoint(SB)") {
		t.Error("the loop does not call preemptPoint")
	}
}

// With as many busy threads as CPUs, in raw system calls without end, a goroutine that ticks every
// 10 ms, as control does, is never late by more than 20 ms. Other processes may take the CPUs for a
// moment; what the runner itself did wrong would show in each of the tries.
func TestControlTicksInTime(t *testing.T) {
	file := lab.File(t, 1<<20)
	for _, name := range []string{"io_uring", "libaio", "psync"} {
		found, _, err := registry.Candidates(name, registry.Options{})
		if err != nil {
			lab.Missing(t, err.Error())
		}
		var late time.Duration
		for range 10 {
			if late = tickUnder(t, Config{
				Point: point(0, 700*time.Millisecond, 100*time.Millisecond, plan.Stream{
					Workload: workload.Spec{RW: "randread", BlockSize: 4096}, Targets: []int{0}, Threads: 2, IODepth: 1,
				}),
				Targets: []Target{{Path: file, SizeBytes: 1 << 20, Open: OpenTarget(file, openRead)}}, Driver: &found[0],
			}); late <= 20*time.Millisecond {
				break
			}
		}
		if late > 20*time.Millisecond {
			t.Errorf("%s: in ten tries the best had a tick that came %v late", name, late)
		}
	}
}

// tickUnder runs a point and returns how late the latest of a 10 ms ticker's ticks came.
func tickUnder(t *testing.T, cfg Config) time.Duration {
	t.Helper()
	var worst atomic.Int64
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	started := make(chan struct{})
	go func() {
		defer close(ended)
		<-started
		last := time.Now()
		for ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
			worst.Store(max(worst.Load(), int64(time.Since(last)-10*time.Millisecond)))
			last = time.Now()
		}
	}()
	var once atomic.Bool
	cfg.Rows = func(*Row) {
		if once.CompareAndSwap(false, true) { // set-up, with its collection, is over
			close(started)
		}
	}
	if _, err := Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-ended
	return time.Duration(worst.Load())
}

// A collection can run beside busy threads in raw system calls: none of them keeps the world from
// stopping.
func TestCollectionIsPossibleDuringARun(t *testing.T) {
	cfg := Config{Point: point(0, 500*time.Millisecond, 50*time.Millisecond, stream("randread", 4, 1)), Targets: []Target{nowhere(1 << 30)}, Driver: &null.Driver}
	collected := false
	cfg.Rows = func(row *Row) {
		if row.Index == 3 {
			began := time.Now()
			forceCollection()
			collected = true
			if took := time.Since(began); took > time.Second {
				t.Errorf("a collection took %v", took)
			}
		}
	}
	if _, err := Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if !collected {
		t.Error("no collection was tried")
	}
}
