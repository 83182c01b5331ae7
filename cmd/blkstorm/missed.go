package main

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"blkstorm/result"
	"blkstorm/steady"
)

// sayMissed says on standard error why the exit status is 4, one line per reason.
func (a *app) sayMissed(doc *result.Doc) {
	missed := map[string]int{}
	var order []string
	measured := 0
	for _, p := range doc.Points {
		if len(p.Asserts) > 0 {
			measured++
		}
		for i := range p.Asserts {
			if text := p.Asserts[i].Assert.String(); !p.Asserts[i].OK {
				if missed[text]++; missed[text] == 1 {
					order = append(order, text)
				}
			}
		}
		if p.Steady != nil && !p.Steady.State.Steady && !doc.Plan.Quick {
			fmt.Fprintf(a.stderr, "blkstorm: steady state was not reached: %s (--quick makes that a warning only)\n", p.Steady.State.Reason)
		}
	}
	for _, text := range order {
		fmt.Fprintf(a.stderr, "blkstorm: assert %s: not met in %d of %d points\n", text, missed[text], measured)
	}
}

// steadyLine is what a round said, for a log.
func steadyLine(s *steady.State) string {
	if s.First == 0 || s.Mean == 0 {
		return fmt.Sprintf("round %d: not steady, %s", s.Rounds, s.Reason)
	}
	text := fmt.Sprintf("round %d: mean of rounds %d to %d %s", s.Rounds, s.First, s.Rounds, humanize.CommafWithDigits(s.Mean, 1))
	if !s.Steady {
		return text + ": not steady, " + s.Reason
	}
	return fmt.Sprintf("%s, range %.3g %%, fitted range %.3g %%: steady", text, s.RangePct, s.FittedPct)
}
