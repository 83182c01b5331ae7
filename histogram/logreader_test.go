package histogram

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// What LogWriter writes comes back, to the nanosecond, across a second header.
func TestReadLog(t *testing.T) {
	var out bytes.Buffer
	start := time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)
	early := start.Add(-time.Hour)
	h := histogramOf(latencies(9, 100)...)
	for _, at := range []time.Time{start, early} { // the clock was set back
		w, err := NewLogWriter(&out, at)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if err := w.Append(LogTag("0", "a b", "/dev/x"), at.Add(time.Duration(i)*time.Second), time.Second+1, h); err != nil {
				t.Fatal(err)
			}
		}
	}
	n := 0
	for line, err := range ReadLog(bytes.NewReader(out.Bytes())) {
		if err != nil {
			t.Fatal(err)
		}
		want := start.Add(time.Duration(n) * time.Second)
		if n >= 3 {
			want = early.Add(time.Duration(n-3) * time.Second)
		}
		got := New()
		if err := got.DecodeInto(line.Code); err != nil {
			t.Fatal(err)
		}
		parts, err := SplitLogTag(line.Tag)
		if err != nil || len(parts) != 3 || parts[1] != "a b" || !line.Start.Equal(want) || line.Length != time.Second+1 || got.Count() != 100 {
			t.Errorf("line %d: %+v, %d values, tag %q", n, line, got.Count(), parts)
		}
		n++
	}
	if n != 6 {
		t.Errorf("%d lines, want 6", n)
	}
	cut := out.Bytes()[:out.Len()-1]
	n = 0
	var last error
	for _, err := range ReadLog(bytes.NewReader(cut)) {
		if last = err; err == nil {
			n++
		}
	}
	if n != 5 || !errors.Is(last, io.ErrUnexpectedEOF) || !strings.Contains(last.Error(), "line 16 is cut short") {
		t.Errorf("a log without its last byte: %d lines, error %v", n, last)
	}
}

// Logs of other tools: no base, absolute or relative times.
func TestReadLogOfOthers(t *testing.T) {
	for name, c := range map[string]struct{ log, want string }{
		"relative":     {"#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09 08:24:39 PDT 2015]\n\"StartTimestamp\"\n0.127,1.007,2.769,x\n", "2015-09-09T15:24:39.601Z"},
		"absolute":     {"#[StartTime: 1441812279.474 (seconds since epoch)]\n1441812280.5,1.0,2.7,x\n", "2015-09-09T15:24:40.5Z"},
		"based":        {"#[BaseTime: 10.5 (seconds since epoch)]\r\nTag=A,1.25,1.0,2.7,x\r\n", "1970-01-01T00:00:11.75Z"},
		"without head": {"5,1,2,x\n", "1970-01-01T00:00:05Z"},
	} {
		for line, err := range ReadLog(strings.NewReader(c.log)) {
			if got := line.Start.Format(time.RFC3339Nano); err != nil || got != c.want || string(line.Code) != "x" {
				t.Errorf("%s: %s, code %q, %v", name, got, line.Code, err)
			}
		}
	}
}

func TestReadLogRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"other text":   "hello\n",
		"few fields":   "1,2\n",
		"tag alone":    "Tag=x\n",
		"no number":    "a,1,2,x\n",
		"negative":     "-1,1,2,x\n",
		"many digits":  "1.0000000001,1,2,x\n",
		"far away":     "99999999999999,1,2,x\n",
		"header":       "#[BaseTime: then]\n",
		"no end":       strings.Repeat("x", maxLogLine+1<<17),
		"length":       "1,x,2,x\n",
		"short second": "1.x,1,2,x\n",
	} {
		var last error
		for line, err := range ReadLog(strings.NewReader(text)) {
			if last = err; err == nil {
				t.Errorf("%s: line %+v", name, line)
			}
		}
		if last == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add("#[BaseTime: 10.5 (seconds since epoch)]\nTag=A,1.25,1.0,2.7,HIST\n1,2,3,4")
	f.Fuzz(func(t *testing.T, text string) {
		for line, err := range ReadLog(strings.NewReader(text)) {
			if err == nil && (line.Length < 0 || line.Start.UnixNano() < 0) {
				t.Fatalf("%+v", line)
			}
		}
	})
}
