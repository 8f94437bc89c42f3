package detect

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

var began = time.Date(2026, 11, 20, 14, 59, 6, 0, time.UTC)

func TestObserve(t *testing.T) {
	denied := snapshot.Failure{Source: snapshot.Endpoints, Reason: snapshot.Denied, Call: "ec2:DescribeVpcEndpoints"}
	slow := snapshot.Failure{Source: snapshot.Activities, Reason: snapshot.TimedOut, Call: "autoscaling:DescribeScalingActivities"}
	s := &snapshot.Snapshot{
		Time: began, Account: "111122223333", Region: "us-west-2", Partition: "aws",
		Cluster:  snapshot.Cluster{Name: "prod"},
		Scope:    snapshot.Scope{Subnets: []string{"subnet-a", "subnet-deleted"}},
		Subnets:  []snapshot.Subnet{{ID: "subnet-a"}},
		Read:     map[snapshot.Source]bool{snapshot.Subnets: true, snapshot.Instances: true},
		Failures: map[snapshot.Source]snapshot.Failure{snapshot.Endpoints: denied, snapshot.Activities: slow},
	}
	want := report.Observation{
		Format: report.Format, ID: "join-check/prod/2026-11-20T14:59:06Z", By: "join-check", At: began,
		Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "prod",
		Blind:  []snapshot.Failure{slow, denied},
		Read:   []snapshot.Source{snapshot.Instances, snapshot.Subnets},
		Absent: []string{"subnet-deleted"},
	}
	if diff := cmp.Diff(want, Observe("join-check", s, diagnose.Diagnosis{}, nil)); diff != "" {
		t.Errorf("observation (-want +got):\n%s", diff)
	}
	// What could not be read is not absent.
	delete(s.Read, snapshot.Subnets)
	s.Subnets = nil
	if got := Observe("join-check", s, diagnose.Diagnosis{}, nil).Absent; len(got) > 0 {
		t.Errorf("absent %q, and the subnets were not read", got)
	}
}

func TestFacts(t *testing.T) {
	s := &snapshot.Snapshot{
		Read:    map[snapshot.Source]bool{snapshot.Clusters: true},
		Cluster: snapshot.Cluster{Name: "prod", Status: "ACTIVE", Version: "1.34", EndpointPrivate: true},
		Nodegroups: []snapshot.Nodegroup{
			{Name: "workers", Status: "ACTIVE", Max: 3, Desired: 1},
			{Name: "sick", Status: "DEGRADED", Issues: []snapshot.Issue{{Code: "AsgInstanceLaunchFailures", Message: "no capacity"}}},
		},
		Groups: []snapshot.Group{{Name: "asg"}},
		Activities: []snapshot.Activity{
			{Group: "asg", Status: "Successful", About: "Launching a new EC2 instance: i-4", Started: began},
			{Group: "other", Status: "Failed"},
			{Group: "asg", Status: "Failed", About: "Launching a new EC2 instance.", Message: "no capacity", Started: began},
			{Group: "asg", Status: "Failed", About: "Launching. Status Reason: full", Message: "full", Started: began},
			{Group: "asg", Status: "Successful", About: "the fourth"},
		},
	}
	want := []report.Fact{
		{What: "Cluster", Value: "ACTIVE, Kubernetes 1.34, endpoint private only"},
		{What: "Nodegroup workers", Value: "ACTIVE, no health issue, min 0 max 3 desired 1"},
		{What: "Nodegroup sick", Value: "DEGRADED, AsgInstanceLaunchFailures: no capacity, min 0 max 0 desired 0"},
		{What: "Scaling activity", Value: "14:59:06 Successful: Launching a new EC2 instance: i-4"},
		{What: "Scaling activity", Value: "14:59:06 Failed: Launching a new EC2 instance. (no capacity)"},
		{What: "Scaling activity", Value: "14:59:06 Failed: Launching. Status Reason: full"},
	}
	if diff := cmp.Diff(want, Facts(s)); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func TestAccess(t *testing.T) {
	for want, c := range map[string]snapshot.Cluster{
		"public and private": {EndpointPublic: true, EndpointPrivate: true},
		"private only":       {EndpointPrivate: true},
		"public only":        {EndpointPublic: true},
	} {
		if got := access(c); got != want {
			t.Errorf("access = %q, want %q", got, want)
		}
	}
}

// TestEgress: how the control plane reaches out is named where its owner chose it.
func TestEgress(t *testing.T) {
	for mode, want := range map[string]string{"": "", "AWS_MANAGED": "", "CUSTOMER_ROUTED": ", control plane egress CUSTOMER_ROUTED", "CUSTOMER_ISOLATED": ", control plane egress CUSTOMER_ISOLATED"} {
		s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Clusters: true}, Cluster: snapshot.Cluster{Status: "ACTIVE", Version: "1.34", EndpointPublic: true, EgressMode: mode}}
		if got := Facts(s)[0].Value; got != "ACTIVE, Kubernetes 1.34, endpoint public only"+want {
			t.Errorf("%q: %q", mode, got)
		}
	}
}

