// Package karpenter is the Karpenter controller of a simulated cluster, as far as
// it starts nodes: it reads NodePools and EC2NodeClasses, makes NodeClaims for the
// pods that wait, calls CreateFleet in its role's name, and keeps the conditions of
// all three as Karpenter v1 does. It ends what does not launch or register in time,
// and disrupts nothing else: no consolidation, drift or expiry.
//
// Sources are kubernetes-sigs/karpenter@2266468 (KC) and
// aws/karpenter-provider-aws@1d92708 (KP).
package karpenter

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/ec2"
	"rollcall/stage/simaws/eks"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/kubernetes"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/trail"
	"rollcall/stage/simaws/worldfile"
)

const (
	// settleTime is how long the controllers take from a change to what follows from
	// it: they sleep a second after each patch (KC lifecycle/controller.go).
	settleTime = time.Second
	// podTime is how often a pod that waits asks again (KC provisioning/controller.go).
	podTime = 10 * time.Second
	// sessionTime is how long a session of the controller's role is used.
	sessionTime = time.Hour
)

// Controller is Karpenter in one cluster. Its methods are called with the state
// unlocked, one at a time; those whose names begin with "held" within what holds it.
type Controller struct {
	w *state.State
	k *kubestate.Cluster
	f worldfile.KarpenterFile
	// next is when it acts next; zero where nothing is planned.
	next    time.Time
	acting  bool
	changed bool
	claims  []*claim
	classes map[string]*class
	// pools has of each NodePool how its last launches ended, newest last.
	pools map[string][]bool
	// unavailable are offerings that EC2 had none of, until when.
	unavailable map[offering]time.Time
	// failed is when a pod was last told that it fits no NodePool, by its uid.
	failed map[string]time.Time
	// shifted are zones by NodePool of which it was said that they are shifted away from.
	shifted map[string]bool
}

// Load starts the controllers that a file has.
func Load(w *state.State, f *worldfile.File) error {
	for _, name := range slices.Sorted(maps.Keys(f.Kubernetes)) {
		file := f.Kubernetes[name].Karpenter
		k := w.Kubernetes[name]
		if file == nil || k == nil {
			continue
		}
		c := &Controller{
			w: w, k: k, f: *file, classes: map[string]*class{}, pools: map[string][]bool{}, unavailable: map[offering]time.Time{}, failed: map[string]time.Time{}, shifted: map[string]bool{},
		}
		c.f.Role, c.f.Version = cmp.Or(c.f.Role, "karpenter"), cmp.Or(c.f.Version, "1.14.1")
		for _, plural := range []string{"nodepools", "nodeclaims", "ec2nodeclasses"} {
			if k.Objects[plural] == nil {
				k.Objects[plural] = []map[string]any{}
			}
		}
		for _, o := range k.Objects["nodeclaims"] {
			c.claims = append(c.claims, adopted(o))
		}
		k.Watch = func() { c.heldWake(c.settleTime()) }
		c.heldWake(c.settleTime())
	}
	return nil
}

// adopted is a NodeClaim that was there at the start, with an instance.
func adopted(o map[string]any) *claim {
	spec := specOf[struct{ NodeClassRef classRef }](o)
	x := &claim{object: o, name: text(o, "metadata", "name"), pool: text(o, "metadata", "labels", labelPool), class: spec.NodeClassRef.Name, labels: map[string]string{}, tagged: true}
	labels, _ := kubestate.At(o, "metadata", "labels").(map[string]any)
	for key, value := range labels {
		x.labels[key] = fmt.Sprint(value)
	}
	provider := text(o, "status", "providerID")
	x.instance = provider[strings.LastIndex(provider, "/")+1:]
	return x
}

func (c *Controller) settleTime() time.Time { return c.w.Now.Add(settleTime) }

// heldWake has the controller act at a time, unless it does so before.
func (c *Controller) heldWake(at time.Time) {
	if c.acting {
		c.changed = true
		return
	}
	if !c.next.IsZero() && !at.Before(c.next) {
		return
	}
	c.next = at
	c.w.CallAt(at, func() {
		release := c.w.Enter()
		mine := c.next.Equal(at)
		if mine {
			c.next, c.acting, c.changed = time.Time{}, true, false
		}
		release()
		if mine {
			c.act()
		}
	})
}

// act is one turn of all controllers.
func (c *Controller) act() {
	again := c.reconcileClasses()
	c.locked(c.heldPools)
	c.locked(c.heldProvision)
	again = earliest(again, c.reconcileClaims())
	c.locked(func() {
		c.acting = false
		if c.changed {
			again = earliest(again, c.settleTime())
		}
		if c.heldWaiting() {
			again = earliest(again, c.w.Now.Add(podTime))
		}
		if !again.IsZero() {
			c.heldWake(again)
		}
	})
}

func (c *Controller) locked(f func()) {
	defer c.w.Enter()()
	f()
}

