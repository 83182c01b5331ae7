package merge

import "time"

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)
