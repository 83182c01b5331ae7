package fiojob

import (
	"strings"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/plan/fiojob/jobfile"
	"blkstorm/unit"
)

// lookAt knows a few files and devices; sizes are of their names.
func lookAt(path string) (Facts, error) {
	switch path {
	case "/dev/a":
		return Facts{Exists: true, Block: true, Bytes: 1 << 30}, nil
	case "/dev/b":
		return Facts{Exists: true, Block: true, Bytes: 2 << 30}, nil
	case "f1", "d/f1":
		return Facts{Exists: true, Bytes: 1 << 20}, nil
	case "f2":
		return Facts{Exists: true, Bytes: 2 << 20}, nil
	case "d", "p", "q": // folders
		return Facts{Exists: true}, nil
	case "x:y":
		return Facts{Exists: true, Bytes: 3 << 20}, nil
	}
	return Facts{}, nil
}

// jobs reads and translates a command line.
func jobs(t *testing.T, line string) (*Set, *Work) {
	t.Helper()
	c, err := ParseCommand(strings.Fields(line), func(string) string { return "" })
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	s := ReadJobs(c, nil)
	if len(s.Errors) > 0 {
		return s, nil
	}
	return s, s.Translate(Env{Look: lookAt, Seed: 1})
}

// run is jobs of a line that is not refused, whose plan is right.
func run(t *testing.T, line string) *Work {
	t.Helper()
	s, w := jobs(t, line)
	for _, list := range [][]*Problem{s.Errors, s.Refusals} {
		for _, p := range list {
			t.Fatalf("%s: %v", line, p)
		}
	}
	if err := w.Plan.Check(); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return w
}

func streams(w *Work) []plan.Stream { return w.Plan.Phases[0].Points[0].Streams }

// part is what is used of a file, in bytes.
type part struct{ offset, size int64 }

