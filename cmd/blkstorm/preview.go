package main

import (
	"fmt"

	"github.com/dustin/go-humanize"

	"blkstorm/execute"
	"blkstorm/plan"
)

// previewPoints is how many points of a phase a dry run shows line by line, and previewCells how many of a
// phase of rounds, whose whole matrix is of interest; of more it shows the first and the last.
const previewPoints, previewCells = 20, 100

// previewPhase says what a phase will do.
func previewPhase(say func(string, ...any), v *execute.PreviewPhase, phase *plan.Phase) {
	if phase.Kind == plan.Idle {
		say("%s: %v%s", phase.Kind, phase.Time.D(), finished(v.Finished > 0))
		return
	}
	reasons := map[int]string{}
	for _, s := range v.Skipped {
		reasons[s.Point] = s.Reason
	}
	n, shown := len(phase.Points), previewPoints
	if phase.Rounds != nil {
		shown = previewCells
		skipped := ""
		if len(v.Skipped) > 0 {
			skipped = fmt.Sprintf(" (%d others are skipped)", len(v.Skipped))
		}
		say("%s: %d points a round%s, at most %d rounds, %v", phase.Kind, v.Points, skipped, v.Rounds, v.Outlook)
	} else if n > 1 {
		skipped := ""
		if len(v.Skipped) > 0 {
			skipped = fmt.Sprintf(", of which %d are skipped", len(v.Skipped))
		}
		done := ""
		if v.Finished > 0 {
			done = fmt.Sprintf(", of which %d are finished", v.Finished)
		}
		say("%s: %d points%s%s, %v", phase.Kind, n, skipped, done, v.Outlook)
	}
	for j := range phase.Points {
		if n > shown && j > 0 && j < n-1 {
			if j == 1 {
				say("  and so on, to")
			}
			continue
		}
		indent := ""
		if n > 1 || phase.Rounds != nil {
			indent = fmt.Sprintf("  [%d] ", j+1)
		}
		say("%s%s", indent, previewPoint(phase, &phase.Points[j], reasons[j], &v.Each[j], j < v.Finished))
	}
	if phase.Rounds != nil {
		for _, line := range roundLines(phase, v.Rounds)[1:] {
			say("%s", line)
		}
	}
	for i, s := range v.Skipped { // those that have no line of their own
		if n > shown && s.Point > 0 && s.Point < n-1 {
			if i == previewPoints {
				say("  and more are skipped; --format json has them all")
				return
			}
			say("  [%d] %s: skipped: %s", s.Point+1, s.Label, s.Reason)
		}
	}
}

// previewPoint is one point in a line.
func previewPoint(phase *plan.Phase, p *plan.Point, skipped string, o *execute.Outlook, done bool) string {
	text := fmt.Sprintf("%s: %s", phase.Kind, p.Label)
	switch {
	case done:
		return text + finished(done)
	case skipped != "":
		return fmt.Sprintf("%s: skipped: %s", text, skipped)
	case o.WriteBytes > 0:
		return fmt.Sprintf("%s, writes %s (%s)", text, humanize.Bytes(uint64(o.WriteBytes)), humanize.IBytes(uint64(o.WriteBytes)))
	case o.TrimBytes > 0:
		return fmt.Sprintf("%s, trims %s (%s)", text, humanize.Bytes(uint64(o.TrimBytes)), humanize.IBytes(uint64(o.TrimBytes)))
	case phase.Steady != nil:
		return fmt.Sprintf("%s, until steady: %s", text, steadyText(phase))
	}
	return text + ", " + p.EndText()
}

// finished says of a part of a run that is gone on with that it is done.
func finished(is bool) string {
	if !is {
		return ""
	}
	return ": finished"
}
