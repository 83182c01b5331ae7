package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"blkstorm/lab"
)

// devices are what the rows run on.
type devices struct{ zram, loop string }

// deviceBytes is the size of both: larger than any cache, so that a small range does not flatter.
const deviceBytes = 2 << 30

// makeDevices adds a zram and a loop over tmpfs, and fills both, so that no read is of nothing.
func makeDevices() (d devices, remove func() error, err error) {
	var undo []func() error
	remove = func() error {
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, undo[i]())
		}
		undo = nil
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, remove())
		}
	}()
	zram, err := addZram()
	if err != nil {
		return d, remove, err
	}
	undo = append(undo, func() error { return lab.RemoveZram(filepath.Base(zram)) })
	dir, err := os.MkdirTemp("", "blkstorm-bench-")
	if err != nil {
		return d, remove, err
	}
	undo = append(undo, func() error { return os.Remove(dir) })
	if err := command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", deviceBytes+1<<20), "tmpfs", dir); err != nil {
		return d, remove, err
	}
	undo = append(undo, func() error { return patiently(func() error { return command("umount", dir) }) })
	file := filepath.Join(dir, "disk")
	if err := command("truncate", "-s", fmt.Sprint(deviceBytes), file); err != nil {
		return d, remove, err
	}
	out, err := exec.Command("losetup", "-f", "--show", "--direct-io=on", file).CombinedOutput()
	if err != nil {
		return d, remove, fmt.Errorf("losetup: %w: %s", err, out)
	}
	loop := strings.TrimSpace(string(out))
	undo = append(undo, func() error { return command("losetup", "-d", loop) })
	d = devices{zram: zram, loop: loop}
	for _, dev := range []string{zram, loop} {
		if err := fill(dev); err != nil {
			return d, remove, err
		}
	}
	return d, remove, nil
}

// fill writes every page with one repeated word, another for each. zram hands such a page out without
// decompressing it, which makes it the cheapest device there is: what differs is then what the tools
// cost, and no tool is flattered by blocks that were never written.
func fill(dev string) error {
	f, err := os.OpenFile(dev, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	const page = 4096
	buf := make([]byte, 1<<20)
	for at := 0; at < deviceBytes; at += len(buf) {
		for i := 0; i < len(buf); i += 8 {
			binary.LittleEndian.PutUint64(buf[i:], uint64((at+i)/page)+1)
		}
		if _, err := f.Write(buf); err != nil {
			return fmt.Errorf("filling %s: %w", dev, err)
		}
	}
	return f.Sync()
}

func addZram() (string, error) {
	number, err := os.ReadFile("/sys/class/zram-control/hot_add")
	if err != nil {
		return "", fmt.Errorf("adding a zram device: %w", err)
	}
	name := "zram" + strings.TrimSpace(string(number))
	if err := os.WriteFile("/sys/block/"+name+"/disksize", []byte(fmt.Sprint(deviceBytes)), 0); err != nil {
		return "", errors.Join(fmt.Errorf("sizing %s: %w", name, err), lab.RemoveZram(name))
	}
	return "/dev/" + name, nil
}

// patiently tries for some seconds: the kernel takes a loop off its file, and an ended process's ring
// apart, a moment later.
func patiently(f func() error) error {
	var err error
	for range 100 {
		if err = f(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
