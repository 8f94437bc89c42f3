package incident_test

import (
	"encoding/json"
	"errors"
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

// What is written of an incident names each instance once.
func TestWhatIsWritten(t *testing.T) {
	v := func(of string, found incident.Found, minute int) incident.Verdict {
		return incident.Verdict{Of: of, Found: found, At: incidenttest.At(minute)}
	}
	type same struct {
		Found incident.Found
		Of    []string
	}
	type written struct {
		Covers      []string
		More        []string
		Verdicts    []same
		CauseCovers bool
		MoreCovers  bool
		Cause       struct{ Covers []string }
	}
	with := func(covers, cause, more []string, verdicts ...incident.Verdict) incident.Incident {
		inc := incident.Incident{Covers: covers, More: more, Verdicts: verdicts, Launches: []report.Launch{{Instance: "i-1"}}}
		inc.Cause.Covers = cause
		return inc
	}
	causes := func(w written, covers ...string) written { w.Cause.Covers = covers; return w }
	const fails, well = incident.Failing, incident.Passing
	for name, test := range map[string]struct {
		inc  incident.Incident
		want written
	}{
		"nothing":              {with(nil, nil, nil), written{}},
		"by verdict":           {with([]string{"a", "b", "c", "d"}, nil, nil, v("a", fails, 1), v("b", well, 1), v("c", fails, 1), v("d", fails, 2)), written{Verdicts: []same{{fails, []string{"a", "c"}}, {well, []string{"b"}}, {fails, []string{"d"}}}}},
		"of one time":          {with([]string{"a", "b"}, nil, nil, v("a", fails, 1), v("b", fails, 1)), written{Verdicts: []same{{fails, []string{"a", "b"}}}}},
		"in another order":     {with([]string{"a", "b"}, nil, nil, v("b", fails, 1), v("a", fails, 1)), written{Verdicts: []same{{fails, []string{"b", "a"}}}}},
		"without a verdict":    {with([]string{"a", "b"}, nil, nil, v("b", fails, 1)), written{Covers: []string{"a"}, Verdicts: []same{{fails, []string{"b"}}}}},
		"the cause's too":      {with([]string{"a"}, []string{"a"}, nil, v("a", fails, 1)), written{Verdicts: []same{{fails, []string{"a"}}}, CauseCovers: true}},
		"the cause's are less": {with([]string{"a", "b"}, []string{"a"}, nil, v("a", fails, 1), v("b", fails, 1)), causes(written{Verdicts: []same{{fails, []string{"a", "b"}}}}, "a")},
		"more than are kept":   {with([]string{"i-1", "i-2"}, nil, []string{"i-2", "i-3"}, v("i-1", fails, 1), v("i-2", fails, 1)), written{More: []string{"i-3"}, Verdicts: []same{{fails, []string{"i-1", "i-2"}}}, MoreCovers: true}},
		"more, not covered":    {with([]string{"i-1"}, nil, []string{"i-3"}, v("i-1", fails, 1)), written{More: []string{"i-3"}, Verdicts: []same{{fails, []string{"i-1"}}}}},
		"covered, not more":    {with([]string{"i-2", "i-3"}, nil, []string{"i-3"}, v("i-2", fails, 1), v("i-3", fails, 1)), written{More: []string{"i-3"}, Verdicts: []same{{fails, []string{"i-2", "i-3"}}}}},
	} {
		var got written
		if err := json.Unmarshal(incidenttest.Encoded(t, test.inc), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What is read is in order, whatever lies in the table.
func TestWhatIsRead(t *testing.T) {
	var inc incident.Incident
	body := `{"covers":["z","c"],"verdicts":[{"found":"failing","at":"2026-11-20T15:00:00Z","of":["i-2","c"]},{"found":"passing","at":"2026-11-20T15:00:00Z","of":["a"]}],"more":["i-9"],"moreCovers":true,"causeCovers":true}`
	if err := json.Unmarshal([]byte(body), &inc); err != nil {
		t.Fatal(err)
	}
	at := incidenttest.At(1)
	want := incident.Incident{
		Covers: []string{"a", "c", "i-2", "z"}, More: []string{"a", "c", "i-2", "i-9", "z"},
		Verdicts: []incident.Verdict{{Of: "a", Found: incident.Passing, At: at}, {Of: "c", Found: incident.Failing, At: at}, {Of: "i-2", Found: incident.Failing, At: at}},
	}
	want.Cause.Covers = want.Covers
	if diff := cmp.Diff(want, inc); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal([]byte(`{"covers":"a"}`), &inc); !errors.As(err, &wrong) || wrong.Field != "covers" {
		t.Errorf("what is no list is read: %v", err)
	}
}
