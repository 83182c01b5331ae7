package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"blkstorm/lab"
)

// known is what fio 3.42, whose form ours is, has and fio 3.33 has not: some keys, and options without a value.
var known = regexp.MustCompile(`^/blkstorm\b|/job_start |/latency_target_ns |/latency_window_us |/disk_util/\*/(read|write)_sectors |` +
	`options/(group_reporting|stonewall|time_based) string`)

// The job files of testdata/fio/shape give JSON of the same shape with the fio that is installed and with
// blkstorm: all keys that fio has are there, in its order, with values of its types; and the same I/Os are done.
func TestFioShape(t *testing.T) {
	fio := lab.Tool(t, "fio")
	files, err := filepath.Glob("testdata/fio/shape/*.fio")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		file, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		forms := []string{"json"}
		if name := filepath.Base(file); name == "depth.fio" || name == "mixed.fio" || name == "percentiles.fio" {
			forms = append(forms, "json+")
		}
		for _, form := range forms {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".fio")+" "+form, func(t *testing.T) {
				t.Parallel()
				theirs := outlineOf(t, runIn(t, fio, "--output-format="+form, file))
				ours := outlineOf(t, runIn(t, "blkstorm", "fio", "--output-format="+form, file))
				for _, line := range theirs.lines {
					if !slices.Contains(ours.lines, line) {
						t.Errorf("missing: %s", line)
					}
				}
				for _, line := range ours.lines {
					if !slices.Contains(theirs.lines, line) && !known.MatchString(line) {
						t.Errorf("not in fio's: %s", line)
					}
				}
				common := func(from, in []string) (list []string) {
					for _, line := range from {
						if slices.Contains(in, line) {
							list = append(list, line)
						}
					}
					return list
				}
				a, b := common(theirs.lines, ours.lines), common(ours.lines, theirs.lines)
				for i := range min(len(a), len(b)) {
					if a[i] != b[i] {
						t.Errorf("fio has %s where ours has %s", a[i], b[i])
						break
					}
				}
				if !maps.Equal(theirs.counts, ours.counts) && !strings.Contains(file, "timed") {
					t.Errorf("I/Os and bytes\n%v with fio,\n%v with ours", theirs.counts, ours.counts)
				}
			})
		}
	}
}

// runIn runs a program in a new folder; it must succeed, without a word on standard error.
func runIn(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = t.TempDir()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.String())
	}
	return string(out)
}

// outline is what a document looks like: its paths with their types, in order, and what was counted.
type outline struct {
	lines  []string
	counts map[string]int64 // by job, over all directions
}

var (
	bins      = regexp.MustCompile(`/bins/\d+`)
	counted   = regexp.MustCompile(`^(/jobs/\d+)/\w+(/total_ios|/io_bytes|/clat_ns/N|/lat_ns/N)$`)
	sixDigits = regexp.MustCompile(`^-?\d+\.\d{6}$`)
)

func outlineOf(t *testing.T, text string) *outline {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	s := &outline{counts: map[string]int64{}}
	if err := s.value(d, ""); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if rest := strings.TrimSpace(text[d.InputOffset():]); rest != "" {
		t.Fatalf("after the document: %q", rest)
	}
	return s
}

func (s *outline) add(path, kind string) {
	line := bins.ReplaceAllString(path, "/bins/*") + " " + kind
	if !slices.Contains(s.lines, line) {
		s.lines = append(s.lines, line)
	}
}

// value takes in the next value. The jobs of a document are kept apart, the elements of other lists are not.
func (s *outline) value(d *json.Decoder, path string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch v := token.(type) {
	case json.Delim:
		s.add(path, string(v))
		for i := 0; d.More(); i++ {
			element := path + "/*"
			if path == "/jobs" {
				element = fmt.Sprintf("%s/%d", path, i)
			}
			if v == '{' {
				key, err := d.Token()
				if err != nil {
					return err
				}
				element = path + "/" + key.(string)
			}
			if err := s.value(d, element); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	case json.Number:
		kind := "int"
		if strings.ContainsAny(v.String(), ".eE") {
			kind = "decimal"
			if sixDigits.MatchString(v.String()) {
				kind = "float"
			}
		}
		s.add(path, kind)
		if m := counted.FindStringSubmatch(path); m != nil {
			n, err := v.Int64()
			if err != nil {
				return err
			}
			s.counts[m[1]+m[2]] += n
		}
	default:
		s.add(path, fmt.Sprintf("%T", v))
	}
	return nil
}

var (
	textNumber  = regexp.MustCompile(`\d+(\.\d+)?`)
	textUnit    = regexp.MustCompile(`N(Ki|Mi|Gi|k|M|G)?B\b`)
	textAverage = regexp.MustCompile(`(avg|stdev|min|max)= *N[kM]?`)
	textScale   = regexp.MustCompile(`\((nsec|usec|msec)\)`)
	textBucket  = regexp.MustCompile(`^  lat \(.*`)
	textList    = regexp.MustCompile(`^     \| .*`)
	textBlanks  = regexp.MustCompile(` +`)
)

// linesOf are the lines of the text form, without what differs from run to run.
func linesOf(text string) (list []string) {
	text, _, _ = strings.Cut(text, "\nblkstorm ")
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.Contains(line, "Laying out"), line == "":
			continue
		case textBucket.MatchString(line):
			line = "  lat (unit) : shares"
		case textList.MatchString(line):
			line = "     | percentiles"
		case strings.Contains(line, "pid="):
			line, _, _ = strings.Cut(line, "pid=")
		}
		line = textNumber.ReplaceAllString(line, "N")
		line = textUnit.ReplaceAllString(line, "NB")
		line = strings.ReplaceAll(line, "IOPS=Nk", "IOPS=N")
		line = textAverage.ReplaceAllString(line, "$1=N")
		line = textScale.ReplaceAllString(line, "(unit)")
		line = textBlanks.ReplaceAllString(line, " ")
		if len(list) > 0 && line == list[len(list)-1] && strings.Contains(line, "|") || strings.Contains(line, "shares") && slices.Contains(list[max(0, len(list)-3):], line) {
			continue
		}
		list = append(list, line)
	}
	return list
}

