package snapshot

import (
	"slices"
	"strings"
	"time"
)

// Zone is an Availability Zone, or a Local Zone that the account has opted in to.
type Zone struct {
	Name string // us-east-1c
	ID   string // use1-az4: the same place in every account
	Kind string // availability-zone, local-zone, wavelength-zone
	// State is EC2's word: available, information, impaired, unavailable,
	// constrained.
	State    string
	Messages []string
}

// Shift is a zonal shift or an autoshift of Amazon Application Recovery Controller (ARC)
// that is active for the cluster, or for an Auto Scaling group of it.
type Shift struct {
	ID string // of a zonal shift; empty for an autoshift
	// Group is the Auto Scaling group that it is of; empty for the cluster's own.
	Group   string
	ZoneID  string // usw2-az3
	Kind    ShiftKind
	Comment string
	Started time.Time
	Expires time.Time // zero for an autoshift: AWS ends it
}

// ShiftKind is who started a shift, and why.
type ShiftKind string

// The kinds (ARC zonal shift API reference, ZonalShiftSummary, shiftType).
const (
	PersonsShift ShiftKind = "ZONAL_SHIFT"
	PracticeRun  ShiftKind = "PRACTICE_RUN"
	Experiment   ShiftKind = "FIS_EXPERIMENT"
	Autoshift    ShiftKind = "ZONAL_AUTOSHIFT"
)

// ClusterShift returns the shift in effect that keeps the cluster out of a zone, or nil.
// During it all nodes of the zone are cordoned, and neither managed nodegroups nor EKS
// Auto Mode launch there (EKS user guide, "Learn about ARC zonal shift in Amazon EKS").
func (s *Snapshot) ClusterShift(zone string) *Shift { return s.shiftOf("", zone) }

// GroupShift returns the shift in effect that keeps launches of a group out of a zone, or
// nil: its own, or the cluster's where it is a managed nodegroup's.
func (s *Snapshot) GroupShift(g Group, zone string) *Shift {
	if own := s.shiftOf(g.Name, zone); own != nil {
		return own
	}
	if g.Tags["eks:nodegroup-name"] == "" {
		return nil
	}
	return s.ClusterShift(zone)
}

// shiftOf is the one of several that is in effect: "customer-initiated zonal shifts >
// autoshifts > practice run zonal shifts" (ARC zonal shift API reference,
// ZonalShiftInResource, appliedStatus). What has expired is over, whatever its status.
func (s *Snapshot) shiftOf(group, zone string) *Shift {
	rank := func(x *Shift) int { return slices.Index([]ShiftKind{Autoshift, PracticeRun}, x.Kind) }
	var list []*Shift
	for _, shift := range slices.Concat(s.Shifts, s.Autoshifts) {
		x := &shift
		if x.Group != group || x.Started.After(s.Time) || !x.Expires.IsZero() && !x.Expires.After(s.Time) {
			continue
		}
		if len(list) > 0 && rank(x) > rank(list[0]) {
			continue
		}
		if len(list) > 0 && rank(x) < rank(list[0]) {
			list = nil
		}
		list = append(list, x)
	}
	if i := slices.IndexFunc(list, func(x *Shift) bool { return s.ZoneOfID(x.ZoneID) == zone }); i >= 0 {
		return list[i]
	}
	return nil
}

// ZoneOfID returns the account's name of a zone, empty where it is not known.
func (s *Snapshot) ZoneOfID(id string) string {
	for _, z := range s.Zones {
		if z.ID == id || z.Name == id {
			return z.Name
		}
	}
	for _, n := range s.Subnets {
		if n.ZoneID == id || n.Zone == id {
			return n.Zone
		}
	}
	return ""
}

// Volume is an EBS volume.
type Volume struct {
	ID       string
	Zone     string
	State    string // creating, available, in-use, deleting, deleted, error
	Type     string // gp3, io2, …
	GiB      int
	Outpost  string   // ARN; empty for one in the Region
	Attached []string // instances that it is attached to, or about to be
	Created  time.Time
	Tags     map[string]string
}

// The tags by which the EBS CSI driver and the volume plugin of older
// Kubernetes versions say what a volume was made for.
const (
	claimNamespaceTag = "kubernetes.io/created-for/pvc/namespace"
	claimNameTag      = "kubernetes.io/created-for/pvc/name"
	volumeNameTag     = "kubernetes.io/created-for/pv/name"
	csiNameTag        = "CSIVolumeName"
	clusterTagPrefix  = "kubernetes.io/cluster/"
)