// earliest is the earlier of two times of which each may be none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// session is the ARN of the role's session: a pod's is called after the nanosecond
// in which it was assumed.
func (c *Controller) session() string {
	began := c.w.Now.Truncate(sessionTime)
	return "arn:aws:sts::" + c.w.Account + ":assumed-role/" + c.f.Role + "/" + strconv.FormatInt(began.UnixNano()+int64(908_908*ids.Chance(c.f.Role, began.String())), 10)
}

// api is EC2 as the controller has it.
func (c *Controller) api() ec2.API { return ec2.For(c.w, c.session()) }

// record has CloudTrail keep a call of the controller.
func (c *Controller) record(operation string, in, out any, err error) {
	var provider string
	c.locked(func() { provider = c.heldProvider() })
	call := trail.Call{
		Operation: operation, CallerARN: c.session(), Input: in, Err: err, SourceIP: "52.10.20.30", Federated: provider,
		// kubernetes-sigs/karpenter#2813 has it of Karpenter 1.5.0.
		UserAgent: "aws-sdk-go-v2/1.36.3 ua/2.1 os/linux lang/go#1.24.2 md/GOOS#linux md/GOARCH#arm64 api/ec2#1.215.0 karpenter.sh-" + c.f.Version + " m/h",
	}
	if err == nil {
		call.Output = out
	}
	trail.Record(c.w, call)
}

// heldProvider is the ARN of the cluster's OIDC provider.
func (c *Controller) heldProvider() string {
	issuer := "oidc.eks." + c.w.Region + ".amazonaws.com/id/" + strings.ToUpper(ids.SHA256(c.k.Name)[:32])
	if cluster := c.w.Clusters.Get(c.k.Name); cluster != nil && cluster.Identity != nil && cluster.Identity.Oidc != nil && cluster.Identity.Oidc.Issuer != nil {
		issuer = strings.TrimPrefix(aws.ToString(cluster.Identity.Oidc.Issuer), "https://")
	}
	return "arn:aws:iam::" + c.w.Account + ":oidc-provider/" + issuer
}

const (
	yes     = "True"
	no      = "False"
	unknown = "Unknown"
)

// The kinds, and the conditions that make each Ready (KC pkg/apis/v1, KP pkg/apis/v1).
const (
	kindClaim = "NodeClaim"
	kindPool  = "NodePool"
	kindClass = "EC2NodeClass"
)

func dependents(kind string) []string {
	return map[string][]string{
		kindClaim: {"Initialized", "Launched", "Registered"},
		kindPool:  {"NodeClassReady", "ValidationSucceeded"},
		kindClass: {"AMIsReady", "InstanceProfileReady", "SecurityGroupsReady", "SubnetsReady", "ValidationSucceeded"},
	}[kind]
}

// condition is a condition as it stands.
type condition struct {
	status, reason, message string
	since                   time.Time
	generation              int64
}

// conditionOf is a condition of an object; one that is not there is Unknown.
func conditionOf(o map[string]any, name string) condition {
	list, _ := kubestate.At(o, "status", "conditions").([]any)
	for _, item := range list {
		if kubestate.At(item, "type") != name {
			continue
		}
		c := condition{status: text(item, "status"), reason: text(item, "reason"), message: text(item, "message")}
		c.generation, _ = kubestate.At(item, "observedGeneration").(int64)
		c.since, _ = time.Parse(time.RFC3339, text(item, "lastTransitionTime"))
		return c
	}
	return condition{status: unknown}
}

func text(o any, keys ...string) string {
	s, _ := kubestate.At(o, keys...).(string)
	return s
}

// heldSet writes a condition, with what it makes of Ready, and emits a change of
// its status as Karpenter does (awslabs/operatorpkg status/controller.go). The time
// of its transition is that of its status.
func (c *Controller) heldSet(kind string, o map[string]any, name, status, reason, message string) {
	if status == yes {
		reason, message = name, ""
	}
	if !c.heldWrite(kind, o, name, status, reason, message) {
		return
	}
	if slices.Contains(dependents(kind), name) {
		c.heldRoll(kind, o)
	}
	c.k.Touch(o)
}

// heldInit gives a new object its conditions.
func (c *Controller) heldInit(kind string, o map[string]any) {
	for _, name := range append(dependents(kind), "Ready") {
		if conditionOf(o, name).reason == "" {
			c.heldWrite(kind, o, name, unknown, "AwaitingReconciliation", "object is awaiting reconciliation")
		}
	}
}

// heldRoll writes Ready: it is False where one of the others is, else Unknown where
// one is not True.
func (c *Controller) heldRoll(kind string, o map[string]any) {
	var not []string
	status, reason := yes, "Ready"
	for _, name := range dependents(kind) {
		switch s := conditionOf(o, name).status; {
		case s == yes:
			continue
		case s == no:
			status, reason = no, "UnhealthyDependents"
			not = append(not, name+"="+s)
		default:
			if status == yes {
				status, reason = unknown, "ReconcilingDependents"
			}
			not = append(not, name+"="+s)
		}
	}
	c.heldWrite(kind, o, "Ready", status, reason, strings.Join(not, ", "))
}

