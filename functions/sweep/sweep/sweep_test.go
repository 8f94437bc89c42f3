package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/functions/join-check/joincheck"
	joincheckspec "rollcall/functions/join-check/spec"
	"rollcall/functions/nodegroup-watch/nodegroupwatch"
	nodegroupwatchspec "rollcall/functions/nodegroup-watch/spec"
	subnetwatchspec "rollcall/functions/subnet-watch/spec"
	"rollcall/functions/subnet-watch/subnetwatch"
	"rollcall/functions/sweep/spec"
	zonewatchspec "rollcall/functions/zone-watch/spec"
	"rollcall/functions/zone-watch/zonewatch"
	"rollcall/shared/backoff"
	"rollcall/shared/checks/finding"
	"rollcall/shared/detect"
	"rollcall/shared/diagnosis"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/incident/reconcile"
	"rollcall/shared/lambda"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	sharedspec "rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/stage/simaws"
	"rollcall/stage/stagetest"
)

// said is an account that tells its alias, and remembers what was written of it.
type said struct {
	alias  string
	denied bool
	failed *snapshot.Failure
	asked  int
	saved  []string
	known  store.Alias
	err    error
}

func (s *said) ask(context.Context) (string, bool, *snapshot.Failure) {
	s.asked++
	return s.alias, s.denied, s.failed
}

func (s *said) Alias(context.Context) (store.Alias, bool, error) {
	return s.known, !s.known.At.IsZero(), nil
}

func (s *said) SaveAlias(_ context.Context, a store.Alias) error {
	if s.err == nil {
		s.saved, s.known = append(s.saved, a.Alias), a
	}
	return s.err
}

// The alias is asked for once a day, whichever process has the tick; where there is none, what
// did not answer or could not be written is tried again in an hour. What did not answer
// writes nothing over what was known; that it is denied is written: people then see the
// account's number.
func TestAliasIsAskedOnceADay(t *testing.T) {
	for name, x := range map[string]struct {
		said
		again  time.Duration
		writes string
	}{
		"told":              {said{alias: "shop"}, 24 * time.Hour, "shop"},
		"none":              {said{}, time.Hour, ""},
		"denied":            {said{denied: true}, time.Hour, ""},
		"no answer":         {said{failed: &snapshot.Failure{Call: "iam:ListAccountAliases", Reason: snapshot.TimedOut}}, time.Hour, "-"},
		"could not be kept": {said{alias: "shop", err: errors.New("throttled")}, time.Hour, "-"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUnit(fine)
			u.naming = &naming{ask: x.ask, names: &x.said}
			u.alias(t.Context())
			u.alias(t.Context())
			if x.known.At == u.now { // what another process of the function does
				u.naming = &naming{ask: x.ask, names: &x.said}
				u.alias(t.Context())
			}
			u.now = u.now.Add(x.again - time.Second)
			u.alias(t.Context())
			if x.asked != 1 {
				t.Errorf("asked %d times within %s", x.asked, x.again)
			}
			u.now = u.now.Add(time.Second)
			u.alias(t.Context())
			if x.asked != 2 {
				t.Errorf("asked %d times, want again after %s", x.asked, x.again)
			}
			want := []string{x.writes, x.writes}
			if x.writes == "-" {
				want = nil
			}
			if strings.Join(x.said.saved, ",") != strings.Join(want, ",") || len(x.said.saved) != len(want) {
				t.Errorf("written %q, want %q", x.said.saved, want)
			}
		})
	}
}

const listAliases = "iam:ListAccountAliases"

