package remediate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/detect"
	"rollcall/shared/diagnose"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/incident/response"
	"rollcall/shared/node/outcome"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/createaccessentry"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/remedies"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/shared/spoke"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
	"rollcall/tools/testfile"
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
	o, no, err := newFake().handler(optin.Approve).plan(context.Background(), noWayOut(), remedies.ByName(optin.AddNATRoute))
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
func did(result remedy.Status, began, ended time.Time, change ...func(*remedy.Run)) func(*fake, *incident.Incident) {
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
	result := func(status remedy.Status) func(*fake, *incident.Incident) {
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
		return func(f *fake, _ *incident.Incident) { f.result.Status, f.later = remedy.Uncertain, world }
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
			did(remedy.Done, minute(21), minute(21), func(d *remedy.Run) { d.ID, d.Plan.Check = runID(*inc, d.Plan, &inc.Offers[0]), "other" })(f, inc)
		}), nil},
		{"approved, and over", approve, both(approved, state(incident.Closed)), nil},
		{"approved by the policy, and over", approve, both(with(incident.Approved, auto), state(incident.Closed)), nil},
		{"approved, and the runs cannot be read", approve, both(approved, noFix, failing("runs #2")), nil},
		{"approved, over, and that cannot be told", approve, both(approved, noFix, failing("run")), nil},
		{"approved, and done", approve, both(approved, func(f *fake, inc *incident.Incident) {
			did(remedy.Done, minute(21), minute(21), func(d *remedy.Run) { d.ID, d.Plan.Check = runID(*inc, d.Plan, &inc.Offers[0]), "other" })(f, inc)
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
		{"approved, and it fails", approve, both(approved, result(remedy.Failed)), nil},
		{"approved, and it is refused", approve, both(approved, result(remedy.Refused)), nil},
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
		{"no such incident", approve, func(_ *fake, inc *incident.Incident) { inc.Key.Resource = "rtb-0other" }, nil},
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
			did(remedy.Done, minute(21), minute(21), func(d *remedy.Run) { d.ID, d.Plan.Check = runID(*inc, d.Plan, nil), "other" })(f, inc)
		}, nil},
		{"by the policy, taken back", auto, did(remedy.Done, minute(0), minute(0)), nil},
		{"by the policy, partly taken back", auto, did(remedy.Partly, minute(0), minute(0)), nil},
		{"by the policy, perhaps taken back", auto, did(remedy.Uncertain, minute(0), minute(0)), nil},
		{"by the policy, failed before", auto, did(remedy.Failed, minute(0), minute(0)), nil},
		{"by the policy, never ended before", auto, did("", minute(29), time.Time{}, func(d *remedy.Run) { d.Plan.Check = "other" }), nil},
		{"by the policy, another was done", auto, did(remedy.Done, minute(0), minute(0), func(d *remedy.Run) { d.Hash = "other" }), nil},
		{"by the policy, done a day ago", auto, did(remedy.Done, minute(30).Add(-oneDay), minute(0)), nil},
		{"by the policy, done twice", auto, both(did(remedy.Done, minute(0), minute(0)), did(remedy.Done, minute(-9), minute(0))), nil},

		{"a run that nobody knows of", approve, did(remedy.Done, minute(2), minute(3)), nil},
		{"a run of the time before", approve, did(remedy.Done, minute(0), minute(3)), nil},
		{"a run that report knows of", approve, both(did(remedy.Done, minute(2), minute(3)), func(f *fake, inc *incident.Incident) {
			inc.Offers = []incident.Offer{{State: incident.Acted, Run: &f.runs[0]}}
		}), nil},
		{"a run that cannot be told", approve, both(did(remedy.Done, minute(2), minute(3)), failing("run")), nil},
		{"a run of another check", approve, did(remedy.Done, minute(2), minute(3), func(d *remedy.Run) { d.Plan.Check = "other" }), nil},
		{"a run of another resource", approve, did(remedy.Done, minute(2), minute(3), func(d *remedy.Run) { d.Plan.Resource = "other" }), nil},
		{"another's run, then one to be told", approve, both(
			did(remedy.Done, minute(2), minute(3), func(d *remedy.Run) { d.Plan.Resource = "other" }), did(remedy.Done, minute(2), minute(3)),
		), nil},
		{"a run that is being done", approve, did("", minute(28).Add(time.Second), time.Time{}), nil},
		{"a run without an end", approve, both(did("", minute(28), time.Time{}), func(f *fake, _ *incident.Incident) { f.world = routed }), nil},
		{"a run without an end, and not to be saved", approve, both(did("", minute(28), time.Time{}), failing("save")), nil},

		{"a run without an end, of the time before", approve, did("", minute(0), time.Time{}), nil},
		{"a run, once it is over", approve, both(did(remedy.Done, minute(2), minute(3)), state(incident.Closed)), nil},
		{"a run that report had, and dropped", approve, both(did(remedy.Done, minute(2), minute(3)), func(_ *fake, inc *incident.Incident) {
			for range incident.MaxOffers {
				inc.Offers = append(inc.Offers, incident.Offer{State: incident.Acted, Run: &remedy.Run{Plan: planned(), Began: minute(4)}})
			}
		}), nil},
		{"the first incident", approve, func(f *fake, inc *incident.Incident) { f.incidents = []incident.Incident{*inc} }, nil},
		{"another is approved, and not needed", approve, with(incident.Approved, approve, zones), nil},
		{"one is approved and done, another approved and not needed", approve, both(approved, noFix, func(f *fake, inc *incident.Incident) {
			did(remedy.Done, minute(21), minute(21), func(d *remedy.Run) { d.ID, d.Plan.Check = runID(*inc, d.Plan, &inc.Offers[0]), "other" })(f, inc)
		}, with(incident.Approved, approve, zones)), nil},
		{"for what failed, approved once it is cleared", approve, both(state(incident.Cleared), with(incident.Approved, approve, func(o *incident.Offer) {
			o.Plan.Remedy, o.Plan.Route = optin.ReplaceInstance, nil
		})), nil},
		{"by the policy, taken back after it waited for the limit", auto, both(deferred(report.LimitReached, 30, "h"), did(remedy.Done, minute(0), minute(0))), nil},
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
		{"untold: taken back", auto, both(did(remedy.Done, minute(0), minute(0)), failing("proposal")), nil},
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
		raw := testfile.JSON(t, map[string]any{"Records": []any{map[string]any{"eventSource": "aws:sqs", "messageId": "m-1", "body": body}}})
		answer, err := h.handle(t.Context(), raw)
		got.Add(x.name, f.said(err)+fmt.Sprintf("answer %+v\n", answer))
	}
	got.Golden(t, "testdata/steps.txtar")
}

