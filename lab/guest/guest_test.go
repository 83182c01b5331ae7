package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	benches "blkstorm/lab"
	"blkstorm/lab/guest/cell"
)

// The archive is what cpio itself unpacks, also when a second one follows the first.
func TestArchiveIsCpio(t *testing.T) {
	cpio := benches.Tool(t, "cpio")
	var one archive
	one.file("bin/tool", []byte("content"))
	one.link("bin/sh", "tool")
	two := one.clone()
	two.file("/lib/x/y", bytes.Repeat([]byte("z"), 4097))
	dir := t.TempDir()
	cmd := exec.Command(cpio, "-idm", "--quiet")
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(two.bytes())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "bin/sh")); err != nil || string(got) != "content" {
		t.Errorf("bin/sh: %q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "lib/x/y")); err != nil || len(got) != 4097 {
		t.Errorf("lib/x/y: %d bytes, %v", len(got), err)
	}
	if bytes.Contains(one.bytes(), []byte("lib/x")) {
		t.Error("what a clone gets, the archive has too")
	}
}

func TestModuleDependencies(t *testing.T) {
	x := parseDeps("kernel/drivers/scsi/sd_mod.ko.xz: kernel/block/t10-pi.ko.xz kernel/lib/crc64.ko.xz\nkernel/drivers/md/dm-mod.ko:\n")
	path := x.path[moduleName("sd_mod")]
	if want := []string{"kernel/block/t10-pi.ko.xz", "kernel/lib/crc64.ko.xz"}; !slices.Equal(x.needs[path], want) {
		t.Errorf("sd_mod at %q needs %v", path, x.needs[path])
	}
	if x.path[moduleName("dm_mod")] != "kernel/drivers/md/dm-mod.ko" {
		t.Errorf("dm_mod: %v", x.path)
	}
}

