package fioout

import "io"

// WriteNormal writes the text form.
func WriteNormal(w io.Writer, in *Input) error { _, err := io.WriteString(w, "normal\n"); return err }

// WriteTerse writes the terse form.
func WriteTerse(w io.Writer, in *Input) error { _, err := io.WriteString(w, "terse\n"); return err }
