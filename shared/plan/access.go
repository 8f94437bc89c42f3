package plan

import (
	"slices"
	"strings"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

// The reasons why no access entry is made.
const (
	NotARole    Reason = "not-a-node-role"
	WrongMode   Reason = "authentication-mode"
	Mapped      Reason = "mapped-already"
	MixedNodes  Reason = "mixed-nodes"
	ClusterRole Reason = "cluster-role"
	// RoleNotNamed: the operator has not named the role (setting remedyRoles).
	RoleNotNamed Reason = "role-not-opted-in"
	// NotLaunchedByIt: nothing of the cluster launched the instance.
	NotLaunchedByIt Reason = "not-launched-by-the-cluster"
)

// The tags that Karpenter gives an instance with its launch, beside the
// cluster's: karpenter-provider-aws, pkg/providers/launchtemplate and instance.
const (
	nodePoolTag  = "karpenter.sh/nodepool"
	nodeClassTag = "karpenter.k8s.aws/ec2nodeclass"
)

// access plans an access entry for the role of instances that the cluster does
// not know: of a type that makes nodes of them, and nothing else.
func (l look) access() (*Access, *Refusal) {
	role := l.of.Resource
	if no := l.nodeRole(role); no != nil {
		return nil, no
	}
	if no := l.unknownTo(role); no != nil {
		return nil, no
	}
	if !slices.Contains(l.of.Roles, role) {
		return nil, refuse(RoleNotNamed, "%s is not among the roles that may be added (setting remedyRoles).", role)
	}
	a, no := l.entryOf(role)
	if no != nil {
		return nil, no
	}
	if no := l.still(checks.Certain); no != nil {
		return nil, no
	}
	return &a, nil
}

// nodeRole asks whether an ARN can be that of nodes.
func (l look) nodeRole(role string) *Refusal {
	parts := strings.SplitN(role, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "iam" || !strings.HasPrefix(parts[5], "role/") {
		return refuse(NotARole, "%s is not the ARN of a role.", role)
	}
	name := parts[5][strings.LastIndexByte(parts[5], '/')+1:]
	switch {
	case parts[1] != l.s.Partition || parts[4] != l.s.Account:
		return refuse(OtherAccount, "%s is not of this account.", role)
	case strings.HasPrefix(parts[5], "role/aws-service-role/"), strings.HasPrefix(parts[5], "role/service-role/aws-"), strings.HasPrefix(name, "AWSServiceRoleFor"):
		return refuse(NotARole, "%s is a service's own role.", role)
	case strings.HasPrefix(parts[5], "role/aws-reserved/"), strings.HasPrefix(name, "AWSReservedSSO_"):
		return refuse(NotARole, "%s is a role of people (IAM Identity Center).", role)
	case name == "" || strings.EqualFold(role, l.s.Cluster.Role):
		return refuse(ClusterRole, "%s is the cluster's own role.", role)
	}
	return nil
}

// unknownTo asks whether the cluster looks at access entries, and knows the
// role in no way.
func (l look) unknownTo(role string) *Refusal {
	same := func(arn string) bool { return strings.EqualFold(arn, role) }
	mode := l.s.Cluster.AuthMode
	if mode != "API" && mode != "API_AND_CONFIG_MAP" {
		return refuse(WrongMode, "%s has the authentication mode %q, in which access entries do not count.", l.of.Cluster, mode)
	}
	if slices.ContainsFunc(l.s.Principals, same) || slices.ContainsFunc(l.s.AccessEntries, func(e snapshot.AccessEntry) bool { return same(e.Principal) }) {
		return refuse(AlreadyThere, "There is an access entry for %s.", role)
	}
	if f, lacks := l.s.Lacks(snapshot.Access, role); lacks && f.Code != "ResourceNotFoundException" {
		return unread(f)
	}
	if mode == "API" {
		return nil
	}
	if !l.s.Has(snapshot.AWSAuthMap) {
		return unread(l.s.Why(snapshot.AWSAuthMap))
	}
	if l.s.AWSAuth == nil {
		return nil
	}
	roles, err := awsauth.Roles(l.s.AWSAuth.MapRoles)
	if err != nil {
		return refuse(Mapped, "mapRoles of aws-auth cannot be read as YAML: whether it names %s is not known.", role)
	}
	// An entry would win over any mapping, and take away what that one gives.
	if len(awsauth.Of(roles, role)) > 0 {
		return refuse(Mapped, "aws-auth maps %s.", role)
	}
	users, err := awsauth.Users(l.s.AWSAuth.MapUsers)
	if err != nil || len(awsauth.Of(users, role)) > 0 {
		return refuse(Mapped, "mapUsers of aws-auth names %s, or cannot be read.", role)
	}
	return nil
}

// entryOf is the entry for the instances of the incident, all of which must
// have been launched by this cluster, have the role, and run the same kind of
// system.
func (l look) entryOf(role string) (Access, *Refusal) {
	a := Access{Principal: role}
	for _, in := range l.s.Instances {
		if !slices.Contains(l.of.Covers, in.ID) || in.Ended() {
			continue
		}
		_, tagged := in.Tags[ours(l.of.Cluster)]
		p := slices.IndexFunc(l.s.Profiles, func(p snapshot.Profile) bool { return p.ARN == in.Profile })
		switch {
		case !tagged:
			return Access{}, refuse(OtherCluster, "%s is not tagged as %s's.", in.ID, l.of.Cluster)
		case p < 0:
			return Access{}, unread(snapshot.Failure{Source: snapshot.Profiles, Reason: snapshot.Broken, Message: in.Profile + " of " + in.ID + " is not among them"})
		case !slices.Equal(l.s.Profiles[p].Roles, []string{role}):
			return Access{}, refuse(NotARole, "%s has another role than %s now.", in.ID, role)
		case l.s.Cluster.AutoMode && in.Tags["eks:eks-cluster-name"] != "":
			return Access{}, refuse(NotARole, "%s is EKS Auto Mode's, which admits its nodes itself.", in.ID)
		}
		is := "EC2_LINUX"
		if in.Windows {
			is = "EC2_WINDOWS"
		}
		if a.Type != "" && is != a.Type {
			return Access{}, refuse(MixedNodes, "Both Linux and Windows nodes have %s: one entry cannot be for both.", role)
		}
		by, proved, no := l.launchedBy(in)
		if no != nil {
			return Access{}, no
		}
		a.Type, a.Tagged = is, a.Tagged || !proved
		if !slices.Contains(a.LaunchedBy, by) {
			a.LaunchedBy = append(a.LaunchedBy, by)
		}
	}
	if a.Type == "" {
		return Access{}, refuse(NotSo, "No instance of the incident with %s runs any more.", role)
	}
	slices.Sort(a.LaunchedBy)
	return a, nil
}

// launchedBy is what of the cluster launched an instance: an Auto Scaling group
// that the cluster or one of its nodegroups owns, or a NodePool of Karpenter's.
// The cluster's tag alone proves nothing: whoever may start an instance may set
// it, and every other tag but those that begin with "aws:" (EC2 user guide, "Tag
// restrictions"). So a group counts that counts the instance itself; proved is
// false where tags alone name the NodePool.
func (l look) launchedBy(in snapshot.Instance) (by string, proved bool, _ *Refusal) {
	i := slices.IndexFunc(l.s.Groups, func(g snapshot.Group) bool {
		return slices.ContainsFunc(g.Instances, func(m snapshot.GroupInstance) bool { return m.ID == in.ID })
	})
	name := in.Tags["aws:autoscaling:groupName"]
	switch {
	case i >= 0:
		name = l.s.Groups[i].Name
	case name == "":
		pool := in.Tags[nodePoolTag]
		if pool == "" || in.Tags[nodeClassTag] == "" || in.Tags[ours(l.of.Cluster)] != "owned" || in.Tags["eks:eks-cluster-name"] != l.of.Cluster {
			return "", false, refuse(NotLaunchedByIt, "%s has the tag of %s, and neither an Auto Scaling group, a nodegroup nor a NodePool of it launched it: anybody could have set the tag.", in.ID, l.of.Cluster)
		}
		return "NodePool " + pool, false, nil
	case slices.ContainsFunc(l.s.Groups, func(g snapshot.Group) bool { return g.Name == name }):
		return "", false, refuse(NotTheGroups, "%s does not count %s among its instances.", name, in.ID)
	default:
		return "", false, unread(snapshot.Failure{Source: snapshot.Groups, Reason: snapshot.Broken, Message: name + " is not among them"})
	}
	n := slices.IndexFunc(l.s.Nodegroups, func(n snapshot.Nodegroup) bool { return slices.Contains(n.Groups, name) })
	switch {
	case n >= 0 && (l.s.Nodegroups[n].Cluster == "" || l.s.Nodegroups[n].Cluster == l.of.Cluster):
		return "nodegroup " + l.s.Nodegroups[n].Name, true, nil
	case l.s.Groups[i].Tags[ours(l.of.Cluster)] == "owned":
		return "Auto Scaling group " + name, true, nil
	}
	return "", false, refuse(OtherCluster, "%s, which launched %s, is not tagged as owned by %s.", name, in.ID, l.of.Cluster)
}
