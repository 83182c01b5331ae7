package main

import (
	"fmt"
	"time"

	"blkstorm/lab/guest/cell"
)

// repeat shows figures of short runs with all their digits. The host boots this twice and compares.
func (a *agent) repeat() {
	dev, err := makeTimed("null_blk", time.Millisecond)
	for _, engine := range cell.Engines {
		depth := 1
		if engine != "psync" {
			depth = 16 // where batches fall apart in one way or another
		}
		text, e := "FAIL", err
		if e == nil {
			text, e = figuresOf(dev, &timed{"null_blk", time.Millisecond, engine, 1, depth, "500ms", false})
		}
		a.cell("repeat", engine, "IOs, mean, max, seed", text, e)
	}
}

func figuresOf(dev string, c *timed) (string, error) {
	p, err := c.run(dev)
	if err != nil {
		return "FAIL", err
	}
	return fmt.Sprintf("%d, %d, %d, %d", p.Total.IOs, p.Total.Latency.Mean, p.Total.Latency.Max, p.Seed), nil
}
