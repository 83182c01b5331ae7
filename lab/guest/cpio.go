package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// archive is an initramfs in the making: the "newc" cpio format of the kernel's
// Documentation/driver-api/early-userspace/buffer-format.rst. The kernel unpacks several that simply
// follow one another, so that a run adds its own to one that stays in the cache.
type archive struct {
	buf  bytes.Buffer
	seen map[string]bool
	ino  int
}

const (
	modeDir  = 0o040755
	modeFile = 0o100755
	modeLink = 0o120777
)

func (a *archive) entry(name string, mode uint32, data []byte) {
	if a.seen == nil {
		a.seen = map[string]bool{}
	}
	if a.seen[name] {
		return
	}
	a.seen[name] = true
	a.ino++
	fmt.Fprintf(&a.buf, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\x00",
		a.ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0, name)
	a.pad()
	a.buf.Write(data)
	a.pad()
}

func (a *archive) pad() {
	for a.buf.Len()%4 != 0 {
		a.buf.WriteByte(0)
	}
}

// dir adds a folder and those above it.
func (a *archive) dir(name string) {
	name = strings.Trim(name, "/")
	if name == "" || name == "." {
		return
	}
	a.dir(filepath.Dir(name))
	a.entry(name, modeDir, nil)
}

// file adds an executable file, with the folders above it.
func (a *archive) file(name string, data []byte) {
	name = strings.Trim(name, "/")
	a.dir(filepath.Dir(name))
	a.entry(name, modeFile, data)
}

func (a *archive) link(name, to string) {
	name = strings.Trim(name, "/")
	a.dir(filepath.Dir(name))
	a.entry(name, modeLink, []byte(to))
}

// copyFile adds a file of the host under another name.
func (a *archive) copyFile(name, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	a.file(name, data)
	return nil
}

// program adds an installed program to /bin with the libraries it is linked to, each at its own path.
func (a *archive) program(name string) error {
	path, err := tool(name)
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if err := a.copyFile("bin/"+name, real); err != nil {
		return err
	}
	if static(real) {
		return nil
	}
	out, err := output("", "ldd", real)
	if err != nil {
		return err
	}
	for _, word := range strings.Fields(string(out)) {
		if !filepath.IsAbs(word) {
			continue
		}
		if err := a.copyFile(word, word); err != nil {
			return err
		}
	}
	return nil
}

// static says whether an ELF file has no interpreter, in other words needs no libraries.
func static(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// clone is an archive that starts with the same entries, for a guest that needs more.
func (a *archive) clone() *archive {
	c := &archive{seen: maps.Clone(a.seen), ino: a.ino}
	c.buf.Write(a.buf.Bytes())
	return c
}

// bytes is the archive with its end, which the archive itself does not get: it can grow on.
func (a *archive) bytes() []byte {
	c := a.clone()
	c.entry("TRAILER!!!", 0, nil)
	for c.buf.Len()%512 != 0 {
		c.buf.WriteByte(0)
	}
	return c.buf.Bytes()
}
