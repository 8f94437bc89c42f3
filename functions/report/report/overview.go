package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/config"
	"rollcall/shared/digest"
	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/notify"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/slashcommand"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

const notifyTimeout = notify.CallTimeout

// readWithin is how long an answer may read: what there was no time for is said, and the
// function has time left for what else came with the command.
const readWithin = 20 * time.Second

// allOf are the accounts and regions that are watched, the hub's own first, and their
// records.
func allOf(c config.Config, table func(spoke.ID) Table) []watched {
	of := func(id spoke.ID) watched {
		own := table(id)
		return watched{ID: id, table: own, naming: newNaming(c.ForSpoke(id), own)}
	}
	list := []watched{of(spoke.ID{})}
	for _, s := range c.Others() {
		list = append(list, of(s.ID))
	}
	return list
}

// overview reads how things stand everywhere.
func (p *invocation) overview(ctx context.Context, now time.Time) overview.Overview {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	var parts []overview.Part
	for _, w := range p.watched {
		parts = append(parts, p.part(ctx, w))
	}
	o := overview.New(parts, now)
	if own, unread := p.workspace(ctx); unread == "" {
		o.Site = own.URL
	}
	return o
}

// part reads one account and region.
func (p *invocation) part(ctx context.Context, w watched) overview.Part {
	part := overview.Part{Spoke: w.ID, Whose: w.whose}
	unread := func(what string, err error) {
		if err == nil {
			return
		}
		p.Log.WarnContext(ctx, "could not read the data for a command", "what", what, "spoke", w.String(), "error", err.Error())
		part.Unread = append(part.Unread, what+in(w)+": "+because(err))
	}
	var err error
	part.Sweeps, err = w.table.Sweeps(ctx)
	unread("when clusters were last checked", err)
	part.Silences, err = w.table.AllSilences(ctx)
	unread("silences", err)
	records, err := w.table.ClusterRecords(ctx)
	unread("which clusters have open incidents", err)
	for _, name := range openIn(records) {
		list, err := w.table.Incidents(ctx, name)
		unread("the incidents of "+name, err)
		part.Incidents = append(part.Incidents, list...)
	}
	return part
}

// openIn are the clusters that have something open.
func openIn(records []outbox.ClusterRecord) (names []string) {
	for _, r := range records {
		if r.Open {
			names = append(names, r.Cluster)
		}
	}
	return names
}

// in says of which account and region something is, where there are several.
func in(w watched) string {
	if w.whose == "" {
		return ""
	}
	return " in " + w.whose
}

// because is why something could not be read, for people.
func because(err error) string { return digest.Because(err) }

