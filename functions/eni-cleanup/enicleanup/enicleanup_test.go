package enicleanup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/functions/eni-cleanup/spec"
	"rollcall/shared/event"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/stage/platform/template"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
	"rollcall/tools/testfull"
)

// approvedFor is an incident of which the deletes of interfaces were approved an
// hour ago, for two hours.
func approvedFor(f *fake, ids ...string) incident.Incident {
	p := remedy.Plan{
		Format: remedy.Format, Remedy: optin.DeleteLeakedInterfaces, Partition: "p", Account: "1", Region: "r",
		Cluster: "a", Check: "ip/leaked-interfaces", Resource: "s-1",
		Cleanup: &remedy.DeleteLeakedInterfaces{VPC: inVPC, Subnet: "s-1", Interfaces: ids},
	}
	at := f.clock.Add(-time.Hour)
	return incident.Incident{
		Key: report.Key{Cluster: "a", Check: p.Check, Resource: "s-1"}, State: incident.Open, Account: "1", Region: "r", Partition: "p", Opened: at,
		Offers: []incident.Offer{{
			Plan: p, Hash: p.Hash(), Policy: optin.Approve, State: incident.Approved, Made: at, Expires: at.Add(2 * time.Hour), By: report.User{ID: "U1"}, Decided: at,
		}},
	}
}

const approval = `{"version":"0","id":"a-1","source":"rollcall","detail-type":"Rollcall Remedy Approved",` +
	`"account":"9","region":"x","time":"2026-11-20T12:00:00Z","detail":{"cluster":"a","check":"ip/leaked-interfaces","resource":"s-1"}}`

// What an approval leads to, with each thing that may be wrong with it.
func TestApprovals(t *testing.T) {
	type setup struct {
		name   string
		change func(*fake, *incident.Incident)
		set    func(*handler)
	}
	offer := func(change func(*incident.Offer)) func(*fake, *incident.Incident) {
		return func(_ *fake, i *incident.Incident) { change(&i.Offers[0]) }
	}
	plan := func(change func(*remedy.Plan)) func(*fake, *incident.Incident) {
		return offer(func(o *incident.Offer) { change(&o.Plan); o.Hash = o.Plan.Hash() })
	}
	failing := func(what string) setup {
		return setup{"failing at " + what, func(f *fake, _ *incident.Incident) { f.errs[what] = errBroken }, nil}
	}
	policy := func(p optin.Policy) func(*handler) {
		return func(h *handler) { h.remedied = func(string) optin.Policy { return p } }
	}
	// before is what was audited of an interface, an hour ago or so.
	before := func(id string, ago time.Duration, result leak.Result, request string) func(*fake, *incident.Incident) {
		return func(f *fake, _ *incident.Incident) {
			f.audits = append(f.audits, leak.Audit{Interface: id, Cluster: "a", Subnet: "s-1", Owner: node, At: f.clock.Add(-ago), Result: result, Request: request})
		}
	}
	var got stagetest.Traces
	for _, x := range []setup{
		{"one of two is approved", nil, nil},
		{"both are", plan(func(p *remedy.Plan) { p.Cleanup.Interfaces = []string{"eni-2", "eni-1"} }), nil},
		{"one that is not there", plan(func(p *remedy.Plan) { p.Cleanup.Interfaces = []string{"eni-9", "eni-1"} }), nil},
		{"none is there", plan(func(p *remedy.Plan) { p.Cleanup.Interfaces = []string{"eni-9"} }), nil},
		{"deleted by then", func(f *fake, i *incident.Incident) {
			f.idle = f.idle[1:]
			before("eni-1", time.Hour, leak.Deleted, "")(f, i)
		}, nil},
		{"another was deleted by then", before("eni-2", time.Hour, leak.Deleted, "req"), nil},
		{"lost by then", before("eni-1", time.Hour, leak.LostGone, "req"), nil},
		{"one of two, and what came of it cannot be told", func(f *fake, i *incident.Incident) {
			plan(func(p *remedy.Plan) { p.Cleanup.Interfaces = []string{"eni-1", "eni-9"} })(f, i)
			f.errs["tell deletes"] = errBroken
		}, nil},
		{"of another account", nil, func(h *handler) { h.of = spoke.ID{Account: "2", Region: "r"} }},
		{"of another region", nil, func(h *handler) { h.of = spoke.ID{Account: "1", Region: "q"} }},
		{"of this account and region", nil, func(h *handler) { h.of = spoke.ID{Account: "1", Region: "r"} }},
		{"there is no incident", func(_ *fake, i *incident.Incident) { i.Key.Resource = "s-9" }, nil},
		{"there is one of another check", func(_ *fake, i *incident.Incident) { i.Key.Check = "ip/exhausted" }, nil},
		{"it is the second incident", func(f *fake, _ *incident.Incident) {
			f.incidents = []incident.Incident{
				{Key: report.Key{Cluster: "a", Check: "ip/leaked-interfaces", Resource: "s-0"}}, {Key: report.Key{Cluster: "a", Check: "ip/exhausted", Resource: "s-1"}},
			}
		}, nil},
		{"cleared", func(_ *fake, i *incident.Incident) { i.State = incident.Cleared }, nil},
		{"closed", func(_ *fake, i *incident.Incident) { i.State = incident.Closed }, nil},
		{"nothing was offered", func(_ *fake, i *incident.Incident) { i.Offers = nil }, nil},
		{"offered", offer(func(o *incident.Offer) { o.State = incident.Offered }), nil},
		{"done", offer(func(o *incident.Offer) { o.Run = &remedy.Run{} }), nil},
		{"made before the incident was opened", offer(func(o *incident.Offer) { o.Made = o.Made.Add(-time.Second) }), nil},
		{"no interfaces in the plan", plan(func(p *remedy.Plan) { p.Cleanup = nil }), nil},
		{"another remedy's, after it", func(_ *fake, i *incident.Incident) {
			o := i.Offers[0]
			o.Plan.Remedy = optin.ReplaceInstance
			i.Offers = append(i.Offers, o)
		}, nil},
		{"two, the newest approved", func(_ *fake, i *incident.Incident) {
			o := i.Offers[0]
			o.State = incident.RefusedByUs
			i.Offers = []incident.Offer{o, i.Offers[0]}
		}, nil},
		{"two, the newest refused", func(_ *fake, i *incident.Incident) {
			o := i.Offers[0]
			o.State = incident.RefusedByUs
			i.Offers = append(i.Offers, o)
		}, nil},
		{"switched off", nil, policy(optin.Off)},
		{"by a policy that asks by now", offer(func(o *incident.Offer) { o.Policy = optin.Auto }), nil},
		{"by the policy", offer(func(o *incident.Offer) {
			o.Policy, o.By, o.Expires = optin.Auto, report.User{}, o.Made.Add(time.Minute)
		}), policy(optin.Auto)},
		{"by a person, with a policy that asks nobody by now", nil, policy(optin.Auto)},
		{"until now", offer(func(o *incident.Offer) { o.Expires = theDay().Add(noon) }), nil},
		{"for ever", offer(func(o *incident.Offer) { o.Expires = time.Time{} }), nil},
		{"no more", offer(func(o *incident.Offer) { o.Expires = theDay().Add(noon - time.Second) }), nil},
		{"another plan", offer(func(o *incident.Offer) { o.Plan.Cleanup.Addresses++ }), nil},
		{"another cluster's", plan(func(p *remedy.Plan) { p.Cluster = "b" }), nil},
		{"another subnet's", plan(func(p *remedy.Plan) { p.Resource = "s-2" }), nil},
		{"in another VPC", plan(func(p *remedy.Plan) { p.Cleanup.VPC = "vpc-0" }), nil},
		{"three VPCs, and two clusters in one", func(f *fake, i *incident.Incident) {
			f.names, f.homes = []string{"a", "b", "c", "d"}, map[string]string{"a": inVPC, "b": "vpc-0", "c": "vpc-2", "d": inVPC}
			f.seenBefore(leftBehind("eni-3", f.clock, ownedBy("d")))
			plan(func(p *remedy.Plan) { p.Cleanup.Interfaces = []string{"eni-1", "eni-3"} })(f, i)
		}, nil},
		{"the cluster is elsewhere by now, another is there", func(f *fake, _ *incident.Incident) {
			f.names, f.homes = []string{"a", "b"}, map[string]string{"a": "vpc-0", "b": inVPC}
		}, nil},
		failing("incidents of a"), failing("sightings"), failing("audits of a #3"), failing("send run"), failing("tell"),
		{"refused, and that cannot be told", func(f *fake, i *incident.Incident) {
			i.Offers[0].Plan.Cluster = "b"
			f.errs["send run"] = errBroken
		}, nil},
		{"switched off, and that cannot be told", func(f *fake, _ *incident.Incident) { f.errs["send run"] = errBroken }, policy(optin.Off)},
		{"no more, and that cannot be told", func(f *fake, i *incident.Incident) {
			i.Offers[0].Expires = theDay()
			f.errs["send run"] = errBroken
		}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			inc := approvedFor(f, "eni-1")
			if x.change != nil {
				x.change(f, &inc)
			}
			f.incidents = append(f.incidents, inc)
			h := f.handler()
			h.modes = func(string) leak.Mode { return leak.Report } // the schedule deletes nothing
			if x.set != nil {
				x.set(&h)
			}
			got.Add(x.name, f.handle(t.Context(), h, json.RawMessage(approval)))
		})
	}
	got.Golden(t, "testdata/approvals.txtar")
}