// TestKilledAtEachWrite: what a person approves, or a policy decides, is done
// once, recorded and told, wherever the function ends. Killed between the record
// that it will be done and the call, it is unknown whether it was: that is said,
// and it is not tried again.
func TestKilledAtEachWrite(t *testing.T) {
	// The claim is the third write of either, the call the fourth.
	unknown := []string{"3 PutItem, answer lost", "4 CreateRoute"}
	for name, remedies := range map[string]string{"by a person": byPerson, "by a policy": byItself} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stagetest.KilledAtEachWrite(t, []string{"CreateRoute", "PutEvents", "PutItem", "SendMessage"}, func(t *testing.T, k *stagetest.Kill) any {
				s := start(t, remedies, stagetest.Options{Kill: k})
				proposals, told := map[string]report.Proposal{}, map[string]remedy.Run{}
				take := func() {
					list, runs := s.said()
					for _, p := range list {
						proposals[p.ID] = p // report takes it in once
					}
					for _, d := range runs {
						told[d.ID+" "+string(d.Result)] = d
					}
				}
				k.Invoke(stagetest.Batch(s.incidentEvent(opened)))
				take()
				if remedies == byPerson {
					for _, p := range proposals {
						s.approve(p)
					}
					k.Invoke(stagetest.Batch(s.incidentEvent(approval)))
					take()
				}
				want, calls := remedy.Done, 1
				if slices.Contains(unknown, k.String()) {
					want, calls = remedy.Uncertain, 0
				}
				kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range slices.Concat(kept, slices.Collect(maps.Values(told))) {
					if d.Result != want || d.Ended.IsZero() {
						t.Errorf("run %+v, want %s", d, want)
					}
				}
				if n := s.Calls()["ec2:CreateRoute"]; n != calls || (s.routes()["0.0.0.0/0"] == nat) != (calls == 1) || len(s.routes()) != 1+calls {
					t.Errorf("%d calls of CreateRoute, want %d; routes %v", n, calls, s.routes())
				}
				return stagetest.Timeless(t, map[string]any{
					"proposals": proposals, "told": len(told), "runs": len(kept), "wanted": s.wanted() > 0,
					"records": slices.Sorted(maps.Keys(s.Kept())),
				})
			})
		})
	}
}

// TestReplaceKilledAtEachWrite: an instance is ended once, recorded and told,
// wherever the function ends. Killed between the record that it will be and the
// call, it is not ended, and that is what is said.
func TestReplaceKilledAtEachWrite(t *testing.T) {
	unknown := []string{"3 PutItem, answer lost", "4 TerminateInstanceInAutoScalingGroup"}
	stagetest.KilledAtEachWrite(t, []string{"PutEvents", "PutItem", "SendMessage", "TerminateInstanceInAutoScalingGroup"}, func(t *testing.T, k *stagetest.Kill) any {
		s := healed(t, "auto", stagetest.Options{Kill: k})
		s.Advance(replaceinstance.Settle + time.Second)
		k.Invoke(stagetest.Batch(s.incidentEvent("Rollcall Incident Changed")))
		want, calls := remedy.Done, 1
		if slices.Contains(unknown, k.String()) {
			want, calls = remedy.Uncertain, 0
		}
		_, runs := s.said()
		kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]bool{}
		for _, d := range slices.Concat(kept, runs) {
			if d.Result != want || d.Ended.IsZero() {
				t.Errorf("run %+v, want %s", d, want)
			}
			told[d.ID] = true
		}
		if n := s.Calls()["autoscaling:TerminateInstanceInAutoScalingGroup"]; n != calls {
			t.Errorf("%d instances were ended, want %d", n, calls)
		}
		return stagetest.Timeless(t, map[string]any{"runs": len(told), "kept": len(kept), "wanted": s.wanted() > 0, "records": slices.Sorted(maps.Keys(s.Kept()))})
	})
}

