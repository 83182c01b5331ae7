package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blkstorm/lab"
)

// disks is the tree that most cases start from: sda with two partitions, sdb and sdc blank.
func disks(t *testing.T) *fakeTree {
	f := newFakeTree(t)
	f.block("virtual", "sda", "8:0", 4*mib)
	f.partition("sda", "sda1", "8:1", 1, mib)
	f.partition("sda", "sda2", "8:2", 2, mib)
	f.block("virtual", "sdb", "8:16", mib)
	f.block("virtual", "sdc", "8:32", mib)
	return f
}

func TestGuardClaims(t *testing.T) {
	tests := map[string]struct {
		build func(*fakeTree)
		// want is, for each target, its codes, and a piece of text after a colon.
		want map[string]string
	}{
		"nothing": {func(*fakeTree) {}, map[string]string{"sda": "", "sda1": "", "sdb": ""}},
		"a mounted partition": {
			func(f *fakeTree) { f.mount("8:1", `/mnt/my\040disk`, "ext4", "/dev/sda1") },
			map[string]string{"sda1": "mounted:on /mnt/my disk", "sda": "mounted:sda1, a partition of", "sda2": "", "sdb": ""},
		},
		"a mounted whole disk": {
			func(f *fakeTree) { f.mount("8:0", "/", "ext4", "/dev/root") },
			map[string]string{"sda": "mounted:choose another target", "sda2": "mounted:sda, the whole disk of", "sdb": ""},
		},
		"mounted for process 1 only": {
			func(f *fakeTree) {
				f.put("proc/1/mountinfo", "36 35 8:16 / /srv rw - xfs /dev/sdb rw\n")
			},
			map[string]string{"sdb": "mounted:on /srv", "sdc": ""},
		},
		"two mounts of one device": {
			func(f *fakeTree) {
				f.mount("8:16", "/a", "ext4", "/dev/sdb")
				f.mount("8:16", "/b", "ext4", "/dev/sdb")
			},
			map[string]string{"sdb": "mounted:on /a (and 1 more)"},
		},
		"btrfs over two disks": {
			func(f *fakeTree) {
				f.mount("0:45", "/data", "btrfs", "/dev/sdb")
				f.link("sys/fs/btrfs/1b2c/devices/sdb", f.sysDir("sdb"))
				f.link("sys/fs/btrfs/1b2c/devices/sda2", f.sysDir("sda2"))
				f.dir("sys/fs/btrfs/features")
			},
			map[string]string{"sdb": "mounted:on /data", "sda2": "mounted:on /data", "sda": "mounted:sda2", "sda1": "", "sdc": ""},
		},
		"btrfs mounted elsewhere": {
			func(f *fakeTree) { f.link("sys/fs/btrfs/1b2c/devices/sdb", f.sysDir("sdb")) },
			map[string]string{"sdb": "mounted:another mount namespace"},
		},
		"bcachefs with two members": {
			func(f *fakeTree) { f.mount("0:46", "/bc", "bcachefs", "/dev/sdb:/dev/sdc") },
			map[string]string{"sdb": "mounted:/bc", "sdc": "mounted:/bc", "sda": ""},
		},
		"the log of an XFS": {
			func(f *fakeTree) {
				f.add("proc/self/mountinfo", "36 35 8:16 / /x rw - xfs /dev/sdb rw,attr2,logdev=/dev/sdc,noquota\n")
			},
			map[string]string{"sdb": "mounted", "sdc": "mounted:on /x"},
		},
		"swap on a partition with an escaped name": {
			func(f *fakeTree) {
				f.link("dev/disk/by-label/my swap", "dev/sda2")
				f.swap(`/dev/disk/by-label/my\040swap`, "partition")
			},
			map[string]string{"sda2": "swap:swapoff /dev/disk/by-label/my swap", "sda": "swap:sda2", "sda1": ""},
		},
		"swap whose node is gone": {
			func(f *fakeTree) {
				f.must(os.Remove(f.dev("sda2")))
				f.swap("/dev/sda2", "partition")
			},
			map[string]string{"sda": "swap:sda2", "sda1": ""},
		},
		"LVM on a partition": {
			func(f *fakeTree) {
				f.dm("dm-0", "253:0", "my--vg-root", "LVM-x", "sda2")
				f.mount("253:0", "/", "ext4", "/dev/mapper/my--vg-root")
			},
			map[string]string{"sda2": "held:LVM volume my--vg-root (dm-0 mounted on /); deactivate its volume group (vgchange -an my-vg)",
				"sda": "held:sda2, a partition of", "sda1": "", "mapper/my--vg-root": "mounted:on /"},
		},
		"LUKS, then LVM, then swap": {
			func(f *fakeTree) {
				f.dm("dm-0", "253:0", "crypt0", "CRYPT-LUKS2-x", "sdb")
				f.dm("dm-1", "253:1", "vg-swap", "LVM-y", "dm-0")
				f.swap("/dev/dm-1", "partition")
			},
			map[string]string{"sdb": "held:encrypted volume crypt0 (dm-1 active swap)", "dm-0": "held:LVM", "dm-1": "swap"},
		},
		"md": {
			func(f *fakeTree) {
				f.block("virtual", "md0", "9:0", mib, "md/level=raid1")
				f.holds("sda1", "md0")
				f.holds("sdb", "md0")
			},
			map[string]string{"sdb": "held:software RAID raid1; stop the array (mdadm --stop", "sda": "held:sda1", "sda2": "", "md0": ""},
		},
		"multipath on the whole disk": {
			func(f *fakeTree) { f.dm("dm-0", "253:0", "mpatha", "mpath-3600a", "sda", "sdb") },
			map[string]string{"sda": "held:mapper/mpatha instead", "sda1": "held:sda, the whole disk of", "sdb": "held", "dm-0": ""},
		},
		"bcache": {
			func(f *fakeTree) { f.block("virtual", "bcache0", "251:0", mib); f.holds("sdb", "bcache0") },
			map[string]string{"sdb": "held:bcache"},
		},
		"another device-mapper device": {
			func(f *fakeTree) { f.dm("dm-3", "253:3", "snap", "", "sdb") },
			map[string]string{"sdb": "held:dmsetup remove snap"},
		},
		"a loop on a partition": {
			func(f *fakeTree) { f.block("virtual", "loop3", "7:3", mib, "loop/backing_file=/dev/sda1") },
			map[string]string{"sda1": "loop-backing:loop3", "sda": "loop-backing:sda1", "sda2": "", "loop3": ""},
		},
		"a loop on a disk that is swap": {
			func(f *fakeTree) {
				f.block("virtual", "loop3", "7:3", mib, "loop/backing_file=/dev/sdb")
				f.swap("/dev/sdb", "partition")
			},
			map[string]string{"loop3": "swap:sdb, which lies beneath", "sdb": "swap loop-backing"},
		},
		"two loops on one disk, one of them mounted": {
			func(f *fakeTree) {
				f.block("virtual", "loop3", "7:3", mib, "loop/backing_file=/dev/sdb")
				f.block("virtual", "loop4", "7:4", mib, "loop/backing_file=/dev/sdb")
				f.mount("7:3", "/iso", "ext4", "/dev/loop3")
			},
			map[string]string{"loop3": "mounted loop-backing", "loop4": "loop-backing:loop3"},
		},
		"read-only": {
			func(f *fakeTree) { f.put(f.sysDir("sdb")+"/ro", "1\n") },
			map[string]string{"sdb": "read-only", "sda": ""},
		},
		"an optical drive": {
			func(f *fakeTree) {
				p := f.scsi("platform", "host0", "", "0:0:0:0", "x")
				f.put("sys/devices/"+p+"/type", "5\n")
				f.block(p, "sr0", "11:0", mib)
			},
			map[string]string{"sr0": "read-only:optical"},
		},
		"everything at once, by weight": {
			func(f *fakeTree) {
				f.mount("8:1", "/m", "ext4", "/dev/sda1")
				f.swap("/dev/sda2", "partition")
				f.dm("dm-0", "253:0", "x", "", "sda")
				f.put(f.sysDir("sda")+"/ro", "1\n")
				f.block("virtual", "loop0", "7:0", mib, "loop/backing_file=/dev/sda")
				f.put("dev/sda", lvmLabel())
			},
			map[string]string{"sda": "mounted swap held loop-backing read-only signature"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := disks(t)
			tt.build(f)
			for target, want := range tt.want {
				got, text := codes(t, f.r, f.dev(target))
				wantCodes, wantText, _ := strings.Cut(want, ":")
				if diff := cmp.Diff(strings.Fields(wantCodes), got); diff != "" && (wantCodes != "" || got != nil) {
					t.Errorf("%s (-want +got):\n%s%s", target, diff, text)
				}
				if !strings.Contains(text, wantText) {
					t.Errorf("%s: %q is not in %q", target, wantText, text)
				}
			}
		})
	}
}

