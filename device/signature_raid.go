package device

import "fmt"

// sigMD finds a member of a Linux md array: 0xa92b4efc, then the major version. Version 0.90 lies
// in the last 64 KiB block that leaves 64 KiB behind its start (uapi/linux/raid/md_p.h
// MD_NEW_SIZE_SECTORS), in the byte order of its machine; 1.0 lies 8 to 12 KiB before the end, 1.1
// at the start, 1.2 at 4 KiB (drivers/md/md.c super_1_load). The superblock's own record of where
// it lies is not demanded: a moved copy is a member of an array all the same.
func sigMD(m *sigImage) (found []Signature) {
	if off := m.lastBlock(64*kiB, 1); off > 0 {
		if sb := m.at(off, 8); sb != nil &&
			(le.Uint32(sb) == 0xA92B4EFC && le.Uint32(sb[4:]) == 0 || be.Uint32(sb) == 0xA92B4EFC && be.Uint32(sb[4:]) == 0) {
			found = append(found, Signature{"raid", "md 0.90", off})
		}
	}
	for _, v := range []struct {
		name string
		off  int64
	}{{"md 1.0", m.lastBlock(4096, 2)}, {"md 1.1", 0}, {"md 1.2", 4096}} {
		if m.has(v.off, "\xfc\x4e\x2b\xa9\x01\x00\x00\x00") {
			found = append(found, Signature{"raid", v.name, v.off})
		}
	}
	return found
}

// sigDRBD finds the metadata of DRBD: in the last 4 KiB block of a disk that is its own metadata
// disk, in the first of an external one; the magic at 60 (drbd_int.h, drbd_meta_data.h
// DRBD_MD_MAGIC_08, _84_UNCLEAN, _09).
func sigDRBD(m *sigImage) (found []Signature) {
	offs := []int64{0, m.lastBlock(4096, 1)}
	if m.size%4096 != 0 {
		offs = append(offs, m.size-4096) // where libblkid looks
	}
	for _, off := range offs {
		b := m.at(off+60, 4)
		if b == nil {
			continue
		}
		switch be.Uint32(b) {
		case 0x8374026B, 0x8374026C:
			found = append(found, Signature{"drbd", "DRBD 8", off + 60})
		case 0x8374026D:
			found = append(found, Signature{"drbd", "DRBD 9", off + 60})
		}
	}
	return found
}

// firmwareRAID are the formats of RAID controllers that reserve the end of the disk: the sector,
// counted from the end (1 is the last), and what must lie in it. The sources are the formats of
// dmraid (lib/format) and mdadm; a sector is 512 bytes, and for the two that know disks of 4096 so
// is theirs.
var firmwareRAID = []struct {
	name   string
	block  int64
	sector int64
	magic  string
	at     int64
}{
	{"isw", 512, 2, "Intel Raid ISM Cfg Sig. ", 0}, // mdadm super-intel.c MPB_SIGNATURE
	{"isw", 4096, 2, "Intel Raid ISM Cfg Sig. ", 0},
	{"ddf", 512, 1, "\xde\x11\xde\x11", 0}, // SNIA Disk Data Format 2.0, anchor header
	{"ddf", 512, 1, "\x11\xde\x11\xde", 0},
	{"ddf", 4096, 1, "\xde\x11\xde\x11", 0},
	{"ddf", 4096, 1, "\x11\xde\x11\xde", 0},
	{"ddf", 512, 257, "\xde\x11\xde\x11", 0}, // Adaptec
	{"ddf", 512, 257, "\x11\xde\x11\xde", 0},
	{"lsi", 512, 1, "$XIDE$", 0},
	{"nvidia", 512, 2, "NVIDIA  ", 0},
	{"adaptec", 512, 1, "\x37\xfc\x4d\x1e", 0}, // b0idcode; "DPTM" follows at 272
	{"hpt45x", 512, 11, "\xf3\x16\x78\x5a", 0},
	{"hpt45x", 512, 11, "\xfd\x16\x78\x5a", 0},
}

// promiseSectors are the sectors from the end where the controllers of Promise have kept theirs.
var promiseSectors = []int64{63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087}

// sigFirmwareRAID finds the metadata of RAID firmware at the end of the device.
func sigFirmwareRAID(m *sigImage) (found []Signature) {
	add := func(name string, off int64) {
		found = append(found, Signature{"raid", name, off})
	}
	for _, f := range firmwareRAID {
		if off := m.lastBlock(f.block, f.sector) + f.at; m.has(off, f.magic) {
			add(f.name, off)
		}
	}
	for _, n := range promiseSectors {
		if off := m.lastBlock(512, n); m.has(off, "Promise Technology, Inc.") {
			add("promise", off)
		}
	}
	last := m.lastBlock(512, 1)
	b := m.at(last, 512)
	if b == nil {
		return found
	}
	// VIA: 0xAA55, version 0 to 2, and the sum of the first 50 bytes in the 51st.
	var via byte
	for _, c := range b[:50] {
		via += c
	}
	if le.Uint16(b) == 0xAA55 && b[2] <= 2 && via == b[50] {
		add("via", last)
	}
	// Silicon Image: 0x2F000000 at 96, fewer than 8 disks, and words that sum to nothing.
	if le.Uint32(b[96:]) == 0x2F000000 && b[0x116] < 8 && wordSum(b[:0x140]) == 0 {
		add("silicon", last+96)
	}
	// JMicron: "JM", a mode up to 5, and the words of the 128 bytes sum to 0 or 1.
	if string(b[:2]) == "JM" && b[0x30] <= 5 && wordSum(b[:128]) <= 1 {
		add(fmt.Sprintf("jmicron %d", b[3]), last)
	}
	return found
}

// wordSum adds up little-endian words of 16 bits.
func wordSum(b []byte) (sum uint16) {
	for ; len(b) >= 2; b = b[2:] {
		sum += le.Uint16(b)
	}
	return sum
}
