package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blkstorm/lab"
)

// smallFS mounts a file system of size bytes in memory.
func smallFS(t *testing.T, size int) string {
	t.Helper()
	lab.Root(t)
	return mount(t, "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", size), "blkstorm-test")
}

// truncatedLoop is a loop device whose backing file has lost what lies behind keep.
func truncatedLoop(t *testing.T, size, keep int64) string {
	t.Helper()
	dev, backing := loopOn(t, int(size), lab.LoopOptions{})
	if err := os.Truncate(backing, keep); err != nil {
		t.Fatal(err)
	}
	return dev
}

// A new file that does not fit is told with the errno, costs exit status 1 and leaves nothing.
func TestNewFileOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := smallFS(t, 8*mib)
	out := start(t, dir, "run", "--size", "64m", "new.img").wait().want(t, exitUsage, "new file new.img needs 64m", "only 8m are free")
	if used(t, dir) != 0 || out.stdout != "" {
		t.Errorf("%d files left, standard output %q", used(t, dir), out.stdout)
	}
	// Each of the two would fit, both do not: that is found before the first is made.
	out = start(t, dir, "run", "--size", "6m", "one.img", "two.img").wait().want(t, exitUsage, "new file two.img needs 6m", "only 2m are free")
	if used(t, dir) != 0 || out.stdout != "" {
		t.Errorf("%d files left, standard output %q", used(t, dir), out.stdout)
	}
	start(t, dir, "run", "--size", "4m", "--runtime", "100ms", "--quiet", "one.img").wait().want(t, exitGood)
}

// A disk that is full ends a run before its first I/O; one that fills up later costs the exit status,
// not the figures.
func TestResultFolderOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := smallFS(t, mib)
	folder := filepath.Join(dir, "out")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	fill := func() {
		ballast, err := os.Create(filepath.Join(dir, "ballast"))
		for err == nil {
			_, err = ballast.Write(make([]byte, 4*kib))
		}
		if err := ballast.Close(); err != nil {
			t.Fatal(err)
		}
	}
	target := lab.File(t, mib)
	fill()
	out := blkstorm(t, "run", "--runtime", "100ms", "--dir", folder, target).want(t, exitUsage, "no space left on device", folder)
	if out.stdout != "" {
		t.Errorf("a run on a full disk:\n%s", out.stdout)
	}
	for _, format := range []string{"text", "json", "csv", "ndjson"} {
		lab.Run(t, "sh", "-c", "rm -rf "+filepath.Join(dir, "ballast")+" "+filepath.Join(folder, "*")+" "+filepath.Join(folder, ".result*"))
		p := start(t, "", "run", "--runtime", "1s", "--interval", "100ms", "--format", format, "--dir", folder, target)
		begun(t, p, folder)
		fill()
		out := p.wait().want(t, exitUsage, "no space left on device", folder)
		switch format {
		case "json":
			if p := out.point(t); !p.Completed || p.Total.IOs == 0 {
				t.Errorf("completed %v, %d I/Os", p.Completed, p.Total.IOs)
			}
		case "ndjson":
			if !strings.Contains(out.stdout, `{"type":"end"`) {
				t.Errorf("ndjson: no end:\n%s", out.stdout)
			}
		default:
			if !strings.Contains(out.stdout, "randread 4k 1T/1Q") {
				t.Errorf("%s: no figures:\n%s", format, out.stdout)
			}
		}
	}
}

