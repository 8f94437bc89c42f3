// Package world is the simulated AWS account of the local stage: it makes the
// account that a file describes and is the way to its APIs. It speaks the SDK's
// own input and output structs and knows nothing of HTTP. What the account has is
// in package state, the rules by which it changes are in the packages beside it.
//
// The world owns no clock: Advance brings it to a stage time and does everything
// that falls due on the way, in a fixed order.
package world

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/autoscaling"
	"rollcall/stage/simaws/cloudwatchlogs"
	"rollcall/stage/simaws/ec2"
	"rollcall/stage/simaws/eks"
	"rollcall/stage/simaws/iam"
	"rollcall/stage/simaws/karpenter"
	"rollcall/stage/simaws/kubernetes"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/lifecycle"
	"rollcall/stage/simaws/reach"
	"rollcall/stage/simaws/route53"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/trail"
	"rollcall/stage/simaws/worldfile"
	"rollcall/stage/simaws/zonalshift"
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
type World struct{ *state.State }

// EC2 is the world's EC2 API.
func (w *World) EC2() ec2.API { return ec2.New(w.State) }

// AutoScaling is the world's Auto Scaling API.
func (w *World) AutoScaling() autoscaling.API { return autoscaling.New(w.State) }

// EKS is the world's EKS API.
func (w *World) EKS() eks.API { return eks.New(w.State) }

// IAM is the world's IAM API.
func (w *World) IAM() iam.API { return iam.New(w.State) }

// CloudTrail is the world's CloudTrail API.
func (w *World) CloudTrail() trail.API { return trail.New(w.State) }

// The types of the services' APIs are all called API: to embed them side by side
// takes names that differ.
type (
	ec2API         = ec2.API
	autoScalingAPI = autoscaling.API
	eksAPI         = eks.API
	iamAPI         = iam.API
)

// API is what EC2, Auto Scaling, EKS, IAM, STS, CloudWatch Logs, Route 53, its Resolver and Profiles,
// and ARC zonal shift answer, as one value that has each operation as a method of its name: no two
// share one.
type API struct {
	ec2API
	autoScalingAPI
	eksAPI
	iamAPI
	stsAPI
	logsAPI
	route53API
	resolverAPI
	profilesAPI
	zonalShiftAPI
}

// API is the world's API.
func (w *World) API() API {
	return API{w.EC2(), w.AutoScaling(), w.EKS(), w.IAM(), stsAPI{w.State}, logsAPI{w.State}, route53API{w.State}, resolverAPI{w.State}, profilesAPI{w.State}, zonalShiftAPI{w.State}}
}

// Now is the stage time.
func (w *World) Now() time.Time {
	defer w.Hold()()
	return w.State.Now
}

// Start is the stage time at which the world began.
func (w *World) Start() time.Time { return w.State.Start }

// Account is the account's id.
func (w *World) Account() string { return w.State.Account }

// Region is the account's only region.
func (w *World) Region() string { return w.State.Region }

// Faults are the file's faults, for the servers that enforce them.
func (w *World) Faults() []worldfile.Fault { return state.Copy(w.File.Faults) }

// Expect is the file's truth about the world.
func (w *World) Expect() worldfile.Expect { return state.Copy(w.File.Expect) }

// Paths is how an instance reaches what it needs to become a node of its
// cluster, in a fixed order. It is empty for an instance without a cluster.
func (w *World) Paths(instance string) []reach.Path {
	defer w.Hold()()
	return reach.Paths(w.State, instance)
}

// Record keeps a call that changes something, and puts it on the bus some time
// later, as CloudTrail does.
func (w *World) Record(c trail.Call) { trail.Record(w.State, c) }

// Clusters are the names of the clusters that have a Kubernetes API.
func (w *World) Clusters() []string {
	defer w.Hold()()
	return slices.Sorted(maps.Keys(w.State.Kubernetes))
}

// Kubernetes lists the objects of a cluster by their plural in lower case:
// nodes, pods, persistentvolumes, persistentvolumeclaims, daemonsets,
// serviceaccounts, configmaps, events, certificatesigningrequests, eniconfigs,
// and those of Karpenter. A kind that the cluster does not have is ErrNoKind.
func (w *World) Kubernetes(cluster, plural string) (kubestate.List, error) {
	defer w.Hold()()
	k := w.State.Kubernetes[cluster]
	if k == nil {
		return kubestate.List{}, fmt.Errorf("no cluster %q", cluster)
	}
	return k.List(plural)
}

