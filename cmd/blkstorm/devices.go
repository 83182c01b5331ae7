package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"blkstorm/device"
	"blkstorm/printable"
)

// deviceRow is one device with the guard's answer.
type deviceRow struct {
	*device.Facts
	Safe     bool             `json:"safe"` // may be written with --destroy
	Refusals []device.Refusal `json:"refusals"`
}

// deviceList is the document of blkstorm devices --format json.
type deviceList struct {
	Schema  string      `json:"schema"`
	Devices []deviceRow `json:"devices"`
}

func (a *app) devicesCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "devices [flags] [DEVICE...]",
		Short: "List block devices: what they are, and whether they are safe to test",
		Long: `List all block devices, or those named: size, block sizes, queue, controller and its queue depth,
identity, and whether they may be written with --destroy, or why not. Nothing is written.`,
		RunE: func(_ *cobra.Command, specs []string) error {
			if !slices.Contains([]string{"text", "json"}, format) {
				return fmt.Errorf("--format %q: known are text, json", format)
			}
			list, err := a.listDevices(specs)
			if list == nil || err != nil && len(list.Devices) == 0 {
				return err
			}
			if format == "json" {
				return errors.Join(writeJSON(a.stdout, list), err)
			}
			return errors.Join(deviceText(a.stdout, list), err)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "what goes to standard output, `NAME` is text|json")
	return cmd
}

func (a *app) listDevices(specs []string) (*deviceList, error) {
	roots := a.roots.Device
	var facts []*device.Facts
	var failed []error // told after those that were found
	for _, spec := range specs {
		path, err := roots.Resolve(spec)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		f, err := roots.Inspect(path)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		facts = append(facts, f)
	}
	if len(specs) == 0 {
		var err error
		if facts, err = roots.List(); err != nil {
			return nil, err
		}
	}
	list := &deviceList{Schema: "blkstorm.devices/1", Devices: []deviceRow{}}
	for _, f := range facts {
		safe, refusals := roots.Safety(f)
		if refusals == nil {
			refusals = []device.Refusal{}
		}
		if f.SizeBytes == 0 {
			safe = false
			refusals = append(refusals, device.Refusal{Code: "empty", Reason: f.Path + " holds no byte", Advice: "choose a target with a size"})
		}
		list.Devices = append(list.Devices, deviceRow{Facts: f, Safe: safe, Refusals: refusals})
	}
	return list, errors.Join(failed...)
}

// deviceText prints a table of what people choose by, and below it why a device is not safe.
func deviceText(w io.Writer, list *deviceList) error {
	if len(list.Devices) == 0 {
		_, err := fmt.Fprintln(w, "no block devices")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "DEVICE\tKIND\tSIZE\tBLOCK\tDIO\tMEDIA\tSCHED\tREQS\tMAX I/O\tQUEUE\tBUS\tCONTROLLER\tH:C:T:L\tMODEL\tSERIAL\tWWN\tSAFE TO TEST?")
	for _, d := range list.Devices {
		fmt.Fprintln(t, strings.Join(deviceCells(&d), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, d := range list.Devices {
		for _, r := range d.Refusals {
			if _, err := fmt.Fprintf(w, "%s: [%s] %s\n", printable.Name(d.Path), r.Code, printable.Text(r.Reason)); err != nil {
				return err
			}
		}
	}
	return nil
}

func deviceCells(d *deviceRow) []string {
	safe := "yes, with --destroy"
	if !d.Safe {
		safe = "no: " + d.Refusals[0].Code
	}
	media := ""
	if d.Rotational != nil {
		media = "ssd"
		if *d.Rotational {
			media = "disk"
		}
	}
	block := fmt.Sprint(d.LogicalBlockBytes)
	if d.PhysicalBlockBytes != d.LogicalBlockBytes && d.PhysicalBlockBytes != 0 {
		block += fmt.Sprintf("/%d", d.PhysicalBlockBytes)
	}
	number := func(n int, unit string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n) + unit
	}
	dio := number(d.DIOOffsetAlign, "")
	if d.DIOMemAlign != 0 && d.DIOMemAlign != d.DIOOffsetAlign {
		dio += "/" + number(d.DIOMemAlign, "")
	}
	media += map[bool]string{true: " ro"}[d.ReadOnly]
	controller := d.Controller.Driver
	if d.Controller.Model != "" {
		controller += " (" + d.Controller.Model + ")"
	}
	cells := []string{
		printable.Name(d.Path), d.Kind, humanize.IBytes(uint64(d.SizeBytes)), block, dio, strings.TrimSpace(media), d.Scheduler,
		number(d.Queue.NrRequests, ""), number(d.Queue.MaxSectorsKB, "k"), number(d.Controller.QueueDepth, ""), d.Transport, controller, d.HCTL,
		strings.TrimSpace(d.Vendor + " " + d.Model), d.Serial, d.WWN, safe,
	}
	for i := range cells {
		cells[i] = printable.Text(cells[i])
		if cells[i] == "" {
			cells[i] = "-"
		}
	}
	return cells
}
