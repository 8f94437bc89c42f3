package joincheck

import (
	"context"
	"slices"

	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/snapshot"
)

// unnamed finds the instances of the cluster's VPC that do not carry its usual
// tag: by another tag, by their group, or by nothing but their user data. An
// instance of the last kind becomes a node only by luck, and no event rule can
// tell it from any other (instance/cluster-tag). What kept it from looking is
// told with those that it found all the same.
func (h handler) unnamed(ctx context.Context, s *snapshot.Snapshot, r *roll) ([]entry, *snapshot.Failure) {
	if s.Cluster.VPC == "" || !s.Read[snapshot.Clusters] {
		return nil, nil
	}
	list, failed := h.search.FindIn(ctx, s.Cluster.VPC)
	if failed != nil {
		return nil, failed
	}
	known := map[string]bool{}
	for _, e := range r.entries {
		known[e.launch.Instance] = true
	}
	for _, n := range s.Nodes {
		known[n.Instance] = true
	}
	list = slices.DeleteFunc(list, func(in snapshot.Instance) bool {
		return known[in.ID] || in.Ended() || s.Time.Sub(in.Launched) > h.giveUp
	})
	evidence := detect.Evidence{Groups: r.groups, Watches: func(name string) bool { return name == s.Cluster.Name }}
	strangers := strangersIn(list, r.groups)
	if evidence.Named, failed = h.namedByUserData(ctx, strangers); failed != nil {
		r.strangers, r.unowned = detect.IDs(strangers), failed
	}
	var entries []entry
	for _, in := range detect.Assign(list, evidence).Clusters[s.Cluster.Name] {
		entries = append(entries, entry{launch: detect.Fresh(s.Cluster.Name, in, in.Launched, r.learned), unsure: true, instance: &in})
	}
	return entries, failed
}

// strangersIn are the instances that neither a tag nor a group of the cluster names.
func strangersIn(list []snapshot.Instance, groups []snapshot.Group) []snapshot.Instance {
	return slices.DeleteFunc(slices.Clone(list), func(in snapshot.Instance) bool {
		_, tagged := gather.ClusterOf(in.Tags)
		return tagged || slices.ContainsFunc(groups, func(g snapshot.Group) bool { return g.Name == detect.GroupOf(in) })
	})
}

// namedByUserData asks the user data of instances that no tag names.
func (h handler) namedByUserData(ctx context.Context, strangers []snapshot.Instance) (map[string]string, *snapshot.Failure) {
	if len(strangers) == 0 {
		return nil, nil
	}
	data, failed := h.search.UserData(ctx, strangers)
	if failed != nil {
		return nil, failed
	}
	return detect.NamedByUserData(data), nil
}