// A guest that dies half-way must not look like one that passed.
func TestReportNeedsItsEnd(t *testing.T) {
	const line = `{"cell":{"table":"t","row":"r","column":"c","text":"x","ok":true}}` + "\n"
	if r, err := parseReport(strings.NewReader(line + `{"end":true}` + "\r\n")); err != nil || len(r.cells) != 1 {
		t.Errorf("whole: %v", err)
	}
	for _, text := range []string{"", line, line + `{"ce`, line + "[ 1.0] kernel message\n" + `{"end":true}`} {
		if _, err := parseReport(strings.NewReader(text)); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

func TestCostAgainstBaseline(t *testing.T) {
	now := func(v float64) *costs {
		return &costs{Instructions: map[string]float64{"io_uring": v, "fio io_uring": 2 * v}}
	}
	for _, c := range []struct {
		name string
		old  *costs
		now  float64
		ok   bool
		text string
	}{
		{"unknown", nil, 1000, true, "new baseline"},
		{"same", now(1000), 1000, true, "+0.00% of 1000"},
		{"dearer by 1.9 %", now(1000), 1019, true, "+1.90%"},
		{"dearer by 2.1 %", now(1000), 1021, false, "+2.10%"},
		{"cheaper", now(1000), 500, true, "-50.00%"},
	} {
		cells := compareCosts(now(c.now), c.old)
		state := cells[len(cells)-1] // of io_uring; fio's come first and never fail
		if state.OK != c.ok || !strings.Contains(state.Text, c.text) || !cells[1].OK {
			t.Errorf("%s: %+v", c.name, cells)
		}
	}
}

// One sector too many, or one too few, is seen.
func TestZoneVerification(t *testing.T) {
	old := cell.OldData(0)
	written := slices.Clone(old)
	for i := cell.WriteStart; i < cell.WriteStart+cell.WriteBytes; i++ {
		written[i] ^= 0xff
	}
	if err := verifyZone(written, old, true); err != nil {
		t.Error(err)
	}
	if err := verifyZone(old, old, false); err != nil {
		t.Error(err)
	}
	for _, at := range []int{0, cell.WriteStart - 1, cell.WriteStart + cell.WriteBytes, cell.ZoneBytes - 1} {
		bad := slices.Clone(written)
		bad[at] ^= 1
		if verifyZone(bad, old, true) == nil {
			t.Errorf("a write at byte %d passes", at)
		}
	}
	missed := slices.Clone(written)
	copy(missed[cell.WriteStart:], old[cell.WriteStart:cell.WriteStart+512])
	if verifyZone(missed, old, true) == nil {
		t.Error("a sector that was not written passes")
	}
}

func TestRestOfTheDiskIsVerified(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "raw"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(cell.DiskBytes); err != nil {
		t.Fatal(err)
	}
	write := func(at int64, b byte) {
		t.Helper()
		if _, err := f.WriteAt([]byte{b}, at); err != nil {
			t.Fatal(err)
		}
	}
	for e := range cell.Engines {
		write(cell.ZoneStart(e), 1)
		write(cell.ZoneStart(e)+cell.ZoneBytes-1, 1)
	}
	if err := verifyRest(f); err != nil {
		t.Error(err)
	}
	for _, at := range []int64{0, cell.ZoneStart(1) - 1, cell.ZoneStart(1) + cell.ZoneBytes, cell.DiskBytes - 1} {
		write(at, 0xff)
		if err := verifyRest(f); err == nil {
			t.Errorf("a write at byte %d passes", at)
		}
		write(at, 0)
	}
}

// An initialisation that leaves out a sector, writes zeros, or ends early is seen.
func TestDiskMustBeRewritten(t *testing.T) {
	old := cell.HCIOldData()
	size := 3 * len(old)
	whole := make([]byte, size)
	for i := range whole {
		whole[i] = old[i%len(old)] ^ 0xff
	}
	if err := allRewritten(bytes.NewReader(whole), size, old); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func([]byte) []byte{
		"the last sector is old":   func(d []byte) []byte { copy(d[size-512:], old[len(old)-512:]); return d },
		"the first sector is old":  func(d []byte) []byte { copy(d, old[:512]); return d },
		"a sector is zero":         func(d []byte) []byte { clear(d[len(old) : len(old)+512]); return d },
		"the last byte is missing": func(d []byte) []byte { return d[:size-1] },
	} {
		if err := allRewritten(bytes.NewReader(spoil(slices.Clone(whole))), size, old); err == nil {
			t.Errorf("%s, and it passes", name)
		}
	}
}

func TestEveryDiskHasItsOwnSerial(t *testing.T) {
	seen := map[string]bool{}
	disks := cell.Disks()
	for c := range cell.HCIControllers {
		for n := range cell.HCIDisks {
			disks = append(disks, cell.HCIDisk(c, n))
		}
	}
	for _, d := range disks {
		if seen[d.Serial] || len(d.Serial) > 20 { // ATA has room for 20 characters
			t.Errorf("serial %q of %s", d.Serial, d.Row())
		}
		seen[d.Serial] = true
	}
}

// A report is followed while it grows, also when a line comes in two parts.
func TestFollowReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan string)
	done := make(chan error, 1)
	go func() {
		done <- follow(ctx, path, func(l cell.Line) error { asked <- l.Ask; return nil })
	}()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, want := range []string{"pause", "unplug nvme-psync"} {
		text := `{"ask":"` + want + `"}` + "\n"
		for _, part := range []string{text[:5], text[5:]} {
			if _, err := f.WriteString(part); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if got := <-asked; got != want {
			t.Errorf("asked for %q, want %q", got, want)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSecondBootMustSayTheSame(t *testing.T) {
	one := []cell.Cell{{Row: "a", Text: "1"}, {Row: "b", Text: "2"}}
	if got := compareRuns(one, slices.Clone(one)); !got[0].OK || !got[1].OK {
		t.Errorf("equal: %+v", got)
	}
	other := slices.Clone(one)
	other[1].Text = "3"
	if got := compareRuns(one, other); !got[0].OK || got[1].OK {
		t.Errorf("one differs: %+v", got)
	}
	if got := compareRuns(one, one[:1]); got[1].OK {
		t.Errorf("one is missing: %+v", got)
	}
}

// What fails once is booted again with other random numbers, in a folder of its own, and named; what fails
// twice fails.
func TestFailedScenarioIsBootedAgain(t *testing.T) {
	bad := cell.Cell{Table: "truth", Row: "r", Column: "max", Detail: "1.8 ms;\nmuch"}
	good := cell.Cell{Table: "truth", Row: "r", Column: "max", OK: true}
	broken := errors.New("no guest")
	type end struct {
		cell cell.Cell
		err  error
	}
	for name, c := range map[string]struct {
		ends   []end
		boots  int
		passes bool
		says   string
	}{
		"good":        {[]end{{good, nil}}, 1, true, ""},
		"bad once":    {[]end{{bad, nil}, {good, nil}}, 2, true, "truth, r, max: 1.8 ms;; much"},
		"bad twice":   {[]end{{bad, nil}, {bad, nil}}, 2, false, "truth, r, max"},
		"dead once":   {[]end{{cell.Cell{OK: true}, broken}, {good, nil}}, 2, true, "no guest"},
		"dead twice":  {[]end{{good, broken}, {good, broken}}, 2, false, "no guest"},
		"bad, dead":   {[]end{{bad, nil}, {good, broken}}, 2, false, "truth, r, max"},
		"never again": {[]end{{good, nil}, {bad, nil}}, 1, true, ""},
	} {
		var seeds []int
		var folders []string
		s := scenario{"truth", func(_ context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
			seeds, folders = append(seeds, l.seed), append(folders, l.work)
			e := c.ends[len(seeds)-1]
			return []cell.Cell{e.cell}, time.Second, e.err
		}}
		l := &lab{options: &options{seed: 7}, work: t.TempDir()}
		cells, wall, err := l.boot(t.Context(), s)
		if passes := err == nil && len(failures(cells)) == 0; passes != c.passes || len(seeds) != c.boots || wall != time.Duration(c.boots)*time.Second {
			t.Errorf("%s: passes is %v after %d boots, %v", name, passes, len(seeds), wall)
		}
		if c.boots == 2 && (seeds[1] != 8 || folders[0] == folders[1]) {
			t.Errorf("%s: seeds %v, folders %q", name, seeds, folders)
		}
		if text := strings.Join(l.again, "|"); !strings.Contains(text, c.says) || (text == "") != (c.says == "") {
			t.Errorf("%s: says %q", name, text)
		}
	}
}
