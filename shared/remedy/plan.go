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
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

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
