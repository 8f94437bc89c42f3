package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/simaws/addresses"
	"rollcall/local/simaws/cloudtrail"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

// Options are what a world needs from outside.
type Options struct {
	// Seed decides the ids of new resources.
	Seed uint64
	// Events gets every event that the account would put on its default bus,
	// in order, one at a time. It may call the world's API, but not Advance.
	// Nil drops the events.
	Events func(json.RawMessage)
	// Log gets what happens without a caller to tell, such as a timeline call
	// that was refused. Nil drops it.
	Log *slog.Logger
}

// World is the account. All methods may be called at the same time.
type World struct {
	log  *slog.Logger
	sink func(json.RawMessage)

	// advancing keeps two Advance calls from mixing their steps.
	advancing sync.Mutex

	mu         sync.Mutex
	file       *worldfile.File
	start      time.Time
	now        time.Time
	account    string
	region     string
	seed       string
	ids        *ids.Source
	trailIDs   *ids.Source
	agenda     agenda
	events     []json.RawMessage
	delivering bool

	ec2State
	autoScalingState
	eksState
	iamState
	kubernetes map[string]*kubestate.Cluster
	// history is what CloudTrail remembers, oldest first as it was recorded.
	history []cloudtrail.Recorded
}

// ec2State holds what EC2 has.
type ec2State struct {
	vpcs               *table.Table[ec2types.Vpc]
	vpcAttributes      map[string]worldfile.VpcAttributes
	subnets            *table.Table[ec2types.Subnet]
	pools              map[string]*addresses.Pool
	cidrReservations   *table.Table[ec2types.SubnetCidrReservation]
	routeTables        *table.Table[ec2types.RouteTable]
	natGateways        *table.Table[ec2types.NatGateway]
	internetGateways   *table.Table[ec2types.InternetGateway]
	egressOnlyGateways *table.Table[ec2types.EgressOnlyInternetGateway]
	endpoints          *table.Table[ec2types.VpcEndpoint]
	securityGroups     *table.Table[ec2types.SecurityGroup]
	networkACLs        *table.Table[ec2types.NetworkAcl]
	interfaces         *table.Table[ec2types.NetworkInterface]
	attached           map[string][]string
	// attaching are the interfaces that ipamd has made for an instance and not
	// attached yet.
	attaching        map[string][]string
	instances        *table.Table[ec2types.Instance]
	reservations     map[string]ec2types.Reservation
	reservationOf    map[string]string
	userData         map[string]string
	console          map[string]string
	instanceTypes    *table.Table[ec2types.InstanceTypeInfo]
	images           *table.Table[ec2types.Image]
	templates        *table.Table[ec2types.LaunchTemplate]
	templateVersions *table.Table[ec2types.LaunchTemplateVersion]
	addresses        *table.Table[ec2types.Address]
	publicIPs        int
	// poolLaunches counts the launches in the pools that EC2 reclaims by age.
	poolLaunches       map[*worldfile.PoolFile]int
	prefixLists        *table.Table[ec2types.PrefixList]
	managedPrefixLists *table.Table[ec2types.ManagedPrefixList]
	prefixListEntries  map[string][]ec2types.PrefixListEntry
	dhcpOptions        *table.Table[ec2types.DhcpOptions]
	volumes            *table.Table[ec2types.Volume]
	peerings           *table.Table[ec2types.VpcPeeringConnection]
	transitAttachments *table.Table[ec2types.TransitGatewayAttachment]
	transitRoutes      map[string][]ec2types.TransitGatewayRoute
}

// autoScalingState holds what Auto Scaling has.
type autoScalingState struct {
	groups *table.Table[group]
	hooks  *table.Table[astypes.LifecycleHook]
}

// eksState holds what EKS has.
type eksState struct {
	clusters      *table.Table[ekstypes.Cluster]
	nodegroups    *table.Table[nodegroup]
	addons        *table.Table[ekstypes.Addon]
	accessEntries *table.Table[ekstypes.AccessEntry]
	// accessPolicies by cluster and principal.
	accessPolicies map[string][]ekstypes.AssociatedAccessPolicy
	podIdentities  *table.Table[ekstypes.PodIdentityAssociation]
	// addonUpdates by cluster and add-on, oldest first.
	addonUpdates map[string][]*ekstypes.Update
	// updateFaults are those that no update has met yet.
	updateFaults []worldfile.UpdateFault
}

// iamState holds what IAM has.
type iamState struct {
	roles    *table.Table[worldfile.RoleFile]
	profiles *table.Table[iamtypes.InstanceProfile]
	policies *table.Table[iamtypes.ManagedPolicyDetail]
	// deletedRoles are the names of roles that were there once.
	deletedRoles map[string]bool
}

// Now is the stage time.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Start is the stage time at which the world began.
func (w *World) Start() time.Time { return w.start }

// Account is the account's id.
func (w *World) Account() string { return w.account }

// Region is the account's only region.
func (w *World) Region() string { return w.region }

// Faults are the file's faults, for the servers that enforce them.
func (w *World) Faults() []worldfile.Fault { return deepcopy.Of(w.file.Faults) }

// Expect is the file's truth about the world.
func (w *World) Expect() worldfile.Expect { return deepcopy.Of(w.file.Expect) }

// Next is when the next thing is due, if anything is.
func (w *World) Next() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.agenda.next()
}

// Advance brings the world to a stage time and does what falls due on the
// way, each thing at its own time. A time in the past changes nothing.
func (w *World) Advance(now time.Time) {
	w.advancing.Lock()
	defer w.advancing.Unlock()
	for w.step(now) {
	}
	leave := w.enter()
	if now.After(w.now) {
		w.now = now
	}
	leave()
}

func (w *World) step(now time.Time) bool {
	leave := w.enter()
	d, ok := w.agenda.pop(now)
	if !ok {
		leave()
		return false
	}
	if d.at.After(w.now) {
		w.now = d.at
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

// after enters something that happens that much later than now.
func (w *World) after(d time.Duration, run func()) {
	w.agenda.add(due{at: w.now.Add(d), run: run})
}

// enter locks the world; what it returns unlocks it and hands over the events
// that arose meanwhile. Every API method begins with `defer w.enter()()`.
func (w *World) enter() func() {
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

func (w *World) enterTimeline(entries []worldfile.TimelineEntry) error {
	var errs []error
	for _, e := range entries {
		in, err := e.Input()
		if err == nil {
			err = w.checkCall(e.Call, in)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("timeline at %s: %w", e.At, err))
			continue
		}
		w.agenda.add(due{at: w.start.Add(e.At), call: func() {
			if _, err := w.callBy(e.By, e.Call, in); err != nil {
				w.log.Warn("timeline call refused", "call", e.Call, "at", e.At.String(), "error", err)
			}
		}})
	}
	return errors.Join(errs...)
}
