package plan

import (
	"fmt"

	"blkstorm/ioengine/registry"
)

// EngineOf is the name of the engine that a stream runs on: its own, or the plan's.
func (p *Plan) EngineOf(s *Stream) string {
	if s.Engine != "" {
		return s.Engine
	}
	return p.Engine
}

// DirectOf says whether a stream bypasses the page cache.
func (p *Plan) DirectOf(s *Stream) bool {
	if s.Direct != nil {
		return *s.Direct
	}
	return p.Direct
}

// ContinuesOnError says whether a stream counts failed I/Os and goes on.
func (p *Plan) ContinuesOnError(s *Stream) bool {
	if s.ContinueOnError != nil {
		return *s.ContinueOnError
	}
	return p.ContinueOnError
}

// CompleteMinOf is how many completions the stream's threads wait for at once.
func (p *Plan) CompleteMinOf(s *Stream) int {
	if s.CompleteMin != 0 {
		return s.CompleteMin
	}
	return p.CompleteMin
}

// OwnEngines lists the engines that streams name beside the plan's.
func (p *Plan) OwnEngines() (names []string) {
	seen := map[string]bool{p.Engine: true}
	p.eachStream(func(_ *Point, s *Stream) {
		if name := p.EngineOf(s); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	})
	return names
}

// OptionsOf are what the plan asks of an engine that a stream names: polling is for the plan's own.
func (p *Plan) OptionsOf(engine string) registry.Options {
	if engine == p.Engine {
		return p.EngineOptions()
	}
	return registry.Options{}
}

// checkOwn checks what the stream has otherwise than the plan.
func (s *Stream) checkOwn(p *Plan) error {
	if s.Engine != "" {
		if err := registry.Check(s.Engine, p.OptionsOf(s.Engine)); err != nil {
			return fmt.Errorf("--engine: %w", err)
		}
		switch {
		case s.Engine == registry.Auto && p.Engine != registry.Auto:
			return fmt.Errorf("--engine %s of stream %q: is for the whole plan; name an engine here", s.Engine, s.Label)
		case registry.Dry(s.Engine) != registry.Dry(p.Engine):
			return fmt.Errorf("--engine %s of stream %q: an engine that moves nothing cannot run beside one that does (%s)", s.Engine, s.Label, p.Engine)
		}
	}
	if n := p.CompleteMinOf(s); n < 1 || n > s.IODepth {
		return fmt.Errorf("--complete-min %d: must be from 1 to the queue depth, %d", n, s.IODepth)
	}
	return nil
}
