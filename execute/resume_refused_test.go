package execute

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blkstorm/device"
	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/result"
)

// Another target in the place of the one that the run began on is refused, before anything is touched.
func TestResumeOnAnotherTarget(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, path string) error
		want   string
	}{
		"larger": {func(_ *testing.T, path string) error { return os.Truncate(path, 2<<20) }, "size was 1m, is 2m"},
		"gone":   {func(_ *testing.T, path string) error { return os.Remove(path) }, "it is gone"},
		"device": {func(t *testing.T, path string) error {
			lab.Root(t)
			dev := lab.Loop(t, 1<<20, lab.LoopOptions{})
			return errors.Join(os.Remove(path), os.Symlink(dev, path))
		}, "kind was file, is loop"},
	} {
		t.Run(name, func(t *testing.T) {
			path, dir := file(t, 1<<20), filepath.Join(t.TempDir(), "out")
			interrupted(t, longer(procedure(plan.Target{Spec: path}, 1)), dir, 1)
			files := snapshot(t, dir)
			if err := c.change(t, path); err != nil {
				t.Fatal(err)
			}
			_, err := goOn(options(), dir)
			var other *OtherTargetError
			if !errors.As(err, &other) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) && name != "device" {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(files, snapshot(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Folders that cannot be gone on with are left as they are.
func TestResumeOfWhatIsNoRun(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 2)), made, 1)
	good := snapshot(t, made)
	edit := func(old, now string) func(map[string]string) {
		return func(f map[string]string) {
			if !strings.Contains(f["result.json"], old) {
				t.Errorf("no %q to edit", old)
			}
			f["result.json"] = strings.Replace(f["result.json"], old, now, 1)
		}
	}
	for name, c := range map[string]struct {
		change func(map[string]string)
		want   string
	}{
		"empty":       {func(f map[string]string) { clear(f) }, "there is no result.json in it"},
		"cut":         {func(f map[string]string) { f["result.json"] = f["result.json"][:len(f["result.json"])/2] }, "is no whole document"},
		"no content":  {func(f map[string]string) { f["result.json"] = "" }, "is no whole document"},
		"schema":      {edit("blkstorm.result/1", "blkstorm.result/9"), `has schema "blkstorm.result/9"`},
		"plan schema": {edit("blkstorm.plan/1", "blkstorm.plan/9"), "no plan that this version"},
		"other plan":  {edit(`"label": "before"`, `"label": "after"`), "does not follow from its plan"},
		"no figures":  {edit(`"total": {`, `"sum": {`), "has no figures"},
		"null target": {func(f map[string]string) {
			head, rest, _ := strings.Cut(f["result.json"], `"targets": [`+"\n    {\n      \"path\"")
			_, rest, _ = strings.Cut(rest, "\n    }\n  ]")
			f["result.json"] = head + `"targets": [null]` + rest
		}, "no facts of its targets"},
		"search":      {edit(`"percentiles": [`, `"find_max": {}, "percentiles": [`), "a search cannot be gone on with"},
		"merge":       {edit(`"percentiles": [`, `"merge": {}, "percentiles": [`), "it is a merge: go on with the runs"},
		"broken row":  {func(f map[string]string) { f["intervals.ndjson"] = "garbage\n" + f["intervals.ndjson"] }, "intervals.ndjson: the line that ends at byte 8: is no row"},
		"broken log":  {func(f map[string]string) { f["latency.hlog"] = "Tag=x/y,\n" + f["latency.hlog"] }, "latency.hlog: the line that ends at byte 9"},
		"bad percent": {edit(`"read_pct": 50`, `"read_pct": 500`), "--read-pct 500"},
	} {
		dir := t.TempDir()
		files := map[string]string{}
		for k, v := range good {
			files[k] = v
		}
		c.change(files)
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := goOn(options(), dir); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) && name != "bad percent" {
			t.Errorf("%s: error %v", name, err)
		}
		if diff := cmp.Diff(files, snapshot(t, dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := goOn(options(), filepath.Join(made, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// One process at a time has a folder.
func TestFolderIsLocked(t *testing.T) {
	path, dir := file(t, 1<<20), filepath.Join(t.TempDir(), "out")
	interrupted(t, longer(procedure(plan.Target{Spec: path}, 2)), dir, 1)
	o := options()
	tried := 0
	o.Begun = func(*result.Doc) error {
		tried++
		if _, err := goOn(options(), dir); !errors.Is(err, result.ErrInUse) {
			t.Errorf("a second one: %v", err)
		}
		other := options()
		other.Dir = dir
		if _, err := carryOut(job("randread", plan.Target{Spec: path}), other); !errors.Is(err, result.ErrInUse) {
			t.Errorf("a new run in it: %v", err)
		}
		return nil
	}
	if _, err := goOn(o, dir); err != nil || tried != 1 {
		t.Errorf("%v, tried %d times", err, tried)
	}
}

// A folder on a full or read-only file system loses nothing.
func TestResumeWhereNothingCanBeWritten(t *testing.T) {
	lab.Root(t)
	mount := t.TempDir()
	lab.Run(t, "mount", "-t", "tmpfs", "-o", "size=256k", "blkstorm-test", mount)
	t.Cleanup(func() { lab.Run(t, "umount", mount) })
	dir := filepath.Join(mount, "out")
	interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 2)), dir, 1)
	before, _ := stored(t, dir)

	lab.Run(t, "mount", "-o", "remount,ro", mount)
	if _, err := goOn(options(), dir); err == nil || !strings.Contains(err.Error(), dir+": cannot write to it") {
		t.Errorf("read-only: %v", err)
	}
	lab.Run(t, "mount", "-o", "remount,rw", mount)
	room := filepath.Join(mount, "room")
	fill, err := os.Create(room)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := goOn(options(), dir); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("full: %v", err)
	}
	if err := os.Remove(room); err != nil {
		t.Fatal(err)
	}
	if doc, err := goOn(options(), dir); err != nil || len(doc.Points) != 3 {
		t.Fatalf("%v, %+v", err, doc)
	}
	if after, _ := stored(t, dir); !bytes.Equal(before[0], after[0]) {
		t.Error("the finished point has changed")
	}
}

// What makes a target another one.
func TestDifferences(t *testing.T) {
	disk := device.Facts{Path: "/dev/sdb", Kind: "disk", Name: "sdb", Disk: "sdb", SizeBytes: 1 << 30, Model: "Fast", Serial: "S1", WWN: "naa.1"}
	for name, c := range map[string]struct {
		change func(was, is *device.Facts)
		want   string
	}{
		"same":            {func(_, _ *device.Facts) {}, ""},
		"other path":      {func(_, is *device.Facts) { is.Path, is.Name, is.Disk = "/dev/sdc", "sdc", "sdc" }, ""},
		"other serial":    {func(_, is *device.Facts) { is.Serial = "S2" }, "serial was S1, is S2"},
		"no serial":       {func(_, is *device.Facts) { is.Serial, is.WWN = "", "" }, "serial was S1, is none; wwn was naa.1, is none"},
		"serial is new":   {func(was, _ *device.Facts) { was.Serial, was.WWN = "", "" }, ""},
		"other size":      {func(_, is *device.Facts) { is.SizeBytes = 1 << 31 }, "size was 1g, is 2g"},
		"other model":     {func(_, is *device.Facts) { is.Model = "Slow" }, "model was Fast, is Slow"},
		"other partition": {func(was, is *device.Facts) { was.Name, is.Name = "sdb1", "sdb2" }, "partition was 1, is 2"},
		"same partition":  {func(was, is *device.Facts) { was.Name, is.Name, is.Disk = "sdb1", "sdc1", "sdc" }, ""},
		"no name": {func(was, is *device.Facts) {
			was.Serial, was.WWN = "", ""
			is.Path = "/dev/sdc"
		}, "path was /dev/sdb, is /dev/sdc"},
		"other file on the same disk": {func(was, is *device.Facts) {
			was.Kind, is.Kind = device.KindFile, device.KindFile
			was.Path, is.Path = "/a", "/b"
		}, "path was /a, is /b"},
		"other backing file": {func(was, is *device.Facts) {
			*was = device.Facts{Path: "/dev/loop0", Kind: "loop", BackingFile: "/a"}
			*is = *was
			is.BackingFile = "/b"
		}, "backing file was /a, is /b"},
		"dm": {func(was, is *device.Facts) {
			*was = device.Facts{Path: "/dev/dm-0", Kind: "dm", MapperUUID: "LVM-1"}
			*is = device.Facts{Path: "/dev/dm-1", Kind: "dm", MapperUUID: "LVM-2"}
		}, "dm uuid was LVM-1, is LVM-2"},
	} {
		was, is := disk, disk
		c.change(&was, &is)
		if got := strings.Join(differences(&was, &is), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
