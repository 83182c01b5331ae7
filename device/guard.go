package device

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// The codes of refusals, in order of weight. They are stable: scripts read them.
const (
	CodeMounted     = "mounted"
	CodeSwap        = "swap"
	CodeHeld        = "held"         // by LVM, md, dm, multipath, bcache
	CodeLoopBacking = "loop-backing" // a loop device stands on it
	CodeInUse       = "in-use"       // claimed, but sysfs and procfs do not show by whom
	CodeReadOnly    = "read-only"
	CodeUnreadable  = "unreadable" // so it cannot be checked
	CodeSignature   = "signature"  // carries data that something recognises
	CodeConsent     = "consent"    // --destroy is missing
)

// Refusal is one reason why a target must not be written.
type Refusal struct {
	Code   string `json:"code"`   // one of the Code constants
	Reason string `json:"reason"` // a sentence that names the target
	Advice string `json:"advice"` // what to do
}

func (f Refusal) String() string { return f.Reason + "; " + f.Advice }

// RefusedError carries refusals as an error.
type RefusedError struct {
	Path     string
	Refusals []Refusal
}

func (e *RefusedError) Error() string {
	text := make([]string, len(e.Refusals))
	for i, f := range e.Refusals {
		text[i] = f.String()
	}
	return "refused to write to " + e.Path + ": " + strings.Join(text, "; ")
}

// Consent is what the user has allowed for one target.
type Consent struct {
	Destroy bool // --destroy was given, or a job file stands for it
	// Fresh is a file that this run has made: it needs no consent and has no signature worth
	// keeping. It is ignored for devices.
	Fresh bool
	// SignatureOverride: --destroy-signature named this very target. The search for signatures is
	// left out then, so that it also opens the way to a disk whose first blocks cannot be read.
	SignatureOverride bool
}

// Guard says why a write, trim or purge must not go to the target; no refusal means that it may. It
// returns all reasons, the weightiest first. The missing consent comes last, and only where --destroy
// would help: not beside a reason that no flag lifts.
//
// It opens the target for reading, and a block device also with O_EXCL for a moment: call it before
// Hold. An error means that the question could not be answered, and must be taken as a no.
func (r Roots) Guard(f *Facts, c Consent) ([]Refusal, error) {
	fresh := c.Fresh && f.Kind == KindFile
	loops := r.loops()
	o, err := r.overlapOf(f, loops)
	if err != nil {
		return nil, err
	}
	claims, err := r.claims(o, loops)
	if err != nil {
		return nil, err
	}
	out := claims
	p, err := r.probe(f, !fresh && !c.SignatureOverride)
	if err != nil {
		return nil, err
	}
	if p.busy && len(claims) == 0 {
		out = append(out, inUse(f.Path))
	}
	out = append(out, p.refusals...)
	if !c.Destroy && !fresh && !final(out) {
		out = append(out, Refusal{
			Code:   CodeConsent,
			Reason: f.Path + " exists, and what is on it would be destroyed",
			Advice: "pass --destroy if that is meant",
		})
	}
	return out, nil
}

// Safety is the guard's answer with consent granted: whether the target could be written, and else
// why not. A question that cannot be answered counts as unreadable.
func (r Roots) Safety(f *Facts) (safe bool, why []Refusal) {
	why, err := r.Guard(f, Consent{Destroy: true})
	if err != nil {
		why = []Refusal{unreadable(f.Path, err)}
	}
	return len(why) == 0, why
}

// final tells whether there is a refusal that no flag lifts.
func final(list []Refusal) bool {
	for _, f := range list {
		if f.Code != CodeSignature && f.Code != CodeConsent {
			return true
		}
	}
	return false
}

// inUseFile is inUse for a regular file, which only runs of this program lock.
func inUseFile(path string) Refusal {
	return Refusal{
		Code:   CodeInUse,
		Reason: path + " is being written by another run (it is locked)",
		Advice: "wait for that run or stop it (fuser -v " + path + " shows it), or choose another target",
	}
}

func inUse(path string) Refusal {
	return Refusal{
		Code:   CodeInUse,
		Reason: path + " is in use by another program or in another mount namespace (it cannot be opened exclusively)",
		Advice: "stop what uses it (try lsblk, fuser -v " + path + ", zpool status, and the host of this container), or choose another target",
	}
}

func unreadable(path string, err error) Refusal {
	advice := "check the device and the kernel log (dmesg)"
	if errors.Is(err, os.ErrPermission) {
		advice = "run as root, or as a member of the group that owns it (disk)"
	}
	return Refusal{
		Code:   CodeUnreadable,
		Reason: fmt.Sprintf("%s cannot be checked for data worth keeping: %v", path, err),
		Advice: advice,
	}
}

