package lifecycle

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/kubernetes"
	"rollcall/stage/simaws/nodegroup"
	"rollcall/stage/simaws/state"
)

const (
	// LaunchHook is the hook that EKS puts on a managed nodegroup's group; EKS
	// completes it when the node is Ready.
	LaunchHook = "Launch-LC-Hook"

	// ReconcileTime is how long a group takes to act on a new capacity.
	ReconcileTime = 2 * time.Second
	// healthCheckTime is how long a group takes to see that an instance ended.
	healthCheckTime = 30 * time.Second
	// drainTime is how long EKS takes to drain a node that its group ends.
	drainTime = 5 * time.Second
	// Failed launches are tried again after 30 s, doubling up to 10 minutes.
	retryTime    = 30 * time.Second
	retryTimeMax = 10 * time.Minute
)

// cause is the text of the next activity: what was noted, and this.
func cause(w *state.State, g *state.Group, format string, args ...any) string {
	last := "At " + w.Now.UTC().Format(time.RFC3339) + " " + fmt.Sprintf(format, args...)
	return strings.Join(append(slices.Clone(g.Because), last), "  ")
}

// SetCapacity changes a group's desired capacity and has it act on it.
func SetCapacity(w *state.State, g *state.Group, desired int32) {
	g.DesiredCapacity = aws.Int32(desired)
	ReconcileLater(w, g, ReconcileTime)
}

// ReconcileLater has a group act after d, unless it does so before.
func ReconcileLater(w *state.State, g *state.Group, d time.Duration) {
	at := w.Now.Add(d)
	if !g.Next.IsZero() && !at.Before(g.Next) {
		return
	}
	g.Next = at
	w.After(d, func() {
		if g.Next.Equal(at) {
			g.Next = time.Time{}
			reconcile(w, g)
		}
	})
}

// reconcile starts or ends instances until the group has what it should.
func reconcile(w *state.State, g *state.Group) {
	if w.File.AutoScaling.Still {
		return
	}
	have, want := g.Capacity(), int(aws.ToInt32(g.DesiredCapacity))
	switch {
	case have < want:
		scaleOut(w, g, have, want)
	case have > want:
		scaleIn(w, g, have, want)
	}
	g.Because = nil
	FillWarmPool(w, g)
}

func scaleOut(w *state.State, g *state.Group, have, want int) {
	if g.Suspended("Launch") {
		return
	}
	missing := want - have
	for range missing {
		text := cause(w, g, "an instance was started in response to a difference between desired and actual capacity, increasing the capacity from %d to %d.", have, want)
		if g.Replacing > 0 {
			g.Replacing--
			text = cause(w, g, "an instance was launched in response to an unhealthy instance needing to be replaced.")
		}
		if useWarm(w, g, text) {
			continue
		}
		if !launchInGroup(w, g, text, false) {
			// One failure stands for the rest: the group waits before it tries
			// again, longer each time.
			g.Failures++
			wait := retryTime << min(g.Failures-1, 10)
			ReconcileLater(w, g, min(wait, retryTimeMax))
			return
		}
	}
}

func scaleIn(w *state.State, g *state.Group, have, want int) {
	if g.Suspended("Terminate") {
		return
	}
	for n := have - want; n > 0; n-- {
		victim := chooseVictim(w, g)
		if victim == "" {
			return
		}
		text := cause(w, g, "an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from %d to %d.", have, want)
		text += "  At " + w.Now.UTC().Format(time.RFC3339) + " instance " + victim + " was selected for termination."
		EndInGroup(w, g, victim, text)
	}
}

// chooseVictim picks by the default policy, cut short: the zone with the most
// instances, and in it the oldest that is not protected.
func chooseVictim(w *state.State, g *state.Group) string {
	count := map[string]int{}
	for _, i := range g.Instances {
		if !strings.HasPrefix(string(i.LifecycleState), "Terminat") {
			count[aws.ToString(i.AvailabilityZone)]++
		}
	}
	best, bestCount := "", -1
	for _, i := range g.Instances {
		if strings.HasPrefix(string(i.LifecycleState), "Terminat") || aws.ToBool(i.ProtectedFromScaleIn) || g.IsReplaced(aws.ToString(i.InstanceId)) {
			continue
		}
		if n := count[aws.ToString(i.AvailabilityZone)]; n > bestCount {
			best, bestCount = aws.ToString(i.InstanceId), n
		}
	}
	return best
}

