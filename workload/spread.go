package workload

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"blkstorm/unit"
)

// spread draws cells, the smallest blocks of a range, from a distribution that is not uniform.
type spread struct {
	kind  string
	cells uint64
	order permutation // puts the ranks of zipf, pareto and normal to their places

	curve *curve // of zipf, pareto and normal

	deck          deck // of zones, and of the band and what is outside
	starts, sizes []uint64

	every, left uint64 // the band: I/Os until it moves
	at, width   uint64
}

// newSpread lays a distribution on cells of cell bytes. The seed is that of all threads, so that they
// share the hot places.
func newSpread(d *Distribution, cells uint64, cell int64, seed uint64) (*spread, error) {
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
		return s, s.layZones(d, cell)
	}
	s.order = newPermutation(cells, Mix(seed^0x73636174746572))
	return s, nil
}

// layZones cuts the range into zones, at borders of cells.
func (s *spread) layZones(d *Distribution, cell int64) error {
	shares := make([]unit.Percent, len(d.Zones))
	var space unit.Percent
	var total int64
	start := uint64(0)
	for i, z := range d.Zones {
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
		return s.order.at(s.curve.draw(rng))
	case HotBand:
		return s.band(rng)
	}
	zone := s.deck.draw(rng)
	return s.starts[zone] + below(rng, s.sizes[zone])
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
