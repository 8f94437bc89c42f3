// Package cluster holds the checks of cluster: what EKS says of the cluster.
package cluster

import (
	"cmp"
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/snapshot"
)

func Health() check.Check {
	return check.New(checkid.ClusterHealth, health, snapshot.Clusters)
}

func health(s *facts.View) []finding.Finding {
	c := s.Cluster
	switch {
	case len(c.Issues) > 0, knownBad(c.Status):
		return []finding.Finding{clusterUnwell(s)}
	case c.Status == "ACTIVE", c.Status == "UPDATING":
		return []finding.Finding{{Outcome: finding.Pass, Resource: c.Name, Covers: []string{c.Name}, Evidence: []finding.Evidence{{What: c.Name, Value: c.Status}}}}
	}
	return []finding.Finding{{
		Outcome: finding.Unknown, Resource: c.Name, Covers: []string{c.Name},
		Blocked: []snapshot.Failure{{Source: snapshot.Clusters, Reason: snapshot.Broken, Message: fmt.Sprintf("the cluster status %q is unknown to Rollcall", c.Status)}},
	}}
}

// knownBad tells a status in which a cluster takes no nodes (EKS API
// reference, Cluster).
func knownBad(status string) bool {
	switch status {
	case "CREATING", "PENDING", "DELETING", "FAILED":
		return true
	}
	return false
}

func clusterUnwell(s *facts.View) finding.Finding {
	c := s.Cluster
	f := finding.Finding{
		Outcome: finding.Fail, Resource: c.Name, Covers: []string{c.Name},
		Evidence: append([]finding.Evidence{{What: c.Name, Value: "status " + cmp.Or(c.Status, "not reported")}}, IssueEvidence(c.Issues)...),
		Fix: finding.Fix{
			Text:    "Wait until it is ACTIVE, then replace the nodes that missed their join time.",
			Command: command.AWS(s, "eks describe-cluster", "--name", c.Name, "--query", "cluster.[status,health]"),
			Console: link.Cluster(s),
		},
	}
	if len(c.Issues) == 0 {
		f.Title = phrase.Title("cluster %s is %s", c.Name, c.Status)
		f.Why = fmt.Sprintf("The cluster %s is %s, not ACTIVE: no node can join.", c.Name, c.Status)
		if c.Status == "FAILED" || c.Status == "DELETING" {
			f.Fix.Text = "Search CloudTrail for who created or deletes it; a failed cluster has to be recreated."
		}
		return f
	}
	first := c.Issues[0]
	m := ExplainIssue(ClusterIssues(), first)
	f.Title = phrase.Title("cluster %s has a health issue: %s", c.Name, cmp.Or(first.Code, "no code"))
	f.Why = fmt.Sprintf("EKS reports of %s: %s.", c.Name, m.Meaning)
	if len(c.Issues) > 1 {
		f.Why += fmt.Sprintf(" There are %d issues.", len(c.Issues))
	}
	f.Fix.Text = m.Next
	return f
}
