package unit

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Percent is an exact share of a whole in hundredths of a percent: 6111 is 61.11 %.
type Percent int

// Whole is 100 %.
const Whole Percent = 100_00

// maxPercent lets sums that went wrong be told as what they are, and stops those that would overflow.
const maxPercent = 1_000_000 * 100

// ParsePercent reads a number of percent with at most two decimals, without a sign after it: "60",
// "61.11". It may be over 100: whoever adds several up says what their sum is.
func ParsePercent(s string) (Percent, error) {
	text := strings.TrimSpace(s)
	number, rest := splitNumber(text)
	value, ok := new(big.Rat).SetString(number)
	if rest != "" || !ok {
		return 0, fmt.Errorf("percentage %q is not a number; write for example 60 or 61.11", s)
	}
	value.Mul(value, big.NewRat(100, 1))
	if !value.IsInt() {
		return 0, fmt.Errorf("percentage %q has more than two decimals", s)
	}
	if value.Cmp(big.NewRat(maxPercent, 1)) > 0 {
		return 0, fmt.Errorf("percentage %q is over 100", s)
	}
	return Percent(value.Num().Int64()), nil
}

// String writes the percentage as ParsePercent reads it.
func (p Percent) String() string { return strconv.FormatFloat(float64(p)/100, 'f', -1, 64) }
