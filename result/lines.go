package result

import (
	"errors"
	"os"
)

// lines is a file that grows by whole lines. The nil one is a file not yet begun.
type lines struct {
	file *os.File
	size int64 // of the whole lines
}

// newLines makes the file; one that exists belongs to another run and is an error.
func newLines(path string) (*lines, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	return &lines{file: file}, nil
}

// Write appends p, which ends a line, unbuffered. What a full disk took of it is given back, so that
// the file ends with a whole line; the error names the file.
func (l *lines) Write(p []byte) (int, error) {
	n, err := l.file.Write(p)
	if err != nil {
		if n > 0 {
			err = errors.Join(err, l.file.Truncate(l.size))
		}
		return 0, err
	}
	l.size += int64(n)
	return n, nil
}

func (l *lines) sync() error {
	if l == nil {
		return nil
	}
	return l.file.Sync()
}

func (l *lines) close() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.sync(), l.file.Close())
}
