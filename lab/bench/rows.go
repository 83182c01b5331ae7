package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// goal is the least median ratio of ours to another tool's I/Os per CPU-second.
type goal struct {
	tool string
	min  float64
}

// row is one load on one device.
type row struct {
	name  string
	load  load
	goals []goal
	// latency asks that our mean latency is not above plain fio's by more than 3 %.
	latency bool
}

func rows(d devices) []row {
	var out []row
	for _, dev := range []struct{ name, path, engine string }{
		{"zram", d.zram, "libaio"}, {"zram", d.zram, "psync"}, {"loop", d.loop, "io_uring"},
	} {
		for _, shape := range []struct{ threads, depth int }{{1, 1}, {1, 16}, {1, 128}, {2, 64}} {
			if dev.engine == "psync" && shape.depth != 1 {
				continue // a synchronous engine has no depth
			}
			r := row{
				name: fmt.Sprintf("%s %s %dT/%dQ", dev.name, dev.engine, shape.threads, shape.depth),
				load: load{dev: dev.path, engine: dev.engine, threads: shape.threads, depth: shape.depth},
			}
			switch r.name {
			case "zram libaio 1T/128Q":
				r.goals = []goal{{"fio tuned", 1.25}, {"fio plain", 4}, {"t/io_uring", 0.95}}
			case "zram libaio 1T/1Q":
				r.goals = []goal{{"fio plain", 1.4}}
			case "loop io_uring 1T/128Q":
				r.goals = []goal{{"fio tuned", 1.1}, {"fio plain", 2.5}, {"t/io_uring", 0.95}}
			case "loop io_uring 1T/1Q":
				r.goals = []goal{{"fio plain", 1}}
				r.latency, r.load.pin = true, "1"
			}
			out = append(out, r)
		}
	}
	return out
}

// measure runs the rounds of a row, prints it, and returns how many goals were missed.
func (r *row) measure(ctx context.Context, o *options) (missed int, err error) {
	tools := []tool{r.load.ourselves(o), r.load.fioTuned(o), r.load.fioPlain(o)}
	if o.tioUring != "" && r.load.engine != "psync" {
		tools = append(tools, r.load.tio(o))
	}
	for i := range tools {
		if tools[i].idle, err = tools[i].startUp(ctx, o); err != nil {
			return 0, fmt.Errorf("%s: %w", tools[i].name, err)
		}
	}
	samples := make([][]sample, len(tools))
	for range o.rounds {
		for i := range tools {
			s, err := tools[i].run(ctx, o.runtime)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", tools[i].name, err)
			}
			s.cpu = max(s.cpu-tools[i].idle, 1e-3)
			samples[i] = append(samples[i], s)
		}
	}
	fmt.Printf("\n%s\n", r.name)
	for i := range tools {
		missed += r.report(tools[i].name, samples[0], samples[i], i == 0)
	}
	return missed, nil
}

// startUp is the CPU time of a run that is as short as can be: t/io_uring knows whole seconds only and
// starts in no time, so nothing is taken off there.
func (t *tool) startUp(ctx context.Context, o *options) (float64, error) {
	if t.name == "t/io_uring" {
		return 0, nil
	}
	var cpu []float64
	for range 3 {
		s, err := t.run(ctx, 10*time.Millisecond)
		if err != nil {
			return 0, err
		}
		cpu = append(cpu, s.cpu-0.01) // it did run for 10 ms
	}
	return max(median(cpu), 0), nil
}

// report prints one tool's line: medians of its own figures, and of the ratios round by round.
func (r *row) report(name string, ours, theirs []sample, self bool) (missed int) {
	pick := func(list []sample, f func(sample) float64) []float64 {
		out := make([]float64, len(list))
		for i, s := range list {
			out[i] = f(s)
		}
		return out
	}
	line := fmt.Sprintf("  %-10s %8.0f kIOPS/cpu  mean %8.2f us  peak %6.1f MiB", name,
		median(pick(theirs, sample.perCPU)), median(pick(theirs, func(s sample) float64 { return s.meanNS }))/1e3,
		slices.Max(pick(theirs, func(s sample) float64 { return s.peakMiB })))
	if self {
		fmt.Println(line)
		return 0
	}
	ratios := make([]float64, len(ours))
	latency := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i].perCPU() / theirs[i].perCPU()
		latency[i] = ours[i].meanNS / theirs[i].meanNS
	}
	line += fmt.Sprintf("   ours/theirs %.2f (%.2f to %.2f)", median(ratios), slices.Min(ratios), slices.Max(ratios))
	for _, g := range r.goals {
		if g.tool == name {
			line += verdict(&missed, median(ratios) >= g.min, fmt.Sprintf(">= %.2f", g.min))
		}
	}
	if r.latency && name == "fio plain" {
		line += fmt.Sprintf(", latency %.2f", median(latency))
		line += verdict(&missed, median(latency) <= 1.03, "<= 1.03")
	}
	fmt.Println(line)
	return missed
}

func verdict(missed *int, met bool, what string) string {
	if met {
		return " [" + what + " met]"
	}
	*missed++
	return " [" + what + " MISSED]"
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
