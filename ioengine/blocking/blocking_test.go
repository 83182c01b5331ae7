package blocking

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/ioengine/enginetest"
	"blkstorm/lab"
	"blkstorm/op"
)

// A durable write is a write and a sync where the kernel has no call for both: before 4.6 it lacks
// pwritev2, before 4.7 the flag.
func TestDurableWriteOnOldKernels(t *testing.T) {
	for _, errno := range []string{"ENOSYS", "EINVAL"} {
		t.Run(errno, func(t *testing.T) {
			if enginetest.Refused(t, fmt.Sprintf("%d=%s", unix.SYS_PWRITEV2, errno)) {
				writeDurably(t)
			}
		})
	}
}

// That the write is followed by a sync shows where the sync is refused as well.
func TestDurableWriteSyncs(t *testing.T) {
	if !enginetest.Refused(t, fmt.Sprintf("%d=ENOSYS,%d=EPERM", unix.SYS_PWRITEV2, unix.SYS_FDATASYNC)) {
		return
	}
	target, _ := open(t)
	io := ioengine.IO{Op: op.Write, Flags: ioengine.Durable, Length: 5, Buf: []byte("solid")}
	if got := Do(&target, &io); got != -int64(syscall.EPERM) {
		t.Errorf("%d, want the EPERM of the sync", got)
	}
}

func TestDurableWrite(t *testing.T) { writeDurably(t) }

func writeDurably(t *testing.T) {
	t.Helper()
	target, path := open(t)
	io := ioengine.IO{Op: op.Write, Flags: ioengine.Durable, Offset: 3, Length: 5, Buf: []byte("solid")}
	if got := Do(&target, &io); got != 5 {
		t.Errorf("%d, want 5", got)
	}
	if content, err := os.ReadFile(path); err != nil || !bytes.Equal(content, []byte("\x00\x00\x00solid\x00\x00")) {
		t.Errorf("%q, %v", content, err)
	}
	io.Offset = -512 // a bad I/O stays a bad one
	if got := Do(&target, &io); got != -int64(syscall.EINVAL) {
		t.Errorf("at -512: %d, want EINVAL", got)
	}
}

func open(t *testing.T) (Target, string) {
	t.Helper()
	path := lab.File(t, 10)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	targets, err := Targets([]int{int(f.Fd())})
	if err != nil {
		t.Fatal(err)
	}
	if targets[0].Block {
		t.Error("a file is taken for a block device")
	}
	return targets[0], path
}
