package unit

import (
	"strings"
	"testing"
	"time"
)

func TestBytes(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		err  string // a part of the error, empty for none
	}{
		{"0", 0, ""},
		{"512", 512, ""},
		{"512b", 512, ""},
		{"4k", 4096, ""},
		{"4K", 4096, ""},
		{"4kb", 4096, ""},
		{"4KiB", 4096, ""},
		{" 128k ", 131072, ""},
		{"1.5k", 1536, ""},
		{"1m", 1 << 20, ""},
		{"15t", 15 << 40, ""},
		{"8191p", 8191 << 50, ""},
		{"8192p", 0, "over the limit"},
		{"99999999999999999999", 0, "over the limit"},
		{"4q", 0, `unknown suffix "q"`},
		{"4kk", 0, `unknown suffix "kk"`},
		{"-4k", 0, "does not begin with a number"},
		{"", 0, "does not begin with a number"},
		{"k", 0, "does not begin with a number"},
		{"1.2.3", 0, "is not a number"},
		{"0.3", 0, "whole number of bytes"},
		{"1e3", 0, "unknown suffix"},
	} {
		got, err := Bytes(c.in)
		check(t, c.in, got, c.want, err, c.err)
	}
}

func check[T comparable](t *testing.T, in string, got, want T, err error, part string) {
	t.Helper()
	switch {
	case part == "" && err != nil:
		t.Errorf("%q: unexpected error %v", in, err)
	case part != "" && (err == nil || !strings.Contains(err.Error(), part)):
		t.Errorf("%q: error %v, want one with %q", in, err, part)
	case part == "" && got != want:
		t.Errorf("%q: got %v, want %v", in, got, want)
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		in   string
		size int64
		want int64
		err  string
	}{
		{"20%", 1000, 200, ""},
		{"100%", 1<<50 + 3, 1<<50 + 3, ""},
		{"0.5%", 1 << 40, 1 << 40 / 200, ""},
		{"10g", 1 << 50, 10 << 30, ""},
		{"101%", 0, 0, "outside"},
		{"x%", 0, 0, "not a number"},
		{"-1%", 0, 0, "outside"},
	} {
		share, err := ParseShare(c.in)
		check(t, c.in, share.Of(c.size), c.want, err, c.err)
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		in   string
		want time.Duration
		err  string
	}{
		{"30", 30 * time.Second, ""},
		{"0", 0, ""},
		{"1.5", 1500 * time.Millisecond, ""},
		{"30s", 30 * time.Second, ""},
		{"1m30s", 90 * time.Second, ""},
		{"2d", 48 * time.Hour, ""},
		{"1d12h", 36 * time.Hour, ""},
		{"1dx", 0, "write for example"},
		{"5min", 5 * time.Minute, ""},
		{"10sec", 10 * time.Second, ""},
		{"250ms", 250 * time.Millisecond, ""},
		{"-1s", 0, "below 0"},
		{"soon", 0, "write for example"},
		{"", 0, "write for example"},
		{"999999999d", 0, "over the limit"},
	} {
		got, err := Duration(c.in)
		check(t, c.in, got, c.want, err, c.err)
	}
}

func TestSizeReadsBack(t *testing.T) {
	for _, n := range []int64{0, 1, 512, 4096, 4097, 1 << 20, 3 << 39, 1 << 60} {
		got, err := Bytes(Size(n))
		if err != nil || got != n {
			t.Errorf("Bytes(Size(%d)=%q) = %d, %v", n, Size(n), got, err)
		}
	}
}

func TestNanos(t *testing.T) {
	for _, c := range []struct {
		in   float64
		want string
	}{
		{0, "0.000 ns"}, {97.3, "97.30 ns"}, {97310, "97.31 µs"}, {1.5e6, "1.500 ms"}, {3.2e9, "3.200 s"}, {3.6e12, "3600 s"},
	} {
		if got := Nanos(c.in); got != c.want {
			t.Errorf("Nanos(%g) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzBytes(f *testing.F) {
	for _, s := range []string{"4k", "1.5g", "99p", "4q", "%", "1..2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Bytes(s)
		if err == nil && n < 0 {
			t.Fatalf("Bytes(%q) = %d", s, n)
		}
		if share, err := ParseShare(s); err == nil && share.Of(1<<60) < 0 {
			t.Fatalf("ParseShare(%q) = %v", s, share)
		}
		if p, err := ParsePercent(s); err == nil && p < 0 {
			t.Fatalf("ParsePercent(%q) = %v", s, p)
		}
		if d, err := Duration(s); err == nil && d < 0 {
			t.Fatalf("Duration(%q) = %v", s, d)
		}
	})
}
