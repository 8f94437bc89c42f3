package action

import (
	"slices"

	"rollcall/shared/checks"
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
// restrictions"). So a group counts that counts the instance itself, and a NodePool
// where a NodeClaim names the instance; proved is false where the NodeClaims could
// not be read, so that tags alone name the NodePool.
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
		_, proved := checks.ClaimedBy(l.Snapshot, in.ID)
		if !proved && l.Snapshot.Has(snapshot.NodeClaimsOf) {
			return "", false, Refuse(NotLaunchedByIt, "%s has the tags of NodePool %s, and no NodeClaim of %s names it: anybody could have set the tags.", in.ID, pool, l.Subject.Cluster)
		}
		return "NodePool " + pool, proved, nil
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

// LaunchesInto reports whether it is proved that the cluster launches nodes into a
// subnet: a group or nodegroup of it has the subnet, the class of a NodePool resolves
// to it, or the cluster launched an instance that is in it.
func (l Look) LaunchesInto(subnet string) bool {
	return checks.LaunchesInto(l.Snapshot, subnet) || slices.ContainsFunc(l.Snapshot.Instances, func(in snapshot.Instance) bool {
		if in.Subnet != subnet {
			return false
		}
		_, proved, no := l.LaunchedBy(in)
		return proved && no == nil
	})
}

// Unproved is why a person decides on a plan that rests on tags: subnets or instances
// of which it is not proved that the cluster launches there, or launched them; empty
// where there are none.
func Unproved(things []string) string {
	if len(things) == 0 {
		return ""
	}
	return "That " + And(things) + " " + verb(things) + " the cluster's only tags say, which anybody who can start an instance can set: look before you approve."
}

func verb(things []string) string {
	if len(things) == 1 {
		return "is"
	}
	return "are"
}
