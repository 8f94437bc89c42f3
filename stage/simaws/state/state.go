// Package state is what the simulated account has: the resources of EC2, Auto
// Scaling, EKS and IAM and what the clusters' Kubernetes APIs hold, with its
// lock, its time, what falls due, and the events it puts on the bus. It has the
// changes that touch one kind of resource only (an interface takes addresses, a
// volume is attached); what follows from them is in the packages above it.
package state

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/stage/simaws/addresses"
	"rollcall/stage/simaws/cloudtrail"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/worldfile"
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
	// TrailIDs are those of recorded calls: a recorded call makes no other
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

// Schedule enters something that happens at a time.
func (w *State) Schedule(t time.Time, run func()) { w.agenda.add(due{at: t, run: run}) }

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
	// ControlPolicies are the organization's, beside FullAWSAccess.
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

// IDOfRole is the id that a role has now, by its ARN; "" for what is no role or is not there.
func (w *State) IDOfRole(arn string) string {
	if w.RoleID != nil {
		if id, there := w.RoleID(arn); there {
			return id
		}
	}
	if r := w.Roles.Get(arn[strings.LastIndex(arn, "/")+1:]); r != nil && aws.ToString(r.Arn) == arn {
		return aws.ToString(r.RoleId)
	}
	return ""
}

// Admits reports whether an access entry is of the role that its ARN names now: "If you
// don't delete the access entry and ever recreate the IAM principal, even if it has the same
// ARN, the access entry won't work", as EKS keeps the role's id with it (EKS API reference,
// AccessEntry, "principalArn").
func (w *State) Admits(a *ekstypes.AccessEntry) bool {
	id := w.EntryIDs[NodegroupKey(aws.ToString(a.ClusterName), aws.ToString(a.PrincipalArn))]
	return id == "" || id == w.IDOfRole(aws.ToString(a.PrincipalArn))
}

// AdmitsAutoRole reports whether EKS Auto Mode takes a role for the nodes of a NodeClass: the
// cluster has an access entry of type EC2 of it, with AmazonEKSAutoNodePolicy for all of the
// cluster (EKS user guide, "Create a Node Class for Amazon EKS"). Auto Mode looks for the entry
// by the role's name, without a path (aws/containers-roadmap#2486).
func (w *State) AdmitsAutoRole(cluster, name string) bool {
	key := NodegroupKey(cluster, "arn:aws:iam::"+w.Account+":role/"+name)
	e := w.AccessEntries.Get(key)
	return e != nil && aws.ToString(e.Type) == "EC2" && w.Admits(e) && w.HasAutoPolicy(key)
}

// HasAutoPolicy reports whether an access entry gives the rights of Auto Mode's nodes.
func (w *State) HasAutoPolicy(entry string) bool {
	return slices.ContainsFunc(w.AccessPolicies[entry], func(p ekstypes.AssociatedAccessPolicy) bool {
		return strings.HasSuffix(aws.ToString(p.PolicyArn), ":cluster-access-policy/AmazonEKSAutoNodePolicy") && (p.AccessScope == nil || p.AccessScope.Type != ekstypes.AccessScopeTypeNamespace)
	})
}

// due is something that happens by itself at a stage time.
type due struct {
	at  time.Time
	seq uint64
	// Exactly one of the two: run is called with the world locked, call with
	// it unlocked, because it makes an API call of its own.
	run  func()
	call func()
}

// agenda is what is due, earliest first; things due at the same time happen
// in the order in which they were entered.
type agenda struct {
	items dueHeap
	seq   uint64
}

func (a *agenda) add(d due) {
	a.seq++
	d.seq = a.seq
	heap.Push(&a.items, d)
}

// next is when the earliest is due.
func (a *agenda) next() (time.Time, bool) {
	if len(a.items) == 0 {
		return time.Time{}, false
	}
	return a.items[0].at, true
}

// pop takes the earliest if it is due by now.
func (a *agenda) pop(now time.Time) (due, bool) {
	if len(a.items) == 0 || a.items[0].at.After(now) {
		return due{}, false
	}
	return heap.Pop(&a.items).(due), true
}

