package merge

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"blkstorm/device"
	"blkstorm/histogram"
	"blkstorm/host"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/result/load"
	"blkstorm/verdict"
)

// member is one input, as it stays in memory: without histograms, and without its document.
type member struct {
	index     int // in the sorted list
	path      string
	host, id  string
	called    string // see nameMembers
	version   string
	started   time.Time
	facts     host.Facts
	clock     host.Clock
	asked     []float64 // percentiles
	targets   []*device.Facts
	canonical string // what it ran, see canonical
	warnings  []verdict.Warning
	broken    bool // its files are damaged
	notes     []string

	// rows are what it is in Merge.Members: one for itself, or those of the merge that it is.
	rows    []result.MergeMember
	merged  bool
	firstAt int // index of rows[0] in the document
	target  int // index of targets[0] in the document
	files   *load.Result
}

// compare orders members by what they are, not by how they were named on the command line.
func (a *member) compare(b *member) int {
	return cmp.Or(cmp.Compare(a.host, b.host), a.started.Compare(b.started), cmp.Compare(a.id, b.id), cmp.Compare(a.path, b.path))
}

// key is what points of different members are matched by.
type key struct {
	phase, label string
	round        int
	nth          int // of those that are the same in all above
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.phase, o.phase), cmp.Compare(k.round, o.round), cmp.Compare(k.label, o.label), cmp.Compare(k.nth, o.nth))
}

// part is one member's part of a point.
type part struct {
	member  *member
	at      int // the point's index in the member
	started time.Time
	window  float64 // s; 0: nothing was measured
	// fromFiles says that the document does not have the point, in which the run was cut off.
	fromFiles bool
	skipped   string
	even      bool   // its rates are its counts divided by its window
	missing   string // why there are no figures, where nothing else says it
	series    series // what its files have of it
	rows      []result.MergeRow
	targets   []*result.Target // as many as the member has
	notes     []string
}

// gave says whether the part has figures.
func (p *part) gave() bool { return p.window > 0 }

