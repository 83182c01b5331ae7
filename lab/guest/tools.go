package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// tools are the programs that the lab needs, with the Debian package that has each. The lab installs
// nothing by itself: whose machine it runs on decides that.
var tools = []struct{ program, pkg string }{
	{"qemu-system-x86_64", "qemu-system-x86"},
	{"qemu-img", "qemu-utils"},
	{"busybox", "busybox-static"},
	{"depmod", "kmod"},
	{"xz", "xz-utils"},
	{"zstd", "zstd"},
	{"dpkg", "dpkg"},
	{"apt-get", "apt"},
	{"ldd", "libc-bin"},
	{"mount", "mount"},
	{"nsenter", "util-linux"},
	{"lvm", "lvm2"},
	{"dmsetup", "dmsetup"},
	{"mdadm", "mdadm"},
	{"cryptsetup", "cryptsetup-bin"},
	{"fio", "fio"},
	{"mkfs.ext4", "e2fsprogs"},
}

// tool is the path of an outside program. Debian keeps administration tools out of an ordinary user's
// PATH, but they are where they are.
func tool(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if _, err := os.Stat(dir + name); err == nil {
			return dir + name, nil
		}
	}
	return "", fmt.Errorf("program %s is not installed", name)
}

// checkTools says what has to be installed, all of it at once.
func checkTools() error {
	var missing []string
	for _, t := range tools {
		if _, err := tool(t.program); err != nil {
			missing = append(missing, t.pkg)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the guest lab needs programs that this machine lacks; install them:\n  apt-get install --no-install-recommends %s", strings.Join(missing, " "))
}

// output runs an outside program and returns what it prints; its errors carry what it said.
func output(dir, name string, args ...string) ([]byte, error) {
	path, err := tool(name)
	if err != nil {
		return nil, err
	}
	var stderr strings.Builder
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return out, nil
}
