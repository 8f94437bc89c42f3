package store

import (
	"net/netip"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
)

// LaunchFormat is the version of LaunchRecord that this code writes and reads.
const LaunchFormat = 1

// LaunchRecord is what is remembered of one launch, from its first event until 90
// days after it.
type LaunchRecord struct {
	outcome.Launch
	// Activity is the scaling activity of a refused launch that came to no
	// instance: then Instance is empty.
	Activity string `json:"activity,omitempty"`
	Cluster  string `json:"cluster"`
	Spot     bool   `json:"spot,omitempty"`
	// Due is when it should be a Ready node.
	Due time.Time `json:"due"`

	// EndedCode is EC2's code beside EndedWhy. Of a node that had joined both,
	// and Ended, are there only where it was lost within an hour.
	EndedCode string `json:"endedCode,omitempty"`
	// EndedBy is the cause of the scaling activity that ended it.
	EndedBy     string    `json:"endedBy,omitempty"`
	Alive       time.Time `json:"alive,omitzero"`
	Over        time.Time `json:"over,omitzero"`
	Forgotten   time.Time `json:"forgotten,omitzero"`
	Noticed     time.Time `json:"noticed,omitzero"`
	Rebalance   time.Time `json:"rebalance,omitzero"`
	Maintenance time.Time `json:"maintenance,omitzero"`
	Missed      time.Time `json:"missed,omitzero"`
	// Root is the check that explained it when it had missed roll call.
	Root     checkid.ID `json:"root,omitempty"`
	RootSure bool       `json:"rootSure,omitempty"`
	RootAt   time.Time  `json:"rootAt,omitzero"`
	Refused  checkid.ID `json:"refused,omitempty"`
	GaveUp   time.Time  `json:"gaveUp,omitzero"`
	Blind    string     `json:"blind,omitempty"`
	Unseen   string     `json:"unseen,omitempty"`
	// Usual and Samples are from what Due was learned (outcome.Allowance); both
	// are zero where it is the setting.
	Usual   time.Duration `json:"usual,omitempty"`
	Samples int           `json:"samples,omitempty"`

	// End, Cause and Why are what the facts above come to; End is empty while
	// the launch is open.
	End   snapshot.End `json:"end,omitempty"`
	Cause checkid.ID   `json:"cause,omitempty"`
	Why   string       `json:"why,omitempty"`
	// Free is how many addresses its subnet had left at FreeAt, when the launch
	// was first looked at.
	Free   int       `json:"free,omitempty"`
	FreeAt time.Time `json:"freeAt,omitzero"`

	// Machine is what the instance was started with. EC2 forgets most of it
	// when the instance ends; what keeps it from joining is explained from here.
	Machine *Machine `json:"machine,omitempty"`
	// Claim is its NodeClaim as it was last seen: Karpenter deletes it with the
	// instance that has not registered.
	Claim *Claim `json:"claim,omitempty"`
	// Looks is how often its roll was called.
	Looks int `json:"looks,omitempty"`
	// Version is of the record as it was read; SaveLaunch writes only over this one.
	Version int `json:"version"`
}

// Machine is what EC2 said of an instance while it was there.
type Machine struct {
	VPC          string            `json:"vpc,omitempty"`
	PrivateIP    netip.Addr        `json:"privateIp,omitzero"`
	PublicIP     netip.Addr        `json:"publicIp,omitzero"`
	PrivateDNS   string            `json:"privateDns,omitempty"`
	Architecture string            `json:"architecture,omitempty"`
	AMI          string            `json:"ami,omitempty"`
	Groups       []string          `json:"groups,omitempty"` // security groups
	Profile      string            `json:"profile,omitempty"`
	Template     string            `json:"template,omitempty"` // launch template id
	Version      string            `json:"templateVersion,omitempty"`
	Plugin       string            `json:"plugin,omitempty"`   // version of the VPC CNI when it was first looked at
	Metadata     string            `json:"metadata,omitempty"` // its endpoint: enabled, disabled
	HopLimit     int               `json:"hopLimit,omitempty"`
	Tags         map[string]string `json:"tags,omitempty"` // those that tell whose it is
}

// Claim is a NodeClaim as it was at some time.
type Claim struct {
	Name       string           `json:"name"`
	Pool       string           `json:"pool,omitempty"`
	Seen       time.Time        `json:"seen"`
	Conditions []ClaimCondition `json:"conditions,omitempty"`
}

// ClaimCondition is what it said of one step of its life.
type ClaimCondition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// keepLaunches is how long a launch is remembered after it started: the
// outcomes of a season, for the statistics; no event or reminder lives longer.
const keepLaunches = 90 * 24 * time.Hour
