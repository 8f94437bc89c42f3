package snapshot

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
)

// SecurityGroup is a security group with its rules.
type SecurityGroup struct {
	ID      string
	VPC     string
	Name    string
	Ingress []Rule
	Egress  []Rule
	Tags    map[string]string
	// Associated are the further VPCs that the group is associated with, by the state of
	// the association.
	Associated map[string]string
}

// Rule is one rule of a security group. It admits a packet whose peer is in
// any of its CIDRs, prefix lists or groups.
type Rule struct {
	// Protocol is "-1" for all, "tcp", "udp", "icmp", "icmpv6", or a number.
	Protocol string
	// From and To are the ports, both included; -1 and -1 for all.
	From, To    int
	CIDRs       []netip.Prefix // IPv4 and IPv6
	PrefixLists []string
	// Groups are the security groups referred to.
	Groups []string
}

// NetworkACL is a network ACL. A subnet has exactly one.
type NetworkACL struct {
	ID      string
	VPC     string
	Default bool
	Subnets []string
	Entries []ACLEntry // sorted by direction, then number
}

// ACLEntry is one rule of a network ACL: the lowest number that matches decides.
type ACLEntry struct {
	Number int // 32767 is the last, which denies
	Egress bool
	Allow  bool
	// Protocol is "-1" for all, or a number ("6" is TCP, "17" UDP).
	Protocol string
	// From and To are the ports, both included; 0 and 65535 for all.
	From, To int
	CIDR     netip.Prefix
}

// VPCAttributes are a VPC's two DNS switches.
type VPCAttributes struct {
	VPC          string
	DNSSupport   bool
	DNSHostnames bool
}

// DHCPOptions is a set of DHCP options.
type DHCPOptions struct {
	ID string
	// DomainNames are the values of domain-name; one value may hold several
	// names with spaces between.
	DomainNames []string
	// DomainNameServers are addresses, or "AmazonProvidedDNS".
	DomainNameServers []string
}

// EgressOnlyGateway is an egress-only internet gateway (IPv6).
type EgressOnlyGateway struct {
	ID       string
	Attached []string // VPCs
}

// DNSProfile is a Route 53 Profile in force in a VPC. The Profiles of a VPC are in the order in
// which the resolver evaluates them.
type DNSProfile struct {
	ID        string
	VPC       string
	Resources []DNSProfileResource
}

// DNSProfileResource is a resource that a Profile brings into its VPCs: a resolver rule, a
// rule group of DNS Firewall, a private hosted zone.
type DNSProfileResource struct {
	ARN      string
	Name     string // of its association with the Profile
	Priority int    // of a rule group
}

// ResolverRule is a rule of Route 53 Resolver in force in a VPC. The VPC's own are before
// those of its Profiles.
type ResolverRule struct {
	ID      string
	Name    string
	Domain  string // without the dot at its end; empty for the root
	VPC     string
	Forward bool     // FORWARD; else the resolver answers by itself
	Targets []string // addresses
	// Endpoint is the outbound endpoint that forwards.
	Endpoint string
	// Profile is the Route 53 Profile that brings the rule; empty where it is associated
	// with the VPC itself.
	Profile string
	// Unread is why the domain is not known; nil where it is.
	Unread *Failure
}

// PrivateZone is a private hosted zone in view of a VPC whose domain covers a name that nodes may
// need. The VPC's own are before those of its Profiles.
type PrivateZone struct {
	ID string
	// Domain is without the dot at its end; empty with Unread where it is not known.
	Domain string
	VPC    string
	// Service is the service of AWS that made the zone and answers for its names; empty for
	// an account's.
	Service string
	// Profile is the Route 53 Profile that brings the zone; empty where it is associated with
	// the VPC itself.
	Profile string
	Records []ZoneRecord
	// Unread is why the records are not known; nil where they are.
	Unread *Failure
}

// ZoneRecord is a resource record set of a zone.
type ZoneRecord struct {
	Name string // without the dot at its end; a wildcard begins with "*."
	Type string
}

