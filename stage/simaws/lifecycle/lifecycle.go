package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/kubernetes"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/nodegroup"
	"rollcall/stage/simaws/reach"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/trail"
	"rollcall/stage/simaws/worldfile"
)

// FleetOffer is a type in a subnet that a fleet may start.
type FleetOffer struct{ Type, Subnet, Image string }

// serverError is the HTTP status of what EC2 itself cannot do now: CloudTrail writes
// such a code with "Server." before it.
const serverError = 500

// InOrder is the order in which EC2 tries what a fleet may start. On demand it is
// the cheapest first ("lowest-price"); of Spot the half of the pools that have the
// most room, the cheapest of them first, and then the others
// ("price-capacity-optimized"; EC2 user guide, "Use allocation strategies"). That a
// pool is empty it learns as it asks it: why else would fleets that brought
// instances tell of errors (aws/karpenter-provider-aws#5850).
func InOrder(w *state.State, list []FleetOffer, spot bool) []FleetOffer {
	type ranked struct {
		FleetOffer
		offer
	}
	var pools []ranked
	for _, o := range list {
		pools = append(pools, ranked{o, offers(w, []string{o.Type}, zoneOf(w, o.Subnet), spot)[0]})
	}
	cheaper := func(a, b ranked) int { return cmp.Compare(a.price, b.price) }
	if !spot {
		// A vCPU costs the same in each zone, whatever Spot costs there.
		cheaper = func(a, b ranked) int { return vcpus(w, a.Type) - vcpus(w, b.Type) }
	}
	half := 0
	if spot {
		slices.SortStableFunc(pools, func(a, b ranked) int { return cmp.Compare(b.guess, a.guess) })
		half = (len(pools) + 1) / 2
	}
	slices.SortStableFunc(pools[:half], cheaper)
	slices.SortStableFunc(pools[half:], cheaper)
	var out []FleetOffer
	for _, p := range pools {
		out = append(out, p.FleetOffer)
	}
	return out
}

