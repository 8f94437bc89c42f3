// Package createaccessentry lets the role of nodes into a cluster that does not know it,
// as nodes and as nothing else.
package createaccessentry

import (
	"context"
	"slices"
	"strings"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/checks/finding"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
)

// Remedy is the remedy.
func Remedy() action.Remedy[remedy.CreateAccessEntry, Calls] {
	return action.Remedy[remedy.CreateAccessEntry, Calls]{
		Name:    optin.CreateAccessEntry,
		Sources: []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Profiles, snapshot.Access, snapshot.Groups, snapshot.Nodegroups},
		Uses:    []snapshot.Source{snapshot.NodeClaimsOf},
		Plan:    func(l action.Look) (*remedy.CreateAccessEntry, *action.Refusal) { return look{l}.plan() },
		Applied: applied,
		Do:      do,
		Grants:  grants,
	}
}

// Calls are what the remedy asks of AWS.
type Calls interface {
	// CreateAccessEntry makes an access entry without groups and policies. The token
	// makes EKS take the same call once.
	CreateAccessEntry(ctx context.Context, cluster, principal, kind, token string) action.Answer
}

// do makes an entry of a type for nodes; of no other type, whatever the plan
// says.
func do(ctx context.Context, calls Calls, p remedy.CreateAccessEntry, at remedy.Place, token string) action.Result {
	if p.Type != "EC2_LINUX" && p.Type != "EC2_WINDOWS" {
		return action.One(p.Principal, action.NotAsked("NotANodeType", p.Type+" is no type for nodes"))
	}
	return action.One(p.Principal, calls.CreateAccessEntry(ctx, at.Cluster, p.Principal, p.Type, token))
}

// grants are for the roles that the operator named, and for nodes' entries alone.
//
// That eks:accessEntryType (String) and eks:principalArn (ARN) count in
// CreateAccessEntry stands in a public list made from the service authorization
// reference (list_amazonelastickubernetesservice, "Condition keys"). AWS's own
// AmazonPrometheusScraperServiceRolePolicy narrows by eks:principalArn with
// ArnLike, which is the same as ArnEquals (IAM user guide, "ARN condition
// operators"). It was not tried in AWS.
func grants(o action.OptIn) []spec.Grant {
	var grants []spec.Grant
	for _, roles := range upTo(o.Roles, roleCharacters) {
		list := o.ByARN("arn:${Partition}:eks:${Region}:${Account}:cluster/%s", spec.Grant{
			Sid: "AdmitRoles", Why: "create-access-entry gives the node roles that the operator named access to the cluster, as nodes only.",
			Actions:    []string{"eks:CreateAccessEntry"},
			Conditions: map[string]map[string][]string{"StringEquals": {"eks:accessEntryType": {"EC2_LINUX", "EC2_WINDOWS"}}, "ArnEquals": {"eks:principalArn": roles}},
		})
		for i := range list {
			list[i].Sid = action.Numbered("AdmitRoles", len(grants)+i)
		}
		grants = append(grants, list...)
	}
	return grants
}

// roleCharacters is how long the ARNs of roles in a statement are together, so
// that it fits into a managed policy with those of its clusters.
const roleCharacters = 2_400

// upTo splits a list into parts of at most so many characters each, or of one
// element.
func upTo(list []string, most int) [][]string {
	var parts [][]string
	var left int // of the last part
	for _, text := range list {
		size := len(text) + len(`"",`)
		if size > left {
			parts, left = append(parts, nil), most
		}
		left -= size
		last := len(parts) - 1
		parts[last] = append(parts[last], text)
	}
	return parts
}

// The reasons why no access entry is made.
const (
	NotARole    remedy.Reason = "not-a-node-role"
	WrongMode   remedy.Reason = "authentication-mode"
	Mapped      remedy.Reason = "mapped-already"
	MixedNodes  remedy.Reason = "mixed-nodes"
	ClusterRole remedy.Reason = "cluster-role"
	// RoleNotNamed: the operator has not named the role (setting remedyRoles).
	RoleNotNamed remedy.Reason = "role-not-opted-in"
)

// look is one look at the world, for this remedy.
type look struct{ action.Look }

// plan plans an access entry for the role of instances that the cluster does
// not know: of a type that makes nodes of them, and nothing else.
func (l look) plan() (*remedy.CreateAccessEntry, *action.Refusal) {
	role := l.Subject.Resource
	if no := l.nodeRole(role); no != nil {
		return nil, no
	}
	if no := l.unknownTo(role); no != nil {
		return nil, no
	}
	if !slices.Contains(l.Subject.Roles, role) {
		return nil, action.Refuse(RoleNotNamed, "%s is not among the roles that Rollcall is allowed to add (setting remedyRoles).", role)
	}
	a, no := l.entryOf(role)
	if no != nil {
		return nil, no
	}
	if no := l.Still(finding.Certain); no != nil {
		return nil, no
	}
	return &a, nil
}

