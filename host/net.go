package host

import (
	"bytes"
	"fmt"
	"os"
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
	n, err := parseNetStats(b)
	if err != nil {
		return NetStats{}, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// parseNetStats reads /proc/net/dev: two header lines, then "name: rx_bytes …7 more… tx_bytes …".
func parseNetStats(b []byte) (NetStats, error) {
	var n NetStats
	for len(b) > 0 {
		line := b
		if end := bytes.IndexByte(b, '\n'); end >= 0 {
			line = b[:end]
		}
		b = b[min(len(line)+1, len(b)):]
		// The last colon, because an alias has one in its name; the header has none.
		i := bytes.LastIndexByte(line, ':')
		if i < 0 || string(bytes.TrimSpace(line[:i])) == "lo" {
			continue
		}
		if err := n.add(line[i+1:]); err != nil {
			return NetStats{}, err
		}
	}
	return n, nil
}

// add takes in the columns of one interface: the first is what it received, the ninth what it sent.
func (n *NetStats) add(columns []byte) error {
	for i := range 9 {
		var w []byte
		if w, columns = word(columns); len(w) == 0 {
			return fmt.Errorf("%w: %d columns", ErrFormat, i)
		}
		if i != 0 && i != 8 {
			continue
		}
		v, err := number(w)
		if err != nil {
			return err
		}
		if i == 0 {
			n.RxBytes += v
		} else {
			n.TxBytes += v
		}
	}
	return nil
}

// Since returns the traffic between b and the later a; 0 where an interface went away.
func (a NetStats) Since(b NetStats) NetStats {
	return NetStats{RxBytes: sub(a.RxBytes, b.RxBytes), TxBytes: sub(a.TxBytes, b.TxBytes)}
}
