package live

// seriesCap is how many values a series keeps: more than any terminal has columns.
const seriesCap = 512

// series is a figure over the time of a point, however long that is: when it is full, two neighbours
// become one.
type series struct {
	peaks  bool // neighbours become the higher one; else their mean
	values []float64
	per    int // rows in a value
	rows   int // in the value that is being made
	next   float64
	top    float64 // the highest row
}

func (s *series) add(v float64) {
	s.per = max(s.per, 1)
	s.top = max(s.top, v)
	if s.peaks {
		s.next = max(s.next, v)
	} else {
		s.next += v / float64(s.per)
	}
	if s.rows++; s.rows < s.per {
		return
	}
	if len(s.values) == seriesCap {
		s.values = s.squeeze(seriesCap / 2)
		s.per *= 2
		// What has just come is half a value now.
		if s.rows = s.per / 2; !s.peaks {
			s.next /= 2
		}
		return
	}
	s.values = append(s.values, s.next)
	s.rows, s.next = 0, 0
}

// squeeze makes at most n values of the series, each of as many neighbours as the others, or one more.
func (s *series) squeeze(n int) []float64 {
	have := len(s.values)
	if have <= n {
		return s.values
	}
	out := make([]float64, n)
	for i := range out {
		from, to := i*have/n, (i+1)*have/n
		for _, v := range s.values[from:to] {
			if s.peaks {
				out[i] = max(out[i], v)
			} else {
				out[i] += v / float64(to-from)
			}
		}
	}
	return out
}

// levels are the heights of a bar within a line, from nearly nothing to all of it.
var levels = map[bool][]rune{false: []rune("▁▂▃▄▅▆▇█"), true: []rune(".:-=+*#@")}

// bars draws values as bars from 0 to top, over a number of lines, the highest line first. What is over 0
// has at least the lowest level.
func bars(values []float64, top float64, lines int, ascii bool) []string {
	glyphs := levels[ascii]
	out := make([]string, lines)
	for i := range out {
		line := make([]rune, len(values))
		for x, v := range values {
			height := 0
			if v > 0 && top > 0 {
				height = max(1, int(v/top*float64(lines*len(glyphs))+0.5))
			}
			// The part of the bar in this line.
			switch part := min(height-(lines-1-i)*len(glyphs), len(glyphs)); {
			case part <= 0:
				line[x] = ' '
			default:
				line[x] = glyphs[part-1]
			}
		}
		out[i] = string(line)
	}
	return out
}
