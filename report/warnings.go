package report

import (
	"fmt"
	"slices"
	"strings"

	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/verdict"
)

// warning is one code with all places that have it.
type warning struct {
	Code, Message, Advice string
	Where                 string // which points
	More                  []string
}

// maxWhere is how many points a warning names before it counts the others.
const maxWhere = 6

// warnings brings together those with one code and advice, in the order in which they come.
func warnings(d *result.Doc) (out []*warning) {
	places := map[*warning][]string{}
	add := func(where string, list []verdict.Warning) {
		for _, v := range list {
			code, message, advice := printable.Text(v.Code), sentence(printable.Text(v.Message)), printable.Text(v.Advice)
			i := slices.IndexFunc(out, func(w *warning) bool { return w.Code == code && w.Advice == advice })
			if i < 0 {
				i = len(out)
				out = append(out, &warning{Code: code, Message: message, Advice: advice})
			}
			w := out[i]
			places[w] = append(places[w], where)
			w.More = append(w.More, where+": "+message)
		}
	}
	add("the whole run", d.Warnings)
	for i, p := range d.Points {
		add(nameOf(d, i), p.Warnings)
	}
	for _, w := range out {
		where := places[w]
		if len(where) > maxWhere {
			w.Where = fmt.Sprintf("%s and %d more", strings.Join(where[:maxWhere], ", "), len(where)-maxWhere)
		} else {
			w.Where = strings.Join(where, ", ")
		}
		if len(w.More) == 1 {
			w.More = nil
		}
	}
	return out
}