// FirewallRule is a rule of DNS Firewall in force in a VPC. The rules are in the order
// in which the resolver evaluates them.
type FirewallRule struct {
	VPC       string
	Group     string // id of the rule group
	GroupName string
	Name      string
	Action    string // ALLOW, BLOCK, ALERT
	Response  string // NODATA, NXDOMAIN, OVERRIDE
	Type      string // of the queries that it is for; empty for all
	List      string // id of the domain list; empty for a rule that has none
	Domains   []string
	// Profile is the Route 53 Profile that brings the rule group; empty where it is
	// associated with the VPC itself.
	Profile string
	// Unread is why the domains are not known; nil where they are.
	Unread *Failure
}

// PrefixList is a prefix list and its entries.
type PrefixList struct {
	ID    string
	Name  string // com.amazonaws.us-west-2.s3, or a customer's
	CIDRs []netip.Prefix
}

// Peering is a VPC peering connection.
type Peering struct {
	ID    string
	State string // active, pending-acceptance, deleted, …
	// Requester and Accepter are its two ends.
	Requester, Accepter PeerVPC
}

// PeerVPC is one end of a peering connection.
type PeerVPC struct {
	VPC     string
	Account string
	Region  string
	CIDRs   []netip.Prefix
}

// Attachment is an attachment of a transit gateway.
type Attachment struct {
	ID      string
	Gateway string
	// Kind is vpc, vpn, direct-connect-gateway, peering, …
	Kind string
	// Resource is what is attached: a VPC's id for a vpc attachment; Owner is
	// that resource's account.
	Resource string
	Owner    string
	State    string // available, …
	// Translates reports that the transit gateway translates source addresses on the
	// attachment.
	Translates bool
	// Table is the transit gateway route table that the attachment uses;
	// empty when it uses none or this account may not see it.
	Table string
}

// TransitRoute is a row of a transit gateway's route table.
type TransitRoute struct {
	Table       string
	Destination netip.Prefix
	State       string // active, blackhole
	// Attachments are where it leads; Resources what is attached there.
	Attachments []string
	Resources   []string
}

// Interface is a network interface.
type Interface struct {
	ID               string
	Account          string // that owns it
	VPC              string
	Subnet           string
	Zone             string
	Description      string
	Status           string // available, in-use, …
	Kind             string // interface, nat_gateway, vpc_endpoint, …
	RequesterManaged bool   // also where a service runs it in the account, as EKS Auto Mode does
	Groups           []string
	SourceCheck      bool
	Attached         bool   // to an instance, or to something of AWS's own
	Instance         string // that it is attached to
	PrivateIPs       []netip.Addr
	Prefixes         []netip.Prefix // delegated, IPv4
	PublicIP         netip.Addr
	IPv6             []netip.Addr
	Tags             map[string]string
}

// InstanceStatus is what EC2's own status checks say of an instance.
type InstanceStatus struct {
	Instance string
	// System and OS are ok, impaired, initializing, insufficient-data or
	// not-applicable.
	System string
	OS     string
	Events []ScheduledEvent
}

// ScheduledEvent is something that EC2 will do to an instance.
type ScheduledEvent struct {
	Code        string // instance-stop, instance-retirement, instance-reboot, system-reboot, system-maintenance
	Description string // begins with [Completed] or [Canceled] once it is over
	NotBefore   time.Time
}

// UserData is the user data that some instances were started with. Instances
// that come from the same version of a launch template share one entry.
type UserData struct {
	Instances []string
	From      string // what it was read from: an instance's id, or "lt-0abc version 3"
	// Data is what the instance metadata service would give: base64 is taken
	// off, gzip is not. Empty means that there is none.
	Data []byte
}

// Console is what an instance wrote to its serial console.
type Console struct {
	Instance string
	Text     string
	At       time.Time // when EC2 took it; zero when it does not say
}

