package workload

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"blkstorm/op"
	"blkstorm/unit"
)

// spread draws cells, the smallest blocks of a range, from a distribution that is not uniform.
type spread struct {
	kind  string
	cells uint64
	order permutation // puts the ranks of zipf, pareto and normal to their places

	curve  *curve // of zipf, pareto and normal
	centre uint64 // the cell of the centre, when there is one
	near   bool   // there is one

	deck          deck // of zones, and of the band and what is outside
	starts, sizes []uint64

	every, left uint64 // the band: I/Os until it moves
	at, width   uint64
}

// newSpread lays the distribution of a direction on cells of cell bytes. The seed is that of all
// threads, so that they share the hot places.
func newSpread(d *Distribution, o op.Op, cells uint64, cell int64, seed uint64) (*spread, error) {
	s := &spread{kind: d.Kind, cells: cells}
	switch d.Kind {
	case Zipf:
		s.curve = newZipf(cells, d.Param)
	case Pareto:
		s.curve = newPareto(cells, d.Param)
	case Normal:
		s.curve = newNormal(cells, d.Param)
	case HotBand:
		z := d.Zones[0]
		s.deck = newDeck([]unit.Percent{z.Share, unit.Whole - z.Share})
		s.width = percentOf(cells, z.Space)
		s.every, s.left = uint64(d.Every), uint64(d.Every)
		if s.width == 0 {
			return nil, fmt.Errorf("--random-distribution %s: the band holds no block of %s", d, unit.Size(cell))
		}
		return s, nil
	default:
		return s, s.layZones(d, pick(o, d.zones()), cell)
	}
	if d.Centre != nil {
		s.near, s.centre = true, min(uint64(*d.Centre*float64(cells)), cells-1)
	}
	s.order = newPermutation(cells, Mix(seed^0x73636174746572))
	return s, nil
}

// layZones cuts the range into zones, at borders of cells.
func (s *spread) layZones(d *Distribution, zones []Zone, cell int64) error {
	shares := make([]unit.Percent, len(zones))
	var space unit.Percent
	var total int64
	start := uint64(0)
	for i, z := range zones {
		shares[i] = z.Share
		space += z.Space
		total += z.Bytes
		end := percentOf(s.cells, space)
		if d.Kind == ZonedAbs {
			end = s.cells
			if z.Bytes > 0 {
				end = uint64(total / cell)
			}
		}
		if end > s.cells {
			return fmt.Errorf("--random-distribution %s: zone %d ends at %s, and the range has only %d blocks of %s",
				d, i+1, unit.Size(total), s.cells, unit.Size(cell))
		}
		if end <= start && z.Share > 0 {
			return fmt.Errorf("--random-distribution %s: zone %d holds no block of %s", d, i+1, unit.Size(cell))
		}
		s.starts = append(s.starts, start)
		s.sizes = append(s.sizes, end-start)
		start = end
	}
	s.deck = newDeck(shares)
	return nil
}

// percentOf is n times p, rounded down.
func percentOf(n uint64, p unit.Percent) uint64 {
	high, low := bits.Mul64(n, uint64(p))
	q, _ := bits.Div64(high, low, uint64(unit.Whole))
	return q
}

// next draws a cell.
func (s *spread) next(rng *rand.PCG) uint64 {
	switch s.kind {
	case Zipf, Pareto, Normal:
		rank := s.curve.draw(rng)
		if s.near {
			return s.around(rank)
		}
		return s.order.at(rank)
	case HotBand:
		return s.band(rng)
	}
	zone := s.deck.draw(rng)
	return s.starts[zone] + below(rng, s.sizes[zone])
}

// around is the cell of a rank when the hot ones lie together: the middle of a bell at the centre, the
// hottest cell of the others there and the next ones to its right and left in turns; round the range.
func (s *spread) around(rank uint64) uint64 {
	var right uint64 // of the centre
	switch {
	case s.kind == Normal:
		right = rank + s.cells - s.cells/2
	case rank%2 == 1:
		right = rank/2 + 1
	default:
		right = s.cells - rank/2
	}
	at := s.centre + right
	for at >= s.cells {
		at -= s.cells // twice at most, and cheaper than a division
	}
	return at
}

// band draws from the hot band or from what is outside, and moves the band by its own width, round
// the range, when its time has come.
func (s *spread) band(rng *rand.PCG) uint64 {
	if s.left == 0 {
		s.left = s.every
		if s.at += s.width; s.at >= s.cells {
			s.at -= s.cells
		}
	}
	s.left--
	var cell uint64
	if s.deck.draw(rng) == 0 {
		cell = s.at + below(rng, s.width)
	} else {
		cell = s.at + s.width + below(rng, s.cells-s.width)
	}
	if cell >= s.cells {
		cell -= s.cells
	}
	return cell
}
