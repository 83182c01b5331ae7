package fiojob

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"blkstorm/plan"
)

// Facts are what a translation must know of a file that jobs name.
type Facts struct {
	Exists bool
	Block  bool // a block device
	Bytes  int64
}

// Env is what a translation needs from outside.
type Env struct {
	// Look tells of the file at a path; an error means that it can be no target.
	Look func(path string) (Facts, error)
	Seed uint64 // of a run that repeats nothing
}

// Work is what jobs come to.
type Work struct {
	Plan *plan.Plan
	// Clones are the jobs as fio counts them, in its order: each with its place in the plan.
	Clones []Clone
	// Create are files that do not exist, or are too short, with the size that they need.
	Create []File
	// CreateOnly has the files made, and nothing run.
	CreateOnly bool
	// Layouts are of the clones whose files those are.
	Layouts []Layout
	// Steady is the end of each point by steady state; nil for a point without.
	Steady []*Steady
	// Invalidate are the paths of each point's files whose pages leave the cache before it: those that are read or
	// written through it.
	Invalidate [][]string
	// Unlink are files to remove when all is over.
	Unlink []string
}

// File is a file that must have a size.
type File struct {
	Path  string
	Bytes int64
}

// Layout is what is laid out for a clone.
type Layout struct {
	Job   string
	Files int
	Bytes int64 // of all of them
}

// Clone is one of the threads that a job asks for.
type Clone struct {
	Job    *Job
	Number int // within the job, from 0
	Group  int // of group_reporting, from 0
	Point  int // index into the points of the plan's only phase
	Stream int // in that point; several clones may be threads of one
}

// translator makes a plan of a set of jobs.
type translator struct {
	env     Env
	work    *Work
	set     *Set
	targets map[string]int
	files   map[string]int64
}

// Translate makes the plan of a set without errors. What this program does not do is added to its
// Refusals; with any, the plan must not be run.
func (s *Set) Translate(env Env) *Work {
	t := &translator{env: env, set: s, targets: map[string]int{}, files: map[string]int64{}, work: &Work{Plan: &plan.Plan{
		Schema: plan.Schema, Engine: "psync", CompleteMin: 1, Pin: "auto", Seed: env.Seed, Destroy: true,
	}}}
	if len(s.Jobs) == 0 {
		s.Refusals = append(s.Refusals, &Problem{Text: "no job is defined"})
		return t.work
	}
	t.common()
	t.createOnly()
	group := -1
	var point *plan.Point
	phase := plan.Phase{Kind: plan.Measure}
	t.unlink()
	var jobs []*Job // of the point
	before := 0     // clones of those before it
	end := func() {
		if point != nil {
			t.work.Steady = append(t.work.Steady, t.steady(point, jobs))
			t.work.Invalidate = append(t.work.Invalidate, t.invalid(jobs))
			t.exit(jobs)
			t.flow(point, jobs, before)
		}
		jobs, before = nil, len(t.work.Clones)
	}
	for i, j := range s.Jobs {
		apart := i == 0 || j.On("stonewall", false)
		if apart || t.waits(j, i, jobs) {
			end()
			phase.Points = append(phase.Points, plan.Point{Interval: plan.Duration(time.Second)})
			point = &phase.Points[len(phase.Points)-1]
		}
		if apart || j.On("new_group", false) {
			group++
		}
		t.job(j, point, len(phase.Points)-1, group)
		jobs = append(jobs, j)
	}
	end()
	for i := range phase.Points {
		t.finish(&phase.Points[i])
	}
	t.work.Plan.Phases = []plan.Phase{phase}
	return t.work
}

// refuse notes that a job cannot be run because of an option.
func (t *translator) refuse(j *Job, option, format string, args ...any) {
	t.problem(&t.set.Refusals, j, option, format, args...)
}

func (t *translator) note(j *Job, option, format string, args ...any) {
	t.problem(&t.set.Notes, j, option, format, args...)
}

// problem says each thing once, whatever number of clones it holds for.
func (t *translator) problem(to *[]*Problem, j *Job, option, format string, args ...any) {
	p := &Problem{Job: j.Name, Pos: j.Pos, Option: option, Text: fmt.Sprintf(format, args...)}
	if set, ok := j.effective[option]; ok {
		p.Pos, p.Value = set.Pos, set.Value
	}
	t.set.say(to, p)
}

// common settles what the plan has for all jobs: what the first one asks for. What others have otherwise is in
// their streams; see own.
func (t *translator) common() {
	p, first := t.work.Plan, t.set.Jobs[0]
	for _, j := range t.set.Jobs {
		name := j.Text("ioengine", "psync")
		if to := engines[name]; name == "posixaio" {
			t.note(j, "ioengine", "is run as %s", to)
		}
		if j.On("hipri", false) && name != "io_uring" {
			t.note(j, "hipri", "psync waits for the interrupt")
		}
		if foreignEngine(name) {
			t.refuse(j, "ioengine", "engine %s is not to be had; known are io_uring, libaio, psync, sync, vsync, pvsync, pvsync2, posixaio and null", name)
		}
	}
	p.Engine, p.Direct = first.engine(), first.direct()
	p.SQThreadPoll, p.HiPri = first.polls("sqthread_poll"), first.polls("hipri")
	p.CompleteMin, p.ContinueOnError = first.completeMin(), first.continues()
	for _, j := range t.set.Jobs[1:] {
		if engine := j.engine(); (engine == "null") != (p.Engine == "null") && !foreignEngine(j.Text("ioengine", "psync")) {
			t.refuse(j, "ioengine", "cannot run beside that of job %s: one of them moves nothing; run them one by one", first.Name)
		}
		for _, option := range []string{"sqthread_poll", "hipri"} {
			if j.engine() == "io_uring" && j.polls(option) != first.polls(option) {
				t.refuse(j, option, "differs from that of job %s: all jobs of a run that use io_uring share it, and it is that of the first; run them one by one", first.Name)
			}
		}
	}
}