// Image is an Amazon machine image. One that EC2 does not list was
// deregistered, or is no longer shared with this account.
type Image struct {
	ID           string
	Name         string
	Architecture string
	State        string // available, disabled, deregistered, …
	OwnerAlias   string // amazon, for public images of EKS
	Owner        string
	Public       bool
	Windows      bool
	Created      time.Time
	Deprecated   time.Time // zero for none
	// Allowed is ImageAllowed, whether the image meets the criteria of the account's
	// Allowed AMIs: "true", "false", or empty where EC2 does not say.
	Allowed string
	// Supported and Unsupported are patterns of instance types (t3.*) that the image is
	// for and is not for (EC2 API reference, InstanceTypeSpecification).
	Supported, Unsupported []string
}

// AllowedImages is the account's setting Allowed AMIs in a Region.
type AllowedImages struct {
	State     string // disabled, audit-mode, enabled
	ManagedBy string // account, declarative-policy
	Providers []string
}

// MetadataDefaults are the account's instance metadata defaults in a Region.
type MetadataDefaults struct {
	Metadata
	// Enforced reports that a launch without HttpTokens=required is refused.
	Enforced  bool
	ManagedBy string // account, declarative-policy
	Message   string // the exception message of the declarative policy
}

// LaunchTemplate is one version of a launch template.
type LaunchTemplate struct {
	ID      string
	Name    string
	Version string // the number
	Default bool
	Latest  bool
	Image   string
	Type    string
	// Groups are the security groups that it sets, on whichever interface.
	Groups   []string
	EFAs     []EFA  // that it asks for
	UserData []byte // base64 is taken off
	Metadata Metadata
	Profile  string // name or ARN of the instance profile
	// KeepsInterface reports whether it keeps the primary interface on termination.
	KeepsInterface bool
	// PublicIP is what it says of a public address: "true", "false" or empty.
	PublicIP string
	KMSKeys  []string
	// Subnet is the one that its primary interface names, Spot that it asks for Spot.
	Subnet string
	Spot   bool
	// GroupsTwice reports whether it names security groups for the instance beside
	// interfaces, which EC2 refuses.
	GroupsTwice bool
	// Reservation is the capacity reservation that it names; empty for none.
	Reservation string
	// PlacementGroup is the name or the id of the one that it names, Tenancy dedicated or
	// host, Host the dedicated host or host resource group; each empty for none.
	PlacementGroup, Tenancy, Host string
}

// Node is a Kubernetes node.
type Node struct {
	Name     string
	Instance string // from spec.providerID; empty for nodes that are no EC2 instance
	Created  time.Time
	Ready    Condition
	// Uninitialized reports whether the cloud provider's taint is still on it.
	Uninitialized bool
	Kubelet       string
	Labels        map[string]string
	Annotations   map[string]string
	// Conditions are all conditions by type, Ready among them.
	Conditions map[string]Condition
	Taints     []string // keys
	// Repels are the taints in full.
	Repels []Taint
	// Cordoned reports whether it takes no new pods.
	Cordoned bool
	// Zone is its Availability Zone; empty where it does not say.
	Zone    string
	MaxPods int // its capacity of pods; 0 when it does not say
	// Branches is its capacity of branch interfaces; 0 when it has no trunk.
	Branches   int
	InternalIP netip.Addr
}

// Condition is a node condition.
type Condition struct {
	Status  string // True, False, Unknown; empty when the node has none
	Reason  string
	Message string
	Since   time.Time
}

// ExpectedJoin is by when an instance should be a Ready node, as Rollcall
// remembers its launch.
type ExpectedJoin struct {
	Instance string
	Started  time.Time
	// Due is when the instance should have become a Ready node.
	Due time.Time
	// Samples is from how many earlier launches of its nodegroup Due was
	// learned; 0 where it is the setting.
	Samples int
	// Usual is within what 95 of 100 of those were Ready; 0 where it is not known.
	Usual time.Duration
	// Noticed is when EC2 warned that it would take the instance back, and
	// Rebalance when it said that this is likely; zero for no such event.
	Noticed   time.Time
	Rebalance time.Time
	// Cause is the check that explained the launch when it was last looked at.
	Cause checkid.ID
	// Claim is its NodeClaim as it was at ClaimSeen; nil where none was seen.
	// Karpenter deletes it with the instance.
	Claim     *NodeClaim
	ClaimSeen time.Time
}