// record begins a scaling activity.
func record(w *state.State, g *state.Group, a *state.Activity) {
	a.ActivityId = aws.String(w.IDs.UUID())
	a.AutoScalingGroupName = g.AutoScalingGroupName
	a.AutoScalingGroupARN = g.AutoScalingGroupARN
	a.StartTime = aws.Time(w.Now)
	g.Activities = append(g.Activities, a)
}

func finish(w *state.State, a *state.Activity, status astypes.ScalingActivityStatusCode, message string) {
	a.StatusCode = status
	a.EndTime = aws.Time(w.Now)
	a.Progress = aws.Int32(100)
	if message != "" {
		a.StatusMessage = aws.String(message)
	}
}

// EndInGroup begins to terminate an instance of a group, and returns the
// activity about it.
func EndInGroup(w *state.State, g *state.Group, id, cause string) *state.Activity {
	m := g.Member(id)
	if m == nil {
		return nil
	}
	if open := g.OpenActivity(id); open != nil {
		finish(w, open, astypes.ScalingActivityStatusCodeCancelled, "")
	}
	a := &state.Activity{Instance: id, Origin: "AutoScalingGroup", Destination: "EC2"}
	a.Cause = aws.String(cause)
	a.Description = aws.String("Terminating EC2 instance: " + id)
	subnet := ""
	if in := w.Instances.Get(id); in != nil {
		subnet = aws.ToString(in.SubnetId)
	}
	a.Details = aws.String(details(w, subnet))
	a.StatusCode = astypes.ScalingActivityStatusCodeInProgress
	a.Progress = aws.Int32(0)
	record(w, g, a)
	delete(g.Waits, id)
	m.LifecycleState = astypes.LifecycleStateTerminating
	if hookFor(w, g, state.TransitionTerminating) != nil {
		waitInHook(w, g, id, state.TransitionTerminating, "AutoScalingGroup", "EC2")
		return a
	}
	endForGroup(w, id)
	return a
}

// groupInstanceRunning moves an instance on once EC2 says it runs, unless a
// hook holds it.
func groupInstanceRunning(w *state.State, id string) {
	registerLater(w, id)
	g := w.GroupOf(id)
	if g == nil || g.Waits[id] != nil {
		return
	}
	warm := warmMember(w, g, id)
	// An instance that has yet to enter its hook's wait goes on from there.
	if m := cmp.Or(g.Member(id), warm); m != nil && hookFor(w, g, state.TransitionLaunching) != nil && !strings.HasSuffix(string(m.LifecycleState), ":Proceed") {
		return
	}
	if warm != nil {
		warmed(w, g, id)
		return
	}
	inService(w, g, id)
}

// groupInstanceEnding handles every shutdown, whatever began it.
func groupInstanceEnding(w *state.State, id string) {
	g := w.GroupOf(id)
	if g == nil {
		return
	}
	if warmMember(w, g, id) != nil {
		g.DropMember(id)
		ReconcileLater(w, g, healthCheckTime)
		return
	}
	m := g.Member(id)
	if m == nil || strings.HasPrefix(string(m.LifecycleState), "Terminat") {
		return
	}
	if strings.HasPrefix(string(m.LifecycleState), "Pending") {
		launchCancelled(w, g, id)
		return
	}
	m.HealthStatus = aws.String("Unhealthy")
	w.After(healthCheckTime, func() { replaceEnded(w, g, id) })
}

// launchCancelled is a launched instance that ended before it was in service.
func launchCancelled(w *state.State, g *state.Group, id string) {
	reason := ""
	if in := w.Instances.Get(id); in != nil && in.StateReason != nil {
		reason = aws.ToString(in.StateReason.Message)
	}
	cancelActivity(w, g, id, "Instance became unhealthy while waiting for instance to be in InService state. Termination Reason: "+reason)
	if !g.IsReplaced(id) {
		g.Replacing++
	}
	g.DropMember(id)
	g.Failures++
	ReconcileLater(w, g, min(retryTime<<min(g.Failures-1, 10), retryTimeMax))
}

// cancelActivity ends the activity that launches an instance, with why.
func cancelActivity(w *state.State, g *state.Group, id, message string) {
	a := g.OpenActivity(id)
	if a == nil {
		return
	}
	a.Description = aws.String("Launching a new EC2 instance: " + id + ".  Status Reason: " + message)
	finish(w, a, astypes.ScalingActivityStatusCodeCancelled, message)
	w.EmitActivity("EC2 Instance Launch Unsuccessful", g, a, "Cancelled")
	nodegroup.LaunchFailed(w, g, message)
}

