package enicleanup

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/shared/detect"
	"rollcall/shared/lambda"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/action"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
	"rollcall/tools/expect"
)

var errBroken = errors.New("broken")

// ownedBy names the cluster of an interface; "": none.
func ownedBy(cluster string) func(*snapshot.Interface) {
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
	answered := func(answers ...action.Answer) func(*fake) {
		return func(f *fake) { f.answers["eni-1"] = answers }
	}
	throttled := action.Answer{Outcome: action.Throttled}
	refused := action.Answer{Outcome: action.Refused, Code: "Odd", Message: "why"}
	denied := action.Answer{Outcome: action.Denied, Code: "UnauthorizedOperation", Message: "no"}
	var got stagetest.Traces
	for _, x := range []setup{
		{"two are deleted", nil, nil},
		{"one is new", func(f *fake) { delete(f.sightings, "eni-2") }, nil},
		{"one is gone", func(f *fake) { f.idle = f.idle[:1] }, nil},
		{"one that names no cluster, opted in", func(f *fake) { f.seenBefore(leftBehind("eni-3", f.clock, ownedBy(""))) }, func(h *handler) { h.untagged = []string{inVPC} }},
		{"one that names no cluster, not opted in", func(f *fake) { f.seenBefore(leftBehind("eni-3", f.clock, ownedBy(""))) }, nil},
		{"nothing is left behind", func(f *fake) { f.idle, f.sightings = nil, map[string]leak.Sighting{} }, nil},
		{"in mode report", nil, mode(leak.Report)},
		{"in mode dry-run", nil, mode(leak.DryRun)},
		{"in mode dry-run, asked today", func(f *fake) {
			f.audits = []leak.Audit{
				{Interface: "eni-1", Cluster: "a", At: theDay(), Result: leak.WouldDelete}, {Interface: "eni-1", Cluster: "a", At: theDay().Add(time.Hour), Result: leak.Deleted},
				{Interface: "eni-2", Cluster: "a", At: theDay(), Result: leak.LostInUse},
			}
		}, mode(leak.DryRun)},
		{"in mode dry-run, with an answer that nobody gives it", answered(action.Answer{Outcome: action.InUse}), mode(leak.DryRun)},
		{"in mode dry-run, denied", func(f *fake) { answered(denied)(f); f.slow("eni-1 dry run") }, mode(leak.DryRun)},
		{"over the share", nil, func(h *handler) { h.share = 19 }},
		{"over the cap", nil, func(h *handler) { h.limit = 1 }},
		{"two VPCs, one cap", func(f *fake) {
			f.names, f.homes = []string{"c", "b", "a"}, map[string]string{"a": inVPC, "b": "vpc-0", "c": inVPC}
			f.seenBefore(leftBehind("eni-3", f.clock, func(i *snapshot.Interface) { i.VPC = "vpc-0" }, ownedBy("b")), leftBehind("eni-4", f.clock, ownedBy("c")))
		}, func(h *handler) { h.limit = 3 }},
		{"a mode for each cluster", func(f *fake) {
			f.names, f.homes = []string{"a", "b", "c"}, map[string]string{"a": inVPC, "b": inVPC, "c": inVPC}
			f.seenBefore(leftBehind("eni-3", f.clock, ownedBy("b")), leftBehind("eni-4", f.clock, ownedBy("c")), leftBehind("eni-5", f.clock, ownedBy("")))
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
			f.answers["eni-1"] = []action.Answer{throttled}
			f.on["eni-1 delete #1"] = func() { f.pass(fresh) }
		}, nil},
		{"throttled", func(f *fake) { one(f); answered(throttled, throttled)(f) }, nil},
		{"uncertain, then throttled", func(f *fake) {
			f.slow()
			f.idle, f.pace.Cut = f.idle[:2], f.clock.Add(-time.Second)
			answered(action.Answer{Outcome: action.Uncertain})(f)
			f.answers["eni-2"] = []action.Answer{throttled}
		}, nil},
		{"in use", answered(action.Answer{Outcome: action.InUse, Request: "req"}), nil},
		{"not there", answered(action.Answer{Outcome: action.NotThere, Request: "req"}), nil},
		{"refused", answered(refused), nil},
		{"denied", func(f *fake) { answered(denied)(f); f.slow("eni-1 delete") }, nil},
		{"denied, then refused", func(f *fake) {
			answered(denied)(f)
			f.answers["eni-2"] = []action.Answer{refused}
			f.slow("eni-1 delete")
		}, nil},
		{"refused, then denied", func(f *fake) {
			answered(refused)(f)
			f.answers["eni-2"] = []action.Answer{denied}
			f.slow("eni-1 delete", "eni-2 delete")
		}, nil},
		{"denied for one of two clusters", func(f *fake) {
			f.names, f.homes["b"] = []string{"a", "b"}, inVPC
			answered(denied)(f)
			f.slow("eni-1 delete")
			f.seenBefore(leftBehind("eni-4", f.clock, ownedBy("b")))
		}, nil},
		{"uncertain", answered(action.Answer{Outcome: action.Uncertain}), nil},
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
			f.seenBefore(leftBehind("eni-3", f.clock, there, ownedBy("b")), leftBehind("eni-4", f.clock, there, ownedBy("c")))
		}, func(h *handler) {
			h.limit = 3
			h.modes = func(name string) leak.Mode {
				return map[string]leak.Mode{"a": leak.Delete, "b": leak.DryRun, "c": leak.Delete}[name]
			}
		}},
		{"a cluster in mode report that cannot be read, and one interface that names none", func(f *fake) {
			f.names, f.homes["b"], f.errs["read b"] = []string{"a", "b"}, inVPC, errBroken
			f.seenBefore(leftBehind("eni-3", f.clock, ownedBy("")))
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
			f.answers["eni-2"] = []action.Answer{refused}
			f.slow("eni-1 sighting #2")
			f.errs["eni-1 sighting #2"], f.errs["eni-2 sighting #2"] = errBroken, errors.New("broken too")
		}, nil},
		{"one cannot be audited, and another is to be described again", func(f *fake) {
			f.slow()
			f.idle = f.idle[:2]
			f.errs["eni-1 audit"], f.answers["eni-2"] = errBroken, []action.Answer{throttled}
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
		expect.Same(t, "at once, at most", f.most, want)
	})
}