type dueHeap []due

var _ heap.Interface = (*dueHeap)(nil)

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].seq < h[j].seq
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(x any)   { *h = append(*h, x.(due)) }
func (h *dueHeap) Pop() any {
	old := *h
	n := len(old) - 1
	x := old[n]
	old[n] = due{}
	*h = old[:n]
	return x
}

// Envelope is the form that all EventBridge events share.
type Envelope struct {
	Version    string   `json:"version"`
	ID         string   `json:"id"`
	DetailType string   `json:"detail-type"`
	Source     string   `json:"source"`
	Account    string   `json:"account"`
	Time       string   `json:"time"`
	Region     string   `json:"region"`
	Resources  []string `json:"resources"`
	Detail     any      `json:"detail"`
}

// Emit puts an event on the account's default bus.
func (w *State) Emit(source, detailType string, resources []string, detail any) {
	w.Put(Envelope{
		ID: w.IDs.UUID(), DetailType: detailType, Source: source,
		Time: w.Now.UTC().Format(time.RFC3339), Resources: resources, Detail: detail,
	})
}

// Put completes an event and puts it on the bus.
func (w *State) Put(e Envelope) {
	e.Version, e.Account, e.Region = "0", w.Account, w.Region
	b, err := json.Marshal(e)
	if err != nil {
		// The details are structs of strings; this cannot fail in service.
		w.Log.Error("event not written", "detail-type", e.DetailType, "error", err)
		return
	}
	w.events = append(w.events, b)
}

func (w *State) instanceARN(id string) string {
	return fmt.Sprintf("arn:aws:ec2:%s:%s:instance/%s", w.Region, w.Account, id)
}

type stateChange struct {
	InstanceID string `json:"instance-id"`
	State      string `json:"state"`
}

// EmitState emits an instance's state change.
func (w *State) EmitState(id, state string) {
	w.Emit("aws.ec2", "EC2 Instance State-change Notification", []string{w.instanceARN(id)}, stateChange{id, state})
}

// spotARN is the form that the two Spot warnings carry: the zone where other
// events have the region, and no account.
func (w *State) spotARN(id string) string {
	zone := w.Region
	if in := w.Instances.Get(id); in != nil && in.Placement != nil {
		zone = aws.ToString(in.Placement.AvailabilityZone)
	}
	return fmt.Sprintf("arn:aws:ec2:%s:instance/%s", zone, id)
}

type interruptionWarning struct {
	InstanceID     string `json:"instance-id"`
	InstanceAction string `json:"instance-action"`
}

// EmitInterruption warns that an instance of Spot, or of an interruptible Capacity
// Reservation, is taken back.
func (w *State) EmitInterruption(id string) {
	in := w.Instances.Get(id)
	if in == nil || in.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot || in.CapacityReservationId == nil {
		w.Emit("aws.ec2", "EC2 Spot Instance Interruption Warning", []string{w.spotARN(id)}, interruptionWarning{id, "terminate"})
		return
	}
	var zone *string
	if in.Placement != nil {
		zone = in.Placement.AvailabilityZoneId
	}
	// The members are those of the EC2 user guide's example; the warning comes two minutes before.
	type warning struct {
		interruptionWarning
		Terminates string `json:"instance-termination-time"`
		ZoneID     string `json:"azId"`
	}
	w.Emit("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", []string{w.instanceARN(id)},
		warning{interruptionWarning{id, "terminate"}, w.Now.Add(2 * time.Minute).UTC().Format(time.RFC3339), aws.ToString(zone)})
}

type rebalanceRecommendation struct {
	InstanceID string `json:"instance-id"`
}

// EmitRebalance emits that a Spot instance is at risk.
func (w *State) EmitRebalance(id string) {
	w.Emit("aws.ec2", "EC2 Instance Rebalance Recommendation", []string{w.spotARN(id)}, rebalanceRecommendation{id})
}

type lifecycleAction struct {
	LifecycleActionToken string
	AutoScalingGroupName string
	LifecycleHookName    string
	EC2InstanceId        string
	LifecycleTransition  string
	NotificationMetadata string `json:",omitempty"`
	Origin               string
	Destination          string
}

