package execute

import (
	"testing"

	"blkstorm/device"
	"blkstorm/ioengine/null"
	"blkstorm/plan"
	"blkstorm/verdict"
)

// The narrowest queue: of a disk, of all hardware queues together, or of the adapter that disks share.
func TestNarrowestQueue(t *testing.T) {
	scsi := func(path string) *device.Facts {
		return &device.Facts{Path: path, HCTL: "0:0:0:0", Controller: device.Controller{
			Name: "host2", Driver: "vmw_pvscsi", QueueDepth: 254, QueueDepthSource: "device/queue_depth", HostQueueDepth: 1024,
		}}
	}
	nvme := &device.Facts{Path: "/dev/nvme0n1", Queue: device.Queue{HWQueues: 2}, Controller: device.Controller{
		Name: "nvme0", Driver: "nvme", QueueDepth: 1023, QueueDepthSource: "mq/0/nr_tags",
	}}
	for _, c := range []struct {
		name    string
		facts   []*device.Facts
		iodepth int
		want    verdict.Queue
	}{
		{"one disk", []*device.Facts{scsi("/dev/sda")}, 300, verdict.Queue{Path: "/dev/sda", Asked: 300, Depth: 254, Limit: "vmw_pvscsi device/queue_depth"}},
		{"its adapter", []*device.Facts{scsi("a"), scsi("b"), scsi("c"), scsi("d"), scsi("e")}, 250,
			verdict.Queue{Path: "the disks on adapter host2", Asked: 1250, Depth: 1024, Limit: "vmw_pvscsi can_queue"}},
		{"hardware queues", []*device.Facts{nvme}, 2048, verdict.Queue{Path: "/dev/nvme0n1", Asked: 2048, Depth: 2046, Limit: "nvme mq/0/nr_tags x 2 hardware queues"}},
		{"not known", []*device.Facts{{Path: "/dev/zram0"}}, 4096, verdict.Queue{}},
	} {
		s := &Session{driver: null.Driver}
		point := &plan.Point{Streams: []plan.Stream{{Threads: 1, IODepth: c.iodepth}}}
		for i, f := range c.facts {
			s.targets = append(s.targets, &target{facts: f})
			point.Streams[0].Targets = append(point.Streams[0].Targets, i)
		}
		if got := s.narrowest(point); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