var errKilled = errors.New("the process is no more")

// lifeline is a run's way to AWS. It ends the run at a request: before the
// request is sent, or after it took effect and before its answer arrives.
// What other requests were on their way take effect too, unheard.
type lifeline struct {
	next  http.RoundTripper
	end   context.CancelFunc
	watch func(action, id string, ok bool)
	// meanwhile is what others do just before a request, if anything.
	meanwhile func(left int)

	mu    sync.Mutex
	left  int // requests until the end; negative is never
	after bool
	dead  bool
}

func (l *lifeline) RoundTrip(req *http.Request) (*http.Response, error) {
	l.mu.Lock()
	if l.dead {
		l.mu.Unlock()
		return nil, errKilled
	}
	l.left--
	last := l.left == 0
	if last {
		l.dead = true
	}
	if l.meanwhile != nil {
		l.meanwhile(l.left)
	}
	l.mu.Unlock()
	if last && !l.after {
		l.end()
		return nil, errKilled
	}
	action, id := about(req)
	// A request that was sent is not taken back.
	resp, err := l.next.RoundTrip(req.WithContext(context.WithoutCancel(req.Context())))
	if err == nil && action == "DeleteNetworkInterface" {
		l.watch(action, id, resp.StatusCode == http.StatusOK)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if last || l.dead {
		if err == nil {
			resp.Body.Close()
		}
		l.end()
		return nil, errKilled
	}
	return resp, err
}

// about is what a request to EC2 asks for.
func about(req *http.Request) (action, id string) {
	if req.Body == nil || req.Header.Get("X-Amz-Target") != "" {
		return "", ""
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return "", ""
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", ""
	}
	return form.Get("Action"), form.Get("NetworkInterfaceId")
}

// deleteLog is what really happened.
type deleteLog struct {
	mu sync.Mutex
	// ours counts the deletes that EC2 did for the function, sent all requests.
	ours, sent map[string]int
	// theirs were deleted by another client, kept may never be deleted.
	theirs, kept map[string]bool
	// ready may be deleted, as they were made.
	ready map[string]bool
}

func newDeleteLog() *deleteLog {
	return &deleteLog{ours: map[string]int{}, sent: map[string]int{}, theirs: map[string]bool{}, kept: map[string]bool{}, ready: map[string]bool{}}
}

func (l *deleteLog) watch(_, id string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[id]++
	if ok {
		l.ours[id]++
	}
}

// once is one run of a function that is new, on a lifeline of its own.
func (s *harness) once(l *deleteLog, line *lifeline) error {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	e := s.Env()
	line.next, line.end, line.watch = s.HTTPClient().Transport, cancel, l.watch
	return runOf(ctx, s, e, line)
}

func runOf(ctx context.Context, s *harness, e lambda.Env, line *lifeline) error {
	_, err := handlerOf(e, line)(ctx, s.Sweep())
	return err
}

// settled holds the records against what happened.
func (s *harness) settled(l *deleteLog) {
	s.t.Helper()
	for id := range l.ready {
		if s.there(id) {
			s.t.Errorf("%s is left behind, and still there", id)
		}
	}
	for id := range l.kept {
		if !s.there(id) {
			s.t.Errorf("%s was deleted, and must not be", id)
		}
	}
	for id, n := range l.ours {
		if n != 1 || !l.ready[id] {
			s.t.Errorf("%s was deleted %d times; to be deleted at all: %v", id, n, l.ready[id])
		}
	}
	records := map[string]int{}
	for _, a := range s.audits() {
		if a.Result == leak.Deleted {
			records[a.Interface]++
		}
	}
	told := map[string]bool{}
	for _, id := range s.deleteEventIDs() {
		told[id] = true
	}
	for id, n := range l.ours {
		if n == 1 && (records[id] != 1 || !told[stagetest.Cluster+"/"+id+"/deleted"]) {
			s.t.Errorf("%s: %d records, told: %v; want one, and told", id, records[id], told[stagetest.Cluster+"/"+id+"/deleted"])
		}
	}
	for id, n := range records {
		// What another client deleted while a run was killed that had just
		// written that it would: the deleting client is unknown.
		if n != 1 || l.ours[id] != 1 && !l.theirs[id] {
			s.t.Errorf("%s: %d records; deleted by us %d times, by others: %v", id, n, l.ours[id], l.theirs[id])
		}
	}
	if left, err := s.Store.WithClock(s.Now).Sightings(s.t.Context(), vpc); err != nil {
		s.t.Error(err)
	} else {
		for id, x := range left {
			if x.Deleting != nil {
				s.t.Errorf("%s: what was written ahead is not settled", id)
			}
		}
	}
}

// autoNode is an instance that EKS manages: EC2's lists hide it, with what is
// attached to it.
const autoNode = "i-0a070000000000001"

const autoWorld = `
    - InstanceId: ` + autoNode + `
      Operator: {Managed: true, Principal: eks.amazonaws.com}
      InstanceType: m5.large
      SubnetId: ` + subnet + `
      PrivateIpAddress: 10.42.140.77
      LaunchTime: 2026-11-12T09:14:06Z
      Tags: [{Key: eks:eks-cluster-name, Value: eks-workshop}, {Key: kubernetes.io/cluster/eks-workshop, Value: owned}]
`

// TestAHiddenOwnerLives: an instance that EC2's lists hide is not dead. What the
// network plugin has just taken off it is not left behind.
func TestAHiddenOwnerLives(t *testing.T) {
	s := open(t, stagetest.Options{Over: autoWorld})
	m := s.left()
	m.description = "aws-K8S-" + autoNode
	m.tags[leak.TagInstance] = autoNode
	kept := s.make(m)
	lost := s.make(s.left())
	for range 3 {
		s.sweep()
	}
	if !s.there(kept) {
		t.Errorf("%s is deleted, and its owner %s runs", kept, autoNode)
	}
	if s.there(lost) {
		t.Errorf("%s is still there, and its owner %s does not exist: nothing was tested", lost, dead)
	}
	for _, a := range s.audits() {
		if a.Interface == kept {
			t.Errorf("audit of the interface of a running instance: %+v", a)
		}
	}
}

// TestWhoCannotAskProvesNothing: where EC2 refuses the question about the owners,
// managed ones included, none of them is dead.
func TestWhoCannotAskProvesNothing(t *testing.T) {
	s := open(t, stagetest.Options{Over: autoWorld, Faults: []simaws.FaultRule{{Call: "ec2:DescribeInstances", Deny: true}}})
	m := s.left()
	m.description = "aws-K8S-" + autoNode
	m.tags[leak.TagInstance] = autoNode
	kept := []string{s.make(m), s.make(s.left())}
	for range 3 {
		s.sweep()
	}
	for _, id := range kept {
		if !s.there(id) {
			t.Errorf("%s is deleted, and nobody could ask for its owner", id)
		}
	}
	observations, _ := s.sent()
	for _, o := range observations {
		if !slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool {
			return f.Source == snapshot.CreatorsOf && f.Reason == snapshot.Denied && f.Call == "ec2:DescribeInstances"
		}) {
			t.Errorf("blind %+v, want the creators denied", o.Blind)
		}
	}
	if len(observations) == 0 {
		t.Error("nothing was told")
	}
}

