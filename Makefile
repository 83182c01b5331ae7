# make         build bin/blkstorm, one static binary
# make demo    build, run the main job on a scratch file, show the result
# make test    all tests, one package after the other, since many of them are about time; as root also those on loop devices; what is skipped is listed with its reason;
#              up to three that fail are run once more, and named
# make lint    formatting, vet, staticcheck, and that the Go of pages is that of their .templ files
# make generate  the Go of pages from their .templ files
# make lab     boots Linux guests under QEMU and holds blkstorm to devices of known behaviour in them
# make bench   as root: CPU per I/O beside the installed fio; and Go benchmarks of what every I/O
#              passes (make gobench: those alone, no root)

export CGO_ENABLED = 0

# nethttpomithttp2 leaves out HTTP/2, which --metrics never speaks: it is for TLS only.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GOFILES := $(shell find . -name '*.go' -not -path './bin/*')

bin/blkstorm: $(GOFILES) go.mod go.sum Makefile
	go build -trimpath -tags nethttpomithttp2 -ldflags '-s -w -X main.version=$(VERSION)' -o $@ ./cmd/blkstorm

.PHONY: demo test lint generate bench gobench lab clean
demo: bin/blkstorm
	bin/blkstorm run --rw randrw --read-pct 70 --bs 8k --threads 2 --iodepth 16 --ramp 2s --runtime 10s

test: bin/blkstorm
	go run ./lab/testsum -again 3 -- -p 1 -timeout 20m ./...

lint:
	@out=$$(gofmt -l .); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go tool templ generate -check -log-level error

generate:
	go tool templ generate -log-level error

lab:
	go run ./lab/guest

bench: bin/blkstorm gobench
	go run ./lab/bench

gobench:
	go test -run '^$$' -bench . ./histogram ./workload ./host ./ioengine/uring ./runner

clean:
	rm -rf bin
