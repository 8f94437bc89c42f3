package vpc

import (
	"context"
	"fmt"

	"rollcall/shared/gather/ec2"
	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// creators is how the instances are that the VPC CNI made the unattached
// interfaces on. Whether an interface may be deleted hangs on it: that EC2 does
// not know an instance is said only where every answer was whole.
func creators(api ec2.Instances, counted *tally) source.Source {
	return source.Source{
		Name:  snapshot.CreatorsOf,
		Needs: []snapshot.Source{snapshot.Unattached},
		After: []snapshot.Source{
			snapshot.Usage,
		},
		Calls: []source.Call{{Action: "ec2:DescribeInstances"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			return readCreators(ctx, api, counted, v)
		},
	}
}

func readCreators(ctx context.Context, api ec2.Instances, counted *tally, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.Unattached) {
		return nil, v.Unread(snapshot.Unattached)
	}
	ids := makers(v.Snapshot.Idle)
	states, err := ec2.StatesOf(ctx, api, ids)
	if err != nil {
		return nil, err
	}
	attached := counted.attached(v)
	for _, id := range ids {
		// EC2 forgets an instance an hour after its end, and its interfaces are
		// detached before: an answer that leaves out a machine which has an
		// interface leaves out others too. None of it is believed.
		if attached[id] && states[id] == "" {
			return nil, fmt.Errorf("describe instances: %s is not known, and has a network interface attached: %w", id, source.ErrHalf)
		}
	}
	list := source.Each(ids, func(id string) snapshot.Creator {
		return snapshot.Creator{Instance: id, State: states[id], Attached: attached[id]}
	})
	return func(s *snapshot.Snapshot) { s.Creators = list }, nil
}

// makers are the instances that the interfaces' descriptions name, and those
// that tags alone name: an instance's own first interface bears the tag too. A
// filter's value may hold wildcards, so anything but an id is left out.
func makers(idle []snapshot.Interface) []string {
	whole := ec2api.InstanceIDs()
	var ids []string
	for _, i := range idle {
		ids = append(ids, leak.Owner(i))
		if id := i.Tags[leak.TagInstance]; whole.MatchString(id) {
			ids = append(ids, id)
		}
	}
	return source.Distinct(ids)
}
