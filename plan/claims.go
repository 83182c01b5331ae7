package plan

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"blkstorm/threshold"
	"blkstorm/workload"
)

// Claims are what a data sheet says of a drive.
type Claims struct {
	Drive  string  `json:"drive"`  // as its maker names it
	Source string  `json:"source"` // where the claims were read
	Values []Claim `json:"values"`
}

// Claim is one claimed value.
type Claim struct {
	Point string `json:"point"` // label of the point that measures it
	// Figure is which of the point's figures it is, in the words of package threshold: iops, bandwidth,
	// read.mean, ...
	Figure string `json:"figure"`
	// Value is in I/Os per second, bytes per second or nanoseconds.
	Value float64 `json:"value"`
	// Unit is what the data sheet gives it in: IOPS, MiB/s, MB/s, GB/s, us, ms.
	Unit string `json:"unit"`
}

// maxClaims is far above what a data sheet has.
const maxClaims = 1000

// claimUnit is a unit of data sheets. Below least, in I/Os per second, bytes per second or nanoseconds, no
// drive is: such a number was written without its unit.
type claimUnit struct {
	name        string
	one         float64
	what        string
	least, most float64
}

var claimUnits = []claimUnit{
	{"IOPS", 1, "iops", 1, 1e12},
	{"KIOPS", 1e3, "iops", 1, 1e12},
	{"MB/s", 1e6, "bandwidth", 1e5, 1e15},
	{"GB/s", 1e9, "bandwidth", 1e5, 1e15},
	{"MiB/s", 1 << 20, "bandwidth", 1e5, 1e15},
	{"GiB/s", 1 << 30, "bandwidth", 1e5, 1e15},
	{"ns", 1, "a latency", 100, 1e12},
	{"us", 1e3, "a latency", 100, 1e12},
	{"ms", 1e6, "a latency", 100, 1e12},
}

func unitOf(name string) (*claimUnit, error) {
	var names []string
	for i := range claimUnits {
		if claimUnits[i].name == name {
			return &claimUnits[i], nil
		}
		names = append(names, claimUnits[i].name)
	}
	return nil, fmt.Errorf("unit %q: known are %s", name, strings.Join(names, ", "))
}

