// Package spelling finds the word that somebody meant.
//
// Readers of plans and of other programs' languages call it for the hint in an error. It knows no words of
// its own, and corrects nothing.
package spelling

// maxWord is the longest word, in bytes, that is looked at: no slip of the finger is in a longer one.
const maxWord = 40

// Nearest is the known word that a slip of the finger turns into word, the first of several; empty if none is
// near.
func Nearest(word string, known []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, least := "", 1+len(word)/3
	for _, k := range known {
		if d := distance(word, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is Levenshtein's: the fewest letters to insert, to drop or to change.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
