package runner

import (
	"runtime"

	"blkstorm/device"
)

var openRead = device.OpenOptions{Direct: true}

func forceCollection() { runtime.GC() }
