package execute

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/unit"
	"blkstorm/verdict"
)

// FinishedError is Prepare's answer when the run to be gone on with has nothing left to do.
type FinishedError struct {
	Dir string
	Doc *result.Doc // as the folder has it
}

func (e *FinishedError) Error() string {
	return fmt.Sprintf("the run in %s is finished: nothing is left to do", e.Dir)
}

// OtherTargetError is Prepare's answer when a target of the run to be gone on with is not the one that
// the run began on. Nothing was touched.
type OtherTargetError struct {
	Dir, Path string
	Differs   []string // each with what it was and is
}

func (e *OtherTargetError) Error() string {
	return fmt.Sprintf("refused to go on with the run in %s: %s is not the target that it began on: %s; put that one back, or start a new run",
		e.Dir, e.Path, strings.Join(e.Differs, "; "))
}

// step is something that a run does in its order: a point, or idling.
type step struct {
	phase *plan.Phase
	point *plan.Point // nil in an idle phase
}

// resumption is a run that was cut off, as its folder has it.
type resumption struct {
	folder *result.Folder
	doc    *result.Doc // with the finished points only
	did    []step      // what they are in the plan, one for one
	// The place of the last of them in the plan; its point is -1 for none.
	place
	again    []step // to be done again before the others
	newFiles bool
}

// againMark ends the label of a point that is done once more.
const againMark = " (again)"

// openRun reads the folder of a run that is to be gone on with.
func openRun(o *Options) (r *resumption, err error) {
	folder, doc, err := result.OpenFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, folder.Close())
		}
	}()
	fail := func(format string, args ...any) (*resumption, error) {
		return nil, fmt.Errorf("result folder %s: "+format, append([]any{o.Dir}, args...)...)
	}
	switch {
	case doc.Merge != nil:
		return fail("it is a merge: go on with the runs that it was made of, and merge them again")
	case doc.FindMax != nil:
		return fail("a search cannot be gone on with, since each of its steps follows from those before; start it again in another folder")
	case doc.Plan == nil || doc.Plan.Schema != plan.Schema:
		return fail("it has no plan that this version can go on with")
	case len(doc.Plan.Targets) != len(doc.Targets) || slices.Contains(doc.Targets, nil):
		return fail("its document has no facts of its targets")
	}
	r = &resumption{folder: folder, doc: doc, place: place{point: -1}}
	whole := *doc
	if n := len(doc.Points); n > 0 && (doc.Points[n-1].Interrupted || unfit(doc, false)) {
		doc.Points = doc.Points[:n-1] // to be run again from its beginning
	}
	if err := r.walk(); err != nil {
		return fail("%w", err)
	}
	doc.Rounds = nil // they follow from the points
	doc.SumUp()
	if o.KeepRows {
		if err := folder.Rows(doc); err != nil {
			return nil, err
		}
	}
	if !r.left() {
		return nil, &FinishedError{Dir: o.Dir, Doc: &whole}
	}
	if err := folder.Writable(); err != nil {
		return nil, err
	}
	if o.RePrecondition {
		if err := r.precondition(); err != nil {
			return fail("%w", err)
		}
	}
	return r, nil
}

// walk finds the finished points in the plan, in order. Points of the plan may be missing among them,
// where they could not be run; points that repeat others stand in no plan.
func (r *resumption) walk() error {
	repeated := map[int]bool{}
	for i := range r.doc.Resumed {
		e := &r.doc.Resumed[i]
		e.Repeated = slices.DeleteFunc(e.Repeated, func(n int) bool { return n >= len(r.doc.Points) })
		for _, n := range e.Repeated {
			repeated[n] = true
		}
	}
	phases := r.doc.Plan.Phases
	for n, p := range r.doc.Points {
		if repeated[n] {
			label := strings.TrimSuffix(p.Label, againMark)
			k := slices.IndexFunc(r.did, func(s step) bool { return s.phase.Kind == p.Phase && s.point.Label == label })
			if k < 0 {
				return fmt.Errorf("its point %d, %q, repeats none of those before it", n, p.Label)
			}
			r.did = append(r.did, r.did[k])
			continue
		}
		at := r.place
		for at.point++; at.phase < len(phases) && !at.find(&phases[at.phase], p); {
			at = place{phase: at.phase + 1}
		}
		if at.phase == len(phases) {
			return fmt.Errorf("its point %d, %q, does not follow from its plan", n, p.Label)
		}
		r.place = at
		r.did = append(r.did, step{&phases[at.phase], &phases[at.phase].Points[at.point]})
	}
	return nil
}

