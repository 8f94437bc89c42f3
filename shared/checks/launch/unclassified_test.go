package launch

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
)

func TestLaunchUnclassified(t *testing.T) {
	checktest.RunCases(t, Unclassified(), launchUnclassifiedCases())
}

// A launch that its hook abandoned is a failed launch with its words, listed or not.
func TestAbandonedLaunches(t *testing.T) {
	const hook = "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token e85eb647-4fe0-4909-b341-a6c42d8aba1f was abandoned: "
	abandons := func(why string, changes ...func(*snapshot.Activity)) *snapshot.Snapshot {
		return checktest.Attempted(hook+why, append([]func(*snapshot.Activity){func(a *snapshot.Activity) {
			a.Status, a.Instance, a.About = "Cancelled", "i-0gone", "Launching a new EC2 instance: i-0gone.  Status Reason: "+hook+why
		}}, changes...)...)
	}
	const fail = "fail eks-workers [eks-workers] [] workers cannot launch: a launch lifecycle hook abandons its instances"
	checktest.RunCases(t, Unclassified(), []checktest.Case{
		{Name: "completed with ABANDON", World: abandons("Lifecycle Action Completed with ABANDON Result"), Want: []string{fail}},
		{Name: "timed out", World: abandons("Heartbeat Timeout"), Want: []string{fail}},
		{Name: "the text in the description alone", World: abandons("Heartbeat Timeout", func(a *snapshot.Activity) { a.Message = "" }), Want: []string{fail}},
		{Name: "of a terminating hook", World: abandons("Heartbeat Timeout", func(a *snapshot.Activity) { a.About = "Terminating EC2 instance: i-0gone" }), Want: []string{"pass prod [eks-workers]"}},
		{Name: "groups unread", World: checktest.Change(abandons("Heartbeat Timeout"), checktest.Unread(snapshot.Groups)), Want: []string{"unknown prod [] auto scaling groups: denied"}},
	})
	got := checktest.Failed(t, Unclassified(), abandons("Heartbeat Timeout"))
	if want := `No instance of workers could be put in service in subnet-0private: a launch lifecycle hook of the group timed out, and its default result is ABANDON. AWS says: "Instance failed to complete user's Lifecycle Action: Lifecycle Action with token … was abandoned: Heartbeat Timeout".`; got.Why != want {
		t.Errorf("got  %s\nwant %s", got.Why, want)
	}
	if want := "aws autoscaling describe-lifecycle-hooks --region us-west-2 --auto-scaling-group-name eks-workers"; got.Fix.Command != want {
		t.Error(got.Fix.Command)
	}
	if !strings.HasPrefix(got.Fix.Text, "Find out what should complete the hook") {
		t.Error(got.Fix.Text)
	}
}

func launchUnclassifiedCases() []checktest.Case {
	return launchOutcomes(
		"The moon is in the wrong house. Launching EC2 instance failed.",
		"fail eks-workers [eks-workers] [] workers cannot launch: the reason is in the text",
	)
}
