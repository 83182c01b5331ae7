package device

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blkstorm/lab"
)

// The tests in this file ask the running kernel, on loop devices that they make themselves.

// wantCodes checks the guard's answer, consent granted, for a path of the running system.
func wantCodes(t *testing.T, path, text string, want ...string) {
	t.Helper()
	got, all := codes(t, System(), path)
	if !cmp.Equal(got, want) || !strings.Contains(all, text) {
		t.Errorf("%s: %v, want %v with %q\n%s", path, got, want, text, all)
	}
}

// mountAt mounts a file system on a folder of the test's own and unmounts it in the end.
func mountAt(t *testing.T, dev string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mount point")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lab.Run(t, "mount", dev, dir)
	t.Cleanup(func() { lab.Run(t, "umount", dir) })
	return dir
}

func ext4(t *testing.T, path string) { t.Helper(); lab.Run(t, "mkfs.ext4", "-q", "-F", path) }

func TestBlankLoopOnlyNeedsConsent(t *testing.T) {
	for name, o := range map[string]lab.LoopOptions{"512": {}, "4Kn": {SectorSize: 4096}} {
		t.Run(name, func(t *testing.T) {
			dev := lab.Loop(t, 16*mib, o)
			facts, err := System().Inspect(dev)
			if err != nil {
				t.Fatal(err)
			}
			block := max(o.SectorSize, 512)
			if facts.Kind != "loop" || facts.Transport != "loop" || facts.SizeBytes != 16*mib || facts.LogicalBlockBytes != block ||
				facts.DIOOffsetAlign != block || facts.BackingFile == "" || "/dev/"+facts.Name != dev || facts.ReadOnly {
				t.Errorf("facts = %+v", facts)
			}
			wantCodes(t, dev, "")
			got, err := System().Guard(facts, Consent{})
			if err != nil || len(got) != 1 || got[0].Code != CodeConsent {
				t.Errorf("without consent: %v, %v", got, err)
			}
		})
	}
}