// TestRemedyKilledAtEachWrite: so it is with what the other remedies change.
func TestRemedyKilledAtEachWrite(t *testing.T) {
	for _, x := range tales() {
		_, call, _ := strings.Cut(x.call, ":")
		switch x.remedy { // EKS speaks REST: docs.aws.amazon.com/eks/latest/APIReference
		case optin.CoverZones:
			call = "POST /clusters/" + stagetest.Cluster + "/node-groups/default/update-config"
		case optin.CreateAccessEntry:
			call = "POST /clusters/" + stagetest.Cluster + "/access-entries"
		}
		// After an approval the run is counted, then claimed; then comes the call.
		unknown := []string{"2 PutItem, answer lost", "3 " + call}
		t.Run(string(x.remedy), func(t *testing.T) {
			t.Parallel()
			stagetest.KilledAtEachWrite(t, slices.Sorted(slices.Values([]string{"PutEvents", "PutItem", "SendMessage", call})), func(t *testing.T, k *stagetest.Kill) any {
				s := x.openWith(t, optin.Approve, stagetest.Options{Kill: k})
				x.press(s, x.propose(s))
				s.Calls()
				k.Invoke(stagetest.Batch(s.incidentEvent(approval)))
				want, calls := remedy.Done, 1
				if slices.Contains(unknown, k.String()) {
					want, calls = remedy.Uncertain, 0
				}
				_, runs := s.said()
				kept, err := s.Store.Runs(t.Context(), stagetest.Cluster)
				if err != nil {
					t.Fatal(err)
				}
				told := map[string]bool{}
				for _, d := range slices.Concat(kept, runs) {
					if d.Result != want || d.Ended.IsZero() {
						t.Errorf("run %+v, want %s", d, want)
					}
					told[d.ID] = true
				}
				s.Advance(10 * time.Minute) // until a nodegroup has changed
				if n := s.Calls()[x.call]; n != calls || x.undone(s) != (calls == 0) {
					t.Errorf("%d calls of %s, want %d; undone %t", n, x.call, calls, x.undone(s))
				}
				return stagetest.Timeless(t, map[string]any{"runs": len(told), "kept": len(kept), "wanted": s.wanted() > 0, "records": slices.Sorted(maps.Keys(s.Kept()))})
			})
		})
	}
}

// When what a plan left is looked at, and how that is said.
func TestWhatAPlanLeft(t *testing.T) {
	var got stagetest.Traces
	for _, x := range []struct {
		name   string
		left   int
		result remedy.Status
		change func(*fake)
	}{
		{"none is left", 0, remedy.Done, func(*fake) {}},
		{"one is left", 1, remedy.Done, func(*fake) {}},
		{"two are left", 2, remedy.Partly, func(*fake) {}},
		{"many are left", 9, remedy.Done, func(*fake) {}},
		{"two are left, and it failed", 2, remedy.Failed, func(*fake) {}},
		{"the limit is full until the next look", 2, remedy.Done, func(f *fake) { f.room = minute(35) }},
		{"the limit is full for longer", 2, remedy.Done, func(f *fake) { f.room = minute(36) }},
		{"nobody knows of the limit", 2, remedy.Done, func(f *fake) { f.errs["room"] = errBroken }},
	} {
		f := newFake()
		x.change(f)
		f.result.Status = x.result
		inc := noWayOut()
		h := f.handler(optin.Auto)
		p := planned()
		p.Remedy = optin.ReplaceInstance
		d := h.newRun(inc, p, nil)
		got.Add(x.name, f.said(h.carryOut(t.Context(), inc, d, x.left)))
	}
	got.Golden(t, "testdata/left.txtar")
}

// What is to be said of an offer alone is not said where none stands.
func TestQuietReasons(t *testing.T) {
	for _, reason := range []remedy.Reason{policyOff, remedy.NothingToDo, remedy.NotSo, remedy.Gone, remedy.TooSoon, remedy.CauseIsThere, remedy.AlreadyThere, "of its own"} {
		for name, change := range map[string]func(*fake, *incident.Incident){"stands": with(incident.Offered, optin.Approve), "none": func(*fake, *incident.Incident) {}} {
			f, inc := newFake(), noWayOut()
			change(f, &inc)
			no := &action.Refusal{Reason: reason, Says: "why"}
			err := f.handler(optin.Approve).takeBack(t.Context(), inc, remedies.Remedy{Remedy: remedy.Remedy{Name: optin.AddNATRoute}, Quiet: []remedy.Reason{"of its own"}}, no)
			if err != nil || (len(f.lines) > 0) != (name == "stands") {
				t.Errorf("%s, %s: %q, %v", reason, name, f.lines, err)
			}
		}
	}
}

