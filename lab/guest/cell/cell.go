// Package cell holds what the two halves of the guest lab share: the command on the host (lab/guest)
// and the agent in the guest (lab/guest/inside).
package cell

// Cell is one answer of the lab: a place in a printed table, and whether it passed.
type Cell struct {
	Table  string `json:"table"`
	Row    string `json:"row"`
	Column string `json:"column"`
	Text   string `json:"text"` // what the table shows
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"` // why it failed, or more than fits the table
}

// Line is one line of the guest's report: on a serial port of its own, since kernel messages mix with
// everything on the console. The last one has End set: without it the guest died half-way.
type Line struct {
	Cell *Cell `json:"cell,omitempty"`
	// Sums are hashes of what the guest reads back, by SumKey: the host compares them with its own
	// reading of the same disk image.
	Sums map[string]uint64 `json:"sums,omitempty"`
	// Cost is the price of one I/O in guest instructions, by name.
	Cost map[string]float64 `json:"cost,omitempty"`
	// Ask is something that the host shall do to the guest now, see the constants.
	Ask string `json:"ask,omitempty"`
	End bool   `json:"end,omitempty"`
}
