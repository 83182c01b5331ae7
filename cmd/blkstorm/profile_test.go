package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/plan/profile"
	"blkstorm/result"
)

// shortest makes the quick form of each profile as short as it can be and still have its shape.
func shortest(p *profile.Profile) (args []string) {
	for _, s := range []struct{ name, value string }{
		{"ramp", "0"}, {"runtime", "50ms"}, {"steady-round", "60ms"}, {"steady-max-rounds", "5"}, {"precondition", "100ms"},
	} {
		until := p.Setting("precondition")
		steady := until == nil || until.Default == "steady"
		switch {
		case p.Setting(s.name) == nil, s.name == "precondition" && steady, strings.HasPrefix(s.name, "steady-") && !steady:
		case s.name == "runtime" && p.Name == "snia-iops": // 280 points, whose buffers are 256 MiB at the full depth
			args = append(args, "--runtime", "20ms", "--threads", "2", "--iodepth", "4")
		default:
			args = append(args, "--"+s.name, s.value)
		}
	}
	return args
}

// inMemory is a folder whose files need no disk, where there is such: a result is made safe after each point,
// and SNIA's matrix has hundreds.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "blkstorm")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// sequence is what a plan runs, in order: phase, round and label of each point.
func sequence(p *plan.Plan, rounds func(phase int) int) (list [][3]any) {
	for i := range p.Phases {
		ph := &p.Phases[i]
		n := 1
		if ph.Rounds != nil {
			n = rounds(i)
		}
		for round := 1; round <= n; round++ {
			at := round
			if ph.Rounds == nil {
				at = 0
			}
			for j := range ph.Points {
				list = append(list, [3]any{ph.Kind, at, ph.Points[j].Label})
			}
		}
	}
	return list
}

// Every profile runs to its end on small devices in its quick form, does what its plan says in that order, and
// leaves a result that is marked.
func TestEveryProfileRuns(t *testing.T) {
	lab.Root(t)
	for _, p := range profile.All() {
		t.Run(p.Name, func(t *testing.T) {
			dir := inMemory(t)
			args := append([]string{"profile", "run", p.Name, "--quick", "--quiet", "--destroy", "--dir", filepath.Join(dir, "result")}, shortest(p)...)
			devices := 1
			if strings.HasPrefix(p.Name, "hcibench") {
				devices = 3
			}
			if p.TakesClaims {
				args = append(args, "--claims", "ioDrive2-1.2TB")
			}
			for range devices {
				args = append(args, lab.Loop(t, 64*mib, lab.LoopOptions{}))
			}
			out := start(t, dir, args...).waitFor(3*time.Minute).want(t, exitGood)
			doc := readResult(t, filepath.Join(dir, "result", "result.json"))
			if doc.Plan.Profile != p.Name || !doc.Plan.Quick || len(doc.Targets) != devices || (doc.Plan.Claims != nil) != p.TakesClaims {
				t.Errorf("plan of %s, quick %v, %d targets, claims %v", doc.Plan.Profile, doc.Plan.Quick, len(doc.Targets), doc.Plan.Claims)
			}
			checkTables(t, p.Name, out.stdout)
			marked := false
			for _, w := range doc.Warnings {
				marked = marked || w.Code == "quick"
			}
			if !marked || !strings.Contains(out.stdout, "\nprofile "+p.Name+", QUICK: times scaled down, not comparable with the published procedure\n") {
				t.Errorf("the result is not marked as quick: %v\n%.500s", doc.Warnings, out.stdout)
			}
			done := func(phase int) int {
				i := slices.IndexFunc(doc.Rounds, func(r *result.Rounds) bool { return r.Phase == phase })
				if i < 0 || doc.Rounds[i].Done < 5 {
					t.Fatalf("rounds %+v", doc.Rounds)
				}
				return doc.Rounds[i].Done
			}
			var got [][3]any
			ios := uint64(0)
			for _, pt := range doc.Points {
				got = append(got, [3]any{pt.Phase, pt.Round, pt.Label})
				if !pt.Completed || pt.Faults > 0 || pt.Skipped != "" {
					t.Errorf("%s: completed %v, %d faults, skipped %q", pt.Label, pt.Completed, pt.Faults, pt.Skipped)
				}
				ios += pt.Total.IOs
				if pt.Phase == plan.Precondition && (pt.Steady == nil) != (p.Name == "thread-ramp") {
					t.Errorf("%s: steady %+v", pt.Label, pt.Steady)
				}
			}
			if diff := cmp.Diff(sequence(doc.Plan, done), got); diff != "" {
				t.Errorf("-plan +points:\n%s", diff)
			}
			if ios < 100 {
				t.Errorf("%d I/Os in all points", ios)
			}
		})
	}
}

// sparse makes a file that takes no room.
func sparse(t *testing.T, name string, size int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	return path
}

// planOn is the key plan of a document.
func planIn(t *testing.T, text string) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if inside, ok := doc["plan"].(map[string]any); ok {
		return inside
	}
	return doc
}

