package response_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
)

// becomes holds a step against the reason that it should have and against all
// that it should change of an incident; where that is nothing (nil), nothing is to
// be saved. What it was given stays as it was.
func becomes(t *testing.T, name string, inc incident.Incident, do func(incident.Incident) incident.Decision, reason incident.Reason, change func(*incident.Incident)) incident.Incident {
	t.Helper()
	inc = inc.Clone()
	inc.Delivery.Dirty = false
	room := append(make([]string, 0, len(inc.Applied)+1), inc.Applied...)
	inc.Applied = room
	want, before := inc.Clone(), incidenttest.Encoded(t, inc)
	if change != nil {
		want.Delivery.Dirty = true
		change(&want)
	}
	d := do(inc)
	if d.Reason != reason || d.Changed != (change != nil) {
		t.Errorf("%s: %q, changed %t; want %q, %t", name, d.Reason, d.Changed, reason, change != nil)
	}
	if diff := cmp.Diff(want, d.Incident, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
	if !bytes.Equal(before, incidenttest.Encoded(t, inc)) || room[:cap(room)][len(room)] != "" {
		t.Errorf("%s: the incident that it was given is another now", name)
	}
	return d.Incident
}
