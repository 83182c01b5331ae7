package load

import (
	"bytes"
	"strconv"
	"strings"

	"blkstorm/result"
)

// Nine tenths of a document are histograms, most of them there three times: of the point, of its only
// stream, and of its only target. Taken out before the JSON is read, and put back after, they cost a fifth.

// elider takes the histograms out of a document's text.
type elider struct {
	text  bytes.Buffer // the document with references in their places
	table []string
	index map[string]int
}

// What a reference looks like must stand nowhere else in a text.
var (
	hdrKey  = []byte(`"hdr"`)
	mark    = []byte(`"#`)
	escaped = []byte(`\u0023`)
)

// take returns the text with "#N" in the place of each histogram, N being its place in e.table; without any
// when something is in no form that blkstorm writes. Within a JSON string the key's quotes would be escaped,
// so what is found is a key, or a string that no colon follows.
func (e *elider) take(text []byte) []byte {
	e.reset(len(text)/4 + 4096)
	if bytes.Contains(text, mark) || bytes.Contains(text, escaped) {
		return text
	}
	for rest := text; ; {
		key := bytes.Index(rest, hdrKey)
		if key < 0 {
			e.text.Write(rest)
			return e.text.Bytes()
		}
		i := key + len(hdrKey)
		i += blanks(rest[i:])
		if i < len(rest) && rest[i] == ':' {
			i += 1 + blanks(rest[i+1:])
		}
		if i == len(rest) || rest[i] != '"' {
			e.text.Write(rest[:i])
			rest = rest[i:]
			continue
		}
		i++
		n := bytes.IndexByte(rest[i:], '"')
		at := -1
		if n >= 0 {
			at = e.place(rest[i : i+n])
		}
		if at < 0 {
			e.reset(0)
			return text
		}
		e.text.Write(rest[:i])
		e.text.WriteByte('#')
		e.text.Write(strconv.AppendInt(e.text.AvailableBuffer(), int64(at), 10))
		rest = rest[i+n:]
	}
}

func (e *elider) reset(size int) {
	e.text.Reset()
	e.text.Grow(size)
	clear(e.table)
	e.table = e.table[:0]
	if e.index == nil {
		e.index = map[string]int{}
	}
	clear(e.index)
}

// place is where a histogram stands in the table; -1: it is none.
func (e *elider) place(value []byte) int {
	at, has := e.index[string(value)]
	if !has {
		for _, c := range value {
			if !base64[c] {
				return -1
			}
		}
		at = len(e.table)
		e.table = append(e.table, string(value))
		e.index[e.table[at]] = at
	}
	return at
}

// base64 are the characters that histograms are written with.
var base64 = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") {
		set[c] = true
	}
	return set
}()

// blanks is how many bytes of white space begin the text.
func blanks(text []byte) int {
	return len(text) - len(bytes.TrimLeft(text, " \t\r\n"))
}

// putBack replaces the references in a document.
func (e *elider) putBack(d *result.Doc) {
	if len(e.table) == 0 {
		return
	}
	for _, p := range d.Points {
		if p == nil {
			continue
		}
		e.stats(p.Total, p.Read, p.Write, p.Trim, p.Sync)
		for _, s := range p.Streams {
			if s != nil {
				e.stats(s.Total, s.Read, s.Write, s.Trim, s.Sync)
			}
		}
		for _, t := range p.Targets {
			if t != nil {
				e.stats(t.Total, t.Read, t.Write, t.Trim, t.Sync)
			}
		}
	}
}

func (e *elider) stats(stats ...*result.Stat) {
	for _, s := range stats {
		if s == nil {
			continue
		}
		e.latency(s.Latency)
		if s.OpenLoop != nil {
			e.latency(s.Response)
		}
	}
}

func (e *elider) latency(l *result.Latency) {
	if l == nil {
		return
	}
	if digits, found := strings.CutPrefix(l.HDR, "#"); found {
		if i, err := strconv.Atoi(digits); err == nil && i < len(e.table) {
			l.HDR = e.table[i]
		}
	}
}
