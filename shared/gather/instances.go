package gather

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/snapshot"
)

// Instances describes instances.
type Instances interface {
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
}

// InstanceTypes describes instance types.
type InstanceTypes interface {
	DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceTypesOutput, error)
}

const (
	// maxFilterValues is EC2's limit of values in one request's filters.
	maxFilterValues = 200
	// instancePage is DescribeInstances' largest page.
	instancePage = 1000
	// maxTypes is DescribeInstanceTypes' limit of names.
	maxTypes = 100
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

func (r *Reader) readInstanceTypes(ctx context.Context, names []string) ([]snapshot.InstanceType, error) {
	var all []snapshot.InstanceType
	for chunk := range slices.Chunk(names, maxTypes) {
		input := &ec2.DescribeInstanceTypesInput{}
		for _, name := range chunk {
			input.InstanceTypes = append(input.InstanceTypes, types.InstanceType(name))
		}
		out, err := r.instanceTypes.DescribeInstanceTypes(ctx, input)
		if err != nil {
			return nil, fmt.Errorf("describe instance types: %w", err)
		}
		for _, t := range out.InstanceTypes {
			it := snapshot.InstanceType{Name: string(t.InstanceType)}
			if n := t.NetworkInfo; n != nil {
				it.Interfaces = int(aws.ToInt32(n.MaximumNetworkInterfaces))
				it.IPv4PerInterface = int(aws.ToInt32(n.Ipv4AddressesPerInterface))
			}
			all = append(all, it)
		}
	}
	return all, nil
}

func instance(in types.Instance) snapshot.Instance {
	out := snapshot.Instance{
		ID:           aws.ToString(in.InstanceId),
		Type:         string(in.InstanceType),
		Launched:     aws.ToTime(in.LaunchTime),
		Subnet:       aws.ToString(in.SubnetId),
		VPC:          aws.ToString(in.VpcId),
		PrivateIP:    address(in.PrivateIpAddress),
		PublicIP:     address(in.PublicIpAddress),
		PrivateDNS:   aws.ToString(in.PrivateDnsName),
		Architecture: string(in.Architecture),
		AMI:          aws.ToString(in.ImageId),
		Spot:         in.InstanceLifecycle == types.InstanceLifecycleTypeSpot,
		Tags:         tags(in.Tags),
	}
	if in.State != nil {
		out.State = string(in.State.Name)
	}
	if in.Placement != nil {
		out.Zone = aws.ToString(in.Placement.AvailabilityZone)
	}
	if in.IamInstanceProfile != nil {
		out.Profile = aws.ToString(in.IamInstanceProfile.Arn)
	}
	for _, g := range in.SecurityGroups {
		out.Groups = append(out.Groups, aws.ToString(g.GroupId))
	}
	slices.Sort(out.Groups)
	if in.StateReason != nil {
		out.StateReason.Code = aws.ToString(in.StateReason.Code)
		out.StateReason.Message = aws.ToString(in.StateReason.Message)
	}
	out.StateReason.When = transition(aws.ToString(in.StateTransitionReason))
	return out
}

var transitionTime = regexp.MustCompile(`\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)`)

// transition reads the time in "User initiated (2026-11-20 14:59:58 GMT)",
// the only place where EC2 tells when an instance ended.
func transition(reason string) time.Time {
	m := transitionTime.FindStringSubmatch(reason)
	if m == nil {
		return time.Time{}
	}
	t, err := time.Parse("2006-01-02 15:04:05", m[1])
	if err != nil {
		return time.Time{}
	}
	return t
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