// blinded is a reader that EKS does not answer about one cluster.
type blinded struct {
	Reader
	cluster string
}

func (b blinded) Read(ctx context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	if q.Cluster != b.cluster {
		return b.Reader.Read(ctx, q)
	}
	return &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Cluster: snapshot.Cluster{Name: q.Cluster}, Read: map[snapshot.Source]bool{},
		Failures: map[snapshot.Source]snapshot.Failure{snapshot.Clusters: {Source: snapshot.Clusters, Reason: snapshot.Throttled, Call: "eks:DescribeCluster"}},
	}, nil
}

// TestBlindCluster: a cluster in mode report that cannot be read may be in the
// VPC, and may have made the interfaces there that name none: they stay, until
// it is read and known to be elsewhere.
func TestBlindCluster(t *testing.T) {
	const second = "second"
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_UNTAGGED": vpc}})
	m := s.left()
	delete(m.tags, leak.TagCluster)
	untagged, named := s.make(m), s.make(s.left())
	sweep := func(reader Reader) {
		t.Helper()
		s.Advance(cadence)
		h := assemble(s.Env(), reader)
		h.Clusters = []string{stagetest.Cluster, second}
		h.modes = func(cluster string) leak.Mode { return map[string]leak.Mode{stagetest.Cluster: leak.Delete}[cluster] }
		if _, err := h.handle(t.Context(), s.Sweep()); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		sweep(blinded{readerOf(s.Env()), second})
	}
	if !s.there(untagged) || s.there(named) {
		t.Errorf("there: without a name %v, want it; with one %v, want it gone", s.there(untagged), s.there(named))
	}
	// EKS answers, and has no such cluster.
	sweep(readerOf(s.Env()))
	if s.there(untagged) {
		t.Error("it stays, though every watched cluster of the VPC is in mode delete")
	}
}

