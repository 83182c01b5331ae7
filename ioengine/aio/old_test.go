package aio

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/ioengine/enginetest"
	"blkstorm/lab"
	"blkstorm/op"
)

// On a kernel whose Linux AIO has no syncs or durable writes they are done in the thread, and the engine
// says so once it knows. Here io_submit refuses everything.
func TestOldKernel(t *testing.T) {
	if !enginetest.Refused(t, fmt.Sprintf("%d=EINVAL", unix.SYS_IO_SUBMIT)) {
		return
	}
	d := Driver
	d.Probe = nil // it would see that nothing can be submitted
	path := lab.File(t, 8*enginetest.BlockSize)
	b := enginetest.Open(t, d, path, 4)
	if notes := b.Engine.Info().Notes; strings.Contains(strings.Join(notes, " "), "syncs") {
		t.Errorf("before the first sync: %q", notes)
	}
	for round := range 2 { // the second time the kernel is not asked
		write := ioengine.IO{Op: op.Write, Flags: ioengine.Durable, Offset: enginetest.BlockSize, Length: enginetest.BlockSize, Buf: b.Buffer(0)}
		write.Buf[0] = byte(7 + round)
		b.Slots[0], b.Slots[1] = write, ioengine.IO{Op: op.Sync}
		b.Slots[2] = ioengine.IO{Op: op.Read, Length: enginetest.BlockSize, Buf: b.Buffer(2)}
		b.Slots[3] = ioengine.IO{Op: op.Sync, Flags: ioengine.DataOnly}
		got := b.All(t, 4, 0)
		if got[0] != enginetest.BlockSize || got[1] != 0 || got[2] != -int64(syscall.EINVAL) || got[3] != 0 {
			t.Errorf("results %v", got)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if content[enginetest.BlockSize] != byte(7+round) {
			t.Error("the durable write did not land")
		}
	}
	notes := strings.Join(b.Engine.Info().Notes, "\n")
	for _, want := range []string{"syncs one at a time", "durable writes one at a time", "trims one at a time"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note of %q in %q", want, notes)
		}
	}
}
