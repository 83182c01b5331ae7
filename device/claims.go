package device

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// claims lists who has a claim on the target or on anything that overlaps it: mounts, swap, holders
// and loop devices.
func (r Roots) claims(o *overlap, loops []loop) ([]Refusal, error) {
	mounts, err := r.mountTable()
	if err != nil {
		return nil, fmt.Errorf("guard: %s: %w", o.path, err)
	}
	swaps, err := r.swaps()
	if err != nil {
		return nil, fmt.Errorf("guard: %s: %w", o.path, err)
	}
	out := o.mounted(mounts)
	out = append(out, o.swapped(swaps)...)
	out = append(out, r.held(o, mounts, swaps)...)
	return append(out, o.looped(loops)...), nil
}

func (o *overlap) mounted(t *mountTable) []Refusal {
	var out []Refusal
	refuse := func(name, how string, list []mount) {
		if len(list) == 0 {
			return
		}
		advice := "unmount it, or choose another target"
		if p := list[0].point; p == "/" {
			advice = "the running system lies on it: choose another target"
		} else if p != "" {
			advice = "unmount it (umount " + p + "), or choose another target"
		}
		out = append(out, Refusal{CodeMounted, o.say(name, how) + " is mounted " + points(list), advice})
	}
	for _, b := range o.blocks {
		refuse(b.name, b.how, t.onDevice(b.number))
	}
	for _, f := range o.files {
		refuse(f.path, f.how, t.onFile(f.id))
	}
	return out
}

// swap is one active swap area.
type swap struct {
	path   string
	number string // of a device
	id     fileID // of a file
}

