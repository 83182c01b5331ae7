package plan

// Claims are what a data sheet says of a drive.
type Claims struct {
	Drive  string  `json:"drive"`  // as its maker names it
	Source string  `json:"source"` // where the claims were read
	Values []Claim `json:"values"`
}

// Claim is one claimed value.
type Claim struct {
	Point string `json:"point"` // label of the point that measures it
	// Figure is which of the point's figures it is, in the words of package threshold: iops, bandwidth,
	// read.mean, ...
	Figure string `json:"figure"`
	// Value is in I/Os per second, bytes per second or nanoseconds.
	Value float64 `json:"value"`
	// Unit is what the data sheet gives it in: IOPS, MiB/s, MB/s, GB/s, us, ms.
	Unit string `json:"unit"`
}
