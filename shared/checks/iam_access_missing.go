package checks

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/snapshot"
)

func accessMissing() Check {
	return usingRoles(Check{
		ID:         "iam/access-missing",
		Title:      "The cluster does not know the node role",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances},
		After:      []ID{"iam/access-wrong-type", "iam/access-wrong-arn", "iam/aws-auth-invalid", "iam/access-duplicate-mapping"},
		Cause: "Where the cluster looks, by its authentication mode, there is nothing that makes nodes of the role: no access entry of a node's type (API, API_AND_CONFIG_MAP), and no entry of mapRoles in kube-system/aws-auth with the group system:nodes (CONFIG_MAP, API_AND_CONFIG_MAP). " +
			"The API server answers the kubelet 401 Unauthorized. EKS makes the entry with a managed node group; people and tools that write aws-auth delete it.",
		Fix: "Make an access entry of type EC2_LINUX (EC2_WINDOWS, or EC2 for Auto Mode), or map the role in aws-auth as system:node:{{EC2PrivateDNSName}} with the groups system:bootstrappers and system:nodes.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
		},
		Run: func(s *View) []Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, c.missing(s)...)
			}
			return blind
		},
	})
}

func (c crew) missing(s *View) []Finding {
	a, why := accessOf(s, c)
	m, mapped := a.counts()
	means, wrong := m.Node()
	switch {
	case len(c.suspects) == 0:
		return []Finding{c.pass(c.name(), "all of its instances are Ready nodes")}
	case why != nil:
		return c.blocked(*why)
	case a.entry != nil && nodeType(a.entry.Type):
		return []Finding{c.pass("Access entry of "+c.name(), a.entry.Type)}
	case a.entry != nil: // an entry comes before aws-auth
		return c.judged(c.unadmitted(s, a, fmt.Sprintf("has an access entry of type %s, which makes no nodes", a.entry.Type)))
	case mapped && means == awsauth.Joins && len(a.unread) == 0:
		return []Finding{c.pass("mapRoles", fmt.Sprintf("entry %d maps %s as %s", m.Place, m.ARN, m.Username))}
	case len(a.unread) > 0:
		return c.blocked(a.unread...)
	case mapped:
		f := c.unadmitted(s, a, fmt.Sprintf("is mapped in kube-system/aws-auth %s (entry %d of mapRoles)", wrong, m.Place))
		f.Evidence = append(f.Evidence, Evidence{What: fmt.Sprintf("mapRoles, entry %d", m.Place), Value: fmt.Sprintf("username %q, groups %q", m.Username, m.Groups)})
		if m.Fault != "" {
			f.Evidence = append(f.Evidence, Evidence{What: "aws-auth", Value: clip(m.Fault)})
		}
		f.Title = title("%s is mapped %s", c.name(), wrong)
		if means == awsauth.Hardly {
			f.Confidence = Possible
		}
		return c.judged(f)
	}
	f := c.unadmitted(s, a, "has "+a.where(s))
	for _, m := range a.users {
		f.Why += fmt.Sprintf(" It stands in mapUsers (entry %d), which is for users.", m.Place)
		if means, _ := m.Node(); means != awsauth.Never {
			f.Confidence = Possible // the authenticator looks there too
		}
	}
	if !a.byMap && c.mappedInVain(s) {
		f.Why += " aws-auth maps it, but in the mode API nothing reads aws-auth."
	}
	return c.judged(f)
}

// unadmitted is the finding; how ends the sentence about the role.
func (c crew) unadmitted(s *View, a access, how string) Finding {
	f := Finding{
		Outcome: Fail,
		Title:   title("%s does not admit the node role %s", s.Cluster.Name, c.name()),
		Why: fmt.Sprintf("%s %s, so %s answers %s with 401 Unauthorized.",
			c.role, how, s.Cluster.Name, some(ids(c.suspects), 3)),
		Evidence: append([]Evidence{modeEvidence(s)}, a.near...),
		Fix:      c.admit(s, a),
	}
	if a.byEntry {
		f.Evidence = append(f.Evidence, Evidence{What: "Access entries", Value: cmp.Or(some(s.Principals, 10), "none")})
	}
	if a.entry != nil {
		f.Fix.Text, f.Fix.Command = c.retype(s)
		f.Fix.Remedy = ""
	}
	if c.young(s) {
		// Tools such as eksctl map the role after the group has launched, and
		// the kubelet tries until it is let in.
		f.Confidence = Likely
	}
	c.witness(&f)
	return f
}

// young tells that the time to join is over for none of the suspects.
func (c crew) young(s *View) bool {
	l := s.Index()
	return !slices.ContainsFunc(c.suspects, func(i *snapshot.Instance) bool {
		_, remembered := l.launches[i.ID]
		return !remembered || l.due(i.ID)
	})
}

// mappedInVain tells that aws-auth maps the role, whether or not the cluster
// looks there.
func (c crew) mappedInVain(s *View) bool {
	if !s.Has(snapshot.AWSAuthMap) || s.AWSAuth == nil {
		return false
	}
	roles, err := awsauth.Roles(s.AWSAuth.MapRoles)
	return err == nil && len(awsauth.Of(roles, c.role)) > 0
}
