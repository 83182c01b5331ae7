package main

import (
	"context"
	"time"

	"blkstorm/lab/guest/cell"
)

// scenario is one guest from start to end, with what the host does before and after.
type scenario struct {
	name string
	run  func(context.Context, *lab) ([]cell.Cell, time.Duration, error)
}

// scenarios in the order in which they start, the long ones first.
var scenarios = []scenario{
	{"disks", runDisks},
	{"truth", runTruth},
	{"faults", runFaults},
	{"hours", runHours},
	{"pacing", runPacing},
	{"vm", runVM},
	{"guard", runGuard},
	{"kernel2", runSecond},
	{"clock", runClock},
	{"repeat", runRepeat},
}

// controllerModules drive all adapters of the matrix.
var controllerModules = []string{"virtio_pci", "sd_mod", "vmw_pvscsi", "mptsas", "nvme", "virtio_blk", "virtio_scsi", "ahci"}

func runDisks(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	began := time.Now()
	if err := makeDisks(l.work); err != nil {
		return nil, 0, err
	}
	m := &machine{scenario: "disks", kernel: l.kernel, modules: controllerModules, memory: "768M",
		append: "tsc=reliable", qemu: diskArgs(l.work), payload: l.payload.bytes(), timeout: 8 * time.Minute}
	r, err := m.boot(ctx, l.work)
	if err != nil {
		return nil, 0, err
	}
	images, err := verifyDisks(l.work, r.sums)
	return append(r.cells, images...), time.Since(began), err
}

func runTruth(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	a := l.payload.clone()
	if err := a.program("fio"); err != nil {
		return nil, 0, err
	}
	m := &machine{scenario: "truth", kernel: l.kernel, modules: []string{"sd_mod"}, memory: "1G", icount: true, seed: l.seed,
		payload: a.bytes(), timeout: 9 * time.Minute}
	r, err := m.boot(ctx, l.work)
	if err != nil {
		return nil, 0, err
	}
	cost, err := l.checkCost(r.cost)
	return append(r.cells, cost...), r.wall, err
}

func runFaults(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	a := l.payload.clone()
	if err := a.program("dmsetup"); err != nil {
		return nil, 0, err
	}
	m := &machine{scenario: "faults", kernel: l.kernel, modules: []string{"sd_mod", "dm-mod"}, memory: "512M", icount: true, seed: l.seed,
		payload: a.bytes(), timeout: 5 * time.Minute}
	return m.cells(ctx, l)
}

func runHours(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	m := &machine{scenario: "hours", kernel: l.kernel, memory: "512M", icount: true, seed: l.seed,
		payload: l.payload.bytes(), timeout: 5 * time.Minute}
	return m.cells(ctx, l)
}

func runPacing(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	m := &machine{scenario: "pacing", kernel: l.kernel, memory: "512M", icount: true, seed: l.seed,
		payload: l.payload.bytes(), timeout: 6 * time.Minute}
	return m.cells(ctx, l)
}

func runGuard(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	a := l.payload.clone()
	for _, name := range []string{"lvm", "dmsetup", "mdadm", "cryptsetup", "mkfs.ext4"} {
		if err := a.program(name); err != nil {
			return nil, 0, err
		}
	}
	m := &machine{scenario: "guard", kernel: l.kernel, memory: "1G",
		modules: []string{"brd", "dm-mod", "dm-crypt", "raid1", "crc32c_generic", "ext4", "loop", "ecb", "xts", "algif_skcipher", "algif_hash"},
		append:  "tsc=reliable brd.rd_nr=12 brd.rd_size=32768", payload: a.bytes(), timeout: 5 * time.Minute}
	return m.cells(ctx, l)
}

// runSecond boots the newer kernel, and this project's own tests on both.
func runSecond(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	a := l.payload.clone()
	if err := buildTests(l.work, a); err != nil {
		return nil, 0, err
	}
	payload := a.bytes()
	var cells []cell.Cell
	var wall time.Duration
	for _, k := range []*kernel{l.kernel, l.second} {
		if k == nil {
			continue
		}
		m := &machine{scenario: "kernel2", kernel: k, modules: []string{"brd", "crc32c_generic", "ext4"}, memory: "1G",
			append: "tsc=reliable brd.rd_nr=2 brd.rd_size=131072", payload: payload, timeout: 5 * time.Minute}
		got, w, err := m.cells(ctx, l)
		cells, wall = append(cells, got...), wall+w
		if err != nil {
			return cells, wall, err
		}
	}
	return cells, wall, nil
}

// runClock boots with the clocks that no benchmark should run on.
func runClock(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	var cells []cell.Cell
	var wall time.Duration
	for _, source := range []string{"jiffies", "hpet"} {
		m := &machine{scenario: "clock", kernel: l.kernel, modules: []string{"null_blk"}, memory: "512M",
			append: "clocksource=" + source + " notsc null_blk.queue_mode=2 null_blk.irqmode=2 null_blk.completion_nsec=1000000", payload: l.payload.bytes(), timeout: 3 * time.Minute}
		got, w, err := m.cells(ctx, l)
		cells, wall = append(cells, got...), wall+w
		if err != nil {
			return cells, wall, err
		}
	}
	return cells, wall, nil
}

// runRepeat boots the same guest twice: where time is exact, all figures must be the same to the digit.
// Whatever of the host gets into such a guest makes every bound of the other scenarios a matter of luck.
func runRepeat(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	m := &machine{scenario: "repeat", kernel: l.kernel, memory: "512M", icount: true, seed: l.seed,
		payload: l.payload.bytes(), timeout: 3 * time.Minute}
	first, wall, err := m.cells(ctx, l)
	if err != nil {
		return nil, wall, err
	}
	second, w, err := m.cells(ctx, l)
	return append(first, compareRuns(first, second)...), wall + w, err
}

// compareRuns makes a column of whether the second run said the same.
func compareRuns(first, second []cell.Cell) []cell.Cell {
	var list []cell.Cell
	for i, c := range first {
		again := cell.Cell{Table: c.Table, Row: c.Row, Column: "again", Text: "the same", OK: true}
		if i >= len(second) || second[i].Text != c.Text {
			again.Text, again.OK, again.Detail = "OTHER", false, "the second boot of the same guest gave other figures: something of the host is in it"
			if i < len(second) {
				again.Text = second[i].Text
			}
		}
		list = append(list, again)
	}
	return list
}

// cells boots a guest that needs nothing more of the host.
func (m *machine) cells(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	r, err := m.boot(ctx, l.work)
	if err != nil {
		return nil, 0, err
	}
	return r.cells, r.wall, nil
}
