package checks

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// says gives the worlds' first instance a status.
func says(system, os string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Statuses[0].System, s.Statuses[0].OS = system, os }
}

func TestStatusCheck(t *testing.T) { runCases(t, statusCheck(), statusCheckCases()) }

func statusCheckCases() []testCase {
	fail := []string{"fail workers [i-0node] [i-0node] i-0node fails EC2's status checks"}
	return []testCase{
		{"Ready", snapshottest.PrivateWithNAT(), []string{"pass prod [i-0node]"}},
		{"Ready and impaired: a node that works is not accused", change(snapshottest.PrivateWithNAT(), says("impaired", "ok")), []string{"pass prod [i-0node]"}},
		{"no node, and well", missed(), []string{"pass prod [i-0node]"}},
		{"the host", change(missed(), says("impaired", "ok")), fail},
		{"the operating system", change(missed(), says("ok", "impaired")), fail},
		{"two of a group", change(missed(), says("ok", "impaired"), launchedToo("i-0second", 10*time.Minute), func(s *snapshot.Snapshot) { s.Statuses[1].OS = "impaired" }), []string{
			"fail workers [i-0node i-0second] [i-0node i-0second] 2 instances fail EC2's status checks",
		}},
		{"no verdict yet", change(missed(), says("ok", "initializing")), []string{
			"unknown i-0node [i-0node] instance status: not read: EC2 has no verdict on i-0node: system ok, instance initializing",
		}},
		{"no verdict yet, not due", change(missed(), says("ok", "initializing"), notDueYet), nil},
		{"a status that nobody knows is no pass", change(missed(), says("ok", "dizzy")), []string{
			"unknown i-0node [i-0node] instance status: not read: EC2 has no verdict on i-0node: system ok, instance dizzy",
		}},
		{"no status", change(missed(), func(s *snapshot.Snapshot) { s.Statuses = nil }), []string{
			"unknown i-0node [i-0node] instance status: not read: EC2 gives no status of i-0node",
		}},
		{"not running", change(missed(), says("not-applicable", "not-applicable"), func(s *snapshot.Snapshot) { s.Instances[0].State = "pending" }), nil},
		{"unread", change(missed(), unread(snapshot.Statuses)), []string{"unknown prod [] instance status: denied"}},
	}
}

func TestStatusCheckFix(t *testing.T) {
	got := failed(t, statusCheck(), change(missed(), says("impaired", "impaired")))
	if !strings.HasPrefix(got.Fix.Command, "aws autoscaling terminate-instance-in-auto-scaling-group --region us-west-2 ") {
		t.Errorf("Command = %q, want a replacement by its group", got.Fix.Command)
	}
	got = failed(t, statusCheck(), change(missed(), says("impaired", "ok"), func(s *snapshot.Snapshot) { s.Instances[0].Tags = nil }))
	if got.Fix.Command != "aws ec2 terminate-instances --region us-west-2 --instance-ids i-0node" {
		t.Errorf("Command = %q, want its end: it has no group", got.Fix.Command)
	}
}
