package node

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func CSRPending() check.Check {
	return check.Check{
		ID:         checkid.NodeCSRPending,
		Title:      "The kubelet's serving certificate is not approved",
		Confidence: finding.Possible,
		Needs:      []snapshot.Source{snapshot.Nodes, snapshot.CSRs},
		After:      []checkid.ID{checkid.IAMAccessDuplicateMapping},
		Cause:      "The kubelet asked for a serving certificate and nobody approved it. The node joins all the same; logs, exec and webhooks to it fail with a TLS error. EKS approves only what a node asks for under its own name: a node role that is mapped twice asks under another one.",
		Fix:        "Map the node role once, with the user name system:node:{{EC2PrivateDNSName}}. What is pending can be approved by hand once, after a look at it: who asks (requestor), for which names and addresses (common name, SANs) and for what (usages).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cert-signing.html",
			"https://github.com/awslabs/amazon-eks-ami/issues/610",
		},
		Run: runCSRPending,
	}
}

// EKS approves serving certificates within seconds. A request that waits this
// long is not on its way any more.
const csrWait = 5 * time.Minute

// nodeUser is how the user name of a node begins.
const nodeUser = "system:node:"

func runCSRPending(s *facts.View) []finding.Finding {
	l := s.Index()
	pending := stuckCSRs(s)
	var list []finding.Finding
	var well []string
	for _, id := range s.Scope.Instances {
		n := l.Nodes[id]
		if n == nil || l.Terminated(id) || l.Leaving(id) {
			continue
		}
		csr, stuck := pending[nodeUser+n.Name]
		if !stuck {
			well = append(well, id)
			continue
		}
		// It keeps no node from joining: nothing is explained by it.
		list = append(list, csrPendingFinding(l, id, csr, phrase.Subject([]string{id}, "node")))
	}
	if len(well) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: well})
	}
	for _, user := range strangers(pending) {
		csr := pending[user]
		f := csrPendingFinding(l, user, csr, user)
		f.Covers = []string{s.Cluster.Name}
		f.Title = phrase.Title("A kubelet asks for its certificate as %s", user)
		f.Why = fmt.Sprintf("%s asks for a kubelet's serving certificate as %s, which is no node's name: the node role is mapped to that user too. Nobody approves it.", csr.Name, user)
		f.Fix.Text = fmt.Sprintf("Take away the mapping of the node role to %s (access entry or aws-auth), and replace the node.", user)
		list = append(list, f)
	}
	return list
}

// stuckCSRs are the newest serving requests by user, where those still wait.
func stuckCSRs(s *facts.View) map[string]snapshot.CSR {
	newest := map[string]snapshot.CSR{}
	for _, c := range s.CSRs {
		if c.Signer != "kubernetes.io/kubelet-serving" || c.Username == "" {
			continue
		}
		if have, ok := newest[c.Username]; !ok || c.Created.After(have.Created) {
			newest[c.Username] = c
		}
	}
	for user, c := range newest {
		// A request without a date is never old.
		if c.Approved || c.Denied || c.Created.IsZero() || s.Time.Sub(c.Created) < csrWait {
			delete(newest, user)
		}
	}
	return newest
}

// strangers are the users that are no nodes.
func strangers(pending map[string]snapshot.CSR) []string {
	var list []string
	for user := range pending {
		if !strings.HasPrefix(user, nodeUser) {
			list = append(list, user)
		}
	}
	slices.Sort(list)
	return list
}

func csrPendingFinding(l facts.InstanceIndex, resource string, csr snapshot.CSR, who string) finding.Finding {
	return finding.Finding{
		Outcome: finding.Fail, Resource: resource, Covers: []string{resource},
		Title:    phrase.Title("%s waits for its serving certificate", who),
		Why:      fmt.Sprintf("%s has waited for approval since %s. Until then logs, exec and webhooks to the node fail with a TLS error.", csr.Name, csr.Created.UTC().Format(time.TimeOnly+" UTC")),
		Evidence: []finding.Evidence{{What: csr.Name, Value: fmt.Sprintf("%s, requested by %s, pending", csr.Signer, csr.Username)}},
		Fix: finding.Fix{
			Text: "Look at the request first (the command): who asks must be the node, the common name must be the same, the SANs must be names and addresses of that very instance, and the usages digital signature, key encipherment and server auth alone. " +
				"Then look at how the node role is mapped: EKS approves only requests under the node's own name. Only if all of it is right and the node is yours, approve it with kubectl certificate approve and the request's name, quoted as in the command.",
			Command: lookAtCSR(csr),
			Console: link.Cluster(l.S),
		},
	}
}

// lookAtCSR shows who asks, the common name and the SANs, and then the usages,
// which describe leaves out (kubectl, pkg/describe,
// describeCertificateSigningRequest). Kubernetes lets a request's name hold
// anything but "/" and "%" (ValidatePathSegmentName): what begins with a hyphen
// is no option behind "--".
func lookAtCSR(csr snapshot.CSR) string {
	return shell.All(
		shell.Command("kubectl", "describe", "csr", "--", csr.Name),
		shell.Command("kubectl", "get", "csr", "-o", "jsonpath={.spec.usages}", "--", csr.Name))
}