// A hub alone asks for no alias, nor one whose account the settings name; where other
// accounts are watched it is asked for with a tick, by the function's own permission, and
// never again with the next; that it is refused fails no tick.
func TestAliasOfTheHubsOwn(t *testing.T) {
	const over = "IAM: {AccountAliases: [acme-shop]}"
	for name, x := range map[string]struct {
		spokes string
		deny   bool
		asked  int
		known  bool
		alias  string
	}{
		"alone":             {spokes: "none"},
		"alone, named":      {spokes: "111122223333/us-west-2=platform"},
		"named":             {spokes: "111122223333/us-west-2=platform,222233334444/us-west-2=payments"},
		"one beside others": {spokes: "222233334444/us-west-2=payments", asked: 1, known: true, alias: "acme-shop"},
		"denied":            {spokes: "222233334444/us-west-2=payments", deny: true, asked: 1, known: true},
	} {
		t.Run(name, func(t *testing.T) {
			o := stagetest.Options{Over: over, Settings: map[string]string{"ROLLCALL_SPOKES": x.spokes, "ROLLCALL_EXTERNAL_ID": "rollcall-stage-1"}}
			if x.deny {
				o.Faults = []simaws.FaultRule{{Call: listAliases, Deny: true}}
			}
			b := bench(t, o)
			for range 2 {
				if _, err := b.Handle(b.Schedule()); err != nil {
					t.Fatal(err)
				}
			}
			if n := b.Calls()[listAliases]; n != x.asked {
				t.Errorf("asked %d times, want %d", n, x.asked)
			}
			a, known, err := b.Store.Alias(t.Context())
			if err != nil || known != x.known || a.Alias != x.alias {
				t.Errorf("written: %t, %q, %v; want %t, %q", known, a.Alias, err, x.known, x.alias)
			}
		})
	}
}

// unit is a handler whose detectors do what a test says.
type unit struct {
	handler
	now     time.Time
	record  backoff.Record
	saved   []backoff.Record
	saveErr error
	counts  map[string]int
	looked  []string
	swept   []overview.Sweep
	// sweptErr is why the looks of before cannot be read.
	sweptErr error
}

func (u *unit) Backoff(_ context.Context, cluster string) (backoff.Record, error) {
	u.record.Cluster = cluster
	return u.record, nil
}

func (u *unit) SaveBackoff(_ context.Context, r backoff.Record) error {
	u.saved = append(u.saved, r)
	return u.saveErr
}

func (u *unit) Sweep(_ context.Context, cluster string) (overview.Sweep, error) {
	if n := len(u.swept); n > 0 {
		return u.swept[n-1], u.sweptErr
	}
	return overview.Sweep{Cluster: cluster}, u.sweptErr
}

func (u *unit) SaveSweep(_ context.Context, s overview.Sweep) error {
	u.swept = append(u.swept, s)
	return nil
}

func newUnit(looks ...func(ctx context.Context) error) *unit {
	u := &unit{now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), counts: map[string]int{}}
	u.handler = handler{
		Detector: detect.Detector{
			By: "sweep", Now: func() time.Time { return u.now }, Log: slog.New(slog.DiscardHandler),
			Count: func(name string, n int) { u.counts[name] += n }, Watches: func(c string) bool { return c != "other" },
		},
		memory: u,
		watches: func(string, *gather.Contact, func(overview.Subnet)) (list []watch) {
			for i, look := range looks {
				name := string(rune('a' + i))
				list = append(list, watch{name, func(ctx context.Context, raw json.RawMessage) (any, error) {
					t, err := event.Parse(raw)
					u.looked = append(u.looked, name+" "+t.Cluster)
					if err == nil {
						err = look(ctx)
					}
					return nil, err
				}})
			}
			return list
		},
	}
	return u
}

// give gives the handler the turn of a cluster that was due so long ago.
func (u *unit) give(t *testing.T, cluster string, ago time.Duration) error {
	t.Helper()
	raw, err := inbox.SweepCluster(spoke.ID{}, cluster, "111122223333", "eu-west-1", u.now.Add(-ago))
	if err != nil {
		t.Fatal(err)
	}
	_, err = u.handle(t.Context(), stagetest.Batch(string(raw)))
	return err
}

func fine(context.Context) error { return nil }