func (c *Controller) heldWrite(kind string, o map[string]any, name, status, reason, message string) bool {
	st, ok := o["status"].(map[string]any)
	if !ok {
		st = map[string]any{}
		o["status"] = st
	}
	now, generation := kubestate.Time(c.w.Now), kubestate.Generation(o)
	list, _ := st["conditions"].([]any)
	for _, item := range list {
		have, ok := item.(map[string]any)
		if !ok || have["type"] != name {
			continue
		}
		if have["status"] == status && have["reason"] == reason && have["message"] == message && have["observedGeneration"] == generation {
			return false
		}
		if have["status"] != status {
			have["lastTransitionTime"] = now
			c.heldTransition(kind, o, name, fmt.Sprint(have["status"]), status, reason, message)
		}
		have["status"], have["reason"], have["message"], have["observedGeneration"] = status, reason, message, generation
		return true
	}
	st["conditions"] = append(list, map[string]any{
		"type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": now, "observedGeneration": generation,
	})
	return true
}

func (c *Controller) heldTransition(kind string, o map[string]any, name, from, to, reason, message string) {
	said := fmt.Sprintf("Status condition transitioned, Type: %s, Status: %s -> %s, Reason: %s", name, from, to, reason)
	if message != "" {
		said += ", Message: " + message
	}
	c.heldSay(kind, o, name, "Normal", said)
}

// heldSay tells an event of the controller.
func (c *Controller) heldSay(kind string, o map[string]any, reason, level, message string) {
	c.k.Say(o, kind, "karpenter", reason, level, message, c.w.Now)
}

// failureKind is what Karpenter does about a launch that failed
// (KC lifecycle/launch.go).
type failureKind string

const (
	none failureKind = ""
	// short: there is no capacity. An event, and the NodeClaim is deleted at once.
	short failureKind = "insufficient capacity"
	// unresolved: the class is gone, which counts as no capacity.
	unresolved failureKind = "class not found"
	// notReady: the class is not ready. The NodeClaim is deleted without a word.
	notReady failureKind = "class not ready"
	// refused: anything else. Launched stays Unknown with the reason, and it is tried
	// again until the launch timeout.
	refused failureKind = "refused"
)

// failure is why a launch failed.
type failure struct {
	kind failureKind
	// text is the error, for the event of a shortage.
	text            string
	reason, message string
}

// shortCodes are those that mean a shortage (KP pkg/errors,
// unfulfillableCapacityErrorCodes and IsServiceLinkedRoleCreationNotPermitted).
func shortCodes() []string {
	return []string{
		"InsufficientInstanceCapacity", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded", "UnfulfillableCapacity", "Unsupported",
		"InsufficientFreeAddressesInSubnet", "MaxFleetCountExceeded", "ReservationCapacityExceeded", "AuthFailure.ServiceLinkedRoleCreationNotPermitted",
	}
}

// fleetFailure is what errors in a fleet's answer are together: a shortage only
// where each of them is one (KP pkg/providers/instance, combineFleetErrors).
func fleetFailure(errs []ec2types.CreateFleetError) failure {
	var texts []string
	all := true
	for _, e := range errs {
		if s := aws.ToString(e.ErrorCode) + ": " + aws.ToString(e.ErrorMessage); !slices.Contains(texts, s) {
			texts = append(texts, s)
		}
		all = all && slices.Contains(shortCodes(), aws.ToString(e.ErrorCode))
	}
	said := strings.Join(texts, "; ")
	if all {
		return failure{kind: short, text: "creating instance, insufficient capacity, with fleet error(s), " + said}
	}
	f := failure{kind: refused, text: said}
	f.reason, f.message = reasonOf(said)
	return f
}

