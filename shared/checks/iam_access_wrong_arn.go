package checks

import (
	"fmt"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/snapshot"
)

func accessWrongARN() Check {
	return usingRoles(Check{
		ID:         "iam/access-wrong-arn",
		Title:      "The node role is mapped by an ARN that is not looked up",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances},
		Cause: "aws-auth maps the instance profile's ARN, a session's ARN, or the role's ARN with its path. The authenticator looks for the role's ARN without a path, because STS names an assumed role without it. " +
			"Access entries are the other way round: there the path belongs to the ARN.",
		Fix: "Map the ARN arn:aws:iam::<account>:role/<name> in aws-auth, or make an access entry with the role's full ARN.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting_iam.html",
		},
		Run: func(s *View) []Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, c.wrongARN(s)...)
			}
			return blind
		},
	})
}

func (c crew) wrongARN(s *View) []Finding {
	a, why := accessOf(s, c)
	switch {
	case len(c.suspects) == 0:
		return []Finding{c.pass(c.name(), "all of its instances are Ready nodes")}
	case why != nil:
		return c.blocked(*why)
	case a.entry != nil, len(a.mapped) > 0 && len(a.unread) == 0:
		return []Finding{c.pass(c.name(), "is found by its ARN")}
	case len(a.unread) > 0:
		// What could not be read may admit the role.
		return c.blocked(a.unread...)
	case len(a.near) == 0:
		return []Finding{c.pass(c.name(), "nothing that means it is written differently")}
	}
	f := Finding{
		Outcome: Fail,
		Title:   title("%s is mapped by an ARN that does not match", c.name()),
		Why: fmt.Sprintf("%s: it %s. The role %s itself has %s, so %s answers %s with 401 Unauthorized.",
			a.near[0].What, a.near[0].Value, awsauth.Canonical(c.role), a.where(s), s.Cluster.Name, some(ids(c.suspects), 3)),
		Evidence: append([]Evidence{{What: "Role", Value: c.role}, modeEvidence(s)}, a.near...),
		Fix:      c.admit(s, a),
	}
	c.witness(&f)
	for _, m := range a.users {
		if means, _ := m.Node(); means != awsauth.Never {
			f.Confidence = Possible // the authenticator looks in mapUsers too
		}
	}
	return c.judged(f)
}
