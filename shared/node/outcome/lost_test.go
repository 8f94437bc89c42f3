package outcome

import (
	"testing"
	"time"
)

func TestLost(t *testing.T) {
	const (
		sick    = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to an EC2 instance status checks failure."
		elb     = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to an ELB system health check failure."
		set     = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to a user health-check."
		balance = "At 2026-11-20T14:52:00Z instances were launched to balance instances in zones us-west-2a with other zones resulting in more than desired number of instances in the group."
	)
	ends := func(code string) Facts { return Facts{Ended: after(10 * time.Minute), Reason: EndReason{Code: code}} }
	tests := []struct {
		name  string
		facts []Facts
		want  bool
	}{
		{"it lives", nil, false},
		{"warned, and it lives", []Facts{{Noticed: after(9 * time.Minute)}}, false},
		{"taken back", []Facts{ends(spotCode)}, true},
		{"warned, then drained and ended by a call", []Facts{{Noticed: after(9 * time.Minute)}, ends(userCode)}, true},
		{"warned long before", []Facts{{Noticed: after(2 * time.Minute), Due: due}, {Ended: after(40 * time.Minute), Reason: EndReason{Code: userCode}}}, false},
		{"replaced after a recommendation", []Facts{{Rebalance: after(9 * time.Minute), By: rebal}, ends(userCode)}, true},
		{"recommendation, then a call", []Facts{{Rebalance: after(9 * time.Minute)}, ends(userCode)}, false},
		{"a call", []Facts{ends(userCode)}, false},
		{"a scale-in", []Facts{{By: scaledIn}, ends(userCode)}, false},
		{"a scale-in of what its own system shut down", []Facts{{By: scaledIn}, ends("Client.InstanceInitiatedShutdown")}, false},
		{"status checks failed", []Facts{{By: sick}, ends(userCode)}, true},
		{"load balancer's check failed", []Facts{{By: elb}, ends(userCode)}, true},
		{"somebody set its health", []Facts{{By: set}, ends(userCode)}, false},
		{"zones were balanced", []Facts{{By: balance}, ends(userCode)}, false},
		{"its own system", []Facts{{By: unwell}, ends("Client.InstanceInitiatedShutdown")}, true},
		{"hibernated", []Facts{ends("Client.UserInitiatedHibernate")}, false},
		{"nobody says why", []Facts{{Ended: after(10 * time.Minute)}}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var f Facts
			for _, more := range test.facts {
				f = Merge(f, more)
			}
			if f.Lost() {
				t.Error("lost, and it never joined")
			}
			f = Merge(f, Facts{Started: launched, Ready: after(time.Minute)})
			if got := f.Lost(); got != test.want {
				t.Errorf("lost: %v, want %v", got, test.want)
			}
		})
	}
}
