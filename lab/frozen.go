package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Frozen is a block device that can be made to stop answering writes: a loop on a file of a mounted
// ext4, whose file system is frozen and thawed. Nothing fails meanwhile: writes just do not end.
type Frozen struct {
	Dev  string // the loop device
	File string // the file beneath it
	dir  string
	mu   sync.Mutex
	held bool
	t    testing.TB
}

// NewFrozen makes one of size bytes; it answers until Freeze is called.
func NewFrozen(t testing.TB, size int64) *Frozen {
	t.Helper()
	Root(t)
	Tool(t, "fsfreeze")
	outer := Loop(t, size+64<<20, LoopOptions{})
	Run(t, "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", outer)
	dir := t.TempDir()
	Run(t, "mount", outer, dir)
	t.Cleanup(func() { Unmount(t, dir) })
	file := filepath.Join(dir, "disk.img")
	f := &Frozen{File: file, dir: dir, t: t}
	if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	Run(t, "sync", file)
	f.Dev = LoopOn(t, file, LoopOptions{})
	t.Cleanup(f.Thaw) // runs before the loop is detached and the file system unmounted
	return f
}

// Freeze stops writes from being answered.
func (f *Frozen) Freeze() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if out, err := exec.Command("fsfreeze", "-f", f.dir).CombinedOutput(); err != nil {
		f.t.Errorf("fsfreeze -f: %v: %s", err, out)
		return
	}
	f.held = true
}

// Thaw lets the writes end. It may be called again.
func (f *Frozen) Thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.held {
		return
	}
	f.held = false
	if out, err := exec.Command("fsfreeze", "-u", f.dir).CombinedOutput(); err != nil {
		f.t.Errorf("fsfreeze -u: %v: %s", err, out)
	}
}
