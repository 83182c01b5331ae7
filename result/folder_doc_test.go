package result

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever was written before, result.json is the whole document: points that are new, others, changed while
// they were the last, or gone.
func TestFolderWritesTheDocument(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	f, err := CreateFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer closeFolder(t, f)
	d := &Doc{Schema: Schema, ID: "points", Version: "\"points\": []\n}\n"}
	check := func(what string) {
		t.Helper()
		want, err := encode(struct {
			*Doc
			Points []*Point `json:"points"`
		}{d.whole(false), d.whole(false).Points}, "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Result(d); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", what, err, got, want)
		}
	}
	check("no point")
	for i := range 5 {
		d.Points = append(d.Points, &Point{Label: fmt.Sprintf("<%d>", i), Total: &Stat{Latency: &Latency{}}, Intervals: []*Interval{{}}})
		check("one more point")
		d.Points[i].Completed = true
		check("the last point has changed")
		d.Points[i].Label += " & more"
	}
	d.Points[2] = &Point{Label: "another"}
	check("another point in its place")
	d.Points = d.Points[:3]
	check("fewer points")
	d.Points = append(d.Points, &Point{Label: "at the end"})
	check("and more again")
	d.Points[3].WindowS = math.NaN()
	if err := f.Result(d); err == nil || !strings.Contains(err.Error(), "points[3].window_s is NaN, not a finite number") {
		t.Errorf("not a number: %v", err)
	}
	d.Points[3].WindowS = 1
	check("after a failure")
}

func closeFolder(t *testing.T, f *Folder) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// The next point of a long run costs the encoding of that point, not of all.
func TestFolderEncodesAPointOnce(t *testing.T) {
	f := &Folder{}
	d := &Doc{Schema: Schema}
	for range 1000 {
		d.Points = append(d.Points, &Point{Label: "x", Total: &Stat{Latency: &Latency{}}})
	}
	if _, err := f.stored(d); err != nil {
		t.Fatal(err)
	}
	first := testing.AllocsPerRun(1, func() {
		if _, err := (&Folder{}).stored(d); err != nil {
			t.Error(err)
		}
	})
	again := testing.AllocsPerRun(3, func() {
		if _, err := f.stored(d); err != nil {
			t.Error(err)
		}
	})
	if again > first/3 {
		t.Errorf("%v allocations, %v without what was written before", again, first)
	}
}
