package device

// sigMagic is a mark that is told by its magic alone: four bytes or more, which random data meets
// less than once in four thousand million places. Shorter ones have a check of their own.
type sigMagic struct {
	kind, name string
	magic      string
	offsets    []int64
}

// bootFilesystems are the file systems whose first sector is a boot sector and so ends in 55 AA;
// that is then no partition table.
var bootFilesystems = map[string]bool{
	"ntfs": true, "exfat": true, "refs": true, "BitLocker": true, "BitLocker To Go": true,
	"vfat": true, "vfat FAT12": true, "vfat FAT16": true, "vfat FAT32": true,
}

// Page sizes a swap area may have been made for; its magic is the end of the first page.
var swapPageEnds = []int64{4 * kiB, 8 * kiB, 16 * kiB, 32 * kiB, 64 * kiB}

// before returns the offsets n bytes before each of the ends.
func before(ends []int64, n int64) []int64 {
	offs := make([]int64, len(ends))
	for i, e := range ends {
		offs[i] = e - n
	}
	return offs
}

// The first LUKS2 header has its copy behind it, at one of the sizes a header may have
// (cryptsetup, LUKS2 on-disk format; libblkid scans the same).
var luks2Seconds = []int64{
	16 * kiB, 32 * kiB, 64 * kiB, 128 * kiB, 256 * kiB, 512 * kiB, 1 * miB, 2 * miB, 4 * miB,
}

// Where bluestore writes copies of its label (Ceph, os/bluestore/BlueStore.cc, bdev_label_positions).
var bluestoreLabels = []int64{0, 1 * giB, 10 * giB, 100 * giB, 1000 * giB}

// Amiga boards look for the rigid disk block in the first 16 sectors (linux/affs_hardblocks.h).
var rdbSectors = func() (offs []int64) {
	for i := int64(0); i < 16; i++ {
		offs = append(offs, i*512)
	}
	return offs
}()

// The superblock of System V lies in the second half of block 0, 9, 15 or 18 of 1 KiB, its magic 8
// bytes before the end of that half (linux/sysv_fs.h, fs/sysv/super.c).
var sysvSupers = []int64{1*kiB - 8, 10*kiB - 8, 16*kiB - 8, 19*kiB - 8}

// btrfs has its superblock at 64 KiB, mirrors at 64 MiB and 256 GiB; on a zoned disk a log of them in
// the first two zones, commonly of 256 MiB (fs/btrfs/disk-io.h, fs/btrfs/zoned.c). The magic is at 64.
var btrfsSupers = []int64{64*kiB + 64, 64*miB + 64, 256*giB + 64, 64, 256*miB + 64}