// EmitLifecycleAction emits that a hook holds an instance.
func (w *State) EmitLifecycleAction(g *Group, hook *astypes.LifecycleHook, instance, token, origin, destination string) {
	kind := "EC2 Instance-launch Lifecycle Action"
	if aws.ToString(hook.LifecycleTransition) == TransitionTerminating {
		kind = "EC2 Instance-terminate Lifecycle Action"
	}
	w.Emit("aws.autoscaling", kind, []string{aws.ToString(g.AutoScalingGroupARN)}, lifecycleAction{
		LifecycleActionToken: token,
		AutoScalingGroupName: aws.ToString(g.AutoScalingGroupName),
		LifecycleHookName:    aws.ToString(hook.LifecycleHookName),
		EC2InstanceId:        instance,
		LifecycleTransition:  aws.ToString(hook.LifecycleTransition),
		NotificationMetadata: aws.ToString(hook.NotificationMetadata),
		Origin:               origin,
		Destination:          destination,
	})
}

// scalingEvent is the detail of the four launch and terminate events.
type scalingEvent struct {
	Origin               string
	Destination          string
	StatusCode           string
	StatusMessage        string
	Description          string
	AutoScalingGroupName string
	ActivityId           string
	RequestId            string
	EC2InstanceId        string
	StartTime            string
	EndTime              string
	Details              json.RawMessage
	Cause                string
}

// EmitActivity sends the event of an activity's end. status is the event's own
// code: a success is sent while the activity still says InProgress.
func (w *State) EmitActivity(detailType string, g *Group, a *Activity, status string) {
	resources := []string{aws.ToString(g.AutoScalingGroupARN)}
	if a.Instance != "" {
		resources = append(resources, w.instanceARN(a.Instance))
	}
	w.Emit("aws.autoscaling", detailType, resources, scalingEvent{
		Origin: a.Origin, Destination: a.Destination,
		StatusCode: status, StatusMessage: aws.ToString(a.StatusMessage),
		Description:          aws.ToString(a.Description),
		AutoScalingGroupName: aws.ToString(g.AutoScalingGroupName),
		ActivityId:           aws.ToString(a.ActivityId), RequestId: aws.ToString(a.ActivityId),
		EC2InstanceId: a.Instance,
		StartTime:     eventTime(aws.ToTime(a.StartTime)), EndTime: eventTime(w.Now),
		Details: json.RawMessage(aws.ToString(a.Details)),
		Cause:   aws.ToString(a.Cause),
	})
}

// eventTime is the form with milliseconds that these details carry.
func eventTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// TransitionLaunching and TransitionTerminating are the transitions of lifecycle hooks.
const (
	TransitionLaunching   = "autoscaling:EC2_INSTANCE_LAUNCHING"
	TransitionTerminating = "autoscaling:EC2_INSTANCE_TERMINATING"
)

// Group is an Auto Scaling group with its history.
type Group struct {
	astypes.AutoScalingGroup
	Activities []*Activity
	// Because are the sentences that explain the next change of capacity.
	Because []string
	// Replacing counts instances lost to ill health, whose successors carry
	// another reason.
	Replacing int
	Failures  int
	// Next is when the group acts; zero where nothing is to be done.
	Next  time.Time
	Waits map[string]*HookWait
	Warm  []astypes.Instance
	// Leaving are the instances that capacity rebalancing replaces, by their
	// replacements. They count no longer.
	Leaving map[string]string
	// Launched are the instances that the group ever launched, in order.
	Launched []string
}

// Activity is a scaling activity and what its event needs beside it.
type Activity struct {
	astypes.Activity
	Instance    string
	Origin      string
	Destination string
}

// HookWait is an instance held by a lifecycle hook.
type HookWait struct {
	Hook  string
	Token string
	// Seq tells a wait from a later one of the same instance.
	Seq uint64
}

// Name is the group's name.
func (g *Group) Name() string { return aws.ToString(g.AutoScalingGroupName) }

