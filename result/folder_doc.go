package result

import (
	"bytes"
	"encoding/json"
	"errors"
)

// writtenPoint is a point in the form of result.json.
type writtenPoint struct {
	point *Point
	text  []byte
	last  bool // it was the last one then, and may have changed
}

// pointIndent is where the points stand in result.json.
const pointIndent = "    "

// stored is result.json in parts. A point that was followed by another does not change any more, and is not
// encoded again: the rounds of a matrix come to more than a thousand points, and as many documents. Points
// that were kept from before stand there as they did, byte for byte, also with what another version of this
// program may have written.
func (f *Folder) stored(d *Doc) ([][]byte, error) {
	head := *d
	head.Points = nil
	whole := head.whole(false)
	text, err := encode(struct {
		*Doc
		Points []int `json:"points"` // takes the place of the document's, at the end
	}{whole, []int{}}, "  ")
	if err != nil {
		return nil, err
	}
	const tail = "[]\n}\n"
	text, found := bytes.CutSuffix(text, []byte(tail))
	switch {
	case !found:
		return nil, errors.New("the document does not end with its points") // cannot happen: it is made so above
	case len(d.Points) == 0:
		return [][]byte{text, []byte(tail)}, nil
	}
	parts := [][]byte{text}
	before, between := []byte("[\n"+pointIndent), []byte(",\n"+pointIndent)
	for i := range d.Points {
		point, err := f.storedPoint(d, i)
		if err != nil {
			return nil, err
		}
		parts = append(parts, before, point)
		before = between
	}
	return append(parts, []byte("\n  ]\n}\n")), nil
}

// storedPoint is point i of a document.
func (f *Folder) storedPoint(d *Doc, i int) ([]byte, error) {
	if i < len(f.kept) {
		return f.kept[i], nil
	}
	p, k, last := d.Points[i], i-len(f.kept), i == len(d.Points)-1
	if k < len(f.written) && f.written[k].point == p && !f.written[k].last {
		return f.written[k].text, nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(pointIndent, "  ")
	if err := e.Encode(p.whole(false)); err != nil {
		_, err = encode(struct { // names the key
			Points []*Point `json:"points"`
		}{d.whole(false).Points}, "  ")
		return nil, err
	}
	f.written = append(f.written[:min(k, len(f.written))], writtenPoint{p, bytes.TrimRight(b.Bytes(), "\n"), last})
	return f.written[len(f.written)-1].text, nil
}
