package verdict

import (
	"strings"
	"testing"
	"time"

	"blkstorm/host"
)

// Each rule on the machine, the engine and the target, staged alone.
func TestRulesOfTheMachine(t *testing.T) {
	for _, c := range []struct {
		code   string
		change func(*Input)
		texts  []string
	}{
		{"generator_cpu_bound", func(in *Input) { in.Machine.UserPct, in.Machine.SystemPct = 20, 76 }, []string{"CPUs of this machine were 96 % busy"}},
		{"generator_cpu_bound", func(in *Input) { in.Machine.BusiestThreadPct = 99 }, []string{"busiest thread was on its CPU 99 %"}},
		{"steal", func(in *Input) { in.Machine.StealPct = 3.2 }, []string{"3.2 %", "hypervisor"}},
		{"clock", func(in *Input) { in.Machine.ClockSource, in.Machine.ClockCostNS = "hpet", 1700 }, []string{"(hpet)", "takes 1700 ns to read"}},
		{"clock", func(in *Input) { in.Machine.ClockSource, in.Machine.ClockResolutionNS = "jiffies", 4e6 }, []string{"(jiffies)", "steps of 4ms"}},
		{"clock", func(in *Input) { in.Machine.ClockBackward = 2 }, []string{"went backward 2 times"}},
		{"depth_above_queue", func(in *Input) { in.Queue = Queue{"/dev/sdb", 256, 64, "mptsas device/queue_depth"} }, []string{"256 I/Os", "takes 64", "mptsas device/queue_depth"}},
		{"descheduled", func(in *Input) { in.Machine.Descheduled, in.Machine.DescheduledMax = 3, 2*time.Second }, []string{"3 times", "2s"}},
		{"descheduled", func(in *Input) { in.Machine.Descheduled, in.Machine.DescheduledMax = 1, 2*time.Second }, []string{"off the CPU once, ", "2s"}},
		{"completes_in_submit", func(in *Input) { in.Machine.InSubmitPct, in.Engine = 99, "libaio" }, []string{"99 %", "engine libaio", "synchronous"}},
		{"kernel_workers", func(in *Input) { in.Machine.KernelWorkers = 2 }, []string{"worker threads of the kernel (2 were seen", "--engine libaio"}},
		{"unwritten_blocks", func(in *Input) { in.UnwrittenShare, in.UnwrittenPath = 0.4, "/dev/loop1" }, []string{"40 %", "/dev/loop1", "never written"}},
		{"slow_after_window", func(in *Input) { in.Max, in.DrainedMax = 20*time.Millisecond, 3*time.Second }, []string{"took 3s", "maximum shown, 20ms"}},
		{"engine_fallback", func(in *Input) { in.Fallback = []string{"io_uring could not be: EPERM"} }, []string{"io_uring could not be: EPERM"}},
		{"engine_degraded", func(in *Input) { in.EngineNotes = []string{"without registered buffers: no memory"} }, []string{"without registered buffers"}},
		{"window_too_short", func(in *Input) { in.Percentiles, in.IOs = []float64{50, 99, 99.9}, 9_000 }, []string{"percentile 99.9", "only 9.0 lie above"}},
	} {
		in := clean()
		c.change(in)
		got := Judge(in)
		if len(got) != 1 || got[0].Code != c.code {
			t.Errorf("%s: %+v", c.code, got)
			continue
		}
		for _, text := range c.texts {
			if !strings.Contains(got[0].Message+" | "+got[0].Advice, text) {
				t.Errorf("%s: %+v lacks %q", c.code, got[0], text)
			}
		}
		if got[0].Advice == "" {
			t.Errorf("%s: no advice", c.code)
		}
	}
}

// What is near a threshold and does no harm has no warning.
func TestRulesStaySilent(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"half a CPU":                    func(in *Input) { in.Machine.UserPct, in.Machine.BusiestThreadPct = 50, 60 },
		"a tick in a short window":      func(in *Input) { in.Machine.UserPct, in.Window, in.Planned = 100, 15*time.Millisecond, 0 },
		"a tick of steal":               func(in *Input) { in.Machine.StealPct = 0.3 },
		"a good clock":                  func(in *Input) { in.Machine.ClockCostNS, in.Machine.ClockResolutionNS = 35, 40 },
		"a clock whose vDSO is slow":    func(in *Input) { in.Machine.ClockCostNS, in.Machine.ClockResolutionNS = 150, 160 },
		"the whole queue":               func(in *Input) { in.Queue = Queue{"/dev/sdb", 64, 64, "x"} },
		"an unknown queue":              func(in *Input) { in.Queue = Queue{"/dev/sdb", 4096, 0, ""} },
		"a fast device at times":        func(in *Input) { in.Machine.InSubmitPct = 50 },
		"a synchronous engine":          func(in *Input) { in.Machine.InSubmitPct, in.Synchronous = 100, true },
		"depth 1":                       func(in *Input) { in.Machine.InSubmitPct, in.IODepth = 100, 1 },
		"as slow after as within":       func(in *Input) { in.Max, in.DrainedMax = 3*time.Second, 2*time.Second },
		"just enough I/Os":              func(in *Input) { in.Percentiles, in.IOs = []float64{99.9}, 10_000 },
		"the maximum as percentile 100": func(in *Input) { in.Percentiles, in.IOs = []float64{100}, 10 },
	} {
		in := clean()
		change(in)
		if got := Judge(in); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Clocks as guests have them, measured as a run measures its own: only the bad ones are told of.
func TestClocksOfGuests(t *testing.T) {
	for _, c := range []struct {
		name       string
		cost, step int64 // ns
		text       string
	}{
		{"tsc", 35, 1, ""},
		{"hpet", 1700, 1, "takes 17"},
		{"jiffies", 20, 4e6, "steps of 4ms"},
	} {
		var ns int64
		measured := host.MeasureClock(host.Roots{Sys: t.TempDir()}, func() int64 {
			ns += c.cost
			return ns / c.step * c.step
		})
		in := clean()
		in.Machine.ClockSource, in.Machine.ClockCostNS = c.name, measured.CostNS
		in.Machine.ClockResolutionNS, in.Machine.ClockBackward = measured.ResolutionNS, measured.BackwardSteps
		got := Judge(in)
		if c.text == "" && len(got) != 0 || c.text != "" && (len(got) != 1 || got[0].Code != "clock" || !strings.Contains(got[0].Message, c.text)) {
			t.Errorf("%s, measured as %+v: %+v", c.name, measured, got)
		}
	}
}
