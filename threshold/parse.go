package threshold

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxText is the longest assert that is read, in bytes.
const MaxText = 200

var (
	directions = []string{"total", "read", "write", "trim", "sync"}
	latencies  = []string{"mean", "min", "max", "stddev"}
	operators  = []Op{LessOrEqual, GreaterOrEqual, Equal, NotEqual, Less, Greater} // those of two signs first
)

// aliases are other words for figures.
var aliases = map[string]string{"bandwidth": "bw", "avg": "mean", "average": "mean", "stdev": "stddev"}

// Parse reads FIGURE OP VALUE, as in "p99<2ms" or "write.bw >= 100m". The figure may have a direction
// before it; without one it is of the total, which has no syncs. docs/thresholds.md has the grammar.
func Parse(s string) (Assert, error) {
	fail := func(err error) (Assert, error) { return Assert{}, fmt.Errorf("--assert %q: %w", s, err) }
	if len(s) > MaxText {
		return Assert{}, fmt.Errorf("--assert: %d characters long; at most %d are read", len(s), MaxText)
	}
	at := strings.IndexAny(s, "<>=!")
	if at < 0 {
		return fail(fmt.Errorf("has no comparison; write for example p99<2ms, with one of < <= > >= == !="))
	}
	a := Assert{}
	value := ""
	for _, op := range operators {
		if rest, found := strings.CutPrefix(s[at:], string(op)); found {
			a.Op, value = op, strings.TrimSpace(rest)
			break
		}
	}
	if a.Op == "" || strings.ContainsAny(value, "<>=!") {
		return fail(fmt.Errorf("unknown comparison; known are < <= > >= == !="))
	}
	var err error
	if a.Direction, a.Figure, err = parseFigure(strings.ToLower(strings.TrimSpace(s[:at]))); err != nil {
		return fail(err)
	}
	if a.Value, err = kindOf(a.Figure).read(value); err != nil {
		return fail(err)
	}
	return a, nil
}

// parseFigure reads [DIRECTION.][latency.|response.]NAME.
func parseFigure(text string) (direction, figure string, err error) {
	direction, name := "total", text
	if first, rest, found := strings.Cut(text, "."); found && slices.Contains(directions, first) {
		direction, name = first, rest
	}
	scope, word, scoped := strings.Cut(name, ".")
	if scoped = scoped && (scope == "latency" || scope == "response"); !scoped {
		scope, word = "latency", name
	}
	if full := aliases[word]; full != "" {
		word = full
	}
	switch {
	case !scoped && slices.Contains([]string{"iops", "bw", "errors", "short"}, word):
		return direction, word, nil
	case !scoped && (word == "cpu" || word == "steal"):
		if text != word {
			return "", "", fmt.Errorf("%s is of the whole machine; write %s", word, word)
		}
		return "", word, nil
	case slices.Contains(latencies, word):
		return direction, scope + "." + word, nil
	}
	if p, found := strings.CutPrefix(word, "p"); found && p != "" && strings.Trim(p, "0123456789.") == "" {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || v <= 0 || v > 100 {
			return "", "", fmt.Errorf("percentile %q: must be over 0 and at most 100, as in p99.9", word)
		}
		return direction, scope + ".p" + strconv.FormatFloat(v, 'f', -1, 64), nil
	}
	return "", "", fmt.Errorf("unknown figure %q; known are iops, bw, mean, min, max, stddev, p50 and any other percentile, errors, short, "+
		"each after %s. or none, latencies also after response.; and cpu, steal", text, strings.Join(directions, "., "))
}
