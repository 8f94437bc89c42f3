package autoscaling

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/shared/snapshot"
)

func group(g types.AutoScalingGroup) snapshot.Group {
	out := snapshot.Group{
		Name:     aws.ToString(g.AutoScalingGroupName),
		Min:      int(aws.ToInt32(g.MinSize)),
		Max:      int(aws.ToInt32(g.MaxSize)),
		Desired:  int(aws.ToInt32(g.DesiredCapacity)),
		Zones:    slices.Sorted(slices.Values(g.AvailabilityZones)),
		WarmPool: g.WarmPoolConfiguration != nil,
		Tags:     map[string]string{},

		Template: templateOf(g),

		PlacementGroup: aws.ToString(g.PlacementGroup),
		ServiceRole:    aws.ToString(g.ServiceLinkedRoleARN),
		Created:        aws.ToTime(g.CreatedTime),
	}
	// CreateAutoScalingGroup, DesiredCapacityType: "By default, Amazon EC2 Auto Scaling
	// specifies units, which translates into number of instances." And of an override's
	// WeightedCapacity: "the number of capacity units provided by the instance type".
	if kind := aws.ToString(g.DesiredCapacityType); kind != "" && kind != "units" {
		out.Weighted = true
	}
	if m := g.MixedInstancesPolicy; m != nil && m.LaunchTemplate != nil {
		for _, o := range m.LaunchTemplate.Overrides {
			if w := aws.ToString(o.WeightedCapacity); w != "" && w != "1" {
				out.Weighted = true
			}
			if t := aws.ToString(o.InstanceType); t != "" {
				out.Types = append(out.Types, t)
				if image := aws.ToString(o.ImageId); image != "" {
					if out.Images == nil {
						out.Images = map[string]string{}
					}
					out.Images[t] = image
				}
			}
		}
	}
	if p := g.AvailabilityZoneImpairmentPolicy; p != nil {
		out.ZonalShift = aws.ToBool(p.ZonalShiftEnabled)
	}
	for _, p := range g.SuspendedProcesses {
		out.Suspended = append(out.Suspended, snapshot.Suspended{Process: aws.ToString(p.ProcessName), Reason: aws.ToString(p.SuspensionReason)})
	}
	slices.SortFunc(out.Suspended, func(a, b snapshot.Suspended) int { return strings.Compare(a.Process, b.Process) })
	for s := range strings.SplitSeq(aws.ToString(g.VPCZoneIdentifier), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out.Subnets = append(out.Subnets, s)
		}
	}
	slices.Sort(out.Subnets)
	for _, in := range g.Instances {
		out.Instances = append(out.Instances, snapshot.GroupInstance{
			ID: aws.ToString(in.InstanceId), Lifecycle: string(in.LifecycleState), Health: aws.ToString(in.HealthStatus),
			Protected: aws.ToBool(in.ProtectedFromScaleIn),
			Zone:      aws.ToString(in.AvailabilityZone),
		})
	}
	slices.SortFunc(out.Instances, func(a, b snapshot.GroupInstance) int { return strings.Compare(a.ID, b.ID) })
	for _, t := range g.Tags {
		out.Tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return out
}

// templateOf is the launch template that a group starts instances from. A
// mixed instances policy has it in a place of its own; its overrides may name
// others, which the instances' tags tell.
func templateOf(g types.AutoScalingGroup) snapshot.TemplateRef {
	t := g.LaunchTemplate
	if m := g.MixedInstancesPolicy; t == nil && m != nil && m.LaunchTemplate != nil {
		t = m.LaunchTemplate.LaunchTemplateSpecification
	}
	if t == nil {
		return snapshot.TemplateRef{}
	}
	ref := snapshot.TemplateRef{ID: aws.ToString(t.LaunchTemplateId), Name: aws.ToString(t.LaunchTemplateName), Version: aws.ToString(t.Version)}
	if ref.Version == "" {
		ref.Version = "$Default" // what Auto Scaling takes where none is given
	}
	return ref
}
