// Package load opens the results that people have: a result folder, its result.json, the document of
// --format json as a file or from standard input, and fio's JSON. All come as one thing, a Result.
//
// report, compare and merge read with it. What it hands out is checked: the lists of a document have no
// holes, its indexes lead somewhere, its numbers are within what a run can measure. It never writes, never
// locks a folder (one of a run that goes on can be read), and computes no figures.
package load

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
	"sync"

	"blkstorm/result"
	"blkstorm/result/fiojson"
)

// Kind is what a result was read from.
type Kind string

// Kinds of results.
const (
	Folder   Kind = "folder"   // of --dir, with the files beside the document as far as they are there
	Document Kind = "document" // of --format json, or a result.json on its own
	Fio      Kind = "fio"      // JSON of fio
)

// The files of a result folder, as package result writes them.
const (
	resultFile    = "result.json"
	intervalsFile = "intervals.ndjson"
	latencyFile   = "latency.hlog"
)

// maxDocument bounds a document, in bytes: one of 1 s rows of a week has a tenth of that.
const maxDocument = 4 << 30

// Standard is the path that stands for standard input.
const Standard = "-"

var (
	// ErrNoResult is wrapped by Open when what it found is no result.
	ErrNoResult = errors.New("is no result of blkstorm or fio")
	// ErrDamaged is wrapped by Open when a document is cut short or contradicts itself.
	ErrDamaged = errors.New("is damaged")
)

// Result is one result that was opened.
type Result struct {
	Path string // as it was given
	Kind Kind
	// Doc has the interval rows in its points only where the document itself has them: use Rows.
	Doc  *result.Doc
	Gaps Gaps
	// Options are those of each point's job, of fio only, under fio's names.
	Options []map[string]string
	dir     string // of a folder
}

// Gaps says what a whole result has and this one has not.
type Gaps struct {
	NoRows       bool // no interval row is there
	NoLog        bool // there is no histogram log
	RowsCut      bool // the last interval row is cut short, and not given out
	LogCut       bool // the last line of the histogram log is cut short, and not given out
	NoHistograms bool // no latency has a histogram, although there are some (fio's JSON without bins)
}

// Open opens the result at path: a folder, a file, or "-" for standard input. A result.json beside its
// folder's other files is the same as the folder. Errors name the path and what is wrong with it.
func Open(path string) (*Result, error) { return open(path, os.Stdin) }

// Documents are large, and nothing of their text is kept.
var (
	texts   = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	eliders = sync.Pool{New: func() any { return new(elider) }}
)

