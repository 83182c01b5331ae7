package main

import (
	"errors"

	"github.com/spf13/pflag"
)

// unitFlag is a size that cannot be 0, which would mean the default.
type unitFlag struct{ sizeFlag }

func (f unitFlag) Set(s string) error {
	if err := f.sizeFlag.Set(s); err != nil {
		return err
	}
	if *f.bytes == 0 {
		return errors.New("must be over 0")
	}
	return nil
}

// addData adds the options that say what written blocks hold.
func (l *loadFlags) addData(f *pflag.FlagSet) {
	d := &l.workload.Data
	f.Var(textFlag{&d.Content, "CONTENT"}, "data", `what is written: random, zero, pattern:0xdeadbeef, pattern:"text" or file:PATH (default random)`)
	f.IntVar(&d.CompressPct, "compress-pct", 0, "data of which a compressor saves `N` percent, in each 4 KiB")
	f.IntVar(&d.DedupePct, "dedupe-pct", 0, "`N` percent of the written blocks have the content of another one")
	f.Var(unitFlag{sizeFlag{&d.DedupeUnit}}, "dedupe-unit", "the blocks of --dedupe-pct, a multiple of 512 (default 4k)")
	f.Lookup("compress-pct").DefValue, f.Lookup("dedupe-pct").DefValue = "", ""
}
