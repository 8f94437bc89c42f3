package enicleanup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/call"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

var errBroken = errors.New("broken")

// of names the cluster of an interface; "": none.
func of(cluster string) func(*snapshot.Interface) {
	return func(i *snapshot.Interface) {
		if i.Tags[leak.TagCluster] = cluster; cluster == "" {
			delete(i.Tags, leak.TagCluster)
		}
	}
}

// one leaves only eni-1.
func one(f *fake) { f.idle = f.idle[:1]; delete(f.sightings, "eni-2") }

func mode(m leak.Mode) func(*handler) {
	return func(h *handler) { h.modes = func(string) leak.Mode { return m } }
}

// unsettled is what a run wrote ahead an hour ago, and left.
func (f *fake) unsettled(ids ...string) {
	for _, id := range ids {
		s := f.sightings[id]
		s.Interface, s.Deleting = id, &leak.Audit{Interface: id, Cluster: "a", Subnet: "s-1", Owner: node, At: f.clock.Add(-time.Hour), Result: leak.Deleting, Run: "earlier"}
		f.sightings[id] = s
	}
}

// handle runs the function for an event, and gives what it did.
func (f *fake) handle(ctx context.Context, h handler, raw json.RawMessage) string {
	ctx, f.cancel = context.WithCancel(ctx)
	defer f.cancel()
	if f.deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.deadline)
		defer cancel()
	}
	_, err := h.handle(ctx, raw)
	return f.said(err)
}

const sweep = `{"version":"0","id":"run","detail-type":"Scheduled Event","source":"aws.events","account":"1","time":"2026-11-20T12:00:00Z","region":"r","resources":[],"detail":{}}`

