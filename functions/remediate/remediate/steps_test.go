package remediate

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/incident"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// step is one incident in one world, and what may be wrong with either.
type step struct {
	name   string
	policy optin.Policy
	change func(*fake, *incident.Incident)
	set    func(*handler)
}

// planned is the plan of the world of these tests.
func planned() remedy.Plan {
	o, no, err := newFake().handler(optin.Approve).plan(context.Background(), noWayOut(), remedy.Of(optin.AddNATRoute))
	if no != nil || err != nil {
		panic(fmt.Sprint(no, err))
	}
	return o.plan
}

// with offers a plan in a state, made at minute 2, decided at 20, good until 40.
func with(state incident.OfferState, policy optin.Policy, change ...func(*incident.Offer)) func(*fake, *incident.Incident) {
	return func(_ *fake, inc *incident.Incident) {
		p := planned()
		o := incident.Offer{Plan: p, Hash: p.Hash(), Policy: policy, State: state, Made: minute(2), Decided: minute(20), Expires: minute(40), By: report.User{ID: "U1"}}
		for _, f := range change {
			f(&o)
		}
		inc.Offers = append(inc.Offers, o)
	}
}

func both(list ...func(*fake, *incident.Incident)) func(*fake, *incident.Incident) {
	return func(f *fake, inc *incident.Incident) {
		for _, x := range list {
			x(f, inc)
		}
	}
}

func failing(what string) func(*fake, *incident.Incident) {
	return func(f *fake, _ *incident.Incident) { f.errs[what] = errBroken }
}

// did is a run of the plan, of the incident's opening by the policy.
func did(result action.Status, began, ended time.Time, change ...func(*remedy.Run)) func(*fake, *incident.Incident) {
	return func(f *fake, inc *incident.Incident) {
		p := planned()
		d := remedy.Run{ID: "earlier", Plan: p, Hash: p.Hash(), Policy: optin.Auto, Began: began, Ended: ended, Result: result}
		for _, x := range change {
			x(&d)
		}
		f.runs = append(f.runs, d)
	}
}

func gone(f *fake, _ *incident.Incident) {
	f.world = func(s *snapshot.Snapshot) { s.RouteTables = s.RouteTables[:len(s.RouteTables)-1] }
}

func unread(f *fake, _ *incident.Incident) { f.world = func(s *snapshot.Snapshot) { s.VPCs = nil } }

func routed(s *snapshot.Snapshot) {
	x := snapshottest.Table(s, table)
	x.Routes = append(x.Routes, snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, snapshottest.NAT))
}

