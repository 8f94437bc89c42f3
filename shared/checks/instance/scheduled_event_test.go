package instance

import (
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// planned gives the worlds' first instance an event.
func planned(code, description string, in time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Statuses[0].Events = append(s.Statuses[0].Events, snapshot.ScheduledEvent{Code: code, Description: description, NotBefore: s.Time.Add(in)})
	}
}

func TestScheduledEvent(t *testing.T) { checktest.RunCases(t, ScheduledEvent(), scheduledEventCases()) }

func scheduledEventCases() []checktest.Case {
	const week = 7 * 24 * time.Hour
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready, and to be retired", checktest.Change(snapshottest.PrivateWithNAT(), planned("instance-retirement", "The instance is running on degraded hardware", week)), []string{"pass prod [i-0node]"}},
		{"nothing planned", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"retirement", checktest.Change(checktest.Missed(), planned("instance-retirement", "The instance is running on degraded hardware", week)), []string{
			"fail i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-retirement",
		}},
		{"stop", checktest.Change(checktest.Missed(), planned("instance-stop", "", week)), []string{"fail i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-stop"}},
		{"a reboot that began", checktest.Change(checktest.Missed(), planned("system-reboot", "", -time.Minute)), []string{"fail i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled system-reboot"}},
		{"a reboot to come explains nothing yet", checktest.Change(checktest.Missed(), planned("instance-reboot", "", week)), []string{
			"fail (advice) i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-reboot",
		}},
		{"what explains leads", checktest.Change(checktest.Missed(), planned("system-maintenance", "", week), planned("instance-retirement", "", week)), []string{
			"fail i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-retirement",
		}},
		{"completed", checktest.Change(checktest.Missed(), planned("instance-reboot", "[Completed] The instance is scheduled for a reboot", -time.Hour)), []string{"pass prod [i-0node]"}},
		{"cancelled", checktest.Change(checktest.Missed(), planned("instance-stop", "[Canceled] The instance is running on degraded hardware", week)), []string{"pass prod [i-0node]"}},
		{"a code that nobody knows", checktest.Change(checktest.Missed(), planned("instance-teleport", "", week)), []string{
			"fail (advice) i-0node [i-0node] [i-0node] i-0node: EC2 has scheduled instance-teleport",
		}},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Statuses)), []string{"unknown prod [] instance status: denied"}},
	}
}

func TestScheduledEventWords(t *testing.T) {
	got := checktest.Failed(t, ScheduledEvent(), checktest.Change(checktest.Missed(), planned("instance-retirement", "The instance is running on degraded hardware", time.Hour)))
	if want := "EC2 has scheduled instance-retirement of i-0node, not before 2026-11-20 16:00 UTC. It does so where the host is failing."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
}
