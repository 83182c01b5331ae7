// Command fiocases says of every job file of a collection whether it is parsed and would run here, what is
// refused otherwise, and what fio said of it.
//
//	go run ./lab/fiocases ../shared/cases/fio-jobs
//
// The collection has an INDEX.tsv with a line per file: name, repository, path, target, engines, jobs, what fio
// 3.42 and fio 3.33 say of it ("ok", "fail", or why they say nothing), variables, note. It runs nothing: every
// path under /dev is taken for a disk of 1 TiB, and no other file exists.
package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"blkstorm/printable"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: fiocases FOLDER")
		os.Exit(2)
	}
	list, err := readIndex(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "fiocases:", err)
		os.Exit(1)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FILE\tFIO 3.42\tFIO 3.33\tHERE\tWHAT")
	totals := map[string]int{}
	wrong := 0
	for i := range list {
		c := &list[i]
		v := c.try(os.Args[1])
		totals[v.here]++
		if v.contradicts(c) {
			wrong++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", c.file, c.fio342, c.fio333, v.here, printable.Text(v.what()))
	}
	if err := w.Flush(); err != nil {
		os.Exit(1)
	}
	fmt.Printf("\n%d files: %d run, %d parsed and refused, %d not parsed; %d where fio says otherwise\n",
		len(list), totals[runs], totals[refused], totals[wrongFile], wrong)
	if wrong > 0 {
		os.Exit(1)
	}
}
