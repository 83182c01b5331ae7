package workload

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
	"weak"
)

// MaxFile is how many bytes of a file are kept in memory and written; what lies beyond is not used.
const MaxFile = 64 << 20

// content is what a pattern or a file gives. It is whole repetitions of that, so long that copying
// piece by piece costs nothing.
type content struct {
	bytes  []byte
	length int // of one repetition
}

// minContent is long enough for pieces of a copy.
const minContent = 64 << 10

func newContent(bytes []byte) *content {
	c := &content{bytes: bytes, length: len(bytes)}
	if n := len(bytes); n < minContent {
		c.bytes = make([]byte, (minContent+n-1)/n*n)
		repeat(c.bytes, bytes)
	}
	return c
}

// start is where a thread begins: at some block of 4 KiB, so that the blocks of the file stay whole.
func (c *content) start(key uint64) int {
	const block = 4096
	if blocks := uint64(c.length / block); blocks > 0 {
		return int(Mix(key)%blocks) * block
	}
	return 0
}

// loaded are the files that some Data holds, so that a thousand threads share one copy.
var loaded struct {
	sync.Mutex
	files map[string]loadedFile
}

type loadedFile struct {
	content  weak.Pointer[content]
	size     int64
	modified time.Time
}

// loadFile reads a file, unless it is in memory already.
func loadFile(path string) (*content, error) {
	f, info, err := openData(path)
	if err != nil {
		return nil, fmt.Errorf("--data file: %w", err)
	}
	defer f.Close()
	loaded.Lock()
	defer loaded.Unlock()
	if l := loaded.files[path]; l.size == info.Size() && l.modified.Equal(info.ModTime()) {
		if c := l.content.Value(); c != nil {
			return c, nil
		}
	}
	bytes := make([]byte, min(info.Size(), MaxFile))
	if _, err := io.ReadFull(f, bytes); err != nil {
		return nil, fmt.Errorf("--data file: reading %s: %w", path, err)
	}
	c := newContent(bytes)
	if loaded.files == nil {
		loaded.files = map[string]loadedFile{}
	}
	loaded.files[path] = loadedFile{weak.Make(c), info.Size(), info.ModTime()}
	return c, nil
}

// checkFile says why a file cannot be read, before anything else is touched.
func checkFile(path string) error {
	f, _, err := openData(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// openData opens a file whose content is to be written; not blocking, so that a pipe cannot hold it up.
func openData(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no regular file", path)
	case info.Size() == 0:
		err = fmt.Errorf("%s is empty", path)
	default:
		return f, info, nil
	}
	return nil, nil, errors.Join(err, f.Close())
}