// StuckPod is a pod that a node took and that has no sandbox: no address, and no
// container. Pods of the host's network are none, nor those that wait for a branch interface.
type StuckPod struct {
	Pod   string // "namespace/name"
	Owner string // "DaemonSet fluent-bit"; empty for none
	Node  string
	Since time.Time // when the node took it
}

// PodEvent is the newest warning of a reason about a pod.
type PodEvent struct {
	Pod     string // "namespace/name"
	Reason  string // FailedCreatePodSandBox, FailedMount, …
	Message string
	Last    time.Time
}

// NodePods are the pods that a node took.
type NodePods struct {
	Node string
	// Addressed is how many have an address of their own.
	Addressed int
	// Agent is how the pod of the Pod Identity agent is: "Running", or why it is not; empty
	// where there is none.
	Agent string
}

// The tags that name what an instance belongs to. EC2 Auto Scaling and EKS set the
// first two on every instance that they launch, Karpenter the third.
const (
	groupTag     = "aws:autoscaling:groupName"
	nodegroupTag = "eks:nodegroup-name"
	nodepoolTag  = "karpenter.sh/nodepool"
	// autoPoolTag is EKS Auto Mode's (the AWS managed policy AmazonEKSComputePolicy
	// lets it set this and no tag of Karpenter's).
	autoPoolTag = "eks:kubernetes-node-pool-name"
	// eksctlTag is on the group that eksctl makes for a self-managed nodegroup, and on its
	// instances: CloudFormation gives a stack's tags to both (eksctl
	// pkg/apis/eksctl.io/v1alpha5/types.go, NodeGroupNameTag; CloudFormation user guide,
	// "Resource tag", PropagateAtLaunch).
	eksctlTag = "alpha.eksctl.io/nodegroup-name"
	// claimTag is not among the tags of a launch (aws/karpenter-provider-aws
	// pkg/utils/utils.go, GetTags), and no user may set it on a class
	// (pkg/apis/v1/labels.go, RestrictedTagPatterns): Karpenter sets it when the
	// NodeClaim has its node's name (pkg/controllers/nodeclaim/tagging/controller.go,
	// isTaggable), which it gets when the node registers. One call a second.
	claimTag = "karpenter.sh/nodeclaim"
)

// Owner is the name of what launched the instance: its EKS nodegroup, else
// its node pool of Karpenter or EKS Auto Mode, else eksctl's nodegroup, else its Auto
// Scaling group, else empty. Launch records, causes and capacities name it alike.
func (i Instance) Owner() string { return cmp.Or(ownerIn(i.Tags), i.Tags[groupTag]) }

// Owner is the owner of the group's instances.
func (g Group) Owner() string { return cmp.Or(ownerIn(g.Tags), g.Name) }

func ownerIn(tags map[string]string) string {
	return cmp.Or(tags[nodegroupTag], tags[nodepoolTag], tags[autoPoolTag], tags[eksctlTag])
}

// ByKarpenter reports whether Karpenter launched the instance, and not EKS Auto Mode,
// which sets other tags.
func (i Instance) ByKarpenter() bool { return i.Tags[nodepoolTag] != "" }

// NodeClaim is the instance's NodeClaim of Karpenter. It is empty until the node
// has registered, whatever came of it then.
func (i Instance) NodeClaim() string { return i.Tags[claimTag] }

// PoolKey is how kubectl names a NodePool: what is about one must not be taken for
// a nodegroup of the same name.
func PoolKey(name string) string { return "nodepool/" + name }

// RoleKey names a role that launches for no known group or NodePool.
func RoleKey(name string) string { return "role/" + name }

