package check_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

const byCall = "Client.UserInitiatedShutdown"

// endedAfter is an instance that lived for a while and ended five minutes ago. EC2 has
// forgotten its name, as it does.
func endedAfter(code string, lived time.Duration, changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := checktest.Ended(code, lived)
	i := snapshottest.Instance(s, snapshottest.Node)
	end := s.Time.Add(-5 * time.Minute)
	i.Launched, i.StateReason.When, i.PrivateDNS, i.PrivateIP = end.Add(-lived), end, "", netip.Addr{}
	s.Launches[0].Started, s.Launches[0].Due = i.Launched, i.Launched.Add(5*time.Minute)
	s.Activities = nil
	return checktest.Change(s, changes...)
}

// served are the events of a node that registered a minute after the launch and was
// removed with its instance.
func served(s *snapshot.Snapshot) {
	for reason, at := range map[string]time.Time{"RegisteredNode": s.Instances[0].Launched.Add(time.Minute), "RemovingNode": s.Time.Add(-4 * time.Minute)} {
		checktest.Event(reason, "ip-10-42-1-1.us-west-2.compute.internal", s.Time.Sub(at))(s)
	}
}

func countPending(s *snapshot.Snapshot) int {
	list, _ := check.NewView(s).Pending()
	return len(list)
}

// Two of each way to end: one that was a node is no suspect, one that never was is.
func TestSuspectsHoweverTheyEnded(t *testing.T) {
	const at = "At 2026-11-20T14:52:00Z an instance was taken out of service in response to "
	tag := func(key, value string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Instances[0].Tags[key] = value }
	}
	pool := func(s *snapshot.Snapshot) {
		s.Instances[0].Tags = map[string]string{"karpenter.sh/nodepool": "workers"}
	}
	state := func(state string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { s.Instances[0].State = state }
	}
	for name, ended := range map[string]*snapshot.Snapshot{
		"ELB health check":         endedAfter(byCall, 20*time.Minute, checktest.Terminating(at+"an ELB system health check failure.")),
		"EC2 status checks":        endedAfter(byCall, 20*time.Minute, checktest.Terminating(at+"an EC2 instance status checks failure.")),
		"found to be terminated":   endedAfter(byCall, 20*time.Minute, checktest.Terminating(at+"an EC2 health check indicating it has been terminated or stopped.")),
		"maximum lifetime":         endedAfter(byCall, 20*time.Minute, checktest.Terminating(at+"maximum instance lifetime.")),
		"zone removed":             endedAfter(byCall, 20*time.Minute, checktest.Terminating(at+"its Availability Zone, which is no longer configured.")),
		"instance refresh":         endedAfter(byCall, 20*time.Minute, checktest.Terminating(at+"an instance refresh.")),
		"scale-in":                 endedAfter(byCall, 20*time.Minute, checktest.Terminating(at+"a difference between desired and actual capacity, shrinking the capacity from 1 to 0.")),
		"through its group":        endedAfter(byCall, 20*time.Minute, checktest.Terminating(at+"a user request.")),
		"Spot":                     endedAfter("Server.SpotInstanceTermination", 20*time.Minute),
		"a person":                 endedAfter(byCall, 20*time.Minute),
		"a person, at once":        endedAfter(byCall, 3*time.Minute),
		"still shutting down":      endedAfter(byCall, 20*time.Minute, state("shutting-down")),
		"stopped":                  endedAfter(byCall, 20*time.Minute, state("stopped")),
		"consolidated, or expired": endedAfter(byCall, 20*time.Minute, pool),
	} {
		if got := countPending(ended); got != 1 {
			t.Errorf("%s, never a node: %d suspects, want 1", name, got)
		}
		ended.Launches[0].Cause = "iam/profile-missing" // found since
		if got := countPending(checktest.Change(ended, served)); got != 0 {
			t.Errorf("%s, after it was a node: %d suspects, want 0", name, got)
		}
	}
	for name, ended := range map[string]*snapshot.Snapshot{
		"scaled in within its time to join": endedAfter(byCall, 4*time.Minute, checktest.Terminating(at+"a difference between desired and actual capacity, shrinking the capacity from 1 to 0.")),
		"Spot within the longest time":      endedAfter("Server.SpotInstanceTermination", 14*time.Minute),
		"registered, by Karpenter's tag":    endedAfter(byCall, 20*time.Minute, pool, tag("karpenter.sh/nodeclaim", "workers-x7k2p")),
		"stopped in a warm pool": endedAfter(byCall, 20*time.Minute, state("stopped"), func(s *snapshot.Snapshot) {
			s.Activities = []snapshot.Activity{{Instance: snapshottest.Node, About: "Launching a new EC2 instance into warm pool: i-0node"}}
		}),
	} {
		if got := countPending(ended); got != 0 {
			t.Errorf("%s: %d suspects, want 0", name, got)
		}
	}
	if got := countPending(endedAfter(byCall, 20*time.Minute, func(s *snapshot.Snapshot) {
		s.Activities = []snapshot.Activity{
			{Instance: snapshottest.Node, About: "Launching a new EC2 instance from warm pool: i-0node", Started: s.Time.Add(-time.Minute)},
			{Instance: snapshottest.Node, About: "Launching a new EC2 instance into warm pool: i-0node", Started: s.Time.Add(-time.Hour)},
		}
	})); got != 1 {
		t.Errorf("taken out of the warm pool: %d suspects, want 1", got)
	}
}