// why reads what is stored of an instance, in all accounts and regions: its id is one's
// alone.
func (p *invocation) why(ctx context.Context, instance string, now time.Time) overview.Why {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	out := overview.Why{Instance: instance, Now: now}
	if own, unread := p.workspace(ctx); unread == "" {
		out.Site = own.URL
	}
	for _, w := range p.watched {
		l, err := w.table.Launch(ctx, instance)
		if err != nil {
			p.Log.WarnContext(ctx, "could not read the data for a command", "what", "launch", "spoke", w.String(), "error", err.Error())
			out.Unread = append(out.Unread, "launches"+in(w)+": "+because(err))
		}
		if l == nil {
			continue
		}
		past := l.Past()
		found := overview.Found{
			Cluster: overview.Cluster{Cluster: spoke.Cluster{ID: w.ID, Name: l.Cluster}, Whose: w.whose}, Region: first(w.Region, p.hub.Region),
			Nodegroup: first(l.Nodegroup, l.Group), Type: l.Type, Zone: l.Zone, Subnet: l.Subnet,
			Started: l.Started, Registered: l.Registered, Ready: l.Ready, Due: l.Due, Ended: l.Ended, End: past.End, Cause: past.Cause, Says: past.Why,
		}
		list, err := w.table.Incidents(ctx, l.Cluster)
		if err != nil {
			out.Unread = append(out.Unread, "the incidents of "+l.Cluster+in(w)+": "+because(err))
		}
		found.Incidents = overview.Naming(list, instance)
		out.Found = append(out.Found, found)
	}
	return out
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

const (
	// mostReported is of how many clusters a report of all tells: each is a query a day.
	mostReported = 40
	// reportAtOnce is how many clusters are read at once: report has little memory.
	reportAtOnce = 4
	// mostLaunches bounds what is read of one cluster.
	mostLaunches = 5000
)

// report counts the launches and incidents of a time.
func (p *invocation) report(ctx context.Context, ask report.Ask, now time.Time) report.Period {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	q := digest.Ask{From: now.Add(-ask.For), To: now, At: now, Most: mostReported, Launches: mostLaunches, AtOnce: reportAtOnce, Log: p.Log}
	if ask.Cluster.Name != "" {
		of := own(ask.Cluster, p.hub)
		q.Only = &of
	}
	var all []digest.Watched
	for _, w := range p.watched {
		all = append(all, digest.Watched{ID: w.ID, Whose: w.whose, Table: w.table})
	}
	return digest.Read(ctx, all, q)
}

// own is a cluster as records name it: the hub's own has no account.
func own(c spoke.Cluster, hub spoke.ID) spoke.Cluster {
	return spoke.Cluster{ID: c.ID.RelativeTo(hub), Name: c.Name}
}

// silenceID is the id of the silence that a command asks for: that of the signed request,
// so that a command which the queue delivers twice is one silence.
func silenceID(c report.Command) string { return c.ID[:min(len(c.ID), 8)] }

// beginSilence writes a silence, once, and has its cluster looked after.
func (p *invocation) beginSilence(ctx context.Context, c report.Command, now time.Time) (_ slackapi.Message, says string, _ error) {
	no := func(says string) (slackapi.Message, string, error) { return slack.RenderSays(says, now), says, nil }
	of := own(c.Ask.Cluster, p.hub)
	i := slices.IndexFunc(p.watched, func(w watched) bool { return w.ID == of.ID })
	if i < 0 {
		return no("Nothing was done: Rollcall does not watch " + of.ID.String() + ".")
	}
	o := p.overview(ctx, now)
	if says := notWatched(o, of); says != "" {
		return no(says)
	}
	s := silence.Silence{
		ID: silenceID(c), Spoke: of.ID, Cluster: of.Name, Nodegroup: c.Ask.Nodegroup, Tag: c.Ask.Tag, Check: c.Ask.Check, Weekly: c.Ask.Weekly,
		From: c.Ask.From, By: silence.Person(c.User), At: c.At, Reason: c.Ask.Reason,
	}
	if s.From.IsZero() {
		s.From = c.At
	}
	s.Until = s.From.Add(c.Ask.For)
	if err := s.Sound(); err != nil {
		return no("Nothing was done: " + slashcommand.SaysOf(err))
	}
	_, err := p.watched[i].table.SaveSilence(ctx, s)
	var taken *store.Conflict
	if repeated := errors.As(err, &taken); err != nil && !repeated {
		return slackapi.Message{}, "", fmt.Errorf("write the silence of %s: %w", of, err)
	}
	p.Count("Silences", 1)
	p.Log.InfoContext(ctx, "silenced", "audit", true, "silence", s.ID, "user", s.By.ID, "spoke", of.ID.String(), "cluster", of.Name,
		"nodegroup", s.Nodegroup, "tag", s.Tag, "check", s.Check,
		"from", s.From, "until", s.Until, "weekly", s.Weekly != nil, "reason", s.Reason, "command", c.ID)
	if err := p.wake(ctx, of); err != nil {
		return slackapi.Message{}, "", err
	}
	var hides []incident.Incident
	for _, inc := range o.Incidents {
		if s.Judge(inc.Subject(), now) == silence.Hides {
			hides = append(hides, inc)
		}
	}
	return slack.RenderSilenced(s, p.watched[i].whose, hides, now), "", nil
}

// notWatched is what is said of a cluster that is not watched: a slip of the finger would
// be a silence of nothing, and whoever asked for it would be woken.
func notWatched(o overview.Overview, of spoke.Cluster) string {
	_, known := o.Named(of)
	if known || len(o.Clusters) == 0 || len(o.Unread) > 0 {
		return "" // what cannot be known is no reason to refuse
	}
	says := "Nothing was done: " + of.String() + " is not among the clusters checked in the last two days."
	var others []string
	for _, c := range o.Alike(of.Name) {
		others = append(others, "`cluster="+c.String()+"`")
	}
	if len(others) > 0 {
		return says + " Did you mean " + strings.Join(others[:min(len(others), 5)], " or ") + "?"
	}
	return says + " `/rollcall clusters` lists them."
}

// endSilence ends a silence before its time.
func (p *invocation) endSilence(ctx context.Context, c report.Command, now time.Time) (says string, _ error) {
	unread := ""
	for _, w := range p.watched {
		list, err := w.table.AllSilences(ctx)
		if err != nil {
			p.Log.WarnContext(ctx, "silences could not be read", "spoke", w.String(), "error", err.Error())
			unread = because(err)
		}
		i := slices.IndexFunc(list, func(s silence.Silence) bool { return s.ID == c.Ask.Silence })
		if i < 0 {
			continue
		}
		return p.endOne(ctx, c, w, list[i], now)
	}
	if unread != "" {
		return "Nothing was done: not all silences could be read, and none of those read has the id " + c.Ask.Silence + ": " + unread + ".", nil
	}
	return "There is no silence " + c.Ask.Silence + ". `/rollcall silences` lists them.", nil
}

func (p *invocation) endOne(ctx context.Context, c report.Command, w watched, s silence.Silence, now time.Time) (says string, _ error) {
	if !s.Standing(now) {
		return "That silence has already ended.", nil
	}
	s.Ended, s.EndedBy = now, silence.Person(c.User)
	if _, err := w.table.SaveSilence(ctx, s); err != nil {
		return "", fmt.Errorf("end the silence %s: %w", s.ID, err) // changed in between: it is tried again
	}
	p.Count("SilencesEnded", 1)
	p.Log.InfoContext(ctx, "unsilenced", "audit", true, "silence", s.ID, "user", c.User.ID, "spoke", w.String(), "cluster", s.Cluster, "command", c.ID)
	if err := p.wake(ctx, s.SpokeCluster()); err != nil {
		return "", err
	}
	return "Ended: the silence of " + s.SpokeCluster().String() + ". What is still broken is posted in the channel now.", nil
}

// wakeUp is an observation of a cluster that saw nothing.
func wakeUp(of spoke.Cluster, by string, now time.Time) report.Observation {
	return report.Observation{Format: report.Format, ID: "resume/" + of.Name + "/" + now.UTC().Format(time.RFC3339Nano), By: by, At: now, Cluster: of.Name}
}

// Spokes are the accounts and regions that are watched, and were.
type Spokes interface {
	WatchedSpokes(ctx context.Context) ([]store.WatchedSpoke, error)
	SaveWatchedSpoke(ctx context.Context, w store.WatchedSpoke) error
}

// unwatched closes what is open of the spokes that were taken out of the settings. Nothing
// comes of them any more, and what still comes is left out before anybody sees it.
type unwatched struct {
	spokes Spokes
	// watched are the spokes of the settings, beside the hub's own.
	watched []spoke.ID
	// of is the handler of a spoke that is not watched.
	of func(id spoke.ID) handler
}

// leaveAfter is how long a spoke must be missing in the settings before what is open of it
// is closed: a deployment that is taken back at once closes nothing, and functions of the
// release before it, which still watched it, have ended (Lambda, 15 minutes at most; report
// itself has one).
const leaveAfter = 15 * time.Minute

// due tells what becomes of the spokes: what is to be recorded of them, and which have been
// missing in the settings for so long that what is open there is to be closed.
func due(records []store.WatchedSpoke, watched []spoke.ID, now time.Time) (save []store.WatchedSpoke, left []spoke.ID) {
	known := map[spoke.ID]bool{}
	for _, r := range records {
		known[r.Spoke] = true
		switch in := slices.Contains(watched, r.Spoke); {
		case in && !r.Left.IsZero():
			save = append(save, store.WatchedSpoke{Spoke: r.Spoke})
		case in:
		case r.Left.IsZero():
			save = append(save, store.WatchedSpoke{Spoke: r.Spoke, Left: now})
		case now.Sub(r.Left) >= leaveAfter:
			left = append(left, r.Spoke)
		}
	}
	for _, id := range watched {
		if !known[id] {
			save = append(save, store.WatchedSpoke{Spoke: id})
		}
	}
	return save, left
}

// leave closes what is open of the spokes that are not watched any more. It is done once
// for a schedule.
func (h handler) leave(ctx context.Context, _ json.RawMessage) error {
	u := h.unwatched
	records, err := u.spokes.WatchedSpokes(ctx)
	if newer := new(store.NewerFormat); err != nil && !errors.As(err, &newer) {
		return err
	}
	save, left := due(records, u.watched, h.Now())
	var wrong []error
	for _, w := range save {
		wrong = append(wrong, u.spokes.SaveWatchedSpoke(ctx, w))
	}
	for _, id := range left {
		over, err := u.of(id).closeAll(ctx)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("close the incidents of %s, which is no longer watched: %w", id, err))
			continue
		}
		if over {
			h.Log.InfoContext(ctx, "closed all incidents of an account and region that is no longer watched", "account", id.Account, "region", id.Region)
			wrong = append(wrong, u.spokes.SaveWatchedSpoke(ctx, store.WatchedSpoke{Spoke: id, Done: true}))
		}
	}
	return errors.Join(wrong...)
}