// own notes in a job's stream what it has otherwise than the plan.
func (t *translator) own(j *Job, s *plan.Stream) {
	p := t.work.Plan
	if engine := j.engine(); engine != p.Engine {
		s.Engine = engine
	}
	if direct := j.direct(); direct != p.Direct {
		s.Direct = &direct
	}
	if n := j.completeMin(); n != p.CompleteMin {
		s.CompleteMin = n
	}
	if on := j.continues(); on != p.ContinueOnError {
		s.ContinueOnError = &on
	}
	s.Pin = j.cpus()
}

// cpus lists the CPUs that the job names, in the kernel's form.
func (j *Job) cpus() string {
	if list := j.Text("cpus_allowed", ""); list != "" {
		return strings.ReplaceAll(list, ":", ",")
	}
	var list []string
	for mask, cpu := uint64(j.Number("cpumask", 0)), 0; mask != 0; mask, cpu = mask>>1, cpu+1 {
		if mask&1 != 0 {
			list = append(list, strconv.Itoa(cpu))
		}
	}
	return strings.Join(list, ",")
}

// engine is the registry's name of the job's engine; null for one that is not to be had.
func (j *Job) engine() string { return cmp.Or(engines[j.Text("ioengine", "psync")], "null") }

// polls says whether the job is on io_uring and has an option of its polling.
func (j *Job) polls(option string) bool { return j.On(option, false) && j.engine() == "io_uring" }

// completeMin is how many completions the job's threads wait for; fio, too, waits for no more than there can be.
func (j *Job) completeMin() int {
	return int(min(max(j.Number("iodepth_batch_complete_min", 1), 1), max(j.Number("iodepth", 1), 1)))
}

// direct says whether the job bypasses the page cache: direct=1, or buffered=0, whichever comes last.
func (j *Job) direct() bool {
	if j.Has("buffered") && !j.Has("direct") {
		return !j.On("buffered", true)
	}
	return j.On("direct", false)
}

func (j *Job) continues() bool {
	return !slices.Contains([]string{"none", "0"}, j.Text("continue_on_error", "none"))
}

// job adds the clones of a job to a point.
func (t *translator) job(j *Job, point *plan.Point, index, group int) {
	clones := j.Number("numjobs", 1)
	if clones < 1 || clones > plan.MaxThreads {
		t.refuse(j, "numjobs", "must be from 1 to %d", plan.MaxThreads)
		return
	}
	for _, dir := range splitNames(j.Text("directory", "")) {
		if f, err := t.env.Look(dir); err == nil && !f.Exists {
			set := j.effective["directory"]
			t.set.say(&t.set.Refusals, &Problem{Job: j.Name, Pos: set.Pos, Option: set.Name, Value: set.Value, Text: "there is no folder " + dir, Errno: syscall.ENOENT})
			return
		}
	}
	for n := range clones {
		files, err := t.filesOf(j, int(n))
		if err != nil {
			t.refuse(j, "filename", "%v", err)
			return
		}
		s, ok := t.stream(j, int(n), files)
		if !ok {
			return
		}
		t.work.Clones = append(t.work.Clones, Clone{Job: j, Number: int(n), Group: group, Point: index, Stream: len(point.Streams)})
		point.Streams = append(point.Streams, *s)
	}
}

// createOnly finds out whether the jobs only make their files.
func (t *translator) createOnly() {
	first := t.set.Jobs[0]
	t.work.CreateOnly = first.On("create_only", false)
	for _, j := range t.set.Jobs {
		if j.On("create_only", false) != t.work.CreateOnly {
			t.refuse(j, "create_only", "differs from that of job %s: make the files with a command of their own", first.Name)
		}
	}
}

// unlink lists the files that go away when all is over.
func (t *translator) unlink() {
	for _, j := range t.set.Jobs {
		if !j.On("unlink", false) && !j.On("unlink_each_loop", false) {
			continue
		}
		for n := range max(j.Number("numjobs", 1), 1) {
			names, err := t.names(j, int(n))
			if err != nil {
				return // told where the files are laid out
			}
			for _, name := range names {
				if f, err := t.env.Look(name); err == nil && !f.Block && !slices.Contains(t.work.Unlink, name) {
					t.work.Unlink = append(t.work.Unlink, name)
				}
			}
		}
	}
}

// finish names a point, and gives it the shortest ramp of its streams; those of others go on within its
// window.
func (t *translator) finish(p *plan.Point) {
	var names []string
	for i := range p.Streams {
		if s := &p.Streams[i]; i == 0 || s.Ramp < p.Ramp {
			p.Ramp = s.Ramp
		}
	}
	for i := range p.Streams {
		if s := &p.Streams[i]; s.Start == 0 && s.Ramp == p.Ramp {
			s.Ramp = 0
		}
	}
	for i := range p.Streams {
		if name, _, _ := strings.Cut(p.Streams[i].Label, "#"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	p.Label = strings.Join(names, "+")
}

// time is the value of a time, or 0.
func (j *Job) time(option string, unit time.Duration) time.Duration {
	set, ok := j.effective[option]
	if !ok {
		return 0
	}
	low, _, _ := cutRange(set.Value)
	d, err := duration(low, unit)
	if err != nil {
		return 0
	}
	return d
}