// replaceEnded is the health check that finds a serving instance gone.
func replaceEnded(w *state.State, g *state.Group, id string) {
	if g.Member(id) == nil || g.Suspended("HealthCheck") {
		return
	}
	a := &state.Activity{Instance: id, Origin: "AutoScalingGroup", Destination: "EC2"}
	a.Cause = aws.String("At " + w.Now.UTC().Format(time.RFC3339) + " an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")
	a.Description = aws.String("Terminating EC2 instance: " + id)
	a.Details = aws.String(details(w, ""))
	record(w, g, a)
	finish(w, a, astypes.ScalingActivityStatusCodeSuccessful, "")
	w.EmitActivity("EC2 Instance Terminate Successful", g, a, "InProgress")
	if !g.IsReplaced(id) {
		g.Replacing++
	}
	g.DropMember(id)
	ReconcileLater(w, g, ReconcileTime)
}

// groupInstanceTerminated ends the activity of an instance that its group
// terminated.
func groupInstanceTerminated(w *state.State, id string) {
	g := w.GroupOf(id)
	if g == nil {
		return
	}
	m := g.Member(id)
	if m == nil || !strings.HasPrefix(string(m.LifecycleState), "Terminat") {
		return
	}
	if a := g.OpenActivity(id); a != nil {
		finish(w, a, astypes.ScalingActivityStatusCodeSuccessful, "")
		w.EmitActivity("EC2 Instance Terminate Successful", g, a, "InProgress")
	}
	g.DropMember(id)
	ReconcileLater(w, g, ReconcileTime)
}

// hookFor is the group's hook on a transition, nil where it has none.
func hookFor(w *state.State, g *state.Group, transition string) *astypes.LifecycleHook {
	for _, h := range w.Hooks.All() {
		if aws.ToString(h.AutoScalingGroupName) == g.Name() && aws.ToString(h.LifecycleTransition) == transition {
			return h
		}
	}
	return nil
}

// waitInHook holds an instance until the hook is completed or runs out.
func waitInHook(w *state.State, g *state.Group, id, transition, origin, destination string) {
	hook := hookFor(w, g, transition)
	m := g.Member(id)
	if m == nil {
		m = warmMember(w, g, id)
	}
	in := w.Instances.Get(id)
	if hook == nil || m == nil || in == nil || state.Ended(in) {
		return
	}
	m.LifecycleState += ":Wait"
	if a := g.OpenActivity(id); a != nil {
		a.StatusCode = astypes.ScalingActivityStatusCodeMidLifecycleAction
		a.Progress = aws.Int32(60)
	}
	wait := &state.HookWait{Hook: aws.ToString(hook.LifecycleHookName), Token: w.IDs.UUID()}
	g.Waits[id] = wait
	w.EmitLifecycleAction(g, hook, id, wait.Token, origin, destination)
	Heartbeat(w, g, id, hook)
	if transition == state.TransitionTerminating && g.Tag("eks:nodegroup-name") != "" {
		kubernetes.Drain(w, id)
		w.After(drainTime, func() { completeIf(w, g, id, wait, "CONTINUE") })
	}
}

// Heartbeat has the wait run out after the hook's time.
func Heartbeat(w *state.State, g *state.Group, id string, hook *astypes.LifecycleHook) {
	wait := g.Waits[id]
	wait.Seq++
	seq := wait.Seq
	result := aws.ToString(hook.DefaultResult)
	w.After(time.Duration(aws.ToInt32(hook.HeartbeatTimeout))*time.Second, func() {
		if wait.Seq != seq || g.Waits[id] != wait {
			return
		}
		if m := g.Member(id); result == "ABANDON" && m != nil && m.LifecycleState == astypes.LifecycleStatePendingWait {
			cancelActivity(w, g, id, abandoned(wait.Token, "Heartbeat Timeout"))
		}
		CompleteHook(w, g, id, result)
	})
}

func completeIf(w *state.State, g *state.Group, id string, wait *state.HookWait, result string) {
	if g.Waits[id] == wait {
		CompleteHook(w, g, id, result)
	}
}

