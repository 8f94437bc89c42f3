package launch

import (
	"strings"
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// suspend suspends processes of the group, which has one instance.
func suspend(desired int, reason string, processes ...string) *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	g := &s.Groups[0]
	g.Desired = desired
	g.Instances = []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: "InService", Health: "Healthy"}}
	for _, p := range processes {
		g.Suspended = append(g.Suspended, snapshot.Suspended{Process: p, Reason: reason})
	}
	return s
}

func TestLaunchSuspended(t *testing.T) {
	checktest.RunCases(t, Suspended(), launchSuspendedCases())
}

func launchSuspendedCases() []checktest.Case {
	const user = "User suspended at 2026-11-20T14:00:00Z"
	pass := []string{"pass prod [eks-workers]"}
	fail := []string{"fail eks-workers [eks-workers] [] workers cannot launch: the process Launch is suspended"}
	lifecycle := func(state string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Groups[0].Instances[0].Lifecycle = state }
	}
	return []checktest.Case{
		{"nothing suspended", suspend(3, user), pass},
		{"suspended, and more are wanted", suspend(3, user, "Launch"), fail},
		{"suspended, and none is wanted", suspend(1, user, "Launch"), pass},
		{"suspended, and fewer are wanted", suspend(0, user, "Launch"), pass},
		{"suspended without a reason", suspend(2, "", "AZRebalance", "Launch"), fail},
		{"others are suspended", suspend(3, user, "AddToLoadBalancer", "AZRebalance", "ReplaceUnhealthy", "Terminate", "AlarmNotification", "ScheduledActions", "HealthCheck", "InstanceRefresh"), pass},
		{"the one that it has is leaving", checktest.Change(suspend(1, user, "Launch"), lifecycle("Terminating:Wait")), fail},
		{"the one that it has is coming", checktest.Change(suspend(1, user, "Launch"), lifecycle("Pending:Wait")), pass},
		{"the one that it has waits in the warm pool", checktest.Change(suspend(1, user, "Launch"), lifecycle("Warmed:Stopped")), fail},
		{"another group is well", checktest.Change(suspend(3, user, "Launch"), func(s *snapshot.Snapshot) { addGroup(s, "eks-others") }), append(fail[:1:1], "pass prod [eks-others]")},
		{"activities do not matter", checktest.Change(suspend(3, user, "Launch"), checktest.Unread(snapshot.Activities)), fail},
		{"groups unread", checktest.Change(suspend(3, user, "Launch"), checktest.Unread(snapshot.Groups)), []string{"unknown prod [] auto scaling groups: denied"}},
	}
}

func TestSuspendedWords(t *testing.T) {
	got := checktest.Failed(t, Suspended(), suspend(3, "User suspended at 2026-11-20T14:00:00Z", "Launch"))
	if want := "aws autoscaling resume-processes --region us-west-2 --auto-scaling-group-name eks-workers --scaling-processes Launch"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if want := "desired 3, has 1, max 3"; checktest.Value(t, got, checktest.WorkersGroup) != want {
		t.Errorf("evidence %q, want %q", checktest.Value(t, got, checktest.WorkersGroup), want)
	}
	got = checktest.Failed(t, Suspended(), suspend(3, "Administrative suspension", "Launch"))
	if want := "Auto Scaling suspended it"; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q, want %q in it", got.Why, want)
	}
}