// reasonOf is Karpenter's word for an error, and its sentence, in the order of
// KP pkg/errors, ToReasonMessage.
func reasonOf(said string) (reason, message string) {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(said, p) })
	}
	switch {
	case has("AuthFailure.ServiceLinkedRoleCreationNotPermitted"):
		return "SpotSLRCreationFailed", "User does not have sufficient permission to create the Spot ServiceLinkedRole to launch spot instances"
	case has("UnauthorizedOperation", "AccessDenied", "AuthFailure"):
		switch {
		case has("with an explicit deny in a permissions boundary"):
			return "Unauthorized", "User is not authorized to perform this operation due to a permission boundary"
		case has("with an explicit deny in a service control policy"):
			return "Unauthorized", "User is not authorized to perform this operation due to a service control policy"
		}
		return "Unauthorized", "User is not authorized to perform this operation because no identity-based policy allows it"
	case has("InvalidParameter") && has("belong to different networks"):
		return "SecurityGroupSubnetVPCMismatch", "Security groups and subnets must be in the same VPC."
	case has("iamInstanceProfile.name is invalid"):
		return "InstanceProfileNameInvalid", "Instance profile name used from EC2NodeClass status does not exist"
	case has("InvalidLaunchTemplateId.NotFound"):
		return "LaunchTemplateNotFound", "Launch template used for instance launch wasn't found"
	case has("User data is limited to"):
		return "UserDataSizeLimitExceeded", "Rendered user data exceeds the EC2 user data size limit"
	case has("InvalidAMIID.NotFound"):
		return "AMINotFound", "AMI used for instance launch either does not exist or you don't have permissions to use it"
	case has("RequestLimitExceeded"):
		return "RequestLimitExceeded", "Request limit exceeded"
	case has("InternalError"):
		return "InternalError", "An internal error has occurred"
	case has("MaxFleetCountExceeded"):
		return "FleetQuotaExceeded", "A fleet launch was requested but this would exceed your fleet request quota"
	case has("PendingVerification"):
		return "AccountPendingVerification", "An instance launch was requested but the request for launching resources in this region is still being verified"
	case has("MaxSpotInstanceCountExceeded"):
		return "SpotQuotaExceeded", "A spot instance launch was requested but this would exceed your spot instance quota"
	case has("VcpuLimitExceeded"):
		return "VCPULimitExceeded", "An instance was requested that would exceed your VCPU quota"
	case has("InsufficientFreeAddressesInSubnet"):
		return "InsufficientFreeAddressesInSubnet", "There are not enough free IP addresses to launch an instance in this subnet"
	}
	return "LaunchFailed", "Instance launch failed"
}

// mostSaid is where Karpenter cuts a text (KC lifecycle/launch.go, truncateMessage).
const mostSaid = 300

func truncated(s string) string {
	if len(s) < mostSaid {
		return s
	}
	return s[:mostSaid] + "..."
}

// unregistered is the taint of a node that Karpenter has not seen yet.
const unregistered = "karpenter.sh/unregistered"

// launched is an instance that a fleet brought.
type launched struct {
	id, kind, zone, capacity, image string
}

// launchRequest is what a NodeClaim asks EC2 for. NodeClaims that ask for the same at the same
// time are one call (KP pkg/batcher, CreateFleet: within 35 ms, up to 1,000).
type launchRequest struct {
	class     *class
	pool      string
	capacity  string
	offerings []offering
}

func (a launchRequest) key() string { return fmt.Sprint(a.class.name, a.pool, a.capacity, a.offerings) }

// heldAsk is what a NodeClaim asks for now, or why it cannot ask.
func (c *Controller) heldAsk(x *claim) (launchRequest, failure) {
	k, f := c.heldReady(x.class)
	if f.kind != none {
		return launchRequest{}, f
	}
	list := c.heldOfferings(k, x.labels, x.wants)
	if len(list) == 0 {
		// No call of EC2 is made (KP pkg/providers/instance, filterInstanceTypes).
		return launchRequest{}, failure{kind: short, text: "creating instance, insufficient capacity, all requested instance types were unavailable during launch"}
	}
	a := launchRequest{class: k, pool: x.pool, capacity: "on-demand"}
	if slices.ContainsFunc(list, func(o offering) bool { return o.capacity == "spot" }) {
		a.capacity = "spot"
	}
	list = slices.DeleteFunc(list, func(o offering) bool { return o.capacity != a.capacity })
	types := typesOf(list)
	a.offerings = slices.DeleteFunc(list, func(o offering) bool { return !slices.Contains(types, o.kind) })
	return a, failure{}
}

// fleet makes a call for n instances, and gives those that it brought; what the others
// failed for is the failure.
func (c *Controller) fleet(a launchRequest, n int) ([]launched, failure) {
	var configs []ec2types.FleetLaunchTemplateConfigRequest
	for _, arch := range slices.Sorted(maps.Keys(a.class.images)) {
		var overrides []ec2types.FleetLaunchTemplateOverridesRequest
		c.locked(func() { overrides = c.heldOverrides(a, arch) })
		if len(overrides) == 0 {
			continue
		}
		name, err := c.ensureTemplate(a.class, a.pool, string(overrides[0].InstanceType))
		if err != nil {
			reason, message := reasonOf(err.Error())
			return nil, failure{kind: refused, text: err.Error(), reason: reason, message: "Error getting launch template configs: " + message}
		}
		configs = append(configs, ec2types.FleetLaunchTemplateConfigRequest{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &name, Version: aws.String("$Latest")}, Overrides: overrides,
		})
	}
	in := c.fleetInput(a.class, a.pool, a.capacity, "", configs)
	in.TargetCapacitySpecification.TotalTargetCapacity = aws.Int32(int32(n))
	out, err := c.api().CreateFleet(in)
	c.record("ec2:CreateFleet", in, out, err)
	if err != nil {
		reason, message := reasonOf(err.Error())
		return nil, failure{kind: refused, text: err.Error(), reason: reason, message: "Error creating fleet request: " + message}
	}
	c.locked(func() { c.heldUnavailable(a, out.Errors) })
	var got []launched
	for _, i := range out.Instances {
		o := i.LaunchTemplateAndOverrides.Overrides
		for _, id := range i.InstanceIds {
			got = append(got, launched{id, string(i.InstanceType), aws.ToString(o.AvailabilityZone), a.capacity, aws.ToString(o.ImageId)})
		}
	}
	if len(out.Errors) == 0 {
		out.Errors = []ec2types.CreateFleetError{{ErrorCode: aws.String("too few instances returned"), ErrorMessage: aws.String("too few instances returned")}}
	}
	return got, fleetFailure(out.Errors)
}