// meddler lets another client act just before a request: once, before the first
// that is of the kind.
type meddler struct {
	next http.RoundTripper
	kind func(action, body string) bool
	act  func()
	done bool
}

func (m *meddler) RoundTrip(req *http.Request) (*http.Response, error) {
	action, _ := about(req)
	if !m.done && action != "" {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		if m.kind(action, string(body)) {
			m.done = true
			m.act()
		}
	}
	return m.next.RoundTrip(req)
}

// described again, and the delete itself.
func again(action, body string) bool {
	return action == "DescribeNetworkInterfaces" && strings.Contains(body, "network-interface-id")
}

func asksToDelete(action, _ string) bool { return action == "DeleteNetworkInterface" }

// TestMeddled: every rule holds when the run looks, and between the look and
// the delete one thing changes. EC2 would still delete it, but for
// what is attached: that the run describes it again is what saves it, and no
// delete is so much as asked for.
func TestMeddled(t *testing.T) {
	tag := func(key, value string) func(*harness, string) bool {
		return func(s *harness, id string) bool {
			return s.others("ec2:CreateTags", `{"Resources":["`+id+`"],"Tags":[{"Key":"`+key+`","Value":"`+value+`"}]}`)
		}
	}
	for _, test := range []struct {
		name string
		when func(action, body string) bool
		act  func(s *harness, id string) bool
		// asked are deletes that EC2 is asked for, result what is recorded.
		asked  int
		result leak.Result
	}{
		{"attached", again, (*harness).taken, 0, ""},
		{"marked by a person", again, tag("keep", "until Friday"), 0, ""},
		{"given to another cluster", again, tag(leak.TagCluster, "theirs"), 0, ""},
		{"given to another node", again, tag(leak.TagInstance, alive), 0, ""},
		{"made anew, as its date says", again, tag(leak.TagCreated, "2026-11-20T15:00:00Z"), 0, ""},
		{"given an address", again, func(s *harness, id string) bool {
			return s.others("ec2:AssignPrivateIpAddresses", `{"NetworkInterfaceId":"`+id+`","SecondaryPrivateIpAddressCount":1}`)
		}, 0, ""},
		{"attached after that too", asksToDelete, (*harness).taken, 1, leak.LostInUse},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, stagetest.Options{})
			id := s.make(s.left())
			s.sweep()
			s.Advance(cadence)
			transport := s.HTTPClient().Transport
			changed := false
			line := &meddler{next: transport, kind: test.when, act: func() { changed = test.act(s, id) }}
			if _, err := handlerOf(s.Env(), line)(t.Context(), s.Sweep()); err != nil {
				t.Fatal(err)
			}
			if !changed {
				t.Fatal("nobody changed it: nothing is tested")
			}
			if n := s.Calls()["ec2:DeleteNetworkInterface"]; n != test.asked || !s.there(id) || len(s.deleteEventIDs()) > 0 {
				t.Errorf("%d deletes asked for, want %d; it is there: %v; told %v", n, test.asked, s.there(id), s.deleteEventIDs())
			}
			switch list := s.audits(); {
			case test.result == "" && len(list) > 0, test.result != "" && (len(list) != 1 || list[0].Result != test.result):
				t.Errorf("records %+v, want %q", list, test.result)
			}
		})
	}
}