// abandoned is what an activity reports of a launch that its hook gave up (Amazon EC2
// Auto Scaling User Guide, "Tutorial: Use data script and instance metadata to retrieve
// lifecycle state"; the time-out: AWS CodeDeploy User Guide, "Heartbeat Timeout").
func abandoned(token, why string) string {
	return "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token " + token + " was abandoned: " + why
}

// CompleteHook lets an instance go on, or gives it up.
func CompleteHook(w *state.State, g *state.Group, id, result string) {
	wait := g.Waits[id]
	delete(g.Waits, id)
	in := w.Instances.Get(id)
	if m := warmMember(w, g, id); m != nil {
		m.LifecycleState = astypes.LifecycleStateWarmedPendingProceed
		if in != nil && in.State.Name == ec2types.InstanceStateNameRunning {
			warmed(w, g, id)
		}
		return
	}
	m := g.Member(id)
	if m == nil {
		return
	}
	switch m.LifecycleState {
	case astypes.LifecycleStateTerminatingWait:
		m.LifecycleState = astypes.LifecycleStateTerminatingProceed
		endForGroup(w, id)
	case astypes.LifecycleStatePendingWait:
		if result == "ABANDON" {
			if wait != nil {
				cancelActivity(w, g, id, abandoned(wait.Token, "Lifecycle Action Completed with ABANDON Result"))
			}
			Terminate(w, id, UserShutdown())
			return
		}
		m.LifecycleState = astypes.LifecycleStatePendingProceed
		if in != nil && in.State.Name == ec2types.InstanceStateNameRunning {
			inService(w, g, id)
		}
	}
}

// hookTime is how long after the launch an instance enters the hook's wait.
const hookTime = time.Second

// launchInGroup starts one instance. A subnet that cannot take it is recorded
// as a failed activity, and the next is tried.
func launchInGroup(w *state.State, g *state.Group, cause string, warm bool) bool {
	for _, subnet := range subnetOrder(w, g) {
		if launchInSubnet(w, g, subnet, cause, warm) {
			return true
		}
	}
	return false
}

// subnetOrder is the group's subnets, those in the zone with the fewest
// instances first, and within a zone the emptier ones. Zones that are shifted away
// from are left out; what Auto Scaling does where none remains is not documented, and
// here it waits as after a failed launch.
func subnetOrder(w *state.State, g *state.Group) []string {
	zones, subnets := map[string]int{}, map[string]int{}
	for _, i := range slices.Concat(g.Instances, g.Warm) {
		in := w.Instances.Get(aws.ToString(i.InstanceId))
		if in == nil {
			continue
		}
		zones[zoneOf(w, aws.ToString(in.SubnetId))]++
		subnets[aws.ToString(in.SubnetId)]++
	}
	out := slices.DeleteFunc(slices.Clone(g.Subnets()), func(id string) bool {
		s := w.Subnets.Get(id)
		return s != nil && w.GroupShifted(g, aws.ToString(s.AvailabilityZoneId))
	})
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Or(zones[zoneOf(w, a)]-zones[zoneOf(w, b)], subnets[a]-subnets[b])
	})
	return out
}

// zoneOf is a subnet's zone.
func zoneOf(w *state.State, subnet string) string {
	if s := w.Subnets.Get(subnet); s != nil {
		return aws.ToString(s.AvailabilityZone)
	}
	return ""
}

