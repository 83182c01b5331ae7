package histogram

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func TestLogReadByReference(t *testing.T) {
	start := time.Date(2026, 3, 4, 5, 6, 7, 987_654_321, time.UTC)
	tag := LogTag("16T/16Q", "main", "/dev/sdb", "read")
	type row struct {
		tag           string
		after, length time.Duration
		h             *Histogram
	}
	rows := []row{
		{tag, 0, time.Second, histogramOf(latencies(30, 500)...)},
		{"", 0, time.Second, histogramOf(1, 2, 3)},
		{tag, time.Second, time.Second, New()},
		{tag, 2*time.Second + 1, 4*time.Millisecond + 500*time.Microsecond, histogramOf(Highest)},
	}
	var log bytes.Buffer
	w, err := NewLogWriter(&log, start)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Append(r.tag, start.Add(r.after), r.length, r.h); err != nil {
			t.Fatal(err)
		}
	}
	// A resumed run appends a header and goes on, an hour later.
	resumed := start.Add(time.Hour)
	if w, err = NewLogWriter(&log, resumed); err != nil {
		t.Fatal(err)
	}
	rows = append(rows, row{tag, time.Hour, time.Second, histogramOf(5_000)})
	if err := w.Append(tag, resumed, time.Second, rows[4].h); err != nil {
		t.Fatal(err)
	}

	reader := hdr.NewHistogramLogReader(&log)
	for i, r := range rows {
		got, err := reader.NextIntervalHistogram()
		if err != nil || got == nil {
			t.Fatalf("line %d: %v, %v", i, got, err)
		}
		if got.Tag() != r.tag {
			t.Errorf("line %d: tag %q, want %q", i, got.Tag(), r.tag)
		}
		want := start.Add(r.after).UnixMilli()
		// The reader works in float64 seconds and cuts to milliseconds.
		if d := got.StartTimeMs() - want; d < -1 || d > 0 {
			t.Errorf("line %d: starts at %d ms, want %d", i, got.StartTimeMs(), want)
		}
		if d := got.EndTimeMs() - start.Add(r.after+r.length).UnixMilli(); d < -1 || d > 0 {
			t.Errorf("line %d: ends %d ms off", i, d)
		}
		ref := reference()
		for b := range r.h.Buckets() {
			if err := ref.RecordValues(b.Low, int64(b.Count)); err != nil {
				t.Fatal(err)
			}
		}
		if !got.Equals(ref) {
			t.Errorf("line %d: other counts", i)
		}
	}
	if more, err := reader.NextIntervalHistogram(); more != nil || err != nil {
		t.Errorf("after the last line: %v, %v", more, err)
	}
}

func TestLogText(t *testing.T) {
	var log bytes.Buffer
	start := time.Unix(1441812279, 474_900_000)
	w, err := NewLogWriter(&log, start)
	if err != nil {
		t.Fatal(err)
	}
	h := histogramOf(2_769_001)
	if err := w.Append("A", start.Add(127*time.Millisecond), 1007*time.Millisecond, h); err != nil {
		t.Fatal(err)
	}
	code, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `#[Logged with blkstorm]
#[Histogram log format version 1.3]
#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 15:24:39 UTC 2015]
#[BaseTime: 1441812279.474 (seconds since epoch)]
"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
Tag=A,0.127900000,1.007000000,2.769001,` + code + "\n"
	if log.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", &log, want)
	}
}

func TestLogRefuses(t *testing.T) {
	var log bytes.Buffer
	start := time.Unix(1000, 0)
	w, err := NewLogWriter(&log, start)
	if err != nil {
		t.Fatal(err)
	}
	header := log.Len()
	for _, tag := range []string{",", "a,", ",a", "a b", "a\nb", "\t", "a\x7f"} {
		if err := w.Append(tag, start, time.Second, New()); !errors.Is(err, ErrLogLine) {
			t.Errorf("tag %q: error %v", tag, err)
		}
	}
	if err := w.Append("a", start.Add(-1), time.Second, New()); !errors.Is(err, ErrLogLine) {
		t.Errorf("interval before the log: error %v", err)
	}
	if err := w.Append("a", start, -1, New()); !errors.Is(err, ErrLogLine) {
		t.Errorf("negative interval: error %v", err)
	}
	if log.Len() != header {
		t.Errorf("refused lines were written: %q", log.String()[header:])
	}
}

// failing fails every write after the first n.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestLogReportsWriteErrors(t *testing.T) {
	if _, err := NewLogWriter(&failing{0}, time.Now()); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("header: error %v", err)
	}
	w, err := NewLogWriter(&failing{1}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append("", time.Unix(0, 0), 0, New()); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("line: error %v", err)
	}
	h := histogramOf(1)
	h.count = math.MaxUint64
	if err := w.Append("", time.Unix(0, 0), 0, h); err == nil {
		t.Error("an unencodable histogram was logged")
	}
}

func TestLogTagRoundTrip(t *testing.T) {
	for _, parts := range [][]string{
		{"a"}, {""}, {"a", "", "b"}, {"16T/16Q", "/dev/disk/by-id/x y", "read"}, {"a,b", "c\nd", "100%", "ä", "\x00\x7f"},
	} {
		tag := LogTag(parts...)
		if strings.ContainsFunc(tag, func(c rune) bool { return c == ',' || c <= ' ' || c >= 0x7f }) {
			t.Errorf("tag %q of %q is not safe", tag, parts)
		}
		if got, err := SplitLogTag(tag); err != nil || !slices.Equal(got, parts) {
			t.Errorf("%q → %q → %q, %v", parts, tag, got, err)
		}
	}
	if _, err := SplitLogTag("a/%zz"); err == nil {
		t.Error("a broken escape was accepted")
	}
}
