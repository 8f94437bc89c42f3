package snapshot

import (
	"net/netip"
	"time"
)

// Instance is an EC2 instance.
type Instance struct {
	ID           string
	Type         string
	State        string // pending, running, shutting-down, terminated, stopping, stopped
	StateReason  StateReason
	Launched     time.Time
	Subnet       string // empty once terminated
	VPC          string
	Zone         string
	PrivateIP    netip.Addr
	PublicIP     netip.Addr
	PrivateDNS   string
	Architecture string
	AMI          string
	Spot         bool
	Groups       []string // security groups of its primary interface
	Profile      string   // ARN of its instance profile
	Tags         map[string]string

	IPv6        []netip.Addr
	Windows     bool
	SourceCheck bool // source/destination check of its primary interface
	Metadata    Metadata
	Template    TemplateRef // the launch template that it came from, if any
	Transition  string      // the state transition reason, as EC2 writes it
	Interfaces  []string    // ids, the primary one first
	EFAs        []EFA       // its Elastic Fabric Adapters; EC2 names none once it is terminated
	// Operator is the service principal that manages it, as EC2 reports it
	// (eks.amazonaws.com for EKS Auto Mode): no tag, and nobody else can set it.
	Operator string
	// PlacementGroup is the name of the one that it is in; empty for none.
	PlacementGroup string
}

// EFA is an Elastic Fabric Adapter: a network interface of the type efa or efa-only.
type EFA struct {
	ID     string // empty in a launch template
	Groups []string
}

// Metadata is how an instance's metadata service is set.
type Metadata struct {
	Endpoint string // enabled, disabled; empty when EC2 does not say
	HopLimit int    // 0 when EC2 does not say
	Tokens   string // optional, required
}

// TemplateRef names a version of a launch template.
type TemplateRef struct {
	ID      string
	Name    string
	Version string // a number, $Latest or $Default
}

// StateReason is why an instance is in its state.
type StateReason struct {
	Code    string // e.g. Client.UserInitiatedShutdown
	Message string
	// When is the time in the state transition reason; zero if EC2 gives none.
	When time.Time
}

// InstanceType is what a type can carry.
type InstanceType struct {
	Name       string
	Interfaces int // most network interfaces of the default card
	// Cards are the most network interfaces of each network card but the default one.
	Cards            []int
	IPv4PerInterface int
	IPv6PerInterface int
	Architectures    []string // x86_64, arm64, …
	CPUs             int      // vCPUs by default
	Hypervisor       string   // nitro, xen; empty for bare metal
	BareMetal        bool
	// What NodePools choose types by, as EC2 tells it: memory, the processor's maker,
	// disks of its own in GB, the bandwidth to EBS in Mbit/s.
	MemoryMiB         int
	CPUMaker          string
	LocalNVMeGB       int // 0 for none
	EBSMbps           int // 0 where EC2 does not optimise it by default
	EncryptsInTransit bool
	// GPU and Accelerator are of types that have one kind of them.
	GPU, Accelerator Device
}

// Device is a kind of GPU or accelerator, and how many of it a type has.
type Device struct {
	Name, Maker string
	Count       int // 0 for none
	MemoryMiB   int // of each
}

// TypeOffering is a type and the zones that offer it to anybody. A type that is
// offered may still lack capacity.
type TypeOffering struct {
	Type  string
	Zones []string
}
