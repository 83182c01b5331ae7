package device

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func resolveTree(t *testing.T) *fakeTree {
	f := newFakeTree(t)
	for _, d := range []struct{ host, hctl, name, number, serial, wwn string }{
		{"host2", "2:0:0:0", "sda", "8:0", "AAA", "naa.6000c29a0b1c2d3e"},
		{"host2", "2:0:1:0", "sdb", "8:16", "BBB", "naa.6000c29a0b1c2d3f"},
		{"host3", "3:0:0:0", "sdc", "8:32", "BBB", "naa.6000c29a0b1c2d3f"},
	} {
		p := f.scsi("platform", d.host, "", d.hctl, "x", "wwid="+d.wwn)
		f.pg80(p, d.serial)
		f.block(p, d.name, d.number, mib)
	}
	f.partition("sda", "sda1", "8:1", 1, mib/2)
	f.link("dev/disk/by-path/pci-0000:03:00.0-scsi-0:0:0:0", "dev/sda")
	f.link("dev/disk/by-id/gone", "dev/sdz")
	return f
}

func TestResolve(t *testing.T) {
	f := resolveTree(t)
	f.put("plain", "x")
	f.link("link", "plain")
	t.Chdir(f.root)
	f.put("2:0:1:0", "a file with an address for a name")
	for spec, want := range map[string]string{
		f.dev("sda"):                 "dev/sda",
		"dev/sda1":                   "dev/sda1",
		"link":                       "plain",
		"serial=AAA":                 "dev/sda",
		"wwn=0x6000C29A0B1C2D3E":     "dev/sda",
		"wwn=naa.6000c29a0b1c2d3e":   "dev/sda",
		"wwn=wwn-0x6000c29a0b1c2d3e": "dev/sda",
		"3:0:0:0":                    "dev/sdc",
		"[2:0:0:0]":                  "dev/sda",
		"2:0:1:0":                    "2:0:1:0", // a path that exists wins
		f.dev("disk/by-path/pci-0000:03:00.0-scsi-0:0:0:0"): "dev/sda",
	} {
		got, err := f.r.Resolve(spec)
		if err != nil || got != filepath.Join(f.root, want) {
			t.Errorf("%s: %s, %v; want %s", spec, got, err, want)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	f := resolveTree(t)
	t.Chdir(f.root)
	f.link("into", "dev")
	f.block("virtual", "zram0", "252:0", mib) // neither serial nor WWN
	for _, tt := range []struct {
		spec string
		is   error
		text string
	}{
		{"serial=BBB", ErrAmbiguous, f.dev("sdb") + ", " + f.dev("sdc")},
		{"serial=CCC", ErrNoDevice, "blkstorm devices"},
		{"serial=", ErrNoDevice, ""},
		{"wwn=", ErrNoDevice, ""},
		{"9:9:9:9", ErrNoDevice, ""},
		{"sda", ErrNoDevice, "did you mean the block device " + f.dev("sda")},
		{f.dev("sdz"), ErrNoDevice, "no file is ever made"},
		{f.dev("disk/by-uuid/x"), ErrNoDevice, "no file is ever made"},
		{f.dev("disk/by-path/pci-0000:03:00.0-scsi-0:0:9:0"), ErrNoDevice, ""},
		{f.dev("disk/by-id/gone"), ErrNoDevice, "symlink to nothing"},
		{f.dev("sda") + "/x", ErrNoDevice, ""},
		{"into/new", ErrNoDevice, "no file is ever made"},
		{"dev/../dev/new", ErrNoDevice, ""},
		{"new/file", fs.ErrNotExist, "new/file"},
		{"new", fs.ErrNotExist, ""},
		{f.dev("shm/new"), fs.ErrNotExist, ""},
		{"", nil, "empty"},
	} {
		got, err := f.r.Resolve(tt.spec)
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %q, %v; want %v with %q", tt.spec, got, err, tt.is, tt.text)
		}
		if tt.is == ErrNoDevice && errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v could be taken for a file to be made", tt.spec, err)
		}
	}

	f.dm("dm-0", "253:0", "mpatha", "mpath-36000c29a0b1c2d3f", "sdb", "sdc")
	if _, err := f.r.Resolve("serial=BBB"); !errors.Is(err, ErrAmbiguous) || !strings.Contains(err.Error(), "mapper/mpatha") {
		t.Errorf("multipath: %v", err)
	}
}

func TestResolveWithoutRights(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("skipped: root may search every directory; the tests are run as an ordinary user too")
	}
	dir := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(dir, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := System().Resolve(dir + "/x"); !errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
