package unit

import "testing"

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Percent
		err  string
	}{
		{"60", 6000, ""}, {" 61.11 ", 6111, ""}, {"0", 0, ""}, {"0.5", 50, ""}, {"150", 15000, ""}, {".5", 50, ""},
		{"61.111", 0, "more than two decimals"}, {"", 0, "is not a number"}, {"-1", 0, "is not a number"},
		{"60%", 0, "is not a number"}, {"1.2.3", 0, "is not a number"}, {"99999999999999999999", 0, "over 100"},
	} {
		got, err := ParsePercent(c.in)
		check(t, c.in, got, c.want, err, c.err)
		if err == nil {
			back, err := ParsePercent(got.String())
			check(t, got.String(), back, got, err, "")
		}
	}
}
