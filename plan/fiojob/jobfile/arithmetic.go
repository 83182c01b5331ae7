package jobfile

import (
	"errors"
	"math/big"
	"strings"
	"unicode"
)

// Keywords are what a value may name: $pagesize and the others of fio, each with its number.
type Keywords map[string]int64

// Calculate puts numbers in the place of keywords, and works out what stands around them: 8*$pagesize. Numbers
// there have no suffixes. Others are left alone, also those in parentheses: what is in them depends on the option.
func (k Keywords) Calculate(value string) (string, error) {
	found := false
	for name, n := range k {
		if strings.Contains(value, "$"+name) {
			value = strings.ReplaceAll(value, "$"+name, big.NewInt(n).String())
			found = true
		}
	}
	if !found || Parenthesised(value) {
		return value, nil
	}
	n, err := Evaluate(value, nil)
	if err != nil {
		return "", err
	}
	return n.String(), nil
}

// Parenthesised says whether a value is one that fio works out where a number is wanted.
func Parenthesised(value string) bool {
	return strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")")
}

// Evaluate works out an expression of whole numbers with + - * / % ^ and parentheses. suffix gives what the letters
// behind a number multiply it with, where numbers may have some; none is the empty one. Results have at most 256 bits
// or so.
func Evaluate(value string, suffix func(string) (*big.Int, bool)) (*big.Int, error) {
	p := &expression{text: strings.ReplaceAll(value, " ", ""), suffix: suffix}
	n, err := p.sum(0)
	switch {
	case err != nil:
		return nil, err
	case p.text != "":
		return nil, errors.New("cannot be worked out from " + p.text + " on")
	}
	return n, nil
}

// expression is what is left to read of one.
type expression struct {
	text   string
	suffix func(string) (*big.Int, bool)
}

var errExpression = errors.New("cannot be worked out: a number is missing")

// maxNested is how deep parentheses may stand in one another, and maxBits how long a number may get.
const maxNested, maxBits = 50, 256

func (p *expression) next(ops string) byte {
	if p.text == "" || !strings.ContainsRune(ops, rune(p.text[0])) {
		return 0
	}
	op := p.text[0]
	p.text = p.text[1:]
	return op
}

func (p *expression) sum(depth int) (*big.Int, error) {
	n, err := p.product(depth)
	for err == nil {
		op := p.next("+-")
		if op == 0 {
			return n, nil
		}
		var m *big.Int
		if m, err = p.product(depth); err != nil {
			break
		}
		if op == '+' {
			n.Add(n, m)
		} else {
			n.Sub(n, m)
		}
	}
	return nil, err
}

func (p *expression) product(depth int) (*big.Int, error) {
	n, err := p.power(depth)
	for err == nil {
		op := p.next("*/%")
		if op == 0 {
			return n, nil
		}
		var m *big.Int
		if m, err = p.power(depth); err != nil {
			break
		}
		switch {
		case op == '*':
			n.Mul(n, m)
		case m.Sign() == 0:
			return nil, errors.New("cannot be worked out: it divides by 0")
		case op == '/':
			n.Quo(n, m)
		default:
			n.Rem(n, m)
		}
		if n.BitLen() > maxBits {
			return nil, errors.New("cannot be worked out: it is too large")
		}
	}
	return nil, err
}

func (p *expression) power(depth int) (*big.Int, error) {
	n, err := p.number(depth)
	if err != nil || p.next("^") == 0 {
		return n, err
	}
	m, err := p.power(depth)
	switch {
	case err != nil:
		return nil, err
	case !m.IsInt64() || m.Sign() < 0 || m.Int64() > maxBits || int64(n.BitLen())*m.Int64() > maxBits:
		return nil, errors.New("cannot be worked out: it is too large")
	}
	return n.Exp(n, m, nil), nil
}

func (p *expression) number(depth int) (*big.Int, error) {
	if p.next("(") != 0 {
		if depth == maxNested {
			return nil, errors.New("cannot be worked out: parentheses are nested too deep")
		}
		n, err := p.sum(depth + 1)
		if err == nil && p.next(")") == 0 {
			err = errors.New("cannot be worked out: a ) is missing")
		}
		return n, err
	}
	end := 0
	for end < len(p.text) && p.text[end] >= '0' && p.text[end] <= '9' {
		end++
	}
	n, ok := new(big.Int).SetString(p.text[:end], 10)
	if !ok || n.BitLen() > maxBits {
		return nil, errExpression
	}
	p.text = p.text[end:]
	if p.suffix == nil {
		return n, nil
	}
	letters := len(p.text) - len(strings.TrimLeftFunc(p.text, unicode.IsLetter))
	factor, ok := p.suffix(strings.ToLower(p.text[:letters]))
	if !ok {
		return nil, errors.New("cannot be worked out: " + p.text[:letters] + " is no suffix")
	}
	p.text = p.text[letters:]
	return n.Mul(n, factor), nil
}
