// Package browser opens pages from disk in a real browser, Chromium, and tells what became of them: what scripts
// said, what was asked of any network, how wide they are, whether their charts show anything.
//
// Only tests import it. Nothing it starts outlives its test, and it writes only into folders that the test made.
package browser

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"blkstorm/lab"
)

// Browser is a Chromium that was told to leave the network alone, and what it said.
type Browser struct {
	ctx  context.Context
	mu   sync.Mutex
	said []string // console messages, exceptions, entries of its log
	got  []string // URLs that were asked for
}

// New starts one that ends with the test.
func New(t testing.TB) *Browser {
	t.Helper()
	path := lab.Tool(t, "chromium")
	home := t.TempDir()
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(home, "profile")), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Env("HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "DBUS_SESSION_BUS_ADDRESS=disabled:"),
		chromedp.WSURLReadTimeout(time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // it may have ended by itself
		cancelTab()
		cancel()
	})
	b := &Browser{ctx: ctx}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	b.do(t, func(ctx context.Context, tab *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, tab, network.Enable, network.EnableParams{})
		return chromedp.Void{}, err
	})
	return b
}

func (b *Browser) listen(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		text := ""
		for _, a := range e.Args {
			text += fmt.Sprintf(" %s%s", a.Value, a.Description)
		}
		b.said = append(b.said, fmt.Sprintf("console.%s:%s", e.Type, text))
	case *runtime.EventExceptionThrown:
		d := e.ExceptionDetails
		text := d.Text
		if d.Exception != nil {
			text += " " + d.Exception.Description
		}
		b.said = append(b.said, "exception: "+text)
	case *log.EventEntryAdded:
		b.said = append(b.said, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
	case *network.EventRequestWillBeSent:
		b.got = append(b.got, e.Request.URL)
	}
}

// timeLimit is how long one action may take on a busy machine.
const timeLimit = 2 * time.Minute

func (b *Browser) do(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, timeLimit)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// Eval is the value of an expression in the page; a promise is waited for.
func Eval[T any](t testing.TB, b *Browser, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, timeLimit)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Open loads a page from disk, at a width, and waits until its charts are drawn.
func (b *Browser) Open(t testing.TB, path string, width int64, scheme string) {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(width, 900), func(ctx context.Context, tab *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return chromedp.Void{}, err
	}, chromedp.Navigate("file://"+path))
	Eval[bool](t, b, `new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`)
}

// Paper lays the open page out as for printing, on paper of that width in pixels.
func (b *Browser) Paper(t testing.TB, width int64) {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(width, 900), func(ctx context.Context, tab *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return chromedp.Void{}, err
	})
}

// Quiet fails the test when a script said something or failed, or when anything but the page at path was asked for.
func (b *Browser) Quiet(t testing.TB, path string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.said {
		t.Errorf("the browser says: %s", s)
	}
	for _, url := range b.got {
		if url != "file://"+path && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asks for %s", url)
		}
	}
}

// Forget forgets what the browser said and asked for so far, before another page is opened.
func (b *Browser) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.said, b.got = nil, nil
}

// Blank lists the charts, by their ids, whose canvas has one colour only.
func (b *Browser) Blank(t testing.TB) []string {
	t.Helper()
	return Eval[[]string](t, b, `[...document.querySelectorAll(".chart")].filter(e => {
		const c = e.querySelector("canvas");
		if (!c || !c.width || !c.height) { return true; }
		const p = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
		return p.every(v => v === p[0]);
	}).map(e => e.id)`)
}

// Overflow is how many pixels the page is wider than its window.
func (b *Browser) Overflow(t testing.TB) int {
	t.Helper()
	return Eval[int](t, b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
}

// PDF is the page as it is printed.
func (b *Browser) PDF(t testing.TB) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, timeLimit)
	defer cancel()
	return chromedp.Run(ctx, chromedp.PrintToPDF())
}