// LauncherOf is what launches instances that carry these tags: their Auto Scaling
// group, else their NodePool by its PoolKey, else their nodegroup; empty for none
// of these.
func LauncherOf(tags map[string]string) string {
	pool := cmp.Or(tags[nodepoolTag], tags[autoPoolTag])
	switch {
	case tags[groupTag] != "":
		return tags[groupTag]
	case pool != "":
		return PoolKey(pool)
	}
	return tags[nodegroupTag]
}

// OfAutoMode reports whether EKS Auto Mode made the instance (AmazonEKSComputePolicy).
func (i Instance) OfAutoMode() bool { return i.Tags[autoPoolTag] != "" }

// Ended reports whether the instance has stopped or is about to.
func (i Instance) Ended() bool {
	switch i.State {
	case "shutting-down", "terminated", "stopping", "stopped":
		return true
	}
	return false
}

// Joined reports whether the node can take pods: Ready, and initialized by the
// cloud provider.
func (n Node) Joined() bool { return n.Ready.Status == "True" && !n.Uninitialized }

// Has reports whether a source was read in full.
func (s *Snapshot) Has(source Source) bool {
	_, failed := s.Failures[source]
	return s.Read[source] && !failed
}

// Why is why a source that was needed is not there.
func (s *Snapshot) Why(source Source) Failure {
	if f, ok := s.Failures[source]; ok {
		return f
	}
	return Failure{Source: source, Reason: NotRead, Message: "nobody asked for it"}
}

// Lacks is why a single item of a source is not there although the source was
// read: the user data of one instance, one role.
func (s *Snapshot) Lacks(source Source, key string) (Failure, bool) {
	f, lacks := s.Missing[source][key]
	return f, lacks
}

// Lack notes that a single item of a source could not be read.
func (s *Snapshot) Lack(source Source, key string, f Failure) {
	if s.Missing == nil {
		s.Missing = map[Source]map[string]Failure{}
	}
	if s.Missing[source] == nil {
		s.Missing[source] = map[string]Failure{}
	}
	s.Missing[source][key] = f
}

// LaunchStatus is how a launch stands.
type LaunchStatus string

// The standings. LaunchWaiting and LaunchMissed may still change, the others do not.
const (
	LaunchWaiting LaunchStatus = "waiting"  // not due yet
	LaunchMissed  LaunchStatus = "missed"   // due, and not a Ready node
	LaunchJoined  LaunchStatus = "joined"   // was a Ready node
	LaunchGone    LaunchStatus = "gone"     // ended before it joined
	LaunchGivenUp LaunchStatus = "given up" // still there, not a node, no longer looked at
)

// Final reports whether a standing does not change any more.
func (s LaunchStatus) Final() bool { return s == LaunchJoined || s == LaunchGone || s == LaunchGivenUp }

// Launch is one launch of an instance: where it is, and how it stands. It is
// remembered, sent to report and kept in incidents under these names.
type Launch struct {
	Instance  string `json:"instance"`
	Nodegroup string `json:"nodegroup,omitempty"`
	Group     string `json:"group,omitempty"` // Auto Scaling group
	Subnet    string `json:"subnet,omitempty"`
	Zone      string `json:"zone,omitempty"`
	Type      string `json:"type,omitempty"`
	// Started is when the launch began.
	Started time.Time `json:"started"`
	// Status is the last known one.
	Status LaunchStatus `json:"standing"`
	// Registered and Ready are the node's own times.
	Registered time.Time `json:"registered,omitzero"`
	Ready      time.Time `json:"ready,omitzero"`
	// Tagged is when Karpenter's tag was seen to show that the node had registered,
	// where the nodes could not be seen: of such a launch Ready is zero.
	Tagged time.Time `json:"tagged,omitzero"`
	// Ended is when and why an instance went.
	Ended    time.Time `json:"ended,omitzero"`
	EndedWhy string    `json:"endedWhy,omitempty"`
}

