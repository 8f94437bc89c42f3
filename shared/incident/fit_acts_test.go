package incident_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/incident/response"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

// What people and remedies did fits into an item of the table beside the
// largest burst, and what counts of it stays.
func TestActsFit(t *testing.T) {
	const limit = 384 << 10
	inc := incidenttest.Broken(t)
	for i := range incident.MaxLaunches {
		inc.AddAffected(report.Launch{Instance: fmt.Sprintf("i-%017d", i), Nodegroup: "workers", Group: strings.Repeat("g", 200), Subnet: incidenttest.Subnet, Started: incidenttest.At(0), Status: report.Missed, EndedWhy: strings.Repeat("w", 300)})
	}
	for i := range 3 {
		p := incidenttest.RoutePlan(fmt.Sprint("nat-", i))
		for range 400 {
			p.Route.Subnets = append(p.Route.Subnets, "subnet-0123456789abcdef0")
		}
		d := response.Propose(inc, incidenttest.Proposal(fmt.Sprint("p", i), 2+3*i, p, optin.Approve), incidenttest.At(2+3*i))
		yes := incidenttest.Press(report.ApprovePlan, 2+3*i)
		yes.ID, yes.Plan = fmt.Sprint("yes", i), p.Hash()
		approved, a := response.Act(d.Incident, yes, incidenttest.May, incidenttest.At(2+3*i))
		if a.Reason != incident.AnswerApproved {
			t.Fatalf("plan %d is %+v", i, a)
		}
		told := incidenttest.Run(action.Failed)
		told.ID, told.Run.ID, told.Run.Plan, told.Run.Hash, told.Run.Ended = fmt.Sprint("d", i), fmt.Sprint("run", i), p, p.Hash(), incidenttest.At(3+3*i)
		inc = response.ApplyRemedyResult(approved.Incident, told, incidenttest.At(3+3*i)).Incident
	}
	var trail report.RecentChanges
	for i := range 200 {
		c := incidenttest.Change(fmt.Sprint(i), -i)
		c.Principal = strings.Repeat("p", 3000)
		trail.Changes = append(trail.Changes, c)
	}
	inc = response.ApplyChanges(inc, incidenttest.Changes("c", trail), incidenttest.At(9)).Incident
	for i := range 60 {
		offer := inc.Offers[i%3]
		inc.AddNote(incident.RemedyFailed, incidenttest.At(10+i)).Offer = &offer
	}
	last := incidenttest.Proposal("last", 80, incidenttest.RoutePlan("nat-last"), optin.Approve)
	last.Lasts = time.Hour
	inc = response.Propose(inc, last, incidenttest.At(80)).Incident
	if inc.Size() <= limit {
		t.Fatalf("%d bytes are too few to prove anything", inc.Size())
	}
	small := inc.Fit(limit)
	if size := small.Size(); size > limit {
		t.Errorf("%d bytes are left", size)
	}
	offer := small.Offers[len(small.Offers)-1]
	if offer.State != incident.Offered || offer.Hash != offer.Plan.Hash() {
		t.Errorf("the offer that stands is %+v", offer)
	}
	approvals := 0
	for _, e := range small.PendingEvents {
		if e.Kind == incident.EventApproved && e.Offer != nil && e.Offer.Hash == e.Offer.Plan.Hash() {
			approvals++
		}
	}
	if approvals != 3 || small.RecentChanges == nil {
		t.Errorf("%d of 3 approvals are still to be told; the trail is %v", approvals, small.RecentChanges)
	}
}

func TestPlansAreBounded(t *testing.T) {
	p := incidenttest.RoutePlan("nat-0aa4")
	p.Route.Subnets = strings.Split(strings.Repeat("subnet-0123456789abcdef0 ", 1000), " ")
	if d := response.Propose(incidenttest.Broken(t), incidenttest.Proposal("p", 2, p, optin.Approve), incidenttest.At(2)); d.Reason != incident.IsMalformed || d.Changed {
		t.Errorf("a plan of %d subnets is %q", len(p.Route.Subnets), d.Reason)
	}
}
