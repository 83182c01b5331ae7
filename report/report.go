// Package report makes the page that people send around: one HTML file with a result's verdict, what was tested,
// its figures over time, sweeps, distributions of latency, and all raw numbers. It needs no network.
//
// The command `blkstorm report`, and every run that has a result folder, call it. It is pure: it computes nothing
// that is not in the result, and its output is a function of its input. Rows are brought together so that a run of
// days makes a page of a few MB: rates as mean, lowest and highest, latencies as exact means and deviations and
// as the worst of their percentiles and maxima.
package report

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"blkstorm/printable"
	"blkstorm/report/page"
	"blkstorm/result"
	"blkstorm/result/load"
)

//go:embed js/*.js
var scriptFiles embed.FS

// Write writes the page of a result; version is that of the program that makes it. Beside the document itself it
// holds no more in memory than the page has.
func Write(w io.Writer, r *load.Result, version string) error { return prepare(r, version)(w) }

// prepare reads all that the page needs, which may take a minute; what it returns writes the page, which does not.
func prepare(r *load.Result, version string) func(io.Writer) error {
	v := newView(r)
	data := v.read(r)
	p := &page.Page{
		Title: v.Title + " – blkstorm report", Version: printable.Text(version), Charts: true, Script: script(),
		Body: func(w io.Writer) error { return body(v).Render(context.Background(), w) },
		Data: func(w io.Writer) error { return json.NewEncoder(w).Encode(data) },
	}
	return func(w io.Writer) error { return page.Write(w, p) }
}

// script is all of the page's own.
var script = sync.OnceValue(func() string {
	var b strings.Builder
	files, err := scriptFiles.ReadDir("js")
	for _, f := range files {
		text, err := scriptFiles.ReadFile("js/" + f.Name())
		if err != nil {
			panic(err) // it is in the binary
		}
		b.Write(text)
	}
	if err != nil {
		panic(err)
	}
	return b.String()
})

// view is what the body shows.
type view struct {
	Title, Sub  string
	Notes       []note
	Cards       []card
	Short       *table
	CardsOf     string // of which point the cards are, and why of it
	Warnings    []*warning
	Facts       []facts
	Targets     []facts
	Plan        *table
	Steady      []steadySection
	Sweep       []sweepGroup
	Partial     bool // a matrix has a point that was not completed
	Points      *table
	Rounds      []roundsSection
	FindMax     *table
	FindCurve   *figureSVG
	Machines    []publishedTable // of a merged result
	Published   []publishedTable
	Quick       bool // the times of a published procedure were scaled down
	Details     []detail
	DetailsLeft int
	PlanJSON    string
	DocJSON     string
	Head        int // index of the headline point
	Bucket      string
	HeatBucket  string
	LeftOut     int
	HasSeries   bool
	HasHeat     bool
	Estimated   bool
	NoLog       string // why it is estimated
	HasCurves   bool
	HasTargets  bool
	HasHeatC    bool // temperatures
	PausesCut   bool
	Kind        load.Kind
	doc         *result.Doc
	time        *timeline
}

func newView(r *load.Result) *view {
	d := r.Doc
	v := &view{doc: d, time: newTimeline(d), Kind: r.Kind}
	v.Title = titleOf(d)
	v.Sub = printable.Text(strings.Join(nonEmpty(d.Host.Hostname, optional("guest of ", d.Host.Hypervisor), startText(d), targetText(d)), " · "))
	v.Notes, v.Warnings = notes(d), warnings(d)
	index, why := headline(d)
	v.Head = index
	if index >= 0 {
		v.Cards = cards(d.Points[index])
		v.CardsOf = nameOf(d, index)
		if why != "" {
			v.CardsOf += " – " + why
		}
	}
	if n := len(d.Rounds); n > 0 {
		if list, of := roundCards(d.Rounds[n-1]); list != nil {
			v.Cards, v.CardsOf = list, of
		}
	}
	v.Machines = mergedTables(d)
	v.Short, v.FindCurve = shortTable(d), findMaxFigure(d)
	v.Facts, v.Targets, v.Plan = runFacts(d, r.Kind), targetFacts(d), planTable(d.Plan)
	v.Steady, v.Sweep, v.Rounds, v.FindMax = steadySections(d), sweepGroups(d), roundsSections(d), findMaxTable(d)
	v.Published, v.Quick = publishedTables(d), d.Plan != nil && d.Plan.Profile != "" && d.Plan.Quick
	for _, p := range d.Points {
		v.Partial = v.Partial || !p.Completed && p.Skipped == ""
	}
	v.Points = pointsTable(d)
	v.Details, v.DetailsLeft = details(d, index)
	v.PlanJSON, v.DocJSON = rawJSON(d.Plan), rawJSON(bare(d))
	v.PausesCut = v.time.cut
	return v
}

