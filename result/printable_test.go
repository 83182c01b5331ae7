package result

import (
	"strings"
	"testing"
	"unicode"
)

// Names come from users, devices and other machines: whatever is in them, the text is lines of
// printable characters, and as many as with good names.
func TestTextHasNoControlCharacters(t *testing.T) {
	const evil = "a\x1b[2J\rb\nc\u202e\x9b"
	write := func(d *Doc) string {
		var b strings.Builder
		if err := WriteText(&b, d); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, make := range documents {
		d := make(t)
		lines := strings.Count(write(d), "\n")
		d.Host.Hostname += evil
		for _, f := range d.Targets {
			f.Path, f.Spec, f.Vendor, f.Model = f.Path+evil, f.Spec+evil, f.Vendor+evil, f.Model+evil
		}
		for _, p := range d.Points {
			p.Label += evil
			for _, s := range p.Streams {
				s.Label += evil
			}
			for _, target := range p.Targets {
				target.Path += evil
			}
			for i := range p.Errors {
				p.Errors[i].Target += evil
				p.Errors[i].Message += evil
			}
			for i := range p.Stuck {
				p.Stuck[i].Target += evil
			}
			for i := range p.Warnings {
				p.Warnings[i].Message = evil + p.Warnings[i].Message
			}
		}
		text := write(d)
		for _, r := range text {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%s: the text has %q:\n%s", name, r, text)
			}
		}
		// Warnings are wrapped: longer ones may take a line more each.
		warnings := strings.Count(text, "warning [")
		if got := strings.Count(text, "\n"); got < lines || got > lines+2*warnings {
			t.Errorf("%s: %d lines with such names, %d with good ones:\n%s", name, got, lines, text)
		}
	}
}