// The first I/O error ends the run, with errno, place and target.
func TestIOErrorEndsTheRun(t *testing.T) {
	t.Parallel()
	const keep = 4 * mib
	dev := truncatedLoop(t, 16*mib, keep)
	out := blkstorm(t, "run", "--rw", "read", "--bs", "64k", "--runtime", "30s", "--engine", "psync", "--format", "json", dev).want(t, exitFaults)
	p := out.point(t)
	if p.Completed || p.Interrupted || p.Faults != 1 || len(p.Errors) != 1 || p.WindowS > 10 {
		t.Fatalf("completed %v, interrupted %v, %d faults, errors %+v, %v s", p.Completed, p.Interrupted, p.Faults, p.Errors, p.WindowS)
	}
	e := p.Errors[0]
	if e.Name != "EIO" || e.Errno != int(syscall.EIO) || e.Offset != keep || e.Length != 64*kib || e.Op != "read" || e.Target != dev {
		t.Errorf("%+v", e)
	}
	if p.Read.Errors != 1 || p.Read.IOs != keep/(64*kib) || p.Issued.Read != p.Read.IOs+1 {
		t.Errorf("read %+v, issued %+v", p.Read, p.Issued)
	}
	var message string
	for _, w := range p.Warnings {
		if w.Code == "io_errors" {
			message = w.Message
		}
	}
	if want := fmt.Sprintf("read of 65536 bytes at offset %d of %s: EIO", keep, dev); !strings.Contains(message, want) {
		t.Errorf("warning %q lacks %q", message, want)
	}
	text := blkstorm(t, "run", "--rw", "read", "--bs", "64k", "--runtime", "30s", dev).want(t, exitFaults).stdout
	if !strings.Contains(text, "STOPPED by an I/O error") || !strings.Contains(text, "EIO (5)") || !strings.Contains(text, fmt.Sprint("offset ", keep)) {
		t.Errorf("text:\n%s", text)
	}
}

// Asked to go on, it counts the errors apart and measures to the end.
func TestContinueOnError(t *testing.T) {
	t.Parallel()
	dev := truncatedLoop(t, 16*mib, 8*mib)
	for _, engine := range []string{"psync", "auto"} {
		p := blkstorm(t, "run", "--bs", "64k", "--ramp", "200ms", "--runtime", "1s", "--interval", "200ms", "--threads", "2", "--iodepth", "4",
			"--engine", engine, "--continue-on-error", "--format", "json", "--quiet", dev).want(t, exitFaults).point(t)
		if !p.Completed || p.Read.Errors == 0 || p.Read.IOs == 0 || p.Faults < p.Read.Errors || len(p.Errors) == 0 || !hasWarning(p, "io_errors") {
			t.Errorf("%s: completed %v, read %+v, faults %d, errors %+v", engine, p.Completed, p.Read, p.Faults, p.Errors)
		}
		for _, e := range p.Errors {
			if e.Name != "EIO" || e.Offset < 8*mib {
				t.Errorf("%s: %+v", engine, e)
			}
		}
	}
}

// Writes that the storage behind has no room for.
func TestWriteWithoutSpace(t *testing.T) {
	t.Parallel()
	dir := smallFS(t, 8*mib)
	dev := lab.Loop(t, 64*mib, lab.LoopOptions{Dir: dir, Buffered: true})
	p := blkstorm(t, "run", "--rw", "write", "--bs", "128k", "--runtime", "30s", "--destroy", "--format", "json", "--quiet", dev).
		want(t, exitFaults).point(t)
	if p.Completed || len(p.Errors) == 0 || p.Write.Errors+p.Write.Short == 0 {
		t.Fatalf("completed %v, errors %+v, write %+v", p.Completed, p.Errors, p.Write)
	}
	if e := p.Errors[0]; e.Name != "ENOSPC" && e.Name != "EIO" || e.Target != dev || e.Op != "write" || e.Offset < 4*mib {
		t.Errorf("%+v", e)
	}
}

// Whoever reads standard output may go away: it neither hangs nor leaves a scratch file.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	for _, c := range []string{
		"blkstorm run --size 4m --runtime 2s --interval 10ms --format ndjson --quiet | head -1",
		"blkstorm run --size 4m --runtime 2s --interval 10ms --format json --quiet | head -1",
		"blkstorm run --size 4m --runtime 1s --quiet | true",
		"blkstorm run --size 4m --runtime 1s 2>&1 | head -1",
		"blkstorm run --size 4m --runtime 1s >&- 2>&-",
		"blkstorm run --help | head -1",
		"blkstorm devices | true",
	} {
		t.Run(c, func(t *testing.T) {
			t.Parallel()
			p := &process{t: t, cmd: exec.Command("sh", "-c", c)}
			p.cmd.Dir = t.TempDir()
			p.begin()
			if out := p.wait(); out.took > 10*time.Second || used(t, p.cmd.Dir) != 0 {
				t.Errorf("took %v, left %d files", out.took, used(t, p.cmd.Dir))
			}
		})
	}
}

