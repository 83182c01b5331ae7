package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"blkstorm/lab/guest/cell"
	"blkstorm/plan"
	"blkstorm/result"
)

// hciPoints are the points of hcibench-storagereview after the initialisation.
var hciPoints = []struct {
	label   string // and the name of its row in the tables
	bytes   uint64
	readPct float64
}{
	{"4K Random 100% Read", 4 << 10, 100},
	{"4K Random 100% Write", 4 << 10, 0},
	{"8K Random 70/30", 8 << 10, 70},
	{"32K Sequential 100% Read", 32 << 10, 100},
	{"32K Sequential 100% Write", 32 << 10, 0},
}

const hciDepth = 8 // of the single thread per disk

// hci runs the HCI reviews' procedure on four disks of each of two controllers at once.
func (a *agent) hci() {
	for i, c := range cell.HCIControllers {
		var targets []string
		err := waitForHCI(i)
		for n := range cell.HCIDisks {
			targets = append(targets, "serial="+cell.HCIDisk(i, n).Serial)
		}
		a.cell("hci", c.Name, "disks", fmt.Sprint(len(targets)), err)
		if err == nil {
			a.hciOn(c.Name, targets)
		}
	}
}

// waitForHCI waits until the disks of a controller are there: they are found some time after the driver loads.
func waitForHCI(controller int) (err error) {
	for range 40 {
		found := 0
		list, e := devices()
		for _, d := range list {
			for n := range cell.HCIDisks {
				if want := cell.HCIDisk(controller, n); d.Serial == want.Serial && d.Controller.Driver == want.Controller.Driver && d.SizeBytes == cell.HCIBytes {
					found++
				}
			}
		}
		if found == cell.HCIDisks {
			return nil
		}
		err = errors.Join(e, fmt.Errorf("%d of %d disks found behind %s", found, cell.HCIDisks, cell.HCIControllers[controller].Driver))
		time.Sleep(250 * time.Millisecond)
	}
	return err
}

// hciOn runs it with short times. The tests use a quarter of each disk, so that what lies beyond is written by
// the initialisation or not at all, which the host sees in the images.
func (a *agent) hciOn(controller string, targets []string) {
	dir := "/tmp/hci-" + controller
	r := blkstorm(append([]string{"profile", "run", "hcibench-storagereview", "--quick", "--ramp", "200ms", "--runtime", "1s", "--working-set", "25%", "--quiet", "--dir", dir, "--destroy"}, targets...)...)
	var err error
	if r.status != 0 {
		err = fmt.Errorf("exit status %d: %s", r.status, short(r.stderr+r.stdout))
	}
	a.cell("hci", controller, "exit status", fmt.Sprint(r.status), err)
	doc, err := openResult(dir)
	if err == nil && (len(doc.Points) != 1+len(hciPoints) || len(doc.Targets) != cell.HCIDisks) {
		err = fmt.Errorf("%d points on %d targets, want %d on %d", len(doc.Points), len(doc.Targets), 1+len(hciPoints), cell.HCIDisks)
	}
	if err != nil {
		a.cell("hci", controller, "result", "FAIL", err)
		return
	}
	a.cell("hci", controller, "initialised", fmt.Sprintf("%d MiB", doc.Points[0].Write.Bytes>>20), checkHCIFill(doc.Points[0]))
	for i, want := range hciPoints {
		p := doc.Points[1+i]
		err := checkHCIPoint(p, i)
		a.cell("hci", controller, want.label, fmt.Sprintf("%.0f IOPS", p.Total.IOPS), err)
	}
	a.cell("hci", controller, "table", "there", checkHCITable(r.stdout, doc))
}

// openResult reads a result folder, rows and all.
func openResult(dir string) (*result.Doc, error) {
	folder, doc, err := result.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	return doc, errors.Join(folder.Rows(doc), folder.Close())
}

