// Package autoscaling holds the sources that are read of EC2 Auto Scaling, and of ARC zonal
// shift, which keeps its launches out of a zone.
package autoscaling

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling/types"

	"rollcall/shared/arczonalshift"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Sources are all of them.
func Sources(api *autoscaling.Client, shifts Shifts) []source.Source {
	return []source.Source{groups(), activities(api), zonalShifts(shifts), autoshifts(shifts)}
}

// activities are the newest scaling activities of the groups.
func activities(api autoscaling.DescribeScalingActivitiesAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.Activities,
		Calls: []source.Call{{Action: "autoscaling:DescribeScalingActivities"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Activity, error) {
			return readActivities(ctx, api, namesOf(v.Snapshot.Groups))
		}, nil, func(s *snapshot.Snapshot) *[]snapshot.Activity { return &s.Activities }),
	}
}

func readActivities(ctx context.Context, api autoscaling.DescribeScalingActivitiesAPIClient, groups []string) ([]snapshot.Activity, error) {
	var all []snapshot.Activity
	for _, name := range groups {
		out, err := api.DescribeScalingActivities(ctx, &autoscaling.DescribeScalingActivitiesInput{
			AutoScalingGroupName: aws.String(name), MaxRecords: aws.Int32(newest),
		})
		if err != nil {
			return nil, fmt.Errorf("describe the scaling activities of %s: %w", name, err)
		}
		all = append(all, source.Each(out.Activities, activity)...)
	}
	return all, nil
}

// instanceIn finds the id in "Launching a new EC2 instance: i-0ef3c1b2a4d5968f1":
// an activity names its instance nowhere else.
var instanceIn = regexp.MustCompile(`\bi-[0-9a-f]{8,17}\b`)

func activity(a types.Activity) snapshot.Activity {
	out := snapshot.Activity{
		ID:       aws.ToString(a.ActivityId),
		Group:    aws.ToString(a.AutoScalingGroupName),
		Status:   string(a.StatusCode),
		Message:  aws.ToString(a.StatusMessage),
		Cause:    aws.ToString(a.Cause),
		About:    aws.ToString(a.Description),
		Started:  aws.ToTime(a.StartTime),
		Ended:    aws.ToTime(a.EndTime),
		Instance: instanceIn.FindString(aws.ToString(a.Description)),
	}
	// Details is JSON in a string, with members that are no strings.
	var details map[string]json.RawMessage
	if json.Unmarshal([]byte(aws.ToString(a.Details)), &details) == nil {
		_ = json.Unmarshal(details["Subnet ID"], &out.Subnet)
		_ = json.Unmarshal(details["Availability Zone"], &out.Zone)
	}
	return out
}

func namesOf(list []snapshot.Group) []string {
	var names []string
	for _, g := range list {
		names = append(names, g.Name)
	}
	return names
}

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

// Groups describes Auto Scaling groups and their warm pools.
type Groups interface {
	DescribeAutoScalingGroups(context.Context, *autoscaling.DescribeAutoScalingGroupsInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeAutoScalingGroupsOutput, error)
	DescribeWarmPool(context.Context, *autoscaling.DescribeWarmPoolInput, ...func(*autoscaling.Options)) (*autoscaling.DescribeWarmPoolOutput, error)
}

const (
	// groupPage is the largest page of DescribeAutoScalingGroups, and as many
	// names as one call takes.
	groupPage = 100
	// newest is how many of a group's activities are read: they come newest
	// first, and those of the last launches are what matters. It is the most
	// that one call gives.
	newest = 100
)

// groups are those that a query brings: Groups and GroupsOf.
func groups() source.Source {
	return source.Source{
		Name: snapshot.Groups,
		Calls: []source.Call{
			{Action: "autoscaling:DescribeAutoScalingGroups"},
			{Action: "autoscaling:DescribeWarmPool"},
		},
	}
}

// GroupsNamed reads groups by name.
func GroupsNamed(ctx context.Context, api Groups, names []string) ([]snapshot.Group, error) {
	var all []snapshot.Group
	for chunk := range slices.Chunk(names, groupPage) {
		list, err := describeGroups(ctx, api, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: chunk})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return warmed(ctx, api, all)
}

// GroupsOf reads the groups tagged as a cluster's. Filters of one call
// must all hold, so the two ways of tagging take a call each.
func GroupsOf(ctx context.Context, api Groups, cluster string) ([]snapshot.Group, error) {
	var all []snapshot.Group
	for _, filter := range []types.Filter{
		{Name: aws.String("tag-key"), Values: []string{"kubernetes.io/cluster/" + cluster, "k8s.io/cluster/" + cluster}},
		{Name: aws.String("tag:eks:cluster-name"), Values: []string{cluster}},
	} {
		list, err := describeGroups(ctx, api, &autoscaling.DescribeAutoScalingGroupsInput{Filters: []types.Filter{filter}})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return warmed(ctx, api, source.Unique(all, func(g snapshot.Group) string { return g.Name }))
}

func describeGroups(ctx context.Context, api Groups, input *autoscaling.DescribeAutoScalingGroupsInput) ([]snapshot.Group, error) {
	input.MaxRecords = aws.Int32(groupPage)
	var all []snapshot.Group
	p := autoscaling.NewDescribeAutoScalingGroupsPaginator(api, input)
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("describe auto scaling groups: %w", err)
		}
		all = append(all, source.Each(page.AutoScalingGroups, group)...)
	}
	return all, nil
}

