package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"blkstorm/plan"
	"blkstorm/workload"
)

// addPacing adds the options that say when to issue.
func (l *loadFlags) addPacing(f *pflag.FlagSet) {
	p := &l.pacing
	f.Var(ratesFlag{&p.IOPS, workload.ParseIOPS, "RATE"}, "rate-iops", "I/Os per second and target, planned ahead: a total, or READ,WRITE, which fixes the mix (default: as fast as the depth allows)")
	f.Var(ratesFlag{&p.Bytes, workload.ParseByteRates, "SIZE"}, "rate-bytes", "bytes per second and target, planned ahead: a total, or READ,WRITE")
	f.StringVar(&p.Arrival, "arrival", "", "how planned I/Os follow each other, `KIND` is "+strings.Join(workload.Arrivals, "|")+" (default fixed)")
	f.Var(textFlag{&p.Burst, "N/TIME"}, "burst", "N I/Os per target at once, every TIME, as in 1000/10s")
	f.Var(textFlag{&p.Think, "TIME[/N]"}, "think-time", "a thread pauses for TIME after each I/O, or after each N of them")
}

// severalStreams makes one stream from each --stream. An option that stands beside them counts in each
// that does not have it.
func (l *loadFlags) severalStreams(f *pflag.FlagSet, targets []plan.Target) ([]plan.Stream, error) {
	var streams []plan.Stream
	for i, text := range l.streams {
		s, err := l.oneOfSeveral(f, text, targets)
		if err != nil {
			return nil, fmt.Errorf("--stream %d %q: %w", i+1, text, err)
		}
		if slices.ContainsFunc(streams, func(o plan.Stream) bool { return o.Label == s.Label }) {
			s.Label = fmt.Sprintf("%s %d", s.Label, i+1)
		}
		streams = append(streams, *s)
	}
	for i := range targets {
		if !slices.ContainsFunc(streams, func(s plan.Stream) bool { return slices.Contains(s.Targets, i) }) {
			return nil, fmt.Errorf("target %s: no --stream is on it; name it in one of their on=, or leave it out", targets[i].Spec)
		}
	}
	return streams, nil
}

func (l *loadFlags) oneOfSeveral(defaults *pflag.FlagSet, text string, targets []plan.Target) (*plan.Stream, error) {
	var own loadFlags
	f := pflag.NewFlagSet("stream", pflag.ContinueOnError)
	own.addStream(f)
	own.addHow(f)
	f.StringVar(&own.label, "label", "", "`NAME` in the result")
	f.StringVar(&own.on, "on", "", "`TARGET`s that it uses")
	f.Float64Var(&own.share, "share", 0, "`PCT` of the I/Os")
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil, errors.New("has no option")
	}
	for i, w := range words {
		name, value, assigned := strings.Cut(strings.TrimPrefix(w, "--"), "=")
		o := f.Lookup(name)
		switch {
		case !assigned || o == nil:
		case value == "":
			return nil, emptyFlag(o)
		case !strings.HasPrefix(w, "-"):
			words[i] = "--" + w
		}
	}
	if err := f.Parse(words); err != nil {
		return nil, streamError(err)
	}
	if rest := f.Args(); len(rest) > 0 {
		return nil, fmt.Errorf("%q is no option of a stream; write options as in rw=write bs=64k", rest[0])
	}
	if f.Changed("share") && !(own.share > 0 && own.share <= 100) {
		return nil, fmt.Errorf("--share %v: must be over 0 and up to 100", own.share)
	}
	ownPace := own.pacing.Open() || !own.pacing.Think.IsZero()
	if err := l.inherit(defaults, f, ownPace, &own); err != nil {
		return nil, err
	}
	s, err := own.stream(f, targets)
	if err != nil {
		return nil, err
	}
	l.how(f, &own, s)
	if s.Share > 0 && !ownPace && !s.Pacing.Rates().IsZero() {
		// The rate that stands beside the streams is that of all of them.
		s.Pacing.IOPS, s.Pacing.Bytes = s.Pacing.IOPS.Times(s.Share/100), s.Pacing.Bytes.Times(s.Share/100)
		s.Share = 0
	}
	return s, nil
}

// how notes in a stream what it has of hows otherwise than the run.
func (l *loadFlags) how(f *pflag.FlagSet, own *loadFlags, s *plan.Stream) {
	if f.Changed("engine") && own.engine != l.engine {
		s.Engine = own.engine
	}
	if f.Changed("complete-min") && own.completeMin != l.completeMin {
		s.CompleteMin = own.completeMin
	}
	if f.Changed("pin") && own.pin != l.pin {
		s.Pin = own.pin
	}
	if f.Changed("direct") && own.direct != l.direct {
		s.Direct = &own.direct
	}
	if f.Changed("continue-on-error") && own.continueOnError != l.continueOnError {
		s.ContinueOnError = &own.continueOnError
	}
}

// inherit sets what stands beside the streams and is not given in this one.
func (l *loadFlags) inherit(defaults, f *pflag.FlagSet, ownPace bool, own *loadFlags) error {
	paces := []string{"rate-iops", "rate-bytes", "arrival", "burst", "think-time"}
	sizes := []string{"bs", "bssplit", "bsrange"}
	ownSizes := slices.ContainsFunc(sizes, f.Changed)
	var first error
	defaults.Visit(func(d *pflag.Flag) {
		if f.Lookup(d.Name) == nil || f.Changed(d.Name) || slices.Contains(hows, d.Name) {
			return // the plan has those of hows
		}
		switch {
		case ownPace && slices.Contains(paces, d.Name), ownSizes && slices.Contains(sizes, d.Name):
			return // the stream has its own, in other words
		case d.Name == "read-pct":
			if f.Changed("rw") && !own.workload.Mixed() || own.pacing.Rates().PerDirection() {
				return
			}
		}
		if err := f.Set(d.Name, d.Value.String()); err != nil && first == nil {
			first = err
		}
	})
	return first
}

// streamError says what is wrong with an option of a stream.
func streamError(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return invalidFlag(invalid)
	}
	return err
}

// targetsOf are the numbers of the stream's targets: those it names, or all.
func (l *loadFlags) targetsOf(targets []plan.Target) ([]int, error) {
	var list []int
	if l.on == "" {
		for i := range targets {
			list = append(list, i)
		}
		return list, nil
	}
	for name := range strings.SplitSeq(l.on, ",") {
		i := slices.IndexFunc(targets, func(t plan.Target) bool { return t.Spec == name })
		if i < 0 {
			return nil, fmt.Errorf("--on %s: is not written among the targets of the run", name)
		}
		if slices.Contains(list, i) {
			return nil, fmt.Errorf("--on %s: names it twice", name)
		}
		list = append(list, i)
	}
	return list, nil
}
