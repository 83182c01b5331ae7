package histogram

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// ErrLogLine is wrapped by the errors of LogWriter.Append that say that a line cannot be
// expressed in the log format; nothing was written then.
var ErrLogLine = errors.New("not expressible in a histogram log")

// LogWriter writes an HdrHistogram interval log (.hlog, format version 1.3): a header, then one
// line per interval and tag, as HdrHistogram's HistogramLogReader, HistogramLogAnalyzer and
// hdrhistogram-go read it. Every line is one Write call, so a log cut off by a crash loses at
// most its last line; buffering, flushing and syncing are the caller's.
//
// hdrhistogram-go's own writer is not used: it cuts the start time to whole seconds and the
// intervals to milliseconds, and lets a tag begin or end with a comma.
type LogWriter struct {
	w    io.Writer
	base time.Time
}

// NewLogWriter writes the header, whose start time and base time are start cut to a millisecond,
// and returns a writer for the lines. Appending to an existing log this way is allowed (a
// resumed run does): readers take a later header as the new base for the lines that follow.
func NewLogWriter(w io.Writer, start time.Time) (*LogWriter, error) {
	base := start.UTC().Truncate(time.Millisecond)
	sec := fmt.Sprintf("%d.%03d", base.Unix(), base.Nanosecond()/1e6)
	// The layout is Java's Date.toString, which the format description shows.
	_, err := fmt.Fprintf(w, "#[Logged with blkstorm]\n"+
		"#[Histogram log format version 1.3]\n"+
		"#[StartTime: %s (seconds since epoch), %s]\n"+
		"#[BaseTime: %s (seconds since epoch)]\n"+
		"\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
		sec, base.Format("Mon Jan 02 15:04:05 MST 2006"), sec)
	if err != nil {
		return nil, fmt.Errorf("write histogram log header: %w", err)
	}
	return &LogWriter{w: w, base: base}, nil
}

// Append writes the line of one interval: when it started, its length, and what completed in it;
// an empty histogram makes a line too. Times are written to the nanosecond, in seconds; the
// maximum, exact, in milliseconds, which is the unit the format's tools expect of nanosecond
// histograms. The tag may be empty; it must not contain a comma, a space or a control character
// (LogTag makes a safe one), and the interval must not start before the log.
func (l *LogWriter) Append(tag string, start time.Time, length time.Duration, h *Histogram) error {
	if strings.ContainsFunc(tag, func(c rune) bool { return c == ',' || c <= ' ' || c == 0x7f }) {
		return fmt.Errorf("%w: tag %q has a comma, a space or a control character", ErrLogLine, tag)
	}
	offset := start.Sub(l.base)
	if offset < 0 || length < 0 {
		return fmt.Errorf("%w: an interval of %v that starts %v after the log", ErrLogLine, length, offset)
	}
	code, err := h.Encode()
	if err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	var line strings.Builder
	if tag != "" {
		line.WriteString("Tag=" + tag + ",")
	}
	ms := h.Max()
	fmt.Fprintf(&line, "%s,%s,%d.%06d,%s\n", seconds(offset), seconds(length), ms/1e6, ms%1e6, code)
	if _, err := io.WriteString(l.w, line.String()); err != nil {
		return fmt.Errorf("write histogram log: %w", err)
	}
	return nil
}

// seconds prints a duration that is not negative in seconds, with all its digits.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second)
}

// LogTag joins the parts (point, stream, target, direction) with slashes into a tag for Append.
// What a tag or a part must not contain is percent-escaped, so SplitLogTag gives the parts back.
func LogTag(parts ...string) string {
	safe := make([]string, len(parts))
	for i, p := range parts {
		safe[i] = url.PathEscape(p)
	}
	return strings.Join(safe, "/")
}

// SplitLogTag returns the parts of a tag that LogTag made. It fails on a broken escape.
func SplitLogTag(tag string) ([]string, error) {
	parts := strings.Split(tag, "/")
	for i, p := range parts {
		u, err := url.PathUnescape(p)
		if err != nil {
			return nil, fmt.Errorf("histogram log tag: %w", err)
		}
		parts[i] = u
	}
	return parts, nil
}
