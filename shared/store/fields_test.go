package store

import (
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"rollcall/shared/backoff"
	"rollcall/shared/incident"
	"rollcall/shared/interaction"
	"rollcall/shared/network/leak"
	"rollcall/shared/nodegroup"
	"rollcall/shared/outbox"
	"rollcall/shared/remedy"
	"rollcall/shared/report"
)

// recordKind is the format of a kind of record, and its type.
type recordKind struct {
	format int
	of     any
}

// records are the kinds of record, with the format that this release writes.
func records() map[string]recordKind {
	return map[string]recordKind{
		"alias":        {aliasFormat, Alias{}},
		"launch":       {LaunchFormat, LaunchRecord{}},
		"jointime":     {joinTimesFormat, JoinTimes{}},
		"incident":     {report.Format, incident.Incident{}},
		"nodegroup":    {nodegroup.Format, nodegroup.Record{}},
		"summary":      {report.SummaryFormat, outbox.Posting{}},
		"sighting":     {sightingFormat, leak.Sighting{}},
		"audit":        {leak.AuditFormat, leak.Audit{}},
		"act":          {incident.RecordFormat, incident.ActRecord{}},
		"deed":         {remedy.Format, remedy.Run{}},
		"deeds-lately": {lateFormat, late{}},
		"pace":         {paceFormat, leak.Pace{}},
		"cleanup":      {cleanupFormat, summaryDigest{}},
		"cluster":      {outbox.ClusterFormat, outbox.ClusterRecord{}},
		"sample":       {sampleFormat, sample{}},
		"sample#hours": {hourFormat, sampleHour{}},
		"backoff":      {backoff.Format, backoff.Record{}},
		"refusal":      {interaction.RecordFormat, interaction.Record{}},
	}
}

// droppedByRollback are the fields that were added without a new format, and
// what it means that an older release, which reads the record and writes it
// again, drops them. A field whose loss would do harm needs a new format.
func droppedByRollback() map[string]string {
	return map[string]string{}
}

// firstFields lists the fields of the first release's records, a line for each:
// the kind, its format and the field's path. A later release adds a list of its
// own when it raises a format.
const firstFields = "testdata/fields-1.txt"

// update writes the fields of the first release anew, until it has a tag.
var update = flag.Bool("update", false, "write the fields of the first release anew, before it is tagged")

// linesOf lists the fields of today's records.
func linesOf(list map[string]recordKind) (lines []string) {
	for kind, r := range list {
		for _, path := range fieldsOf(reflect.TypeOf(r.of), "$", nil) {
			lines = append(lines, fmt.Sprintf("%s %d %s", kind, r.format, path))
		}
	}
	slices.Sort(lines)
	return lines
}

// TestFieldsOfRecords holds that a record's form changes knowingly: a field that
// is gone loses what older releases wrote, and a new one is lost when an older
// release writes the record again.
func TestFieldsOfRecords(t *testing.T) {
	if *update {
		if err := os.WriteFile(firstFields, []byte(strings.Join(linesOf(records()), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(firstFields)
	if err != nil {
		t.Fatal(err)
	}
	was := strings.Split(strings.TrimSpace(string(data)), "\n")
	said := droppedByRollback()
	for kind, r := range records() {
		format := fmt.Sprintf("%s %d ", kind, r.format)
		if !slices.ContainsFunc(was, func(line string) bool { return strings.HasPrefix(line, format) }) {
			continue // of a format that no earlier release knows, and so leaves alone
		}
		is := fieldsOf(reflect.TypeOf(r.of), "$", nil)
		for _, path := range is {
			field := kind + " " + path
			if !slices.Contains(was, format+path) && said[field] == "" {
				t.Errorf("new field %s: raise the format of the record, or say in droppedByRollback what it means that an older release drops it", field)
			}
			if !slices.Contains(was, format+path) {
				delete(said, field)
			}
		}
		for _, line := range was {
			if path, ok := strings.CutPrefix(line, format); ok && !slices.Contains(is, path) {
				t.Errorf("field %s of %s is gone: what an older release wrote in it would be lost", path, kind)
			}
		}
	}
	for field := range said {
		t.Errorf("droppedByRollback names %s, which is not new, or is not there", field)
	}
}

// fieldsOf are the paths that a type has in JSON.
func fieldsOf(t reflect.Type, path string, within []reflect.Type) (out []string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	marshals := t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	switch {
	case slices.Contains(within, t), marshals:
		return []string{path}
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		return fieldsOf(t.Elem(), path+"[]", within)
	case t.Kind() == reflect.Map:
		return fieldsOf(t.Elem(), path+".*", within)
	case t.Kind() != reflect.Struct:
		return []string{path}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			out = append(out, fieldsOf(f.Type, path, append(within, t))...)
			continue
		case name == "":
			name = f.Name
		}
		out = append(out, fieldsOf(f.Type, path+"."+name, append(slices.Clone(within), t))...)
	}
	return out
}