// Member is the group's record of an instance, nil where it is not in it.
func (g *Group) Member(id string) *astypes.Instance {
	for i := range g.Instances {
		if aws.ToString(g.Instances[i].InstanceId) == id {
			return &g.Instances[i]
		}
	}
	return nil
}

// DropMember takes an instance out of the group and its warm pool.
func (g *Group) DropMember(id string) {
	g.Instances = slices.DeleteFunc(g.Instances, func(i astypes.Instance) bool { return aws.ToString(i.InstanceId) == id })
	g.Warm = slices.DeleteFunc(g.Warm, func(i astypes.Instance) bool { return aws.ToString(i.InstanceId) == id })
	delete(g.Waits, id)
	delete(g.Leaving, id)
}

// IsReplaced reports whether capacity rebalancing has launched a successor.
func (g *Group) IsReplaced(id string) bool {
	for _, old := range g.Leaving {
		if old == id {
			return true
		}
	}
	return false
}

// Capacity is how many instances count: those that are not on their way out.
func (g *Group) Capacity() int {
	n := 0
	for _, i := range g.Instances {
		if !strings.HasPrefix(string(i.LifecycleState), "Terminat") && !g.IsReplaced(aws.ToString(i.InstanceId)) {
			n++
		}
	}
	return n
}

// Suspended reports whether a process, such as Launch, is suspended.
func (g *Group) Suspended(process string) bool {
	return slices.ContainsFunc(g.SuspendedProcesses, func(p astypes.SuspendedProcess) bool { return aws.ToString(p.ProcessName) == process })
}

// Subnets are the ids of the group's subnets.
func (g *Group) Subnets() []string {
	var out []string
	for _, s := range strings.Split(aws.ToString(g.VPCZoneIdentifier), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Tag is the value of a tag of the group, empty without it.
func (g *Group) Tag(key string) string {
	for _, t := range g.Tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}

// GroupOf is the group that an instance is in, warm pool included.
func (w *State) GroupOf(id string) *Group {
	in := w.Instances.Get(id)
	if in == nil {
		return nil
	}
	return w.Groups.Get(TagValue(in.Tags, "aws:autoscaling:groupName"))
}

// Because notes why a group's capacity is about to change.
func (w *State) Because(g *Group, format string, args ...any) {
	g.Because = append(g.Because, "At "+w.Now.UTC().Format(time.RFC3339)+" "+fmt.Sprintf(format, args...))
}

// TemplateSpec is the launch template that the group names, nil without one.
func (g *Group) TemplateSpec() *astypes.LaunchTemplateSpecification {
	if g.LaunchTemplate != nil {
		return g.LaunchTemplate
	}
	if m := g.MixedInstancesPolicy; m != nil && m.LaunchTemplate != nil {
		return m.LaunchTemplate.LaunchTemplateSpecification
	}
	return nil
}

// HookKey is where a lifecycle hook is kept.
func HookKey(group, hook string) string { return group + "/" + hook }

// OpenActivity is the unfinished activity about an instance.
func (g *Group) OpenActivity(instance string) *Activity {
	for _, a := range slices.Backward(g.Activities) {
		if a.Instance == instance && a.EndTime == nil {
			return a
		}
	}
	return nil
}

// SecurityGroupIDs are the ids of security groups.
func SecurityGroupIDs(groups []ec2types.SecurityGroupIdentifier) []string {
	out := make([]string, 0, len(groups))
	for _, g := range groups {
		out = append(out, aws.ToString(g.GroupId))
	}
	return out
}

// ClusterOf is the cluster that an instance's tags name, empty without one.
func (w *State) ClusterOf(id string) string {
	in := w.Instances.Get(id)
	if in == nil {
		return ""
	}
	if name := TagValue(in.Tags, "eks:cluster-name"); name != "" {
		return name
	}
	for _, t := range in.Tags {
		if name, ok := strings.CutPrefix(aws.ToString(t.Key), "kubernetes.io/cluster/"); ok && aws.ToString(t.Value) == "owned" {
			return name
		}
	}
	return ""
}

// TerminatedTime is how long a terminated instance is still described.
const TerminatedTime = time.Hour

// InstanceGroups are the ids of an instance's security groups.
func InstanceGroups(in *ec2types.Instance) []string {
	out := make([]string, 0, len(in.SecurityGroups))
	for _, g := range in.SecurityGroups {
		out = append(out, aws.ToString(g.GroupId))
	}
	return out
}

// NodeOf is the node object of an instance, nil where it is none.
func (w *State) NodeOf(id string) (*kubestate.Cluster, *map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(w.Kubernetes)) {
		k := w.Kubernetes[name]
		if n := k.Nodes.Get(id); n != nil {
			return k, n
		}
	}
	return nil, nil
}

// AutoModePrincipal is who manages what EKS Auto Mode starts.
const AutoModePrincipal = "eks.amazonaws.com"

// IsAutoMode reports whether EKS Auto Mode runs an instance.
func IsAutoMode(in *ec2types.Instance) bool {
	return IsManaged(in.Operator) && aws.ToString(in.Operator.Principal) == AutoModePrincipal
}

// NodeName is what the Node of an instance is called.
func NodeName(in *ec2types.Instance) string {
	if IsAutoMode(in) {
		return aws.ToString(in.InstanceId)
	}
	return aws.ToString(in.PrivateDnsName)
}

// IsManaged reports whether an AWS service manages a resource.
func IsManaged(o *ec2types.OperatorResponse) bool { return o != nil && aws.ToBool(o.Managed) }

// ManagedBy is the operator of what a service makes; nil for none.
func ManagedBy(principal string) *ec2types.OperatorResponse {
	if principal == "" {
		return nil
	}
	return &ec2types.OperatorResponse{Managed: aws.Bool(true), Principal: aws.String(principal)}
}

// MetadataOptions are those that EKS's launch templates give.
func MetadataOptions() *ec2types.InstanceMetadataOptionsResponse {
	return &ec2types.InstanceMetadataOptionsResponse{
		State: ec2types.InstanceMetadataOptionsStateApplied, HttpEndpoint: ec2types.InstanceMetadataEndpointStateEnabled,
		HttpTokens: ec2types.HttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(2),
	}
}

// IsReady reports whether an instance is a Ready node.
func (w *State) IsReady(id string) bool {
	_, n := w.NodeOf(id)
	if n == nil {
		return false
	}
	status, _ := (*n)["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && c["type"] == "Ready" {
			return c["status"] == "True"
		}
	}
	return false
}

