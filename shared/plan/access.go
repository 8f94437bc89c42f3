package plan

import (
	"slices"
	"strings"

	"rollcall/shared/awsauth"
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
	kind, no := l.kindOf(role)
	if no != nil {
		return nil, no
	}
	if no := l.still(checks.Certain); no != nil {
		return nil, no
	}
	return &Access{Principal: role, Type: kind}, nil
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

// kindOf is the type of entry for the instances of the incident, all of which
// must be this cluster's, have the role, and run the same kind of system.
func (l look) kindOf(role string) (string, *Refusal) {
	kind, some := "EC2_LINUX", false
	for _, in := range l.s.Instances {
		if !slices.Contains(l.of.Covers, in.ID) || in.Ended() {
			continue
		}
		_, tagged := in.Tags[ours(l.of.Cluster)]
		p := slices.IndexFunc(l.s.Profiles, func(p snapshot.Profile) bool { return p.ARN == in.Profile })
		switch {
		case !tagged:
			return "", refuse(OtherCluster, "%s is not tagged as %s's.", in.ID, l.of.Cluster)
		case p < 0:
			return "", unread(snapshot.Failure{Source: snapshot.Profiles, Reason: snapshot.Broken, Message: in.Profile + " of " + in.ID + " is not among them"})
		case !slices.Equal(l.s.Profiles[p].Roles, []string{role}):
			return "", refuse(NotARole, "%s has another role than %s now.", in.ID, role)
		case l.s.Cluster.AutoMode && in.Tags["eks:eks-cluster-name"] != "":
			return "", refuse(NotARole, "%s is EKS Auto Mode's, which admits its nodes itself.", in.ID)
		}
		is := "EC2_LINUX"
		if in.Windows {
			is = "EC2_WINDOWS"
		}
		if some && is != kind {
			return "", refuse(MixedNodes, "Both Linux and Windows nodes have %s: one entry cannot be for both.", role)
		}
		kind, some = is, true
	}
	if !some {
		return "", refuse(NotSo, "No instance of the incident with %s runs any more.", role)
	}
	return kind, nil
}
