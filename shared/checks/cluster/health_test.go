package cluster

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

func clusterIs(status string, issues ...snapshot.Issue) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Cluster.Status, s.Cluster.Issues = status, issues }
}

func TestClusterHealth(t *testing.T) { checktest.RunCases(t, Health(), clusterHealthCases()) }

func clusterHealthCases() []checktest.Case {
	subnet := snapshot.Issue{Code: "Ec2SubnetNotFound", Message: "The subnet ID 'subnet-0gone' does not exist", Resources: []string{"subnet-0gone"}}
	return []checktest.Case{
		{"active", snapshottest.PrivateWithNAT(), []string{"pass prod [prod]"}},
		{"an update is fine", checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("UPDATING")), []string{"pass prod [prod]"}},
		{"being made", checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("CREATING")), []string{"fail prod [prod] [] cluster prod is CREATING"}},
		{"failed", checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("FAILED")), []string{"fail prod [prod] [] cluster prod is FAILED"}},
		{"a status that nobody knows", checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("PONDERING")), []string{
			`unknown prod [prod] cluster: broken: the cluster status "PONDERING" is unknown to Rollcall`,
		}},
		{"no status", checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("")), []string{`unknown prod [prod] cluster: broken: the cluster status "" is unknown to Rollcall`}},
		{"an issue", checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("ACTIVE", subnet)), []string{"fail prod [prod] [] cluster prod has a health issue: Ec2SubnetNotFound"}},
		{"an issue while it is updated", checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("UPDATING", subnet)), []string{"fail prod [prod] [] cluster prod has a health issue: Ec2SubnetNotFound"}},
		{"a code that nobody knows", checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("ACTIVE", snapshot.Issue{Code: "Gremlins"})), []string{
			"fail prod [prod] [] cluster prod has a health issue: Gremlins",
		}},
		{"an issue without a code", checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("ACTIVE", snapshot.Issue{Message: "odd"})), []string{"fail prod [prod] [] cluster prod has a health issue: no code"}},
		{"unread", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) { delete(s.Read, snapshot.Clusters) }), []string{"unknown prod [] cluster: not read: nobody asked for it"}},
	}
}

func TestClusterHealthWords(t *testing.T) {
	got := checktest.Failed(t, Health(), checktest.Change(snapshottest.PrivateWithNAT(), clusterIs("ACTIVE",
		snapshot.Issue{Code: "KmsKeyDisabled", Message: "key is disabled", Resources: []string{"key/1"}}, snapshot.Issue{Code: "Gremlins"})))
	expect.Equal(t, "Why", got.Why, "EKS reports of prod: the key that encrypts secrets is disabled. There are 2 issues.")
	if v := checktest.Value(t, got, "KmsKeyDisabled"); v != "key is disabled (key/1)" {
		t.Errorf("evidence %q", v)
	}
	if v := checktest.Value(t, got, "Gremlins"); v != "no message" {
		t.Errorf("evidence %q", v)
	}
}

// Every code that the API has is explained.
func TestEveryIssueCodeIsExplained(t *testing.T) {
	for _, code := range types.ClusterIssueCode("").Values() {
		if m := ClusterIssues()[string(code)]; m.Meaning == "" || !strings.HasSuffix(m.Next, ".") {
			t.Errorf("cluster issue %s is not explained", code)
		}
	}
	for _, code := range types.AddonIssueCode("").Values() {
		if m := AddonIssues()[string(code)]; m.Meaning == "" || !strings.HasSuffix(m.Next, ".") {
			t.Errorf("add-on issue %s is not explained", code)
		}
	}
}
