package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"blkstorm/plan/fiojob"
)

// makeFolders makes the folders that new files of jobs are named in, as fio does; none is made among devices. undo
// removes them again, for a run that is refused.
func (a *app) makeFolders(work *fiojob.Work) (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range slices.Backward(made) {
			_ = os.Remove(dir) // what is in use by now stays
		}
	}
	if work.Plan.Engine == "null" { // it makes no file
		return undo, nil
	}
	for _, f := range work.Create {
		var missing []string
		for dir := filepath.Dir(f.Path); !a.roots.Device.InDevFolder(dir); dir = filepath.Dir(dir) {
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				break
			}
			missing = append(missing, dir)
		}
		for _, dir := range slices.Backward(missing) {
			if err := os.Mkdir(dir, 0o755); err != nil {
				undo()
				return nil, fmt.Errorf("folder for the new file %s: %w", f.Path, err)
			}
			made = append(made, dir)
		}
	}
	return undo, nil
}
