package bus

import (
	"fmt"
	"time"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/snapshot"
)

// story is the route story, as report decides it: the events of the samples.
func story() []incident.Event {
	start := time.Date(2026, 11, 20, 14, 59, 3, 0, time.UTC)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	launch := func(id string, started time.Duration, s report.LaunchStatus) report.Launch {
		return report.Launch{
			Instance: id, Nodegroup: "new_nodegroup_2", Group: "eks-new_nodegroup_2-c8c9d5b6", Subnet: "subnet-0ab1c2d3e4f5a6b7c",
			Zone: "us-west-2a", Type: "m5.large", Started: at(started), Status: s,
		}
	}
	route := diagnose.Cause{
		Check: "route/no-egress", Confidence: checks.Certain, Resource: "rtb-0cd2e3f4a5b6c7d8e",
		Covers: []string{"subnet-0ab1c2d3e4f5a6b7c"}, Nodegroups: []string{"new_nodegroup_2"}, Instances: []string{"i-0ef3c1b2a4d5968f1"},
		Title: "subnet-0ab1c2d3e4f5a6b7c has no route to the internet",
		Why:   "rtb-0cd2e3f4a5b6c7d8e (us-west-2a) has only 10.42.0.0/16 → local.",
		Evidence: []checks.Evidence{
			{What: "rtb-0cd2e3f4a5b6c7d8e", Value: "10.42.0.0/16 → local"},
		},
		Fix: checks.Fix{
			Text:    "Add a default route to a NAT gateway.",
			Command: "aws ec2 create-route --route-table-id rtb-0cd2e3f4a5b6c7d8e --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0aa4b5c6d7e8f9a0b",
			Console: "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-0cd2e3f4a5b6c7d8e",
			Remedy:  "add-nat-route",
		},
	}
	failing := diagnose.Diagnosis{Causes: []diagnose.Cause{route}}
	proved := launch("i-0f15a6b7c8d9e0f1a", 12*time.Minute, report.Joined)
	proved.Ready = at(12*time.Minute + 58*time.Second)
	again := route
	again.Instances = []string{"i-0d77e8f9a0b1c2d3e"}

	var incidents []incident.Incident
	helped := func() {
		p := remedy.Plan{
			Format: remedy.Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "111122223333", Region: "us-west-2", Cluster: "eks-workshop",
			Check: route.Check, Resource: route.Resource,
			Route: &addnatroute.Plan{VPC: "vpc-0a1b2c3d4e5f60718", Table: route.Resource, Destination: "0.0.0.0/0", NAT: "nat-0aa4b5c6d7e8f9a0b", NATZone: "us-west-2a", Zones: []string{"us-west-2a"}, Subnets: route.Covers},
		}
		key := incidents[0].Key
		take := func(d incident.Decision) { incidents[0] = worded(d.Incident) }
		press := func(id string, action report.Action, after time.Duration) {
			d, _ := response.Act(incidents[0], report.Press{ID: id, At: at(after), Key: key, Action: action, Plan: p.Hash(), User: report.User{ID: "U0ONCALL01", Name: "oncall"}}, response.Who{May: response.MayYes}, at(after))
			take(d)
		}
		take(response.Propose(incidents[0], report.Proposal{ID: "p", At: at(6 * time.Minute), Cluster: key.Cluster, Key: key, Remedy: p.Remedy, Policy: optin.Approve, Plan: p, Hash: p.Hash(), Lasts: time.Hour}, at(6*time.Minute)))
		press("a", report.ApprovePlan, 7*time.Minute)
		press("c", report.Acknowledge, 7*time.Minute+30*time.Second)
		take(response.ApplyRemedyResult(incidents[0], report.RemedyResult{ID: "d", At: at(8 * time.Minute), Cluster: key.Cluster, Key: key, Run: remedy.Run{
			Format: 1, ID: p.Hash() + "/a", Plan: p, Hash: p.Hash(), Policy: optin.Approve, ApprovedBy: "U0ONCALL01", Approved: at(7 * time.Minute),
			Began: at(7*time.Minute + time.Second), Ended: at(7*time.Minute + 2*time.Second), Result: action.Done, Changed: []string{p.Resource}, Version: 2,
		}}, at(8*time.Minute)))
		press("b", report.CheckAgain, 9*time.Minute)
	}
	for i, o := range []struct {
		after    time.Duration
		d        diagnose.Diagnosis
		launches []report.Launch
		blind    []snapshot.Failure
	}{
		{time.Second, failing, []report.Launch{launch("i-0ef3c1b2a4d5968f1", 0, report.Waiting)}, nil},
		{5 * time.Minute, failing, []report.Launch{launch("i-0ef3c1b2a4d5968f1", 0, report.Missed)}, []snapshot.Failure{
			{Source: snapshot.InternetGateways, Reason: snapshot.Throttled, Call: "ec2:DescribeInternetGateways", Code: "RequestLimitExceeded", Message: "Request limit exceeded."},
		}},
		{14 * time.Minute, diagnose.Diagnosis{Passed: []diagnose.Passed{{Check: "route/no-egress", Covers: route.Covers}}}, []report.Launch{proved}, nil},
		{3 * time.Hour, diagnose.Diagnosis{Causes: []diagnose.Cause{again}}, []report.Launch{launch("i-0d77e8f9a0b1c2d3e", 3*time.Hour-time.Second, report.Waiting)}, nil},
	} {
		obs := report.Observation{
			Format: report.Format, ID: fmt.Sprint(i), By: "join-check", At: at(o.after), Account: "111122223333", Region: "us-west-2", Partition: "aws",
			Cluster: "eks-workshop", Diagnosis: o.d, Launches: o.launches, Blind: o.blind,
		}
		for _, d := range reconcile.Decide(incidents, obs, at(o.after), incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour}) {
			if d.Incident.Key.Check == route.Check {
				incidents = []incident.Incident{worded(d.Incident)}
			}
		}
		if i == 1 {
			helped()
		}
	}
	return incidents[0].PendingEvents
}

// worded gives the events their words, as report does when it has decided.
func worded(inc incident.Incident) incident.Incident {
	inc.Word(slack.Words(inc, slack.Options{}))
	return inc
}
