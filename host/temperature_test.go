package host

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// comes waits until disk i has the temperature.
func comes(t *testing.T, th *Thermometer, i int, want Temperature) {
	t.Helper()
	var got Temperature
	known := false
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if got, known = th.Now(i); known && got == want {
			return
		}
	}
	t.Fatalf("disk %d: %+v, %v, want %+v", i, got, known, want)
}

func TestThermometer(t *testing.T) {
	r := tree(t, map[string]string{
		// NVMe: below the controller. temp1_max asks the drive, and 0xffff K stands for none.
		"sys/class/block/nvme0n1/device/hwmon3/temp1_input": "36850\n", "sys/class/block/nvme0n1/device/hwmon3/temp1_max": "81850\n",
		"sys/class/block/nvme0n1/device/hwmon3/temp1_crit": "84850\n", "sys/class/block/nvme0n1/nvme0n1p1/partition": "1\n",
		// With native multipath, below one of the controllers of the subsystem.
		"sys/class/block/nvme1n1/device/nvme1/hwmon4/temp1_input": "40000\n", "sys/class/block/nvme1n1/device/nvme1/hwmon4/temp1_max": "65261850\n",
		"sys/class/block/nvme1n1/device/nvme1/hwmon4/temp1_crit": "90000\n",
		// drivetemp.
		"sys/block/sda/device/hwmon/hwmon1/temp1_input": "-3000\n",
		// What is no temperature.
		"sys/class/block/sdb/device/hwmon/hwmon2/temp1_input": "warm\n", "sys/class/block/vda/stat": stat17,
	})
	if err := os.Symlink("nvme0n1/nvme0n1p1", filepath.Join(r.Sys, "class/block/nvme0n1p1")); err != nil {
		t.Fatal(err)
	}
	th := r.newThermometer([]string{"nvme0n1", "nvme0n1p1", "nvme1n1", "sda", "sdb", "vda", "", "..", "gone"}, time.Millisecond)
	defer th.Close()
	comes(t, th, 0, Temperature{36.85, 81.85})
	comes(t, th, 1, Temperature{36.85, 81.85})
	comes(t, th, 2, Temperature{40, 90})
	comes(t, th, 3, Temperature{-3, 0})
	for i := 4; i < 9; i++ {
		if got, known := th.Now(i); known {
			t.Errorf("disk %d has %+v", i, got)
		}
	}
	if err := os.WriteFile(filepath.Join(r.Sys, "class/block/nvme0n1/device/hwmon3/temp1_input"), []byte("82000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	comes(t, th, 0, Temperature{82, 81.85})
}

// Where no drive has a temperature, nothing runs.
func TestNoThermometer(t *testing.T) {
	r := tree(t, map[string]string{"sys/class/block/vda/stat": stat17})
	th := r.NewThermometer([]string{"vda", ""})
	if _, known := th.Now(1); th != nil || known {
		t.Error("a temperature of nothing")
	}
	th.Close()
}

// A drive that does not answer holds up nobody: neither the others nor the end. Its sensor here is a
// pipe that nobody writes to.
func TestThermometerOfASilentDrive(t *testing.T) {
	r := tree(t, map[string]string{
		"sys/class/block/sda/device/hwmon1/temp1_max": "60000\n", "sys/class/block/sdb/device/hwmon2/temp1_input": "41000\n",
	})
	pipe := filepath.Join(r.Sys, "class/block/sda/device/hwmon1/temp1_input")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	th := r.newThermometer([]string{"sda", "sdb"}, time.Millisecond)
	comes(t, th, 1, Temperature{41, 0})
	if got, known := th.Now(0); known {
		t.Errorf("%+v", got)
	}
	th.Close()
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // the open for reading is what hangs: let it go
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
}