// PoolRefusal is why a pool gives a fleet no instance now, nil where it does.
func PoolRefusal(w *state.State, o FleetOffer, spot bool) error {
	zone := zoneOf(w, o.Subnet)
	switch limit := w.File.Spot.VCPULimit; {
	case offers(w, []string{o.Type}, zone, spot)[0].full && spot:
		return &wire.Error{Code: "InsufficientInstanceCapacity", Status: serverError, Message: "There is no Spot capacity available that matches your request."}
	case offers(w, []string{o.Type}, zone, spot)[0].full:
		e := wire.Errorf("InsufficientInstanceCapacity", "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). "+
			"Our system will be working on provisioning additional capacity.", o.Type, zone)
		e.Status = serverError
		return e
	case spot && limit > 0 && runningVCPUs(w, true)+vcpus(w, o.Type) > limit:
		return wire.Errorf("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
	}
	return nil
}

// RequiresTokens reports whether the metadata service of what is launched wants session
// tokens: here each does that is neither switched off nor set to optional.
func (s InstanceSpec) RequiresTokens() bool {
	return s.tokens != ec2types.HttpTokensStateOptional && s.metadata != ec2types.InstanceMetadataEndpointStateDisabled
}

// registerLater has a running instance try to join once it has booted.
func registerLater(w *state.State, id string) {
	in := w.Instances.Get(id)
	if in == nil || w.Kubernetes[w.ClusterOf(id)] == nil {
		return
	}
	if g := w.GroupOf(id); g != nil && warmMember(w, g, id) != nil {
		return
	}
	at := in.LaunchTime.Add(time.Duration(w.File.Nodes.BootSeconds)*time.Second + bootSpread(w, id))
	w.After(at.Sub(w.Now), func() { register(w, id) })
}

// bootSpread is how much longer than the fastest a node boots: no two do it in
// the same time.
func bootSpread(w *state.State, id string) time.Duration {
	return time.Duration(w.File.Nodes.BootSpreadSeconds*ids.Chance(id)) * time.Second
}

// register makes the Node object if the instance can reach what it needs.
func register(w *state.State, id string) {
	in := w.Instances.Get(id)
	k := w.Kubernetes[w.ClusterOf(id)]
	if in == nil || k == nil || in.State.Name != ec2types.InstanceStateNameRunning {
		return
	}
	if _, n := w.NodeOf(id); n != nil {
		return
	}
	e := exceptionFor(w, w.GroupOf(id), id)
	if e != nil && e.NeverRegisters {
		return
	}
	if _, bad := reach.Broken(reach.Paths(w, id)); bad || reach.BootFaultOf(w, in) != "" {
		if w.File.Nodes.Retry {
			w.After(joinRetryTime, func() { register(w, id) })
		}
		return
	}
	node := kubernetes.NodeObject(w, in)
	kubernetes.PutNode(w, k, in, node)
	k.NodeEvent(node, "node-controller", "RegisteredNode", fmt.Sprintf("Node %v event: Registered Node %[1]v in Controller", state.NodeName(in)), w.Now)
	w.After(time.Duration(w.File.Nodes.ReadySeconds)*time.Second, func() { ready(w, id) })
}

// joinRetryTime is how long a bootstrap that tries again waits.
const joinRetryTime = 30 * time.Second

// ready starts the VPC CNI on a registered node; the node is Ready when the
// CNI has an address for pods.
func ready(w *state.State, id string) {
	in := w.Instances.Get(id)
	k, n := w.NodeOf(id)
	if in == nil || n == nil || state.Ended(in) {
		return
	}
	if e := exceptionFor(w, w.GroupOf(id), id); e != nil && e.NeverReady != nil {
		kubestate.SetReady(*n, false, e.NeverReady.Reason, e.NeverReady.Message, w.Now)
		k.Touch(*n)
		return
	}
	if !kubernetes.StartCNI(w, k, in) {
		kubestate.SetReady(*n, false, "KubeletNotReady", kubernetes.CNIMissing, w.Now)
		k.Touch(*n)
		if !state.IsAutoMode(in) { // whose plugin is no pod
			k.CNICrashes(in, *n, w.Now)
		}
		w.After(joinRetryTime, func() { ready(w, id) })
		return
	}
	k.CNIRuns(*n, w.Now)
	kubernetes.PlacePods(w, k, in, *n)
	kubestate.SetReady(*n, true, "KubeletReady", "kubelet is posting ready status", w.Now)
	k.Touch(*n)
	k.NodeEvent(*n, "kubelet", "NodeReady", fmt.Sprintf("Node %s status is now: NodeReady", state.NodeName(in)), w.Now)
	nodeJoined(w, id)
	kubernetes.Schedule(w, k)
}

// nodeJoined is EKS seeing the node Ready: it completes the launch hook.
func nodeJoined(w *state.State, id string) {
	g := w.GroupOf(id)
	if g == nil {
		return
	}
	if wait := g.Waits[id]; wait != nil && wait.Hook == LaunchHook {
		CompleteHook(w, g, id, "CONTINUE")
	}
	if ng := w.NodegroupOf(id); ng != nil {
		nodegroup.Joined(w, ng, id)
	}
}

// exceptionFor is the fate that the world wrote for a group's instance, nil
// where it is an ordinary one.
func exceptionFor(w *state.State, g *state.Group, id string) *worldfile.NodeException {
	if g == nil {
		return nil
	}
	for i := range w.File.Nodes.Exceptions {
		e := &w.File.Nodes.Exceptions[i]
		if e.AutoScalingGroup != "" && e.AutoScalingGroup != g.Name() {
			continue
		}
		if e.Nodegroup != "" && e.Nodegroup != g.Tag("eks:nodegroup-name") {
			continue
		}
		if e.Times == 0 || slices.Index(g.Launched, id) < e.Times {
			return e
		}
	}
	return nil
}

// The roles that are linked to services, and the services.
const (
	scalingRole      = "AWSServiceRoleForAutoScaling"
	scalingPrincipal = "autoscaling.amazonaws.com"
	nodegroupRole    = "AWSServiceRoleForAmazonEKSNodegroup"
	eksPrincipal     = "eks-nodegroup.amazonaws.com"
)

// groupLaunched is Auto Scaling's own call for an instance. It is found by the
// subnet and the security groups too, as launches are.
func groupLaunched(w *state.State, in *ec2types.Instance, groups []string) {
	var items []any
	for _, g := range groups {
		items = append(items, map[string]any{"groupId": g})
	}
	instance := map[string]any{"instanceId": aws.ToString(in.InstanceId), "imageId": aws.ToString(in.ImageId), "subnetId": aws.ToString(in.SubnetId), "vpcId": aws.ToString(in.VpcId)}
	trail.RecordServiceCall(w, "ec2:RunInstances", scalingRole, scalingPrincipal,
		map[string]any{"subnetId": aws.ToString(in.SubnetId), "instanceType": string(in.InstanceType), "groupSet": map[string]any{"items": items}},
		map[string]any{"instancesSet": map[string]any{"items": []any{instance}}})
}

// endForGroup ends an instance as Auto Scaling does.
func endForGroup(w *state.State, id string) {
	trail.RecordServiceCall(w, "ec2:TerminateInstances", scalingRole, scalingPrincipal,
		map[string]any{"instancesSet": map[string]any{"items": []any{map[string]any{"instanceId": id}}}}, nil)
	Terminate(w, id, UserShutdown())
}

// GroupResized is EKS's own call for the group of a nodegroup whose size
// was changed.
func GroupResized(w *state.State, g *state.Group) {
	number := func(n *int32) float64 { return float64(aws.ToInt32(n)) }
	trail.RecordServiceCall(w, "autoscaling:UpdateAutoScalingGroup", nodegroupRole, eksPrincipal, map[string]any{
		"autoScalingGroupName": g.Name(), "minSize": number(g.MinSize), "maxSize": number(g.MaxSize), "desiredCapacity": number(g.DesiredCapacity),
	}, nil)
}

// stopTime is how long a warm instance takes to stop.
const stopTime = 10 * time.Second

func warmMember(w *state.State, g *state.Group, id string) *astypes.Instance {
	for i := range g.Warm {
		if aws.ToString(g.Warm[i].InstanceId) == id {
			return &g.Warm[i]
		}
	}
	return nil
}

// warmTarget is how many instances a group keeps warm: what lies between the
// desired capacity and the prepared capacity, and at least the pool's minimum.
func warmTarget(g *state.Group) int {
	c := g.WarmPoolConfiguration
	if c == nil || c.Status == astypes.WarmPoolStatusPendingDelete {
		return 0
	}
	prepared := aws.ToInt32(g.MaxSize)
	if c.MaxGroupPreparedCapacity != nil && *c.MaxGroupPreparedCapacity >= 0 {
		prepared = *c.MaxGroupPreparedCapacity
	}
	return int(max(prepared-aws.ToInt32(g.DesiredCapacity), aws.ToInt32(c.MinSize), 0))
}

// FillWarmPool launches or ends warm instances until the pool has its size.
func FillWarmPool(w *state.State, g *state.Group) {
	want := warmTarget(g)
	for n := want - len(g.Warm); n > 0; n-- {
		cause := cause(w, g, "an instance was started in response to a difference between the warm pool's desired and actual size, increasing the size from %d to %d.", len(g.Warm), want)
		if !launchInGroup(w, g, cause, true) {
			return
		}
	}
	for len(g.Warm) > want {
		id := aws.ToString(g.Warm[len(g.Warm)-1].InstanceId)
		g.DropMember(id)
		Terminate(w, id, UserShutdown())
	}
	g.WarmPoolSize = nil
	if g.WarmPoolConfiguration != nil {
		g.WarmPoolSize = aws.Int32(int32(len(g.Warm)))
	}
}

// warmed ends the launch of a warm instance: it waits, stopped or running.
func warmed(w *state.State, g *state.Group, id string) {
	m, in := warmMember(w, g, id), w.Instances.Get(id)
	if m == nil || in == nil {
		return
	}
	if a := g.OpenActivity(id); a != nil {
		finish(w, a, astypes.ScalingActivityStatusCodeSuccessful, "")
		w.EmitActivity("EC2 Instance Launch Successful", g, a, "InProgress")
	}
	if g.WarmPoolConfiguration != nil && g.WarmPoolConfiguration.PoolState == astypes.WarmPoolStateRunning {
		m.LifecycleState = astypes.LifecycleStateWarmedRunning
		return
	}
	m.LifecycleState = astypes.LifecycleStateWarmedStopped
	in.State = state.InstanceState(ec2types.InstanceStateNameStopping)
	w.EmitState(id, "stopping")
	w.After(stopTime, func() {
		if in.State.Name == ec2types.InstanceStateNameStopping {
			in.State = state.InstanceState(ec2types.InstanceStateNameStopped)
			w.EmitState(id, "stopped")
		}
	})
}

// useWarm takes an instance out of the warm pool instead of launching one.
func useWarm(w *state.State, g *state.Group, cause string) bool {
	for i := range g.Warm {
		m := g.Warm[i]
		id := aws.ToString(m.InstanceId)
		in := w.Instances.Get(id)
		running := m.LifecycleState == astypes.LifecycleStateWarmedRunning
		if in == nil || (!running && in.State.Name != ec2types.InstanceStateNameStopped) {
			continue
		}
		g.DropMember(id)
		m.LifecycleState = astypes.LifecycleStatePending
		g.Instances = append(g.Instances, m)
		a := &state.Activity{Instance: id, Origin: "WarmPool", Destination: "AutoScalingGroup"}
		a.Cause = aws.String(cause)
		a.Description = aws.String("Launching a new EC2 instance from warm pool: " + id)
		a.Details = aws.String(details(w, aws.ToString(in.SubnetId)))
		a.StatusCode = astypes.ScalingActivityStatusCodePreInService
		a.Progress = aws.Int32(30)
		record(w, g, a)
		in.LaunchTime = aws.Time(w.Now.Truncate(time.Second))
		if hookFor(w, g, state.TransitionLaunching) != nil {
			w.After(hookTime, func() { waitInHook(w, g, id, state.TransitionLaunching, "WarmPool", "AutoScalingGroup") })
		}
		if running {
			w.After(hookTime, func() { groupInstanceRunning(w, id) })
			return true
		}
		in.State = state.InstanceState(ec2types.InstanceStateNamePending)
		w.EmitState(id, "pending")
		w.After(w.RunningTime(), func() { BecomeRunning(w, id) })
		return true
	}
	return false
}

// ZoneFault is what is wrong with a zone now, nil where nothing is.
func ZoneFault(w *state.State, zone string) *worldfile.ZoneFault {
	for i := range w.File.EC2.ZoneFaults {
		f := &w.File.EC2.ZoneFaults[i]
		from := w.Start.Add(f.From)
		if f.Zone == zone && !w.Now.Before(from) && (f.For == 0 || w.Now.Before(from.Add(f.For))) {
			return f
		}
	}
	return nil
}

// Offers reports whether a zone has a type at all.
func Offers(w *state.State, zone, instanceType string) bool {
	return !slices.Contains(w.File.EC2.NotOffered[zone], instanceType)
}

// offering are the zones of the world's subnets that have a type.
func offering(w *state.State, instanceType string) []string {
	var list []string
	for _, s := range w.Subnets.All() {
		if zone := aws.ToString(s.AvailabilityZone); Offers(w, zone, instanceType) && !slices.Contains(list, zone) {
			list = append(list, zone)
		}
	}
	slices.Sort(list)
	return list
}

// refusedByZone is why a zone takes no launch, nil where it does. The words of the
// first are EC2's (aws-parallelcluster issue 2204 and re:Post "instance type is not
// supported in your requested Availability Zone").
func refusedByZone(w *state.State, zone, instanceType string) error {
	if !Offers(w, zone, instanceType) {
		return wire.Errorf("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s). Please retry your request by not specifying an Availability Zone or choosing %s.",
			instanceType, zone, strings.Join(offering(w, instanceType), ", "))
	}
	f := ZoneFault(w, zone)
	if f == nil || f.Launches == "" {
		return nil
	}
	if f.Launches == "InsufficientInstanceCapacity" {
		return wire.Errorf(f.Launches, "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s). Our system will be working on provisioning additional capacity.", instanceType, zone)
	}
	return wire.Errorf(f.Launches, "Your requested launch in the Availability Zone %s cannot be fulfilled at the moment.", zone)
}
