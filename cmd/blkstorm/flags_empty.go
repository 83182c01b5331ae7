package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blkstorm/plan"
)

// filledFlag is an option that takes no empty value, which is always a slip (of a script whose variable
// is not set, mostly) and would else mean the default, or give a message about a number that is not there.
type filledFlag struct{ pflag.Value }

var errEmpty = errors.New("is empty")

func (f filledFlag) Set(s string) error {
	if s == "" {
		return errEmpty
	}
	return f.Value.Set(s)
}

// refuseEmpty has every option of a command, and of those below it, refuse an empty value in the same words.
// Switches stay as they are: pflag knows them by their type, and an empty one is an error anyway.
func refuseEmpty(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			return
		}
		f.Value = filledFlag{f.Value}
		if f.DefValue == "[]" {
			f.DefValue = "" // pflag no longer sees that it is a list, of which that would be the default
		}
	})
	for _, sub := range cmd.Commands() {
		refuseEmpty(sub)
	}
}

// invalidFlag says what is wrong with the value of an option: option, value, limit.
func invalidFlag(e *pflag.InvalidValueError) error {
	f := e.GetFlag()
	if e.GetValue() == "" {
		return emptyFlag(f)
	}
	if f.Value.Type() == "uint64" { // pflag calls what is too large negative
		return fmt.Errorf("--%s %s: must be a whole number from 0 to %d", f.Name, e.GetValue(), uint64(plan.MaxSeed))
	}
	return fmt.Errorf("--%s %s: %w", f.Name, e.GetValue(), e.Unwrap())
}

// emptyFlag says that an option has no value, and what it takes.
func emptyFlag(f *pflag.Flag) error {
	name, _ := pflag.UnquoteUsage(f)
	if f.Value.Type() == "bool" {
		name = "true or false"
	}
	return fmt.Errorf("--%s: %w; it takes %s", f.Name, errEmpty, strings.TrimSpace(name))
}
