// Package plan is what a remedy would do, as plain data: to which thing, with
// which values, and for which incident. A plan is made from one look at AWS;
// an approval is bound to its hash, and just before acting it is made again
// from a new look: if the hash differs, the world did, and nothing is done.
//
// It imports only the standard library and the checks' names.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/plan/optin"
)

// Remedy names a remedy.
type Remedy = optin.Remedy

// The remedies.
const (
	AddNATRoute               = optin.AddNATRoute
	ReplaceInstance           = optin.ReplaceInstance
	OpenEndpointSecurityGroup = optin.OpenEndpointSecurityGroup
	CoverZones                = optin.CoverZones
	DeleteLeakedInterfaces    = optin.DeleteLeakedInterfaces
	CreateAccessEntry         = optin.CreateAccessEntry
)

// Remedies are all of them.
func Remedies() []Remedy { return optin.Remedies() }

// Policy is what an operator lets a remedy do in a cluster.
type Policy = optin.Policy

// The policies. Off is the default.
const (
	Off     = optin.Off
	Approve = optin.Approve
	Auto    = optin.Auto
)

// Format is the version of Plan that this code writes and reads.
const Format = 1

// Plan is all that a remedy would do. Exactly one of the pointers is set, the
// remedy's own. Nothing in it depends on when it was made, so that the same
// world gives the same plan.
type Plan struct {
	Format    int    `json:"format"`
	Remedy    Remedy `json:"remedy"`
	Partition string `json:"partition"`
	Account   string `json:"account"`
	Region    string `json:"region"`
	Cluster   string `json:"cluster"`
	// Check and Resource are those of the incident, which verify it too.
	Check    checks.ID `json:"check"`
	Resource string    `json:"resource"`

	Route   *Route   `json:"route,omitempty"`
	Replace *Replace `json:"replace,omitempty"`
	Open    *Open    `json:"open,omitempty"`
	Cover   *Cover   `json:"cover,omitempty"`
	Cleanup *Cleanup `json:"cleanup,omitempty"`
	Access  *Access  `json:"access,omitempty"`
}

// Route is a default route to be added to a route table.
type Route struct {
	VPC         string `json:"vpc"`
	Table       string `json:"table"`
	Destination string `json:"destination"` // 0.0.0.0/0
	NAT         string `json:"nat"`
	NATZone     string `json:"natZone,omitempty"` // empty: regional
	// Zones are those of the subnets that use the table.
	Zones   []string `json:"zones,omitempty"`
	Subnets []string `json:"subnets,omitempty"`
	// ManagedBy is what made the table, by its tags: "CloudFormation stack vpc".
	ManagedBy string `json:"managedBy,omitempty"`
}

// Replace are instances to be ended through their Auto Scaling groups, which
// launch others in their place.
type Replace struct {
	Instances []Replaced `json:"instances"`
}

// Replaced is one of them.
type Replaced struct {
	Instance  string `json:"instance"`
	Group     string `json:"group"`
	Nodegroup string `json:"nodegroup,omitempty"`
	Zone      string `json:"zone,omitempty"`
}

// Open is a port to be opened in an endpoint's security group, to the
// security groups of nodes.
type Open struct {
	VPC           string   `json:"vpc"`
	SecurityGroup string   `json:"securityGroup"`
	Endpoints     []string `json:"endpoints"`
	Port          int      `json:"port"`
	From          []string `json:"from"` // security groups
}

// Cover is a desired count to be raised.
type Cover struct {
	Nodegroup string `json:"nodegroup,omitempty"` // a managed nodegroup, or
	Group     string `json:"group,omitempty"`     // an Auto Scaling group without one
	From      int    `json:"from"`
	To        int    `json:"to"`
	Max       int    `json:"max"`
	// Zones are those that it is to cover, Without those that have no node now.
	Zones   []string `json:"zones,omitempty"`
	Without []string `json:"without,omitempty"`
	// Autoscaler tells that the cluster autoscaler sets the count too.
	Autoscaler bool `json:"autoscaler,omitempty"`
}

// Cleanup are interfaces that dead nodes left behind. eni-cleanup deletes
// them, each by all of its own rules.
type Cleanup struct {
	VPC        string   `json:"vpc"`
	Subnet     string   `json:"subnet"`
	Interfaces []string `json:"interfaces"`
	Addresses  int      `json:"addresses"`
}

// Access is an access entry to be made for the role of nodes.
type Access struct {
	Principal string `json:"principal"` // a role's ARN
	Type      string `json:"type"`      // EC2_LINUX or EC2_WINDOWS
	// LaunchedBy is what of the cluster launched the instances that have the role:
	// "nodegroup workers", "Auto Scaling group a", "NodePool default".
	LaunchedBy []string `json:"launchedBy,omitempty"`
	// Tagged tells that of some of them tags alone say so, which whoever may start
	// an instance may set: a person decides, whatever the policy.
	Tagged bool `json:"tagged,omitempty"`
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
func (p Plan) Things() int {
	if p.Replace != nil {
		return max(len(p.Replace.Instances), 1)
	}
	return 1
}

// Result is what came of a plan.
type Result string

// The results.
const (
	Done Result = "done"
	// Refused: the precondition did not hold, or a limit or a rule forbade it.
	// Nothing was changed.
	Refused Result = "refused"
	// Failed: AWS refused it. Nothing was changed.
	Failed Result = "failed"
	// Partly: some steps were done, a later one was not: Deed.Says tells which.
	Partly Result = "partly"
	// Uncertain: no answer came that says whether it was done.
	Uncertain Result = "uncertain"
)

// Next is when a remedy is tried again, with a plan made anew: what a person
// approved was refused by the limit, or one plan did not do all of it.
type Next struct {
	At time.Time `json:"at"`
	// Reason is a typed word for what it waits, Says a sentence for people.
	Reason string `json:"reason"`
	Says   string `json:"says,omitempty"`
}

// Deed is what was done for a plan: the audit record, and what the thread says.
type Deed struct {
	Format int    `json:"format"`
	ID     string `json:"id"` // hash and approval
	Plan   Plan   `json:"plan"`
	Hash   string `json:"hash"`
	Policy Policy `json:"policy"`
	// ApprovedBy is a Slack user's id; empty where the policy is auto.
	ApprovedBy string    `json:"approvedBy,omitempty"`
	Approved   time.Time `json:"approved,omitzero"`
	// Began is when it was written ahead, Ended when the answer was there.
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended,omitzero"`
	Result Result    `json:"result,omitempty"`
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