// A turn that was not received until the cluster's next is due is dropped, and counted; what
// is in time is not, nor what comes a little early.
func TestLateTurnsAreDropped(t *testing.T) {
	for ago, dropped := range map[time.Duration]bool{-time.Second: false, 0: false, every - time.Second: false, every: true, time.Hour: true} {
		u := newUnit(fine)
		if err := u.give(t, "prod", ago); err != nil {
			t.Error(err)
		}
		if got := u.counts["LateSweeps"] == 1; got != dropped || (len(u.looked) == 0) != dropped {
			t.Errorf("%s after it was due: counts %v, looked %q; want dropped %t", ago, u.counts, u.looked, dropped)
		}
	}
}

// What one detector meets does not keep the others from looking, and is said of each.
func TestOneDoesNotHoldBackAnother(t *testing.T) {
	down := errors.New("down")
	u := newUnit(func(context.Context) error { return down }, fine, func(context.Context) error { return errors.New("full") })
	err := u.give(t, "prod", 0)
	if !errors.Is(err, down) || !strings.Contains(err.Error(), "a: down") || !strings.Contains(err.Error(), "c: full") || u.counts["SweptClusters"] != 0 {
		t.Errorf("error %v, counts %v", err, u.counts)
	}
	if diff := cmp.Diff([]overview.Sweep{overview.Sweep{Cluster: "prod"}.After(overview.ClusterSweep{At: u.now, Failed: []string{"a", "c"}})}, u.swept); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a prod", "b prod", "c prod"}, u.looked); diff != "" {
		t.Errorf("looked (-want +got):\n%s", diff)
	}
	u = newUnit(fine, fine)
	if err := u.give(t, "prod", 0); err != nil || u.counts["SweptClusters"] != 1 {
		t.Errorf("%v, counts %v; want that it was swept", err, u.counts)
	}
}

// A panic is passed on when all have looked: Lambda then starts another process.
func TestPanicsArePassedOn(t *testing.T) {
	u := newUnit(func(context.Context) error { panic("no way") }, fine)
	defer func() {
		if p := recover(); p != "a: no way" || len(u.looked) != 2 {
			t.Errorf("panic %v after %q, want that of the first when both have looked", p, u.looked)
		}
	}()
	_ = u.give(t, "prod", 0)
	t.Error("it did not panic")
}

// Who hangs takes its own part of the time and nothing of the others'.
func TestEachHasItsShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		u := newUnit(hang, hang, func(ctx context.Context) error { time.Sleep(59 * time.Second); return ctx.Err() }, fine)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
		defer cancel()
		began := time.Now()
		raw, err := inbox.SweepCluster(spoke.ID{}, "prod", "1", "r", u.now)
		if err != nil {
			t.Fatal(err)
		}
		_, err = u.handle(ctx, stagetest.Batch(string(raw)))
		if took := time.Since(began); took != 2*time.Minute+59*time.Second || len(u.looked) != 4 || strings.Contains(err.Error(), "c: ") {
			t.Errorf("%v after %s, looked %q", err, took, u.looked)
		}
	})
}

// Whether the API answered is kept once; another turn at the same time may have kept it.
func TestSilenceIsRemembered(t *testing.T) {
	var contact *gather.Contact
	u := newUnit(fine)
	inner := u.watches
	u.watches = func(account string, c *gather.Contact, s func(overview.Subnet)) []watch {
		contact = c
		return inner(account, c, s)
	}
	u.record = backoff.Record{Version: 2, Attempts: 1, Next: u.now.Add(time.Hour), Silence: backoff.Silence{Endpoint: "https://a"}}
	if err := u.give(t, "prod", 0); err != nil || len(u.saved) > 0 {
		t.Errorf("%v; nobody was asked, and %+v is kept", err, u.saved)
	}
	if outcome, _ := contact.Outcome(); outcome != backoff.NotAsked {
		t.Errorf("outcome %s", outcome)
	}
	u.saveErr = &store.Conflict{}
	if err := u.remember(t.Context(), u.record, contact, u.now); err != nil {
		t.Error(err)
	}
}

