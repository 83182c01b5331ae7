package fioout

import (
	"fmt"
	"strings"

	"blkstorm/printable"
)

// normalLayouts says which files were laid out before the jobs began.
func normalLayouts(b *strings.Builder, in *Input) {
	for _, l := range in.Work.Layouts {
		mib := l.Bytes >> 20
		if l.Files == 1 {
			fmt.Fprintf(b, "%s: Laying out IO file (1 file / %dMiB)\n", printable.Text(l.Job), mib)
		} else {
			fmt.Fprintf(b, "%s: Laying out IO files (%d files / total %dMiB)\n", printable.Text(l.Job), l.Files, mib)
		}
	}
}