// closeAll closes what is open of a spoke that is not watched, and reports whether all of it is
// closed, said and told. It is the only one that touches these records: messages of the spoke
// are left out before they come to report.
func (h handler) closeAll(ctx context.Context) (over bool, err error) {
	records, err := h.Clusters.ClusterRecords(ctx)
	if err != nil {
		return false, fmt.Errorf("read which clusters have open incidents: %w", err)
	}
	if len(records) == 0 {
		return true, nil
	}
	p := invocation{handler: h, delivery: h.Begin()}
	var wrong []error
	for i, r := range records {
		wrong = append(wrong, p.closeCluster(ctx, r, len(records)-i))
	}
	p.delivery.End(ctx)
	return false, errors.Join(wrong...)
}

func (p *invocation) closeCluster(ctx context.Context, r outbox.ClusterRecord, left int) error {
	now := p.Now()
	nothing := report.Observation{
		Format: report.Format, ID: "unwatched/" + r.Cluster + "/" + now.UTC().Format(time.RFC3339Nano), By: p.By, At: now, Cluster: r.Cluster,
	}.For(p.spoke)
	m := report.Message{Observation: &nothing}.ForSpoke(p.spoke, p.whose)
	return p.cluster(ctx, clusterBatch{name: r.Cluster, results: []report.Message{m}}, left)
}

