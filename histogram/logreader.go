package histogram

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"time"
)

// maxLogLine bounds a line of a log: the largest encoding has 0.8 MB before it is compressed.
const maxLogLine = 4 << 20

// LogLine is one line of a histogram log: what completed in one interval.
type LogLine struct {
	Number int    // of the line in the file, from 1
	Tag    string // empty when there is none
	Start  time.Time
	Length time.Duration
	// Code is what DecodeInto reads. It is valid until the next line is read.
	Code []byte
}

// ReadLog reads an HdrHistogram interval log (.hlog) line by line, as LogWriter and HdrHistogram's own
// tools write it: headers in between begin a new base of time. A line that is damaged comes as an error, which
// names the line and what is wrong with it; whoever goes on after it gets the lines that follow. A last line
// without its newline comes as an error that wraps io.ErrUnexpectedEOF; it is the end, as are a line beyond
// any length and what cannot be read. The histograms are not looked at.
func ReadLog(r io.Reader) iter.Seq2[LogLine, error] {
	return func(yield func(LogLine, error) bool) {
		in := bufio.NewReaderSize(r, 1<<16)
		log := logReader{}
		var long []byte
		for number := 1; ; number++ {
			text, err := readLine(in, &long)
			switch {
			case err == io.EOF && len(text) == 0:
				return
			case err == io.EOF:
				yield(LogLine{}, fmt.Errorf("line %d is cut short: %w", number, io.ErrUnexpectedEOF))
				return
			case err != nil:
				yield(LogLine{}, fmt.Errorf("line %d: %w", number, err))
				return
			}
			line, ok, err := log.line(text)
			if err != nil {
				if !yield(LogLine{}, fmt.Errorf("line %d: %w", number, err)) {
					return
				}
				continue
			}
			line.Number = number
			if ok && !yield(line, nil) {
				return
			}
		}
	}
}

// readLine returns the next line without its newline; long is memory for those that in's has no room for.
func readLine(in *bufio.Reader, long *[]byte) ([]byte, error) {
	text, err := in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		*long = (*long)[:0]
		for err == bufio.ErrBufferFull {
			if *long = append(*long, text...); len(*long) > maxLogLine {
				return nil, errors.New("is longer than any line of a histogram log")
			}
			text, err = in.ReadSlice('\n')
		}
		*long = append(*long, text...)
		text = *long
	}
	return bytes.TrimSuffix(text, []byte("\n")), err
}

// logReader knows the headers so far.
type logReader struct {
	startNS, baseNS int64 // since the epoch
	hasBase         bool
}

var (
	startTime  = []byte("#[StartTime: ")
	baseTime   = []byte("#[BaseTime: ")
	comma      = []byte(",")
	tagPrefix  = []byte("Tag=")
	errLogForm = errors.New("is no line of a histogram log")
)

// line reads one line; ok is false for headers and comments.
func (l *logReader) line(text []byte) (line LogLine, ok bool, err error) {
	text = bytes.TrimRight(text, "\r")
	switch {
	case len(text) == 0 || text[0] == '"':
		return line, false, nil
	case text[0] == '#':
		return line, false, l.header(text)
	}
	if rest, found := bytes.CutPrefix(text, tagPrefix); found {
		tag, fields, found := bytes.Cut(rest, comma)
		if !found {
			return line, false, errLogForm
		}
		line.Tag, text = string(tag), fields
	}
	var fields [3][]byte // start, length, maximum
	for i := range fields {
		var found bool
		if fields[i], text, found = bytes.Cut(text, comma); !found {
			return line, false, errLogForm
		}
	}
	start, err := nanoseconds(fields[0])
	if err != nil {
		return line, false, err
	}
	length, err := nanoseconds(fields[1])
	if err != nil || length < 0 {
		return line, false, errLogForm
	}
	// A log without a base has either offsets from its start, or times since the epoch; as in
	// HdrHistogram's reader, a time over a year before the start is an offset.
	const year = int64(365 * 24 * time.Hour)
	switch {
	case l.hasBase:
		start += l.baseNS
	case start < l.startNS-year:
		start += l.startNS
	}
	if start < 0 {
		return line, false, fmt.Errorf("%w: its time is before 1970 or after 2262", errLogForm)
	}
	line.Start, line.Length, line.Code = time.Unix(0, start).UTC(), time.Duration(length), text
	return line, true, nil
}

func (l *logReader) header(text []byte) error {
	at := &l.baseNS
	value, found := bytes.CutPrefix(text, baseTime)
	if found {
		l.hasBase = true
	} else if value, found = bytes.CutPrefix(text, startTime); found {
		at = &l.startNS
	} else {
		return nil // a comment
	}
	value, _, _ = bytes.Cut(value, []byte(" "))
	ns, err := nanoseconds(value)
	if err != nil || ns < 0 {
		return fmt.Errorf("%w: the header's time %q is none", errLogForm, value)
	}
	*at = ns
	return nil
}

// nanoseconds reads decimal seconds without a rounding.
func nanoseconds(text []byte) (int64, error) {
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	s, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil || len(fraction) > 9 || s < 0 || s >= math.MaxInt64/int64(1e9)/2 { // so that two may be added
		return 0, fmt.Errorf("%w: %q is no time in seconds", errLogForm, text)
	}
	ns := int64(0)
	for i := range 9 {
		ns *= 10
		if i < len(fraction) {
			c := fraction[i]
			if c < '0' || c > '9' {
				return 0, fmt.Errorf("%w: %q is no time in seconds", errLogForm, text)
			}
			ns += int64(c - '0')
		}
	}
	return s*1e9 + ns, nil
}
