package execute

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blkstorm/host"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/verdict"
)

func isElsewhere(w verdict.Warning) bool { return w.Code == "machine_changed" }

// A run that goes on with another kernel or version says so, once for each change, and keeps its first facts; on the
// same machine it says nothing.
func TestResumeElsewhere(t *testing.T) {
	begin := func(t *testing.T, change func(*result.Doc)) string {
		dir := filepath.Join(t.TempDir(), "out")
		interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 2)), dir, 1)
		folder, doc, err := result.OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		change(doc)
		if err := folder.Result(doc); err != nil {
			t.Fatal(err)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for name, c := range map[string]struct {
		change func(*result.Doc)
		texts  []string
	}{
		"the same":     {func(*result.Doc) {}, nil},
		"a new kernel": {func(d *result.Doc) { d.Host.Kernel = "4.19" }, []string{"the kernel was 4.19, is "}},
		"a version":    {func(d *result.Doc) { d.Version = "older" }, []string{"blkstorm was older, is "}},
		"another host": {func(d *result.Doc) { d.Host.Hostname, d.Host.CPUs = "other", 4096 }, []string{"the host was other, is ", "the number of CPUs was 4096, is "}},
	} {
		dir := begin(t, c.change)
		doc, err := goOn(options(), dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		i := slices.IndexFunc(doc.Warnings, isElsewhere)
		if i < 0 != (c.texts == nil) {
			t.Errorf("%s: warnings %+v", name, doc.Warnings)
			continue
		}
		for _, text := range c.texts {
			if !strings.Contains(doc.Warnings[i].Message, text) {
				t.Errorf("%s: %q lacks %q", name, doc.Warnings[i].Message, text)
			}
		}
	}
}

func TestElsewhereIsSaidOnce(t *testing.T) {
	s := &Session{opts: Options{Version: "2"}, host: host.Facts{Kernel: "6.12"}}
	doc := &result.Doc{Version: "2", Host: host.Facts{Kernel: "6.1"}}
	s.elsewhere(doc)
	s.elsewhere(doc)
	s.host.Kernel = "6.18"
	s.elsewhere(doc)
	s.driver.Name, doc.Points = "libaio", []*result.Point{{EngineName: "psync"}, {EngineName: "io_uring"}}
	s.elsewhere(doc)
	if w := doc.Warnings[len(doc.Warnings)-1]; !strings.Contains(w.Message, "the engine was io_uring, is libaio") {
		t.Errorf("%+v", w)
	}
	if len(doc.Warnings) != 3 || doc.Warnings[0].Message == doc.Warnings[1].Message || doc.Host.Kernel != "6.1" {
		t.Errorf("%+v", doc.Warnings)
	}
}
