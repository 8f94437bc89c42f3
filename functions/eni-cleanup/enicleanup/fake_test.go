package enicleanup

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"rollcall/shared/detect"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// fake is all that the handler talks to, in memory. It writes down each call in
// a line; the lines of one interface, sent beside those of others, harness together.
type fake struct {
	mu    sync.Mutex
	clock time.Time
	// names are the region's clusters, homes where each is: "" is a VPC that could
	// not be read; a cluster that is not in it EKS does not have.
	names    []string
	homes    map[string]string
	unlisted *snapshot.Failure
	// blind are sources that cannot be read.
	blind map[snapshot.Source]bool
	idle  []snapshot.Interface
	uses  int
	// again changes an interface before it is described again; false: it is gone.
	again func(*snapshot.Interface) bool

	sightings map[string]leak.Sighting
	audits    []leak.Audit
	told      map[string]string
	pace      leak.Pace
	incidents []incident.Incident
	// answers of EC2 to deletes, by interface, in turn; then all are done.
	answers map[string][]action.Answer
	// errs are those of calls, on what happens at them: by the beginning of the
	// line, or that and " #2" for the second time.
	errs map[string]error
	on   map[string]func()

	// deadline is how long the run has; 0: it has none. cancel ends it.
	deadline time.Duration
	cancel   context.CancelFunc

	// lasts is how long a request about an interface is on its way; busy are those
	// that are, most those that ever were, by kind. They are counted if it lasts.
	lasts      time.Duration
	busy, most map[string]int

	lines  []string
	counts map[string]int
	times  map[string]int
}

const (
	node  = "i-0dead000000000001"
	noon  = 12 * time.Hour
	inVPC = "vpc-1"
)

func theDay() time.Time { return time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) }

// leftBehind is an interface of which every rule holds.
func leftBehind(id string, at time.Time, change ...func(*snapshot.Interface)) snapshot.Interface {
	i := snapshot.Interface{
		ID: id, Account: "1", VPC: inVPC, Subnet: "s-1", Zone: "z", Description: "aws-K8S-" + node, Status: "available", Kind: "interface",
		PrivateIPs: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")},
		Tags:       map[string]string{leak.TagInstance: node, leak.TagCreated: at.Add(-3 * time.Hour).Format(time.RFC3339), leak.TagCluster: "a"},
	}
	for _, f := range change {
		f(&i)
	}
	return i
}

// seenBefore remembers interfaces as an earlier run saw them.
func (f *fake) seenBefore(list ...snapshot.Interface) {
	for _, i := range list {
		f.idle = append(f.idle, i)
		f.sightings[i.ID] = leak.Sighting{Interface: i.ID, First: f.clock.Add(-15 * time.Minute), Print: leak.Print(i), Version: 1}
	}
}

// slow has a third interface, and a bucket for one request: each next one waits,
// until what is on its way has come as far as it can. Of what is held the first is
// answered in the first wait, and so on, so that it is known what the run has seen
// of it.
func (f *fake) slow(held ...string) {
	f.seenBefore(leftBehind("eni-3", f.clock))
	f.pace = leak.Pace{Level: 1, At: f.clock, Rate: leak.Refill}
	var waits []chan struct{}
	for _, what := range held {
		wait := make(chan struct{})
		waits = append(waits, wait)
		f.on[what] = func() { <-wait }
	}
	f.on["sleep"] = func() {
		if len(waits) > 0 {
			close(waits[0])
			waits = waits[1:]
		}
		synctest.Wait()
	}
}

// newFake has cluster a in a VPC of 10 interfaces, of which eni-1 and eni-2 were
// left behind and seen before, at noon.
func newFake() *fake {
	f := &fake{
		clock: theDay().Add(noon), names: []string{"a"}, homes: map[string]string{"a": inVPC}, uses: 10, blind: map[snapshot.Source]bool{},
		sightings: map[string]leak.Sighting{}, told: map[string]string{}, answers: map[string][]action.Answer{},
		errs: map[string]error{}, on: map[string]func(){}, counts: map[string]int{}, times: map[string]int{}, busy: map[string]int{}, most: map[string]int{},
	}
	f.seenBefore(leftBehind("eni-1", f.clock), leftBehind("eni-2", f.clock))
	return f
}

