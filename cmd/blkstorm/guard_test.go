package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/device"
	"blkstorm/lab"
)

// guarded is a target that must not be written.
type guarded struct {
	path    string // what the user names
	content string // the file whose bytes must stay
	codes   []string
	head    int64 // only so many bytes at the start must stay; 0 is all
}

func (g guarded) digest(t *testing.T) string {
	t.Helper()
	if g.head == 0 {
		return digest(t, g.content)
	}
	return digestRange(t, g.content, 0, g.head)
}

// check runs the commands that the guard has to judge: every way of writing is refused with its codes
// and changes nothing; reading runs.
func (g guarded) check(t *testing.T) {
	t.Helper()
	before := g.digest(t)
	for _, rw := range []string{"write", "randwrite", "randrw", "trim", "randtrim", "trimwrite"} {
		out := blkstorm(t, "run", "--rw", rw, "--runtime", "100ms", "--destroy", g.path)
		out.want(t, exitRefused, "refused to write to ", g.path)
		for _, code := range g.codes {
			out.want(t, exitRefused, "["+code+"]")
		}
		if n := strings.Count(out.stderr, "\n  ["); n != len(g.codes) || out.stdout != "" {
			t.Errorf("%d refusals, want %v\n%s%s", n, g.codes, out.stderr, out.stdout)
		}
	}
	blkstorm(t, "run", "--rw", "randwrite", "--dry-run", "--destroy", g.path).want(t, exitRefused)
	// Only the refusal because of a signature can be lifted.
	if g.codes[0] != device.CodeSignature {
		blkstorm(t, "run", "--rw", "randwrite", "--runtime", "100ms", "--destroy", "--destroy-signature", g.path, g.path).
			want(t, exitRefused, "["+g.codes[0]+"]")
	}
	if g.digest(t) != before {
		t.Fatal("a refused run has changed the content")
	}
	blkstorm(t, "run", "--rw", "randread", "--runtime", "100ms", "--quiet", g.path).want(t, exitGood)
	if g.digest(t) != before {
		t.Error("reading has changed the content")
	}
}

func TestGuardMounted(t *testing.T) {
	t.Parallel()
	dev, backing := loopOn(t, 16*mib, lab.LoopOptions{})
	lab.Run(t, "mkfs.ext4", "-q", "-F", dev)
	mount(t, "-o", "ro", dev) // read-only, so that the kernel changes nothing meanwhile
	guarded{path: dev, content: backing, codes: []string{device.CodeMounted, device.CodeSignature}}.check(t)

	link := filepath.Join(t.TempDir(), "by-id")
	if err := os.Symlink(dev, link); err != nil {
		t.Fatal(err)
	}
	before := digest(t, backing)
	blkstorm(t, "run", "--rw", "randwrite", "--destroy", "--destroy-signature", link, link).want(t, exitRefused, "[mounted]", dev)
	if digest(t, backing) != before {
		t.Error("changed through the symlink")
	}
	guarded{path: backing, content: backing, codes: []string{device.CodeLoopBacking, device.CodeSignature}}.check(t)
}

func TestGuardMountedPartition(t *testing.T) {
	t.Parallel()
	lab.Root(t)
	backing := lab.File(t, 64*mib)
	tool(t, "label: dos\nsize=20M,type=83\n", "sfdisk", "-q", backing)
	dev := lab.LoopOn(t, backing, lab.LoopOptions{Partscan: true})
	part := dev + "p1"
	if _, err := os.Stat(part); err != nil {
		lab.Run(t, "partx", "-a", dev) // a kernel without partition parsers still takes them from user space
	}
	blkstorm(t, "run", dev, part).want(t, exitUsage, "target "+part+" is a part of "+dev)
	blkstorm(t, "run", part, dev).want(t, exitUsage, "target "+part+" is a part of "+dev)
	lab.Run(t, "mkfs.ext4", "-q", "-F", part)
	mount(t, "-o", "ro", part)
	guarded{path: dev, content: backing, codes: []string{device.CodeMounted, device.CodeSignature}}.check(t)
	guarded{path: part, content: backing, codes: []string{device.CodeMounted, device.CodeSignature}}.check(t)
}

func TestGuardSwap(t *testing.T) {
	lab.Root(t)
	// The rest is the kernel's: other tests may run it short of memory. A run that was let through
	// would hit these 4 KiB of 4 MiB within its first milliseconds.
	const header = 4 * kib
	on := func(t *testing.T, path string) {
		t.Helper()
		lab.Run(t, "mkswap", path)
		if out, err := exec.Command(lab.Tool(t, "swapon"), path).CombinedOutput(); err != nil {
			lab.Missing(t, "no swap to be had: "+string(out))
		}
		t.Cleanup(func() { lab.Run(t, "swapoff", path) })
	}
	t.Run("device", func(t *testing.T) {
		dev, backing := loopOn(t, 4*mib, lab.LoopOptions{})
		on(t, dev)
		guarded{path: dev, content: backing, codes: []string{device.CodeSwap, device.CodeSignature}, head: header}.check(t)
	})
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "swapfile")
		if err := os.WriteFile(path, make([]byte, 4*mib), 0o600); err != nil {
			t.Fatal(err)
		}
		on(t, path)
		guarded{path: path, content: path, codes: []string{device.CodeSwap, device.CodeSignature}, head: header}.check(t)
	})
}

