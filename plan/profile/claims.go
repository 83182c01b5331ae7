package profile

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"blkstorm/plan"
	"blkstorm/plan/planfile"
)

//go:embed claims/*.yaml
var claimFiles embed.FS

// ClaimNames are the drives whose claims ship with the program.
func ClaimNames() []string {
	files, err := fs.Glob(claimFiles, "claims/*.yaml")
	if err != nil {
		return nil // the pattern is right
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "claims/"), ".yaml")
	}
	return files
}

// Claims reads what a data sheet says: of a drive that ships with the program, by its name in any case, else
// from a file.
func Claims(name string) (*plan.Claims, error) {
	for _, known := range ClaimNames() {
		if strings.EqualFold(known, name) {
			text, err := claimFiles.ReadFile("claims/" + known + ".yaml")
			if err != nil {
				return nil, err
			}
			return planfile.ReadClaims("claims "+known, bytes.NewReader(text))
		}
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--claims %s: is no file and none of the drives %s", name, strings.Join(ClaimNames(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("--claims: %w", err)
	}
	defer f.Close()
	return planfile.ReadClaims(name, f)
}

// claims are the plan's claims.
func (w *writer) claims(b *strings.Builder) error {
	c := w.options.Claims
	if c == nil {
		return nil
	}
	texts := []string{c.Drive, c.Source}
	for _, v := range c.Values {
		texts = append(texts, v.Point, v.Figure)
	}
	for i := range texts {
		text, err := quoted(texts[i])
		if err != nil {
			return err
		}
		texts[i] = text
	}
	fmt.Fprintf(b, "claims:\n  drive: %s\n", texts[0])
	if c.Source != "" {
		fmt.Fprintf(b, "  source: %s\n", texts[1])
	}
	b.WriteString("  values:\n")
	for i := range c.Values {
		v := &c.Values[i]
		fmt.Fprintf(b, "    - {point: %s, figure: %s, value: %s %s}\n", texts[2+2*i], texts[3+2*i], strconv.FormatFloat(v.InUnit(v.Value), 'f', -1, 64), v.Unit)
	}
	return nil
}
