package nodegroup

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// updated gives the nodegroup updates, the newest first, ten minutes apart.
func updated(list ...snapshot.Update) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for i := range list {
			if list[i].Created.IsZero() {
				list[i].Created = s.Time.Add(-time.Duration(i+1) * 10 * time.Minute)
			}
		}
		s.Nodegroups[0].Updates = list
	}
}

func updateThat(status string, codes ...string) snapshot.Update {
	u := snapshot.Update{ID: "u-1", Type: "VersionUpdate", Status: status, Params: []string{"ReleaseVersion=1.35.0-20261112"}}
	for _, code := range codes {
		u.Errors = append(u.Errors, snapshot.Issue{Code: code, Message: "about " + code, Resources: []string{snapshottest.Node}})
	}
	return u
}

func aged(u snapshot.Update, ago time.Duration) snapshot.Update {
	u.Created = snapshottest.Now().Add(-ago)
	return u
}

func TestNodegroupUpdateFailed(t *testing.T) {
	checktest.RunCases(t, UpdateFailed(), nodegroupUpdateFailedCases())
}

func nodegroupUpdateFailedCases() []checktest.Case {
	world := snapshottest.PrivateWithNAT
	const failure = "fail workers [workers] [] nodegroup workers failed to update: pod eviction failure"
	return []checktest.Case{
		{"no update", world(), []string{"pass workers [workers]"}},
		{"it succeeded", checktest.Change(world(), updated(updateThat("Successful"))), []string{"pass workers [workers]"}},
		{"it failed", checktest.Change(world(), updated(updateThat("Failed", "PodEvictionFailure"))), []string{failure}},
		{"it failed, and a later one succeeded", checktest.Change(world(), updated(updateThat("Successful"), updateThat("Failed", "PodEvictionFailure"))), []string{"pass workers [workers]"}},
		{"it failed, and a later one goes on", checktest.Change(world(), updated(updateThat("InProgress"), updateThat("Failed", "PodEvictionFailure"))), nil},
		{"it failed, and a later one was cancelled", checktest.Change(world(), updated(updateThat("Cancelled"), updateThat("Failed", "PodEvictionFailure"))), []string{failure}},
		{"it was cancelled", checktest.Change(world(), updated(updateThat("Cancelled"))), []string{"pass workers [workers]"}},
		{"it failed without an error", checktest.Change(world(), updated(updateThat("Failed"))), []string{"fail workers [workers] [] nodegroup workers failed to update"}},
		{"it failed with an error that nobody knows", checktest.Change(world(), updated(updateThat("Failed", "Gremlins"))), []string{"fail workers [workers] [] nodegroup workers failed to update: gremlins"}},
		{"its nodes did not join", checktest.Change(checktest.Missed(), updated(updateThat("Failed", "NodeCreationFailure"))), []string{
			"fail (symptom) workers [workers] [i-0node] nodegroup workers failed to update: node creation failure",
		}},
		{"it failed a week ago", checktest.Change(world(), updated(aged(updateThat("Failed", "PodEvictionFailure"), 7*24*time.Hour))), []string{failure}},
		{"it failed more than a week ago", checktest.Change(world(), updated(aged(updateThat("Failed", "PodEvictionFailure"), 7*24*time.Hour+1))), []string{"pass workers [workers]"}},
		{"a status that nobody knows", checktest.Change(world(), updated(updateThat("Pondering"))), []string{`unknown workers [workers] nodegroup updates: broken: the status "Pondering" of update u-1 is not understood`}},
		{"not asked for", checktest.Change(world(), func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Updates, "workers", snapshot.Failure{Source: snapshot.Updates, Reason: snapshot.NotRead})
		}), nil},
		{"this one's could not be read", checktest.Change(world(), func(s *snapshot.Snapshot) {
			s.Lack(snapshot.Updates, "workers", snapshot.Failure{Source: snapshot.Updates, Reason: snapshot.Broken, Call: "eks:ListUpdates"})
		}), []string{"unknown workers [workers] nodegroup updates: broken"}},
		{"unread", checktest.Change(world(), checktest.Unread(snapshot.Updates)), []string{"unknown prod [] nodegroup updates: denied"}},
	}
}

func TestUpdateFailedWords(t *testing.T) {
	got := checktest.Failed(t, UpdateFailed(), checktest.Change(snapshottest.PrivateWithNAT(), updated(updateThat("Failed", "IpNotAvailable", "AccessDenied"))))
	if want := "The version update of workers that began at 2026-11-20 14:50 UTC failed. EKS reports IpNotAvailable: a subnet has no free address (i-0node). It reports AccessDenied too."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if v := checktest.Value(t, got, "It was to set"); v != "ReleaseVersion=1.35.0-20261112" {
		t.Errorf("evidence %q", v)
	}
}

func TestEveryUpdateCode(t *testing.T) {
	for _, code := range types.ErrorCode("").Values() {
		got := checktest.Failed(t, UpdateFailed(), checktest.Change(snapshottest.PrivateWithNAT(), updated(updateThat("Failed", string(code)))))
		if got.Fix.Text == "" || got.Why == "" {
			t.Errorf("%s: %+v", code, got)
		}
	}
}
