// Command inside is the lab's agent in the guest: the first process starts it with the name of a
// scenario. It runs blkstorm against the guest's devices, compares what comes out with what the devices
// are, and writes a line of JSON per answer to the second serial port.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"blkstorm/lab/guest/cell"
)

// scenarios by name; each is one boot.
var scenarios = map[string]func(*agent){
	"disks":   (*agent).disks,
	"guard":   (*agent).guard,
	"truth":   (*agent).truth,
	"faults":  (*agent).faults,
	"vm":      (*agent).vm,
	"repeat":  (*agent).repeat,
	"hours":   (*agent).hours,
	"pacing":  (*agent).pacing,
	"clock":   (*agent).clock,
	"kernel2": (*agent).otherKernel,
}

// agent reports what it finds. A defect of the machinery (a tool that fails, a missing module) fails a
// cell just as a wrong figure does: nothing that was not seen to work counts as good.
type agent struct {
	mu  sync.Mutex // a wish may come while a cell is reported
	out *json.Encoder
}

func main() {
	port, err := openReport("/dev/ttyS1")
	if err != nil {
		fmt.Println("inside:", err)
		os.Exit(1)
	}
	a := &agent{out: json.NewEncoder(port)}
	name := "none"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	if run := scenarios[name]; run != nil {
		run(a)
	} else {
		fmt.Printf("inside: no scenario %q\n", name)
		os.Exit(1)
	}
	a.send(cell.Line{End: true})
}

// openReport opens a serial port for output that nothing rewrites and nobody echoes.
func openReport(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	t, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		return nil, err
	}
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG
	t.Cflag = t.Cflag&^unix.CBAUD | unix.B115200
	return f, unix.IoctlSetTermios(int(f.Fd()), unix.TCSETS, t)
}

func (a *agent) send(l cell.Line) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.out.Encode(l); err != nil {
		fmt.Println("inside:", err)
	}
}

// cell reports one answer; err says what is wrong with it.
func (a *agent) cell(table, row, column, text string, err error) {
	c := cell.Cell{Table: table, Row: row, Column: column, Text: text, OK: err == nil}
	if err != nil {
		c.Detail = err.Error()
		fmt.Printf("FAIL %s, %s, %s: %v\n", table, row, column, err)
	}
	a.send(cell.Line{Cell: &c})
}

// note prints to the console, where a person looks when something went wrong.
func note(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// write sets a file of sysfs or procfs.
func write(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) }

// read is a file of sysfs or procfs without the space around it.
func read(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
