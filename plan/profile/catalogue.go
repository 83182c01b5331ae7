package profile

// The profiles. A number that is here and not in the source of a procedure is named in its file as assumed.
var catalogue = []Profile{
	{
		Name: "storagereview-ssd", Summary: "StorageReview's synthetic tests of one SSD: 4K, 8K, 128K and the 8K 70/30 thread and queue sweep",
		Settings: settings([]Setting{
			{Name: "threads", Default: "2,4,8,16", list: true, Is: "threads of the 8K 70/30 points; everything else has the most of them"},
			{Name: "iodepth", Default: "2,4,8,16", list: true, Is: "queue depths of the 8K 70/30 points; everything else has the largest"},
			{Name: "ramp", Default: "10s", Quick: "0s", Is: "warm-up of each point"},
			{Name: "runtime", Default: "5m", Quick: "2s", Is: "measured time of each point"},
			{Name: "precondition", Default: "steady", Is: "each workload until it is steady, for a time, or none"},
			{Name: "steady-round", Default: "10m", Quick: "1s", Is: "length of a round"},
			{Name: "steady-max-rounds", Default: "36", Quick: "8", Is: "rounds after which a workload's preconditioning ends without steady state"},
			{Name: "purge", Default: "false", Is: "discard the targets before each workload"},
			{Name: "fill", Default: "1", Is: "passes that write everything before the first workload, and after a purge that reads follow"},
		}),
	},
	{
		Name: "hcibench-storagereview", Summary: "StorageReview's HCI tests in each VM: 4K, 8K 70/30 and 32K, 30 min warm-up and 60 min sample each",
		Settings: settings(perDisk("1", "8", "30m", "1h", "1s", "3s"), fillOnce(), workingSet("")),
	},
	{
		Name: "hcibench-easy-run", Summary: "HCIBench's Easy Run in each VM: 4K 70/30, 8K 50/50, 4K and 256K",
		Settings: settings(perDisk("1", "4", "30m", "1h", "1s", "3s"), fillOnce(), workingSet("")),
	},
	{
		Name: "vsan-cache-matrix", Summary: "4K to 128K against 0 to 100 % writes on a 20 % working set, in each VM",
		Settings: settings(perDisk("2", "1", "0s", "15m", "0s", "2s"), fillOnce(), workingSet("20%")),
	},
	{
		Name: "drive-spec", Summary: "what a data sheet states: bandwidth at 64K and 1M, IOPS at 512B and 4K, latency; against claimed values",
		TakesClaims: true,
		Settings: settings(perDisk("4", "32", "10s", "1m", "0s", "1s"), []Setting{
			{Name: "precondition", Default: "steady", Is: "4K random writes before the random points: until steady, for a time, or none"},
			{Name: "steady-round", Default: "1m", Quick: "1s", Is: "length of a round"},
			{Name: "steady-max-rounds", Default: "25", Quick: "8", Is: "rounds after which preconditioning ends without steady state"},
			{Name: "purge", Default: "false", Is: "discard the targets first"},
			{Name: "fill", Default: "2", Quick: "1", Is: "passes that write everything first"},
		}),
	},
	{
		Name: "thread-ramp", Summary: "16K 70/30 at 32 threads for 6 hours, then an hour each at 32, 16, 8, 4 and 2",
		Settings: settings([]Setting{
			{Name: "threads", Default: "32,16,8,4,2", list: true, Is: "threads of the points, in order; preconditioning has the most of them"},
			{Name: "iodepth", Default: "1", Is: "I/Os that each thread keeps in flight"},
			{Name: "ramp", Default: "0s", Is: "warm-up of each point"},
			{Name: "runtime", Default: "1h", Quick: "5s", Is: "measured time of each point"},
			{Name: "precondition", Default: "6h", Quick: "10s", Is: "for a time, until steady, or none"},
			{Name: "steady-round", Default: "10m", Quick: "1s", Is: "length of a round, with --precondition steady"},
			{Name: "steady-max-rounds", Default: "36", Quick: "8", Is: "rounds after which preconditioning ends without steady state"},
			{Name: "purge", Default: "false", Is: "discard the targets first"},
		}, fillOnce(), workingSet("")),
	},
	{
		Name: "four-corners", Summary: "4K random and 128K sequential reads and writes",
		Settings: settings(perDisk("1", "32", "30s", "5m", "0s", "3s"), []Setting{
			{Name: "purge", Default: "false", Is: "discard the targets first"},
		}, fillOnce(), workingSet("")),
	},
	{
		Name: "oltp-mysql", Summary: "InnoDB under SysBench: 16K page reads and writes with a durable log", parted: true,
		Settings: settings(perDisk("32", "1", "1m", "10m", "0s", "5s"), fillOnce()),
	},
	{
		Name: "oltp-sqlserver", Summary: "SQL Server under TPC-C: 8K reads, checkpoint writes, log", parted: true,
		Settings: settings(perDisk("16", "1", "1m", "10m", "0s", "5s"), fillOnce()),
	},
	{
		Name: "nosql-marklogic", Summary: "MarkLogic taking in documents: journal write, save write, merge read, merge write", parted: true,
		Settings: settings(perDisk("1", "1", "1m", "10m", "0s", "5s"), fillOnce()),
	},
	{
		Name: "vmmark-tile", Summary: "a tile of VMs at fixed rates: mail, OLTP, web, Windows server", parted: true,
		Settings: settings([]Setting{
			{Name: "iodepth", Default: "32", Is: "I/Os that each stream may have in flight"},
			{Name: "ramp", Default: "1m", Quick: "0s", Is: "warm-up"},
			{Name: "runtime", Default: "10m", Quick: "5s", Is: "measured time"},
		}, fillOnce()),
	},
	{
		Name: "snia-iops", Summary: "SNIA SSS PTS 2.0.2, IOPS: rounds of 56 cells until three of them are steady",
		Settings: settings(load("4", "32"), sniaRounds("1m", "200ms", "of each cell"), fillTwice(), workingSet("")),
	},
	{
		Name: "snia-throughput", Summary: "SNIA SSS PTS 2.0.2, throughput: sequential 1024 and 128 KiB, reads and writes",
		Settings: settings(load("1", "32"), sniaRounds("1m", "1s", "of reads, and of writes, in a round"), fillTwice()),
	},
	{
		Name: "snia-latency", Summary: "SNIA SSS PTS 2.0.2, latency: 8, 4 and 0.5 KiB, one I/O at a time",
		Settings: settings(sniaRounds("1m", "500ms", "of each cell"), fillTwice(), workingSet("")),
	},
	{
		Name: "snia-wsat", Summary: "SNIA SSS PTS 2.0.2, write saturation: 4K random writes from fresh to steady",
		Settings: settings(load("4", "32"), []Setting{
			{Name: "runtime", Default: "30m", Quick: "1s", Is: "length of a round"},
			{Name: "steady-max-rounds", Default: "48", Quick: "8", Is: "rounds after which the test ends without steady state"},
			purgeFirst,
		}, workingSet("")),
	},
}

