// Package page is the frame of every HTML file that blkstorm writes: one file that opens from disk, asks no
// network for anything, and shows itself in light and dark, on narrow and wide screens and on paper.
//
// Package report and the comparison of results fill it. It knows nothing of results. The style sheet has classes
// for cards, notes, tables, coloured matrices (q0 to q8 for rates, l0 to l8 for latencies) and figures; the script
// has tables that sort (class "sort"; those of many columns are "dense", too, and keep their second in sight), CSV downloads (button with data-csv and data-table) and, in the object bs,
// what charts need.
package page

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
)

//go:embed assets/page.css
var style string

//go:embed assets/page.js
var script string

//go:embed assets/uplot.min.js
var uPlot string

//go:embed assets/uplot.min.css
var uPlotStyle string

//go:embed assets/uplot.LICENSE
var uPlotLicence string

// uPlotVersion is that of the embedded files; see assets/VERSIONS.
const uPlotVersion = "1.6.32"

// Page is what one file shows.
type Page struct {
	Title   string // text, of the window
	Version string // of this program
	// Body writes the inside of the page: HTML, in which whoever writes it has escaped all that others chose.
	Body func(io.Writer) error
	// Data writes a JSON value for the scripts, which find it parsed in bs.data; nil for none. In it, every "<"
	// must be escaped as in JSON strings by encoding/json: \u003c.
	Data func(io.Writer) error
	// Charts embeds uPlot.
	Charts bool
	// Script runs after the page's own script, and after uPlot.
	Script string
}

// Write writes the file. What Body and Data write goes to w as it comes: nothing is held in memory.
func Write(w io.Writer, p *Page) error {
	b := bufio.NewWriterSize(w, 1<<16)
	css, scripts := style, []string{script, p.Script}
	if p.Charts {
		css, scripts = uPlotStyle+style, []string{uPlot, script, p.Script}
	}
	// What the page itself does not have cannot run or load: scripts and styles are named by their hashes, so that
	// also a name that slipped through all escaping would stay text.
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(css) + "; script-src"
	for _, s := range scripts {
		if s != "" {
			policy += " " + hash(s)
		}
	}
	fmt.Fprintf(b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="blkstorm %s">
<title>%s</title>
<style>%s</style>
</head>
<body>
`, policy, html.EscapeString(p.Version), html.EscapeString(p.Title), css)
	if err := p.Body(b); err != nil {
		return err
	}
	p.footer(b)
	if p.Data != nil {
		b.WriteString("<script type=\"application/json\" id=\"data\">")
		if err := p.Data(b); err != nil {
			return err
		}
		b.WriteString("</script>\n")
	}
	for _, s := range scripts {
		if s != "" {
			fmt.Fprintf(b, "<script>%s</script>\n", s)
		}
	}
	b.WriteString("</body>\n</html>\n")
	return b.Flush()
}

func (p *Page) footer(b *bufio.Writer) {
	fmt.Fprintf(b, "<footer>\n<p>Made by blkstorm %s. This file is whole: it needs no network and no other file.</p>\n", html.EscapeString(p.Version))
	if p.Charts {
		fmt.Fprintf(b, "<details class=\"noprint\"><summary>Charts by uPlot %s, MIT licence</summary><pre>%s</pre></details>\n",
			uPlotVersion, html.EscapeString(uPlotLicence))
	}
	b.WriteString("</footer>\n")
}

// hash is how a content security policy names an inline script or style.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
