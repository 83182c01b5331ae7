package device

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

var (
	le = binary.LittleEndian
	be = binary.BigEndian
)

// sigChecks are the marks that need more than a magic at a fixed place: because the magic is short,
// because the place hangs on the size, or because the name hangs on what lies beside it.
//
// The rule for a short magic: the fields beside it must be such as the file system's own driver or
// libblkid demands, and together leave random data less than one chance in 2^30. Checksums are
// not demanded.
var sigChecks = []func(*sigImage) []Signature{
	sigExt, sigMinix, sigNilfs, sigHFS, sigUFS, sigVFAT, sigUDF, sigXFSLog, sigCoreStorage, sigLUKS, sigLVM1,
	sigZFS, sigBcachefsCopy, sigDRBD, sigMD, sigFirmwareRAID,
	sigGPT, sigSun, sigMac, sigBSD,
}

func pow2(n, low, high uint64) bool { return n >= low && n <= high && n&(n-1) == 0 }

// sigExt finds ext2, ext3, ext4 and their external journal: 0xEF53 at 56 of the superblock, which
// lies at 1024 (fs/ext4/ext4.h). The block size, 1024 << s_log_block_size, makes the magic safe;
// the bound is libblkid's. The three are told apart by features as libblkid does.
func sigExt(m *sigImage) []Signature {
	sb := m.at(1024, 1024)
	if sb == nil || le.Uint16(sb[56:]) != 0xEF53 || le.Uint32(sb[24:]) >= 256 {
		return nil
	}
	compat, incompat, roCompat := le.Uint32(sb[92:]), le.Uint32(sb[96:]), le.Uint32(sb[100:])
	const (
		hasJournal = 0x4 // compat
		journalDev = 0x8 // incompat
		// What ext3 knows; more makes it ext4.
		ext3Incompat = 0x2 | 0x4 | 0x10 // filetype, recover, meta_bg
		ext3RoCompat = 0x1 | 0x2 | 0x4  // sparse_super, large_file, btree_dir
	)
	name := "ext2"
	switch {
	case incompat&journalDev != 0:
		name = "ext journal"
	case incompat&^ext3Incompat != 0 || roCompat&^ext3RoCompat != 0:
		name = "ext4"
	case compat&hasJournal != 0:
		name = "ext3"
	}
	return []Signature{{"filesystem", name, 1024 + 56}}
}

// sigMinix finds minix 1, 2 and 3, of either byte order (fs/minix, uapi/linux/magic.h). Beside the
// magic the state must know no other flags, the zone size be the block size, and the two bitmaps
// hold as many inodes and zones as there are, as fsck.minix demands.
func sigMinix(m *sigImage) []Signature {
	sb := m.at(1024, 1024)
	if sb == nil || le.Uint16(sb[56:]) == 0xEF53 || m.has(1024, "\xe2\xe1\xf5\xe0") {
		return nil // ext and erofs hold by chance what looks like minix
	}
	for _, o := range []binary.ByteOrder{le, be} {
		var version, inodes, zones, blockSize uint64
		at := int64(16)
		switch o.Uint16(sb[16:]) {
		case 0x137F, 0x138F: // names of 14 and of 30 characters
			version, zones = 1, uint64(o.Uint16(sb[2:]))
		case 0x2468, 0x2478:
			version, zones = 2, uint64(o.Uint32(sb[20:]))
		}
		if version != 0 {
			if o.Uint16(sb[18:])&^3 != 0 {
				continue
			}
			inodes, blockSize = uint64(o.Uint16(sb)), 1024
		} else {
			if o.Uint16(sb[24:]) != 0x4D5A {
				continue
			}
			at, version = 24, 3
			inodes, zones, blockSize = uint64(o.Uint32(sb)), uint64(o.Uint32(sb[20:])), uint64(o.Uint16(sb[28:]))
			if !pow2(blockSize, 1024, 32768) {
				continue
			}
		}
		inodeMaps, zoneMaps := uint64(o.Uint16(sb[4:])), uint64(o.Uint16(sb[6:]))
		first, logZone := uint64(o.Uint16(sb[8:])), o.Uint16(sb[10:])
		if version == 3 { // two bytes of padding before the map sizes
			inodeMaps, zoneMaps = uint64(o.Uint16(sb[6:])), uint64(o.Uint16(sb[8:]))
			first, logZone = uint64(o.Uint16(sb[10:])), o.Uint16(sb[12:])
		}
		bits := blockSize * 8
		if logZone != 0 || inodes == 0 || inodeMaps*bits < inodes+1 ||
			first > zones || zoneMaps*bits < zones-first+1 {
			continue
		}
		return []Signature{{"filesystem", "minix " + fmt.Sprint(version), 1024 + at}}
	}
	return nil
}

