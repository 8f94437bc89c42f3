package incident_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

// What an incident covers is kept, whether or not the verdicts, the launches
// and the cause name the same.
func TestPack(t *testing.T) {
	v := func(of string, found incident.Found, minute int) incident.Verdict {
		return incident.Verdict{Of: of, Found: found, At: incidenttest.At(minute)}
	}
	tests := []struct {
		name string
		inc  incident.Incident
	}{
		{"empty", incident.Incident{}},
		{"a subnet", incident.Incident{Covers: []string{"subnet-1"}, Verdicts: []incident.Verdict{v("subnet-1", incident.Failing, 1)}}},
		{"covered without a verdict", incident.Incident{Covers: []string{"a", "b"}, Verdicts: []incident.Verdict{v("b", incident.Failing, 1)}}},
		{"verdicts of several times", incident.Incident{
			Covers: []string{"a", "b", "c"}, Verdicts: []incident.Verdict{v("a", incident.Failing, 1), v("b", incident.Passing, 2), v("c", incident.Failing, 1)},
		}},
		{"more than are kept, and covered", incident.Incident{
			Covers: []string{"i-1", "i-2", "i-3"}, Launches: []report.Launch{{Instance: "i-1"}}, More: []string{"i-2", "i-3"},
			Verdicts: []incident.Verdict{v("i-1", incident.Failing, 1), v("i-2", incident.Failing, 1), v("i-3", incident.Failing, 1)},
		}},
		{"more than are kept, one of them let go of", incident.Incident{
			Covers: []string{"i-1", "i-3"}, Launches: []report.Launch{{Instance: "i-1"}}, More: []string{"i-2", "i-3"},
			Verdicts: []incident.Verdict{v("i-1", incident.Failing, 1), v("i-3", incident.Failing, 1)},
		}},
		{"more than are kept, and a subnet covered", incident.Incident{
			Covers: []string{"subnet-1"}, Launches: []report.Launch{{Instance: "i-1"}}, More: []string{"i-2", "i-3"},
			Verdicts: []incident.Verdict{v("subnet-1", incident.Failing, 1)},
		}},
	}
	for _, tt := range tests {
		for _, cause := range [][]string{nil, {"other"}, tt.inc.Covers} {
			inc := tt.inc
			inc.Cause.Covers = cause
			body, err := json.Marshal(inc)
			if err != nil {
				t.Fatal(err)
			}
			var got incident.Incident
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(inc, got); diff != "" {
				t.Errorf("%s, the cause covers %q (-want +got):\n%s", tt.name, cause, diff)
			}
		}
	}
}

// Whatever lies in the table, what is read of it is written as it was read.
func FuzzPack(f *testing.F) {
	f.Add([]byte(`{"covers":["a"],"verdicts":[{"found":"failing","at":"2026-11-20T15:00:00Z","of":["i-1","i-2"]}],"launches":[{"instance":"i-1"}],"moreCovers":true,"causeCovers":true}`))
	f.Add([]byte(`{"verdicts":[{"of":["b","a","b"]},{"of":null}],"more":["z","a"]}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"covers":"a"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var first, second incident.Incident
		if json.Unmarshal(body, &first) != nil {
			return
		}
		written, err := json.Marshal(first)
		if err != nil {
			return // a year that JSON has no form for
		}
		if err := json.Unmarshal(written, &second); err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		same := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
		if diff := cmp.Diff(first.Covers, second.Covers, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("covers (-read +read again):\n%s", diff)
		}
		if diff := cmp.Diff(first.Verdicts, second.Verdicts, same, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("verdicts (-read +read again):\n%s", diff)
		}
		for _, id := range first.More {
			if !second.Affects(id) && first.Affects(id) {
				t.Errorf("%q is not among those affected any more", id)
			}
		}
	})
}