// nodeRole asks whether an ARN can be that of nodes.
func (l look) nodeRole(role string) *action.Refusal {
	parts := strings.SplitN(role, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "iam" || !strings.HasPrefix(parts[5], "role/") {
		return action.Refuse(NotARole, "%s is not the ARN of a role.", role)
	}
	name := parts[5][strings.LastIndexByte(parts[5], '/')+1:]
	switch {
	case parts[1] != l.Snapshot.Partition || parts[4] != l.Snapshot.Account:
		return action.Refuse(remedy.OtherAccount, "%s belongs to another account.", role)
	case strings.HasPrefix(parts[5], "role/aws-service-role/"), strings.HasPrefix(parts[5], "role/service-role/aws-"), strings.HasPrefix(name, "AWSServiceRoleFor"):
		return action.Refuse(NotARole, "%s is a service's own role.", role)
	case strings.HasPrefix(parts[5], "role/aws-reserved/"), strings.HasPrefix(name, "AWSReservedSSO_"):
		return action.Refuse(NotARole, "%s is a role of people (IAM Identity Center).", role)
	case name == "" || strings.EqualFold(role, l.Snapshot.Cluster.Role):
		return action.Refuse(ClusterRole, "%s is the cluster's own role.", role)
	}
	return nil
}

// unknownTo asks whether the cluster looks at access entries, and knows the
// role in no way.
func (l look) unknownTo(role string) *action.Refusal {
	same := func(arn string) bool { return strings.EqualFold(arn, role) }
	mode := l.Snapshot.Cluster.AuthMode
	if mode != "API" && mode != "API_AND_CONFIG_MAP" {
		return action.Refuse(WrongMode, "%s has the authentication mode %q, which ignores access entries.", l.Subject.Cluster, mode)
	}
	if slices.ContainsFunc(l.Snapshot.Principals, same) || slices.ContainsFunc(l.Snapshot.AccessEntries, func(e snapshot.AccessEntry) bool { return same(e.Principal) }) {
		return action.Refuse(remedy.AlreadyThere, "%s already has an access entry.", role)
	}
	if f, lacks := l.Snapshot.Lacks(snapshot.Access, role); lacks && f.Code != "ResourceNotFoundException" {
		return action.Unread(f)
	}
	if mode == "API" {
		return nil
	}
	if !l.Snapshot.Has(snapshot.AWSAuthMap) {
		return action.Unread(l.Snapshot.Why(snapshot.AWSAuthMap))
	}
	if l.Snapshot.AWSAuth == nil {
		return nil
	}
	roles, err := awsauth.Roles(l.Snapshot.AWSAuth.MapRoles)
	if err != nil {
		return action.Refuse(Mapped, "mapRoles of aws-auth is not valid YAML: whether it names %s is unknown.", role)
	}
	// An entry would win over any mapping, and take away what that one gives.
	if len(awsauth.ForRole(roles, role)) > 0 {
		return action.Refuse(Mapped, "aws-auth maps %s.", role)
	}
	users, err := awsauth.Users(l.Snapshot.AWSAuth.MapUsers)
	if err != nil || len(awsauth.ForRole(users, role)) > 0 {
		return action.Refuse(Mapped, "mapUsers of aws-auth names %s, or cannot be read.", role)
	}
	return nil
}

// entryOf is the entry for the instances of the incident, all of which must
// have been launched by this cluster, have the role, and run the same kind of
// system.
func (l look) entryOf(role string) (remedy.CreateAccessEntry, *action.Refusal) {
	a := remedy.CreateAccessEntry{Principal: role}
	for _, in := range l.Snapshot.Instances {
		if !slices.Contains(l.Subject.Covers, in.ID) || in.Ended() {
			continue
		}
		_, tagged := in.Tags[action.ClusterTag(l.Subject.Cluster)]
		p := slices.IndexFunc(l.Snapshot.Profiles, func(p snapshot.Profile) bool { return p.ARN == in.Profile })
		switch {
		case !tagged:
			return remedy.CreateAccessEntry{}, action.Refuse(remedy.OtherCluster, "%s is not tagged as %s's.", in.ID, l.Subject.Cluster)
		case p < 0:
			return remedy.CreateAccessEntry{}, action.Missing(snapshot.Profiles, in.Profile+" of "+in.ID+" is not among them")
		case !slices.Equal(l.Snapshot.Profiles[p].Roles, []string{role}):
			return remedy.CreateAccessEntry{}, action.Refuse(NotARole, "%s now has a role other than %s.", in.ID, role)
		case l.Snapshot.Cluster.AutoMode && in.Tags["eks:eks-cluster-name"] != "":
			return remedy.CreateAccessEntry{}, action.Refuse(NotARole, "%s belongs to EKS Auto Mode, which gives its nodes access itself.", in.ID)
		}
		is := "EC2_LINUX"
		if in.Windows {
			is = "EC2_WINDOWS"
		}
		if a.Type != "" && is != a.Type {
			return remedy.CreateAccessEntry{}, action.Refuse(MixedNodes, "Both Linux and Windows nodes have %s: one entry cannot cover both.", role)
		}
		by, proved, no := l.LaunchedBy(in)
		if no != nil {
			return remedy.CreateAccessEntry{}, no
		}
		a.Type, a.Tagged = is, a.Tagged || !proved
		if !slices.Contains(a.LaunchedBy, by) {
			a.LaunchedBy = append(a.LaunchedBy, by)
		}
	}
	if a.Type == "" {
		return remedy.CreateAccessEntry{}, action.Refuse(remedy.NotSo, "No instance of the incident with %s is running any longer.", role)
	}
	slices.Sort(a.LaunchedBy)
	return a, nil
}

func applied(a remedy.CreateAccessEntry, s *snapshot.Snapshot) (done, known bool) {
	return slices.ContainsFunc(s.Principals, func(arn string) bool { return strings.EqualFold(arn, a.Principal) }), s.Has(snapshot.Access)
}
