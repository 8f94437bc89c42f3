// Package state is what the simulated account has: the resources of EC2, Auto
// Scaling, EKS and IAM and what the clusters' Kubernetes APIs hold, with its
// lock, its time, what falls due, and the events it puts on the bus. It has the
// changes that touch one kind of resource only (an interface takes addresses, a
// volume is attached); what follows from them is in the packages above it.
package state

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/simaws/addresses"
	"rollcall/local/simaws/cloudtrail"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

// State is what the account has. Its fields are read and changed between enter
// and what it returns, or between hold and what that returns.
type State struct {
	Log  *slog.Logger
	sink func(json.RawMessage)

	// advancing keeps two Advance calls from mixing their steps.
	advancing sync.Mutex

	mu         sync.Mutex
	agenda     agenda
	events     []json.RawMessage
	delivering bool

	// File is the world as it was written down, with its rules completed.
	File *worldfile.File
	// Now is the stage time, Start when it began.
	Now, Start      time.Time
	Account, Region string
	// Seed tells one run's made-up values from another's.
	Seed string
	IDs  *ids.Source
	// TrailIDs are those of recorded calls: a call that is told makes no other
	// id differ.
	TrailIDs *ids.Source

	ec2State
	autoScalingState
	eksState
	iamState
	Kubernetes map[string]*kubestate.Cluster
	// History is what CloudTrail remembers, oldest first as it was recorded.
	History []cloudtrail.Recorded
}

// trailSeed sets the ids of recorded calls apart from all others.
const trailSeed = 0x747261696c

// New is an account without resources at the start of a world.
func New(f *worldfile.File, seed uint64, log *slog.Logger) *State {
	return &State{
		Log: log, File: f, Start: f.Time, Now: f.Time,
		Account: f.Account, Region: f.Region, Seed: strconv.FormatUint(seed, 10), IDs: ids.New(seed), TrailIDs: ids.New(seed ^ trailSeed),
		ec2State: newEC2State(), Kubernetes: map[string]*kubestate.Cluster{},
		autoScalingState: autoScalingState{Groups: table.New[Group](), Hooks: table.New[astypes.LifecycleHook]()},
		eksState: eksState{
			Clusters: table.New[ekstypes.Cluster](), Nodegroups: table.New[Nodegroup](),
			Addons: table.New[ekstypes.Addon](), AccessEntries: table.New[ekstypes.AccessEntry](),
			AccessPolicies: map[string][]ekstypes.AssociatedAccessPolicy{}, EntryIDs: map[string]string{}, PodIdentities: table.New[ekstypes.PodIdentityAssociation](),
			AddonUpdates: map[string][]*ekstypes.Update{}, UpdateFaults: f.EKS.UpdateFaults,
		},
		iamState: iamState{Roles: table.New[worldfile.RoleFile](), Profiles: table.New[iamtypes.InstanceProfile](), Policies: table.New[iamtypes.ManagedPolicyDetail](), DeletedRoles: map[string]bool{}, ControlPolicies: f.Organizations.ServiceControlPolicies, AccountAliases: f.IAM.AccountAliases},
	}
}

// Begin forgets the events so far, and gives those that come to sink.
func (w *State) Begin(sink func(json.RawMessage)) { w.events, w.sink = nil, sink }

// Hold locks the state; what it returns unlocks it.
func (w *State) Hold() func() {
	w.mu.Lock()
	return w.mu.Unlock
}

// At enters something that happens at a time.
func (w *State) At(t time.Time, run func()) { w.agenda.add(due{at: t, run: run}) }

// CallAt enters an API call that is made at a time, with the state unlocked.
func (w *State) CallAt(t time.Time, call func()) { w.agenda.add(due{at: t, call: call}) }

// Next is when the next thing is due, if anything is.
func (w *State) Next() (time.Time, bool) {
	defer w.Hold()()
	return w.agenda.next()
}

