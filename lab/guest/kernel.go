package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// kernel is a Debian kernel, unpacked in the cache.
type kernel struct {
	pkg     string // package name and version: the key of the cost baseline
	dir     string // the unpacked package
	release string // uname -r
	vmlinux string // the uncompressed kernel
	base    []byte // initramfs with busybox and the modules
}

// errNoKernel says that apt has no such kernel to give.
var errNoKernel = errors.New("not to be had from apt here")

// metaPackages name the kernels by what Debian calls their newest build: versions move, so none is
// written down here. Both are the standard build; the cloud one lacks LSI SAS, AHCI and more.
var metaPackages = map[string]string{
	"6.1":  "linux-image-amd64",
	"6.12": "linux-image-6.12-amd64",
}

// cacheDir is where kernels stay between runs: a download and an unpacking of some 10 s saved.
func cacheDir() (string, error) {
	dir := os.Getenv("BLKSTORM_LAB_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no place for the kernels: %w; set BLKSTORM_LAB_CACHE", err)
		}
		dir = filepath.Join(user, "blkstorm-lab")
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// getKernel returns the kernel of that series, from the cache or from Debian's package of it.
func getKernel(series string) (*kernel, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	pkg, version, err := newestKernel(series)
	if err != nil {
		return nil, err
	}
	k := &kernel{pkg: pkg + " " + version, dir: filepath.Join(cache, pkg+"_"+strings.ReplaceAll(version, ":", "_"))}
	if !exists(filepath.Join(k.dir, "vmlinux")) {
		if err := k.download(cache, pkg, version); err != nil {
			return nil, err
		}
	}
	k.vmlinux = filepath.Join(k.dir, "vmlinux")
	k.release, err = onlyEntry(filepath.Join(k.dir, "lib/modules"))
	return k, err
}

// newestKernel asks apt what the series' newest package is and its version.
func newestKernel(series string) (pkg, version string, err error) {
	out, err := output("", "apt-cache", "depends", metaPackages[series])
	if err != nil {
		return "", "", errNoKernel
	}
	for _, line := range strings.Split(string(out), "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "Depends: "); ok && strings.HasPrefix(name, "linux-image-"+series) {
			pkg = name
			break
		}
	}
	if pkg == "" {
		return "", "", errNoKernel
	}
	out, err = output("", "apt-cache", "policy", pkg)
	if err != nil {
		return "", "", err
	}
	for _, line := range strings.Split(string(out), "\n") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "Candidate: "); ok && v != "(none)" {
			return pkg, v, nil
		}
	}
	return "", "", errNoKernel
}

// download fetches and unpacks into a folder beside the final one and renames it: what is under the
// final name is whole.
func (k *kernel) download(cache, pkg, version string) error {
	tmp, err := os.MkdirTemp(cache, "part-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if _, err := output(tmp, "apt-get", "download", pkg+"="+version); err != nil {
		return err
	}
	deb, err := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if err != nil || len(deb) != 1 {
		return fmt.Errorf("apt-get download %s left %d packages", pkg, len(deb))
	}
	tree := filepath.Join(tmp, "tree")
	if _, err := output("", "dpkg", "-x", deb[0], tree); err != nil {
		return err
	}
	image, err := filepath.Glob(filepath.Join(tree, "boot/vmlinuz-*"))
	if err != nil || len(image) != 1 {
		return fmt.Errorf("%s has %d kernels", pkg, len(image))
	}
	if err := extractKernel(image[0], filepath.Join(tree, "vmlinux")); err != nil {
		return err
	}
	release, err := onlyEntry(filepath.Join(tree, "lib/modules"))
	if err != nil {
		return err
	}
	// The package has no modules.dep: Debian makes it when a kernel is installed.
	if _, err := output("", "depmod", "-b", tree, release); err != nil {
		return err
	}
	if err := os.Rename(tree, k.dir); err != nil && !exists(k.dir) {
		return err
	}
	return nil
}

func onlyEntry(dir string) (string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(list) != 1 {
		return "", fmt.Errorf("%s has %d entries, not one", dir, len(list))
	}
	return list[0].Name(), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
