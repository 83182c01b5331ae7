package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"blkstorm/result"
)

// decay is a device that gets slower in steps and then stays as it is, as an SSD does whose spare room
// runs out: the limit of a control group, moved while blkstorm preconditions. Rounds are of 2 s and the
// window is 5 of them.
var decay = []struct {
	from  time.Duration // since the run began
	limit int           // I/Os per second
}{{0, 1000}, {4 * time.Second, 750}, {8 * time.Second, 550}, {10 * time.Second, 400}}

// steadyInRound is the first round, from 1, whose window of five keeps the rule (range within 20 % of the
// mean): with one round at 550 and four at 400 the range is 35 %, so that it takes five at 400, the rounds
// 6 to 10.
const steadyInRound = 10

// decays looks for steady state on it.
func (a *agent) decays(dev string, err error) {
	text := "FAIL"
	if err == nil {
		text, err = a.findSteady(dev)
	}
	a.cell("hours", "decaying device", "steady in round", text, err)
}

func (a *agent) findSteady(dev string) (string, error) {
	number := read("/sys/block/" + dev + "/dev")
	set := func(limit int) error {
		return write(controlGroups+"/lab/io.max", fmt.Sprintf("%s riops=%d", number, limit))
	}
	if err := set(decay[0].limit); err != nil {
		return "FAIL", err
	}
	group, err := os.Open(filepath.Join(controlGroups, "lab"))
	if err != nil {
		return "FAIL", err
	}
	defer group.Close()
	moved := make(chan error, len(decay))
	for _, step := range decay[1:] {
		time.AfterFunc(step.from, func() { moved <- set(step.limit) })
	}
	r := loadIn(&syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}, "--rw", "randread", "--bs", "4k", "--iodepth", "16",
		"--precondition", "steady", "--steady-round", "2s", "--runtime", "1s", "/dev/"+dev)
	for range decay[1:] {
		if err := <-moved; err != nil {
			return "FAIL", err
		}
	}
	if r.status != 0 || r.doc == nil || len(r.doc.Points) != 2 {
		return "FAIL", fmt.Errorf("exit status %d, %s", r.status, short(r.stderr+r.stdout))
	}
	return steadyRound(r.doc.Points[0])
}

func steadyRound(p *result.Point) (string, error) {
	if p.Steady == nil || !p.Steady.State.Steady || !p.Completed {
		return "FAIL", fmt.Errorf("completed %v, steady %+v", p.Completed, p.Steady)
	}
	text := fmt.Sprint(p.Steady.State.Reached)
	if p.Steady.State.Reached != steadyInRound || p.Steady.State.Rounds != steadyInRound {
		var values []float64
		for _, v := range p.Steady.Values {
			if v != nil {
				values = append(values, *v)
			}
		}
		return text, fmt.Errorf("want round %d; the rounds were %.0f", steadyInRound, values)
	}
	return text, nil
}
