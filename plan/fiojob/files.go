package fiojob

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"blkstorm/workload"
)

// extent is the part of a file that a clone works on.
type extent struct {
	target int
	bytes  int64 // of the whole file, as it will be
	offset int64
	length int64
}

// maxFiles is how many files a job may have.
const maxFiles = 4096

// filesOf finds the files of a clone, and lays out what of them it uses. Names that do not exist become
// files to create.
func (t *translator) filesOf(j *Job, clone int) ([]extent, error) {
	names, err := t.names(j, clone)
	if err != nil {
		return nil, err
	}
	facts := make([]Facts, len(names))
	for i, name := range names {
		if facts[i], err = t.env.Look(name); err != nil {
			return nil, err
		}
		if made := t.files[name]; made > facts[i].Bytes && !facts[i].Block {
			facts[i].Bytes = made
		}
	}
	list := make([]extent, len(names))
	layout := Layout{Job: j.Name}
	for i, name := range names {
		e := &list[i]
		if err := t.lay(j, name, e, &facts[i], clone, len(names)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		e.target = t.target(name)
		if facts[i].Block || e.bytes <= facts[i].Bytes {
			continue
		}
		if !j.On("allow_file_create", true) {
			return nil, fmt.Errorf("%s: is not there, or too short, and allow_file_create=0", name)
		}
		if t.set.readOnly && t.work.Plan.Engine != "null" { // that engine makes no file
			return nil, fmt.Errorf("%s: is not there, or too short, and --readonly is given", name)
		}
		layout.Files, layout.Bytes = layout.Files+1, layout.Bytes+e.bytes
		t.create(name, e.bytes) // one that is there and too short is laid out anew, as fio does
	}
	if layout.Files > 0 {
		t.work.Layouts = append(t.work.Layouts, layout)
	}
	return list, nil
}

// names lists the files of a clone: those of filename, or its own by filename_format.
func (t *translator) names(j *Job, clone int) ([]string, error) {
	dir := j.Text("directory", "")
	dirs := splitNames(dir)
	if len(dirs) > 1 {
		dir = dirs[clone%len(dirs)] // clones take the folders in turns
	}
	if text := j.Text("filename", ""); text != "" {
		names := splitNames(text)
		if _, err := t.env.Look(text); err == nil && len(names) > 1 {
			if f, err := t.env.Look(text); err == nil && f.Exists {
				names = []string{text} // a name with a colon in it that is there wins
			}
		}
		for i := range names {
			names[i] = strings.Trim(names[i], `"`)
			if names[i] == "-" {
				return nil, errors.New("standard input and output are no targets")
			}
			if dir != "" && !filepath.IsAbs(names[i]) {
				names[i] = filepath.Join(dir, names[i])
			}
		}
		return names, nil
	}
	n := j.Number("nrfiles", 1)
	if n < 1 || n > maxFiles {
		return nil, fmt.Errorf("nrfiles=%d: must be from 1 to %d", n, maxFiles)
	}
	format := j.Text("filename_format", "$jobname.$jobnum.$filenum")
	var names []string
	for i := range n {
		names = append(names, fileName(dir, format, j.section, strconv.Itoa(clone), strconv.FormatInt(i, 10)))
	}
	return names, nil
}

// splitNames cuts a list at its colons; \: is a colon within a name.
func splitNames(text string) (list []string) {
	if text == "" {
		return nil
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == ':':
			b.WriteByte(':')
			i++
		case text[i] == ':':
			list = append(list, b.String())
			b.Reset()
		default:
			b.WriteByte(text[i])
		}
	}
	return append(list, b.String())
}