// heldUnavailable notes what EC2 had none of.
func (c *Controller) heldUnavailable(a launchRequest, errs []ec2types.CreateFleetError) {
	for _, e := range errs {
		if o := e.LaunchTemplateAndOverrides; o != nil && o.Overrides != nil && slices.Contains(shortCodes(), aws.ToString(e.ErrorCode)) {
			c.unavailable[offering{string(o.Overrides.InstanceType), aws.ToString(o.Overrides.AvailabilityZone), a.capacity}] = c.w.Now.Add(unavailableTime)
		}
	}
}

// heldOverrides are the types of an architecture, each in one subnet of its zone: the
// one with the most free addresses.
func (c *Controller) heldOverrides(a launchRequest, arch ec2types.ArchitectureValues) []ec2types.FleetLaunchTemplateOverridesRequest {
	var out []ec2types.FleetLaunchTemplateOverridesRequest
	for _, o := range a.offerings {
		info := c.w.InstanceTypes.Get(o.kind)
		i := slices.IndexFunc(a.class.subnets, func(s *ec2types.Subnet) bool { return aws.ToString(s.AvailabilityZone) == o.zone })
		if i < 0 || info == nil || ec2types.ArchitectureValues(info.ProcessorInfo.SupportedArchitectures[0]) != arch {
			continue
		}
		out = append(out, ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType: ec2types.InstanceType(o.kind), SubnetId: a.class.subnets[i].SubnetId, ImageId: aws.String(a.class.images[arch]), AvailabilityZone: aws.String(o.zone),
			Priority: aws.Float64(float64(c.heldSize(o.kind)) / 100_000),
		})
	}
	return out
}

// fleetInput is the request (KP pkg/providers/instance, CreateFleetInputBuilder).
func (c *Controller) fleetInput(x *class, pool, capacity, template string, configs []ec2types.FleetLaunchTemplateConfigRequest) *awsec2.CreateFleetInput {
	if template != "" {
		configs = []ec2types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: &template, Version: aws.String("$Latest")},
		}}
	}
	in := &awsec2.CreateFleetInput{
		Type: ec2types.FleetTypeInstant, LaunchTemplateConfigs: configs,
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{
			DefaultTargetCapacityType: ec2types.DefaultTargetCapacityType(capacity), TotalTargetCapacity: aws.Int32(1),
		},
		TagSpecifications: tagSpecs(c.tags(x, pool), ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume, ec2types.ResourceTypeFleet),
	}
	if capacity == "spot" {
		in.SpotOptions = &ec2types.SpotOptionsRequest{AllocationStrategy: ec2types.SpotAllocationStrategyPriceCapacityOptimized}
	} else {
		in.OnDemandOptions = &ec2types.OnDemandOptionsRequest{AllocationStrategy: ec2types.FleetOnDemandAllocationStrategyLowestPrice}
	}
	return in
}

