package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"blkstorm/device"
	"blkstorm/result"
)

// ran is how one call of blkstorm ended.
type ran struct {
	args           []string
	status         int
	stdout, stderr string
	doc            *result.Doc
}

// blkstorm runs the program under test, with a limit far above what it may take: a hang must not take
// the whole lab with it.
func blkstorm(args ...string) *ran { return blkstormIn(nil, args...) }

// blkstormIn starts it with these attributes.
func blkstormIn(attr *syscall.SysProcAttr, args ...string) *ran {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Hour)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "/bin/blkstorm", args...)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = &stdout, &stderr, attr
	err := cmd.Run()
	r := &ran{args: args, status: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	if err != nil && r.status < 0 {
		r.stderr += "\n" + err.Error()
	}
	return r
}

// load is blkstorm run with a JSON result.
func load(args ...string) *ran { return loadIn(nil, args...) }

func loadIn(attr *syscall.SysProcAttr, args ...string) *ran {
	r := blkstormIn(attr, append([]string{"run", "--quiet", "--format", "json"}, args...)...)
	var doc result.Doc
	if json.Unmarshal([]byte(r.stdout), &doc) == nil && len(doc.Points) > 0 {
		r.doc = &doc
	}
	return r
}

// point is the run's result when it ended with that exit status, else an error that tells all.
func (r *ran) point(status int) (*result.Point, error) {
	if r.status != status || r.doc == nil {
		return nil, fmt.Errorf("blkstorm %s: exit status %d, want %d: %s", strings.Join(r.args, " "), r.status, status, short(r.stderr))
	}
	p := r.doc.Points[0]
	return p, errors.Join(sums(p))
}

// sums checks what must hold in every result: each I/O that was handed to the kernel is in exactly one
// figure, and the rows of the time series add up to the totals. Syncs are issued, and counted in ramp
// and drain, but they are in no total and in no row.
func sums(p *result.Point) error {
	issued, window := p.Issued.Sum()+p.Issued.Sync, p.Total.IOs+p.Sync.IOs
	if len(p.Stuck) == 0 && p.Faults == 0 && issued != window+p.RampIOs+p.Drained {
		return fmt.Errorf("%d I/Os issued, but %d in the window, %d in the ramp, %d after it", issued, window, p.RampIOs, p.Drained)
	}
	if sum := p.Read.IOs + p.Write.IOs + p.Trim.IOs; sum != p.Total.IOs {
		return fmt.Errorf("reads, writes and trims are %d I/Os, the total is %d", sum, p.Total.IOs)
	}
	var ios, bytes uint64
	for _, i := range p.Intervals {
		ios += i.Read.IOs + i.Write.IOs + i.Trim.IOs
		bytes += i.Read.Bytes + i.Write.Bytes + i.Trim.Bytes
	}
	if ios != p.Total.IOs || bytes != p.Total.Bytes {
		return fmt.Errorf("the intervals have %d I/Os of %d bytes, the total %d of %d", ios, bytes, p.Total.IOs, p.Total.Bytes)
	}
	return nil
}

// warned says whether the point has a warning of that code.
func warned(p *result.Point, code string) bool {
	for _, w := range p.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// codes lists the codes of the point's warnings.
func codes(p *result.Point) string {
	var list []string
	for _, w := range p.Warnings {
		list = append(list, w.Code)
	}
	return strings.Join(list, " ")
}

// refused says that a write was refused by the guard, and for that reason.
func (r *ran) refused(code string) error {
	if r.status != 2 || !strings.Contains(r.stderr, "["+code+"]") {
		return fmt.Errorf("blkstorm %s: exit status %d, want 2 and the reason %s: %s", strings.Join(r.args, " "), r.status, code, short(r.stderr))
	}
	return nil
}

// devices is what blkstorm devices says, by serial number and by name.
type deviceRow struct {
	device.Facts
	Safe     bool             `json:"safe"`
	Refusals []device.Refusal `json:"refusals"`
}

func devices(names ...string) ([]deviceRow, error) {
	r := blkstorm(append([]string{"devices", "--format", "json"}, names...)...)
	var list struct{ Devices []deviceRow }
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || r.status != 0 {
		return nil, fmt.Errorf("blkstorm devices: exit status %d, %v: %s", r.status, err, short(r.stderr))
	}
	return list.Devices, nil
}

// sh runs a line of the guest's shell; its error has the output.
func sh(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/bin/sh", "-c", line).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", line, err, short(string(out)))
	}
	return nil
}

// short keeps a message readable in a table's footnote.
func short(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 600 {
		text = text[:300] + " … " + text[len(text)-300:]
	}
	return text
}