func launchInSubnet(w *state.State, g *state.Group, subnet, cause string, warm bool) bool {
	destination := "AutoScalingGroup"
	if warm {
		destination = "WarmPool"
	}
	a := &state.Activity{Origin: "EC2", Destination: destination}
	a.Cause = aws.String(cause)
	a.Details = aws.String(details(w, subnet))
	record(w, g, a)
	spec, err := groupSpec(w, g, subnet)
	if err == nil && spec.Image == "" {
		err = wire.Errorf("ValidationError", "You must use a valid fully-formed launch template. The request must contain the parameter ImageId")
	}
	var in *ec2types.Instance
	if err == nil {
		in, err = Launch(w, spec)
		err = asFleet(g, spec.Spot, err)
	}
	if err != nil {
		launchFailed(w, g, a, err)
		return false
	}
	id := *in.InstanceId
	a.Instance = id
	g.Launched = append(g.Launched, id)
	groupLaunched(w, in, spec.Groups)
	a.Description = aws.String("Launching a new EC2 instance: " + id)
	if warm {
		a.Description = aws.String("Launching a new EC2 instance into warm pool: " + id) // activity.WarmPool has the source
	}
	a.StatusCode = astypes.ScalingActivityStatusCodePreInService
	a.Progress = aws.Int32(30)
	member := astypes.Instance{
		InstanceId: in.InstanceId, InstanceType: aws.String(string(in.InstanceType)),
		AvailabilityZone: in.Placement.AvailabilityZone, AvailabilityZoneId: in.Placement.AvailabilityZoneId,
		HealthStatus: aws.String("Healthy"), LifecycleState: astypes.LifecycleStatePending,
		LaunchTemplate: g.TemplateSpec(), ProtectedFromScaleIn: aws.Bool(aws.ToBool(g.NewInstancesProtectedFromScaleIn)),
	}
	if warm {
		member.LifecycleState = astypes.LifecycleStateWarmedPending
		g.Warm = append(g.Warm, member)
	} else {
		g.Instances = append(g.Instances, member)
		nodegroup.WatchJoin(w, g, id)
	}
	if hookFor(w, g, state.TransitionLaunching) != nil {
		w.After(hookTime, func() { waitInHook(w, g, id, state.TransitionLaunching, "EC2", destination) })
	}
	applyException(w, g, id)
	return true
}

// details is the Details text of an activity.
func details(w *state.State, subnet string) string {
	zone := ""
	if s := w.Subnets.Get(subnet); s != nil {
		zone = aws.ToString(s.AvailabilityZone)
	}
	b, err := json.Marshal(struct {
		Subnet string `json:"Subnet ID"`
		Zone   string `json:"Availability Zone"`
	}{subnet, zone})
	if err != nil {
		return "{}"
	}
	return string(b)
}

func launchFailed(w *state.State, g *state.Group, a *state.Activity, err error) {
	message := err.Error()
	var we *wire.Error
	if errors.As(err, &we) {
		message = we.Message
	}
	var fleet *fleetError
	if errors.As(err, &fleet) {
		message = fleet.Error()
	}
	message += " Launching EC2 instance failed."
	a.Description = aws.String("Launching a new EC2 instance.  Status Reason: " + message)
	finish(w, a, astypes.ScalingActivityStatusCodeFailed, message)
	w.EmitActivity("EC2 Instance Launch Unsuccessful", g, a, "Failed")
	nodegroup.LaunchFailed(w, g, message)
}

// groupSpec is what the group's launch template says, with the group's tags.
func groupSpec(w *state.State, g *state.Group, subnet string) (InstanceSpec, error) {
	spec := InstanceSpec{Subnet: subnet, requesterID: "autoscaling.amazonaws.com"}
	want := g.TemplateSpec()
	if want == nil {
		return spec, wire.Errorf("ValidationError", "You must use a valid fully-formed launch template. The group has none.")
	}
	v := w.TemplateVersion(aws.ToString(want.LaunchTemplateId), aws.ToString(want.LaunchTemplateName), aws.ToString(want.Version))
	if v == nil || v.LaunchTemplateData == nil {
		return spec, wire.Errorf("ValidationError", "You must use a valid fully-formed launch template. The specified launch template, with template ID %s, does not exist.", aws.ToString(want.LaunchTemplateId))
	}
	template, err := TemplateSpec(w, v, subnet)
	if err != nil {
		// Auto Scaling's words for what EC2 would say.
		var e *wire.Error
		if errors.As(err, &e) {
			err = wire.Errorf("ValidationError", "You must use a valid fully-formed launch template. %s", e.Message)
		}
		return spec, err
	}
	template.requesterID, template.Tags = spec.requesterID, groupTags(g, v)
	return template, choosePool(w, g, v.LaunchTemplateData, &template)
}

