package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Zram adds a compressed RAM disk of size bytes and returns its device: it completes every I/O within
// the call that submits it, and io_uring cannot submit to it without blocking.
func Zram(t testing.TB, size int64) string {
	t.Helper()
	Root(t)
	number, err := os.ReadFile("/sys/class/zram-control/hot_add")
	if err != nil {
		Missing(t, "no zram: "+err.Error())
	}
	name := "zram" + strings.TrimSpace(string(number))
	t.Cleanup(func() {
		if err := RemoveZram(name); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join("/sys/block", name, "disksize"), []byte(fmt.Sprint(size)), 0); err != nil {
		t.Fatal(err)
	}
	return "/dev/" + name
}

// RemoveZram takes away a zram that was added. A closing descriptor may hold it for a moment.
func RemoveZram(name string) error {
	var err error
	for range 100 {
		if err = os.WriteFile(filepath.Join("/sys/block", name, "reset"), []byte("1"), 0); err == nil {
			err = os.WriteFile("/sys/class/zram-control/hot_remove", []byte(strings.TrimPrefix(name, "zram")), 0)
		}
		if err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("removing %s: %w", name, err)
}
