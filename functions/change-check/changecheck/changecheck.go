// Package changecheck looks for who changed what an incident is about, in
// CloudTrail.
package changecheck

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/functions/change-check/spec"
	"rollcall/shared/checkid"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/gather"
	"rollcall/shared/incident"
	"rollcall/shared/lambda"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/shared/trail"
)

// Memory is what is known of incidents and launches.
type Memory interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	History(ctx context.Context, cluster string, since time.Time) ([]snapshot.Past, error)
}

// Reader reads CloudTrail.
type Reader interface {
	Records(ctx context.Context, l trail.Lookup) ([]trail.Record, *snapshot.Failure)
}

// Sender is whom it tells, and by which it is reminded.
type Sender interface {
	SendChanges(ctx context.Context, c report.Changes) error
	LookForChanges(ctx context.Context, key report.Key, opened time.Time, round int, now time.Time, delay time.Duration) error
}

var (
	_ Memory = (*store.Store)(nil)
	_ Reader = (*gather.TrailReader)(nil)
	_ Sender = queue.Queues{}
)

type handler struct {
	detect.Detector
	memory Memory
	reader func() Reader
	send   Sender
	// own are the functions of this deployment that change things.
	own []trail.Function
	// spoke is whose incidents it looks at.
	spoke spoke.ID
	// nameless is set where who made a change is not reported.
	nameless bool
}

// Build makes the handler of change-check from what its invocations share.
func Build(_ context.Context, e lambda.Env) (lambda.Handler, error) {
	h := handler{
		Detector: detect.New(spec.Name, e, nil, nil), // it takes no snapshot, and tells changes alone
		memory:   detect.Table(e),
		reader:   func() Reader { return gather.NewTrail(e.Watched(), e.Sleep) },
		send:     queue.Queues{Client: sqs.NewFromConfig(e.AWS), Results: e.Config.ResultQueueURL, Changes: e.Config.ChangeQueueURL, Spoke: e.Config.Spoke},
		own:      own(lambdacontext.FunctionName, e.Config.Spoke),
		spoke:    e.Config.Spoke,
		nameless: !e.Config.ChangeNames,
	}
	return h.handle, nil
}

// own are the functions of the same deployment that change things. Lambda names
// a function's sessions after it, and its role has its name too (infra).
func own(name string, of spoke.ID) []trail.Function {
	prefix, ok := strings.CutSuffix(name, spec.Name)
	if !ok {
		return nil
	}
	if !of.Hub() { // there they are the spoke's roles
		return []trail.Function{{Session: prefix + "remediate", Role: "remediator"}, {Session: prefix + "eni-cleanup", Role: "cleaner"}}
	}
	return []trail.Function{{Session: prefix + "remediate", Role: "remediate"}, {Session: prefix + "eni-cleanup", Role: "enicleanup"}}
}

// errNoBatch: change-check is woken by its queue alone.
var errNoBatch = errors.New("the event is not a batch of SQS messages: change-check is woken by its queue")

// handle takes a batch of incidents that were opened, and of reminders.
func (h handler) handle(ctx context.Context, raw json.RawMessage) (any, error) {
	messages, ok := inbox.Batch(raw)
	if !ok {
		return nil, errNoBatch
	}
	b := h.wakes(messages)
	cases, err := h.cases(ctx, b.wakes)
	if err != nil {
		return nil, err
	}
	answers := h.lookUp(ctx, cases)
	for _, c := range cases {
		if err := h.tell(ctx, c, answers); err != nil {
			h.Log.ErrorContext(ctx, "what was changed could not be told, the message goes back to the queue",
				"cluster", c.inc.Key.Cluster, "check", c.inc.Key.Check, "resource", c.inc.Key.Resource, "error", err.Error())
			h.Count("FailedLooks", 1)
			b.failed = append(b.failed, c.messages...)
		}
	}
	return inbox.Failures(b.failed), nil
}

// tell sends what was found, and asks for another look while CloudTrail may not
// have everything yet. It is sent first, so that a crash in between leads
// to telling twice, which it notices, not to silence.
func (h handler) tell(ctx context.Context, c incidentCase, answers map[trail.Lookup]answer) error {
	now := h.Now()
	found := c.found(answers, h.own)
	if h.nameless {
		found = found.WithoutNames()
	}
	failed := c.failed(answers)
	next, delay := again(c, failed, now)
	// That a permission is missing is said at once: who gives it need not wait.
	found.Open = next > 0 && failed != snapshot.Denied
	if found.Blind != "" {
		h.Log.WarnContext(ctx, "could not read recent changes", "cluster", c.inc.Key.Cluster, "check", c.inc.Key.Check, "blind", found.Blind)
		h.Count("BlindLooks", 1)
	}
	h.Log.InfoContext(ctx, "looked for changes", "cluster", c.inc.Key.Cluster, "check", c.inc.Key.Check, "resource", c.inc.Key.Resource,
		"round", c.round, "from", found.From, "to", found.To, "changes", len(found.Changes), "open", found.Open)
	h.Count("ChangesFound", len(found.Changes))
	if err := h.send.SendChanges(ctx, report.Changes{
		Head: report.Head{ID: fmt.Sprintf("%s/%s/%s/%s/%d", c.inc.Key.Cluster, c.inc.Key.Check, c.inc.Key.Resource, c.inc.Opened.UTC().Format(time.RFC3339Nano), c.round),
			At: now, Cluster: c.inc.Key.Cluster, Key: c.inc.Key}, Opened: c.inc.Opened, Found: found,
	}); err != nil {
		return err
	}
	if next == 0 {
		return nil
	}
	return h.send.LookForChanges(ctx, c.inc.Key, c.inc.Opened, next, now, delay)
}

