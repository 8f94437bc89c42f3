package enicleanup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/stage/stagetest"
)

// asked is a harness in mode report with two interfaces left behind, of which one
// was approved.
func asked(t *testing.T, policy optin.Policy) (s *harness, yes, no string) {
	t.Helper()
	s = open(t, stagetest.Options{Settings: map[string]string{
		"ROLLCALL_CLEANUP": "report", "ROLLCALL_REMEDIES": stagetest.Cluster + "/delete-leaked-interfaces=" + string(policy),
	}})
	yes, no = s.make(s.left()), s.make(s.left())
	s.sweep()
	s.Advance(leak.Apart + time.Minute)
	s.incident(policy, yes)
	s.Results()
	return s, yes, no
}

// incident writes an incident with a plan for interfaces, as report does.
func (s *harness) incident(policy optin.Policy, ids ...string) incident.Incident {
	s.t.Helper()
	p := remedy.Plan{
		Format: remedy.Format, Remedy: optin.DeleteLeakedInterfaces, Partition: "aws", Account: s.Template.AccountID, Region: s.Template.Region,
		Cluster: stagetest.Cluster, Check: "ip/leaked-interfaces", Resource: subnet,
		Cleanup: &remedy.DeleteLeakedInterfaces{VPC: vpc, Subnet: subnet, Interfaces: ids, Addresses: 3 * len(ids)},
	}
	inc := incident.Incident{
		Key: report.Key{Cluster: stagetest.Cluster, Check: p.Check, Resource: subnet}, Format: report.Format, State: incident.Open,
		Account: s.Template.AccountID, Region: s.Template.Region, Partition: "aws", Number: 1, Events: 1, Began: s.Now().Add(-time.Hour), Opened: s.Now().Add(-time.Hour),
		Cause: diagnosis.Cause{Confidence: finding.Certain, Title: "2 interfaces are left behind", Why: "They hold 6 addresses."},
		Offers: []incident.Offer{{
			Plan: p, Hash: p.Hash(), Policy: policy, State: incident.Approved, Made: s.Now(), Expires: s.Now().Add(time.Hour), By: report.User{ID: "U0ONCALL01"}, Decided: s.Now(),
		}},
	}
	return s.rewrite(inc)
}

func (s *harness) rewrite(inc incident.Incident) incident.Incident {
	s.t.Helper()
	saved, err := s.Store.SaveIncident(s.t.Context(), inc)
	if err != nil {
		s.t.Fatal(err)
	}
	return saved
}

