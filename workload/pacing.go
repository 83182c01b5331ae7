package workload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"blkstorm/op"
	"blkstorm/unit"
)

// How planned times follow each other.
const (
	ArrivalFixed   = "fixed"   // evenly
	ArrivalPoisson = "poisson" // independently of each other: the gaps are exponential
)

// Arrivals lists what Pacing.Arrival can be.
var Arrivals = []string{ArrivalFixed, ArrivalPoisson}

// Pacing says when I/Os are to be issued. The zero value is a closed loop: as soon as a slot is free.
// Rates and bursts are per target, shared by the threads of the stream there; think time is a
// thread's own.
type Pacing struct {
	IOPS    Rates  `json:"rate_iops,omitzero"`
	Bytes   Rates  `json:"rate_bytes,omitzero"` // bytes per second
	Arrival string `json:"arrival,omitempty"`   // one of Arrivals; empty is fixed
	Burst   Burst  `json:"burst,omitzero"`
	Think   Think  `json:"think_time,omitzero"`
}

// Rates are per second: one for all I/Os, or one per direction.
type Rates struct {
	Total float64
	Each  [op.Count]float64 // of reads, writes and trims; 0 where Total counts
}

// Burst has Count I/Os planned at once, every Every.
type Burst struct {
	Count int64
	Every time.Duration
}

// Think has a thread pause for Pause after each Every I/Os, once all that it has in flight are
// complete. With a rate, what is planned meanwhile is issued late.
type Think struct {
	Pause time.Duration
	Every int64
}

// Limits of rates: beyond them is no device, and no wait that ends.
const (
	minRate     = 1e-4 // an I/O in 10 000 s
	maxIOPS     = 1e9
	maxByteRate = 1 << 50
	maxWait     = 366 * 24 * time.Hour
)

// IsZero says whether no rate is given.
func (r Rates) IsZero() bool { return r == Rates{} }

// PerDirection says whether each direction has a rate of its own, which fixes the mix.
func (r Rates) PerDirection() bool { return r.Total == 0 && !r.IsZero() }

// Sum is the rate of all directions together.
func (r Rates) Sum() float64 {
	sum := r.Total
	for _, v := range r.Each {
		sum += v
	}
	return sum
}

// Times is the rates multiplied by f.
func (r Rates) Times(f float64) Rates {
	r.Total *= f
	for i := range r.Each {
		r.Each[i] *= f
	}
	return r
}

// ReadPct is the share of reads that rates per direction make, in whole percent from 1 to 99: both
// directions are there, whatever the rounding says.
func (r Rates) ReadPct() int {
	reads := math.Round(100 * r.Each[op.Read] / r.Sum())
	return int(min(max(reads, 1), 99))
}

// ParseIOPS reads "1000", or one rate per direction: "900,100" for reads and writes, "900,100,50" with
// trims. Rates are plain decimal numbers.
func ParseIOPS(text string) (Rates, error) {
	return parseRates(text, func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a number", s)
		}
		return v, nil
	}, maxIOPS)
}

// ParseByteRates reads the same of sizes: "100m", or "80m,20m".
func ParseByteRates(text string) (Rates, error) {
	return parseRates(text, func(s string) (float64, error) {
		v, err := unit.Bytes(s)
		return float64(v), err
	}, maxByteRate)
}

func parseRates(text string, read func(string) (float64, error), limit float64) (Rates, error) {
	parts := strings.Split(text, ",")
	if len(parts) > 3 {
		return Rates{}, errors.New("has more than three values: reads, writes and trims")
	}
	var r Rates
	for i, part := range parts {
		part = strings.TrimSpace(part)
		if part == "" && len(parts) > 1 {
			continue // the shape of --rw says whether that may be
		}
		v, err := read(part)
		if err != nil {
			return Rates{}, err
		}
		if !(v >= minRate && v <= limit) {
			return Rates{}, fmt.Errorf("%s: must be from %g to %g", part, minRate, limit)
		}
		if len(parts) == 1 {
			r.Total = v
		} else {
			r.Each[i] = v
		}
	}
	if r.IsZero() {
		return Rates{}, errors.New("names no rate")
	}
	return r, nil
}

// String is the form that ParseIOPS reads; that of bytes has no suffixes.
func (r Rates) String() string {
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	if !r.PerDirection() {
		return number(r.Total)
	}
	text := number(r.Each[op.Read]) + "," + number(r.Each[op.Write])
	if r.Each[op.Trim] != 0 {
		text += "," + number(r.Each[op.Trim])
	}
	return text
}

// MarshalText writes what UnmarshalText reads.
func (r Rates) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads rates of I/Os or of bytes: those of bytes may have a suffix.
func (r *Rates) UnmarshalText(text []byte) (err error) {
	if *r, err = ParseIOPS(string(text)); err != nil {
		*r, err = ParseByteRates(string(text))
	}
	return err
}

// ParseBurst reads "1000/10s": 1000 I/Os at once, every 10 s.
func ParseBurst(text string) (Burst, error) {
	count, every, found := strings.Cut(text, "/")
	n, err := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
	if !found || err != nil || n < 1 {
		return Burst{}, errors.New("write a number of I/Os, a slash and a time, as in 1000/10s")
	}
	d, err := unit.Duration(every)
	if err != nil {
		return Burst{}, err
	}
	if d <= 0 || d > maxWait {
		return Burst{}, fmt.Errorf("%v: must be over 0 and up to %v", d, maxWait)
	}
	return Burst{Count: n, Every: d}, nil
}

// IsZero says whether there are no bursts.
func (b Burst) IsZero() bool { return b == Burst{} }

