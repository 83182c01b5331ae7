package fiojob

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/lab"
	"blkstorm/plan/fiojob/jobfile"
)

const caseDir = "../../../shared/cases/fio-jobs"

// What fio parses is parsed, and what it refuses is refused, in job files that strangers wrote.
func TestCases(t *testing.T) {
	index, err := os.Open(filepath.Join(caseDir, "INDEX.tsv"))
	if err != nil {
		lab.Missing(t, "the collection of job files: "+err.Error())
	}
	defer index.Close()
	lines := bufio.NewScanner(index)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		if len(f) < 10 || f[0] == "file" {
			continue
		}
		verdict := f[6]
		if verdict != "ok" && verdict != "fail" {
			continue // it says more of the build, or of a template, than of the language
		}
		t.Run(f[0], func(t *testing.T) {
			env := map[string]string{}
			for _, name := range strings.Split(f[8], ",") {
				env[name] = "8"
			}
			s, err := readCase(f[0], func(name string) string { return env[name] })
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range s.Errors {
				t.Log(p)
			}
			if len(s.Errors) > 0 != (verdict == "fail") {
				t.Errorf("fio: %s (%s), here %d errors", verdict, f[9], len(s.Errors))
			}
		})
	}
}

func readCase(name string, getenv func(string) string) (*Set, error) {
	file, err := os.Open(filepath.Join(caseDir, name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	sections, err := jobfile.Read(file, name, jobfile.Options{
		Getenv: getenv, Keywords: jobfile.Keywords{"ncpus": 2, "pagesize": 4096, "mb_memory": 4096},
		Include: func(string, string) (string, io.ReadCloser, error) {
			return "", nil, errors.New("is not in the collection")
		},
	})
	if err != nil {
		return nil, err
	}
	return ReadJobs(&Command{}, [][]jobfile.Section{sections}), nil
}
