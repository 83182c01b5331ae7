package jobfile

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func options() Options {
	env := map[string]string{"A": "4k", "B": "${A}", "EMPTY": ""}
	return Options{
		Getenv:   func(name string) string { return env[name] },
		Keywords: Keywords{"ncpus": 4, "pagesize": 4096, "mb_memory": 100},
		Include: func(from, name string) (string, io.ReadCloser, error) {
			switch name {
			case "good.fio":
				return "good.fio", io.NopCloser(strings.NewReader("bs=8k\n; comment\nrw=read\n")), nil
			case "bad.fio":
				return "bad.fio", io.NopCloser(strings.NewReader("bs=8k\n[job]\n")), nil
			case "self.fio":
				return "self.fio", io.NopCloser(strings.NewReader("include self.fio\n")), nil
			}
			return "", nil, errors.New("no such file")
		},
	}
}

// text shows sections on one line: [name] option=value ...
func text(list []Section) string {
	var parts []string
	for _, s := range list {
		parts = append(parts, "["+s.Name+"]")
		for _, set := range s.Settings {
			one := set.Name
			if set.Given {
				one += "=" + set.Value
			}
			parts = append(parts, one)
		}
	}
	return strings.Join(parts, " ")
}

// The form of job files: recorded from fio 3.42.
func TestRead(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"[a]\nbs=4k\nthread\n", "[a] bs=4k thread"},
		{"[a]\r\nbs=4k\r\nrw=read\r\n", "[a] bs=4k rw=read"},
		{"; first\n# second\n\n[global]\nbs = 4k ; why\n[a]\nrw=read#x\n", "[global] bs=4k [a] rw=read"},
		{"[a]\nbs=${A}\nba=${EMPTY}${A}\nsize=${A}${A}\nname=${B}\n", "[a] bs=4k ba=4k size=4k4k name=${A}"},
		{"[a]\nfilename=${UNCLOSED\n", "[a] filename=${UNCLOSED"},
		{"[a]\nnumjobs=$ncpus*2\nbs=8*$pagesize\nsize=$mb_memory-1\niodepth=$ncpus*(2+3)*4)\n", "error x.fio:5"},
		{"[a]\nnumjobs=$ncpus*2\nbs=8*$pagesize\nsize=(2^10)\n", "[a] numjobs=8 bs=32768 size=(2^10)"},
		{"[a]\nsize=(2k*$ncpus)\nfilename=(x)\n", "[a] size=(2k*4) filename=(x)"},
		{"[a]\nbs=$ncpus/0\n", "error x.fio:2"},
		{"[a]\ninclude good.fio\niodepth=2\n", "[a] bs=8k rw=read iodepth=2"},
		{"[a]\ninclude bad.fio\n", "error bad.fio:2"},
		{"[a]\ninclude self.fio\n", "error self.fio:1"},
		{"[a]\ninclude nofile.fio\n", "error x.fio:2"},
		{"include good.fio\n", "error x.fio:1"},
		{"bs=4k\n", "error x.fio:1"},
		{"[a]\n=4k\n", "error x.fio:2"},
		{"[a]\nbs=4k\x00\n", "error x.fio:2"},
		{"[a]\nfilename=a=b\n", "[a] filename=a=b"},
		{"[a]\nverify_pattern=\"abc\"\n", "[a] verify_pattern=\"abc\""},
		{"", ""},
	} {
		list, err := Read(strings.NewReader(c.file), "x.fio", options())
		got := text(list)
		if err != nil {
			var placed *Error
			if !errors.As(err, &placed) {
				t.Fatalf("%q: %v has no place", c.file, err)
			}
			got = "error " + placed.Pos.String()
		}
		if got != c.want {
			t.Errorf("%q: %s (%v), want %s", c.file, got, err, c.want)
		}
	}
	if _, err := Read(strings.NewReader("[a]\nx="+strings.Repeat("y", MaxLine)), "x.fio", options()); err == nil || !strings.Contains(err.Error(), "x.fio:2") {
		t.Errorf("a line that is too long: %v", err)
	}
	for _, slip := range []string{"[a\n", "[a] bs=4k\n", "[]\n"} {
		if list, err := Read(strings.NewReader(slip), "x.fio", options()); err != nil || len(list) != 1 || list[0].Slip == "" {
			t.Errorf("%q: %+v, %v", slip, list, err)
		}
	}
}

// Whatever a file holds, it is read or refused with its place; what is read can be written and read again.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"[global]\nbs=4k\n[a]\nrw=read ; x\ninclude good.fio\n", "[a]\nsize=(2^10-$ncpus)*${A}\n", "[a\n]\n[] x=\n", "[a]\ninclude self.fio", "\x00[a]\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		list, err := Read(strings.NewReader(file), "x.fio", options())
		if err != nil {
			var placed *Error
			if !errors.As(err, &placed) || placed.Pos.Line == 0 {
				t.Fatalf("%v says not where", err)
			}
			return
		}
		var b strings.Builder
		for _, s := range list {
			if s.Slip != "" {
				return
			}
			fmt.Fprintf(&b, "[%s]\n", s.Name)
			for _, set := range s.Settings {
				b.WriteString(set.Name)
				if set.Given {
					b.WriteString("=" + set.Value)
				}
				b.WriteString("\n")
			}
		}
		o := options()
		o.Getenv, o.Keywords = nil, nil
		again, err := Read(strings.NewReader(b.String()), "x.fio", o)
		if strings.Contains(b.String(), "(") {
			return // it would be worked out once more
		}
		if err != nil || text(again) != text(list) {
			t.Fatalf("%q gives %q, and that %q (%v)", file, text(list), text(again), err)
		}
	})
}
