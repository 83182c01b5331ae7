// Command deny runs a program that is refused certain system calls, as a container's seccomp profile
// does: deny NUMBER=ERRNO[,NUMBER=ERRNO...] PROGRAM [ARG...].
//
// Tests use it to stage machines without io_uring or Linux AIO.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "deny:", err)
		os.Exit(125)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("usage: deny NUMBER=ERRNO[,...] PROGRAM [ARG...]")
	}
	filter, err := program(args[0])
	if err != nil {
		return err
	}
	path, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return unix.Exec(path, args[1:], os.Environ())
}

// program makes the filter: load the number (offset 0 of struct seccomp_data), compare, answer.
func program(rules string) ([]unix.SockFilter, error) {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}}
	for _, rule := range strings.Split(rules, ",") {
		number, errno, _ := strings.Cut(rule, "=")
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", rule, err)
		}
		e, ok := errnos[errno]
		if !ok {
			return nil, fmt.Errorf("%q: unknown errno", rule)
		}
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(n), Jt: 0, Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(e)})
	}
	return append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}), nil
}

var errnos = map[string]unix.Errno{
	"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS, "ENOMEM": unix.ENOMEM, "EAGAIN": unix.EAGAIN, "EINVAL": unix.EINVAL,
}