// Nothing is done for what is no event of an incident, and it is counted.
func TestForeignMessages(t *testing.T) {
	told := func(kind string) string {
		return `{"version":"0","id":"e-1","source":"rollcall","detail-type":"Rollcall ` + kind + `","account":"9","region":"x",` +
			`"time":"2026-11-20T12:00:00Z","detail":{"cluster":"` + snapshottest.ClusterName + `","check":"route/no-egress","resource":"rtb-0new"}}`
	}
	for body, test := range map[string]struct {
		counts map[string]int
		fails  bool
	}{
		"{":                       {map[string]int{"MalformedEvents": 1}, true},
		told("Check Wanted"):      {map[string]int{"ForeignEvents": 1}, false},
		told("Incident Resolved"): {map[string]int{"ForeignEvents": 1}, false},
		told("Incident Opened"):   {map[string]int{"Proposals": 1}, false},
	} {
		f := newFake()
		f.incidents = []incident.Incident{noWayOut()}
		err := f.handler(optin.Approve).message(t.Context(), inbox.Message{ID: "m", Body: body})
		if diff := cmp.Diff(test.counts, f.counts); diff != "" || (err != nil) != test.fails {
			t.Errorf("%s: %v, counted (-want +got):\n%s", body, err, diff)
		}
	}
	if _, err := newFake().handler(optin.Approve).handle(t.Context(), json.RawMessage(`{}`)); err == nil || err.Error() != "remediate is invoked by its queue only" {
		t.Errorf("woken by nothing: %v", err)
	}
}

// What a plan needs to know of an incident.
func TestSubject(t *testing.T) {
	inc := noWayOut()
	inc.Cause = diagnosis.Cause{Covers: []string{"a"}, Nodegroups: []string{"b"}}
	inc.Launches, inc.Cleared = []report.Launch{{Instance: "i-1"}}, minute(4)
	of := subject(inc)
	if of.Cluster != inc.Key.Cluster || of.Check != inc.Key.Check || of.Resource != table ||
		len(of.Covers) != 1 || len(of.Nodegroups) != 1 || len(of.Launches) != 1 || !of.Cleared.IsZero() {
		t.Errorf("open: %+v", of)
	}
	inc.State = incident.Cleared
	if of := subject(inc); !of.Cleared.Equal(minute(4)) {
		t.Errorf("cleared: %+v", of)
	}
}

// healed is a harness whose route is there by hand, with the incident cleared.
func healed(t *testing.T, policy string, o stagetest.Options) *harness {
	t.Helper()
	s := start(t, stagetest.Cluster+"/replace-instance="+policy, o)
	s.Advance(31 * time.Minute) // the launch hook is over: the instance is in service
	s.Call("ec2:CreateRoute", `{"RouteTableId":"`+stagetest.Table+`","DestinationCidrBlock":"0.0.0.0/0","NatGatewayId":"`+nat+`"}`)
	inc := s.inc
	inc.State, inc.Cleared = incident.Cleared, s.Now()
	s.save(inc)
	return s
}

// later are the messages that it sent itself, with the delay of the last.
func (s *harness) later() (n int) {
	s.t.Helper()
	for _, q := range s.Template.Queues {
		if q.Name != "rollcall-remedies" {
			continue
		}
		d, err := s.Queues.Depth(q.ARN)
		if err != nil {
			s.t.Fatal(err)
		}
		n = d.Visible + d.Delayed
	}
	return n
}

// An instance whose cause is gone may still join by itself; then it is replaced,
// with its group's capacity kept, once.
func TestReplaceAfterTheCauseIsGone(t *testing.T) {
	s := healed(t, "auto", stagetest.Options{})
	if n := s.tell("Rollcall Incident Changed"); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	if p, d := s.said(); len(p)+len(d) != 0 || s.later() != 1 {
		t.Fatalf("said %+v, %+v, %d for later; want that it waits", p, d, s.later())
	}
	s.Advance(replaceinstance.Settle + time.Second)
	if n := s.tell("Rollcall Incident Changed"); n != 0 {
		t.Fatalf("%d messages came back: %s", n, s.Logs())
	}
	_, runs := s.said()
	if len(runs) != 1 || runs[0].Result != remedy.Done || len(runs[0].Changed) != 1 || runs[0].Changed[0] != s.id {
		t.Fatalf("runs %+v\n%s", runs, s.Logs())
	}
	s.tell("Rollcall Incident Changed")
	if n := s.Calls()["autoscaling:TerminateInstanceInAutoScalingGroup"]; n != 1 {
		t.Errorf("%d instances were ended", n)
	}
	s.Advance(2 * time.Minute)
	for _, e := range s.LaunchEvents(0) {
		if id := s.Instance(e); id != "" && id != s.id {
			return // another was launched in its place
		}
	}
	t.Error("the group launched no other")
}

// It joined by itself, or it is unknown whether it did: it is not ended.
func TestReplaceNoNode(t *testing.T) {
	s := healed(t, "auto", stagetest.Options{})
	s.Advance(replaceinstance.Settle + time.Second)
	inc := s.inc
	inc.Launches[0].Started = s.Now() // not what it was: launched after
	s.save(inc)
	s.tell("Rollcall Incident Changed")
	if _, runs := s.said(); len(runs) != 0 {
		t.Errorf("runs %+v", runs)
	}
	if n := s.Calls()["autoscaling:TerminateInstanceInAutoScalingGroup"]; n != 0 {
		t.Errorf("%d instances were ended", n)
	}
}

