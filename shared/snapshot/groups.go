package snapshot

import (
	"slices"
	"strings"
	"time"
)

// Group is an Auto Scaling group.
type Group struct {
	Name    string
	Min     int
	Max     int
	Desired int
	// Weighted tells that Min, Max and Desired count no instances: the group gives its
	// types weights, or counts vCPUs or memory.
	Weighted  bool
	Subnets   []string
	Zones     []string
	Instances []GroupInstance
	// WarmPool tells that the group has one; Warm are the instances in it.
	WarmPool bool
	Warm     []string
	Tags     map[string]string

	Template TemplateRef
	// PlacementGroup is the name of the one that it launches into; empty for none.
	PlacementGroup string
	Types          []string // of a mixed instances policy's overrides
	// Images are the images of overrides that have their own, by type.
	Images map[string]string
	// ZonalShift reports whether zonal shifts apply to the group.
	ZonalShift  bool
	Suspended   []Suspended
	ServiceRole string // ARN of the service-linked role
	Created     time.Time
}

// Parked reports whether an instance of the group is not expected to become a node now: it
// is in the warm pool, its end is held for a person to look at it (Auto Scaling user guide,
// "Instance lifecycle policies": Terminating:Retained), or its root volume is being replaced
// while it runs (user guide, "Replace root volumes during instance refresh").
func (g Group) Parked(id string) bool {
	if slices.Contains(g.Warm, id) {
		return true
	}
	i := slices.IndexFunc(g.Instances, func(i GroupInstance) bool { return i.ID == id })
	if i < 0 {
		return false
	}
	state := g.Instances[i].Lifecycle
	return strings.HasPrefix(state, "Warmed:") || state == "Terminating:Retained" || strings.HasPrefix(state, "ReplacingRootVolume") || state == "RootVolumeReplaced"
}

// Suspended is a process of a group that is suspended.
type Suspended struct {
	Process string // Launch, Terminate, AZRebalance, …
	Reason  string
}

// GroupInstance is an instance as its group sees it.
type GroupInstance struct {
	ID        string
	Lifecycle string // Pending, Pending:Wait, InService, Warmed:Stopped, Terminating:Retained, …
	Health    string
	// Protected tells that the group must not choose it when it scales in.
	Protected bool
	Zone      string
}

// Activity is a scaling activity.
type Activity struct {
	ID      string
	Group   string
	Status  string // Successful, Failed, InProgress, …
	Message string
	Cause   string
	About   string // the description
	Started time.Time
	Ended   time.Time
	Subnet  string
	Zone    string
	// Instance is the instance named in the description, if any.
	Instance string
}

// Nodegroup is an EKS managed node group.
type Nodegroup struct {
	Name    string
	Cluster string
	ARN     string
	Status  string
	Issues  []Issue
	Subnets []string
	Groups  []string // Auto Scaling groups
	Min     int
	Max     int
	Desired int
	Spot    bool

	Role     string // ARN of the node role
	AMIType  string // AL2023_x86_64_STANDARD, CUSTOM, …
	Release  string // AMI release version
	Version  string // Kubernetes version
	Template TemplateRef
	Types    []string
	Labels   map[string]string
	Tags     map[string]string
	Taints   []Taint
	Created  time.Time
	Modified time.Time
	// Since is when Rollcall first saw the nodegroup in this status; zero where
	// it does not remember the nodegroup.
	Since time.Time
	// Updates are its latest updates, the newest first, of source Updates.
	Updates []Update
}

// Update is one update of a nodegroup.
type Update struct {
	ID      string
	Type    string // ConfigUpdate, VersionUpdate, …
	Status  string // InProgress, Failed, Cancelled, Successful
	Created time.Time
	// Params are what it was to change, as "DesiredSize=3".
	Params []string
	Errors []Issue
}

// Issue is a health issue of a nodegroup, a cluster or an add-on.
type Issue struct {
	Code      string
	Message   string
	Resources []string
	// Since is when Rollcall first saw a nodegroup's issue; zero where it does
	// not remember it.
	Since time.Time
}