// swaps reads the active swap areas. A kernel without swap has no such file.
func (r Roots) swaps() ([]swap, error) {
	text, err := os.ReadFile(filepath.Join(r.Proc, "swaps"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot tell what is swap: %w", err)
	}
	var out []swap
	s := bufio.NewScanner(bytes.NewReader(text))
	for s.Scan() {
		fields := strings.Fields(s.Text())
		if len(fields) < 2 || fields[0] == "Filename" {
			continue
		}
		a := swap{path: unescape(fields[0])}
		if n, err := r.stat(r.local(a.path)); err == nil {
			a.number, a.id = n.number, n.id
		} else if b, err := r.byName(filepath.Base(a.path)); err == nil && fields[1] == "partition" {
			// The node is gone or out of reach; the kernel's name of it is the next best thing.
			a.number = b.number
		}
		out = append(out, a)
	}
	return out, s.Err()
}

func onSwap(list []swap, number string) bool {
	return slices.ContainsFunc(list, func(s swap) bool { return s.number == number })
}

func (o *overlap) swapped(list []swap) []Refusal {
	var out []Refusal
	for _, s := range list {
		advice := "turn it off (swapoff " + s.path + "), or choose another target"
		for _, b := range o.blocks {
			if s.number == b.number {
				out = append(out, Refusal{CodeSwap, o.say(b.name, b.how) + " is active swap", advice})
			}
		}
		for _, f := range o.files {
			// The path alone counts too: an ordinary user may not be able to look at the file.
			if s.number == "" && (s.id == f.id || s.id == (fileID{}) && s.path == f.path) {
				out = append(out, Refusal{CodeSwap, o.say(f.path, f.how) + " is active swap", advice})
			}
		}
	}
	return out
}

// held finds the devices that are built on the target, with what is mounted at their far end.
func (r Roots) held(o *overlap, mounts *mountTable, swaps []swap) []Refusal {
	var out []Refusal
	for _, b := range o.blocks {
		for _, name := range entries(filepath.Join(b.dir, "holders")) {
			what, advice := r.holder(name)
			use := strings.Join(r.uses(name, mounts, swaps, map[string]bool{}), ", ")
			if use != "" {
				use = " (" + use + ")"
			}
			out = append(out, Refusal{CodeHeld, o.say(b.name, b.how) + " is held by " + what + use, advice})
		}
	}
	return out
}

// holder describes a device that holds another, and how to be rid of it. Device mapper tells its
// maker by the first part of the uuid.
func (r Roots) holder(name string) (what, advice string) {
	dir := r.classDir(name)
	node := r.nodePath(name)
	switch dmName, uuid := readText(dir, "dm/name"), readText(dir, "dm/uuid"); {
	case strings.HasPrefix(uuid, "LVM-"):
		group := volumeGroup(dmName)
		return name + ", LVM volume " + dmName, "deactivate its volume group (vgchange -an " + group + "), or choose another target"
	case strings.HasPrefix(uuid, "CRYPT-"):
		return name + ", encrypted volume " + dmName, "close it (cryptsetup close " + dmName + "), or choose another target"
	case strings.HasPrefix(uuid, "mpath-"):
		path := filepath.Join(r.Dev, "mapper", dmName)
		return name + ", multipath map " + dmName, "it is only one of the paths: name " + path + " instead"
	case dmName != "":
		return name + ", device-mapper device " + dmName, "remove it (dmsetup remove " + dmName + "), or choose another target"
	}
	if level := readText(dir, "md/level"); level != "" || strings.HasPrefix(name, "md") {
		return strings.TrimSpace(name + ", software RAID " + level), "stop the array (mdadm --stop " + node + "), name it as the target, or choose another target"
	}
	if strings.HasPrefix(name, "bcache") {
		return name + ", a bcache device", "stop it (echo 1 > " + filepath.Join(r.Sys, "block", name, "bcache/stop") + "), or choose another target"
	}
	return name, "remove " + node + " first, or choose another target"
}

// volumeGroup takes the group from the mapper name "group-volume", in which hyphens that belong to
// one of the two are doubled.
func volumeGroup(dmName string) string {
	for i := 0; i < len(dmName); i++ {
		if dmName[i] != '-' {
			continue
		}
		if i+1 < len(dmName) && dmName[i+1] == '-' {
			i++
			continue
		}
		return strings.ReplaceAll(dmName[:i], "--", "-")
	}
	return dmName
}

// uses tells what a holder and everything built on it is mounted on or used for.
func (r Roots) uses(name string, mounts *mountTable, swaps []swap, seen map[string]bool) []string {
	if seen[name] {
		return nil
	}
	seen[name] = true
	b, err := r.byName(name)
	if err != nil {
		return nil
	}
	var out []string
	for _, part := range append([]block{b}, b.partitions()...) {
		if list := mounts.onDevice(part.number); len(list) > 0 {
			out = append(out, part.name+" mounted "+points(list))
		}
		if onSwap(swaps, part.number) {
			out = append(out, part.name+" active swap")
		}
		for _, h := range entries(filepath.Join(part.dir, "holders")) {
			out = append(out, r.uses(h, mounts, swaps, seen)...)
		}
	}
	return out
}

// looped finds the loop devices that stand on the target, other than those that the target itself is
// built on.
func (o *overlap) looped(loops []loop) []Refusal {
	var out []Refusal
	for _, l := range loops {
		if slices.Contains(o.loops, l.name) {
			continue
		}
		refuse := func(name, how string) {
			out = append(out, Refusal{
				Code:   CodeLoopBacking,
				Reason: o.say(name, how) + " backs loop device " + l.name,
				Advice: "detach it (losetup -d /dev/" + l.name + "), or choose another target",
			})
		}
		for _, b := range o.blocks {
			if l.block != nil && l.block.number == b.number {
				refuse(b.name, b.how)
			}
		}
		for _, f := range o.files {
			// As with swap, the path counts where the file itself could not be looked at.
			if l.block == nil && (l.id == f.id || l.id == (fileID{}) && l.path == f.path) {
				refuse(f.path, f.how)
			}
		}
	}
	return out
}
