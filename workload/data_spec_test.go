package workload

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestParsePattern(t *testing.T) {
	for text, want := range map[string]string{
		// The forms of fio's buffer_pattern, each with the bytes that fio documents for it.
		`0xdeadbeef`:          "\xde\xad\xbe\xef",
		`"abcd"`:              "abcd",
		`-12`:                 "\xf4\xff\xff\xff",
		`-1024`:               "\x00\xfc\xff\xff",
		`66`:                  "\x42",
		`256`:                 "\x00\x01",
		`0`:                   "\x00",
		`0x0`:                 "\x00",
		`0xFF0X1`:             "\xff\x01",
		`0xabc`:               "\x0a\xbc",
		`"123"0xFFeeCC`:       "123\xff\xee\xcc",
		`-100xab"1"`:          "\xf6\xff\xff\xff\xab1",
		`0xdeadface"abcd"-12`: "\xde\xad\xfa\xceabcd\xf4\xff\xff\xff",
		`"a b:c,d"`:           "a b:c,d",
		`2147483647`:          "\xff\xff\xff\x7f",
		`""1`:                 "\x01",

		``:           "! the pattern is empty",
		`""`:         "! the pattern has no bytes",
		`abc`:        `! "abc" is no pattern; write 0x and hexadecimal digits`,
		`"abc`:       "! has no closing quote",
		`0x`:         "! no hexadecimal digit follows",
		`0xzz`:       "! no hexadecimal digit follows",
		`0x12zz`:     `! "zz" is no pattern`,
		`2147483648`: "! is no whole number from -2147483648 to 2147483647",
		`-`:          "! is no whole number",
		`'file'`:     "! name it with file:PATH instead",
		`%o`:         "! only verified data can hold its own offset",
		` 1`:         `! " 1" is no pattern`,
		"0x" + strings.Repeat("ab", MaxPattern+1): "! over 65536 bytes; put it into a file",
	} {
		got, err := ParsePattern(text)
		if part, refused := strings.CutPrefix(want, "! "); refused {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%.40s: %x, %v; want %q", text, got, err, part)
			}
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%s: %x, %v; want %x", text, got, err, want)
		}
	}
}

func TestContentText(t *testing.T) {
	for text, want := range map[string]string{
		"random": "random", "zero": "zero", "file:a b:c": "file:a b:c",
		"pattern:0xDEADBEEF": "pattern:0xdeadbeef", `pattern:"x y"`: `pattern:"x y"`, "pattern:65": `pattern:"A"`,
		"random:1": "! random takes nothing after it", "zero:": "! zero takes nothing after it",
		"foo": `! unknown content "foo"; known are random, zero, pattern:BYTES and file:PATH`, "": "! unknown content",
		"file": "! no path follows; write for example file:image.bin", "pattern": "! the pattern is empty",
	} {
		c, err := ParseContent(text)
		if part, refused := strings.CutPrefix(want, "! "); refused {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, %v; want %q", text, c, err, part)
			}
			continue
		}
		if err != nil || c.String() != want {
			t.Errorf("%s: %v, %v; want %q", text, c, err, want)
		}
	}
}

// A plan keeps the data, and says nothing of the default.
func TestDataSpecReadsBack(t *testing.T) {
	for want, s := range map[string]DataSpec{
		`{}`:                           {},
		`{"content":"zero"}`:           {Content: Content{Kind: DataZero}},
		`{"content":"pattern:0xff00"}`: {Content: Content{Kind: DataPattern, Pattern: []byte("\xff\x00")}},
		`{"content":"file:x"}`:         {Content: Content{Kind: DataFile, File: "x"}},
		`{"compress_pct":50,"dedupe_pct":40,"dedupe_unit":8192}`: {CompressPct: 50, DedupePct: 40, DedupeUnit: 8192},
	} {
		text, err := json.Marshal(s)
		if err != nil || string(text) != want {
			t.Errorf("%+v: %s, %v; want %s", s, text, err, want)
		}
		var back DataSpec
		if err := json.Unmarshal(text, &back); err != nil || back.Content.String() != s.Content.String() || back.CompressPct != s.CompressPct || back.DedupePct != s.DedupePct || back.DedupeUnit != s.DedupeUnit {
			t.Errorf("%s reads back as %+v, %v", text, back, err)
		}
	}
	text, err := json.Marshal(Spec{RW: "write", BlockSize: 4096, Data: DataSpec{Content: Content{Kind: DataRandom}}})
	if err != nil || !strings.Contains(string(text), `"rw":"write"`) {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := json.Marshal(Spec{RW: "write", BlockSize: 4096}); err != nil || strings.Contains(string(text), "data") {
		t.Errorf("the default is written: %s, %v", text, err)
	}
}

func TestDataIsValidated(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data DataSpec
		err  string
	}{
		{DataSpec{CompressPct: 100, DedupePct: 100, DedupeUnit: 128 << 10}, ""},
		{DataSpec{CompressPct: 101}, "--compress-pct 101: must be from 0 to 100"},
		{DataSpec{DedupePct: -1}, "--dedupe-pct -1: must be from 0 to 100"},
		{DataSpec{DedupePct: 1, DedupeUnit: 1000}, "--dedupe-unit 1000: must be a multiple of 512, up to 1g"},
		{DataSpec{DedupePct: 1, DedupeUnit: 2 << 30}, "--dedupe-unit 2g: must be a multiple of 512, up to 1g"},
		{DataSpec{DedupeUnit: 8192}, "--dedupe-unit 8k: goes with --dedupe-pct"},
		{DataSpec{CompressPct: 50, Content: Content{Kind: DataZero}}, "--compress-pct 50: goes with random data; leave out --data zero"},
		{DataSpec{DedupePct: 50, Content: Content{Kind: DataFile, File: "x"}}, "--dedupe-pct 50: goes with random data; leave out --data file"},
		{DataSpec{Content: Content{Kind: "foo"}}, `--data foo: unknown content "foo"`},
		{DataSpec{Content: Content{Kind: DataPattern}}, "--data pattern: the pattern has 0 bytes"},
		{DataSpec{Content: Content{Kind: DataFile, File: filepath.Join(dir, "none")}}, "none: no such file or directory"},
		{DataSpec{Content: Content{Kind: DataFile, File: empty}}, "empty is empty"},
		{DataSpec{Content: Content{Kind: DataFile, File: dir}}, "is no regular file"},
		{DataSpec{Content: Content{Kind: DataFile, File: "/dev/zero"}}, "--data file: /dev/zero is no regular file"},
	} {
		s := Spec{RW: "write", BlockSize: 4096, Data: c.data}
		err := s.Validate()
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%+v: error %v, want %q", c.data, err, c.err)
		}
	}
}

