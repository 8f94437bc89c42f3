package addon

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// addonIs replaces the worlds' add-ons by one.
func addonIs(name, status string, codes ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		a := snapshot.Addon{Name: name, Version: "v1.2.3-eksbuild.1", Status: status}
		for _, code := range codes {
			a.Issues = append(a.Issues, snapshot.Issue{Code: code, Message: "about " + code})
		}
		s.Addons = []snapshot.Addon{a}
	}
}

func TestAddonDegraded(t *testing.T) { checktest.RunCases(t, Degraded(), addonDegradedCases()) }

func addonDegradedCases() []checktest.Case {
	const few = "InsufficientNumberOfReplicas"
	return []checktest.Case{
		{"active", snapshottest.PrivateWithNAT(), []string{"pass coredns [coredns]", "pass kube-proxy [kube-proxy]", "pass vpc-cni [vpc-cni]"}},
		{"none is managed", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { s.Addons = nil }), []string{"pass prod [prod]"}},
		{"degraded, all nodes Ready", checktest.Change(snapshottest.PrivateWithNAT(), addonIs("vpc-cni", "DEGRADED", "AccessDenied")), []string{
			"fail vpc-cni [vpc-cni] [] add-on vpc-cni is degraded: access denied",
		}},
		{"degraded, a node is not Ready", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), addonIs("kube-proxy", "DEGRADED", "ConfigurationConflict")), []string{
			"fail kube-proxy [kube-proxy] [i-0node] add-on kube-proxy is degraded: configuration conflict",
		}},
		{"a driver explains no node", checktest.Change(checktest.Missed(), checktest.NotReadyNode("x"), addonIs("aws-ebs-csi-driver", "DEGRADED", "AddonPermissionFailure")), []string{
			"fail aws-ebs-csi-driver [aws-ebs-csi-driver] [] add-on aws-ebs-csi-driver is degraded: addon permission failure",
		}},
		{"failed without an issue", checktest.Change(snapshottest.PrivateWithNAT(), addonIs("coredns", "CREATE_FAILED")), []string{"fail coredns [coredns] [] add-on coredns could not be created"}},
		{"active with an issue that nobody knows", checktest.Change(snapshottest.PrivateWithNAT(), addonIs("coredns", "ACTIVE", "Gremlins")), []string{"fail coredns [coredns] [] add-on coredns has an issue: gremlins"}},
		{"too few pods, and a Ready node", checktest.Change(snapshottest.PrivateWithNAT(), addonIs("coredns", "DEGRADED", few)), []string{
			"fail coredns [coredns] [] add-on coredns is degraded: insufficient number of replicas",
		}},
		{"too few pods for lack of nodes", checktest.Change(checktest.Missed(), addonIs("coredns", "DEGRADED", few)), []string{
			"fail (symptom) coredns [coredns] [i-0node] add-on coredns is degraded: insufficient number of replicas",
		}},
		{"too few pods, nodes unread", checktest.Change(checktest.Missed(), addonIs("coredns", "DEGRADED", few), checktest.Unread(snapshot.Nodes)), []string{
			"fail (possible) coredns [coredns] [] add-on coredns is degraded: insufficient number of replicas",
		}},
		{"on its way", checktest.Change(snapshottest.PrivateWithNAT(), addonIs("coredns", "UPDATING")), nil},
		{"a status that nobody knows", checktest.Change(snapshottest.PrivateWithNAT(), addonIs("coredns", "PONDERING")), []string{
			`unknown coredns [coredns] add-ons: broken: the status "PONDERING" of coredns is unknown to Rollcall`,
		}},
		{"an add-on that no node needs", checktest.Change(snapshottest.PrivateWithNAT(), addonIs("adot", "DEGRADED")), []string{"pass prod [prod]"}},
		{"unread", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Unread(snapshot.Addons)), []string{"unknown prod [] add-ons: denied"}},
	}
}

func TestAddonDegradedWords(t *testing.T) {
	got := checktest.Failed(t, Degraded(), checktest.Change(snapshottest.PrivateWithNAT(), addonIs("vpc-cni", "DEGRADED", "ConfigurationConflict")))
	want := "EKS reports that the add-on vpc-cni v1.2.3-eksbuild.1 is DEGRADED. ConfigurationConflict: someone else changed a field that the add-on owns."
	if got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if v := checktest.Value(t, got, "ConfigurationConflict"); v != "about ConfigurationConflict" {
		t.Errorf("evidence = %q", v)
	}
	if !strings.Contains(got.Fix.Text, "--resolve-conflicts") {
		t.Errorf("Fix = %q", got.Fix.Text)
	}
}
