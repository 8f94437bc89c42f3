package iam

import (
	"fmt"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func AccessWrongARN() check.Check {
	return withClasses(classWrongARN, usingRoles(check.Check{
		ID:         checkid.IAMAccessWrongARN,
		Remedy:     createAccessEntry,
		Title:      "The node role is mapped by an ARN that is not looked up",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances},
		Cause: "aws-auth maps the instance profile's ARN, a session's ARN, or the role's ARN with its path. The authenticator looks for the role's ARN without a path, because STS names an assumed role without it. " +
			"Access entries are the other way round: there the path belongs to the ARN. EKS Auto Mode looks for the entry of a NodeClass's role without its path all the same.",
		Fix: "Map the ARN arn:aws:iam::<account>:role/<name> in aws-auth, or make an access entry with the role's full ARN.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting_iam.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, wrongARN(c, s)...)
			}
			return blind
		},
	}))
}

func wrongARN(c facts.RoleGroup, s *facts.View) []finding.Finding {
	a, why := accessOf(s, c)
	switch {
	case len(c.Suspects) == 0:
		return []finding.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	case why != nil:
		return c.Blocked(*why)
	case a.entry != nil, len(a.mapped) > 0 && len(a.unread) == 0:
		return []finding.Finding{c.Pass(c.Name(), "is found by its ARN")}
	case len(a.unread) > 0:
		// What could not be read may admit the role.
		return c.Blocked(a.unread...)
	case len(a.near) == 0:
		return []finding.Finding{c.Pass(c.Name(), "nothing that means it is written differently")}
	}
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("%s is mapped by an ARN that does not match", c.Name()),
		Why: fmt.Sprintf("%s: it %s. The role %s itself has %s, so %s answers %s with 401 Unauthorized.",
			a.near[0].What, a.near[0].Value, awsauth.Canonical(c.Role), a.where(s), s.Cluster.Name, phrase.Some(facts.IDs(c.Suspects), 3)),
		Evidence: append([]finding.Evidence{{What: "Role", Value: c.Role}, modeEvidence(s)}, a.near...),
		Fix:      admit(c, s, a),
	}
	c.Witness(&f)
	for _, m := range a.users {
		if means, _ := m.Node(); means != awsauth.Never {
			f.Confidence = finding.Possible // the authenticator looks in mapUsers too
		}
	}
	return c.Judged(f)
}
