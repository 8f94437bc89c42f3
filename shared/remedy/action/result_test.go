package action

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/call"
)

// Only what AWS says that it did is changed; what no answer tells is not known;
// all else changed nothing.
func TestOne(t *testing.T) {
	refused := Result{Status: Failed, Reason: "Broken", Says: "Nothing was changed: AWS says Broken: because", Requests: []string{"r-1"}}
	for outcome, want := range map[call.Outcome]Result{
		call.Done:      {Status: Done, Changed: []string{"rtb-0a"}, Requests: []string{"r-1"}},
		call.Uncertain: {Status: Uncertain, Reason: "Broken", Says: "No answer came that says whether it was done.", Requests: []string{"r-1"}},
		call.WouldDo:   refused, call.InUse: refused, call.NotThere: refused, call.Throttled: refused, call.Denied: refused, call.Refused: refused,
		"": refused,
	} {
		got := One("rtb-0a", call.Answer{Outcome: outcome, Request: "r-1", Code: "Broken", Message: "because"})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", outcome, diff)
		}
	}
	for name, a := range map[string]call.Answer{
		"STS says no":      {Outcome: call.NoRole, Code: "AccessDenied", Message: "User: … is not authorized", Request: "r-1"},
		"STS says nothing": {Outcome: call.NoRole, Message: "AccessDenied", Request: "r-1"},
	} {
		want := Result{Status: Failed, Reason: "role-not-assumed", Says: "Nothing was changed: the role in which it is done does not let Rollcall in (AccessDenied).", Requests: []string{"r-1"}}
		if diff := cmp.Diff(want, One("rtb-0a", a)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	want := Result{Status: Failed, Reason: "NotARaise", Says: "Nothing was changed: AWS says NotARaise: because"}
	if diff := cmp.Diff(want, One("g", call.NotAsked("NotARaise", "because"))); diff != "" {
		t.Errorf("not asked (-want +got):\n%s", diff)
	}
}
