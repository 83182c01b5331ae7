package workload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"blkstorm/unit"
)

// Kinds of distributions, with fio's names where fio has them.
const (
	Uniform  = "uniform"   // every block alike
	Zipf     = "zipf"      // the k-th hottest block gets a share proportional to k^-θ
	Pareto   = "pareto"    // h of the blocks get 1-h of the I/O: pareto:0.2 is "80 % in 20 %"
	Normal   = "normal"    // a bell, its standard deviation in percent of the range
	Zoned    = "zoned"     // shares of the I/O in shares of the space
	ZonedAbs = "zoned_abs" // shares of the I/O in sizes
	HotBand  = "hotband"   // a band with most of the I/O that moves on
)

// Kinds lists what --random-distribution takes.
var Kinds = []string{Uniform, Zipf, Pareto, Normal, Zoned, ZonedAbs, HotBand}

// Limits and defaults of the parameters; zipf and pareto have fio's defaults. That of normal is what
// fio's draws have when it is given none: the mean of twelve uniform draws deviates by a twelfth.
var params = map[string]struct{ min, max, preset float64 }{
	Zipf:   {0.01, 5, 1.1},
	Pareto: {0.01, 0.99, 0.2},
	Normal: {0.01, 100, 100. / 12},
}

// Zone is a part of the range and its share of the I/O.
type Zone struct {
	Share unit.Percent // of the I/O
	Space unit.Percent // of the range (zoned, hotband)
	Bytes int64        // zoned_abs: its length; 0 in the last zone is the rest of the range
}

// Distribution says how random offsets are spread. The hot blocks of zipf, pareto and normal lie
// scattered over the range, in the same places for all threads that share it; other places with
// another seed. With a centre they lie together around it, and go on at the range's other end where
// they would pass one. Zones lie in order from the range's start.
type Distribution struct {
	Kind   string   // one of Kinds; empty is uniform
	Param  float64  // θ, h, or σ
	Centre *float64 // of zipf, pareto and normal: 0 is the range's start, 1 its end; nil: scattered
	Zones  []Zone   // of all directions, or of reads; of hotband, one: the band
	Write  []Zone   // zones of writes, when they have their own
	Trim   []Zone   // zones of trims; without them, they have those of writes
	Every  int64    // hotband: after how many I/Os of a thread the band moves on by its own width
}

// ParseDistribution reads "uniform", "zipf:1.2", "pareto:0.2", "normal:10", the last three also with a
// centre as in "zipf:1.2:0.25", "zoned:60/10:30/20:10/70", "zoned_abs:60/1g:40/9g", these two also as
// READ,WRITE,TRIM, or "hotband:90/10/100000".
func ParseDistribution(text string) (Distribution, error) {
	kind, rest, given := strings.Cut(strings.TrimSpace(text), ":")
	d := Distribution{Kind: kind}
	var err error
	switch kind {
	case Uniform, "random": // the latter is fio's
		d.Kind = ""
		if given {
			err = errors.New("uniform takes no parameter")
		}
	case Zipf, Pareto, Normal:
		d.Param = params[kind].preset
		if given {
			err = d.parseParams(rest)
		}
	case Zoned, ZonedAbs:
		err = d.parseZones(rest)
	case HotBand:
		d.Zones, d.Every, err = parseBand(rest)
	default:
		err = fmt.Errorf("unknown distribution %q; known are %s", kind, strings.Join(Kinds, ", "))
	}
	if err == nil {
		err = d.check()
	}
	if err != nil {
		return Distribution{}, err
	}
	return d, nil
}

// parseParams reads "1.2", or with a centre "1.2:0.25".
func (d *Distribution) parseParams(text string) (err error) {
	param, centre, given := strings.Cut(text, ":")
	if d.Param, err = strconv.ParseFloat(param, 64); err != nil {
		return fmt.Errorf("%q is not a number", param)
	}
	if !given {
		return nil
	}
	at, err := strconv.ParseFloat(centre, 64)
	if err != nil {
		return fmt.Errorf("centre %q is not a number", centre)
	}
	d.Centre = &at
	return nil
}