// What is shown, saved and run by plan run is what profile run runs.
func TestShownProfileIsThePlan(t *testing.T) {
	disk := sparse(t, "disk", 64<<30)
	for _, p := range profile.All() {
		file := filepath.Join(t.TempDir(), "my.yaml")
		shown := blkstorm(t, "profile", "show", p.Name, "--seed", "5", "--size", "1g").want(t, exitGood)
		if err := os.WriteFile(file, []byte(shown.stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		plan := blkstorm(t, "plan", "run", "--dry-run", "--format", "json", "--destroy", file, disk).want(t, exitGood)
		run := blkstorm(t, "profile", "run", "--dry-run", "--format", "json", "--destroy", "--seed", "5", "--size", "1g", p.Name, disk).want(t, exitGood)
		one, other := planIn(t, plan.stdout), planIn(t, run.stdout)
		// TARGETs after a file have none of the file's keys, such as what makes a missing file.
		delete(one, "targets")
		delete(other, "targets")
		if diff := cmp.Diff(one, other); diff != "" {
			t.Errorf("%s: -shown +run:\n%s", p.Name, diff)
		}
	}
}

// A shown profile goes through a pipe, with a target or a scratch file of its own.
func TestShownProfileInAPipe(t *testing.T) {
	shown := blkstorm(t, "profile", "show", "snia-iops").want(t, exitGood)
	for _, targets := range [][]string{nil, {sparse(t, "disk", 64<<30), "--destroy"}} {
		cmd := command(t, append([]string{"plan", "run", "--dry-run", "-"}, targets...)...)
		cmd.Stdin = strings.NewReader(shown.stdout)
		text, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(text), "measure: RND 512 0/100") || !strings.Contains(string(text), "56 points") {
			t.Errorf("%v: %v\n%.600s", targets, err, text)
		}
	}
}

// Options are checked before anything is touched.
func TestProfileRefuses(t *testing.T) {
	disk := sparse(t, "disk", 1<<30)
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"profile run", exitUsage, "no profile is named; write blkstorm profile run NAME, with one of storagereview-ssd, "},
		{"profile show", exitUsage, "no profile is named; write blkstorm profile show NAME"},
		{"profile run snia", exitUsage, `profile "snia": is not known; there are storagereview-ssd, `},
		{"profile list snia", exitUsage, `"snia": profile list takes no name; profile show snia shows it`},
		{"profile list --format xml", exitUsage, `--format "xml": known are text, json`},
		{"profile runs", exitUsage, `unknown command "runs"`},
		{"profile run snia-latency --threads 2 DISK", exitUsage, "--threads: snia-latency has no such setting; it has --runtime, --steady-max-rounds, --purge, --fill, "},
		{"profile show snia-iops --runtime 0", exitUsage, "--runtime 0: must be over 0"},
		{"profile run snia-iops --claims PX04SHB040 DISK", exitUsage, "--claims: snia-iops has no use for claims"},
		{"profile run drive-spec --claims PX05 DISK", exitUsage, "--claims PX05: is no file and none of the drives PX04SHB040, "},
		{"profile run drive-spec --claims= DISK", exitUsage, "--claims: is empty"},
		{"profile run drive-spec --engine uring DISK", exitUsage, `unknown engine "uring"`},
		{"profile run four-corners --re-precondition DISK", exitUsage, "--re-precondition: goes with --resume only"},
		{"profile run four-corners --dir= DISK", exitUsage, "--dir: is empty"},
		{"profile run four-corners --resume nowhere DISK", exitUsage, "--resume nowhere: the folder has the whole plan, so leave out four-corners"},
		{"profile run four-corners --destroy-signature /dev/other DISK", exitUsage, "--destroy-signature /dev/other: this is no target of the run"},
		{"profile run snia-wsat --purge false --destroy DISK", exitUsage, `"false" is a TARGET here, not a value: write --purge=false, or ./false for a file of that name`},
		{"profile show --purge true snia-wsat DISK", exitUsage, `"true" is a TARGET here, not a value: write --purge=true`},
		{"profile run oltp-mysql --size 50m", exitUsage, "blkstorm: --size 50m: the streams have parts of it; it must be at least 100m"},
		{"profile run four-corners DISK", exitRefused, "refused to write to "},
	} {
		args := strings.Fields(c.args)
		for i := range args {
			if args[i] == "DISK" {
				args[i] = disk
			}
		}
		out := blkstorm(t, args...).want(t, c.status, c.want)
		if out.stdout != "" {
			t.Errorf("%s: %s", c.args, out.stdout)
		}
	}
	blkstorm(t, "profile", "show", "four-corners", "").want(t, exitUsage, "a TARGET is empty")
	if info, err := os.Stat(disk); err != nil || info.Size() != 1<<30 {
		t.Error(info, err)
	}
}

