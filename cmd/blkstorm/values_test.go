package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"blkstorm/plan"
	"blkstorm/result"
)

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
