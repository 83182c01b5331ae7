package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"blkstorm/lab/guest/cell"
)

// costs are the prices of one I/O in guest instructions, with what they depend on beside our code. In
// the icount guest they repeat to the instruction or nearly so, whatever the host does, so that a
// change in the hot path shows as an exact difference.
type costs struct {
	Kernel       string             `json:"kernel"`
	QEMU         string             `json:"qemu"`
	Go           string             `json:"go"`
	Instructions map[string]float64 `json:"instructions"`
}

func (c *costs) sameKey(o *costs) bool {
	return c.Kernel == o.Kernel && c.QEMU == o.QEMU && c.Go == o.Go
}

// costTolerance is how much dearer an I/O may become before someone has to say that it may.
const costTolerance = 0.02

// checkCost holds the measured costs to the baseline file.
func (l *lab) checkCost(measured map[string]float64) ([]cell.Cell, error) {
	now, err := l.costKey()
	if err != nil {
		return nil, err
	}
	now.Instructions = measured
	file, err := readCosts(l.baseline)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(file, now.sameKey)
	var old *costs
	if at >= 0 {
		old = file[at]
	}
	cells := compareCosts(now, old)
	if !l.accept {
		return cells, nil
	}
	for i := range cells {
		cells[i].OK = true
	}
	if at >= 0 {
		file[at] = now
	} else {
		file = append(file, now)
	}
	out, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, err
	}
	return cells, os.WriteFile(l.baseline, append(out, '\n'), 0o644)
}

// compareCosts makes the table; old is nil when nothing is known of this kernel, QEMU and Go. fio's
// figures are there to compare with and are not held to anything.
func compareCosts(now, old *costs) []cell.Cell {
	var names []string
	for name := range now.Instructions {
		names = append(names, name)
	}
	slices.Sort(names)
	var cells []cell.Cell
	for _, name := range names {
		got := now.Instructions[name]
		c := cell.Cell{Table: "cost", Row: name, Column: "instructions", Text: fmt.Sprintf("%.0f", got), OK: true}
		state := cell.Cell{Table: "cost", Row: name, Column: "against baseline", OK: true}
		known, ok := 0.0, false
		if old != nil {
			known, ok = old.Instructions[name]
		}
		if !ok {
			state.Text = "new baseline"
		} else {
			change := got/known - 1
			state.Text = fmt.Sprintf("%+.2f%% of %.0f", 100*change, known)
			if change > costTolerance && !strings.HasPrefix(name, "fio ") {
				state.OK = false
				state.Detail = fmt.Sprintf("an I/O costs %.0f instructions, %.0f in the baseline of %s, QEMU %s, %s; if that is right: go run ./lab/guest -run truth -accept", got, known, now.Kernel, now.QEMU, now.Go)
			}
		}
		cells = append(cells, c, state)
	}
	return cells
}

func readCosts(path string) ([]*costs, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []*costs
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// costKey names all that the cost depends on beside this project's code.
func (l *lab) costKey() (*costs, error) {
	qemu, err := output("", "qemu-system-x86_64", "--version")
	if err != nil {
		return nil, err
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(string(qemu), "QEMU emulator version "), "\n")
	goVersion, err := output("", "go", "env", "GOVERSION")
	if err != nil {
		return nil, err
	}
	return &costs{Kernel: l.kernel.pkg, QEMU: version, Go: strings.TrimSpace(string(goVersion))}, nil
}