// Serve tells the world where a cluster's API is served: nodes are started
// with that endpoint and authority, and DescribeCluster answers with them.
func (w *World) Serve(cluster, endpoint string, ca []byte) {
	eks.Serve(w.State, cluster, endpoint, ca)
}

// KnowRoles makes the ids of roles known that are not the world's own: those of stacks in
// its account.
func (w *World) KnowRoles(id func(arn string) (string, bool)) {
	defer w.Hold()()
	w.RoleID = id
}

// EntryAdmits reports whether a cluster admits a principal by its access entry.
func (w *World) EntryAdmits(cluster, principal string) bool {
	defer w.Hold()()
	a := w.AccessEntries.Get(state.NodegroupKey(cluster, principal))
	return a != nil && w.Admits(a)
}

// Change gives a nodegroup or an add-on a status now, as EKS does for reasons
// of its own. At is not looked at.
func (w *World) Change(c worldfile.EKSChange) error { return eks.Change(w.State, c) }

// FailNextUpdate makes the next update of a nodegroup or an add-on fail.
func (w *World) FailNextUpdate(f worldfile.UpdateFault) { eks.FailNextUpdate(w.State, f) }

// Patch changes an object of a cluster as kubectl patch --type merge does; a kind
// without namespaces has none.
func (w *World) Patch(cluster, plural, namespace, name string, patch map[string]any) error {
	defer w.Enter()()
	k := w.State.Kubernetes[cluster]
	if k == nil {
		return fmt.Errorf("no cluster %q", cluster)
	}
	return k.Patch(plural, namespace, name, patch)
}

// Apply puts a StatefulSet into a cluster, as kubectl apply does.
func (w *World) Apply(cluster string, set worldfile.SetFile) error {
	defer w.Enter()()
	k := w.State.Kubernetes[cluster]
	if k == nil {
		return fmt.Errorf("no cluster %q", cluster)
	}
	return kubernetes.AddSet(w.State, k, set)
}

// AttachControlPolicies has the account's service control policies be these, beside
// FullAWSAccess: what the organization does in its management account.
func (w *World) AttachControlPolicies(list ...worldfile.ControlPolicy) {
	defer w.Enter()()
	w.ControlPolicies = list
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
		w.CallAt(w.State.Start.Add(e.At), func() {
			if _, err := w.callBy(e.By, e.Call, in); err != nil {
				w.Log.Warn("timeline call refused", "call", e.Call, "at", e.At.String(), "error", err)
			}
		})
	}
	return errors.Join(errs...)
}

// Services are the world's APIs by the name that IAM gives the service. Every
// exported method of each is an operation: Op(*OpInput) (*OpOutput, error).
func (w *World) Services() map[string]any {
	return map[string]any{"ec2": w.EC2(), "autoscaling": w.AutoScaling(), "eks": w.EKS(), "iam": w.IAM(), "sts": stsAPI{w.State}}
}

// Call makes an API call by name, such as "ec2:CreateRoute", with its input as
// JSON in the API's field names.
func (w *World) Call(op string, input json.RawMessage) (any, error) {
	return w.callBy("", op, input)
}

// callBy makes a call in a user's name.
func (w *World) callBy(who, op string, input json.RawMessage) (any, error) {
	method, in, err := w.prepare(op, input)
	if err != nil {
		return nil, err
	}
	out := method.Call([]reflect.Value{in})
	made := trail.Call{Operation: op, CallerARN: cmp.Or(who, w.File.Trail.Caller), Input: in.Interface()}
	if err, ok := out[1].Interface().(error); ok && err != nil {
		made.Err = err
		w.Record(made)
		return nil, fmt.Errorf("call %s: %w", op, err)
	}
	made.Output = out[0].Interface()
	w.Record(made)
	return made.Output, nil
}

// checkCall says whether a call could be made: the operation exists and the
// input has its fields.
func (w *World) checkCall(op string, input json.RawMessage) error {
	_, _, err := w.prepare(op, input)
	return err
}

func (w *World) prepare(op string, input json.RawMessage) (reflect.Value, reflect.Value, error) {
	service, name, _ := strings.Cut(op, ":")
	api, ok := w.Services()[service]
	if !ok {
		return reflect.Value{}, reflect.Value{}, wire.Errorf("InvalidAction", "call %q: no service %q", op, service)
	}
	method := reflect.ValueOf(api).MethodByName(name)
	if !method.IsValid() {
		return reflect.Value{}, reflect.Value{}, wire.Errorf("InvalidAction", "call %q: %s has no operation %q", op, service, name)
	}
	in := reflect.New(method.Type().In(0).Elem())
	if err := worldfile.DecodeInput(op, input, in.Interface()); err != nil {
		return reflect.Value{}, reflect.Value{}, err
	}
	return method, in, nil
}

