package main

import (
	"fmt"

	"blkstorm/result"
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
	for _, r := range doc.Rounds {
		if !r.Reached && !doc.Plan.Quick {
			fmt.Fprintf(a.stderr, "blkstorm: steady state was not reached in %d rounds: %s (quick: true makes that a warning only)\n", r.Done, r.Unsteady())
		}
	}
	for _, text := range order {
		fmt.Fprintf(a.stderr, "blkstorm: assert %s: not met in %d of %d points\n", text, missed[text], measured)
	}
}