// TestCapOfARun: the cap is the run's, not each VPC's.
func TestCapOfARun(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_CAP": "2"}})
	for range 5 {
		s.make(s.left())
	}
	s.sweep()
	s.Advance(cadence)
	h := assemble(s.Env(), readerOf(s.Env()))
	r := &tour{handler: h, work: t.Context(), id: "run", left: h.limit}
	for range 3 { // the same VPC stands for three
		places, err := h.places(t.Context(), event.Trigger{})
		if err != nil || len(places) != 1 {
			t.Fatal(places, err)
		}
		if err := r.clean(t.Context(), places[0]); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.audits()); n != 2 {
		t.Errorf("%d deleted in three VPCs by a run that may delete 2", n)
	}
}

// newer has sightings of which some were written by a newer version.
type newer struct{ Memory }

func (n newer) Sightings(ctx context.Context, vpc string) (map[string]leak.Sighting, error) {
	list, err := n.Memory.Sightings(ctx, vpc)
	return list, errors.Join(err, errors.New("written by a newer version"))
}

// TestSightingsUnread: what cannot be read of them may hold an interface back,
// or be a delete on its way: none of the others is deleted either.
func TestSightingsUnread(t *testing.T) {
	s := open(t, stagetest.Options{})
	id := s.make(s.left())
	s.sweep()
	s.sent()
	for range 3 {
		s.Advance(cadence)
		h := assemble(s.Env(), readerOf(s.Env()))
		h.memory = newer{h.memory}
		if _, err := h.handle(t.Context(), s.Sweep()); err == nil {
			t.Error("that the sightings could not be read is no error")
		}
	}
	if obs, _ := s.sent(); !s.there(id) || len(s.audits()) > 0 || len(obs) != 3 {
		t.Errorf("it is there: %v; records %v; %d observations", s.there(id), s.audits(), len(obs))
	}
}

// TestDenied: a delete that EC2 denies is reported with the permission's name, is
// tried once in a run and not for each interface, and leaves nothing behind
// that looks like a delete.
func TestDenied(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DeleteNetworkInterface", Deny: true, Times: 30}}})
	for range 40 {
		s.make(s.left())
	}
	s.sweep()
	s.sent()
	s.Counts()
	s.sweep()
	obs, summaries := s.sent()
	want := snapshot.Failure{Source: deletes, Reason: snapshot.Denied, Call: "ec2:DeleteNetworkInterface", Code: "UnauthorizedOperation"}
	if len(obs) != 1 || len(obs[0].Blind) != 1 || len(summaries) > 0 {
		t.Fatalf("sent %+v, %+v", obs, summaries)
	}
	got := obs[0].Blind[0]
	got.Message = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blind (-want +got):\n%s", diff)
	}
	counts := s.Counts()
	if counts["DeletesRefused"] == 0 || counts["DeletesRefused"] > 2*parallel || counts["LeftForNextRun"] != 40 || counts["Leaked"] != 40 || counts["Deleted"] != 0 {
		t.Errorf("counts %v", counts)
	}
	if !strings.Contains(s.Logs(), "ec2:DeleteNetworkInterface") || len(s.audits()) > 0 || len(s.deleteEventIDs()) > 0 {
		t.Errorf("audits %v, told %v", s.audits(), s.deleteEventIDs())
	}
	sightings, err := s.Store.WithClock(s.Now).Sightings(t.Context(), vpc)
	if err != nil || len(sightings) != 40 {
		t.Fatalf("%d sightings, %v", len(sightings), err)
	}
	for id, x := range sightings {
		if x.Deleting != nil {
			t.Errorf("%s: what was written ahead is not taken back", id)
		}
	}
	// A run that is denied asks once at least: after thirty nothing is denied.
	for runs := 0; runs < 34 && len(s.audits()) < 40; runs++ {
		s.sweep()
	}
	if n := len(s.audits()); n != 40 {
		t.Errorf("%d deleted once EC2 allows it, want 40", n)
	}
	// The proof that it works is what ends the incident.
	obs, _ = s.sent()
	proved := false
	for _, o := range obs {
		for _, source := range o.Read {
			proved = proved || source == deletes
		}
	}
	if !proved {
		t.Error("that it works again is not told")
	}
}

// TestThrottled: no delete fails because EC2 is asked too much.
func TestThrottled(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DeleteNetworkInterface", Throttle: 0.5, Times: 20}}})
	for range 30 {
		s.make(s.left())
	}
	s.sweep()
	s.sweep()
	if counts := s.Counts(); counts["Deleted"] != 30 || counts["Throttled"] != 20 || counts["AddressesReturned"] != 90 || counts["LeftForNextRun"] != 0 {
		t.Errorf("counts %v", counts)
	}
	if p, err := s.Store.WithClock(s.Now).Pace(t.Context(), s.Template.AccountID, s.Template.Region); err != nil || p.Rate >= leak.Refill || p.At.IsZero() {
		t.Errorf("pace %+v, %v; want one that others slow down", p, err)
	}
}

// TestUncertain: a delete that EC2 did not answer is settled by the next run,
// whether it was done or not.
func TestUncertain(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DeleteNetworkInterface", Fail: 0.5, Times: 5}}})
	for range 10 {
		s.make(s.left())
	}
	for range 4 {
		s.sweep()
	}
	if got := s.audits(); len(got) != 10 || len(s.deleteEventIDs()) != 10 {
		t.Errorf("%d audit records, %d told, want 10", len(got), len(s.deleteEventIDs()))
	}
	if n := s.Counts()["DeletesUncertain"]; n != 5 {
		t.Errorf("%d uncertain, want 5", n)
	}
}