// instanceTypeRow is one line of the table of known types: what a node's
// sizing needs. The numbers are those of EC2's DescribeInstanceTypes.
type instanceTypeRow struct {
	name       string
	arch       ec2types.ArchitectureType
	vcpus      int32
	memoryMiB  int64
	interfaces int32
	addresses  int32
}

// instanceTypeTable is the types that every world knows. A world may add more.
func instanceTypeTable() []instanceTypeRow {
	const x, arm = ec2types.ArchitectureTypeX8664, ec2types.ArchitectureTypeArm64
	return []instanceTypeRow{
		{"t3.micro", x, 2, 1024, 2, 2}, {"t3.small", x, 2, 2048, 3, 4}, {"t3.medium", x, 2, 4096, 3, 6},
		{"t3.large", x, 2, 8192, 3, 12}, {"t3.xlarge", x, 4, 16384, 4, 15}, {"t3a.medium", x, 2, 4096, 3, 6},
		{"t4g.medium", arm, 2, 4096, 3, 6}, {"t4g.large", arm, 2, 8192, 3, 12},
		{"m5.large", x, 2, 8192, 3, 10}, {"m5.xlarge", x, 4, 16384, 4, 15}, {"m5.2xlarge", x, 8, 32768, 4, 15},
		{"m5.4xlarge", x, 16, 65536, 8, 30}, {"m5.8xlarge", x, 32, 131072, 8, 30}, {"m5.12xlarge", x, 48, 196608, 8, 30},
		{"m5.16xlarge", x, 64, 262144, 15, 50}, {"m5.24xlarge", x, 96, 393216, 15, 50},
		{"m5a.large", x, 2, 8192, 3, 10}, {"m5a.xlarge", x, 4, 16384, 4, 15}, {"m5d.4xlarge", x, 16, 65536, 8, 30},
		{"m5n.4xlarge", x, 16, 65536, 8, 30}, {"m6i.large", x, 2, 8192, 3, 10}, {"m6i.xlarge", x, 4, 16384, 4, 15},
		{"m6i.4xlarge", x, 16, 65536, 8, 30}, {"m6a.4xlarge", x, 16, 65536, 8, 30}, {"m6g.large", arm, 2, 8192, 3, 10},
		{"m6g.xlarge", arm, 4, 16384, 4, 15}, {"m7g.large", arm, 2, 8192, 3, 10}, {"m7i.large", x, 2, 8192, 3, 10},
		{"c5.large", x, 2, 4096, 3, 10}, {"c5.xlarge", x, 4, 8192, 4, 15}, {"c5.2xlarge", x, 8, 16384, 4, 15},
		{"c5.4xlarge", x, 16, 32768, 8, 30}, {"c5a.4xlarge", x, 16, 32768, 8, 30},
		{"c6i.4xlarge", x, 16, 32768, 8, 30}, {"c6a.4xlarge", x, 16, 32768, 8, 30}, {"m5a.4xlarge", x, 16, 65536, 8, 30},
		{"r5a.4xlarge", x, 16, 131072, 8, 30}, {"r6i.4xlarge", x, 16, 131072, 8, 30}, {"c6i.large", x, 2, 4096, 3, 10}, {"r5.large", x, 2, 16384, 3, 10},
		{"r5.xlarge", x, 4, 32768, 4, 15}, {"r5.4xlarge", x, 16, 131072, 8, 30}, {"g4dn.xlarge", x, 4, 16384, 3, 10},
		{"m5n.large", x, 2, 8192, 3, 10}, {"m6a.large", x, 2, 8192, 3, 10}, {"c5a.large", x, 2, 4096, 3, 10}, {"r6i.large", x, 2, 16384, 3, 10},
	}
}