func tagSpecs(tags map[string]string, kinds ...ec2types.ResourceType) []ec2types.TagSpecification {
	var out []ec2types.TagSpecification
	for _, kind := range kinds {
		s := ec2types.TagSpecification{ResourceType: kind}
		for _, key := range slices.Sorted(maps.Keys(tags)) {
			s.Tags = append(s.Tags, ec2types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
		}
		out = append(out, s)
	}
	return out
}

// ensureTemplate makes the launch template of a class and NodePool for the
// architecture of a type, unless it is there: its name is the hash of what is in it
// (KP pkg/providers/launchtemplate).
func (c *Controller) ensureTemplate(x *class, pool, kind string) (name string, err error) {
	var in *awsec2.CreateLaunchTemplateInput
	c.locked(func() {
		data, tags := c.heldTemplate(x, pool, kind), c.tags(x, pool)
		sum, _ := hex.DecodeString(ids.SHA256(fmt.Sprint(*data.ImageId, *data.UserData, *data.IamInstanceProfile.Name, x.groups, tags))[:16])
		name = fmt.Sprintf("karpenter.k8s.aws/%d", binary.BigEndian.Uint64(sum))
		if c.w.TemplateNamed("", name) == nil {
			in = &awsec2.CreateLaunchTemplateInput{LaunchTemplateName: &name, LaunchTemplateData: data, TagSpecifications: tagSpecs(tags, ec2types.ResourceTypeLaunchTemplate)}
		}
	})
	if in == nil {
		return name, nil
	}
	out, err := c.api().CreateLaunchTemplate(in)
	c.record("ec2:CreateLaunchTemplate", in, out, err)
	if err != nil {
		return "", fmt.Errorf("creating launch template, %w", err)
	}
	return name, nil
}

func (c *Controller) heldTemplate(x *class, pool, kind string) *ec2types.RequestLaunchTemplateData {
	arch := ec2types.ArchitectureValuesX8664
	if info := c.w.InstanceTypes.Get(kind); info != nil && info.ProcessorInfo != nil {
		arch = ec2types.ArchitectureValues(info.ProcessorInfo.SupportedArchitectures[0])
	}
	labels := []string{labelPool + "=" + pool, labelClass + "=" + x.name}
	return &ec2types.RequestLaunchTemplateData{
		ImageId: aws.String(x.images[arch]),
		UserData: aws.String(withOwn(x.spec.UserData, eks.NodeConfig(c.w.Clusters.Get(c.k.Name),
			`--node-labels="`+strings.Join(labels, ",")+`"`, `--register-with-taints="`+unregistered+`:NoExecute"`))),
		IamInstanceProfile: &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: aws.String(x.profile)},
		MetadataOptions: &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{
			HttpEndpoint: ec2types.LaunchTemplateInstanceMetadataEndpointStateEnabled, HttpTokens: ec2types.LaunchTemplateHttpTokensStateRequired, HttpPutResponseHopLimit: aws.Int32(1),
		},
		NetworkInterfaces: []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{{
			DeviceIndex: aws.Int32(0), Groups: x.groups, AssociatePublicIpAddress: x.spec.AssociatePublicIPAddress,
		}},
		BlockDeviceMappings: []ec2types.LaunchTemplateBlockDeviceMappingRequest{{
			DeviceName: aws.String("/dev/xvda"), Ebs: &ec2types.LaunchTemplateEbsBlockDeviceRequest{Encrypted: aws.Bool(true), VolumeSize: aws.Int32(20),
				VolumeType: ec2types.VolumeTypeGp3},
		}},
		TagSpecifications: requestTags(c.tags(x, pool), ec2types.ResourceTypeNetworkInterface, ec2types.ResourceTypeSpotInstancesRequest),
	}
}

// withOwn puts a class's own user data before Karpenter's, as a part of the same MIME
// text (KP docs, "NodeClasses", spec.userData of AL2023).
func withOwn(own, encoded string) string {
	text, err := base64.StdEncoding.DecodeString(encoded)
	head, parts, whole := strings.Cut(string(text), "\n--//\n")
	if own == "" || err != nil || !whole {
		return encoded
	}
	return base64.StdEncoding.EncodeToString([]byte(head + "\n--//\nContent-Type: text/x-shellscript\n\n" + own + "\n\n--//\n" + parts))
}

func requestTags(tags map[string]string, kinds ...ec2types.ResourceType) []ec2types.LaunchTemplateTagSpecificationRequest {
	var out []ec2types.LaunchTemplateTagSpecificationRequest
	for _, s := range tagSpecs(tags, kinds...) {
		out = append(out, ec2types.LaunchTemplateTagSpecificationRequest{ResourceType: s.ResourceType, Tags: s.Tags})
	}
	return out
}

// terminate ends an instance; one that EC2 does not know any more is ended.
func (c *Controller) terminate(id string) {
	in := &awsec2.TerminateInstancesInput{InstanceIds: []string{id}}
	out, err := c.api().TerminateInstances(in)
	c.record("ec2:TerminateInstances", in, out, err)
	var e *wire.Error
	if err != nil && (!errors.As(err, &e) || e.Code != "InvalidInstanceID.NotFound") {
		c.w.Log.Warn("Karpenter cannot end an instance", "instance", id, "error", err)
	}
}

// tag gives an instance of a node its name and that of its NodeClaim. Both are not
// among the tags of the launch (KP controllers/nodeclaim/tagging).
func (c *Controller) tag(id, node, claim string) {
	in := &awsec2.CreateTagsInput{Resources: []string{id}, Tags: []ec2types.Tag{
		{Key: aws.String("Name"), Value: aws.String(node)}, {Key: aws.String("karpenter.sh/nodeclaim"), Value: aws.String(claim)},
	}}
	out, err := c.api().CreateTags(in)
	c.record("ec2:CreateTags", in, out, err)
	if err != nil {
		c.w.Log.Warn("Karpenter cannot tag an instance", "instance", id, "error", err)
	}
}

