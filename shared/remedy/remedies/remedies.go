// Package remedies plans what would take a cause away, and does it: each remedy stands in
// a folder of its own beside this one, with plan, do and grants, and All lists them.
// Nothing here reaches AWS: what calls it is in awscall.
package remedies

import (
	"context"
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/coverzones"
	"rollcall/shared/remedy/createaccessentry"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/openendpointsecuritygroup"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Applied reports whether the world is now as the plan makes it. Known is false
// where that could not be looked at. It is asked when no answer came, and when
// a run ended between its claim and its record.
func Applied(p remedy.Plan, s *snapshot.Snapshot) (done, known bool) { return planned(p).applied(p, s) }

// Remedy is one of them: action.Remedy documents each field.
type Remedy struct {
	remedy.Remedy
	Most  int
	More  action.More
	Quiet []remedy.Reason

	sources []snapshot.Source
	uses    []snapshot.Source
	has     func(remedy.Plan) bool
	plan    func(*remedy.Plan, action.Look) *action.Refusal
	left    func(action.Look) int
	grants  func(action.OptIn) []spec.Grant

	applied func(remedy.Plan, *snapshot.Snapshot) (done, known bool)
	do      func(context.Context, Calls, remedy.Plan, string) action.Result
}

// listed makes one for plans of any remedy of what a folder says of its own.
func listed[P, C any](r action.Remedy[P, C], part func(*remedy.Plan) **P, calls func(Calls) C) Remedy {
	own := func(p remedy.Plan) *P { return *part(&p) }
	return Remedy{
		Remedy: remedy.ByName(r.Name), Most: max(r.Most, 1), More: r.More, Quiet: r.Quiet,
		sources: r.Sources, uses: r.Uses, left: r.Left, grants: r.Grants,
		has: func(p remedy.Plan) bool { return own(p) != nil },
		plan: func(p *remedy.Plan, l action.Look) (no *action.Refusal) {
			*part(p), no = r.Make(l)
			return no
		},
		applied: func(p remedy.Plan, s *snapshot.Snapshot) (done, known bool) {
			if r.Applied == nil {
				return false, false
			}
			return r.Applied(*own(p), s)
		},
		do: func(ctx context.Context, c Calls, p remedy.Plan, token string) action.Result {
			if r.Do == nil {
				return action.Result{Status: remedy.Refused, Reason: string(remedy.NoSuchRemedy), Says: fmt.Sprintf("%s is not applied here.", p.Remedy)}
			}
			return r.Do(ctx, calls(c), *own(p), p.Place(), token)
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
func (e Executor) Do(ctx context.Context, p remedy.Plan, token string) action.Result {
	if is := (spoke.ID{Account: p.Account, Region: p.Region}); !e.Of.Hub() && is != e.Of {
		return action.Result{
			Status: remedy.Failed, Reason: string(remedy.OtherAccount),
			Says: fmt.Sprintf("Nothing was changed: the plan is for %s, and this is %s.", is, e.Of),
		}
	}
	r := planned(p).do(ctx, e.Calls, p, token)
	if r.Reason == string(remedy.RoleNotAssumed) && r.Status == remedy.Failed {
		r.Says += " " + DeploySpoke(e.Of)
	}
	return r
}

// DeploySpoke says what gives a spoke the roles that change something.
func DeploySpoke(of spoke.ID) string {
	return fmt.Sprintf("Redeploy the spoke with its clusters' remedies and its own account's credentials: make deploy-spoke … SPOKE=%s SET=\"remedies=…\".", of)
}

// Grants allow what the remedy calls, as the settings have it; nothing where no
// cluster has opted in.
func (r Remedy) Grants(o action.OptIn) []spec.Grant {
	if r.grants == nil || len(o.Clusters) == 0 {
		return nil
	}
	return r.grants(o)
}

// Calls are all that remedies ask of AWS: each folder declares its own.
type Calls interface {
	addnatroute.Calls
	replaceinstance.Calls
	openendpointsecuritygroup.Calls
	coverzones.Calls
	createaccessentry.Calls
}

// All are the remedies. Each line says where a
// remedy's part of a plan stands, and of whom it asks its calls.
func All() []Remedy {
	return []Remedy{
		listed(addnatroute.Remedy(), func(p *remedy.Plan) **remedy.AddNATRoute { return &p.Route }, func(c Calls) addnatroute.Calls { return c }),
		listed(openendpointsecuritygroup.Remedy(), func(p *remedy.Plan) **remedy.OpenEndpointSecurityGroup { return &p.Open }, func(c Calls) openendpointsecuritygroup.Calls { return c }),
		listed(coverzones.Remedy(), func(p *remedy.Plan) **remedy.CoverZones { return &p.Cover }, func(c Calls) coverzones.Calls { return c }),
		listed(replaceinstance.Remedy(), func(p *remedy.Plan) **remedy.ReplaceInstance { return &p.Replace }, func(c Calls) replaceinstance.Calls { return c }),
		listed(deleteleakedinterfaces.Remedy(), func(p *remedy.Plan) **remedy.DeleteLeakedInterfaces { return &p.Cleanup }, nil),
		listed(createaccessentry.Remedy(), func(p *remedy.Plan) **remedy.CreateAccessEntry { return &p.Access }, func(c Calls) createaccessentry.Calls { return c }),
	}
}

// ByName returns the remedy of a name. Of one that is not known there is no plan, and
// nothing is done.
func ByName(name optin.Remedy) Remedy {
	list := All()
	if i := slices.IndexFunc(list, func(r Remedy) bool { return r.Name == name }); i >= 0 {
		return list[i]
	}
	return unknown(name)
}

// planned is the remedy whose part a plan has, whatever it is named.
func planned(p remedy.Plan) Remedy {
	list := All()
	if i := slices.IndexFunc(list, func(r Remedy) bool { return r.has(p) }); i >= 0 {
		return list[i]
	}
	return unknown(p.Remedy)
}

func unknown(name optin.Remedy) Remedy {
	return listed(action.Remedy[struct{}, any]{
		Name:    name,
		Sources: []snapshot.Source{snapshot.Clusters},
		Plan: func(action.Look) (*struct{}, *action.Refusal) {
			return nil, action.Refuse(remedy.NoSuchRemedy, "%s is not a remedy.", name)
		},
	}, func(*remedy.Plan) **struct{} { return new(*struct{}) }, nil)
}

// Make plans the remedy for an incident from a fresh look, or says why not. All
// that a plan rests on must have been read in full; and the check that found
// the cause is asked again: what it does not find, with certainty, is not
// remedied. One for a cause that is gone alone asks whether it is.
func (r Remedy) Make(s *snapshot.Snapshot, of action.Subject) (remedy.Plan, *action.Refusal) {
	l := action.Look{Snapshot: s, Subject: of, Checks: checks.All()}
	p := remedy.Plan{
		Format: remedy.Format, Remedy: r.Name, Partition: s.Partition, Account: s.Account, Region: s.Region,
		Cluster: of.Cluster, Check: of.Check, Resource: of.Resource,
	}
	if no := r.plan(&p, l); no != nil {
		return remedy.Plan{}, no
	}
	return p, nil
}

// Left is how many things more a plan would hold, if one could hold any number.
func (r Remedy) Left(s *snapshot.Snapshot, of action.Subject) int {
	if r.left == nil {
		return 0
	}
	return r.left(action.Look{Snapshot: s, Subject: of, Checks: checks.All()})
}

// Sources are what a plan needs to be read: its own, and those of the check.
func (r Remedy) Sources(check checkid.ID) []snapshot.Source {
	list := slices.Concat(r.sources, r.uses)
	for _, c := range checks.All() {
		if c.ID == check {
			list = slices.Concat(list, c.Needs, c.Uses)
		}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(x snapshot.Source) bool { return x == snapshot.LaunchHistory })
	slices.Sort(list)
	return slices.Compact(list)
}