func (r instanceTypeRow) info() *ec2types.InstanceTypeInfo {
	family := strings.SplitN(r.name, ".", 2)[0]
	maker := "Intel"
	switch {
	case r.arch == ec2types.ArchitectureTypeArm64:
		maker = "AWS"
	case strings.HasSuffix(family, "a"):
		maker = "AMD"
	}
	// Graviton's virtual CPUs are cores; the others here have two threads.
	threads := int32(2)
	if r.arch == ec2types.ArchitectureTypeArm64 {
		threads = 1
	}
	return &ec2types.InstanceTypeInfo{
		InstanceType:                  ec2types.InstanceType(r.name),
		BareMetal:                     aws.Bool(false),
		BurstablePerformanceSupported: aws.Bool(strings.HasPrefix(family, "t")),
		CurrentGeneration:             aws.Bool(true),
		DedicatedHostsSupported:       aws.Bool(!strings.HasPrefix(family, "t4")),
		FreeTierEligible:              aws.Bool(r.name == "t3.micro"),
		Hypervisor:                    ec2types.InstanceTypeHypervisorNitro,
		InstanceStorageSupported:      aws.Bool(strings.Contains(family, "d")),
		MemoryInfo:                    &ec2types.MemoryInfo{SizeInMiB: aws.Int64(r.memoryMiB)},
		NetworkInfo: &ec2types.NetworkInfo{
			DefaultNetworkCardIndex: aws.Int32(0), EnaSupport: ec2types.EnaSupportRequired,
			Ipv4AddressesPerInterface: aws.Int32(r.addresses), Ipv6AddressesPerInterface: aws.Int32(r.addresses),
			Ipv6Supported: aws.Bool(true), MaximumNetworkCards: aws.Int32(1),
			MaximumNetworkInterfaces: aws.Int32(r.interfaces),
			NetworkCards:             []ec2types.NetworkCardInfo{{NetworkCardIndex: aws.Int32(0), MaximumNetworkInterfaces: aws.Int32(r.interfaces)}},
		},
		ProcessorInfo:                &ec2types.ProcessorInfo{Manufacturer: aws.String(maker), SupportedArchitectures: []ec2types.ArchitectureType{r.arch}},
		SupportedRootDeviceTypes:     []ec2types.RootDeviceType{ec2types.RootDeviceTypeEbs},
		SupportedUsageClasses:        []ec2types.UsageClassType{ec2types.UsageClassTypeOnDemand, ec2types.UsageClassTypeSpot},
		SupportedVirtualizationTypes: []ec2types.VirtualizationType{ec2types.VirtualizationTypeHvm},
		VCpuInfo: &ec2types.VCpuInfo{
			DefaultVCpus: aws.Int32(r.vcpus), DefaultCores: aws.Int32(r.vcpus / threads), DefaultThreadsPerCore: aws.Int32(threads),
		},
	}
}

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
	f := state.Copy(*file)
	f.Account = cmp.Or(f.Account, "111122223333")
	f.Region = cmp.Or(f.Region, "us-west-2")
	if f.Time.IsZero() {
		return nil, fmt.Errorf("world %s: no time", f.Name)
	}
	f.Nodes.RunningSeconds = cmp.Or(f.Nodes.RunningSeconds, defaultRunningSeconds)
	f.Nodes.BootSeconds = cmp.Or(f.Nodes.BootSeconds, defaultBootSeconds)
	f.Nodes.ReadySeconds = cmp.Or(f.Nodes.ReadySeconds, defaultReadySeconds)
	f.EKS.Rules = eks.CompleteRules(f.EKS.Rules)
	f.Trail.Delay = cmp.Or(f.Trail.Delay, trail.EventTime)
	if f.Trail.Lag == 0 && f.Trail.Spread == 0 {
		f.Trail.Spread = trail.LookupSpread
	}
	f.Trail.Lag = cmp.Or(f.Trail.Lag, trail.LookupTime)
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	w := &World{state.New(&f, opts.Seed, log)}
	for _, load := range []func(*state.State, *worldfile.File) error{
		loadIAM, loadNetwork, loadTemplates, loadClusters, loadGroups, loadNodegroups,
		loadInstances, loadInterfaces, loadPrimaries, loadGatewayInterfaces,
		loadMembers, loadVolumes, loadManaged, kubernetes.Load, loadFreeAddresses, lifecycle.CheckSpot, kubernetes.LoadSets, kubernetes.LoadShifts, karpenter.Load,
	} {
		if err := load(w.State, &f); err != nil {
			return nil, fmt.Errorf("world %s: %w", f.Name, err)
		}
	}
	if err := w.enterTimeline(f.Timeline); err != nil {
		return nil, fmt.Errorf("world %s: %w", f.Name, err)
	}
	if err := trail.LoadHistory(w.State, f.Trail.History); err != nil {
		return nil, fmt.Errorf("world %s: %w", f.Name, err)
	}
	if err := eks.LoadChanges(w.State, f.EKS.Changes); err != nil {
		return nil, fmt.Errorf("world %s: %w", f.Name, err)
	}
	// What the start itself made known is history, not news.
	w.Begin(opts.Events)
	lifecycle.ReclaimAtTimes(w.State)
	for _, g := range w.Groups.All() {
		lifecycle.ReconcileLater(w.State, g, lifecycle.ReconcileTime)
	}
	return w, nil
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

