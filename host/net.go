package host

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// NetStats is the traffic of all network interfaces but the loopback, in bytes. Traffic over a
// bridge or bond counts on every interface that it passes.
type NetStats struct {
	RxBytes uint64 `json:"rx_bytes"`
	TxBytes uint64 `json:"tx_bytes"`
}

// NetStats reads the counters.
func (r Roots) NetStats() (NetStats, error) {
	path := r.proc("net/dev")
	b, err := os.ReadFile(path)
	if err != nil {
		return NetStats{}, err
	}
	n, err := parseNetStats(string(b))
	if err != nil {
		return NetStats{}, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// parseNetStats reads /proc/net/dev: two header lines, then "name: rx_bytes …7 more… tx_bytes …".
func parseNetStats(s string) (NetStats, error) {
	var n NetStats
	for line := range strings.Lines(s) {
		// The last colon, because an alias has one in its name; the header has none.
		i := strings.LastIndexByte(line, ':')
		if i < 0 || strings.TrimSpace(line[:i]) == "lo" {
			continue
		}
		f := strings.Fields(line[i+1:])
		if len(f) < 9 {
			return NetStats{}, fmt.Errorf("%w: %d columns", ErrFormat, len(f))
		}
		rx, err := strconv.ParseUint(f[0], 10, 64)
		if err != nil {
			return NetStats{}, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		tx, err := strconv.ParseUint(f[8], 10, 64)
		if err != nil {
			return NetStats{}, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		n.RxBytes += rx
		n.TxBytes += tx
	}
	return n, nil
}

// Since returns the traffic between b and the later a; 0 where an interface went away.
func (a NetStats) Since(b NetStats) NetStats {
	return NetStats{RxBytes: sub(a.RxBytes, b.RxBytes), TxBytes: sub(a.TxBytes, b.TxBytes)}
}
