package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// leaves are the commands that do something, with the words that call them.
func leaves(cmd *cobra.Command, words []string, f func(words []string, cmd *cobra.Command)) {
	for _, sub := range cmd.Commands() {
		at := append(words[:len(words):len(words)], sub.Name())
		if sub.HasSubCommands() {
			leaves(sub, at, f)
		} else {
			f(at, sub)
		}
	}
}

// Every option of every command says of an empty value that it is empty, and what it takes, in one line
// and before anything is looked at.
func TestEmptyValues(t *testing.T) {
	var a app
	count := 0
	leaves(a.command(), nil, func(words []string, cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(o *pflag.Flag) {
			count++
			var out strings.Builder
			a := &app{stdout: &out, stderr: &out}
			status := a.run(t.Context(), append(words[:len(words):len(words)], "--"+o.Name+"="))
			text := out.String()
			want := fmt.Sprintf("blkstorm: --%s: is empty; it takes ", o.Name)
			if status != exitUsage || !strings.HasPrefix(text, want) || strings.TrimSpace(text) == strings.TrimSpace(want) || strings.Count(text, "\n") != 1 {
				t.Errorf("%v --%s=: status %d, %q", words, o.Name, status, text)
			}
		})
	})
	if count < 150 {
		t.Errorf("only %d options seen", count)
	}
}

func TestEmptyValuesOfStreams(t *testing.T) {
	l := loadFlags{}
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	l.add(f)
	for _, name := range []string{"label", "on", "share", "rw", "bs", "size", "data", "seq-streams", "rate-iops", "coverage"} {
		for _, word := range []string{name + "=", "--" + name + "="} {
			_, err := l.oneOfSeveral(f, "iodepth=1 "+word, nil)
			if err == nil || !strings.HasPrefix(err.Error(), "--"+name+": is empty; it takes ") {
				t.Errorf("%s: %v", word, err)
			}
		}
	}
}

// No help shows a default that is nothing.
func TestHelpHasNoEmptyDefault(t *testing.T) {
	var a app
	leaves(a.command(), nil, func(words []string, cmd *cobra.Command) {
		for line := range strings.Lines(cmd.UsageString()) {
			if strings.Contains(line, "(default )") || strings.Contains(line, `(default "")`) || strings.Contains(line, "(default [])") {
				t.Errorf("%v: %s", words, line)
			}
		}
	})
}