// TestBusDown: what the bus did not take is sent by the next run.
func TestBusDown(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "events:PutEvents", Deny: true, Times: 1}}})
	id := s.make(s.left())
	s.sweep()
	s.Advance(cadence)
	if _, err := s.Handle(s.Sweep()); err == nil || !strings.Contains(err.Error(), "tell of 1 deletes") {
		t.Errorf("error %v", err)
	}
	if len(s.audits()) != 1 || len(s.deleteEventIDs()) > 0 {
		t.Fatalf("audits %v, told %v", s.audits(), s.deleteEventIDs())
	}
	s.sweep()
	s.sweep()
	if diff := cmp.Diff([]string{stagetest.Cluster + "/" + id + "/deleted"}, s.deleteEventIDs()); diff != "" || len(s.audits()) != 1 {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// TestBlind: what cannot be read is reported, and nothing is deleted.
func TestBlind(t *testing.T) {
	s := open(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstances", Deny: true}}})
	id := s.make(s.left())
	for range 3 {
		s.sweep()
	}
	obs, _ := s.sent()
	if len(obs) != 3 || len(obs[2].Blind) == 0 || !s.there(id) {
		t.Errorf("sent %+v", obs)
	}
	if list, err := s.Store.WithClock(s.Now).Sightings(t.Context(), vpc); err != nil || len(list) > 0 {
		t.Errorf("sightings %v, %v: it was judged", list, err)
	}
}

// TestBlindKeepsWhatWasSeen: a look that failed proves nothing of what is
// remembered; the next one that succeeds deletes, and does not begin anew.
func TestBlindKeepsWhatWasSeen(t *testing.T) {
	for _, what := range []string{"ec2:DescribeNetworkInterfaces", "ec2:DescribeInstances", "ec2:DescribeSubnets"} {
		t.Run(what, func(t *testing.T) {
			s := open(t, stagetest.Options{})
			id := s.make(s.left())
			s.sweep()
			s.Advance(cadence)
			if _, err := handlerOf(s.Env(), refusing{s.HTTPClient().Transport, what})(t.Context(), s.Sweep()); err != nil {
				t.Fatal(err)
			}
			list, err := s.Store.WithClock(s.Now).Sightings(t.Context(), vpc)
			if err != nil || len(list) != 1 || !s.there(id) {
				t.Errorf("sightings %v, %v; it is there: %v", list, err, s.there(id))
			}
			s.sweep()
			if s.there(id) {
				t.Error("it is seen for the first time again")
			}
		})
	}
}

// refusing denies one call of EC2.
type refusing struct {
	next http.RoundTripper
	call string
}

func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	if action, _ := about(req); "ec2:"+action != r.call {
		return r.next.RoundTrip(req)
	}
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"text/xml"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(`<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no</Message></Error></Errors><RequestID>r</RequestID></Response>`)),
	}, nil
}

// TestSummary: one for each day, with what came back to each subnet and what
// the subnet has then; sent again only when something was added.
func TestSummary(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_CAP": "3"}})
	for i := range 5 {
		m := s.left()
		if i == 4 {
			m.subnet = other
		}
		s.make(m)
	}
	untagged := s.left()
	delete(untagged.tags, leak.TagCluster)
	s.make(untagged)
	for range 5 {
		s.sweep()
	}
	_, got := s.sent()
	if len(got) != 2 || got[0].ID != "cleanup/"+stagetest.Cluster+"/2026-11-20" || got[1].ID != got[0].ID {
		t.Fatalf("summaries %+v", got)
	}
	first, last := got[0].Cleanup, got[1].Cleanup
	if first.Mode != "delete" || first.Left != 2 || last.Left != 0 || last.Kept[string(leak.Untagged)] != 1 || last.VPC != vpc {
		t.Errorf("first %+v, last %+v", first, last)
	}
	sum := 0
	for _, x := range last.Subnets {
		sum += x.Addresses
		if x.Nodes != 1 || x.Zone == "" || x.Free == 0 {
			t.Errorf("subnet %+v", x)
		}
	}
	if len(last.Subnets) != 2 || sum != 15 || last.Nodes != 1 {
		t.Errorf("subnets %+v of %d nodes, want one node in two", last.Subnets, last.Nodes)
	}
	if back, err := s.Store.WithClock(s.Now).Returned(t.Context(), stagetest.Cluster, s.Now().Add(-2*cadence*10)); err != nil || len(back) != 2 {
		t.Errorf("returned %+v, %v", back, err)
	}
}

// TestDryRunAsksOnceADay: EC2's own dry run, and no delete.
func TestDryRunAsksOnceADay(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP": stagetest.Cluster + "=dry-run"}})
	id := s.make(s.left())
	s.sweep()
	s.sweep()
	if list, err := s.Store.WithClock(s.Now).Sightings(t.Context(), vpc); err != nil || len(list) != 1 {
		t.Errorf("sightings %v, %v: what was asked for is still seen", list, err)
	}
	for range 6 {
		s.sweep()
	}
	_, got := s.sent()
	if n := s.Calls()["ec2:DeleteNetworkInterface"]; n != 1 || !s.there(id) || len(got) != 1 || got[0].Cleanup.Mode != "dry-run" || got[0].Cleanup.Subnets[0].Addresses != 3 {
		t.Errorf("%d requests; summaries %+v", n, got)
	}
	if len(s.deleteEventIDs()) > 0 {
		t.Errorf("told %v", s.deleteEventIDs())
	}
	for range 4 * 24 {
		s.sweep()
	}
	if n := s.Calls()["ec2:DeleteNetworkInterface"]; n != 1 || len(s.audits()) != 2 {
		t.Errorf("%d requests the next day, %d records", n, len(s.audits()))
	}
}

