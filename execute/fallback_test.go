package execute

import (
	"context"
	"errors"
	"testing"

	"blkstorm/ioengine"
	"blkstorm/ioengine/null"
	"blkstorm/plan"
	"blkstorm/runner"
)

func broken(name string) ioengine.Driver {
	return ioengine.Driver{Name: name, Open: func(ioengine.Config) (ioengine.Engine, error) { return nil, errors.New(name + " is broken") }}
}

// What cannot be set up is passed over, with its reason; the last one's error is the point's.
func TestFallback(t *testing.T) {
	p := job("randread", plan.Target{Spec: file(t, 1<<20)})
	s, err := Prepare(p, options())
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.config(&p.Phases[0].Points[0])
	cfg.Pin = runner.PinNone

	res, used, passed, err := runBest(context.Background(), &cfg, []ioengine.Driver{broken("a"), broken("b"), null.Driver})
	if err != nil || res == nil || used != 2 || len(passed) != 2 || passed[1].Engine != "b" || passed[1].Reason != "b is broken" {
		t.Errorf("%v, %d, %+v, %v", res, used, passed, err)
	}
	res, used, passed, err = runBest(context.Background(), &cfg, []ioengine.Driver{broken("a"), broken("b")})
	var open *ioengine.OpenError
	if !errors.As(err, &open) || open.Engine != "b" || res != nil || used != 1 || len(passed) != 1 {
		t.Errorf("%v, %d, %+v, %v", res, used, passed, err)
	}

	s.drivers = []ioengine.Driver{broken("a"), null.Driver}
	if _, err := s.runWithFallback(context.Background(), &cfg); err != nil || s.driver.Name != "null" || len(s.drivers) != 1 || len(s.passed) != 1 {
		t.Errorf("%v, %s, %d drivers, %+v", err, s.driver.Name, len(s.drivers), s.passed)
	}
}
