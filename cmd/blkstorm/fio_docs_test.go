package main

import (
	"strings"
	"testing"

	"blkstorm/plan/fiojob"
)

// The page about fio has a row for each option that is not just what it is to fio, with what is said of it.
func TestFioPageIsComplete(t *testing.T) {
	page := docs(t, "docs/fio.md")
	rows := strings.Split(page, "\n")
	for i := range fiojob.Options {
		o := &fiojob.Options[i]
		if o.Effect == fiojob.Honoured {
			continue
		}
		found := false
		for _, row := range rows {
			found = found || strings.Contains(row, "`"+o.Name+"`") && strings.Contains(row, "| "+o.Note+" |")
		}
		if !found {
			t.Errorf("docs/fio.md has no row that says of `%s`: %s", o.Name, o.Note)
		}
	}
	for _, name := range []string{"--parse-only", "--showcmd", "--strict", "--readonly", "--section", "--output", "--status-interval", "--destroy-signature", signatureVariable} {
		if !strings.Contains(page, "`"+name) {
			t.Errorf("docs/fio.md has no %s", name)
		}
	}
}
