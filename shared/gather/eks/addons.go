package eks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Addons lists and describes a cluster's add-ons.
type Addons interface {
	ListAddons(context.Context, *eks.ListAddonsInput, ...func(*eks.Options)) (*eks.ListAddonsOutput, error)
	DescribeAddon(context.Context, *eks.DescribeAddonInput, ...func(*eks.Options)) (*eks.DescribeAddonOutput, error)
}

// addons are the add-ons without which nodes are not of use.
func addons(api Addons) source.Source {
	return source.Source{
		Name: snapshot.Addons,
		Calls: []source.Call{
			{Action: "eks:ListAddons", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:cluster/*"}},
			{Action: "eks:DescribeAddon", Resources: []string{"arn:${Partition}:eks:${Region}:${Account}:addon/*/*/*"}},
		},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.Addon, error) {
			return readAddons(ctx, api, v.Cluster)
		}, func(x snapshot.Addon) string { return x.Name }, func(s *snapshot.Snapshot) *[]snapshot.Addon { return &s.Addons }),
	}
}

func readAddons(ctx context.Context, api Addons, cluster string) ([]snapshot.Addon, error) {
	var list []snapshot.Addon
	p := eks.NewListAddonsPaginator(api, &eks.ListAddonsInput{ClusterName: aws.String(cluster)})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list add-ons: %w", err)
		}
		for _, name := range page.Addons {
			if !nodesNeed(name) {
				continue
			}
			out, err := api.DescribeAddon(ctx, &eks.DescribeAddonInput{ClusterName: aws.String(cluster), AddonName: aws.String(name)})
			var missing *types.ResourceNotFoundException
			if errors.As(err, &missing) {
				continue // deleted since it was listed
			}
			if err != nil {
				return nil, fmt.Errorf("describe add-on %s: %w", name, err)
			}
			if out.Addon == nil {
				return nil, fmt.Errorf("describe add-on %s: the answer holds none", name)
			}
			list = append(list, addon(*out.Addon))
		}
	}
	return list, nil
}

func nodesNeed(addon string) bool {
	return slices.Contains([]string{"vpc-cni", "kube-proxy", "coredns", "eks-pod-identity-agent"}, addon) || strings.HasSuffix(addon, "-csi-driver")
}

func addon(a types.Addon) snapshot.Addon {
	out := snapshot.Addon{
		Name:    aws.ToString(a.AddonName),
		Version: aws.ToString(a.AddonVersion),
		Status:  string(a.Status),
		Role:    aws.ToString(a.ServiceAccountRoleArn),
	}
	if a.Health != nil {
		for _, i := range a.Health.Issues {
			out.Issues = append(out.Issues, snapshot.Issue{Code: string(i.Code), Message: aws.ToString(i.Message), Resources: i.ResourceIds})
		}
	}
	return out
}