func open(path string, standard io.Reader) (*Result, error) {
	r := &Result{Path: path}
	text := texts.Get().(*bytes.Buffer)
	defer texts.Put(text)
	text.Reset()
	err := r.read(text, standard)
	if err == nil {
		err = r.parse(text.Bytes())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	r.look()
	return r, nil
}

// Name is the path for messages.
func (r *Result) Name() string {
	if r.Path == Standard {
		return "standard input"
	}
	return r.Path
}

// Files are those that the result consists of, whether or not they are there; none for standard input.
func (r *Result) Files() []string {
	switch {
	case r.Path == Standard:
		return nil
	case r.dir == "":
		return []string{r.Path}
	}
	return []string{filepath.Join(r.dir, resultFile), filepath.Join(r.dir, intervalsFile), filepath.Join(r.dir, latencyFile)}
}

// read reads the document's text.
func (r *Result) read(text *bytes.Buffer, standard io.Reader) error {
	if r.Path == Standard {
		return limited(text, standard, 0)
	}
	if r.Path == "" {
		return errors.New("the path is empty")
	}
	info, err := os.Stat(r.Path)
	if err != nil {
		return reason(err)
	}
	path := r.Path
	switch {
	case info.IsDir():
		r.dir = r.Path
		path = filepath.Join(r.dir, resultFile)
	case info.Mode()&(fs.ModeDevice|fs.ModeSocket) != 0:
		return fmt.Errorf("%w: it is a device or a socket", ErrNoResult)
	case filepath.Base(path) == resultFile && exists(filepath.Join(filepath.Dir(path), intervalsFile)):
		r.dir = filepath.Dir(path)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no %s in the folder", ErrNoResult, resultFile)
	}
	if err != nil {
		return reason(err)
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return reason(err)
	}
	return limited(text, file, info.Size())
}

// reason is an error of the file system without its path, which stands before it already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// limited reads all of in, of which size bytes are expected.
func limited(text *bytes.Buffer, in io.Reader, size int64) error {
	if size > maxDocument {
		return fmt.Errorf("%w: %d bytes are more than any document has", ErrNoResult, size)
	}
	text.Grow(int(size) + bytes.MinRead)
	n, err := text.ReadFrom(io.LimitReader(in, maxDocument+1))
	if err != nil {
		return reason(err)
	}
	if n > maxDocument {
		return fmt.Errorf("%w: over %d bytes are more than any document has", ErrNoResult, int64(maxDocument))
	}
	return nil
}

// parse makes the document of its text.
func (r *Result) parse(text []byte) error {
	text = bytes.TrimSpace(text)
	doc := &result.Doc{}
	e := eliders.Get().(*elider)
	defer eliders.Put(e)
	err := json.Unmarshal(e.take(text), doc)
	if err != nil || doc.Schema != result.Schema {
		return r.parseOther(text, doc.Schema, err)
	}
	e.putBack(doc)
	if err := check(doc); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r.Doc, r.Kind = doc, Document
	if r.dir != "" {
		r.Kind = Folder
	}
	return nil
}

// parseOther reads what is no document of this version: fio's output, or it says what it is.
func (r *Result) parseOther(text []byte, schema string, err error) error {
	out, fioErr := fiojson.Read(text)
	switch {
	case fioErr == nil:
		if err := check(out.Doc); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		r.Doc, r.Kind, r.Options = out.Doc, Fio, out.Options
		return nil
	case errors.Is(fioErr, fiojson.ErrDamaged):
		return fmt.Errorf("%w: %w", ErrDamaged, fioErr)
	case len(text) == 0:
		return fmt.Errorf("%w: it is empty", ErrNoResult)
	case text[0] != '{':
		return fmt.Errorf("%w: it is no JSON document", ErrNoResult)
	case isStream(text):
		return fmt.Errorf("%w: it is a stream of --format ndjson; results are read from --format json and from the folder of --dir", ErrNoResult)
	case err != nil:
		return unreadable(text, json.Unmarshal(text, &result.Doc{})) // with its own places
	}
	return fmt.Errorf("%w: its schema is %q, and this version reads %q", ErrNoResult, schema, result.Schema)
}

// isStream tells the lines of --format ndjson from a document.
func isStream(text []byte) bool {
	line, _, found := bytes.Cut(text, []byte("\n"))
	var head struct {
		Type string `json:"type"`
	}
	return found && json.Unmarshal(line, &head) == nil && head.Type != ""
}

// unreadable says where a document cannot be read.
func unreadable(text []byte, err error) error {
	place := func(offset int64) string {
		before := text[:min(max(offset, 0), int64(len(text)))]
		return fmt.Sprintf("line %d", 1+bytes.Count(before, []byte("\n")))
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(text)):
		return fmt.Errorf("%w: it ends within %s: it was cut short", ErrDamaged, place(syntax.Offset))
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: %s: %w", ErrDamaged, place(syntax.Offset), err)
	case errors.As(err, &kind):
		return fmt.Errorf("%w: %s: the key %q cannot be a %s", ErrDamaged, place(kind.Offset), kind.Field, kind.Value)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// look finds the gaps.
func (r *Result) look() {
	g := &r.Gaps
	g.NoRows, g.NoLog = true, true
	for _, p := range r.Doc.Points {
		if len(p.Intervals)+len(p.RampIntervals) > 0 {
			g.NoRows = false
		}
	}
	if r.dir != "" {
		rows := lastByte(filepath.Join(r.dir, intervalsFile))
		log := lastByte(filepath.Join(r.dir, latencyFile))
		g.NoRows, g.RowsCut = g.NoRows && rows == noFile, rows == cutShort
		g.NoLog, g.LogCut = log == noFile, log == cutShort
	}
	measured, histograms := false, false
	for _, p := range r.Doc.Points {
		if p.Total.IOs > 0 {
			measured = true
			histograms = histograms || p.Total.Latency.HDR != ""
		}
	}
	g.NoHistograms = measured && !histograms
}

// How a file of lines ends.
const (
	noFile = iota // is not there, or has nothing
	whole
	cutShort
)

func lastByte(path string) int {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return noFile
	}
	if err != nil {
		return whole // whoever reads it is told why that cannot be
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return noFile
	}
	var last [1]byte
	if _, err := file.ReadAt(last[:], info.Size()-1); err != nil || last[0] != '\n' {
		return cutShort
	}
	return whole
}

// lines reads a file of the folder through a buffer; nil without one.
func (r *Result) lines(name string) (*os.File, *bufio.Reader, error) {
	if r.dir == "" {
		return nil, nil, nil
	}
	file, err := os.Open(filepath.Join(r.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return file, bufio.NewReaderSize(file, 1<<16), nil
}
