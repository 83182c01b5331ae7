package ioengine

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestPreciseTimers(t *testing.T) {
	runtime.LockOSThread() // for good: the thread ends with the test
	if err := PreciseTimers(); err != nil {
		t.Fatal(err)
	}
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil || slack != 1 {
		t.Errorf("timer slack %d ns, %v", slack, err)
	}
}

// Sleep lasts as long as it should where no signal comes, and a signal ends it.
func TestSleep(t *testing.T) {
	runtime.LockOSThread()
	var urgent unix.Sigset_t
	urgent.Val[0] = 1 << (syscall.SIGURG - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &urgent, nil); err != nil {
		t.Fatal(err)
	}
	for _, d := range []time.Duration{-time.Second, 0, 100 * time.Microsecond, 5 * time.Millisecond} {
		began := time.Now()
		Sleep(d)
		if took := time.Since(began); took < d || took > d+10*time.Second {
			t.Errorf("Sleep(%v) took %v", d, took)
		}
	}
	if n := testing.AllocsPerRun(100, func() { Sleep(time.Microsecond) }); n != 0 {
		t.Errorf("%g allocations", n)
	}

	if err := unix.PthreadSigmask(unix.SIG_UNBLOCK, &urgent, nil); err != nil {
		t.Fatal(err)
	}
	tid := unix.Gettid()
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
				_ = unix.Tgkill(os.Getpid(), tid, unix.SIGURG)
			}
		}
	}()
	began := time.Now()
	Sleep(time.Minute)
	close(stop)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("no signal ended it: %v", took)
	}
}
