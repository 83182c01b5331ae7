package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// blkio is where cgroup v1 has its block controller. A machine that has it in v2 needs io.max instead.
const blkio = "/sys/fs/cgroup/blkio"

// Cgroup is a control group in which a device answers only so many I/Os per second: a device of known
// rate. The group is the limit's place, so that each process can have its own.
type Cgroup struct {
	dir    string
	number string // of the device
}

// Throttle makes a group whose processes get so many reads and writes per second out of dev; 0 is no
// limit.
func Throttle(t testing.TB, dev string, readIOPS, writeIOPS int) *Cgroup {
	t.Helper()
	Root(t)
	if _, err := os.Stat(filepath.Join(blkio, "blkio.throttle.read_iops_device")); err != nil {
		Missing(t, "no blkio throttle of cgroup v1: "+err.Error())
	}
	dir, err := os.MkdirTemp(blkio, "blkstorm-lab-*")
	if err != nil {
		Missing(t, "no control group to be had: "+err.Error())
	}
	t.Cleanup(func() { removeGroup(t, dir) })
	number, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(dev), "dev"))
	if err != nil {
		t.Fatal(err)
	}
	c := &Cgroup{dir: dir, number: strings.TrimSpace(string(number))}
	c.Limit(t, readIOPS, writeIOPS)
	return c
}

// Limit sets other limits, also while a process of the group runs; a limit of 0 stays as it is.
func (c *Cgroup) Limit(t testing.TB, readIOPS, writeIOPS int) {
	t.Helper()
	for file, limit := range map[string]int{"read": readIOPS, "write": writeIOPS} {
		if limit == 0 {
			continue
		}
		rule := c.number + " " + strconv.Itoa(limit)
		if err := os.WriteFile(filepath.Join(c.dir, "blkio.throttle."+file+"_iops_device"), []byte(rule), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// Command is a command that runs in the group from its first instruction on: a shell joins the group
// and becomes the command.
func (c *Cgroup) Command(name string, args ...string) *exec.Cmd {
	join := []string{"-c", `echo $$ >"$0" && exec "$@"`, filepath.Join(c.dir, "cgroup.procs"), name}
	return exec.Command("sh", append(join, args...)...)
}

// removeGroup removes the group once its last process has gone.
func removeGroup(t testing.TB, dir string) {
	t.Helper()
	err := errors.New("not tried")
	for range 100 {
		if err = os.Remove(dir); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error(fmt.Errorf("removing the control group: %w", err))
}