// TestStopped: too many at once, and nothing is done but said.
func TestStopped(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_SHARE": "20"}})
	for range 10 {
		s.make(s.left())
	}
	for range 4 {
		s.sweep()
	}
	_, got := s.sent()
	if len(got) != 1 || got[0].Cleanup.Stopped == nil || got[0].Cleanup.Stopped.Candidates != 10 || len(s.audits()) > 0 {
		t.Errorf("summaries %+v, audits %v", got, s.audits())
	}
}

// TestOnlyTheSchedule wakes it.
func TestOnlyTheSchedule(t *testing.T) {
	s := open(t, stagetest.Options{})
	for raw, want := range map[string]string{
		`{`: "unexpected end",
		`{"id":"1","source":"rollcall","detail-type":"Rollcall Spot Report Wanted","detail":{}}`:                                                                                                          "not by Rollcall Spot Report Wanted",
		`{"id":"1","source":"rollcall","detail-type":"Rollcall Incident Opened","account":"1","region":"x","time":"2026-11-20T12:00:00Z","detail":{"cluster":"a","check":"ip/exhausted","resource":"b"}}`: "not by Rollcall Incident Opened",
	} {
		if _, err := s.Handle([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}

// forgetful answers nothing where interfaces are asked for by their ids.
type forgetful struct{ next http.RoundTripper }

func (f forgetful) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		return f.next.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	if text := string(body); !strings.Contains(text, "Action=DescribeNetworkInterfaces") || !strings.Contains(text, "network-interface-id") {
		return f.next.RoundTrip(req)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(`<DescribeNetworkInterfacesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId><networkInterfaceSet/></DescribeNetworkInterfacesResponse>`)),
	}, nil
}

// TestForgetful: what the look has just seen is not taken for deleted because a
// second answer leaves it out. An audit record is for ever.
func TestForgetful(t *testing.T) {
	s := open(t, stagetest.Options{})
	there := s.make(s.left())
	s.sweep()
	store := s.Store.WithClock(s.Now)
	sightings, err := store.Sightings(t.Context(), vpc)
	if err != nil || len(sightings) != 1 {
		t.Fatalf("%d sightings, %v", len(sightings), err)
	}
	// Another run wrote ahead, and ended before it sent the request.
	x := sightings[there]
	draft := leak.Draft(leak.Verdict{Interface: snapshot.Interface{ID: there, VPC: vpc, Subnet: subnet, Account: s.Template.AccountID}, Owner: dead, Cluster: stagetest.Cluster}, x, "another", s.Now())
	x.Deleting = &draft
	if _, err := store.SaveSighting(t.Context(), vpc, x); err != nil {
		t.Fatal(err)
	}
	s.Advance(leak.Lease + time.Minute)
	transport := s.HTTPClient().Transport
	if _, err := handlerOf(s.Env(), forgetful{transport})(t.Context(), s.Sweep()); err != nil {
		t.Fatal(err)
	}
	if list := s.audits(); len(list) > 0 || !s.there(there) {
		t.Fatalf("it is there: %v, and the records say %+v", s.there(there), list)
	}
	s.Advance(cadence)
	s.sweep()
	if list := s.audits(); len(list) != 1 || list[0].Settled || list[0].Run == "another" || s.there(there) {
		t.Errorf("records %+v; want the delete of the run that did it", list)
	}
}

// What is in the world of these tests.
const (
	vpc    = "vpc-0a1b2c3d4e5f60718"
	subnet = "subnet-0b20000000000000b"
	other  = "subnet-0b20000000000000c"
	alive  = "i-0d0000000000000a1"
	halted = "i-0d0000000000005a5" // stopped
	dead   = "i-0dead000000000001" // EC2 does not know it
)

// cadence is the schedule's.
const cadence = 15 * time.Minute

// harness is the world, and the function in it.
type harness struct {
	*stagetest.Bench
	t testing.TB
	// devices are the interfaces attached to a machine.
	devices int
}

func open(t testing.TB, o stagetest.Options) *harness {
	t.Helper()
	o.Over = `
ec2:
  Instances:
    - {InstanceId: ` + halted + `, SubnetId: ` + subnet + `, PrivateIpAddress: 10.42.140.9, LaunchTime: 2026-11-12T09:14:06Z, InstanceType: m5.24xlarge, State: {Code: 80, Name: stopped}}
` + o.Over
	settings := map[string]string{"ROLLCALL_CLEANUP": stagetest.Cluster + "=delete", "ROLLCALL_CLEANUP_SHARE": "100"}
	for k, v := range o.Settings {
		settings[k] = v
	}
	o.Settings = settings
	s := &harness{t: t}
	s.Bench = stagetest.Start(t, spec.Spec(), Build, o)
	return s
}

// handlerOf is a function that knows nothing of earlier ones. A transport, if
// any, is put before its clients.
func handlerOf(e lambda.Env, transport http.RoundTripper) lambda.Handler {
	if transport != nil {
		e.AWS.HTTPClient = &http.Client{Transport: transport}
	}
	return assemble(e, readerOf(e)).handle
}

func readerOf(e lambda.Env) Reader { return gather.New(e.AWS) }

// made is what an interface is made with.
type made struct {
	description string
	tags        map[string]string
	subnet      string
	secondary   int
}

// left is what a dead node leaves behind.
func (s *harness) left() made {
	return made{
		description: "aws-K8S-" + dead, subnet: subnet, secondary: 2,
		tags: map[string]string{leak.TagInstance: dead, leak.TagCreated: s.Now().Add(-time.Hour).UTC().Format(time.RFC3339), leak.TagCluster: stagetest.Cluster},
	}
}

// make makes an interface, and gives its id.
func (s *harness) make(m made) string {
	s.t.Helper()
	in := &ec2.CreateNetworkInterfaceInput{SubnetId: &m.subnet, Description: &m.description, SecondaryPrivateIpAddressCount: aws.Int32(int32(m.secondary))}
	spec := ec2types.TagSpecification{ResourceType: ec2types.ResourceTypeNetworkInterface}
	for k, v := range m.tags {
		spec.Tags = append(spec.Tags, ec2types.Tag{Key: aws.String(k), Value: aws.String(v)})
	}
	if len(spec.Tags) > 0 {
		in.TagSpecifications = []ec2types.TagSpecification{spec}
	}
	out, err := s.World.EC2().CreateNetworkInterface(in)
	if err != nil {
		s.t.Fatal(err)
	}
	return aws.ToString(out.NetworkInterface.NetworkInterfaceId)
}

// attachment is what an interface is attached with.
func (s *harness) attachment(id string) string {
	s.t.Helper()
	out, err := s.World.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	if err != nil || len(out.NetworkInterfaces) != 1 || out.NetworkInterfaces[0].Attachment == nil {
		s.t.Fatalf("%s is not attached: %v", id, err)
	}
	return aws.ToString(out.NetworkInterfaces[0].Attachment.AttachmentId)
}

// there reports whether an interface still is.
func (s *harness) there(id string) bool {
	out, err := s.World.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
	return err == nil && len(out.NetworkInterfaces) == 1
}

// sweep lets a quarter of an hour pass and the schedule wake the function.
func (s *harness) sweep() {
	s.t.Helper()
	s.Advance(cadence)
	if _, err := s.Handle(s.Sweep()); err != nil {
		s.t.Fatal(err)
	}
}

// audits are the records of the cluster, all of them.
func (s *harness) audits() []leak.Audit {
	s.t.Helper()
	list, err := s.Store.WithClock(s.Now).Audits(s.t.Context(), stagetest.Cluster, time.Time{})
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// deleteEventIDs are the ids of the events of deletes, in order.
func (s *harness) deleteEventIDs() []string {
	s.t.Helper()
	var ids []string
	for _, p := range s.Events() {
		var e struct {
			DetailType string     `json:"detail-type"`
			Detail     leak.Event `json:"detail"`
		}
		if err := json.Unmarshal(p.Event, &e); err != nil {
			s.t.Fatal(err)
		}
		if e.DetailType == leak.DetailType {
			ids = append(ids, e.Detail.ID)
		}
	}
	return ids
}

// sent takes what report was sent.
func (s *harness) sent() (observations []report.Observation, summaries []report.Summary) {
	s.t.Helper()
	i := slices.IndexFunc(s.Template.Queues, func(q template.Queue) bool { return q.FIFO && q.DeadLetterARN != "" })
	arn := s.Template.Queues[i].ARN
	for {
		depth, err := s.Queues.Depth(arn)
		if err != nil {
			s.t.Fatal(err)
		}
		if depth.Visible == 0 {
			return observations, summaries
		}
		messages, err := s.Queues.Receive(s.t.Context(), arn, depth.Visible, 0)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, m := range messages {
			var sum report.Summary
			var obs report.Observation
			if strings.Contains(m.Body, `"kind":"cleanup"`) {
				err = json.Unmarshal([]byte(m.Body), &sum)
				summaries = append(summaries, sum)
			} else {
				obs, err = report.Decode([]byte(m.Body))
				observations = append(observations, obs)
			}
			if err != nil {
				s.t.Fatal(err)
			}
		}
		if err := s.Queues.Delete(arn, messages...); err != nil {
			s.t.Fatal(err)
		}
	}
}

// bystanders makes interfaces in all the states in which none may be deleted.
func (s *harness) bystanders(l *deleteLog) {
	for _, spoil := range []func(*made){
		func(m *made) { m.tags[leak.TagCluster] = "theirs" },
		func(m *made) { delete(m.tags, leak.TagCluster) },
		func(m *made) { m.description, m.tags[leak.TagInstance] = "aws-K8S-"+halted, halted },
		func(m *made) { m.description, m.tags[leak.TagInstance] = "aws-K8S-"+alive, alive },
		func(m *made) { m.description = "aws-k8s-branch-eni" },
		func(m *made) { m.tags[leak.TagCreated] = "soon" },
		func(m *made) { m.description, m.tags = "mine", nil },
	} {
		m := s.left()
		spoil(&m)
		l.kept[s.make(m)] = true
	}
}

// TestKilledAtRandomPoints: 200 runs that end in the middle, in several
// worlds. Whatever each had done, the next goes on from there.
func TestKilledAtRandomPoints(t *testing.T) {
	// A run has 45 requests at most, after each of which and before it can be killed:
	// fifty kills are one for every other of these places.
	worlds, kills := testfull.Count(4, 2), testfull.Count(50, 25)
	for world := range worlds {
		t.Run(fmt.Sprint(world), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(world), 2026))
			s, l := open(t, stagetest.Options{}), newDeleteLog()
			s.bystanders(l)
			for killed, rounds := 0, 0; killed < kills; rounds++ {
				if rounds > 6*kills {
					t.Fatalf("%d kills in %d rounds", killed, rounds)
				}
				for range r.IntN(8) {
					l.ready[s.make(s.left())] = true
				}
				s.Advance(cadence)
				line := &lifeline{left: 1 + r.IntN(45), after: r.IntN(2) == 0}
				// Others at work: at most one thing in a run, at any of its requests.
				at, what := r.IntN(45), r.IntN(3)
				line.meanwhile = func(left int) {
					if left != at {
						return
					}
					l.mu.Lock()
					defer l.mu.Unlock()
					for id := range l.ready {
						if l.ours[id] > 0 || l.theirs[id] || !s.there(id) {
							continue
						}
						if what == 0 && s.taken(id) {
							delete(l.ready, id)
							l.kept[id] = true
						} else if what == 1 && s.others("ec2:DeleteNetworkInterface", fmt.Sprintf(`{"NetworkInterfaceId":%q}`, id)) {
							l.theirs[id] = true
						}
						return
					}
				}
				if err := s.once(l, line); line.dead {
					killed++
				} else if err != nil {
					t.Fatalf("a run that was not killed: %v", err)
				}
			}
			for range 4 {
				s.Advance(cadence)
				if err := s.once(l, &lifeline{left: -1}); err != nil {
					t.Fatal(err)
				}
			}
			if len(l.ours) < kills/2 {
				t.Errorf("%d deletes in all: nothing was tested", len(l.ours))
			}
			s.settled(l)
			t.Logf("%d deleted by us, %d by others, %d kept, %d requests to delete", len(l.ours), len(l.theirs), len(l.kept), total(l.sent))
		})
	}
}

