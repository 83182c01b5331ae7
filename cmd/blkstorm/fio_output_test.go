package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"blkstorm/lab"
	"blkstorm/result/fiojson"
)

// failedFio runs what must fail with the status, and returns what it says in JSON: one document with all jobs.
func failedFio(t *testing.T, status int, args ...string) *typed {
	t.Helper()
	out := blkstorm(t, append([]string{"fio", "--output-format=json"}, args...)...).want(t, status)
	if out.stderr == "" {
		t.Error("standard error is empty")
	}
	list := decodeTyped(t, out.stdout)
	if len(list) != 1 {
		t.Fatalf("%d documents", len(list))
	}
	if !strings.HasPrefix(out.stdout, "{\n  \"fio version\" : \"fio-3.42\",\n") {
		t.Errorf("it begins with %.60q", out.stdout)
	}
	return list[0]
}

// What is refused is a document, too, that has every job with the number of an error.
func TestFioRefusedIsADocument(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args  []string
		errno syscall.Errno
	}{
		"an option":      {[]string{"--name=a", "--filename=x", "--size=1m", "--numjobs=2", "--name=b", "--zonemode=zbd"}, syscall.EINVAL},
		"no such folder": {[]string{"--directory=none", "--size=1m", "--name=a", "--name=b", "--name=c"}, syscall.ENOENT},
	} {
		doc := failedFio(t, exitUsage, c.args...)
		if len(doc.Jobs) != 3 {
			t.Errorf("%s: %d jobs", name, len(doc.Jobs))
		}
		for _, j := range doc.Jobs {
			if j.Error != int(c.errno) || j.Read.IOs != 0 || j.ETA != 0 || j.Start != 0 {
				t.Errorf("%s: job %s has error %d, want %d; %d I/Os, %d s left, start %d", name, j.Name, j.Error, c.errno, j.Read.IOs, j.ETA, j.Start)
			}
		}
	}
	// Where fio itself understands nothing, there is no document.
	for _, args := range [][]string{{"--name=a", "--bs=abc"}, {"--nothing=1"}, {"none.fio"}, {"--name=a", "--output-format=xml"}, {"--name=a", "--client=b"}} {
		out := blkstorm(t, append([]string{"fio", "--output-format=json"}, args...)...).want(t, exitUsage)
		if out.stdout != "" || !strings.HasPrefix(out.stderr, "blkstorm: ") {
			t.Errorf("%v: %q and %q", args, out.stdout, out.stderr)
		}
	}
}

func TestFioGuardWritesADocument(t *testing.T) {
	t.Parallel()
	dev, _ := loopOn(t, 16*mib, lab.LoopOptions{})
	lab.Run(t, "mkfs.ext4", "-q", dev)
	args := []string{"--name=a", "--filename=" + dev, "--rw=write", "--bs=64k", "--direct=1", "--ioengine=libaio", "--io_size=1m"}
	doc := failedFio(t, exitRefused, args...)
	if doc.Jobs[0].Error != int(syscall.EPERM) || doc.Jobs[0].Options["filename"] != dev || len(doc.Disks) != 0 {
		t.Errorf("%+v", doc)
	}
	out := blkstorm(t, append([]string{"fio", "--output-format=json", "--destroy-signature", dev}, args...)...).want(t, 0)
	doc = decodeTyped(t, out.stdout)[0]
	if w := doc.Jobs[0].Write; w.Bytes != mib || len(doc.Disks) != 1 || doc.Disks[0].Name != filepath.Base(dev) || doc.Disks[0].WriteIOs < 16 || doc.Disks[0].ReadIOs != 0 {
		t.Errorf("%+v and disks %+v", w, doc.Disks)
	}
}

