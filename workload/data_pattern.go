package workload

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MaxPattern is the longest pattern in bytes. What is longer is better kept in a file.
const MaxPattern = 64 << 10

// ParsePattern reads a pattern as fio's buffer_pattern has it: any sequence of
//
//	0xdeadbeef  bytes in hexadecimal, in the order written; of an odd number of digits the first is a byte
//	-12         a decimal number of 32 bits: its bytes from the lowest on, without the zeros above
//	"text"      the bytes of a text, which cannot hold a double quote
//
// in one piece, as in 0xdeadface"abcd"-12.
func ParsePattern(text string) ([]byte, error) {
	if text == "" {
		return nil, errors.New(`the pattern is empty; write for example 0xdeadbeef or "text"`)
	}
	var pattern []byte
	for rest := text; rest != ""; {
		var err error
		if pattern, rest, err = parsePiece(pattern, rest); err != nil {
			return nil, err
		}
		if len(pattern) > MaxPattern {
			return nil, fmt.Errorf("the pattern has over %d bytes; put it into a file and name that with file:PATH", MaxPattern)
		}
	}
	if len(pattern) == 0 {
		return nil, errors.New("the pattern has no bytes")
	}
	return pattern, nil
}

// parsePiece adds the bytes of the first piece of text to the pattern.
func parsePiece(pattern []byte, text string) (longer []byte, rest string, err error) {
	switch {
	case text[0] == '"':
		quoted, rest, closed := strings.Cut(text[1:], `"`)
		if !closed {
			return nil, "", fmt.Errorf("the text %s has no closing quote", shortened(text))
		}
		return append(pattern, quoted...), rest, nil
	case hexPrefix(text):
		digits := text[2:]
		n := 0
		for n < len(digits) && isHex(digits[n]) && !hexPrefix(digits[n:]) {
			n++
		}
		if n == 0 {
			return nil, "", fmt.Errorf("%s: no hexadecimal digit follows", shortened(text))
		}
		number := digits[:n]
		if n%2 == 1 {
			number = "0" + number
		}
		longer, err = hex.AppendDecode(pattern, []byte(number))
		return longer, digits[n:], err
	case text[0] == '-' || isDigit(text[0]):
		return parseDecimal(pattern, text)
	case text[0] == '\'':
		return nil, "", errors.New("a file in a pattern; name it with file:PATH instead")
	case text[0] == '%':
		return nil, "", fmt.Errorf("%s: only verified data can hold its own offset", shortened(text))
	}
	return nil, "", fmt.Errorf(`%s is no pattern; write 0x and hexadecimal digits, a decimal number, or a text in double quotes`, shortened(text))
}

func parseDecimal(pattern []byte, text string) (longer []byte, rest string, err error) {
	n := 1
	for n < len(text) && isDigit(text[n]) && !hexPrefix(text[n:]) {
		n++
	}
	value, err := strconv.ParseInt(text[:n], 10, 64)
	if err != nil || value < math.MinInt32 || value > math.MaxInt32 {
		return nil, "", fmt.Errorf("%s is no whole number from %d to %d", shortened(text[:n]), math.MinInt32, math.MaxInt32)
	}
	bytes := binary.LittleEndian.AppendUint32(nil, uint32(value))
	for len(bytes) > 1 && bytes[len(bytes)-1] == 0 {
		bytes = bytes[:len(bytes)-1]
	}
	return append(pattern, bytes...), text[n:], nil
}

func hexPrefix(s string) bool {
	return len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// shortened keeps an error message to a line.
func shortened(s string) string {
	if len(s) > 20 {
		return strconv.Quote(s[:20]) + "..."
	}
	return strconv.Quote(s)
}

// patternText writes a pattern as ParsePattern reads it: as a text where it is one.
func patternText(pattern []byte) string {
	for _, c := range pattern {
		if c < ' ' || c > '~' || c == '"' {
			return "0x" + hex.EncodeToString(pattern)
		}
	}
	return `"` + string(pattern) + `"`
}
