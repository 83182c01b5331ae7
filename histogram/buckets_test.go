package histogram

import (
	"math/rand/v2"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

func reference() *hdr.Histogram { return hdr.New(Lowest, Highest, Digits) }

func TestBucketsIsTheReferencesLength(t *testing.T) {
	if got := len(reference().Export().Counts); got != Buckets {
		t.Fatalf("reference has %d counts, Buckets is %d", got, Buckets)
	}
}

// TestIndexIsTheReferences records one value per bucket edge, and random ones, in the reference
// and looks where it counted them.
func TestIndexIsTheReferences(t *testing.T) {
	perBucket := map[int64]int64{} // how often each index must have been hit
	ref := reference()
	check := func(v int64) {
		t.Helper()
		if v < 0 || v > Highest {
			return
		}
		if err := ref.RecordValue(v); err != nil {
			t.Fatal(err)
		}
		perBucket[int64(Index(v))]++
	}
	for i := range Buckets {
		low, high := Range(i)
		check(low)
		check(high)
		check((low + high) / 2)
		if low <= Highest && Index(low) != i {
			t.Fatalf("Index(%d) = %d, want %d", low, Index(low), i)
		}
		if high <= Highest && Index(high) != i {
			t.Fatalf("Index(%d) = %d, want %d", high, Index(high), i)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		check(int64(rng.Uint64() >> (22 + rng.UintN(42))))
	}
	for i, c := range ref.Export().Counts {
		if c != perBucket[int64(i)] {
			t.Fatalf("bucket %d: reference counts %d, we would %d", i, c, perBucket[int64(i)])
		}
	}
}

func TestBucketsTileTheRange(t *testing.T) {
	next := int64(0)
	for i := range Buckets {
		low, high := Range(i)
		if low != next || high < low {
			t.Fatalf("bucket %d is %d to %d, previous ended before %d", i, low, high, next)
		}
		if m := int64(middle(i)); m < low || m > high {
			t.Fatalf("middle of bucket %d, %d, is outside %d to %d", i, m, low, high)
		}
		// A tenth of the 1 % that is promised from 100 ns on, with the whole bucket as the error.
		if width := float64(high - low); low >= 100 && width/float64(low) > 0.001 {
			t.Fatalf("bucket %d, %d to %d: relative width %g", i, low, high, width/float64(low))
		}
		next = high + 1
	}
	if next <= Highest {
		t.Fatalf("buckets end at %d", next-1)
	}
}

func TestIndexClamps(t *testing.T) {
	if Index(-1) != 0 || Index(-1<<63) != 0 || Index(1<<62) != Index(Highest) {
		t.Fatal("values outside the range must take its ends")
	}
}