// No person is asked to approve what the spoke's role would not do, and what to deploy is said;
// where STS does not tell of the role the plan stands, and its doing tells.
func TestNothingIsOfferedWithoutTheRole(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		refuse bool
	}{
		"it lets in":             {nil, false},
		"it does not":            {fmt.Errorf("assume: %w", &smithy.GenericAPIError{Code: "AccessDenied"}), true},
		"STS is off there":       {&smithy.GenericAPIError{Code: "RegionDisabledException"}, true},
		"STS is throttled":       {&smithy.GenericAPIError{Code: "Throttling"}, false},
		"STS gives no answer":    {context.DeadlineExceeded, false},
		"what nobody recognises": {errors.New("because"), false},
	} {
		f := newFake()
		h := f.handler(optin.Approve)
		h.of = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
		h.role = func(context.Context) error { return tt.err }
		no := h.lacksRole(t.Context())
		if (no != nil) != tt.refuse {
			t.Errorf("%s: refused %+v", name, no)
		}
		if no != nil && (no.Reason != remedy.RoleNotAssumed || !strings.Contains(no.Says, "make deploy-spoke … SPOKE=222233334444/eu-west-1 SET=")) {
			t.Errorf("%s: %s, %s", name, no.Reason, no.Says)
		}
	}
}

// A plan that was not done for want of the role is offered again when the role is there; one
// that failed otherwise is not.
func TestOfferedAgainWithTheRole(t *testing.T) {
	for reason, again := range map[string]bool{string(remedy.RoleNotAssumed): true, "RouteAlreadyExists": false} {
		f := newFake()
		h := f.handler(optin.Approve)
		inc := noWayOut()
		p := remedy.Plan{Format: remedy.Format, Remedy: optin.AddNATRoute, Cluster: inc.Key.Cluster, Check: inc.Key.Check, Resource: inc.Key.Resource}
		inc.Offers = []incident.Offer{{Plan: p, Hash: p.Hash(), State: incident.Acted, Made: minute(2), Run: &remedy.Run{Result: remedy.Failed, Reason: reason}}}
		if err := h.offer(t.Context(), inc, p, optin.Approve, ""); err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(f.lines, func(l string) bool { return strings.HasPrefix(l, "proposal: ") }); got != again {
			t.Errorf("%s: offered again: %t; %q", reason, got, f.lines)
		}
	}
}

func minute(n int) time.Time { return time.Date(2026, 11, 20, 12, n, 0, 0, time.UTC) }

// atMinute is a handler at a time, without anything that it could change.
func atMinute(n int) handler { return handler{now: func() time.Time { return minute(n) }} }

func offerOf(r optin.Remedy, state incident.OfferState, made int, hash string) incident.Offer {
	return incident.Offer{Plan: remedy.Plan{Remedy: r}, State: state, Made: minute(made), Hash: hash}
}

// Looks that fail are made ever more seldom, each hour at the least.
func TestPaceOfLooksThatFail(t *testing.T) {
	for tried, want := range []int{5, 10, 20, 40, 60, 60} {
		if got := pace(tried); got != time.Duration(want)*time.Minute {
			t.Errorf("after %d: %s, want %d minutes", tried, got, want)
		}
	}
}

