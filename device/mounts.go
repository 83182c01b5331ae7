package device

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mount is one line of mountinfo, see proc_pid_mountinfo(5).
type mount struct {
	number string // "major:minor" of the file system; "0:N" is anonymous
	root   string // the part of the file system that is mounted
	point  string
	fsType string
	source string
	super  string // super options
}

// mounts are those of this process's mount namespace, and those of process 1 when they may be read:
// a tool in a container would else not see what the host has mounted.
func (r Roots) mounts() ([]mount, error) {
	list, err := r.ownMounts()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(r.Proc, "1/mountinfo"))
	if err != nil {
		return list, nil
	}
	for _, m := range parseMounts(text) {
		same := func(have mount) bool { return have.number == m.number && have.point == m.point }
		if !slices.ContainsFunc(list, same) {
			list = append(list, m)
		}
	}
	return list, nil
}

func (r Roots) ownMounts() ([]mount, error) {
	text, err := os.ReadFile(filepath.Join(r.Proc, "self/mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("cannot tell what is mounted: %w", err)
	}
	return parseMounts(text), nil
}

// parseMounts skips lines it cannot read: the kernel writes none.
func parseMounts(text []byte) []mount {
	var out []mount
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		// A number of optional fields stands between the mount options and " - ".
		left, right, ok := strings.Cut(s.Text(), " - ")
		l, rest := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 6 || len(rest) < 2 {
			continue
		}
		m := mount{
			number: l[2], root: unescape(l[3]), point: unescape(l[4]),
			fsType: rest[0], source: unescape(rest[1]),
		}
		if len(rest) > 2 {
			m.super = unescape(rest[2])
		}
		out = append(out, m)
	}
	return out
}

// unescape undoes the kernel's octal escapes of blank, tab, newline, backslash and, in mountinfo,
// '#' (mangle_path in fs/seq_file.c).
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && octal(s[i+1:i+4]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func octal(s string) bool { return strings.Trim(s, "01234567") == "" && s[0] < '4' }

// mountTable answers which mount points a device or file stands behind.
type mountTable struct {
	r    Roots
	list []mount
	// used are the devices and files that a mount uses although its number does not say so.
	used []usedBy
}

type usedBy struct {
	number string // of a device; else id
	id     fileID
	m      mount
}

func (r Roots) mountTable() (*mountTable, error) {
	list, err := r.mounts()
	if err != nil {
		return nil, err
	}
	t := &mountTable{r: r, list: list}
	for _, m := range list {
		for _, path := range sources(m) {
			if n, err := r.stat(r.local(path)); err == nil && (n.block() || n.regular()) {
				t.used = append(t.used, usedBy{number: n.number, id: n.id, m: m})
			}
		}
	}
	return t, t.addBtrfs()
}

// sources are the paths of what a mount uses beside the device that its number tells: everything
// for a file system with an anonymous number (btrfs; erofs mounted from a file, Linux 6.12; bcachefs
// with its members joined by ':'), and the log and real-time devices of XFS.
func sources(m mount) []string {
	var out []string
	if strings.HasPrefix(m.number, "0:") && strings.HasPrefix(m.source, "/") {
		out = append(out, m.source)
		if m.fsType == "bcachefs" {
			out = strings.Split(m.source, ":")
		}
	}
	for option := range strings.SplitSeq(m.super, ",") {
		key, value, _ := strings.Cut(option, "=")
		if (key == "logdev" || key == "rtdev") && strings.HasPrefix(value, "/") {
			out = append(out, value)
		}
	}
	return out
}

// addBtrfs adds the members of mounted btrfs file systems: mountinfo names but one of them. The
// kernel keeps Sys/fs/btrfs/UUID only while that file system is mounted.
func (t *mountTable) addBtrfs() error {
	dir := filepath.Join(t.r.Sys, "fs/btrfs")
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot tell which devices btrfs uses: %w", err)
	}
	for _, e := range list {
		var members []string
		for _, name := range entries(filepath.Join(dir, e.Name(), "devices")) {
			if b, err := t.r.byName(name); err == nil {
				members = append(members, b.number)
			}
		}
		var found []mount
		for _, u := range t.used {
			if u.m.fsType == "btrfs" && slices.Contains(members, u.number) {
				found = append(found, u.m)
			}
		}
		if len(found) == 0 {
			found = []mount{{fsType: "btrfs", source: e.Name()}}
		}
		for _, number := range members {
			for _, m := range found {
				t.used = append(t.used, usedBy{number: number, m: m})
			}
		}
	}
	return nil
}

// onDevice lists the mounts of a device by number.
func (t *mountTable) onDevice(number string) []mount {
	var out []mount
	for _, m := range t.list {
		if m.number == number {
			out = append(out, m)
		}
	}
	for _, u := range t.used {
		if u.number == number && !slices.Contains(out, u.m) {
			out = append(out, u.m)
		}
	}
	return out
}

// onFile lists the mounts whose source is a regular file.
func (t *mountTable) onFile(id fileID) []mount {
	var out []mount
	for _, u := range t.used {
		if u.number == "" && u.id == id && !slices.Contains(out, u.m) {
			out = append(out, u.m)
		}
	}
	return out
}

// points is the text for a list of mounts: "on /boot and 2 more places".
func points(list []mount) string {
	first := list[0].point
	if first == "" {
		return "as part of " + list[0].fsType + " " + list[0].source + ", at no place seen from here (another mount namespace)"
	}
	if n := len(list) - 1; n > 0 {
		return fmt.Sprintf("on %s (and %d more)", first, n)
	}
	return "on " + first
}
