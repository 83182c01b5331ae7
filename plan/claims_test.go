package plan

import (
	"fmt"
	"math"
	"strconv"
	"testing"
)

// What is read of a claimed value is a number that can be written again, in the unit that was written.
func FuzzParseClaimed(f *testing.F) {
	for _, seed := range []string{"270000 IOPS", "1.5 GB/s", "68 us", "0.5  ms", "68 µs", "1,900 MiB/s", "1,5 GB/s", "1,234,567.5 IOPS", "1e400 IOPS", "NaN IOPS", "-1 ns", "IOPS", "", "1 iops"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, unit, err := ParseClaimed(text)
		if err != nil {
			return
		}
		if math.IsNaN(v) {
			t.Fatalf("%q is %v", text, v)
		}
		c := Claim{Value: v, Unit: unit}
		again, same, err := ParseClaimed(strconv.FormatFloat(c.InUnit(v), 'g', -1, 64) + " " + unit)
		if math.IsInf(v, 0) {
			return // too large for any check to let it pass
		}
		if err != nil || same != unit || math.Abs(again-v) > 1e-12*math.Abs(v) {
			t.Errorf("%q is %v %s, and again %v %s: %v", text, v, unit, again, same, err)
		}
	})
}

func ExampleParseClaimed() {
	fmt.Println(ParseClaimed("1.5 GB/s"))
	fmt.Println(ParseClaimed("68 us"))
	fmt.Println(ParseClaimed("1,270,000 IOPS"))
	fmt.Println(ParseClaimed("270000"))
	// Output:
	// 1.5e+09 GB/s <nil>
	// 68000 us <nil>
	// 1.27e+06 IOPS <nil>
	// 0  value "270000": write a number and its unit, as in 270000 IOPS, 1900 MiB/s, 68 us
}
