package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/diagnose"
	"rollcall/shared/outcome"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/state"
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

func TestRecord(t *testing.T) {
	l := Launch(snapshot.Instance{
		ID: "i-1", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large",
		Tags: map[string]string{groupTag: "asg", nodegroupTag: "workers"},
	}, began)
	want := state.Launch{
		Instance: "i-1", Cluster: "prod", Nodegroup: "workers", Group: "asg", Subnet: "subnet-a", Zone: "us-west-2a", Type: "m5.large",
		Started: began, Due: began.Add(5 * time.Minute), Standing: outcome.Waiting,
	}
	if diff := cmp.Diff(want, Record("prod", l, 5*time.Minute)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

// TestRecall: EC2 forgets where an instance was once it has ended, and what it
// still says counts.
func TestRecall(t *testing.T) {
	record := state.Launch{Subnet: "subnet-a", Zone: "us-west-2a"}
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
