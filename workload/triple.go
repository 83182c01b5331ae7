package workload

import (
	"fmt"
	"strings"

	"blkstorm/op"
)

// Options whose values differ per direction are written READ,WRITE,TRIM, as in fio: one value holds
// for all directions, and where there are two, trims have that of writes.

// perDirection cuts such an option's text into 1 to 3 values; what names one of them.
func perDirection(text, what string) ([]string, error) {
	list := strings.Split(text, ",")
	if len(list) > 3 {
		return nil, fmt.Errorf("takes one %s, or READ,WRITE,TRIM", what)
	}
	return list, nil
}

// pick is the value of a direction among 1 to 3.
func pick[T any](o op.Op, list []T) T { return list[min(int(o), len(list)-1)] }
