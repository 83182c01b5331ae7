package profile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"blkstorm/plan"
	"blkstorm/plan/planfile"
)

// What is shown can be shown again from any name that targets can have, and holds all that was asked for.
func TestFile(t *testing.T) {
	p, err := Get("drive-spec")
	if err != nil {
		t.Fatal(err)
	}
	claims, err := Claims("px04shb040")
	if err != nil {
		t.Fatal(err)
	}
	claims.Drive, claims.Source = `a "drive": #1, {null}`, "null"
	seed := uint64(1<<53 - 1)
	targets := []plan.Target{{Spec: "/dev/sdb"}, {Spec: `serial=a "b", c: [d]`, DestroySignature: true}, {Spec: "0:1:2:3"}, {Spec: "null"}, {Spec: "17"}, {Spec: "\x1b[2J\n#"}}
	o := Options{
		Set: map[string]string{"size": "512m", "data": `pattern:"a, }: #"`}, Targets: targets, Destroy: true, Seed: &seed,
		Engine: "psync", Claims: claims,
	}
	text, err := p.File(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := planfile.Read("x", bytes.NewReader(text), planfile.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i := range targets {
		targets[i].CreateBytes = 512 << 20
	}
	if diff := cmp.Diff(targets, got.Targets); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(claims, got.Claims); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !got.Destroy || got.Engine != "psync" || got.Seed != seed {
		t.Errorf("%+v", got)
	}
	for i := range got.Phases {
		for _, pt := range got.Phases[i].Points {
			w := &pt.Streams[0].Workload
			if w.Size.Bytes != 512<<20 || w.Writes() && string(w.Data.Content.Pattern) != "a, }: #" {
				t.Errorf("%s: %+v", pt.Label, w)
			}
		}
	}
	if _, err := (&Profile{Name: "four-corners"}).File(Options{Claims: claims}); err == nil || !strings.Contains(err.Error(), "--claims: four-corners has no use for claims") {
		t.Error(err)
	}
}

// Every profile says in its file where it comes from, what it leaves out, and what is assumed.
func TestFilesSayWhatTheyAre(t *testing.T) {
	for _, p := range All() {
		text, err := p.File(Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"# " + p.Name + ": ", "\n# Source: ", "\n# What it leaves out: ", "\n# Assumed", "\nprofile: " + p.Name + "\n"} {
			if !bytes.Contains(text, []byte(part)) {
				t.Errorf("%s: lacks %q", p.Name, part)
			}
		}
		for line := range strings.Lines(string(text)) {
			if len(line) > 121 || strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
				t.Errorf("%s: %q", p.Name, line)
			}
		}
	}
}

// The claims that ship with the program are those of the data sheets, and go with the profile.
func TestShippedClaims(t *testing.T) {
	want := map[string]string{
		"PX04SHB040":     "1900 MiB/s, 850 MiB/s, 270000 IOPS, 125000 IOPS",
		"PX04SVB096":     "1900 MiB/s, 850 MiB/s, 270000 IOPS, 60000 IOPS",
		"ioDrive2-365GB": "0.91 GB/s, 0.59 GB/s, 110000 IOPS, 140000 IOPS, 68 us, 15 us",
		"ioDrive2-785GB": "1.5 GB/s, 1.1 GB/s, 215000 IOPS, 230000 IOPS, 68 us, 15 us",
		"ioDrive2-1.2TB": "1.5 GB/s, 1.3 GB/s, 245000 IOPS, 250000 IOPS, 275000 IOPS, 800000 IOPS, 68 us, 15 us",
		"ioDrive2-3TB":   "1.5 GB/s, 1.3 GB/s, 136000 IOPS, 242000 IOPS, 68 us, 15 us",
	}
	for _, name := range ClaimNames() {
		c, err := Claims(strings.ToLower(name))
		if err != nil {
			t.Error(err)
			continue
		}
		var values []string
		for i := range c.Values {
			v := &c.Values[i]
			values = append(values, fmt.Sprintf("%.10g %s", v.InUnit(v.Value), v.Unit))
		}
		if got := strings.Join(values, ", "); got != want[name] {
			t.Errorf("%s: %s\nwant %s", name, got, want[name])
		}
		delete(want, name)
		if diff := cmp.Diff(c, get(t, "drive-spec", Options{Claims: c}).Claims); diff != "" {
			t.Errorf("%s: -file +plan:\n%s", name, diff)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no claims of %v", want)
	}
	if _, err := Claims("PX05"); err == nil || !strings.Contains(err.Error(), "--claims PX05: is no file and none of the drives PX04SHB040, ") {
		t.Error(err)
	}
}

// Whatever a target or a drive is called, the file has it as it is, and nothing else of it.
func FuzzNames(f *testing.F) {
	for _, seed := range []string{"/dev/sdb", "null", "~", "17", "0x1f", "a: b", "}\n- purge", "#", "'", "\x7f\u0085\ufeff", "\xff", "1e5", "true", "/a b", "*x", "😀", "\x00"} {
		f.Add(seed)
	}
	p, err := Get("drive-spec")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if strings.TrimSpace(name) == "" {
			return
		}
		claims := &plan.Claims{Drive: name, Source: name, Values: []plan.Claim{{Point: "4K Random Read", Figure: "iops", Value: 1000, Unit: "IOPS"}}}
		text, err := p.File(Options{Targets: []plan.Target{{Spec: name}, {Spec: name, DestroySignature: true}}, Claims: claims})
		if !utf8.ValidString(name) {
			if err == nil {
				t.Errorf("%q is no UTF-8, and no error", name)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := planfile.Read("x", bytes.NewReader(text), planfile.Options{})
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if len(got.Targets) != 2 || got.Targets[0].Spec != name || got.Targets[1] != (plan.Target{Spec: name, DestroySignature: true}) || !cmp.Equal(claims, got.Claims) {
			t.Errorf("%q: %+v, %+v", name, got.Targets, got.Claims)
		}
	})
}