// notAmong tells of a cluster that it is none of those that the settings name; without names
// all are watched. What is about no cluster in particular is, as long as the spoke is.
func notAmong(names []string) func(cluster string) bool {
	return func(cluster string) bool {
		return len(names) > 0 && cluster != report.AllClusters && !slices.Contains(names, cluster)
	}
}

// Passed is what is known of the presses that slack-actions passed on.
type Passed interface {
	PassedPress(ctx context.Context, id string) (*report.PressRecord, error)
}

// Audited is what is known of the presses that were decided on.
type Audited interface {
	ActRecorded(ctx context.Context, p report.Press) (bool, error)
}

// vet lets those presses through that slack-actions passed on, and that were not
// decided on before: an incident's record forgets after a while what it has
// applied, the audit records do not. It gives what was refused and is to be told.
// What cannot be looked up is an error: the messages come again.
func (p *invocation) vet(ctx context.Context, messages []report.Message, now time.Time) (let []report.Message, refused []incident.ActRecord, _ error) {
	var unproven []report.Press
	for _, m := range messages {
		if m.Press == nil {
			let = append(let, m)
			continue
		}
		record, err := p.passed.PassedPress(ctx, m.Press.ID)
		if err != nil {
			return nil, nil, fmt.Errorf("look up whether slack-actions queued the press: %w", err)
		}
		answer := response.VetPress(*m.Press, m.Digest, record, now)
		switch {
		case !answer.Proven():
			unproven = append(unproven, *m.Press)
			continue
		case answer.Reason != "":
			refused = append(refused, response.Refused(*m.Press, answer, now))
			continue
		}
		decided, err := p.audit.ActRecorded(ctx, *m.Press)
		if err != nil {
			return nil, nil, err
		}
		if decided {
			p.Count("RepeatedObservations", 1)
			p.Log.InfoContext(ctx, "decided", "reason", incident.AlreadyApplied, "cluster", m.Press.Key.Cluster, "press", m.Press.ID)
			continue
		}
		let = append(let, m)
	}
	p.refuseUnproven(ctx, unproven)
	return let, refused, nil
}

// refuseUnproven says once for a batch what was forged. It has no audit
// record, and no reply: who is named in it had nothing to do with it.
func (p *invocation) refuseUnproven(ctx context.Context, presses []report.Press) {
	if len(presses) == 0 {
		return
	}
	first := presses[0]
	p.Count("PressesRefused", len(presses))
	p.Count("PressesNotPassedOn", len(presses))
	p.Log.ErrorContext(ctx, "refused a press that slack-actions did not queue: it was forged by another sender to the results queue, or slack-actions had reported it to the person as failed",
		"reason", incident.PressRefused, "answer", incident.NotPassedOn, "presses", len(presses), "press", first.ID,
		"cluster", first.Key.Cluster, "check", first.Key.Check, "resource", first.Key.Resource, "action", first.Action, "user", first.User.ID)
}
