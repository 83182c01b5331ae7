package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed init.sh
var initScript []byte

// modules are what any scenario may load; what they depend on comes along. dm-linear and dm-error are
// inside dm-mod.
var modules = []string{
	"virtio_pci", "virtio_blk", "virtio_scsi", "sd_mod", "vmw_pvscsi", "mptsas", "nvme", "ahci",
	"null_blk", "scsi_debug", "brd", "loop",
	"dm-mod", "dm-delay", "dm-flakey", "dm-crypt", "raid1",
	"ext4", "crc32c_generic", "configfs",
	"ecb", "xts", "aesni-intel", "algif_skcipher", "algif_hash",
}

// makeBase builds the initramfs with busybox and the modules, which all boots share; the payload of
// a run is put behind it.
func (k *kernel) makeBase() error {
	deps, err := k.moduleDeps()
	if err != nil {
		return err
	}
	tree := "lib/modules/" + k.release
	stage, err := os.MkdirTemp("", "blkstorm-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage)
	if err := os.MkdirAll(filepath.Join(stage, tree), 0o755); err != nil {
		return err
	}
	for _, name := range modules {
		path, ok := deps.path[moduleName(name)]
		if !ok {
			continue // built in, or not in this kernel: the scenario that needs it says so
		}
		for _, m := range append([]string{path}, deps.needs[path]...) {
			if err := k.stageModule(m, filepath.Join(stage, tree)); err != nil {
				return err
			}
		}
	}
	// Index files of the whole kernel name modules that are not here, so the guest gets its own.
	for _, name := range []string{"modules.builtin", "modules.order"} {
		data, err := os.ReadFile(filepath.Join(k.dir, tree, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(stage, tree, name), data, 0o644); err != nil {
			return err
		}
	}
	if _, err := output("", "depmod", "-b", stage, k.release); err != nil {
		return err
	}
	a := &archive{}
	for _, dir := range []string{"bin", "dev", "proc", "sys", "tmp", "mnt", "run", "etc"} {
		a.dir(dir)
	}
	busybox, err := tool("busybox")
	if err != nil {
		return err
	}
	if !static(busybox) {
		return fmt.Errorf("%s needs libraries, which the guest has not: install busybox-static", busybox)
	}
	if err := a.copyFile("bin/busybox", busybox); err != nil {
		return err
	}
	a.link("bin/sh", "busybox")
	a.file("init", initScript)
	list, err := os.ReadDir(filepath.Join(stage, tree))
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := a.copyFile(filepath.Join(tree, e.Name()), filepath.Join(stage, tree, e.Name())); err != nil {
			return err
		}
	}
	k.base = a.bytes()
	return nil
}

// stageModule puts a module, unpacked, into the flat folder of the guest's modules.
func (k *kernel) stageModule(path, dir string) error {
	from := filepath.Join(k.dir, "lib/modules", k.release, path)
	to := filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ".xz"))
	if exists(to) {
		return nil
	}
	data, err := os.ReadFile(from)
	if strings.HasSuffix(path, ".xz") {
		data, err = output("", "xz", "-dc", from)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// moduleIndex is modules.dep: where each module is, and which others it needs.
type moduleIndex struct {
	path  map[string]string
	needs map[string][]string
}

func (k *kernel) moduleDeps() (*moduleIndex, error) {
	data, err := os.ReadFile(filepath.Join(k.dir, "lib/modules", k.release, "modules.dep"))
	if err != nil {
		return nil, err
	}
	return parseDeps(string(data)), nil
}

func parseDeps(text string) *moduleIndex {
	x := &moduleIndex{map[string]string{}, map[string][]string{}}
	for _, line := range strings.Split(text, "\n") {
		path, needs, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		x.path[moduleName(filepath.Base(path))] = path
		x.needs[path] = strings.Fields(needs)
	}
	return x
}

// moduleName is how a module is called whatever its file is: dashes and underscores are the same to
// modprobe.
func moduleName(file string) string {
	name, _, _ := strings.Cut(file, ".ko")
	return strings.ReplaceAll(name, "-", "_")
}
