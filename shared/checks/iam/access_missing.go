package iam

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func AccessMissing() check.Check {
	return withClasses(classAccessMissing, usingRoles(check.Check{
		ID:         checkid.IAMAccessMissing,
		Remedy:     createAccessEntry,
		Title:      "The cluster does not know the node role",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances},
		After:      []checkid.ID{checkid.IAMAccessWrongType, checkid.IAMAccessWrongARN, checkid.IAMAWSAuthInvalid, checkid.IAMAccessDuplicateMapping},
		Cause: "Where the cluster looks, by its authentication mode, there is nothing that makes nodes of the role: no access entry of a node's type (API, API_AND_CONFIG_MAP), and no entry of mapRoles in kube-system/aws-auth with the group system:nodes (CONFIG_MAP, API_AND_CONFIG_MAP). " +
			"The API server answers the kubelet 401 Unauthorized; EKS Auto Mode launches nothing for a NodeClass with such a role. EKS makes the entry with a managed node group; people and tools that write aws-auth delete it.",
		Fix: "Make an access entry of type EC2_LINUX (EC2_WINDOWS, or EC2 for Auto Mode), or map the role in aws-auth as system:node:{{EC2PrivateDNSName}} with the groups system:bootstrappers and system:nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, missing(c, s)...)
			}
			return blind
		},
	}))
}

func missing(c facts.RoleGroup, s *facts.View) []finding.Finding {
	a, why := accessOf(s, c)
	m, mapped := a.counts()
	means, wrong := m.Node()
	switch {
	case len(c.Suspects) == 0:
		return []finding.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	case why != nil:
		return c.Blocked(*why)
	case a.entry != nil && nodeType(a.entry.Type):
		return []finding.Finding{c.Pass("Access entry of "+c.Name(), a.entry.Type)}
	case a.entry != nil: // an entry comes before aws-auth
		return c.Judged(unadmitted(c, s, a, fmt.Sprintf("has an access entry of type %s, which makes no nodes", a.entry.Type)))
	case mapped && means == awsauth.Joins && len(a.unread) == 0:
		return []finding.Finding{c.Pass("mapRoles", fmt.Sprintf("entry %d maps %s as %s", m.Place, m.ARN, m.Username))}
	case len(a.unread) > 0:
		return c.Blocked(a.unread...)
	case mapped:
		f := unadmitted(c, s, a, fmt.Sprintf("is mapped in kube-system/aws-auth %s (entry %d of mapRoles)", wrong, m.Place))
		f.Evidence = append(f.Evidence, finding.Evidence{What: fmt.Sprintf("mapRoles, entry %d", m.Place), Value: fmt.Sprintf("username %q, groups %q", m.Username, m.Groups)})
		if m.Fault != "" {
			f.Evidence = append(f.Evidence, finding.Evidence{What: "aws-auth", Value: phrase.Clip(m.Fault)})
		}
		f.Title = phrase.Title("%s is mapped %s", c.Name(), wrong)
		switch means {
		case awsauth.Hardly:
			f.Confidence = finding.Possible
		case awsauth.Renamed:
			// nodeadm's InstanceIdNodeName gives nodes the instance's id for a name.
			f.Confidence = finding.Likely
			f.Title = phrase.Title("%s is mapped to a user that is not the node's name", c.Name())
			f.Why = fmt.Sprintf("%s is mapped in kube-system/aws-auth %s (entry %d of mapRoles), so %s lets in %s and does not let it register its node.",
				c.Role, wrong, m.Place, s.Cluster.Name, phrase.Some(facts.IDs(c.Suspects), 3))
			f.Fix.Text = "Let mapRoles of kube-system/aws-auth give the role the user name system:node:{{EC2PrivateDNSName}}. The nodes that wait join by themselves."
			f.Fix.Remedy = ""
		}
		return c.Judged(f)
	}
	f := unadmitted(c, s, a, "has "+a.where(s))
	for _, m := range a.users {
		f.Why += fmt.Sprintf(" It stands in mapUsers (entry %d), which is for users.", m.Place)
		if means, _ := m.Node(); means != awsauth.Never {
			f.Confidence = finding.Possible // the authenticator looks there too
		}
	}
	if !a.byMap && mappedInVain(c, s) {
		f.Why += " aws-auth maps it, but in the mode API nothing reads aws-auth."
	}
	return c.Judged(f)
}

// unadmitted is the finding; how ends the sentence about the role.
func unadmitted(c facts.RoleGroup, s *facts.View, a access, how string) finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail,
		Title:   phrase.Title("%s does not admit the node role %s", s.Cluster.Name, c.Name()),
		Why: fmt.Sprintf("%s %s, so %s answers %s with 401 Unauthorized.",
			c.Role, how, s.Cluster.Name, phrase.Some(facts.IDs(c.Suspects), 3)),
		Evidence: append([]finding.Evidence{modeEvidence(s)}, a.near...),
		Fix:      admit(c, s, a),
	}
	if a.byEntry {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Access entries", Value: cmp.Or(phrase.Some(s.Principals, 10), "none")})
	}
	if a.entry != nil {
		f.Fix.Text, f.Fix.Command = retype(c, s)
		f.Fix.Remedy = ""
	}
	if young(c, s) {
		// Tools such as eksctl map the role after the group has launched, and
		// the kubelet tries until it is let in.
		f.Confidence = finding.Likely
	}
	c.Witness(&f)
	return f
}

// young tells that the time to join is over for none of the suspects.
func young(c facts.RoleGroup, s *facts.View) bool {
	l := s.Index()
	return !slices.ContainsFunc(c.Suspects, func(i *snapshot.Instance) bool {
		_, remembered := l.Launches[i.ID]
		return !remembered || l.Due(i.ID)
	})
}

// mappedInVain tells that aws-auth maps the role, whether or not the cluster
// looks there.
func mappedInVain(c facts.RoleGroup, s *facts.View) bool {
	if !s.Has(snapshot.AWSAuthMap) || s.AWSAuth == nil {
		return false
	}
	roles, err := awsauth.Roles(s.AWSAuth.MapRoles)
	return err == nil && len(awsauth.Of(roles, c.Role)) > 0
}