// TestOneRuleBroken: real clients, the mode delete, and beside one interface
// of which every rule holds one for each rule that is broken alone. The one is
// deleted, and nothing else, however often the function runs.
func TestOneRuleBroken(t *testing.T) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_GRACE": "2h"}})
	young := func(m *made) { m.tags[leak.TagCreated] = s.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339) }
	owner := func(id string) func(*made) {
		return func(m *made) { m.description, m.tags[leak.TagInstance] = "aws-K8S-"+id, id }
	}
	spoiled := map[string]string{}
	for name, spoil := range map[string]func(*made){
		"small k8s":                   func(m *made) { m.description = "aws-k8s-" + dead },
		"a description of no node":    func(m *made) { m.description = "aws-K8S-" },
		"a person's, with its tags":   func(m *made) { m.description = "mine" },
		"the tag names another":       func(m *made) { m.tags[leak.TagInstance] = "i-0dead000000000002" },
		"no tag names the node":       func(m *made) { delete(m.tags, leak.TagInstance) },
		"the owner runs":              owner(alive),
		"the owner is stopped":        owner(halted),
		"no date":                     func(m *made) { delete(m.tags, leak.TagCreated) },
		"a date that cannot be read":  func(m *made) { m.tags[leak.TagCreated] = "long ago" },
		"the zero date":               func(m *made) { m.tags[leak.TagCreated] = "0001-01-01T00:00:00Z" },
		"too young":                   young,
		"another cluster's":           func(m *made) { m.tags[leak.TagCluster] = "theirs" },
		"a cluster of no name":        func(m *made) { m.tags[leak.TagCluster] = "" },
		"names no cluster":            func(m *made) { delete(m.tags, leak.TagCluster) },
		"a description and no tags":   func(m *made) { m.tags = nil },
		"tags and no description":     func(m *made) { m.description = "" },
		"being attached to a machine": func(m *made) { m.secondary = 0 }, // attached below
	} {
		m := s.left()
		m.tags[leak.TagCreated] = s.Now().Add(-3 * time.Hour).UTC().Format(time.RFC3339)
		spoil(&m)
		spoiled[s.make(m)] = name
	}
	for id, name := range spoiled {
		if name == "being attached to a machine" {
			s.Call("ec2:AttachNetworkInterface", fmt.Sprintf(`{"NetworkInterfaceId":%q,"InstanceId":%q,"DeviceIndex":1}`, id, alive))
		}
	}
	m := s.left()
	m.tags[leak.TagCreated] = s.Now().Add(-3 * time.Hour).UTC().Format(time.RFC3339)
	good := s.make(m)

	s.sweep()
	if !s.there(good) || len(s.audits()) > 0 {
		t.Fatal("it was deleted by the run that saw it first")
	}
	for range 4 {
		s.sweep()
	}
	_, summaries := s.sent()
	// Those that a node may have left behind are reported with the rule that keeps
	// them; what is in use, alive, young or not the VPC CNI's is not reported.
	kept := map[string]int{string(leak.NoDate): 3, string(leak.OtherCluster): 2, string(leak.TagsDisagree): 3, string(leak.Untagged): 1}
	if len(summaries) != 1 {
		t.Fatalf("%d summaries, want one", len(summaries))
	}
	expect.Same(t, "kept, by the rule", summaries[0].Cleanup.Kept, kept)
	if s.there(good) {
		t.Error("the one of which every rule holds is still there")
	}
	for id, name := range spoiled {
		if !s.there(id) {
			t.Errorf("%s: deleted", name)
		}
	}
	if list := s.audits(); len(list) != 1 || list[0].Interface != good || list[0].Result != leak.Deleted || list[0].Request == "" || list[0].Addresses() != 3 || list[0].Owner != dead {
		t.Errorf("audit records %+v", list)
	}
}