// thousands is a number whose commas stand between groups of three digits. Any other comma is a decimal one,
// as many data sheets have it, and would change the value if it were left out.
var thousands = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?$`)

// ParseClaimed reads a claimed value as data sheets have it: "270000 IOPS", "270,000 IOPS", "1.5 GB/s", "68 us".
func ParseClaimed(text string) (value float64, unit string, err error) {
	number, name, _ := strings.Cut(strings.TrimSpace(text), " ")
	name = strings.TrimSpace(name)
	if thousands.MatchString(number) {
		number = strings.ReplaceAll(number, ",", "")
	} else if strings.Contains(number, ",") {
		return 0, "", fmt.Errorf("value %q: commas stand between thousands, as in 270,000 IOPS; write a fraction with a point, as in 1.5 GB/s", text)
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || name == "" || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, "", fmt.Errorf("value %q: write a number and its unit, as in 270000 IOPS, 1900 MiB/s, 68 us", text)
	}
	u, err := unitOf(strings.ReplaceAll(name, "µ", "u"))
	if err != nil {
		return 0, "", fmt.Errorf("value %q: %w", text, err)
	}
	return v * u.one, u.name, nil
}

// InUnit is a value of the claim's kind, such as what was measured, in the unit of the data sheet. A unit that
// is not known, which Check does not let pass, leaves it as it is.
func (c *Claim) InUnit(value float64) float64 {
	u, err := unitOf(c.Unit)
	if err != nil {
		return value
	}
	return value / u.one
}

// Check says what is wrong with claims as such.
func (c *Claims) Check() error {
	switch {
	case strings.TrimSpace(c.Drive) == "":
		return fmt.Errorf("claims.drive: is empty; name the drive")
	case len(c.Values) == 0:
		return fmt.Errorf("claims.values: is empty; a claim is for example {point: 4K Random Read, figure: iops, value: 270000 IOPS}")
	case len(c.Values) > maxClaims:
		return fmt.Errorf("claims.values: %d of them; at most %d are possible", len(c.Values), maxClaims)
	}
	for i := range c.Values {
		if err := c.Values[i].check(); err != nil {
			return fmt.Errorf("claims.values[%d].%w", i, err)
		}
	}
	return nil
}

func (c *Claim) check() error {
	if strings.TrimSpace(c.Point) == "" {
		return fmt.Errorf("point: is empty; it is the label of a measured point")
	}
	if strings.TrimSpace(c.Figure) == "" {
		return fmt.Errorf("figure: is empty; it is iops, bandwidth, or a latency such as read.mean")
	}
	_, figure, err := threshold.ParseFigure(c.Figure)
	if err != nil {
		return fmt.Errorf("figure %q: %w", c.Figure, err)
	}
	u, err := unitOf(c.Unit)
	if err != nil {
		return err
	}
	what := "a latency"
	switch {
	case figure == "iops":
		what = "iops"
	case figure == "bw":
		what = "bandwidth"
	case !strings.HasPrefix(figure, "latency.") && !strings.HasPrefix(figure, "response."):
		return fmt.Errorf("figure %q: data sheets claim iops, bandwidth and latencies", c.Figure)
	}
	switch {
	case u.what != what:
		return fmt.Errorf("unit %s: is one of %s, and %s is %s", c.Unit, u.what, c.Figure, what)
	case !(c.Value >= u.least && c.Value <= u.most):
		return fmt.Errorf("value %v: is %v %s, which no drive has; write the number with its unit, as in 1900 MiB/s", c.Value, c.InUnit(c.Value), c.Unit)
	}
	return nil
}

// checkClaims wants of each claim that a measured point of that name is there, and has such I/Os.
func (p *Plan) checkClaims() error {
	if p.Claims == nil {
		return nil
	}
	if err := p.Claims.Check(); err != nil {
		return err
	}
	var labels []string
	var points []*Point
	for i := range p.Phases {
		for j := range p.Phases[i].Points {
			if p.Phases[i].Kind == Measure {
				points = append(points, &p.Phases[i].Points[j])
				labels = append(labels, p.Phases[i].Points[j].Label)
			}
		}
	}
	for i, c := range p.Claims.Values {
		if !slices.Contains(labels, c.Point) {
			return fmt.Errorf("claims.values[%d].point %q: no measured point has this label; there are %s", i, c.Point, strings.Join(labels, ", "))
		}
		direction, _, err := threshold.ParseFigure(c.Figure)
		if err != nil {
			return fmt.Errorf("claims.values[%d].figure %q: %w", i, c.Figure, err)
		}
		has := func(pt *Point) bool { return pt.Label == c.Point && pt.issues(direction) }
		if !slices.ContainsFunc(points, has) {
			return fmt.Errorf("claims.values[%d].figure %q: %s has no I/O of that kind", i, c.Figure, c.Point)
		}
	}
	return nil
}

// issues says whether a point has I/Os of a direction, in the words of package threshold.
func (pt *Point) issues(direction string) bool {
	return slices.ContainsFunc(pt.Streams, func(s Stream) bool {
		does, known := map[string]func(*workload.Spec) bool{
			"read": (*workload.Spec).Reads, "write": (*workload.Spec).Writes, "trim": (*workload.Spec).Trims, "sync": (*workload.Spec).Syncs,
		}[direction]
		return !known || does(&s.Workload)
	})
}

// maxProfileName is longer than any.
const maxProfileName = 64

// checkProfile wants a name of the form that profiles have; which there are is known above.
func (p *Plan) checkProfile() error {
	bad := func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	if len(p.Profile) > maxProfileName || strings.ContainsFunc(p.Profile, bad) {
		return fmt.Errorf("profile %q: is a name of small letters, digits and dashes, at most %d", p.Profile, maxProfileName)
	}
	return nil
}
