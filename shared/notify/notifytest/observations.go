// Package notifytest is what deliveries are tried with, here and in the report function: a
// Slack, a bus and a table in memory, and the observations of one story.
package notifytest

import (
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/spot"
	"rollcall/shared/report"
)

var Start = time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)

// The route story.

const (
	Subnet     = "subnet-0ab1c2d3e4f5a6b7c"
	RouteTable = "rtb-0cd2e3f4a5b6c7d8e"
)

func Observation() report.Observation {
	return report.Observation{Format: report.Format, By: "join-check", Account: "111122223333", Region: "us-west-2", Partition: "aws", Cluster: "eks-workshop"}
}

func Launch(id string, started int, standing report.LaunchStatus) report.Launch {
	l := report.Launch{
		Instance: id, Nodegroup: "new_nodegroup_2", Group: "eks-new", Subnet: Subnet, Zone: "us-west-2a", Type: "m5.large",
		Started: Start.Add(time.Duration(started) * time.Minute), Status: standing,
	}
	if standing == report.Joined {
		l.Ready = l.Started.Add(58 * time.Second)
	}
	return l
}

func Failing(launches ...report.Launch) report.Observation {
	obs := Observation()
	cause := diagnose.Cause{
		Check: checkid.RouteNoEgress, Confidence: checks.Certain, Resource: RouteTable, Covers: []string{Subnet}, Nodegroups: []string{"new_nodegroup_2"},
		Title: Subnet + " has no route to the internet", Why: RouteTable + " has only 10.42.0.0/16 → local.",
		Evidence: []checks.Evidence{{What: RouteTable, Value: "10.42.0.0/16 → local"}},
	}
	for _, l := range launches {
		cause.Instances = append(cause.Instances, l.Instance)
	}
	obs.Diagnosis.Causes, obs.Launches = []diagnose.Cause{cause}, launches
	return obs
}

func Passing(launches ...report.Launch) report.Observation {
	obs := Observation()
	obs.Diagnosis.Passed = []diagnose.Passed{{Check: checkid.RouteNoEgress, Covers: []string{Subnet}, Evidence: []checks.Evidence{{What: RouteTable, Value: "0.0.0.0/0 → nat-0aa4"}}}}
	obs.Launches = launches
	return obs
}

func Sweep() report.Observation {
	obs := Observation()
	obs.Sweep = true
	return obs
}

const Instance1, Instance2 = "i-0ef3c1b2a4d5968f1", "i-0f15a6b7c8d9e0f1a"

// Step is one invocation.
type Step struct {
	Minute int
	Obs    report.Observation
}

func RouteStory() []Step {
	return []Step{
		{0, Failing(Launch(Instance1, 0, report.Waiting))},
		{5, Failing(Launch(Instance1, 0, report.Missed))},
		{10, Passing(Launch(Instance1, 0, report.Missed))},
		{14, Passing(Launch(Instance1, 0, report.Gone), Launch(Instance2, 12, report.Joined))},
		{15, Sweep()},
	}
}

const AllNotes = "opened missed cleared proved"

func Daily(failed int) report.Summary {
	return report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: "spot/eks-workshop/2026-11-20", By: "spot-report", At: Start, Cluster: "eks-workshop", Region: "us-west-2", Partition: "aws",
		Spot:  spot.Report{Cluster: "eks-workshop", From: Start.Add(-24 * time.Hour), To: Start, Spot: spot.Funnel{Requested: 412, NotJoined: failed, Joined: 412 - failed}},
		Chart: []byte("\x89PNG"),
	}
}

// Cleanup is what eni-cleanup tells after a run.
func Cleanup(minute, interfaces int) report.Summary {
	return report.Summary{
		Format: report.SummaryFormat, Kind: report.CleanupSummary, ID: "cleanup/eks-workshop/2026-11-20", By: "eni-cleanup",
		At: Start.Add(time.Duration(minute) * time.Minute), Cluster: "eks-workshop", Region: "us-west-2", Partition: "aws",
		Cleanup: &report.Cleanup{Mode: "delete", Day: Start.Truncate(24 * time.Hour), VPC: "vpc-0ab1c2d3e4f5a6b7c", Subnets: []report.CleanupSubnet{
			{Subnet: Subnet, Zone: "us-west-2a", Interfaces: interfaces, Addresses: 3 * interfaces, Nodes: 4, Free: 43},
		}},
	}
}

const Oncall, Dana = "U0ONCALL01", "U0DANA0001"
