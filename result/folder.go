package result

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/runner"
)

// The files of a result folder.
const (
	resultFile    = "result.json"
	temporaryFile = ".result.json.tmp"
	intervalsFile = "intervals.ndjson"
	latencyFile   = "latency.hlog"
	// ReportFile is the page that package report makes of the others.
	ReportFile      = "report.html"
	temporaryReport = "." + ReportFile + ".tmp"
)

var (
	// ErrHoldsResult is wrapped by CreateFolder when the folder is that of another run.
	ErrHoldsResult = errors.New("holds a result already")
	// ErrNotEmpty is wrapped by CreateFolder when the folder has files that are no result.
	ErrNotEmpty = errors.New("is not empty")
)

// Folder keeps the result of one run on disk while it goes on:
//
//	result.json       the document without interval rows, replaced whole after each point
//	intervals.ndjson  a line per interval, written when the interval ends (see WriteNDJSON)
//	latency.hlog      an HdrHistogram interval log of the windows, without the ramps
//	report.html       a page made of these when the run has ended, by package report
//
// Each line of the latter two is one write, so others can follow them live and a killed run leaves
// whole lines. One caveat: the kernel may cut the very last write short when it kills the writer, so
// readers take a line as whole when it has its newline. Files appear with their first content. It is
// not safe for concurrent use, and all errors name the file.
type Folder struct {
	dir       string
	intervals *lines
	latency   *lines
	log       *histogram.LogWriter
	base      time.Time // of log
	lock      *os.File
	kept      []json.RawMessage // points from before, as they stand in the file
	written   []writtenPoint    // the others, as they were written last
}

// CreateFolder makes the folder, and those above it as needed; one that exists must be empty and
// writable, and no other run may have it. It writes nothing into it, so that a run refused later leaves
// a usable folder. Close it in any case.
func CreateFolder(dir string) (*Folder, error) {
	fail := func(err error) (*Folder, error) { return nil, fmt.Errorf("result folder %s: %w", dir, err) }
	if dir == "" {
		return nil, errors.New("result folder: the path is empty")
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fail(errors.New("a file of that name is in the way; name another folder"))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fail(err)
	}
	f := &Folder{dir: dir}
	if err := f.take(); err != nil {
		return fail(err)
	}
	err := f.vacant()
	if err == nil {
		err = f.Writable()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// vacant says why a folder with what is in it is not taken for a new result.
func (f *Folder) vacant() error {
	fail := func(err error) error { return fmt.Errorf("result folder %s: %w", f.dir, err) }
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return fail(err)
	}
	first := ""
	for _, e := range entries {
		switch name := e.Name(); name {
		case resultFile, intervalsFile, latencyFile, ReportFile:
			return fail(fmt.Errorf("%w (%s in %s); name another folder, or %s", ErrHoldsResult, name, f.dir, f.wayOn()))
		case temporaryFile, temporaryReport:
			// Left by a run that was killed before its first point ended: ours, and overwritten.
		default:
			if first == "" {
				first = name
			}
		}
	}
	if first != "" {
		return fail(fmt.Errorf("%w (it has %q); name a new or an empty folder", ErrNotEmpty, first))
	}
	return nil
}

// wayOn is what else can be done with a folder that has a result, or a part of one.
func (f *Folder) wayOn() string {
	if text, err := os.ReadFile(filepath.Join(f.dir, resultFile)); err == nil {
		doc := &Doc{}
		if json.Unmarshal(text, doc) == nil && doc.Schema == Schema && doc.Merge == nil && doc.FindMax == nil {
			return "go on with that run: --resume " + f.dir
		}
	}
	return "remove what is in it"
}

// Interval appends a row to intervals.ndjson.
func (f *Folder) Interval(in *Interval) error {
	if f.intervals == nil {
		var err error
		if f.intervals, err = newLines(filepath.Join(f.dir, intervalsFile)); err != nil {
			return err
		}
	}
	return WriteNDJSON(f.intervals, in)
}

// Histograms appends a row of the window to latency.hlog, one line per stream, target and direction
// that completed an I/O; rows of the ramp are passed over. The tag is
//
//	histogram.LogTag(point, stream, target, direction)
//
// with the point's index in Doc.Points (labels may come twice), the stream's label or, if it has
// none, its index, the target's path, and "read", "write", "trim" or "sync".
func (f *Folder) Histograms(b *Builder, row *runner.Row) error {
	if row.Ramp {
		return nil
	}
	if err := f.openLog(row.Wall); err != nil {
		return err
	}
	for i := range row.Cells {
		c := &row.Cells[i]
		stream := b.point.Streams[c.Stream].Label
		if stream == "" {
			stream = strconv.Itoa(c.Stream)
		}
		for _, o := range op.All {
			if c.Ops[o].Latency.Count() == 0 {
				continue
			}
			tag := histogram.LogTag(strconv.Itoa(b.index), stream, b.doc.Targets[c.Target].Path, o.String())
			if err := f.log.Append(tag, row.Wall, row.Length, &c.Ops[o].Latency); err != nil {
				return fmt.Errorf("%s: %w", f.latency.file.Name(), err)
			}
		}
	}
	return nil
}

// openLog makes the log ready for an interval that starts at start. The format counts time from a
// header on and knows no time before it: when the wall clock was set back, a new header follows.
func (f *Folder) openLog(start time.Time) error {
	if f.log != nil && !start.Before(f.base) {
		return nil
	}
	path := filepath.Join(f.dir, latencyFile)
	if f.latency == nil {
		var err error
		if f.latency, err = newLines(path); err != nil {
			return err
		}
	}
	log, err := histogram.NewLogWriter(f.latency, start)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	f.log, f.base = log, start
	return nil
}

// Result replaces result.json by the document without its interval rows. Whatever happens, also a
// crash of the machine, the file is either the old one or the new one, whole. What the other files
// hold is on disk before it is.
func (f *Folder) Result(d *Doc) error {
	path := filepath.Join(f.dir, resultFile)
	parts, err := f.stored(d)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, l := range []*lines{f.intervals, f.latency} {
		if err := l.sync(); err != nil {
			return err
		}
	}
	if err := replace(path, filepath.Join(f.dir, temporaryFile), parts); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Close closes the files, after what they hold is on disk, and gives the folder back.
func (f *Folder) Close() error {
	err := errors.Join(f.intervals.close(), f.latency.close())
	if f.lock != nil {
		_ = f.lock.Close() // it was never written
	}
	f.intervals, f.latency, f.log, f.lock = nil, nil, nil, nil
	return err
}

// Discard takes away what was written to a folder that CreateFolder made, and closes it: for a result of
// which a part is of no use to anybody. The folder itself stays.
func (f *Folder) Discard() error {
	var err error
	for _, name := range []string{resultFile, temporaryFile, intervalsFile, latencyFile} { // none was there before
		if e := os.Remove(filepath.Join(f.dir, name)); !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return errors.Join(err, f.Close())
}

// replace puts parts in the place of the file at path, by way of a temporary one in the same folder.
func replace(path, temporary string, parts [][]byte) error {
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	for _, part := range parts {
		_, _ = w.Write(part) // Flush has its error
	}
	if err = w.Flush(); err == nil {
		err = file.Sync() // before the rename, or a crash could leave the new name with no content
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary) // best effort: on a full disk it gives the room back
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename in the folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil // some network and FUSE file systems sync no folders
	}
	return errors.Join(err, d.Close())
}
