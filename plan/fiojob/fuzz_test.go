package fiojob

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"blkstorm/plan/fiojob/jobfile"
)

// Whatever a job file and a command line say, they are understood or refused, and each problem says where.
func FuzzJobs(f *testing.F) {
	for _, seed := range []string{
		"[global]\nioengine=libaio\ndirect=1\nfilename=/dev/a:/dev/b\nsize=100%\n[a]\nrw=randrw:8\nbssplit=4k/60:64k/40,8k/100\nnumjobs=3\noffset_increment=10%\n",
		"[a]\nrw=read:-8k\nfilesize=4k-64k\nnrfiles=5\nramp_time=1\nruntime=2m\ntime_based\nrate=1m,2m\nss=iops_slope:1%\nss_dur=3\n",
		"[a]\nlatency_target=1ms\nlatency_window=1s\nrandom_distribution=zoned:50/5:50/95,60/10:40/90\npercentage_random=,11,\nba=8k\n[b]\nstonewall\nwait_for=a\n",
		"[a]\nbsrange=4k-16k,8k:64k\nbuffer_pattern=0xdead\"x\"\nstartdelay=1-3\nthinktime=5\nthinktime_blocks=7\nexitall\nsize=12345%%\noffset_align=0\n",
		"[a]\nfilename_format=$jobname.$x\ndirectory=a:b\\:c\nio_size=9223372036854775807\nloops=9223372036854775807\nsize=8e\n",
	} {
		f.Add(seed, "--name=x --rw randread -bs=4k --output-format=json,normal --status-interval=1")
	}
	f.Fuzz(func(t *testing.T, file, line string) {
		sections, err := jobfile.Read(strings.NewReader(file), "f.fio", jobfile.Options{
			Getenv: func(string) string { return "8" }, Keywords: jobfile.Keywords{"ncpus": 2},
			Include: func(string, string) (string, io.ReadCloser, error) { return "", nil, errors.New("no file") },
		})
		if err != nil {
			sections = nil
		}
		c, err := ParseCommand(strings.Fields(line), func(string) string { return "8" })
		if err != nil {
			if !strings.HasPrefix(err.Error(), "--") {
				t.Fatalf("%q: %v says not where", line, err)
			}
			c = &Command{}
		}
		ShowCommand(c, [][]jobfile.Section{sections})
		s := ReadJobs(c, [][]jobfile.Section{sections})
		if len(s.Errors) == 0 && small(s) {
			w := s.Translate(Env{Look: lookAt, Seed: 1})
			if len(s.Refusals) == 0 {
				if len(w.Clones) == 0 {
					t.Fatal("nothing is refused, and nothing is run")
				}
				_ = w.Plan.Check()
			}
		}
		for _, p := range slices.Concat(s.Errors, s.Refusals, s.Notes) {
			if p.Text == "" || p.Error() == "" {
				t.Fatalf("%+v says nothing", p)
			}
		}
	})
}

// small keeps plans of thousands of clones out of the fuzzer's time.
func small(s *Set) bool {
	n := int64(0)
	for _, j := range s.Jobs {
		n += max(j.Number("numjobs", 1), 1) * max(j.Number("nrfiles", 1), 1)
		if n > 1000 {
			return false
		}
	}
	return true
}
