package gather

import (
	"cmp"
	"context"
	"slices"

	"rollcall/shared/snapshot"
)

// machines is how a source about instances and what launches them is read; nil
// for other sources.
func (l *look) machines(source snapshot.Source) func(context.Context) (store, error) {
	switch source {
	case snapshot.InstanceTypes:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readInstanceTypes(ctx, distinct(append(typesOf(l.s.Instances, l.s.Groups), l.q.Types...)))
			return keep(list, err, func(t snapshot.InstanceType) string { return t.Name }, func(s *snapshot.Snapshot) *[]snapshot.InstanceType { return &s.InstanceTypes })
		}
	case snapshot.Activities:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readActivities(ctx, namesOf(l.s.Groups))
			return keep(list, err, nil, func(s *snapshot.Snapshot) *[]snapshot.Activity { return &s.Activities })
		}
	case snapshot.Statuses:
		return l.statuses
	case snapshot.UserDataOf:
		return l.userData
	case snapshot.Consoles:
		return l.consoles
	case snapshot.Images:
		return l.images
	case snapshot.LaunchTemplates:
		return l.launchTemplates
	case snapshot.CreatorsOf:
		return l.creators
	case snapshot.VolumesOf:
		return l.volumes
	case snapshot.ZonesOf:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readZones(ctx)
			return keep(list, err, func(z snapshot.Zone) string { return z.Name }, func(s *snapshot.Snapshot) *[]snapshot.Zone { return &s.Zones })
		}
	}
	return nil
}

// inScope are the instances of the scope that EC2 described.
func (l *look) inScope() []snapshot.Instance {
	wanted := make(map[string]bool, len(l.s.Scope.Instances))
	for _, id := range l.s.Scope.Instances {
		wanted[id] = true
	}
	return slices.DeleteFunc(slices.Clone(l.s.Instances), func(in snapshot.Instance) bool { return !wanted[in.ID] })
}

// suspects are the instances of the scope that are no Ready nodes, live ones
// first: more can be asked of them. Where the nodes are not known all are
// suspects.
func (l *look) suspects() []snapshot.Instance {
	joined := map[string]bool{}
	if l.s.Has(snapshot.Nodes) {
		for _, n := range l.s.Nodes {
			if n.Joined() {
				joined[n.Instance] = true
			}
		}
	}
	list := slices.DeleteFunc(l.inScope(), func(in snapshot.Instance) bool { return joined[in.ID] })
	slices.SortStableFunc(list, func(a, b snapshot.Instance) int {
		return cmp.Or(cmp.Compare(toInt(a.Ended()), toInt(b.Ended())), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
