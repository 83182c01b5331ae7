package load

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"blkstorm/host"
	"blkstorm/result"
)

// fill gives every number in v a value, and every list and pointer something to hold: what a new key of a row needs to
// be missed by whoever does not read it.
func fill(v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), r)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range 3 {
			fill(v.Index(i), r)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), r)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64() >> r.IntN(62))
	case reflect.Uint64:
		v.SetUint(r.Uint64() >> (3 + r.IntN(60)))
	case reflect.Float64:
		v.SetFloat((r.Float64() - 0.5) * float64(int64(1)<<r.IntN(60)))
	case reflect.String:
		v.SetString([]string{"/dev/sdb", "", "日本語 Größe µ", `a ' & < b`}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	default:
		panic(v.Kind().String())
	}
}

func lineOf(t testing.TB, row *result.Interval) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := result.WriteNDJSON(&b, row); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestQuickRow: every row that blkstorm writes is read the quick way, whatever is in it, and comes out the same.
func TestQuickRow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		row := &result.Interval{DiskStats: []*host.DiskStats{}}
		if i%10 > 0 {
			fill(reflect.ValueOf(row).Elem(), r)
		}
		if i%3 == 0 {
			row.Read.Response, row.Targets, row.TemperatureC = nil, nil, nil
		}
		if i%4 == 0 && len(row.DiskStats) > 0 {
			row.DiskStats[1] = nil
		}
		line := lineOf(t, row)
		got := quickRow(line)
		if got == nil {
			t.Fatalf("not read: %s", line)
		}
		if !reflect.DeepEqual(got, row) {
			t.Fatalf("%s\nis read as %+v", line, got)
		}
	}
}

// TestSlowRow: what is written in another way is read all the same, and what is no row is refused.
func TestSlowRow(t *testing.T) {
	line := string(lineOf(t, &result.Interval{TS: 3, LengthS: 1, DiskStats: []*host.DiskStats{}, Read: result.IntervalStat{IOs: 7}}))
	for _, change := range [][2]string{
		{`"ios":7`, `"ios": 7`}, {`"label":""`, `"label":"a\nb\"c"`}, {`"short":0,`, ``}, {`"t_s":3`, `"t_s":3e0,"later":[{}]`}, {`"diskstats":[]`, `"diskstats":null`}, {`}}` + "\n", `}}`},
	} {
		row, err := parseRow([]byte(strings.Replace(line, change[0], change[1], 1)))
		if err != nil || row.Read.IOs != 7 || row.TS != 3 {
			t.Errorf("%s: %v", change[1], err)
		}
	}
	for _, change := range [][2]string{
		{`"ios":7`, `"ios":07`}, {`"ios":7`, `"ios":-7`}, {`"ios":7`, `"ios":99999999999999999999`}, {`"ios":7`, `"ios":7.5`}, {`"ios":7`, `"ios":`}, {`"mean":0`, `"mean":9999999999999999999`},
		{`"t_s":3`, `"t_s":+3`}, {`"t_s":3`, `"t_s":3.`}, {`"t_s":3`, `"t_s":.3`}, {`"t_s":3`, `"t_s":1e999`}, {`"interval"`, `"point"`}, {`"label":""`, "\"label\":\"\x01\""},
		{`"diskstats":[]`, `"diskstats":[,]`}, {`"diskstats":[]`, `"diskstats":[`}, {`"point":0`, `"point":-1`}, {`}}` + "\n", `}}}`},
	} {
		if _, err := parseRow([]byte(strings.Replace(line, change[0], change[1], 1))); err == nil {
			t.Errorf("%s is read", change[1])
		}
	}
}

// FuzzRow: what is read the quick way is what encoding/json reads.
func FuzzRow(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3 {
		row := &result.Interval{}
		fill(reflect.ValueOf(row).Elem(), r)
		f.Add(lineOf(f, row))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		quick := quickRow(line)
		if quick == nil {
			return
		}
		if slow, err := anyRow(line); err != nil || !reflect.DeepEqual(quick, slow) {
			t.Errorf("%v: %+v is %+v", err, slow, quick)
		}
	})
}