// taken attaches an interface to a machine, if the machine takes
// one more.
func (s *harness) taken(id string) bool {
	s.devices++
	return s.others("ec2:AttachNetworkInterface", fmt.Sprintf(`{"NetworkInterfaceId":%q,"InstanceId":%q,"DeviceIndex":%d}`, id, halted, s.devices))
}

// others is a call of another client, beside the function.
func (s *harness) others(op, input string) bool {
	_, err := s.World.Call(op, json.RawMessage(input))
	return err == nil
}

func total(m map[string]int) int {
	n := 0
	for _, k := range m {
		n += k
	}
	return n
}

// TestTwoAtOnce: runs side by side, some killed. Nothing is deleted twice, and
// each delete is recorded once.
func TestTwoAtOnce(t *testing.T) {
	for world := range 2 {
		t.Run(fmt.Sprint(world), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(world), 7))
			s, l := open(t, stagetest.Options{}), newDeleteLog()
			s.bystanders(l)
			for round := range 8 {
				for range 8 {
					l.ready[s.make(s.left())] = true
				}
				s.Advance(cadence)
				// The second begins when the first is at one request or another.
				at, begun := r.IntN(60), make(chan struct{})
				begin := sync.OnceFunc(func() { close(begun) })
				var both sync.WaitGroup
				for second := range 2 {
					line := &lifeline{left: -1, after: r.IntN(2) == 0}
					if round%2 == 1 {
						line.left = 15 + r.IntN(50)
					}
					if second == 0 {
						line.meanwhile = func(int) {
							if at--; at < 0 {
								begin()
							}
						}
					}
					both.Go(func() {
						if second == 1 {
							<-begun
						} else {
							defer begin()
						}
						if err := s.once(l, line); err != nil && !line.dead {
							t.Errorf("a run that was not killed: %v", err)
						}
					})
				}
				both.Wait()
			}
			for range 4 {
				s.Advance(cadence)
				if err := s.once(l, &lifeline{left: -1}); err != nil {
					t.Fatal(err)
				}
			}
			s.settled(l)
			for id, n := range l.sent {
				if n > 1 {
					t.Errorf("%d requests to delete %s", n, id)
				}
			}
			t.Logf("%d deleted with %d requests", len(l.ours), total(l.sent))
		})
	}
}

