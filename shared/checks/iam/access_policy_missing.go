package iam

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func AccessPolicyMissing() check.Check {
	return withClasses(classPolicyMissing, usingRoles(check.Check{
		ID:         checkid.IAMAccessPolicyMissing,
		Title:      "The access entry of Auto Mode's node role lacks its access policy",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.Access},
		After:      []checkid.ID{checkid.IAMAccessStale},
		AtLaunch:   true,
		Cause: "An access entry of type EC2 gives its role no rights by itself: those of EKS Auto Mode's nodes come with the access policy AmazonEKSAutoNodePolicy, and the entry does not have it, or for some namespaces only. " +
			"EKS associates it with the role of its built-in NodeClass; who makes an entry for another role associates it too.",
		Fix: "Associate AmazonEKSAutoNodePolicy with the access entry, with the scope cluster.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/create-node-class.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, policyMissing(c, s)...)
			}
			return blind
		},
	}))
}

// lackOfAutoPolicy is how an entry of type EC2 lacks the policy of Auto Mode's nodes, in a
// clause; empty where it has it. why is set where its policies could not be read.
func lackOfAutoPolicy(s *facts.View, of snapshot.Source, e snapshot.AccessEntry) (lacks string, why *snapshot.Failure) {
	if f, unread := s.Lacks(of, snapshot.AccessPoliciesOf(e.Principal)); unread {
		return "", &f
	}
	i := slices.IndexFunc(e.Policies, func(p snapshot.AccessPolicy) bool {
		return strings.HasSuffix(p.ARN, ":cluster-access-policy/"+autoNodePolicy)
	})
	switch {
	case i < 0:
		return fmt.Sprintf("has an access entry of type EC2 in %s without the access policy %s", s.Cluster.Name, autoNodePolicy), nil
	case len(e.Policies[i].Namespaces) > 0:
		return fmt.Sprintf("has the access policy %s in %s for %s only, and nodes belong to no namespace", autoNodePolicy, s.Cluster.Name, phrase.Some(e.Policies[i].Namespaces, 3)), nil
	}
	return "", nil
}

func policyMissing(c facts.RoleGroup, s *facts.View) []finding.Finding {
	a, why := accessOf(s, c)
	switch {
	case len(c.Suspects) == 0:
		return []finding.Finding{c.Pass(c.Name(), "all of its instances are Ready nodes")}
	case why != nil:
		return c.Blocked(*why)
	case !isAuto(c, s):
		return []finding.Finding{c.Pass(c.Name(), "is no role of EKS Auto Mode's nodes")}
	case a.entry == nil:
		if blocked := a.entriesUnread(); len(blocked) > 0 {
			return c.Blocked(blocked...)
		}
		return []finding.Finding{c.Pass("Access entry of "+c.Name(), "none")}
	case a.entry.Type != "EC2":
		return []finding.Finding{c.Pass("Access entry of "+c.Name(), a.entry.Type)}
	}
	lacks, why := lackOfAutoPolicy(s, snapshot.Access, *a.entry)
	switch {
	case why != nil && why.Code == snapshot.NotCaptured:
		return nil // an earlier capture has no file of them
	case why != nil:
		return c.Blocked(*why)
	case lacks == "":
		return []finding.Finding{c.Pass("Access policies of "+c.Name(), autoNodePolicy)}
	}
	f := finding.Finding{
		Outcome:  finding.Fail,
		Title:    phrase.Title("the access entry of %s lacks %s", c.Name(), autoNodePolicy),
		Why:      fmt.Sprintf("%s %s, so %s cannot join.", c.Role, lacks, phrase.Some(facts.IDs(c.Suspects), 3)),
		Evidence: []finding.Evidence{entryEvidence(*a.entry), policiesOf(*a.entry), modeEvidence(s)},
		Fix: finding.Fix{
			Text:    "Associate the access policy with the role's access entry, for the whole cluster. The nodes that wait join by themselves.",
			Command: associateAuto(s, c.Role), Console: link.Access(s),
		},
	}
	c.Witness(&f)
	return c.Judged(f)
}

func policiesOf(e snapshot.AccessEntry) finding.Evidence {
	var list []string
	for _, p := range e.Policies {
		scope := "cluster"
		if len(p.Namespaces) > 0 {
			scope = "namespaces " + phrase.Some(p.Namespaces, 3)
		}
		list = append(list, fmt.Sprintf("%s (%s)", facts.LastPart(p.ARN), scope))
	}
	return finding.Evidence{What: "Access policies", Value: phrase.FirstOf([]string{strings.Join(list, ", ")}, "none")}
}
