package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blkstorm/plan/fiojob"
	"blkstorm/plan/fiojob/jobfile"
)

// oneCase is a line of the index.
type oneCase struct {
	file, fio342, fio333 string
	variables            []string
}

// What becomes of a file here.
const (
	runs      = "runs"
	refused   = "refused"
	wrongFile = "not parsed"
)

// opinion is what this program says of a file.
type opinion struct {
	here    string
	reasons []string // each once, in order
}

func (v *opinion) what() string { return strings.Join(v.reasons, "; ") }

// contradicts says whether fio parses what is not parsed here, or the other way round.
func (v *opinion) contradicts(c *oneCase) bool {
	return c.fio342 == "ok" && v.here == wrongFile || c.fio342 == "fail" && v.here != wrongFile
}

// columns of the index.
const columns = 10

func readIndex(folder string) (list []oneCase, err error) {
	f, err := os.Open(filepath.Join(folder, "INDEX.tsv"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		part := strings.Split(lines.Text(), "\t")
		if len(part) != columns {
			return nil, fmt.Errorf("INDEX.tsv: %d columns instead of %d in %q", len(part), columns, lines.Text())
		}
		if part[0] != "file" {
			list = append(list, oneCase{part[0], part[6], part[7], strings.Split(part[8], ",")})
		}
	}
	return list, lines.Err()
}

// value is what a file's variable is set to.
func (c *oneCase) value(name string) string {
	switch {
	case !slices.Contains(c.variables, name):
		return ""
	case strings.HasSuffix(name, "ENGINE"):
		return "libaio"
	case name == "DEV":
		return "/dev/sdx"
	case strings.HasSuffix(name, "RW"):
		return "randread"
	case name == "FIO_BS", name == "BLKSIZE":
		return "8k"
	case name == "SIZE":
		return "8g"
	}
	return "8"
}

// disk is what is known of every path under /dev.
var disk = fiojob.Facts{Exists: true, Block: true, Bytes: 1 << 40}

func lookAt(path string) (fiojob.Facts, error) {
	if strings.HasPrefix(path, "/dev/") {
		return disk, nil
	}
	return fiojob.Facts{}, nil
}

// try reads and translates the file.
func (c *oneCase) try(folder string) *opinion {
	v := &opinion{here: runs}
	set, err := c.read(folder)
	if err != nil {
		return &opinion{wrongFile, []string{err.Error()}}
	}
	if len(set.Errors) > 0 {
		v.here = wrongFile
		v.add(set.Errors)
		return v
	}
	work := set.Translate(fiojob.Env{Look: lookAt, Seed: 1})
	if len(set.Refusals) > 0 {
		v.here = refused
		v.add(set.Refusals)
		return v
	}
	if err := work.Plan.Check(); err != nil {
		v.here, v.reasons = refused, []string{err.Error()}
	}
	return v
}

// add names what is refused: option and value, as far as they tell something.
func (v *opinion) add(list []*fiojob.Problem) {
	for _, p := range list {
		text := p.Text
		if p.Option != "" {
			text = p.Option + "=" + p.Value + ": " + p.Text
		}
		if !slices.Contains(v.reasons, text) {
			v.reasons = append(v.reasons, text)
		}
	}
}

func (c *oneCase) read(folder string) (*fiojob.Set, error) {
	f, err := os.Open(filepath.Join(folder, c.file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sections, err := jobfile.Read(f, c.file, jobfile.Options{
		Getenv: c.value, Keywords: jobfile.Keywords{"ncpus": 2, "pagesize": 4096, "mb_memory": 4096},
		Include: func(string, string) (string, io.ReadCloser, error) {
			return "", nil, errors.New("is not in the collection")
		},
	})
	if err != nil {
		return nil, err
	}
	return fiojob.ReadJobs(&fiojob.Command{}, [][]jobfile.Section{sections}), nil
}