// checkHCIFill wants every byte of every disk written once.
func checkHCIFill(p *result.Point) error {
	if p.Phase != plan.Fill || !p.Completed {
		return fmt.Errorf("the first point is of phase %s, completed %v", p.Phase, p.Completed)
	}
	for _, t := range p.Targets {
		if t.Write.Bytes != cell.HCIBytes || t.Total.Bytes != cell.HCIBytes {
			return fmt.Errorf("%d bytes written to %s, %d moved, want %d", t.Write.Bytes, t.Path, t.Total.Bytes, int64(cell.HCIBytes))
		}
	}
	return sums(p)
}

// checkHCIPoint compares a point with the procedure: its label, load, sizes and mix, on each disk, and
// Little's law over all of them.
func checkHCIPoint(p *result.Point, i int) error {
	want := &hciPoints[i]
	if p.Label != want.label || p.Phase != plan.Measure || !p.Completed || p.Faults > 0 || p.Threads != 1 || p.IODepth != hciDepth || p.IODepthEffective != hciDepth {
		return fmt.Errorf("label %q, phase %s, completed %v, %d faults, %dT/%dQ, reached %d; want %q at 1T/%dQ", p.Label, p.Phase, p.Completed, p.Faults, p.Threads, p.IODepth, p.IODepthEffective, want.label, hciDepth)
	}
	if issued := 100 * float64(p.Issued.Read) / float64(p.Issued.Sum()); math.Abs(issued-want.readPct) > 100*100/float64(p.Issued.Sum()) {
		return fmt.Errorf("%d reads and %d writes were issued, want %v %% reads in each 100 of each disk", p.Issued.Read, p.Issued.Write, want.readPct)
	}
	for _, t := range p.Targets {
		if t.Total.IOs < hciDepth || t.Total.Bytes != t.Total.IOs*want.bytes || (t.Read.IOs > 0) != (want.readPct > 0) || (t.Write.IOs > 0) != (want.readPct < 100) {
			return fmt.Errorf("%s: %d reads and %d writes of %d bytes together; want %d bytes each, and %v %% reads", t.Path, t.Read.IOs, t.Write.IOs, t.Total.Bytes, want.bytes, want.readPct)
		}
	}
	// Little's law holds for a whole life; a window cuts I/Os in two at both of its ends, and each counts whole
	// where it completes.
	const asked = hciDepth * cell.HCIDisks
	flying, cut := p.Total.IOPS*float64(p.Total.Latency.Mean)/1e9, float64(p.Total.Latency.Max)/1e9/p.WindowS
	if flying < asked*(0.5-cut) || flying > asked*(1.01+cut) {
		return fmt.Errorf("IOPS x latency is %.1f in flight, of %d; the longest latency is %.3f of the window", flying, asked, cut)
	}
	return sums(p)
}

// checkHCITable wants a row of each point in both tables, with the figure that the document has.
func checkHCITable(text string, doc *result.Doc) error {
	_, tables, found := strings.Cut(text, "\nthe tables of hcibench-storagereview\n")
	if !found {
		return fmt.Errorf("no tables in the text: %s", short(text))
	}
	for i, want := range hciPoints {
		iops, rows := doc.Points[1+i].Total.IOPS, 0
		for line := range strings.Lines(tables) {
			cells, is := strings.CutPrefix(strings.TrimSpace(line), want.label+" ")
			if !is {
				continue
			}
			if rows++; rows > 1 {
				continue
			}
			shown := 0.0
			if _, err := fmt.Sscan(strings.ReplaceAll(strings.Fields(cells)[0], ",", ""), &shown); err != nil || math.Abs(shown-iops) > 0.5 {
				return fmt.Errorf("the table has %q, the document %v IOPS", strings.TrimSpace(line), iops)
			}
		}
		if rows != 2 {
			return fmt.Errorf("%d rows of %q in the tables, want 2: %s", rows, want.label, short(tables))
		}
	}
	return nil
}
