package profile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blkstorm/unit"
)

// example has a value for each setting that no profile has as a default.
var example = map[string]string{
	"threads": "3", "iodepth": "5", "ramp": "7s", "runtime": "11s", "precondition": "13s", "steady-round": "3s", "steady-max-rounds": "9",
	"purge": "true", "fill": "3", "size": "512m", "working-set": "33%", "compress-pct": "17", "dedupe-pct": "19", "data": "zero",
}

// Each setting of each profile does something, and says so where the profile does not have it.
func TestEverySetting(t *testing.T) {
	for _, p := range All() {
		for _, name := range OptionNames() {
			value := example[name]
			if value == "" {
				t.Fatalf("no example of --%s", name)
			}
			if name == "purge" && strings.HasPrefix(p.Name, "snia-") {
				value = "false"
			}
			set := map[string]string{name: value}
			if name == "steady-round" || name == "steady-max-rounds" {
				if p.Setting("precondition") != nil {
					set["precondition"] = "steady"
				}
			}
			base := map[string]string{}
			for k, v := range set {
				if k != name {
					base[k] = v
				}
			}
			got, err := p.Plan(Options{Set: set}, 7)
			if p.Setting(name) == nil {
				if err == nil || !strings.Contains(err.Error(), "--"+name+": "+p.Name+" has no such setting; it has --") {
					t.Errorf("%s --%s: %v", p.Name, name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s --%s %s: %v", p.Name, name, value, err)
				continue
			}
			if cmp.Equal(get(t, p.Name, Options{Set: base}), got) {
				t.Errorf("%s --%s %s: changes nothing", p.Name, name, value)
			}
		}
	}
}

// Values are checked, by the name of their option.
func TestWrongSettings(t *testing.T) {
	for _, c := range []struct{ profile, name, value, want string }{
		{"snia-iops", "threads", "0", "--threads 0: must be a whole number from 1 to 1024"},
		{"snia-iops", "threads", "2,4", "--threads 2,4: must be a whole number"},
		{"storagereview-ssd", "threads", "2,2", "--threads 2,2: 2 is there twice"},
		{"storagereview-ssd", "iodepth", "4096,5000", "--iodepth 4096,5000: must be a whole number from 1 to 4096"},
		{"snia-iops", "runtime", "0", "--runtime 0: must be over 0"},
		{"snia-iops", "runtime", "400d", "--runtime 400d: must be at most"},
		{"snia-iops", "runtime", "soon", `--runtime soon: time "soon"`},
		{"snia-iops", "runtime", "", "--runtime : is empty"},
		{"snia-iops", "steady-max-rounds", "4", "--steady-max-rounds 4: must be a whole number from 5"},
		{"snia-iops", "fill", "-1", "--fill -1: must be"},
		{"snia-iops", "purge", "maybe", "--purge maybe: must be true or false"},
		{"snia-iops", "size", "0", "--size 0: must be over 0"},
		{"snia-iops", "working-set", "120%", "--working-set 120%:"},
		{"snia-iops", "compress-pct", "101", "--compress-pct 101: must be a whole number from 0 to 100"},
		{"snia-iops", "data", "noise", "--data noise:"},
		{"thread-ramp", "precondition", "always", "--precondition always: must be steady, none or a time such as 30m"},
		{"thread-ramp", "steady-round", "1m", "--steady-round: goes with --precondition steady"},
		{"thread-ramp", "steady-round", "1ms", "--steady-round 1ms: must be at least 10ms"},
		{"oltp-mysql", "size", "99m", "--size 99m: the streams have parts of it; it must be at least 100m"},
	} {
		p, err := Get(c.profile)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Plan(Options{Set: map[string]string{c.name: c.value}}, 7); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "{{") {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	if _, err := Get("snia"); err == nil || !strings.Contains(err.Error(), `profile "snia": is not known; there are storagereview-ssd, `) {
		t.Error(err)
	}
}

// Streams that have parts of a size share it out without overlapping.
func TestAreas(t *testing.T) {
	for _, size := range []string{"", "50%", "1000m"} {
		o := Options{Set: map[string]string{}}
		if size != "" {
			o.Set["size"] = size
		}
		for _, name := range []string{"oltp-mysql", "oltp-sqlserver", "nosql-marklogic", "vmmark-tile"} {
			p := get(t, name, o)
			whole, err := unit.ParseShare(size)
			if size == "" {
				whole, err = unit.Share{Percent: 100}, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			const device = 100 << 30
			end := int64(0)
			for _, s := range p.Phases[1].Points[0].Streams {
				w := &s.Workload
				from := w.Offset.Of(device)
				if from != end && from != 0 { // two streams may have the same part
					t.Errorf("%s --size %s: %s begins at %d, not at %d", name, size, s.Label, from, end)
				}
				end = from + w.Size.Of(device)
			}
			if most := whole.Of(device); end > most || end < most-1<<20 {
				t.Errorf("%s --size %s: ends at %d of %d", name, size, end, most)
			}
			if fill := p.Phases[0].Points[0].Streams[0].Workload.Size; size != "" && fill != whole {
				t.Errorf("%s --size %s: fills %v", name, size, fill)
			}
		}
	}
}
