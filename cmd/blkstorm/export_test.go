package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"blkstorm/histogram"
	"blkstorm/printable"
	"blkstorm/result"
)

// exported is a run of two streams on two targets with bad names, as folder and as document.
func exported(t *testing.T) (folder, document string, doc *result.Doc) {
	t.Helper()
	dir := t.TempDir()
	args := []string{
		"run", "--quiet", "--format", "json", "--dir", filepath.Join(dir, "result"), "--destroy", "--ramp", "100ms", "--runtime", "500ms", "--interval", "100ms",
		"--stream", "label==1+1 rw=randrw fsync=8", "--stream", "label=b rw=randread",
	}
	for _, name := range []string{"=a b,\"c\"\n\x1b[2J", "second, \t.img"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, mib), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	out := blkstorm(t, args...).want(t, exitGood)
	document = filepath.Join(dir, "document.json")
	if err := os.WriteFile(document, []byte(out.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "result"), document, out.document(t)
}

// The folder and the document of a run give the same rows, in both forms, and they are the document's.
func TestExport(t *testing.T) {
	t.Parallel()
	folder, document, doc := exported(t)
	p := doc.Points[0]
	for _, args := range [][]string{{}, {"--what", "points"}, {"--format", "ndjson"}, {"--what", "points", "--format", "ndjson"}} {
		of := func(path string) string {
			return blkstorm(t, append(append([]string{"export"}, args...), path)...).want(t, exitGood).stdout
		}
		text := of(folder)
		if other := of(document); text != other {
			t.Errorf("%v: the folder gives\n%s\nand the document\n%s", args, text, other)
		}
		lines := strings.Count(text, "\n")
		switch want := map[string]int{"": 1 + 3*6, "points": 1 + 4, "ndjson": 6, "points ndjson": 1}[strings.Join(filter(args), " ")]; {
		case lines != want:
			t.Errorf("%v: %d lines, want %d\n%s", args, lines, want, text)
		case strings.ContainsAny(text, "\x1b\t"):
			t.Errorf("%v: control characters in\n%q", args, text)
		}
	}
	plain := blkstorm(t, "export", "--what", "points", document).stdout
	rows, err := csv.NewReader(strings.NewReader(plain)).ReadAll()
	if err != nil || rows[1][0] != doc.ID || rows[1][2] != p.Label {
		t.Errorf("%v %q", err, rows)
	}

	// Standard input is a file, too.
	in, err := os.Open(document)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	proc := &process{t: t, cmd: command(t, "export", "--what", "points", "-")}
	proc.cmd.Stdin, proc.cmd.Stdout, proc.cmd.Stderr = in, &proc.stdout, &proc.stderr
	proc.begin()
	if out := proc.wait().want(t, exitGood); out.stdout != plain {
		t.Errorf("from standard input:\n%s", out.stdout)
	}

	// Every column is in the guide.
	page := docs(t, "docs/export.md")
	intervals, latencies := blkstorm(t, "export", folder).stdout, blkstorm(t, "export", "--what", "latencies", folder).stdout
	for _, text := range []string{plain, intervals, latencies} {
		head, _, _ := strings.Cut(text, "\n")
		for column := range strings.SplitSeq(head, ",") {
			suffix := regexp.MustCompile("^(read|write|trim)_").ReplaceAllString(column, "…_")
			if !strings.Contains(page, "`"+column+"`") && !strings.Contains(page, "`"+suffix+"`") {
				t.Errorf("docs/export.md does not have the column %s", column)
			}
		}
	}
}

// The latencies of a folder add up to the document, whatever the names are.
func TestExportLatencies(t *testing.T) {
	t.Parallel()
	folder, document, doc := exported(t)
	rows, err := csv.NewReader(strings.NewReader(blkstorm(t, "export", "--what", "latencies", folder).want(t, exitGood).stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	type cell struct{ target, direction string }
	sums := map[cell]uint64{}
	for _, row := range rows[1:] {
		n, err := strconv.ParseUint(row[10], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[cell{row[5], row[6]}] += n
		if stream := row[4]; stream != "'=1+1" && stream != "b" {
			t.Errorf("stream %q", stream)
		}
	}
	lines := blkstorm(t, "export", "--what", "latencies", "--format", "ndjson", folder).want(t, exitGood).stdout
	if n := strings.Count(lines, "\n"); n != len(rows)-1 {
		t.Errorf("%d lines of NDJSON, %d rows of CSV", n, len(rows)-1)
	}
	exact := map[cell]uint64{}
	for line := range strings.Lines(lines) {
		var l result.IntervalLatency
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		exact[cell{l.Target, l.Direction}] += l.Latency.Count
		if h, err := histogram.Decode(l.Latency.HDR); err != nil || h.Count() != l.Latency.Count || l.Label != doc.Points[0].Label {
			t.Errorf("%+v: %v", l, err)
		}
	}
	for _, target := range doc.Points[0].Targets {
		for direction, s := range map[string]*result.Stat{"read": target.Read, "write": target.Write, "sync": target.Sync} {
			if exact[cell{target.Path, direction}] != s.IOs || sums[cell{printable.Text(target.Path), direction}] != s.IOs {
				t.Errorf("%q %s: rows add up to %d and %d, the document has %d", target.Path, direction,
					exact[cell{target.Path, direction}], sums[cell{printable.Text(target.Path), direction}], s.IOs)
			}
		}
	}
	blkstorm(t, "export", "--what", "latencies", document).want(t, exitUsage, "has no latency.hlog")
	log := filepath.Join(folder, "latency.hlog")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, text[:len(text)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	out := blkstorm(t, "export", "--what", "latencies", folder).want(t, exitGood, "the last line of latency.hlog is cut short")
	if strings.Count(out.stdout, "\n") != len(rows)-1 {
		t.Errorf("without the last line:\n%s", out.stdout)
	}
}

// filter leaves the values of options.
func filter(args []string) (values []string) {
	for _, a := range args {
		if !strings.HasPrefix(a, "--") {
			values = append(values, a)
		}
	}
	return values
}

// A folder of a run that was killed has a last row that is cut short; a document alone has no rows.
func TestExportOfWhatIsNotWhole(t *testing.T) {
	t.Parallel()
	folder, _, _ := exported(t)
	whole := blkstorm(t, "export", folder).want(t, exitGood).stdout
	rows := filepath.Join(folder, "intervals.ndjson")
	text, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(rows, text[:len(text)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	out := blkstorm(t, "export", folder).want(t, exitGood, "the last interval row is cut short")
	if !strings.HasPrefix(whole, out.stdout) || strings.Count(whole, "\n") != strings.Count(out.stdout, "\n")+3 {
		t.Errorf("without its last row the folder gives\n%s", out.stdout)
	}
	if err := os.Remove(rows); err != nil {
		t.Fatal(err)
	}
	if out := blkstorm(t, "export", folder).want(t, exitUsage, "has no interval rows"); out.stdout != "" {
		t.Errorf("without rows: %q", out.stdout)
	}
	blkstorm(t, "export", "--what", "points", folder).want(t, exitGood)
	for _, c := range []struct {
		args    []string
		message string
	}{
		{nil, "one RESULT is needed"}, {[]string{"a", "b"}, "one RESULT is needed"},
		{[]string{"--what", "x", folder}, "--what \"x\": known are intervals, latencies, points"},
		{[]string{"--format", "json", folder}, "--format \"json\": known are csv, ndjson"},
		{[]string{filepath.Join(folder, "none")}, "no such file"}, {[]string{t.TempDir()}, "is no result"},
	} {
		blkstorm(t, append([]string{"export"}, c.args...)...).want(t, exitUsage, c.message)
	}
}

// HdrHistogram's own reader reads the log of a run: what it adds up is the document.
func TestLatencyLogOfARun(t *testing.T) {
	t.Parallel()
	folder, _, doc := exported(t)
	file, err := os.Open(filepath.Join(folder, "latency.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type cell struct{ target, direction string }
	sums := map[cell]*hdr.Histogram{}
	reader := hdr.NewHistogramLogReader(file)
	for {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		parts, err := histogram.SplitLogTag(h.Tag())
		if err != nil || len(parts) != 4 || parts[0] != "0" {
			t.Fatalf("tag %q: %v", h.Tag(), err)
		}
		key := cell{parts[2], parts[3]}
		if sums[key] == nil {
			sums[key] = hdr.New(histogram.Lowest, histogram.Highest, histogram.Digits)
		}
		if dropped := sums[key].Merge(h); dropped > 0 {
			t.Errorf("%d values are out of range", dropped)
		}
	}
	for _, target := range doc.Points[0].Targets {
		for direction, s := range map[string]*result.Stat{"read": target.Read, "write": target.Write, "sync": target.Sync} {
			got := sums[cell{target.Path, direction}]
			if got == nil || s.IOs == 0 || got.TotalCount() != int64(s.IOs) {
				t.Fatalf("%q %s: %v, the document has %d", target.Path, direction, got, s.IOs)
			}
			want, err := hdr.Decode([]byte(s.Latency.HDR))
			if err != nil || !got.Equals(want) {
				t.Errorf("%q %s: not the document's histogram: %v", target.Path, direction, err)
			}
		}
	}
}

// Lines come when rows end, each is whole, and the last one says that the run came to its end.
func TestNDJSONIsLive(t *testing.T) {
	t.Parallel()
	p := &process{t: t, cmd: command(t, "run", "--size", "1m", "--runtime", "1h", "--interval", "100ms", "--quiet", "--format", "ndjson")}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = &p.stderr
	p.begin()
	var types []string
	lines := bufio.NewReader(stdout)
	for {
		text, err := lines.ReadString('\n')
		if err != nil {
			if text != "" {
				t.Errorf("the last line is cut: %q", text)
			}
			break
		}
		var line struct {
			Type      string  `json:"type"`
			StartUnix int64   `json:"start_unix_ns"`
			LengthS   float64 `json:"length_s"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		types = append(types, line.Type)
		if line.Type != "interval" {
			continue
		}
		end := time.Unix(0, line.StartUnix).Add(time.Duration(line.LengthS * 1e9))
		if after := time.Since(end); after < -time.Millisecond || after > 10*time.Second {
			t.Errorf("a row came %v after its end", after)
		}
		if len(types) == 6 { // five rows of a run of an hour are here
			p.signal(syscall.SIGINT)
		}
	}
	if p.cmd.Wait() == nil || p.cmd.ProcessState.ExitCode() != signalBase+int(syscall.SIGINT) {
		t.Errorf("exit status %d\n%s", p.cmd.ProcessState.ExitCode(), p.stderr.String())
	}
	if n := len(types); n < 8 || types[0] != "run" || types[n-2] != "point" || types[n-1] != "end" {
		t.Errorf("lines %v", types)
	}
}