// sigNilfs finds nilfs2: 0x3434 at 6 of the superblock, which lies at 1024, with a copy in the last
// block of 4096 (uapi/linux/nilfs2_ondisk.h; older tools counted that in sectors). Revision 2, the
// only one there has been, and the superblock's own length make it safe.
func sigNilfs(m *sigImage) (found []Signature) {
	for _, off := range []int64{1024, m.lastBlock(4096, 1), m.lastBlock(512, 8)} {
		sb := m.at(off, 24)
		if sb != nil && le.Uint16(sb[6:]) == 0x3434 && le.Uint32(sb) == 2 &&
			le.Uint16(sb[8:]) > 20 && le.Uint16(sb[8:]) <= 1024 && le.Uint32(sb[20:]) <= 6 {
			found = append(found, Signature{"filesystem", "nilfs2", off + 6})
		}
	}
	return found
}

// sigHFS finds HFS, "BD" at 1024, and HFS Plus, "H+" or "HX" there (Apple, Inside Macintosh: Files;
// TN1150). HFS: allocation blocks of whole sectors, at most 32 MiB (2 TiB in 65535 of them), no
// more of them free than there are, and a name of 1 to 27 characters. HFS Plus: blocks of a power
// of two.
func sigHFS(m *sigImage) []Signature {
	h := m.at(1024, 162)
	if h == nil {
		return nil
	}
	switch string(h[:2]) {
	case "H+", "HX":
		if pow2(uint64(be.Uint32(h[40:])), 512, 1<<31) {
			return []Signature{{"filesystem", "hfsplus", 1024}}
		}
	case "BD":
		size, all, free, name := be.Uint32(h[20:]), be.Uint16(h[18:]), be.Uint16(h[34:]), h[36]
		if size == 0 || size%512 != 0 || size > 32<<20 || free > all || all == 0 || name == 0 || name > 27 {
			return nil
		}
		if embed := string(h[124:126]); embed == "H+" || embed == "HX" {
			return []Signature{{"filesystem", "hfsplus", 1024}}
		}
		return []Signature{{"filesystem", "hfs", 1024}}
	}
	return nil
}

// sigUFS finds the UFS of the BSDs and of Solaris: the magic at 1372 of a superblock at 0, 8, 64 or
// 256 KiB, of either byte order (fs/ufs/ufs_fs.h). The magic of four bytes is all that libblkid asks
// for, so it is all here: a chance of one in 10^8 for random data, on the careful side.
func sigUFS(m *sigImage) (found []Signature) {
	for _, off := range []int64{0, 8 * kiB, 64 * kiB, 256 * kiB} {
		sb := m.at(off, 1376)
		if sb == nil {
			continue
		}
		for _, o := range []binary.ByteOrder{le, be} {
			switch o.Uint32(sb[1372:]) {
			case 0x00011954, 0x19540119, 0x00195612, 0x00095014, 0x00612195, 0x05231994:
				found = append(found, Signature{"filesystem", "ufs", off + 1372})
			}
		}
	}
	return found
}

// sigVFAT finds FAT12, FAT16 and FAT32 (Microsoft, FAT: General Overview of On-Disk Format). The
// type string at 54 or 82 is enough alone; without it, an old floppy, the sector must end in 55 AA
// and hold a sound parameter block. The three differ by nothing but the number of clusters.
func sigVFAT(m *sigImage) []Signature {
	b := m.at(0, 512)
	if b == nil || m.has(3, "-FVE-FS-") { // BitLocker keeps the string of FAT32
		return nil
	}
	named := int64(-1)
	for _, s := range []struct {
		off  int64
		text string
	}{{82, "FAT32   "}, {82, "MSWIN"}, {54, "FAT16   "}, {54, "FAT12   "}, {54, "FAT     "}, {54, "MSDOS"}} {
		if m.has(s.off, s.text) {
			named = s.off
			break
		}
	}
	name, sound := fatType(b)
	switch {
	case named >= 0:
		return []Signature{{"filesystem", name, named}}
	case sound && b[510] == 0x55 && b[511] == 0xAA:
		return []Signature{{"filesystem", name, 510}}
	}
	return nil
}

// fatType names the FAT whose boot sector b is and tells whether its parameter block is sound.
func fatType(b []byte) (name string, sound bool) {
	sector, cluster := uint64(le.Uint16(b[11:])), uint64(b[13])
	reserved, fats, media := uint64(le.Uint16(b[14:])), uint64(b[16]), b[21]
	if !pow2(sector, 512, 4096) || !pow2(cluster, 1, 128) || reserved == 0 || fats == 0 ||
		media != 0xF0 && media < 0xF8 {
		return "vfat", false
	}
	sectors := uint64(le.Uint16(b[19:]))
	if sectors == 0 {
		sectors = uint64(le.Uint32(b[32:]))
	}
	fatLength, is32 := uint64(le.Uint16(b[22:])), false
	if fatLength == 0 {
		fatLength, is32 = uint64(le.Uint32(b[36:])), true
	}
	roots := (uint64(le.Uint16(b[17:]))*32 + sector - 1) / sector
	overhead := reserved + fats*fatLength + roots
	if fatLength == 0 || overhead > sectors {
		return "vfat", false
	}
	switch clusters := (sectors - overhead) / cluster; {
	case is32:
		return "vfat FAT32", true
	case clusters < 4085:
		return "vfat FAT12", true
	case clusters < 65525:
		return "vfat FAT16", true
	}
	return "vfat", false
}

