package iam

import (
	"fmt"
	"rollcall/shared/checkid"
	"strings"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func AccessDuplicateMapping() check.Check {
	return usingRoles(check.Check{
		ID:         checkid.IAMAccessDuplicateMapping,
		Title:      "The node role is mapped to different users",
		Confidence: finding.Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.AWSAuthMap},
		Cause: "mapRoles of kube-system/aws-auth names the node role more than once with different user names (the last entry counts), or an access entry and aws-auth do (the access entry counts). " +
			"Kubelets may then come as somebody who is no node: they cannot register, or their certificates for logs and exec stay unsigned.",
		Fix: "Keep one mapping of the role, as system:node:{{EC2PrivateDNSName}}. Give people a role of their own.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://docs.aws.amazon.com/eks/latest/userguide/migrating-access-entries.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			for _, c := range list {
				blind = append(blind, duplicate(c, s)...)
			}
			return blind
		},
	})
}

func duplicate(c facts.RoleGroup, s *facts.View) []finding.Finding {
	a, why := accessOf(s, c)
	switch {
	case why != nil:
		return c.Blocked(*why)
	case !a.byMap:
		return []finding.Finding{c.Pass("aws-auth", "is not read in the mode API")}
	}
	var names []string
	var evidence []finding.Evidence
	add := func(what, user string, groups []string) {
		evidence = append(evidence, finding.Evidence{What: what, Value: fmt.Sprintf("username %q, groups %q", user, groups)})
		for _, have := range names {
			if have == user {
				return
			}
		}
		names = append(names, user)
	}
	for _, m := range a.mapped {
		add(fmt.Sprintf("mapRoles, entry %d", m.Place), m.Username, m.Groups)
	}
	// The entries of a node's type have the user name of nodes, whatever
	// aws-auth says beside them, and they come first.
	if a.entry != nil && !nodeType(a.entry.Type) {
		add("Access entry, "+a.entry.Type, a.entry.Username, a.entry.Groups)
	}
	if len(names) < 2 {
		if len(a.unread) > 0 {
			return c.Blocked(a.unread...)
		}
		return []finding.Finding{c.Pass(c.Name(), fmt.Sprintf("%d mappings, no two different users", len(evidence)))}
	}
	if a.entry != nil && nodeType(a.entry.Type) {
		return []finding.Finding{c.Pass("Access entry of "+c.Name(), a.entry.Type+", which comes before aws-auth")}
	}
	f := finding.Finding{
		Outcome: finding.Fail, Resource: c.Role, Covers: c.All(), Instances: facts.IDs(c.Suspects),
		Title: phrase.Title("%s is mapped to %d different users", c.Name(), len(names)),
		Why: fmt.Sprintf("%s is mapped as %s. Only one of them counts: kubelets that come as another than system:node:… are no nodes, or get no certificate for logs and exec.",
			c.Role, phrase.And(quotedNames(names))),
		Evidence: append(evidence, modeEvidence(s)),
		Fix: finding.Fix{
			Text:    "Keep one mapping, as system:node:{{EC2PrivateDNSName}} with system:bootstrappers and system:nodes, and remove the others.",
			Command: "kubectl edit configmap aws-auth -n kube-system",
			Console: link.Access(s),
		},
	}
	if len(c.Suspects) == 0 {
		f.Confidence = finding.Advice // nobody is kept from joining
	}
	return []finding.Finding{f}
}

func quotedNames(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = `"` + strings.ReplaceAll(phrase.Clip(name), `"`, `'`) + `"`
	}
	return out
}
