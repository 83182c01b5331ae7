package findmax

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// device is a simulated one: open arrivals into a queue before c servers, first come first served.
type device struct {
	rng     *rand.Rand
	servers int
	mean    float64 // service time, s
	random  bool    // exponential instead of fixed
	poisson bool    // arrivals
	// stall says how long the device does nothing from a given step on, at a third of its window.
	stall func(step int) float64
	// speed divides the service times of a step.
	speed func(step int) float64
	taken int           // steps so far
	spent time.Duration // their windows
}

func newDevice(seed uint64, servers int, mean time.Duration, random, poisson bool) *device {
	return &device{rng: rand.New(rand.NewPCG(seed, 1)), servers: servers, mean: mean.Seconds(), random: random, poisson: poisson}
}

// free is when each server becomes free, the earliest first.
type free []float64

func (f free) Len() int           { return len(f) }
func (f free) Less(i, j int) bool { return f[i] < f[j] }
func (f free) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *free) Push(x any)        { *f = append(*f, x.(float64)) }
func (f *free) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

const ramp = 1.0 // s before each window

// run is a step: arrivals through ramp and window, counted as the runner does.
func (d *device) run(ask Ask, limit Limit) Step {
	window := ask.Runtime.Seconds()
	end := ramp + window
	servers := make(free, d.servers)
	mean := d.mean
	if d.speed != nil {
		mean /= d.speed(d.taken)
	}
	stall := 0.0
	if d.stall != nil {
		stall = d.stall(d.taken)
	}
	stallAt := ramp + window/3
	d.taken++
	d.spent += ask.Runtime
	step := Step{Window: ask.Runtime}
	var responses []float64
	for at, n := 0.0, 0; ; n++ {
		switch {
		case ask.IOPS == 0:
			at = servers[0] // a closed loop: as soon as a server is free
		case d.poisson:
			at += d.rng.ExpFloat64() / ask.IOPS
		default:
			at = float64(n) / ask.IOPS
		}
		if at >= end {
			break
		}
		service := mean
		if d.random {
			service *= d.rng.ExpFloat64()
		}
		start := max(at, servers[0])
		if stall > 0 && start >= stallAt && start < stallAt+stall {
			start = stallAt + stall
		}
		servers[0] = start + service
		heap.Fix(&servers, 0)
		if at >= ramp {
			step.Planned++
			if start >= end {
				step.Missed++
			}
		}
		if done := start + service; done >= ramp && done < end {
			responses = append(responses, done-at)
		}
	}
	step.IOs = uint64(len(responses))
	step.Achieved = float64(step.IOs) / window
	if ask.IOPS == 0 {
		step.Planned = 0
	}
	if len(responses) == 0 {
		return step
	}
	slices.Sort(responses)
	seconds := func(v float64) time.Duration { return time.Duration(math.Round(v * 1e9)) }
	step.Min = seconds(responses[0])
	switch limit.Metric {
	case Percentile:
		rank := int(math.Ceil(limit.Percentile / 100 * float64(len(responses))))
		step.Value = seconds(responses[max(rank, 1)-1])
	case Max:
		step.Value = seconds(responses[len(responses)-1])
	case Mean:
		sum := 0.0
		for _, v := range responses {
			sum += v
		}
		step.Value = seconds(sum / float64(len(responses)))
	}
	return step
}

// solve is the rate in (0, top) at which the falling function f crosses want.
func solve(top, want float64, f func(rate float64) float64) float64 {
	low, high := 0.0, top
	for range 30 {
		if middle := (low + high) / 2; f(middle) > want {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// waitMDc is P(wait <= x) in M/D/c with c servers of service time d under arrivals at rate: G. J. Franx,
// "A simple solution for the M/D/c waiting time distribution", Operations Research Letters 29 (2001):
//
//	P(W <= x) = exp(-r(kd-x)) sum_{j=0}^{kc-1} Q(kc-1-j) (r(kd-x))^j / j!   for (k-1)d <= x < kd
//
// where Q(m) is the chance of at most c+m customers in the system.
func waitMDc(c int, d, rate, x float64) float64 {
	q := systemMDc(c, rate*d)
	k := int(math.Floor(x/d)) + 1
	y := rate * (float64(k)*d - x)
	sum, term := 0.0, math.Exp(-y)
	for j := range k * c {
		if j > 0 {
			term *= y / float64(j)
		}
		sum += q[min(c+k*c-1-j, len(q)-1)] * term
	}
	return sum
}

// systemMDc is the cumulated distribution of customers in the system, from the chain embedded at
// distances of one service time: whoever is being served then has left, and nobody else.
func systemMDc(c int, load float64) []float64 {
	const size = 400
	arrivals := make([]float64, size)
	for j := range arrivals {
		lg, _ := math.Lgamma(float64(j) + 1)
		arrivals[j] = math.Exp(float64(j)*math.Log(load) - load - lg)
	}
	p := make([]float64, size)
	p[0] = 1
	for range 4000 {
		next := make([]float64, size)
		change := 0.0
		for i, pi := range p {
			if pi < 1e-15 {
				continue
			}
			left := max(i-c, 0)
			for j := 0; left+j < size && j < 100; j++ {
				next[left+j] += pi * arrivals[j]
			}
		}
		for i := range p {
			change += math.Abs(next[i] - p[i])
		}
		if p = next; change < 1e-12 {
			break
		}
	}
	sum := 0.0
	for i := range p {
		sum += p[i]
		p[i] = sum
	}
	return p
}
