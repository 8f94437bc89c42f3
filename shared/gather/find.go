package gather

import (
	"context"
	"slices"

	gatherasg "rollcall/shared/gather/autoscaling"
	gatherec2 "rollcall/shared/gather/ec2"
	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// Find reads the instances with the given ids, and the live ones of the given
// Auto Scaling groups.
func (r *Reader) Find(ctx context.Context, ids, groupNames []string) ([]snapshot.Instance, *snapshot.Failure) {
	var found []snapshot.Instance
	if len(groupNames) > 0 {
		list, err := gatherec2.ByFilter(ctx, r.ec2, "tag:aws:autoscaling:groupName", groupNames, gatherec2.Live())
		if err != nil {
			return nil, known(snapshot.Instances).Failure(err)
		}
		found = list
	}
	missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return slices.ContainsFunc(found, func(in snapshot.Instance) bool { return in.ID == id })
	})
	if len(missing) > 0 {
		list, err := gatherec2.ByID(ctx, r.ec2, missing)
		if err != nil {
			return nil, known(snapshot.Instances).Failure(err)
		}
		found = append(found, list...)
	}
	return source.Sorted(found, func(in snapshot.Instance) string { return in.ID }), nil
}

// FindTagged reads the live instances that carry the cluster's tag.
func (r *Reader) FindTagged(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure) {
	list, err := gatherec2.ByFilter(ctx, r.ec2, "tag-key", []string{"kubernetes.io/cluster/" + cluster}, gatherec2.Live())
	if err != nil {
		return nil, known(snapshot.Instances).Failure(err)
	}
	return source.Sorted(list, func(in snapshot.Instance) string { return in.ID }), nil
}

// Groups reads Auto Scaling groups by name.
func (r *Reader) Groups(ctx context.Context, names []string) ([]snapshot.Group, *snapshot.Failure) {
	if len(names) == 0 {
		return nil, nil
	}
	list, err := gatherasg.GroupsNamed(ctx, r.autoscaling, names)
	if err != nil {
		return nil, known(snapshot.Groups).Failure(err)
	}
	return source.Sorted(list, func(g snapshot.Group) string { return g.Name }), nil
}

// FindTaggedAll reads the instances that carry the cluster's tag in whatever
// state: EC2 describes one that has ended for about an hour, with its tags.
func (r *Reader) FindTaggedAll(ctx context.Context, cluster string) ([]snapshot.Instance, *snapshot.Failure) {
	list, err := gatherec2.ByFilter(ctx, r.ec2, "tag-key", []string{"kubernetes.io/cluster/" + cluster})
	if err != nil {
		return nil, known(snapshot.Instances).Failure(err)
	}
	return source.Sorted(list, func(in snapshot.Instance) string { return in.ID }), nil
}

// FindIn reads the instances of a VPC in whatever state, tagged or not. One
// that is terminated has left its VPC: of those only FindTaggedAll and Find
// know.
func (r *Reader) FindIn(ctx context.Context, vpc string) ([]snapshot.Instance, *snapshot.Failure) {
	if vpc == "" {
		return nil, known(snapshot.Instances).Failure(source.ErrNoVPC)
	}
	list, err := gatherec2.ByFilter(ctx, r.ec2, "vpc-id", []string{vpc})
	if err != nil {
		return nil, known(snapshot.Instances).Failure(err)
	}
	return source.Sorted(list, func(in snapshot.Instance) string { return in.ID }), nil
}

// GroupsOf reads the Auto Scaling groups that are tagged as the cluster's: by
// the tags of Kubernetes, which self-managed groups carry, and by that of EKS.
func (r *Reader) GroupsOf(ctx context.Context, cluster string) ([]snapshot.Group, *snapshot.Failure) {
	if cluster == "" {
		return nil, nil
	}
	list, err := gatherasg.GroupsOf(ctx, r.autoscaling, cluster)
	if err != nil {
		return nil, known(snapshot.Groups).Failure(err)
	}
	return list, nil
}

// FindGrouped reads the instances of Auto Scaling groups in whatever state:
// one that has ended keeps the tag of its group for about an hour.
func (r *Reader) FindGrouped(ctx context.Context, groups []string) ([]snapshot.Instance, *snapshot.Failure) {
	if len(groups) == 0 {
		return nil, nil
	}
	list, err := gatherec2.ByFilter(ctx, r.ec2, "tag:"+gatherec2.GroupTag, groups)
	if err != nil {
		return nil, known(snapshot.Instances).Failure(err)
	}
	return source.Sorted(list, func(in snapshot.Instance) string { return in.ID }), nil
}
