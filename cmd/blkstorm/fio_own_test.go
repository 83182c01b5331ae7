package main

import (
	"path/filepath"
	"testing"

	"blkstorm/lab"
)

// Jobs that run together have engine, page cache and errors each as it is told.
func TestFioJobsOnEnginesOfTheirOwn(t *testing.T) {
	dir := filepath.Dir(lab.File(t, 1)) // a file system that does direct I/O
	jobs := fioJobs(t, dir, 0, "--size=256k --rw=read --name=deep --ioengine=libaio --iodepth=4 --direct=1 --name=flat --ioengine=psync --rw=write --name=ring --ioengine=io_uring --iodepth=2 --direct=1 --continue_on_error=all")
	if len(jobs) != 3 || jobs[0].Read.IOs != 64 || jobs[1].Write.IOs != 64 || jobs[2].Read.IOs != 64 {
		t.Errorf("%+v", jobs)
	}
	for i := range jobs {
		if jobs[i].Error != 0 {
			t.Errorf("%+v", jobs[i])
		}
	}
}