// An I/O that fails ends its job: status 1, and the number of the error in that job only.
func TestFioFailingDevice(t *testing.T) {
	t.Parallel()
	dev := truncatedLoop(t, 2*mib, mib)
	args := []string{"--bs=64k", "--size=2m", "--rw=read", "--name=bad", "--filename=" + dev, "--name=good", "--filename=x", "--size=128k"}
	doc := failedFio(t, fioFailed, args...)
	bad, good := &doc.Jobs[0], &doc.Jobs[1]
	if bad.Error != int(syscall.EIO) || bad.Read.IOs > 16 || good.Error != 0 {
		t.Errorf("errors %d and %d, %d good I/Os", bad.Error, good.Error, bad.Read.IOs)
	}
	out := blkstorm(t, "fio", "--name=bad", "--filename="+dev, "--bs=64k", "--size=2m", "--rw=read", "--continue_on_error=all").want(t, 0)
	for _, pattern := range []string{
		`(?m)^bad: \(groupid=0, jobs=1\): err= 5 \(func=io_u error, error=Input/output error\): pid=\d+: `,
		`(?m)^     errors    : total=\d+, first_error=5/<Input/output error>$`,
	} {
		if !regexp.MustCompile(pattern).MatchString(out.stdout) {
			t.Errorf("nothing matches %s in\n%s", pattern, out.stdout)
		}
	}
}

// A device that never answers: fio would wait for ever; here the document comes after the grace, and the job has an
// error.
func TestFioHungDevice(t *testing.T) {
	t.Parallel()
	disk := lab.NewFrozen(t, 64*mib)
	p := start(t, "", "fio", "--output-format=json", "--ioengine=io_uring", "--direct=1", "--rw=randwrite", "--time_based", "--runtime=2s",
		"--name=bad", "--filename="+disk.Dev, "--iodepth=4", "--name=good", "--filename=x", "--size=1m")
	defer disk.Thaw()
	time.AfterFunc(time.Second, disk.Freeze)
	out := p.wait().want(t, fioFailed, "4 I/Os were never answered, the oldest: write of 4096 bytes at offset ", " of "+disk.Dev+", for ")
	if took := time.Since(p.since); took < 12*time.Second || took > 20*time.Second {
		t.Errorf("the document came after %v; runtime + grace is 12 s", took)
	}
	if jobs := decodeTyped(t, out.stdout)[0].Jobs; jobs[0].Error != int(syscall.ETIMEDOUT) || jobs[0].Write.IOs == 0 || jobs[1].Error != 0 {
		t.Errorf("%+v", jobs)
	}
}

// A signal ends a run with what there is, and fio's status; jobs that it did not come to have zeros.
func TestFioInterrupted(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := start(t, "", "fio", "--output-format=json", "--status-interval=1", "--output=o", "--filename=x", "--size=1m", "--rate_iops=100",
			"--name=a", "--runtime=60", "--time_based", "--name=b", "--stonewall")
		output := filepath.Join(p.cmd.Dir, "o")
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if text, err := os.ReadFile(output); err == nil && strings.Contains(string(text), "\n}\n") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("no document after 30 s")
			}
		}
		p.signal(s)
		out := p.wait().want(t, fioEnded)
		text, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		list := decodeTyped(t, string(text))
		last := list[len(list)-1]
		if len(list) < 2 || out.stdout != "" || out.stderr != "" || last.Jobs[0].ETA != 0 || last.Jobs[0].Read.IOs == 0 || last.Jobs[1].Read.IOs != 0 || last.Jobs[1].ETA != 0 {
			t.Errorf("%d documents, %q, %q, the last %+v", len(list), out.stdout, out.stderr, last.Jobs)
		}
	}
}