// TestKilledAtEachWrite: wherever a run ends, the next ones delete, record and tell
// the rest, each interface once; nothing that is kept goes, and nothing stays
// written ahead.
func TestKilledAtEachWrite(t *testing.T) {
	writes := []string{"DeleteNetworkInterface", "PutEvents", "PutItem", "SendMessage"}
	stagetest.KilledAtEachWrite(t, writes, func(t *testing.T, k *stagetest.Kill) any {
		s := open(t, stagetest.Options{Kill: k})
		first, second := s.make(s.left()), s.make(s.left())
		m := s.left()
		m.tags[leak.TagCluster] = "theirs"
		kept := s.make(m)
		for range 5 {
			s.Advance(cadence)
			k.Invoke(s.Sweep())
		}
		type end struct {
			There   map[string]bool
			Records map[string]leak.Result
			Told    []string
			Ahead   int
			Days    []string
			Deletes bool // each was asked for once, one of them once more at most
		}
		sightings, err := s.Store.WithClock(s.Now).Sightings(t.Context(), vpc)
		if err != nil {
			t.Fatal(err)
		}
		e := end{There: map[string]bool{}, Records: map[string]leak.Result{}, Deletes: s.Calls()["ec2:DeleteNetworkInterface"] <= 3}
		for i, id := range []string{first, second, kept} {
			e.There[[]string{"first", "second", "kept"}[i]] = s.there(id)
		}
		for _, x := range sightings {
			if x.Deleting != nil {
				e.Ahead++
			}
		}
		for _, a := range s.audits() {
			name := "second"
			if a.Interface == first {
				name = "first"
			}
			if _, twice := e.Records[name]; twice {
				t.Errorf("%s is recorded twice", a.Interface)
			}
			e.Records[name] = a.Result
		}
		names := map[string]string{stagetest.Cluster + "/" + first + "/deleted": "first", stagetest.Cluster + "/" + second + "/deleted": "second"}
		for _, id := range s.deleteEventIDs() {
			e.Told = append(e.Told, names[id])
		}
		slices.Sort(e.Told)
		e.Told = slices.Compact(e.Told) // an event may be sent twice, with the same id
		_, summaries := s.sent()
		for _, x := range summaries {
			e.Days = append(e.Days, x.Cleanup.Day.Format(time.DateOnly))
		}
		e.Days = slices.Compact(e.Days)
		return e
	})
}

