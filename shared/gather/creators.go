package gather

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// creators reads how the instances are that the VPC CNI made the unattached
// interfaces on. Whether an interface may be deleted hangs on it: that EC2 does
// not know an instance is said only where every answer was whole.
func (l *look) creators(ctx context.Context) (store, error) {
	if !l.s.Has(snapshot.Unattached) {
		return nil, l.unread(snapshot.Unattached)
	}
	ids := makers(l.s.Idle)
	states, err := l.r.statesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	attached, err := l.attached(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		// EC2 forgets an instance an hour after its end, and its interfaces are
		// detached before: an answer that leaves out a machine which has an
		// interface leaves out others too. None of it is believed.
		if attached[id] && states[id] == "" {
			return nil, fmt.Errorf("describe instances: %s is not known, and has a network interface attached: %w", id, errHalf)
		}
	}
	list := each(ids, func(id string) snapshot.Creator {
		return snapshot.Creator{Instance: id, State: states[id], Attached: attached[id]}
	})
	return func(s *snapshot.Snapshot) { s.Creators = list }, nil
}

// attached are the makers of idle interfaces that have an interface attached,
// where all of the VPC were counted.
func (l *look) attached(ctx context.Context) (map[string]bool, error) {
	if !l.counted || !l.s.Has(snapshot.Usage) {
		return nil, nil
	}
	c, err := l.count(ctx)
	return c.attached, err
}

// makers are the instances that the interfaces' descriptions name, and those
// that tags alone name: an instance's own first interface bears the tag too. A
// filter's value may hold wildcards, so anything but an id is left out.
func makers(idle []snapshot.Interface) []string {
	whole := instanceIDs()
	var ids []string
	for _, i := range idle {
		ids = append(ids, leak.Owner(i))
		if id := i.Tags[leak.TagInstance]; whole.MatchString(id) {
			ids = append(ids, id)
		}
	}
	return distinct(ids)
}

// instanceIDs matches an instance's id, and nothing with a wildcard in it.
func instanceIDs() *regexp.Regexp { return regexp.MustCompile(`^i-(?:[0-9a-f]{8}|[0-9a-f]{17})$`) }

// statesOf are the states of those instances that EC2 knows.
func (r *Reader) statesOf(ctx context.Context, ids []string) (map[string]string, error) {
	states := make(map[string]string, len(ids))
	for chunk := range slices.Chunk(ids, maxFilterValues) {
		// A filter rather than the id parameter: one id that EC2 does not know
		// would make it refuse the whole request.
		input := &ec2.DescribeInstancesInput{Filters: anyOf("instance-id", chunk), MaxResults: aws.Int32(instancePage)}
		for more := true; more; {
			out, err := r.instances.DescribeInstances(ctx, input)
			if err != nil {
				return nil, fmt.Errorf("describe instances by instance-id: %w", err)
			}
			for _, reservation := range out.Reservations {
				for _, in := range reservation.Instances {
					id := aws.ToString(in.InstanceId)
					if id == "" || in.State == nil || in.State.Name == "" {
						return nil, fmt.Errorf("describe instances: %q has no state: %w", id, errHalf)
					}
					states[id] = string(in.State.Name)
				}
			}
			if more, err = turnPage(&input.NextToken, out.NextToken); err != nil {
				return nil, fmt.Errorf("describe instances: %w", err)
			}
		}
	}
	return states, nil
}
