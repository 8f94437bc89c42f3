package remediate

import (
	"slices"
	"testing"
	"time"

	"rollcall/local/simaws"

	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/checks"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// tale is a fault that a remedy is for: the real check finds it in a world, and
// report opens the incident from what it found.
type tale struct {
	remedy optin.Remedy
	check  checks.ID
	world  string
	over   string
	// begin brings the world to the fault.
	begin func(*harness)
	// stuck is the instance that does not join, if there is one.
	stuck string
	// call is the one that changes something.
	call string
	// undone tells that the world is as it was.
	undone func(*harness) bool
	// wrong is what changes between the approval and the run, by its name.
	wrong map[string]changed
}

type changed struct {
	world func(*harness)
	want  action.Reason
}

// open plays a tale to the open incident.
func (x tale) open(t *testing.T, policy optin.Policy, faults ...simaws.FaultRule) *harness {
	t.Helper()
	return x.openWith(t, policy, stagetest.Options{Faults: faults})
}

func (x tale) openWith(t *testing.T, policy optin.Policy, o stagetest.Options) *harness {
	t.Helper()
	o.World, o.Over, o.Settings = x.world, x.over, settingsOf(stagetest.Cluster+"/"+string(x.remedy)+"="+string(policy))
	s := bench(t, "", o)
	if x.begin != nil {
		x.begin(s)
	}
	if x.stuck != "" {
		s.id = x.stuck
	}
	obs := x.look(s)
	i := slices.IndexFunc(obs.Diagnosis.Causes, func(c diagnose.Cause) bool { return c.Check == x.check })
	if i < 0 || obs.Diagnosis.Causes[i].Fix.Remedy != string(x.remedy) {
		t.Fatalf("%s finds %+v, blind %+v; want %s", x.check, obs.Diagnosis.Causes, obs.Blind, x.remedy)
	}
	for _, d := range reconcile.Decide(nil, obs, s.Now(), policyOfReport()) {
		if d.Incident.Key.Check == x.check {
			s.save(d.Incident)
		}
	}
	if s.inc.State != incident.Open {
		t.Fatalf("the incident is %q", s.inc.State)
	}
	return s
}

func policyOfReport() incident.Policy {
	return incident.Policy{ProofTime: 30 * time.Minute, ReopenTime: time.Hour, Channel: "C0123456789"}
}

// look is what the function that found the cause sees now.
func (x tale) look(s *harness) report.Observation {
	s.t.Helper()
	inc := s.inc
	if inc.Key.Cluster == "" {
		inc = incident.Incident{Key: report.Key{Cluster: stagetest.Cluster, Check: x.check}, Account: s.Template.AccountID, Region: s.Template.Region, Partition: "aws"}
	}
	var launches []report.Launch
	if s.id != "" {
		launches = []report.Launch{{Instance: s.id, Nodegroup: stagetest.Nodegroup, Group: stagetest.Group, Subnet: stagetest.Subnet, Started: s.Now().Add(-20 * time.Minute), Status: outcome.Missed}}
		if len(inc.Launches) == 0 {
			inc.Launches = launches
		}
	}
	look, err := s.h.look(s.t.Context(), inc, remedy.Of(x.remedy).Sources(x.check), true)
	if err != nil {
		s.t.Fatal(err)
	}
	look.Taken = s.Now()
	look.Cleanup = snapshot.Cleanup{Mode: "report", Grace: s.h.grace}
	var list []checks.Check
	for _, c := range checks.All() {
		if c.ID == x.check {
			list = append(list, c)
		}
	}
	return detect.Observe("test", look, diagnose.Rank(list, checks.Eval(list, look), look), launches)
}

// propose has the function make its plan, and report take it in.
func (x tale) propose(s *harness) report.Proposal {
	s.t.Helper()
	p := s.offered()
	p.Key.Cluster = stagetest.Cluster
	d := response.Propose(s.inc, p, s.Now())
	if !d.Changed {
		s.t.Fatalf("report has no use for the plan: %s", d.Reason)
	}
	s.save(d.Incident)
	return p
}

// press is a person's approval, which report decides on.
func (x tale) press(s *harness, p report.Proposal) {
	s.t.Helper()
	d, a := response.Act(s.inc, report.Press{
		Format: report.PressFormat, Kind: report.PressKind, ID: "press-1", At: s.Now(), Key: s.inc.Key, Number: s.inc.Number,
		Action: report.ApprovePlan, Plan: p.Hash, User: report.User{ID: "U0ONCALL01"},
		Channel: s.inc.Delivery.Channel, TS: s.inc.Delivery.TS,
	}, response.Who{May: response.MayYes}, s.Now())
	if a.Reason != incident.AnswerApproved {
		s.t.Fatalf("the press is answered %+v", a)
	}
	s.save(d.Incident)
}

// act has the function act on the approval, and report take in what came of it.
func (x tale) act(s *harness) remedy.Run {
	s.t.Helper()
	if n := s.tell(approval); n != 0 {
		s.t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	var run remedy.Run
	n := 0
	for _, m := range s.Results() {
		if m.RemedyResult == nil {
			continue
		}
		n++
		run = m.RemedyResult.Run
		if d := response.ApplyRemedyResult(s.inc, *m.RemedyResult, s.Now()); d.Changed {
			s.save(d.Incident)
		} else {
			s.t.Errorf("report has no use for the run: %s", d.Reason)
		}
	}
	if n != 1 {
		s.t.Fatalf("%d runs were told, want one: %s", n, s.Logs())
	}
	return run
}

// verified tells that the check that found the cause has seen that it is gone.
func (x tale) verified(s *harness) bool {
	s.t.Helper()
	obs := x.look(s)
	for _, d := range reconcile.Decide([]incident.Incident{s.inc}, obs, s.Now(), policyOfReport()) {
		if d.Incident.Key == s.inc.Key {
			s.save(d.Incident)
		}
	}
	return s.inc.Offers[len(s.inc.Offers)-1].State == incident.Helped
}