// TestModes: what is done hangs on the mode of the interface's own cluster.
func TestModes(t *testing.T) {
	for _, test := range []struct {
		name     string
		settings map[string]string
		change   func(*made)
		deleted  bool
		asked    bool
	}{
		{"report", map[string]string{"ROLLCALL_CLEANUP": "report"}, nil, false, false},
		{"another cluster's mode", map[string]string{"ROLLCALL_CLEANUP": "other=delete"}, nil, false, false},
		{"dry-run", map[string]string{"ROLLCALL_CLEANUP": stagetest.Cluster + "=dry-run"}, nil, false, true},
		{"delete", nil, nil, true, true},
		{"untagged, not opted in", nil, func(m *made) { delete(m.tags, leak.TagCluster) }, false, false},
		{"untagged, another VPC opted in", map[string]string{"ROLLCALL_CLEANUP_UNTAGGED": "vpc-0ffffffffffffffff"}, func(m *made) { delete(m.tags, leak.TagCluster) }, false, false},
		{"untagged, opted in", map[string]string{"ROLLCALL_CLEANUP_UNTAGGED": vpc}, func(m *made) { delete(m.tags, leak.TagCluster) }, true, true},
		{"untagged, opted in, in mode report", map[string]string{"ROLLCALL_CLEANUP": "report", "ROLLCALL_CLEANUP_UNTAGGED": vpc}, func(m *made) { delete(m.tags, leak.TagCluster) }, false, false},
		{"over the share", map[string]string{"ROLLCALL_CLEANUP_SHARE": "1"}, nil, false, false},
		{"not watched", map[string]string{"ROLLCALL_CLUSTERS": "other"}, nil, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, stagetest.Options{Settings: test.settings})
			m := s.left()
			if test.change != nil {
				test.change(&m)
			}
			id := s.make(m)
			for range 3 {
				s.sweep()
			}
			expect.Equal(t, "deleted", !s.there(id), test.deleted)
			if got := s.Calls()["ec2:DeleteNetworkInterface"]; (got > 0) != test.asked || got > 1 {
				t.Errorf("%d requests to delete, want some: %v, and one at most", got, test.asked)
			}
			_, summaries := s.sent()
			told := test.asked || test.name == "over the share"
			if (len(summaries) > 0) != told || len(summaries) > 1 {
				t.Errorf("%d summaries", len(summaries))
			}
			if len(s.deleteEventIDs()) > 0 != test.deleted {
				t.Errorf("told %v", s.deleteEventIDs())
			}
		})
	}
}

// handleWith lets a quarter of an hour pass, and runs a function with other
// settings over the same world and table.
func (s *harness) handleWith(change func(*handler)) {
	s.t.Helper()
	s.Advance(cadence)
	s.handleNow(change, 0)
}

// handleNow runs it with a clock that is wrong by so much.
func (s *harness) handleNow(change func(*handler), wrong time.Duration) {
	s.t.Helper()
	e := s.Env()
	right := e.Now
	e.Now = func() time.Time { return right().Add(wrong) }
	h := assemble(e, readerOf(e))
	if change != nil {
		change(&h)
	}
	if _, err := h.handle(s.t.Context(), s.Sweep()); err != nil {
		s.t.Fatal(err)
	}
}

func in(mode leak.Mode) func(*handler) {
	return func(c *handler) { c.modes = func(string) leak.Mode { return mode } }
}

// TestModeChanges: what was seen in mode report may be deleted by the first run
// in mode delete; back in report nothing is; a cluster that is no longer
// watched is another's.
func TestModeChanges(t *testing.T) {
	s := open(t, stagetest.Options{})
	first := s.make(s.left())
	s.handleWith(in(leak.Report))
	s.handleWith(in(leak.Report))
	if !s.there(first) {
		t.Fatal("deleted in mode report")
	}
	s.handleWith(in(leak.Delete))
	if s.there(first) || len(s.audits()) != 1 || len(s.deleteEventIDs()) != 1 {
		t.Errorf("there: %v, %d records", s.there(first), len(s.audits()))
	}
	second := s.make(s.left())
	s.handleWith(in(leak.Delete))
	s.handleWith(in(leak.Report))
	s.handleWith(func(c *handler) { c.Clusters = []string{"another"} })
	s.handleWith(func(c *handler) { c.Clusters = []string{} })
	s.handleWith(func(c *handler) { c.limit = 0 })
	s.handleWith(func(c *handler) { c.share = 0 })
	if !s.there(second) || len(s.audits()) != 1 {
		t.Errorf("there: %v, %d records", s.there(second), len(s.audits()))
	}
}

// TestWrongClocks: a clock that is wrong, either way, deletes nothing early,
// and once it is right nothing is held back for long.
func TestWrongClocks(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"an hour back": -time.Hour, "a year back": -365 * 24 * time.Hour, "an hour ahead": time.Hour, "a year ahead": 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := open(t, stagetest.Options{})
			id := s.make(s.left())
			s.Advance(cadence)
			s.handleNow(nil, wrong)
			s.handleNow(nil, wrong)
			if !s.there(id) {
				t.Fatal("deleted by the run that saw it first")
			}
			for range 3 {
				s.handleWith(nil)
			}
			if s.there(id) || len(s.audits()) != 1 {
				t.Errorf("with the right time it is held back; %d records", len(s.audits()))
			}
		})
	}
	// One run's clock goes back after the other's was right.
	s := open(t, stagetest.Options{})
	id := s.make(s.left())
	s.handleWith(nil)
	s.Advance(cadence)
	s.handleNow(nil, -time.Hour)
	if !s.there(id) {
		t.Error("deleted by a run that was before the one that saw it first")
	}
}

