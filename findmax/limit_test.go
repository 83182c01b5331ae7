package findmax

import (
	"strings"
	"testing"
	"time"
)

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]Limit{
		"p99=1ms":        {Percentile, 99, time.Millisecond},
		"p99.9<2ms":      {Percentile, 99.9, 2 * time.Millisecond},
		"p50 <= 1.5 ms":  {},
		"p50 <= 1.5ms":   {Percentile, 50, 1500 * time.Microsecond},
		"mean=500us":     {Mean, 0, 500 * time.Microsecond},
		"max<10ms":       {Max, 0, 10 * time.Millisecond},
		"max=1h":         {Max, 0, time.Hour},
		"p99.99999=1s":   {Percentile, 99.99999, time.Second},
		"p99.999999=1s":  {},
		"p100=1ms":       {},
		"p0=1ms":         {},
		"p=1ms":          {},
		"p1e1=1ms":       {},
		"pinf=1ms":       {},
		"p99=1":          {},
		"p99=0ms":        {},
		"p99=-1ms":       {},
		"p99=2h":         {},
		"p99":            {},
		"p99=":           {},
		"=1ms":           {},
		"median=1ms":     {},
		"p99==1ms":       {},
		"p99=<1ms":       {},
		"p99<<1ms":       {},
		"p99=1ms=1ms":    {},
		"p99>1ms":        {},
		"":               {},
		"mean=1ms,p99=1": {},
	} {
		got, err := ParseLimit(text)
		if bad := want.IsZero(); got != want || (err != nil) != bad {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%q: the error does not name it: %v", text, err)
		}
	}
}

func TestMinIOs(t *testing.T) {
	for text, want := range map[string]float64{"mean=1ms": 1000, "max=1ms": 1000, "p50=1ms": 1000, "p99=1ms": 1000, "p99.9=1ms": 10_000, "p99.99=1ms": 100_000} {
		l, err := ParseLimit(text)
		if err != nil || l.MinIOs() != want {
			t.Errorf("%s: %v, %v; want %v", text, l.MinIOs(), err, want)
		}
	}
}

// What is read is written so that it is read again as the same.
func FuzzParseLimit(f *testing.F) {
	for _, s := range []string{"p99=1ms", "p99.9<2ms", "mean<=500us", "max=1m30s", "p.5=1h", "p99 = 1ns", "p<=1", "=<", "p0x1=1ms"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLimit(s)
		if err != nil {
			if !l.IsZero() {
				t.Errorf("%q: %+v beside %v", s, l, err)
			}
			return
		}
		if l.Under <= 0 || l.MinIOs() < 1000 || l.MinIOs() > 1e9 {
			t.Errorf("%q: %+v", s, l)
		}
		text, _ := l.MarshalText()
		var again Limit
		if err := again.UnmarshalText(text); err != nil || again != l {
			t.Errorf("%q: %+v is written as %s and read as %+v, %v", s, l, text, again, err)
		}
	})
}