// Without a target a profile runs on a scratch file, which is removed; a folder is gone on with without its name.
func TestProfileOnAScratchFile(t *testing.T) {
	dir := t.TempDir()
	args := strings.Fields("profile run four-corners --quick --runtime 50ms --iodepth 4 --size 32m --quiet --dir result")
	start(t, dir, args...).wait().want(t, exitGood)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
	again := start(t, dir, "profile", "run", "--resume", "result", "--quiet").wait().want(t, exitGood)
	if !strings.Contains(again.stdout, "profile four-corners, QUICK") {
		t.Errorf("%.300s", again.stdout)
	}
}

// Steady state that is not reached is a warning only in the quick form: here of an edited file, whose limits no
// device keeps.
func TestQuickProfileThatIsNotSteady(t *testing.T) {
	for _, c := range []struct{ name, args, from, to string }{
		{"snia-wsat", "--runtime 20ms --steady-max-rounds 5 --iodepth 2 --threads 1", "        max_rounds: 5\n", "        max_rounds: 5\n        range_pct: 0.0001\n"},
		{"drive-spec", "--runtime 20ms --steady-round 20ms --steady-max-rounds 5 --iodepth 2", "max_rounds: 5}", "max_rounds: 5, range_pct: 0.0001}"},
	} {
		args := append([]string{"profile", "show", c.name, "--quick", "--size", "32m"}, strings.Fields(c.args)...)
		shown := blkstorm(t, args...).want(t, exitGood).stdout
		shown = strings.Replace(shown, c.from, c.to, 1)
		for status, text := range map[int]string{exitGood: shown, exitMissed: strings.Replace(shown, "\nquick: true", "\nquick: false", 1)} {
			if !strings.Contains(text, "0.0001") {
				t.Fatalf("the file was not edited:\n%s", text)
			}
			cmd := command(t, "plan", "run", "--quiet", "--format", "json", "-")
			cmd.Stdin = strings.NewReader(text)
			var out strings.Builder
			cmd.Stdout = &out
			_ = cmd.Run() // the status tells
			if got := cmd.ProcessState.ExitCode(); got != status {
				t.Errorf("%s: exit status %d, want %d", c.name, got, status)
			}
			if !strings.Contains(out.String(), `"not_steady"`) {
				t.Errorf("%s: no warning not_steady", c.name)
			}
		}
	}
}

// A shell completes the name of a profile, and then files.
func TestProfileCompletion(t *testing.T) {
	out := blkstorm(t, "__complete", "profile", "run", "snia-").want(t, exitGood)
	if out.stdout != "snia-iops\nsnia-throughput\nsnia-latency\nsnia-wsat\n:4\n" {
		t.Errorf("%s", out.stdout)
	}
	if out := blkstorm(t, "__complete", "profile", "run", "snia-iops", "/d").want(t, exitGood); !strings.HasPrefix(out.stdout, ":0") {
		t.Errorf("%s", out.stdout)
	}
}

// The list has every profile, with what can be set; the help of one is about that one.
func TestProfileList(t *testing.T) {
	var list profileList
	if err := json.Unmarshal([]byte(blkstorm(t, "profile", "list", "--format", "json").want(t, exitGood).stdout), &list); err != nil {
		t.Fatal(err)
	}
	text := blkstorm(t, "profile", "list").want(t, exitGood).stdout
	if len(list.Profiles) != len(profile.All()) || list.Schema != "blkstorm.profiles/1" {
		t.Errorf("%d profiles, %s", len(list.Profiles), list.Schema)
	}
	for _, p := range list.Profiles {
		took, err := time.ParseDuration(p.Time)
		if err != nil || took < 10*time.Minute || !p.Writes || len(p.Settings) < 6 || (len(p.Claims) > 0) != (p.Name == "drive-spec") {
			t.Errorf("%+v", p)
		}
		if !strings.Contains(text, "\n"+p.Name+" ") || !strings.Contains(text, p.Summary) {
			t.Errorf("no %s in\n%s", p.Name, text)
		}
	}
	for _, cmd := range []string{"show", "run"} {
		help := blkstorm(t, "profile", cmd, "snia-wsat", "--help").want(t, exitGood).stdout
		if !strings.HasPrefix(help, "snia-wsat: ") || !strings.Contains(help, "--runtime            30m, quick 1s  length of a round\n") || strings.Contains(help, "--fill") {
			t.Errorf("help of %s:\n%s", cmd, help)
		}
		if usual := blkstorm(t, "profile", cmd, "--help").want(t, exitGood).stdout; !strings.Contains(usual, "--fill N") {
			t.Errorf("help of %s:\n%s", cmd, usual)
		}
	}
}

// Every setting that a profile has is an option.
func TestSettingsAreOptions(t *testing.T) {
	var names []string
	for _, u := range settingUsages {
		names = append(names, u.name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(profile.OptionNames(), names); diff != "" {
		t.Errorf("-settings +options:\n%s", diff)
	}
}
