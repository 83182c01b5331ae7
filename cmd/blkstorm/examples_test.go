package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/plan/planfile"
)

// The examples are good plans: each is checked, and dry-run on files of 1 TiB in the place of its disks.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../docs/examples/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	page := docs(t, "docs/plan.md")
	for _, file := range files {
		name := filepath.Base(file)
		if !strings.Contains(page, "examples/"+name) {
			t.Errorf("docs/plan.md does not name %s", name)
		}
		p, err := planfile.Load(file, nil, planfile.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if !p.Destroy || len(p.Phases) < 2 {
			t.Errorf("%s: destroy %v, %d phases", name, p.Destroy, len(p.Phases))
		}
		args := []string{"plan", "run", "--dry-run", "--destroy", file}
		for i := range p.Targets {
			disk := filepath.Join(t.TempDir(), "disk"+string(rune('a'+i)))
			if err := os.WriteFile(disk, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(disk, 1<<40); err != nil {
				t.Fatal(err)
			}
			args = append(args, disk)
		}
		args[4], err = filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		out := blkstorm(t, args...).want(t, exitGood)
		if n := strings.Count(out.stdout, "\nwrites to "); n != len(p.Targets) {
			t.Errorf("%s: %d of %d targets are written\n%s", name, n, len(p.Targets), out.stdout)
		}
	}
}
