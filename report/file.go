package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"blkstorm/result"
	"blkstorm/result/load"
)

// WriteFolder writes the page of a result folder into it, as result.ReportFile, in the place of one that is
// there, and returns its path.
func WriteFolder(dir, version string) (string, error) {
	path := filepath.Join(dir, result.ReportFile)
	r, err := load.Open(dir)
	if err != nil {
		return path, fmt.Errorf("%s: not written: %w", path, err)
	}
	return path, WriteFile(path, r, version)
}

// WriteFile writes the page of a result to a file. Whatever happens, the file at path is either the one before or
// the whole new one. Only regular files are replaced: a device by that name stays what it is. All errors name the
// file.
func WriteFile(path string, r *load.Result, version string) error {
	fail := func(err error) error { return fmt.Errorf("%s: not written: %w", path, err) }
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fail(err)
	case !info.Mode().IsRegular():
		return fail(errors.New("what is there is no regular file; name another one"))
	}
	write := prepare(r, version) // what takes time, before there is a file that an interrupted process would leave behind
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return fail(err)
	}
	err = write(file)
	if err == nil {
		err = file.Sync() // before the rename, or a crash could leave the new name with no content
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary) // best effort: on a full disk it gives the room back
		return fail(err)
	}
	return nil
}
