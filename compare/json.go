package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes the document, indented, in one Write.
func WriteJSON(w io.Writer, d *Doc) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("comparison: %w", err)
	}
	return write(w, b.Bytes())
}

func write(w io.Writer, b []byte) error {
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}