// parseZones reads the zones of all directions, or READ,WRITE,TRIM.
func (d *Distribution) parseZones(text string) error {
	list, err := perDirection(text, "list of zones")
	if err != nil {
		return err
	}
	for i, to := range []*[]Zone{&d.Zones, &d.Write, &d.Trim}[:len(list)] {
		if *to, err = parseZones(list[i], d.Kind == ZonedAbs); err != nil {
			return err
		}
	}
	return nil
}

func parseZones(text string, absolute bool) ([]Zone, error) {
	parts := strings.Split(text, ":")
	if len(parts) > MaxParts {
		return nil, fmt.Errorf("has %d zones; at most %d are possible", len(parts), MaxParts)
	}
	zones := make([]Zone, len(parts))
	accesses, spaces := make([]string, len(parts)), make([]string, len(parts))
	for i, part := range parts {
		var found bool
		if accesses[i], spaces[i], found = strings.Cut(part, "/"); !found {
			return nil, fmt.Errorf("zone %q: write the percentage of the I/O, a slash, and the space, as in 60/10", part)
		}
	}
	shares, err := parseShares(accesses)
	if err != nil {
		return nil, fmt.Errorf("I/O: %w", err)
	}
	var percents []unit.Percent
	if !absolute {
		if percents, err = parseShares(spaces); err != nil {
			return nil, fmt.Errorf("space: %w", err)
		}
	}
	for i := range zones {
		zones[i].Share = shares[i]
		switch {
		case !absolute:
			zones[i].Space = percents[i]
		case strings.TrimSpace(spaces[i]) != "":
			if zones[i].Bytes, err = unit.Bytes(spaces[i]); err != nil {
				return nil, err
			}
			if zones[i].Bytes == 0 {
				return nil, fmt.Errorf("zone %d has no space", i+1)
			}
		}
	}
	return zones, nil
}

func parseBand(text string) ([]Zone, int64, error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return nil, 0, errors.New("write the percentage of the I/O, that of the space, and after how many I/Os the band moves, as in hotband:90/10/100000")
	}
	share, err := unit.ParsePercent(parts[0])
	if err != nil {
		return nil, 0, err
	}
	space, err := unit.ParsePercent(parts[1])
	if err != nil {
		return nil, 0, err
	}
	every, err := strconv.ParseInt(strings.TrimSpace(parts[2]), 10, 64)
	if err != nil {
		return nil, 0, fmt.Errorf("%q is not a whole number of I/Os", parts[2])
	}
	return []Zone{{Share: share, Space: space}}, every, nil
}

// check says what is wrong with a distribution that no target could mend.
func (d *Distribution) check() error {
	switch d.Kind {
	case "", Uniform:
		return nil
	case Zipf, Pareto, Normal:
		if limit := params[d.Kind]; !(d.Param >= limit.min && d.Param <= limit.max) {
			return fmt.Errorf("the parameter of %s, %g, must be from %g to %g", d.Kind, d.Param, limit.min, limit.max)
		}
		if d.Centre != nil && !(*d.Centre >= 0 && *d.Centre <= 1) {
			return fmt.Errorf("the centre of %s, %g, must be from 0, the range's start, to 1, its end", d.Kind, *d.Centre)
		}
		return nil
	case Zoned, ZonedAbs:
		for _, zones := range d.zones() {
			if err := d.checkZones(zones); err != nil {
				return err
			}
		}
		return nil
	case HotBand:
		if len(d.Zones) != 1 {
			return fmt.Errorf("hotband has one band, not %d", len(d.Zones))
		}
		z := d.Zones[0]
		switch {
		case z.Share <= 0 || z.Share > unit.Whole:
			return fmt.Errorf("the band's share of the I/O, %s %%, must be over 0 and up to 100", z.Share)
		case z.Space <= 0 || z.Space >= unit.Whole:
			return fmt.Errorf("the band's share of the space, %s %%, must be over 0 and below 100", z.Space)
		case d.Every < 1:
			return fmt.Errorf("the band must move after at least 1 I/O, not %d", d.Every)
		}
		return nil
	}
	return fmt.Errorf("unknown distribution %q; known are %s", d.Kind, strings.Join(Kinds, ", "))
}

