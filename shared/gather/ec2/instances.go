package ec2

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Instances describes instances.
type Instances interface {
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput, ...func(*ec2.Options)) (*ec2.DescribeInstancesOutput, error)
}

// instances are those that a query brings: Find, FindTagged and the like.
func instances() source.Source {
	return source.Source{
		Name:  snapshot.Instances,
		Calls: []source.Call{{Action: "ec2:DescribeInstances"}},
	}
}

// instancePage is DescribeInstances' largest page.
const instancePage = 1000

// ByFilter reads all instances for which the filter has one of the values.
func ByFilter(ctx context.Context, api Instances, name string, values []string, more ...types.Filter) ([]snapshot.Instance, error) {
	var all []snapshot.Instance
	for chunk := range slices.Chunk(values, ec2api.MaxFilterValues) {
		pages := ec2.NewDescribeInstancesPaginator(api, &ec2.DescribeInstancesInput{
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

// ByID reads instances by id. A filter rather than the id parameter: one id
// that EC2 does not know would make it refuse the whole request.
func ByID(ctx context.Context, api Instances, ids []string) ([]snapshot.Instance, error) {
	return ByFilter(ctx, api, "instance-id", ids)
}

// Live leaves out instances that are long gone from a list by tag.
func Live() types.Filter {
	return types.Filter{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}}
}

// StatesOf are the states of those instances that EC2 knows.
func StatesOf(ctx context.Context, api Instances, ids []string) (map[string]string, error) {
	states := make(map[string]string, len(ids))
	for chunk := range slices.Chunk(ids, ec2api.MaxFilterValues) {
		// A filter rather than the id parameter: one id that EC2 does not know
		// would make it refuse the whole request.
		input := &ec2.DescribeInstancesInput{Filters: ec2api.AnyOf("instance-id", chunk), MaxResults: aws.Int32(instancePage)}
		for more := true; more; {
			out, err := api.DescribeInstances(ctx, input)
			if err != nil {
				return nil, fmt.Errorf("describe instances by instance-id: %w", err)
			}
			for _, reservation := range out.Reservations {
				for _, in := range reservation.Instances {
					id := aws.ToString(in.InstanceId)
					if id == "" || in.State == nil || in.State.Name == "" {
						return nil, fmt.Errorf("describe instances: %q has no state: %w", id, source.ErrHalf)
					}
					states[id] = string(in.State.Name)
				}
			}
			if more, err = ec2api.TurnPage(&input.NextToken, out.NextToken); err != nil {
				return nil, fmt.Errorf("describe instances: %w", err)
			}
		}
	}
	return states, nil
}