// A document that cannot be written is an error.
func TestStandardOutputOnAFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		lab.Missing(t, err.Error())
	}
	defer full.Close()
	for _, format := range []string{"text", "json", "csv", "ndjson"} {
		p := &process{t: t, cmd: command(t, "run", "--size", "1m", "--runtime", "200ms", "--quiet", "--format", format)}
		p.cmd.Stdout, p.cmd.Stderr = full, &p.stderr
		p.begin()
		p.wait().want(t, exitUsage, "no space left on device")
	}
	p := &process{t: t, cmd: command(t, "devices")}
	p.cmd.Stdout, p.cmd.Stderr = full, &p.stderr
	p.begin()
	p.wait().want(t, exitUsage, "no space left on device")
}

// A device that stops to answer: the document comes at runtime + grace, standard output is closed,
// and the process ends when the device comes back.
func TestHungDevice(t *testing.T) {
	t.Parallel()
	freeze := lab.Tool(t, "fsfreeze")
	dev, _ := loopOn(t, 64*mib, lab.LoopOptions{})
	lab.Run(t, "mkfs.ext4", "-q", "-F", dev)
	dir := mount(t, dev)
	file := filepath.Join(dir, "target")
	blkstorm(t, "run", "--rw", "write", "--size", "8m", "--runtime", "100ms", "--quiet", file).want(t, exitGood)

	p := &process{t: t, cmd: command(t, "run", "--rw", "randrw", "--engine", "psync", "--threads", "2", "--runtime", "2s", "--grace", "2s", "--destroy", "--format", "json", file)}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &p.stderr
	p.begin()
	time.Sleep(time.Second)
	lab.Run(t, freeze, "-f", dir)
	thaw := func() { _ = exec.Command(freeze, "-u", dir).Run() }
	defer thaw()
	text, err := io.ReadAll(stdout) // to its end, while the writes still hang
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(p.since); took > 8*time.Second {
		t.Errorf("the document came after %v", took)
	}
	thaw()
	out := p.wait().want(t, exitFaults, "does not answer")
	out.stdout = string(text)
	point := out.point(t)
	if point.Completed || len(point.Stuck) != 2 || !hasWarning(point, "device_hung") || point.Total.IOs == 0 {
		t.Errorf("completed %v, stuck %+v, warnings %+v", point.Completed, point.Stuck, point.Warnings)
	}
	for _, s := range point.Stuck {
		if s.Op != "write" || s.Target != file || s.AgeS < 2 {
			t.Errorf("%+v", s)
		}
	}
}

// Somebody without permission is told so, before any I/O and before a folder is made.
func TestNoPermission(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "secret.img")
	if err := os.WriteFile(file, make([]byte, mib), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode   os.FileMode
		status int
		args   string
		texts  []string
	}{
		{0o000, exitUsage, "--rw randread", []string{file, "needs root", "permission denied"}},
		{0o000, exitRefused, "--rw randwrite --destroy", []string{"[unreadable]", file, "run as root"}},
		{0o444, exitRefused, "--rw randwrite --destroy", []string{"[read-only]", "may not be written by this user"}},
		{0o444, exitGood, "--rw randread", nil},
	} {
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"run", "--runtime", "100ms", "--quiet", "--dir", "out"}, strings.Fields(c.args)...)
		p := &process{t: t, cmd: command(t, append(args, file)...)}
		ordinary(t, p.cmd, dir)
		p.cmd.Stderr = &p.stderr
		p.begin()
		p.wait().want(t, c.status, c.texts...)
		if _, err := os.Stat(filepath.Join(p.cmd.Dir, "out")); (err == nil) != (c.status == exitGood) {
			t.Errorf("%o %s: result folder: %v", c.mode, c.args, err)
		}
	}
}

// ordinary makes a command run as a user without rights, who can reach its folder and dir.
func ordinary(t *testing.T, cmd *exec.Cmd, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	binary := filepath.Join(cmd.Dir, "blkstorm")
	lab.Run(t, "cp", cmd.Path, binary)
	cmd.Path = binary
	for _, d := range []string{dir, cmd.Dir} {
		for _, p := range []string{d, filepath.Dir(d)} {
			if err := os.Chmod(p, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Chown(cmd.Dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