// lay says what part of a file a clone uses, and how large the file must be. size is of all files of the
// job together; filesize is of each; a percentage is of what is there, or of filesize.
func (t *translator) lay(j *Job, name string, e *extent, f *Facts, clone, files int) error {
	e.bytes = f.Bytes
	own, err := t.fileSize(j, name, f)
	if err != nil {
		return err
	}
	whole := max(f.Bytes, own)
	size, given, err := j.share("size", whole)
	if err != nil {
		return err
	}
	given = given && size > 0 // size=0 is as if it were not given
	if percent := strings.HasSuffix(j.Text("size", ""), "%"); !percent {
		e.bytes = whole
		switch {
		case own > 0 && (!given || files > 1 || own < size):
			size, given = own, true
		case given && own == 0:
			size /= int64(files)
		}
	}
	offset, _, err := j.share("offset", max(whole, size))
	if err != nil {
		return err
	}
	step, _, err := j.share("offset_increment", max(whole, size))
	if err != nil {
		return err
	}
	e.offset = offset + int64(clone)*step
	percent := strings.HasSuffix(j.Text("offset", ""), "%") || strings.HasSuffix(j.Text("offset_increment", ""), "%")
	if n := j.Number("offset_align", 0); n > 0 {
		e.offset += (n - e.offset%n) % n
	} else if n := j.blockSizes().min; percent && n > 0 {
		e.offset -= e.offset % n
	}
	switch {
	case whole == 0 && strings.HasSuffix(j.Text("size", ""), "%"):
		return errors.New("size is a percentage, and the file is not there: give it in bytes, or filesize")
	case !given && f.Bytes == 0:
		return errors.New("size is not given, and the file is not there")
	case !given:
		e.length = f.Bytes - e.offset
	case f.Block || f.Exists && e.offset+size > f.Bytes && strings.HasSuffix(j.Text("size", ""), "%"):
		e.length = min(size, f.Bytes-e.offset)
	default:
		e.length = size
		e.bytes = max(e.bytes, e.offset+size)
		if short := e.bytes % layout; short > 0 && e.bytes > f.Bytes {
			e.bytes += layout - short
		}
	}
	if e.length <= 0 {
		return fmt.Errorf("offset %d lies beyond its end at %d", e.offset, f.Bytes)
	}
	return nil
}

// fileSize is what filesize says of a file: 0 if nothing, and of a range a random size in it, which
// is the same in every look at the file.
func (t *translator) fileSize(j *Job, name string, f *Facts) (int64, error) {
	text := j.Text("filesize", "")
	if text == "" || f.Block {
		return 0, nil
	}
	first, second, two := cutRange(text)
	low, err := number(first, j.kbBase)
	if err != nil || !two {
		return low, err
	}
	high, err := number(second, j.kbBase)
	if err != nil {
		return 0, err
	}
	low, high = min(low, high), max(low, high)
	seed := t.env.Seed
	for _, c := range []byte(name) {
		seed = workload.Mix(seed ^ uint64(c))
	}
	size := low + int64(workload.Mix(seed)%uint64(high-low+1))
	if bs := max(j.blockSizes().min, 1); size-size%bs >= max(low, bs) {
		size -= size % bs
	}
	return size, nil
}

// layout is what the sizes of new files are multiples of, so that direct I/O can write all of them.
const layout = 4096

// share is a size or a percentage of a whole; it is false where the option is not given.
func (j *Job) share(option string, whole int64) (int64, bool, error) {
	set, ok := j.effective[option]
	if !ok {
		return 0, false, nil
	}
	text := strings.TrimSpace(set.Value)
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		p, err := float(strings.TrimRight(percent, "%"))
		if err != nil {
			return 0, false, err
		}
		if p > 100 {
			p = 100
		}
		return int64(float64(whole) / 100 * p), true, nil
	}
	if strings.HasSuffix(text, "z") {
		return 0, false, fmt.Errorf("%s=%s: zoned devices are not to be had", option, text)
	}
	n, err := number(text, j.kbBase)
	return n, true, err
}

func (t *translator) target(name string) int {
	if i, ok := t.targets[name]; ok {
		return i
	}
	i := len(t.work.Plan.Targets)
	t.targets[name] = i
	t.work.Plan.Targets = append(t.work.Plan.Targets, targetOf(name))
	return i
}

func (t *translator) create(name string, bytes int64) {
	t.files[name] = max(t.files[name], bytes)
	for i := range t.work.Create {
		if t.work.Create[i].Path == name {
			t.work.Create[i].Bytes = t.files[name]
			return
		}
	}
	t.work.Create = append(t.work.Create, File{name, bytes})
}
