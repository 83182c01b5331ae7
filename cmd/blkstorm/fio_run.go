package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"blkstorm/execute"
	"blkstorm/plan"
	"blkstorm/plan/fiojob"
	"blkstorm/result"
	"blkstorm/result/fioout"
)

// runFio runs what jobs come to. Standard error stays empty unless it is refused or fails: programs that
// call fio take any text there for a failure.
func (a *app) runFio(ctx context.Context, c *fiojob.Command, set *fiojob.Set, work *fiojob.Work) (err error) {
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
	in := &fioout.Input{Work: work, Set: set, PID: os.Getpid(), TerseVersion: c.TerseVersion}
	opts := execute.Options{Version: version, Dir: c.Dir, Roots: a.roots}
	opts.Row = func(_ *plan.Point, row *result.Interval) error {
		in.Gather(row)
		return nil
	}
	session, err := execute.Prepare(p, opts)
	if err != nil {
		return err
	}
	ctx, cancel := a.signals.context(ctx)
	defer cancel()
	doc, err := session.Run(ctx)
	for _, name := range work.Unlink {
		if gone := os.Remove(name); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	if doc == nil {
		return err
	}
	in.Doc, in.Now = doc, time.Now()
	if bad := a.writeFio(c, in); bad != nil {
		err = errors.Join(err, bad)
	}
	a.exit = a.status(doc)
	if hung(doc) {
		a.leave(err)
	}
	if err != nil {
		a.complain(err)
		a.exit = max(a.exit, exitUsage)
	}
	return nil
}

// writeFio writes a document in the forms that are asked for.
func (a *app) writeFio(c *fiojob.Command, in *fioout.Input) (err error) {
	out := a.stdout
	if c.Output != "" {
		f, err := os.Create(c.Output)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	return writeFioForms(out, c.Formats, in)
}

func writeFioForms(out io.Writer, formats []string, in *fioout.Input) error {
	if len(formats) == 0 {
		formats = []string{"normal"}
	}
	var errs []error
	if slices.Contains(formats, "json") || slices.Contains(formats, "json+") {
		in.Plus = slices.Contains(formats, "json+")
		errs = append(errs, fioout.WriteJSON(out, in))
	}
	if slices.Contains(formats, "normal") {
		errs = append(errs, fioout.WriteNormal(out, in))
	}
	if slices.Contains(formats, "terse") {
		errs = append(errs, fioout.WriteTerse(out, in))
	}
	return errors.Join(errs...)
}
