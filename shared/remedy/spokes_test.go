package remedy

import (
	"context"
	"strings"
	"testing"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/call"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/spoke"
)

// TestAPlanIsDoneInItsOwnAccountAlone: with the credentials of one account and region no
// plan of another is begun. Calls is nil: any call would panic.
func TestAPlanIsDoneInItsOwnAccountAlone(t *testing.T) {
	own := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	for name, of := range map[string]spoke.ID{
		"another account": {Account: "111122223333", Region: "eu-west-1"},
		"another region":  {Account: "222233334444", Region: "us-west-2"},
		"nobody's":        {},
	} {
		for _, r := range All() {
			p := Plan{Format: Format, Remedy: r.Name, Account: of.Account, Region: of.Region, Cluster: "prod", Route: &addnatroute.Plan{}}
			got := Executor{Of: own}.Do(t.Context(), p, "token")
			if got.Status != action.Failed || got.Reason != string(action.OtherAccount) || len(got.Changed) > 0 {
				t.Errorf("%s of %s: %+v", r.Name, name, got)
			}
		}
	}
	// Where a function does not know where it runs, as in releases before there were spokes,
	// there is no other account.
	if got := (Executor{}).Do(t.Context(), Plan{Format: Format, Remedy: "none", Account: own.Account, Region: own.Region}, "token"); got.Reason != string(action.NoSuchRemedy) {
		t.Errorf("without an account of its own: %+v", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a plan of the own account and region was not begun")
		}
	}()
	Executor{Of: own}.Do(t.Context(), Plan{Format: Format, Remedy: optin.AddNATRoute, Account: own.Account, Region: own.Region, Route: &addnatroute.Plan{}}, "token")
}

// refusing is an AWS that answers a route so.
type refusing struct {
	Calls
	answer call.Answer
}

func (r refusing) CreateRoute(context.Context, string, string, string) call.Answer { return r.answer }

// What was not done for want of the spoke's role says what to deploy, and where; what failed
// otherwise does not.
func TestWithoutTheRoleWhatToDeployIsSaid(t *testing.T) {
	own := spoke.ID{Account: "222233334444", Region: "eu-west-1"}
	p := Plan{Format: Format, Remedy: optin.AddNATRoute, Account: own.Account, Region: own.Region, Route: &addnatroute.Plan{Table: "rtb-0a"}}
	for outcome, want := range map[call.Outcome]bool{call.NoRole: true, call.Denied: false, call.Done: false} {
		got := Executor{Calls: refusing{answer: call.Answer{Outcome: outcome, Code: "AccessDenied"}}, Of: own}.Do(t.Context(), p, "token")
		if says := strings.Contains(got.Says, "make deploy-spoke … SPOKE=222233334444/eu-west-1 SET="); says != want || (got.Reason == string(action.RoleNotAssumed)) != want {
			t.Errorf("%s: %+v", outcome, got)
		}
	}
}
