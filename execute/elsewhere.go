package execute

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blkstorm/host"
	"blkstorm/result"
	"blkstorm/verdict"
)

// elsewhere warns, in the document of a run that goes on, that it does so on another machine, kernel,
// version or engine than it began with: the document's facts are those of the beginning, and its points
// no longer measure the same. Each way in which they differ is told of once.
func (s *Session) elsewhere(doc *result.Doc) {
	list := changes(&doc.Host, &s.host)
	add := func(what, before, now string) { list = appendChange(list, what, before, now) }
	add("blkstorm", doc.Version, s.opts.Version)
	add("the clock", doc.Clock.Source, s.clock.Source)
	if n := len(doc.Points); n > 0 {
		add("the engine", doc.Points[n-1].EngineName, s.driver.Name)
	}
	if len(list) == 0 {
		return
	}
	w := verdict.Warning{
		Code:    "machine_changed",
		Message: "the run went on with what it had not begun with: " + strings.Join(list, "; "),
		Advice:  "the host's facts in the document are those of the beginning; do not compare points before the break with those after it, or run all of them again",
	}
	if !slices.Contains(doc.Warnings, w) {
		doc.Warnings = append(doc.Warnings, w)
	}
}

// changes lists what of a machine is not as it was and bears on figures.
func changes(was, is *host.Facts) (list []string) {
	for _, f := range []struct{ what, before, now string }{
		{"the host", was.Hostname, is.Hostname},
		{"the product", was.Product, is.Product},
		{"the hypervisor", was.Hypervisor, is.Hypervisor},
		{"the kernel", was.Kernel, is.Kernel},
		{"the architecture", was.Arch, is.Arch},
		{"the CPU", was.CPUModel, is.CPUModel},
		{"the number of CPUs", strconv.Itoa(was.CPUs), strconv.Itoa(is.CPUs)},
		{"the limit of CPU time", fmt.Sprint(was.CgroupCPULimit), fmt.Sprint(is.CgroupCPULimit)},
		{"the governor", was.Governor, is.Governor},
	} {
		list = appendChange(list, f.what, f.before, f.now)
	}
	return list
}

func appendChange(list []string, what, before, now string) []string {
	if before == now {
		return list
	}
	return append(list, fmt.Sprintf("%s was %s, is %s", what, orNone(before), orNone(now)))
}