func TestPast(t *testing.T) {
	const name = "ip-10-42-1-1.us-west-2.compute.internal"
	tags := func(tags ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Instances[0].Tags = map[string]string{}
			for n := 0; n < len(tags); n += 2 {
				s.Instances[0].Tags[tags[n]] = tags[n+1]
			}
		}
	}
	event := checktest.Event
	issue := func(message string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Nodegroups = []snapshot.Nodegroup{{Name: "general", Issues: []snapshot.Issue{{Code: "NodeCreationFailure", Message: message, Resources: []string{snapshottest.Node}}}}}
		}
	}
	twin := func(end time.Duration) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			i := s.Instances[0]
			i.ID, i.StateReason.When = "i-0twin", s.Time.Add(-end)
			s.Instances = append(s.Instances, i)
		}
	}
	for _, c := range []struct {
		name  string
		lived time.Duration
		want  check.Past
		do    []func(*snapshot.Snapshot)
	}{
		{"nothing names it", 20 * time.Minute, check.Never, nil},
		{"too brief for any node", 50 * time.Second, check.Never, []func(*snapshot.Snapshot){checktest.Unread(snapshot.NodeEventsOf)}},
		{"events unread", 20 * time.Minute, check.Unclear, []func(*snapshot.Snapshot){checktest.Unread(snapshot.NodeEventsOf)}},
		{"nodes unread", 20 * time.Minute, check.Unclear, []func(*snapshot.Snapshot){checktest.Unread(snapshot.Nodes)}},
		{"it lived for hours", 3 * time.Hour, check.Served, nil},
		{"its node is still there", 20 * time.Minute, check.Served, []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) {
			s.Nodes = append(s.Nodes, snapshot.Node{Name: name, Instance: snapshottest.Node})
		}}},
		{"Karpenter's tag", 20 * time.Minute, check.Served, []func(*snapshot.Snapshot){tags("karpenter.sh/nodepool", "p", "karpenter.sh/nodeclaim", "p-1")}},
		{"Karpenter's name on it", 20 * time.Minute, check.Served, []func(*snapshot.Snapshot){tags("karpenter.sh/nodepool", "p", "Name", name)}},
		{"a Name that the class gives", 20 * time.Minute, check.Never, []func(*snapshot.Snapshot){tags("karpenter.sh/nodepool", "p", "Name", "ip-forwarder")}},
		{"Karpenter would have ended it", 30 * time.Minute, check.Served, []func(*snapshot.Snapshot){tags("karpenter.sh/nodepool", "p"), checktest.Unread(snapshot.NodeEventsOf)}},
		{"Karpenter would have ended it, whatever events are left", 21 * time.Minute, check.Served, []func(*snapshot.Snapshot){tags("karpenter.sh/nodepool", "p")}},
		{"Karpenter ended it", 15 * time.Minute, check.Never, []func(*snapshot.Snapshot){tags("karpenter.sh/nodepool", "p"), checktest.Unread(snapshot.NodeEventsOf)}},
		{"its NodeClaim is registered", 20 * time.Minute, check.Served, []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) {
			s.NodeClaims = []snapshot.NodeClaim{{Instance: snapshottest.Node, Conditions: map[string]snapshot.ObservedCondition{"Registered": {Condition: snapshot.Condition{Status: "True"}}}}}
		}}},
		{"its NodeClaim is not registered", 20 * time.Minute, check.Never, []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) {
			s.NodeClaims = []snapshot.NodeClaim{{Instance: snapshottest.Node, Conditions: map[string]snapshot.ObservedCondition{"Registered": {Condition: snapshot.Condition{Status: "Unknown"}}}}}
		}}},
		{"aws-node ran on it", 20 * time.Minute, check.Served, []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) {
			s.Interfaces = append(s.Interfaces, snapshot.Interface{ID: "eni-0left", Tags: map[string]string{leak.TagInstance: snapshottest.Node}})
		}}},
		{"a node named by its id", 20 * time.Minute, check.Served, []func(*snapshot.Snapshot){event("NodeReady", "i-0node", 20*time.Minute)}},
		{"the kubelet's own events prove nothing", 20 * time.Minute, check.Never, []func(*snapshot.Snapshot){event("NodeHasSufficientMemory", "i-0node", 20*time.Minute)}},
		{"a node of unknown name that ended with it", 20 * time.Minute, check.Served, []func(*snapshot.Snapshot){event("NodeReady", name, 23*time.Minute), event("RemovingNode", name, 4*time.Minute)}},
		{"a node of another instance's id", 20 * time.Minute, check.Never, []func(*snapshot.Snapshot){event("NodeReady", "i-0other", 23*time.Minute), event("RemovingNode", "i-0other", 4*time.Minute)}},
		{"a node of another address", 20 * time.Minute, check.Never, []func(*snapshot.Snapshot){event("RemovingNode", name, 4*time.Minute), func(s *snapshot.Snapshot) { s.Instances[0].PrivateDNS = "ip-10-42-9-9.ec2.internal" }}},
		{"a node that its user data named", 20 * time.Minute, check.Served, []func(*snapshot.Snapshot){event("RemovingNode", "gpu-7", 4*time.Minute), func(s *snapshot.Snapshot) { s.Instances[0].PrivateDNS = "ip-10-42-9-9.ec2.internal" }}},
		{"EKS says that it could not register", 2 * time.Hour, check.Never, []func(*snapshot.Snapshot){issue("Instances failed to join the kubernetes cluster"), checktest.Unread(snapshot.Nodes)}},
		{"EKS says that it is not healthy", 2 * time.Hour, check.Served, []func(*snapshot.Snapshot){issue("Unhealthy nodes in the kubernetes cluster")}},
		{"in a warm pool", 20 * time.Minute, check.Unclear, []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) {
			s.Activities = []snapshot.Activity{{Instance: snapshottest.Node, About: "Launching a new EC2 instance into warm pool: i-0node"}}
		}}},
		{"one that was there before it", 20 * time.Minute, check.Never, []func(*snapshot.Snapshot){event("NodeReady", name, 40*time.Minute), event("RemovingNode", name, 4*time.Minute)}},
		{"one that was removed long before its end", 20 * time.Minute, check.Never, []func(*snapshot.Snapshot){event("NodeReady", name, 23*time.Minute), event("RemovingNode", name, 18*time.Minute)}},
		{"of two that fit alike it is either", 20 * time.Minute, check.Unclear, []func(*snapshot.Snapshot){event("RemovingNode", name, 5*time.Minute), twin(5 * time.Minute), func(s *snapshot.Snapshot) {
			s.Instances[len(s.Instances)-1].ID = "i-0a" // sorts first
		}}},
		{"of two the nearer is the node", 20 * time.Minute, check.Never, []func(*snapshot.Snapshot){event("RemovingNode", name, 9*time.Minute), twin(9 * time.Minute)}},
	} {
		s := endedAfter(byCall, c.lived, c.do...)
		expect.Same(t, fmt.Sprint(c.name), check.NewView(s).Index().Past(&s.Instances[0]), c.want)
	}
}