// Where and how much: recorded from fio 3.42, which was asked with the same lines.
func TestRanges(t *testing.T) {
	const k, m = 1 << 10, 1 << 20
	for _, c := range []struct {
		line   string
		parts  []part // of the streams, or of the only stream's files
		bytes  int64  // of the first stream; 0: any
		create int64  // size of the first file that is made
	}{
		{"--name=a --bs=64k --filename=f1", []part{{0, m}}, m, 0},
		{"--name=a --bs=64k --filename=f1 --offset=50%", []part{{512 * k, 512 * k}}, 512 * k, 0},
		{"--name=a --bs=64k --filename=f1 --offset=33%", []part{{320 * k, 704 * k}}, 0, 0},
		{"--name=a --bs=64k --filename=f1 --size=100% --offset=50%", []part{{512 * k, 512 * k}}, 512 * k, 0},
		{"--name=a --bs=64k --filename=f1 --size=100% --offset_increment=25% --numjobs=3", []part{{0, m}, {256 * k, 768 * k}, {512 * k, 512 * k}}, m, 0},
		{"--name=a --bs=64k --filename=f1 --offset_increment=256k --numjobs=3 --size=256k", []part{{0, 256 * k}, {256 * k, 256 * k}, {512 * k, 256 * k}}, 256 * k, 0},
		{"--name=a --bs=64k --filename=f1 --offset=100k --offset_align=64k", []part{{128 * k, 896 * k}}, 896 * k, 0},
		{"--name=a --bs=64k --filename=f1:f2", []part{{0, m}, {0, 2 * m}}, 3 * m, 0},
		{"--name=a --bs=64k --filename=f1:f2 --size=100%", []part{{0, m}, {0, 2 * m}}, 3 * m, 0},
		{"--name=a --bs=64k --filename=f1:f2 --size=50%", []part{{0, 512 * k}, {0, m}}, 1536 * k, 0},
		{"--name=a --bs=64k --filename=f1:f2 --size=50% --offset=25%", []part{{256 * k, 512 * k}, {512 * k, m}}, 1536 * k, 0},
		{"--name=a --bs=64k --filename=/dev/a:/dev/b --size=100% --time_based --runtime=1", []part{{0, 1 << 30}, {0, 2 << 30}}, 0, 0},
		{"--name=a --filename=x:y", []part{{0, 3 * m}}, 3 * m, 0},
		{"--name=a --filename=new --size=1m --loops=3", []part{{0, m}}, 3 * m, m},
		{"--name=a --filename=new --size=1m --io_size=256k", []part{{0, m}}, 256 * k, m},
		{"--name=a --filename=new --size=4m --io_size=50%", []part{{0, 4 * m}}, 2 * m, 4 * m},
		{"--name=a --filename=new --size=50% --filesize=4m", []part{{0, 2 * m}}, 2 * m, 2 * m},
		{"--name=a --filename=new --filesize=4m", []part{{0, 4 * m}}, 4 * m, 4 * m},
		{"--name=a --filename=new --size=1m --offset=256k --filesize=2m", []part{{256 * k, m}}, m, 2 * m},
		{"--name=a --filename=f1 --size=2m", []part{{0, 2 * m}}, 2 * m, 2 * m}, // laid out anew
		{"--name=a --directory=d --filename=f1 --size=512k", []part{{0, 512 * k}}, 512 * k, 0},
		{"--name=a --nrfiles=4 --size=4m", []part{{0, m}}, 4 * m, m},
		{"--name=a --nrfiles=4 --filesize=1m", []part{{0, m}}, 4 * m, m},
		{"--name=a --filename=f1 --size=0", []part{{0, m}}, m, 0},
		{"--name=a --filename=f1 --number_ios=10 --loops=2", []part{{0, m}}, 2 * m, 0},
		{"--name=a --filename=f1 --number_ios=10", []part{{0, m}}, m, 0},
		{"--name=a --filename=f2 --bs=3k --size=1000000", []part{{0, 998400}}, 998400, 0},
	} {
		w := run(t, c.line)
		var got []part
		for i, s := range streams(w) {
			if len(s.Parts) > 0 {
				for _, p := range s.Parts {
					got = append(got, part{p.Offset, p.Size})
				}
			} else {
				got = append(got, part{s.Workload.Offset.Bytes, s.Workload.Size.Bytes})
			}
			if i == 0 && c.bytes > 0 && s.Bytes != c.bytes {
				t.Errorf("%s: %s in all, want %s", c.line, unit.Size(s.Bytes), unit.Size(c.bytes))
			}
		}
		for i := range c.parts {
			if len(got) != len(c.parts) || got[i] != c.parts[i] {
				t.Errorf("%s: %v, want %v", c.line, got, c.parts)
				break
			}
		}
		created := int64(0)
		if len(w.Create) > 0 {
			created = w.Create[0].Bytes
		}
		if created != c.create {
			t.Errorf("%s: makes a file of %d bytes, want %d", c.line, created, c.create)
		}
	}
}

// Files of random sizes have the same ones in every look, within the range, and clones have names of their own.
func TestFiles(t *testing.T) {
	a, b := run(t, "--name=a --nrfiles=20 --filesize=64k-256k"), run(t, "--name=a --nrfiles=20 --filesize=64k-256k")
	sizes := map[int64]bool{}
	for i, f := range a.Create {
		if f != b.Create[i] || f.Bytes < 64<<10 || f.Bytes > 256<<10 || f.Bytes%4096 != 0 {
			t.Errorf("%v and %v", f, b.Create[i])
		}
		sizes[f.Bytes] = true
	}
	if len(sizes) < 10 {
		t.Errorf("only %d sizes", len(sizes))
	}
	for _, c := range []struct{ line, want string }{
		{"--size=4k --name=a --name=a --numjobs=2", "a.0.0 a.1.0"},
		{"--size=4k --directory=p:q --name=a --numjobs=3", "p/a.0.0 q/a.1.0 p/a.2.0"},
		{"--size=8k --name=a/b --nrfiles=2 --filename_format=$jobname-$filenum-$jobnum", "a/b-0-0 a/b-1-0"},
		{`--size=4k --name=a --filename=one\:two`, "one:two"},
	} {
		var names []string
		for _, f := range run(t, c.line).Create {
			names = append(names, f.Path)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: makes %s, want %s", c.line, got, c.want)
		}
	}
}