func loadIAM(w *state.State, f *worldfile.File) error {
	for i := range f.IAM.Roles {
		r := &f.IAM.Roles[i]
		state.Default(&r.Path, "/")
		state.Default(&r.Arn, fmt.Sprintf("arn:aws:iam::%s:role%s%s", w.Account, *r.Path, aws.ToString(r.RoleName)))
		state.Default(&r.RoleId, "AROA"+strings.ToUpper(w.IDs.Hex(17)))
		state.Default(&r.CreateDate, w.Start.Add(-state.Age))
		state.Default(&r.MaxSessionDuration, 3600)
	}
	for i := range f.IAM.InstanceProfiles {
		p := &f.IAM.InstanceProfiles[i]
		state.Default(&p.Path, "/")
		state.Default(&p.Arn, fmt.Sprintf("arn:aws:iam::%s:instance-profile%s%s", w.Account, *p.Path, aws.ToString(p.InstanceProfileName)))
		state.Default(&p.InstanceProfileId, "AIPA"+strings.ToUpper(w.IDs.Hex(17)))
		state.Default(&p.CreateDate, w.Start.Add(-state.Age))
	}
	return errors.Join(
		soundAliases(f.IAM.AccountAliases),
		fill(w.Roles, f.IAM.Roles, "iam.Roles", func(r *worldfile.RoleFile) *string { return r.RoleName }),
		fill(w.Profiles, f.IAM.InstanceProfiles, "iam.InstanceProfiles", func(p *iamtypes.InstanceProfile) *string { return p.InstanceProfileName }),
		fill(w.Policies, f.IAM.Policies, "iam.Policies", func(p *iamtypes.ManagedPolicyDetail) *string { return p.Arn }),
		completeProfiles(w),
	)
}