// read takes in one result. An error means that nothing of it is used.
func (m *merger) read(path string, s *scratch) error {
	r, err := load.Open(path)
	if err != nil {
		return err
	}
	d := r.Doc
	if d.FindMax != nil {
		return &refusal{fmt.Errorf("%s is a search for a capacity: its steps follow from what that machine gave, and no other has the same; merge runs at a rate that all of them keep", r.Name())}
	}
	if r.Kind == load.Folder && len(d.Points) == 0 && r.Gaps.NoRows {
		return fmt.Errorf("%s: it has no point: the run ended before its first one", r.Name())
	}
	mem := &member{
		path: r.Path, host: d.Host.Hostname, id: d.ID, version: d.Version, started: d.Started, facts: d.Host, clock: d.Clock,
		asked: d.Percentiles, targets: d.Targets, warnings: d.Warnings, merged: d.Merge != nil,
	}
	if mem.host == "" {
		mem.host = hostOfPath(r.Name())
	}
	mem.rows = mem.membersOf(d)
	walks := r.Kind == load.Folder && !r.Gaps.NoLog && !mem.merged
	ran := canonical(r)
	parts := mem.parts(d)
	parts.plan = d.Plan
	if walks {
		s.walkAll(mem, parts, r)
	}
	for _, k := range parts.order {
		p := parts.all[k]
		var doc *result.Point
		if p.at < len(d.Points) {
			doc = d.Points[p.at]
		}
		m.add(k, p, doc, d.Merge, s)
	}
	if walks { // what is left is the way to the files
		mem.files = r
		r.Doc = &result.Doc{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.members = append(m.members, mem)
	m.keepPlan(mem, ran, d.Plan)
	if d.Merge != nil {
		m.leftOut = append(m.leftOut, d.Merge.LeftOut...)
	}
	return nil
}

// hostOfPath names a machine that did not say its name.
func hostOfPath(path string) string {
	if base := filepath.Base(path); base != "result.json" && base != "." {
		return base
	}
	return filepath.Base(filepath.Dir(path))
}

// membersOf is what a document is in the list of members.
func (mem *member) membersOf(d *result.Doc) []result.MergeMember {
	if d.Merge == nil {
		row := result.MergeMember{Path: mem.path, Host: mem.host, ID: mem.id, Started: mem.started, Targets: []int{}}
		for i := range mem.targets {
			row.Targets = append(row.Targets, i)
		}
		return []result.MergeMember{row}
	}
	return d.Merge.Members
}

// partsOf are the points of a member.
type partsOf struct {
	order []key
	all   map[key]*part
	at    map[int]*part
	seen  map[key]int
	plan  *plan.Plan // nil of fio
}

func (mem *member) parts(d *result.Doc) *partsOf {
	parts := &partsOf{all: map[key]*part{}, at: map[int]*part{}, seen: map[key]int{}}
	for i, p := range d.Points {
		part := parts.add(mem, i, key{phase: p.Phase, label: p.Label, round: p.Round})
		part.started, part.window, part.skipped = p.Started, p.WindowS, p.Skipped
	}
	return parts
}

func (parts *partsOf) add(mem *member, at int, k key) *part {
	k.nth = parts.seen[k]
	first := k
	first.nth = 0
	parts.seen[first]++
	p := &part{member: mem, at: at}
	parts.order = append(parts.order, k)
	parts.all[k], parts.at[at] = p, p
	return p
}

// of is the part that a row belongs to. The document lacks that of a point within which the run was cut
// off: then the plan says in which phase it was. nil: nothing says it.
func (parts *partsOf) of(mem *member, row *result.Interval) *part {
	if p := parts.at[row.Point]; p != nil || parts.plan == nil {
		return p
	}
	n := 0
	for i := range parts.plan.Phases {
		ph := &parts.plan.Phases[i]
		if ph.Rounds != nil {
			break // how many points it makes is not known
		}
		if row.Point < n+len(ph.Points) && ph.Points[row.Point-n].Label == row.Label {
			return parts.add(mem, row.Point, key{label: row.Label, phase: ph.Kind})
		}
		n += len(ph.Points)
	}
	return nil
}

// walkAll finds out what the member's files have of its points.
func (s *scratch) walkAll(mem *member, parts *partsOf, r *load.Result) {
	w := newWalker(r)
	defer w.close()
	for {
		sl, err := w.next()
		if err != nil {
			mem.broken = true
			mem.notes = append(mem.notes, err.Error())
			return
		}
		if sl == nil {
			break
		}
		p := parts.of(mem, sl.row)
		if p == nil {
			continue
		}
		if p.series.append(sl.row); !sl.whole {
			p.series.cutAt(sl.row.StartUnixNS)
		}
	}
	if w.lost != "" {
		mem.broken = true
		mem.notes = append(mem.notes, w.lost)
	}
	if r.Gaps.RowsCut || r.Gaps.LogCut {
		mem.broken = true
		mem.notes = append(mem.notes, "its files end within a line: the run was killed, or the copy is not whole")
	}
}

// scratch is what one worker needs, again and again.
type scratch struct {
	pool    []*histogram.Histogram
	decoded map[figures]*histogram.Histogram // of one point; nil for what has no histogram
	cells   cells
}

// figures tell a latency from others.
type figures struct {
	hdr                    string
	count                  uint64
	min, mean, stddev, max int64
}

func figuresOf(l *result.Latency) figures {
	return figures{l.HDR, l.Count, l.Min, l.Mean, l.StdDev, l.Max}
}

func newScratch() *scratch { return &scratch{decoded: map[figures]*histogram.Histogram{}} }

// prepare decodes all that will be asked for of a point, so that nothing of it is added when something is
// damaged.
func (s *scratch) prepare(doc *result.Point) error {
	clear(s.decoded)
	stats := []*result.Stat{doc.Read, doc.Write, doc.Trim, doc.Sync}
	for _, st := range doc.Streams {
		stats = append(stats, st.Read, st.Write, st.Trim, st.Sync)
	}
	for _, stat := range stats {
		if err := s.decode(stat.Latency); err != nil {
			return err
		}
		if stat.OpenLoop != nil {
			if err := s.decode(stat.Response); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *scratch) decode(l *result.Latency) error {
	key := figuresOf(l)
	if _, has := s.decoded[key]; has || l.Count == 0 {
		return nil
	}
	n := len(s.decoded)
	if n == len(s.pool) {
		s.pool = append(s.pool, histogram.New())
	}
	err := load.Decode(s.pool[n], l)
	if errors.Is(err, load.ErrNoHistogram) {
		s.decoded[key] = nil
		return nil
	}
	s.decoded[key] = s.pool[n]
	return err
}

// histogram is what prepare has decoded.
func (s *scratch) histogram(l *result.Latency) *histogram.Histogram { return s.decoded[figuresOf(l)] }
