package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"blkstorm/execute"
	"blkstorm/metrics"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
)

// addMetrics adds the option for a page of metrics.
func (out *outputFlags) addMetrics(f *pflag.FlagSet) {
	f.StringVar(&out.metrics, "metrics", "", "show metrics to Prometheus on `[ADDR]:PORT` while it runs; without ADDR on the loopback addresses only")
}

// checkMetrics says what is wrong with the address, without taking it.
func (out *outputFlags) checkMetrics() error {
	if out.metrics == "" {
		return nil
	}
	if _, err := metrics.ParseAddress(out.metrics); err != nil {
		return fmt.Errorf("--metrics: %w", err)
	}
	return nil
}

// listen takes the address of the page; nil when none is asked for.
func (out *outputFlags) listen() (*metrics.Server, error) {
	if out.metrics == "" {
		return nil, nil
	}
	s, err := metrics.Listen(out.metrics)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	return s, nil
}

// serve hooks a page into a run, before what is hooked in already, and begins to answer. A nil server
// does nothing.
func serve(s *metrics.Server, o *execute.Options) {
	if s == nil {
		return
	}
	e := metrics.New(o.Version)
	begun, pointBegun, ended := o.Begun, o.PointBegun, o.Point
	o.Begun = func(d *result.Doc) error {
		e.Begin(d)
		o.Log("metrics at %s", strings.Join(s.URLs(), " and "))
		return begun(d)
	}
	o.PointBegun = func(index, of int, kind string, p *plan.Point) {
		e.PointBegin(index, of, kind, p)
		pointBegun(index, of, kind, p)
	}
	o.Cells = func(p *plan.Point, row *runner.Row, in *result.Interval) { e.Row(p, row, in) }
	o.Measured = func(p *plan.Point, res *runner.Result) { e.Measured(p, res) }
	o.Point = func(i int, p *result.Point) error {
		e.PointEnd(p)
		return ended(i, p)
	}
	s.Serve(e)
}
