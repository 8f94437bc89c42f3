package instance

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// says gives the worlds' first instance a status.
func says(system, os string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Statuses[0].System, s.Statuses[0].OS = system, os }
}

func TestStatusCheck(t *testing.T) { checktest.RunCases(t, StatusCheck(), statusCheckCases()) }

func statusCheckCases() []checktest.Case {
	fail := []string{"fail workers [i-0node] [i-0node] i-0node fails EC2's status checks"}
	return []checktest.Case{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready and impaired: a node that works is not accused", checktest.Change(snapshottest.PrivateWithNAT(), says("impaired", "ok")), []string{"pass prod [i-0node]"}},
		{"no node, and well", checktest.Missed(), []string{"pass prod [i-0node]"}},
		{"the host", checktest.Change(checktest.Missed(), says("impaired", "ok")), fail},
		{"the operating system", checktest.Change(checktest.Missed(), says("ok", "impaired")), fail},
		{"two of a group", checktest.Change(checktest.Missed(), says("ok", "impaired"), checktest.LaunchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) { s.Statuses[1].OS = "impaired" }), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances fail EC2's status checks",
		}},
		{"no verdict yet", checktest.Change(checktest.Missed(), says("ok", "initializing")), []string{
			"unknown i-0node [i-0node] instance status: not read: EC2 has no verdict on i-0node: system ok, instance initializing",
		}},
		{"no verdict yet, not due", checktest.Change(checktest.Missed(), says("ok", "initializing"), checktest.NotDueYet), nil},
		{"a status that nobody knows is no pass", checktest.Change(checktest.Missed(), says("ok", "dizzy")), []string{
			"unknown i-0node [i-0node] instance status: not read: EC2 has no verdict on i-0node: system ok, instance dizzy",
		}},
		{"no status", checktest.Change(checktest.Missed(), func(s *snapshot.Snapshot) { s.Statuses = nil }), []string{
			"unknown i-0node [i-0node] instance status: not read: EC2 gives no status of i-0node",
		}},
		{"not running", checktest.Change(checktest.Missed(), says("not-applicable", "not-applicable"), func(s *snapshot.Snapshot) { s.Instances[0].State = "pending" }), nil},
		{"unread", checktest.Change(checktest.Missed(), checktest.Unread(snapshot.Statuses)), []string{"unknown prod [] instance status: denied"}},
	}
}

func TestStatusCheckFix(t *testing.T) {
	got := checktest.Failed(t, StatusCheck(), checktest.Change(checktest.Missed(), says("impaired", "impaired")))
	if !strings.HasPrefix(got.Fix.Command, "aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 ") {
		t.Errorf("Command = %q, want a replacement by its group", got.Fix.Command)
	}
	got = checktest.Failed(t, StatusCheck(), checktest.Change(checktest.Missed(), says("impaired", "ok"), func(s *snapshot.Snapshot) { s.Instances[0].Tags = nil }))
	if got.Fix.Command != "aws ec2 terminate-instances --region us-west-2 --instance-ids i-0node" {
		t.Errorf("Command = %q, want its end: it has no group", got.Fix.Command)
	}
}
