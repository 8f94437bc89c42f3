package facts

import (
	"slices"

	"rollcall/shared/snapshot"
)

// NoSuchEntity is IAM's code for what was deleted.
const NoSuchEntity = "NoSuchEntity"

// roleOf is the ARN of an instance's role: empty where it has none. EKS makes
// the instance profile of a managed node group from the group's role, so that
// tells the role where the profile cannot be read.
func roleOf(s *View, i *snapshot.Instance) (role string, why snapshot.Failure, known bool) {
	group := nodegroupRole(s, i)
	if i.Profile == "" {
		// EC2 forgets the profile of an instance that has ended.
		if i.Ended() {
			return group, snapshot.Failure{}, true
		}
		return "", snapshot.Failure{}, true
	}
	if p, ok := ProfileOf(s, i.Profile); ok {
		if len(p.Roles) == 0 {
			return "", snapshot.Failure{}, true
		}
		return p.Roles[0], snapshot.Failure{}, true
	}
	why, lacks := s.Lacks(snapshot.Profiles, i.Profile)
	switch {
	case lacks && why.Code == NoSuchEntity:
		return "", snapshot.Failure{}, true
	case group != "":
		return group, snapshot.Failure{}, true
	case lacks:
		return "", why, false
	case !s.Has(snapshot.Profiles):
		return "", s.Why(snapshot.Profiles), false
	}
	return "", snapshot.Failure{
		Source: snapshot.Profiles, Reason: snapshot.NotRead, Message: i.Profile + " is not among the instance profiles that were read",
	}, false
}

func ProfileOf(s *View, arn string) (snapshot.Profile, bool) {
	if !s.Has(snapshot.Profiles) {
		return snapshot.Profile{}, false
	}
	i := slices.IndexFunc(s.Profiles, func(p snapshot.Profile) bool { return p.ARN == arn })
	if i < 0 {
		return snapshot.Profile{}, false
	}
	return s.Profiles[i], true
}

func nodegroupRole(s *View, i *snapshot.Instance) string {
	name := i.Tags["eks:nodegroup-name"]
	for _, g := range s.Nodegroups {
		if name != "" && g.Name == name && g.Cluster == s.Cluster.Name {
			return g.Role
		}
	}
	return ""
}

// ReadRole is a role with its policies. Gone tells that IAM has no such role
// any more; otherwise why tells what kept it from being read.
func ReadRole(s *View, arn string) (role snapshot.Role, gone bool, why *snapshot.Failure) {
	if f, lacks := s.Lacks(snapshot.Roles, arn); lacks {
		if f.Code == NoSuchEntity {
			return snapshot.Role{}, true, nil
		}
		return snapshot.Role{}, false, &f
	}
	if !s.Has(snapshot.Roles) {
		f := s.Why(snapshot.Roles)
		return snapshot.Role{}, false, &f
	}
	for _, r := range s.Roles {
		if r.ARN == arn {
			return r, false, nil
		}
	}
	return snapshot.Role{}, false, &snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.NotRead, Message: arn + " is not among the roles that were read"}
}