// RunningTime is how long an instance stays pending.
func (w *State) RunningTime() time.Duration {
	return time.Duration(w.File.Nodes.RunningSeconds) * time.Second
}

// DefaultGroup is the VPC's group called default, which EC2 takes where an
// instance names none.
func (w *State) DefaultGroup(vpc string) []string {
	for _, g := range w.SecurityGroups.All() {
		if aws.ToString(g.VpcId) == vpc && aws.ToString(g.GroupName) == "default" {
			return []string{*g.GroupId}
		}
	}
	return nil
}

// Ended reports whether an instance is shutting down or terminated.
func Ended(in *ec2types.Instance) bool {
	return in.State.Name == ec2types.InstanceStateNameShuttingDown || in.State.Name == ec2types.InstanceStateNameTerminated
}

// InstanceState is a state with its number.
func InstanceState(name ec2types.InstanceStateName) *ec2types.InstanceState {
	codes := map[ec2types.InstanceStateName]int32{
		ec2types.InstanceStateNamePending: 0, ec2types.InstanceStateNameRunning: 16,
		ec2types.InstanceStateNameShuttingDown: 32, ec2types.InstanceStateNameTerminated: 48,
		ec2types.InstanceStateNameStopping: 64, ec2types.InstanceStateNameStopped: 80,
	}
	return &ec2types.InstanceState{Name: name, Code: aws.Int32(codes[name])}
}

// TagValue is the value of a tag, empty without it.
func TagValue(tags []ec2types.Tag, key string) string {
	for _, t := range tags {
		if aws.ToString(t.Key) == key {
			return aws.ToString(t.Value)
		}
	}
	return ""
}
