package nodegroup

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func nodegroupCodes() []string {
	var list []string
	for _, code := range types.NodegroupIssueCode("").Values() {
		list = append(list, string(code))
	}
	return list
}

// statusFor has the nodegroup in a status for so long, by what tells it.
func statusFor(status string, ago time.Duration, updates ...snapshot.Update) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		n := &s.Nodegroups[0]
		n.Status, n.Since, n.Updates = status, s.Time.Add(-ago), updates
		if status == "CREATING" {
			n.Created = n.Since
		}
	}
}

func inProgress(kind string, ago time.Duration) snapshot.Update {
	return snapshot.Update{ID: "u-1", Type: kind, Status: "InProgress", Created: snapshottest.Now().Add(-ago)}
}

func TestNodegroupStatus(t *testing.T) {
	checktest.RunCases(t, Status(), nodegroupStatusCases())
}

func nodegroupStatusCases() []checktest.Case {
	world := snapshottest.PrivateWithNAT
	return []checktest.Case{
		{"active", world(), []string{"pass workers [workers]"}},
		{"being made", checktest.Change(world(), statusFor("CREATING", 39*time.Minute)), nil},
		{"being made for ever", checktest.Change(world(), statusFor("CREATING", 41*time.Minute)), []string{"fail workers [workers] [] nodegroup workers has been CREATING since 14:19:00 UTC"}},
		{"being deleted", checktest.Change(world(), statusFor("DELETING", 44*time.Minute)), nil},
		{"being deleted for ever", checktest.Change(world(), statusFor("DELETING", 46*time.Minute)), []string{"fail workers [workers] [] nodegroup workers has been DELETING since 14:14:00 UTC"}},
		{"being deleted, since when nobody knows", checktest.Change(world(), statusFor("DELETING", 0), func(s *snapshot.Snapshot) { s.Nodegroups[0].Since = time.Time{} }), nil},
		{"settings are set", checktest.Change(world(), statusFor("UPDATING", 3*time.Hour, inProgress("ConfigUpdate", 29*time.Minute))), nil},
		{"settings are set for ever", checktest.Change(world(), statusFor("UPDATING", time.Minute, inProgress("ConfigUpdate", 31*time.Minute))), []string{
			"fail workers [workers] [] nodegroup workers has been UPDATING since 14:29:00 UTC",
		}},
		{"the version rolls over three nodes", checktest.Change(world(), statusFor("UPDATING", 0, inProgress("VersionUpdate", 104*time.Minute))), nil},
		{"the version rolls for ever", checktest.Change(world(), statusFor("UPDATING", 0, inProgress("VersionUpdate", 106*time.Minute))), []string{
			"fail workers [workers] [] nodegroup workers has been UPDATING since 13:14:00 UTC",
		}},
		{"of an update nothing is known", checktest.Change(world(), statusFor("UPDATING", 106*time.Minute)), []string{"fail workers [workers] [] nodegroup workers has been UPDATING since 13:14:00 UTC"}},
		{"degraded without an issue", checktest.Change(world(), groupIs("DEGRADED"), before, wanted(3)), []string{"fail workers [workers] [] nodegroup workers is degraded"}},
		{"degraded without an issue, and a launch joined", checktest.Change(world(), groupIs("DEGRADED"), wanted(3)), []string{"pass workers [workers]"}},
		{"degraded without an issue, nodes unread", checktest.Change(world(), groupIs("DEGRADED"), checktest.Unread(snapshot.Nodes)), []string{"fail (likely) workers [workers] [] nodegroup workers is degraded"}},
		{"degraded for an issue", checktest.Change(world(), groupIs("DEGRADED", "AccessDenied")), []string{"fail workers [workers] [] nodegroup workers is degraded"}},
		{"degraded for an issue that is over", checktest.Change(world(), groupIs("DEGRADED", "InstanceLimitExceeded")), []string{"pass workers [workers]"}},
		{"failed for a symptom", checktest.Change(checktest.Missed(), groupIs("CREATE_FAILED", "NodeCreationFailure "+snapshottest.Node)), []string{
			"fail (symptom) workers [workers] [i-0node] nodegroup workers could not be created",
		}},
		{"failed, and its nodes joined later", checktest.Change(world(), groupIs("CREATE_FAILED")), []string{"pass workers [workers]"}},
		{"failed to be deleted, whatever its nodes do", checktest.Change(world(), groupIs("DELETE_FAILED")), []string{"fail workers [workers] [] nodegroup workers could not be deleted"}},
		{"a status that nobody knows", checktest.Change(world(), groupIs("PONDERING")), []string{`unknown workers [workers] nodegroups: broken: the status "PONDERING" of nodegroup workers is not understood`}},
		{"no status", checktest.Change(world(), groupIs("")), []string{`unknown workers [workers] nodegroups: broken: the status "" of nodegroup workers is not understood`}},
		{"unread", checktest.Change(world(), checktest.Unread(snapshot.Nodegroups)), []string{"unknown prod [] nodegroups: denied"}},
	}
}

func TestNodegroupStatusWords(t *testing.T) {
	got := checktest.Failed(t, Status(), checktest.Change(snapshottest.PrivateWithNAT(), statusFor("UPDATING", 0, inProgress("VersionUpdate", 2*time.Hour))))
	if want := "Nodegroup workers has been UPDATING since 2026-11-20 13:00 UTC; that takes at most 105 min."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if !strings.Contains(got.Fix.Command, "--update-id u-1") {
		t.Errorf("command %q", got.Fix.Command)
	}
}
