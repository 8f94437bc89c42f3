// Package remedy plans what would take a cause away, does it, and keeps what was
// done. A plan says as plain data to which thing, with which values, and for
// which incident. It is made from one look at AWS; an approval is bound to its
// hash, and just before acting it is made again from a new look: if the hash
// differs, the world did, and nothing is done.
//
// Each remedy stands in a folder of its own: plan, do, words, grants. All lists
// them. Nothing here reaches AWS: what calls it is in awscall.
package remedy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/checks"
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

// Format is the version of Plan that this code writes and reads.
const Format = 1

// Plan is all that a remedy would do. Exactly one of the pointers is set, the
// remedy's own. Nothing in it depends on when it was made, so that the same
// world gives the same plan. A new remedy's pointer comes last: the order is part
// of the hash.
type Plan struct {
	Format    int          `json:"format"`
	Remedy    optin.Remedy `json:"remedy"`
	Partition string       `json:"partition"`
	Account   string       `json:"account"`
	Region    string       `json:"region"`
	Cluster   string       `json:"cluster"`
	// Check and Resource are those of the incident, which verify it too.
	Check    checks.ID `json:"check"`
	Resource string    `json:"resource"`

	Route   *addnatroute.Plan               `json:"route,omitempty"`
	Replace *replaceinstance.Plan           `json:"replace,omitempty"`
	Open    *openendpointsecuritygroup.Plan `json:"open,omitempty"`
	Cover   *coverzones.Plan                `json:"cover,omitempty"`
	Cleanup *deleteleakedinterfaces.Plan    `json:"cleanup,omitempty"`
	Access  *createaccessentry.Plan         `json:"access,omitempty"`
}

// Hash names the exact plan.
func (p Plan) Hash() string {
	text, err := json.Marshal(p)
	if err != nil {
		// Texts and numbers only: it cannot happen, and no approval has this name.
		return "unknown: " + err.Error()
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Things is how many things it changes, as the limit of an hour counts them: each
// instance that it ends is one.
func (p Plan) Things() int { return planned(p).things(p) }

// Applied tells whether the world is now as the plan makes it. Known is false
// where that could not be looked at. It is asked when no answer came, and when
// a run ended between its claim and its record.
func (p Plan) Applied(s *snapshot.Snapshot) (done, known bool) { return planned(p).applied(p, s) }

// VPC is the VPC that the plan changes the network of; empty for none.
func (p Plan) VPC() string { return planned(p).vpc(p) }

// PersonDecides says why a person decides on the plan although the policy is
// auto; empty where the policy may.
func (p Plan) PersonDecides() string { return planned(p).personDecides(p) }

// Title says in one line what the plan does.
func (p Plan) Title() string {
	const limit = 70
	runes := []rune(p.words().Title)
	if len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return string(runes)
}

// Steps say what is done, one call each, in order.
func (p Plan) Steps() []string { return p.words().Steps }

// Commands do the same by hand.
func (p Plan) Commands() []string { return p.words().Commands }

// Undo takes it back: commands, or a sentence where there is nothing to take back.
func (p Plan) Undo() []string { return p.words().Undo }

// Cost says what it costs, in money and otherwise; empty for nothing.
func (p Plan) Cost() string { return p.words().Cost }

// Change says in few words what it changes: "desired 2 → 3"; empty where that
// takes more.
func (p Plan) Change() string { return p.words().Change }

func (p Plan) words() action.Words { return planned(p).words(p) }

func (p Plan) place() action.Place { return action.Place{Region: p.Region, Cluster: p.Cluster} }

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
		listed(addnatroute.Remedy(), func(p *Plan) **addnatroute.Plan { return &p.Route }, func(c Calls) addnatroute.Calls { return c }),
		listed(openendpointsecuritygroup.Remedy(), func(p *Plan) **openendpointsecuritygroup.Plan { return &p.Open }, func(c Calls) openendpointsecuritygroup.Calls { return c }),
		listed(coverzones.Remedy(), func(p *Plan) **coverzones.Plan { return &p.Cover }, func(c Calls) coverzones.Calls { return c }),
		listed(replaceinstance.Remedy(), func(p *Plan) **replaceinstance.Plan { return &p.Replace }, func(c Calls) replaceinstance.Calls { return c }),
		listed(deleteleakedinterfaces.Remedy(), func(p *Plan) **deleteleakedinterfaces.Plan { return &p.Cleanup }, nil),
		listed(createaccessentry.Remedy(), func(p *Plan) **createaccessentry.Plan { return &p.Access }, func(c Calls) createaccessentry.Calls { return c }),
	}
}

// Of is the remedy of a name. Of one that is not known there is no plan, and
// nothing is done.
func Of(name optin.Remedy) Remedy {
	list := All()
	if i := slices.IndexFunc(list, func(r Remedy) bool { return r.Name == name }); i >= 0 {
		return list[i]
	}
	return unknown(name)
}

// planned is the remedy whose part a plan has, whatever it is named.
func planned(p Plan) Remedy {
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
			return nil, action.Refuse(action.NoSuchRemedy, "%s is no remedy.", name)
		},
	}, func(*Plan) **struct{} { return new(*struct{}) }, nil)
}

// Make plans the remedy for an incident from a fresh look, or says why not. All
// that a plan rests on must have been read in full; and the check that found
// the cause is asked again: what it does not find, with certainty, is not
// remedied. One for a cause that is gone alone asks whether it is.
func (r Remedy) Make(s *snapshot.Snapshot, of action.Subject) (Plan, *action.Refusal) {
	l := action.Look{Snapshot: s, Subject: of, Checks: checks.All()}
	p := Plan{
		Format: Format, Remedy: r.Name, Partition: s.Partition, Account: s.Account, Region: s.Region,
		Cluster: of.Cluster, Check: of.Check, Resource: of.Resource,
	}
	if no := r.plan(&p, l); no != nil {
		return Plan{}, no
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
func (r Remedy) Sources(check checks.ID) []snapshot.Source {
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

// Next is when a remedy is tried again, with a plan made anew: what a person
// approved was refused by the limit, or one plan did not do all of it.
type Next struct {
	At time.Time `json:"at"`
	// Reason is a typed word for what it waits, Says a sentence for people.
	Reason string `json:"reason"`
	Says   string `json:"says,omitempty"`
}

// Run is what was done for a plan: the audit record, and what the thread says.
type Run struct {
	Format int          `json:"format"`
	ID     string       `json:"id"` // hash and approval
	Plan   Plan         `json:"plan"`
	Hash   string       `json:"hash"`
	Policy optin.Policy `json:"policy"`
	// ApprovedBy is a Slack user's id; empty where the policy is auto.
	ApprovedBy string    `json:"approvedBy,omitempty"`
	Approved   time.Time `json:"approved,omitzero"`
	// Began is when it was written ahead, Ended when the answer was there.
	Began  time.Time     `json:"began"`
	Ended  time.Time     `json:"ended,omitzero"`
	Result action.Status `json:"result,omitempty"`
	// Reason is a typed word for a refusal or failure: "nat-not-available",
	// "limit-reached", "AccessDenied". Says is a sentence for people.
	Reason string `json:"reason,omitempty"`
	Says   string `json:"says,omitempty"`
	// Next is when the remedy is tried again; nil where it is not.
	Next *Next `json:"next,omitempty"`
	// Changed are the ids of what was changed, Requests AWS's request ids.
	Changed  []string `json:"changed,omitempty"`
	Requests []string `json:"requests,omitempty"`
	// Version is of the record as it was read; 0 stands for none.
	Version int `json:"version"`
}
