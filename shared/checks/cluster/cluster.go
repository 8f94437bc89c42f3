// Package cluster holds the checks of cluster: what EKS says of the cluster.
package cluster

import (
	"cmp"
	"fmt"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
)

func Health() check.Check {
	return check.New(checkid.ClusterHealth, health, snapshot.Clusters)
}

func health(s *check.View) []check.Finding {
	c := s.Cluster
	switch {
	case len(c.Issues) > 0, knownBad(c.Status):
		return []check.Finding{clusterUnwell(s)}
	case c.Status == "ACTIVE", c.Status == "UPDATING":
		return []check.Finding{check.Passed(c.Name, c.Name).Noting(c.Name, c.Status)}
	}
	return []check.Finding{check.Unread(c.Name, []string{c.Name}, check.Broken(snapshot.Clusters, "the cluster status %q is unknown to Rollcall", c.Status))}
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

func clusterUnwell(s *check.View) check.Finding {
	c := s.Cluster
	f := check.Finding{
		Outcome: check.Fail, Resource: c.Name, Covers: []string{c.Name},
		Evidence: append([]check.Evidence{{What: c.Name, Value: "status " + cmp.Or(c.Status, "not reported")}}, IssueEvidence(c.Issues)...),
		Fix: check.Fix{
			Text:    "Wait until it is ACTIVE, then replace the nodes that missed their join time.",
			Command: s.AWSCommand("eks describe-cluster", "--name", c.Name, "--query", "cluster.[status,health]"),
			Console: s.ClusterLink(),
		},
	}
	if len(c.Issues) == 0 {
		f.Title = check.Title("cluster %s is %s", c.Name, c.Status)
		f.Why = fmt.Sprintf("The cluster %s is %s, not ACTIVE: no node can join.", c.Name, c.Status)
		if c.Status == "FAILED" || c.Status == "DELETING" {
			f.Fix.Text = "Search CloudTrail for who created or deletes it; a failed cluster has to be recreated."
		}
		return f
	}
	first := c.Issues[0]
	m := ExplainIssue(ClusterIssues(), first)
	f.Title = check.Title("cluster %s has a health issue: %s", c.Name, cmp.Or(first.Code, "no code"))
	f.Why = fmt.Sprintf("EKS reports of %s: %s.", c.Name, m.Meaning)
	if len(c.Issues) > 1 {
		f.Why += fmt.Sprintf(" There are %d issues.", len(c.Issues))
	}
	f.Fix.Text = m.Next
	return f
}