// Unfinished reports whether a launch is still to answer roll call.
func (l Launch) Unfinished() bool { return l.Status != LaunchJoined && l.Status != LaunchGone }

// End is how a launch ended. Each launch has exactly one.
type End string

// The ends.
const (
	// Open is no end yet.
	Open End = ""
	// Joined became a Ready node.
	Joined End = "joined"
	// NotJoined had its time and did not become a node; Cause is why.
	NotJoined End = "not joined"
	// Reclaimed was taken back by EC2 before it joined.
	Reclaimed End = "reclaimed"
	// Refused came to no instance, or to one that EC2 could not bring up; Cause
	// is the class of the refusal.
	Refused End = "refused"
	// Terminated was ended on request before it was due: by a person, a scale-in.
	Terminated End = "terminated"
	// Unclear is what cannot be told; Why says what was missing.
	Unclear End = "unknown"
)

// Past is one launch as Rollcall remembers it.
type Past struct {
	// ID is the instance, or the scaling activity of a launch without one.
	ID        string
	Nodegroup string
	Group     string // Auto Scaling group
	Type      string // instance type; of a refused launch often not known
	Zone      string
	Subnet    string
	Spot      bool
	Template  TemplateRef
	// AMI and Architecture are the instance's, Plugin is the image of the VPC CNI that
	// ran in the cluster when the launch was first looked at. Releases before knew
	// none of them of launches in the history.
	AMI          string
	Architecture string
	Plugin       string
	Started      time.Time

	End End
	// Cause is a check's id: the root cause of a launch that did not join (or has
	// not so far), the launch/… class of one that was refused; empty where none
	// was found.
	Cause checkid.ID
	// Why is the end in a few words, with EC2's own code where it has one.
	Why string

	Registered time.Time
	Ready      time.Time
	// Ended is when the instance ended, also after it had joined; zero while it
	// lives, or where that was not seen.
	Ended time.Time
	// Lost reports whether it had joined and ended without a request: EC2
	// took it back, or it failed. Where the reason is not known it is not lost.
	Lost bool
	// Missed is when it was first due and seen not to be a Ready node, while it
	// is open: it may still join, and Cause is why it has not.
	Missed time.Time
	// Noticed and Rebalance are EC2's warnings, before or after it joined.
	Noticed   time.Time
	Rebalance time.Time

	// Free is how many addresses its subnet had left at FreeAt, when the launch
	// was first looked at; FreeAt is zero where it was not read.
	Free   int
	FreeAt time.Time
}

// Joining is how long the launch took to become a Ready node; false where it
// did not, or where the times do not tell.
func (p Past) Joining() (time.Duration, bool) {
	if p.End != Joined || p.Ready.Before(p.Started) {
		return 0, false
	}
	return p.Ready.Sub(p.Started), true
}

// LostWithin is how long after it joined the end of a node counts for the
// statistics: capacity that is lost so soon was hardly there.
const LostWithin = time.Hour

// Lived is how long a node that joined was there, if it has ended.
func (p Past) Lived() (time.Duration, bool) {
	if p.End != Joined || p.Ended.Before(p.Ready) || p.Ready.IsZero() {
		return 0, false
	}
	return p.Ended.Sub(p.Ready), true
}

// Sample is what a subnet had at one time.
type Sample struct {
	Subnet string
	At     time.Time
	Free   int
	// Total is how many addresses it can give: its block without the five that
	// AWS keeps.
	Total int
}