func TestGuardBackingFile(t *testing.T) {
	t.Parallel()
	_, backing := loopOn(t, 4*mib, lab.LoopOptions{})
	guarded{path: backing, content: backing, codes: []string{device.CodeLoopBacking}}.check(t)
	hard := backing + ".hard"
	if err := os.Link(backing, hard); err != nil {
		t.Fatal(err)
	}
	guarded{path: hard, content: backing, codes: []string{device.CodeLoopBacking}}.check(t)
}

func TestGuardReadOnly(t *testing.T) {
	t.Parallel()
	dev, backing := loopOn(t, 4*mib, lab.LoopOptions{ReadOnly: true})
	guarded{path: dev, content: backing, codes: []string{device.CodeReadOnly}}.check(t)
}

// What the real tools write is refused until it is named.
func TestGuardSignatures(t *testing.T) {
	const luks = "echo secret | cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --type "
	for _, c := range []struct {
		size         int // MiB
		name, script string
	}{
		{16, "ext2", "mkfs.ext2 -q -F $DEV"},
		{16, "ext4", "mkfs.ext4 -q -F $DEV"},
		{320, "xfs", "mkfs.xfs -q $DEV"},
		{128, "btrfs", "mkfs.btrfs -q $DEV"},
		{128, "f2fs", "mkfs.f2fs -q $DEV"},
		{32, "vfat", "mkfs.vfat $DEV"},
		{64, "exfat", "mkfs.exfat $DEV"},
		{32, "ntfs", "mkfs.ntfs -q -Q -F $DEV"},
		{16, "swap", "mkswap $DEV"},
		{16, "gpt", "sgdisk -n 1:0:0 $DEV"},
		{16, "mbr", "echo label: dos | sfdisk -q $DEV"},
		{32, "LUKS1", luks + "luks1 $DEV -"},
		{32, "LUKS2", luks + "luks2 $DEV -"},
		{16, "bcache", "make-bcache -B $DEV"},
		// The filter keeps it from any device but the test's own.
		{16, "LVM2", `pvcreate --config 'devices{use_devicesfile=0 filter=["a|^'$DEV'$|","r|.*|"] scan_lvs=0} backup{backup=0 archive=0}' $DEV`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			lab.Root(t)
			backing := lab.File(t, int64(c.size)*mib)
			dev := lab.LoopOn(t, backing, lab.LoopOptions{})
			lab.Run(t, "sh", "-ec", "DEV="+dev+"; "+c.script)
			guarded{path: dev, content: backing, codes: []string{device.CodeSignature}}.check(t)
			blkstorm(t, "run", "--rw", "randwrite", "--destroy", dev).want(t, exitRefused, dev+" carries data: ", c.name)
			before := digest(t, backing)
			blkstorm(t, "run", "--rw", "randwrite", "--runtime", "100ms", "--destroy-signature", dev, dev).want(t, exitRefused, "[consent]")
			if digest(t, backing) != before {
				t.Fatal("written without --destroy")
			}
			blkstorm(t, "run", "--rw", "randwrite", "--runtime", "100ms", "--destroy", "--destroy-signature", dev, dev).want(t, exitGood, "writing to "+dev)
			if digest(t, backing) == before {
				t.Error("nothing was written")
			}
		})
	}
}

// A lifted signature is lifted for the target that was named, and for no other.
func TestDestroySignatureIsPerTarget(t *testing.T) {
	t.Parallel()
	one, _ := loopOn(t, 4*mib, lab.LoopOptions{})
	two, backing := loopOn(t, 4*mib, lab.LoopOptions{})
	lab.Run(t, "mkswap", one)
	lab.Run(t, "mkswap", two)
	before := digest(t, backing)
	blkstorm(t, "run", "--rw", "randwrite", "--destroy", "--destroy-signature", one, one, two).want(t, exitRefused, "refused to write to "+two)
	if digest(t, backing) != before {
		t.Error("the other target was written")
	}
	blkstorm(t, "run", "--rw", "randwrite", "--runtime", "100ms", "--destroy", "--destroy-signature", one, "--destroy-signature", two, one, two).want(t, exitGood)
}

// The list of devices gives the guard's answer.
func TestDevicesShowWhatIsSafe(t *testing.T) {
	t.Parallel()
	blank, _ := loopOn(t, 16*mib, lab.LoopOptions{SectorSize: 4096})
	used, _ := loopOn(t, 16*mib, lab.LoopOptions{})
	lab.Run(t, "mkfs.ext4", "-q", "-F", used)
	mount(t, "-o", "ro", used)
	out := blkstorm(t, "devices", "--format", "json").want(t, exitGood)
	var list deviceList
	if err := json.Unmarshal([]byte(out.stdout), &list); err != nil {
		t.Fatal(err)
	}
	found := map[string]deviceRow{}
	for _, d := range list.Devices {
		found[d.Path] = d
	}
	if d := found[blank]; d.Facts == nil || !d.Safe || d.Kind != "loop" || d.LogicalBlockBytes != 4096 || d.SizeBytes != 16*mib {
		t.Errorf("%s: %+v", blank, d)
	}
	if d := found[used]; d.Facts == nil || d.Safe || d.Refusals[0].Code != device.CodeMounted || d.LogicalBlockBytes != 512 {
		t.Errorf("%s: %+v", used, d)
	}
	text := blkstorm(t, "devices", blank, used).want(t, exitGood).stdout
	if !strings.Contains(text, "yes, with --destroy") || !strings.Contains(text, "no: mounted") || !strings.Contains(text, used+": [mounted]") {
		t.Errorf("the table:\n%s", text)
	}
}
