package world

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
)

// hookTime is how long after the launch an instance enters the hook's wait.
const hookTime = time.Second

// launchInGroup starts one instance. A subnet that cannot take it is recorded
// as a failed activity, and the next is tried.
func (w *World) launchInGroup(g *group, cause string, warm bool) bool {
	for _, subnet := range w.subnetOrder(g) {
		if w.launchInSubnet(g, subnet, cause, warm) {
			return true
		}
	}
	return false
}

// subnetOrder is the group's subnets, those in the zone with the fewest
// instances first, and within a zone the emptier ones.
func (w *World) subnetOrder(g *group) []string {
	zones, subnets := map[string]int{}, map[string]int{}
	for _, i := range slices.Concat(g.Instances, g.warm) {
		in := w.instances.Get(aws.ToString(i.InstanceId))
		if in == nil {
			continue
		}
		zones[w.zoneOf(aws.ToString(in.SubnetId))]++
		subnets[aws.ToString(in.SubnetId)]++
	}
	out := g.subnets()
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Or(zones[w.zoneOf(a)]-zones[w.zoneOf(b)], subnets[a]-subnets[b])
	})
	return out
}

// zoneOf is a subnet's zone.
func (w *World) zoneOf(subnet string) string {
	if s := w.subnets.Get(subnet); s != nil {
		return aws.ToString(s.AvailabilityZone)
	}
	return ""
}

func (w *World) launchInSubnet(g *group, subnet, cause string, warm bool) bool {
	destination := "AutoScalingGroup"
	if warm {
		destination = "WarmPool"
	}
	a := &activity{origin: "EC2", destination: destination}
	a.Cause = aws.String(cause)
	a.Details = aws.String(w.details(subnet))
	w.record(g, a)
	spec, err := w.groupSpec(g, subnet)
	var in *ec2types.Instance
	if err == nil {
		in, err = w.launch(spec)
		err = g.asFleet(spec.spot, err)
	}
	if err != nil {
		w.launchFailed(g, a, err)
		return false
	}
	id := *in.InstanceId
	a.instance = id
	g.launched = append(g.launched, id)
	w.groupLaunched(in, spec.groups)
	a.Description = aws.String("Launching a new EC2 instance: " + id)
	a.StatusCode = astypes.ScalingActivityStatusCodePreInService
	a.Progress = aws.Int32(30)
	member := astypes.Instance{
		InstanceId: in.InstanceId, InstanceType: aws.String(string(in.InstanceType)),
		AvailabilityZone: in.Placement.AvailabilityZone, AvailabilityZoneId: in.Placement.AvailabilityZoneId,
		HealthStatus: aws.String("Healthy"), LifecycleState: astypes.LifecycleStatePending,
		LaunchTemplate: g.templateSpec(), ProtectedFromScaleIn: aws.Bool(aws.ToBool(g.NewInstancesProtectedFromScaleIn)),
	}
	if warm {
		member.LifecycleState = astypes.LifecycleStateWarmedPending
		g.warm = append(g.warm, member)
	} else {
		g.Instances = append(g.Instances, member)
		w.watchJoin(g, id)
	}
	if w.hookFor(g, transitionLaunching) != nil {
		w.after(hookTime, func() { w.waitInHook(g, id, transitionLaunching, "EC2", destination) })
	}
	w.applyException(g, id)
	return true
}

// details is the Details text of an activity.
func (w *World) details(subnet string) string {
	zone := ""
	if s := w.subnets.Get(subnet); s != nil {
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

func (w *World) launchFailed(g *group, a *activity, err error) {
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
	w.finish(a, astypes.ScalingActivityStatusCodeFailed, message)
	w.emitActivity("EC2 Instance Launch Unsuccessful", g, a, "Failed")
	w.nodegroupLaunchFailed(g, message)
}

func (g *group) templateSpec() *astypes.LaunchTemplateSpecification {
	if g.LaunchTemplate != nil {
		return g.LaunchTemplate
	}
	if m := g.MixedInstancesPolicy; m != nil && m.LaunchTemplate != nil {
		return m.LaunchTemplate.LaunchTemplateSpecification
	}
	return nil
}

// groupSpec is what the group's launch template says, with the group's tags.
func (w *World) groupSpec(g *group, subnet string) (instanceSpec, error) {
	spec := instanceSpec{subnet: subnet, requesterID: "autoscaling.amazonaws.com"}
	want := g.templateSpec()
	if want == nil {
		return spec, wire.Errorf("ValidationError", "You must use a valid fully-formed launch template. The group has none.")
	}
	v := w.templateVersion(aws.ToString(want.LaunchTemplateId), aws.ToString(want.LaunchTemplateName), aws.ToString(want.Version))
	if v == nil || v.LaunchTemplateData == nil {
		return spec, wire.Errorf("ValidationError", "You must use a valid fully-formed launch template. The specified launch template, with template ID %s, does not exist.", aws.ToString(want.LaunchTemplateId))
	}
	d := v.LaunchTemplateData
	spec.image, spec.instanceType = aws.ToString(d.ImageId), string(d.InstanceType)
	spec.groups = slices.Clone(d.SecurityGroupIds)
	spec.keyName, spec.userData = aws.ToString(d.KeyName), aws.ToString(d.UserData)
	if len(d.NetworkInterfaces) > 0 {
		spec.groups = append(spec.groups, d.NetworkInterfaces[0].Groups...)
		spec.publicIP = d.NetworkInterfaces[0].AssociatePublicIpAddress
		spec.kind = ec2types.NetworkInterfaceType(aws.ToString(d.NetworkInterfaces[0].InterfaceType))
		keep := d.NetworkInterfaces[0].DeleteOnTermination
		spec.keepPrimary = keep != nil && !*keep
	}
	if p := d.IamInstanceProfile; p != nil {
		profile := w.profileNamed(aws.ToString(p.Name), aws.ToString(p.Arn))
		if profile == nil {
			return spec, wire.Errorf("ValidationError", "You must use a valid fully-formed launch template. Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", aws.ToString(p.Name)+aws.ToString(p.Arn))
		}
		spec.profileARN, spec.profileID = aws.ToString(profile.Arn), aws.ToString(profile.InstanceProfileId)
	}
	spec.tags = groupTags(g, v)
	return spec, w.choosePool(g, d, &spec)
}

func groupTags(g *group, v *ec2types.LaunchTemplateVersion) []ec2types.Tag {
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
	add("aws:autoscaling:groupName", g.name())
	add("aws:ec2launchtemplate:id", aws.ToString(v.LaunchTemplateId))
	add("aws:ec2launchtemplate:version", fmt.Sprint(aws.ToInt64(v.VersionNumber)))
	return tags
}

// applyException gives an instance the fate that the world wrote for it.
func (w *World) applyException(g *group, id string) {
	e := w.exceptionFor(g, id)
	if e == nil || e.Ends == nil {
		return
	}
	reason := deepcopy.Of(e.Ends.Reason)
	w.after(e.Ends.After, func() { w.terminate(id, reason) })
}

// inService ends a launch well.
func (w *World) inService(g *group, id string) {
	m, a := g.member(id), g.openActivity(id)
	if m == nil || a == nil || !strings.HasPrefix(string(m.LifecycleState), "Pending") {
		return
	}
	m.LifecycleState = astypes.LifecycleStateInService
	g.failures = 0
	w.finish(a, astypes.ScalingActivityStatusCodeSuccessful, "")
	w.emitActivity("EC2 Instance Launch Successful", g, a, "InProgress")
	w.endReplaced(g, id)
	w.nodegroupLaunched(g)
}
