package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"time"
)

// sample is one run of one tool.
type sample struct {
	ios     float64
	cpu     float64 // seconds of user and system time of the whole process
	meanNS  float64 // mean latency; 0 where the tool does not say
	peakMiB float64
}

// perCPU is thousands of I/Os per CPU-second.
func (s sample) perCPU() float64 { return s.ios / s.cpu / 1e3 }

// tool runs one load generator. idle is the CPU time that it takes to start and stop, in seconds.
type tool struct {
	name string
	run  func(ctx context.Context, runtime time.Duration) (sample, error)
	idle float64
}

// load is what all tools are asked to do: 4 KiB random reads over the whole device.
type load struct {
	dev, engine    string
	threads, depth int
	pin            string // "" leaves the tools' own choice
}

func (l load) ourselves(o *options) tool {
	return tool{name: "blkstorm", run: func(ctx context.Context, runtime time.Duration) (sample, error) {
		args := []string{"run", "--quiet", "--format", "json", "--rw", "randread", "--bs", "4k", "--engine", l.engine,
			"--threads", fmt.Sprint(l.threads), "--iodepth", fmt.Sprint(l.depth), "--runtime", runtime.String(), "--interval", "1s"}
		if l.pin != "" {
			args = append(args, "--pin", l.pin)
		}
		out, usage, err := execute(ctx, o.blkstorm, append(args, l.dev)...)
		if err != nil {
			return sample{}, err
		}
		var doc struct {
			Points []struct {
				Issued struct{ Read float64 }
				Total  struct {
					Latency struct{ Mean float64 } `json:"latency_ns"`
				}
			}
		}
		if err := json.Unmarshal(out, &doc); err != nil || len(doc.Points) != 1 {
			return sample{}, fmt.Errorf("our result: %w", err)
		}
		usage.ios, usage.meanNS = doc.Points[0].Issued.Read, doc.Points[0].Total.Latency.Mean
		return usage, nil
	}}
}

// fio as people run it.
func (l load) fioPlain(o *options) tool { return l.fioWith(o, "fio plain") }

// fioTuned has everything that its manual offers against cost per I/O.
func (l load) fioTuned(o *options) tool {
	args := []string{"--norandommap"}
	if l.engine != "psync" {
		args = append(args, fmt.Sprintf("--iodepth_batch_submit=%d", min(32, l.depth)), fmt.Sprintf("--iodepth_batch_complete_max=%d", l.depth))
	}
	switch l.engine {
	case "io_uring":
		args = append(args, "--fixedbufs", "--registerfiles")
	case "libaio":
		args = append(args, "--userspace_reap")
	}
	return l.fioWith(o, "fio tuned", args...)
}

func (l load) fioWith(o *options, name string, more ...string) tool {
	return tool{name: name, run: func(ctx context.Context, runtime time.Duration) (sample, error) {
		args := append([]string{"--name=b", "--filename=" + l.dev, "--rw=randread", "--bs=4k", "--direct=1", "--ioengine=" + l.engine,
			fmt.Sprintf("--iodepth=%d", l.depth), fmt.Sprintf("--numjobs=%d", l.threads), "--thread", "--group_reporting",
			"--time_based", fmt.Sprintf("--runtime=%dms", runtime.Milliseconds()), "--output-format=json", "--eta=never"}, more...)
		if l.pin != "" {
			args = append(args, "--cpus_allowed="+l.pin)
		}
		out, usage, err := execute(ctx, o.fio, args...)
		if err != nil {
			return sample{}, err
		}
		var doc struct {
			Jobs []struct {
				Read struct {
					TotalIOs float64                `json:"total_ios"`
					Lat      struct{ Mean float64 } `json:"lat_ns"`
				}
			}
		}
		if at := bytes.IndexByte(out, '{'); at >= 0 { // fio may say something first
			out = out[at:]
		}
		if err := json.Unmarshal(out, &doc); err != nil || len(doc.Jobs) != 1 {
			return sample{}, fmt.Errorf("fio's result: %w", err)
		}
		usage.ios, usage.meanNS = doc.Jobs[0].Read.TotalIOs, doc.Jobs[0].Read.Lat.Mean
		return usage, nil
	}}
}

var tioIOPS = regexp.MustCompile(`(?m)^IOPS=([0-9.]+)([KM]?),`)

// tio is t/io_uring with the same batches as ours and latency recording left off, as is its default.
func (l load) tio(o *options) tool {
	return tool{name: "t/io_uring", run: func(ctx context.Context, runtime time.Duration) (sample, error) {
		// It knows whole seconds, and says its rate once a second, the last one apart.
		seconds := max(int(runtime.Seconds()), 1) + 1
		args := []string{"-b4096", fmt.Sprintf("-d%d", l.depth), fmt.Sprintf("-s%d", l.depth), "-c1", fmt.Sprintf("-n%d", l.threads),
			fmt.Sprintf("-r%d", seconds), "-p0", "-R1", "-X1", "-O1"}
		if l.engine == "libaio" {
			args = append(args, "-a1")
		} else {
			args = append(args, "-a0", "-B1", "-F1")
		}
		began := time.Now()
		out, usage, err := execute(ctx, o.tioUring, append(args, l.dev)...)
		if err != nil {
			return sample{}, err
		}
		lines := tioIOPS.FindAllSubmatch(out, -1)
		if lines == nil {
			return sample{}, fmt.Errorf("t/io_uring said no IOPS: %s", out)
		}
		var sum float64
		for _, m := range lines {
			iops, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				return sample{}, err
			}
			sum += iops * map[string]float64{"": 1, "K": 1e3, "M": 1e6}[string(m[2])]
		}
		usage.ios = sum / float64(len(lines)) * time.Since(began).Seconds()
		return usage, nil
	}}
}

// execute runs a program and tells what it used, by the kernel's own accounting of the ended process.
func execute(ctx context.Context, name string, args ...string) ([]byte, sample, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, sample{}, fmt.Errorf("%s %v: %w: %s", name, args, err, stderr.Bytes())
	}
	state := cmd.ProcessState
	return out, sample{
		cpu:     (state.UserTime() + state.SystemTime()).Seconds(),
		peakMiB: float64(state.SysUsage().(*syscall.Rusage).Maxrss) / 1024,
	}, nil
}
