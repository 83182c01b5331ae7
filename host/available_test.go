package host

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAvailableMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"bare", map[string]string{"proc/meminfo": "MemTotal: 9 kB\nMemAvailable:  1000 kB\n"}, 1000 << 10},
		{"unknown", nil, 0},
		{"cgroup v2", map[string]string{
			"proc/meminfo": "MemAvailable: 1000000 kB\n", "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "5000000\n", "sys/fs/cgroup/a/memory.current": "2000000\n",
		}, 3000000},
		{"cgroup v1", map[string]string{
			"proc/meminfo": "MemAvailable: 1000000 kB\n", "proc/self/cgroup": "4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "1000000\n", "sys/fs/cgroup/memory/x/memory.usage_in_bytes": "900000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n",
		}, 100000},
		{"cgroup used up", map[string]string{
			"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "10\n", "sys/fs/cgroup/memory.current": "20\n",
		}, 1},
	} {
		root := t.TempDir()
		for name, content := range c.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := (Roots{Sys: filepath.Join(root, "sys"), Proc: filepath.Join(root, "proc")}).AvailableMemory(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := (Roots{}).AvailableMemory(); got < 1<<20 {
		t.Errorf("this machine has %d bytes available", got)
	}
}