const (
	// launchTime and registrationTime are how long a NodeClaim may take, both from
	// its creation (KC lifecycle/liveness.go).
	launchTime       = 5 * time.Minute
	registrationTime = 15 * time.Minute
	// firstWait and mostWait are the times between tries: each is twice the last
	// (KC lifecycle/controller.go, the rate limiter).
	firstWait = time.Second
	mostWait  = time.Minute
	// endTime is how often it looks whether an instance has ended (finalize).
	endTime = 5 * time.Second
)

// claim is a NodeClaim.
type claim struct {
	object            map[string]any
	name, pool, class string
	labels            map[string]string
	wants             []requirement
	startup           []taint
	// pods are the uids of those that it is for.
	pods []string
	// tries counts the failed launches, next is when it is tried again.
	tries    int
	next     time.Time
	instance string
	tagged   bool
	// ending is set where it is being deleted.
	ending bool
}

// reconcileClaims brings the NodeClaims on, and tells when it is to look again.
func (c *Controller) reconcileClaims() (again time.Time) {
	c.launchClaims()
	var end []*claim
	tag := map[*claim]string{} // the names of nodes whose instances have no tags of it
	c.locked(func() {
		for _, x := range slices.Clone(c.claims) {
			if x.ending {
				continue
			}
			c.heldRegister(x)
			c.heldInitialize(x)
			if node := text(x.object, "status", "nodeName"); !x.tagged && node != "" {
				tag[x] = node
			}
			again = earliest(again, c.heldLiveness(x))
		}
		for _, x := range c.claims {
			if x.ending {
				end = append(end, x)
			}
		}
	})
	for _, x := range slices.Clone(c.claims) {
		if node, ok := tag[x]; ok {
			c.tag(x.instance, node, x.name)
			c.locked(func() { c.heldTagged(x) })
		}
	}
	for _, x := range end {
		again = earliest(again, c.finalize(x))
	}
	return again
}

// launchClaims launches what is due: NodeClaims that ask for the same in one call.
func (c *Controller) launchClaims() {
	type group struct {
		ask    launchRequest
		claims []*claim
	}
	var groups []*group
	c.locked(func() {
		for _, x := range slices.Clone(c.claims) {
			if x.ending || x.instance != "" || c.w.Now.Before(x.next) {
				continue
			}
			a, f := c.heldAsk(x)
			if f.kind != none {
				c.heldFailed(x, f)
				continue
			}
			i := slices.IndexFunc(groups, func(g *group) bool { return g.ask.key() == a.key() })
			if i < 0 {
				i, groups = len(groups), append(groups, &group{ask: a})
			}
			groups[i].claims = append(groups[i].claims, x)
		}
	})
	for _, g := range groups {
		got, f := c.fleet(g.ask, len(g.claims))
		c.locked(func() {
			for i, x := range g.claims {
				if i < len(got) {
					c.heldLaunched(x, got[i])
					continue
				}
				c.heldFailed(x, f)
			}
		})
	}
}

// heldFailed is a launch that failed: what is left of it hangs on why.
func (c *Controller) heldFailed(x *claim, f failure) {
	switch f.kind {
	case unresolved:
		c.heldSay(kindClaim, x.object, "", "Warning", "Failed resolving NodeClass")
		c.heldShort(x, "insufficient capacity, "+f.text)
	case short:
		c.heldShort(x, f.text)
	case notReady:
		c.heldDelete(x)
	default:
		c.heldSet(kindClaim, x.object, "Launched", unknown, f.reason, f.message)
		x.next = c.w.Now.Add(min(firstWait<<min(x.tries, 10), mostWait))
		x.tries++
	}
}

func (c *Controller) heldShort(x *claim, said string) {
	c.heldSay(kindClaim, x.object, "InsufficientCapacityError", "Warning", fmt.Sprintf("NodeClaim %s event: %s", x.name, truncated(said)))
	c.heldDelete(x)
}

func (c *Controller) heldLaunched(x *claim, l launched) {
	x.instance = l.id
	for key, value := range map[string]string{labelType: l.kind, labelZone: l.zone, labelCapacity: l.capacity} {
		x.labels[key] = value
	}
	meta, _ := x.object["metadata"].(map[string]any)
	meta["labels"] = plainOf(x.labels)
	status, _ := x.object["status"].(map[string]any)
	status["providerID"], status["imageID"] = "aws:///"+l.zone+"/"+l.id, l.image
	c.heldSet(kindClaim, x.object, "Launched", yes, "", "")
}

