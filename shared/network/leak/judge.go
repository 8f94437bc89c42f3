// Package leak decides which network interfaces the VPC CNI left behind on
// nodes that are gone, and which of those may be deleted. It decides only: it
// reads nothing and deletes nothing.
//
// A wrongly deleted interface takes the network from pods that run. So every
// rule must hold, each by itself, and what cannot be told is never deleted.
package leak

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// The tags that the VPC CNI gives the interfaces that it makes
// (amazon-vpc-cni-k8s, pkg/awsutils). The cluster's name is there only where
// aws-node has CLUSTER_NAME.
const (
	TagInstance = "node.k8s.amazonaws.com/instance_id"
	TagCreated  = "node.k8s.amazonaws.com/createdAt"
	TagCluster  = "cluster.k8s.amazonaws.com/name"
)

// firstDate is a day before the VPC CNI existed (its first release is of 2017):
// an earlier date of creation is none, however well it parses.
func firstDate() time.Time { return time.Date(2017, time.January, 1, 0, 0, 0, 0, time.UTC) }

// LeastGrace is the shortest grace period: within it the VPC CNI may not yet
// have attached what it made (its own cleanup waits as long).
const LeastGrace = 5 * time.Minute

// Ground is what interfaces of one VPC are judged by.
type Ground struct {
	Now     time.Time
	Account string
	VPC     string
	// Clusters are the watched clusters of the VPC.
	Clusters []string
	// Grace is how old an interface must be; LeastGrace at least counts.
	Grace time.Duration
	// Untagged lets interfaces without a cluster's name be deleted: the operator
	// says that all of this VPC are those of watched clusters.
	Untagged bool
	// Tenants are the clusters that interfaces of the VPC name. One that is not
	// watched disproves what the operator says.
	Tenants []string
	// Creators are the instances that made the interfaces, and how EC2 says they
	// are. An instance that is not among them was not asked for.
	Creators map[string]snapshot.Creator
}

// Verdict is what the rules say of one interface.
type Verdict struct {
	Interface snapshot.Interface
	// Owner is the instance that it was made on; empty where nothing tells.
	Owner string
	// Cluster is the cluster that it names; empty for none.
	Cluster string
	Created time.Time // zero where no date can be read
	// Why is why it is not to be deleted; Leaked where it may be, as far as these
	// rules go.
	Why Reason
}

// Reason is why an interface is not deleted.
type Reason string

// The reasons, in the order in which the rules are asked.
const (
	// Leaked: none. It is left behind, and may be deleted.
	Leaked Reason = "leaked"

	HalfRead         Reason = "half an answer"    // without an id, nothing else is believed
	InUse            Reason = "in use"            // not available, or attached
	NotPlain         Reason = "not plain"         // another type than "interface"
	RequesterManaged Reason = "requester-managed" // AWS's own
	OtherAccount     Reason = "other account"
	OtherVPC         Reason = "other VPC"
	PublicAddress    Reason = "has a public address"    // somebody associated it: the VPC CNI never does
	NotByCNI         Reason = "not made by the VPC CNI" // the description is not its
	TagsDisagree     Reason = "tags disagree"           // the description names another instance than the tag, or no tag does
	OwnerUnread      Reason = "owner not read"          // EC2 was not asked, or did not answer
	OwnerLives       Reason = "owner lives"             // also one that is stopped, or on its way down
	NoDate           Reason = "no date"                 // none that can be read
	TooYoung         Reason = "too young"
	OtherCluster     Reason = "other cluster" // one that is not watched
	Untagged         Reason = "untagged"      // names no cluster, and the operator did not opt in
	// Strangers: it names no cluster, and one that is not watched is in the VPC,
	// whatever the operator opted in.
	Strangers Reason = "untagged, and another cluster is in the VPC"

	NotOptedIn    Reason = "cluster in mode report"
	NotSeenBefore Reason = "not seen before" // by an earlier run, in this state
	Claimed       Reason = "another run is at it"
	AskedToday    Reason = "asked today" // in the mode dry-run EC2 is asked once a day
	OverCap       Reason = "over the cap"
	OverShare     Reason = "too many of the VPC's interfaces"
	Changed       Reason = "changed" // when it was described again
	Gone          Reason = "gone"    // when it was described again
)

// Dead tells that an interface is left behind by a node that is gone, whether
// or not it may be deleted: somebody has to see to it.
func (v Verdict) Dead() bool {
	return v.Why == Leaked || v.Why == Untagged || v.Why == Strangers || v.Why == OtherCluster
}

// Judge asks the rules of one interface; the first that does not hold is its
// reason. Whether it was seen before, and how many there are, is not asked here.
func Judge(i snapshot.Interface, g Ground) Verdict {
	cluster, named := i.Tags[TagCluster]
	v := Verdict{Interface: i, Cluster: cluster, Why: Leaked}
	described := ownerIn(i.Description)
	v.Owner = described
	if v.Owner == "" {
		v.Owner = i.Tags[TagInstance]
	}
	created, err := time.Parse(time.RFC3339, i.Tags[TagCreated])
	if err == nil && !created.Before(firstDate()) {
		v.Created = created.UTC()
	}
	owner, asked := g.Creators[described]
	switch {
	case i.ID == "":
		v.Why = HalfRead
	case i.Status != "available" || i.Attached || i.Instance != "":
		v.Why = InUse
	case i.Kind != "interface":
		v.Why = NotPlain
	case i.RequesterManaged:
		v.Why = RequesterManaged
	case g.Account == "" || i.Account != g.Account:
		v.Why = OtherAccount
	case g.VPC == "" || i.VPC != g.VPC:
		v.Why = OtherVPC
	case i.PublicIP.IsValid():
		v.Why = PublicAddress
	case described == "":
		v.Why = NotByCNI
	case i.Tags[TagInstance] != described:
		v.Why = TagsDisagree
	case !asked:
		v.Why = OwnerUnread
	case owner.Attached || owner.State != "" && owner.State != "terminated":
		v.Why = OwnerLives
	case err != nil || created.Before(firstDate()):
		v.Why = NoDate
	case g.Now.Sub(created) < max(g.Grace, LeastGrace):
		v.Why = TooYoung
	case named && (cluster == "" || !slices.Contains(g.Clusters, cluster)):
		v.Why = OtherCluster
	case !named && !g.Untagged:
		v.Why = Untagged
	case !named && g.strangers():
		v.Why = Strangers
	}
	return v
}

// strangers tells that a cluster is in the VPC that is not watched.
func (g Ground) strangers() bool {
	return slices.ContainsFunc(g.Tenants, func(name string) bool { return !slices.Contains(g.Clusters, name) })
}

// Owner is the instance that the VPC CNI made an interface on, as the
// interface's description says; empty where it says none. The description is
// exact, with a capital K8S: those of AWS's own controllers are written small.
func Owner(i snapshot.Interface) string { return ownerIn(i.Description) }

func ownerIn(description string) string {
	id, ok := strings.CutPrefix(description, "aws-K8S-")
	if !ok || !instanceID(id) {
		return ""
	}
	return id
}

// instanceID tells an instance's id: "i-" and 8 or, since 2016, 17 hexadecimal
// digits.
func instanceID(id string) bool {
	digits, ok := strings.CutPrefix(id, "i-")
	if !ok || len(digits) != 8 && len(digits) != 17 {
		return false
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}