// RefusedLaunch is a run of calls for instances that brought none, made by no Auto
// Scaling group, all of one launcher and for one class of reason: what CloudTrail
// told of CreateFleet and RunInstances, and when one brought instances since.
type RefusedLaunch struct {
	// Launcher is whose instances were to come: a NodePool by its PoolKey, or
	// "role/" and the role that called.
	Launcher string     `json:"launcher"`
	Class    checkid.ID `json:"class"`
	Call     string     `json:"call"` // CreateFleet, RunInstances
	// Text is what EC2 said to the first call of the run: its code and message.
	Text string `json:"text"`
	// By is the ARN of the role that called, Asked how many instances it asked for.
	By    string `json:"by,omitempty"`
	Asked int    `json:"asked,omitempty"`
	Spot  bool   `json:"spot,omitempty"`
	// Encoded is the encoded authorization message of that answer, which is not stored:
	// Denial is what it says, Undecoded why it was not decoded.
	Encoded   string  `json:"-"`
	Denial    *Denial `json:"denial,omitempty"`
	Undecoded string  `json:"undecoded,omitempty"`
	// Offers is how many types and subnets were told so, Other what the rest were.
	Offers  int      `json:"offers,omitempty"`
	Other   []string `json:"other,omitempty"` // EC2's codes
	Subnets []string `json:"subnets,omitempty"`
	Zones   []string `json:"zones,omitempty"`
	Types   []string `json:"types,omitempty"`
	// First and Last are of the run's calls. Worked is when an instance of the
	// launcher was last started, as far as anybody saw.
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
	Worked time.Time `json:"worked,omitzero"`
	// Back is set where the run began within an hour of one before it.
	Back time.Time `json:"back,omitzero"`
}

// Subnet is a subnet of the cluster's VPC.
type Subnet struct {
	ID             string
	ARN            string
	VPC            string
	Zone           string
	ZoneID         string
	CIDR           netip.Prefix
	IPv6           []netip.Prefix
	Free           int // available IPv4 addresses
	AssignPublicIP bool
	AssignIPv6     bool
	// BlockMode is what VPC Block Public Access does there; empty where EC2 does not
	// report it.
	BlockMode BlockMode
	Name      string
	Tags      map[string]string
}

// BlockMode is a mode of VPC Block Public Access, with what exclusions make of it:
// BlockPublicAccessStates of a VPC or subnet.
type BlockMode string

// The modes (EC2 API, BlockPublicAccessStates).
const (
	BlockOff           BlockMode = "off"
	BlockIngress       BlockMode = "block-ingress"       // only NAT and egress-only gateways pass traffic
	BlockBidirectional BlockMode = "block-bidirectional" // nothing passes an internet gateway
)

// PublicAccess is the account's setting of VPC Block Public Access in the Region.
type PublicAccess struct {
	Mode BlockMode
	// Changing reports that a change of the mode is under way.
	Changing bool
	// ByPolicy reports that a declarative policy of the organization sets the mode, and
	// NoExclusions that it allows none.
	ByPolicy, NoExclusions bool
	Exclusions             []Exclusion
}

// Exclusion exempts a VPC or a subnet from the account's mode.
type Exclusion struct {
	ID       string
	Resource string // the id of a VPC or subnet
	Egress   bool   // allow-egress, else allow-bidirectional
	// Active reports that it is in force; Changing that it is about to be, or to end.
	Active, Changing bool
}

// VPC is a network with its address ranges.
type VPC struct {
	ID    string
	CIDRs []netip.Prefix // IPv4
	IPv6  []netip.Prefix
	DHCP  string // id of its DHCP options, or "default"
	Owner string // account
	// Encrypts reports that VPC Encryption Controls enforce encryption in transit.
	Encrypts bool
	// BlockMode is the VPC's own; a subnet's may differ by an exclusion.
	BlockMode BlockMode
	Tags      map[string]string
}

// RouteTable is a VPC route table.
type RouteTable struct {
	ID      string
	VPC     string
	Main    bool
	Subnets []string // explicit associations
	Routes  []Route
	Name    string
	Tags    map[string]string
}

// Route is one row. Exactly one of Destination and PrefixList is set.
type Route struct {
	Destination netip.Prefix
	PrefixList  string
	Target      Target
	// State is "active", "blackhole" or "filtered".
	State string
	// Origin is CreateRouteTable, CreateRoute, EnableVgwRoutePropagation or Advertisement.
	Origin string
}