// TestStrangers: an operator who says that all of a VPC is watched is wrong
// where an interface names another cluster, even one that is attached: by the
// VPC CNI's tag, or in the words of a control plane, which bears none.
func TestStrangers(t *testing.T) {
	for name, theirs := range map[string]made{
		"a node's":          {description: "theirs", tags: map[string]string{leak.TagCluster: "theirs"}, subnet: subnet},
		"the control plane": {description: "Amazon EKS theirs", subnet: subnet},
	} {
		t.Run(name, func(t *testing.T) { strangers(t, theirs) })
	}
}

func strangers(t *testing.T, theirs made) {
	s := open(t, stagetest.Options{Settings: map[string]string{"ROLLCALL_CLEANUP_UNTAGGED": vpc}})
	m := s.left()
	delete(m.tags, leak.TagCluster)
	untagged, named := s.make(m), s.make(s.left())
	stranger := s.make(theirs)
	s.taken(stranger)
	for range 4 {
		s.sweep()
	}
	if !s.there(untagged) || s.there(named) {
		t.Errorf("there: untagged %v, want it; of the cluster %v, want it gone", s.there(untagged), s.there(named))
	}
	_, summaries := s.sent()
	if len(summaries) != 1 || summaries[0].Cleanup.Kept[string(leak.Strangers)] != 1 {
		t.Errorf("summaries %+v", summaries)
	}
	s.others("ec2:DetachNetworkInterface", `{"AttachmentId":"`+s.attachment(stranger)+`"}`)
	s.others("ec2:DeleteNetworkInterface", `{"NetworkInterfaceId":"`+stranger+`"}`)
	for range 2 {
		s.sweep()
	}
	if s.there(untagged) {
		t.Error("it is still there after the other cluster is gone")
	}
}

// TestStopIsOverWhenItIs: that the cleanup goes on is reported once it does, even
// if nothing is deleted; a new day does not end a stop.
func TestStopIsOverWhenItIs(t *testing.T) {
	s := open(t, stagetest.Options{})
	s.make(s.left())
	s.sweep()
	s.sweep()
	if len(s.audits()) != 1 {
		t.Fatal("nothing was deleted before the stop")
	}
	for range 10 {
		s.make(s.left())
	}
	little := func(c *handler) { c.share = 1 }
	s.Advance(8*time.Hour + 15*time.Minute - cadence) // until a quarter of an hour before midnight
	s.handleWith(little)
	s.sent()
	for range 3 { // past midnight
		s.handleWith(little)
	}
	_, summaries := s.sent()
	for _, x := range summaries {
		if x.Cleanup.Stopped == nil {
			t.Errorf("%s is told without a stop while the cleanup is stopped", x.ID)
		}
	}
	if len(summaries) != 1 {
		t.Errorf("%d summaries of the new day, want the stop", len(summaries))
	}
	for range 2 {
		s.handleWith(func(c *handler) { c.limit = 0 })
	}
	_, summaries = s.sent()
	var over []string
	for _, x := range summaries {
		if x.Cleanup.Stopped == nil {
			over = append(over, x.Cleanup.Day.Format(time.DateOnly))
		}
	}
	if len(over) != 2 || over[0] != "2026-11-20" || over[1] != "2026-11-21" {
		t.Errorf("told that it goes on: %v, want once for each day", over)
	}
}

// empty is a table that remembers EC2's bucket as empty: the first delete waits.
type empty struct {
	Notes
	now func() time.Time
}

func (e empty) Pace(context.Context, string, string) (leak.Pace, error) {
	return leak.Pace{At: e.now(), Rate: leak.Refill}, nil
}

// sequence notes when each request was sent that asks for interfaces again, or
// deletes one.
type sequence struct {
	next http.RoundTripper
	now  func() time.Time

	mu        sync.Mutex
	described time.Time
	deleted   int
	age       time.Duration // of the look, at the latest delete
}

func (s *sequence) RoundTrip(req *http.Request) (*http.Response, error) {
	action, _ := about(req)
	body := ""
	if action != "" {
		text, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body, req.Body = string(text), io.NopCloser(bytes.NewReader(text))
	}
	s.mu.Lock()
	switch {
	case again(action, body):
		s.described = s.now()
	case action == "DeleteNetworkInterface":
		s.deleted++
		s.age = s.now().Sub(s.described)
	}
	s.mu.Unlock()
	return s.next.RoundTrip(req)
}

