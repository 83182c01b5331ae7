package metrics

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"blkstorm/op"
	"blkstorm/result"
	"blkstorm/runner"
)

func TestParseAddress(t *testing.T) {
	for spec, want := range map[string]string{
		":9100":                "127.0.0.1:9100 [::1]:9100",
		"localhost:0":          "127.0.0.1:0 [::1]:0",
		"0.0.0.0:9100":         "0.0.0.0:9100",
		"[::]:9100":            "[::]:9100",
		"192.0.2.7:65535":      "192.0.2.7:65535",
		"[fe80::1%eth0]:9100":  "[fe80::1%eth0]:9100",
		"":                     "is no address",
		"9100":                 "is no address",
		"::1:9100":             "is no address",
		":":                    "the port must be a number",
		":http":                "the port must be a number",
		":65536":               "the port must be a number",
		":-1":                  "the port must be a number",
		":+1":                  "the port must be a number",
		"*:9100":               "is no IP address",
		"bench.example.com:80": "is no IP address",
		"256.0.0.1:80":         "is no IP address",
	} {
		list, err := ParseAddress(spec)
		var texts []string
		for _, a := range list {
			texts = append(texts, a.String())
		}
		got := strings.Join(texts, " ")
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%q gives %s, want %s", spec, got, want)
		}
	}
}

func listen(t *testing.T, spec string) *Server {
	t.Helper()
	s, err := Listen(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func get(t *testing.T, method, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// Only the loopback addresses are taken, only for what is there, and not for longer than the run.
func TestServer(t *testing.T) {
	e, _ := measured(t)
	s := listen(t, ":0")
	s.Serve(e)
	for _, l := range s.listeners {
		if !l.Addr().(*net.TCPAddr).IP.IsLoopback() {
			t.Errorf("listens on %v", l.Addr())
		}
	}
	for _, url := range s.URLs() {
		if status, body := get(t, "GET", url); status != 200 || !strings.Contains(body, "\nblkstorm_ios_total{") {
			t.Errorf("%s: %d %s", url, status, body)
		}
	}
	base := strings.TrimSuffix(s.URLs()[0], "/metrics")
	for _, c := range []struct {
		method, path string
		status       int
	}{{"GET", "/", 200}, {"HEAD", "/metrics", 200}, {"POST", "/metrics", 405}, {"GET", "/x", 404}, {"GET", "/debug/pprof/", 404}} {
		if status, body := get(t, c.method, base+c.path); status != c.status {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	s.Close()
	if _, err := http.Get(s.URLs()[0]); err == nil {
		t.Error("it answers after its end")
	}
	var none *Server
	none.Close()
}

func TestListenSaysWhatIsWrong(t *testing.T) {
	s := listen(t, "127.0.0.1:0")
	taken := s.listeners[0].Addr().String()
	for spec, want := range map[string]string{
		taken:             "another program has that port",
		"192.0.2.1:0":     "no such address",
		"127.0.0.1:99999": "the port must be a number",
	} {
		if _, err := Listen(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// Whoever asks and does not read, and whoever connects and does not ask, costs the run nothing: rows go
// on, others are answered, and the end does not wait.
func TestSlowScrapers(t *testing.T) {
	e, p := measured(t)
	s := listen(t, "127.0.0.1:0")
	s.Serve(e)
	addr := s.listeners[0].Addr().String()
	for i := range maxConnections {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if i < maxScrapes { // pages that fill what the kernel holds for a reader
			if err := c.(*net.TCPConn).SetReadBuffer(1024); err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.WriteString(c, strings.Repeat("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 10_000)) }()
		}
	}
	time.Sleep(300 * time.Millisecond)
	point := &p.Phases[1].Points[0]
	began := time.Now()
	for range 100 {
		row := &runner.Row{Length: time.Second, Cells: []runner.Cell{{}}}
		row.Cells[0].Ops[op.Read] = stat(4096, 80_000)
		e.Row(point, row, &result.Interval{})
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("100 rows took %v", took)
	}
	// Beyond the limit there is no answer, and no descriptor is held.
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, "GET / HTTP/1.0\r\n\r\n") // it may be closed already
	if answer, _ := io.ReadAll(c); len(answer) > 0 {
		t.Errorf("connection %d got %q", maxConnections+1, answer)
	}
	began = time.Now()
	s.Close()
	if took := time.Since(began); took > closeTime+2*time.Second {
		t.Errorf("the end took %v", took)
	}
}

// Where nothing can be collected, pages do not eat the memory up.
func TestSparing(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for limit, want := range map[uint64]int{1: http.StatusServiceUnavailable, 1 << 40: http.StatusTeapot} {
		w := httptest.NewRecorder()
		sparing(limit, page).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		if w.Code != want {
			t.Errorf("with a limit of %d bytes: %d, want %d", limit, w.Code, want)
		}
	}
}

// What is taken is an address that can be listened on, and nothing but loopback without a host.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{":9100", "localhost:1", "0.0.0.0:0", "[::1]:65535", "[fe80::1%x]:1", "[::ffff:1.2.3.4]:9", ":", "1", "[]:1", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		list, err := ParseAddress(spec)
		if err != nil {
			return
		}
		for _, a := range list {
			if _, err := net.ResolveTCPAddr("tcp", a.String()); err != nil || !a.IsValid() {
				t.Errorf("%q gives %v: %v", spec, a, err)
			}
			if strings.HasPrefix(spec, ":") && !a.Addr().IsLoopback() {
				t.Errorf("%q gives %v", spec, a)
			}
		}
	})
}