// find moves on to a point of the document within a phase, and says whether it is there.
func (at *place) find(phase *plan.Phase, p *result.Point) bool {
	most := 0
	if phase.Rounds != nil {
		most = phase.Rounds.Rule.MaxRounds
	}
	if phase.Kind != p.Phase || p.Round < at.round || p.Round > most || p.Round == 0 && most > 0 {
		return false
	}
	if p.Round > at.round {
		at.round, at.point = p.Round, 0
	}
	for at.point < len(phase.Points) && phase.Points[at.point].Label != p.Label {
		at.point++
	}
	return at.point < len(phase.Points)
}

// left says whether the plan has points after the last finished one.
func (r *resumption) left() bool {
	phases := r.doc.Plan.Phases
	if r.phase < len(phases) && r.point+1 < len(phases[r.phase].Points) {
		return true
	}
	if r.round > 0 && !lastRounds(r.doc).Over(phases[r.phase].Rounds.Rule.MaxRounds) {
		return true
	}
	return r.phase+1 < len(phases) && slices.ContainsFunc(phases[r.phase+1:], func(ph plan.Phase) bool { return len(ph.Points) > 0 })
}

// precondition has the last finished precondition phase done again, with the idle phases that followed it.
func (r *resumption) precondition() error {
	phases := r.doc.Plan.Phases
	last := -1
	for i := range phases[:min(r.phase+1, len(phases))] {
		if over := i < r.phase || r.point+1 == len(phases[i].Points); over && phases[i].Kind == plan.Precondition {
			last = i
		}
	}
	if last < 0 {
		return errors.New("--re-precondition: no precondition phase has been finished, so there is none to repeat")
	}
	for j := range phases[last].Points {
		p := phases[last].Points[j]
		p.Label += againMark
		r.again = append(r.again, step{&phases[last], &p})
	}
	for i := last + 1; i < r.phase && phases[i].Kind == plan.Idle; i++ {
		r.again = append(r.again, step{phase: &phases[i]})
	}
	return nil
}

// began is what target pt was when the run began; nil in a run that begins now.
func (s *Session) began(pt *plan.Target) *device.Facts {
	if s.resumed == nil {
		return nil
	}
	for i := range s.plan.Targets {
		if &s.plan.Targets[i] == pt {
			return s.resumed.doc.Targets[i]
		}
	}
	return nil
}

// specOf is what names the target now. A file that was named relative to the folder of then is where it
// was.
func (s *Session) specOf(pt *plan.Target) string {
	if f := s.began(pt); f != nil && f.Kind == device.KindFile && !filepath.IsAbs(pt.Spec) {
		return f.Path
	}
	return pt.Spec
}

// gone is the error for a target of a resumed run that is not there.
func (s *Session) gone(pt *plan.Target, why error) error {
	return &OtherTargetError{Dir: s.opts.Dir, Path: s.specOf(pt), Differs: []string{"it is gone (" + why.Error() + ")"}}
}

// checkSame compares the targets with those that the run began on.
func (s *Session) checkSame() error {
	for i, t := range s.targets {
		was := s.resumed.doc.Targets[i]
		if t.create { // a scratch file, which always ends with its process
			s.resumed.newFiles = true
			continue
		}
		if list := differences(was, t.facts); len(list) > 0 {
			return &OtherTargetError{Dir: s.opts.Dir, Path: t.facts.Path, Differs: list}
		}
	}
	return nil
}

