package outcome

import (
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

const (
	spotCode = "Server.SpotInstanceTermination"
	userCode = "Client.UserInitiatedShutdown"
	scaledIn = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 1 to 0."
	rebal    = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 instance rebalance recommendation."
	unwell   = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped."
)

func after(d time.Duration) time.Time { return launched.Add(d) }

func TestConclude(t *testing.T) {
	ends := func(d time.Duration, code string) Facts {
		return Facts{Ended: after(d), Reason: EndReason{Code: code}}
	}
	missed := Facts{Missed: due}
	route := Facts{Missed: due, Root: Root{Check: "route/no-egress", Sure: true, At: due}}
	maybe := Facts{Missed: due, Root: Root{Check: "iam/role-policies", At: due}}
	tests := []struct {
		name  string
		facts []Facts
		end   snapshot.End
		cause checkid.ID
	}{
		{"nothing yet", nil, snapshot.Open, ""},
		{"missed, still looked at", []Facts{route}, snapshot.Open, ""},
		{"joined", []Facts{{Ready: after(time.Minute)}}, snapshot.Joined, ""},
		{"joined after it had missed", []Facts{route, {Ready: after(20 * time.Minute)}}, snapshot.Joined, ""},
		{"joined, then reclaimed", []Facts{{Ready: after(time.Minute), Noticed: after(2 * time.Minute)}, ends(3*time.Minute, spotCode)}, snapshot.Joined, ""},
		{"given up", []Facts{route, {GivenUp: after(2 * time.Hour)}}, snapshot.NotJoined, "route/no-egress"},
		{"given up without a cause", []Facts{missed, {GivenUp: after(2 * time.Hour)}}, snapshot.NotJoined, ""},
		{"given up, and never seen", []Facts{{GivenUp: after(2 * time.Hour), Blind: "nodes: denied"}}, snapshot.Unclear, ""},

		{"taken back in time", []Facts{ends(2*time.Minute, spotCode)}, snapshot.Reclaimed, ""},
		{"taken back by a call, after the warning", []Facts{{Noticed: after(time.Minute)}, ends(3*time.Minute, userCode)}, snapshot.Reclaimed, ""},
		{"warned long before", []Facts{{Noticed: after(time.Minute), Due: after(30 * time.Minute)}, ends(14*time.Minute, userCode)}, snapshot.Terminated, ""},
		{"warned and forgotten", []Facts{{Noticed: after(time.Minute), Forgotten: after(2 * time.Hour)}}, snapshot.Unclear, ""},
		{"seen to lack, warned and forgotten", []Facts{missed, {Noticed: after(6 * time.Minute), Forgotten: after(2 * time.Hour)}}, snapshot.Reclaimed, ""},
		{"taken back a minute past due, seen before and after", []Facts{ends(6*time.Minute, spotCode)}, snapshot.Reclaimed, ""},
		{"the same, and Kubernetes' events were not to be had", []Facts{{Unseen: "node events: denied"}, ends(6*time.Minute, spotCode)}, snapshot.Unclear, ""},
		{"taken back, nobody says when, found by a late look", []Facts{{Reason: EndReason{Code: spotCode}, Over: after(20 * time.Minute)}}, snapshot.Reclaimed, ""},
		{"taken back late, no cause found", []Facts{missed, ends(7*time.Minute, spotCode)}, snapshot.Reclaimed, ""},
		{"taken back late, a likely cause", []Facts{maybe, ends(7*time.Minute, spotCode)}, snapshot.Reclaimed, ""},
		{"taken back late, with a broken route", []Facts{route, ends(40*time.Minute, spotCode)}, snapshot.NotJoined, "route/no-egress"},
		{"taken back after 40 minutes, no cause found", []Facts{missed, ends(40*time.Minute, spotCode)}, snapshot.NotJoined, ""},
		{"taken back after 40 minutes, never a node", []Facts{ends(40*time.Minute, spotCode)}, snapshot.NotJoined, ""},
		{"recommendation alone", []Facts{{Rebalance: after(time.Minute)}}, snapshot.Open, ""},
		{"recommendation, then its group", []Facts{{Rebalance: after(time.Minute), By: rebal}, ends(2*time.Minute, userCode)}, snapshot.Reclaimed, ""},
		{"recommendation, then a scale-in", []Facts{{Rebalance: after(time.Minute), By: scaledIn}, ends(2*time.Minute, userCode)}, snapshot.Terminated, ""},
		{"recommendation, then a person", []Facts{{Rebalance: after(time.Minute), By: unwell}, ends(2*time.Minute, userCode)}, snapshot.Terminated, ""},

		{"ended by a call", []Facts{ends(2*time.Minute, userCode)}, snapshot.Terminated, ""},
		{"scale-in", []Facts{{By: scaledIn}, ends(2*time.Minute, userCode)}, snapshot.Terminated, ""},
		{"ended by a call after it had missed", []Facts{route, ends(9*time.Minute, userCode)}, snapshot.NotJoined, "route/no-egress"},
		{"ended by a call past due, never a node", []Facts{ends(9*time.Minute, userCode)}, snapshot.NotJoined, ""},
		{"ended by a call, nobody says when", []Facts{{Reason: EndReason{Code: userCode}, Over: after(20 * time.Minute)}}, snapshot.Unclear, ""},
		{"ended by a call, nobody says when, soon found", []Facts{{Reason: EndReason{Code: userCode}, Over: after(6 * time.Minute)}}, snapshot.Terminated, ""},
		{"scheduled stop", []Facts{ends(time.Minute, "Server.ScheduledStop")}, snapshot.Terminated, ""},
		{"its own system", []Facts{ends(2*time.Minute, "Client.InstanceInitiatedShutdown")}, snapshot.NotJoined, "instance/ended-early"},
		{"its own system, late, never a node", []Facts{ends(20*time.Minute, "Client.InstanceInitiatedShutdown")}, snapshot.NotJoined, "instance/ended-early"},
		{"its own system, late", []Facts{maybe, ends(20*time.Minute, "Client.InstanceInitiatedShutdown")}, snapshot.NotJoined, "iam/role-policies"},
		{"KMS key", []Facts{ends(10*time.Second, "Client.InvalidKMSKey.InvalidState")}, snapshot.Refused, "launch/kms-key"},
		{"volume limit", []Facts{ends(10*time.Second, "Client.VolumeLimitExceeded")}, snapshot.Refused, "launch/volume-limit"},
		{"a fault of EC2", []Facts{ends(10*time.Second, "Server.InternalError")}, snapshot.NotJoined, "instance/ended-early"},
		{"refused", []Facts{{Refused: "launch/insufficient-capacity"}}, snapshot.Refused, "launch/insufficient-capacity"},

		{"forgotten", []Facts{{Forgotten: after(2 * time.Hour)}}, snapshot.Unclear, ""},
		{"missed, then forgotten", []Facts{route, {Forgotten: after(2 * time.Hour)}}, snapshot.NotJoined, "route/no-egress"},
		{"ended, and nobody says why", []Facts{{Ended: after(time.Minute)}}, snapshot.Unclear, ""},
		{"ended, and the nodes were not to be had", []Facts{{Unseen: "nodes: denied"}, ends(2*time.Minute, spotCode)}, snapshot.Unclear, ""},
		{"could not have been a node", []Facts{{Unseen: "nodes: denied"}, ends(2*time.Minute, "Client.InvalidKMSKey.InvalidState")}, snapshot.Refused, "launch/kms-key"},
		{"maintenance", []Facts{{Ended: after(time.Minute), Maintenance: after(0)}}, snapshot.Terminated, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := Facts{Started: launched}
			for _, more := range test.facts {
				f = Merge(f, more)
			}
			if f.Due.IsZero() {
				f.Due = due
			}
			end, cause, why := Conclude(f)
			if end != test.end || cause != test.cause {
				t.Errorf("%s because of %q (%s), want %s because of %q", end, cause, why, test.end, test.cause)
			}
			if (why == "") != (end == snapshot.Open) {
				t.Errorf("%q has the reason %q", end, why)
			}
		})
	}
}
