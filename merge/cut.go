package merge

import (
	"runtime"
	"sync"

	"blkstorm/result"
)

// cut decides what each point covers, and cuts the time in common out of the members' files where that is
// not the same as their windows. What turns out to be damaged ends its member's part there, and the time in
// common is shorter: then the point is cut anew.
func (m *merger) cut() error {
	todo := m.order
	for len(todo) > 0 {
		var cutting []*point
		for _, p := range todo {
			if p.choose(); p.window.kind == result.MergeCommon {
				p.total.cut()
				for d := range p.dirs {
					p.dirs[d].cut()
				}
				for _, st := range p.streams {
					st.total.cut()
					for d := range st.dirs {
						st.dirs[d].cut()
					}
				}
				cutting = append(cutting, p)
			} else if m.options.Folder != nil && len(p.window.rows) > 0 {
				cutting = append(cutting, p) // only to see whether its rows are sound
			}
		}
		damaged := m.cutAll(cutting)
		todo = nil
		for _, p := range cutting {
			if damaged[p] {
				todo = append(todo, p)
			}
		}
	}
	return nil
}

// cutAll adds the cut-out windows of all members to the points, and returns the points to be cut anew.
func (m *merger) cutAll(points []*point) map[*point]bool {
	if len(points) == 0 {
		return nil
	}
	wanted := map[*member]map[int]cutting{}
	for _, p := range points {
		for _, part := range p.giving() {
			if wanted[part.member] == nil {
				wanted[part.member] = map[int]cutting{}
			}
			wanted[part.member][part.at] = cutting{p, part}
		}
	}
	damaged := map[*point]bool{}
	var mu sync.Mutex
	next := make(chan *member)
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(wanted)) {
		group.Go(func() {
			s := newScratch()
			for mem := range next {
				for _, p := range s.cutMember(mem, wanted[mem]) {
					mu.Lock()
					damaged[p] = true
					mu.Unlock()
				}
			}
		})
	}
	for _, mem := range m.members {
		if wanted[mem] != nil {
			next <- mem
		}
	}
	close(next)
	group.Wait()
	return damaged
}

// cutting is one member's part of a point.
type cutting struct {
	point *point
	part  *part
}

// cutMember goes through a member's files once, and adds each part when its last interval has passed. It
// returns the points of which the files have less than they seemed to have.
func (s *scratch) cutMember(mem *member, wanted map[int]cutting) (damaged []*point) {
	w := newWalker(mem.files)
	defer w.close()
	var now *cutting
	flush := func() {
		if now != nil && now.point.window.kind == result.MergeCommon {
			s.cells.into(now)
		}
		now = nil
	}
	bad := map[int]bool{}
	for {
		sl, err := w.next()
		if sl == nil || err != nil { // a first walk has seen the error, and no window reaches so far
			break
		}
		c, has := wanted[sl.row.Point]
		if !has || bad[sl.row.Point] {
			continue
		}
		if now == nil || now.part != c.part {
			flush()
			now = &c
			s.cells.begin(c.part)
		}
		if !c.point.window.takes(sl.row, c.part.series.unit, s.cells.rows) {
			continue
		}
		take := s.cells.add
		if c.point.window.kind == result.MergeEqual {
			take = s.cells.check
		}
		if err := take(sl); err != nil {
			bad[sl.row.Point] = true
			c.part.series.cutAt(sl.row.StartUnixNS)
			mem.broken = true
			mem.notes = append(mem.notes, "its latency.hlog is damaged: "+err.Error())
			damaged = append(damaged, c.point)
			now = nil
		}
	}
	flush()
	return damaged
}