// sigUDF finds the descriptor of UDF (ECMA-167 2/9.3) in the volume recognition sequence, which
// begins at 32 KiB; on a bridge disc it comes after those of ISO 9660. The descriptor that begins
// the extended area (2/9.2), where the rest has been wiped, counts as well.
func sigUDF(m *sigImage) []Signature {
	for off := 32 * kiB; off < 160*kiB; off += 2 * kiB {
		if id := string(m.at(off+1, 5)); id == "NSR02" || id == "NSR03" {
			return []Signature{{"filesystem", "udf", off + 1}}
		}
	}
	if m.has(32*kiB+1, "BEA01") {
		return []Signature{{"filesystem", "udf", 32*kiB + 1}}
	}
	return nil
}

// sigXFSLog finds an external log of xfs by a log record in the first 256 KiB (xfs_log_format.h,
// xlog_rec_header): magic, version 1 or 2, some length, a known format.
func sigXFSLog(m *sigImage) []Signature {
	for off := int64(0); off < 256*kiB; off += 512 {
		h := m.at(off, 512)
		if h == nil || m.has(off, "XFSB") {
			return nil // an ordinary xfs, its log inside
		}
		version, format := be.Uint32(h[8:]), be.Uint32(h[300:])
		if be.Uint32(h) == 0xFEEDBABE && version >= 1 && version <= 3 && be.Uint32(h[12:]) != 0 &&
			format >= 1 && format <= 3 {
			return []Signature{{"filesystem", "xfs log", off}}
		}
	}
	return nil
}

// sigCoreStorage finds a physical volume of Apple's Core Storage (FileVault 2): "CS" at 88, volume
// header version 1 of block type 0x10 (libfvde, Core Storage documentation).
func sigCoreStorage(m *sigImage) []Signature {
	if m.has(88, "CS") && m.has(8, "\x01\x00\x10\x00") {
		return []Signature{{"lvm", "Core Storage", 88}}
	}
	return nil
}

// sigLUKS finds the first header of LUKS 1 and 2 (LUKS on-disk format: magic, then the version).
func sigLUKS(m *sigImage) []Signature {
	h := m.at(0, 8)
	if h == nil || string(h[:6]) != "LUKS\xba\xbe" {
		return nil
	}
	return []Signature{{"luks", "LUKS" + fmt.Sprint(be.Uint16(h[6:])), 0}}
}

// sigLVM1 finds a physical volume of LVM 1: "HM" and version 1 or 2 (its pv_disk_t).
func sigLVM1(m *sigImage) []Signature {
	h := m.at(0, 4)
	if h == nil || string(h[:2]) != "HM" || le.Uint16(h[2:]) != 1 && le.Uint16(h[2:]) != 2 {
		return nil
	}
	return []Signature{{"lvm", "LVM1", 0}}
}

// sigZFS finds a member of a ZFS pool (OpenZFS vdev_impl.h): four labels of 256 KiB, two at the
// start, two at the end of the size rounded down to labels. In each lies at 16 KiB the packed list
// of the pool's properties, and from 128 KiB on a ring of uberblocks, 1 KiB or more apart, that
// begin with 0x00bab10c in the byte order of the machine that wrote them.
func sigZFS(m *sigImage) (found []Signature) {
	const label = 256 * kiB
	end := m.size / label * label
	for i, off := range []int64{0, label, end - 2*label, end - label} {
		name := fmt.Sprintf("zfs label %d", i)
		// XDR encoding, either byte order, then version 0 and unique names; the property "guid"
		// is in every list, "pool_guid" in most.
		list := m.at(off+16*kiB, 4096)
		if list != nil && list[0] == 1 && list[1] <= 1 && be.Uint32(list[4:]) == 0 && be.Uint32(list[8:]) == 1 &&
			bytes.Contains(list, []byte("guid")) {
			found = append(found, Signature{"zfs", name, off + 16*kiB})
			continue
		}
		for ub := off + 128*kiB; ub < off+label; ub += kiB {
			if m.has(ub, "\x0c\xb1\xba\x00\x00\x00\x00\x00") || m.has(ub, "\x00\x00\x00\x00\x00\xba\xb1\x0c") {
				found = append(found, Signature{"zfs", name, ub})
				break
			}
		}
	}
	return found
}

// sigBcachefsCopy finds the superblock bcachefs keeps 1 MiB before the end.
func sigBcachefsCopy(m *sigImage) []Signature {
	if off := m.size - miB + 24; m.has(off, bcachefsMagic) {
		return []Signature{{"filesystem", "bcachefs", off}}
	}
	return nil
}
