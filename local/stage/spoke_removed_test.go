package stage

import (
	"testing"

	"rollcall/shared/incident"
)

// TestASpokeIsTakenOut: what is open of an account that the settings do not name any more is
// closed in its own message; the hub's own of the same ids is not.
func TestASpokeIsTakenOut(t *testing.T) {
	virtual(t, func(t *testing.T) {
		r := start(t, "route", watching(nil))
		r.scale(1, 1)
		r.scaleSpoke(1)
		r.until("the missed roll calls", func() bool {
			return r.posted("eks-workshop (payments)", "1 instance cannot join")() && r.posted("eks-workshop (111122223333)", "1 instance cannot join")()
		})
		if err := r.Deploy(map[string]string{"ROLLCALL_SPOKES": "none"}); err != nil {
			t.Fatal(err)
		}
		r.until("the end in payments", r.posted("eks-workshop (payments)", "closed, no longer watched, may still fail"))
		theirs, own := r.incidentsOf("eks-workshop"), r.incidents()
		if len(theirs) != 1 || theirs[0].State != incident.Closed || theirs[0].Resolution != incident.Unwatched {
			t.Errorf("payments has %+v", theirs)
		}
		if len(own) != 1 || own[0].State != incident.Open {
			t.Errorf("the hub's own are %+v", own)
		}
		if n := len(r.messages()); n != 2 {
			t.Errorf("%d messages, want one for each account", n)
		}
	})
}
