package node

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// asked adds a request for a serving certificate.
func asked(user string, ago time.Duration, changes ...func(*snapshot.CSR)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		c := snapshot.CSR{Name: "csr-vgrfh", Signer: "kubernetes.io/kubelet-serving", Username: user, Created: s.Time.Add(-ago)}
		for _, f := range changes {
			f(&c)
		}
		s.CSRs = append(s.CSRs, c)
	}
}

func TestCsrPending(t *testing.T) { checktest.RunCases(t, CSRPending(), csrPendingCases()) }

func csrPendingCases() []checktest.Case {
	const node = "system:node:i-0node.internal"
	approved := func(c *snapshot.CSR) { c.Approved = true }
	fail := []string{"fail i-0node [i-0node] [] i-0node waits for its serving certificate"}
	pass := []string{"pass prod [i-0node]"}
	return []checktest.Case{
		{"none", snapshottest.PrivateWithNAT(), pass},
		{"approved", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour, approved)), pass},
		{"denied is an answer", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour, func(c *snapshot.CSR) { c.Denied = true })), pass},
		{"a Ready node's waits: it joined all the same", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour)), fail},
		{"a node that is not Ready: it is not so for this", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), asked(node, time.Hour)), fail},
		{"on its way", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Minute)), pass},
		{"a date that EKS does not give is not old", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, 0, func(c *snapshot.CSR) { c.Created = time.Time{} })), pass},
		{"a later one was approved", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour), asked(node, time.Minute, approved)), pass},
		{"another signer", checktest.Change(snapshottest.PrivateWithNAT(), asked(node, time.Hour, func(c *snapshot.CSR) { c.Signer = "kubernetes.io/kube-apiserver-client-kubelet" })), pass},
		{"a node role that is mapped twice", checktest.Change(snapshottest.PrivateWithNAT(), asked("test", time.Hour)), []string{
			"pass prod [i-0node]",
			"fail test [prod] [] A kubelet asks for its certificate as test",
		}},
		{"unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.CSRs)), []string{"unknown prod [] certificate signing requests: denied"}},
	}
}

func TestCSRPendingFix(t *testing.T) {
	got := checktest.Failed(t, CSRPending(), checktest.Change(snapshottest.PrivateWithNAT(), asked("test", time.Hour)))
	if !strings.Contains(got.Fix.Text, "mapping of the node role to test") || got.Fix.Command != "kubectl describe csr -- csr-vgrfh && kubectl get csr -o 'jsonpath={.spec.usages}' -- csr-vgrfh" {
		t.Errorf("Fix = %+v", got.Fix)
	}
}
