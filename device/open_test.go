package device

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
)

func TestOpen(t *testing.T) {
	path := lab.File(t, mib)
	f, err := Open(path, OpenOptions{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR || flags&unix.O_DIRECT != 0 {
		t.Errorf("flags = %#x, %v", flags, err)
	}
	if fd, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || fd&unix.FD_CLOEXEC == 0 {
		t.Errorf("not close-on-exec: %#x, %v", fd, err)
	}

	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := Open(missing, OpenOptions{Write: true}); !errors.Is(err, fs.ErrNotExist) || exists(missing) {
		t.Errorf("missing: %v", err)
	}
	// procfs has no direct I/O.
	_, err = Open("/proc/self/status", OpenOptions{Direct: true})
	if !errors.Is(err, ErrNoDirect) || !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "--direct=false") {
		t.Errorf("no direct I/O: %v", err)
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(path, 0o400); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, OpenOptions{Write: true}); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "root") {
			t.Errorf("no permission: %v", err)
		}
	}
}

func TestOpenErrorsSayWhatToDo(t *testing.T) {
	for errno, want := range map[unix.Errno]string{
		unix.EROFS: "read-only", unix.ENOMEDIUM: "no medium", unix.ENXIO: "no device behind", unix.EPERM: "immutable",
		unix.EBUSY: "held", unix.ETXTBSY: "running program", unix.EIO: "cannot be opened", unix.EINVAL: "cannot be opened",
	} {
		err := openError("/dev/x", OpenOptions{}, &fs.PathError{Op: "open", Path: "/dev/x", Err: errno})
		if !errors.Is(err, errno) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "/dev/x") {
			t.Errorf("%v: %v", errno, err)
		}
	}
}

func TestInspectRefusesWhatIsNoTarget(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/dev/null": "character device", dir: "directory", fifo: "FIFO",
		dangling: "no such", filepath.Join(dir, "missing"): "no such", "/dev/null/x": "not a directory",
	} {
		if f, err := System().Inspect(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", path, f, err, want)
		}
	}
	if err := notATarget("/dev/nvme0", unix.S_IFCHR); !strings.Contains(err.Error(), "/dev/nvme0n1") {
		t.Errorf("nvme controller: %v", err)
	}

	f := newFakeTree(t)
	f.put("dev/sdx", "left by dd")
	if _, err := f.r.Inspect(f.dev("sdx")); err == nil || !strings.Contains(err.Error(), "regular file in the device directory") {
		t.Errorf("file in dev: %v", err)
	}
	f.put("dev/shm/file", "x")
	if got := f.inspect("shm/file"); got.Kind != "file" {
		t.Errorf("file in dev/shm: %+v", got)
	}
}

func TestInspectFile(t *testing.T) {
	path := lab.File(t, 8192)
	got, err := System().Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.Kind != "file" || got.SizeBytes != 8192 || got.FileSystem == "" || got.MountPoint == "" || got.Serial != "" || got.Path != realPath(path) {
		t.Errorf("facts = %+v", got)
	}
}

// Facts of the machine's own disks must not need root.
func TestListHere(t *testing.T) {
	list, err := System().List()
	if err != nil {
		lab.Missing(t, err.Error())
	}
	for _, f := range list {
		if f.SizeBytes <= 0 || f.LogicalBlockBytes < 512 || f.Device == "" || f.Kind == "" {
			t.Errorf("facts = %+v", f)
		}
	}
}
