package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// clock runs on a clock that is coarse (jiffies: steps of 4 ms) or slow (hpet: each reading is a
// device access): the result must say so.
func (a *agent) clock() {
	source := read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	r := load("--rw", "randread", "--bs", "4k", "--runtime", "1s", "/dev/nullb0")
	p, err := r.point(0)
	if err == nil {
		all := codes(p)
		for _, w := range r.doc.Warnings {
			all += " " + w.Code
		}
		if want := commandLine("clocksource"); source != want {
			err = fmt.Errorf("the guest's clock is %s, not %s as asked", source, want)
		} else if r.doc.Clock.Source != source {
			err = fmt.Errorf("the result says clock %s, the kernel %s", r.doc.Clock.Source, source)
		} else if !strings.Contains(" "+all+" ", " clock ") {
			err = fmt.Errorf("clock %s (%+v) has no warning of code clock; warnings: %s", source, r.doc.Clock, all)
		}
	}
	a.cell("clock", source, "warning", "clock", err)
}

// commandLine is the value of a word of the kernel command line.
func commandLine(key string) string {
	for _, w := range strings.Fields(read("/proc/cmdline")) {
		if v, ok := strings.CutPrefix(w, key+"="); ok {
			return v
		}
	}
	return ""
}

// kernelRelease is uname -r.
func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

// testBinaries are the project's own tests, compiled for the guest.
func testBinaries() []string {
	list, err := os.ReadDir("/tests")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
