package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrNoDevice is wrapped by errors for a name that should be a block device and is none. It is kept
// apart from fs.ErrNotExist so that no caller takes it for a file that may be made.
var ErrNoDevice = errors.New("no such block device")

// ErrAmbiguous is wrapped by errors for a name that fits more than one device.
var ErrAmbiguous = errors.New("more than one block device fits")

// One form with brackets, as lsscsi prints it.
var addressPattern = regexp.MustCompile(`^\[?(\d+:\d+:\d+:\d+)\]?$`)

// Resolve turns what a user names into the path of one node or file, absolute and with symlinks
// resolved. It takes a path, serial=S, wwn=W (with or without "0x", "naa.", "eui.", "wwn-") or a
// SCSI address H:C:T:L. A path that exists always wins, whatever it looks like: by-path names are
// full of ':' and '='. serial=, wwn= and addresses name whole disks.
//
// A missing path wraps fs.ErrNotExist, and the caller may make a file there; but a missing path
// under the device directory wraps ErrNoDevice, because a file made there fills memory and stands in
// for the disk at the next run.
func (r Roots) Resolve(spec string) (string, error) {
	if spec == "" {
		return "", errors.New("empty target name")
	}
	switch _, err := os.Lstat(spec); {
	case err == nil:
		path, err := filepath.EvalSymlinks(spec)
		if err == nil {
			return filepath.Abs(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s: a symlink to nothing: %w", spec, ErrNoDevice)
		}
		return "", lookupError(spec, err)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR):
		return "", lookupError(spec, err)
	}
	if serial, ok := strings.CutPrefix(spec, "serial="); ok {
		return r.find(spec, func(f *Facts) bool { return serial != "" && f.Serial == serial })
	}
	if wwn, ok := strings.CutPrefix(spec, "wwn="); ok {
		return r.find(spec, func(f *Facts) bool { return f.WWN != "" && plainWWN(f.WWN) == plainWWN(wwn) })
	}
	if m := addressPattern.FindStringSubmatch(spec); m != nil {
		return r.find(spec, func(f *Facts) bool { return f.HCTL == m[1] })
	}
	return "", r.missing(spec)
}

// find picks the one whole disk that fits.
func (r Roots) find(spec string, fits func(*Facts) bool) (string, error) {
	list, err := r.List()
	if err != nil {
		return "", err
	}
	var paths, holders []string
	for _, f := range list {
		if f.Disk != "" || !fits(f) {
			continue
		}
		paths = append(paths, f.Path)
		holders = append(holders, strings.Join(entries(filepath.Join(r.classDir(f.Name), "holders")), ","))
	}
	switch len(paths) {
	case 0:
		return "", fmt.Errorf("%s: %w (see blkstorm devices)", spec, ErrNoDevice)
	case 1:
		return paths[0], nil
	}
	advice := "name one of them by its path"
	// The paths of one multipath LUN share serial and WWN, and one holder.
	if h := holders[0]; h != "" && strings.Join(holders, " ") == strings.TrimSuffix(strings.Repeat(h+" ", len(holders)), " ") {
		if b, err := r.byName(h); err == nil && strings.HasPrefix(readText(b.dir, "dm/uuid"), "mpath-") {
			advice = "they are paths of " + filepath.Join(r.Dev, "mapper", readText(b.dir, "dm/name")) + ": name that"
		}
	}
	return "", fmt.Errorf("%s: %w: %s; %s", spec, ErrAmbiguous, strings.Join(paths, ", "), advice)
}

// plainWWN strips the ways in which tools decorate one and the same number.
func plainWWN(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, prefix := range []string{"wwn-", "nvme-", "0x", "naa.", "eui.", "uuid."} {
		s = strings.TrimPrefix(s, prefix)
	}
	return s
}

// InDevFolder says whether a path, as written or with its folders' symlinks resolved, lies in the
// device directory, where nothing is ever made: it would fill memory, and stand in a device's place.
func (r Roots) InDevFolder(path string) bool {
	abs, err := filepath.Abs(path)
	if err != nil {
		return true // not to be told: careful
	}
	// /dev/disk may be missing as a whole, and a link elsewhere may lead into /dev.
	dir := filepath.Dir(abs)
	for !exists(dir) {
		dir = filepath.Dir(dir)
	}
	below, _ := strings.CutPrefix(abs, dir)
	for _, p := range []string{abs, filepath.Join(realPath(dir), below)} {
		if _, ok := r.underDev(p); ok {
			return true
		}
	}
	return false
}

// missing makes the error for a path that is not there.
func (r Roots) missing(spec string) error {
	if r.InDevFolder(spec) {
		return fmt.Errorf("%s: %w, and no file is ever made in the device directory (see blkstorm devices)", spec, ErrNoDevice)
	}
	if !strings.Contains(spec, "/") {
		if _, err := r.byName(spec); err == nil {
			return fmt.Errorf("%s: no such file here; did you mean the block device %s?: %w", spec, r.nodePath(spec), ErrNoDevice)
		}
	}
	return fmt.Errorf("%s: no such device or file: %w", spec, fs.ErrNotExist)
}