func (d *Distribution) checkZones(zones []Zone) error {
	if len(zones) == 0 || len(zones) > MaxParts {
		return fmt.Errorf("has %d zones; 1 to %d are possible", len(zones), MaxParts)
	}
	var share, space unit.Percent
	var total int64
	for i, z := range zones {
		if z.Share < 0 || z.Share > unit.Whole || z.Space < 0 || z.Space > unit.Whole || z.Bytes < 0 {
			return fmt.Errorf("zone %d: shares must be from 0 to 100 %%", i+1)
		}
		if d.Kind == Zoned && z.Space == 0 && z.Share > 0 {
			return fmt.Errorf("zone %d: %s %% of the I/O, and no space for it", i+1, z.Share)
		}
		if d.Kind == ZonedAbs && z.Bytes == 0 && i != len(zones)-1 {
			return fmt.Errorf("zone %d: only the last zone can take the rest of the range; give the size of this one", i+1)
		}
		if z.Bytes > math.MaxInt64-total {
			return fmt.Errorf("zone %d: over the limit of %d bytes", i+1, int64(math.MaxInt64))
		}
		share, space, total = share+z.Share, space+z.Space, total+z.Bytes
	}
	if share != unit.Whole {
		return fmt.Errorf("I/O: %w", sumError(share))
	}
	if d.Kind == Zoned && space != unit.Whole {
		return fmt.Errorf("space: %w", sumError(space))
	}
	return nil
}

// zones lists the zones of reads, writes and trims as far as they differ.
func (d *Distribution) zones() [][]Zone {
	list := [][]Zone{d.Zones, d.Write, d.Trim}
	if len(d.Write) == 0 {
		list[1] = d.Zones
	}
	if len(d.Trim) > 0 {
		return list
	}
	if len(d.Write) > 0 {
		return list[:2]
	}
	return list[:1]
}

// apart says whether directions have zones of their own, rather than share one deck.
func (d *Distribution) apart() bool { return len(d.zones()) > 1 }

// IsZero says that nothing but a uniform spread is asked for.
func (d Distribution) IsZero() bool { return d.Kind == "" || d.Kind == Uniform }

// String writes the distribution as ParseDistribution reads it.
func (d Distribution) String() string {
	var parts []string
	switch d.Kind {
	case "", Uniform:
		return Uniform
	case Zipf, Pareto, Normal:
		text := d.Kind + ":" + strconv.FormatFloat(d.Param, 'g', -1, 64)
		if d.Centre != nil {
			text += ":" + strconv.FormatFloat(*d.Centre, 'g', -1, 64)
		}
		return text
	case HotBand:
		for _, z := range d.Zones {
			parts = append(parts, fmt.Sprintf("%s/%s/%d", z.Share, z.Space, d.Every))
		}
	default:
		for _, zones := range d.zones() {
			parts = append(parts, d.zonesText(zones))
		}
	}
	return d.Kind + ":" + strings.Join(parts, ",")
}

func (d *Distribution) zonesText(zones []Zone) string {
	parts := make([]string, len(zones))
	for i, z := range zones {
		space := z.Space.String()
		if d.Kind == ZonedAbs {
			if space = ""; z.Bytes > 0 {
				space = unit.Size(z.Bytes)
			}
		}
		parts[i] = z.Share.String() + "/" + space
	}
	return strings.Join(parts, ":")
}

// MarshalText writes the distribution as plans hold it.
func (d Distribution) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDistribution reads.
func (d *Distribution) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDistribution(string(text))
	return err
}
