package plan

import "fmt"

// CheckData says what is asked of written data although nothing is written: no stream that has such
// data writes, and the run makes no file, which it would lay out with them. Streams that only read may
// have data beside others that write, as the points of a sweep over shapes do.
func (p *Plan) CheckData() error {
	var wrong *PartError
	for i := range p.Targets {
		if t := &p.Targets[i]; t.Spec == "" || t.CreateBytes > 0 {
			return nil
		}
	}
	for i := range p.Phases {
		for j := range p.Phases[i].Points {
			streams := p.Phases[i].Points[j].Streams
			for k := range streams {
				w := &streams[k].Workload
				asked := w.Data.Asked()
				switch {
				case asked == "":
				case w.Writes():
					return nil
				case wrong == nil:
					wrong = &PartError{i, j, k, fmt.Errorf("%s: goes with shapes that write; --rw %s issues no writes", asked, w.RW)}
				}
			}
		}
	}
	if wrong == nil {
		return nil
	}
	return wrong
}