// purgeFirst is the purge of SNIA's tests, which belongs to them.
var purgeFirst = Setting{Name: "purge", Default: "true", Is: "discard the targets first"}

// load is how much is in flight.
func load(threads, iodepth string) []Setting {
	return []Setting{
		{Name: "threads", Default: threads, Is: "threads per target"},
		{Name: "iodepth", Default: iodepth, Is: "I/Os that each thread keeps in flight"},
	}
}

// sniaRounds are the rounds of SNIA's tests.
func sniaRounds(runtime, quick, is string) []Setting {
	return []Setting{
		{Name: "runtime", Default: runtime, Quick: quick, Is: "measured time " + is},
		{Name: "steady-max-rounds", Default: "25", Quick: "6", Is: "rounds after which the test ends without steady state"},
		purgeFirst,
	}
}

func fillTwice() []Setting {
	return []Setting{{Name: "fill", Default: "2", Quick: "1", Is: "passes that write everything first"}}
}

// settings puts lists together, and adds what all profiles have.
func settings(lists ...[]Setting) (all []Setting) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return append(all,
		Setting{Name: "size", Is: "length of the range on each target; in bytes it makes missing files"},
		Setting{Name: "compress-pct", Default: "0", Is: "what a compressor saves of the data, in percent"},
		Setting{Name: "dedupe-pct", Default: "0", Is: "written blocks that have the content of another one, in percent"},
		Setting{Name: "data", Default: "random", Is: "what is written: random, zero, pattern:..., file:PATH"},
	)
}

// perDisk are load and times of procedures without a sweep of threads and depths.
func perDisk(threads, iodepth, ramp, runtime, quickRamp, quickRuntime string) []Setting {
	return append(load(threads, iodepth), []Setting{
		{Name: "ramp", Default: ramp, Quick: quickRamp, Is: "warm-up of each point"},
		{Name: "runtime", Default: runtime, Quick: quickRuntime, Is: "measured time of each point"},
	}...)
}

func fillOnce() []Setting {
	return []Setting{{Name: "fill", Default: "1", Is: "passes that write everything first"}}
}

func workingSet(preset string) []Setting {
	return []Setting{{Name: "working-set", Default: preset, Is: "the part of the range that is used"}}
}
