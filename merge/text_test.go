package merge

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"blkstorm/result"
	"blkstorm/result/load/loadtest"
)

// The text names each machine, what its figures cover, and what is wrong with it; hostile names stay names.
func TestText(t *testing.T) {
	late := vm("l\x1b[2Jate <b>\n", epoch.Add(3*time.Second), 10, eachRead)
	late.Points[0].Incomplete = true
	dir := vm("fine", epoch, 10, eachRead).Folder(t)
	var b bytes.Buffer
	r := must(t, Options{Version: "1.0"}, dir, folderAs(t, late, "late"), "/nowhere")
	if err := result.WriteText(&b, r.Doc); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, words := range []string{
		"merged from the results of 2 machines\n", "*** LEFT OUT: /nowhere: no such file", "targets  2 on 2 machines\n",
		"figures of the whole intervals within the 7 s that all machines measured; 3 s (30.0 %) of the\n  longest", "the windows began within 3 s, by the machines' own clocks",
		"\n  per machine\n", "\n  fine  ", "\n  over the machines\n", "\n  least  ", "it was interrupted",
	} {
		if !strings.Contains(text, words) {
			t.Errorf("the text lacks %q", words)
		}
	}
	if strings.ContainsRune(text, '\x1b') {
		t.Error("a machine's name controls the terminal")
	}
	if strings.Contains(text, "per target") || t.Failed() {
		t.Errorf("the text:\n%s", text)
	}
}

// folderAs is the run's folder under another name than its host's.
func folderAs(t *testing.T, run *loadtest.Run, name string) string {
	t.Helper()
	host := run.Host
	run.Host = name
	dir := run.Folder(t)
	rename(t, dir, name, host)
	return dir
}