// sigMagics are the plain ones, with the header or specification each is taken from.
var sigMagics = []sigMagic{
	{"filesystem", "xfs", "XFSB", []int64{0}},                                                // xfs_format.h XFS_SB_MAGIC
	{"filesystem", "exfs", "EXFS", []int64{0}},                                               // Exanet's xfs
	{"filesystem", "btrfs", "_BHRfS_M", btrfsSupers},                                         // uapi/linux/btrfs_tree.h, btrfs_sb_offset
	{"filesystem", "f2fs", "\x10\x20\xf5\xf2", []int64{1024, 4096 + 1024}},                   // linux/f2fs_fs.h F2FS_SUPER_MAGIC, two copies
	{"filesystem", "erofs", "\xe2\xe1\xf5\xe0", []int64{1024}},                               // erofs_fs.h EROFS_SUPER_MAGIC_V1
	{"filesystem", "bcachefs", bcachefsMagic, []int64{4096 + 24, 2*miB + 24}},                // bcachefs_format.h BCHFS_MAGIC
	{"filesystem", "squashfs", "hsqs", []int64{0}},                                           // squashfs_fs.h SQUASHFS_MAGIC
	{"filesystem", "squashfs", "sqsh", []int64{0}},                                           // big-endian
	{"filesystem", "cramfs", "\x45\x3d\xcd\x28", []int64{0, 512}},                            // uapi/linux/cramfs_fs.h
	{"filesystem", "cramfs", "\x28\xcd\x3d\x45", []int64{0, 512}},                            // big-endian
	{"filesystem", "romfs", "-rom1fs-", []int64{0}},                                          // linux/romfs_fs.h
	{"filesystem", "zonefs", "SFOZ", []int64{0}},                                             // uapi/linux/magic.h ZONEFS_MAGIC
	{"filesystem", "ubi", "UBI#", []int64{0}},                                                // ubi-media.h UBI_EC_HDR_MAGIC
	{"disk-image", "qcow2", "QFI\xfb", []int64{0}},                                           // QEMU docs/interop/qcow2.txt
	{"disk-image", "vmdk", "KDMV", []int64{0}},                                               // VMware Virtual Disk Format, hosted sparse extent
	{"disk-image", "vmdk", "COWD", []int64{0}},                                               // ESX sparse extent
	{"disk-image", "vmdk", "# Disk DescriptorFile", []int64{0}},                              // descriptor in a file of its own
	{"disk-image", "vhdx", "vhdxfile", []int64{0}},                                           // MS-VHDX 2.2.1
	{"disk-image", "vhd", "conectix", []int64{0}},                                            // MS-VHD: dynamic disks repeat the footer at the start
	{"disk-image", "vdi", "\x7f\x10\xda\xbe", []int64{64}},                                   // VirtualBox VDICore.h VDI_IMAGE_SIGNATURE
	{"filesystem", "ubifs", "\x31\x18\x10\x06", []int64{0}},                                  // ubifs-media.h UBIFS_NODE_MAGIC
	{"filesystem", "reiserfs", "ReIsErFs", []int64{8*kiB + 0x34, 64*kiB + 0x34, 8*kiB + 20}}, // reiserfs.h, format 3.5
	{"filesystem", "reiserfs", "ReIsEr2Fs", []int64{64*kiB + 0x34}},                          // format 3.6
	{"filesystem", "reiserfs", "ReIsEr3Fs", []int64{64*kiB + 0x34}},                          // journal elsewhere
	{"filesystem", "reiser4", "ReIsEr4", []int64{64 * kiB}},                                  // reiser4 master superblock
	{"filesystem", "jfs", "JFS1", []int64{32 * kiB}},                                         // jfs_superblock.h JFS_MAGIC
	{"filesystem", "gfs2", "\x01\x16\x19\x70", []int64{64 * kiB}},                            // gfs2_ondisk.h GFS2_MAGIC, gfs too
	{"filesystem", "ocfs2", "OCFSV2", []int64{1 * kiB, 2 * kiB, 4 * kiB, 8 * kiB}},           // ocfs2_fs.h, block 2
	{"filesystem", "ocfs", "OracleCFS", []int64{8 * kiB}},                                    // ocfs 1
	{"filesystem", "bfs", "\xce\xfa\xad\x1b", []int64{0}},                                    // uapi/linux/bfs_fs.h BFS_MAGIC
	{"filesystem", "scoutfs", "\x8b\x42\x3c\x10", []int64{64*kiB + 4}},                       // scoutfs superblock
	{"filesystem", "mpool", "mpoolDev", []int64{0}},                                          // mpool superblock
	{"filesystem", "befs", "BFS1", []int64{32, 512 + 32}},                                    // befs_fs_types.h, little-endian
	{"filesystem", "befs", "1SFB", []int64{32, 512 + 32}},                                    // big-endian
	{"filesystem", "vxfs", "\xf5\xfc\x01\xa5", []int64{1 * kiB}},                             // vxfs.h VXFS_SUPER_MAGIC
	{"filesystem", "vxfs", "\xa5\x01\xfc\xf5", []int64{8 * kiB}},                             // HP-UX, big-endian
	{"filesystem", "sysv", "\x20\x7e\x18\xfd", sysvSupers},                                   // linux/sysv_fs.h SYSV_MAGIC, little-endian
	{"filesystem", "sysv", "\xfd\x18\x7e\x20", sysvSupers},                                   // big-endian
	{"filesystem", "netware", "SPB5", []int64{4 * kiB}},                                      // NSS superblock
	{"filesystem", "hpfs", "\x49\xe8\x95\xf9", []int64{8 * kiB}},                             // hpfs.h SB_MAGIC
	{"filesystem", "apfs", "NXSB", []int64{32}},                                              // Apple File System Reference, nx_magic
	{"filesystem", "ntfs", "NTFS    ", []int64{3}},                                           // OEM identifier of the boot sector
	{"filesystem", "exfat", "EXFAT   ", []int64{3}},                                          // exFAT specification 3.1.2
	{"filesystem", "refs", "\x00\x00\x00ReFS\x00", []int64{0}},                               // volume boot record
	{"filesystem", "iso9660", "CD001", []int64{32*kiB + 1}},                                  // ECMA-119 8.1.2, first volume descriptor
	{"filesystem", "iso9660", "CDROM", []int64{32*kiB + 9}},                                  // High Sierra

	{"swap", "swap", "SWAPSPACE2", before(swapPageEnds, 10)},                  // linux/swap.h
	{"swap", "swap v0", "SWAP-SPACE", before(swapPageEnds, 10)},               // before Linux 2.1.117
	{"swap", "swap hibernation", "S1SUSPEND", before(swapPageEnds, 10)},       // kernel/power/swap.c HIBERNATE_SIG
	{"swap", "swap hibernation", "S2SUSPEND", before(swapPageEnds, 10)},       // uswsusp
	{"swap", "swap hibernation", "ULSUSPEND", before(swapPageEnds, 10)},       // uswsusp
	{"swap", "swap hibernation", "LINHIB0001", before(swapPageEnds, 10)},      // kernel/power
	{"swap", "swap TuxOnIce", "\xed\xc3\x02\xe9\x98\x56\xe5\x0c", []int64{0}}, // TuxOnIce image header

	{"lvm", "LVM2", "LABELONE", []int64{0, 512, 1024, 1536}},                   // lvm2 label.h LABEL_ID, LABEL_SCAN_SECTORS
	{"luks", "LUKS2 second header", "SKUL\xba\xbe\x00\x02", luks2Seconds},      // LUKS2 on-disk format, MAGIC_2ND
	{"bcache", "bcache", bcacheMagic, []int64{4096 + 24}},                      // bcache_ondisk.h bcache_magic; bcachefs began with it too
	{"ceph", "bluestore", "bluestore block device", bluestoreLabels},           // Ceph, bluestore_bdev_label_t
	{"drbd", "drbdmanage control volume", "$DRBDmgr=q", []int64{0}},            // drbdmanage
	{"drbd", "drbd-proxy data log", "DRBDdlh*", []int64{0}},                    // drbd-proxy
	{"vmfs", "VMFS", "\x5e\xf1\xab\x2f", []int64{2 * miB, 18 * miB, 19 * miB}}, // vmfs-tools, VMFS_FSINFO_MAGIC
	{"vmfs", "VMFS", "\x5f\xf1\xab\x2f", []int64{2 * miB, 18 * miB, 19 * miB}}, // vmfs-tools, VMFSL_FSINFO_MAGIC
	{"vmfs", "VMFS volume member", "\x0d\xd0\x01\xc0", []int64{1 * miB}},       // vmfs-tools, VMFS_VOLINFO_MAGIC 0xc001d00d

	{"stratis", "stratis", "!Stra0tis\x86\xff\x02^\x41rh", []int64{512 + 4, 9*512 + 4}}, // stratis, two static headers
	{"vdo", "vdo", "dmvdo001", []int64{0}},                                              // drivers/md/dm-vdo VDO_GEOMETRY_MAGIC_NUMBER
	{"asm", "Oracle ASM", "ORCLDISK", []int64{32}},                                      // oracleasm disk label
	{"device-mapper", "dm-verity", "verity\x00\x00", []int64{0}},                        // cryptsetup verity superblock
	{"device-mapper", "dm-integrity", "integrt\x00", []int64{0}},                        // dm-integrity.c SB_MAGIC
	{"device-mapper", "dm-snapshot", "SnAp", []int64{0}},                                // dm-snap-persistent.c SNAP_MAGIC
	{"device-mapper", "dm-thin", "\xba\x52\x9c\x01\x00\x00\x00\x00", []int64{32}},       // dm-thin-metadata.c THIN_SUPERBLOCK_MAGIC 27022010

	{"bitlocker", "BitLocker", "-FVE-FS-", []int64{3}},            // OEM identifier of the boot sector
	{"bitlocker", "BitLocker", bitLockerGUID, []int64{160}},       // boot sector of Windows 7 and later
	{"bitlocker", "BitLocker To Go", bitLockerGUID, []int64{424}}, // boot sector that looks like FAT32

	{"raid", "hpt37x", "\xf0\x16\x78\x5a", []int64{9*512 + 32}}, // HighPoint 37x, dmraid hpt37x.h
	{"raid", "hpt37x", "\xfd\x16\x78\x5a", []int64{9*512 + 32}}, // the same, disk marked bad

	{"partition-table", "sgi", "\x0b\xe5\xa9\x41", []int64{0}},                       // block/partitions/sgi.c SGI_LABEL_MAGIC
	{"partition-table", "aix", "\xc9\xc2\xd4\xc1", []int64{0}},                       // block/partitions/aix.c, "IBMA" in EBCDIC
	{"partition-table", "amiga", "RDSK", rdbSectors},                                 // linux/affs_hardblocks.h IDNAME_RIGIDDISK
	{"partition-table", "dasd", "\xe5\xd6\xd3\xf1", []int64{1028, 2052, 4100, 8196}}, // "VOL1" in EBCDIC, third block
	{"partition-table", "dasd", "\xd3\xd5\xe7\xf1", []int64{1024, 2048, 4096, 8192}}, // "LNX1", asm/vtoc.h
	{"partition-table", "dasd", "\xc3\xd4\xe2\xf1", []int64{1024, 2048, 4096, 8192}}, // "CMS1"
}

const (
	bcacheMagic   = "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"
	bcachefsMagic = "\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef"
	// bitLockerGUID is 4967d63b-2e29-4ad8-8399-f6a339e3d001 as it lies on the disk.
	bitLockerGUID = "\x3b\xd6\x67\x49\x29\x2e\xd8\x4a\x83\x99\xf6\xa3\x39\xe3\xd0\x01"
)
