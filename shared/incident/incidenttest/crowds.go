package incidenttest

import (
	"fmt"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"slices"
	"time"
)

// Record is the largest record that is written (package state: 400 KB less
// the keys and some air).
const Record = 380 << 10

// Crowd is what a look at n instances says that all missed roll call, in a
// nodegroup whose names are as long as they get.
func Crowd(n int, check checks.ID, confidence checks.Confidence) report.Observation {
	obs := report.Observation{Format: report.Format, ID: "join-check/" + Cluster + "/1", By: "join-check", At: At(10), Account: "123456789012", Region: "us-west-2", Partition: "aws", Cluster: Cluster, Read: []snapshot.Source{snapshot.Instances, snapshot.Nodes}}
	var ids []string
	for i := range n {
		id := fmt.Sprintf("i-%017x", uint64(i)*0x9e3779b97f4a7c15>>4)
		ids = append(ids, id)
		obs.Launches = append(obs.Launches, report.Launch{
			Instance: id, Nodegroup: "a_nodegroup_with_a_rather_long_name", Group: "eks-a_nodegroup_with_a_rather_long_name-0ac1b2c3-d4e5-f607-1829-3a4b5c6d7e8f",
			Subnet: "subnet-0123456789abcdef0", Zone: "us-west-2a", Type: "m5.24xlarge", Started: Start.Add(time.Duration(i) * time.Millisecond), Status: report.Missed,
		})
	}
	slices.Sort(ids)
	cause := diagnose.Cause{
		Check: check, Confidence: confidence, Resource: "a_nodegroup_with_a_rather_long_name", Covers: ids, Instances: ids,
		Title: fmt.Sprintf("%d instances", n), Why: "No node has their ids.",
	}
	if confidence != checks.Symptom {
		cause.Covers = []string{Subnet}
	}
	for range 31 {
		cause.Evidence = append(cause.Evidence, checks.Evidence{What: "i-0123456789abcdef0", Value: fmt.Sprintf("%0200d", 0)})
	}
	obs.Diagnosis.Causes = []diagnose.Cause{cause}
	obs.Diagnosis.Passed = []diagnose.Passed{{Check: checkid.InstanceEndedEarly, Covers: ids}}
	for i := range 100 {
		obs.Facts = append(obs.Facts, report.Fact{What: fmt.Sprintf("Scaling activity %d", i), Value: fmt.Sprintf("%0200d", 0)})
	}
	return obs
}

func DecideAll(incidents []incident.Incident, list []report.Observation, now time.Time) []incident.Incident {
	for _, obs := range list {
		for _, d := range reconcile.Decide(incidents, obs, now, Policy) {
			i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == d.Incident.Key })
			if i < 0 {
				incidents = append(incidents, d.Incident)
			} else {
				incidents[i] = d.Incident
			}
		}
	}
	return incidents
}

func Cleaned(minute int, stop *report.CleanupStop, addresses int) report.Summary {
	s := report.Summary{Format: report.SummaryFormat, Kind: report.CleanupSummary, ID: "cleanup/prod/2026-11-20", By: "eni-cleanup", At: At(minute), Cluster: "prod", Cleanup: &report.Cleanup{Mode: "delete", Day: Start, VPC: "vpc-1", Stopped: stop}}
	if addresses > 0 {
		s.Cleanup.Subnets = []report.CleanupSubnet{{Subnet: Subnet, Addresses: addresses, Interfaces: 1, Nodes: 1}}
	}
	return s
}
