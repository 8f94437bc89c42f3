package reconcile

import (
	"strings"
	"testing"

	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// A cluster whose role is older than the rights to Karpenter's objects is told
// how to give them, and that nothing else hangs on them.
func TestKarpenterRightsAreNamed(t *testing.T) {
	c := blindCause(snapshot.Failure{Source: snapshot.NodePoolsOf, Reason: snapshot.Denied, Call: "kubernetes: list nodepools", Code: "Forbidden"}, []string{"karpenter/nodepool-limit"}, spoke.Cluster{})
	if c.Title != "cannot look at the nodepools: kubernetes: list nodepools is denied" || !strings.Contains(c.Why, "Everything else is judged as before") ||
		!strings.Contains(c.Fix.Text, "kubectl apply -f deploy/clusterrole.yaml") || strings.Contains(c.Fix.Text, "service control policy") {
		t.Errorf("%s: %s %s", c.Title, c.Why, c.Fix.Text)
	}
	nodes := blindCause(snapshot.Failure{Source: snapshot.Nodes, Reason: snapshot.Denied, Call: "kubernetes: list nodes", Code: "Forbidden"}, nil, spoke.Cluster{})
	if strings.Contains(nodes.Fix.Text, "clusterrole.yaml") || strings.Contains(nodes.Why, "Karpenter") {
		t.Errorf("%s: %s %s", nodes.Title, nodes.Why, nodes.Fix.Text)
	}
}
