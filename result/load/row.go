package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"blkstorm/host"
	"blkstorm/result"
)

// parseRow reads a line of intervals.ndjson, with or without its end.
func parseRow(line []byte) (*result.Interval, error) {
	row := quickRow(line)
	if row == nil {
		var err error
		if row, err = anyRow(line); err != nil {
			return nil, err
		}
	}
	if row.Point < 0 {
		return nil, fmt.Errorf("point %d cannot be", row.Point)
	}
	return row, checkRow(row, "the row")
}

// anyRow reads a row as JSON may be written.
func anyRow(line []byte) (*result.Interval, error) {
	row := &result.Interval{}
	in := struct {
		Type  string `json:"type"`
		Label string `json:"label"`
		*result.Interval
	}{Interval: row}
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, fmt.Errorf("is no row of an interval: %w", err)
	}
	if in.Type != "interval" || in.Interval == nil {
		return nil, errors.New("is no row of an interval")
	}
	row.Label = in.Label
	return row, nil
}

// quickRow reads a row that is written just as result.WriteNDJSON does, and gives nil for any other, which anyRow
// reads: a day of 16 targets has a GB of rows, of which encoding/json reads 100 MB in a second.
func quickRow(line []byte) *result.Interval {
	t, row, point := &rowText{rest: strings.TrimSuffix(string(line), "\n")}, &result.Interval{}, int64(0)
	t.text(`{"type":"interval","label":`, &row.Label)
	t.int(`,"point":`, &point)
	row.Point = int(point)
	row.Ramp = t.is(`,"ramp":true`)
	t.float(`,"t_s":`, &row.TS)
	t.int(`,"start_unix_ns":`, &row.StartUnixNS)
	t.float(`,"length_s":`, &row.LengthS)
	t.directions(&row.Read, &row.Write, &row.Trim)
	t.int(`,"inflight":`, &row.InFlight)
	t.float(`,"cpu":{"user_pct":`, &row.CPU.UserPct)
	t.float(`,"system_pct":`, &row.CPU.SystemPct)
	t.float(`,"iowait_pct":`, &row.CPU.IOWaitPct)
	t.float(`,"steal_pct":`, &row.CPU.StealPct)
	t.float(`},"steal_pct":`, &row.StealPct)
	t.take(`,"diskstats":`)
	row.DiskStats = items(t, t.disk)
	t.count(`,"net":{"rx_bytes":`, &row.Net.RxBytes)
	t.count(`,"tx_bytes":`, &row.Net.TxBytes)
	t.take("}")
	if t.is(`,"temperature_c":`) {
		row.TemperatureC = items(t, t.temperature)
	}
	if t.is(`,"targets":`) {
		row.Targets = items(t, t.target)
	}
	t.take("}")
	if t.bad || t.rest != "" {
		return nil
	}
	return row
}

// rowText is what of a row has not been read yet. After something else than was expected it is bad, and what is read
// of it means nothing.
type rowText struct {
	rest string
	bad  bool
}

// is takes the text if it comes next.
func (t *rowText) is(text string) (found bool) {
	t.rest, found = strings.CutPrefix(t.rest, text)
	return found
}

func (t *rowText) take(text string) {
	if !t.is(text) {
		t.bad = true
	}
}

// items reads a list.
func items[T any](t *rowText, item func() T) []T {
	t.take("[")
	list := []T{}
	for !t.bad && !t.is("]") {
		if len(list) > 0 {
			t.take(",")
		}
		list = append(list, item())
	}
	return list
}

// count reads what comes before a number without sign, and the number.
func (t *rowText) count(before string, to *uint64) {
	t.take(before)
	i, n := 0, uint64(0)
	for ; i < len(t.rest) && t.rest[i]-'0' <= 9; i++ {
		n = 10*n + uint64(t.rest[i]-'0')
	}
	if i > 19 || i == 0 || i > 1 && t.rest[0] == '0' { // 19 digits have room
		t.bad = true
	}
	*to, t.rest = n, t.rest[i:]
}

