package steady

import "fmt"

// Multi judges several variables of the same rounds together: steady state is reached in the first round in
// which the windows of all of them, which are the same rounds, keep the rule (SNIA SSS PTS 2.0.2 asks for
// that in its IOPS test). Whoever runs the rounds ends with that one: nothing drifts here. It is not safe
// for use from several goroutines.
type Multi struct {
	rules  []Rule
	rounds [][]float64 // by variable
	last   []State
	first  []State // of the first window in which all were steady; nil while there is none
}

// NewMulti begins with no round. rule, whose metric is not used, must be valid; there is a variable for each
// of metrics.
func NewMulti(rule Rule, metrics ...Metric) *Multi {
	m := &Multi{rounds: make([][]float64, len(metrics))}
	for _, metric := range metrics {
		rule.Metric = metric
		m.rules = append(m.rules, rule)
	}
	m.judge()
	return m
}

// Add takes in the next round, a value for each variable (see Rule.Judge for one without a figure), and says
// whether steady state is reached, in this round or before.
func (m *Multi) Add(values ...float64) bool {
	for i, v := range values {
		m.rounds[i] = append(m.rounds[i], v)
	}
	m.judge()
	return m.first != nil
}

// judge judges the last window of each variable, and of all together.
func (m *Multi) judge() {
	m.last = make([]State, len(m.rules))
	steady := len(m.rules) > 0
	for i := range m.rules {
		t := Tracker{rule: m.rules[i], rounds: m.rounds[i]}
		s := State{Rounds: len(m.rounds[i])}
		t.window(&s)
		steady = steady && s.Steady
		m.last[i] = s
	}
	for i := range m.last {
		s, most := &m.last[i], m.rules[i].MaxRounds
		switch {
		case m.first != nil:
			s.Reached = m.first[i].Reached
		case most > 0 && s.Rounds > most:
			if s.Steady {
				s.Steady, s.Reason = false, fmt.Sprintf("not reached in %d rounds", most)
			}
			steady, s.NeverReached = false, true
		case steady:
			s.Reached = s.Rounds
		default:
			s.NeverReached = most > 0 && s.Rounds == most
		}
	}
	if steady && m.first == nil {
		m.first = m.last
	}
}

// Reports sums up each variable. The state is of the window in which all were steady, else of the last one;
// its Reached and NeverReached are of all variables together, and Steady says whether this one keeps the
// rule there.
func (m *Multi) Reports() []Report {
	states := m.last
	if m.first != nil {
		states = m.first
	}
	list := make([]Report, len(m.rules))
	for i := range list {
		list[i] = Report{Rule: m.rules[i], State: states[i], Values: shown(m.rounds[i]), Drifted: []int{}}
	}
	return list
}
