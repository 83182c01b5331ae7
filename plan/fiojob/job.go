package fiojob

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"blkstorm/plan/fiojob/jobfile"
	"blkstorm/workload"
)

// Job is one job with all that holds for it, before it is cloned (numjobs).
type Job struct {
	Name string
	// section is its name in brackets, or that of --name: its files are called so, whatever name= says.
	section string
	Pos     jobfile.Pos
	// Own are the settings of its section, and Globals those that it inherits, as written and in order.
	Own, Globals []jobfile.Setting
	// effective are the last ones of each option, by canonical name.
	effective map[string]jobfile.Setting
	kbBase    int64
}

// Problem is something that a user must be told of a setting, or of a job as a whole.
type Problem struct {
	Job    string // empty for the command as a whole
	Pos    jobfile.Pos
	Option string // canonical; empty where none is meant
	Value  string
	Text   string
	Errno  syscall.Errno // of the system, for JSON; 0 where it has no say
}

// Unwrap is the number, if there is one.
func (p *Problem) Unwrap() error {
	if p.Errno == 0 {
		return nil
	}
	return p.Errno
}

func (p *Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", p.Pos)
	if p.Job != "" {
		fmt.Fprintf(&b, "job %s: ", p.Job)
	}
	switch {
	case p.Option != "" && p.Value != "":
		fmt.Fprintf(&b, "%s=%s: ", p.Option, p.Value)
	case p.Option != "":
		fmt.Fprintf(&b, "%s: ", p.Option)
	}
	return b.String() + p.Text
}

// Set is all jobs of a command, read and understood as far as that goes without their targets.
type Set struct {
	Jobs []*Job
	// Errors are what fio refuses, too: nothing can be run, and nothing parsed, with them.
	Errors []*Problem
	// Refusals are what fio would run, and this program does not.
	Refusals []*Problem
	// Notes are what is not quite as fio has it.
	Notes    []*Problem
	readOnly bool
	said     map[Problem]bool
}

// ReadJobs puts together what a command line and its files say: for every job the defaults of the command
// line, then those of [global] sections before it, then its own. Jobs named on the command line come
// before those of files, and each file but the first begins when those before it have ended.
func ReadJobs(c *Command, files [][]jobfile.Section) *Set {
	s := &Set{readOnly: c.ReadOnly}
	globals := slices.Clone(c.Defaults)
	for i := range c.Jobs {
		if c.Jobs[i].Name == jobfile.Global {
			globals = append(globals, c.Jobs[i].Settings...)
			continue
		}
		s.add(&c.Jobs[i], globals)
	}
	for n, sections := range files {
		before := len(s.Jobs)
		globals := slices.Clone(c.Defaults)
		for i := range sections {
			section := &sections[i]
			if section.Slip != "" {
				s.Refusals = append(s.Refusals, &Problem{Pos: section.Pos, Text: section.Slip})
			}
			if section.Name == jobfile.Global {
				globals = append(globals, section.Settings...)
				continue
			}
			if len(c.Sections) > 0 && !slices.Contains(c.Sections, section.Name) {
				continue
			}
			s.add(section, globals)
		}
		if n > 0 && len(s.Jobs) > before {
			s.Jobs[before].apart()
		}
	}
	return s
}

func (s *Set) add(section *jobfile.Section, globals []jobfile.Setting) {
	j := &Job{
		Name: section.Name, section: section.Name, Pos: section.Pos, Own: section.Settings, Globals: slices.Clone(globals),
		effective: map[string]jobfile.Setting{}, kbBase: kbDefault,
	}
	all := slices.Concat(globals, section.Settings)
	for _, set := range all {
		if o := Lookup(set.Name); o != nil && o.Name == "kb_base" && set.Value == "1000" {
			j.kbBase = kbSI // it holds for all sizes of the job, wherever it stands
		}
	}
	for _, set := range globals {
		s.setting(j, engineOf(globals), set)
	}
	for _, set := range section.Settings {
		s.setting(j, engineOf(all), set)
	}
	for _, set := range section.Settings { // not that of [global]: there each section's own name holds
		if set.Name == "name" && set.Value != "" {
			j.Name = set.Value
		}
	}
	s.whole(j)
	s.Jobs = append(s.Jobs, j)
}

