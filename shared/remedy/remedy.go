// Package remedy is what is known of a remedy without planning it: its plan as plain
// data, which says to which thing, with which values, and for which incident; the plan's
// words for people; and what was done. Messages, incidents and records hold them.
//
// An approval is bound to a plan's hash. Just before acting the plan is made again from a
// new look: if the hash differs, the world did, and nothing is done. What plans and does
// stands in a folder of its own for each remedy; package remedies lists them.
package remedy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/remedy/optin"
)

// Remedy is one of them.
type Remedy struct {
	Name optin.Remedy
	// Cures says what it is for: "Subnets whose route table has no route to the internet."
	Cures string
	// AfterCause: it is for what failed while a cause was there that is gone now.
	// All others are for a cause that is there.
	AfterCause bool
	// Elsewhere is the function that does it once it is approved, where remediate
	// does not: "eni-cleanup".
	Elsewhere string
}

// All are the remedies.
func All() []Remedy {
	return []Remedy{
		{Name: optin.AddNATRoute, Cures: "Subnets of nodes whose route table has no route to the internet."},
		{Name: optin.OpenEndpointSecurityGroup, Cures: "Endpoints whose security group blocks the nodes."},
		{Name: optin.CoverZones, Cures: "Volumes in a zone in which a nodegroup has no node."},
		{Name: optin.ReplaceInstance, Cures: "Instances that did not join because of a cause that is gone now.", AfterCause: true},
		{Name: optin.DeleteLeakedInterfaces, Cures: "Subnets whose addresses are held by interfaces of terminated nodes.", Elsewhere: "eni-cleanup"},
		{Name: optin.CreateAccessEntry, Cures: "Nodes whose role has no access to the cluster."},
	}
}

// ByName returns the remedy of a name; of one that is not known, the name alone.
func ByName(name optin.Remedy) Remedy {
	list := All()
	if i := slices.IndexFunc(list, func(r Remedy) bool { return r.Name == name }); i >= 0 {
		return list[i]
	}
	return Remedy{Name: name}
}

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
	Check    checkid.ID `json:"check"`
	Resource string     `json:"resource"`

	Route   *AddNATRoute               `json:"route,omitempty"`
	Replace *ReplaceInstance           `json:"replace,omitempty"`
	Open    *OpenEndpointSecurityGroup `json:"open,omitempty"`
	Cover   *CoverZones                `json:"cover,omitempty"`
	Cleanup *DeleteLeakedInterfaces    `json:"cleanup,omitempty"`
	Access  *CreateAccessEntry         `json:"access,omitempty"`
}

// Hash names the exact plan.
func (p Plan) Hash() string {
	if p.Cleanup != nil {
		done := *p.Cleanup
		done.Held = "" // what is not done is no part of what is approved
		p.Cleanup = &done
	}
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
func (p Plan) Things() int {
	if p.Replace == nil {
		return 1
	}
	return max(len(p.Replace.Instances), 1)
}

// Size is how much a plan would bring, where another plan of the same remedy can bring more:
// addresses that come back; 0 where that cannot be.
func (p Plan) Size() int {
	if p.Cleanup == nil {
		return 0
	}
	return p.Cleanup.Addresses
}

// VPC is the VPC that the plan changes the network of; empty for none. It must be one of
// those that the operator named (setting remedyVpcs).
func (p Plan) VPC() string {
	switch {
	case p.Route != nil:
		return p.Route.VPC
	case p.Open != nil:
		return p.Open.VPC
	}
	return ""
}

// PersonDecides says why a person decides on the plan although the policy is
// auto; empty where the policy may.
func (p Plan) PersonDecides() string {
	switch {
	case p.Route != nil:
		return Unproved(p.Route.Unproved)
	case p.Open != nil:
		return Unproved(p.Open.Unproved)
	case p.Access != nil:
		return p.Access.personDecides()
	}
	return ""
}

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

// Held is what of the same kind it leaves, and why; empty for nothing.
func (p Plan) Held() string {
	if p.Cleanup == nil {
		return ""
	}
	return p.Cleanup.Held
}

// Change says in few words what it changes: "desired 2 → 3"; empty where that
// takes more.
func (p Plan) Change() string { return p.words().Change }

// Place is where it is done.
func (p Plan) Place() Place { return Place{Region: p.Region, Cluster: p.Cluster} }

func (p Plan) words() Words {
	at := p.Place()
	switch {
	case p.Route != nil:
		return p.Route.Words(at)
	case p.Open != nil:
		return p.Open.Words(at)
	case p.Cover != nil:
		return p.Cover.Words(at)
	case p.Replace != nil:
		return p.Replace.Words(at)
	case p.Cleanup != nil:
		return p.Cleanup.Words(at)
	case p.Access != nil:
		return p.Access.Words(at)
	}
	return Words{Title: "Nothing"}
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
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended,omitzero"`
	Result Status    `json:"result,omitempty"`
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

// Next is when a remedy is tried again, with a plan made anew: what a person
// approved was refused by the limit, or one plan did not do all of it.
type Next struct {
	At time.Time `json:"at"`
	// Reason is a typed word for what it waits, Says a sentence for people.
	Reason string `json:"reason"`
	Says   string `json:"says,omitempty"`
}

// Status is what came of a plan. The words are permanent: they stand in audit
// records.
type Status string

// The statuses.
const (
	Done Status = "done"
	// Refused: the precondition did not hold, or a limit or a rule forbade it.
	// Nothing was changed.
	Refused Status = "refused"
	// Failed: AWS refused it. Nothing was changed.
	Failed Status = "failed"
	// Partly: some steps were done, a later one was not: Says tells which.
	Partly Status = "partly"
	// Uncertain: no answer came that says whether it was done.
	Uncertain Status = "uncertain"
)

// Reason is a typed word for why there is no plan. The words are permanent:
// they stand in audit records.
type Reason string

// The reasons that are not one remedy's alone.
const (
	// CouldNotLook: something that the plan rests on was not read.
	CouldNotLook Reason = "could-not-look"
	// NotSo: the check that found the cause does not find it any more.
	NotSo Reason = "not-so"
	// NotCertain: it is found, but something unseen could make it harmless.
	NotCertain   Reason = "not-certain"
	NoSuchRemedy Reason = "no-such-remedy"
	Gone         Reason = "gone"
	OtherVPC     Reason = "other-vpc"
	OtherAccount Reason = "other-account"
	OtherCluster Reason = "other-cluster"
	// RoleNotAssumed: the role of the account in which it would be done does not let in.
	RoleNotAssumed Reason = "role-not-assumed"
	SharedVPC      Reason = "shared-vpc"
	CauseIsThere   Reason = "cause-is-there"
	TooSoon        Reason = "too-soon"
	GroupScales    Reason = "group-scales"
	NotTheGroups   Reason = "not-the-groups"
	Suspended      Reason = "suspended"
	NothingToDo    Reason = "nothing-to-do"
	AlreadyThere   Reason = "already-there"
	AnotherChange  Reason = "another-change"
	// NotLaunchedByIt: nothing of the cluster launched the instance.
	NotLaunchedByIt Reason = "not-launched-by-the-cluster"
)
