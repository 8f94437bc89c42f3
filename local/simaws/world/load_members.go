package world

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/local/simaws/defaults"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

// loadMembers ties groups and instances together, both ways, and keeps the
// activities of before.
func loadMembers(w *state.State, f *worldfile.File) error {
	var errs []error
	for _, g := range w.Groups.All() {
		for i := range g.Instances {
			if err := completeMember(w, g, &g.Instances[i]); err != nil {
				errs = append(errs, fmt.Errorf("autoscaling.AutoScalingGroups %s: %w", g.Name(), err))
			}
		}
	}
	for _, a := range f.AutoScaling.Activities {
		g := w.Groups.Get(aws.ToString(a.AutoScalingGroupName))
		if g == nil {
			errs = append(errs, fmt.Errorf("autoscaling.Activities %s: group %q is not in the world", aws.ToString(a.ActivityId), aws.ToString(a.AutoScalingGroupName)))
			continue
		}
		if a.AutoScalingGroupARN == nil {
			a.AutoScalingGroupARN = g.AutoScalingGroupARN
		}
		text := aws.ToString(a.Description)
		instance := ""
		if i := strings.Index(text, "i-"); i >= 0 {
			instance, _, _ = strings.Cut(text[i:], ".")
		}
		g.Activities = append(g.Activities, &state.Activity{Activity: a, Instance: instance, Origin: "EC2", Destination: "AutoScalingGroup"})
	}
	for _, g := range w.Groups.All() {
		slices.SortStableFunc(g.Activities, func(a, b *state.Activity) int { return aws.ToTime(a.StartTime).Compare(aws.ToTime(b.StartTime)) })
	}
	return errors.Join(errs...)
}

func completeMember(w *state.State, g *state.Group, m *astypes.Instance) error {
	in := w.Instances.Get(aws.ToString(m.InstanceId))
	if in == nil {
		return fmt.Errorf("instance %q is not in the world", aws.ToString(m.InstanceId))
	}
	defaults.Set(&m.InstanceType, string(in.InstanceType))
	defaults.Set(&m.AvailabilityZone, aws.ToString(in.Placement.AvailabilityZone))
	defaults.Set(&m.HealthStatus, "Healthy")
	defaults.Set(&m.ProtectedFromScaleIn, false)
	defaults.SetPlain(&m.LifecycleState, astypes.LifecycleStateInService)
	if m.LaunchTemplate == nil {
		m.LaunchTemplate = g.TemplateSpec()
	}
	tags := map[string]string{"aws:autoscaling:groupName": g.Name()}
	for _, t := range g.Tags {
		if aws.ToBool(t.PropagateAtLaunch) {
			tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
		}
	}
	if v := w.GroupTemplate(g); v != nil {
		tags["aws:ec2launchtemplate:id"] = aws.ToString(v.LaunchTemplateId)
		tags["aws:ec2launchtemplate:version"] = strconv.FormatInt(aws.ToInt64(v.VersionNumber), 10)
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if state.TagValue(in.Tags, key) == "" {
			in.Tags = append(in.Tags, ec2types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
		}
	}
	if v := w.GroupTemplate(g); v != nil && v.LaunchTemplateData != nil {
		if p := v.LaunchTemplateData.IamInstanceProfile; p != nil && in.IamInstanceProfile == nil {
			if profile := w.ProfileNamed(aws.ToString(p.Name), aws.ToString(p.Arn)); profile != nil {
				in.IamInstanceProfile = &ec2types.IamInstanceProfile{Arn: profile.Arn, Id: profile.InstanceProfileId}
			}
		}
	}
	return nil
}