func (f *fake) handler() handler {
	return handler{
		Detector: detect.Detector{
			By: "eni-cleanup", Region: "r", Reader: f, Results: f, Now: f.now, Log: slog.New(slog.DiscardHandler), Count: f.count,
		},
		settings: settings{
			modes: func(string) leak.Mode { return leak.Delete }, grace: time.Hour, limit: 10, share: 100,
			remedied: func(string) optin.Policy { return optin.Approve },
		},
		reader: f, memory: f, notes: f, desk: f, delete: f, bus: f, send: f, sleep: f.sleep,
	}
}

func (f *fake) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

func (f *fake) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock = f.clock.Add(d)
}

func (f *fake) sleep(_ context.Context, d time.Duration) error {
	f.pass(d)
	return f.call("sleep", "%s", d.Round(time.Millisecond))
}

func (f *fake) count(name string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[name] += n
}

// call writes a call down, and tells the error that it is to have.
func (f *fake) call(what, details string, args ...any) error {
	f.mu.Lock()
	f.times[what]++
	nth := fmt.Sprintf("%s #%d", what, f.times[what])
	err := cmp.Or(f.errs[what], f.errs[nth])
	line := what
	if details != "" {
		line += ": " + fmt.Sprintf(details, args...)
	}
	if err != nil {
		line += " !"
	}
	if f.lines = append(f.lines, line); len(f.lines) > 1000 {
		panic("it goes on for ever")
	}
	_, kind, isOf := strings.Cut(what, " ")
	if isOf = isOf && strings.HasPrefix(what, "eni-") && f.lasts > 0; isOf {
		f.busy[kind]++
		f.most[kind] = max(f.most[kind], f.busy[kind])
	}
	hooks := []func(){f.on[what], f.on[nth]}
	f.mu.Unlock()
	for _, hook := range hooks {
		if hook != nil {
			hook()
		}
	}
	if isOf {
		time.Sleep(f.lasts) // in a bubble
		f.mu.Lock()
		f.busy[kind]--
		f.mu.Unlock()
	}
	return err
}

