package launchwatch

import (
	"slices"
	"testing"

	"rollcall/shared/snapshot"
)

// What an event tells counts once, whether or not the activities list it yet,
// and also where they cannot be read.
func TestHear(t *testing.T) {
	told := []snapshot.Activity{{ID: "a-1", Group: "g", Status: "Failed"}}
	denied := snapshot.Failure{Source: snapshot.Activities, Reason: snapshot.Denied}
	tests := map[string]struct {
		listed []string
		failed bool
		want   []string
	}{
		"listed":        {[]string{"a-1", "a-0"}, false, []string{"a-1", "a-0"}},
		"not yet":       {[]string{"a-0"}, false, []string{"a-0", "a-1"}},
		"not to be had": {nil, true, []string{"a-1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Activities: !tt.failed}, Failures: map[snapshot.Source]snapshot.Failure{}, Groups: []snapshot.Group{{Name: "g"}}}
			for _, id := range tt.listed {
				s.Activities = append(s.Activities, snapshot.Activity{ID: id, Group: "g"})
			}
			if tt.failed {
				s.Failures[snapshot.Activities] = denied
			}
			addActivities(s, told)
			var got []string
			for _, a := range s.Activities {
				got = append(got, a.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("activities %q, want %q", got, tt.want)
			}
			if f, lacks := s.Lacks(snapshot.Activities, "g"); lacks != tt.failed || lacks && f.Reason != snapshot.Denied {
				t.Errorf("lacks %v, %+v", lacks, f)
			}
			if !s.Has(snapshot.Activities) {
				t.Error("the activities count as unread")
			}
		})
	}
	s := &snapshot.Snapshot{}
	if addActivities(s, nil); s.Has(snapshot.Activities) {
		t.Error("nothing was heard, and the activities count as read")
	}
}
