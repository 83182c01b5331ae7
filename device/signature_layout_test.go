package device

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"blkstorm/lab"
)

// Marks whose tools are not to be had here are laid out byte by byte, as far as blkid checks them,
// and blkid must agree.

// patch is something written at an offset; a negative one counts from the end of the image.
type patch struct {
	off  int64
	data []byte
}

// record lays out fields in n bytes.
func record(n int, fields ...patch) []byte {
	b := make([]byte, n)
	for _, f := range fields {
		copy(b[f.off:], f.data)
	}
	return b
}

func le16(n int) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(n)) }
func le32(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }
func le64(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
func be32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
func be64(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// rawCRC is the CRC of the kernel, which inverts neither the seed nor the result.
func rawCRC(seed uint32, table *crc32.Table, parts ...[]byte) uint32 {
	crc := ^seed
	for _, p := range parts {
		crc = crc32.Update(crc, table, p)
	}
	return ^crc
}

// md1 is a version 1 superblock (uapi/linux/raid/md_p.h mdp_superblock_1) that lies at off.
func md1(off int64) []byte {
	b := record(256, patch{0, le32(0xA92B4EFC)}, patch{4, le32(1)}, patch{16, []byte("0123456789abcdef")},
		patch{72, le32(1)}, patch{80, le64(1000)}, patch{92, le32(2)}, patch{144, le64(int(off / 512))})
	sum := uint64(0)
	for i := 0; i < len(b); i += 4 {
		sum += uint64(binary.LittleEndian.Uint32(b[i:]))
	}
	copy(b[216:], le32(int(uint32(sum>>32)+uint32(sum))))
	return b
}

// md090 is a version 0.90 superblock (mdp_super_t) in the byte order of put.
func md090(put func(int) []byte) []byte {
	return record(4096, patch{0, put(0xA92B4EFC)}, patch{8, put(90)}, patch{20, put(1)}, patch{28, put(1)},
		patch{32, put(64)}, patch{40, put(2)})
}

func drbd(magic int) []byte {
	return record(4096, patch{0, be64(1000)}, patch{40, be64(1)}, patch{60, be32(magic)}, patch{64, be32(8)},
		patch{80, be32(4096)})
}

func ddf() []byte {
	b := record(512, patch{0, be32(0xDE11DE11)}, patch{4, be32(-1)}, patch{8, []byte("Linux-MD")}, patch{32, []byte("01.02.00")})
	copy(b[4:], be32(int(rawCRC(0, crc32.IEEETable, b))))
	return b
}

// words sums 16-bit words up so that the one at off brings the first n bytes of b to nothing.
func words(b []byte, off, n int) []byte {
	copy(b[off:], le16(-int(wordSum(b[:n]))))
	return b
}

func nvidia() []byte {
	b := record(120, patch{0, []byte("NVIDIA  ")}, patch{8, le32(30)}, patch{16, le16(100)})
	sum := 0
	for i := 0; i < len(b); i += 4 {
		sum += int(binary.LittleEndian.Uint32(b[i:]))
	}
	copy(b[12:], le32(-sum))
	return b
}

func nilfs() []byte {
	b := record(1024, patch{0, le32(2)}, patch{6, le16(0x3434)}, patch{8, le16(280)}, patch{12, le32(77)}, patch{20, le32(2)},
		patch{32, le64(64 << 20)})
	copy(b[16:], le32(int(rawCRC(77, crc32.IEEETable, b[:280]))))
	return b
}

func hfs(fields ...patch) []byte {
	return record(512, append([]patch{{0, []byte("BD")}, {18, []byte{0x10, 0}}, {20, be32(4096)}, {34, []byte{0x0f, 0}},
		{36, []byte("\x08untitled")}}, fields...)...)
}

func hfsplus(magic string) []byte {
	return record(512, patch{0, []byte(magic)}, patch{2, []byte{0, 4}}, patch{40, be32(4096)}, patch{44, be32(4096)})
}

// apfs is a container superblock with its Fletcher sum (Apple File System Reference).
func apfs() []byte {
	b := record(4096, patch{8, le64(1)}, patch{24, le16(1)}, patch{32, []byte("NXSB")}, patch{36, le32(4096)}, patch{40, le64(4096)})
	var lo, hi uint64
	for i := 8; i < len(b); i += 4 {
		lo += uint64(binary.LittleEndian.Uint32(b[i:]))
		hi += lo
	}
	low := ^uint32((lo + hi) % 0xFFFFFFFF)
	high := ^uint32((lo + uint64(low)) % 0xFFFFFFFF)
	return append(append(le32(int(low)), le32(int(high))...), b[8:]...)
}

func stratis() []byte {
	b := record(512, patch{4, []byte("!Stra0tis\x86\xff\x02^\x41rh")}, patch{20, le64(1000)}, patch{32, []byte("0123456789abcdef0123456789abcdef")})
	copy(b, le32(int(crc32.Checksum(b[4:], crc32.MakeTable(crc32.Castagnoli)))))
	return b
}

// uberblocks are the first eight of a label's ring, in the byte order of put.
func uberblocks(put func(int) []byte) (b []byte) {
	for i := range 8 {
		b = append(b, record(1024, patch{0, put(0x00bab10c)}, patch{8, put(5000)}, patch{16, put(100 + i)})...)
	}
	return b
}

// zfsList is the head of a label's property list as zdb shows it.
func zfsList() []byte {
	return []byte("\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x00\x00\x00\x24\x00\x00\x00\x20\x00\x00\x00\x07version\x00\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x13\x88" +
		"\x00\x00\x00\x20\x00\x00\x00\x20\x00\x00\x00\x04guid\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x07" +
		"\x00\x00\x00\x00\x00\x00\x00\x00")
}

func TestSignatureLayout(t *testing.T) {
	const size = 80 << 20
	all := func(put func(int) []byte) []patch {
		return []patch{{128 << 10, uberblocks(put)}, {384 << 10, uberblocks(put)},
			{-384 << 10, uberblocks(put)}, {-128 << 10, uberblocks(put)}}
	}
	text := func(off int64, s string) []patch { return []patch{{off, []byte(s)}} }
	one := func(off int64, b []byte) []patch { return []patch{{off, b}} }
	jmicron := words(record(128, patch{0, []byte("JM")}, patch{2, []byte{3, 1}}, patch{48, []byte{1}}), 4, 128)
	silicon := words(record(512, patch{0x60, le32(0x2F000000)}, patch{0x10A, le16(2)}), 0x13E, 0x140)
	for _, c := range []struct {
		name    string
		patches []patch
		want    []string
		oracle  string // empty where blkid of this age knows nothing of it
		atEnd   bool   // found also after the first half has been wiped
	}{
		{"md 0.90", one(-64<<10, md090(le32)), []string{"raid/md 0.90"}, "TYPE=linux_raid_member", true},
		{"md 0.90 big-endian", one(-64<<10, md090(be32)), []string{"raid/md 0.90"}, "TYPE=linux_raid_member", true},
		{"md 1.0", one(-8192, md1(size-8192)), []string{"raid/md 1.0"}, "VERSION=1.0", true},
		{"md 1.1", one(0, md1(0)), []string{"raid/md 1.1"}, "VERSION=1.1", false},
		{"md 1.2", one(4096, md1(4096)), []string{"raid/md 1.2"}, "VERSION=1.2", false},
		{"zfs", all(le64), []string{"zfs/zfs label 0", "zfs/zfs label 1", "zfs/zfs label 2", "zfs/zfs label 3"}, "TYPE=zfs_member", false},
		{"zfs big-endian", all(be64), []string{"zfs/zfs label 0", "zfs/zfs label 1", "zfs/zfs label 2", "zfs/zfs label 3"}, "TYPE=zfs_member", false},
		{"zfs at the end", all(le64)[2:], []string{"zfs/zfs label 2", "zfs/zfs label 3"}, "TYPE=zfs_member", true},
		{"zfs properties only", one(16<<10, zfsList()), []string{"zfs/zfs label 0"}, "", false},
		{"zfs properties at the end", one(-240<<10, zfsList()), []string{"zfs/zfs label 3"}, "", true},
		{"bluestore", text(0, "bluestore block device\n"), []string{"ceph/bluestore"}, "TYPE=ceph_bluestore", false},
		{"DRBD 8", one(-4096, drbd(0x8374026B)), []string{"drbd/DRBD 8"}, "TYPE=drbd", true},
		{"DRBD 8.4 unclean", one(-4096, drbd(0x8374026C)), []string{"drbd/DRBD 8"}, "TYPE=drbd", true},
		{"DRBD 9", one(-4096, drbd(0x8374026D)), []string{"drbd/DRBD 9"}, "TYPE=drbd", true},
		{"DRBD external", one(0, drbd(0x8374026D)), []string{"drbd/DRBD 9"}, "", false},
		{"VMFS", text(2<<20, "\x5e\xf1\xab\x2f"), []string{"vmfs/VMFS"}, "TYPE=VMFS", false},
		{"VMFS behind volume header", text(19<<20, "\x5e\xf1\xab\x2f"), []string{"vmfs/VMFS"}, "", false},
		{"VMFS volume", text(1<<20, "\x0d\xd0\x01\xc0"), []string{"vmfs/VMFS volume member"}, "TYPE=VMFS_volume_member", false},
		{"ddf", one(-512, ddf()), []string{"raid/ddf"}, "TYPE=ddf_raid_member", true},
		{"ddf of Adaptec", one(-257*512, ddf()), []string{"raid/ddf"}, "TYPE=ddf_raid_member", true},
		{"isw", text(-1024, "Intel Raid ISM Cfg Sig. 1.1.00"), []string{"raid/isw"}, "TYPE=isw_raid_member", true},
		{"lsi", text(-512, "$XIDE$"), []string{"raid/lsi"}, "TYPE=lsi_mega_raid_member", true},
		{"nvidia", one(-1024, nvidia()), []string{"raid/nvidia"}, "TYPE=nvidia_raid_member", true},
		{"adaptec", one(-512, record(512, patch{0, be32(0x37FC4D1E)}, patch{256, []byte("DPTM")})), []string{"raid/adaptec"}, "TYPE=adaptec_raid_member", true},
		{"promise", text(-3087*512, "Promise Technology, Inc."), []string{"raid/promise"}, "TYPE=promise_fasttrack_raid_member", true},
		{"hpt45x", one(-11*512, le32(0x5A7816F3)), []string{"raid/hpt45x"}, "TYPE=hpt45x_raid_member", true},
		{"hpt37x", one(9*512+32, le32(0x5A7816F0)), []string{"raid/hpt37x"}, "TYPE=hpt37x_raid_member", false},
		{"via with a wrong sum", one(-512, []byte{0x55, 0xAA, 2}), nil, "", false},
		{"via", one(-512, []byte{0x55, 0xAA, 1}), []string{"raid/via"}, "TYPE=via_raid_member", true},
		{"silicon", one(-512, silicon), []string{"raid/silicon"}, "TYPE=silicon_medley_raid_member", true},
		{"jmicron", one(-512, jmicron), []string{"raid/jmicron 1"}, "TYPE=jmicron_raid_member", true},
		{"nilfs2", one(1024, nilfs()), []string{"filesystem/nilfs2"}, "TYPE=nilfs2", false},
		{"nilfs2 copy", one(-4096, nilfs()), []string{"filesystem/nilfs2"}, "TYPE=nilfs2", true},
		{"hfs", one(1024, hfs()), []string{"filesystem/hfs"}, "TYPE=hfs", false},
		{"hfsplus", one(1024, hfsplus("H+")), []string{"filesystem/hfsplus"}, "TYPE=hfsplus", false},
		{"hfsx", one(1024, hfsplus("HX")), []string{"filesystem/hfsplus"}, "TYPE=hfsplus", false},
		{"hfsplus in hfs", []patch{{1024, hfs(patch{124, []byte("H+")}, patch{28, []byte{0, 8}})}, {8*512 + 1024, hfsplus("H+")}}, []string{"filesystem/hfsplus"}, "TYPE=hfsplus", false},
		{"ufs", one(8<<10, record(2048, patch{48, le32(8192)}, patch{52, le32(1024)}, patch{1372, le32(0x00011954)})), []string{"filesystem/ufs"}, "TYPE=ufs", false},
		{"apfs", one(0, apfs()), []string{"filesystem/apfs"}, "TYPE=apfs", false},
		{"stratis", []patch{{512, stratis()}, {9 * 512, stratis()}}, []string{"stratis/stratis"}, "TYPE=stratis", false},
		{"vdo", text(0, "dmvdo001"), []string{"vdo/vdo"}, "TYPE=vdo", false},
		{"bitlocker", text(0, "\xeb\x52\x90-FVE-FS-"), []string{"bitlocker/BitLocker"}, "TYPE=BitLocker", false},
		{"refs", text(3, "ReFS"), []string{"filesystem/refs"}, "TYPE=ReFS", false},
		{"ocfs2", text(4096, "OCFSV2"), []string{"filesystem/ocfs2"}, "TYPE=ocfs2", false},
		{"reiser4", text(64<<10, "ReIsEr4"), []string{"filesystem/reiser4"}, "TYPE=reiser4", false},
		{"oracle asm", text(32, "ORCLDISK"), []string{"asm/Oracle ASM"}, "TYPE=oracleasm", false},
		{"swap v0", text(4086, "SWAP-SPACE"), []string{"swap/swap v0"}, "TYPE=swap", false},
		{"TuxOnIce", text(0, "\xed\xc3\x02\xe9\x98\x56\xe5\x0c"), []string{"swap/swap TuxOnIce"}, "TYPE=swsuspend", false},
		{"snapshot", text(0, "SnAp"), []string{"device-mapper/dm-snapshot"}, "TYPE=DM_snapshot_cow", false},
		{"dm-integrity", text(0, "integrt\x00\x01"), []string{"device-mapper/dm-integrity"}, "TYPE=DM_integrity", false},
		{"LVM1", text(0, "HM\x01\x00"), []string{"lvm/LVM1"}, "TYPE=LVM1_member", false},
		{"mac", []patch{{0, []byte("ER\x02\x00")}, {512, []byte("PM\x00\x00\x00\x00\x00\x01")}}, []string{"partition-table/mac"}, "PTTYPE=mac", false},
		{"bsd", []patch{{512, le32(0x82564557)}, {512 + 132, le32(0x82564557)}}, []string{"partition-table/bsd"}, "", false},
		{"empty mbr", text(510, "\x55\xaa"), []string{"partition-table/mbr"}, "PTTYPE=dos", false},
		{"boot sector", []patch{{0, []byte("\xeb\x3c\x90")}, {446, []byte("code")}, {510, []byte("\x55\xaa")}}, []string{"boot-sector/boot sector"}, "", false},
		{"no boot sector", []patch{{0, []byte("\xeb\x3c\x91")}, {446, []byte("code")}, {510, []byte("\x55\xaa")}}, nil, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := lab.File(t, size)
			for _, p := range c.patches {
				write(t, path, (p.off+size)%size, p.data)
			}
			wantNames(t, probeFile(t, path, 0), c.want...)
			if c.oracle != "" {
				wantOracle(t, path, c.oracle)
			}
			if c.atEnd {
				wipe(t, path, 0, size/2)
				wantNames(t, probeFile(t, path, 0), c.want...)
			}
		})
	}
}

// Every plain magic is found at every place of it, on a disk large enough to have them all.
func TestSignatureTable(t *testing.T) {
	const size = 2000 * giB
	for _, m := range sigMagics {
		for _, off := range m.offsets {
			want := Signature{m.kind, m.name, off}
			found, err := ProbeSignatures(&sparseDisk{t: t, size: size, parts: []patch{{off, []byte(m.magic)}}}, size)
			if err != nil || !slices.Contains(found, want) {
				t.Errorf("%v: found %v, %v", want, found, err)
			}
		}
	}
}

// Every place counted from the end is found on disks of any size, also those that are no whole
// number of blocks.
func TestSignatureEnds(t *testing.T) {
	for _, size := range []int64{1 * miB, sigWhole, sigWhole + 1, 64*miB + 512, 64*miB + 3584, 100*miB + 777, 2000*giB + 512} {
		down := func(bs, n int64) int64 { return (size/bs - n) * bs }
		for _, c := range []struct {
			name string
			off  int64
			data []byte
		}{
			{"gpt backup", down(512, 1), []byte("EFI PART")},
			{"gpt backup", down(4096, 1), []byte("EFI PART")},
			{"md 0.90", down(64<<10, 1), md090(le32)[:64]},
			{"md 1.0", down(4096, 2), md1(down(4096, 2))},
			{"ddf", down(512, 1), be32(0xDE11DE11)},
			{"ddf", down(4096, 1), be32(0xDE11DE11)},
			{"isw", down(512, 2), []byte("Intel Raid ISM Cfg Sig. ")},
			{"isw", down(4096, 2), []byte("Intel Raid ISM Cfg Sig. ")},
			{"DRBD 9", down(4096, 1), drbd(0x8374026D)[:128]},
			{"zfs label 2", down(256<<10, 2) + 16<<10, zfsList()},
			{"zfs label 3", down(256<<10, 1) + 255<<10, le64(0x00bab10c)},
			{"bcachefs", size - 1<<20 + 24, []byte(bcachefsMagic)},
		} {
			found, err := ProbeSignatures(&sparseDisk{t: t, size: size, parts: []patch{{c.off, c.data}}}, size)
			if err != nil || !slices.ContainsFunc(found, func(s Signature) bool { return s.Name == c.name && s.Offset <= c.off+60 }) {
				t.Errorf("%s at %d of %d: found %v, %v", c.name, c.off, size, found, err)
			}
		}
	}
}
