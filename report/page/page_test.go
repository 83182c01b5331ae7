package page

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

func write(t *testing.T, p *Page) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPolicy: every inline script and style of the page is one that its policy names, and nothing else is allowed.
func TestPolicy(t *testing.T) {
	for _, p := range []*Page{
		{Body: func(io.Writer) error { return nil }},
		{Body: func(io.Writer) error { return nil }, Charts: true, Script: "bs.x = 1;"},
	} {
		out := write(t, p)
		policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(out)[1]
		if !strings.HasPrefix(policy, "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
			t.Errorf("the policy is %s", policy)
		}
		inline := regexp.MustCompile(`(?s)<(?:style|script)>(.*?)</(?:style|script)>`).FindAllStringSubmatch(out, -1)
		for _, m := range inline {
			if !strings.Contains(policy, hash(m[1])) {
				t.Errorf("an inline part that begins with %.40q is not in the policy", m[1])
			}
		}
		if n := strings.Count(policy, "sha256-"); n != len(inline) {
			t.Errorf("the policy has %d hashes for %d inline parts", n, len(inline))
		}
		if m := regexp.MustCompile(`(?:src|href)="[^"#]*"`).FindString(out); m != "" {
			t.Errorf("the page refers to another file: %s", m)
		}
	}
}

func TestTitleIsText(t *testing.T) {
	out := write(t, &Page{Title: `</title><script>x</script>`, Version: `"><b>`, Body: func(w io.Writer) error {
		_, err := io.WriteString(w, "<main>here</main>")
		return err
	}})
	if strings.Contains(out, "<script>x") || strings.Contains(out, "<b>") || !strings.Contains(out, "<main>here</main>") {
		t.Error(out)
	}
}

// TestErrors: what a part says goes to the caller, not into the page.
func TestErrors(t *testing.T) {
	want := fmt.Errorf("no room")
	bad := func(io.Writer) error { return want }
	good := func(io.Writer) error { return nil }
	for _, p := range []*Page{{Body: bad}, {Body: good, Data: bad}} {
		if err := Write(io.Discard, p); err != want {
			t.Errorf("got %v", err)
		}
	}
}

// TestVersions: what the page says of uPlot is what the file is.
func TestVersions(t *testing.T) {
	note, err := os.ReadFile("assets/VERSIONS")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(uPlot, "(v"+uPlotVersion+")") || !strings.Contains(string(note), "uPlot "+uPlotVersion+",") {
		t.Errorf("assets are not of version %s, or VERSIONS says otherwise", uPlotVersion)
	}
	for _, s := range []string{uPlot, script, style, uPlotStyle} {
		if strings.Contains(strings.ToLower(s), "</s") || strings.Contains(s, "<!--") || strings.Contains(s, "\r") {
			t.Error("an asset cannot stand inline as it is")
		}
	}
}
