// Command show prints where the shape of one of fio's JSON documents differs from that of another, and
// ends with status 1 if something is missing or of another type. See package fioshape.
//
//	go run ./lab/fioshape/show THEIRS OURS
package main

import (
	"fmt"
	"os"

	"blkstorm/lab/fioshape"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: show THEIRS OURS")
		os.Exit(1)
	}
	alike, err := show(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, "show:", err)
	}
	if err != nil || !alike {
		os.Exit(1)
	}
}

// show says whether ours has all that theirs has.
func show(theirs, ours string) (alike bool, err error) {
	a, err := os.ReadFile(theirs)
	if err != nil {
		return false, err
	}
	b, err := os.ReadFile(ours)
	if err != nil {
		return false, err
	}
	list, err := fioshape.Diff(a, b)
	alike = err == nil
	for _, d := range list {
		fmt.Println(d)
		alike = alike && d.Additional()
	}
	return alike, err
}
