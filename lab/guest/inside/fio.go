package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"
)

// fioLatency is fio's latency in nanoseconds, submit call included where fio has it (lat, not clat).
type fioLatency struct {
	Mean, Max  float64
	Percentile map[string]float64
	iops       float64
}

// fio runs random reads of 4 KiB by fio, and returns their latency.
func fio(dev, engine string, threads, depth int, runtime string) (*fioLatency, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/bin/fio", "--name=lab", "--filename="+dev, "--ioengine="+engine, "--rw=randread", "--bs=4k", "--direct=1", "--thread",
		"--group_reporting", "--time_based", "--ramp_time=200ms", "--runtime="+runtime, "--lat_percentiles=1", "--percentile_list=50:99", "--output-format=json",
		fmt.Sprintf("--numjobs=%d", threads), fmt.Sprintf("--iodepth=%d", depth)).Output()
	if err != nil {
		return nil, fmt.Errorf("fio: %w: %s", err, short(string(out)))
	}
	var doc struct {
		Jobs []struct {
			Read struct {
				IOPS float64     `json:"iops"`
				Clat *fioLatency `json:"clat_ns"`
				Lat  *fioLatency `json:"lat_ns"`
			}
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil || len(doc.Jobs) == 0 || doc.Jobs[0].Read.Clat == nil {
		return nil, fmt.Errorf("fio: %v: %s", err, short(string(out)))
	}
	f := doc.Jobs[0].Read.Clat
	if l := doc.Jobs[0].Read.Lat; l != nil && len(l.Percentile) > 0 {
		f = l
	}
	f.iops = doc.Jobs[0].Read.IOPS
	return f, nil
}
