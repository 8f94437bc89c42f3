package world

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"rollcall/local/simaws/addresses"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/kubestate"
	"rollcall/local/simaws/table"
	"rollcall/local/simaws/worldfile"
)

// The times of a healthy node where a world says none: m5.large with the
// AL2023 image registers after about 40 s and is Ready 15 s later.
const (
	defaultRunningSeconds = 8
	defaultBootSeconds    = 40
	defaultReadySeconds   = 15
)

// New makes the world that a file describes. What the file leaves out of a
// resource and AWS would always show (owner, ARN, state) is filled in.
func New(file *worldfile.File, opts Options) (*World, error) {
	f := deepcopy.Of(*file)
	f.Account = cmp.Or(f.Account, "111122223333")
	f.Region = cmp.Or(f.Region, "us-west-2")
	if f.Time.IsZero() {
		return nil, fmt.Errorf("world %s: no time", f.Name)
	}
	f.Nodes.RunningSeconds = cmp.Or(f.Nodes.RunningSeconds, defaultRunningSeconds)
	f.Nodes.BootSeconds = cmp.Or(f.Nodes.BootSeconds, defaultBootSeconds)
	f.Nodes.ReadySeconds = cmp.Or(f.Nodes.ReadySeconds, defaultReadySeconds)
	f.EKS.Rules = completeEKSRules(f.EKS.Rules)
	f.Trail.Delay = cmp.Or(f.Trail.Delay, trailTime)
	if f.Trail.Lag == 0 && f.Trail.Spread == 0 {
		f.Trail.Spread = lookupSpread
	}
	f.Trail.Lag = cmp.Or(f.Trail.Lag, lookupTime)
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	w := &World{
		log: log, file: &f, start: f.Time, now: f.Time,
		account: f.Account, region: f.Region, seed: strconv.FormatUint(opts.Seed, 10), ids: ids.New(opts.Seed),
		// Ids of their own, so that a call that is told makes no other id differ.
		trailIDs: ids.New(opts.Seed ^ trailSeed),
		ec2State: newEC2State(), kubernetes: map[string]*kubestate.Cluster{},
		autoScalingState: autoScalingState{groups: table.New[group](), hooks: table.New[astypes.LifecycleHook]()},
		eksState: eksState{
			clusters: table.New[ekstypes.Cluster](), nodegroups: table.New[nodegroup](),
			addons: table.New[ekstypes.Addon](), accessEntries: table.New[ekstypes.AccessEntry](),
			accessPolicies: map[string][]ekstypes.AssociatedAccessPolicy{}, podIdentities: table.New[ekstypes.PodIdentityAssociation](),
			addonUpdates: map[string][]*ekstypes.Update{}, updateFaults: f.EKS.UpdateFaults,
		},
		iamState: iamState{roles: table.New[worldfile.RoleFile](), profiles: table.New[iamtypes.InstanceProfile](), policies: table.New[iamtypes.ManagedPolicyDetail](), deletedRoles: map[string]bool{}},
	}
	for _, load := range []func(*worldfile.File) error{
		w.loadIAM, w.loadNetwork, w.loadTemplates, w.loadClusters, w.loadGroups, w.loadNodegroups,
		w.loadInstances, w.loadInterfaces, w.loadPrimaries, w.loadGatewayInterfaces,
		w.loadMembers, w.loadVolumes, w.loadManaged, w.loadKubernetes, w.loadFreeAddresses, w.checkSpot, w.loadSets,
	} {
		if err := load(&f); err != nil {
			return nil, fmt.Errorf("world %s: %w", f.Name, err)
		}
	}
	if err := w.enterTimeline(f.Timeline); err != nil {
		return nil, fmt.Errorf("world %s: %w", f.Name, err)
	}
	if err := w.enterHistory(f.Trail.History); err != nil {
		return nil, fmt.Errorf("world %s: %w", f.Name, err)
	}
	if err := w.enterChanges(f.EKS.Changes); err != nil {
		return nil, fmt.Errorf("world %s: %w", f.Name, err)
	}
	// What the start itself made known is history, not news.
	w.events = nil
	w.sink = opts.Events
	w.reclaimAtTimes()
	for _, g := range w.groups.All() {
		w.reconcileLater(g, reconcileTime)
	}
	return w, nil
}

