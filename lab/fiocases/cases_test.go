package main

import (
	"testing"

	"blkstorm/lab"
)

const folder = "../../../shared/cases/fio-jobs"

// least is how many files run: the others need engines, verification, logs, replay or zones.
const least = 165

// What fio parses is parsed, and what it refuses is refused, in job files that strangers wrote; what is
// parsed runs, or something is named that is refused.
func TestCases(t *testing.T) {
	list, err := readIndex(folder)
	if err != nil {
		lab.Missing(t, "the collection of job files: "+err.Error())
	}
	if len(list) < 300 {
		t.Errorf("the collection has only %d files", len(list))
	}
	count := map[string]int{}
	for i := range list {
		c := &list[i]
		v := c.try(folder)
		count[v.here]++
		if v.contradicts(c) {
			t.Errorf("%s: fio: %s; here %s: %s", c.file, c.fio342, v.here, v.what())
		}
		if v.here != runs && v.what() == "" {
			t.Errorf("%s: %s, and nothing says why", c.file, v.here)
		}
	}
	if count[runs] < least {
		t.Errorf("only %d of %d files run, and %d did once", count[runs], len(list), least)
	}
}
