package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"blkstorm/lab/guest/cell"
)

// machine is one guest to boot.
type machine struct {
	scenario string
	kernel   *kernel
	modules  []string
	append   string   // more of the kernel command line
	icount   bool     // one instruction is one nanosecond: time is exact, and idle time costs nothing
	seed     int      // of all random numbers, when icount
	memory   string   // "512M"
	qemu     []string // disks
	payload  []byte   // archive that goes behind the kernel's own
	timeout  time.Duration
	// serve does on the host what the guest asks for, until the context ends with QEMU; stores are the
	// folders of its small datastores. Without it the guest gets nothing.
	serve  func(ctx context.Context, m *machine, qemu *os.Process, dir string) error
	stores string
}

// report is what came out of a guest.
type report struct {
	cells []cell.Cell
	sums  map[string]uint64
	cost  map[string]float64
	wall  time.Duration
}

// boot runs the guest to its end. Its own report goes through the second serial port into a file; the
// console goes to another, and its tail into the error when the guest did not come to its end.
func (m *machine) boot(ctx context.Context, work string) (*report, error) {
	began := time.Now()
	dir := filepath.Join(work, m.scenario+"-"+m.kernel.release)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	initrd := filepath.Join(dir, "initrd")
	if err := os.WriteFile(initrd, append(bytes.Clone(m.kernel.base), m.payload...), 0o644); err != nil {
		return nil, err
	}
	console, lines := filepath.Join(dir, "console"), filepath.Join(dir, "report")
	qemu, err := tool("qemu-system-x86_64")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, qemu, m.args(initrd, console, lines)...)
	cmd.Dir = dir
	if m.stores != "" {
		inStores(cmd, m.stores)
	}
	out, runErr := m.attend(ctx, cmd, dir)
	if ctx.Err() != nil {
		runErr = fmt.Errorf("not ended after %v", m.timeout)
	}
	r, err := readReport(lines)
	if err = errors.Join(runErr, err); err != nil {
		return nil, fmt.Errorf("guest %s on %s: %w\n%s%s", m.scenario, m.kernel.pkg, err, out, tail(console, 40))
	}
	r.wall = time.Since(began)
	return r, nil
}

// attend runs QEMU to its end; its standard input is /dev/null. When the guest cannot be served, waiting
// for it makes no sense.
func (m *machine) attend(ctx context.Context, cmd *exec.Cmd, dir string) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		var err error
		if m.serve != nil {
			if err = m.serve(ctx, m, cmd.Process, dir); err != nil {
				_ = cmd.Process.Kill()
			}
		}
		served <- err
	}()
	err := cmd.Wait()
	cancel()
	return out.Bytes(), errors.Join(<-served, err)
}

// args is QEMU's command line. The machine type is pc: microvm has no timer to calibrate the TSC by, and
// hangs. With two CPUs the guest would drop the TSC for the HPET, whose every reading is a device
// access, so the TSC is declared reliable.
func (m *machine) args(initrd, console, lines string) []string {
	args := []string{
		"-machine", "pc", "-cpu", "max", "-m", m.memory,
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-serial", "file:" + console, "-serial", "file:" + lines,
		"-kernel", m.kernel.vmlinux, "-initrd", initrd,
		"-append", strings.TrimSpace(strings.Join([]string{"console=ttyS0 panic=-1 quiet nokaslr mitigations=off audit=0", m.append,
			"lab=" + m.scenario, "mods=" + strings.Join(m.modules, ",")}, " ")),
	}
	if m.icount {
		// More than one CPU never boots in this mode. With a clock and random numbers that are not the
		// host's, nothing of the host is left in the guest: two boots with one seed are the same to
		// the instruction. Another seed is another course of events.
		args = append(args, "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-smp", "1",
			"-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", strconv.Itoa(m.seed))
	} else {
		args = append(args, "-accel", "tcg,thread=multi", "-smp", "2")
	}
	if m.serve != nil {
		args = append(args, "-qmp", "unix:qmp,server=on,wait=off") // in its folder
	}
	return append(args, m.qemu...)
}

// readReport reads the lines of the guest; without the last one it is an error.
func readReport(path string) (*report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseReport(f)
}

func parseReport(in io.Reader) (*report, error) {
	r := &report{sums: map[string]uint64{}, cost: map[string]float64{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 {
			continue
		}
		var l cell.Line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("its report has a line that is not JSON: %q", text)
		}
		if l.Cell != nil {
			r.cells = append(r.cells, *l.Cell)
		}
		for k, v := range l.Sums {
			r.sums[k] = v
		}
		for k, v := range l.Cost {
			r.cost[k] = v
		}
		if l.End {
			return r, nil
		}
	}
	return nil, errors.Join(lines.Err(), fmt.Errorf("its report breaks off after %d cells", len(r.cells)))
}

// tail is the end of a text file, for messages.
func tail(path string, n int) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return "console:\n  " + strings.Join(lines[max(0, len(lines)-n):], "\n  ")
}
