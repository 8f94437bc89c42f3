package eks

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Nodegroups describes managed node groups.
type Nodegroups interface {
	eks.ListNodegroupsAPIClient
	DescribeNodegroup(context.Context, *eks.DescribeNodegroupInput, ...func(*eks.Options)) (*eks.DescribeNodegroupOutput, error)
}

// nodegroups are those that the query names, or all of the cluster's.
func nodegroups(api Nodegroups) source.Source {
	return source.Source{
		Name: snapshot.Nodegroups,
		Calls: []source.Call{
			{Action: "eks:DescribeNodegroup", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:nodegroup/*/*/*"}},
		},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Nodegroup, error) {
			return readNodegroups(ctx, api, v)
		}, func(x snapshot.Nodegroup) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.Nodegroup { return &s.Nodegroups }),
	}
}

func readNodegroups(ctx context.Context, api Nodegroups, v *source.View) ([]snapshot.Nodegroup, error) {
	names := v.Nodegroups
	if v.AllNodegroups && names == nil {
		all, err := nodegroupNames(ctx, api, v.Cluster)
		if err != nil {
			return nil, err
		}
		names = all
	}
	return nodegroupsNamed(ctx, api, v.Cluster, names)
}

// nodegroupNames lists all of a cluster's node groups.
func nodegroupNames(ctx context.Context, api eks.ListNodegroupsAPIClient, cluster string) ([]string, error) {
	var names []string
	p := eks.NewListNodegroupsPaginator(api, &eks.ListNodegroupsInput{ClusterName: aws.String(cluster)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list nodegroups: %w", err)
		}
		names = append(names, page.Nodegroups...)
	}
	return names, nil
}

// nodegroupsNamed reads the named groups. One that is being deleted may be gone
// before its instances: that is no failure.
func nodegroupsNamed(ctx context.Context, api Nodegroups, cluster string, names []string) ([]snapshot.Nodegroup, error) {
	var all []snapshot.Nodegroup
	for _, name := range names {
		out, err := api.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: aws.String(cluster), NodegroupName: aws.String(name)})
		var missing *types.ResourceNotFoundException
		if errors.As(err, &missing) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("describe nodegroup %s: %w", name, err)
		}
		if out.Nodegroup == nil {
			// Not that there is none: that would be taken for its deletion.
			return nil, fmt.Errorf("describe nodegroup %s: %w", name, source.ErrHalf)
		}
		all = append(all, nodegroup(*out.Nodegroup))
	}
	return all, nil
}

func nodegroup(n types.Nodegroup) snapshot.Nodegroup {
	out := snapshot.Nodegroup{
		Name:    aws.ToString(n.NodegroupName),
		Cluster: aws.ToString(n.ClusterName),
		ARN:     aws.ToString(n.NodegroupArn),
		Status:  string(n.Status),
		Subnets: n.Subnets,
		Spot:    n.CapacityType == types.CapacityTypesSpot,

		Role:    aws.ToString(n.NodeRole),
		AMIType: string(n.AmiType),
		Release: aws.ToString(n.ReleaseVersion),
		Version: aws.ToString(n.Version),
		Types:   n.InstanceTypes,
		Labels:  n.Labels,
		Tags:    n.Tags,
		Created: aws.ToTime(n.CreatedAt), Modified: aws.ToTime(n.ModifiedAt),
	}
	if t := n.LaunchTemplate; t != nil {
		out.Template = snapshot.TemplateRef{ID: aws.ToString(t.Id), Name: aws.ToString(t.Name), Version: aws.ToString(t.Version)}
	}
	for _, t := range n.Taints {
		out.Taints = append(out.Taints, snapshot.Taint{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: taintEffect(t.Effect)})
	}
	if n.Health != nil {
		for _, i := range n.Health.Issues {
			out.Issues = append(out.Issues, snapshot.Issue{Code: string(i.Code), Message: aws.ToString(i.Message), Resources: i.ResourceIds})
		}
	}
	if n.Resources != nil {
		for _, g := range n.Resources.AutoScalingGroups {
			out.Groups = append(out.Groups, aws.ToString(g.Name))
		}
	}
	if s := n.ScalingConfig; s != nil {
		out.Min, out.Max, out.Desired = int(aws.ToInt32(s.MinSize)), int(aws.ToInt32(s.MaxSize)), int(aws.ToInt32(s.DesiredSize))
	}
	return out
}

// taintEffect is an effect as Kubernetes writes it; EKS writes NO_SCHEDULE.
func taintEffect(e types.TaintEffect) string {
	switch e {
	case types.TaintEffectNoSchedule:
		return "NoSchedule"
	case types.TaintEffectNoExecute:
		return "NoExecute"
	case types.TaintEffectPreferNoSchedule:
		return "PreferNoSchedule"
	}
	return string(e)
}
