package fioout

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// object is a JSON object whose members keep their order: some consumers look for them line by line.
type object []member

type member struct {
	key   string
	value any // object, []any, string, int64, uint64, int, float64 or bool
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

// write writes a value in fio's layout: two blanks per level, and a blank on both sides of a colon.
func write(b *strings.Builder, v any, indent int) {
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			b.WriteString("{\n" + strings.Repeat("  ", indent) + "}")
			return
		}
		b.WriteString("{\n")
		for i, m := range v {
			b.WriteString(strings.Repeat("  ", indent+1))
			text(b, m.key)
			b.WriteString(" : ")
			write(b, m.value, indent+1)
			if i < len(v)-1 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat("  ", indent) + "}")
	case []any:
		b.WriteString("[\n")
		for i, one := range v {
			b.WriteString(strings.Repeat("  ", indent+1))
			write(b, one, indent+1)
			if i < len(v)-1 {
				b.WriteByte(',')
			}
			b.WriteByte('\n')
		}
		b.WriteString(strings.Repeat("  ", indent) + "]")
	case string:
		text(b, v)
	case int:
		b.WriteString(strconv.Itoa(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case uint64:
		b.WriteString(strconv.FormatUint(v, 10))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case float64:
		b.WriteString(decimal(v))
	}
}

// decimal writes a number with six decimals, as fio does.
func decimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		v = 0
	}
	return strconv.FormatFloat(v, 'f', 6, 64)
}

// text writes a string; invalid UTF-8 becomes U+FFFD.
func text(b *strings.Builder, s string) {
	var e strings.Builder
	enc := json.NewEncoder(&e)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always can be
	b.WriteString(strings.TrimSuffix(e.String(), "\n"))
}
