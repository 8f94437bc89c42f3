package gather

import (
	"context"

	"rollcall/shared/snapshot"
)

// managed is how a source of EKS or IAM is read; nil for other sources.
func (l *look) managed(source snapshot.Source) func(context.Context) (store, error) {
	switch source {
	case snapshot.Nodegroups:
		return func(ctx context.Context) (store, error) {
			names := l.q.Nodegroups
			if l.q.AllNodegroups && names == nil {
				all, err := l.r.nodegroupNames(ctx, l.q.Cluster)
				if err != nil {
					return nil, err
				}
				names = all
			}
			list, err := l.r.readNodegroups(ctx, l.q.Cluster, names)
			return keep(list, err, func(n snapshot.Nodegroup) string { return n.Name }, func(s *snapshot.Snapshot) *[]snapshot.Nodegroup { return &s.Nodegroups })
		}
	case snapshot.Updates:
		return l.updates
	case snapshot.Addons:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readAddons(ctx, l.q.Cluster)
			return keep(list, err, func(a snapshot.Addon) string { return a.Name }, func(s *snapshot.Snapshot) *[]snapshot.Addon { return &s.Addons })
		}
	case snapshot.PodIdentities:
		return func(ctx context.Context) (store, error) {
			list, err := l.r.readPodIdentities(ctx, l.q.Cluster)
			return keep(list, err, func(p snapshot.PodIdentity) string { return p.Namespace + "/" + p.ServiceAccount }, func(s *snapshot.Snapshot) *[]snapshot.PodIdentity { return &s.PodIdentities })
		}
	case snapshot.Access:
		return l.access
	case snapshot.Profiles:
		return l.profiles
	case snapshot.Roles:
		return l.roles
	}
	return nil
}
