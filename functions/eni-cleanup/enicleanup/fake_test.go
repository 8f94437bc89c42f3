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
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/remedy/call"
	"rollcall/shared/remedy/optin"
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
	answers map[string][]call.Answer
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
		sightings: map[string]leak.Sighting{}, told: map[string]string{}, answers: map[string][]call.Answer{},
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
