package lab

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// diskNode is the file of a Programmable.
type diskNode struct {
	fs.Inode
	disk *Programmable
}

// The kernel asks a node for no more than these.
var (
	_ fs.NodeOpener    = (*diskNode)(nil)
	_ fs.NodeGetattrer = (*diskNode)(nil)
	_ fs.NodeReader    = (*diskNode)(nil)
	_ fs.NodeWriter    = (*diskNode)(nil)
	_ fs.NodeFsyncer   = (*diskNode)(nil)
)

// Open keeps the page cache out, so that every I/O of the loop arrives as it is.
func (n *diskNode) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO | fuse.FOPEN_PARALLEL_DIRECT_WRITES, 0
}

// Getattr gives the size.
func (n *diskNode) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode = syscall.S_IFREG | 0o600
	out.Size = uint64(len(n.disk.content))
	out.Blocks = out.Size / 512
	return 0
}

// Read serves a read.
func (n *diskNode) Read(_ context.Context, _ fs.FileHandle, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	return fuse.ReadResultData(dest), n.disk.serve(Reads, offset, dest)
}

// Write serves a write.
func (n *diskNode) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	return uint32(len(data)), n.disk.serve(Writes, offset, data)
}

// Fsync has nothing to do: the disk is memory.
func (n *diskNode) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }

// fuseMount is a mounted file system that this process serves.
type fuseMount struct {
	dir    string
	server *fuse.Server
	number string // of the connection, as fusectl names it
}

func newProgrammable(t testing.TB, size int64, asynchronous bool) *Programmable {
	t.Helper()
	Root(t)
	if _, err := os.Stat("/dev/fuse"); err != nil {
		Missing(t, "no FUSE: "+err.Error())
	}
	d := &Programmable{t: t, content: make([]byte, size), gates: map[Ops]chan struct{}{}, closed: make(chan struct{})}
	d.mount = mountDisk(t, d, asynchronous)
	t.Cleanup(d.unmount)
	d.File = filepath.Join(d.mount.dir, "disk")
	d.Dev = LoopOn(t, d.File, LoopOptions{})
	keepApart(t, d.Dev)
	t.Cleanup(func() { close(d.closed) }) // runs first: what hangs would hold the loop
	return d
}

// mountDisk mounts a folder with the one file.
func mountDisk(t testing.TB, d *Programmable, asynchronous bool) *fuseMount {
	t.Helper()
	options := &fs.Options{
		MountOptions: fuse.MountOptions{
			Name: "blkstorm-lab", FsName: "blkstorm-lab", DirectMountStrict: true, MaxBackground: 128, MaxWrite: 512 << 10,
			Logger: log.New(io.Discard, "", 0), // it would tell of each answer that Abort makes too late
		},
	}
	if asynchronous {
		options.ExtraCapabilities = fuse.CAP_ASYNC_DIO
	}
	root := &fs.Inode{}
	options.OnAdd = func(ctx context.Context) {
		root.AddChild("disk", root.NewPersistentInode(ctx, &diskNode{disk: d}, fs.StableAttr{Mode: syscall.S_IFREG}), false)
	}
	m := &fuseMount{dir: t.TempDir()}
	var err error
	if m.server, err = fs.Mount(m.dir, root, options); err != nil {
		Missing(t, "no FUSE mount: "+err.Error())
	}
	keepFromChildren()
	if m.number, err = connection(m.dir); err != nil {
		t.Error(err) // only Abort needs it
	}
	return m
}

// keepFromChildren marks our end of FUSE connections close-on-exec, which a direct mount leaves out: a
// child that held it would keep the connection open when this process has gone.
func keepFromChildren() {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || to != "/dev/fuse" {
			continue
		}
		var fd int
		if _, err := fmt.Sscan(filepath.Base(link), &fd); err == nil {
			unix.CloseOnExec(fd)
		}
	}
}

// connection finds the number of a FUSE connection, the minor number of its mount, without a call that
// the file system would have to answer.
func connection(dir string) (string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 4 && f[4] == dir { // proc_pid_mountinfo(5): field 3 is major:minor, 5 the mount point
			_, minor, _ := strings.Cut(f[2], ":")
			return minor, nil
		}
	}
	return "", fmt.Errorf("%s: no such mount", dir)
}

// keepApart has the block layer hand I/Os on as they come: merged neighbours would arrive as one, and
// the disk would count other I/Os than the program.
func keepApart(t testing.TB, dev string) {
	t.Helper()
	path := filepath.Join("/sys/block", filepath.Base(dev), "queue/nomerges")
	old, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte("2"), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // loop devices outlive the file that they were on
		if err := os.WriteFile(path, []byte(strings.TrimSpace(string(old))), 0); err != nil {
			t.Error(err)
		}
	})
}

// Abort takes the connection away under the device, for good: what is in flight fails, and so does all
// that follows.
func (d *Programmable) Abort() {
	d.t.Helper()
	if err := d.mount.abort(); err != nil {
		d.t.Error(err)
	}
}

// aborting keeps aborts apart: one must not unmount what the next is about to use.
var aborting sync.Mutex

func (m *fuseMount) abort() error {
	aborting.Lock()
	defer aborting.Unlock()
	const control = "/sys/fs/fuse/connections"
	path := filepath.Join(control, m.number, "abort")
	if _, err := os.Stat(path); err != nil {
		if err := unix.Mount("fusectl", control, "fusectl", 0, ""); err != nil {
			return fmt.Errorf("mounting fusectl: %w", err)
		}
		defer func() { _ = unix.Unmount(control, unix.MNT_DETACH) }() // it was not there before
	}
	return os.WriteFile(path, []byte("1"), 0)
}

// unmount takes the file system down. The loop lets go of its file a moment after it is detached; what
// holds it for longer is stuck, and is freed by force.
func (d *Programmable) unmount() {
	var err error
	for range 100 {
		if err = unix.Unmount(d.mount.dir, 0); err == nil {
			d.mount.server.Wait()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	d.t.Errorf("unmounting the disk's file system: %v", err)
	if err := d.mount.abort(); err != nil {
		d.t.Error(err)
	}
	if err := unix.Unmount(d.mount.dir, unix.MNT_DETACH); err != nil {
		d.t.Error(err)
	}
}
