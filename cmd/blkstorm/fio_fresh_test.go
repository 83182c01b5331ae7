package main

import (
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/lab"
)

// Help is an answer, not an error, and names json+: ezfio looks there for whether it can be had.
func TestFioHelp(t *testing.T) {
	for _, flag := range []string{"--help", "-h"} {
		text := blkstorm(t, "fio", flag).want(t, 0).stdout
		for _, want := range []string{"--parse-only", "json+"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s: %q", flag, want, text)
			}
		}
	}
}

// Folders in the names of files are made; a run that is refused leaves none, and --readonly makes nothing.
func TestFioFolders(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	fioJobs(t, dir, 0, "--name=a --filename=deep/er/x --size=64k --rw=write")
	fioJobs(t, dir, 0, "--name=b/c --size=64k --rw=write")
	if sizeOf(t, at("deep/er/x")) != 64<<10 || sizeOf(t, at("b/c.0.0")) != 64<<10 {
		t.Error("the files are not there")
	}
	start(t, dir, "fio", "--name=a", "--filename=new/er/x", "--size=900t", "--rw=write").wait().want(t, exitUsage, "free")
	start(t, dir, "fio", "--name=a", "--filename=new/er/x", "--size=64k", "--rw=read", "--readonly").wait().want(t, exitUsage, "--readonly")
	start(t, dir, "fio", "--name=a", "--directory=new", "--size=64k", "--rw=write").wait().want(t, exitUsage, "directory=new")
	if sizeOf(t, at("new")) != -1 {
		t.Error("a run that was refused has left a folder")
	}
	start(t, dir, "fio", "--name=a", "--filename=/dev/blkstorm-none/x", "--size=64k", "--rw=write").wait().want(t, exitUsage)
	if sizeOf(t, "/dev/blkstorm-none") != -1 {
		t.Error("a folder was made among the devices")
	}
}

// A job that a device cannot do is refused by its name, whatever else would run: never left out.
func TestFioImpossibleJob(t *testing.T) {
	dev, _ := loopOn(t, 16*mib, lab.LoopOptions{SectorSize: 4096})
	common := []string{"fio", "--filename=" + dev, "--direct=1", "--size=1m", "--output-format=json", "--name=good", "--bs=4k", "--name=bad", "--stonewall", "--bs=512"}
	out := blkstorm(t, common...).want(t, exitUsage, "command line: job bad: "+dev+": --bs 512")
	if !strings.Contains(out.stdout, `"jobname" : "bad"`) || strings.Contains(out.stdout, `"total_ios" : 256`) {
		t.Errorf("no document of a refusal:\n%s", out.stdout)
	}
	blkstorm(t, "fio", "--filename="+dev, "--direct=1", "--size=1m", "--name=good", "--name=bad", "--cpus_allowed=1000").
		want(t, exitUsage, "command line: job bad: ", "CPU 1000 is not among the")
}
