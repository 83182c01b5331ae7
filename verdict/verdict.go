// Package verdict says what a number is worth: it turns what is known of a run into warnings.
//
// A warning is data: it travels in the result beside the number it speaks of, with a code that
// scripts can rely on, a sentence for people, and what to do about it. The rules are pure functions
// of their inputs; commands call them and put the answer into the result. It measures nothing.
package verdict

// Warning is one reason to trust a number less.
type Warning struct {
	Code    string `json:"code"`    // stable, in snake_case
	Message string `json:"message"` // what was seen, with its figures
	Advice  string `json:"advice"`  // what to do about it
}
