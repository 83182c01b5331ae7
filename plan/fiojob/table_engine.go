package fiojob

var uringOnly, aioOnly = []string{"io_uring"}, []string{"libaio"}

// ofEngineOptions are options that only some engines have; others do not know them.
var ofEngineOptions = []Option{
	{Name: "hipri", Kind: Flag, Engines: []string{"io_uring", "pvsync2"}, Effect: Differs, Quiet: true, Note: "with io_uring only; psync waits for the interrupt"},
	{Name: "hipri_percentage", Kind: Int, Max: 100, Engines: []string{"pvsync2"}, Effect: Differs, Note: "psync waits for the interrupt"},
	{Name: "fixedbufs", Kind: Flag, Engines: uringOnly, Effect: Differs, Quiet: true, Note: "buffers are registered wherever that is possible, asked for or not"},
	{Name: "registerfiles", Kind: Flag, Engines: uringOnly, Effect: Differs, Quiet: true, Note: "files are registered wherever that is possible, asked for or not"},
	{Name: "sqthread_poll", Kind: Flag, Engines: uringOnly},
	{Name: "sqthread_poll_cpu", Kind: Int, Engines: uringOnly, Effect: Differs, Note: "the kernel chooses the CPU of its polling thread"},
	{Name: "nonvectored", Kind: Flag, Engines: uringOnly, Effect: NoEffect, Note: "I/Os are never vectored"},
	{Name: "libaio_vectored", Kind: Flag, Engines: aioOnly, Effect: NoEffect, Note: "I/Os are never vectored"},
	{Name: "userspace_reap", Kind: Flag, Engines: aioOnly, Effect: Differs, Quiet: true, Note: "completions are read from the ring wherever that is possible, asked for or not"},
	{Name: "uncached", Kind: Flag, Engines: []string{"io_uring", "pvsync2"}, Effect: Refused, Note: "use direct=1"},
	{Name: "nowait", Kind: Flag, Engines: []string{"io_uring", "libaio", "pvsync2"}, Effect: Refused, Note: "an I/O that would wait is waited for; leave it out"},
	{Name: "force_async", Kind: Int, Engines: uringOnly, Effect: Refused, Note: "kernel workers cost CPU and latency; use libaio"},
	{Name: "cmdprio_percentage", Kind: Text, Engines: bothAsync, Effect: Refused, Note: noPriorities},
	{Name: "cmdprio_class", Kind: Text, Engines: bothAsync, Effect: Refused, Note: noPriorities},
	{Name: "cmdprio_hint", Kind: Text, Engines: bothAsync, Effect: Refused, Note: noPriorities},
	{Name: "cmdprio", Kind: Text, Engines: bothAsync, Effect: Refused, Note: noPriorities},
	{Name: "cmdprio_bssplit", Kind: Text, Engines: bothAsync, Effect: Refused, Note: noPriorities},
}

var bothAsync = []string{"io_uring", "libaio"}

const noPriorities = "I/Os have no priorities of their own; write two jobs"
