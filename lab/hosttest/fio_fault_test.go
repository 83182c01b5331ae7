package hosttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blkstorm/lab"
)

// bothFio runs a command line of fio on fio and on blkstorm, one after the other, and returns how each ended:
// its status, and what its JSON says of each job. I/Os are left out: fio counts those that failed, too.
func bothFio(t *testing.T, line string) (ended [2]string) {
	t.Helper()
	commands := [2][]string{{lab.Tool(t, "fio")}, {binary(t), "fio"}}
	for i, command := range commands {
		cmd := exec.Command(command[0], append(command[1:], append([]string{"--output-format=json"}, strings.Fields(line)...)...)...)
		cmd.Dir = t.TempDir()
		p := startCommand(t, cmd)
		select {
		case <-p.ended:
		case <-time.After(time.Minute):
			t.Fatalf("%v: still running after a minute", cmd.Args)
		}
		status := cmd.ProcessState.ExitCode()
		ended[i] = fmt.Sprintf("status %d", status)
		text := p.stdout.Bytes()
		doc := fioDoc{}
		if err := json.Unmarshal(text[max(bytes.IndexByte(text, '{'), 0):], &doc); err != nil {
			t.Fatalf("%v: %v\n%s%s", cmd.Args, err, text, p.stderr.String())
		}
		for n := range doc.Jobs {
			j := &doc.Jobs[n]
			ended[i] += fmt.Sprintf("; %s: error %d, %d bytes read, %d written", j.Name, j.Error, j.Read.Bytes, j.Write.Bytes)
		}
	}
	return ended
}

// A device that fails in a range ends a job there, or is gone on with; other jobs run to their end. Exit status,
// error and bytes are fio's. The first job reads or writes 64 blocks one after the other, of which 4 fail.
func TestFaultsAsFio(t *testing.T) {
	disk := lab.NewProgrammable(t, 64*mib)
	disk.FailRange(33*mib+256*kib, 64*kib, lab.Both, syscall.EIO)
	for _, options := range []string{
		"--rw=read",
		"--rw=write",
		"--rw=read --continue_on_error=all",
		"--rw=write --continue_on_error=io",
		"--rw=read --name=b --filename=DISK --direct=1 --bs=16k --offset=40m --size=1m --rw=read --stonewall",
		"--rw=read --name=b --filename=DISK --direct=1 --bs=16k --offset=40m --size=4m --rw=write",
		"--rw=read --name=b --filename=DISK --direct=1 --bs=16k --offset=40m --size=4m --rw=write --numjobs=2",
	} {
		t.Run(options, func(t *testing.T) {
			line := "--name=a --filename=DISK --direct=1 --bs=16k --offset=33m --size=1m --ioengine=psync " + options
			if ended := bothFio(t, strings.ReplaceAll(line, "DISK", disk.Dev)); ended[0] != ended[1] {
				t.Errorf("blkstorm: %s\n     fio: %s", ended[1], ended[0])
			}
		})
	}
}

// A mounted device is refused under a write, with nothing written to it; fio's own look at the mount table does
// the same for the whole device.
func TestMountedDeviceInFiosForm(t *testing.T) {
	image := lab.File(t, 64*mib)
	lab.Run(t, "mke2fs", "-q", image)
	dev := lab.LoopOn(t, image, lab.LoopOptions{})
	dir := t.TempDir()
	lab.Run(t, "mount", dev, dir)
	t.Cleanup(func() { lab.Unmount(t, dir) })
	before := kernelCounts(t, dev)
	cmd := exec.Command(binary(t), "fio", "--output-format=json", "--output="+filepath.Join(t.TempDir(), "out.json"), "--name=a", "--direct=1", "--rw=randwrite", "--size=1m", "--filename="+dev)
	p := startCommand(t, cmd).wait(exitRefused)
	if text := p.stderr.String(); !strings.Contains(text, dev) || !strings.Contains(text, "mounted") {
		t.Errorf("standard error: %s", text)
	}
	if counts := kernelCounts(t, dev).Since(before); counts.WriteBytes >= mib {
		t.Errorf("%d bytes written to it", counts.WriteBytes)
	}
	startCommand(t, exec.Command(binary(t), "fio", "--name=a", "--direct=1", "--rw=randread", "--size=1m", "--filename="+dev)).wait(exitGood)
}