// Several forms go to one output in fio's order, whatever the order that they are asked for in; and a name that
// is none of a file system's or a terminal's friends breaks none of them.
func TestFioForms(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"--output-format=normal,json":        "head { } a run",
		"--output-format=json,normal":        "head { } a run",
		"--output-format=normal,terse,json+": "head terse { } a run",
		"--output-format=json,terse":         "terse { }",
		"--append-terse":                     "head terse a run",
		"--minimal":                          "terse",
		"-f":                                 "head terse a run",
	} {
		p := start(t, "", "fio", asked, "--output=o", "--name=a", "--filename=x", "--size=64k", "--rw=read")
		if out := p.wait().want(t, 0); out.stdout != "" || out.stderr != "" {
			t.Errorf("%s: %q, %q", asked, out.stdout, out.stderr)
		}
		text, err := os.ReadFile(filepath.Join(p.cmd.Dir, "o"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(text)) {
			for prefix, name := range map[string]string{"a: (g=0): ": "head", "3;fio-3.42;a;0;0;": "terse", "{": "{", "}": "}", "a: (groupid=0": "a", "Run status": "run"} {
				if strings.HasPrefix(line, prefix) {
					got = append(got, name)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s\n%s", asked, got, want, text)
		}
	}
	hostile := "a\"b\\c\x1b[31m;\td\u00e9"
	out := blkstorm(t, "fio", "--output-format=json,terse,normal", "--name="+hostile, "--filename=x", "--size=64k", "--description=\x1b]0;x\a").want(t, 0)
	at := strings.Index(out.stdout, "\n{") + 1
	if doc := decodeTyped(t, out.stdout[at:at+strings.Index(out.stdout[at:], "\n}")+2])[0]; doc.Jobs[0].Name != hostile || doc.Jobs[0].Options["description"] != "\x1b]0;x\a" {
		t.Errorf("%q, %q", doc.Jobs[0].Name, doc.Jobs[0].Options)
	}
	if strings.ContainsAny(out.stdout, "\x1b\a") {
		t.Error("there are control characters in the text")
	}
}

// 64 clones are 64 entries, or one; options that are given twice are there twice.
func TestFioManyClones(t *testing.T) {
	t.Parallel()
	args := []string{"--filename=x", "--size=256k", "--bs=4k", "--bs=8k", "--number_ios=4", "--name=a", "--numjobs=64"}
	out := blkstorm(t, append([]string{"fio", "--output-format=json"}, args...)...).want(t, 0)
	if doc := decodeTyped(t, out.stdout)[0]; len(doc.Jobs) != 64 || doc.Jobs[63].Read.IOs != 4 {
		t.Errorf("%d jobs", len(doc.Jobs))
	}
	if strings.Count(out.stdout, "\"bs\" : ") != 2 {
		t.Error("bs is not there twice")
	}
	out = blkstorm(t, append([]string{"fio", "--output-format=json", "--group_reporting"}, args...)...).want(t, 0)
	if doc := decodeTyped(t, out.stdout)[0]; len(doc.Jobs) != 1 || doc.Jobs[0].Read.IOs != 256 || doc.Jobs[0].Read.Lat.N != 256 {
		t.Errorf("%d jobs, %+v", len(doc.Jobs), doc.Jobs[0])
	}
}

// An output that cannot be written is told, and costs the status.
func TestFioOutputOnAFullDisk(t *testing.T) {
	t.Parallel()
	job := []string{"--name=a", "--filename=x", "--size=64k"}
	blkstorm(t, append([]string{"fio", "--output-format=json", "--output=/dev/full"}, job...)...).want(t, exitUsage, "no space left on device")
	blkstorm(t, append([]string{"fio", "--output-format=normal", "--output=/dev/full"}, job...)...).want(t, exitUsage, "no space left on device")
	p := start(t, "", append([]string{"fio", "--output=none/o"}, job...)...)
	p.wait().want(t, exitUsage, "--output: open none/o")
	if n := used(t, p.cmd.Dir); n != 0 {
		t.Errorf("%d files were laid out before that", n)
	}
	dir := smallFS(t, 4*mib)
	file := "--filename=" + filepath.Join(dir, "x")
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "x"), 16*mib); err != nil {
		t.Fatal(err)
	}
	doc := failedFio(t, fioFailed, "--name=a", file, "--size=16m", "--rw=write", "--bs=1m")
	if doc.Jobs[0].Error == 0 || doc.Jobs[0].Write.IOs > 4 {
		t.Errorf("%+v", doc.Jobs[0])
	}
}

// What blkstorm fio writes, blkstorm compare and merge read: the same counts, and latencies to the width of a bin.
func TestFioRoundTrip(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"json", "json+"} {
		out := blkstorm(t, "fio", "--output-format="+form, "--filename=x", "--size=4m", "--name=a", "--rw=randrw", "--bs=4k", "--fsync=64", "--name=b", "--numjobs=3", "--rw=read").want(t, 0)
		want := decodeTyped(t, out.stdout)[0]
		got, err := fiojson.Read([]byte(out.stdout))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Doc.Points) != 2 {
			t.Fatalf("%s: %d points", form, len(got.Doc.Points))
		}
		a, b := got.Doc.Points[0], got.Doc.Points[1]
		if r := &want.Jobs[0].Read; a.Read.IOs != uint64(r.IOs) || a.Read.Bytes != uint64(r.Bytes) || a.Read.Latency.Min != r.Lat.Min || a.Read.Latency.Max != r.Lat.Max {
			t.Errorf("%s: %+v, want %+v", form, a.Read, r)
		}
		if a.Sync.IOs == 0 || a.Sync.IOs != uint64(want.Jobs[0].Sync.IOs) || b.Read.IOs != 3*1024 || b.Write.IOs != 0 {
			t.Errorf("%s: %d syncs, %d reads", form, a.Sync.IOs, b.Read.IOs)
		}
		hasBuffered := false
		for _, w := range got.Doc.Warnings {
			hasBuffered = hasBuffered || w.Code == "buffered"
			if w.Code == "fio_completion_latency" {
				t.Errorf("%s: %s", form, w.Message)
			}
		}
		if !hasBuffered {
			t.Errorf("%s: its own warnings are lost: %v", form, got.Doc.Warnings)
		}
		if (a.Read.Latency.HDR != "") != (form == "json+") {
			t.Errorf("%s: histogram %q", form, a.Read.Latency.HDR)
		}
	}
}