// String is the form that ParseBurst reads.
func (b Burst) String() string {
	if b.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d/%v", b.Count, b.Every)
}

// MarshalText writes what UnmarshalText reads.
func (b Burst) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText is ParseBurst.
func (b *Burst) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBurst(string(text))
	return err
}

// ParseThink reads "10ms", a pause after each I/O, or "10ms/16", one after each 16 of them.
func ParseThink(text string) (Think, error) {
	pause, every, found := strings.Cut(text, "/")
	t := Think{Every: 1}
	var err error
	if t.Pause, err = unit.Duration(pause); err != nil {
		return Think{}, err
	}
	if t.Pause <= 0 || t.Pause > maxWait {
		return Think{}, fmt.Errorf("%v: must be over 0 and up to %v", t.Pause, maxWait)
	}
	if found {
		t.Every, err = strconv.ParseInt(strings.TrimSpace(every), 10, 64)
		if err != nil || t.Every < 1 {
			return Think{}, fmt.Errorf("%q: must be a number of I/Os, at least 1", every)
		}
	}
	return t, nil
}

// IsZero says whether there is no think time.
func (t Think) IsZero() bool { return t == Think{} }

// String is the form that ParseThink reads.
func (t Think) String() string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%v/%d", t.Pause, t.Every)
}

// MarshalText writes what UnmarshalText reads.
func (t Think) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText is ParseThink.
func (t *Think) UnmarshalText(text []byte) (err error) {
	*t, err = ParseThink(string(text))
	return err
}

// IsZero says whether the loop is a closed one without pauses.
func (p Pacing) IsZero() bool { return p == Pacing{} }

// Open says whether I/Os have planned times, so that they have response times.
func (p *Pacing) Open() bool { return !p.IOPS.IsZero() || !p.Bytes.IsZero() || !p.Burst.IsZero() }

// Rates are those that are given, of I/Os or of bytes.
func (p *Pacing) Rates() Rates {
	if p.Bytes.IsZero() {
		return p.IOPS
	}
	return p.Bytes
}

// Validate says what is wrong with pacing for a workload.
func (p *Pacing) Validate(s *Spec) error {
	switch {
	case p.Arrival != "" && p.Arrival != ArrivalFixed && p.Arrival != ArrivalPoisson:
		return fmt.Errorf("--arrival %q: known are %s", p.Arrival, strings.Join(Arrivals, ", "))
	case !p.IOPS.IsZero() && !p.Bytes.IsZero():
		return errors.New("--rate-iops and --rate-bytes: give one of them")
	case !p.Burst.IsZero() && !p.Rates().IsZero():
		return fmt.Errorf("--burst %s: says already when I/Os are issued; leave out --rate-iops and --rate-bytes", p.Burst)
	case !p.Think.IsZero() && !p.Burst.IsZero():
		return fmt.Errorf("--think-time %s: goes without --burst %s, which has pauses of its own", p.Think, p.Burst)
	case p.Arrival != "" && p.Rates().IsZero():
		return fmt.Errorf("--arrival %s: goes with --rate-iops or --rate-bytes", p.Arrival)
	}
	return p.checkDirections(s)
}

// checkDirections wants a rate for each direction that is issued, and none for the others.
func (p *Pacing) checkDirections(s *Spec) error {
	option, r := "--rate-iops", p.IOPS
	if !p.Bytes.IsZero() {
		option, r = "--rate-bytes", p.Bytes
	}
	if !r.PerDirection() {
		return nil
	}
	if s.Pairs() {
		return fmt.Errorf("%s %s: --rw %s trims and writes in turns; give one rate for both", option, r, s.RW)
	}
	for _, o := range []op.Op{op.Read, op.Write, op.Trim} {
		if !s.Issues(o) {
			continue
		}
		if r.Each[o] == 0 {
			return fmt.Errorf("%s %s: has no rate for the %ss of --rw %s", option, p.Rates(), o, s.RW)
		}
		r.Each[o] = 0
	}
	for _, o := range op.All {
		if r.Each[o] != 0 {
			return fmt.Errorf("%s %s: has a rate for %ss, which --rw %s does not issue", option, p.Rates(), o, s.RW)
		}
	}
	return nil
}

// Schedules are the planned times of one stream on one target: one for all its I/Os, at index 0, or
// one per direction. It is nil for a closed loop.
func (p *Pacing) Schedules(seed uint64) []Schedule {
	switch {
	case !p.Open():
		return nil
	case !p.Burst.IsZero():
		return []Schedule{{kind: inBursts, burst: p.Burst}}
	}
	r := p.Rates()
	if !r.PerDirection() {
		return []Schedule{p.schedule(r.Total, seed, op.Count)}
	}
	var list []Schedule
	for _, o := range op.All {
		if r.Each[o] > 0 {
			list = append(list, p.schedule(r.Each[o], Mix(seed+uint64(o)+1), o))
		}
	}
	return list
}

func (p *Pacing) schedule(rate float64, seed uint64, o op.Op) Schedule {
	s := Schedule{gap: float64(time.Second) / rate, seed: seed}
	if o < op.Count {
		s.only, s.single = o, true
	}
	switch {
	case p.Arrival == ArrivalPoisson:
		s.kind = byPoisson
	case !p.Bytes.IsZero():
		s.kind = byBytes
	default:
		s.kind = byCount
	}
	s.bytes = !p.Bytes.IsZero()
	return s
}

// maxPlanned keeps sums of planned times and clock stamps far from overflow.
const maxPlanned = math.MaxInt64 / 4
