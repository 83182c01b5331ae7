package printable

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ in, name, text, lines string }{
		{"/dev/sdb", "/dev/sdb", "/dev/sdb", "/dev/sdb"},
		{"Größe 97 µs ▁█ 盘", "Größe 97 µs ▁█ 盘", "Größe 97 µs ▁█ 盘", "Größe 97 µs ▁█ 盘"},
		{`say "hi" \n`, `say "hi" \n`, `say "hi" \n`, `say "hi" \n`},
		{"a\x1b[2Jb", `"a\x1b[2Jb"`, `a\x1b[2Jb`, `a\x1b[2Jb`},
		{"a\nb", `"a\nb"`, `a\nb`, "a\nb"},
		{"a\rb\tc\x7f", `"a\rb\tc\x7f"`, `a\rb\tc\x7f`, `a\rb\tc\x7f`},
		{"c1 \u009b31m", `"c1 \u009b31m"`, `c1 \u009b31m`, `c1 \u009b31m`},
		{"bidi \u202etxt.exe", `"bidi \u202etxt.exe"`, `bidi \u202etxt.exe`, `bidi \u202etxt.exe`},
		{"bad \x9b\xff", `"bad \x9b\xff"`, `bad \x9b\xff`, `bad \x9b\xff`},
		{"", "", "", ""},
	} {
		if got := Name(c.in); got != c.name {
			t.Errorf("Name(%q) = %s, want %s", c.in, got, c.name)
		}
		if got := Text(c.in); got != c.text {
			t.Errorf("Text(%q) = %s, want %s", c.in, got, c.text)
		}
		if got := Lines(c.in); got != c.lines {
			t.Errorf("Lines(%q) = %s, want %s", c.in, got, c.lines)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("a\x1b[2J\n\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{Name(s), Text(s)} {
			for _, r := range got {
				if !unicode.IsPrint(r) {
					t.Errorf("%q gives %q", s, got)
				}
			}
		}
		if lines := Lines(s); !utf8.ValidString(lines) || Text(lines) != Text(s) && Lines(lines) != lines {
			t.Errorf("%q gives %q", s, lines)
		}
	})
}