func TestRecord(t *testing.T) {
	in := snapshot.Instance{
		ID: "i-1", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large", VPC: "vpc-a", AMI: "ami-a", Spot: true,
		Groups: []string{"sg-a"}, Profile: "arn:aws:iam::111122223333:instance-profile/nodes",
		Template: snapshot.TemplateRef{ID: "lt-a", Version: "3"}, Metadata: snapshot.Metadata{Endpoint: "enabled", HopLimit: 2},
		Tags: map[string]string{groupTag: "asg", nodegroupTag: "workers", "team": "somebody's business"},
	}
	l := Launch(in, began)
	want := store.LaunchRecord{
		Launch:  outcome.Launch{Instance: "i-1", Nodegroup: "workers", Group: "asg", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large", Started: began, Status: outcome.Waiting},
		Cluster: "prod",
		Spot:    true,
		Due:     began.Add(5 * time.Minute),
		Machine: &store.Machine{
			VPC: "vpc-a", AMI: "ami-a", Groups: []string{"sg-a"}, Profile: in.Profile, Template: "lt-a", Version: "3",
			Metadata: "enabled", HopLimit: 2, Tags: map[string]string{groupTag: "asg", nodegroupTag: "workers"},
		},
	}
	if diff := cmp.Diff(want, Record("prod", in, l, outcome.Allowance{For: 5 * time.Minute}), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// TestRecall: EC2 forgets where an instance was once it has ended, and what it
// still says counts.
func TestRecall(t *testing.T) {
	record := store.LaunchRecord{Launch: outcome.Launch{Subnet: "subnet-a", Zone: "us-west-2a"}}
	for _, test := range []struct{ in, want snapshot.Instance }{
		{snapshot.Instance{ID: "i-1"}, snapshot.Instance{ID: "i-1", Subnet: "subnet-a", Zone: "us-west-2a"}},
		{snapshot.Instance{ID: "i-1", Zone: "us-west-2b"}, snapshot.Instance{ID: "i-1", Subnet: "subnet-a", Zone: "us-west-2b"}},
		{snapshot.Instance{ID: "i-1", Subnet: "subnet-b"}, snapshot.Instance{ID: "i-1", Subnet: "subnet-b", Zone: "us-west-2a"}},
	} {
		got := Recall(test.in, record)
		if got.Subnet != test.want.Subnet || got.Zone != test.want.Zone {
			t.Errorf("Recall = %q in %q, want %q in %q", got.Subnet, got.Zone, test.want.Subnet, test.want.Zone)
		}
	}
}

// TestRecallTheMachine: what keeps an instance from joining is explained after
// it is gone, by what it was started with; what EC2 still says counts.
func TestRecallTheMachine(t *testing.T) {
	in := snapshot.Instance{
		ID: "i-1", State: "running", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large", VPC: "vpc-a", AMI: "ami-a",
		Groups: []string{"sg-a"}, Profile: "arn:p", PublicIP: netip.MustParseAddr("203.0.113.9"), PrivateIP: netip.MustParseAddr("10.0.0.9"),
		Template: snapshot.TemplateRef{ID: "lt-a", Version: "3"}, Metadata: snapshot.Metadata{Endpoint: "disabled", HopLimit: 1},
		Tags: map[string]string{"eks:cluster-name": "prod", "eks:nodegroup-name": "workers"},
	}
	record := Record("prod", in, Launch(in, began), outcome.Allowance{For: time.Minute})
	ended := snapshot.Instance{ID: "i-1", State: "terminated", AMI: "ami-still-told", Tags: map[string]string{"eks:nodegroup-name": "renamed"}}
	want := in
	want.State, want.AMI = "terminated", "ami-still-told"
	want.Tags = map[string]string{"eks:cluster-name": "prod", "eks:nodegroup-name": "renamed"}
	if diff := cmp.Diff(want, Recall(ended, record), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("recalled (-want +got):\n%s", diff)
	}
	// A live instance tells for itself: a group that was taken away is gone.
	live := snapshot.Instance{ID: "i-1", State: "running", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large"}
	if diff := cmp.Diff(live, Recall(live, record), cmpopts.EquateComparable(netip.Addr{})); diff != "" {
		t.Errorf("a live instance was changed (-want +got):\n%s", diff)
	}
}