// lvmLabel is the head of an LVM physical volume: label in sector 1 (lib/format_text in LVM2).
func lvmLabel() string {
	b := make([]byte, mib)
	copy(b[512:], "LABELONE\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00LVM2 001")
	return string(b)
}

func TestGuardConsent(t *testing.T) {
	f := disks(t)
	f.put("dev/sdb", lvmLabel())
	f.mount("8:1", "/m", "ext4", "/dev/sda1")
	plain := filepath.Join(f.root, "plain")
	f.put("plain", strings.Repeat("x", 4096))
	f.put("image", lvmLabel())
	image := filepath.Join(f.root, "image")
	for _, tt := range []struct {
		name, path string
		c          Consent
		want       []string
	}{
		{"blank disk", f.dev("sdc"), Consent{}, []string{"consent"}},
		{"blank disk, granted", f.dev("sdc"), Consent{Destroy: true}, nil},
		{"Fresh is not for devices", f.dev("sdc"), Consent{Fresh: true}, []string{"consent"}},
		{"consent does not help a mounted disk", f.dev("sda"), Consent{}, []string{"mounted"}},
		{"signature", f.dev("sdb"), Consent{}, []string{"signature", "consent"}},
		{"signature, granted", f.dev("sdb"), Consent{Destroy: true}, []string{"signature"}},
		{"override alone", f.dev("sdb"), Consent{SignatureOverride: true}, []string{"consent"}},
		{"override", f.dev("sdb"), Consent{Destroy: true, SignatureOverride: true}, nil},
		{"override lifts nothing else", f.dev("sda"), Consent{Destroy: true, SignatureOverride: true}, []string{"mounted"}},
		{"existing file", plain, Consent{}, []string{"consent"}},
		{"existing file, granted", plain, Consent{Destroy: true}, nil},
		{"fresh file", plain, Consent{Fresh: true}, nil},
		{"disk image", image, Consent{Destroy: true}, []string{"signature"}},
	} {
		facts, err := f.r.Inspect(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.r.Guard(facts, tt.c)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, x := range got {
			list = append(list, x.Code)
			if x.Reason == "" || x.Advice == "" || !strings.Contains(x.Reason, tt.path) {
				t.Errorf("%s: %+v does not name the target or says too little", tt.name, x)
			}
		}
		if diff := cmp.Diff(tt.want, list); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestGuardFiles(t *testing.T) {
	f := disks(t)
	f.put("swap file", "x")
	f.put("backing", "x")
	f.put("image", "x")
	f.put("free", "x")
	f.link("alias", "backing")
	path := func(name string) string { return filepath.Join(f.root, name) }
	f.swap(strings.ReplaceAll(path("swap file"), " ", `\040`), "file")
	f.block("virtual", "loop3", "7:3", mib, "loop/backing_file="+path("backing"))
	f.block("virtual", "loop4", "7:4", mib, "loop/backing_file="+path("free")+" (deleted)")
	f.block("virtual", "loop5", "7:5", mib, "loop/backing_file="+path("swap file"))
	f.mount("0:50", "/ero", "erofs", path("image"))
	for name, want := range map[string][]string{
		"swap file": {"swap", "loop-backing"}, "backing": {"loop-backing"}, "alias": {"loop-backing"},
		"image": {"mounted"},
		"free":  nil, // a new file at the place of a deleted one
	} {
		if got, text := codes(t, f.r, path(name)); !cmp.Equal(got, want) {
			t.Errorf("%s: %v, want %v\n%s", name, got, want, text)
		}
	}
	// A loop whose backing file is swap would overwrite that.
	if got, text := codes(t, f.r, f.dev("loop5")); !cmp.Equal(got, []string{"swap"}) {
		t.Errorf("loop5: %v\n%s", got, text)
	}
	if got, text := codes(t, f.r, f.dev("loop3")); got != nil {
		t.Errorf("loop3: %v\n%s", got, text)
	}
}

// What cannot be answered is a no.
func TestGuardFailsClosed(t *testing.T) {
	f := disks(t)
	facts := f.inspect("sdb")
	f.must(os.Remove(filepath.Join(f.r.Proc, "self/mountinfo")))
	if got, err := f.r.Guard(facts, Consent{Destroy: true}); err == nil {
		t.Errorf("no mountinfo: %v, no error", got)
	}
	if safe, why := f.r.Safety(facts); safe || len(why) != 1 || why[0].Code != CodeUnreadable {
		t.Errorf("no mountinfo: Safety = %v, %v", safe, why)
	}

	f = disks(t)
	facts = f.inspect("sdb")
	f.must(os.Remove(filepath.Join(f.r.Proc, "swaps"))) // a kernel without swap
	if safe, why := f.r.Safety(facts); !safe {
		t.Errorf("no swaps: %v", why)
	}
	f.must(os.Remove(f.dev("sdb")))
	if got, err := f.r.Guard(facts, Consent{Destroy: true}); err != nil || len(got) != 1 || got[0].Code != CodeUnreadable {
		t.Errorf("node gone: %v, %v", got, err)
	}
	f.must(os.Remove(filepath.Join(f.r.Sys, "dev/block/8:16")))
	if got, err := f.r.Guard(facts, Consent{Destroy: true}); err == nil {
		t.Errorf("device gone: %v, no error", got)
	}
}

func TestGuardWithoutRights(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("skipped: root may read and write everything; the tests are run as an ordinary user too")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for mode, want := range map[os.FileMode]string{0o000: CodeUnreadable, 0o400: CodeReadOnly} {
		os.Remove(path)
		if err := os.WriteFile(path, []byte("x"), mode); err != nil {
			t.Fatal(err)
		}
		if got, text := codes(t, System(), path); !cmp.Equal(got, []string{want}) || !strings.Contains(text, "run as root") {
			t.Errorf("mode %o: %v %s, want %s", mode, got, text, want)
		}
	}
}

func TestGuardImmutableFile(t *testing.T) {
	lab.Root(t)
	path := lab.File(t, mib)
	lab.Run(t, "chattr", "+i", path)
	t.Cleanup(func() { lab.Run(t, "chattr", "-i", path) })
	if got, text := codes(t, System(), path); !cmp.Equal(got, []string{CodeReadOnly}) {
		t.Errorf("%v %s", got, text)
	}
}

func TestVolumeGroup(t *testing.T) {
	for in, want := range map[string]string{
		"vg-lv": "vg", "my--vg-my--lv": "my-vg", "a----b-c": "a--b", "odd": "odd", "vg-lv-real": "vg",
	} {
		if got := volumeGroup(in); got != want {
			t.Errorf("volumeGroup(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"/a": "/a", `/a\040b\011c\134d`: "/a b\tc\\d", `\04`: `\04`, `/x\`: `/x\`, `\400`: `\400`, `\089`: `\089`, `/\303\244`: "/ä",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}