// TestStaleLookDeletesNothing: while a delete waits for its turn, what was seen
// of its interface can grow too old. It is then described once more.
func TestStaleLookDeletesNothing(t *testing.T) {
	s := open(t, stagetest.Options{})
	id := s.make(s.left())
	s.sweep()
	s.Advance(cadence)

	e := s.Env()
	var late time.Duration
	right := e.Now
	e.Now = func() time.Time { return right().Add(late) }
	waits := 0
	e.Sleep = func(_ context.Context, d time.Duration) error {
		if waits++; waits == 1 {
			d = 2 * fresh
		}
		late += d
		return nil
	}
	transport := s.HTTPClient().Transport
	seen := &sequence{next: transport, now: e.Now}
	e.AWS.HTTPClient = &http.Client{Transport: seen}
	h := assemble(e, readerOf(e))
	h.notes = empty{h.notes, e.Now}
	if _, err := h.handle(t.Context(), s.Sweep()); err != nil {
		t.Fatal(err)
	}
	if waits == 0 || seen.deleted != 1 || s.there(id) || seen.age >= fresh {
		t.Errorf("%d waits, %d deletes, there: %v, %s after it was described; want one within %s", waits, seen.deleted, s.there(id), seen.age, fresh)
	}
}

// TestRoomBeforeTheDeadline: a run that has no more than its room left before
// its deadline deletes nothing, and leaves it to the next one.
func TestRoomBeforeTheDeadline(t *testing.T) {
	for _, test := range []struct {
		name    string
		left    time.Duration
		deletes bool
	}{
		{"the room alone is left", room, false},
		{"an hour is left", time.Hour, true},
	} {
		s := open(t, stagetest.Options{})
		id := s.make(s.left())
		s.sweep()
		s.Advance(cadence)
		ctx, cancel := context.WithTimeout(t.Context(), test.left)
		h := assemble(s.Env(), readerOf(s.Env()))
		left := 0
		h.Count = func(name string, n int) {
			if name == "LeftForNextRun" {
				left += n
			}
		}
		if _, err := h.handle(ctx, s.Sweep()); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		cancel()
		if s.there(id) == test.deletes || (left == 0) != test.deletes || len(s.audits()) > 0 != test.deletes {
			t.Errorf("%s: there: %v, %d left for the next run, %d audits", test.name, s.there(id), left, len(s.audits()))
		}
	}
}

// summing is a visit of a VPC with the clusters a and b, at noon.
func summing(mode leak.Mode, counts map[string]int) *visit {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var homes []*snapshot.Snapshot
	for _, name := range []string{"a", "b"} {
		homes = append(homes, &snapshot.Snapshot{Cluster: snapshot.Cluster{Name: name}})
	}
	h := handler{settings: settings{modes: func(string) leak.Mode { return mode }}}
	h.Detector = detect.Detector{Now: func() time.Time { return noon }, Count: func(name string, n int) { counts[name] += n }}
	return &visit{tour: &tour{handler: h}, place: place{vpc: "vpc-1", homes: homes}, undone: map[string]int{"a": 2, "b": 5}}
}

// Of a day a summary tells what came back then, by subnet; of today also what is
// left, what is kept and why, and whether it was stopped.
func TestWhatASummaryTells(t *testing.T) {
	today := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	audit := func(hour int, subnet, owner string, result leak.Result) leak.Audit {
		return leak.Audit{At: today.Add(time.Duration(hour) * time.Hour), Subnet: subnet, Owner: owner, Result: result, IPs: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")}}
	}
	audits := []leak.Audit{
		audit(-25, "s-1", "i-0", leak.Deleted), audit(-24, "s-1", "i-1", leak.Deleted), audit(-1, "s-1", "i-1", leak.WouldDelete),
		audit(0, "s-2", "i-2", leak.Deleted), audit(1, "s-1", "i-2", leak.Deleted), audit(2, "s-2", "i-3", leak.Deleted), audit(3, "s-3", "i-4", leak.WouldDelete), audit(24, "s-1", "i-5", leak.Deleted),
	}
	judged := func(cluster string, why ...leak.Reason) (list []leak.Verdict) {
		for _, w := range why {
			list = append(list, leak.Verdict{Cluster: cluster, Why: w})
		}
		return list
	}
	full := func(v *visit) {
		v.plan.Stopped = &leak.Stop{Candidates: 1, Interfaces: 2, Share: 3}
		v.plan.Judged = append(judged("a", leak.OverCap, leak.Claimed, leak.Untagged, leak.Strangers, leak.OtherCluster, leak.TagsDisagree, leak.NoDate, leak.PublicAddress, leak.PublicAddress, leak.Leaked, leak.NotSeenBefore),
			append(judged("b", leak.OverCap, leak.Untagged), append(judged("", leak.Untagged), judged("elsewhere", leak.OtherCluster)...)...)...)
	}
	kept := map[string]int{string(leak.Untagged): 2, string(leak.Strangers): 1, string(leak.OtherCluster): 2, string(leak.TagsDisagree): 1, string(leak.NoDate): 1, string(leak.PublicAddress): 2}
	for name, test := range map[string]struct {
		mode    leak.Mode
		cluster string
		from    time.Time
		change  func(*visit)
		want    report.Cleanup
	}{
		"today": {leak.Delete, "a", today, full, report.Cleanup{
			Mode: "delete", Day: today, VPC: "vpc-1", Nodes: 2, Left: 4, Kept: kept, Stopped: &report.CleanupStop{Candidates: 1, Interfaces: 2, Share: 3},
			Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1, Addresses: 2, Nodes: 1}, {Subnet: "s-2", Interfaces: 2, Addresses: 4, Nodes: 2}},
		}},
		"today, of the second cluster": {leak.Delete, "b", today, full, report.Cleanup{
			Mode: "delete", Day: today, VPC: "vpc-1", Nodes: 2, Left: 6, Kept: map[string]int{string(leak.Untagged): 1}, Stopped: &report.CleanupStop{Candidates: 1, Interfaces: 2, Share: 3},
			Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1, Addresses: 2, Nodes: 1}, {Subnet: "s-2", Interfaces: 2, Addresses: 4, Nodes: 2}},
		}},
		"today, nothing special": {leak.Delete, "a", today, func(*visit) {}, report.Cleanup{
			Mode: "delete", Day: today, VPC: "vpc-1", Nodes: 2, Left: 2,
			Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1, Addresses: 2, Nodes: 1}, {Subnet: "s-2", Interfaces: 2, Addresses: 4, Nodes: 2}},
		}},
		"what would be done": {leak.DryRun, "a", today, func(*visit) {}, report.Cleanup{
			Mode: "dry-run", Day: today, VPC: "vpc-1", Nodes: 1, Left: 2, Subnets: []report.CleanupSubnet{{Subnet: "s-3", Interfaces: 1, Addresses: 2, Nodes: 1}},
		}},
		"yesterday": {leak.Delete, "a", today.Add(-day), full, report.Cleanup{
			Mode: "delete", Day: today.Add(-day), VPC: "vpc-1", Nodes: 1, Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1, Addresses: 2, Nodes: 1}},
		}},
	} {
		v := summing(test.mode, map[string]int{})
		test.change(v)
		expect.Same(t, name, v.cleanup(test.cluster, test.from, audits), test.want)
	}
}