// heldRegister looks for the node (KC lifecycle/registration.go): it gets the labels
// and startup taints of the NodeClaim, and loses the taint that it came with.
func (c *Controller) heldRegister(x *claim) {
	if conditionOf(x.object, "Registered").status == yes {
		return
	}
	k, n := c.w.NodeOf(x.instance)
	if x.instance == "" || n == nil || k != c.k {
		c.heldSet(kindClaim, x.object, "Registered", unknown, "NodeNotFound", "Node not registered with cluster")
		return
	}
	node := *n
	meta, _ := node["metadata"].(map[string]any)
	labels, _ := meta["labels"].(map[string]any)
	for key, value := range x.labels {
		labels[key] = value
	}
	labels["karpenter.sh/registered"] = "true"
	kubestate.Untaint(node, unregistered)
	spec, _ := node["spec"].(map[string]any)
	for _, t := range x.startup {
		have, _ := spec["taints"].([]any)
		spec["taints"] = append(slices.Clone(have), plainOf(t))
	}
	status, _ := x.object["status"].(map[string]any)
	status["nodeName"] = text(node, "metadata", "name")
	c.heldSet(kindClaim, x.object, "Registered", yes, "", "")
	c.heldOutcome(x, true)
	c.k.Touch(node)
	kubernetes.Schedule(c.w, c.k)
}

// heldInitialize looks whether the node can take pods (KC lifecycle/initialization.go).
func (c *Controller) heldInitialize(x *claim) {
	if conditionOf(x.object, "Registered").status != yes || conditionOf(x.object, "Initialized").status == yes {
		return
	}
	_, n := c.w.NodeOf(x.instance)
	wait := func(reason, message string) { c.heldSet(kindClaim, x.object, "Initialized", unknown, reason, message) }
	if n == nil {
		wait("NodeNotFound", "Node not registered with cluster")
		return
	}
	taints, _ := kubestate.At(*n, "spec", "taints").([]any)
	startup := slices.IndexFunc(x.startup, func(t taint) bool {
		return slices.ContainsFunc(taints, func(have any) bool { return text(have, "key") == t.Key && text(have, "effect") == t.Effect })
	})
	switch {
	case !c.w.IsReady(x.instance):
		wait("NodeNotReady", "Node status is NotReady")
	case startup >= 0:
		t := x.startup[startup]
		said := t.Key + ":" + t.Effect
		if t.Value != "" {
			said = t.Key + "=" + t.Value + ":" + t.Effect
		}
		wait("StartupTaintsExist", fmt.Sprintf("StartupTaint %q still exists", said))
	default:
		labels, _ := kubestate.At(*n, "metadata", "labels").(map[string]any)
		labels["karpenter.sh/initialized"] = "true"
		c.k.Touch(*n)
		c.heldSet(kindClaim, x.object, "Initialized", yes, "", "")
		kubernetes.Schedule(c.w, c.k)
	}
}

func (c *Controller) heldTagged(x *claim) {
	x.tagged = true
	meta, _ := x.object["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	annotations["karpenter.k8s.aws/tagged"] = "true"
	c.k.Touch(x.object)
}

// heldLiveness ends a NodeClaim that takes too long, or whose instance has gone, and
// tells when it is to be looked at again.
func (c *Controller) heldLiveness(x *claim) (again time.Time) {
	registered := conditionOf(x.object, "Registered")
	in := c.w.Instances.Get(x.instance)
	switch {
	case registered.status == yes:
		if in == nil || in.State.Name == ec2types.InstanceStateNameTerminated {
			c.heldDelete(x) // KC nodeclaim/garbagecollection
		}
		return time.Time{}
	case x.instance == "" && !c.w.Now.Before(conditionOf(x.object, "Launched").since.Add(launchTime)),
		!c.w.Now.Before(registered.since.Add(registrationTime)):
		c.heldOutcome(x, false)
		c.heldDelete(x)
		return c.w.Now.Add(settleTime)
	case x.instance == "":
		return earliest(x.next, conditionOf(x.object, "Launched").since.Add(launchTime))
	}
	return registered.since.Add(registrationTime)
}

// heldDelete begins to delete a NodeClaim: its pods wait again.
func (c *Controller) heldDelete(x *claim) {
	if x.ending {
		return
	}
	x.ending, x.pods = true, nil
	meta, _ := x.object["metadata"].(map[string]any)
	meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = kubestate.Time(c.w.Now), int64(0)
	c.k.Touch(x.object)
}

// finalize ends a deleted NodeClaim's instance, and lets the object go once EC2 says
// that it is ended: all that its conditions said goes with it.
func (c *Controller) finalize(x *claim) (again time.Time) {
	var running bool
	c.locked(func() {
		in := c.w.Instances.Get(x.instance)
		switch {
		case in == nil || in.State.Name == ec2types.InstanceStateNameTerminated:
			c.k.Delete("nodeclaims", x.object)
			c.claims = slices.DeleteFunc(c.claims, func(other *claim) bool { return other == x })
			return
		case !state.Ended(in):
			running = true
			kubernetes.Drain(c.w, x.instance)
			c.heldSet(kindClaim, x.object, "InstanceTerminating", yes, "", "")
		}
		again = c.w.Now.Add(endTime)
	})
	if running {
		c.terminate(x.instance)
	}
	return again
}
