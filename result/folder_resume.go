package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"blkstorm/histogram"
)

var (
	// ErrInUse is wrapped by CreateFolder and OpenFolder when another process has the folder.
	ErrInUse = errors.New("is in use by another run")
	// ErrNoResult is wrapped by OpenFolder when the folder holds no result that can be gone on with.
	ErrNoResult = errors.New("holds no result to go on with")
)

// OpenFolder opens the folder of a run that was cut off, or has ended, and reads its document. It
// changes nothing: Keep does. No other process can have the folder until Close.
func OpenFolder(dir string) (*Folder, *Doc, error) {
	f := &Folder{dir: dir}
	doc, err := f.open()
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("result folder %s: %w", dir, err), f.Close())
	}
	return f, doc, nil
}

func (f *Folder) open() (*Doc, error) {
	if f.dir == "" {
		return nil, errors.New("the path is empty")
	}
	if info, err := os.Stat(f.dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, unix.ENOTDIR
	}
	if err := f.take(); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(f.dir, resultFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: there is no %s in it; name the folder that --dir named, or start the run again", ErrNoResult, resultFile)
	}
	if err != nil {
		return nil, err
	}
	var head struct {
		Schema string            `json:"schema"`
		Points []json.RawMessage `json:"points"`
	}
	doc := &Doc{}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("%w: its %s is no whole document: %w", ErrNoResult, resultFile, err)
	}
	if head.Schema != Schema {
		return nil, fmt.Errorf("%w: its %s has schema %q, and this version goes on with %q only", ErrNoResult, resultFile, head.Schema, Schema)
	}
	if err := json.Unmarshal(text, doc); err != nil {
		return nil, fmt.Errorf("%w: its %s cannot be read: %w", ErrNoResult, resultFile, err)
	}
	for i, p := range doc.Points {
		if p == nil || p.Total == nil || p.Total.Latency == nil {
			return nil, fmt.Errorf("%w: point %d of its %s has no figures", ErrNoResult, i, resultFile)
		}
	}
	f.kept = head.Points
	return doc, nil
}

// take makes the folder this process's own until Close, however it ends. The lock (flock(2)) is on the
// folder itself, so that nothing is left behind.
func (f *Folder) take() error {
	lock, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		_ = lock.Close() // nothing was done with it
		return fmt.Errorf("%w; wait for it, or name another folder", ErrInUse)
	}
	// Some network file systems lock no folders; there, as without this, only people can take care.
	f.lock = lock
	return nil
}

// Writable says whether the folder can be written.
func (f *Folder) Writable() error {
	if err := unix.Access(f.dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("result folder %s: cannot write to it: %w", f.dir, err)
	}
	return nil
}

// Keep cuts an opened folder back to its first n points, for the others to be run again: what
// intervals.ndjson and latency.hlog have beyond these points goes, torn last lines included. The
// points themselves stay in result.json byte for byte, which the next Result replaces. An error means
// that nothing was cut. A crash in between loses nothing: the same cut can be made again.
func (f *Folder) Keep(n int) error {
	intervals, err := wholeUntil(filepath.Join(f.dir, intervalsFile), n, intervalPoint)
	if err != nil {
		return err
	}
	latency, err := wholeUntil(filepath.Join(f.dir, latencyFile), n, logPoint)
	if err != nil {
		return err
	}
	if f.intervals, err = oldLines(filepath.Join(f.dir, intervalsFile), intervals); err != nil {
		return err
	}
	if f.latency, err = oldLines(filepath.Join(f.dir, latencyFile), latency); err != nil {
		return err
	}
	f.kept, f.written = f.kept[:n], nil
	return nil
}

// Rows gives the points of an opened folder's document their rows back, as far as the file has them.
func (f *Folder) Rows(d *Doc) error {
	for _, p := range d.Points {
		p.Intervals, p.RampIntervals = []*Interval{}, []*Interval{}
	}
	return eachLine(filepath.Join(f.dir, intervalsFile), func(line []byte, _ int64) error {
		in := &Interval{}
		if err := json.Unmarshal(line, in); err != nil || in.Point < 0 || in.Point >= len(d.Points) {
			return nil // of a point that was cut off
		}
		p := d.Points[in.Point]
		in.Label = p.Label
		if in.Ramp {
			p.RampIntervals = append(p.RampIntervals, in)
		} else {
			p.Intervals = append(p.Intervals, in)
		}
		return nil
	})
}

// notOfAPoint is what the functions below give for a line of the file as a whole.
const notOfAPoint = -1

// wholeUntil is where the lines of the first n points end. Those were on disk before the document said
// that the points are finished, so one that cannot be read there means that the disk has lost data.
func wholeUntil(path string, n int, pointOf func([]byte) (int, error)) (end int64, err error) {
	var broken error
	err = eachLine(path, func(line []byte, after int64) error {
		point, err := pointOf(line)
		switch {
		case err != nil && broken == nil:
			broken = fmt.Errorf("%s: the line that ends at byte %d: %w", path, after, err)
		case err == nil && point >= 0 && point < n:
			end = after
			return broken
		}
		return nil
	})
	return end, err
}

// eachLine calls f with every line that has its newline, and with the place where it ends. A file that
// is not there has none.
func eachLine(path string, f func(line []byte, after int64) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 1<<16)
	for at := int64(0); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return nil // what is left was cut short
		}
		if err != nil {
			return err
		}
		at += int64(len(line))
		if err := f(line, at); err != nil {
			return err
		}
	}
}

func intervalPoint(line []byte) (int, error) {
	var in struct {
		Point *int `json:"point"`
	}
	if err := json.Unmarshal(line, &in); err != nil || in.Point == nil {
		return 0, errors.New("is no row of an interval")
	}
	return *in.Point, nil
}

func logPoint(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte(`"`)) {
		return notOfAPoint, nil // a header
	}
	tag, _, found := strings.Cut(strings.TrimPrefix(string(line), "Tag="), ",")
	parts, err := histogram.SplitLogTag(tag)
	if !found || err != nil {
		return 0, errors.New("is no line of a histogram log")
	}
	n, err := strconv.Atoi(parts[0])
	if err != nil {
		return 0, fmt.Errorf("its tag begins with no point: %w", err)
	}
	return n, nil
}

// oldLines opens a file to go on after its first size bytes; nil for one that was not begun.
func oldLines(path string, size int64) (*lines, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(size); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &lines{file: file, size: size}, nil
}