// TemplateSpec is what a version of a launch template says of an instance.
func TemplateSpec(w *state.State, v *ec2types.LaunchTemplateVersion, subnet string) (InstanceSpec, error) {
	d := v.LaunchTemplateData
	spec := InstanceSpec{
		Subnet: subnet, Image: aws.ToString(d.ImageId), InstanceType: string(d.InstanceType), Groups: slices.Clone(d.SecurityGroupIds),
		KeyName: aws.ToString(d.KeyName), UserData: aws.ToString(d.UserData),
	}
	if len(d.NetworkInterfaces) > 0 {
		spec.Groups = append(spec.Groups, d.NetworkInterfaces[0].Groups...)
		spec.publicIP = d.NetworkInterfaces[0].AssociatePublicIpAddress
		spec.kind = ec2types.NetworkInterfaceType(aws.ToString(d.NetworkInterfaces[0].InterfaceType))
		keep := d.NetworkInterfaces[0].DeleteOnTermination
		spec.keepPrimary = keep != nil && !*keep
	}
	if m := d.MetadataOptions; m != nil {
		spec.metadata, spec.tokens = ec2types.InstanceMetadataEndpointState(m.HttpEndpoint), ec2types.HttpTokensState(m.HttpTokens)
	}
	if p := d.IamInstanceProfile; p != nil {
		profile := w.ProfileNamed(aws.ToString(p.Name), aws.ToString(p.Arn))
		if profile == nil {
			return spec, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", aws.ToString(p.Name)+aws.ToString(p.Arn))
		}
		spec.ProfileARN, spec.ProfileID = aws.ToString(profile.Arn), aws.ToString(profile.InstanceProfileId)
	}
	return spec, nil
}

func groupTags(g *state.Group, v *ec2types.LaunchTemplateVersion) []ec2types.Tag {
	var tags []ec2types.Tag
	add := func(key, value string) {
		tags = slices.DeleteFunc(tags, func(t ec2types.Tag) bool { return *t.Key == key })
		tags = append(tags, ec2types.Tag{Key: aws.String(key), Value: aws.String(value)})
	}
	for _, s := range v.LaunchTemplateData.TagSpecifications {
		if s.ResourceType == ec2types.ResourceTypeInstance {
			for _, t := range s.Tags {
				add(aws.ToString(t.Key), aws.ToString(t.Value))
			}
		}
	}
	for _, t := range g.Tags {
		if aws.ToBool(t.PropagateAtLaunch) {
			add(aws.ToString(t.Key), aws.ToString(t.Value))
		}
	}
	add("aws:autoscaling:groupName", g.Name())
	add("aws:ec2launchtemplate:id", aws.ToString(v.LaunchTemplateId))
	add("aws:ec2launchtemplate:version", fmt.Sprint(aws.ToInt64(v.VersionNumber)))
	return tags
}

// applyException gives an instance the fate that the world wrote for it.
func applyException(w *state.State, g *state.Group, id string) {
	e := exceptionFor(w, g, id)
	if e == nil || e.Ends == nil {
		return
	}
	reason := state.Copy(e.Ends.Reason)
	w.After(e.Ends.After, func() { Terminate(w, id, reason) })
}

// inService ends a launch well.
func inService(w *state.State, g *state.Group, id string) {
	m, a := g.Member(id), g.OpenActivity(id)
	if m == nil || a == nil || !strings.HasPrefix(string(m.LifecycleState), "Pending") {
		return
	}
	m.LifecycleState = astypes.LifecycleStateInService
	g.Failures = 0
	finish(w, a, astypes.ScalingActivityStatusCodeSuccessful, "")
	w.EmitActivity("EC2 Instance Launch Successful", g, a, "InProgress")
	endReplaced(w, g, id)
	nodegroup.Launched(w, g)
}

// replaceAtRisk is capacity rebalancing: the group launches a replacement for
// an instance that EC2 will probably take back, beyond its desired capacity,
// and ends the old one once the new one serves.
func replaceAtRisk(w *state.State, g *state.Group, id string) {
	m := g.Member(id)
	if m == nil || strings.HasPrefix(string(m.LifecycleState), "Terminat") || g.IsReplaced(id) ||
		g.Suspended("Launch") || w.File.AutoScaling.Still {
		return
	}
	cause := "At " + w.Now.UTC().Format(time.RFC3339) + " an instance was launched in response to an EC2 instance rebalance recommendation for instance " + id + "."
	before := len(g.Launched)
	// A group that cannot launch keeps the old instance.
	if !launchInGroup(w, g, cause, false) || len(g.Launched) == before {
		return
	}
	if g.Leaving == nil {
		g.Leaving = map[string]string{}
	}
	g.Leaving[g.Launched[len(g.Launched)-1]] = id
}

// endReplaced ends the instance whose replacement has come into service.
func endReplaced(w *state.State, g *state.Group, id string) {
	old, ok := g.Leaving[id]
	if !ok {
		return
	}
	delete(g.Leaving, id)
	EndInGroup(w, g, old, "At "+w.Now.UTC().Format(time.RFC3339)+" an instance was taken out of service in response to an EC2 instance rebalance recommendation.")
}
