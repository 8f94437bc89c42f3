package enicleanup

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/deleteleakedinterfaces"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// approvedFor is an incident of which the deletes of interfaces were approved an
// hour ago, for two hours.
func approvedFor(f *fake, ids ...string) incident.Incident {
	p := remedy.Plan{
		Format: remedy.Format, Remedy: optin.DeleteLeakedInterfaces, Partition: "p", Account: "1", Region: "r",
		Cluster: "a", Check: "ip/leaked-interfaces", Resource: "s-1",
		Cleanup: &deleteleakedinterfaces.Plan{VPC: inVPC, Subnet: "s-1", Interfaces: ids},
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
			f.seenBefore(leftBehind("eni-3", f.clock, of("d")))
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