// What is none of its messages is said, so that it is put aside; an unowned cluster is
// left alone.
func TestWhatIsNotATurn(t *testing.T) {
	u := newUnit(fine)
	for raw, want := range map[string]string{
		"{": "the envelope",
		`{"source":"rollcall","detail-type":"Rollcall Cluster Sweep","time":"2026-11-23T12:00:00Z","detail":{}}`:                                        "the cluster is missing",
		`{"source":"rollcall","detail-type":"Rollcall Check Wanted","time":"2026-11-23T12:00:00Z","detail":{"cluster":"p","check":"c","resource":"r"}}`: "holds clusters' turns, not Rollcall Check Wanted",
	} {
		if _, err := u.handle(t.Context(), stagetest.Batch(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", raw, err, want)
		}
	}
	if _, err := u.handle(t.Context(), json.RawMessage(`{"source":"rollcall","detail-type":"Rollcall Cluster Sweep","time":"2026-11-23T12:00:00Z","detail":{"cluster":"p"}}`)); err == nil || !strings.Contains(err.Error(), "woken by its schedule and its queue") {
		t.Errorf("error %v, want what wakes it", err)
	}
	if err := u.give(t, "other", 0); err != nil || len(u.looked) > 0 || u.counts["ForeignClusters"] != 1 {
		t.Errorf("%v, looked %q, counts %v", err, u.looked, u.counts)
	}
}

// The looks of a week are not lost for one that cannot be read: then nothing is written.
func TestLooksAreNotWrittenOver(t *testing.T) {
	u := newUnit(fine)
	for range 3 {
		if err := u.give(t, "prod", 0); err != nil {
			t.Fatal(err)
		}
		u.now = u.now.Add(every)
	}
	if last := u.swept[2]; last.Turns.Made[0] != 3 || !last.Turns.Since.Equal(u.now.Add(-3*every)) {
		t.Errorf("after three turns %+v", last)
	}
	u.sweptErr = errors.New("throttled")
	if err := u.give(t, "prod", 0); err != nil || len(u.swept) != 3 {
		t.Errorf("%v, written %d times; want the turn done and nothing written", err, len(u.swept))
	}
}

const every = 5 * time.Minute

func TestSpread(t *testing.T) {
	tick := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	due := func(name string, after time.Duration) queue.Sweep {
		return queue.Sweep{Cluster: name, Account: "111122223333", Region: "eu-west-1", Due: tick.Add(after)}
	}
	for name, test := range map[string]struct {
		clusters []string
		want     []queue.Sweep
	}{
		"none":                           {nil, []queue.Sweep{}},
		"one, at once":                   {[]string{"prod"}, []queue.Sweep{due("prod", 0)}},
		"by name, whatever the order":    {[]string{"c", "a", "d", "b"}, []queue.Sweep{due("a", 0), due("b", time.Minute), due("c", 2*time.Minute), due("d", 3*time.Minute)}},
		"one that is named twice is one": {[]string{"b", "a", "b"}, []queue.Sweep{due("a", 0), due("b", 2*time.Minute)}},
	} {
		if diff := cmp.Diff(test.want, spread(test.clusters, 0, "111122223333", "eu-west-1", tick, every)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// However many, they end before the tick does, and no second has more than its share.
func TestSpreadIsEven(t *testing.T) {
	for _, n := range []int{7, 100, 1000} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf("c%04d", i))
		}
		tick := time.Unix(0, 0)
		list := spread(names, 0, "1", "r", tick, every)
		bySecond := map[time.Time]int{}
		for _, s := range list {
			bySecond[s.Due]++
		}
		if last := list[n-1].Due.Sub(tick); last >= 4*time.Minute || last < 3*time.Minute {
			t.Errorf("%d clusters: the last is due after %s, want within 80 of 100", n, last)
		}
		for at, k := range bySecond {
			if most := n/240 + 1; k > most {
				t.Errorf("%d clusters: %d are due %s after the tick, want %d at most", n, k, at.Sub(tick), most)
			}
		}
	}
}

// Spokes of one cluster each do not all begin at once, and none ends late.
func TestSpokesHavePhases(t *testing.T) {
	tick := time.Unix(0, 0)
	byMinute := [4]int{}
	for i := range 100 {
		of := spoke.ID{Account: fmt.Sprintf("%012d", i), Region: "eu-west-1"}
		due := spread([]string{"prod"}, phase(of), "1", "r", tick, every)[0].Due.Sub(tick)
		if due < 0 || due >= 4*time.Minute {
			t.Fatalf("%s is due after %s", of, due)
		}
		byMinute[due/time.Minute]++
	}
	for minute, n := range byMinute {
		if n < 10 || n > 45 {
			t.Errorf("minute %d: %d of 100", minute, n)
		}
	}
	if phase(spoke.ID{}) != 0 {
		t.Error("the hub's own do not begin at once")
	}
}

func TestLate(t *testing.T) {
	due := time.Unix(0, 0)
	for after, want := range map[time.Duration]bool{-time.Second: false, 0: false, every - time.Second: false, every: true, time.Hour: true} {
		if got := late(due, due.Add(after), every); got != want {
			t.Errorf("%s after it was due: late %t, want %t", after, got, want)
		}
	}
}

func bench(t *testing.T, o stagetest.Options) *stagetest.Bench {
	t.Helper()
	return stagetest.Start(t, spec.Spec(), Build, o)
}

// opened has an incident of a cluster in the table, as report leaves it.
func opened(t *testing.T, b *stagetest.Bench, cluster string) {
	t.Helper()
	obs := report.Observation{Format: report.Format, ID: "x", By: "join-check", At: b.Now(), Cluster: cluster}
	obs.Diagnosis.Causes = []diagnosis.Cause{{Check: "addon/degraded", Resource: "vpc-cni", Covers: []string{"vpc-cni"}, Confidence: finding.Certain, Title: "x"}}
	if cluster == report.AllClusters {
		obs.Diagnosis.Causes, obs.Blind = nil, []snapshot.Failure{{Source: snapshot.Clusters, Reason: snapshot.Denied, Call: "eks:ListClusters"}}
	}
	for _, d := range reconcile.Decide(nil, obs, b.Now(), incident.Policy{}) {
		if _, err := b.Store.SaveIncident(t.Context(), d.Incident); err != nil {
			t.Fatal(err)
		}
	}
	r := outbox.ClusterRecord{Cluster: cluster}
	r.Follow(true, false, b.Now())
	if err := b.Store.SaveClusterRecord(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// tick lets the schedule fire, and gives the clusters whose turns it sent, with how long
// after it they are due.
func tick(t *testing.T, b *stagetest.Bench) map[string]time.Duration {
	t.Helper()
	now := b.Now().Truncate(time.Second) // as the schedule's event tells it
	if _, err := b.Handle(b.Schedule()); err != nil {
		t.Fatal(err)
	}
	due := map[string]time.Duration{}
	for _, body := range b.Turns() {
		turn, err := event.Parse([]byte(body))
		if err != nil || turn.Account != "111122223333" || turn.Region != "us-west-2" {
			t.Errorf("%v, turn %+v", err, turn)
		}
		due[turn.Cluster] = turn.Time.Sub(now)
	}
	return due
}

// A tick sends a turn for each cluster that is watched, or that something is open of; that
// the list is refused keeps no cluster with open incidents from being looked at.
func TestTick(t *testing.T) {
	refused := []simaws.FaultRule{{Call: "eks:ListClusters", Deny: true}}
	for name, test := range map[string]struct {
		named  string
		faults []simaws.FaultRule
		open   string
		want   map[string]time.Duration
	}{
		"listed":                           {want: map[string]time.Duration{stagetest.Cluster: 0}},
		"named":                            {named: "dev,prod", want: map[string]time.Duration{"dev": 0, "prod": 2 * time.Minute}},
		"open, and not listed":             {open: "deleted", want: map[string]time.Duration{"deleted": 0, stagetest.Cluster: 2 * time.Minute}},
		"open, and the list is refused":    {open: "deleted", faults: refused, want: map[string]time.Duration{"deleted": 0}},
		"the list is refused":              {faults: refused, want: map[string]time.Duration{}},
		"open, and others are named alone": {named: "prod", open: "deleted", want: map[string]time.Duration{"prod": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			o := stagetest.Options{Faults: test.faults}
			if test.named != "" {
				o.Settings = map[string]string{"ROLLCALL_CLUSTERS": test.named}
			}
			b := bench(t, o)
			if test.open != "" {
				opened(t, b, test.open)
			}
			if diff := cmp.Diff(test.want, tick(t, b)); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
			if blind := b.Counts()["BlindSweeps"] == 1; blind != (test.faults != nil) {
				t.Errorf("counts %v, log %s", b.Counts(), b.Logs())
			}
		})
	}
}

// observationsOf are the observations of a cluster.
func observationsOf(b *stagetest.Bench, cluster string) []report.Observation {
	return slices.DeleteFunc(b.Observations(), func(o report.Observation) bool { return o.Cluster != cluster })
}

// That the clusters cannot be listed is reported as what it is, and taken back once.
func TestListOfClustersRefused(t *testing.T) {
	b := bench(t, stagetest.Options{Faults: []simaws.FaultRule{{Call: "eks:ListClusters", Deny: true}}})
	tick(t, b)
	told := observationsOf(b, report.AllClusters)
	if len(told) != 1 || len(told[0].Blind) != 1 {
		t.Fatalf("told %+v, want what is refused", told)
	}
	if f := told[0].Blind[0]; f.Call != "eks:ListClusters" || f.Reason != snapshot.Denied || f.Source != snapshot.Clusters {
		t.Errorf("refused is %+v", f)
	}
	list := reconcile.Decide(nil, told[0], b.Now(), incident.Policy{})
	if len(list) != 1 || list[0].Incident.Key != (report.Key{Cluster: report.AllClusters, Check: incident.CannotLook, Resource: "eks:ListClusters"}) || list[0].Reason != incident.Opened {
		t.Fatalf("report makes of it %+v", list)
	}

	b = bench(t, stagetest.Options{})
	tick(t, b)
	if told := observationsOf(b, report.AllClusters); len(told) > 0 {
		t.Errorf("nothing was refused, and %+v is told", told)
	}
	opened(t, b, report.AllClusters) // as an earlier release's join-check had it told
	b.Advance(5 * time.Minute)
	tick(t, b)
	if told = observationsOf(b, report.AllClusters); len(told) != 1 {
		t.Fatalf("told %+v, want that the list works again", told)
	}
	open, err := b.Store.Incidents(t.Context(), report.AllClusters)
	if err != nil {
		t.Fatal(err)
	}
	list = reconcile.Decide(open, told[0], b.Now(), incident.Policy{})
	if len(list) != 1 || list[0].Reason != incident.IsProved {
		t.Errorf("report makes of it %+v, want it over", list)
	}
}

// watchers are the functions whose looks are in a turn.
func watchers() map[string]struct {
	spec  sharedspec.Spec
	build lambda.Build
} {
	type function = struct {
		spec  sharedspec.Spec
		build lambda.Build
	}
	return map[string]function{
		joincheckspec.Name:      {joincheckspec.Spec(), joincheck.Build},
		nodegroupwatchspec.Name: {nodegroupwatchspec.Spec(), nodegroupwatch.Build},
		subnetwatchspec.Name:    {subnetwatchspec.Spec(), subnetwatch.Build},
		zonewatchspec.Name:      {zonewatchspec.Spec(), zonewatch.Build},
	}
}

// calls are those that AWS and Kubernetes got since the last time.
func calls(b *stagetest.Bench) (n int) {
	for name, k := range b.Calls() {
		if service, _, _ := strings.Cut(name, ":"); slices.Contains([]string{"ec2", "eks", "autoscaling", "iam", "kubernetes"}, service) {
			n += k
		}
	}
	return n
}

// TestTurnIsAllFourLooks: a turn tells report what the four functions tell it by
// themselves, with half of their calls.
func TestTurnIsAllFourLooks(t *testing.T) {
	o := stagetest.Options{ClusterRole: true}
	launch := func(b *stagetest.Bench) {
		b.Scale(2)
		b.Advance(8 * time.Minute)
		b.Calls()
	}
	alone, asked := map[string]report.Observation{}, 0
	for name, f := range watchers() {
		b := stagetest.Start(t, f.spec, f.build, o)
		launch(b)
		if _, err := b.Handle(b.Sweep()); err != nil {
			t.Fatal(err)
		}
		for _, told := range b.Observations() {
			alone[name] = told
		}
		asked += calls(b)
	}
	b := bench(t, o)
	launch(b)
	if _, err := b.Handle(stagetest.Batch(string(b.SweepOf(stagetest.Cluster)))); err != nil {
		t.Fatal(err)
	}
	together := map[string]report.Observation{}
	for _, told := range b.Observations() {
		together[told.By] = told
	}
	for name, want := range alone {
		got, told := together[name]
		if !told {
			t.Errorf("%s tells nothing in its turn", name)
			continue
		}
		// The nodes' subnets are noted by join-check, too, seconds before.
		if name == subnetwatchspec.Name {
			got.Diagnosis.Unknown, want.Diagnosis.Unknown = nil, nil
		}
		got.ID, got.At, got.Evidence, want.ID, want.At, want.Evidence = "", time.Time{}, "", "", time.Time{}, ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-alone +together):\n%s", name, diff)
		}
	}
	if n := calls(b); len(together) != len(alone) || n*100 > asked*75 {
		t.Errorf("%d functions told, with %d calls beside %d", len(together), n, asked)
	}
}

// TestSilentAPI: a cluster whose API cuts each connection is asked once in a turn, and
// then less often; what AWS returns is reported each time. Its return is found.
func TestSilentAPI(t *testing.T) {
	faults := []simaws.FaultRule{{Call: "kubernetes:*", Reset: true}}
	b := bench(t, stagetest.Options{ClusterRole: true, Faults: faults})
	began := b.Now()
	var asked []int
	for n := range 8 {
		if _, err := b.Handle(stagetest.Batch(string(b.SweepOf(stagetest.Cluster)))); err != nil {
			t.Fatal(err)
		}
		tried := 0
		for name, k := range b.Calls() {
			if strings.HasPrefix(name, "kubernetes:") {
				tried += k
			}
		}
		if tried > 0 {
			asked = append(asked, n)
		}
		told := b.Observations()
		for _, o := range told {
			blind := slices.ContainsFunc(o.Blind, func(f snapshot.Failure) bool { return f.Source == snapshot.Nodes && f.Reason == snapshot.Unreachable })
			if o.By == joincheckspec.Name && !blind {
				t.Errorf("turn %d: join-check is blind of %+v, want the nodes", n, o.Blind)
			}
		}
		if len(told) != 4 {
			t.Errorf("turn %d: %d functions told", n, len(told))
		}
		b.Advance(every)
	}
	if diff := cmp.Diff([]int{0, 1, 3, 7}, asked); diff != "" {
		t.Errorf("turns in which the API was asked, from %s (-want +got):\n%s", began, diff)
	}
}