// said is what was called, and counted.
func (f *fake) said(err error) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := slices.Clone(f.lines)
	for from := 0; from < len(lines); {
		to := from
		for to < len(lines) && (strings.HasPrefix(lines[to], "eni-") || strings.HasPrefix(lines[to], "sleep")) {
			to++
		}
		slices.SortStableFunc(lines[from:to], func(a, b string) int { return cmp.Compare(firstWord(a), firstWord(b)) })
		from = max(to, from+1)
	}
	for _, name := range slices.Sorted(maps.Keys(f.counts)) {
		if n := f.counts[name]; n != 0 {
			lines = append(lines, fmt.Sprintf("count %s %d", name, n))
		}
	}
	if err != nil {
		lines = append(lines, "error "+strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return regexp.MustCompile(`[0-9a-f]{32}`).ReplaceAllString(strings.Join(lines, "\n"), "HASH") + "\n"
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}

// clockOf writes a time of the day, or the days from it.
func clockOf(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("02T15:04:05")
}

func (f *fake) Clusters(context.Context) ([]string, *snapshot.Failure) {
	_ = f.call("list clusters", "")
	return f.names, f.unlisted
}

func (f *fake) Read(_ context.Context, q gather.Query) (*snapshot.Snapshot, error) {
	if err := f.call("read "+q.Cluster, "account %s", q.Account); err != nil {
		return nil, err
	}
	vpc, there := f.homes[q.Cluster]
	if !there {
		return nil, gather.ErrNoCluster
	}
	s := &snapshot.Snapshot{
		Time: q.Time, Account: q.Account, Region: q.Region, Partition: "p", Failures: map[snapshot.Source]snapshot.Failure{},
		Cluster: snapshot.Cluster{Name: q.Cluster, VPC: vpc}, Subnets: []snapshot.Subnet{{ID: "s-1", Zone: "z-1", Free: 1}},
		Read: map[snapshot.Source]bool{snapshot.Clusters: true, snapshot.Instances: true, snapshot.Groups: true},
	}
	if f.blind[snapshot.Clusters] {
		delete(s.Read, snapshot.Clusters)
	}
	return s, nil
}

func (f *fake) More(_ context.Context, s *snapshot.Snapshot, q gather.Query, sources ...snapshot.Source) {
	_ = f.call("look", "%q %s %s %s %s at %s", sources, q.Account, q.Region, q.Cluster, q.VPC, clockOf(q.Time))
	for _, source := range sources {
		if s.Read[source] {
			continue
		}
		if f.blind[source] {
			s.Failures[source] = snapshot.Failure{Source: source, Reason: snapshot.Denied, Call: "ec2:Describe"}
			continue
		}
		s.Read[source] = true
		switch source {
		case snapshot.Usage:
			s.Uses = []snapshot.Use{{Subnet: "s-1", Interfaces: f.uses}}
			s.Read[snapshot.Subnets] = true // they tell what is in use
		case snapshot.Unattached:
			s.Idle = f.idle
		case snapshot.CreatorsOf:
			s.Creators = []snapshot.Creator{{Instance: node}}
		case snapshot.Subnets:
			s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "s-0", Zone: "z-0", Free: 4},
				snapshot.Subnet{ID: "s-1", Zone: "z-1", Free: 7}, snapshot.Subnet{ID: "s-2", Zone: "z-2", Free: 9})
		}
	}
}

func (f *fake) InterfacesByID(_ context.Context, ids []string) ([]snapshot.Interface, *snapshot.Failure) {
	slices.Sort(ids) // what is settled has no order
	if err := f.call("describe", "%s", ids); err != nil {
		return nil, &snapshot.Failure{Call: "ec2:Again", Reason: snapshot.Throttled, Message: err.Error()}
	}
	var list []snapshot.Interface
	for _, i := range f.idle {
		if slices.Contains(ids, i.ID) && (f.again == nil || f.again(&i)) {
			list = append(list, i)
		}
	}
	return list, nil
}

func (f *fake) Sightings(_ context.Context, vpc string) (map[string]leak.Sighting, error) {
	err := f.call("sightings", "%s", vpc)
	return maps.Clone(f.sightings), err
}

func (f *fake) SaveSighting(_ context.Context, vpc string, s leak.Sighting) (leak.Sighting, error) {
	text := fmt.Sprintf("v%d first %s in %s", s.Version, clockOf(s.First), vpc)
	if s.Deleting != nil {
		text += " deleting " + auditText(*s.Deleting)
	}
	err := f.call(s.Interface+" sighting", "%s", text)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		s.Version++
		f.sightings[s.Interface] = s
	}
	return s, err
}

func (f *fake) ForgetSighting(_ context.Context, vpc string, s leak.Sighting) error {
	return f.call(s.Interface+" forget", "v%d in %s", s.Version, vpc)
}

func auditText(a leak.Audit) string {
	text := fmt.Sprintf("%s %s/%s/%s/%s %s %s by %s", a.Result, a.Partition, a.Account, a.Region, a.Cluster, clockOf(a.At), a.Owner, a.Run)
	if a.Request != "" {
		text += " " + a.Request
	}
	if a.Settled {
		text += " settled"
	}
	return text
}

func (f *fake) RecordAudit(_ context.Context, a leak.Audit) (leak.Audit, bool, error) {
	if err := f.call(a.Interface+" audit", "%s", auditText(a)); err != nil {
		return leak.Audit{}, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.audits {
		if x.Interface == a.Interface && x.At.Equal(a.At) {
			return x, false, nil
		}
	}
	f.audits = append(f.audits, a)
	return a, true, nil
}

func (f *fake) Audits(_ context.Context, cluster string, since time.Time) ([]leak.Audit, error) {
	err := f.call("audits of "+cluster, "since %s", clockOf(since))
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []leak.Audit
	for _, a := range f.audits {
		if a.Cluster == cluster && !a.At.Before(since) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b leak.Audit) int { return -cmp.Compare(a.Interface, b.Interface) })
	return list, err
}

