package gather

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// Instances describes instances.
type Instances interface {
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
}

const (
	// maxFilterValues is EC2's limit of values in one request's filters.
	maxFilterValues = 200
	// instancePage is DescribeInstances' largest page.
	instancePage = 1000
)

// byFilter reads all instances for which the filter has one of the values.
func (r *Reader) byFilter(ctx context.Context, name string, values []string, more ...types.Filter) ([]snapshot.Instance, error) {
	var all []snapshot.Instance
	for chunk := range slices.Chunk(values, maxFilterValues) {
		pages := ec2.NewDescribeInstancesPaginator(r.instances, &ec2.DescribeInstancesInput{
			Filters:    append([]types.Filter{{Name: aws.String(name), Values: chunk}}, more...),
			MaxResults: aws.Int32(instancePage),
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("describe instances by %s: %w", name, err)
			}
			for _, reservation := range page.Reservations {
				for _, in := range reservation.Instances {
					all = append(all, instance(in))
				}
			}
		}
	}
	return all, nil
}

// byID reads instances by id. A filter rather than the id parameter: one id
// that EC2 does not know would make it refuse the whole request.
func (r *Reader) byID(ctx context.Context, ids []string) ([]snapshot.Instance, error) {
	return r.byFilter(ctx, "instance-id", ids)
}

// live leaves out instances that are long gone from a list by tag.
func live() types.Filter {
	return types.Filter{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}}
}

func address(text *string) netip.Addr {
	a, err := netip.ParseAddr(aws.ToString(text))
	if err != nil {
		return netip.Addr{}
	}
	return a
}

func tags(list []types.Tag) map[string]string {
	m := make(map[string]string, len(list))
	for _, t := range list {
		m[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	return m
}

// ClusterOf tells which cluster an instance belongs to by its tags, strongest
// first: EKS's own, EKS's system tag on nodes, then the tags that Kubernetes
// and the autoscalers use, which other distributions use too.
func ClusterOf(tags map[string]string) (cluster string, ok bool) {
	for _, key := range []string{"eks:cluster-name", "aws:eks:cluster-name", "eks:eks-cluster-name", "alpha.eksctl.io/cluster-name"} {
		if v := tags[key]; v != "" {
			return v, true
		}
	}
	for _, prefix := range []string{"kubernetes.io/cluster/", "k8s.io/cluster/", "k8s.io/cluster-autoscaler/"} {
		var names []string
		for key := range tags {
			if name, found := strings.CutPrefix(key, prefix); found && name != "" && name != "enabled" && !strings.Contains(name, "/") {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			return slices.Min(names), true
		}
	}
	return "", false
}
