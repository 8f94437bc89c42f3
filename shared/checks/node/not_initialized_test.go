package node

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// claimed is a world whose node is a NodeClaim's, Ready for some time, and what
// Karpenter still waits for.
func claimed(reason, message string, ago time.Duration, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	n := &s.Nodes[0]
	n.Ready.Since = s.Time.Add(-ago)
	condition := func(status, reason, message string, generation int64) snapshot.ObservedCondition {
		return snapshot.ObservedCondition{Condition: snapshot.Condition{Status: status, Reason: reason, Message: message, Since: s.Time.Add(-ago - time.Minute)}, Generation: generation}
	}
	status := "Unknown"
	if reason == "Initialized" {
		status = "True"
	}
	s.NodePools = []snapshot.NodePool{{Name: "gpu"}}
	s.NodeClaims = []snapshot.NodeClaim{{Name: "gpu-x7k2p", Generation: 1, Pool: "gpu", Instance: snapshottest.Node, Node: n.Name, Conditions: map[string]snapshot.ObservedCondition{
		"Launched": condition("True", "Launched", "", 1), "Registered": condition("True", "Registered", "", 1), "Initialized": condition(status, reason, message, 1),
	}}}
	for _, change := range changes {
		change(s)
	}
	return s
}

func TestNotInitialized(t *testing.T) {
	const taint = `StartupTaint "node.cilium.io/agent-not-ready=true:NoExecute" still exists`
	const resource = `Resource "nvidia.com/gpu" was requested but not registered`
	claim := func(change func(*snapshot.NodeClaim)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { change(&s.NodeClaims[0]) }
	}
	set := func(name, status string) func(*snapshot.Snapshot) {
		return claim(func(c *snapshot.NodeClaim) {
			held := c.Conditions[name]
			held.Status = status
			c.Conditions[name] = held
		})
	}
	name := snapshottest.PrivateWithNAT().Nodes[0].Name
	host, _, _ := strings.Cut(name, ".")
	fail := "fail gpu [nodeclaim/gpu-x7k2p] [] " + host + " is not initialized: "
	startup := checktest.Case{Name: "a startup taint stays", World: claimed("StartupTaintsExist", taint, 5*time.Minute), Want: []string{fail + "a startup taint stays"}}
	if len([]rune(name))+40 > 70 {
		t.Fatalf("the world's node has too long a name: %s", name)
	}
	checktest.RunCases(t, NotInitialized(), []checktest.Case{
		{Name: "no Karpenter", World: snapshottest.PrivateWithNAT(), Want: []string{"pass prod [prod]"}},
		{Name: "initialized", World: claimed("Initialized", "", time.Hour), Want: []string{"pass gpu [nodeclaim/gpu-x7k2p]"}},
		startup,
		{Name: "for four minutes", World: claimed("StartupTaintsExist", taint, 4*time.Minute)},
		{Name: "a taint of its start", World: claimed("KnownEphemeralTaintsExist", `KnownEphemeralTaint "node.cloudprovider.kubernetes.io/uninitialized:NoSchedule" still exists`, time.Hour), Want: []string{fail + "a taint of its start stays"}},
		{Name: "a resource", World: claimed("ResourceNotRegistered", resource, 10*time.Minute), Want: []string{fail + "a requested resource is missing"}},
		{Name: "a driver that is being compiled", World: claimed("ResourceNotRegistered", resource, 9*time.Minute)},
		{Name: "no pool", World: claimed("StartupTaintsExist", taint, time.Hour, claim(func(c *snapshot.NodeClaim) { c.Pool = "" })), Want: []string{"fail gpu-x7k2p [nodeclaim/gpu-x7k2p] [] " + host + " is not initialized: a startup taint stays"}},

		{Name: "the node is not Ready", World: claimed("StartupTaintsExist", taint, time.Hour, func(s *snapshot.Snapshot) { s.Nodes[0].Ready.Status = "False" })},
		{Name: "Karpenter waits for the node", World: claimed("NodeNotReady", "Node status is NotReady", time.Hour)},
		{Name: "it has not looked", World: claimed("AwaitingReconciliation", "object is awaiting reconciliation", time.Hour)},
		{Name: "no node registered", World: claimed("NodeNotFound", "Node not registered with cluster", time.Hour, set("Registered", "Unknown"))},
		{Name: "it is being deleted", World: claimed("StartupTaintsExist", taint, time.Hour, claim(func(c *snapshot.NodeClaim) { c.Deleting = true }))},
		{Name: "its node is gone", World: claimed("StartupTaintsExist", taint, time.Hour, claim(func(c *snapshot.NodeClaim) { c.Node = "another" }))},
		{Name: "of an older generation", World: claimed("StartupTaintsExist", taint, time.Hour, claim(func(c *snapshot.NodeClaim) { c.Generation = 2 }))},
		{Name: "nodes not read", World: claimed("StartupTaintsExist", taint, time.Hour, checktest.Unread(snapshot.Nodes))},
		{Name: "may not, and nothing names a pool", World: checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.NodeClaimsOf))},
		{Name: "may not", World: claimed("StartupTaintsExist", taint, time.Hour, checktest.Unread(snapshot.NodeClaimsOf)), Want: []string{"unknown prod [prod] nodeclaims: denied"}},
	})
}

// A burst is one finding, and hostile words are cut and begin no command.
func TestNotInitializedIsOneFinding(t *testing.T) {
	hostile := "`$(reboot)` <!channel> " + strings.Repeat("é", 20_000)
	s := claimed("StartupTaintsExist", hostile, time.Hour)
	for _, id := range []string{"a", "b"} {
		n := s.Nodes[0]
		n.Name = "node-" + id
		s.Nodes = append(s.Nodes, n)
		c := s.NodeClaims[0]
		c.Name, c.Node, c.Instance = "gpu-"+id, n.Name, "i-0"+id
		s.NodeClaims = append(s.NodeClaims, c)
	}
	r := checktest.Failed(t, NotInitialized(), s)
	if r.Title != "3 nodes are not initialized: a startup taint stays" || len(r.Covers) != 3 || !strings.HasSuffix(r.Why, " So are 2 more.") {
		t.Errorf("%s (%v): %.2000s", r.Title, r.Covers, r.Why)
	}
	for _, e := range append(r.Evidence, r.Evidence[0]) {
		if len([]rune(e.Value)) > 700 {
			t.Errorf("%d runes of evidence", len([]rune(e.Value)))
		}
	}
	if len([]rune(r.Why)) > 900 || strings.Contains(r.Fix.Command, "reboot") {
		t.Errorf("%d runes, %s", len([]rune(r.Why)), r.Fix.Command)
	}
}