// batch is what the messages ask for.
type batch struct {
	wakes  []wake
	failed []string
}

// wake is an incident to look at, once however many messages name it.
type wake struct {
	key      report.Key
	opened   time.Time // zero: as the event has just told
	round    int
	messages []string
}

// wakes sorts the messages by incident.
func (h handler) wakes(messages []inbox.Message) (b batch) {
	var list []detect.Message
	list, b.failed = h.Messages(messages)
	for _, m := range list {
		begins := m.Kind == event.IncidentTold && (m.Told == string(incident.EventOpened) || m.Told == string(incident.EventReopened))
		if !begins && m.Kind != event.Reminder || m.Check == "" || !h.Watches(m.Cluster) {
			h.Ignore(m, m.Why)
			continue
		}
		b.add(wake{key: h.keyOf(m.Trigger), opened: m.Opened, round: m.Round, messages: []string{m.Receipt}})
	}
	return b
}

func (b *batch) add(w wake) {
	for i := range b.wakes {
		if same := &b.wakes[i]; same.key == w.key && same.opened.Equal(w.opened) {
			same.round = max(same.round, w.round)
			same.messages = append(same.messages, w.messages...)
			return
		}
	}
	b.wakes = append(b.wakes, w)
}

func (h handler) keyOf(t event.Trigger) report.Key {
	return report.Key{Spoke: h.spoke, Cluster: t.Cluster, Check: checkid.ID(t.Check), Resource: t.Resource}
}

// incidentCase is one that is looked at.
type incidentCase struct {
	wake
	inc     incident.Incident
	window  trail.Window
	targets []trail.Target
	lookups []trail.Lookup
	// unread says why the history may lack the last good launch.
	unread string
}

// cases are the incidents as the table has them. The event is believed in
// nothing but the key.
func (h handler) cases(ctx context.Context, wakes []wake) ([]incidentCase, error) {
	var list []incidentCase
	past := pasts{memory: h.memory, now: h.Now(), read: map[string][]snapshot.Past{}, wrong: map[string]error{}}
	known := map[string][]incident.Incident{}
	for _, w := range wakes {
		cluster := w.key.Cluster
		if _, ok := known[cluster]; !ok {
			incidents, err := h.memory.Incidents(ctx, cluster)
			if err != nil && len(incidents) == 0 {
				return nil, fmt.Errorf("read the incidents of %s: %w", cluster, err)
			}
			known[cluster] = incidents
		}
		i := slices.IndexFunc(known[cluster], func(inc incident.Incident) bool { return inc.Key == w.key })
		if i < 0 || stale(known[cluster][i], w) {
			h.Log.InfoContext(ctx, "nothing to look for", "cluster", cluster, "check", w.key.Check, "resource", w.key.Resource, "round", w.round)
			h.Count("StaleWakes", 1)
			continue
		}
		if known[cluster][i].IsBlind() {
			// What Rollcall cannot read is nothing that CloudTrail could be asked for, and the
			// launches of ninety days would be read for it.
			h.Log.InfoContext(ctx, "no change is looked for of what cannot be read", "cluster", cluster, "resource", w.key.Resource)
			continue
		}
		c := incidentCase{wake: w, inc: known[cluster][i]}
		var launches []snapshot.Past
		for _, since := range []time.Duration{trail.Usual, trail.Kept} {
			launches = past.history(ctx, cluster, since)
			if c.window = trail.WindowOf(c.inc, launches, past.now); !c.window.From.IsZero() {
				break
			}
		}
		if err := past.wrong[cluster]; err != nil {
			h.Log.WarnContext(ctx, "the history could not be read in full", "cluster", cluster, "error", err.Error())
			if c.window.From.IsZero() {
				c.unread = "the launches of before could not be read in full"
			}
		}
		c.targets = trail.Targets(c.inc, templates(c.inc, launches))
		c.lookups = trail.Lookups(c.targets, c.window)
		list = append(list, c)
	}
	return list, nil
}

// stale reports whether a wake is not for the incident as it is now: the reminder is
// of an earlier opening, or the event came twice.
func stale(inc incident.Incident, w wake) bool {
	switch {
	case inc.Number == 0 || inc.Opened.IsZero():
		return true // not said yet
	case w.round > 0:
		return !inc.Opened.Equal(w.opened)
	}
	return inc.RecentChanges != nil && inc.RecentChanges.To.Equal(inc.Began)
}