func titleOf(d *result.Doc) string {
	switch list := measured(d); {
	case d.FindMax != nil:
		return "Highest rate with " + limitText(d.FindMax.Limit)
	case d.Plan != nil && d.Plan.Profile != "":
		return printable.Text(d.Plan.Profile)
	case d.Sweep != nil && len(d.Sweep.Points) > 1:
		var axes []string
		for _, a := range d.Sweep.Axes {
			axes = append(axes, a.Name)
		}
		return printable.Text(fmt.Sprintf("Sweep of %s over %s", plural(len(d.Sweep.Points), "point"), strings.Join(axes, " × ")))
	case len(list) == 1 && d.Points[list[0]].Label != "":
		return printable.Text(d.Points[list[0]].Label)
	case len(d.Points) == 1 && d.Points[0].Label != "":
		return printable.Text(d.Points[0].Label)
	default:
		return "Result with " + plural(len(d.Points), "point")
	}
}

func startText(d *result.Doc) string {
	if d.Started.IsZero() {
		return ""
	}
	return d.Started.UTC().Format("2006-01-02 15:04 UTC")
}

func targetText(d *result.Doc) string {
	switch len(d.Targets) {
	case 0:
		return ""
	case 1:
		t := d.Targets[0]
		return strings.Join(nonEmpty(t.Vendor, t.Model, t.Path), " ")
	}
	return plural(len(d.Targets), "target")
}

// read goes through rows and histograms once, both at the same time, and makes what the charts draw. What is
// damaged is left out, which a note says: a page that lacks an interval is worth more than none.
func (v *view) read(r *load.Result) *chartData {
	s, h := newSeries(v.doc, v.time), newHeat(v.doc, v.time)
	f := newFiles()
	long := logBytes(r) > maxLog
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		if !long {
			h.read(r, &f.log)
		}
	}()
	estimate := newHeat(v.doc, v.time)
	f.rowsOf(r, func(in *result.Interval) {
		s.add(in)
		estimate.addRow(in)
	})
	<-logged
	v.Notes = append(f.notes(r), v.Notes...)
	if s.beyond > 0 {
		v.Notes = append([]note{cutOff(v.doc, s.beyond)}, v.Notes...)
	}
	if len(h.columns) == 0 {
		h = estimate
		switch {
		case long:
			v.NoLog = "latency.hlog is over 1 GiB"
		case f.log.lines > 0:
			v.NoLog = "latency.hlog cannot be read"
		default:
			v.NoLog = "there is no latency.hlog"
		}
	}
	out := &chartData{CurveSteps: curveSteps, Points: v.time.points(v.doc, v.Head), Curves: curves(v.doc), Targets: []flowData{}, Heat: []tempData{}}
	s.into(out, v.doc)
	out.Map = h.data()
	v.HasSeries, v.HasHeat, v.Estimated, v.HasCurves = len(out.X) > 0, len(h.columns) > 0, h.estimated, len(out.Curves) > 0
	v.HasTargets, v.HasHeatC, v.LeftOut = len(out.Targets) > 1, len(out.Heat) > 0, s.left
	v.HeatBucket = secondsText(h.width)
	if out.Low != nil {
		v.Bucket = secondsText(v.time.width)
	}
	return out
}

// maxLog is how long a log may be, in bytes, for its histograms to be read: a GiB takes some 20 s of one CPU. One of a
// day with 16 targets has three times that.
const maxLog = 1 << 30

// logBytes is the length of a folder's log; 0 for none.
func logBytes(r *load.Result) int64 {
	for _, dir := range []string{r.Path, filepath.Dir(r.Path)} {
		if info, err := os.Stat(filepath.Join(dir, "latency.hlog")); err == nil && r.Kind == load.Folder {
			return info.Size()
		}
	}
	return 0
}