// differences lists what of a target is not as it was: kind, size and model always, its serial number
// and other names of its own, and which partition it is; its path where it had none of these, or is a file.
func differences(was, is *device.Facts) (list []string) {
	differ := func(what, before, now string) {
		if before != now {
			list = append(list, fmt.Sprintf("%s was %s, is %s", what, orNone(before), orNone(now)))
		}
	}
	differ("kind", was.Kind, is.Kind)
	differ("size", unit.Size(was.SizeBytes), unit.Size(is.SizeBytes))
	differ("model", was.Model, is.Model)
	named := false
	for _, id := range []struct{ what, before, now string }{
		{"serial", was.Serial, is.Serial}, {"wwn", was.WWN, is.WWN}, {"dm uuid", was.MapperUUID, is.MapperUUID},
	} {
		if id.before != "" {
			named = true
			differ(id.what, id.before, id.now)
		}
	}
	differ("partition", strings.TrimPrefix(was.Name, was.Disk), strings.TrimPrefix(is.Name, is.Disk))
	if !named || was.Kind == device.KindFile {
		differ("path", was.Path, is.Path)
		differ("backing file", was.BackingFile, is.BackingFile)
	}
	return list
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// goOn makes the session's state what it was when the last finished point had ended, and the document
// that the others are added to.
func (s *Session) goOn() *result.Doc {
	r := s.resumed
	doc := r.doc
	for i, st := range r.did {
		s.followDrift(st.phase, st.point, doc.Points[i])
	}
	end := doc.Started
	if n := len(doc.Points); n > 0 {
		last := doc.Points[n-1]
		end = last.Started.Add(time.Duration(last.WindowS * float64(time.Second)))
	}
	gap := max(0, s.started.Sub(end)) // the wall clock may have been set back
	doc.Resumed = append(doc.Resumed, result.Resumed{
		At: s.started.UTC(), AfterPoint: len(doc.Points) - 1, GapS: gap.Round(time.Millisecond).Seconds(), Version: s.opts.Version, NewFiles: r.newFiles,
	})
	for i, t := range s.targets {
		doc.Targets[i] = t.facts
	}
	for _, w := range s.notes {
		if !slices.ContainsFunc(doc.Warnings, func(old verdict.Warning) bool { return old.Code == w.Code }) {
			doc.Warnings = append(doc.Warnings, w)
		}
	}
	s.elsewhere(doc)
	s.opts.Percentiles = doc.Percentiles
	return doc
}

// begin writes the folder's first document, so that a run which is killed can be gone on with; of one
// that is gone on with, what was cut off goes.
func (s *Session) begin(doc *result.Doc, folder *result.Folder) error {
	if folder == nil {
		return nil
	}
	if s.resumed != nil {
		if err := folder.Keep(len(doc.Points)); err != nil {
			return err
		}
	}
	return folder.Result(doc)
}

// start is where Run begins in the plan: before the first point after this place.
func (s *Session) start() place {
	if s.resumed == nil {
		return place{point: -1}
	}
	return s.resumed.place
}

// repeat is the next point that is done once more; nil when there is no more of them.
func (s *Session) repeat(ctx context.Context, doc *result.Doc) (*plan.Phase, *plan.Point) {
	for s.resumed != nil && len(s.resumed.again) > 0 && ctx.Err() == nil {
		next := s.resumed.again[0]
		s.resumed.again = s.resumed.again[1:]
		if next.point != nil {
			now := &doc.Resumed[len(doc.Resumed)-1]
			now.Repeated = append(now.Repeated, len(doc.Points))
			return next.phase, next.point
		}
		s.idle(ctx, next.phase.Time.D())
	}
	return nil, nil
}

// maxGap is how long a preconditioned device may stand still before its state is no longer trusted.
const maxGap = time.Minute

// standstill says what has come between the last preconditioning and a point that measures what it
// left; empty when nothing did.
func standstill(doc *result.Doc, phase *plan.Phase) string {
	if phase.Kind != plan.Measure {
		return ""
	}
	last := -1
	for i, p := range doc.Points {
		if p.Phase == plan.Precondition {
			last = i
		}
	}
	if last < 0 && phase.Rounds != nil { // a round that follows a rest is none of those before it
		last = lastRounds(doc).FirstPoint
	}
	text := ""
	for i := range doc.Resumed {
		e := &doc.Resumed[i]
		if last < 0 || e.AfterPoint < last {
			continue
		}
		if gap := time.Duration(e.GapS * float64(time.Second)); gap > maxGap {
			text = fmt.Sprintf("the run was cut off, and %v passed before it went on", gap.Round(time.Second))
		}
		if e.NewFiles {
			return "the run was cut off, and its scratch file was made anew when it went on"
		}
	}
	return text
}