// The text has fio's lines, in fio's order. fio 3.33 says less of disks and of syncs than 3.42 does; slat is not
// measured; and threads are threads.
func TestFioText(t *testing.T) {
	fio := lab.Tool(t, "fio")
	tidy := func(lines []string) (list []string) {
		for _, line := range lines {
			switch {
			case strings.HasPrefix(line, " slat ("), strings.HasPrefix(line, "fio-"):
				continue
			case strings.HasPrefix(line, " bw ("), strings.HasPrefix(line, " iops :"):
				continue // of runs that are long enough
			case strings.HasPrefix(line, "Starting"):
				line = "Starting"
			case strings.HasPrefix(line, " latency :"):
				line = strings.ReplaceAll(line, "Nns", "N")
			case strings.HasPrefix(line, " fsync/"):
				line = " fsync/"
			}
			line = strings.TrimSuffix(line, "; N zone resets")
			if before, _, has := strings.Cut(line, "sectors="); has {
				_, after, _ := strings.Cut(line, "merge=")
				line = before + "merge=" + after
			}
			list = append(list, line)
		}
		return list
	}
	for _, name := range []string{"sequential", "depth", "clones", "syncs", "percentiles", "stages", "described", "errors"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := filepath.Abs("testdata/fio/shape/" + name + ".fio")
			if err != nil {
				t.Fatal(err)
			}
			theirs := tidy(linesOf(runIn(t, fio, file)))
			ours := tidy(linesOf(runIn(t, "blkstorm", "fio", file)))
			for i := range max(len(theirs), len(ours)) {
				switch {
				case i >= len(ours):
					t.Fatalf("missing: %q", theirs[i])
				case i >= len(theirs):
					t.Fatalf("not in fio's: %q", ours[i])
				case theirs[i] != ours[i]:
					t.Fatalf("line %d: fio has %q, ours is %q", i+1, theirs[i], ours[i])
				}
			}
		})
	}
}

// What scripts look for in the text.
func TestFioTextGreps(t *testing.T) {
	out := blkstorm(t, "fio", "--name=a", "--filename=x", "--size=2m", "--rw=randrw", "--fsync=16", "--runtime=2", "--time_based", "--rate_iops=100,100").want(t, 0)
	for _, pattern := range []string{
		`(?m)^  read: IOPS=[\d.]+k?, BW=[\d.]+[KMG]iB/s \([\d.]+[kMG]B/s\)\([\d.]+KiB/\d+msec\)$`,
		`(?m)^  write: IOPS=`,
		`(?m)^     lat \((nsec|usec|msec)\): min= *\d+k?, max= *\d+k?, avg= *[\d.]+, stdev= *[\d.]+$`,
		`(?m)^    clat percentiles \((nsec|usec|msec)\):$`,
		`\| 99\.00th=\[ *\d+\]`,
		`(?m)^   bw \(  KiB/s\): min= *\d+, max= *\d+, per=[\d.]+%, avg= *[\d.]+, stdev= *[\d.]+, samples=\d+$`,
		`(?m)^   iops        : min= *\d+, max= *\d+, avg= *[\d.]+, stdev= *[\d.]+, samples=\d+$`,
		`(?m)^    sync \((nsec|usec|msec)\): min=`,
		`(?m)^  cpu          : usr=[\d.]+%, sys=[\d.]+%, ctx=\d+, majf=\d+, minf=\d+$`,
		`(?m)^     issued rwts: total=\d+,\d+,0,\d+ short=0,0,0,0 dropped=0,0,0,0$`,
		`(?m)^Run status group 0 \(all jobs\):$`,
		`(?m)^   READ: bw=.*, io=.* \(.*\), run=\d+-\d+msec$`,
		`(?m)^  WRITE: bw=`,
	} {
		if !regexp.MustCompile(pattern).MatchString(out.stdout) {
			t.Errorf("nothing matches %s in\n%s", pattern, out.stdout)
		}
	}
	if out.stderr != "" {
		t.Errorf("standard error: %s", out.stderr)
	}
}
