package checks

import (
	"cmp"
	"fmt"

	"rollcall/shared/snapshot"
)

func clusterHealth() Check {
	return Check{
		ID:         "cluster/health",
		Title:      "The cluster is not active, or EKS reports an issue",
		Confidence: Certain,
		Needs:      []snapshot.Source{snapshot.Clusters},
		Cause:      "The cluster's status is not ACTIVE (an update under way is fine), or EKS reports a health issue: a subnet, security group, role or key of the control plane is gone, or its version is out of support.",
		Fix:        "It depends on the issue's code, which the finding names.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html#cluster-health-status",
			"https://docs.aws.amazon.com/eks/latest/APIReference/API_ClusterIssue.html",
		},
		Run: func(s *View) []Finding {
			c := s.Cluster
			switch {
			case len(c.Issues) > 0, knownBad(c.Status):
				return []Finding{clusterUnwell(s)}
			case c.Status == "ACTIVE", c.Status == "UPDATING":
				return []Finding{{Outcome: Pass, Resource: c.Name, Covers: []string{c.Name}, Evidence: []Evidence{{What: c.Name, Value: c.Status}}}}
			}
			return []Finding{{
				Outcome: Unknown, Resource: c.Name, Covers: []string{c.Name},
				Blocked: []snapshot.Failure{{Source: snapshot.Clusters, Reason: snapshot.Broken, Message: fmt.Sprintf("the status %q of the cluster is not understood", c.Status)}},
			}}
		},
	}
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

func clusterUnwell(s *View) Finding {
	c := s.Cluster
	f := Finding{
		Outcome: Fail, Resource: c.Name, Covers: []string{c.Name},
		Evidence: append([]Evidence{{What: c.Name, Value: "status " + cmp.Or(c.Status, "not said")}}, issueEvidence(c.Issues)...),
		Fix: Fix{
			Text:    "Wait until it is ACTIVE, then replace the nodes that missed their time.",
			Command: aws(s, "eks describe-cluster", "--name", c.Name, "--query", "cluster.[status,health]"),
			Console: clusterConsole(s),
		},
	}
	if len(c.Issues) == 0 {
		f.Title = title("cluster %s is %s", c.Name, c.Status)
		f.Why = fmt.Sprintf("The cluster %s is %s, not ACTIVE: it takes no nodes.", c.Name, c.Status)
		if c.Status == "FAILED" || c.Status == "DELETING" {
			f.Fix.Text = "Ask CloudTrail who made or deletes it; a cluster that failed has to be made again."
		}
		return f
	}
	first := c.Issues[0]
	m := explainIssue(clusterIssues(), first)
	f.Title = title("cluster %s has a health issue: %s", c.Name, cmp.Or(first.Code, "no code"))
	f.Why = fmt.Sprintf("EKS reports of %s: %s.", c.Name, m.meaning)
	if len(c.Issues) > 1 {
		f.Why += fmt.Sprintf(" There are %d issues.", len(c.Issues))
	}
	f.Fix.Text = m.next
	return f
}