// A day is posted again when something came back since, the mode is another, or a
// stop began or ended; not for what changes with every run.
func TestWhatIsToldAgain(t *testing.T) {
	base := report.Cleanup{Mode: "delete", Subnets: []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 1}}}
	for name, test := range map[string]struct {
		change func(*report.Cleanup)
		again  bool
	}{
		"the same":              {func(*report.Cleanup) {}, false},
		"another mode":          {func(c *report.Cleanup) { c.Mode = "dry-run" }, true},
		"more came back":        {func(c *report.Cleanup) { c.Subnets = []report.CleanupSubnet{{Subnet: "s-1", Interfaces: 2}} }, true},
		"it was stopped":        {func(c *report.Cleanup) { c.Stopped = &report.CleanupStop{} }, true},
		"what waits, is kept":   {func(c *report.Cleanup) { c.Left, c.Kept = 3, map[string]int{"a": 1} }, false},
		"why, and by how many":  {func(c *report.Cleanup) { c.Nodes, c.VPC = 7, "vpc-2" }, false},
		"the day itself is key": {func(c *report.Cleanup) { c.Day = c.Day.Add(day) }, false},
	} {
		c := base
		test.change(&c)
		if got := digestOf(c) != digestOf(base); got != test.again || len(digestOf(c)) != 16 {
			t.Errorf("%s: told again %t, by %q", name, got, digestOf(c))
		}
	}
}

// What is counted of a visit: what dead nodes left, and what waits for the next run.
func TestWhatAVisitCounts(t *testing.T) {
	counts := map[string]int{}
	v := summing(leak.Delete, counts)
	for _, why := range []leak.Reason{
		leak.OverCap, leak.Claimed, leak.Leaked, leak.Untagged, leak.Strangers, leak.OtherCluster, leak.NotOptedIn, leak.NotSeenBefore, leak.OverShare, leak.AskedToday, leak.PublicAddress, leak.NoDate, leak.TagsDisagree,
	} {
		v.plan.Judged = append(v.plan.Judged, leak.Verdict{Why: why})
	}
	v.measure()
	expect.Same(t, "got", counts, map[string]int{"Leaked": 10, "LeftForNextRun": 9})
}

// What names no cluster is of the first of the VPC, and of the most careful mode,
// those that could not be read among them.
func TestWhoseAnInterfaceIs(t *testing.T) {
	v := summing(leak.Delete, nil)
	for cluster, want := range map[string]string{"a": "a", "b": "b", "c": "a", "": "a"} {
		expect.Equal(t, fmt.Sprintf("%q is at home in", cluster), v.home(cluster).Cluster.Name, want)
	}
	if got := []string{v.clusterOf(leak.Verdict{Cluster: "c"}), v.clusterOf(leak.Verdict{})}; got[0] != "c" || got[1] != "a" {
		t.Errorf("recorded in the name of %q", got)
	}
	v.blind = []string{"blind"}
	v.tour.modes = func(name string) leak.Mode {
		return map[string]leak.Mode{"a": leak.Delete, "b": leak.Delete, "blind": leak.DryRun}[name]
	}
	expect.Equal(t, "with a blind cluster that asks only", v.untaggedMode(), leak.DryRun)
	v.blind = nil
	expect.Equal(t, "with clusters that delete", v.untaggedMode(), leak.Delete)
	if got := interfaces(&snapshot.Snapshot{Uses: []snapshot.Use{{Interfaces: 3}, {Interfaces: 4}}}); got != 7 {
		t.Errorf("%d interfaces in use", got)
	}
}
