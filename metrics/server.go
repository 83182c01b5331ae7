package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sys/unix"
)

// What a server lets others have. Whoever is slower, or asks for more, is cut off; the run goes on
// either way.
const (
	readTime       = 5 * time.Second // for a request
	writeTime      = 20 * time.Second
	idleTime       = 2 * time.Minute // between scrapes of one connection
	closeTime      = 500 * time.Millisecond
	maxHeader      = 16 << 10
	maxConnections = 64 // descriptors are also what devices are opened with
	maxScrapes     = 4  // at once
	// maxGarbage is how much the heap may grow beyond what it was, in bytes. While a device does not
	// answer nothing is collected (see runner), and a page leaves a megabyte behind on 16 targets.
	maxGarbage = 256 << 20
)

// Server answers scrapes. Close it in any case.
type Server struct {
	http      *http.Server
	listeners []net.Listener
}

// ParseAddress checks what --metrics takes and returns the addresses to listen on: ":PORT" stands for
// both loopback addresses, so that nothing is open to others unless it is asked for. Port 0 is a free one.
func ParseAddress(spec string) ([]netip.AddrPort, error) {
	host, text, err := net.SplitHostPort(spec)
	if err != nil {
		return nil, fmt.Errorf("%q is no address: give :PORT, or ADDR:PORT such as 192.0.2.7:9100 or [::]:9100", spec)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || strings.HasPrefix(text, "+") {
		return nil, fmt.Errorf("%q: the port must be a number from 0 to 65535", spec)
	}
	if host == "" || host == "localhost" {
		return []netip.AddrPort{
			netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)),
			netip.AddrPortFrom(netip.IPv6Loopback(), uint16(port)),
		}, nil
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return nil, fmt.Errorf("%q: %q is no IP address; give one of this machine's, or 0.0.0.0 for all", spec, host)
	}
	return []netip.AddrPort{netip.AddrPortFrom(addr, uint16(port))}, nil
}

// Listen takes the address of spec, see ParseAddress. A second loopback address that this machine does
// not have is left out.
func Listen(spec string) (*Server, error) {
	addresses, err := ParseAddress(spec)
	if err != nil {
		return nil, err
	}
	s := &Server{}
	for i, a := range addresses {
		if i > 0 && a.Port() == 0 { // the same free one
			a = netip.AddrPortFrom(a.Addr(), s.listeners[0].Addr().(*net.TCPAddr).AddrPort().Port())
		}
		l, err := net.Listen("tcp", a.String())
		free := addresses[0].Port() == 0
		if err != nil && i > 0 && (absent(err) || free) {
			continue
		}
		if err != nil {
			s.Close()
			return nil, refusal(a, err)
		}
		s.listeners = append(s.listeners, l)
	}
	return s, nil
}

// absent says whether this machine has no such address.
func absent(err error) bool {
	return errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EPERM)
}

// refusal says what to do about an address that cannot be had.
func refusal(a netip.AddrPort, err error) error {
	advice := ""
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		advice = "another program has that port; take another, or 0 for a free one"
	case errors.Is(err, unix.EACCES):
		advice = "ports below 1024 are for root; take a higher one"
	case errors.Is(err, unix.EADDRNOTAVAIL):
		advice = "this machine has no such address"
	default:
		return fmt.Errorf("listen on %v: %w", a, err)
	}
	return fmt.Errorf("listen on %v: %w: %s", a, err, advice)
}

// URLs are where the page is.
func (s *Server) URLs() (list []string) {
	for _, l := range s.listeners {
		list = append(list, "http://"+l.Addr().String()+"/metrics")
	}
	return list
}

// Serve begins to answer, with the page of e.
func (s *Server) Serve(e *Exporter) {
	s.http = &http.Server{
		Handler: Handler(e), ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0), ConnState: limit(maxConnections), // a client that misbehaves is no news
	}
	for _, l := range s.listeners {
		go func() { _ = s.http.Serve(l) }() // until Close
	}
}

// limit closes connections beyond n.
func limit(n int64) func(net.Conn, http.ConnState) {
	var open atomic.Int64
	return func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if open.Add(1) > n {
				_ = c.Close() // nobody has sent anything yet
			}
		case http.StateClosed, http.StateHijacked:
			open.Add(-1)
		}
	}
}

// Handler answers GET /metrics with the page of e, and GET / with where that is.
func Handler(e *Exporter) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(e)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", sparing(heapBytes()+maxGarbage, promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes, EnableOpenMetrics: true,
		OfferedCompressions: []promhttp.Compression{promhttp.Identity, promhttp.Gzip},
	})))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html>\n<title>blkstorm</title>\n<p>A benchmark is running: <a href=\"metrics\">metrics</a>\n")
	})
	return mux
}

// sparing refuses to answer while the heap is larger than limit: the run needs the memory more.
func sparing(limit uint64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if heapBytes() > limit {
			http.Error(w, "no memory can be collected while the device does not answer; ask again later", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample) // does not stop the world
	return sample[0].Value.Uint64()
}

// Close ends the server. Answers under way get a moment to end.
func (s *Server) Close() {
	if s == nil {
		return
	}
	if s.http == nil {
		for _, l := range s.listeners {
			_ = l.Close() // nobody was answered
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
}
