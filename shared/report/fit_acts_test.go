package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/shared/plan"
)

// What people and remedies did fits into an item of the table beside the
// largest burst, and what counts of it stays.
func TestActsFit(t *testing.T) {
	const limit = 384 << 10
	inc := broken(t)
	for i := range MaxLaunches {
		inc.affect(Launch{Instance: fmt.Sprintf("i-%017d", i), Nodegroup: "workers", Group: strings.Repeat("g", 200), Subnet: subnet, Started: at(0), Standing: Missed, EndedWhy: strings.Repeat("w", 300)})
	}
	for i := range 3 {
		p := routePlan(fmt.Sprint("nat-", i))
		for range 400 {
			p.Route.Subnets = append(p.Route.Subnets, "subnet-0123456789abcdef0")
		}
		d := Propose(inc, proposal(fmt.Sprint("p", i), 2+3*i, p, plan.Approve), at(2+3*i))
		yes := press(ApprovePlan, 2+3*i)
		yes.ID, yes.Plan = fmt.Sprint("yes", i), p.Hash()
		approved, a := Act(d.Incident, yes, may, at(2+3*i))
		if a.Reason != AnswerApproved {
			t.Fatalf("plan %d is %+v", i, a)
		}
		told := deed(plan.Failed)
		told.ID, told.Deed.ID, told.Deed.Plan, told.Deed.Hash, told.Deed.Ended = fmt.Sprint("d", i), fmt.Sprint("deed", i), p, p.Hash(), at(3+3*i)
		inc = TakeDeed(approved.Incident, told, at(3+3*i)).Incident
	}
	var trail Trail
	for i := range 200 {
		c := change(fmt.Sprint(i), -i)
		c.Principal = strings.Repeat("p", 3000)
		trail.Changes = append(trail.Changes, c)
	}
	inc = TakeChanges(inc, changes("c", trail), at(9)).Incident
	for i := range 60 {
		inc.noteOffer(DeedFailed, inc.Offers[i%3], at(10+i))
	}
	last := proposal("last", 80, routePlan("nat-last"), plan.Approve)
	last.Lasts = time.Hour
	inc = Propose(inc, last, at(80)).Incident
	if inc.size() <= limit {
		t.Fatalf("%d bytes are too few to prove anything", inc.size())
	}
	small := inc.Fit(limit)
	if size := small.size(); size > limit {
		t.Errorf("%d bytes are left", size)
	}
	offer := small.Offers[len(small.Offers)-1]
	if offer.State != Offered || offer.Hash != offer.Plan.Hash() {
		t.Errorf("the offer that stands is %+v", offer)
	}
	approvals := 0
	for _, e := range small.Untold {
		if e.Kind == EventApproved && e.Offer != nil && e.Offer.Hash == e.Offer.Plan.Hash() {
			approvals++
		}
	}
	if approvals != 3 || small.Trail == nil {
		t.Errorf("%d of 3 approvals are still to be told; the trail is %v", approvals, small.Trail)
	}
}

func TestPlansAreBounded(t *testing.T) {
	p := routePlan("nat-0aa4")
	p.Route.Subnets = strings.Split(strings.Repeat("subnet-0123456789abcdef0 ", 1000), " ")
	if d := Propose(broken(t), proposal("p", 2, p, plan.Approve), at(2)); d.Reason != IsMalformed || d.Changed {
		t.Errorf("a plan of %d subnets is %q", len(p.Route.Subnets), d.Reason)
	}
}
