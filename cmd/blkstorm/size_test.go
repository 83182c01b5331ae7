package main

import (
	"bytes"
	"os"
	"testing"

	"blkstorm/lab"
)

// built is what make builds.
const built = "../../bin/blkstorm"

// The binary that goes into every guest stays under 16 MB.
func TestBinaryIsSmall(t *testing.T) {
	const most = 16_000_000
	info, err := os.Stat(built)
	if err != nil {
		lab.Missing(t, "the binary that make builds: "+err.Error())
	}
	if info.Size() > most {
		t.Errorf("%d bytes, at most %d: what a new package brings along must be worth it", info.Size(), most)
	}
}

// Methods that nothing calls are not in the binary. If anything in it can look up a method by a name that is not
// constant, the linker keeps every exported method of every type, 2 MB of them: text/template and html/template do.
// The names of functions are in the binary for traces, also where it is stripped.
func TestBinaryHasNoMethodsByName(t *testing.T) {
	text, err := os.ReadFile(built)
	if err != nil {
		lab.Missing(t, "the binary that make builds: "+err.Error())
	}
	has := func(function string) bool { return bytes.Contains(text, []byte("\x00"+function+"\x00")) }
	if !has("main.main") {
		t.Fatal("the binary has no names of functions as they are looked for here")
	}
	if has("text/template.(*state).evalField") {
		t.Error("the binary executes templates of text/template or html/template")
	}
	if has("time.(*Time).GobDecode") { // for encoding/gob, which nothing here uses
		t.Error("every exported method is in the binary: go build -ldflags=-dumpdep ./cmd/blkstorm 2>&1 | grep ReflectMethod says why")
	}
}