// bench-fio and others take any text on standard error for a failure. This is how such a program calls fio: a script
// in its path that hands over to blkstorm fio, or blkstorm itself by that name.
func TestFioInPath(t *testing.T) {
	t.Parallel()
	t.Run("script", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "fio"), []byte("#!/bin/sh\nexec blkstorm fio \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		callFio(t, dir)
	})
	t.Run("link", func(t *testing.T) {
		lab.Root(t) // others may have no place to compile in
		dir := t.TempDir()
		if err := os.Symlink(lab.Build(t, "blkstorm/cmd/blkstorm"), filepath.Join(dir, "fio")); err != nil {
			t.Fatal(err)
		}
		callFio(t, dir)
	})
}

// callFio runs the script with the folder first in its path.
func callFio(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", `
test "$(fio --version)" = fio-3.42
cat > job.fio <<END
[global]
ioengine=libaio
rw=randread
bs=4k
size=1m
filename=x
[FIOJOB]
iodepth=4
numjobs=2
END
for mode in read randwrite; do
	sed -i "s/^rw=.*/rw=$mode/" job.fio
	errors=$(fio --output-format=json --output="$mode.json" job.fio 2>&1 >stdout)
	test -z "$errors"
	grep -q '"jobname" : "FIOJOB"' "$mode.json"
done
test ! -s stdout
`)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// With --eta=always standard output tells how far the run is, whatever else is written where.
func TestFioETA(t *testing.T) {
	t.Parallel()
	out := blkstorm(t, "fio", "--eta=always", "--output-format=json", "--output=o", "--filename=x", "--size=1m", "--time_based", "--rate_iops=100,50",
		"--name=a", "--rw=randrw", "--runtime=3", "--name=b", "--stonewall", "--rw=write", "--numjobs=2", "--runtime=2").want(t, 0)
	for _, pattern := range []string{
		`Jobs: 1 \(f=1\): \[m\(1\),P\(2\)\]\[\d+\.\d%\]\[r=\d+KiB/s,w=\d+KiB/s\]\[r=\d+,w=\d+ IOPS\]\[eta 00m:0[12]s\] *\r`,
		`Jobs: 2 \(f=2\): \[_\(1\),W\(2\)\]\[100\.0%\]\[w=\d+KiB/s\]\[w=\d+ IOPS\]\[eta 00m:00s\] *\r`,
	} {
		if !regexp.MustCompile(pattern).MatchString(out.stdout) {
			t.Errorf("nothing matches %s in %q", pattern, out.stdout)
		}
	}
	out = blkstorm(t, "fio", "--filename=x", "--size=1m", "--runtime=2", "--time_based", "--name=a", "--rate_iops=100").want(t, 0)
	if strings.ContainsAny(out.stdout, "\r") {
		t.Errorf("progress where there is no terminal: %q", out.stdout)
	}
}

// The page says of every key of the key blkstorm what it is, and of those of fio's that differ.
func TestFioGuideHasTheKeys(t *testing.T) {
	t.Parallel()
	page := docs(t, "docs/fio-output.md")
	out := blkstorm(t, "fio", "--output-format=json", "--name=a", "--filename=x", "--size=64k").want(t, 0)
	block, ok := decodeFio(t, out.stdout).(map[string]any)["blkstorm"].(map[string]any)
	if !ok || len(block) < 6 {
		t.Fatalf("%v", block)
	}
	for key := range block {
		if !strings.Contains(page, "| `"+key+"` |") {
			t.Errorf("docs/fio-output.md lacks %s", key)
		}
	}
}
