package store

import (
	"encoding"
	"encoding/json"
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

// records are the kinds of record, with the format that this release writes.
func records() map[string]struct {
	format int
	of     any
} {
	type kind = struct {
		format int
		of     any
	}
	return map[string]kind{
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
	lostPlan := "a plan's hash counts it: the older release refuses an approval of the newer one's offer, and offers again"
	tag := "the launch's end stands in the record beside it; one that is still open is judged by Karpenter's tag again, or not at all, as before"
	claim := "what a NodeClaim said is not told any more once Karpenter has deleted it; the cause is found without it"
	ofSpoke := "an older release has no spokes: it finds no record of one, whose key has the account"
	said := map[string]string{
		"act $.key.spoke.account":             ofSpoke,
		"act $.key.spoke.region":              ofSpoke,
		"summary $.more[].ts":                 "a week's later replies may be said twice, if they were being said",
		"summary $.more[].sending":            "a week's later replies may be said twice, if they were being said",
		"summary $.untold":                    "the event of a week that was not told yet is not told: an older release has none",
		"summary $.event":                     "targets are not told of a week whose event was recorded and not told yet",
		"summary $.summary.whose":             "what is said again of the summary names no account, as before",
		"launch $.machine.plugin":             "the launch counts for no version of the VPC CNI when launches are compared",
		"launch $.claim.name":                 claim,
		"launch $.claim.pool":                 claim,
		"launch $.claim.seen":                 claim,
		"launch $.claim.conditions[].type":    claim,
		"launch $.claim.conditions[].status":  claim,
		"launch $.claim.conditions[].reason":  claim,
		"launch $.claim.conditions[].message": claim,
		"launch $.claim.conditions[].since":   claim,
		"launch $.tagged":                     tag,
		"deed $.plan.access.launchedBy[]":     lostPlan,
		"deed $.plan.route.unproved[]":        lostPlan,
		"deed $.plan.open.unproved[]":         lostPlan,
		"deed $.plan.access.tagged":           lostPlan,
	}
	for _, path := range fieldsOf(reflect.TypeFor[report.Period](), "$.summary.period", nil) {
		said["summary "+path] = "an older release leaves the record alone: it is marked as done there (outbox.New), and read by kind here"
	}
	return said
}

// firstFields lists the fields of the first release's records, a line for each:
// the kind, its format and the field's path. A later release adds a list of its
// own when it raises a format.
const firstFields = "testdata/fields-1.txt"

// TestFieldsOfRecords holds that a record's form changes knowingly: a field that
// is gone loses what older releases wrote, and a new one is lost when an older
// release writes the record again.
func TestFieldsOfRecords(t *testing.T) {
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
