package steady

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

func fioRule(t testing.TB, text string) Rule {
	t.Helper()
	r, err := ParseFio(text, time.Minute, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRulesReadBack(t *testing.T) {
	p99 := Default()
	p99.Metric, p99.Window, p99.MaxRounds, p99.Round, p99.RangePct = P99, 3, 9, 90*time.Second, 12.5
	for _, r := range []Rule{Default(), p99, fioRule(t, "bw:0.25%"), fioRule(t, "lat_slope:150000")} {
		if err := r.Validate(); err != nil {
			t.Errorf("%v: %v", &r, err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var back Rule
		if err := json.Unmarshal(text, &back); err != nil || back != r {
			t.Errorf("%s reads back as %+v, %v", text, back, err)
		}
		// What a YAML package does: MarshalYAML gives what it encodes, and UnmarshalYAML gets a decoder.
		tree, err := r.MarshalYAML()
		if err != nil {
			t.Fatal(err)
		}
		inner, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		back = Rule{}
		if err := back.UnmarshalYAML(func(v any) error { return json.Unmarshal(inner, v) }); err != nil || back != r {
			t.Errorf("%s reads back as %+v, %v", inner, back, err)
		}
	}
}

func TestRuleForm(t *testing.T) {
	for _, c := range []struct {
		in, out string
	}{
		{`{}`, `{"metric":"iops","rule":"snia","window":5,"range_pct":20,"fitted_pct":10,"max_rounds":25,"round":"1m0s"}`},
		{`{"metric":"bw","round":"30s"}`, `{"metric":"bandwidth","rule":"snia","window":5,"range_pct":20,"fitted_pct":10,"max_rounds":25,"round":"30s"}`},
		{`{"metric":"lat","rule":"fio-slope","window":60,"limit":"0.3%"}`, `{"metric":"mean","rule":"fio-slope","window":60,"limit":"0.3%","max_rounds":0,"round":"1s"}`},
	} {
		var r Rule
		if err := json.Unmarshal([]byte(c.in), &r); err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if out, err := json.Marshal(r); err != nil || string(out) != c.out {
			t.Errorf("%s: %s, %v; want %s", c.in, out, err, c.out)
		}
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", c.in, err)
		}
	}
	for in, part := range map[string]string{
		`{"windows":5}`:        "windows",
		`{"metric":"p50"}`:     `--steady-metric "p50": unknown`,
		`{"rule":"fio"}`:       `--steady-rule "fio": unknown`,
		`{"round":"soon"}`:     "--steady-round",
		`{"limit":"-1"}`:       "steadystate limit",
		`{"limit":"NaN"}`:      "steadystate limit",
		`{"window":"five"}`:    "window",
		`{"limit":"1e400000"}`: "steadystate limit",
	} {
		var r Rule
		if err := json.Unmarshal([]byte(in), &r); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v, want one with %q", in, err, part)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		change func(*Rule)
		part   string
	}{
		{func(r *Rule) { r.Window = 1 }, "--steady-window 1"},
		{func(r *Rule) { r.Window = MaxWindow + 1 }, "--steady-window 100001"},
		{func(r *Rule) { r.RangePct = 0 }, "--steady-range 0"},
		{func(r *Rule) { r.RangePct = math.NaN() }, "--steady-range NaN"},
		{func(r *Rule) { r.FittedPct = -1 }, "--steady-fitted -1"},
		{func(r *Rule) { r.FittedPct = 1001 }, "--steady-fitted 1001"},
		{func(r *Rule) { r.MaxRounds = 4 }, "--steady-max-rounds 4"},
		{func(r *Rule) { r.MaxRounds = 0 }, "--steady-max-rounds 0"},
		{func(r *Rule) { r.MaxRounds = -1 }, "--steady-max-rounds -1"},
		{func(r *Rule) { r.Round = time.Millisecond }, "--steady-round 1ms"},
		{func(r *Rule) { r.Metric = 9 }, "--steady-metric"},
		{func(r *Rule) { r.Kind = 9 }, "--steady-rule"},
		{func(r *Rule) { r.Limit.Value = 3 }, "limit 3"},
		{func(r *Rule) { r.Kind = FioSlope }, "--steady-range"},
		{func(r *Rule) { *r = fioRule(t, "iops:3"); r.Metric = P99 }, "--steady-metric p99"},
		{func(r *Rule) { *r = fioRule(t, "iops:3"); r.Limit.Value = math.Inf(1) }, "steadystate limit"},
	} {
		r := Default()
		c.change(&r)
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%+v: error %v, want one with %q", r, err, c.part)
		}
	}
}

func TestParseFio(t *testing.T) {
	for _, c := range []struct {
		in                 string
		duration, interval time.Duration
		want               string
	}{
		{"iops:20%", 300 * time.Second, time.Second, "iops over 300 rounds of 1s: all within less than 20% of the mean"},
		{"iops_slope:2.5%", 300 * time.Second, time.Minute, "iops over 5 rounds of 1m0s: slope per round below 2.5%"},
		{"bw_slope:0.1%", 2 * time.Hour, time.Second, "bandwidth over 7200 rounds of 1s: slope per round below 0.1%"},
		{"lat:5000", time.Minute, time.Second, "mean over 60 rounds of 1s: all within less than 5000 of the mean"},
	} {
		r, err := ParseFio(c.in, c.duration, c.interval)
		if err != nil || r.String() != c.want {
			t.Errorf("%s: %v, %v; want %s", c.in, &r, err, c.want)
		}
	}
	for in, part := range map[string]string{
		"iops":      "must be a criterion and a limit",
		"p99:3%":    `unknown criterion "p99"`,
		"iops:x":    "must be a number",
		"iops:":     "must be a number",
		"iops:-3%":  "must be a number",
		"iops:3%%":  "must be a number",
		"iops:1e3":  "must be a number",
		"_slope:3%": `unknown criterion "_slope"`,
	} {
		if _, err := ParseFio(in, time.Minute, time.Second); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: error %v, want one with %q", in, err, part)
		}
	}
	for _, d := range [][2]time.Duration{{time.Second, time.Second}, {time.Minute, 0}, {0, time.Second}, {2 * MaxWindow * time.Second, time.Second}} {
		if _, err := ParseFio("iops:3%", d[0], d[1]); err == nil || !strings.Contains(err.Error(), "steadystate_duration") {
			t.Errorf("duration %v, interval %v: error %v", d[0], d[1], err)
		}
	}
	snia := Default()
	if got, want := snia.String(), "iops over 5 rounds of 1m0s: range within 20 %, fitted range within 10 % of the mean; at most 25 rounds"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Documents are JSON: a report with rounds that have no figure is, too.
func TestReportIsJSON(t *testing.T) {
	tr := NewTracker(Default())
	for _, v := range []float64{math.NaN(), 100, 100, 100, 100, 100, 300} {
		tr.Add(v)
	}
	text, err := json.Marshal(tr.Report())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"values":[null,100,`, `"drifted":[7]`, `"reached":6`, `"steady":true`, `"mean":100,`, `"low":90,"high":110`, `"rule":{"metric":"iops"`} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
}

func FuzzRule(f *testing.F) {
	f.Add(`{"metric":"bw","round":"30s"}`, "iops_slope:0.3%", 1.5)
	f.Add(`{"rule":"fio-deviation","limit":"20"}`, "lat:5%", math.Inf(1))
	f.Fuzz(func(t *testing.T, object, fio string, v float64) {
		var r, back Rule
		if json.Unmarshal([]byte(object), &r) == nil && r.Validate() == nil {
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatalf("%s: %v", object, err)
			}
			if err := json.Unmarshal(text, &back); err != nil || back != r {
				t.Fatalf("%s reads back as %+v, %v", text, back, err)
			}
		}
		rules := []Rule{Default()}
		if r, err := ParseFio(fio, 5*time.Second, time.Second); err == nil {
			rules = append(rules, r)
		}
		for _, r := range rules {
			tr := NewTracker(r)
			for i := range 7 {
				tr.Add(v * float64(i%3+1))
			}
			if _, err := json.Marshal(tr.Report()); err != nil {
				t.Fatalf("%v on %v: %v", &r, v, err)
			}
		}
	})
}

// The guide has every key of a rule and of a report.
func TestGuideHasEveryKey(t *testing.T) {
	guide, err := os.ReadFile("../docs/steady.md")
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for i := range typ.NumField() {
			field := typ.Field(i)
			if field.Type == reflect.TypeFor[State]() || field.Anonymous {
				walk(field.Type)
			}
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if key == "" {
				continue
			}
			keys++
			if !strings.Contains(string(guide), "`"+key+"`") {
				t.Errorf("docs/steady.md has no `%s`", key)
			}
		}
	}
	walk(reflect.TypeFor[form]())
	walk(reflect.TypeFor[Report]())
	if keys < 30 {
		t.Errorf("only %d keys found", keys)
	}
}