// alias is IAM's form of an account alias, but for two hyphens in a row: "lowercase letters,
// digits, and dashes. You cannot start or finish with a dash, nor can you have two dashes in a
// row", 3 to 63 of them (IAM API reference, CreateAccountAlias).
var alias = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`)

func soundAliases(list []string) error {
	if len(list) > 1 {
		return fmt.Errorf("iam.AccountAliases: an account has one at most, not %d", len(list))
	}
	for _, a := range list {
		if !alias.MatchString(a) || strings.Contains(a, "--") {
			return fmt.Errorf("iam.AccountAliases: %q is no alias that IAM takes", a)
		}
	}
	return nil
}

// completeProfiles puts the whole role where a profile only names it.
func completeProfiles(w *state.State) error {
	for _, p := range w.Profiles.All() {
		for i := range p.Roles {
			name := aws.ToString(p.Roles[i].RoleName)
			if r := w.Roles.Get(name); r != nil {
				p.Roles[i] = r.Role
			} else if p.Roles[i].Arn == nil {
				return fmt.Errorf("iam.InstanceProfiles %s: role %q is not in the world", aws.ToString(p.InstanceProfileName), name)
			}
		}
	}
	return nil
}

// stsAPI is the world's STS API, as far as it decodes messages of requests that were
// denied. Package simaws answers who the caller is.
type stsAPI struct{ w *state.State }

// DecodeAuthorizationMessage decodes a message that this account's requests were
// answered with. Any other is invalid: another account's, a part of one, one that has
// expired (STS API, InvalidAuthorizationMessageException).
func (s stsAPI) DecodeAuthorizationMessage(in *sts.DecodeAuthorizationMessageInput) (*sts.DecodeAuthorizationMessageOutput, error) {
	defer s.w.Enter()()
	for _, m := range s.w.File.STS.AuthorizationMessages {
		if m.Encoded == aws.ToString(in.EncodedMessage) && (m.Expires.IsZero() || s.w.Now.Before(m.Expires)) {
			return &sts.DecodeAuthorizationMessageOutput{DecodedMessage: aws.String(m.Decoded)}, nil
		}
	}
	return nil, wire.Errorf("InvalidAuthorizationMessageException", "Message is not valid")
}

// logsAPI is the world's CloudWatch Logs API: what is delivered where, and what
// stands in log groups. It has what the world's file has; nothing writes there.
type logsAPI struct{ w *state.State }

const (
	mostOfList   = 50    // of a page (DescribeLimit)
	mostOfEvents = 10000 // likewise (EventsLimit)
)

// DescribeDeliverySources lists the sources of deliveries.
func (s logsAPI) DescribeDeliverySources(in *cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliverySourcesOutput, error) {
	defer s.w.Enter()()
	list, next, err := page(s.w.File.Logs.DeliverySources, in.Limit, in.NextToken, mostOfList)
	return cloudwatchlogs.DescribeDeliverySourcesOutput{DeliverySources: list, NextToken: next}, err
}

// DescribeDeliveries lists the deliveries.
func (s logsAPI) DescribeDeliveries(in *cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveriesOutput, error) {
	defer s.w.Enter()()
	list, next, err := page(s.w.File.Logs.Deliveries, in.Limit, in.NextToken, mostOfList)
	return cloudwatchlogs.DescribeDeliveriesOutput{Deliveries: list, NextToken: next}, err
}

// DescribeDeliveryDestinations lists the destinations of deliveries.
func (s logsAPI) DescribeDeliveryDestinations(in *cloudwatchlogs.ListInput) (cloudwatchlogs.DescribeDeliveryDestinationsOutput, error) {
	defer s.w.Enter()()
	list, next, err := page(s.w.File.Logs.DeliveryDestinations, in.Limit, in.NextToken, mostOfList)
	return cloudwatchlogs.DescribeDeliveryDestinationsOutput{DeliveryDestinations: list, NextToken: next}, err
}

// FilterLogEvents finds events of a log group that are there by now.
func (s logsAPI) FilterLogEvents(in *cloudwatchlogs.FilterLogEventsInput) (cloudwatchlogs.FilterLogEventsOutput, error) {
	defer s.w.Enter()()
	var out cloudwatchlogs.FilterLogEventsOutput
	if (in.LogGroupName == nil) == (in.LogGroupIdentifier == nil) {
		return out, wire.Errorf("InvalidParameterException", "Either logGroupName or logGroupIdentifier must be given, and not both.")
	}
	name := aws.ToString(in.LogGroupName) + aws.ToString(in.LogGroupIdentifier)
	name = strings.TrimPrefix(name, "arn:aws:logs:"+s.w.Region+":"+s.w.Account+":log-group:")
	events, is := s.w.File.Logs.LogGroups[name]
	if !is {
		return out, wire.Errorf("ResourceNotFoundException", "The specified log group does not exist.")
	}
	var found []cloudwatchlogs.LogEvent
	for i, e := range events {
		at := e.At.UnixMilli()
		switch {
		case e.At.After(s.w.Now), in.StartTime != nil && at < *in.StartTime, in.EndTime != nil && at > *in.EndTime:
		case cloudwatchlogs.Matches(aws.ToString(in.FilterPattern), e.Message):
			found = append(found, cloudwatchlogs.LogEvent{LogStreamName: "eks-auto-mode", Timestamp: at, Message: e.Message, EventId: strconv.Itoa(i)})
		}
	}
	slices.SortStableFunc(found, func(a, b cloudwatchlogs.LogEvent) int { return int(a.Timestamp - b.Timestamp) })
	var err error
	out.Events, out.NextToken, err = page(found, in.Limit, in.NextToken, mostOfEvents)
	return out, err
}

// page is a page of a list, and the token of the next.
func page[T any](list []T, limit *int32, token *string, most int32) ([]T, *string, error) {
	if limit == nil {
		limit = &most
	}
	if *limit < 1 || *limit > most {
		return nil, nil, wire.Errorf("ValidationException", "The limit must be between 1 and %d.", most)
	}
	from := 0
	if token != nil {
		text, ok := table.ReadToken(*token)
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 0 || n > len(list) {
			return nil, nil, wire.Errorf("ValidationException", "The next token is not valid.")
		}
		from = n
	}
	to := min(from+int(*limit), len(list))
	out := append([]T{}, list[from:to]...)
	if to == len(list) {
		return out, nil, nil
	}
	return out, aws.String(table.WriteToken(strconv.Itoa(to))), nil
}

// resolverAPI is the world's Route 53 Resolver: it has what the world's file has.
type resolverAPI struct{ w *state.State }

// ListFirewallRuleGroupAssociations lists the rule groups in force in a VPC.
func (s resolverAPI) ListFirewallRuleGroupAssociations(in *route53.ResolverInput) (json.RawMessage, error) {
	defer s.w.Enter()()
	all := route53.ListFirewallRuleGroupAssociationsOutput{FirewallRuleGroupAssociations: s.w.File.Route53Resolver.FirewallRuleGroupAssociations}
	return route53.WrittenResolver(all.InVPC(in.VpcId), nil)
}

// ListFirewallRules lists the rules of a rule group.
func (s resolverAPI) ListFirewallRules(in *route53.ResolverInput) (json.RawMessage, error) {
	defer s.w.Enter()()
	list, there := s.w.File.Route53Resolver.FirewallRules[aws.ToString(in.FirewallRuleGroupId)]
	if !there {
		return nil, wire.Errorf("ResourceNotFoundException", "Can't find the resource with ID '%s'", aws.ToString(in.FirewallRuleGroupId))
	}
	return route53.WrittenResolver(route53.ListFirewallRulesOutput{FirewallRules: list}, nil)
}

// ListFirewallDomains lists the domains of a list. Those of AWS are shown to no account
// (Route 53 developer guide, "Managed Domain Lists").
func (s resolverAPI) ListFirewallDomains(in *route53.ResolverInput) (json.RawMessage, error) {
	defer s.w.Enter()()
	list, there := s.w.File.Route53Resolver.FirewallDomains[aws.ToString(in.FirewallDomainListId)]
	if !there {
		return nil, &wire.Error{Code: "AccessDeniedException", Message: "You don't have permission to list the domains of this list.", Status: 400}
	}
	return route53.WrittenResolver(route53.ListFirewallDomainsOutput{Domains: list}, nil)
}

// ListResolverRules lists the account's rules and the one that every account has.
func (s resolverAPI) ListResolverRules(*route53.ResolverInput) (json.RawMessage, error) {
	defer s.w.Enter()()
	list := append([]route53.ResolverRule{{Id: autodefined, DomainName: ".", RuleType: "RECURSIVE", Name: "Internet Resolver", OwnerId: "Route 53 Resolver", Status: "COMPLETE"}}, s.w.File.Route53Resolver.ResolverRules...)
	return route53.WrittenResolver(route53.ListResolverRulesOutput{ResolverRules: list}, nil)
}

const autodefined = "rslvr-autodefined-rr-internet-resolver"

// ListResolverRuleAssociations lists the rules in force; that of the resolver itself is in
// force in every VPC.
func (s resolverAPI) ListResolverRuleAssociations(in *route53.ResolverInput) (json.RawMessage, error) {
	defer s.w.Enter()()
	list := s.w.File.Route53Resolver.ResolverRuleAssociations
	for _, v := range s.w.Vpcs.All() {
		list = append(list, route53.ResolverRuleAssociation{Id: "rslvr-autodefined-assoc-" + *v.VpcId + "-internet-resolver", ResolverRuleId: autodefined, Name: "System Rule Association", VPCId: *v.VpcId, Status: "COMPLETE"})
	}
	return route53.WrittenResolver(route53.ListResolverRuleAssociationsOutput{ResolverRuleAssociations: list}.Fitting(in.Filters), nil)
}

// route53API is the world's Route 53: it has what the world's file has.
type route53API struct{ w *state.State }

// ListHostedZonesByVPC lists the private hosted zones that are associated with a VPC, and not
// those that a Profile brings: it "does not reflect the hosted zone associations to VPCs via
// Route 53 Profiles" (Route 53 API reference).
func (s route53API) ListHostedZonesByVPC(in *route53.Input) (wire.XML, error) {
	defer s.w.Enter()()
	if in.VPCId == nil || s.w.Vpcs.Get(*in.VPCId) == nil {
		return nil, wire.Errorf("InvalidInput", "The VPC %s in region %s that you provided is not authorized to make the association.", aws.ToString(in.VPCId), aws.ToString(in.VPCRegion))
	}
	out := route53.ListHostedZonesByVPCOutput{HostedZoneSummaries: s.w.File.Route53.HostedZones[*in.VPCId], MaxItems: cmp.Or(aws.ToString(in.MaxItems), "100")}
	return route53.Written("ListHostedZonesByVPC", out, nil)
}

// ListResourceRecordSets lists the records of a zone of the account.
func (s route53API) ListResourceRecordSets(in *route53.Input) (wire.XML, error) {
	defer s.w.Enter()()
	id := aws.ToString(in.HostedZoneId)
	list, there := s.w.File.Route53.ResourceRecordSets[id]
	if !there {
		return nil, &wire.Error{Code: "AccessDenied", Status: 403, Message: "User is not authorized to access this resource: hostedzone/" + id}
	}
	out := route53.ListResourceRecordSetsOutput{ResourceRecordSets: list, MaxItems: cmp.Or(aws.ToString(in.MaxItems), "300")}
	return route53.Written("ListResourceRecordSets", out, nil)
}

// profilesAPI is the world's Route 53 Profiles: it has what the world's file has.
type profilesAPI struct{ w *state.State }

// ListProfileAssociations lists the Profiles of VPCs.
func (s profilesAPI) ListProfileAssociations(in *route53.ProfilesInput) (json.RawMessage, error) {
	defer s.w.Enter()()
	all := route53.ListProfileAssociationsOutput{ProfileAssociations: s.w.File.Route53Profiles.ProfileAssociations}
	return route53.WrittenProfiles(all.Fitting(in), nil)
}

// ListProfileResourceAssociations lists what a Profile holds.
func (s profilesAPI) ListProfileResourceAssociations(in *route53.ProfilesInput) (json.RawMessage, error) {
	defer s.w.Enter()()
	list, there := s.w.File.Route53Profiles.ProfileResourceAssociations[aws.ToString(in.ProfileId)]
	if !there {
		return nil, wire.Errorf("ResourceNotFoundException", "The specified Profile %s does not exist", aws.ToString(in.ProfileId))
	}
	return route53.WrittenProfiles(route53.ListProfileResourceAssociationsOutput{ProfileResourceAssociations: list}.Fitting(in), nil)
}

// zonalShiftAPI is the world's ARC zonal shift.
type zonalShiftAPI struct{ w *state.State }

// ListZonalShifts lists the account's zonal shifts and practice runs.
func (s zonalShiftAPI) ListZonalShifts(in *zonalshift.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	return zonalshift.Written(zonalshift.ListZonalShiftsOutput{Items: s.w.ZonalShifts()}.Fitting(in), nil)
}

// ListAutoshifts lists those of the Region.
func (s zonalShiftAPI) ListAutoshifts(in *zonalshift.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	return zonalshift.Written(zonalshift.ListAutoshiftsOutput{Items: s.w.Autoshifts()}.Fitting(in), nil)
}

// ListManagedResources lists what EKS and Auto Scaling have registered.
func (s zonalShiftAPI) ListManagedResources(*zonalshift.Input) (json.RawMessage, error) {
	defer s.w.Enter()()
	var out zonalshift.ListManagedResourcesOutput
	add := func(arn, name string, autoshift bool, subnets []string) {
		r := zonalshift.ManagedResource{Arn: arn, Name: name, ZonalAutoshiftStatus: "DISABLED", PracticeRunStatus: "DISABLED", AppliedWeights: map[string]float64{}}
		if autoshift {
			r.ZonalAutoshiftStatus, r.PracticeRunStatus = "ENABLED", "ENABLED"
		}
		for _, id := range subnets {
			if sub := s.w.Subnets.Get(id); sub != nil {
				r.AvailabilityZones = append(r.AvailabilityZones, aws.ToString(sub.AvailabilityZoneId))
			}
		}
		slices.Sort(r.AvailabilityZones)
		r.AvailabilityZones = slices.Compact(r.AvailabilityZones)
		r.ZonalShifts, r.Autoshifts = s.w.ShiftsOf(arn, autoshift)
		for _, z := range r.AvailabilityZones {
			r.AppliedWeights[z] = 1
			if slices.ContainsFunc(slices.Concat(r.ZonalShifts, r.Autoshifts), func(a zonalshift.AppliedShift) bool { return a.AppliedStatus == "APPLIED" && a.AwayFrom == z }) {
				r.AppliedWeights[z] = 0
			}
		}
		out.Items = append(out.Items, r)
	}
	for _, c := range s.w.Clusters.All() {
		if state.ClusterManaged(c) {
			var subnets []string
			if c.ResourcesVpcConfig != nil {
				subnets = c.ResourcesVpcConfig.SubnetIds
			}
			add(aws.ToString(c.Arn), aws.ToString(c.Name), true, subnets)
		}
	}
	for _, g := range s.w.Groups.All() {
		if state.GroupManaged(g) {
			add(aws.ToString(g.AutoScalingGroupARN), g.Name(), s.w.GroupAutoshift(g), g.Subnets())
		}
	}
	slices.SortFunc(out.Items, func(a, b zonalshift.ManagedResource) int { return strings.Compare(a.Arn, b.Arn) })
	return zonalshift.Written(out, nil)
}
