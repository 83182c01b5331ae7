package fiojson

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"blkstorm/histogram"
	"blkstorm/result"
)

func readFile(t *testing.T, name string) *Output {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return must(t, string(text))
}

func must(t *testing.T, text string) *Output {
	t.Helper()
	out, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func codes(d *result.Doc) (list []string) {
	for _, w := range d.Warnings {
		list = append(list, w.Code)
	}
	return list
}

// Two jobs of one name, as numjobs makes them, with bins, after a line of warning: what fio 3.33 wrote.
func TestBins(t *testing.T) {
	out := readFile(t, "plus.json")
	d := out.Doc
	if len(d.Points) != 1 || d.Version != "fio-3.33" || d.Schema != result.Schema || len(d.ID) != 16 || d.Started.Year() < 2020 {
		t.Fatalf("%d points, version %q, id %q, %v", len(d.Points), d.Version, d.ID, d.Started)
	}
	p := d.Points[0]
	if p.Label != "reader" || p.Threads != 2 || p.IODepth != 1 || p.EngineName != "null" || !p.Completed || out.Options[0]["bs"] != "4k" {
		t.Errorf("%+v, options %v", p, out.Options)
	}
	if p.Total.IOs != 120 || p.Total.Bytes != 120*4096 || p.Read.IOs+p.Write.IOs != 120 || p.Total.IOPS != p.Read.IOPS+p.Write.IOPS {
		t.Errorf("total %+v", p.Total)
	}
	for name, s := range map[string]*result.Stat{"read": p.Read, "write": p.Write, "total": p.Total} {
		h, err := histogram.Decode(s.Latency.HDR)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Restore(s.Latency.Min, s.Latency.Max, float64(s.Latency.Mean), float64(s.Latency.StdDev)); err != nil || h.Count() != s.IOs {
			t.Errorf("%s: %d values of %d, %v", name, h.Count(), s.IOs, err)
		}
	}
	if got := codes(d); !slices.Equal(got, []string{"fio_bins", "fio_completion_latency"}) {
		t.Errorf("warnings %v", got)
	}
}

// Up to 2.98 times were in microseconds and bytes in KiB, and there were no job options.
func TestOldVersion(t *testing.T) {
	p := readFile(t, "old.json").Doc.Points[0]
	s, l := p.Read, p.Read.Latency
	if s.Bytes != 7116*1024 || s.BytesPerS != 275*1024 || s.IOPS != 68.99 || s.Short != 1 || p.WindowS != 25.788 || p.Started.Unix() != 1444144664-26 {
		t.Errorf("%+v, window %g from %v", s, p.WindowS, p.Started)
	}
	// clat has percentiles, and lat has none: the first is used, with all its figures.
	if l.Count != 1779 || l.Min != 42_000 || l.Max != 51_000_000 || l.Mean != 14_480_250 || l.StdDev != 5_555_500 || l.HDR != "" {
		t.Errorf("%+v", l)
	}
	if want := map[string]int64{"1": 5e6, "99": 30e6, "99.99": 51e6}; fmt.Sprint(l.Percentiles) != fmt.Sprint(want) {
		t.Errorf("percentiles %v, want %v", l.Percentiles, want)
	}
	if fmt.Sprint(p.Total.Latency.Percentiles) != fmt.Sprint(l.Percentiles) {
		t.Errorf("the only direction has %v, the total %v", l.Percentiles, p.Total.Latency.Percentiles)
	}
}

// stats is a job's entry with reads only.
func stats(name, more, read string) string {
	return fmt.Sprintf(`{"jobname":%q,"groupid":0,"error":0%s,"read":{"io_kbytes":4,"io_bytes":4096,"iops":100,"bw_bytes":409600,"runtime":1000,"total_ios":4,%s}}`, name, more, read)
}

const (
	latA = `"lat_ns":{"min":1000,"max":3000,"mean":2000,"stddev":500,"N":4,"percentile":{"50.000000":2000}}`
	latB = `"lat_ns":{"min":2000,"max":9000,"mean":5000,"stddev":1000,"N":4,"percentile":{"50.000000":4000}}`
	bins = `"lat_ns":{"min":1000,"max":3000,"mean":2000,"stddev":500,"N":4,"bins":{"1004":1,"2008":2,"3024":1}}`
	both = `"lat_ns":{"min":9000,"max":9000,"mean":9000,"stddev":0,"N":4},"clat_ns":{"min":1000,"max":3000,"mean":2000,"stddev":500,"N":4,"bins":{"1004":1,"2008":2,"3024":1}}`
)

func fio(jobs ...string) string {
	return `{"fio version":"fio-3.38","timestamp_ms":1752000383123,"jobs":[` + strings.Join(jobs, ",") + `]}`
}

func clients(jobs ...string) string {
	return strings.Replace(fio(jobs...), `"jobs"`, `"client_stats"`, 1)
}

func TestJobs(t *testing.T) {
	all := stats("All clients", "", latB)
	for name, c := range map[string]struct {
		text   string
		labels string
		iops   float64 // of the first
		mean   int64
		p50    int64 // 0: none
		codes  string
	}{
		"one":                 {fio(stats("a", "", latA)), "a", 100, 2000, 2000, "fio_no_bins"},
		"two names":           {fio(stats("a", "", latA), stats("b", "", latB)), "a b", 100, 2000, 2000, "fio_no_bins"},
		"one name, no bins":   {fio(stats("a", "", latA), stats("a", "", latB)), "a", 200, 3500, 0, "fio_no_bins"},
		"bins":                {fio(stats("a", "", bins)), "a", 100, 2000, 2008, "fio_bins"},
		"one name, bins":      {fio(stats("a", "", bins), stats("a", "", bins)), "a", 200, 2000, 2008, "fio_bins"},
		"some bins":           {fio(stats("a", "", bins), stats("a", "", latB)), "a", 200, 3500, 0, "fio_no_bins fio_bins"},
		"bins of clat":        {fio(stats("a", "", both)), "a", 100, 2000, 2008, "fio_bins fio_completion_latency"},
		"clients":             {clients(stats("a", `,"hostname":"vm1"`, bins), stats("a", `,"hostname":"vm2"`, bins), all), "a", 200, 2000, 2008, "fio_bins"},
		"all clients alone":   {clients(all), "All clients", 100, 5000, 4000, "fio_no_bins"},
		"mixed":               {strings.Replace(fio(stats("a", "", bins)), `"read"`, `"mixed"`, 1), "a", 100, 2000, 2008, "fio_bins fio_mixed"},
		"no name":             {fio(stats("", "", bins)), "job 1", 100, 2000, 2008, "fio_bins"},
		"last document":       {fio(stats("a", "", latA)) + "\nfio: something\n" + fio(stats("b", "", latB)) + "\nbye\n", "b", 100, 5000, 4000, "fio_no_bins"},
		"last one cut":        {fio(stats("a", "", latA)) + "\n" + fio(stats("b", "", latB))[:90], "a", 100, 2000, 2000, "fio_no_bins fio_cut_short"},
		"braces in the noise": {"{ is no document\n{\n" + fio(stats("a", "", bins)), "a", 100, 2000, 2008, "fio_bins"},
	} {
		d := must(t, c.text).Doc
		var labels []string
		for _, p := range d.Points {
			labels = append(labels, p.Label)
		}
		p := d.Points[0]
		if got := strings.Join(labels, " "); got != c.labels || p.Total.IOPS != c.iops {
			t.Errorf("%s: points %q, %g IOPS", name, got, p.Total.IOPS)
		}
		p50 := p.Total.Latency.Percentiles["50"]
		if p.Total.Latency.Mean != c.mean || p50 < c.p50 || p50 > c.p50+c.p50/1000+1 || (p.Total.Latency.HDR != "") != (c.codes[:8] == "fio_bins") {
			t.Errorf("%s: %+v", name, p.Total.Latency)
		}
		if got := strings.Join(codes(d), " "); got != c.codes {
			t.Errorf("%s: warnings %s", name, got)
		}
	}
	d := must(t, clients(stats("a", `,"hostname":"vm1"`, bins), stats("a", `,"hostname":"vm2"`, bins))).Doc
	if d.Host.Hostname != "vm1,vm2" {
		t.Errorf("hosts %q", d.Host.Hostname)
	}
}

func TestErrorsAndFiles(t *testing.T) {
	text := fio(strings.Replace(stats("a", `,"job options":{"filename":"/dev/sdb:/dev/by\\:path:/dev/sdb","iodepth":"16","rw":"randread"},"total_err":3`, latA), `"error":0`, `"error":5`, 1))
	d := must(t, text).Doc
	p := d.Points[0]
	if p.Completed || p.Failure != "fio ended it with error 5" || p.Faults != 3 || p.IODepth != 16 || p.Streams[0].Workload != "randread" {
		t.Errorf("%+v", p)
	}
	if len(d.Targets) != 2 || d.Targets[1].Path != "/dev/by:path" {
		t.Errorf("targets %+v", d.Targets)
	}
}

// With two values of fio, whose deviation divides by n-1, the figures still belong together.
func TestFewValues(t *testing.T) {
	for name, l := range map[string]string{
		"one":       `"lat_ns":{"min":1000,"max":1003,"mean":1001,"stddev":0,"N":1,"bins":{"1004":1}}`,
		"two":       `"lat_ns":{"min":1000,"max":3000,"mean":2000,"stddev":1414.2,"N":2,"bins":{"1004":1,"3024":1}}`,
		"one bin":   `"lat_ns":{"min":1001,"max":1006,"mean":1003,"stddev":2,"N":3,"bins":{"1004":3}}`,
		"mean out":  `"lat_ns":{"min":1001,"max":1006,"mean":2003,"stddev":2,"N":3,"bins":{"1004":3}}`,
		"above 1 h": `"lat_ns":{"min":1001,"max":9e15,"mean":2003,"stddev":2,"N":3,"bins":{"1004":2,"9e15":1}}`,
	} {
		s := must(t, fio(stats("a", "", l))).Doc.Points[0].Read.Latency
		h, err := histogram.Decode(s.HDR)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := h.Restore(s.Min, s.Max, float64(s.Mean), float64(s.StdDev)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefuses(t *testing.T) {
	good := fio(stats("a", "", latA))
	for name, c := range map[string]struct {
		text  string
		is    error
		words string
	}{
		"nothing":      {"", ErrNotFio, ""},
		"text":         {"hello", ErrNotFio, ""},
		"other JSON":   {`{"a":1}`, ErrNotFio, ""},
		"cut":          {good[:100], ErrDamaged, "cut short"},
		"not a number": {strings.Replace(good, "2000", "-nan", 1), ErrDamaged, "invalid character"},
		"no jobs":      {`{"fio version":"fio-3.1","jobs":[]}`, ErrDamaged, "no jobs"},
		"null job":     {`{"fio version":"fio-3.1","jobs":[null]}`, ErrDamaged, "jobs[0] is null"},
		"negative":     {strings.Replace(good, `"total_ios":4`, `"total_ios":-4`, 1), ErrDamaged, "a count of -4"},
		"huge":         {strings.Replace(good, `"total_ios":4`, `"total_ios":4e18`, 1), ErrDamaged, "more I/Os"},
		"rate":         {strings.Replace(good, `"iops":100`, `"iops":1e300`, 1), ErrDamaged, "a rate"},
		"runtime":      {strings.Replace(good, `"runtime":1000`, `"runtime":-1`, 1), ErrDamaged, "a runtime"},
		"order":        {strings.Replace(good, `"min":1000`, `"min":9000`, 1), ErrDamaged, "from 9000 to 3000"},
		"percentile":   {strings.Replace(good, `50.000000`, `x`, 1), ErrDamaged, `"x"`},
		"bin":          {fio(stats("a", "", strings.Replace(bins, "2008", "-1", 1))), ErrDamaged, `bin "-1"`},
		"many values":  {fio(stats("a", "", strings.Replace(bins, `"2008":2`, `"2008":1e16`, 1))), ErrDamaged, "bin"},
		"errors":       {fio(stats("a", `,"total_err":-1`, bins)), ErrDamaged, "count of -1"},
		"noise":        {strings.Repeat("{\n", 10_000), ErrNotFio, ""},
	} {
		if _, err := Read([]byte(c.text)); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{fio(stats("a", "", latA), stats("a", "", bins)), clients(stats("b", "", both)), "x\n{\n" + fio(stats("a", "", latA)) + "\n" + fio()} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out, err := Read(text)
		if err != nil {
			return
		}
		for _, p := range out.Doc.Points {
			for _, s := range []*result.Stat{p.Total, p.Read, p.Write, p.Sync} {
				l := s.Latency
				if l.Min > l.Max || l.Mean < l.Min || l.Mean > l.Max || l.StdDev < 0 {
					t.Fatalf("%+v", l)
				}
				if l.HDR == "" {
					continue
				}
				h, err := histogram.Decode(l.HDR)
				if err == nil {
					err = h.Restore(l.Min, l.Max, float64(l.Mean), float64(l.StdDev))
				}
				if err != nil || h.Count() != l.Count {
					t.Fatalf("%d values of %d: %v", h.Count(), l.Count, err)
				}
			}
		}
	})
}
