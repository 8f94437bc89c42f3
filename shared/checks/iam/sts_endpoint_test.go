package iam

import (
	"slices"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// closedVPC has no internet, and its node did not join.
func closedVPC(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := snapshottest.EndpointsOnly()
	snapshottest.Unjoin(s, snapshottest.Node)
	return checktest.Change(s, changes...)
}

func legacySTS(s *snapshot.Snapshot) { s.CNI.Env["AWS_STS_REGIONAL_ENDPOINTS"] = "legacy" }

func cniHasRole(s *snapshot.Snapshot) { s.CNI.Role = cniRole }

func TestStsEndpoint(t *testing.T) { checktest.RunCases(t, STSEndpoint(), stsEndpointCases()) }

func stsEndpointCases() []checktest.Case {
	role := snapshottest.NodeRole
	pass := []string{"pass " + role + " [i-0node]"}
	global := []string{"fail kube-system/aws-node [i-0node] [i-0node] aws-node calls sts.amazonaws.com, which vpc-0a cannot reach"}
	old := func(s *snapshot.Snapshot) { s.Cluster.Version = "1.19" }
	const timeout = `caused by: Post "https://sts.amazonaws.com/": dial tcp 52.94.241.129:443: i/o timeout`
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), pass},
		{"Ready, closed VPC, global name", checktest.Change(snapshottest.EndpointsOnly(), cniHasRole, legacySTS), pass},
		{"nothing tells it", closedVPC(cniHasRole), pass},
		{"closed VPC, global name (cni647)", closedVPC(cniHasRole, legacySTS), global},
		{"closed VPC, old cluster, not set", closedVPC(cniHasRole, old), global},
		{"closed VPC, old cluster, regional", closedVPC(cniHasRole, old, func(s *snapshot.Snapshot) { s.CNI.Env["AWS_STS_REGIONAL_ENDPOINTS"] = "regional" }), pass},
		{"the node's own role needs no STS", closedVPC(legacySTS), pass},
		{"nor does Pod Identity", closedVPC(cniHasRole, legacySTS, func(s *snapshot.Snapshot) {
			s.PodIdentities = []snapshot.PodIdentity{{Namespace: "kube-system", ServiceAccount: "aws-node", Role: "x"}}
		}), pass},
		{"a NAT gateway leads to the global name", outsider(cniHasRole, legacySTS), pass},
		{"no STS endpoint: endpoint/missing says so", closedVPC(cniHasRole, legacySTS, func(s *snapshot.Snapshot) {
			s.Endpoints = slices.DeleteFunc(s.Endpoints, func(e snapshot.Endpoint) bool { return e.ID == "vpce-0sts" })
		}), pass},
		{"the console tells it, global", outsider(consoleSays(timeout)), []string{"fail sts.amazonaws.com [i-0node] [i-0node] sts.amazonaws.com is not reached"}},
		{"aws-node tells it, regional", outsider(notReadyWith("Post https://sts.us-west-2.amazonaws.com/: dial tcp: lookup sts.us-west-2.amazonaws.com: no such host")), []string{
			"fail sts.us-west-2.amazonaws.com [i-0node] [i-0node] sts.us-west-2.amazonaws.com is not reached",
		}},
		{"another host is not it", outsider(consoleSays("dial tcp: lookup bursts.amazonaws.com: no such host")), pass},
		{"the console names STS, and no fault", outsider(consoleSays("using https://sts.us-west-2.amazonaws.com/")), pass},
		{"admitted, and refused (eksctl2558)", outsider(consoleSays("Failed to list *v1.Service: Unauthorized")), []string{
			"fail (possible) " + role + " [i-0node] [i-0node] workers is admitted, and its token is refused",
		}},
		{"not admitted, and refused: no wonder", outsider(noEntry, consoleSays("Failed to list *v1.Service: Unauthorized")), pass},
		{"EC2 refuses an action, not the token", outsider(consoleSays("UnauthorizedOperation: You are not authorized to perform this operation.")), pass},
		{"a node that has registered had a good token", outsider(notReadyWith("Failed to list *v1.Service: Unauthorized")), pass},
		{"two nodes: one finding", closedVPC(cniHasRole, legacySTS, secondNode), []string{"fail kube-system/aws-node [i-0node i-0second] [i-0node i-0second] aws-node calls sts.amazonaws.com, which vpc-0a cannot reach"}},
		{"aws-node unread", closedVPC(checktest.Unread(snapshot.AWSNode)), []string{"unknown " + role + " [i-0node] aws-node: denied"}},
		{"pods unread", outsider(checktest.Unread(snapshot.Pods)), []string{"unknown " + role + " [i-0node] pods: denied"}},
		{"unread", outsider(checktest.Unread(snapshot.Consoles)), []string{"unknown prod [] console output: denied"}},
	}
}

func TestNamesHost(t *testing.T) {
	for line, want := range map[string]bool{
		"https://sts.amazonaws.com/":               true,
		"sts.amazonaws.com":                        true,
		"xsts.amazonaws.com and sts.amazonaws.com": true,
		"vpce.sts.amazonaws.com":                   false,
		"sts.amazonaws.com.cn":                     false,
		"sts.us-west-2.amazonaws.com":              false,
		"":                                         false,
	} {
		if got := namesHost(line, "sts.amazonaws.com"); got != want {
			t.Errorf("namesHost(%q) = %t, want %t", line, got, want)
		}
	}
}