// TestLease: what another run has just written ahead is that run's. After the
// lease it is settled: gone is deleted by that run, and there is judged anew.
func TestLease(t *testing.T) {
	s := open(t, stagetest.Options{})
	there, gone := s.make(s.left()), s.make(s.left())
	s.sweep()
	s.Advance(cadence)
	// Another run begins to delete both, and is not heard of again.
	store := s.Store.WithClock(s.Now)
	sightings, err := store.Sightings(t.Context(), vpc)
	if err != nil || len(sightings) != 2 {
		t.Fatalf("%d sightings, %v", len(sightings), err)
	}
	written := s.Now()
	for id, x := range sightings {
		v := leak.Verdict{Interface: snapshot.Interface{ID: id, VPC: vpc, Subnet: subnet, Account: s.Template.AccountID}, Owner: dead, Cluster: stagetest.Cluster}
		draft := leak.Draft(v, x, "another", written)
		draft.Region, draft.Partition = s.Template.Region, "aws"
		x.Deleting = &draft
		if _, err := store.SaveSighting(t.Context(), vpc, x); err != nil {
			t.Fatal(err)
		}
	}
	s.others("ec2:DeleteNetworkInterface", `{"NetworkInterfaceId":"`+gone+`"}`)

	s.Advance(leak.Lease - time.Minute)
	before, err := store.Sightings(t.Context(), vpc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Handle(s.Sweep()); err != nil {
		t.Fatal(err)
	}
	after, err := store.Sightings(t.Context(), vpc)
	if err != nil {
		t.Fatal(err)
	}
	versions := func(m map[string]leak.Sighting) map[string]int {
		out := map[string]int{}
		for id, x := range m {
			out[id] = x.Version
		}
		return out
	}
	if diff := cmp.Diff(versions(before), versions(after)); diff != "" || len(s.audits()) > 0 || !s.there(there) {
		t.Errorf("within the lease (-before +after), %d records:\n%s", len(s.audits()), diff)
	}
	if n := s.Counts()["LeftForNextRun"]; n != 1 {
		t.Errorf("%d left for the next run, want the one that is there", n)
	}

	s.sweep()
	s.sweep()
	got := map[string]leak.Audit{}
	for _, a := range s.audits() {
		got[a.Interface] = a
	}
	if len(got) != 2 || len(s.deleteEventIDs()) != 2 || s.there(there) {
		t.Fatalf("records %+v, told %v", got, s.deleteEventIDs())
	}
	if a := got[gone]; a.Run != "another" || !a.Settled || !a.At.Equal(written.Truncate(time.Millisecond)) || a.Result != leak.Deleted {
		t.Errorf("settled: %+v", a)
	}
	if a := got[there]; a.Run == "another" || a.Settled || a.Request == "" || a.Result != leak.Deleted {
		t.Errorf("judged anew: %+v", a)
	}
}

// liar answers DescribeInstances in EC2's place. The rest goes through.
type liar struct {
	next   http.RoundTripper
	answer string
	asked  int
}

func (l *liar) RoundTrip(req *http.Request) (*http.Response, error) {
	if action, _ := about(req); action != "DescribeInstances" {
		return l.next.RoundTrip(req)
	}
	l.asked++
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/xml"}}, Request: req,
		Body: io.NopCloser(bytes.NewReader([]byte(`<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId>` + l.answer + `</DescribeInstancesResponse>`))),
	}, nil
}

// TestLies: whatever DescribeInstances answers, well formed and wrong, the
// interface of a machine that runs stays. Where the answer contradicts what is
// attached in the VPC, or is not whole, nothing is deleted at all, and that is
// reported.
func TestLies(t *testing.T) {
	of := func(id, state string) string {
		return `<item><reservationId>r-1</reservationId><instancesSet><item><instanceId>` + id + `</instanceId>` + state + `</item></instancesSet></item>`
	}
	ended := `<instanceState><code>48</code><name>terminated</name></instanceState>`
	for _, test := range []struct {
		name, answer string
		// believed: the answer is taken for one, and the dead node's goes.
		believed bool
	}{
		{"another region, that knows nobody", `<reservationSet/>`, false},
		{"no list at all", ``, false},
		{"only the dead", `<reservationSet>` + of(dead, ended) + `</reservationSet>`, false},
		{"no state", `<reservationSet>` + of(alive, ``) + `</reservationSet>`, false},
		{"an empty page that leads to itself", `<reservationSet/><nextToken>again</nextToken>`, false},
		{"everybody terminated", `<reservationSet>` + of(alive, ended) + of(dead, ended) + `</reservationSet>`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, stagetest.Options{})
			m := s.left()
			m.description, m.tags["node.k8s.amazonaws.com/instance_id"] = "aws-K8S-"+alive, alive
			living, left := s.make(m), s.make(s.left())
			transport := s.HTTPClient().Transport
			lies := &liar{next: transport, answer: test.answer}
			for range 4 {
				s.Advance(cadence)
				if _, err := handlerOf(s.Env(), lies)(t.Context(), s.Sweep()); err != nil {
					t.Fatal(err)
				}
			}
			if lies.asked == 0 || !s.there(living) {
				t.Errorf("asked %d times; the running machine's interface is there: %v", lies.asked, s.there(living))
			}
			if s.there(left) == test.believed {
				t.Errorf("the dead machine's interface is there: %v", s.there(left))
			}
			observations, _ := s.sent()
			told := false
			for _, o := range observations {
				for _, f := range o.Blind {
					told = told || f.Source == snapshot.CreatorsOf && strings.Contains(f.Call, "DescribeInstances")
				}
			}
			if told == test.believed {
				t.Errorf("reported as not read: %v", told)
			}
		})
	}
}
