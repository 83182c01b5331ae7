package verdict

import (
	"strings"
	"testing"
	"time"
)

// clean is a point that went as it was asked for; tests spoil one thing of it.
func clean() *Input {
	return &Input{
		Engine: "io_uring", IODepth: 16, Depth: Depth{Engine: "io_uring", Threads: 4, Asked: 16, Reached: 16}, Completed: true,
		Window: 30 * time.Second, Planned: 30 * time.Second, IOs: 1_000_000,
	}
}

func TestCleanRunHasNoWarning(t *testing.T) {
	if got := Judge(clean()); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Each rule on how the point went, staged alone: one warning, with its code, its figures and advice.
func TestRulesOfThePoint(t *testing.T) {
	for _, c := range []struct {
		code   string
		change func(*Input)
		texts  []string
	}{
		{"device_hung", func(in *Input) { in.Stuck = 3 }, []string{"never answered 3 I/Os", "kernel log"}},
		{"engine_failed", func(in *Input) { in.Failure = "ring is gone" }, []string{"the engine itself failed", "ring is gone"}},
		{"io_errors", func(in *Input) { in.Faults, in.Errors, in.FirstError = 2, 2, "read of 512 bytes: EIO" }, []string{"2 I/Os failed", "the first: read of 512 bytes: EIO"}},
		{"io_errors", func(in *Input) { in.Faults, in.Errors, in.Short = 3, 1, 2 }, []string{"3 I/Os failed"}},
		{"io_errors", func(in *Input) { in.Faults = 1 }, []string{"1 I/O failed"}}, // in the ramp
		{"short_io", func(in *Input) { in.Faults, in.Short = 1, 1 }, []string{"moved too few bytes"}},
		{"not_completed", func(in *Input) { in.Completed, in.Interrupted, in.Window = false, true, 2*time.Second }, []string{"was interrupted", "2s of 30s"}},
		{"not_completed", func(in *Input) { in.Completed, in.Window = false, 2*time.Second }, []string{"ended early", "2s of 30s"}},
		{"fill_incomplete", func(in *Input) {
			in.FillIncomplete, in.Completed, in.Planned = "1 of 2 bytes were written to /dev/x", false, 0
		}, []string{"1 of 2 bytes", "nothing was measured"}},
		{"not_steady", func(in *Input) { in.NotSteady = "after 5 rounds" }, []string{"not reached: after 5 rounds", "--steady-max-rounds"}},
		{"steady_state_lost", func(in *Input) { in.Drift = "iops is 5" }, []string{"iops is 5", "precondition again"}},
		{"nothing_moved", func(in *Input) { in.Dry, in.Engine = true, "null" }, []string{"engine null moves no data"}},
		{"depth_not_reached", func(in *Input) { in.Depth.Reached, in.Depth.In = 9, " by stream log" }, []string{"iodepth 16 was asked and 9 reached by stream log", "more time"}},
		{"depth_not_reached", func(in *Input) {
			in.Depth.Engine, in.Depth.Synchronous, in.Depth.Paced, in.Depth.Reached = "psync", true, true, 1
		},
			[]string{"iodepth 16 was asked and 1 reached", "engine psync keeps one I/O in flight", "for 64 in flight use --threads 64"}},
		{"buffered", func(in *Input) { in.Buffered = true }, []string{"I/O went through the page cache", "--direct"}},
		{"buffered", func(in *Input) { in.Buffered, in.BufferedIn = true, " of stream log" }, []string{"I/O of stream log went through"}},
		{"latency_clamped", func(in *Input) { in.Clamped = 7 }, []string{"7 latencies", "1 hour"}},
		{"throttled", func(in *Input) { in.Throttled = "the drive of /dev/x throttled lightly for 5 s" }, []string{"throttled lightly for 5 s", "cool it"}},
		{"drive_warning", func(in *Input) { in.Critical = "the drive of /dev/x takes no more writes" }, []string{"takes no more writes (critical", "smart-log"}},
		{"media_errors", func(in *Input) { in.MediaErrors = "the drive of /dev/x counted 2 media errors" }, []string{"2 media errors", "smart-log"}},
		{"rate_too_low", func(in *Input) {
			in.Paced, in.Open, in.LeastPlanned, in.LeastIn, in.IOs, in.Percentiles = true, true, 3, " by stream log", 3, []float64{50}
		}, []string{"3 I/Os were planned in the window of 30s by stream log", "--runtime longer"}},
		{"rate_too_low", func(in *Input) { in.Paced, in.Open, in.LeastPlanned, in.Offered = true, true, 1, 1 }, []string{"1 I/O was planned"}},
		{"rate_too_low", func(in *Input) { in.Paced, in.Open, in.IOs = true, true, 0 }, []string{"no I/O was planned in the window of 30s"}},
		{"rate_not_reached", func(in *Input) { in.Missed, in.Offered, in.Backlog = 2, 98, 1234567*time.Microsecond }, []string{"2 I/Os of 100 planned", "the oldest 1.235s after", "lower the rate"}},
		{"rate_not_reached", func(in *Input) { in.Missed, in.Offered, in.Backlog = 1, 99, 81234*time.Nanosecond }, []string{"1 I/O of 100 planned", "the oldest 81µs after"}},
		{"nothing_completed", func(in *Input) { in.IOs = 0 }, []string{"no I/O completed in the window of 30s", "--runtime"}},
	} {
		in := clean()
		c.change(in)
		got := Judge(in)
		if len(got) != 1 || got[0].Code != c.code {
			t.Errorf("%s: %+v", c.code, got)
			continue
		}
		if got[0].Advice == "" {
			t.Errorf("%s: no advice", c.code)
		}
		for _, text := range c.texts {
			if !strings.Contains(got[0].Message+" | "+got[0].Advice, text) {
				t.Errorf("%s: %+v lacks %q", c.code, got[0], text)
			}
		}
	}
}

// What is no fault of the run is not warned of.
func TestRulesKeepQuiet(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"ends by itself":           func(in *Input) { in.Completed, in.Planned = false, 0 },
		"synchronous at depth 1":   func(in *Input) { in.Depth.Synchronous, in.Depth.Asked, in.Depth.Reached = true, 1, 1 },
		"stopped before any I/O":   func(in *Input) { in.IOs, in.Window, in.Planned, in.Depth.Reached = 0, 0, 0, 0 },
		"a rate keeps it lower":    func(in *Input) { in.Depth.Paced, in.Depth.Reached = true, 2 },
		"deeper than it was asked": func(in *Input) { in.Depth.Reached = 17 },
	} {
		in := clean()
		change(in)
		if got := Judge(in); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The gravest comes first, whatever else there is to say.
func TestGravestFirst(t *testing.T) {
	in := clean()
	in.Stuck, in.Faults, in.Errors, in.Completed, in.Buffered, in.Clamped = 1, 1, 1, false, true, 1
	in.Window = in.Planned / 2
	var codes []string
	for _, w := range Judge(in) {
		codes = append(codes, w.Code)
	}
	if got := strings.Join(codes, " "); got != "device_hung io_errors not_completed buffered latency_clamped" {
		t.Error(got)
	}
}
