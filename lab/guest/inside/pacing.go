package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"blkstorm/result"
)

// pacing holds open loops to queueing theory. One thread at depth 1 on a device with a timer is a queue
// with one server and a constant service time: M/D/1 when arrivals are a Poisson process, D/D/1 when they
// come evenly. The service time is what the closed loop shows: the time from one I/O to the next.
func (a *agent) pacing() {
	dev, err := makeTimed("null_blk", time.Millisecond)
	if err != nil {
		a.cell("pacing", "null_blk 1ms", "device", "FAIL", err)
		return
	}
	p, err := load("--rw", "randread", "--bs", "4k", "--ramp", "200ms", "--runtime", "2s", "/dev/"+dev).point(0)
	if err != nil {
		a.cell("pacing", "closed loop", "IOPS", "FAIL", err)
		return
	}
	service := 1 / p.Total.IOPS
	a.cell("pacing", "closed loop", "IOPS", fmt.Sprintf("%.1f", p.Total.IOPS), nil)
	a.rates(dev)
	a.meanResponse(dev, service)
	for _, c := range []struct {
		limit, arrival string
		probe, confirm string
		theory         float64
	}{
		{"mean=3ms", "poisson", "10s", "30s", meanCapacity(service, 3e-3)},
		{"p99=6ms", "poisson", "10s", "30s", percentileCapacity(service, 0.99, 6e-3)},
		{"mean=2ms", "fixed", "2s", "4s", 1 / service},
	} {
		a.capacity(dev, c.limit, c.arrival, c.probe, c.confirm, c.theory)
	}
}

// near reports a figure that theory gives, within a share of it.
func (a *agent) near(row, column string, got, want, tolerance float64) {
	var err error
	if math.Abs(got/want-1) > tolerance {
		err = fmt.Errorf("%.4g; theory has %.4g; off by %+.2f %%, allowed is %.1f %%", got, want, 100*(got/want-1), 100*tolerance)
	}
	a.cell("pacing", row, column, fmt.Sprintf("%.4g %+.2f%%", got, 100*(got/want-1)), err)
}

// rates holds each direction to its rate: 5 sigma of a Poisson count n are 5 √n, 4.1 % of 15 000 reads
// and 12.2 % of 1700 writes. The host's tests have a minute of it.
func (a *agent) rates(dev string) {
	p, err := load("--rw", "randrw", "--rate-iops", "900,100", "--arrival", "poisson", "--iodepth", "16", "--destroy", "--seed", "1", "--runtime", "16.7s", "/dev/"+dev).point(0)
	if err == nil && (p.Total.Missed > 0 || math.Abs(p.WindowS-16.7) > 1e-3) {
		err = fmt.Errorf("%d missed in %.4f s", p.Total.Missed, p.WindowS)
	}
	if err != nil {
		a.cell("pacing", "900,100 poisson", "reads per s", "FAIL", err)
		return
	}
	a.near("900,100 poisson", "reads per s", p.Read.IOPS, 900, 0.041)
	a.near("900,100 poisson", "writes per s", p.Write.IOPS, 100, 0.122)
}

// meanResponse compares the mean response time at 70 % load with Pollaczek and Khinchine.
func (a *agent) meanResponse(dev string, service float64) {
	rate := 0.7 / service
	p, err := load("--rw", "randread", "--rate-iops", fmt.Sprintf("%.3f", rate), "--arrival", "poisson", "--seed", "1", "--runtime", "60s", "/dev/"+dev).point(0)
	if err == nil && p.Total.OpenLoop == nil {
		err = errors.New("no response times")
	}
	if err != nil {
		a.cell("pacing", "M/D/1 at 70 %", "mean response ms", "FAIL", err)
		return
	}
	a.near("M/D/1 at 70 %", "mean response ms", float64(p.Total.Response.Mean)/1e6, 1e3*meanResponse(rate, service), 0.05)
	a.near("M/D/1 at 70 %", "p99 response ms", float64(p.Total.Response.Percentiles["99"])/1e6, 1e3*responseAt(rate, service, 0.99), 0.08)
}

// capacity is find-max against the rate at which theory reaches the limit.
func (a *agent) capacity(dev, limit, arrival, probe, confirm string, theory float64) {
	row := "find-max " + limit + ", " + arrival
	r := blkstorm("find-max", "--limit", limit, "--arrival", arrival, "--probe", probe, "--confirm", confirm, "--seed", "1", "--quiet", "--format", "json", "/dev/"+dev)
	var doc result.Doc
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.status != 0 || doc.FindMax == nil || doc.FindMax.FoundIOPS == nil {
		a.cell("pacing", row, "IOPS", "FAIL", fmt.Errorf("exit status %d: %s", r.status, short(r.stderr+r.stdout)))
		return
	}
	a.near(row, "IOPS", *doc.FindMax.FoundIOPS, theory, 0.05)
	a.cell("pacing", row, "steps", fmt.Sprint(len(doc.Points)), nil)
}

// meanResponse is the mean of the response time of M/D/1 (Pollaczek, Khinchine), in seconds.
func meanResponse(rate, service float64) float64 {
	load := rate * service
	return service + service*load/(2*(1-load))
}

// meanCapacity is the rate at which that is limit.
func meanCapacity(service, limit float64) float64 {
	x := 2 * (limit/service - 1)
	return x / (1 + x) / service
}

// waitUpTo is the probability that an arrival at M/D/1 waits for at most t (Erlang 1909).
func waitUpTo(t, rate, service float64) float64 {
	sum, factorial := 0.0, 1.0
	for k := 0; float64(k)*service <= t; k++ {
		if k > 0 {
			factorial *= float64(k)
		}
		y := rate * (float64(k)*service - t)
		sum += math.Pow(y, float64(k)) / factorial * math.Exp(-y)
	}
	return (1 - rate*service) * sum
}

// responseAt is a percentile of the response time.
func responseAt(rate, service, q float64) float64 {
	return service + bisect(0, 15*service, func(t float64) bool { return waitUpTo(t, rate, service) >= q })
}

// percentileCapacity is the rate at which the percentile of the response time is limit.
func percentileCapacity(service, q, limit float64) float64 {
	return bisect(0, 0.999/service, func(rate float64) bool { return waitUpTo(limit-service, rate, service) < q })
}

// bisect finds where over becomes true, between low and high.
func bisect(low, high float64, over func(float64) bool) float64 {
	for range 100 {
		if middle := (low + high) / 2; over(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
