package device

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/lab"
)

// What the real tools write must be found, and blkid, which wrote none of it, must name the same.

// blkid returns what blkid finds out about an image by low-level probing, nil if nothing.
func blkid(t *testing.T, path string) map[string]string {
	t.Helper()
	out, err := exec.Command(lab.Tool(t, "blkid"), "-p", "-o", "export", path).Output()
	if err != nil && len(out) > 0 {
		t.Fatalf("blkid -p %s: %v", path, err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			found[key] = value
		}
	}
	return found
}

func probeFile(t *testing.T, path string, flags int) []Signature {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Seek(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	found, err := ProbeSignatures(f, size)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// wantNames checks that exactly these were found, each as "kind/name", copies counted once.
func wantNames(t *testing.T, found []Signature, want ...string) {
	t.Helper()
	var names []string
	seen := map[string]bool{}
	for _, s := range found {
		if n := s.Kind + "/" + s.Name; !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	if strings.Join(names, ",") != strings.Join(want, ",") {
		t.Errorf("found %v\nwant  %v", found, want)
	}
}

// wantOracle checks that blkid has each of the "KEY=value".
func wantOracle(t *testing.T, path string, want ...string) {
	t.Helper()
	got := blkid(t, path)
	for _, w := range want {
		key, value, _ := strings.Cut(w, "=")
		if got[key] != value {
			t.Errorf("blkid says %s=%q, want %q; all of it: %v", key, got[key], value, got)
		}
	}
}

// wipe zeroes n bytes at off.
func wipe(t *testing.T, path string, off, n int64) {
	t.Helper()
	write(t, path, off, make([]byte, n))
}

func write(t *testing.T, path string, off int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
}

// runIn is lab.Run with a standard input.
func runIn(t *testing.T, stdin, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(lab.Tool(t, name), args...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func TestSignatureTools(t *testing.T) {
	const luks = "luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --type "
	for _, c := range []struct {
		size   int64 // MiB
		stdin  string
		tool   string // FILE is the image
		want   string
		oracle string
	}{
		{16, "", "mkfs.ext2 -q -F FILE", "filesystem/ext2", "TYPE=ext2"},
		{16, "", "mkfs.ext3 -q -F FILE", "filesystem/ext3", "TYPE=ext3"},
		{16, "", "mkfs.ext4 -q -F FILE", "filesystem/ext4", "TYPE=ext4"},
		{16, "", "mkfs.ext4 -q -F -b 1024 -O ^has_journal FILE", "filesystem/ext4", "TYPE=ext4"},
		{64, "", "mkfs.ext4 -q -F -b 65536 FILE", "filesystem/ext4", "TYPE=ext4"},
		{64, "", "mkfs.ext4 -q -F -O journal_dev FILE", "filesystem/ext journal", "TYPE=jbd"},
		{320, "", "mkfs.xfs -q FILE", "filesystem/xfs", "TYPE=xfs"},
		{320, "", "mkfs.xfs -q -m crc=0 FILE", "filesystem/xfs", "TYPE=xfs"},
		{128, "", "mkfs.btrfs -q FILE", "filesystem/btrfs", "TYPE=btrfs"},
		{128, "", "mkfs.f2fs -q FILE", "filesystem/f2fs", "TYPE=f2fs"},
		{2, "", "mkfs.vfat -F 12 FILE", "filesystem/vfat FAT12", "TYPE=vfat VERSION=FAT12"},
		{32, "", "mkfs.vfat -F 16 FILE", "filesystem/vfat FAT16", "TYPE=vfat VERSION=FAT16"},
		{320, "", "mkfs.vfat -F 32 FILE", "filesystem/vfat FAT32", "TYPE=vfat VERSION=FAT32"},
		{320, "", "mkfs.vfat -F 32 -S 4096 FILE", "filesystem/vfat FAT32", "TYPE=vfat VERSION=FAT32"},
		{64, "", "mkfs.exfat FILE", "filesystem/exfat", "TYPE=exfat"},
		{32, "", "mkfs.ntfs -q -Q -F -f FILE", "filesystem/ntfs", "TYPE=ntfs"},
		{16, "", "mkfs.minix -1 FILE", "filesystem/minix 1", "TYPE=minix VERSION=1"},
		{16, "", "mkfs.minix -2 FILE", "filesystem/minix 2", "TYPE=minix VERSION=2"},
		{16, "", "mkfs.minix -3 FILE", "filesystem/minix 3", "TYPE=minix VERSION=3"},
		{16, "", "mkfs.bfs FILE", "filesystem/bfs", "TYPE=bfs"},
		{16, "", "mkswap -p 4096 FILE", "swap/swap", "TYPE=swap VERSION=1"},
		{16, "", "mkswap -p 8192 FILE", "swap/swap", "TYPE=swap VERSION=1"},
		{16, "", "mkswap -p 16384 FILE", "swap/swap", "TYPE=swap VERSION=1"},
		{16, "", "mkswap -p 32768 FILE", "swap/swap", "TYPE=swap VERSION=1"},
		{16, "", "mkswap -p 65536 FILE", "swap/swap", "TYPE=swap VERSION=1"},
		{32, "secret", "cryptsetup " + luks + "luks1 FILE -", "luks/LUKS1", "TYPE=crypto_LUKS VERSION=1"},
		{32, "secret", "cryptsetup " + luks + "luks2 FILE -", "luks/LUKS2,luks/LUKS2 second header", "TYPE=crypto_LUKS VERSION=2"},
		{32, "secret", "cryptsetup " + luks + "luks2 --luks2-metadata-size 4m --luks2-keyslots-size 8m FILE -",
			"luks/LUKS2,luks/LUKS2 second header", "TYPE=crypto_LUKS VERSION=2"},
		{16, "", "make-bcache -B FILE", "bcache/bcache", "TYPE=bcache"},
		{64, "", "make-bcache -C FILE", "bcache/bcache", "TYPE=bcache"},
		{16, "", "sgdisk -n 1:0:0 FILE", "partition-table/gpt,partition-table/gpt backup", "PTTYPE=gpt"},
		{16, "label: gpt\n", "sfdisk -q FILE", "partition-table/gpt,partition-table/gpt backup", "PTTYPE=gpt"},
		{16, "label: dos\n,,L\n", "sfdisk -q FILE", "partition-table/mbr", "PTTYPE=dos"},
		{16, "label: dos\n", "sfdisk -q FILE", "partition-table/mbr", "PTTYPE=dos"},
		{16, "label: dos\n,8M,E\n", "sfdisk -q FILE", "partition-table/mbr", "PTTYPE=dos"},
		{16, "label: sun\n", "sfdisk -q FILE", "partition-table/sun", "PTTYPE=sun"},
		{16, "label: sgi\n", "sfdisk -q FILE", "partition-table/sgi", "PTTYPE=sgi"},
	} {
		t.Run(c.tool+c.stdin, func(t *testing.T) {
			t.Parallel()
			path := lab.File(t, c.size<<20)
			args := strings.Fields(strings.ReplaceAll(c.tool, "FILE", path))
			runIn(t, c.stdin, args[0], args[1:]...)
			wantNames(t, probeFile(t, path, 0), strings.Split(c.want, ",")...)
			wantOracle(t, path, strings.Fields(c.oracle)...)
		})
	}
}

// The tools that make an image of a folder.
func TestSignatureImages(t *testing.T) {
	for _, c := range []struct {
		tool   string
		want   string
		oracle string
	}{
		{"xorriso -as mkisofs -quiet -o FILE DIR", "filesystem/iso9660", "TYPE=iso9660"},
		{"mksquashfs DIR FILE -quiet -no-progress", "filesystem/squashfs", "TYPE=squashfs"},
		{"mkfs.cramfs DIR FILE", "filesystem/cramfs", "TYPE=cramfs"},
	} {
		t.Run(strings.Fields(c.tool)[0], func(t *testing.T) {
			t.Parallel()
			dir, path := t.TempDir(), filepath.Join(t.TempDir(), "disk.img")
			if err := os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := strings.Fields(strings.NewReplacer("FILE", path, "DIR", dir).Replace(c.tool))
			lab.Run(t, args[0], args[1:]...)
			wantNames(t, probeFile(t, path, 0), c.want)
			wantOracle(t, path, c.oracle)
		})
	}
	t.Run("external xfs log", func(t *testing.T) {
		t.Parallel()
		path, log := lab.File(t, 320<<20), lab.File(t, 64<<20)
		lab.Run(t, "mkfs.xfs", "-q", "-l", "logdev="+log, path)
		wantNames(t, probeFile(t, path, 0), "filesystem/xfs")
		wantNames(t, probeFile(t, log, 0), "filesystem/xfs log")
		wantOracle(t, log, "TYPE=xfs_external_log")
	})
	t.Run("dm-verity", func(t *testing.T) {
		t.Parallel()
		data, hashes := lab.File(t, 1<<20), lab.File(t, 1<<20)
		lab.Run(t, "veritysetup", "format", data, hashes)
		wantNames(t, probeFile(t, hashes, 0), "device-mapper/dm-verity")
		wantOracle(t, hashes, "TYPE=DM_verity_hash")
	})
	t.Run("hibernated swap", func(t *testing.T) {
		t.Parallel()
		path := lab.File(t, 16<<20)
		lab.Run(t, "mkswap", path)
		write(t, path, 4086, []byte("S1SUSPEND\x00"))
		wantNames(t, probeFile(t, path, 0), "swap/swap hibernation")
		wantOracle(t, path, "TYPE=swsuspend")
	})
	t.Run("protective mbr alone", func(t *testing.T) {
		t.Parallel()
		path := lab.File(t, 16<<20)
		lab.Run(t, "sgdisk", "-n", "1:0:0", path)
		wipe(t, path, 512, 33*512)
		wipe(t, path, 16<<20-33*512, 33*512)
		wantNames(t, probeFile(t, path, 0), "partition-table/protective mbr")
		wantOracle(t, path, "PTTYPE=PMBR")
	})
}

// What lies also at the end or in the middle is found after the start has been wiped.
func TestSignatureStartWiped(t *testing.T) {
	for _, c := range []struct {
		size  int64
		stdin string
		tool  string
		wiped int64
		want  Signature
	}{
		{16 << 20, "", "sgdisk -n 1:0:0 FILE", 8 << 20, Signature{"partition-table", "gpt backup", 16<<20 - 512}},
		{16<<20 + 512, "", "sgdisk -n 1:0:0 FILE", 8 << 20, Signature{"partition-table", "gpt backup", 16 << 20}},
		{128 << 20, "", "mkfs.btrfs -q FILE", 8 << 20, Signature{"filesystem", "btrfs", 64<<20 + 64}},
		{64 << 20, "", "mkfs.f2fs -q FILE", 4096, Signature{"filesystem", "f2fs", 4096 + 1024}},
		{32 << 20, "secret", "cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --type luks2 FILE -",
			4096, Signature{"luks", "LUKS2 second header", 16 << 10}},
	} {
		t.Run(c.tool, func(t *testing.T) {
			t.Parallel()
			path := lab.File(t, c.size)
			args := strings.Fields(strings.ReplaceAll(c.tool, "FILE", path))
			runIn(t, c.stdin, args[0], args[1:]...)
			wipe(t, path, 0, c.wiped)
			if found := probeFile(t, path, 0); len(found) != 1 || found[0] != c.want {
				t.Errorf("found %v, want %v", found, c.want)
			}
		})
	}
}

// pvcreate wants a block device; the filter keeps it from any but the test's own.
func TestSignatureLVM(t *testing.T) {
	for sector := range 4 {
		t.Run(fmt.Sprint("label in sector ", sector), func(t *testing.T) {
			dev := lab.Loop(t, 16<<20, lab.LoopOptions{})
			lab.Run(t, "pvcreate", "--labelsector", fmt.Sprint(sector), "--config",
				`devices{use_devicesfile=0 filter=["a|^`+dev+`$|","r|.*|"] scan_lvs=0} backup{backup=0 archive=0}`, dev)
			wantNames(t, probeFile(t, dev, 0), "lvm/LVM2")
			wantOracle(t, dev, "TYPE=LVM2_member")
		})
	}
}