// The newest offer of a remedy counts, and only of this opening.
func TestLatestOffer(t *testing.T) {
	const route, parts = optin.AddNATRoute, optin.ReplaceInstance
	inc := incident.Incident{Opened: minute(5), Offers: []incident.Offer{
		offerOf(route, incident.Approved, 4, "before"), offerOf(route, incident.Approved, 5, "approved"), offerOf(parts, incident.Offered, 6, "offered"), offerOf(parts, incident.Approved, 4, "late"),
	}}
	for name, test := range map[string]struct {
		r      optin.Remedy
		states []incident.OfferState
		want   string
	}{
		"approved":                  {route, []incident.OfferState{incident.Offered, incident.Approved}, "approved"},
		"in no such state":          {route, []incident.OfferState{incident.Offered}, ""},
		"of this opening":           {parts, []incident.OfferState{incident.Offered, incident.Approved}, "offered"},
		"of this opening, approved": {parts, []incident.OfferState{incident.Approved}, ""},
		"of none":                   {optin.CoverZones, []incident.OfferState{incident.Approved}, ""},
	} {
		got := ""
		if o := latest(inc, test.r, test.states...); o != nil {
			got = o.Hash
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A run is named by its plan and the approval that it is good for.
func TestRunID(t *testing.T) {
	inc := incident.Incident{Opened: minute(5).In(time.FixedZone("", 3600))}
	p := remedy.Plan{Remedy: optin.AddNATRoute}
	if got, want := runID(inc, p, nil), p.Hash()+"/auto-20261120T120500.000Z"; got != want {
		t.Errorf("by a policy: %q, want %q", got, want)
	}
	approved := incident.Offer{Hash: "hash", Decided: minute(7).In(time.FixedZone("", 3600)), By: report.User{ID: "U1"}}
	if got, want := runID(inc, p, &approved), "hash/20261120T120700.000Z"; got != want {
		t.Errorf("by a person: %q, want %q", got, want)
	}
	want := remedy.Run{Format: remedy.Format, ID: runID(inc, p, nil), Plan: p, Hash: p.Hash(), Policy: optin.Auto, Began: minute(9)}
	if diff := cmp.Diff(want, atMinute(9).newRun(inc, p, nil)); diff != "" {
		t.Errorf("a policy's run (-want +got):\n%s", diff)
	}
	want.ID, want.Policy, want.ApprovedBy, want.Approved = runID(inc, p, &approved), optin.Approve, "U1", approved.Decided
	if diff := cmp.Diff(want, atMinute(9).newRun(inc, p, &approved)); diff != "" {
		t.Errorf("a person's run (-want +got):\n%s", diff)
	}
}

// What report knows of a run is not told again; nor what it had, and dropped for
// later ones.
func TestWhatReportKnowsOfARun(t *testing.T) {
	of := func(id string, began int, r optin.Remedy, result remedy.Status) remedy.Run {
		return remedy.Run{ID: id, Began: minute(began), Plan: remedy.Plan{Remedy: r}, Result: result}
	}
	with := func(runs ...remedy.Run) incident.Incident {
		var inc incident.Incident
		for i := range runs {
			inc.Offers = append(inc.Offers, incident.Offer{Run: &runs[i]})
		}
		return inc
	}
	const parts = optin.ReplaceInstance
	d := of("d", 5, parts, remedy.Done)
	crowd := func(of remedy.Run) incident.Incident {
		inc := with(of)
		for len(inc.Offers) < incident.MaxOffers {
			inc.Offers = append(inc.Offers, incident.Offer{})
		}
		return inc
	}
	almost := crowd(of("e", 6, parts, remedy.Done))
	almost.Offers = almost.Offers[:incident.MaxOffers-1]
	for name, test := range map[string]struct {
		inc           incident.Incident
		told, dropped bool
	}{
		"it does":                       {with(of("c", 4, parts, remedy.Done), d), true, false},
		"of another":                    {with(of("c", 4, parts, remedy.Done)), false, false},
		"that it began":                 {with(of("d", 5, parts, "")), false, false},
		"of a later one, and is full":   {crowd(of("e", 6, parts, remedy.Done)), false, true},
		"of a later one, and has room":  {almost, false, false},
		"of an earlier one, and full":   {crowd(of("e", 5, parts, remedy.Done)), false, false},
		"of another's later, and full":  {crowd(of("e", 6, optin.AddNATRoute, remedy.Done)), false, false},
		"nothing, and is full":          {crowd(d), true, false},
		"nothing, and there is nothing": {incident.Incident{}, false, false},
	} {
		if got, out := knownToReport(test.inc, d), replacedByLater(test.inc, d); got != test.told || out != test.dropped {
			t.Errorf("%s: told %t, dropped %t", name, got, out)
		}
	}
}

// Which refusals may pass by themselves, and are looked at again.
func TestWhatMayPass(t *testing.T) {
	const r = optin.ReplaceInstance
	with := func(state incident.OfferState) incident.Incident {
		return incident.Incident{Offers: []incident.Offer{offerOf(r, state, 1, "h")}}
	}
	for name, test := range map[string]struct {
		inc    incident.Incident
		reason remedy.Reason
		want   bool
	}{
		"a look that failed":                {incident.Incident{}, remedy.CouldNotLook, true},
		"a look that failed, and it waits":  {with(incident.Deferred), remedy.CouldNotLook, true},
		"a look that failed, it is offered": {with(incident.Offered), remedy.CouldNotLook, false},
		"a look that failed, approved":      {with(incident.Approved), remedy.CouldNotLook, false},
		"a group that scales":               {incident.Incident{}, remedy.GroupScales, false},
		"a group that scales, it waits":     {with(incident.Deferred), remedy.GroupScales, true},
		"another's change, it waits":        {with(incident.Deferred), remedy.AnotherChange, true},
		"another's change":                  {with(incident.Offered), remedy.AnotherChange, false},
		"what is not so":                    {with(incident.Deferred), remedy.NotSo, false},
	} {
		if got := (handler{}).passes(test.inc, r, &action.Refusal{Reason: test.reason}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Which remedies an incident may need: its cause's while that is there, and
// afterwards those for what failed for it.
func TestRemediesForAnIncident(t *testing.T) {
	for _, test := range []struct {
		state incident.State
		fix   string
		want  []optin.Remedy
	}{
		{incident.Open, string(optin.AddNATRoute), []optin.Remedy{optin.AddNATRoute}},
		{incident.Open, string(optin.ReplaceInstance), nil},
		{incident.Open, "", nil},
		{incident.Cleared, string(optin.AddNATRoute), []optin.Remedy{optin.ReplaceInstance}},
	} {
		inc := incident.Incident{State: test.state}
		inc.Cause.Fix.Remedy = test.fix
		var got []optin.Remedy
		for _, r := range remediesFor(inc) {
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s, %q (-want +got):\n%s", test.state, test.fix, diff)
		}
	}
}

// An approval is good until its last moment, and one that does not say for ever.
func TestApprovalsExpire(t *testing.T) {
	o := incident.Offer{Expires: minute(5)}
	if atMinute(5).expired(o) || !atMinute(6).expired(o) || atMinute(6).expired(incident.Offer{}) {
		t.Errorf("at its end %t, after it %t, without one %t", atMinute(5).expired(o), atMinute(6).expired(o), atMinute(6).expired(incident.Offer{}))
	}
	if p := (remedy.Plan{Remedy: optin.AddNATRoute}); hashOf(p, nil) != p.Hash() || hashOf(p, &action.Refusal{}) != "" {
		t.Errorf("a plan's hash is %q, a refused one's %q", hashOf(p, nil), hashOf(p, &action.Refusal{}))
	}
}

const (
	theirs        = "arn:aws:iam::111122223333:role/stranger"
	karpentersOwn = "arn:aws:iam::111122223333:role/KarpenterNodeRole-eks-workshop"
)

// strangers is the world in which nodes' role is in no entry, and beside them
// stands an instance that a stranger started by hand: with the tags of the
// cluster and its nodegroup, which anybody may set, and a role of its own.
const strangers = `
ec2:
  Instances:
    - InstanceId: i-0a700000000000666
      InstanceType: m5.large
      ImageId: ami-0a1e2d3c4b5a69788
      SubnetId: subnet-0c30000000000000d
      PrivateIpAddress: 10.42.192.66
      LaunchTime: 2026-11-20T14:48:00Z
      SecurityGroups: [{GroupId: sg-0e50000000000000f}]
      IamInstanceProfile: {Arn: "arn:aws:iam::111122223333:instance-profile/stranger"}
      Tags: [{Key: eks:cluster-name, Value: eks-workshop}, {Key: eks:nodegroup-name, Value: new_nodegroup_2}, {Key: kubernetes.io/cluster/eks-workshop, Value: owned}]
iam:
  Roles:
    - RoleName: stranger
      AssumeRolePolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: "sts:AssumeRole"}]}
  InstanceProfiles:
    - {InstanceProfileName: stranger, Roles: [{RoleName: stranger}]}
`

// about opens an incident of the check as report would, of a role and instances.
func about(t *testing.T, world, over, policy, roles, role string, instances ...string) *harness {
	t.Helper()
	s := bench(t, "", stagetest.Options{World: world, Over: over, Settings: settingsOf(stagetest.Cluster+"/create-access-entry="+policy, "ROLLCALL_REMEDY_ROLES", roles)})
	s.Advance(20 * time.Minute)
	s.save(incident.Incident{
		Key:    report.Key{Cluster: stagetest.Cluster, Check: "iam/access-missing", Resource: role},
		Format: report.Format, Account: s.Template.AccountID, Region: s.Template.Region, Partition: "aws",
		State: incident.Open, Number: 1, Began: s.Now().Add(-6 * time.Minute), Opened: s.Now().Add(-time.Minute), Changed: s.Now(), Seen: s.Now(),
		Cause: diagnosis.Cause{
			Check: "iam/access-missing", Confidence: finding.Certain, Resource: role, Covers: instances,
			Title: "no access entry", Fix: finding.Fix{Remedy: string(optin.CreateAccessEntry)},
		},
		Covers: instances, Affected: len(instances),
	})
	return s
}

func (s *harness) entries() []string {
	s.t.Helper()
	out, err := s.World.EKS().ListAccessEntries(&eks.ListAccessEntriesInput{ClusterName: aws.String(stagetest.Cluster)})
	if err != nil {
		s.t.Fatal(err)
	}
	return out.AccessEntries
}

// The wrong target: a stranger's instance and role, by policy and by approval,
// with the role named and not named. Nothing is offered, and nothing is done.
func TestNoEntryForAStranger(t *testing.T) {
	const world, node, foreign = "corpus/iam-access-missing.yaml", "i-0a700000000000001", "i-0a700000000000666"
	for _, test := range []struct {
		name, policy, roles, role string
		instances                 []string
		want                      remedy.Reason
	}{
		{"by policy, another role is named", "auto", nodeRole, theirs, []string{foreign}, createaccessentry.RoleNotNamed},
		{"approved, no role is named", "approve", "none", nodeRole, []string{node}, createaccessentry.RoleNotNamed},
		{"by policy, the stranger's role is named", "auto", theirs, theirs, []string{foreign}, remedy.NotLaunchedByIt},
		{"approved, the stranger's role is named", "approve", theirs, theirs, []string{foreign}, remedy.NotLaunchedByIt},
	} {
		s := about(t, world, strangers, test.policy, test.roles, test.role, test.instances...)
		before := s.entries()
		s.tell(opened)
		list, runs := s.said()
		if len(list) != 1 || list[0].Hash != "" || list[0].Reason != string(test.want) || len(runs) != 0 {
			t.Errorf("%s: proposals %+v, runs %+v; want %s: %s", test.name, list, runs, test.want, s.Logs())
		}
		if n := s.Calls()["eks:CreateAccessEntry"]; n != 0 || !slices.Equal(s.entries(), before) {
			t.Errorf("%s: %d calls, entries %v", test.name, n, s.entries())
		}
	}
}

// A policy does not get as far as a run without a named role: the settings are
// refused (shared/config). If it did, nothing would be done all the same.
func TestAutoWithoutRolesDoesNothing(t *testing.T) {
	s := about(t, "corpus/iam-access-missing.yaml", "", "auto", nodeRole, nodeRole, "i-0a700000000000001")
	s.h.roles = nil
	s.tell(opened)
	list, runs := s.said()
	if len(list) != 1 || list[0].Reason != string(createaccessentry.RoleNotNamed) || len(runs) != 0 || s.Calls()["eks:CreateAccessEntry"] != 0 {
		t.Errorf("proposals %+v, runs %+v", list, runs)
	}
}

// That Karpenter launched an instance, its tags alone say, which anybody may set:
// a person is asked, also where the policy is auto.
func TestNodePoolIsForAPersonToDecide(t *testing.T) {
	const entriesAlone = "eks: {clusters: [{name: eks-workshop, accessConfig: {authenticationMode: API}}]}"
	s := about(t, "corpus/iam-access-missing-karpenter.yaml", entriesAlone, "auto", karpentersOwn, karpentersOwn, "i-0a700000000000001")
	s.tell(opened)
	list, runs := s.said()
	if len(list) != 1 || list[0].Policy != optin.Approve || !strings.Contains(list[0].Says, "known only from tags") || list[0].Plan.Access == nil || !list[0].Plan.Access.Tagged || len(runs) != 0 || s.Calls()["eks:CreateAccessEntry"] != 0 {
		t.Fatalf("proposals %+v, runs %+v: %s", list, runs, s.Logs())
	}
	s.approve(list[0])
	s.tell(approval)
	if _, runs := s.said(); len(runs) != 1 || runs[0].Result != remedy.Done || !slices.Contains(s.entries(), karpentersOwn) {
		t.Errorf("runs %+v, entries %v", runs, s.entries())
	}
}

// tale is a fault that a remedy is for: the real check finds it in a world, and
// report opens the incident from what it found.
type tale struct {
	remedy optin.Remedy
	check  checkid.ID
	world  string
	over   string
	// begin brings the world to the fault.
	begin func(*harness)
	// stuck is the instance that does not join, if there is one.
	stuck string
	// call is the one that changes something.
	call string
	// undone reports whether the world is as it was.
	undone func(*harness) bool
	// wrong is what changes between the approval and the run, by its name.
	wrong map[string]changed
}

type changed struct {
	world func(*harness)
	want  remedy.Reason
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
	i := slices.IndexFunc(obs.Diagnosis.Causes, func(c diagnosis.Cause) bool { return c.Check == x.check })
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
	look, err := s.h.look(s.t.Context(), inc, remedies.ByName(x.remedy).Sources(x.check), true)
	if err != nil {
		s.t.Fatal(err)
	}
	look.Taken = s.Now()
	look.Cleanup = snapshot.Cleanup{Mode: "report", Grace: s.h.grace}
	var list []check.Check
	for _, c := range checks.All() {
		if c.ID == x.check {
			list = append(list, c)
		}
	}
	return detect.Observe("test", look, diagnose.Rank(list, check.Eval(list, look), look), launches)
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
		Head: report.Head{Format: report.IncidentFormat, Kind: report.PressKind, ID: "press-1", At: s.Now(), Key: s.inc.Key}, Number: s.inc.Number,
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

// verified reports whether the check that found the cause has seen that it is gone.
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

// What follows a plan is said before it is approved: a replacement by the policy, or its offer.
func TestFollows(t *testing.T) {
	hangs := incident.Incident{Launches: []report.Launch{{Instance: "i-1", Group: "workers", Status: report.Waiting}}}
	of := func(change func(*report.Launch)) incident.Incident {
		l := hangs.Launches[0]
		change(&l)
		return incident.Incident{Launches: []report.Launch{l}}
	}
	route, replace := remedy.Plan{Remedy: optin.AddNATRoute}, remedy.Plan{Remedy: optin.ReplaceInstance}
	for name, test := range map[string]struct {
		inc    incident.Incident
		plan   remedy.Plan
		policy optin.Policy
		want   string
	}{
		"by itself":              {hangs, route, optin.Auto, "Then it replaces instances that have not joined 3 min after the cause is gone (policy auto)."},
		"offered":                {hangs, route, optin.Approve, "Then it offers to replace instances that have not joined 3 min after the cause is gone."},
		"off":                    {hangs, route, optin.Off, ""},
		"the replacement":        {hangs, replace, optin.Auto, ""},
		"nothing was launched":   {incident.Incident{}, route, optin.Auto, ""},
		"it joined":              {of(func(l *report.Launch) { l.Status = report.Joined }), route, optin.Auto, ""},
		"it ended":               {of(func(l *report.Launch) { l.Status = report.Gone }), route, optin.Auto, ""},
		"a NodePool launched it": {of(func(l *report.Launch) { l.Group = "" }), route, optin.Auto, ""},
	} {
		if got := follows(test.inc, test.plan, test.policy); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
