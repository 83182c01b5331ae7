// Package fiojson reads the JSON and json+ output of fio, of all versions since 2.1, and of blkstorm fio, as result
// documents.
//
// Package load calls it for what is no document of blkstorm. It knows the keys that fio writes, the units
// that changed between its versions, and what stands around the JSON in files that were written by
// --output or a redirection. It never writes, and compares or adds nothing but the jobs of one file.
package fiojson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"blkstorm/result"
	"blkstorm/verdict"
)

var (
	// ErrNotFio is wrapped by Read when the text has no JSON document of fio.
	ErrNotFio = errors.New("is no JSON output of fio")
	// ErrDamaged is wrapped by Read when it has one that is cut short or makes no sense.
	ErrDamaged = errors.New("is damaged JSON output of fio")
)

// Output is what fio reported.
type Output struct {
	// Doc has a point per job name and group: entries of the same name in one group, as numjobs makes
	// them, and those of the clients of one server, are added. It has no plan, host facts beyond a name,
	// interval rows, or figures per target; fio's JSON has none. Its warnings say what is not as in
	// results of blkstorm.
	Doc *result.Doc
	// Options are the options of each point's job, global ones included, under fio's own names.
	Options []map[string]string
}

// document is fio's, as far as it is used.
type document struct {
	Version     *string        `json:"fio version"`
	Timestamp   float64        `json:"timestamp"`    // s, of the end
	TimestampMS float64        `json:"timestamp_ms"` // since 2.99
	Global      map[string]any `json:"global options"`
	Jobs        []*job         `json:"jobs"`
	Clients     []*job         `json:"client_stats"`
	Ours        *ours          `json:"blkstorm"`
}

// ours is what blkstorm fio adds to fio's form.
type ours struct {
	Warnings []verdict.Warning `json:"warnings"`
}

// job is an entry of jobs or client_stats.
type job struct {
	Name       string         `json:"jobname"`
	Group      int64          `json:"groupid"`
	Error      int64          `json:"error"`
	TotalError float64        `json:"total_err"`
	Elapsed    float64        `json:"elapsed"`   // s
	Start      float64        `json:"job_start"` // ms since the epoch, since 3.37
	Options    map[string]any `json:"job options"`
	Read       *direction     `json:"read"`
	Write      *direction     `json:"write"`
	Trim       *direction     `json:"trim"`
	Sync       *direction     `json:"sync"`
	Mixed      *direction     `json:"mixed"` // of unified_rw_reporting, instead of the others
	Host       string         `json:"hostname"`
}

type direction struct {
	Bytes   float64  `json:"io_bytes"`
	KBytes  *float64 `json:"io_kbytes"` // since 2.99; without it Bytes are KiB
	BW      float64  `json:"bw"`        // KiB/s
	BWBytes float64  `json:"bw_bytes"`  // since 2.99
	IOPS    float64  `json:"iops"`
	Runtime float64  `json:"runtime"` // ms
	IOs     float64  `json:"total_ios"`
	Short   float64  `json:"short_ios"`
	Dropped float64  `json:"drop_ios"`

	// In nanoseconds, and up to 2.98 in microseconds.
	LatNS  *latency `json:"lat_ns"`
	ClatNS *latency `json:"clat_ns"`
	Lat    *latency `json:"lat"`
	Clat   *latency `json:"clat"`
}

type latency struct {
	Min         float64            `json:"min"`
	Max         float64            `json:"max"`
	Mean        float64            `json:"mean"`
	StdDev      float64            `json:"stddev"`
	N           float64            `json:"N"`
	Percentiles map[string]float64 `json:"percentile"`
	Bins        map[string]float64 `json:"bins"` // of json+: the middle of a bin, and how many are in it
}

// Read reads fio's output. There may be other lines before, after and between documents, as fio writes
// warnings there; of several documents, as --status-interval makes them, the last whole one counts.
func Read(text []byte) (*Output, error) {
	last, cut, err := lastDocument(text)
	if err != nil {
		return nil, err
	}
	return convert(last, cut)
}

// maxAttempts bounds how many lines are tried that begin with a brace and no document.
const maxAttempts = 100

// lastDocument finds the last whole document of fio; cut says that another one follows that is not whole.
func lastDocument(text []byte) (found *document, cut bool, err error) {
	attempts := 0
	for at := 0; ; {
		start := brace(text[at:])
		if start < 0 {
			break
		}
		at += start
		d := json.NewDecoder(bytes.NewReader(text[at:]))
		doc := &document{}
		switch decodeErr := d.Decode(doc); {
		case decodeErr == nil:
			at += int(d.InputOffset())
			if doc.Version != nil || doc.Jobs != nil || doc.Clients != nil {
				found, cut, err = doc, false, nil
			}
		case !errors.Is(decodeErr, io.ErrUnexpectedEOF):
			if err == nil && bytes.Contains(text[at:min(at+4096, len(text))], []byte(`"fio version"`)) {
				err = fmt.Errorf("%w: %w", ErrDamaged, decodeErr)
			}
			if attempts++; attempts == maxAttempts {
				return whole(found, cut, err, err != nil)
			}
			at++
		default: // the end of the text
			return whole(found, true, fmt.Errorf("%w: it ends within the document: it was cut short", ErrDamaged), bytes.Contains(text[at:], []byte(`"fio version"`)))
		}
	}
	return whole(found, cut, err, err != nil)
}

// whole decides what there is to read; isFio says that what is not whole is fio's.
func whole(found *document, cut bool, err error, isFio bool) (*document, bool, error) {
	switch {
	case found != nil:
		return found, cut && isFio, nil
	case err != nil && isFio:
		return nil, false, err
	}
	return nil, false, ErrNotFio
}

// brace is where the first line begins that may begin a document; -1: none does.
func brace(text []byte) int {
	if bytes.HasPrefix(text, []byte("{")) {
		return 0
	}
	i := bytes.Index(text, []byte("\n{"))
	if i < 0 {
		return -1
	}
	return i + 1
}
