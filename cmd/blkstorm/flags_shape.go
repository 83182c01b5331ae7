package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"blkstorm/unit"
	"blkstorm/workload"
)

// addKinds adds the options that say what kind of trims, writes and syncs are issued.
func (l *loadFlags) addKinds(f *pflag.FlagSet) {
	w := &l.workload
	f.StringVar(&w.TrimWith, "trim-with", workload.Discard, "how trims are done, `NAME` is "+workload.Discard+"|"+workload.WriteZeroes)
	f.IntVar(&w.Fsync, "fsync", 0, "a sync (fsync) after each `N` writes of a thread (default: none)")
	f.IntVar(&w.Fdatasync, "fdatasync", 0, "the same with fdatasync after each `N` writes (default: none)")
	f.BoolVar(&w.Durable, "dsync", false, "each write completes when it is on stable storage (O_DSYNC, forced unit access)")
	for _, name := range []string{"fsync", "fdatasync"} {
		f.Lookup(name).DefValue = ""
	}
}

// kinds leaves out of the plan what its shape has no use for, unless it was asked for.
func (l *loadFlags) kinds(f *pflag.FlagSet) {
	if !f.Changed("trim-with") && !l.workload.Trims() {
		l.workload.TrimWith = ""
	}
}

// sizes reads --bs and --bssplit, of which a direction that is empty has the size of --bs.
func (l *loadFlags) sizes(f *pflag.FlagSet) error {
	w := &l.workload
	list, apart, err := perDirection(l.bs, w.BlockSize)
	if err != nil {
		return fmt.Errorf("--bs %s: %w", l.bs, err)
	}
	open := false // is --bs needed for a direction?
	switch {
	case f.Changed("bssplit"):
		if w.BlockSizeSplit, err = workload.ParseSplits(l.bssplit, list); err != nil {
			return fmt.Errorf("--bssplit %s: %w", l.bssplit, err)
		}
		for _, text := range strings.Split(l.bssplit, ",") {
			open = open || strings.TrimSpace(text) == ""
		}
	case apart:
		w.BlockSizeSplit = workload.Splits{Read: workload.Fixed(list[0]), Write: workload.Fixed(list[1])}
		if list[2] != list[1] {
			w.BlockSizeSplit.Trim = workload.Fixed(list[2])
		}
	}
	if several := f.Changed("bssplit") && !open || f.Changed("bsrange"); several && f.Changed("bs") {
		return fmt.Errorf("--bs %s: --bssplit and --bsrange say the sizes already", l.bs)
	}
	// The plan's bs is the largest size.
	w.BlockSize = list[0]
	if largest := w.MaxBlock(); largest > 0 {
		w.BlockSize = largest
	}
	return nil
}

// perDirection reads the sizes of reads, writes and trims: one for all, or up to three, of which an
// empty one is the default and the last one holds for the rest, as in fio. apart says that they differ.
func perDirection(text string, preset int64) (list [3]int64, apart bool, err error) {
	parts := strings.Split(text, ",")
	if len(parts) > len(list) {
		return list, false, errors.New("takes one size, or READ,WRITE,TRIM")
	}
	for i := range list {
		part := parts[min(i, len(parts)-1)]
		if list[i] = preset; strings.TrimSpace(part) != "" || len(parts) == 1 {
			if list[i], err = unit.Bytes(part); err != nil {
				return list, false, err
			}
		}
		most := int64(workload.MaxTrimSize)
		if len(parts) > 1 && i < 2 {
			most = workload.MaxBlockSize // of reads or of writes, whether or not there are any
		}
		if list[i] <= 0 || list[i] > most {
			return list, false, fmt.Errorf("must be from 1 byte to %s, trims to %s", unit.Size(workload.MaxBlockSize), unit.Size(workload.MaxTrimSize))
		}
	}
	return list, list[0] != list[1] || list[1] != list[2], nil
}
