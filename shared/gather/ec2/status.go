package ec2

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Statuses describes EC2's status checks.
type Statuses interface {
	DescribeInstanceStatus(context.Context, *ec2.DescribeInstanceStatusInput, ...func(*ec2.Options)) (*ec2.DescribeInstanceStatusOutput, error)
}

// statuses are the status checks of the scope's instances.
func statuses(api Statuses) source.Source {
	return source.Source{
		Name:  snapshot.Statuses,
		Calls: []source.Call{{Action: "ec2:DescribeInstanceStatus"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readStatuses(ctx, api, v)
		},
	}
}

// maxStatusIDs is DescribeInstanceStatus' limit of ids.
const maxStatusIDs = 100

// readStatuses reads the status checks of the scope's instances. The call knows no
// filter by id, and refuses all for one that EC2 has forgotten: then those
// that had ended are left out.
func readStatuses(ctx context.Context, api Statuses, v *source.View) (source.Store, error) {
	var list []snapshot.InstanceStatus
	lacks := map[string]snapshot.Failure{}
	for chunk := range slices.Chunk(v.InScope(), maxStatusIDs) {
		more, err := statusesOf(ctx, api, chunk)
		if err != nil && source.Gone(err) {
			f := *v.Source.Failure(err)
			live := slices.DeleteFunc(slices.Clone(chunk), snapshot.Instance.Ended)
			if len(live) == len(chunk) {
				return nil, err
			}
			for _, in := range chunk {
				if in.Ended() {
					lacks[in.ID] = f
				}
			}
			more, err = statusesOf(ctx, api, live)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	list = source.Unique(list, func(x snapshot.InstanceStatus) string { return x.Instance })
	return func(s *snapshot.Snapshot) {
		s.Statuses = list
		source.LackAll(s, snapshot.Statuses, lacks)
	}, nil
}

func statusesOf(ctx context.Context, api Statuses, of []snapshot.Instance) ([]snapshot.InstanceStatus, error) {
	if len(of) == 0 {
		return nil, nil // no ids would ask for all of the region's
	}
	out, err := api.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{
		InstanceIds: source.Each(of, func(in snapshot.Instance) string { return in.ID }), IncludeAllInstances: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("describe instance status: %w", err)
	}
	if aws.ToString(out.NextToken) != "" {
		return nil, fmt.Errorf("describe instance status: %w", source.ErrTooMany) // ids and pages exclude each other
	}
	return source.Each(out.InstanceStatuses, instanceStatus), nil
}

func instanceStatus(v types.InstanceStatus) snapshot.InstanceStatus {
	out := snapshot.InstanceStatus{Instance: aws.ToString(v.InstanceId)}
	if v.SystemStatus != nil {
		out.System = string(v.SystemStatus.Status)
	}
	if v.InstanceStatus != nil {
		out.OS = string(v.InstanceStatus.Status)
	}
	for _, e := range v.Events {
		out.Events = append(out.Events, snapshot.ScheduledEvent{Code: string(e.Code), Description: aws.ToString(e.Description), NotBefore: aws.ToTime(e.NotBefore)})
	}
	return out
}
