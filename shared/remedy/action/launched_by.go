package action

import (
	"slices"

	"rollcall/shared/snapshot"
)

// The tags that Karpenter gives an instance with its launch, beside the
// cluster's: karpenter-provider-aws, pkg/providers/launchtemplate and instance.
const (
	nodePoolTag  = "karpenter.sh/nodepool"
	nodeClassTag = "karpenter.k8s.aws/ec2nodeclass"
)

// LaunchedBy is what of the cluster launched an instance: an Auto Scaling group
// that the cluster or one of its nodegroups owns, or a NodePool of Karpenter's.
// The cluster's tag alone proves nothing: whoever may start an instance may set
// it, and every other tag but those that begin with "aws:" (EC2 user guide, "Tag
// restrictions"). So a group counts that counts the instance itself; proved is
// false where tags alone name the NodePool.
func (l Look) LaunchedBy(in snapshot.Instance) (by string, proved bool, _ *Refusal) {
	i := slices.IndexFunc(l.Snapshot.Groups, func(g snapshot.Group) bool {
		return slices.ContainsFunc(g.Instances, func(m snapshot.GroupInstance) bool { return m.ID == in.ID })
	})
	name := in.Tags["aws:autoscaling:groupName"]
	switch {
	case i >= 0:
		name = l.Snapshot.Groups[i].Name
	case name == "":
		pool := in.Tags[nodePoolTag]
		if pool == "" || in.Tags[nodeClassTag] == "" || in.Tags[ClusterTag(l.Subject.Cluster)] != "owned" || in.Tags["eks:eks-cluster-name"] != l.Subject.Cluster {
			return "", false, Refuse(NotLaunchedByIt, "%s has the tag of %s, and neither an Auto Scaling group, a nodegroup nor a NodePool of it launched it: anybody could have set the tag.", in.ID, l.Subject.Cluster)
		}
		return "NodePool " + pool, false, nil
	case slices.ContainsFunc(l.Snapshot.Groups, func(g snapshot.Group) bool { return g.Name == name }):
		return "", false, Refuse(NotTheGroups, "%s does not count %s among its instances.", name, in.ID)
	default:
		return "", false, Unread(snapshot.Failure{Source: snapshot.Groups, Reason: snapshot.Broken, Message: name + " is not among them"})
	}
	n := slices.IndexFunc(l.Snapshot.Nodegroups, func(n snapshot.Nodegroup) bool { return slices.Contains(n.Groups, name) })
	switch {
	case n >= 0 && (l.Snapshot.Nodegroups[n].Cluster == "" || l.Snapshot.Nodegroups[n].Cluster == l.Subject.Cluster):
		return "nodegroup " + l.Snapshot.Nodegroups[n].Name, true, nil
	case l.Snapshot.Groups[i].Tags[ClusterTag(l.Subject.Cluster)] == "owned":
		return "Auto Scaling group " + name, true, nil
	}
	return "", false, Refuse(OtherCluster, "%s, which launched %s, is not tagged as owned by %s.", name, in.ID, l.Subject.Cluster)
}