// Advance brings the world to a stage time and does what falls due on the
// way, each thing at its own time. A time in the past changes nothing.
func (w *State) Advance(now time.Time) {
	w.advancing.Lock()
	defer w.advancing.Unlock()
	for w.step(now) {
	}
	leave := w.Enter()
	if now.After(w.Now) {
		w.Now = now
	}
	leave()
}

func (w *State) step(now time.Time) bool {
	leave := w.Enter()
	d, ok := w.agenda.pop(now)
	if !ok {
		leave()
		return false
	}
	if d.at.After(w.Now) {
		w.Now = d.at
	}
	if d.run != nil {
		d.run()
	}
	leave()
	if d.call != nil {
		d.call()
	}
	return true
}

// After enters something that happens that much later than now.
func (w *State) After(d time.Duration, run func()) {
	w.agenda.add(due{at: w.Now.Add(d), run: run})
}

// Enter locks the world; what it returns unlocks it and hands over the events
// that arose meanwhile. Every API method begins with `defer w.enter()()`.
func (w *State) Enter() func() {
	w.mu.Lock()
	return func() {
		// One caller at a time hands over, so that events keep their order; a
		// caller that finds another at it leaves its events to that one. That
		// also lets the receiver call the world.
		if w.delivering {
			w.mu.Unlock()
			return
		}
		w.delivering = true
		for len(w.events) > 0 {
			e := w.events[0]
			w.events = w.events[1:]
			w.mu.Unlock()
			if w.sink != nil {
				w.sink(e)
			}
			w.mu.Lock()
		}
		w.delivering = false
		w.mu.Unlock()
	}
}

// ec2State holds what EC2 has.
type ec2State struct {
	Vpcs               *table.Table[ec2types.Vpc]
	VPCAttributes      map[string]worldfile.VpcAttributes
	Subnets            *table.Table[ec2types.Subnet]
	Pools              map[string]*addresses.Pool
	CidrReservations   *table.Table[ec2types.SubnetCidrReservation]
	RouteTables        *table.Table[ec2types.RouteTable]
	NATGateways        *table.Table[ec2types.NatGateway]
	InternetGateways   *table.Table[ec2types.InternetGateway]
	EgressOnlyGateways *table.Table[ec2types.EgressOnlyInternetGateway]
	Endpoints          *table.Table[ec2types.VpcEndpoint]
	SecurityGroups     *table.Table[ec2types.SecurityGroup]
	NetworkACLs        *table.Table[ec2types.NetworkAcl]
	Interfaces         *table.Table[ec2types.NetworkInterface]
	Attached           map[string][]string
	// Attaching are the interfaces that ipamd has made for an instance and not
	// attached yet.
	Attaching            map[string][]string
	Instances            *table.Table[ec2types.Instance]
	Reservations         map[string]ec2types.Reservation
	ReservationOf        map[string]string
	UserData             map[string]string
	Console              map[string]string
	InstanceTypes        *table.Table[ec2types.InstanceTypeInfo]
	Images               *table.Table[ec2types.Image]
	CapacityReservations *table.Table[ec2types.CapacityReservation]
	PlacementGroups      *table.Table[ec2types.PlacementGroup]
	Templates            *table.Table[ec2types.LaunchTemplate]
	TemplateVersions     *table.Table[ec2types.LaunchTemplateVersion]
	Addresses            *table.Table[ec2types.Address]
	publicIPs            int
	// PoolLaunches counts the launches in the pools that EC2 reclaims by age.
	PoolLaunches       map[*worldfile.PoolFile]int
	PrefixLists        *table.Table[ec2types.PrefixList]
	ManagedPrefixLists *table.Table[ec2types.ManagedPrefixList]
	PrefixListEntries  map[string][]ec2types.PrefixListEntry
	DhcpOptions        *table.Table[ec2types.DhcpOptions]
	Volumes            *table.Table[ec2types.Volume]
	Peerings           *table.Table[ec2types.VpcPeeringConnection]
	TransitAttachments *table.Table[ec2types.TransitGatewayAttachment]
	TransitRoutes      map[string][]ec2types.TransitGatewayRoute
}

