package main

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// packers are how Debian packs kernels: the magic number, and a program that unpacks its input.
var packers = []struct {
	magic []byte
	cmd   []string
}{
	{[]byte("\xfd7zXZ\x00"), []string{"xz", "-dc", "--single-stream"}},
	{[]byte("\x28\xb5\x2f\xfd"), []string{"zstd", "-dcq"}},
}

// extractKernel writes the ELF kernel that is packed in a boot image. QEMU boots it directly, and the
// unpacking, which under emulation takes longer than the rest of the boot, falls away.
func extractKernel(image, out string) error {
	raw, err := os.ReadFile(image)
	if err != nil {
		return err
	}
	for _, p := range packers {
		path, err := tool(p.cmd[0])
		if err != nil {
			return err
		}
		for at := 0; ; at++ {
			i := bytes.Index(raw[at:], p.magic)
			if i < 0 {
				break
			}
			at += i
			cmd := exec.Command(path, p.cmd[1:]...)
			cmd.Stdin = bytes.NewReader(raw[at:])
			// What follows the packed kernel makes the program fail, so only its output counts.
			unpacked, _ := cmd.Output()
			if wholeELF(unpacked) == nil {
				return os.WriteFile(out, unpacked, 0o644)
			}
		}
	}
	return fmt.Errorf("%s: no kernel packed by xz or zstd in it", image)
}

// wholeELF says whether data is an ELF file that reaches to its last section header.
func wholeELF(data []byte) error {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if len(f.Sections) == 0 {
		return errors.New("no sections")
	}
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.Offset+s.FileSize > uint64(len(data)) {
			return errors.New("cut off")
		}
	}
	return nil
}
