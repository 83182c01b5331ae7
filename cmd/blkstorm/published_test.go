package main

import (
	"slices"
	"strings"
	"testing"

	"blkstorm/plan/profile"
	"blkstorm/result"
	"blkstorm/result/published"
)

// headings are what a reader of the articles looks for in a profile's tables.
var headings = map[string][]string{
	"storagereview-ssd": {"4K Random 100% Write, preconditioning at 16T/16Q", "128K Sequential 100% Read, preconditioning", "8K Random 70/30, main test 2T/2Q to 16T/16Q",
		"Throughput", "Average Latency", "Max Latency", "Standard Deviation", "2T/2Q", "Peak Write"},
	"hcibench-storagereview": {"8K Random 70/30", "32K Sequential 100% Write", "95th Percentile", "Little's law"},
	"hcibench-easy-run":      {"256K Sequential 100% Read", "8K Random 50/50", "95th Percentile"},
	"vsan-cache-matrix":      {"IOPS", "MB/s", "average latency in ms", "0% Write", "70% Write", "128K"},
	"drive-spec":             {"measured against claimed: ", "4K Random 100% Read, 4T/32Q: iops", "245,000", "512B Random 100% Read", "Access Latency"},
	"thread-ramp":            {"preconditioning at 32T/1Q", "Average 99th Percentile", "CPU"},
	"four-corners":           {"4K Random 100% Write", "128K Sequential 100% Read"},
	"oltp-mysql":             {"page reads (16K Random 100% Read)", "log (4K Sequential 100% Write)"},
	"oltp-sqlserver":         {"checkpoint (8k-256k Random 100% Write)", "log (4k-60k Sequential 100% Write)"},
	"nosql-marklogic":        {"journal write (", "save write (", "merge read (", "merge write ("},
	"vmmark-tile":            {"mail database (32K Random 50/50)", "Response 99th"},
	"snia-iops":              {"Test Setup", "discard of everything", "Steady State Convergence", "Steady State Measurement Window", "Allowed Maximum Slope Excursion", "95/5", "1024"},
	"snia-latency":           {"Average Latency in ms", "Maximum Latency in ms", "RND 4 KiB, R/W 0/100"},
	"snia-throughput":        {"SEQ 1024 KiB, R/W 100/0", "SEQ 128 KiB, R/W 0/100", "measurement window of SEQ 128 KiB", "Throughput in MB/s"},
	"snia-wsat":              {"TGBW", "Steady State Convergence"},
}

// checkTables wants the text of a whole run to end with its profile's tables, with what the articles have in
// them.
func checkTables(t *testing.T, profile, text string) {
	t.Helper()
	_, tables, found := strings.Cut(text, "\nthe tables of "+profile+"\n")
	if !found {
		t.Fatalf("no tables in the text:\n%.2000s", text)
	}
	for _, want := range headings[profile] {
		if !strings.Contains(tables, want) {
			t.Errorf("no %q in\n%s", want, tables)
		}
	}
	if len(headings[profile]) == 0 || strings.Contains(tables, "not completed") || strings.Contains(tables, "NaN") {
		t.Errorf("the tables are not those of a whole run:\n%s", tables)
	}
}

// Every profile has tables.
func TestEveryProfileHasTables(t *testing.T) {
	names := slices.Sorted(slices.Values(profile.Names()))
	if !slices.Equal(names, published.Profiles()) {
		t.Errorf("profiles are %v, those with tables %v", names, published.Profiles())
	}
}

// The tables are the same from a document that was written and read again.
func TestTablesFromAResult(t *testing.T) {
	dir := t.TempDir()
	o := blkstorm(t, "profile", "run", "snia-wsat", "--quick", "--engine", "null", "--size", "128m", "--quiet", "--runtime", "100ms", "--dir", dir).want(t, 0)
	folder, doc, err := result.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	checkTables(t, "snia-wsat", o.stdout)
	var text strings.Builder
	if err := published.WriteText(&text, doc); err != nil || text.Len() == 0 || !strings.HasSuffix(o.stdout, text.String()) {
		t.Errorf("%v: the folder gives %s, the run gave %s", err, &text, o.stdout)
	}
}
