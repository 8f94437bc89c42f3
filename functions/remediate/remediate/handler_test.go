package remediate

import (
	"strings"
	"testing"
	"time"

	"rollcall/local/simaws"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
)

const (
	byPerson = stagetest.Cluster + "/add-nat-route=approve"
	byItself = stagetest.Cluster + "/add-nat-route=auto"
	nat      = "nat-0aa40000000000001"
)

// What is not this function's to do changes nothing.
func TestChangesNothing(t *testing.T) {
	for _, test := range []struct {
		name     string
		remedies string
		wrong    func(*harness)
		event    string
	}{
		{"the remedy is off", "off", nil, opened},
		{"another remedy is on", stagetest.Cluster + "/replace-instance=auto", nil, opened},
		{"another cluster's is on", "dev/add-nat-route=auto", nil, opened},
		{"the incident is resolved", byItself, nil, "Rollcall Incident Resolved"},
		{"the incident is closed", byItself, func(s *harness) { s.inc.State, s.inc.Resolved = incident.Closed, s.Now() }, opened},
		{"the incident is not said yet", byItself, func(s *harness) { s.inc.State = incident.Pending }, opened},
		{"somebody silenced it", byItself, func(s *harness) { s.inc.Silence = &incident.Silenced{ID: "ab12cd34", Until: s.Now().Add(time.Hour)} }, opened},
		{"somebody silenced it, and nobody is asked", byPerson, func(s *harness) { s.inc.Silence = &incident.Silenced{ID: "ab12cd34", Until: s.Now().Add(time.Hour)} }, opened},
		{"the cause has no remedy", byItself, func(s *harness) { s.inc.Cause.Fix.Remedy = "" }, opened},
		{"a remedy that is not known", byItself, func(s *harness) { s.inc.Cause.Fix.Remedy = "reboot-everything" }, opened},
		{"an approval that nobody gave", byPerson, func(s *harness) {
			s.inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, Hash: "x", State: incident.RefusedByUs, Made: s.Now()}}
		}, approval},
		{"the approval of a time before", byPerson, func(s *harness) {
			s.inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.AddNATRoute}, Hash: "x", Policy: optin.Approve, State: incident.Approved, Made: s.inc.Opened.Add(-time.Hour)}}
		}, approval},
	} {
		s := start(t, test.remedies, stagetest.Options{})
		if test.wrong != nil {
			test.wrong(s)
			s.save(s.inc)
		}
		if n := s.tell(test.event); n != 0 {
			t.Errorf("%s: %d messages came back: %s", test.name, n, s.Logs())
		}
		_, runs := s.said()
		if len(runs) != 0 {
			t.Errorf("%s: runs %+v", test.name, runs)
		}
		s.untouched()
	}
}

// Anybody who may put events could say anything: an incident that the table
// does not have is none, and what cannot be read goes to the dead letters.
func TestTrustsNoEvent(t *testing.T) {
	s := start(t, byItself, stagetest.Options{})
	for _, k := range []report.Key{
		{Cluster: stagetest.Cluster, Check: "route/no-egress", Resource: "rtb-0a700000000000001"},
		{Cluster: "dev", Check: "route/no-egress", Resource: stagetest.Table},
		{Cluster: stagetest.Cluster, Check: "sg/node-egress", Resource: stagetest.Table},
	} {
		if back := s.Send(s.of(approval, k)); len(back) != 0 {
			t.Errorf("%+v came back", k)
		}
	}
	for _, body := range []string{"", "{", `{"source":"rollcall","detail-type":"Rollcall Remedy Approved","time":"2026-11-20T15:00:00Z","detail":{}}`} {
		if back := s.Send(body); len(back) != 1 {
			t.Errorf("%q did not come back", body)
		}
	}
	if _, err := s.Handle(s.Sweep()); err == nil {
		t.Error("a schedule wakes it")
	}
	if p, d := s.said(); len(p)+len(d) != 0 {
		t.Errorf("said %+v, %+v", p, d)
	}
	s.untouched()
}

func TestOffersOnce(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{})
	p := s.offered()
	if p.Policy != optin.Approve || p.Plan.Route == nil || p.Plan.Route.NAT != nat || p.Plan.Route.Table != stagetest.Table || p.Lasts != time.Hour || p.Hash != p.Plan.Hash() {
		t.Errorf("proposal %+v of %+v", p, p.Plan.Route)
	}
	s.untouched()
	for _, state := range []incident.OfferState{incident.Offered, incident.RefusedByUs, incident.Unhelpful} {
		inc := s.inc
		inc.Offers = []incident.Offer{{Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: state, Made: p.At, Expires: p.At.Add(time.Hour)}}
		s.save(inc)
		s.tell("Rollcall Incident Changed")
		if list, _ := s.said(); len(list) != 0 {
			t.Errorf("%s: the same plan is offered again: %+v", state, list)
		}
	}
	// Without the gateway there is no plan, and the offer falls.
	inc := s.inc
	inc.Offers[0].State = incident.Offered
	s.save(inc)
	s.Call("ec2:DeleteNatGateway", `{"NatGatewayId":"`+nat+`"}`)
	s.Advance(5 * time.Minute)
	s.tell("Rollcall Incident Changed")
	list, _ := s.said()
	if len(list) != 1 || list[0].Hash != "" || list[0].Reason != string(addnatroute.NoNAT) || list[0].Says == "" {
		t.Errorf("proposals %+v, want that it is taken back", list)
	}
}

// The approval of a VPC is the operator's: without it there is no offer.
func TestVPCNotOptedIn(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: map[string]string{"ROLLCALL_REMEDIES": byItself}})
	s.tell(opened)
	list, runs := s.said()
	if len(list) != 1 || list[0].Hash != "" || list[0].Reason != string(notOptedIn) || len(runs) != 0 {
		t.Errorf("proposals %+v, runs %+v", list, runs)
	}
	s.untouched()
}

// What cannot be read is not planned.
func TestBlindPlansNothing(t *testing.T) {
	s := start(t, byItself, stagetest.Options{Settings: settingsOf(byItself), Faults: []simaws.FaultRule{{Call: "ec2:DescribeNatGateways", Deny: true}}})
	s.tell(opened)
	list, runs := s.said()
	if len(list) != 1 || list[0].Reason != string(action.CouldNotLook) || !strings.Contains(list[0].Says, "ec2:DescribeNatGateways") || len(runs) != 0 {
		t.Errorf("proposals %+v, runs %+v", list, runs)
	}
	s.untouched()
}

// A look that fails is nothing against a plan that was made from one that did
// not: the offer stands, and is looked at again once it is approved.
func TestBlindTakesNothingBack(t *testing.T) {
	s := start(t, byPerson, stagetest.Options{Settings: settingsOf(byPerson), Faults: []simaws.FaultRule{{Call: "ec2:DescribeNatGateways", Deny: true}}})
	p := remedy.Plan{Format: remedy.Format, Remedy: optin.AddNATRoute, Cluster: s.inc.Key.Cluster, Check: s.inc.Key.Check, Resource: s.inc.Key.Resource, Route: &addnatroute.Plan{Table: stagetest.Table, NAT: nat}}
	inc := s.inc
	inc.Offers = []incident.Offer{{Plan: p, Hash: p.Hash(), Policy: optin.Approve, State: incident.Offered, Made: inc.Opened.Add(time.Second), Expires: inc.Opened.Add(time.Hour)}}
	s.save(inc)
	s.tell("Rollcall Incident Changed")
	if list, runs := s.said(); len(list) != 0 || len(runs) != 0 {
		t.Errorf("proposals %+v, runs %+v", list, runs)
	}
	s.untouched()
}
