package fiojob

import (
	"strings"
	"testing"

	"blkstorm/plan/fiojob/jobfile"
)

// Jobs of the command line come first, and each file but the first waits for those before it, as with fio.
func TestFilesFollowEachOther(t *testing.T) {
	c, err := ParseCommand(strings.Fields("--filename=f1 --name=q --new_group one two"), noVariables)
	if err != nil {
		t.Fatal(err)
	}
	var files [][]jobfile.Section
	for _, text := range []string{"[a]\n[b]\n", "[global]\nbs=8k\n[c]\n[d]\n", "[e]\nstonewall=0\n"} {
		sections, err := jobfile.Read(strings.NewReader(text), "jobs", jobfile.Options{Getenv: noVariables})
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, sections)
	}
	s := ReadJobs(c, files)
	w := s.Translate(Env{Look: lookAt, Seed: 1})
	if len(s.Errors)+len(s.Refusals) > 0 {
		t.Fatal(s.Errors, s.Refusals)
	}
	want := []Clone{{Point: 0, Group: 0}, {Point: 0, Group: 0}, {Point: 0, Group: 0}, {Point: 1, Group: 1}, {Point: 1, Group: 1}, {Point: 1, Group: 1}}
	for i, name := range []string{"q", "a", "b", "c", "d", "e"} {
		got := w.Clones[i]
		if got.Job.Name != name || got.Point != want[i].Point || got.Group != want[i].Group {
			t.Errorf("job %d: %s in point %d and group %d, want %s in %d and %d", i, got.Job.Name, got.Point, got.Group, name, want[i].Point, want[i].Group)
		}
		if got.Job.Name == "c" && len(got.Job.Own)+len(got.Job.Globals) != 2 {
			t.Errorf("its file is shown as a setting of job c: %v %v", got.Job.Own, got.Job.Globals)
		}
	}
}

func noVariables(string) string { return "" }

// A name that begins only one option is that option; one that begins several is none.
func TestBeginningsOfNames(t *testing.T) {
	c, err := ParseCommand([]string{"-P", "--output-form=json", "--nam=a", "--numjob", "3"}, noVariables)
	if err != nil || !c.ParseOnly || len(c.Formats) != 1 || len(c.Jobs) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if s := c.Jobs[0].Settings; s[1].Name != "numjobs" || s[1].Value != "3" {
		t.Errorf("%+v", s)
	}
	for _, arg := range []string{"--file=x", "--read", "--zonk=1"} {
		if _, err := ParseCommand([]string{arg}, noVariables); err == nil || !strings.Contains(err.Error(), "is no option") {
			t.Errorf("%s: %v", arg, err)
		}
	}
	_, err = ParseCommand([]string{"--output-format=json,xml"}, noVariables)
	if err == nil || strings.Count(err.Error(), "xml") != 1 {
		t.Errorf("output-format: %v", err)
	}
}

// What cannot be is said with the option and its value.
func TestRefusedValues(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"--name=a --filename=f1 --percentile_list=50:101", "percentile_list=50:101: must be from 0 to 100"},
		{"--name=a --filename=f1 --percentile_list=-5", "percentile_list=-5: must be from 0 to 100"},
		{"--name=a --directory=nowhere --size=1m", "directory=nowhere: there is no folder nowhere"},
		{"--name=a --filename=new --size=10%", "size is a percentage, and the file is not there"},
		{"--name=a --filename=f1 --size=2m --readonly", "f1: is not there, or too short, and --readonly is given"},
		{"--name=a --filename=new --size=2m --readonly", "new: is not there, or too short, and --readonly is given"},
		{"--name=a --filename=f1 --size=1m --readonly", ""},
		{"--name=a --size=1g --ioengine=null --readonly", ""},
		{`--name=a --filename=f1 --rw=write --buffer_pattern="abc"`, ""},
	} {
		s, _ := jobs(t, c.line)
		var got string
		for _, p := range append(s.Errors, s.Refusals...) {
			got += p.Error() + "\n"
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}

// Each file is a line of its own; --section holds there, too.
func TestShowCommandOfFiles(t *testing.T) {
	const text = "[global]\nbs=8k\n[a]\nfilename=x\nrw=read\ndescription=two words\n[b]\nrw=write\n"
	for _, c := range []struct{ line, want string }{
		{"", "fio --bs=8k --name=a --rw=read --description=\"two words\" --filename=x --name=b --rw=write "},
		{"--section=b", "fio --bs=8k --name=b --rw=write "},
		{"--direct=1 --section=b --name=q --thread", "fio --direct=1 --name=q --thread \nfio --direct=1 --bs=8k --name=b --rw=write "},
	} {
		sections, err := jobfile.Read(strings.NewReader(text), "jobs", jobfile.Options{Getenv: noVariables})
		if err != nil {
			t.Fatal(err)
		}
		command, err := ParseCommand(strings.Fields(c.line), noVariables)
		if err != nil {
			t.Fatal(err)
		}
		if got := ShowCommand(command, [][]jobfile.Section{sections}); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
		if got := ShowCommand(command, [][]jobfile.Section{sections, sections}); !strings.HasSuffix(got, strings.TrimPrefix(c.want, "fio --direct=1 --name=q --thread \n")) || strings.Count(got, "fio ") != strings.Count(c.want, "fio ")+1 {
			t.Errorf("%s, two files: %q", c.line, got)
		}
	}
}

// A name among the options of [global] is not that of the jobs, one among a job's own is;
// files are called by the section.
func TestNames(t *testing.T) {
	sections, err := jobfile.Read(strings.NewReader("[global]\nname=g\nsize=4k\n[a]\n[b]\nname=c\n"), "jobs", jobfile.Options{Getenv: noVariables})
	if err != nil {
		t.Fatal(err)
	}
	s := ReadJobs(&Command{}, [][]jobfile.Section{sections})
	if s.Jobs[0].Name != "a" || s.Jobs[1].Name != "c" {
		t.Errorf("%s and %s, want a and c", s.Jobs[0].Name, s.Jobs[1].Name)
	}
	if made := s.Translate(Env{Look: lookAt}).Create; len(made) != 2 || made[0].Path != "a.0.0" || made[1].Path != "b.0.0" {
		t.Errorf("files %v", made)
	}
}
