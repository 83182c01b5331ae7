package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSlaves(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"devices/sdb/sdb1", "devices/sda", "devices/cciss!c0d0", "devices/dm-0/slaves/sda", "devices/dm-0/slaves/sdb1", "devices/dm-0/slaves/cciss!c0d0", "class/block"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "devices/sdb/sdb1/partition"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"sda": "sda", "sdb": "sdb", "sdb1": "sdb/sdb1", "cciss!c0d0": "cciss!c0d0", "dm-0": "dm-0"} {
		if err := os.Symlink("../../devices/"+to, filepath.Join(root, "class/block", name)); err != nil {
			t.Fatal(err)
		}
	}
	r := Roots{Sys: root}
	if got := r.Slaves("dm-0"); !slices.Equal(got, []string{"cciss/c0d0", "sda", "sdb"}) {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"sda", "none", "", ".", ".."} {
		if got := r.Slaves(name); got != nil {
			t.Errorf("%q: %v", name, got)
		}
	}
}