// Times, groups and points.
func TestOrder(t *testing.T) {
	w := run(t, "--filename=f1 --name=a --ramp_time=1 --runtime=5 --time_based --name=b --ramp_time=3 --runtime=5 --time_based --name=c --stonewall --startdelay=2 --ramp_time=1")
	points := w.Plan.Phases[0].Points
	if len(points) != 2 || points[0].Ramp.D() != time.Second || points[0].Streams[0].Ramp != 0 || points[0].Streams[1].Ramp.D() != 3*time.Second {
		t.Errorf("%+v", points)
	}
	if p := &points[1]; p.Ramp.D() != time.Second || p.Streams[0].Ramp.D() != time.Second || p.Streams[0].Start.D() != 2*time.Second {
		t.Errorf("%+v", p)
	}
	w = run(t, "--filename=f1 --name=a --name=b --wait_for=a --name=c --wait_for=a --new_group")
	if p := w.Plan.Phases[0].Points; len(p) != 2 || len(p[1].Streams) != 2 || w.Clones[1].Group != 0 || w.Clones[2].Group != 1 {
		t.Errorf("wait_for: %+v", p)
	}
	if w := run(t, "--filename=f1 --iodepth_batch_complete_min=8 --name=a --iodepth=16 --name=b --iodepth=4"); w.Plan.CompleteMin != 8 || w.Plan.CompleteMinOf(&streams(w)[0]) != 8 || w.Plan.CompleteMinOf(&streams(w)[1]) != 4 {
		t.Errorf("waits for %d completions, %+v", w.Plan.CompleteMin, streams(w))
	}
	seen := map[plan.Duration]bool{}
	for _, s := range streams(run(t, "--filename=f1 --name=a --numjobs=8 --startdelay=1-3")) {
		if s.Start.D() < time.Second || s.Start.D() > 3*time.Second {
			t.Errorf("startdelay=1-3 is %v", s.Start.D())
		}
		seen[s.Start] = true
	}
	if len(seen) < 6 {
		t.Errorf("startdelay: only %d times", len(seen))
	}
	if s := streams(run(t, "--filename=f1 --name=a --flow=3 --numjobs=2 --name=b --flow=2")); s[0].Share != 37.5 || s[1].Share != 37.5 || s[2].Share != 25 {
		t.Errorf("flow: %+v", s)
	}
	if s := &streams(run(t, "--filename=f1 --name=a --exitall --rw=write --end_fsync=1 --max_latency=5ms"))[0]; !s.EndsPoint || !s.EndSync || s.MaxLatency.D() != 5*time.Millisecond {
		t.Errorf("%+v", s)
	}
	if s := &streams(run(t, "--filename=f1 --name=a --iodepth=32 --latency_target=2ms --latency_window=5s --latency_percentile=99.5 --latency_run=1"))[0]; *s.Tune != (plan.Tune{
		Latency: plan.Duration(2 * time.Millisecond), Window: plan.Duration(5 * time.Second), Percent: 99.5, Hold: true,
	}) {
		t.Errorf("%+v", s.Tune)
	}
	if s := run(t, "--filename=f1 --name=a --runtime=60 --time_based --ss=iops_slope:0.3% --ss_dur=30 --ss_ramp=5").Steady[0]; s == nil || s.Rule.Window != 30 || s.Ramp != 5*time.Second {
		t.Errorf("%+v", s)
	}
}

// What a job has otherwise than the first is in its stream.
func TestOwn(t *testing.T) {
	w := run(t, "--filename=f1 --name=a --ioengine=io_uring --hipri --iodepth=8 --direct=1 --cpumask=5 --name=b --ioengine=sync --direct=0 --cpus_allowed=0:2-3 --continue_on_error=all "+
		"--name=c --ioengine=posixaio --iodepth_batch_complete_min=3 --iodepth=2 --direct=1")
	p, list := w.Plan, streams(w)
	if p.Engine != "io_uring" || !p.HiPri || !p.Direct || p.CompleteMin != 1 || p.ContinueOnError || p.Pin != "auto" {
		t.Errorf("%+v", p)
	}
	if s := list[0]; s.Engine != "" || s.Direct != nil || s.CompleteMin != 0 || s.ContinueOnError != nil || s.Pin != "0,2" {
		t.Errorf("%+v", s)
	}
	if s := list[1]; s.Engine != "psync" || p.DirectOf(&s) || s.CompleteMin != 0 || !p.ContinuesOnError(&s) || s.Pin != "0,2-3" {
		t.Errorf("%+v", s)
	}
	if s := list[2]; s.Engine != "libaio" || s.Direct != nil || s.CompleteMin != 2 || s.Pin != "" {
		t.Errorf("%+v", s)
	}
}

