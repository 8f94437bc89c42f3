package iam

import (
	"fmt"

	"rollcall/shared/access/awsauth"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func AWSAuthInvalid() check.Check {
	return usingRoles(check.Check{
		ID:         checkid.IAMAWSAuthInvalid,
		Title:      "The ConfigMap aws-auth cannot be read by the cluster",
		Confidence: finding.Certain,
		Explains:   []checkid.ID{checkid.AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Instances, snapshot.AWSAuthMap},
		Cause: "mapRoles of kube-system/aws-auth is no YAML, or no list. The authenticator then knows none of the roles in it, and EKS refuses to make or delete node groups (AccessDenied, \"aws-auth ConfigMap in your cluster is invalid\"). " +
			"In the mode API_AND_CONFIG_MAP only roles without an access entry suffer.",
		Fix: "Write mapRoles again: a list of entries with rolearn, username and groups.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/auth-configmap.html",
			"https://github.com/aws/containers-roadmap/issues/1287",
		},
		Run: func(s *facts.View) []finding.Finding {
			list, blind := s.RoleGroups()
			if _, why := accessOf(s, facts.RoleGroup{}); why != nil {
				return append(blind, finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name}, Blocked: []snapshot.Failure{*why}})
			}
			if s.Cluster.AuthMode == "API" {
				return append(blind, passRoles(s, list, "is not read in the mode API")...)
			}
			if s.AWSAuth == nil {
				return append(blind, passRoles(s, list, "does not exist")...)
			}
			if _, err := awsauth.Roles(s.AWSAuth.MapRoles); err != nil {
				return append(blind, invalidMap(s, list, err)...)
			}
			return append(blind, passRoles(s, list, "mapRoles is a list")...)
		},
	})
}

// passRoles passes the instances of all roleGroups, else the cluster.
func passRoles(s *facts.View, list []facts.RoleGroup, value string) []finding.Finding {
	f := finding.Finding{Outcome: finding.Pass, Resource: "kube-system/aws-auth", Evidence: []finding.Evidence{{What: "aws-auth", Value: value}}}
	for _, c := range list {
		f.Covers = append(f.Covers, c.All()...)
	}
	if len(f.Covers) == 0 {
		f.Covers = []string{s.Cluster.Name}
	}
	return []finding.Finding{f}
}

// invalidMap is one finding: the ConfigMap is what must change. It covers the
// instances that have nothing else to come in by, else the cluster.
func invalidMap(s *facts.View, list []facts.RoleGroup, err error) []finding.Finding {
	f := finding.Finding{
		Outcome: finding.Fail, Resource: "kube-system/aws-auth",
		Title: phrase.Title("aws-auth of %s cannot be read", s.Cluster.Name),
		Why:   fmt.Sprintf("%s cannot %s. It knows none of the roles that stand there, and answers their nodes with 401 Unauthorized.", s.Cluster.Name, phrase.Clip(err.Error())),
		// The text may hold names of people; where it breaks is in the error.
		Evidence: []finding.Evidence{{What: "mapRoles of kube-system/aws-auth", Value: phrase.Clip(err.Error())}, modeEvidence(s)},
		Fix: finding.Fix{
			Text:    "Write mapRoles again as a list of entries with rolearn, username and groups.",
			Command: "kubectl edit configmap aws-auth -n kube-system",
			Console: link.Access(s),
		},
	}
	pass := finding.Finding{Outcome: finding.Pass, Resource: f.Resource, Evidence: []finding.Evidence{{What: "aws-auth", Value: "others come in by an access entry, or are Ready nodes"}}}
	var out []finding.Finding
	for _, c := range list {
		a, _ := accessOf(s, c) // its mode is known
		switch {
		case a.entry != nil:
			pass.Covers = append(pass.Covers, c.All()...)
		case len(a.unread) > 0:
			out = append(out, c.Blocked(a.unread...)...)
		default:
			f.Covers = append(f.Covers, facts.IDs(c.Suspects)...)
			pass.Covers = append(pass.Covers, facts.IDs(c.Well)...)
			if len(c.Suspects) > 0 {
				c.Witness(&f)
				f.Evidence = append(f.Evidence, c.Evidence())
			}
		}
	}
	f.Instances = f.Covers
	if len(f.Covers) == 0 {
		// Nobody waits for it; in the mode CONFIG_MAP nobody can come either.
		f.Covers = []string{s.Cluster.Name}
		if s.Cluster.AuthMode == "API_AND_CONFIG_MAP" {
			f.Confidence = finding.Advice
		}
	}
	if len(pass.Covers) > 0 {
		out = append(out, pass)
	}
	return append(out, f)
}