// apart has a job wait for all before it, unless it says itself whether it does. It is no setting of the job's, so
// that no output shows it as one.
func (j *Job) apart() {
	if !j.Has("stonewall") {
		j.effective["stonewall"] = jobfile.Setting{Name: "stonewall", Pos: j.Pos}
	}
}

// whole checks what no single setting says.
func (s *Set) whole(j *Job) {
	wrong := func(option, format string, args ...any) {
		p := &Problem{Job: j.Name, Pos: j.Pos, Option: option, Text: fmt.Sprintf(format, args...)}
		if set, ok := j.effective[option]; ok {
			p.Pos, p.Value = set.Pos, set.Value
		}
		s.say(&s.Errors, p)
	}
	if name := j.Text("ioengine", "psync"); foreignEngine(name) && !strings.HasPrefix(name, "external:") && !strings.Contains(name, "/") && !slices.Contains(foreignEngines, name) {
		wrong("ioengine", "is no engine")
	}
	shape, _, _ := strings.Cut(j.Text("rw", "read"), ":")
	switch {
	case shape != "readwrite" && !slices.Contains(workload.Shapes, shape):
		wrong("rw", "known are %s", strings.Join(workload.Shapes, ", "))
	case s.readOnly && shape != "read" && shape != "randread":
		wrong("rw", "writes or trims, and --readonly is given")
	}
}

// foreignEngines are fio's that are not to be had here.
var foreignEngines = []string{
	"cpuio", "mmap", "net", "netsplice", "ftruncate", "filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete", "exec", "page_fault",
	"falloc", "e4defrag", "splice", "mtd", "sg", "io_uring_cmd", "rbd", "rados", "http", "gfapi", "gfapi_async", "libhdfs", "libiscsi", "nbd", "nfs",
	"libpmem", "dev-dax", "pmemblk", "libzbc", "libcufile", "libblkio", "xnvme", "rdma", "guasi", "binject", "dfs", "rpma", "librpma_apm_client",
	"librpma_apm_server", "librpma_gpspm_client", "librpma_gpspm_server", "cpp_null", "windowsaio", "solarisaio", "syslet-rw", "spdk", "spdk_bdev", "ime_aio", "ime_psync", "ime_psyncv",
}

// engineOf is the name of the engine that settings ask for.
func engineOf(all []jobfile.Setting) string {
	engine := "psync"
	for _, set := range all {
		if set.Name == "ioengine" {
			engine = set.Value
		}
	}
	return engine
}

func (s *Set) setting(j *Job, engine string, set jobfile.Setting) {
	problem := &Problem{Job: j.Name, Pos: set.Pos, Option: set.Name, Value: set.Value}
	o := Lookup(set.Name)
	switch {
	case slices.Contains(ignoredNames, set.Name):
		problem.Text = "is accepted and ignored, as fio does"
		s.say(&s.Notes, problem)
		return
	case o == nil && foreignEngine(engine):
		problem.Text = "belongs to an engine that is not to be had"
		s.say(&s.Refusals, problem)
		return
	case o == nil:
		problem.Text = "is no option"
		if near := nearest(set.Name); near != "" {
			problem.Text += "; did you mean " + near + "?"
		}
		s.say(&s.Errors, problem)
		return
	case !o.goesWith(engine) && !foreignEngine(engine):
		problem.Text = fmt.Sprintf("is an option of %s, not of ioengine=%s", strings.Join(o.Engines, " and "), engine)
		s.say(&s.Errors, problem)
		return
	}
	problem.Option = o.Name
	value, err := o.worked(set.Value, j.kbBase)
	if err == nil {
		err = o.check(value, set.Given, j.kbBase)
	}
	if err != nil {
		problem.Text = err.Error()
		if o.slips(set.Value) {
			s.say(&s.Refusals, problem)
		} else {
			s.say(&s.Errors, problem)
		}
		return
	}
	set.Name, set.Value = o.Name, value
	j.effective[o.Name] = set
	switch o.Effect {
	case Refused:
		if isOff(o, set) {
			return
		}
		problem.Text = "is not supported: " + o.Note
		s.say(&s.Refusals, problem)
	case Differs:
		if !isOff(o, set) && !o.Quiet {
			problem.Text = o.Note
			s.say(&s.Notes, problem)
		}
	}
}

