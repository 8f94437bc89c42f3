package incidenttest

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

var (
	Oncall   = report.User{ID: "U0ONCALL01", Name: "oncall"}
	Stranger = report.User{ID: "U0STRANGER"}
	May      = response.Who{May: response.MayYes}
)

// RoutePlan is a plan for the route incident, to a gateway.
func RoutePlan(nat string) remedy.Plan {
	return remedy.Plan{
		Format: remedy.Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "123456789012", Region: "us-west-2", Cluster: Cluster,
		Check: TheRoute.Check, Resource: Table, Route: &addnatroute.Plan{VPC: "vpc-0a", Table: Table, Destination: "0.0.0.0/0", NAT: nat},
	}
}

func Proposal(id string, minute int, p remedy.Plan, policy optin.Policy) report.Proposal {
	return report.Proposal{
		Format: report.ProposalFormat, Kind: report.ProposalKind, ID: id, At: At(minute), Cluster: Cluster, Key: TheRoute,
		Remedy: p.Remedy, Policy: policy, Plan: p, Hash: p.Hash(), Lasts: time.Hour,
	}
}

// Broken is the route incident, open since minute 0 with its message posted.
func Broken(t *testing.T) incident.Incident {
	t.Helper()
	list := Play(t, []Step{{Obs: Observe(Route("i-1"), Launched("i-1", 0, report.Waiting)), Want: map[report.Key]incident.Reason{TheRoute: incident.Opened}}})
	inc := list[0]
	inc.Delivery.Channel, inc.Delivery.TS = "C0123456789", "1.1"
	return inc
}

// Proposed is broken with a plan offered at minute 2, for an hour.
func Proposed(t *testing.T) incident.Incident {
	t.Helper()
	d := response.Propose(Broken(t), Proposal("p1", 2, RoutePlan("nat-0aa4"), optin.Approve), At(2))
	if d.Reason != incident.IsProposed {
		t.Fatalf("the plan is %q", d.Reason)
	}
	return d.Incident
}

func Press(action report.Action, minute int) report.Press {
	p := report.Press{
		Format: report.PressFormat, Kind: report.PressKind, ID: "press", At: At(minute), Key: TheRoute, Number: 1, Action: action,
		User: Oncall, Channel: "C0123456789", TS: "1.1",
	}
	if action == report.ApprovePlan || action == report.RefusePlan {
		p.Plan = RoutePlan("nat-0aa4").Hash()
	}
	if action == report.MuteFor {
		p.For = time.Hour
	}
	return p
}

func Changes(id string, trail report.RecentChanges) report.Changes {
	return report.Changes{Format: report.ChangesFormat, Kind: report.ChangesKind, ID: id, At: At(6), Cluster: Cluster, Key: TheRoute, Opened: At(0), Found: trail}
}

func Change(id string, minute int) report.Change {
	return report.Change{ID: id, At: At(minute), Call: "CreateRouteTable", Resource: Table, Actor: "ci-deploy"}
}

// Run is of the route plan, done from minute 6 to 7.
func Run(result action.Status) report.RemedyResult {
	p := RoutePlan("nat-0aa4")
	return report.RemedyResult{
		Format: report.RemedyResultFormat, Kind: report.RemedyResultKind, ID: "deed/" + string(result), At: At(7), Cluster: Cluster, Key: TheRoute,
		Run: remedy.Run{Format: 1, ID: "d1", Plan: p, Hash: p.Hash(), Policy: optin.Approve, ApprovedBy: Oncall.ID, Approved: At(5), Began: At(6), Ended: At(7), Result: result},
	}
}

func Look(inc incident.Incident, minute int, o ...func(*report.Observation)) incident.Incident {
	obs := Observe(append(o, Named("look"+string(rune('a'+minute))))...)
	obs.At = At(minute)
	for _, d := range reconcile.Decide([]incident.Incident{inc}, obs, At(minute), Policy) {
		if d.Incident.Key == inc.Key {
			inc = d.Incident
		}
	}
	return inc
}

func NotesOf(inc incident.Incident) string {
	var reasons []string
	for _, n := range inc.Delivery.Notes {
		reasons = append(reasons, string(n.Reason))
	}
	return strings.Join(reasons, " ")
}