func (t *rowText) int(before string, to *int64) {
	t.take(before)
	minus, n := t.is("-"), uint64(0)
	t.count("", &n)
	if n > math.MaxInt64 {
		t.bad = true
	}
	if *to = int64(n); minus {
		*to = -*to
	}
}

func (t *rowText) float(before string, to *float64) {
	t.take(before)
	i := 0
	for i < len(t.rest) && (t.rest[i]-'0' <= 9 || strings.IndexByte("+-.eE", t.rest[i]) >= 0) {
		i++
	}
	v, err := strconv.ParseFloat(t.rest[:i], 64)
	if err != nil || !json.Valid([]byte(t.rest[:i])) { // JSON has no "+1", no "1." and no ".5"
		t.bad = true
	}
	*to, t.rest = v, t.rest[i:]
}

// text reads a string in which nothing is escaped.
func (t *rowText) text(before string, to *string) {
	t.take(before + `"`)
	end := max(0, strings.IndexByte(t.rest, '"'))
	text := t.rest[:end]
	if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == '\\' }) || !utf8.ValidString(text) {
		t.bad = true
	}
	*to, t.rest = strings.Clone(text), t.rest[end:] // whoever keeps a name is not to keep its row
	t.take(`"`)
}

func (t *rowText) directions(read, write, trim *result.IntervalStat) {
	t.stat(`,"read":`, read)
	t.stat(`,"write":`, write)
	t.stat(`,"trim":`, trim)
}

func (t *rowText) stat(before string, s *result.IntervalStat) {
	t.take(before)
	t.count(`{"ios":`, &s.IOs)
	t.count(`,"bytes":`, &s.Bytes)
	t.count(`,"errors":`, &s.Errors)
	t.count(`,"short":`, &s.Short)
	t.count(`,"zero":`, &s.Zero)
	t.int(`,"mean":`, &s.Mean)
	t.int(`,"stddev":`, &s.StdDev)
	t.int(`,"min":`, &s.Min)
	t.int(`,"p50":`, &s.P50)
	t.int(`,"p95":`, &s.P95)
	t.int(`,"p99":`, &s.P99)
	t.int(`,"max":`, &s.Max)
	if t.is(`,"response_ns":`) {
		r := &result.IntervalResponse{}
		t.int(`{"mean":`, &r.Mean)
		t.int(`,"p50":`, &r.P50)
		t.int(`,"p95":`, &r.P95)
		t.int(`,"p99":`, &r.P99)
		t.int(`,"max":`, &r.Max)
		t.take("}")
		s.Response = r
	}
	t.take("}")
}

func (t *rowText) target() (out result.IntervalTarget) {
	t.text(`{"path":`, &out.Path)
	t.directions(&out.Read, &out.Write, &out.Trim)
	t.take("}")
	return out
}

func (t *rowText) temperature() *float64 {
	if t.is("null") {
		return nil
	}
	v := 0.0
	t.float("", &v)
	return &v
}

func (t *rowText) disk() *host.DiskStats {
	if t.is("null") {
		return nil
	}
	d := &host.DiskStats{}
	t.count(`{"read_ios":`, &d.ReadIOs)
	t.count(`,"read_merges":`, &d.ReadMerges)
	t.count(`,"read_bytes":`, &d.ReadBytes)
	t.count(`,"read_time_ms":`, &d.ReadTimeMS)
	t.count(`,"write_ios":`, &d.WriteIOs)
	t.count(`,"write_merges":`, &d.WriteMerges)
	t.count(`,"write_bytes":`, &d.WriteBytes)
	t.count(`,"write_time_ms":`, &d.WriteTimeMS)
	t.count(`,"discard_ios":`, &d.DiscardIOs)
	t.count(`,"discard_bytes":`, &d.DiscardBytes)
	t.count(`,"flush_ios":`, &d.FlushIOs)
	t.count(`,"in_flight":`, &d.InFlight)
	t.count(`,"io_ticks_ms":`, &d.IOTicksMS)
	t.count(`,"time_in_queue_ms":`, &d.TimeInQueueMS)
	t.take("}")
	return d
}