// say adds a problem to a list, but for one that is there: defaults are those of many jobs.
func (s *Set) say(to *[]*Problem, p *Problem) {
	key := *p
	key.Job = ""
	if s.said[key] {
		return
	}
	if s.said == nil {
		s.said = map[Problem]bool{}
	}
	s.said[key] = true
	*to = append(*to, p)
}

// slips says whether fio takes a value that is wrong in form: it reads a number up to the first character
// that it does not understand, and goes on without a word.
func (o *Option) slips(value string) bool {
	switch o.Kind {
	case Int, Number, Seconds, Micro, Share, Triple, Range, Ranges:
		text := strings.TrimLeft(value, ", ")
		return text != "" && text[0] >= '0' && text[0] <= '9' && !o.beyond(value)
	}
	return false
}

// beyond says whether a value is a number, and outside of the option's limits.
func (o *Option) beyond(value string) bool {
	n, err := number(value, kbDefault)
	return err == nil && (n < o.Min || o.Max > 0 && n > o.Max)
}

// ignoredNames are options that fio takes without a meaning: threads belongs to one of its built-in profiles.
var ignoredNames = []string{"threads"}

// isOff says whether a setting asks for nothing: verify=0, zonemode=none.
func isOff(o *Option, set jobfile.Setting) bool {
	switch o.Kind {
	case Flag, Bool:
		on, err := flag(set.Value, set.Given)
		return err == nil && !on
	case Int, Number, Micro:
		n, err := number(set.Value, kbDefault)
		return err == nil && n == 0
	}
	return set.Value == "" || set.Value == "0" || set.Value == "none"
}

// foreignEngine says whether an engine is none that runs here.
func foreignEngine(name string) bool { _, known := engines[name]; return !known }

// engines maps fio's names to the registry's.
var engines = map[string]string{
	"io_uring": "io_uring", "libaio": "libaio", "psync": "psync", "sync": "psync", "vsync": "psync",
	"pvsync": "psync", "pvsync2": "psync", "posixaio": "libaio", "null": "null",
}

// Has says whether the job has an option, by its canonical name.
func (j *Job) Has(name string) bool { _, ok := j.effective[name]; return ok }

// Text is an option's value, or what stands for it.
func (j *Job) Text(name, otherwise string) string {
	if set, ok := j.effective[name]; ok {
		return set.Value
	}
	return otherwise
}

// On is the value of a Bool or Flag.
func (j *Job) On(name string, otherwise bool) bool {
	set, ok := j.effective[name]
	if !ok {
		return otherwise
	}
	on, err := flag(set.Value, set.Given)
	return err == nil && on
}

// Number is the value of an Int or Number, which has been checked.
func (j *Job) Number(name string, otherwise int64) int64 {
	set, ok := j.effective[name]
	if !ok {
		return otherwise
	}
	n, err := number(set.Value, j.kbBase)
	if err != nil {
		return otherwise
	}
	return n
}

// Floats is the value of a list of numbers, which has been checked.
func (j *Job) Floats(name string) (list []float64) {
	set, ok := j.effective[name]
	if !ok {
		return nil
	}
	for _, part := range strings.Split(set.Value, ":") {
		if v, err := float(strings.TrimSpace(part)); err == nil {
			list = append(list, v)
		}
	}
	return list
}
