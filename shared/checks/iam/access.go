package iam

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
)

// access is who the cluster takes a node role for.
type access struct {
	// byEntry and byMap tell where the cluster looks (its authentication mode).
	byEntry, byMap bool
	// entry is the role's access entry.
	entry *snapshot.AccessEntry
	// mapped are its mappings in mapRoles, in their order: the last one counts.
	mapped []awsauth.Mapping
	// users are its mappings in mapUsers, which count after mapRoles.
	users []awsauth.Mapping
	// near are the principals and mappings that mean the role and are not
	// found, in words.
	near []finding.Evidence
	// invalid is why mapRoles cannot be read by the cluster either.
	invalid error
	// unread are what could not be looked at: something may be there.
	unread []snapshot.Failure
}

// accessOf looks a role up where the cluster does. Why is set where the
// authentication mode is one that this code does not know.
func accessOf(s *facts.View, c facts.RoleGroup) (a access, why *snapshot.Failure) {
	switch s.Cluster.AuthMode {
	case "", "CONFIG_MAP": // answers from before access entries name no mode
		a.byMap = true
	case "API":
		a.byEntry = true
	case "API_AND_CONFIG_MAP":
		a.byEntry, a.byMap = true, true
	default:
		return a, &snapshot.Failure{Source: snapshot.Clusters, Reason: snapshot.NotRead, Message: fmt.Sprintf("%s has the authentication mode %q, which is not known", s.Cluster.Name, s.Cluster.AuthMode)}
	}
	if a.byEntry {
		a.lookForEntry(s, c)
	}
	if a.byMap {
		a.lookInMap(s, c)
	}
	return a, nil
}

// entriesUnread are what could not be looked at of access entries.
func (a access) entriesUnread() []snapshot.Failure {
	return slices.DeleteFunc(slices.Clone(a.unread), func(f snapshot.Failure) bool { return f.Source != snapshot.Access })
}

func (a *access) lookForEntry(s *facts.View, c facts.RoleGroup) {
	if !s.Has(snapshot.Access) {
		a.unread = append(a.unread, s.Why(snapshot.Access))
		return
	}
	for i, e := range s.AccessEntries {
		if strings.EqualFold(e.Principal, c.Role) {
			a.entry = &s.AccessEntries[i]
			return
		}
	}
	lack, lacks := s.Lacks(snapshot.Access, c.Role)
	switch {
	case lacks && lack.Code != "ResourceNotFoundException":
		a.unread = append(a.unread, lack)
	case lacks:
	case slices.ContainsFunc(s.Principals, func(p string) bool { return strings.EqualFold(p, c.Role) }):
		a.unread = append(a.unread, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.NotRead, Message: "the access entry of " + c.Role + " was not described"})
	}
	for _, p := range s.Principals {
		if why := mistaken(p, c.Role, c); why != "" {
			a.near = append(a.near, finding.Evidence{What: "Access entry " + p, Value: why})
		}
	}
}

func (a *access) lookInMap(s *facts.View, c facts.RoleGroup) {
	if !s.Has(snapshot.AWSAuthMap) {
		a.unread = append(a.unread, s.Why(snapshot.AWSAuthMap))
		return
	}
	if s.AWSAuth == nil {
		return
	}
	roles, err := awsauth.Roles(s.AWSAuth.MapRoles)
	a.invalid = err
	a.mapped = awsauth.Of(roles, c.Role)
	for _, m := range roles {
		if m.ARN == "" {
			m.ARN = m.Stray
		}
		if why := mistaken(m.ARN, awsauth.Canonical(c.Role), c); why != "" {
			a.near = append(a.near, finding.Evidence{What: fmt.Sprintf("mapRoles, entry %d: %s", m.Place, m.ARN), Value: why})
		} else if m.Stray != "" && strings.EqualFold(m.Stray, awsauth.Canonical(c.Role)) {
			a.near = append(a.near, finding.Evidence{What: fmt.Sprintf("mapRoles, entry %d: %s", m.Place, m.Stray), Value: "stands under userarn, not rolearn"})
		}
	}
	users, err := awsauth.Users(s.AWSAuth.MapUsers)
	if err != nil {
		return // it holds users; what it should hold of roles is found missing
	}
	a.users = awsauth.Of(users, c.Role)
}

// mistaken is how an ARN that means the role differs from the one that is
// looked up; empty where it is that one or means another.
func mistaken(arn, want string, c facts.RoleGroup) string {
	if arn == "" || strings.EqualFold(arn, want) {
		return ""
	}
	if trimmed := strings.TrimSpace(arn); strings.EqualFold(trimmed, want) {
		return "has a space around the ARN"
	}
	got, role := strings.SplitN(arn, ":", 6), strings.SplitN(want, ":", 6)
	if len(got) != 6 || len(role) != 6 {
		return ""
	}
	kind, rest, _ := strings.Cut(got[5], "/")
	switch {
	case kind == "instance-profile" && got[4] == role[4] && uses(c, arn):
		return "is the instance profile's ARN, not the role's"
	case kind == "assumed-role" && got[4] == role[4] && strings.EqualFold(firstPart(rest), c.Name()):
		return "is the ARN of a session, not the role's"
	case kind != "role" || !strings.EqualFold(facts.LastPart(rest), c.Name()):
		return ""
	case got[4] != role[4]:
		return "" // the same name in another account is another role
	case got[1] != role[1]:
		return "has the partition " + got[1]
	case strings.EqualFold(arn, c.Role):
		return "has the role's path, which the authenticator does not know: STS names roles without it"
	}
	return "has another path than what is looked up, " + want
}

// uses tells that an ARN is that of the profile of one of the instances, or
// of one that has the role's name, as the console makes them.
func uses(c facts.RoleGroup, profile string) bool {
	return strings.EqualFold(facts.LastPart(profile), c.Name()) ||
		slices.ContainsFunc(slices.Concat(c.Suspects, c.Well), func(i *snapshot.Instance) bool { return strings.EqualFold(i.Profile, profile) })
}

func firstPart(text string) string {
	first, _, _ := strings.Cut(text, "/")
	return first
}

// counts is the mapping of aws-auth that the cluster goes by.
func (a access) counts() (awsauth.Mapping, bool) {
	if len(a.mapped) > 0 {
		return a.mapped[len(a.mapped)-1], true
	}
	return awsauth.Mapping{}, false
}

// nodeType tells that a type of access entry makes nodes of a role.
func nodeType(kind string) bool {
	return slices.Contains([]string{"EC2_LINUX", "EC2_WINDOWS", "EC2", "HYPERPOD_LINUX"}, kind)
}