// What a run does, and in which order, with each thing that may go wrong.
func TestRuns(t *testing.T) {
	type setup struct {
		name   string
		change func(*fake)
		set    func(*handler)
	}
	failing := func(what string) setup {
		return setup{"failing at " + what, func(f *fake) { f.errs[what] = errBroken }, nil}
	}
	taken := func(what string) setup {
		return setup{"another is faster at " + what, func(f *fake) { f.errs[what] = &store.Conflict{} }, nil}
	}
	answered := func(answers ...call.Answer) func(*fake) {
		return func(f *fake) { f.answers["eni-1"] = answers }
	}
	throttled := call.Answer{Outcome: call.Throttled}
	refused := call.Answer{Outcome: call.Refused, Code: "Odd", Message: "why"}
	denied := call.Answer{Outcome: call.Denied, Code: "UnauthorizedOperation", Message: "no"}
	var got stagetest.Traces
	for _, x := range []setup{
		{"two are deleted", nil, nil},
		{"one is new", func(f *fake) { delete(f.sightings, "eni-2") }, nil},
		{"one is gone", func(f *fake) { f.idle = f.idle[:1] }, nil},
		{"one that names no cluster, opted in", func(f *fake) { f.seenBefore(leftBehind("eni-3", f.clock, of(""))) }, func(h *handler) { h.untagged = []string{inVPC} }},
		{"one that names no cluster, not opted in", func(f *fake) { f.seenBefore(leftBehind("eni-3", f.clock, of(""))) }, nil},
		{"nothing is left behind", func(f *fake) { f.idle, f.sightings = nil, map[string]leak.Sighting{} }, nil},
		{"in mode report", nil, mode(leak.Report)},
		{"in mode dry-run", nil, mode(leak.DryRun)},
		{"in mode dry-run, asked today", func(f *fake) {
			f.audits = []leak.Audit{
				{Interface: "eni-1", Cluster: "a", At: theDay(), Result: leak.WouldDelete}, {Interface: "eni-1", Cluster: "a", At: theDay().Add(time.Hour), Result: leak.Deleted},
				{Interface: "eni-2", Cluster: "a", At: theDay(), Result: leak.LostInUse},
			}
		}, mode(leak.DryRun)},
		{"in mode dry-run, with an answer that nobody gives it", answered(call.Answer{Outcome: call.InUse}), mode(leak.DryRun)},
		{"in mode dry-run, denied", func(f *fake) { answered(denied)(f); f.slow("eni-1 dry run") }, mode(leak.DryRun)},
		{"over the share", nil, func(h *handler) { h.share = 19 }},
		{"over the cap", nil, func(h *handler) { h.limit = 1 }},
		{"two VPCs, one cap", func(f *fake) {
			f.names, f.homes = []string{"c", "b", "a"}, map[string]string{"a": inVPC, "b": "vpc-0", "c": inVPC}
			f.seenBefore(leftBehind("eni-3", f.clock, func(i *snapshot.Interface) { i.VPC = "vpc-0" }, of("b")), leftBehind("eni-4", f.clock, of("c")))
		}, func(h *handler) { h.limit = 3 }},
		{"a mode for each cluster", func(f *fake) {
			f.names, f.homes = []string{"a", "b", "c"}, map[string]string{"a": inVPC, "b": inVPC, "c": inVPC}
			f.seenBefore(leftBehind("eni-3", f.clock, of("b")), leftBehind("eni-4", f.clock, of("c")), leftBehind("eni-5", f.clock, of("")))
		}, func(h *handler) {
			h.modes = func(name string) leak.Mode {
				return map[string]leak.Mode{"a": leak.Report, "b": leak.DryRun, "c": leak.Delete}[name]
			}
			h.untagged = []string{inVPC}
		}},
		{"the clusters that are named", func(f *fake) { f.homes["b"] = inVPC }, func(h *handler) { h.Clusters = []string{"b", "gone", "a"} }},
		{"clusters that cannot be listed", func(f *fake) {
			f.unlisted = &snapshot.Failure{Call: "eks:ListClusters", Reason: snapshot.Denied, Message: "no"}
		}, nil},
		{"a cluster that cannot be read", func(f *fake) { f.names, f.homes["b"], f.errs["read a"] = []string{"a", "b"}, inVPC, errBroken }, nil},
		{"a cluster of which the VPC is not known", func(f *fake) { f.names, f.homes["b"], f.homes["a"] = []string{"a", "b"}, inVPC, "" }, nil},
		{"a cluster that EKS does not tell", func(f *fake) { f.blind[snapshot.Clusters] = true }, nil},
		{"no usage", func(f *fake) { f.blind[snapshot.Usage] = true }, nil},
		{"no interfaces", func(f *fake) { f.blind[snapshot.Unattached] = true }, nil},
		{"no creators, of two clusters", func(f *fake) {
			f.names, f.homes["b"] = []string{"a", "b"}, inVPC
			f.blind[snapshot.CreatorsOf] = true
		}, nil},
		{"no subnets to sum up", func(f *fake) { f.blind[snapshot.Subnets] = true }, nil},

		{"described as in use", func(f *fake) {
			f.again = func(i *snapshot.Interface) bool { i.Status = "in-use"; return i.ID == "eni-1" }
		}, nil},
		{"the first is in use by now", func(f *fake) {
			f.again = func(i *snapshot.Interface) bool { return i.ID == "eni-2" }
		}, nil},
		{"described too long ago", func(f *fake) { f.on["describe #1"] = func() { f.pass(fresh) } }, nil},
		{"throttled for too long", func(f *fake) {
			one(f)
			f.answers["eni-1"] = []call.Answer{throttled}
			f.on["eni-1 delete #1"] = func() { f.pass(fresh) }
		}, nil},
		{"throttled", func(f *fake) { one(f); answered(throttled, throttled)(f) }, nil},
		{"uncertain, then throttled", func(f *fake) {
			f.slow()
			f.idle, f.pace.Cut = f.idle[:2], f.clock.Add(-time.Second)
			answered(call.Answer{Outcome: call.Uncertain})(f)
			f.answers["eni-2"] = []call.Answer{throttled}
		}, nil},
		{"in use", answered(call.Answer{Outcome: call.InUse, Request: "req"}), nil},
		{"not there", answered(call.Answer{Outcome: call.NotThere, Request: "req"}), nil},
		{"refused", answered(refused), nil},
		{"denied", func(f *fake) { answered(denied)(f); f.slow("eni-1 delete") }, nil},
		{"denied, then refused", func(f *fake) {
			answered(denied)(f)
			f.answers["eni-2"] = []call.Answer{refused}
			f.slow("eni-1 delete")
		}, nil},
		{"refused, then denied", func(f *fake) {
			answered(refused)(f)
			f.answers["eni-2"] = []call.Answer{denied}
			f.slow("eni-1 delete", "eni-2 delete")
		}, nil},
		{"denied for one of two clusters", func(f *fake) {
			f.names, f.homes["b"] = []string{"a", "b"}, inVPC
			answered(denied)(f)
			f.slow("eni-1 delete")
			f.seenBefore(leftBehind("eni-4", f.clock, of("b")))
		}, nil},
		{"uncertain", answered(call.Answer{Outcome: call.Uncertain}), nil},
		{"an earlier run's delete that was done", func(f *fake) { f.unsettled("eni-0") }, nil},
		{"an earlier run's that were not", func(f *fake) { f.unsettled("eni-1", "eni-2") }, nil},
		{"an earlier run's, some done", func(f *fake) { f.unsettled("eni-1", "eni-6", "eni-7", "eni-8", "eni-9") }, nil},
		{"an earlier run's that a second look leaves out", func(f *fake) {
			one(f)
			f.unsettled("eni-1")
			f.again = func(*snapshot.Interface) bool { return f.times["describe"] > 1 }
		}, nil},
		{"an earlier run's that others settle", func(f *fake) {
			f.unsettled("eni-1", "eni-2")
			f.errs["eni-1 sighting"], f.errs["eni-2 sighting"] = &store.Conflict{}, &store.Conflict{}
		}, nil},
		{"an earlier run's that another settles", func(f *fake) { one(f); f.unsettled("eni-1"); f.errs["eni-1 sighting"] = &store.Conflict{} }, nil},
		{"an earlier run's that cannot be settled", func(f *fake) { one(f); f.unsettled("eni-1"); f.errs["eni-1 sighting"] = errBroken }, nil},
		{"an earlier run's that cannot be described", func(f *fake) { f.unsettled("eni-1"); f.errs["describe"] = errBroken }, nil},
		{"an earlier run's that cannot be audited", func(f *fake) { f.unsettled("eni-0"); f.errs["eni-0 audit"] = errBroken }, nil},
		{"told already, of nothing", func(f *fake) {
			f.told["2026-11-20"] = digestOf(report.Cleanup{Mode: "delete"})
			f.idle, f.sightings = nil, map[string]leak.Sighting{}
		}, nil},
		{"told otherwise, and now of nothing", func(f *fake) {
			f.told["2026-11-20"] = "other"
			f.idle, f.sightings = nil, map[string]leak.Sighting{}
		}, nil},
		{"time passes before the look", func(f *fake) { f.on["read a"] = func() { f.pass(time.Minute) } }, nil},
		{"two VPCs, one cap for what is deleted and what is asked", func(f *fake) {
			f.names, f.homes = []string{"a", "b", "c"}, map[string]string{"a": inVPC, "b": "vpc-0", "c": "vpc-0"}
			there := func(i *snapshot.Interface) { i.VPC = "vpc-0" }
			f.seenBefore(leftBehind("eni-3", f.clock, there, of("b")), leftBehind("eni-4", f.clock, there, of("c")))
		}, func(h *handler) {
			h.limit = 3
			h.modes = func(name string) leak.Mode {
				return map[string]leak.Mode{"a": leak.Delete, "b": leak.DryRun, "c": leak.Delete}[name]
			}
		}},
		{"a cluster in mode report that cannot be read, and one interface that names none", func(f *fake) {
			f.names, f.homes["b"], f.errs["read b"] = []string{"a", "b"}, inVPC, errBroken
			f.seenBefore(leftBehind("eni-3", f.clock, of("")))
		}, func(h *handler) {
			h.untagged = []string{inVPC}
			h.modes = func(name string) leak.Mode { return map[string]leak.Mode{"a": leak.Delete}[name] }
		}},
		{"yesterday has more than was told", func(f *fake) {
			f.audits = []leak.Audit{{Interface: "eni-9", Cluster: "a", Subnet: "s-2", Owner: node, At: theDay().Add(-time.Hour), Result: leak.Deleted}}
			f.told["2026-11-19"] = "other"
		}, nil},
		{"yesterday has more than was told, and it is stopped", func(f *fake) {
			f.audits = []leak.Audit{{Interface: "eni-9", Cluster: "a", Subnet: "s-2", Owner: node, At: theDay().Add(-time.Hour), Result: leak.Deleted}}
			f.told["2026-11-19"] = "other"
		}, func(h *handler) { h.share = 1 }},
		failing("sightings"), failing("audits of a #1"), failing("pace"), failing("describe"), failing("eni-1 audit"), failing("tell deletes"),
		failing("eni-1 forget"), failing("audits of a #2"), failing("told of a"), failing("sum up"), failing("save told"), failing("send"), failing("save pace"),
		taken("eni-1 sighting"), taken("eni-1 forget"),
		{"a new one that cannot be remembered", func(f *fake) { delete(f.sightings, "eni-1"); f.errs["eni-1 sighting"] = errBroken }, nil},
		{"a new one that another remembers", func(f *fake) { delete(f.sightings, "eni-1"); f.errs["eni-1 sighting"] = &store.Conflict{} }, nil},
		{"an old one that cannot be forgotten", func(f *fake) { f.idle = f.idle[1:]; f.errs["eni-1 forget"] = errBroken }, nil},
		{"one cannot be written ahead", func(f *fake) { f.slow("eni-1 sighting"); f.errs["eni-1 sighting"] = errBroken }, nil},
		{"what was written ahead cannot be taken back", func(f *fake) {
			answered(refused)(f)
			f.slow("eni-1 sighting #2")
			f.errs["eni-1 sighting #2"] = errBroken
		}, nil},
		{"two cannot be taken back", func(f *fake) {
			answered(refused)(f)
			f.answers["eni-2"] = []call.Answer{refused}
			f.slow("eni-1 sighting #2")
			f.errs["eni-1 sighting #2"], f.errs["eni-2 sighting #2"] = errBroken, errors.New("broken too")
		}, nil},
		{"one cannot be audited, and another is to be described again", func(f *fake) {
			f.slow()
			f.idle = f.idle[:2]
			f.errs["eni-1 audit"], f.answers["eni-2"] = errBroken, []call.Answer{throttled}
			f.on["eni-2 delete"] = func() { f.pass(fresh) }
		}, nil},
		{"more than are described at once", func(f *fake) {
			f.slow()
			f.pace.Rate = 2
			for i := range 9 {
				f.seenBefore(leftBehind(fmt.Sprintf("eni-%c", 'a'+i), f.clock))
			}
		}, func(h *handler) { h.limit, h.share = 20, 1000 }},
		{"its turn comes too late", func(f *fake) {
			one(f)
			f.pace = leak.Pace{Level: 0.5, At: f.clock, Rate: leak.Refill}
			f.on["sleep #1"] = func() { f.pass(fresh) }
		}, nil},
		{"ended before the deletes", func(f *fake) { f.on["sightings"] = func() { f.cancel() } }, nil},
		{"ended while it describes", func(f *fake) { f.on["describe"] = func() { f.cancel() } }, nil},
		{"ended while it waits", func(f *fake) {
			f.slow()
			f.errs["sleep"] = context.Canceled
			f.on["sleep"] = func() { f.cancel(); synctest.Wait() }
		}, nil},
		{"ended while EC2 is asked too much", func(f *fake) { one(f); answered(throttled)(f); f.on["eni-1 delete"] = func() { f.cancel() } }, nil},
		{"no more than its room is left", func(f *fake) { f.deadline = room }, nil},
		{"a second more than its room is left", func(f *fake) { f.deadline = room + time.Second }, nil},
		{"blind, and report cannot be told", func(f *fake) { f.blind[snapshot.Usage] = true; f.errs["send"] = errBroken }, nil},
		{"no subnets to sum up, of two clusters", func(f *fake) { f.names, f.homes["b"], f.blind[snapshot.Subnets] = []string{"b", "a"}, inVPC, true }, nil},
		{"audited before", func(f *fake) {
			f.audits = []leak.Audit{{Interface: "eni-1", Cluster: "a", Subnet: "s-1", Owner: node, At: f.clock, Result: leak.Deleted, Run: "another"}}
		}, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			if x.change != nil {
				x.change(f)
			}
			h := f.handler()
			if x.set != nil {
				x.set(&h)
			}
			got.Add(x.name, f.handle(t.Context(), h, json.RawMessage(sweep)))
		})
	}
	got.Golden(t, "testdata/runs.txtar")
}

// No more than some requests are on their way at once: to remember, to delete, to
// record, to forget.
func TestRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.idle, f.sightings, f.uses = nil, map[string]leak.Sighting{}, 1000
		for i := range 2 * parallel {
			f.seenBefore(leftBehind(fmt.Sprintf("eni-old%d", i), f.clock))
			f.idle = append(f.idle, leftBehind(fmt.Sprintf("eni-new%d", i), f.clock))
		}
		f.lasts = time.Second
		h := f.handler()
		h.limit = 100
		if _, err := h.handle(t.Context(), json.RawMessage(sweep)); err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"sighting": parallel, "delete": parallel, "audit": parallel, "forget": parallel}
		if diff := cmp.Diff(want, f.most); diff != "" {
			t.Errorf("at once, at most (-want +got):\n%s", diff)
		}
	})
}