// What is done for an incident, and in which order, with each thing that may be
// wrong.
func TestSteps(t *testing.T) {
	const approve, auto, off = optin.Approve, optin.Auto, optin.Off
	approved := with(incident.Approved, approve)
	deferred := func(reason string, after int, hash string) func(*fake, *incident.Incident) {
		return with(incident.Deferred, approve, func(o *incident.Offer) { o.Reason, o.After, o.Hash, o.Tried = reason, minute(after), hash, 2 })
	}
	result := func(status action.Status) func(*fake, *incident.Incident) {
		return func(f *fake, _ *incident.Incident) { f.result.Status = status }
	}
	full := func(f *fake, _ *incident.Incident) { f.room = minute(50) }
	none := func(*fake, *incident.Incident) {}
	claimed := func(f *fake, _ *incident.Incident) { f.taken = true }
	noFix := func(_ *fake, inc *incident.Incident) { inc.Cause.Fix.Remedy = "" }
	state := func(s incident.State) func(*fake, *incident.Incident) {
		return func(_ *fake, inc *incident.Incident) { inc.State = s }
	}
	later := func(at int) func(*fake, *incident.Incident) {
		return func(f *fake, _ *incident.Incident) { f.world = func(*snapshot.Snapshot) { f.clock = minute(at) } }
	}
	uncertain := func(world func(*snapshot.Snapshot)) func(*fake, *incident.Incident) {
		return func(f *fake, _ *incident.Incident) { f.result.Status, f.later = action.Uncertain, world }
	}
	zones := func(o *incident.Offer) { o.Plan.Remedy, o.Plan.Route, o.Hash = optin.CoverZones, nil, "zones" }
	leaked := func(_ *fake, inc *incident.Incident) { inc.Cause.Fix.Remedy = string(optin.DeleteLeakedInterfaces) }
	routeOff := func(h *handler) {
		h.policy = func(_ string, r optin.Remedy) optin.Policy {
			return map[optin.Remedy]optin.Policy{optin.CoverZones: approve, optin.AddNATRoute: off}[r]
		}
	}
	list := []step{
		{"a plan to be approved", approve, none, nil},
		{"not watched", approve, func(_ *fake, inc *incident.Incident) {}, func(h *handler) { h.watches = func(string) bool { return false } }},
		{"nothing is switched on", off, none, nil},
		{"switched off for it alone", off, none, routeOff},
		{"resolved", approve, state(incident.Closed), nil},
		{"cleared", approve, state(incident.Cleared), nil},
		{"pending", approve, state(incident.Pending), nil},
		{"another VPC", approve, none, func(h *handler) { h.vpcs = nil }},
		{"another VPC, approved", approve, approved, func(h *handler) { h.vpcs = nil }},
		{"done by the policy", auto, none, nil},
		{"done by a person", approve, approved, nil},
		{"done by a person, with a policy that asks nobody by now", auto, approved, nil},
		{"approved by the policy, that asks by now", approve, with(incident.Approved, auto), nil},
		{"approved, and no more needed", approve, both(approved, noFix), nil},
		{"approved, done, and no more needed", approve, both(approved, noFix, func(f *fake, inc *incident.Incident) {
			did(action.Done, minute(21), minute(21), func(d *remedy.Run) { d.ID, d.Plan.Check = runID(*inc, d.Plan, &inc.Offers[0]), "other" })(f, inc)
		}), nil},
		{"approved, and over", approve, both(approved, state(incident.Closed)), nil},
		{"approved by the policy, and over", approve, both(with(incident.Approved, auto), state(incident.Closed)), nil},
		{"approved, and the runs cannot be read", approve, both(approved, noFix, failing("runs #2")), nil},
		{"approved, over, and that cannot be told", approve, both(approved, noFix, failing("run")), nil},
		{"approved, and done", approve, both(approved, func(f *fake, inc *incident.Incident) {
			did(action.Done, minute(21), minute(21), func(d *remedy.Run) { d.ID, d.Plan.Check = runID(*inc, d.Plan, &inc.Offers[0]), "other" })(f, inc)
		}), nil},
		{"approved, and whether it is done cannot be read", approve, both(approved, failing("runs #2")), nil},
		{"approved, and switched off", off, approved, routeOff},
		{"offered, and switched off", off, with(incident.Offered, approve), routeOff},
		{"approved until now", approve, both(approved, func(f *fake, _ *incident.Incident) { f.clock = minute(40) }), nil},
		{"approved, and no more", approve, both(approved, func(f *fake, _ *incident.Incident) { f.clock = minute(41) }), nil},
		{"approved, and no more after the look", approve, both(approved, later(41)), nil},
		{"approved, of another plan", approve, with(incident.Approved, approve, func(o *incident.Offer) { o.Hash = "other" }), nil},
		{"approved, of another plan, and that cannot be told", approve, both(with(incident.Approved, approve, func(o *incident.Offer) { o.Hash = "other" }), failing("run")), nil},
		{"approved, and gone", approve, both(approved, gone), nil},
		{"approved, and not to be looked at", approve, both(approved, unread), nil},
		{"approved, not to be looked at, and another is at it", approve, both(approved, unread, claimed), nil},
		{"approved, not to be looked at, and not to be claimed", approve, both(approved, unread, failing("claim")), nil},
		{"approved, and over the limit", approve, both(approved, full), nil},
		{"approved, and not to be counted", approve, both(approved, failing("count")), nil},
		{"approved, and another is at it", approve, both(approved, claimed), nil},
		{"approved, and not to be claimed", approve, both(approved, failing("claim")), nil},
		{"approved, and not to be saved", approve, both(approved, failing("save")), nil},
		{"approved, and not to be told", approve, both(approved, failing("run")), nil},
		{"approved, and the bus is down", approve, both(approved, failing("tell")), nil},
		{"approved, and it fails", approve, both(approved, result(action.Failed)), nil},
		{"approved, and it is refused", approve, both(approved, result(action.Refused)), nil},
		{"approved, no answer, and it is done", approve, both(approved, uncertain(routed)), nil},
		{"approved, no answer, and it is not done", approve, both(approved, uncertain(func(*snapshot.Snapshot) {})), nil},
		{"approved, no answer, and nobody knows", approve, both(approved, uncertain(func(s *snapshot.Snapshot) { s.RouteTables = nil; delete(s.Read, snapshot.RouteTables) })), nil},
		{"approved, no answer, and no look", approve, both(approved, uncertain(nil), failing("read #2")), nil},
		{"gone", approve, gone, nil},
		{"gone, offered", approve, both(with(incident.Offered, approve), gone), nil},
		{"not to be looked at", approve, unread, nil},
		{"not to be looked at, offered", approve, both(with(incident.Offered, approve), unread), nil},
		{"not to be looked at, it waits", approve, both(deferred("could-not-look", 31, ""), unread), nil},
		{"not to be looked at, it waited", approve, both(deferred("could-not-look", 30, ""), unread), nil},
		{"the main table", approve, func(f *fake, _ *incident.Incident) {
			f.world = func(s *snapshot.Snapshot) { snapshottest.Table(s, table).Main = true }
		}, nil},
		{"the main table, and that cannot be told", approve, both(func(f *fake, _ *incident.Incident) {
			f.world = func(s *snapshot.Snapshot) { snapshottest.Table(s, table).Main = true }
		}, failing("proposal")), nil},
		{"offered", approve, with(incident.Offered, approve), nil},
		{"offered until now", approve, both(with(incident.Offered, approve), func(f *fake, _ *incident.Incident) { f.clock = minute(40) }), nil},
		{"offered, and no more", approve, both(with(incident.Offered, approve), func(f *fake, _ *incident.Incident) { f.clock = minute(41) }), nil},
		{"offered, of another plan", approve, with(incident.Offered, approve, func(o *incident.Offer) { o.Hash = "other" }), nil},
		{"refused by a person", approve, with(incident.RefusedByUs, approve), nil},
		{"refused by a person long ago", approve, both(with(incident.RefusedByUs, approve), func(f *fake, _ *incident.Incident) { f.clock = minute(41) }), nil},
		{"refused by a person, of another plan", approve, with(incident.RefusedByUs, approve, func(o *incident.Offer) { o.Hash = "other" }), nil},
		{"outdated", approve, with(incident.Outdated, approve), nil},
		{"waits for the limit", approve, deferred(report.LimitReached, 31, "h"), nil},
		{"waited for the limit", approve, deferred(report.LimitReached, 30, "h"), nil},
		{"waited for the limit, never approved", approve, deferred(report.LimitReached, 30, ""), nil},
		{"waits for a look", approve, deferred("could-not-look", 31, "h"), nil},
		{"the proposal cannot be sent", approve, failing("proposal"), nil},
		{"the runs cannot be read", approve, failing("runs"), nil},
		{"the incidents cannot be read", approve, failing("incidents"), nil},
		{"there is no such incident", approve, func(_ *fake, inc *incident.Incident) { inc.Key.Resource = "rtb-0other" }, nil},
		{"there is one of another check", approve, func(_ *fake, inc *incident.Incident) { inc.Key.Check = "sg/node-egress" }, nil},
		{"the cluster is gone", approve, func(f *fake, _ *incident.Incident) { f.errs["read"] = errGone }, nil},
		{"the look fails", approve, failing("read"), nil},
		{"by the policy, over the limit", auto, full, nil},
		{"by the policy, over the limit, waits already", auto, both(full, deferred(report.LimitReached, 50, planned().Hash())), nil},
		{"by the policy, over the limit, waits for another time", auto, both(full, deferred(report.LimitReached, 49, planned().Hash())), nil},
		{"by the policy, over the limit, waits with another plan", auto, both(full, deferred(report.LimitReached, 50, "other")), nil},
		{"by the policy, over the limit, waits for a look", auto, both(full, deferred("could-not-look", 50, planned().Hash())), nil},
		{"by the policy, not to be counted", auto, failing("count"), nil},
		{"by the policy, not to be proposed", auto, failing("proposal"), nil},
		{"by the policy, and the runs cannot be read", auto, failing("runs #2"), nil},
		{"by the policy, and the runs cannot be read again", auto, failing("runs #3"), nil},
		{"by the policy, offered before", auto, with(incident.Offered, approve), nil},
		{"by the policy, done in this opening", auto, func(f *fake, inc *incident.Incident) {
			did(action.Done, minute(21), minute(21), func(d *remedy.Run) { d.ID, d.Plan.Check = runID(*inc, d.Plan, nil), "other" })(f, inc)
		}, nil},
		{"by the policy, taken back", auto, did(action.Done, minute(0), minute(0)), nil},
		{"by the policy, partly taken back", auto, did(action.Partly, minute(0), minute(0)), nil},
		{"by the policy, perhaps taken back", auto, did(action.Uncertain, minute(0), minute(0)), nil},
		{"by the policy, failed before", auto, did(action.Failed, minute(0), minute(0)), nil},
		{"by the policy, never ended before", auto, did("", minute(29), time.Time{}, func(d *remedy.Run) { d.Plan.Check = "other" }), nil},
		{"by the policy, another was done", auto, did(action.Done, minute(0), minute(0), func(d *remedy.Run) { d.Hash = "other" }), nil},
		{"by the policy, done a day ago", auto, did(action.Done, minute(30).Add(-oneDay), minute(0)), nil},
		{"by the policy, done twice", auto, both(did(action.Done, minute(0), minute(0)), did(action.Done, minute(-9), minute(0))), nil},

		{"a run that nobody knows of", approve, did(action.Done, minute(2), minute(3)), nil},
		{"a run of the time before", approve, did(action.Done, minute(0), minute(3)), nil},
		{"a run that report knows of", approve, both(did(action.Done, minute(2), minute(3)), func(f *fake, inc *incident.Incident) {
			inc.Offers = []incident.Offer{{State: incident.Acted, Run: &f.runs[0]}}
		}), nil},
		{"a run that cannot be told", approve, both(did(action.Done, minute(2), minute(3)), failing("run")), nil},
		{"a run of another check", approve, did(action.Done, minute(2), minute(3), func(d *remedy.Run) { d.Plan.Check = "other" }), nil},
		{"a run of another resource", approve, did(action.Done, minute(2), minute(3), func(d *remedy.Run) { d.Plan.Resource = "other" }), nil},
		{"another's run, then one to be told", approve, both(
			did(action.Done, minute(2), minute(3), func(d *remedy.Run) { d.Plan.Resource = "other" }), did(action.Done, minute(2), minute(3)),
		), nil},
		{"a run that is being done", approve, did("", minute(28).Add(time.Second), time.Time{}), nil},
		{"a run without an end", approve, both(did("", minute(28), time.Time{}), func(f *fake, _ *incident.Incident) { f.world = routed }), nil},
		{"a run without an end, and not to be saved", approve, both(did("", minute(28), time.Time{}), failing("save")), nil},

		{"a run without an end, of the time before", approve, did("", minute(0), time.Time{}), nil},
		{"a run, once it is over", approve, both(did(action.Done, minute(2), minute(3)), state(incident.Closed)), nil},
		{"a run that report had, and dropped", approve, both(did(action.Done, minute(2), minute(3)), func(_ *fake, inc *incident.Incident) {
			for range incident.MaxOffers {
				inc.Offers = append(inc.Offers, incident.Offer{State: incident.Acted, Run: &remedy.Run{Plan: planned(), Began: minute(4)}})
			}
		}), nil},
		{"the first incident", approve, func(f *fake, inc *incident.Incident) { f.incidents = []incident.Incident{*inc} }, nil},
		{"another is approved, and not needed", approve, with(incident.Approved, approve, zones), nil},
		{"one is approved and done, another approved and not needed", approve, both(approved, noFix, func(f *fake, inc *incident.Incident) {
			did(action.Done, minute(21), minute(21), func(d *remedy.Run) { d.ID, d.Plan.Check = runID(*inc, d.Plan, &inc.Offers[0]), "other" })(f, inc)
		}, with(incident.Approved, approve, zones)), nil},
		{"for what failed, approved once it is cleared", approve, both(state(incident.Cleared), with(incident.Approved, approve, func(o *incident.Offer) {
			o.Plan.Remedy, o.Plan.Route = optin.ReplaceInstance, nil
		})), nil},
		{"by the policy, taken back after it waited for the limit", auto, both(deferred(report.LimitReached, 30, "h"), did(action.Done, minute(0), minute(0))), nil},
		{"by the policy, approved, and not to be looked at", auto, both(with(incident.Approved, auto), unread), nil},
		{"untold: over the limit", approve, both(approved, full, failing("run")), nil},
		{"untold: over", approve, both(approved, state(incident.Closed), failing("run")), nil},
		{"untold: switched off", off, both(approved, failing("run")), routeOff},
		{"untold: offered, and switched off", off, both(with(incident.Offered, approve), failing("proposal")), routeOff},
		{"untold: no more", approve, both(approved, func(f *fake, _ *incident.Incident) { f.clock = minute(41) }, failing("run")), nil},
		{"untold: no more after the look", approve, both(approved, later(41), failing("run")), nil},
		{"untold: gone", approve, both(approved, gone, failing("run")), nil},
		{"untold: not to be looked at", approve, both(unread, failing("proposal")), nil},
		{"untold: another plan's offer", approve, both(with(incident.Approved, approve, func(o *incident.Offer) { o.Hash = "other" }), failing("proposal")), nil},
		{"untold: taken back", auto, both(did(action.Done, minute(0), minute(0)), failing("proposal")), nil},
		{"untold: by the policy, over the limit", auto, both(full, failing("proposal")), nil},
		{"unsaved: by the policy", auto, failing("save"), nil},

		{"its things", approve, func(f *fake, inc *incident.Incident) {
			inc.Cause.Covers, inc.Covers = []string{"subnet-2", "i-3", "eni-1"}, []string{"subnet-1", "i-3"}
			for i, status := range []outcome.LaunchStatus{outcome.Waiting, outcome.Missed, outcome.GivenUp, outcome.Joined} {
				inc.Launches = append(inc.Launches, report.Launch{Instance: fmt.Sprintf("i-%d", 4+i), Started: minute(25), Status: status},
					report.Launch{Instance: fmt.Sprintf("i-%d", 4+i), Started: minute(5), Status: status})
			}
			f.groups = []snapshot.Group{{Name: "known", Instances: []snapshot.GroupInstance{{ID: "i-9"}}}}
		}, nil},
		{"its groups cannot be read", approve, func(f *fake, _ *incident.Incident) { f.failed["groups of"] = &snapshot.Failure{Call: "one"} }, nil},
		{"its instances cannot be read", approve, func(f *fake, _ *incident.Incident) { f.failed["find"] = &snapshot.Failure{Call: "two"} }, nil},
		{"its other groups cannot be read", approve, func(f *fake, _ *incident.Incident) { f.failed["groups"] = &snapshot.Failure{Call: "three"} }, nil},
		{"zones to be covered", approve, func(f *fake, inc *incident.Incident) {
			inc.Cause.Fix.Remedy = string(optin.CoverZones)
			inc.Covers = []string{"i-5", "i-6", "i-7"}
			f.groups = []snapshot.Group{{Name: "known", Instances: []snapshot.GroupInstance{{ID: "i-1"}, {ID: "i-5"}}}}
		}, nil},
		{"leaked interfaces", approve, leaked, nil},
		{"leaked interfaces, and no sightings", approve, both(leaked, failing("sightings")), nil},
		{"leaked interfaces, approved", approve, func(_ *fake, inc *incident.Incident) {
			inc.Cause.Fix.Remedy = string(optin.DeleteLeakedInterfaces)
			inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.DeleteLeakedInterfaces}, State: incident.Approved, Policy: approve, Made: minute(2)}}
		}, nil},
		{"leaked interfaces, approved, and over", approve, func(_ *fake, inc *incident.Incident) {
			inc.State = incident.Closed
			inc.Offers = []incident.Offer{{Plan: remedy.Plan{Remedy: optin.DeleteLeakedInterfaces}, State: incident.Approved, Policy: approve, Made: minute(2)}}
		}, nil},
		{"an endpoint's security group", approve, func(_ *fake, inc *incident.Incident) { inc.Cause.Fix.Remedy = string(optin.OpenEndpointSecurityGroup) }, nil},
		{"an endpoint's security group, and nobody tells who has it", approve, func(f *fake, inc *incident.Incident) {
			inc.Cause.Fix.Remedy = string(optin.OpenEndpointSecurityGroup)
			f.failed["interfaces"] = &snapshot.Failure{Call: "ec2:DescribeNetworkInterfaces", Reason: snapshot.Denied}
		}, nil},
	}
	var got stagetest.Traces
	for _, x := range list {
		f, inc := newFake(), noWayOut()
		if x.change != nil {
			x.change(f, &inc)
		}
		f.incidents = append(f.incidents, []incident.Incident{
			{Key: report.Key{Cluster: inc.Key.Cluster, Check: "route/no-egress", Resource: "none"}}, {Key: report.Key{Cluster: inc.Key.Cluster, Check: "none", Resource: table}}, inc,
		}...)
		h := f.handler(x.policy)
		if x.set != nil {
			x.set(&h)
		}
		body := fmt.Sprintf(`{"version":"0","id":"e-1","source":"rollcall","detail-type":"Rollcall Incident Opened","account":"9","region":"x",`+
			`"time":"2026-11-20T12:00:00Z","detail":{"cluster":%q,"check":"route/no-egress","resource":%q}}`, snapshottest.ClusterName, table)
		raw, err := json.Marshal(map[string]any{"Records": []any{map[string]any{"eventSource": "aws:sqs", "messageId": "m-1", "body": body}}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := h.handle(t.Context(), raw)
		got.Add(x.name, f.said(err)+fmt.Sprintf("answer %+v\n", answer))
	}
	got.Golden(t, "testdata/steps.txtar")
}