func (f *fake) Pace(_ context.Context, account, region string) (leak.Pace, error) {
	return f.pace, f.call("pace", "%s %s", account, region)
}

func (f *fake) SavePace(_ context.Context, account, region string, p leak.Pace) error {
	return f.call("save pace", "%s %s level %.1f rate %.3f", account, region, p.Level, p.Rate)
}

func (f *fake) CleanupDigests(_ context.Context, cluster string) (map[string]string, error) {
	return f.told, f.call("told of "+cluster, "")
}

func (f *fake) SaveCleanupTold(_ context.Context, cluster, day, digest string) error {
	return f.call("save told", "%s %s %s", cluster, day, digest)
}

func (f *fake) Incidents(_ context.Context, cluster string) ([]incident.Incident, error) {
	return f.incidents, f.call("incidents of "+cluster, "")
}

func (f *fake) DeleteNetworkInterface(_ context.Context, id string, dry bool) action.Answer {
	what := id + " delete"
	if dry {
		what = id + " dry run"
	}
	_ = f.call(what, "")
	f.mu.Lock()
	defer f.mu.Unlock()
	if list := f.answers[id]; len(list) > 0 {
		f.answers[id] = list[1:]
		return list[0]
	}
	if dry {
		return action.Answer{Outcome: action.WouldDo, Request: "req-" + id}
	}
	return action.Answer{Outcome: action.Done, Request: "req-" + id}
}

func (f *fake) TellInterfaces(_ context.Context, events []leak.Event) error {
	var ids []string
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	slices.Sort(ids)
	return f.call("tell deletes", "%s", ids)
}

func (f *fake) Tell(_ context.Context, events []incident.Event) error {
	var lines []string
	for _, e := range events {
		lines = append(lines, fmt.Sprintf("%s %s/%d of %s/%s/%s %s/%s/%s at %s", e.ID, e.Kind, e.Format, e.Cluster, e.Check, e.Resource, e.Partition, e.Account, e.Region, clockOf(e.At)))
	}
	return f.call("tell", "%s", lines)
}

func (f *fake) SendResult(_ context.Context, o report.Observation) error {
	text := fmt.Sprintf("%s read %q", o.Cluster, o.Read)
	for _, b := range o.Blind {
		text += fmt.Sprintf(" blind to %s: %s %s %s %s", b.Source, b.Reason, b.Call, b.Code, b.Message)
	}
	return f.call("send", "%s", text)
}

func (f *fake) SendSummary(_ context.Context, s report.Summary) error {
	c := s.Cleanup
	text := fmt.Sprintf("%s %s/%s/%s %s %s left %d kept %v of %d nodes", s.ID, s.Partition, s.Account, s.Region, c.Mode, c.VPC, c.Left, c.Kept, c.Nodes)
	for _, x := range c.Subnets {
		text += fmt.Sprintf(" %s/%s %d interfaces %d addresses free %d", x.Subnet, x.Zone, x.Interfaces, x.Addresses, x.Free)
	}
	if c.Stopped != nil {
		text += fmt.Sprintf(" stopped %+v", *c.Stopped)
	}
	return f.call("sum up", "%s", text)
}

func (f *fake) SendRemedyResult(_ context.Context, d report.RemedyResult) error {
	return f.call("send run", "%s of %s/%s/%s: %s %q %q changed %s by %s from %s to %s",
		d.ID, d.Key.Cluster, d.Key.Check, d.Key.Resource,
		d.Run.Result, d.Run.Reason, d.Run.Says, d.Run.Changed, d.Run.Requests, clockOf(d.Run.Began), clockOf(d.At))
}