// Values in parentheses are worked out as the option's kind has them: with suffixes of sizes or of times, which are
// µs without one. This is what fio's manual says; the fio that was asked is built without it.
func TestArithmetic(t *testing.T) {
	w := run(t, "--filename=f1 --name=a --ioengine=libaio --direct=1 --bs=(2*2k) --size=(64k*2+128k) --iodepth=(2^3) --time_based --runtime=(2s+500*1ms) --startdelay=(3*500000) --numjobs=(7%4)")
	if s := streams(w)[0]; len(streams(w)) != 3 || s.Workload.BlockSize != 4096 || s.Workload.Size.Bytes != 256<<10 || s.IODepth != 8 ||
		s.Time.D() != 2500*time.Millisecond || s.Start.D() != 1500*time.Millisecond {
		t.Errorf("%d streams: %+v", len(streams(w)), s)
	}
	for line, want := range map[string]string{
		"--bs=(2*2s)":       "s is no suffix",
		"--runtime=(2*1g)":  "g is no suffix",
		"--runtime=(2*1ns)": "ns is no suffix",
		"--bs=(4k":          "must be a whole number",
		"--bs=(4k))":        "cannot be worked out from ) on",
		"--size=(1-2)":      "must be",
		"--iodepth=(2^99)":  "must be at most",
		"--bs=(1/0)":        "divides by 0",
	} {
		if s, _ := jobs(t, "--filename=f1 --name=a "+line); len(s.Errors) != 1 || !strings.Contains(s.Errors[0].Error(), want) {
			t.Errorf("%s: %v", line, s.Errors)
		}
	}
	if s, _ := jobs(t, "--filename=f1 --name=(x)"); len(s.Errors) != 0 || s.Jobs[0].Name != "(x)" {
		t.Errorf("a text in parentheses: %v", s.Errors)
	}
}

// What is not to be had is refused by name, and what makes no sense is an error.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		line, option string
		wrong        bool // an error of the language, which fio has, too
	}{
		{"--name=a --filename=f1 --verify=md5", "verify", false},
		{"--name=a --filename=f1 --ioengine=mmap", "ioengine", false},
		{"--name=a --filename=f1 --ioengine=libaoi", "ioengine", true},
		{"--name=a --filename=f1 --numjobs=0", "numjobs", false},
		{"--name=a --size=4k --nrfiles=0", "filename", false},
		{"--name=a --filename=f1 --rw=foo", "rw", true},
		{"--readonly --name=a --filename=f1 --rw=randrw", "rw", true},
		{"--name=a --filename=f1 --rwmixread=101", "rwmixread", true},
		{"--name=a --filename=f1 --exit_what=foo", "exit_what", true},
		{"--name=a --filename=f1 --ioengine=libaio --name=b --filename=f1 --ioengine=null", "ioengine", false},
		{"--name=a --filename=f1 --ioengine=null --name=b --filename=f1", "ioengine", false},
		{"--name=a --filename=f1 --ioengine=io_uring --name=b --filename=f1 --ioengine=io_uring --hipri", "hipri", false},
		{"--name=a --filename=f1 --ioengine=libaio --name=b --filename=f1 --ioengine=io_uring --sqthread_poll", "sqthread_poll", false},
		{"--name=a --filename=f1 --name=b --filename=f1 --wait_for=c", "wait_for", false},
		{"--name=a --filename=f1 --name=b --filename=f1 --name=c --filename=f1 --wait_for=a", "wait_for", false},
		{"--name=a --filename=f1 --exitall --exit_what=all --name=b --filename=f1 --stonewall", "exit_what", false},
		{"--name=a --filename=f1 --exitall --name=b --filename=f1 --new_group", "exit_what", false},
		{"--name=a --filename=f1 --create_only=1 --name=b --filename=f1", "create_only", false},
		{"--name=a --filename=new --size=4k --allow_file_create=0", "filename", false},
		{"--name=a --filename=f1:f2 --file_service_type=random", "file_service_type", false},
		{"--name=a --filename=f1 --ba=4k,8k --rw=randread", "ba", false},
		{"--name=a --filename=f1 --rw=randread:0", "rw", false},
		{"--name=a --filename=f1 --max_latency=1s,2s", "max_latency", false},
		{"--name=a --filename=f1 --latency_target=1ms --rate_iops=100", "latency_target", false},
		{"--name=a --filename=f1 --ss=iops:20%", "steadystate", false},
		{"--name=a --filename=f1 --ss=iops:20% --ss_dur=10 --name=b --filename=f1", "steadystate", false},
		{"--name=a --filename=f1 --bs=2g", "bs", false},
		{"--name=a --filename=f1 --bs=2g --rw=trimwrite", "bs", false},
		{"--name=a --filename=f1 --bs=4k,2g,4k --rw=randrw", "bs", false},
		{"--name=a --filename=f1 --bs=2g --rw=trim", "size", false}, // the file has 1 MiB
		{"--name=a --filename=f1 --size=1k", "size", false},
		{"--name=a --filename=f1 --rate=1m --thinktime=5 --rate_ignore_thinktime=1", "rate_ignore_thinktime", false},
		{"--name=a --filename=f1 --offset=2m", "filename", false},
		{"--name=a --filename=f1 --flow=1 --name=b --filename=f1", "flow", false},
		{"--name=a --filename=f1 --flow=1 --name=b --filename=f1 --flow=2 --flow_id=1", "flow_id", false},
		{"--name=a --filename=f1 --flow=1 --rate_iops=10", "flow", false},
	} {
		s, _ := jobs(t, c.line)
		list := s.Refusals
		if c.wrong {
			list = s.Errors
		}
		if len(list) == 0 || list[0].Option != c.option || !strings.Contains(list[0].Error(), c.option) {
			t.Errorf("%s: %v, want %s", c.line, list, c.option)
		}
	}
}

