package snapshot

import "time"

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
	// KeepsInterface tells that it keeps the primary interface on termination.
	KeepsInterface bool
	// PublicIP is what it says of a public address: "true", "false" or empty.
	PublicIP string
	KMSKeys  []string
	// Subnet is the one that its primary interface names, Spot that it asks for Spot.
	Subnet string
	Spot   bool
	// GroupsTwice tells that it names security groups for the instance beside
	// interfaces, which EC2 refuses.
	GroupsTwice bool
	// Reservation is the capacity reservation that it names; empty for none.
	Reservation string
	// PlacementGroup is the name or the id of the one that it names, Tenancy dedicated or
	// host, Host the dedicated host or host resource group; each empty for none.
	PlacementGroup, Tenancy, Host string
}