// ClusterTags are the tags, other than the prefix kubernetes.io/cluster/, whose
// value names a volume's cluster: of older Kubernetes versions and EKS's own
// driver, and of EKS Auto Mode. The tag ebs.csi.aws.com/cluster is none: it is
// "true" for the volumes of every cluster of the account.
func ClusterTags() []string {
	return []string{"KubernetesCluster", "ebs.csi.aws.com/cluster-name", "eks:eks-cluster-name"}
}

// Clusters are the clusters that a volume's tags name.
func (v Volume) Clusters() []string {
	var names []string
	for key, value := range v.Tags {
		if name, ok := strings.CutPrefix(key, clusterTagPrefix); ok {
			names = append(names, name)
		} else if slices.Contains(ClusterTags(), key) {
			names = append(names, value)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// Claim is the claim that a volume was made for, "namespace/name", as its tags
// say; empty where they do not.
func (v Volume) Claim() string {
	name, namespace := v.Tags[claimNameTag], v.Tags[claimNamespaceTag]
	if name == "" || namespace == "" {
		return ""
	}
	return namespace + "/" + name
}

// Provisioned tells that Kubernetes made the volume for a claim. The disks of
// nodes can bear a cluster's tag too; they are lost with their node.
func (v Volume) Provisioned() bool {
	return v.Tags[csiNameTag] != "" || v.Tags[volumeNameTag] != "" || v.Tags[claimNameTag] != ""
}

// Of tells that the volume's tags say that it is a volume of this cluster, and
// of no other.
func (v Volume) Of(cluster string) bool {
	return cluster != "" && v.Provisioned() && slices.Equal(v.Clusters(), []string{cluster})
}

// PersistentVolume is a Kubernetes PersistentVolume.
type PersistentVolume struct {
	Name  string
	Phase string // Available, Bound, Released, Failed
	// Volume is the EBS volume; empty for storage of another kind.
	Volume string
	// Zones are those that its node affinity allows; nil where it says none.
	Zones []string
	Claim string // "namespace/name"; empty for none
	Class string
}

// Claim is a PersistentVolumeClaim.
type Claim struct {
	Namespace string
	Name      string
	Phase     string // Pending, Bound, Lost
	Volume    string // the PersistentVolume's name, once bound
	Class     string
}

// Key is how the claim is told.
func (c Claim) Key() string { return c.Namespace + "/" + c.Name }

// WaitingPod is a pod that no node has taken yet.
type WaitingPod struct {
	Namespace string
	Name      string
	Owner     string // "StatefulSet redis"; empty for none
	Created   time.Time
	// Scheduled is what the scheduler says: False, Unschedulable and why.
	Scheduled Condition
	// Claims are the names of its claims, in its namespace.
	Claims      []string
	Selector    map[string]string
	Terms       []NodeTerm // of its required node affinity; one must hold
	Tolerations []Toleration
	// Gated tells that it is not to be scheduled yet.
	Gated bool
	// Requests are what its containers ask for, a list for each that asks.
	Requests []Amounts
}

// Key is how the pod is told.
func (p WaitingPod) Key() string { return p.Namespace + "/" + p.Name }

// Since is since when the scheduler finds no node for the pod.
func (p WaitingPod) Since() time.Time {
	if p.Scheduled.Since.IsZero() {
		return p.Created
	}
	return p.Scheduled.Since
}

// AsksFor tells that a container of the pod asks for some of a resource.
func (p WaitingPod) AsksFor(resource string) bool {
	return slices.ContainsFunc(p.Requests, func(c Amounts) bool { return c[resource] != "" && c[resource] != "0" })
}

// NodeTerm is what a node's labels must be, all of it.
type NodeTerm struct {
	Labels []Requirement
	// Fields are requirements on fields of the node: its name.
	Fields []Requirement
}

// Requirement is one condition on a label.
type Requirement struct {
	Key      string
	Operator string // In, NotIn, Exists, DoesNotExist, Gt, Lt
	Values   []string
}

// Toleration lets a pod onto nodes with a taint.
type Toleration struct {
	Key      string // empty with Exists: any
	Operator string // Equal (the default), Exists
	Value    string
	Effect   string // empty: any
}

// Taint keeps pods off a node.
type Taint struct {
	Key    string
	Value  string
	Effect string // NoSchedule, PreferNoSchedule, NoExecute
}
