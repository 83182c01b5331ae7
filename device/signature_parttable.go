package device

import "slices"

// sigGPT finds the header of a GUID partition table, "EFI PART" (UEFI specification 5.3.2), in the
// second logical block and its backup in the last, whatever the size of those: a disk may have been
// written behind an adapter that showed other blocks than it shows now.
func sigGPT(m *sigImage) (found []Signature) {
	for bs := int64(512); bs <= 64*kiB; bs *= 2 {
		if m.has(bs, "EFI PART") {
			found = append(found, Signature{"partition-table", "gpt", bs})
		}
	}
	for bs := int64(512); bs <= 64*kiB; bs *= 2 {
		off := m.lastBlock(bs, 1)
		known := func(s Signature) bool { return s.Offset == off }
		if off > 0 && m.has(off, "EFI PART") && !slices.ContainsFunc(found, known) {
			found = append(found, Signature{"partition-table", "gpt backup", off})
		}
	}
	return found
}

// sigSun finds a Sun disk label: 0xDABE at 508, and words that xor to nothing
// (block/partitions/sun.c).
func sigSun(m *sigImage) []Signature {
	b := m.at(0, 512)
	if b == nil || be.Uint16(b[508:]) != 0xDABE {
		return nil
	}
	var sum uint16
	for i := 0; i < len(b); i += 2 {
		sum ^= be.Uint16(b[i:])
	}
	if sum != 0 {
		return nil
	}
	return []Signature{{"partition-table", "sun", 508}}
}

// sigMac finds an Apple partition map: "ER" and the block size in the first sector, "PM" (or "TS",
// the older) in the second block (block/partitions/mac.c).
func sigMac(m *sigImage) []Signature {
	b := m.at(0, 4)
	if b == nil || string(b[:2]) != "ER" {
		return nil
	}
	bs := int64(be.Uint16(b[2:]))
	if bs < 512 || bs%512 != 0 || !m.has(bs, "PM") && !m.has(bs, "TS") {
		return nil
	}
	return []Signature{{"partition-table", "mac", 0}}
}

// sigBSD finds a BSD disk label by its two magics, 132 bytes apart, at the places the ports have
// for it (sys/disklabel.h LABELSECTOR, LABELOFFSET).
func sigBSD(m *sigImage) (found []Signature) {
	const magic = "\x57\x45\x56\x82"
	for _, off := range []int64{0, 64, 128, 512, 4096} {
		if m.has(off, magic) && m.has(off+132, magic) {
			found = append(found, Signature{"partition-table", "bsd", off})
		}
	}
	return found
}

// bootSector judges a first sector that ends in 55 AA, after what else was found. The boot sector
// of a known file system is not reported again. A partition table is one whose four entries are
// marked bootable (0x80) or not (0x00), as the kernel demands (block/partitions/msdos.c); entries
// need not be in use: an empty table was made by somebody. With an entry of type 0xEE it protects
// a GPT and is reported only where no header of one is left. Else code that begins with the jump
// of a boot sector is reported as that.
func (m *sigImage) bootSector(found []Signature) []Signature {
	b := m.at(0, 512)
	if b == nil || b[510] != 0x55 || b[511] != 0xAA {
		return nil
	}
	gpt := false
	for _, s := range found {
		if s.Offset < 512 && bootFilesystems[s.Name] {
			return nil
		}
		gpt = gpt || s.Name == "gpt" || s.Name == "gpt backup"
	}
	table, protective := true, false
	for e := b[446:510]; len(e) > 0; e = e[16:] {
		table = table && e[0]&0x7F == 0
		protective = protective || e[4] == 0xEE
	}
	jump := b[0] == 0xEB && b[2] == 0x90 || b[0] == 0xE9 && le.Uint16(b[1:]) < 508
	switch {
	case protective && gpt:
		return nil
	case table && protective:
		return []Signature{{"partition-table", "protective mbr", 510}}
	case table:
		return []Signature{{"partition-table", "mbr", 510}}
	case jump:
		return []Signature{{"boot-sector", "boot sector", 510}}
	}
	return nil
}
