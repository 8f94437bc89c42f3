// Package addon holds the checks of addon: what EKS says of add-ons.
package addon

import (
	"cmp"
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/cluster"
	"rollcall/shared/snapshot"
)

func Degraded() check.Check {
	return check.New(checkid.AddonDegraded, degraded, snapshot.Addons)
}

func degraded(s *check.View) []check.Finding {
	l := s.Index()
	var list []check.Finding
	for _, a := range s.Addons {
		switch {
		case !slices.Contains(neededAddons(), a.Name):
		case addonBad(a):
			list = append(list, addonDegraded(l, a))
		case a.Status == "ACTIVE":
			list = append(list, check.Passed(a.Name, a.Name).Noting(a.Name, "is "+a.Status))
		case a.Status == "CREATING", a.Status == "UPDATING", a.Status == "DELETING": // on its way
		default:
			list = append(list, check.Unread(a.Name, []string{a.Name}, check.Broken(snapshot.Addons, "the status %q of %s is unknown to Rollcall", a.Status, a.Name)))
		}
	}
	if !slices.ContainsFunc(s.Addons, func(a snapshot.Addon) bool { return slices.Contains(neededAddons(), a.Name) }) {
		// EKS manages none of them: none is degraded.
		list = append(list, check.Passed(s.Cluster.Name, s.Cluster.Name))
	}
	return list
}

// neededAddons are those that nodes, names, volumes or pods' roles hang on.
func neededAddons() []string {
	return []string{"vpc-cni", "kube-proxy", "coredns", "aws-ebs-csi-driver", "aws-efs-csi-driver", "eks-pod-identity-agent"}
}

func addonBad(a snapshot.Addon) bool {
	switch a.Status {
	case "DEGRADED", "CREATE_FAILED", "UPDATE_FAILED", "DELETE_FAILED":
		return true
	}
	return len(a.Issues) > 0
}

func addonDegraded(l check.InstanceIndex, a snapshot.Addon) check.Finding {
	f := check.Failed(a.Name, a.Name).
		Titled("add-on %s %s", a.Name, check.Fares(a.Status)).
		Because("EKS reports that the add-on %s %s is %s.", a.Name, a.Version, cmp.Or(a.Status, "not healthy")).
		Noting(a.Name, cmp.Or(a.Version, "no version")+", status "+cmp.Or(a.Status, "not reported")).
		Showing(cluster.IssueEvidence(a.Issues)...).
		ToFix("Read the issues of the add-on, and update it again.").
		Command(l.S.AWSCommand("eks describe-addon", "--cluster-name", l.S.Cluster.Name, "--addon-name", a.Name, "--query", "addon.[status,health]")).
		Console(l.S.ClusterLink())
	if len(a.Issues) > 0 {
		first := a.Issues[0]
		m := cluster.ExplainIssue(cluster.AddonIssues(), first)
		f.Title = check.Title("add-on %s %s: %s", a.Name, check.Fares(a.Status), cmp.Or(check.Spoken(first.Code), "no code"))
		f.Why += fmt.Sprintf(" %s: %s.", cmp.Or(first.Code, "It gives no code"), m.Meaning)
		f.Fix.Text = m.Next
	}
	if a.Name == "vpc-cni" || a.Name == "kube-proxy" {
		f.Instances = notReadyYet(l)
	}
	if slices.ContainsFunc(a.Issues, func(i snapshot.Issue) bool { return i.Code == "InsufficientNumberOfReplicas" }) {
		forLackOfNodes(l, &f)
	}
	return f
}

// forLackOfNodes weakens the finding that an add-on lacks pods: where there is
// no Ready node, its pods have nowhere to run, and the add-on is not at fault.
func forLackOfNodes(l check.InstanceIndex, f *check.Finding) {
	switch {
	case !l.S.Has(snapshot.Nodes):
		f.Confidence = check.Possible
		f.Why += " Whether there is a node for its pods could not be read."
	case !slices.ContainsFunc(l.S.Nodes, func(n snapshot.Node) bool { return n.Joined() }):
		f.Confidence = check.Symptom
		f.Why += " The cluster has no Ready node to run its pods."
		f.Fix.Text = "Nothing is wrong with the add-on: it recovers with the first Ready node."
		// It belongs to what keeps these from joining.
		f.Instances = nil
		for _, id := range l.S.Scope.Instances {
			if i := l.Instances[id]; l.Due(id) && i != nil && !i.Ended() && !l.Warm[id] {
				f.Instances = append(f.Instances, id)
			}
		}
	}
}

// notReadyYet are the instances of the scope that registered, should be Ready
// and are not.
func notReadyYet(l check.InstanceIndex) []string {
	var list []string
	for _, id := range l.S.Scope.Instances {
		if n := l.Nodes[id]; n != nil && !n.Joined() && l.Due(id) && !l.Terminated(id) {
			list = append(list, id)
		}
	}
	return list
}
