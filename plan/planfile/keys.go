package planfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"blkstorm/plan"
	"blkstorm/spelling"
	"blkstorm/workload"
)

// field is a key of the plan's form with its place in a struct.
type field struct {
	key   string
	index []int
}

// fieldsOf lists the keys of a struct in order, without those named.
func fieldsOf(t reflect.Type, without ...string) (list []field) {
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if key != "" && key != "-" && !slices.Contains(without, key) {
			list = append(list, field{key, []int{i}})
		}
	}
	return list
}

// inside lists the keys of a struct's field, as places in that struct.
func inside(t reflect.Type, name string, list []field) []field {
	f, _ := t.FieldByName(name)
	var out []field
	for _, in := range list {
		out = append(out, field{in.key, append(slices.Clone(f.Index), in.index...)})
	}
	return out
}

// The keys of each part of a plan. A stream has those of its workload, of its data and of its pacing also
// without these mappings around them, and so has a point with one stream; there, content is called data.
var (
	streamType   = reflect.TypeFor[plan.Stream]()
	workloadType = reflect.TypeFor[workload.Spec]()

	planFields  = fieldsOf(reflect.TypeFor[plan.Plan](), "schema", "targets", "phases")
	pointFields = fieldsOf(reflect.TypeFor[plan.Point](), "label", "streams")
	dataFields  = fieldsOf(reflect.TypeFor[workload.DataSpec]())
	paceFields  = inside(streamType, "Pacing", fieldsOf(reflect.TypeFor[workload.Pacing]()))
	loadFields  = inside(streamType, "Workload", append(fieldsOf(workloadType, "data"), inside(workloadType, "Data", flatData())...))
	ownFields   = fieldsOf(streamType, "label", "workload", "targets", "pacing")

	streamFields = slices.Concat(loadFields, ownFields, paceFields)
)

func flatData() []field {
	list := slices.Clone(dataFields)
	for i := range list {
		if list[i].key == "content" {
			list[i].key = "data"
		}
	}
	return list
}

func names(lists ...[]field) (out []string) {
	for _, list := range lists {
		for _, f := range list {
			out = append(out, f.key)
		}
	}
	return out
}

// What may stand where.
var (
	containers   = []string{"workload", "pacing"}
	workloadKeys = names(loadFields)
	paceKeys     = names(paceFields)
	dataKeys     = names(dataFields)
	purgeKeys    = []string{"targets", "offset", "size"}
	fillKeys     = slices.Concat([]string{"passes"}, purgeKeys, names(flatData()))
	streamKeys   = slices.Concat([]string{"label", "targets"}, containers, names(streamFields))
	pointKeys    = slices.Concat([]string{"streams", "sweep"}, names(pointFields), streamKeys)
	defaultKeys  = slices.Concat([]string{"targets"}, names(pointFields, streamFields))
	topKeys      = slices.Concat([]string{"schema", "targets", "defaults", "phases"}, names(planFields))
	sweepKeys    = []string{"threads", "iodepth", "bs", "read_pct", "rw"}
)

// groups are keys that say the same thing in other words: one of them that is written nearer to the stream
// puts all of them aside that are written farther from it.
var groups = [][]string{
	{"bs", "bssplit", "bsrange", "bs_align"},
	{"rate_iops", "rate_bytes", "arrival", "burst", "think_time"},
}

func groupOf(key string) []string {
	for _, g := range groups {
		if slices.Contains(g, key) {
			return g
		}
	}
	return nil
}

// unknownKey is the error for a key that is none of known.
func unknownKey(name string, known []string) error {
	if near := nearest(name, known); near != "" {
		return fmt.Errorf("is no key here; did you mean %s?", near)
	}
	return errors.New("is no key here; known are " + strings.Join(known, ", "))
}

// nearest is the known word that a slip of the finger, or an option's spelling, turns into name; empty if
// none is near.
func nearest(name string, known []string) string {
	return spelling.Nearest(strings.ReplaceAll(strings.ToLower(strings.TrimLeft(name, "-")), "-", "_"), known)
}
