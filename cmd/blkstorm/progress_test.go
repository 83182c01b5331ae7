package main

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/result"
)

// at second s, a row of 1 s with 1000 reads and 500 writes of 4 KiB.
func rowAt(s float64, ramp bool) *result.Interval {
	in := &result.Interval{TS: s, LengthS: 1, Ramp: ramp, InFlight: 16}
	in.Read = result.IntervalStat{IOs: 1000, Bytes: 4096000, Max: 1_500_000}
	in.Write = result.IntervalStat{IOs: 500, Bytes: 2048000, Max: 700}
	return in
}

func shortPoint() *plan.Point {
	return &plan.Point{Label: "point", Ramp: plan.Duration(5 * time.Second), Runtime: plan.Duration(time.Minute)}
}

func TestRowText(t *testing.T) {
	for want, in := range map[string]*result.Interval{
		"point measuring: at 10s: 1,500 IOPS, 6.1 MB/s, max 1.500 ms, in flight 16, 50s left": rowAt(9, false),
		"point ramp: at 2s: 1,500 IOPS, 6.1 MB/s, max 1.500 ms, in flight 16, 1m3s left":      rowAt(-4, true),
		"point measuring: at 61s: 1,500 IOPS, 6.1 MB/s, max 1.500 ms, in flight 16, 0s left":  rowAt(60, false),
	} {
		if got := rowText(shortPoint(), in); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// A log gets a line every ten seconds, a terminal one line that renews itself, --quiet nothing.
func TestProgress(t *testing.T) {
	show := func(change func(*progress)) string {
		var out bytes.Buffer
		now := time.Unix(0, 0)
		p := newProgress(&out, false)
		p.now, p.last = func() time.Time { return now }, now
		change(p)
		p.log("writing to %s", "/dev/x")
		for i := range 25 {
			now = now.Add(time.Second)
			p.row(shortPoint(), rowAt(float64(i), false))
		}
		p.end()
		p.log("done")
		return out.String()
	}
	plain := strings.Split(show(func(*progress) {}), "\n")
	if len(plain) != 5 || plain[0] != "writing to /dev/x" || !strings.HasPrefix(plain[1], "point measuring: at 10s") ||
		!strings.HasPrefix(plain[2], "point measuring: at 20s") || plain[3] != "done" {
		t.Errorf("plain: %q", plain)
	}
	terminal := show(func(p *progress) { p.terminal = true })
	if strings.Count(terminal, "\r") != 25 || strings.Count(terminal, "\n") != 3 || !strings.HasSuffix(terminal, "left\ndone\n") {
		t.Errorf("terminal: %q", terminal)
	}
	narrow := show(func(p *progress) { p.terminal, p.width = true, func() int { return 40 } })
	for _, line := range strings.FieldsFunc(narrow, func(r rune) bool { return r == '\r' || r == '\n' }) {
		if len(line) > 39 {
			t.Errorf("a terminal of 40 columns gets %q", line)
		}
	}
	if quiet := show(func(p *progress) { p.quiet = true }); quiet != "" {
		t.Errorf("quiet: %q", quiet)
	}
}

func TestParsePercentiles(t *testing.T) {
	for text, want := range map[string][]float64{"": result.DefaultPercentiles, "50": {50}, "99.9, 50": {99.9, 50}, "100": {100}} {
		if got, err := parsePercentiles(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0", "-1", "100.1", "x", "50,", ",", "NaN", "Inf"} {
		if got, err := parsePercentiles(text); err == nil || !strings.Contains(err.Error(), "--percentiles \""+text+"\"") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// Seeds that are drawn can be given again: they are within the limit.
func TestNewSeed(t *testing.T) {
	seen := map[uint64]bool{}
	for range 100 {
		s := newSeed()
		if s > plan.MaxSeed || s > math.MaxUint32 {
			t.Fatalf("seed %d", s)
		}
		seen[s] = true
	}
	if len(seen) < 90 {
		t.Errorf("only %d different seeds of 100", len(seen))
	}
}