// found is what opening the target brings to light.
type found struct {
	busy     bool // O_EXCL met EBUSY
	refusals []Refusal
}

// probe opens the target with a descriptor of its own and asks it directly.
func (r Roots) probe(f *Facts, signatures bool) (found, error) {
	var p found
	file, err := Open(f.Path, OpenOptions{})
	if err != nil {
		p.refusals = append(p.refusals, r.readOnly(f, nil)...)
		p.refusals = append(p.refusals, unreadable(f.Path, err))
		return p, nil
	}
	defer file.Close()
	if err := r.sameTarget(f, file); err != nil {
		return p, err
	}
	if f.Kind != KindFile {
		excl, err := os.OpenFile(f.Path, os.O_RDONLY|os.O_EXCL, 0)
		if err == nil {
			excl.Close()
		}
		p.busy = errors.Is(err, unix.EBUSY)
	}
	p.refusals = append(p.refusals, r.readOnly(f, file)...)
	if !signatures {
		return p, nil
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		p.refusals = append(p.refusals, unreadable(f.Path, err))
		return p, nil
	}
	list, err := ProbeSignatures(file, size)
	if err != nil {
		p.refusals = append(p.refusals, unreadable(f.Path, err))
	}
	if len(list) > 0 {
		p.refusals = append(p.refusals, signatureRefusal(f.Path, list))
	}
	return p, nil
}

func signatureRefusal(path string, list []Signature) Refusal {
	names := make([]string, len(list))
	for i, s := range list {
		name := s.Kind + " " + s.Name
		if strings.HasPrefix(s.Name, s.Kind) {
			name = s.Name // "swap", "swap v0"
		}
		names[i] = fmt.Sprintf("%s at byte %d", name, s.Offset)
	}
	return Refusal{
		Code:   CodeSignature,
		Reason: path + " carries data: " + strings.Join(names, ", "),
		Advice: "if it may go, name it: --destroy-signature " + path,
	}
}

// sameTarget makes sure that the path still leads to what the facts were read from: names move when
// devices come and go.
func (r Roots) sameTarget(f *Facts, file *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &st); err != nil {
		return fmt.Errorf("guard: %s: %w", f.Path, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFBLK:
		if number := numberOf(uint64(st.Rdev)); number != f.Device {
			return fmt.Errorf("guard: %s is now block device %s, it was %s; look at it again", f.Path, number, f.Device)
		}
	case unix.S_IFREG:
		if f.Kind != KindFile && !r.fake() {
			return fmt.Errorf("guard: %s is now a regular file, it was block device %s; look at it again", f.Path, f.Device)
		}
	default:
		return fmt.Errorf("guard: %s is no longer a block device or a regular file", f.Path)
	}
	return nil
}

// readOnly collects the ways in which a target refuses writes. Opening it says nothing: a read-only
// loop opens O_RDWR as root, and then every write fails with EPERM. file may be nil.
func (r Roots) readOnly(f *Facts, file *os.File) []Refusal {
	refuse := func(why, advice string) []Refusal {
		return []Refusal{{Code: CodeReadOnly, Reason: f.Path + " " + why, Advice: advice}}
	}
	if f.Kind == "cdrom" {
		return refuse("is an optical drive", "choose another target")
	}
	if f.Kind == KindFile {
		var st unix.Statfs_t
		if err := unix.Statfs(f.Path, &st); err == nil && st.Flags&unix.ST_RDONLY != 0 {
			return refuse("lies on a read-only file system", "mount it read-write, or choose another target")
		}
	} else {
		if b, err := r.byNumber(f.Device); err == nil && readInt(b.dir, "ro") == 1 {
			return refuse("is a read-only device", "choose another target, or see blockdev --setrw and how it was attached")
		}
		if file != nil {
			if ro, err := unix.IoctlGetUint32(int(file.Fd()), unix.BLKROGET); err == nil && ro != 0 {
				return refuse("is a read-only device", "choose another target, or see blockdev --setrw and how it was attached")
			}
		}
	}
	// Nothing to add for a user who may not even read it; and root passes here, but not for an
	// immutable file (chattr +i). Not Faccessat with AT_EACCESS: on EPERM, which is what an immutable
	// file gives, x/sys takes the system call for forbidden and judges by mode bits.
	if err := unix.Access(f.Path, unix.W_OK); err != nil && file != nil {
		return refuse("may not be written by this user: "+err.Error(),
			"run as root or as a member of the group that owns it (disk); for a file see also lsattr")
	}
	return nil
}