// Usable reports that the table forwards by the row: its target is there, and the table
// does not filter it.
func (r Route) Usable() bool { return r.State != "blackhole" && r.State != "filtered" }

// Target is where a route leads.
type Target struct {
	Kind TargetKind
	// ID is e.g. "nat-0aa4", "igw-0bb5", "vpce-0cc6", "eni-0dd7"; "local" for local routes.
	ID string
	// Instance is set for routes to an instance's interface.
	Instance string
	// Owner is the account of the instance, where EC2 names it.
	Owner string
}

// TargetKind is what kind of hop a route leads to.
type TargetKind string

// The kinds.
const (
	ToLocal           TargetKind = "local"
	ToInternetGateway TargetKind = "internet gateway"
	ToNATGateway      TargetKind = "nat gateway"
	ToEgressOnly      TargetKind = "egress-only internet gateway"
	ToTransitGateway  TargetKind = "transit gateway"
	ToPeering         TargetKind = "vpc peering connection"
	ToVPNGateway      TargetKind = "virtual private gateway"
	ToInterface       TargetKind = "network interface"
	ToEndpoint        TargetKind = "vpc endpoint" // gateway, gateway load balancer or firewall endpoint
	ToCarrierGateway  TargetKind = "carrier gateway"
	ToLocalGateway    TargetKind = "local gateway"
	ToCoreNetwork     TargetKind = "core network"
	ToUnknown         TargetKind = "unknown target" // a kind newer than this code
)

// NATGateway is a NAT gateway.
type NATGateway struct {
	ID        string
	VPC       string
	Subnet    string
	State     string       // pending, failed, available, deleting, deleted
	Public    bool         // connectivity type
	Addresses []NATAddress // public ones that are in use
	// Proxy is the ARN of a Network Firewall proxy that is attached to it.
	Proxy string
	// Failure is EC2's message for a failed gateway.
	Failure string
	Zone    string
	// RouteTable is a regional gateway's own route table; such a gateway has
	// no subnet. Empty for a zonal one.
	RouteTable string
}

// NATAddress is a public address of a NAT gateway. The addresses of a regional gateway
// belong to a zone each: traffic of that zone leaves from them.
type NATAddress struct {
	IP           netip.Addr
	Zone, ZoneID string
}

// InternetGateway is an internet gateway and the VPCs that it is attached to.
type InternetGateway struct {
	ID       string
	Attached []string
}

// Endpoint is a VPC endpoint.
type Endpoint struct {
	ID          string
	VPC         string
	Service     string // com.amazonaws.us-west-2.ecr.api
	Kind        string // Interface, Gateway, GatewayLoadBalancer
	State       string // available, pending, …
	PrivateDNS  bool
	Subnets     []string
	RouteTables []string
	Groups      []string // security groups
	Policy      string   // JSON, as EC2 gives it
	Interfaces  []string
	Error       string // what EC2 says went wrong, for one that failed
}

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

// Provisioned reports whether Kubernetes made the volume for a claim. The disks of
// nodes can bear a cluster's tag too; they are lost with their node.
func (v Volume) Provisioned() bool {
	return v.Tags[csiNameTag] != "" || v.Tags[volumeNameTag] != "" || v.Tags[claimNameTag] != ""
}

// BelongsTo reports whether the volume's tags say that it is a volume of this cluster, and
// of no other.
func (v Volume) BelongsTo(cluster string) bool {
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

// Key identifies the claim.
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
	// Gated reports whether it is not to be scheduled yet.
	Gated bool
	// Requests are what its containers ask for, a list for each that asks.
	Requests []Amounts
}

// Key identifies the pod.
func (p WaitingPod) Key() string { return p.Namespace + "/" + p.Name }

// Since is since when the scheduler finds no node for the pod.
func (p WaitingPod) Since() time.Time {
	if p.Scheduled.Since.IsZero() {
		return p.Created
	}
	return p.Scheduled.Since
}

// AsksFor reports whether a container of the pod asks for some of a resource.
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
