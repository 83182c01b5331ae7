package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"blkstorm/plan/fiojob"
	"blkstorm/printable"
)

// runFio runs what jobs come to.
func (a *app) runFio(ctx context.Context, c *fiojob.Command, set *fiojob.Set, work *fiojob.Work) error {
	p := work.Plan
	for _, f := range work.Create {
		for i := range p.Targets {
			if p.Targets[i].Spec == f.Path {
				p.Targets[i].CreateBytes = f.Bytes
			}
		}
	}
	if err := a.allowSignatures(p, c.DestroySignature); err != nil {
		return err
	}
	out := &outputFlags{format: "text", dir: c.Dir, quiet: true}
	err := a.runPlan(ctx, p, out, nil)
	for _, name := range work.Unlink {
		if gone := os.Remove(name); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	for _, n := range set.Notes {
		fmt.Fprintln(a.stdout, "note:", printable.Text(n.Error()))
	}
	return err
}