// FuzzPattern: no text brings the parser down, and what it reads it writes so that it reads back.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{`0xdeadface"abcd"-12`, `-100xab"1"`, "0xFF0X1", "0x0x", "00x1", `""`, "-0x1", "%o", "'f'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseContent("pattern:" + text)
		if err != nil {
			return
		}
		if err := c.check(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if back, err := ParseContent(c.String()); err != nil || !bytes.Equal(back.Pattern, c.Pattern) {
			t.Errorf("%q: %x is written as %s, which reads as %x, %v", text, c.Pattern, c, back.Pattern, err)
		}
	})
}

// The pattern begins in each buffer, wherever that is written.
func TestPatternRepeatsOverEachBuffer(t *testing.T) {
	pattern := []byte("0123456789abc")
	d := dataOf(t, Spec{BlockSize: 4096, Data: DataSpec{Content: Content{Kind: DataPattern, Pattern: pattern}}}, 1, 0, 1<<40)
	for _, n := range []int{1, 5, 13, 4096, 200_000} {
		buf := make([]byte, n)
		d.Fill(buf, 3<<30+512)
		for i, b := range buf {
			if b != pattern[i%len(pattern)] {
				t.Fatalf("%d bytes: byte %d is %c", n, i, b)
			}
		}
	}
}

// Threads go through the file from places of their own, in whole blocks of it, round and round.
func TestFileIsWrittenInOrder(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"long": 1<<20 + 4096, "odd": 100_001, "short": 10} {
		file := make([]byte, size)
		fillRandom(file, 1)
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		starts := map[int]bool{}
		for thread := range 8 {
			d := dataOf(t, Spec{BlockSize: 4096, Data: DataSpec{Content: Content{Kind: DataFile, File: path}}}, 1, thread, 1<<40)
			at := d.at
			starts[at] = true
			if at%4096 != 0 {
				t.Errorf("%s: begins at %d", name, at)
			}
			buf := make([]byte, 7000)
			for write := range 3 * size / 7000 {
				d.Fill(buf, 3<<30)
				for i, b := range buf {
					if b != file[(at+i)%size] {
						t.Fatalf("%s: write %d, byte %d is %#x", name, write, i, b)
					}
				}
				at = (at + len(buf)) % size
			}
		}
		if name == "long" && len(starts) < 4 {
			t.Errorf("8 threads begin at %v", starts)
		}
	}
}

// A thousand threads hold one copy of a file, which goes when they go; a file that has changed is read
// again, and of a huge one only the beginning.
func TestFileIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	s := Spec{BlockSize: 4096, Data: DataSpec{Content: Content{Kind: DataFile, File: path}}}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	one, two := dataOf(t, s, 1, 0, 1<<40), dataOf(t, s, 1, 1, 1<<40)
	if one.given != two.given {
		t.Error("two threads have a copy each")
	}
	write("the second")
	if three := dataOf(t, s, 1, 2, 1<<40); three.given == one.given || string(three.given.bytes[:10]) != "the second" {
		t.Error("the file has changed, and the old content is used")
	}
	held := loaded.files[path].content
	runtime.KeepAlive(one)
	runtime.GC()
	runtime.GC()
	if held.Value() != nil {
		t.Error("the content stays in memory when no thread is left")
	}
	if err := os.Truncate(path, MaxFile+4096); err != nil {
		t.Fatal(err)
	}
	if d := dataOf(t, s, 1, 0, 1<<40); len(d.given.bytes) != MaxFile {
		t.Errorf("%d bytes in memory, want at most %d", len(d.given.bytes), MaxFile)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := NewData(&s, 1, 1, 0, 1<<40); err == nil || !strings.Contains(err.Error(), "--data file: open "+path) {
		t.Errorf("the file is gone: %v", err)
	}
}

func TestZeroIsZeroEverywhere(t *testing.T) {
	d := dataOf(t, Spec{BlockSize: 4096, Data: DataSpec{Content: Content{Kind: DataZero}}}, 1, 0, 1<<40)
	for _, offset := range []int64{0, 1 << 30} {
		buf := bytes.Repeat([]byte{1}, 9000)
		if d.Fill(buf, offset); bytes.Count(buf, []byte{0}) != len(buf) {
			t.Errorf("offset %d: not all is zero", offset)
		}
	}
}
