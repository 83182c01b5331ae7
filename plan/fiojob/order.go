package fiojob

import (
	"path/filepath"
	"slices"
	"strings"

	"blkstorm/plan"
)

// waits says whether a job with wait_for begins a point of its own: when it waits for all that runs so far.
// jobs are those of the point that is on, and i is its own number.
func (t *translator) waits(j *Job, i int, jobs []*Job) bool {
	name := j.Text("wait_for", "")
	if name == "" || j.On("stonewall", false) {
		return false
	}
	named := func(other *Job) bool { return other.Name == name }
	switch {
	case !slices.ContainsFunc(t.set.Jobs[:i], named):
		t.refuse(j, "wait_for", "no job before it has that name")
		return false
	case !slices.ContainsFunc(jobs, named):
		return false // it is over then anyway
	}
	for _, other := range jobs {
		if other.Name != name && other.Text("wait_for", "") != name {
			t.refuse(j, "wait_for", "job %s runs at the same time, and would go on: use stonewall", other.Name)
			return false
		}
	}
	return slices.ContainsFunc(jobs, named)
}

// exit checks what exitall of a point's jobs ends: those that run together.
func (t *translator) exit(jobs []*Job) {
	for i, j := range jobs {
		if !j.On("exitall", false) {
			continue
		}
		last := j == t.set.Jobs[len(t.set.Jobs)-1] || jobs[len(jobs)-1] == t.set.Jobs[len(t.set.Jobs)-1]
		switch what := j.Text("exit_what", "group"); {
		case what == "all" && !last:
			t.refuse(j, "exit_what", "jobs after a stonewall would not run at all: leave them out, or use stonewall here")
		case what == "group" && slices.ContainsFunc(jobs[1:], func(j *Job) bool { return j.On("new_group", false) }):
			t.refuse(jobs[i], "exit_what", "jobs of several groups that run together end together here: use exit_what=stonewall")
		}
	}
}

// invalid lists the files of jobs that go through the page cache and want it empty of them, as fio does
// unless invalidate=0.
func (t *translator) invalid(jobs []*Job) (list []string) {
	for _, j := range jobs {
		if j.direct() || !j.On("invalidate", true) {
			continue
		}
		for n := range min(max(j.Number("numjobs", 1), 1), plan.MaxThreads) {
			names, err := t.names(j, int(n))
			if err != nil {
				continue // told where the files are laid out
			}
			for _, name := range names {
				if !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

// fileTypes refuses a way of going through files that is another than taking turns.
func (t *translator) fileTypes(j *Job, files int) bool {
	kind, every, _ := strings.Cut(j.Text("file_service_type", "roundrobin"), ":")
	if files < 2 || kind == "roundrobin" && (every == "" || every == "1") {
		return true
	}
	t.refuse(j, "file_service_type", "files are taken in turns, one I/O each")
	return false
}

// fileName is a file's name by filename_format.
func fileName(dir, format, job, clone, file string) string {
	r := strings.NewReplacer("$jobname", job, "$clientuid", "", "$jobnum", clone, "$filenum", file)
	return filepath.Join(dir, r.Replace(format))
}