func TestMountedLoop(t *testing.T) {
	backing := lab.File(t, 16*mib)
	dev := lab.LoopOn(t, backing, lab.LoopOptions{})
	ext4(t, dev)
	dir := mountAt(t, dev)
	wantCodes(t, dev, dir, CodeMounted, CodeSignature)
	wantCodes(t, backing, dev[len("/dev/"):], CodeLoopBacking, CodeSignature)

	link := filepath.Join(t.TempDir(), "pci-0000:00:1f.2-ata-1")
	if err := os.Symlink(dev, link); err != nil {
		t.Fatal(err)
	}
	wantCodes(t, link, dir, CodeMounted, CodeSignature)

	// A second loop on the same file: nothing is mounted on it, but it is the same data.
	twin := lab.LoopOn(t, backing, lab.LoopOptions{})
	wantCodes(t, twin, "beneath", CodeLoopBacking, CodeSignature)

	// A file on it.
	file := filepath.Join(dir, "target")
	if err := os.WriteFile(file, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	facts, err := System().Inspect(file)
	if err != nil || facts.FileSystem != "ext4" || facts.MountPoint != dir || facts.FileSystemSource != dev || "/dev/"+facts.Disk != dev {
		t.Errorf("facts = %+v, %v", facts, err)
	}
	wantCodes(t, file, "")
	lab.Run(t, "mount", "-o", "remount,ro", dir)
	wantCodes(t, file, "read-only file system", CodeReadOnly)
}

func TestMountInAnotherNamespace(t *testing.T) {
	dev := lab.Loop(t, 16*mib, lab.LoopOptions{})
	ext4(t, dev)
	dir := t.TempDir()
	cmd := exec.Command(lab.Tool(t, "unshare"), "-m", "sh", "-c", "mount "+dev+" "+dir+" && echo ready && read x; umount "+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if n, err := out.Read(make([]byte, 16)); n == 0 {
		lab.Missing(t, "no mount namespace to be had: "+err.Error())
	}
	wantCodes(t, dev, "another mount namespace", CodeInUse, CodeSignature)
}

func TestMountedPartition(t *testing.T) {
	lab.Root(t)
	image := lab.File(t, 64*mib)
	script := filepath.Join(t.TempDir(), "layout")
	if err := os.WriteFile(script, []byte("label: dos\nsize=20M,type=83\nsize=20M,type=83\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lab.Run(t, "sh", "-c", "sfdisk -q "+image+" <"+script)
	dev := lab.LoopOn(t, image, lab.LoopOptions{Partscan: true})
	one, two := dev+"p1", dev+"p2"
	if !exists(one) {
		// A kernel without partition table parsers still takes partitions from user space.
		lab.Run(t, "partx", "-a", dev)
	}
	facts, err := System().Inspect(one)
	if err != nil || facts.Kind != "partition" || "/dev/"+facts.Disk != dev || facts.SizeBytes != 20*mib || facts.LogicalBlockBytes != 512 {
		t.Fatalf("facts = %+v, %v", facts, err)
	}
	wantCodes(t, dev, "", CodeSignature)
	wantCodes(t, one, "")
	ext4(t, one)
	dir := mountAt(t, one)
	wantCodes(t, dev, filepath.Base(one)+", a partition of", CodeMounted, CodeSignature)
	wantCodes(t, one, dir, CodeMounted, CodeSignature)
	wantCodes(t, two, "")
}

func TestLoopOnLoop(t *testing.T) {
	lower := lab.Loop(t, 32*mib, lab.LoopOptions{})
	upper := lab.LoopOn(t, lower, lab.LoopOptions{})
	wantCodes(t, lower, filepath.Base(upper), CodeLoopBacking)
	wantCodes(t, upper, "")
	ext4(t, lower)
	mountAt(t, lower)
	wantCodes(t, upper, filepath.Base(lower)+", which lies beneath", CodeMounted, CodeSignature)
}

func TestBackingFileFoundByInode(t *testing.T) {
	backing := lab.File(t, mib)
	hard := backing + ".hard"
	if err := os.Link(backing, hard); err != nil {
		t.Fatal(err)
	}
	dev := lab.LoopOn(t, backing, lab.LoopOptions{})
	wantCodes(t, hard, filepath.Base(dev), CodeLoopBacking)
	if err := os.Remove(backing); err != nil {
		t.Fatal(err)
	}
	wantCodes(t, hard, filepath.Base(dev), CodeLoopBacking)
	if err := os.WriteFile(backing, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantCodes(t, backing, "")
	wantCodes(t, dev, "")
}

func TestReadOnlyLoop(t *testing.T) {
	dev := lab.Loop(t, mib, lab.LoopOptions{ReadOnly: true})
	wantCodes(t, dev, "read-only device", CodeReadOnly)
}

func TestSwap(t *testing.T) {
	swapOn := func(t *testing.T, path string) {
		t.Helper()
		lab.Run(t, "mkswap", path)
		if out, err := exec.Command(lab.Tool(t, "swapon"), path).CombinedOutput(); err != nil {
			lab.Missing(t, "no swap to be had: "+string(out))
		}
		t.Cleanup(func() { lab.Run(t, "swapoff", path) })
	}
	t.Run("device", func(t *testing.T) {
		dev := lab.Loop(t, 4*mib, lab.LoopOptions{})
		swapOn(t, dev)
		wantCodes(t, dev, "swapoff "+dev, CodeSwap, CodeSignature)
	})
	t.Run("file", func(t *testing.T) {
		lab.Root(t)
		path := filepath.Join(t.TempDir(), "swap file")
		if err := os.WriteFile(path, make([]byte, 4*mib), 0o600); err != nil {
			t.Fatal(err)
		}
		swapOn(t, path)
		wantCodes(t, path, "swapoff "+path, CodeSwap, CodeSignature)
	})
}

func TestBtrfsOverTwoLoops(t *testing.T) {
	text, _ := os.ReadFile("/proc/filesystems")
	if !strings.Contains(string(text), "btrfs") {
		lab.Missing(t, "this kernel has no btrfs")
	}
	a, b := lab.Loop(t, 160*mib, lab.LoopOptions{}), lab.Loop(t, 160*mib, lab.LoopOptions{})
	lab.Run(t, "mkfs.btrfs", "-q", "-f", "-d", "raid0", "-m", "raid1", a, b)
	lab.Run(t, "btrfs", "device", "scan", a, b)
	t.Cleanup(func() { exec.Command("btrfs", "device", "scan", "--forget", a).Run() })
	wantCodes(t, b, "", CodeSignature)
	dir := mountAt(t, a)
	wantCodes(t, a, "on "+dir, CodeMounted, CodeSignature)
	wantCodes(t, b, "on "+dir, CodeMounted, CodeSignature)

	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	facts, err := System().Inspect(file)
	if err != nil || facts.FileSystem != "btrfs" || "/dev/"+facts.Disk != a {
		t.Errorf("facts = %+v, %v", facts, err)
	}
}

func TestHold(t *testing.T) {
	dev := lab.Loop(t, 16*mib, lab.LoopOptions{})
	ext4(t, dev)
	hold, err := Hold(dev)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	var refused *RefusedError
	if _, err := Hold(dev); !errors.As(err, &refused) || refused.Refusals[0].Code != CodeInUse {
		t.Errorf("second hold: %v", err)
	}
	wantCodes(t, dev, "", CodeInUse, CodeSignature)
	dir := t.TempDir()
	if out, err := exec.Command(lab.Tool(t, "mount"), dev, dir).CombinedOutput(); err == nil {
		lab.Run(t, "umount", dir)
		t.Errorf("a held device could be mounted: %s", out)
	}
	// The threads' own opens are not hindered.
	f, err := Open(dev, OpenOptions{Write: true, Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := hold.Close(); err != nil {
		t.Fatal(err)
	}
	mountAt(t, dev)
	if _, err := Hold(dev); !errors.As(err, &refused) {
		t.Errorf("hold of a mounted device: %v", err)
	}
}

func TestHoldNeedsADevice(t *testing.T) {
	if _, err := Hold(lab.File(t, mib)); err == nil {
		t.Error("a file could be held")
	}
	if _, err := Hold("/nonexistent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}