// Shapes, with what fio does where its manual is silent.
func TestShapes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"--rw=randread:8", "randread 4k jump every 8 size 1m"},
		{"--rw=randread:1", "randread 4k coverage size 1m"},
		{"--rw=read:4k", "read 4k stride 8k size 1m"},
		{"--rw=read:-8k", "read 4k backward size 1m"},
		{"--rw=randwrite --percentage_random=,11,", "randwrite 4k 100,11,100% random size 1m"},
		{"--rw=randread --percentage_random=25", "randread 4k 25% random size 1m"},
		{"--rw=randrw --rwmixwrite=30 --norandommap", "randrw 70% read 4k size 1m"},
		{"--rw=randread --bssplit=8k/50:16k/10", "randread 8k/90:16k/10 size 1m"}, // the rest is the largest share's
		{"--rw=randread --bssplit=16k/10:8k/10:32k/10", "randread 16k/10:8k/10:32k/80 size 1m"},
		{"--rw=randread --bssplit=4k:8k/75", "randread 4k/25:8k/75 size 1m"},
		{"--rw=randrw --bssplit=4k/100,8k/100", "randrw 50% read 4k/100,8k/100 size 1m"},
		{"--rw=randread --bs=512 --ba=4k", "randread 512 size 1m"},
		{"--rw=randread --random_distribution=zipf:1.2", "randread 4k zipf:1.2 size 1m"},
	} {
		w := streams(run(t, "--name=a --filename=f1 "+c.line))[0].Workload
		if got := w.Label(); got != c.want {
			t.Errorf("%s: %s, want %s", c.line, got, c.want)
		}
	}
}

// Defaults are noted once, whatever number of jobs they are for; what is off is not noted.
func TestNotes(t *testing.T) {
	file := "[global]\nfilename=f1\niodepth_low=4\nrandrepeat=1\nserialize_overlap=0\n[a]\n[b]\n[c]\niodepth_low=4\n"
	sections, err := jobfile.Read(strings.NewReader(file), "x.fio", jobfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := ReadJobs(&Command{}, [][]jobfile.Section{sections})
	if len(s.Notes) != 2 || s.Notes[0].Pos.Line != 3 || s.Notes[1].Job != "c" {
		t.Errorf("%v", s.Notes)
	}
}