// templates are the launch templates of the incident's launches.
func templates(inc incident.Incident, history []snapshot.Past) []string {
	var ids []string
	for _, p := range history {
		mine := slices.ContainsFunc(inc.Launches, func(l report.Launch) bool { return l.Instance == p.ID })
		if mine && p.Template.ID != "" && !slices.Contains(ids, p.Template.ID) {
			ids = append(ids, p.Template.ID)
		}
	}
	return ids
}

// pasts reads the history of each cluster once for each time back.
type pasts struct {
	memory Memory
	now    time.Time
	read   map[string][]snapshot.Past
	wrong  map[string]error
}

func (p *pasts) history(ctx context.Context, cluster string, since time.Duration) []snapshot.Past {
	name := cluster + "/" + since.String()
	list, ok := p.read[name]
	if !ok {
		var err error
		if list, err = p.memory.History(ctx, cluster, p.now.Add(-since)); err != nil {
			p.wrong[cluster] = err
		}
		p.read[name] = list
	}
	return list
}

// patience is how long all lookups of an invocation may take: what is left of
// the function's three minutes tells what was found.
const patience = 150 * time.Second

// answer is what a lookup gave.
type answer struct {
	records []trail.Record
	failed  *snapshot.Failure
}

// lookUp asks CloudTrail for what the incidents need, each thing once, for the
// longest time that one of them needs. Where CloudTrail refuses us, it refuses
// us all the rest too.
func (h handler) lookUp(ctx context.Context, cases []incidentCase) map[trail.Lookup]answer {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var order []trail.Lookup
	asked := map[trail.Lookup]trail.Lookup{}
	for _, c := range cases {
		for _, l := range c.lookups {
			name := named(l)
			known, ok := asked[name]
			if !ok {
				order, known = append(order, name), l
			}
			if l.Start.Before(known.Start) {
				known.Start = l.Start
			}
			if l.End.After(known.End) {
				known.End = l.End
			}
			asked[name] = known
		}
	}
	answers := map[trail.Lookup]answer{}
	reader := h.reader()
	var refused *snapshot.Failure
	for _, name := range order {
		if refused != nil {
			answers[name] = answer{failed: refused}
			continue
		}
		records, failed := reader.Records(ctx, asked[name])
		answers[name] = answer{records, failed}
		if failed != nil && failed.Reason != snapshot.NotRead && failed.Reason != snapshot.Broken {
			refused = failed
		}
	}
	h.Count("Lookups", len(asked))
	return answers
}

// named is a lookup without its times.
func named(l trail.Lookup) trail.Lookup {
	l.Start, l.End = time.Time{}, time.Time{}
	return l
}

// found is what the answers say of an incident.
func (c incidentCase) found(answers map[trail.Lookup]answer, own []trail.Function) report.RecentChanges {
	t := report.RecentChanges{From: c.window.From, To: c.window.To, LastGood: c.window.LastGood, Blind: c.unread}
	var records []trail.Record
	for _, l := range c.lookups {
		a := answers[named(l)]
		records = append(records, a.records...)
		if a.failed != nil {
			t.Blind = blind(*a.failed)
		}
	}
	if len(c.lookups) == 0 {
		t.Blind = "CloudTrail cannot be searched for this resource"
	}
	t.Changes, t.More = trail.Changes(records, c.targets, c.window, own)
	return t
}

// blind names what could not be read, and why.
func blind(f snapshot.Failure) string {
	switch f.Reason {
	case snapshot.NotRead:
		return f.Message
	case snapshot.Denied:
		return f.Call + " " + cmp.Or(f.Code, string(f.Reason))
	}
	return f.Call + " " + string(f.Reason)
}

// rounds are the times after the opening of the looks that follow the first.
// CloudTrail has a call after five minutes typically, and up to 15.
func rounds() []time.Duration {
	return []time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute}
}

// late is how long after a call CloudTrail has it for sure.
const late = 20 * time.Minute

// failed is why the last of the incident's lookups that failed did; "" if none.
func (c incidentCase) failed(answers map[trail.Lookup]answer) (why snapshot.Reason) {
	for _, l := range c.lookups {
		if f := answers[named(l)].failed; f != nil {
			why = f.Reason
		}
	}
	return why
}

// again is the next look and in what time; 0 for none. Where the last of the
// time was long ago, CloudTrail has everything, and once is enough, unless it
// could not be asked.
func again(c incidentCase, failed snapshot.Reason, now time.Time) (round int, delay time.Duration) {
	if now.Sub(c.window.To) >= late && (failed == "" || failed == snapshot.NotRead) {
		return 0, 0
	}
	for i, after := range rounds() {
		if due := c.inc.Opened.Add(after); i+1 > c.round && due.After(now) {
			return i + 1, due.Sub(now)
		}
	}
	return 0, 0
}