func (s *harness) approval() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"version":"0","id":"a-1","source":"rollcall","detail-type":"Rollcall Remedy Approved","account":"999999999999","region":"x","time":%q,"detail":{"cluster":%q,"check":"ip/leaked-interfaces","resource":%q}}`,
		s.Now().UTC().Format(time.RFC3339), stagetest.Cluster, subnet))
}

func (s *harness) runs() (list []remedy.Run) {
	s.t.Helper()
	for _, m := range s.Results() {
		if m.RemedyResult != nil {
			list = append(list, m.RemedyResult.Run)
		}
	}
	return list
}

// conform holds the wishes on Rollcall's bus against the published schema.
func (s *harness) conform() (n int) {
	s.t.Helper()
	schema, err := jsonschema.NewCompiler().Compile("../../../events/schema/rollcall-incident.json")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, p := range s.Events() {
		if !strings.Contains(string(p.Event), `"Rollcall Check Wanted"`) {
			continue
		}
		n++
		e, err := jsonschema.UnmarshalJSON(strings.NewReader(string(p.Event)))
		if err != nil {
			s.t.Fatal(err)
		}
		if err := schema.Validate(e); err != nil {
			s.t.Errorf("%s: %v", p.Event, err)
		}
	}
	return n
}

func TestApprovedInterfacesAreDeleted(t *testing.T) {
	for _, policy := range []optin.Policy{optin.Approve, optin.Auto} {
		s, yes, no := asked(t, policy)
		if _, err := s.Handle(s.approval()); err != nil {
			t.Fatal(err)
		}
		if s.there(yes) || !s.there(no) {
			t.Errorf("%s: approved is there: %v, the other: %v", policy, s.there(yes), s.there(no))
		}
		list := s.runs()
		if len(list) != 1 || list[0].Result != remedy.Done || !slices.Equal(list[0].Changed, []string{yes}) || len(list[0].Requests) != 1 {
			t.Errorf("%s: runs %+v", policy, list)
		}
		if n := s.conform(); n != 1 {
			t.Errorf("%s: %d checks wanted, want one", policy, n)
		}
		// In mode report the schedule deletes nothing, now as before.
		for range 3 {
			s.sweep()
		}
		if !s.there(no) {
			t.Errorf("%s: the schedule deleted what nobody approved", policy)
		}
	}
}

func TestApprovalRefused(t *testing.T) {
	for _, test := range []struct {
		name   string
		policy optin.Policy
		wrong  func(*harness, *incident.Incident)
		want   string // the run's reason; empty for none
	}{
		{"refused by a person", optin.Approve, func(_ *harness, i *incident.Incident) { i.Offers[0].State = incident.RefusedByUs }, ""},
		{"offered, not approved", optin.Approve, func(_ *harness, i *incident.Incident) { i.Offers[0].State = incident.Offered }, ""},
		{"outdated", optin.Auto, func(_ *harness, i *incident.Incident) { i.Offers[0].State = incident.Outdated }, ""},
		{"done", optin.Approve, func(_ *harness, i *incident.Incident) { i.Offers[0].Run = &remedy.Run{} }, ""},
		{"of a time before", optin.Approve, func(s *harness, i *incident.Incident) { i.Opened = s.Now().Add(time.Second) }, ""},
		{"the incident is closed", optin.Approve, func(s *harness, i *incident.Incident) { i.State, i.Resolved = incident.Closed, s.Now() }, ""},
		{"expired", optin.Approve, func(s *harness, i *incident.Incident) { i.Offers[0].Expires = s.Now().Add(-time.Second) }, "approval-expired"},
		{"another plan", optin.Approve, func(_ *harness, i *incident.Incident) { i.Offers[0].Plan.Cleanup.Addresses++ }, "plan-changed"},
		{"a plan for another subnet", optin.Approve, func(_ *harness, i *incident.Incident) {
			i.Offers[0].Plan.Resource = other
			i.Offers[0].Hash = i.Offers[0].Plan.Hash()
		}, "plan-changed"},
		{"a plan for another cluster", optin.Approve, func(_ *harness, i *incident.Incident) {
			i.Offers[0].Plan.Cluster = "theirs"
			i.Offers[0].Hash = i.Offers[0].Plan.Hash()
		}, "plan-changed"},
		{"in another VPC: a cluster of the same name was there", optin.Approve, func(_ *harness, i *incident.Incident) {
			i.Offers[0].Plan.Cleanup.VPC = "vpc-0ffffffffffffffff"
			i.Offers[0].Hash = i.Offers[0].Plan.Hash()
		}, "none-left"},
		{"by a policy that is off by now", optin.Approve, func(_ *harness, i *incident.Incident) { i.Offers[0].Policy = optin.Auto }, "policy-off"},
		{"the remedy is off", optin.Off, nil, "policy-off"},
		{"in use by now", optin.Approve, func(s *harness, i *incident.Incident) {
			s.Call("ec2:AttachNetworkInterface", fmt.Sprintf(`{"NetworkInterfaceId":%q,"InstanceId":%q,"DeviceIndex":2}`, i.Offers[0].Plan.Cleanup.Interfaces[0], alive))
		}, "none-left"},
		{"not one of ours", optin.Approve, func(s *harness, i *incident.Incident) {
			m := s.left()
			m.tags[leak.TagCluster] = "theirs"
			i.Offers[0].Plan.Cleanup.Interfaces = []string{s.make(m)}
			i.Offers[0].Hash = i.Offers[0].Plan.Hash()
		}, "none-left"},
	} {
		s, yes, no := asked(t, test.policy)
		list, err := s.Store.Incidents(t.Context(), stagetest.Cluster)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if test.wrong != nil {
			test.wrong(s, &list[0])
			s.rewrite(list[0])
		}
		if _, err := s.Handle(s.approval()); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		runs := s.runs()
		if (test.want == "") != (len(runs) == 0) || test.want != "" && (runs[0].Result != remedy.Refused || runs[0].Reason != test.want) {
			t.Errorf("%s: runs %+v, want refused as %q", test.name, runs, test.want)
		}
		if !s.there(yes) || !s.there(no) || len(s.audits()) != 0 {
			t.Errorf("%s: something was deleted", test.name)
		}
	}
}

// The share of a VPC's interfaces that may look deletable holds for approvals too.
func TestApprovalKeepsToTheShare(t *testing.T) {
	s, yes, _ := asked(t, optin.Approve)
	e := s.Env()
	h := assemble(e, readerOf(e))
	h.share = 0
	if _, err := h.handle(t.Context(), s.approval()); err != nil {
		t.Fatal(err)
	}
	if runs := s.runs(); len(runs) != 1 || runs[0].Result != remedy.Refused || runs[0].Reason != "none-left" || len(runs[0].Changed) != 0 {
		t.Errorf("runs %+v, want one refused as none-left", runs)
	}
	if !s.there(yes) {
		t.Error("deleted over the share")
	}
}

// What report has not written down is no approval, whatever an event says.
func TestPolicyBeforeItsPlan(t *testing.T) {
	for _, offers := range []func(incident.Incident) []incident.Offer{
		func(incident.Incident) []incident.Offer { return nil },
		func(inc incident.Incident) []incident.Offer {
			inc.Offers[0].State = incident.Offered
			return inc.Offers
		},
	} {
		s, yes, _ := asked(t, optin.Auto)
		list, _ := s.Store.Incidents(t.Context(), stagetest.Cluster)
		list[0].Offers = offers(list[0])
		s.rewrite(list[0])
		if _, err := s.Handle(s.approval()); err != nil {
			t.Error(err)
		}
		if runs := s.runs(); len(runs) != 0 || !s.there(yes) {
			t.Errorf("deleted without a plan: %+v", runs)
		}
	}
}

// EventBridge may deliver an approval twice, and Lambda may run it twice, before
// report has taken in what came of it: each interface goes once, and what is reported
// has the same id, so that report takes it in once.
func TestApprovalDeliveredTwice(t *testing.T) {
	for _, policy := range []optin.Policy{optin.Approve, optin.Auto} {
		s, yes, no := asked(t, policy)
		for range 3 {
			if _, err := s.Handle(s.approval()); err != nil {
				t.Fatal(err)
			}
			s.Advance(time.Minute)
		}
		ids := map[string]remedy.Run{}
		for _, m := range s.Results() {
			if m.RemedyResult != nil {
				ids[m.RemedyResult.ID] = m.RemedyResult.Run
			}
		}
		if len(ids) != 1 || s.there(yes) || !s.there(no) {
			t.Errorf("%s: runs %+v", policy, ids)
		}
		for _, d := range ids {
			if d.Result != remedy.Done || !slices.Equal(d.Changed, []string{yes}) || len(d.Requests) != 1 {
				t.Errorf("%s: run %+v", policy, d)
			}
		}
		if n := s.Calls()["ec2:DeleteNetworkInterface"]; n != 1 {
			t.Errorf("%s: %d calls of DeleteNetworkInterface", policy, n)
		}
	}
}

// twins is a reader that knows a second cluster in the same VPC.
type twins struct {
	Reader
	second string
}

func (w twins) Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	name := q.Cluster
	if name == w.second {
		q.Cluster = stagetest.Cluster
	}
	s, err := w.Reader.Read(ctx, q)
	if s != nil {
		s.Cluster.Name = name
	}
	return s, err
}

// TestApprovalIsOfOneCluster: what was approved for one cluster deletes nothing
// of another one in the VPC, nor what names none, though the plan names them and
// both clusters are watched. The approved one of its own goes.
func TestApprovalIsOfOneCluster(t *testing.T) {
	const second = "second"
	s, own, _ := asked(t, optin.Approve)
	m := s.left()
	m.tags[leak.TagCluster] = second
	theirs := s.make(m)
	n := s.left()
	delete(n.tags, leak.TagCluster)
	untagged := s.make(n)
	handle := func(sweep bool) {
		t.Helper()
		h := assemble(s.Env(), twins{readerOf(s.Env()), second})
		h.Clusters, h.untagged = []string{stagetest.Cluster, second}, []string{vpc}
		raw := s.approval()
		if sweep {
			raw = s.Sweep()
		}
		if _, err := h.handle(t.Context(), raw); err != nil {
			t.Fatal(err)
		}
	}
	handle(true)
	s.Advance(cadence)
	list, err := s.Store.Incidents(t.Context(), stagetest.Cluster)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	inc := list[0]
	inc.Offers[0].Plan.Cleanup.Interfaces = []string{own, theirs, untagged}
	inc.Offers[0].Hash = inc.Offers[0].Plan.Hash()
	s.rewrite(inc)
	handle(false)
	if s.there(own) || !s.there(theirs) || !s.there(untagged) {
		t.Errorf("there: its own %v, want it gone; another cluster's %v, nobody's %v, want both", s.there(own), s.there(theirs), s.there(untagged))
	}
	if d := s.runs(); len(d) != 1 || d[0].Result != remedy.Partly || len(d[0].Changed) != 1 {
		t.Errorf("runs %+v", d)
	}
}
