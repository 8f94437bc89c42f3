package remedy

import (
	"context"
	"fmt"

	"rollcall/shared/spec"
	"rollcall/shared/spoke"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
)

// Remedy is one of them: action.Remedy tells of each field.
type Remedy struct {
	Name       optin.Remedy
	Cures      string
	AfterCause bool
	Elsewhere  string
	Most       int
	More       action.More
	Quiet      []action.Reason

	sources []snapshot.Source
	uses    []snapshot.Source
	has     func(Plan) bool
	plan    func(*Plan, action.Look) *action.Refusal
	left    func(action.Look) int
	grants  func(action.OptIn) []spec.Grant

	vpc           func(Plan) string
	personDecides func(Plan) string
	things        func(Plan) int
	applied       func(Plan, *snapshot.Snapshot) (done, known bool)
	words         func(Plan) action.Words
	do            func(context.Context, Calls, Plan, string) action.Result
}

// listed makes one for plans of any remedy of what a folder says of its own.
func listed[P, C any](r action.Remedy[P, C], part func(*Plan) **P, calls func(Calls) C) Remedy {
	own := func(p Plan) *P { return *part(&p) }
	return Remedy{
		Name: r.Name, Cures: r.Cures, AfterCause: r.AfterCause, Elsewhere: r.Elsewhere, Most: max(r.Most, 1), More: r.More, Quiet: r.Quiet,
		sources: r.Sources, uses: r.Uses, left: r.Left, grants: r.Grants,
		has: func(p Plan) bool { return own(p) != nil },
		plan: func(p *Plan, l action.Look) (no *action.Refusal) {
			*part(p), no = r.Make(l)
			return no
		},
		vpc: func(p Plan) string {
			if r.VPC == nil {
				return ""
			}
			return r.VPC(*own(p))
		},
		personDecides: func(p Plan) string {
			if r.PersonDecides == nil {
				return ""
			}
			return r.PersonDecides(*own(p))
		},
		things: func(p Plan) int {
			if r.Things == nil {
				return 1
			}
			return r.Things(*own(p))
		},
		applied: func(p Plan, s *snapshot.Snapshot) (done, known bool) {
			if r.Applied == nil {
				return false, false
			}
			return r.Applied(*own(p), s)
		},
		words: func(p Plan) action.Words {
			if r.Words == nil {
				return action.Words{Title: "Nothing"}
			}
			return r.Words(*own(p), p.place())
		},
		do: func(ctx context.Context, c Calls, p Plan, token string) action.Result {
			if r.Do == nil {
				return action.Result{Status: action.Refused, Reason: string(action.NoSuchRemedy), Says: fmt.Sprintf("%s is not done here.", p.Remedy)}
			}
			return r.Do(ctx, calls(c), *own(p), p.place(), token)
		},
	}
}

// Executor does what plans say, each step with one call.
type Executor struct {
	Calls Calls
	// Of is the account and region in which the calls are made. A plan of another does
	// nothing: what it names there may be anybody's. The zero Of is not known.
	Of spoke.ID
}

// Do does a plan. What is done elsewhere is not done here. By the token EKS knows
// a call that it has had already.
func (e Executor) Do(ctx context.Context, p Plan, token string) action.Result {
	if is := (spoke.ID{Account: p.Account, Region: p.Region}); !e.Of.Hub() && is != e.Of {
		return action.Result{
			Status: action.Failed, Reason: string(action.OtherAccount),
			Says: fmt.Sprintf("Nothing was changed: the plan is of %s, and this is %s.", is, e.Of),
		}
	}
	r := planned(p).do(ctx, e.Calls, p, token)
	if r.Reason == string(action.RoleNotAssumed) && r.Status == action.Failed {
		r.Says += " " + DeploySpoke(e.Of)
	}
	return r
}

// DeploySpoke says what gives a spoke the roles that change something.
func DeploySpoke(of spoke.ID) string {
	return fmt.Sprintf("Deploy the spoke again with what its clusters opted in to, with its own credentials and the hub's words: make deploy-spoke … SPOKE=%s SET=\"remedies=…\".", of)
}

// Grants allow what the remedy calls, as the settings have it; nothing where no
// cluster has opted in.
func (r Remedy) Grants(o action.OptIn) []spec.Grant {
	if r.grants == nil || len(o.Clusters) == 0 {
		return nil
	}
	return r.grants(o)
}
