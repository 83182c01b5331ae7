package report

import (
	"fmt"
	"slices"
	"strings"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/result/load"
)

// fact is a line of a table of facts; both are printable.
type fact struct{ Key, Value string }

// facts is a group of them.
type facts struct {
	Title string
	List  []fact
}

// add adds a fact that is known.
func (f *facts) add(key, value string) {
	if value != "" {
		f.List = append(f.List, fact{key, printable.Text(value)})
	}
}

func (f *facts) addf(known bool, key, format string, args ...any) {
	if known {
		f.add(key, fmt.Sprintf(format, args...))
	}
}

// runFacts are those of the run and of the machine.
func runFacts(d *result.Doc, kind load.Kind) []facts {
	run := facts{Title: "Run"}
	run.addf(!d.Started.IsZero(), "Started", "%s", d.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	if kind == load.Fio {
		run.add("Measured by", d.Version)
	} else {
		run.add("Measured by", "blkstorm "+d.Version)
	}
	run.add("Run ID", d.ID)
	if p := d.Plan; p != nil {
		run.add("Published procedure", p.Profile)
		run.add("Engine asked for", p.Engine)
		io := "direct (O_DIRECT)"
		if !p.Direct {
			io = "buffered, through the page cache"
		}
		run.add("I/O", io)
		run.addf(p.SQThreadPoll, "Submission", "by a kernel thread (SQPOLL)")
		run.addf(p.HiPri, "Completion", "polled (IOPOLL)")
		run.addf(p.CompleteMin > 1, "Completions waited for", "%d at once", p.CompleteMin)
		run.add("Pinning of threads", p.Pin)
		run.addf(true, "Seed", "%d", p.Seed)
	}
	for _, p := range d.Points {
		if p.EngineName != "" {
			run.add("Engine used", p.EngineName+optional(": ", strings.Join(p.EngineFeatures, ", ")))
			break
		}
	}
	h := &d.Host
	host := facts{Title: "Machine"}
	host.add("Host name", h.Hostname)
	host.add("Guest of", h.Hypervisor)
	host.add("Machine", h.Product)
	host.add("Container", h.Container)
	host.add("OS", h.OS)
	host.add("Kernel", h.Kernel+optional(", ", h.Arch))
	host.addf(h.CPUs > 0, "CPUs", "%d%s", h.CPUs, optional(", ", h.CPUModel))
	host.addf(h.AllowedCPUs > 0 && h.AllowedCPUs < h.CPUs, "CPUs allowed", "%d", h.AllowedCPUs)
	host.addf(h.CgroupCPULimit > 0, "cgroup CPU limit", "%g CPUs", h.CgroupCPULimit)
	host.addf(h.NUMANodes > 1, "NUMA nodes", "%d", h.NUMANodes)
	host.add("Frequency governor", h.Governor)
	host.addf(h.MemoryBytes > 0, "Memory", "%s", bytesText(h.MemoryBytes))
	host.addf(d.Clock.Source != "", "Clock", "%s, %.0f ns a read", d.Clock.Source, d.Clock.CostNS)
	return slices.DeleteFunc([]facts{run, host}, func(f facts) bool { return len(f.List) == 0 })
}

func optional(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

// targetFacts are those of each target.
func targetFacts(d *result.Doc) (out []facts) {
	for i, t := range d.Targets {
		out = append(out, targetFact(i, t))
	}
	return out
}

func targetFact(i int, t *device.Facts) facts {
	f := facts{Title: fmt.Sprintf("Target %d: %s", i+1, printable.Name(t.Path))}
	f.add("Named as", t.Spec)
	kind := t.Kind
	if t.Transport != t.Kind {
		kind += optional(", ", t.Transport)
	}
	f.add("Kind", kind)
	f.addf(t.SizeBytes > 0, "Size", "%s", bytesText(t.SizeBytes))
	f.add("Model", strings.TrimSpace(t.Vendor+" "+t.Model))
	f.add("Serial", t.Serial)
	f.add("Firmware", t.Firmware)
	f.add("WWN", t.WWN)
	f.addf(t.Rotational != nil && *t.Rotational, "Medium", "rotating")
	f.addf(t.LogicalBlockBytes > 0, "Blocks", "%d bytes logical, %d bytes physical", t.LogicalBlockBytes, t.PhysicalBlockBytes)
	f.add("File system", t.FileSystem+optional(" on ", t.FileSystemSource)+optional(" at ", t.MountPoint))
	f.add("Backed by", t.BackingFile)
	f.add("Mapper", t.MapperName)
	f.add("Disk", t.Disk)
	c := &t.Controller
	f.add("Controller", strings.Join(nonEmpty(c.Model, optional("driver ", c.Driver), c.Name, c.Address, optional("PCI ID ", c.PCIID), optional("HCTL ", t.HCTL)), ", "))
	f.addf(c.QueueDepth > 0, "Device queue depth", "%d (%s)", c.QueueDepth, c.QueueDepthSource)
	f.addf(c.HostQueueDepth > 0, "Controller queue depth", "%d", c.HostQueueDepth)
	q := &t.Queue
	f.addf(q.NrRequests > 0, "Block layer queue", "%d requests in each of %d hardware queues, scheduler %s", q.NrRequests, max(1, q.HWQueues), t.Scheduler)
	f.addf(q.MaxSectorsKB > 0, "Largest request", "%d KiB", q.MaxSectorsKB)
	f.add("Write cache", q.WriteCache)
	return f
}

func nonEmpty(list ...string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// planTable is what the plan does, phase by phase; nil without a plan.
func planTable(p *plan.Plan) *table {
	if p == nil || len(p.Phases) == 0 {
		return nil
	}
	t := &table{Caption: "Plan", Head: []head{{"phase", "", true}, {"what", "", true}, {"ends", "", true}}}
	for i := range p.Phases {
		ph := &p.Phases[i]
		what := ""
		switch n := len(ph.Points); {
		case ph.Kind == plan.Idle:
			what = "waits " + ph.Time.D().String()
		case n == 1:
			what = ph.Points[0].Label
		case n > 1:
			what = fmt.Sprintf("%d points, from %s to %s", n, ph.Points[0].Label, ph.Points[n-1].Label)
		}
		if s := ph.Sweep; s != nil && len(s.Axes) > 0 {
			var axes []string
			for _, a := range s.Axes {
				axes = append(axes, a.Name+" "+strings.Join(a.Values, ","))
			}
			what = fmt.Sprintf("sweep of %d points: %s", len(ph.Points), strings.Join(axes, "; "))
		}
		ends := pointEnds(ph.Points)
		if ph.Steady != nil {
			ends = "steady state: " + ph.Steady.String()
		}
		if ph.Rounds != nil {
			r := &ph.Rounds.Rule
			ends = fmt.Sprintf("when all that is tracked is steady over %d rounds: range within %g %%, fitted range within %g %% of the mean; at most %d rounds", r.Window, r.RangePct, r.FittedPct, r.MaxRounds)
		}
		t.add(left(printable.Text(ph.Kind)), wide(printable.Text(what)), wide(printable.Text(ends)))
	}
	return t
}

// shownEnds is how many different ends of a phase's points the table names.
const shownEnds = 3

// pointEnds are the ends that the points of a phase have, each once.
func pointEnds(points []plan.Point) string {
	var ends []string
	for i := range points {
		if end := pointEnd(&points[i]); !slices.Contains(ends, end) {
			ends = append(ends, end)
		}
	}
	switch n := len(ends) - shownEnds; {
	case n == 1:
		ends = append(ends[:shownEnds], "another one")
	case n > 1:
		ends = append(ends[:shownEnds], fmt.Sprintf("%d others", n))
	}
	return strings.Join(ends, "; ")
}

// pointEnd is how long a point takes.
func pointEnd(p *plan.Point) string {
	switch n := p.Passes(); {
	case n == 1:
		return "after one pass"
	case n > 1:
		return fmt.Sprintf("after %d passes", n)
	}
	window, known := p.Window()
	if !known {
		return "with its streams"
	}
	text := "after " + window.String()
	if p.Ramp > 0 {
		text += ", and a ramp of " + p.Ramp.D().String()
	}
	return text
}