// autoScalingState holds what Auto Scaling has.
type autoScalingState struct {
	Groups *table.Table[Group]
	Hooks  *table.Table[astypes.LifecycleHook]
}

// eksState holds what EKS has.
type eksState struct {
	Clusters      *table.Table[ekstypes.Cluster]
	Nodegroups    *table.Table[Nodegroup]
	Addons        *table.Table[ekstypes.Addon]
	AccessEntries *table.Table[ekstypes.AccessEntry]
	// AccessPolicies by cluster and principal.
	AccessPolicies map[string][]ekstypes.AssociatedAccessPolicy
	// EntryIDs are the ids of the roles that access entries were made for, by cluster and
	// principal, and RoleID finds that of a role that is not the world's own.
	EntryIDs      map[string]string
	RoleID        func(arn string) (id string, there bool)
	PodIdentities *table.Table[ekstypes.PodIdentityAssociation]
	// AddonUpdates by cluster and add-on, oldest first.
	AddonUpdates map[string][]*ekstypes.Update
	// UpdateFaults are those that no update has met yet.
	UpdateFaults []worldfile.UpdateFault
}

// iamState holds what IAM has.
type iamState struct {
	Roles    *table.Table[worldfile.RoleFile]
	Profiles *table.Table[iamtypes.InstanceProfile]
	Policies *table.Table[iamtypes.ManagedPolicyDetail]
	// DeletedRoles are the names of roles that were there once.
	DeletedRoles map[string]bool
	// ControlPolicies are the organisation's, beside FullAWSAccess.
	ControlPolicies []worldfile.ControlPolicy
	// AccountAliases are none or one.
	AccountAliases []string
}

func newEC2State() ec2State {
	return ec2State{
		Vpcs: table.New[ec2types.Vpc](), VPCAttributes: map[string]worldfile.VpcAttributes{},
		Subnets: table.New[ec2types.Subnet](), Pools: map[string]*addresses.Pool{}, CidrReservations: table.New[ec2types.SubnetCidrReservation](),
		RouteTables: table.New[ec2types.RouteTable](), NATGateways: table.New[ec2types.NatGateway](),
		InternetGateways: table.New[ec2types.InternetGateway](), EgressOnlyGateways: table.New[ec2types.EgressOnlyInternetGateway](),
		Endpoints: table.New[ec2types.VpcEndpoint](), SecurityGroups: table.New[ec2types.SecurityGroup](),
		NetworkACLs: table.New[ec2types.NetworkAcl](), Interfaces: table.New[ec2types.NetworkInterface](),
		PoolLaunches: map[*worldfile.PoolFile]int{}, Attached: map[string][]string{}, Attaching: map[string][]string{}, Instances: table.New[ec2types.Instance](),
		Reservations: map[string]ec2types.Reservation{}, ReservationOf: map[string]string{},
		UserData: map[string]string{}, Console: map[string]string{},
		InstanceTypes: table.New[ec2types.InstanceTypeInfo](), Images: table.New[ec2types.Image](), CapacityReservations: table.New[ec2types.CapacityReservation](),
		PlacementGroups: table.New[ec2types.PlacementGroup](),
		Templates:       table.New[ec2types.LaunchTemplate](), TemplateVersions: table.New[ec2types.LaunchTemplateVersion](),
		Addresses: table.New[ec2types.Address](), PrefixLists: table.New[ec2types.PrefixList](),
		ManagedPrefixLists: table.New[ec2types.ManagedPrefixList](), PrefixListEntries: map[string][]ec2types.PrefixListEntry{},
		DhcpOptions: table.New[ec2types.DhcpOptions](), Volumes: table.New[ec2types.Volume](),
		Peerings: table.New[ec2types.VpcPeeringConnection](), TransitAttachments: table.New[ec2types.TransitGatewayAttachment](),
		TransitRoutes: map[string][]ec2types.TransitGatewayRoute{},
	}
}

// ARN is the ARN of a resource of the account and region.
func (w *State) ARN(service, resource string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, w.Region, w.Account, resource)
}

// Age is how long before the start what was there at the start was made.
const Age = 30 * 24 * time.Hour