func newEC2State() ec2State {
	return ec2State{
		vpcs: table.New[ec2types.Vpc](), vpcAttributes: map[string]worldfile.VpcAttributes{},
		subnets: table.New[ec2types.Subnet](), pools: map[string]*addresses.Pool{}, cidrReservations: table.New[ec2types.SubnetCidrReservation](),
		routeTables: table.New[ec2types.RouteTable](), natGateways: table.New[ec2types.NatGateway](),
		internetGateways: table.New[ec2types.InternetGateway](), egressOnlyGateways: table.New[ec2types.EgressOnlyInternetGateway](),
		endpoints: table.New[ec2types.VpcEndpoint](), securityGroups: table.New[ec2types.SecurityGroup](),
		networkACLs: table.New[ec2types.NetworkAcl](), interfaces: table.New[ec2types.NetworkInterface](),
		poolLaunches: map[*worldfile.PoolFile]int{}, attached: map[string][]string{}, attaching: map[string][]string{}, instances: table.New[ec2types.Instance](),
		reservations: map[string]ec2types.Reservation{}, reservationOf: map[string]string{},
		userData: map[string]string{}, console: map[string]string{},
		instanceTypes: table.New[ec2types.InstanceTypeInfo](), images: table.New[ec2types.Image](),
		templates: table.New[ec2types.LaunchTemplate](), templateVersions: table.New[ec2types.LaunchTemplateVersion](),
		addresses: table.New[ec2types.Address](), prefixLists: table.New[ec2types.PrefixList](),
		managedPrefixLists: table.New[ec2types.ManagedPrefixList](), prefixListEntries: map[string][]ec2types.PrefixListEntry{},
		dhcpOptions: table.New[ec2types.DhcpOptions](), volumes: table.New[ec2types.Volume](),
		peerings: table.New[ec2types.VpcPeeringConnection](), transitAttachments: table.New[ec2types.TransitGatewayAttachment](),
		transitRoutes: map[string][]ec2types.TransitGatewayRoute{},
	}
}

// fill puts a list into a table; name says what a resource without an id is.
func fill[T any](t *table.Table[T], list []T, name string, id func(*T) *string) error {
	var errs []error
	for i := range list {
		v := &list[i]
		key := aws.ToString(id(v))
		switch {
		case key == "":
			errs = append(errs, fmt.Errorf("%s[%d] has no id", name, i))
		case t.Get(key) != nil:
			errs = append(errs, fmt.Errorf("%s[%d]: %s is listed twice", name, i, key))
		default:
			t.Put(key, v)
		}
	}
	return errors.Join(errs...)
}

// or sets a field that the file left out.
func or[T any](field **T, v T) {
	if *field == nil {
		*field = &v
	}
}

// orZero sets an enum or other plain field that the file left out.
func orZero[T comparable](field *T, v T) {
	var zero T
	if *field == zero {
		*field = v
	}
}

func (w *World) arn(service, resource string) string {
	return fmt.Sprintf("arn:aws:%s:%s:%s:%s", service, w.region, w.account, resource)
}

// long is how long before the start what was there at the start was made.
const long = 30 * 24 * time.Hour

func (w *World) loadIAM(f *worldfile.File) error {
	for i := range f.IAM.Roles {
		r := &f.IAM.Roles[i]
		or(&r.Path, "/")
		or(&r.Arn, fmt.Sprintf("arn:aws:iam::%s:role%s%s", w.account, *r.Path, aws.ToString(r.RoleName)))
		or(&r.RoleId, "AROA"+strings.ToUpper(w.ids.Hex(17)))
		or(&r.CreateDate, w.start.Add(-long))
		or(&r.MaxSessionDuration, 3600)
	}
	for i := range f.IAM.InstanceProfiles {
		p := &f.IAM.InstanceProfiles[i]
		or(&p.Path, "/")
		or(&p.Arn, fmt.Sprintf("arn:aws:iam::%s:instance-profile%s%s", w.account, *p.Path, aws.ToString(p.InstanceProfileName)))
		or(&p.InstanceProfileId, "AIPA"+strings.ToUpper(w.ids.Hex(17)))
		or(&p.CreateDate, w.start.Add(-long))
	}
	return errors.Join(
		fill(w.roles, f.IAM.Roles, "iam.Roles", func(r *worldfile.RoleFile) *string { return r.RoleName }),
		fill(w.profiles, f.IAM.InstanceProfiles, "iam.InstanceProfiles", func(p *iamtypes.InstanceProfile) *string { return p.InstanceProfileName }),
		fill(w.policies, f.IAM.Policies, "iam.Policies", func(p *iamtypes.ManagedPolicyDetail) *string { return p.Arn }),
		w.completeProfiles(),
	)
}

// completeProfiles puts the whole role where a profile only names it.
func (w *World) completeProfiles() error {
	for _, p := range w.profiles.All() {
		for i := range p.Roles {
			name := aws.ToString(p.Roles[i].RoleName)
			if r := w.roles.Get(name); r != nil {
				p.Roles[i] = r.Role
			} else if p.Roles[i].Arn == nil {
				return fmt.Errorf("iam.InstanceProfiles %s: role %q is not in the world", aws.ToString(p.InstanceProfileName), name)
			}
		}
	}
	return nil
}