// warmed adds the instances in the groups' warm pools.
func warmed(ctx context.Context, api Groups, groups []snapshot.Group) ([]snapshot.Group, error) {
	for i := range groups {
		if !groups[i].WarmPool {
			continue
		}
		warm, err := readWarmPool(ctx, api, groups[i].Name)
		if err != nil {
			return nil, err
		}
		groups[i].Warm = warm
	}
	return groups, nil
}

func readWarmPool(ctx context.Context, api Groups, name string) ([]string, error) {
	var ids []string
	p := autoscaling.NewDescribeWarmPoolPaginator(api, &autoscaling.DescribeWarmPoolInput{AutoScalingGroupName: aws.String(name)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("describe the warm pool of %s: %w", name, err)
		}
		for _, in := range page.Instances {
			ids = append(ids, aws.ToString(in.InstanceId))
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Shifts lists what is shifted away from a zone.
type Shifts interface {
	ZonalShifts(ctx context.Context, token string) ([]arczonalshift.ZonalShift, string, error)
	Autoshifts(ctx context.Context, token string) ([]arczonalshift.Autoshift, string, error)
	ManagedResources(ctx context.Context, token string) ([]arczonalshift.ManagedResource, string, error)
}

var _ Shifts = (*arczonalshift.Client)(nil)

// zonalShifts are those that people, experiments and practice runs started.
func zonalShifts(api Shifts) source.Source {
	return source.Source{
		Name: snapshot.ZonalShifts,
		// The service authorization reference has no resource for these lists.
		Calls: []source.Call{{Action: "arc-zonal-shift:ListZonalShifts"}},
		Read: whereShiftIsOn(func(ctx context.Context, v *source.View) (source.Store, error) {
			all, err := source.Pages(ctx, "zonal shifts", api.ZonalShifts)
			if err != nil {
				return nil, err
			}
			var list []snapshot.Shift
			for _, z := range all {
				if group, ours := shifts(v.Snapshot, z.Resource); ours && z.Status == "ACTIVE" {
					list = append(list, snapshot.Shift{
						ID: z.ID, Group: group, ZoneID: z.AwayFrom, Kind: snapshot.ShiftKind(z.Type), Comment: z.Comment,
						Started: z.Started.Time, Expires: z.Expires.Time,
					})
				}
			}
			return func(s *snapshot.Snapshot) { s.Shifts = list }, nil
		}),
	}
}

// autoshifts are those of AWS that are in effect for the cluster or a group. An autoshift
// is of the Region, and moves what has zonal autoshift on: which that is, is listed only
// while there is one.
func autoshifts(api Shifts) source.Source {
	return source.Source{
		Name:  snapshot.AutoshiftsOf,
		Calls: []source.Call{{Action: "arc-zonal-shift:ListAutoshifts"}, {Action: "arc-zonal-shift:ListManagedResources"}},
		Read: whereShiftIsOn(func(ctx context.Context, v *source.View) (source.Store, error) {
			active, err := source.Pages(ctx, "autoshifts", api.Autoshifts)
			if err != nil {
				return nil, err
			}
			if len(active) == 0 {
				return source.Nothing, nil
			}
			all, err := source.Pages(ctx, "resources that are managed for zonal shifts", api.ManagedResources)
			if err != nil {
				return nil, err
			}
			var list []snapshot.Shift
			for _, r := range all {
				group, ours := shifts(v.Snapshot, r.ARN)
				for _, a := range r.Autoshifts {
					now := slices.ContainsFunc(active, func(x arczonalshift.Autoshift) bool { return x.AwayFrom == a.AwayFrom })
					if ours && now && a.Applied == "APPLIED" {
						list = append(list, snapshot.Shift{Group: group, ZoneID: a.AwayFrom, Kind: snapshot.Autoshift, Started: a.Started.Time})
					}
				}
			}
			return func(s *snapshot.Snapshot) { s.Autoshifts = list }, nil
		}),
	}
}

// whereShiftIsOn reads only where the cluster or a group of it has zonal shift on, which is
// off by default: without it there is nothing that ARC could shift.
func whereShiftIsOn(read source.Read) source.Read {
	return func(ctx context.Context, v *source.View) (source.Store, error) {
		s := v.Snapshot
		switch {
		case !s.Has(snapshot.Clusters):
			return nil, v.Unread(snapshot.Clusters)
		case s.Cluster.ZonalShift || slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return g.ZonalShift }):
			return read(ctx, v)
		case !s.Has(snapshot.Groups):
			return nil, v.Unread(snapshot.Groups)
		}
		return source.Nothing, nil
	}
}

// shifts returns the group that an ARN is of, empty for the cluster's, and whether a shift
// of it counts.
func shifts(s *snapshot.Snapshot, arn string) (group string, ours bool) {
	if arn == s.Cluster.ARN {
		return "", s.Cluster.ZonalShift
	}
	_, name, is := strings.Cut(arn, ":autoScalingGroupName/")
	return name, is && slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return g.Name == name && g.ZonalShift })
}
