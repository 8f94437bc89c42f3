package detect

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/event"
	"rollcall/shared/snapshot"
)

// deniedCall is a refused call of a NodePool, and what EC2 said to it.
func deniedCall(pool string, at time.Time, message string) snapshot.RefusedLaunch {
	return RefusedCall(event.Trigger{Time: at, Call: "CreateFleet", Refusal: &event.Refusal{Caller: "arn:aws:iam::111122223333:role/karpenter", Errors: []event.LaunchError{
		{Code: "UnauthorizedOperation", Message: message, Offers: 1},
	}}}, map[string]string{"karpenter.sh/nodepool": pool})
}

// TestRunsAreDecodedOnce: the message of a run's first call is decoded, whole ones
// only, two in a batch; what is kept of a run has no message.
func TestRunsAreDecodedOnce(t *testing.T) {
	const text = "You are not authorized to perform this operation. Encoded authorization failure message: "
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	var asked []string
	decode := func(message string) snapshot.DecodedMessage {
		asked = append(asked, message)
		if message == "first" {
			return snapshot.DecodedMessage{Encoded: message, Denial: &snapshot.Denial{Action: "ec2:CreateFleet", Explicit: true}}
		}
		return snapshot.DecodedMessage{Encoded: message, Failure: &snapshot.Failure{Call: "sts:DecodeAuthorizationMessage", Reason: snapshot.Broken, Code: "InvalidAuthorizationMessageException"}}
	}
	runs := NewRuns(nil)
	for _, call := range []snapshot.RefusedLaunch{
		deniedCall("a", at, text+"first"), deniedCall("a", at.Add(2*time.Minute), text+"again"), deniedCall("b", at, text+"foreign"),
		deniedCall("c", at, text+"cut..."), deniedCall("d", at, text+"third"), deniedCall("e", at, "no"),
	} {
		runs.Take("prod", call)
	}
	runs.Decode(decode)
	if diff := cmp.Diff([]string{"first", "foreign"}, asked); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	type told struct{ Action, Undecoded string }
	got := map[string]told{}
	for _, r := range runs.Launches() {
		x := told{Undecoded: r.Undecoded}
		if r.Denial != nil {
			x.Action = r.Denial.Action
		}
		got[strings.TrimPrefix(r.Launcher, "nodepool/")] = x
		if strings.Contains(r.Text, "foreign") || strings.Contains(r.Text, "first") {
			t.Errorf("the message is kept in %q", r.Text)
		}
	}
	want := map[string]told{
		"a": {Action: "ec2:CreateFleet"}, "b": {Undecoded: "STS does not take it: it has expired, is another account's, or is only a part"},
		"c": {Undecoded: "only a part of it was kept, which cannot be decoded"}, "d": {Undecoded: "others were decoded first"}, "e": {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}
