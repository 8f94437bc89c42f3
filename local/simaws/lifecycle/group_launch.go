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

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/deepcopy"
	"rollcall/local/simaws/nodegroup"
	"rollcall/local/simaws/state"
)

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
	reason := deepcopy.Of(e.Ends.Reason)
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
