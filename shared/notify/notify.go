// Package notify delivers what is decided: incidents and summaries into Slack,
// finding events to the bus, and what came of a press to who pressed.
//
// Each delivery is begun, sent, recorded. That it begins is written into the record
// before anything is sent (beginSend), what was sent after (deliver). A crash before
// the first leaves nothing behind; one between them leaves a mark without a timestamp,
// and whoever finds it asks Slack before sending again (search); the event is put on the bus again,
// with the same ids. What was not delivered stays in the record for the cluster's next message.
// Who refuses for a reason that does not pass by itself is left alone for longer and
// longer (package outbox), and asked again by a clock (Notifier.Tick).
package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"rollcall/shared/bus"
	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/outbox"
	"rollcall/shared/queue"
	"rollcall/shared/report"
	"rollcall/shared/routing"
	"rollcall/shared/silence"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

// Records is where incidents are kept. To save one that was changed in
// between is a store.Conflict.
type Records interface {
	Incidents(ctx context.Context, cluster string) ([]incident.Incident, error)
	SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error)
}

// Summaries is what summaries are remembered by.
type Summaries interface {
	Postings(ctx context.Context, cluster string) ([]outbox.Posting, error)
	SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error)
}

// Clusters is what is remembered of clusters beside their incidents.
type Clusters interface {
	ClusterRecord(ctx context.Context, cluster string) (outbox.ClusterRecord, error)
	ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error)
	SaveClusterRecord(ctx context.Context, r outbox.ClusterRecord) error
}

// Silences is where it stands what is not told for a while.
type Silences interface {
	Silences(ctx context.Context, cluster string) ([]silence.Silence, error)
	SaveSilence(ctx context.Context, s silence.Silence) (silence.Silence, error)
}

// Audit is where presses are recorded for good.
type Audit interface {
	RecordAct(ctx context.Context, a incident.ActRecord) (created bool, err error)
}

// Slack is whom people listen to.
type Slack interface {
	Post(ctx context.Context, channel string, m slackapi.Message) (ts string, err error)
	Update(ctx context.Context, channel, ts string, m slackapi.Message) error
	Reply(ctx context.Context, channel, thread string, m slackapi.Message) (ts string, err error)
	Broadcast(ctx context.Context, channel, thread string, m slackapi.Message) (ts string, err error)
	Find(ctx context.Context, s slackapi.Search) (slackapi.Found, error)
}

// Files is who takes pictures and texts.
type Files interface {
	Upload(ctx context.Context, f slackapi.File) (id string, err error)
	Share(ctx context.Context, channel, thread string, f slackapi.File) (id string, err error)
}

// Answers is who tells one person something.
type Answers interface {
	Ephemeral(ctx context.Context, channel, user, thread string, m slackapi.Message) error
}

// Workspace is where the app is: links to messages begin with its address.
type Workspace interface {
	Workspace(ctx context.Context) (report.Workspace, error)
}

// Bus is whom other people's rules listen to.
type Bus interface {
	Tell(ctx context.Context, events []incident.Event) error
	TellWeek(ctx context.Context, w incident.Week) error
}

// Again is how the function asks itself to go on.
type Again interface {
	SendResult(ctx context.Context, o report.Observation) error
}

var (
	_ Records   = (*store.Store)(nil)
	_ Summaries = (*store.Store)(nil)
	_ Clusters  = (*store.Store)(nil)
	_ Silences  = (*store.Store)(nil)
	_ Audit     = (*store.Store)(nil)
	_ Slack     = (*slackapi.Session)(nil)
	_ Files     = (*slackapi.Session)(nil)
	_ Answers   = (*slackapi.Session)(nil)
	_ Workspace = (*slackapi.Session)(nil)
	_ Bus       = (*bus.Bus)(nil)
	_ Again     = queue.Queues{}
)

// Notifier is what deliveries need, the same for all invocations.
type Notifier struct {
	Incidents Records
	Postings  Summaries
	Clusters  Clusters
	Silences  Silences
	Acts      Audit
	Slack     Slack
	Files     Files
	Answers   Answers
	// Prepare reads what Slack's first message needs, such as the token; nil for nothing.
	Prepare func(ctx context.Context)
	// Workspace may be nil: then nothing is linked to other messages.
	Workspace Workspace
	Bus       Bus
	// Again may be nil: then what is left waits for the cluster's next message.
	Again Again
	// By is the function's name.
	By string
	// Policy has the routes, and the channel of what no route sends elsewhere.
	Policy incident.Policy
	// Whose is the name by which people know the account and region; empty for none.
	Whose string
	// Unwatched reports whether a cluster was taken out of the settings; nil for none.
	Unwatched func(cluster string) bool
	// Actions reports whether Slack's buttons are answered, so that messages have them.
	Actions bool
	// Docs is where the documentation's site is; empty for nowhere.
	Docs  string
	Now   func() time.Time
	Log   *slog.Logger
	Count func(name string, n int)
}

// Left reports whether a cluster is not watched any more.
func (n Notifier) Left(cluster string) bool { return n.Unwatched != nil && n.Unwatched(cluster) }

// shows is what messages depend on beside their incidents.
func (n Notifier) shows() slack.Options {
	return slack.Options{Actions: n.Actions, Now: n.Now(), Docs: n.Docs}
}

// Invocation is what one invocation of the function learns of those whom it delivers to.
type Invocation struct {
	Notifier
	// slackDown is set when Slack does not answer: the rest of the invocation does not
	// wait for it again.
	slackDown bool
	// filesDown is set when Slack does not take pictures: the rest of the invocation does
	// without.
	filesDown bool
	// busDown is set when EventBridge does not take events: the rest of the invocation
	// does not ask it again.
	busDown bool
	// unfinished are the clusters whose time ended before all was said.
	unfinished []string
	// filesOwed are the clusters in whose threads files are still to be shared.
	filesOwed []string
	// clusters are those that it began.
	clusters map[string]*Cluster
	// prepared is set once Prepare is called, preparing waits for it.
	prepared  bool
	preparing sync.WaitGroup
}

// Begin begins an invocation.
func (n Notifier) Begin() *Invocation {
	return &Invocation{Notifier: n, clusters: map[string]*Cluster{}}
}

// SlackDown reports whether Slack did not answer in this invocation.
func (v *Invocation) SlackDown() bool { return v.slackDown }

// End does what comes when all clusters have had their time: files are shared, and
// what a minute was too short for goes on at once.
func (v *Invocation) End(ctx context.Context) {
	v.shareFiles(ctx)
	v.resume(ctx)
	v.preparing.Wait()
}

// answersLast is how long after a press its answer is still sent: who pressed has
// seen by then in the message itself what came of it.
const answersLast = 15 * time.Minute

// CallTimeout is how long one call may take that is not a message: Slack answers in
// well under a second, and messages need what is left of the time.
const CallTimeout = lastCall

// audit writes the audit records of presses, before their results
// are posted. Without its record no approval is posted.
func (c *Cluster) audit(ctx context.Context, acts []incident.ActRecord) (wrote bool, _ error) {
	for i := range acts {
		if acts[i].Audited {
			continue
		}
		if _, err := c.Acts.RecordAct(ctx, acts[i]); err != nil {
			return wrote, fmt.Errorf("the press %s of %s is not audited: %w", acts[i].ID, acts[i].Key.Cluster, err)
		}
		acts[i].Audited, wrote = true, true
		c.Count("Presses", 1)
	}
	return wrote, nil
}

// answer tells people, and only them, what came of their presses. It gives
// those that Slack did not take and that are worth another try. One that was
// cut off may be read twice: it says the same, and only one person sees it.
func (c *Cluster) answer(ctx context.Context, acts []incident.ActRecord) (left []incident.ActRecord) {
	for _, a := range acts {
		if a.User.ID == "" || a.Channel == "" || a.Answer.Reason == "" || c.Now().Sub(a.Decided) > answersLast {
			continue
		}
		if c.slackDown || c.record.Held(outbox.ToSlack, c.Now()) || c.budgetSpent() {
			left = append(left, a)
			continue
		}
		err := c.answerOne(ctx, a)
		var e *slackapi.Error
		switch {
		case err == nil:
			c.Count("SlackAnswers", 1)
			continue
		case errors.As(err, &e) && e.Retryable(), errors.Is(err, context.DeadlineExceeded):
			// Slack limits each method by itself: that it has enough of answers does
			// not keep it from taking messages.
			c.slackDown = e == nil || e.Kind != slackapi.RateLimited
			left = append(left, a)
		}
		c.Count("SlackFailures", 1)
		c.Log.WarnContext(ctx, "could not answer a press", "cluster", a.Key.Cluster, "press", a.ID, "user", a.User.ID, "answer", a.Answer.Reason, "error", err.Error())
	}
	return left
}

// answerOne makes the call, and waits no longer for it than a cluster's time can spare.
func (c *Cluster) answerOne(ctx context.Context, a incident.ActRecord) error {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	return c.Answers.Ephemeral(ctx, a.Channel, a.User.ID, a.Thread, slack.AnswerTo(a, c.Now()))
}

// answered tells which presses need no more attention.
func answered(before, left []incident.ActRecord) (ids []string) {
	for _, a := range before {
		if !slices.ContainsFunc(left, func(l incident.ActRecord) bool { return l.ID == a.ID }) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// unanswered are the presses of a record that still need attention: in between
// another invocation may have taken more in. Those that this one audited are.
func unanswered(acts, audited []incident.ActRecord, answered []string) (left []incident.ActRecord) {
	for _, a := range acts {
		if slices.Contains(answered, a.ID) {
			continue
		}
		a.Audited = a.Audited || slices.ContainsFunc(audited, func(x incident.ActRecord) bool { return x.ID == a.ID && x.Audited })
		left = append(left, a)
	}
	return left
}

// answerStrays audits and answers presses whose incident is not there.
func (c *Cluster) answerStrays(ctx context.Context, acts []incident.ActRecord) error {
	for _, a := range acts {
		created, err := c.Acts.RecordAct(ctx, a)
		if err != nil {
			return fmt.Errorf("the press %s of %s is not audited: %w", a.ID, a.Key.Cluster, err)
		}
		if created { // else the queue delivered it twice, and it was answered
			c.Count("Presses", 1)
			c.Count("PressesRefused", 1)
			c.Log.InfoContext(ctx, "decided", "cluster", a.Key.Cluster, "check", a.Key.Check, "resource", a.Key.Resource, "reason", incident.PressRefused, "press", a.ID, "action", a.Action, "user", a.User.ID, "answer", a.Answer.Reason)
			c.answer(ctx, []incident.ActRecord{a})
		}
	}
	return nil
}

// sent is a note that Slack has taken. What had to be shortened is shared as a
// file when all words of this invocation are said.
func (v *Invocation) sent(inc incident.Incident, n incident.Note, ts string) incident.Note {
	was := inc.AsOf(n)
	if shownInChannel(inc, n) {
		return n.Sent(ts).InChannel(n, slack.RenderNote(was, n).Digest())
	}
	if _, shortened := slack.Attached(was, n); !shortened {
		return n.Sent(ts)
	}
	v.filesOwed = append(v.filesOwed, inc.Key.Cluster)
	return n.SentShortened(ts)
}

// noteOwedFiles remembers that a file of an earlier invocation is still to be shared.
func (v *Invocation) noteOwedFiles(inc incident.Incident) {
	if slices.ContainsFunc(inc.Delivery.Notes, incident.Note.Owes) {
		v.filesOwed = append(v.filesOwed, inc.Key.Cluster)
	}
}

// shareFiles shares the files that are due, when all words are said. What Slack does
// not take now stays in the record for the next invocation.
func (v *Invocation) shareFiles(ctx context.Context) {
	slices.Sort(v.filesOwed)
	for _, cluster := range slices.Compact(v.filesOwed) {
		if v.slackDown || v.filesDown {
			return
		}
		if d := v.clusters[cluster]; d != nil && d.record.Held(outbox.ToSlack, v.Now()) {
			continue
		}
		incidents, err := v.Incidents.Incidents(ctx, cluster)
		if err != nil {
			v.Log.WarnContext(ctx, "files could not be shared, they will be with the next observation", "cluster", cluster, "error", err.Error())
			continue
		}
		for _, inc := range incidents {
			for _, n := range inc.Delivery.Notes {
				if deadline, ends := ctx.Deadline(); ends && time.Until(deadline) < uploadTimeout+lastCall {
					v.unfinished = append(v.unfinished, cluster)
					return
				}
				if n.Owes() && !v.slackDown && !v.filesDown {
					v.shareFile(ctx, inc, n)
				}
			}
		}
	}
}

// shareFile shares the file of one note. The attempt is written before it is made,
// so that a crash neither loses the file nor repeats it more than once.
func (v *Invocation) shareFile(ctx context.Context, inc incident.Incident, n incident.Note) {
	f, is := slack.Attached(inc.AsOf(n), n)
	if !is || n.Attach.Tries >= incident.MostShares || inc.Delivery.TS == "" {
		v.note(ctx, inc, n.ID, func(said *incident.Delivery, n *incident.Note) { *n = n.Sent(n.TS) })
		return
	}
	if !v.note(ctx, inc, n.ID, func(_ *incident.Delivery, n *incident.Note) { n.Attach = &incident.Attach{Tries: n.Attach.Tries + 1} }) {
		return
	}
	limited, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	_, err := v.Files.Share(limited, inc.Delivery.Channel, inc.Delivery.TS, f)
	if err == nil {
		v.Count("SlackFiles", 1)
		v.note(ctx, inc, n.ID, func(said *incident.Delivery, n *incident.Note) { *n, said.Unshared = n.Sent(n.TS), "" })
		return
	}
	v.Count("SlackFailures", 1)
	var e *slackapi.Error
	if !errors.As(err, &e) || e.Retryable() {
		v.filesDown = true
		v.Log.WarnContext(ctx, "Slack did not take a file, it is tried again with the next observation", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource, "note", n.ID, "error", err.Error())
		if e == nil || e.Kind != slackapi.Unavailable || e.Method != completes {
			// It was not shared yet, so it is certainly not visible.
			v.note(ctx, inc, n.ID, func(_ *incident.Delivery, n *incident.Note) { n.Attach = &incident.Attach{Tries: n.Attach.Tries - 1} })
		}
		return
	}
	reason := string(e.Kind)
	if e.Code != "" {
		reason = e.Code
	}
	if inc.Delivery.Unshared != reason {
		v.Log.ErrorContext(ctx, "a reply goes without the file that has all of it", "cluster", inc.Key.Cluster, "check", inc.Key.Check, "resource", inc.Key.Resource, "note", n.ID, "error", err.Error())
	}
	v.note(ctx, inc, n.ID, func(said *incident.Delivery, n *incident.Note) { *n, said.Unshared = n.Sent(n.TS), reason })
}

// completes is the call that shows a file in the thread: before it the file is not visible.
const completes = "files.completeUploadExternal"

// note changes a note that owes its file in the record as it is now, and reports
// whether it did. It is recorded even if time is running out.
func (v *Invocation) note(ctx context.Context, inc incident.Incident, id string, change func(*incident.Delivery, *incident.Note)) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	var err error
	for range attempts {
		var list []incident.Incident
		if list, err = v.Incidents.Incidents(ctx, inc.Key.Cluster); err != nil {
			break
		}
		i := slices.IndexFunc(list, func(x incident.Incident) bool { return x.Key == inc.Key })
		if i < 0 {
			return false
		}
		now := list[i]
		now.Delivery.Notes = slices.Clone(now.Delivery.Notes)
		k := slices.IndexFunc(now.Delivery.Notes, func(n incident.Note) bool { return n.ID == id && n.Owes() })
		if k < 0 {
			return false
		}
		change(&now.Delivery, &now.Delivery.Notes[k])
		_, err = v.Incidents.SaveIncident(ctx, now)
		var conflict *store.Conflict
		if !errors.As(err, &conflict) {
			break
		}
		v.Count("LostRaces", 1)
	}
	if err != nil {
		v.Log.WarnContext(ctx, "what became of a file is not recorded", "cluster", inc.Key.Cluster, "note", id, "error", err.Error())
	}
	return err == nil
}

// lastCall is what must be left of the time for one more call to Slack, which
// answers in well under a second: one that the end of time cuts off may have
// been taken, and has to be looked for.
const lastCall = 5 * time.Second

// endOfBudget is when the time of a cluster ends, of those whose messages came
// together: however much one has to say, there is time for the others.
func endOfBudget(ctx context.Context, clusters int) time.Time {
	deadline, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	left := time.Until(deadline)
	return deadline.Add(-left + left/time.Duration(clusters))
}

// resume asks report itself to go on with the clusters that had more to say
// than there was time for: the next sweep may be five minutes away. The wish
// is an observation that saw nothing, behind all others of its cluster. While
// Slack does not answer nothing is asked for: the sweeps try again.
func (v *Invocation) resume(ctx context.Context) {
	if v.slackDown || v.Again == nil {
		return
	}
	slices.Sort(v.unfinished)
	for _, cluster := range slices.Compact(v.unfinished) {
		if err := v.Again.SendResult(ctx, v.wake(cluster)); err != nil {
			v.Log.WarnContext(ctx, "report could not ask itself to go on, the cluster's next observation will", "cluster", cluster, "error", err.Error())
			continue
		}
		v.Count("Resumed", 1)
	}
}

// budgetSpent reports whether the cluster's time is over. What is not sent yet stands in the
// record, for the next invocation.
func (c *Cluster) budgetSpent() bool {
	if c.timeBudgetEnds.IsZero() || time.Until(c.timeBudgetEnds) > lastCall {
		return false
	}
	c.unfinished = append(c.unfinished, c.name)
	return true
}

// oldestFirst is the order in which incidents are said: that of their first
// opening, as it would have been had Slack been there.
func oldestFirst(list []outgoing) []outgoing {
	slices.SortStableFunc(list, func(a, b outgoing) int {
		atA, beganA := firstOf(a.inc)
		atB, beganB := firstOf(b.inc)
		return cmp.Or(atA.Compare(atB), beganA.Compare(beganB)) // those of one batch open at the same time
	})
	return list
}

// firstOf is when there was first something to say of an incident, and when
// that began. One that came back while Slack was away has two openings in its
// thread.
func firstOf(inc incident.Incident) (at, began time.Time) {
	notes := inc.Delivery.Notes
	if len(notes) == 0 || !notes[0].At.Before(inc.Opened) {
		return inc.Opened, inc.Began
	}
	if notes[0].Then != nil {
		return notes[0].At, notes[0].Then.Began
	}
	return notes[0].At, inc.Began
}

// beginSend marks in the record what is about to be sent for the first time, and
// reports whether it may be: a later run that finds the mark and no timestamp asks Slack
// before sending again. Nothing is marked that is not about to be sent: while
// Slack is away, each mark would cost a search.
func (c *Cluster) beginSend(ctx context.Context, o *outgoing) bool {
	if c.budgetSpent() {
		return false
	}
	for attempt := 1; ; attempt++ {
		o.markSending(c.Now())
		if len(o.sendsBegun) == 0 {
			return true
		}
		saved, err := c.Incidents.SaveIncident(ctx, o.inc)
		var conflict *store.Conflict
		if errors.As(err, &conflict) && attempt < attempts {
			c.Count("LostRaces", 1)
			err = c.reload(ctx, o)
			if err == nil {
				continue
			}
		}
		if err != nil {
			o.markError = err
			return false
		}
		o.inc = saved
		return true
	}
}

// markSending marks what has never been sent.
func (o *outgoing) markSending(now time.Time) {
	said := &o.inc.Delivery
	never := func(id, ts string, sending *time.Time) {
		if ts == "" && sending.IsZero() {
			*sending = now
			o.sendsBegun = append(o.sendsBegun, id)
		}
	}
	if o.message != nil {
		never("", said.TS, &said.Sending)
		o.sendsTried = append(o.sendsTried, "")
	}
	for i := range said.Notes {
		if o.inc.Silence != nil {
			break // the thread waits
		}
		never(said.Notes[i].ID, said.Notes[i].TS, &said.Notes[i].Sending)
	}
}

// reload takes the incident as another invocation has written it meanwhile. What the
// bus was told already is not due in it any more.
func (c *Cluster) reload(ctx context.Context, o *outgoing) error {
	incidents, err := c.Incidents.Incidents(ctx, o.inc.Key.Cluster)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(incidents, func(inc incident.Incident) bool { return inc.Key == o.inc.Key })
	if i < 0 {
		return errGone
	}
	latest := incidents[i]
	latest.AddPublished(o.inc.Published)
	latest.PendingEvents = slices.DeleteFunc(latest.PendingEvents, func(e incident.Event) bool {
		return e.Sequence <= o.inc.Events && !slices.ContainsFunc(o.inc.PendingEvents, func(due incident.Event) bool { return due.ID == e.ID })
	})
	now := c.dueOf(latest, c.Now())
	o.inc, o.message, o.mayBeSent, o.sendsBegun, o.sendsTried = now.inc, now.message, now.mayBeSent, nil, nil
	return nil
}

var errGone = errors.New("the incident's record is gone")

// cancelSend takes the marks back of what was not tried.
func (o *outgoing) cancelSend() {
	never := func(id string) bool { return slices.Contains(o.sendsBegun, id) && !slices.Contains(o.sendsTried, id) }
	for i := range o.inc.Delivery.Notes {
		if n := &o.inc.Delivery.Notes[i]; n.TS == "" && never(n.ID) {
			n.Sending = time.Time{}
			o.marksCancelled = true
		}
	}
}

// channelOf is where an incident's message goes as things are now. One that is
// posted stays where it is.
func (n Notifier) channelOf(inc incident.Incident) string {
	channel, _ := incident.Route(inc, n.Policy)
	return channel
}

// summariesOf is the channel for a cluster's summaries: they mention no one, and are
// of no nodegroup in particular.
func (n Notifier) summariesOf(cluster string) string {
	channel, _ := routing.Recipients(routing.Subject{Cluster: cluster, Severity: string(incident.Info)}, n.Policy.Routes, n.Policy.Channel)
	return channel
}

// lost reports whether a message cannot be reached any more: it was deleted,
// or it is in a channel that was archived or left, and another one is set now.
func lost(err error, is, now string) bool {
	var e *slackapi.Error
	return errors.As(err, &e) && (e.Kind == slackapi.MessageGone || e.Kind == slackapi.Channel && is != now)
}

// uploadTimeout is how long a picture may take: the function has a minute for the
// words of all.
const uploadTimeout = 8 * time.Second

// showChart shows the newest chart of an incident's subnet in its message, which
// stands there already: it gives Slack the file, and edits the message. Stopped
// anywhere in between, the next invocation does it again, and nothing is said twice.
// It reports whether the record is to be written.
func (c *Cluster) showChart(ctx context.Context, o *outgoing) (changed bool) {
	said := &o.inc.Delivery
	if !o.inc.Chart.Due() || c.slackDown || c.filesDown || said.TS == "" || said.Dirty {
		return false
	}
	s := *o.inc.Chart
	o.inc.Chart = &s
	if s.Next == "" {
		if !c.uploadChart(ctx, o, &s) {
			return true
		}
	}
	shown := s.Shown()
	inc := o.inc
	inc.Chart = &shown
	m := slack.Render(inc, c.shows())
	err := c.Slack.Update(ctx, said.Channel, said.TS, m)
	var e *slackapi.Error
	switch {
	case err == nil:
		c.Count("SlackUpdates", 1)
		*o.inc.Chart = shown
		said.Digest, said.Looked = m.Digest(), inc.LastLook()
	case lost(err, said.Channel, c.channelOf(o.inc)):
		said.TS, said.Digest, said.Dirty = "", "", true
	case errors.As(err, &e) && e.Code == "invalid_blocks" && s.Refusals+1 < mostRefusals:
		s.Refusals++ // Slack has not taken it in yet
		c.Count("SlackFailures", 1)
		c.Log.WarnContext(ctx, "Slack does not show the picture yet, it is tried again with the next observation", "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource, "error", err.Error())
	case errors.As(err, &e) && e.Code == "invalid_blocks":
		s.Next, s.Refusals = "", 0
		c.Count("SlackFailures", 1)
		c.pictureless(ctx, "the message goes without its picture", err, "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource)
	default:
		c.notTaken(ctx, o, new(time.Time), err)
	}
	return true
}

// withChart has the edit that is due show the newest chart too, if Slack takes its
// file now: words and picture are of one look, and one edit. It gives the chart as it
// is then, or nil.
func (c *Cluster) withChart(ctx context.Context, o *outgoing) *incident.Chart {
	if !o.inc.Chart.Due() || c.filesDown || o.inc.Delivery.TS == "" || c.budgetSpent() {
		return nil
	}
	s := *o.inc.Chart
	o.inc.Chart = &s
	if s.Next == "" && !c.uploadChart(ctx, o, &s) {
		return nil
	}
	shown := s.Shown()
	inc := o.inc
	inc.Chart = &shown
	m := slack.Render(inc, c.shows())
	o.message = &m
	return &shown
}

// pictureless rings the alarm for a picture that is let go: the words are said.
func (c *Cluster) pictureless(ctx context.Context, what string, err error, about ...any) {
	c.Count("Undelivered", 1)
	c.Log.ErrorContext(ctx, what, append(about, "error", err.Error())...)
}

// uploadChart uploads the picture, and reports whether Slack has it. What waiting does
// not help is reported once for an incident, and the picture is let go.
func (c *Cluster) uploadChart(ctx context.Context, o *outgoing, s *incident.Chart) bool {
	limited, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	name := "addresses-" + o.inc.Key.Resource + "-" + s.At.UTC().Format("20060102-1504") + ".png"
	id, err := c.Files.Upload(limited, slackapi.File{Name: name, Title: "Free addresses of " + o.inc.Key.Resource, Alt: s.Alt, Data: s.PNG})
	if err == nil {
		c.Count("SlackPictures", 1)
		s.PNG, s.Next = nil, id
		return true
	}
	var e *slackapi.Error
	errors.As(err, &e)
	if e != nil && e.Retryable() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		c.filesDown = true
		c.Count("SlackFailures", 1)
		c.Log.WarnContext(ctx, "Slack did not take the picture, it is tried again with the next observation", "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource, "error", err.Error())
		return false
	}
	reason := "refused"
	if e != nil && e.Code != "" {
		reason = e.Code
	}
	known := s.Missing == reason
	s.PNG, s.Missing = nil, reason
	c.Count("SlackFailures", 1)
	if !known {
		c.pictureless(ctx, "the message goes without its picture", err, "cluster", o.inc.Key.Cluster, "check", o.inc.Key.Check, "resource", o.inc.Key.Resource)
	}
	return false
}

// mergeChart is the picture of two invocations: the later one.
func mergeChart(latest, ours *incident.Chart) *incident.Chart {
	switch {
	case ours == nil:
		return latest
	case latest == nil || !latest.At.After(ours.At):
		return ours
	}
	merged := *latest
	merged.File, merged.FileAlt, merged.FileOf = ours.File, ours.FileAlt, ours.FileOf
	return &merged
}

// recordCleanup records what a cleanup's summary changes: one message for each
// cluster and day, edited as the day goes on, and a reply in the thread of each subnet
// that has an incident for its leaked interfaces.
func (c *Cluster) recordCleanup(ctx context.Context, list []outbox.Posting, s report.Summary) ([]outbox.Posting, error) {
	// Read here and not ahead: an incident may have been posted in this invocation.
	incidents, err := c.Incidents.Incidents(ctx, c.name)
	if err != nil {
		return list, err
	}
	renewed := outbox.Renew(list, s, leakThreads(incidents, *s.Cleanup))
	if len(renewed) == 0 {
		c.Count("RepeatedSummaries", 1)
	}
	for _, post := range renewed {
		saved, err := c.Postings.SavePosting(ctx, post)
		if err != nil {
			return list, err
		}
		c.Log.InfoContext(ctx, "summary", "cluster", s.Cluster, "summary", saved.Summary.ID, "by", s.By, "subnets", len(saved.Summary.Cleanup.Subnets), "stopped", saved.Summary.Cleanup.Stopped != nil)
		i := slices.IndexFunc(list, func(known outbox.Posting) bool { return known.Summary.ID == saved.Summary.ID })
		if i < 0 {
			list = append(list, saved)
		} else {
			list[i] = saved
		}
	}
	return list, nil
}

// leakThreads are the messages of incidents for leaked interfaces, by subnet: those that were
// not over before the day of a cleanup. A dry run frees nothing, and its report is no part of
// how an incident ended.
func leakThreads(incidents []incident.Incident, c report.Cleanup) map[string]outbox.Thread {
	threads := map[string]outbox.Thread{}
	if !c.Deletes() {
		return threads
	}
	for _, i := range incidents {
		over := !i.Resolved.IsZero() && i.Resolved.Before(c.Day)
		if i.Key.Check == checkid.IPLeakedInterfaces && i.Delivery.TS != "" && !over {
			threads[i.Key.Resource] = outbox.Thread{Channel: i.Delivery.Channel, TS: i.Delivery.TS}
		}
	}
	return threads
}

// sayCleanup posts or edits the message of a cleanup, or its reply. The error is of the
// record alone.
func (c *Cluster) sayCleanup(ctx context.Context, post outbox.Posting) error {
	m := slack.RenderSummary(post.Summary, outbox.Picture{})
	room := c.summariesOf(post.Summary.Cluster)
	if post.Thread != "" {
		room = post.Channel
	}
	if post.TS != "" && post.Channel == room && post.Digest == m.Digest() {
		post.Dirty = false
		_, err := c.savePosting(ctx, post)
		return err
	}
	if post.TS == "" && !post.Sending.IsZero() { // cut off: Slack may have it
		ts, err := c.search(ctx, slackapi.Search{Channel: room, Thread: post.Thread, Tag: m.Tag, Since: post.Sending})
		if err != nil {
			return c.cleanupNotTaken(ctx, post, err)
		}
		post.Channel, post.TS = room, ts
	}
	if post.TS != "" {
		err := c.Slack.Update(ctx, post.Channel, post.TS, m)
		var e *slackapi.Error
		switch {
		case err == nil:
			c.Count("SlackUpdates", 1)
		case lost(err, post.Channel, room) && post.Channel == room && errors.As(err, &e) && e.Kind == slackapi.MessageGone:
			// It was deleted: the rest of the day is not posted.
		case lost(err, post.Channel, room):
			post.TS, post.Digest = "", "" // it is in a channel of before
		default:
			return c.cleanupNotTaken(ctx, post, err)
		}
	}
	if post.TS == "" {
		var err error
		post.Sending = c.Now()
		if post, err = c.Postings.SavePosting(ctx, post); err != nil {
			return err
		}
		ts, err := c.sendCleanup(ctx, room, post.Thread, m)
		if err != nil {
			if answered := errors.As(err, new(*slackapi.Error)) && !unsure(err); answered {
				post.Sending = time.Time{} // nothing was sent
			}
			return c.cleanupNotTaken(ctx, post, err)
		}
		c.Count("SlackSummaries", 1)
		post.Channel, post.TS = room, ts
	}
	c.accepted(c.targetsOfSummary(post)...)
	post.Digest, post.Dirty, post.Sending = m.Digest(), false, time.Time{}
	_, err := c.savePosting(ctx, post)
	return err
}

func (c *Cluster) sendCleanup(ctx context.Context, room, thread string, m slackapi.Message) (ts string, err error) {
	if thread != "" {
		return c.Slack.Reply(ctx, room, thread, m)
	}
	return c.Slack.Post(ctx, room, m)
}

// cleanupNotTaken deals with what Slack did not take of a cleanup. Where the thread is gone
// with its message or its channel, it becomes a message of its own.
func (c *Cluster) cleanupNotTaken(ctx context.Context, post outbox.Posting, err error) error {
	if post.Thread != "" && lost(err, post.Channel, c.summariesOf(post.Summary.Cluster)) {
		post.Thread, post.Channel, post.TS, post.Digest, post.Sending = "", "", "", "", time.Time{}
		post, err = c.savePosting(ctx, post)
		if err != nil {
			return err
		}
		return c.sayCleanup(ctx, post)
	}
	c.postingNotTaken(ctx, post, err)
	if post.Sending.IsZero() && post.TS == "" {
		_, err = c.savePosting(ctx, post)
		return err
	}
	return nil
}

// unsure reports whether Slack may have taken what it did not answer to.
func unsure(err error) bool {
	var e *slackapi.Error
	return !errors.As(err, &e) || e.Kind == slackapi.Unavailable
}

// Cluster is the deliveries of one cluster in one invocation.
type Cluster struct {
	*Invocation
	name string
	// timeBudgetEnds is when the time of the cluster ends; zero is never.
	timeBudgetEnds time.Time
	record         outbox.ClusterRecord
	// newer is set where a newer version of Rollcall wrote the record: nothing is
	// held back for it, and it is left alone.
	newer bool
	// changed reports whether the record is to be written.
	changed bool
	// wanted are the targets for which something was due.
	wanted map[outbox.Target]bool
	// open reports whether incidents are not closed.
	open bool
	// owed reports whether something is still to be said of what no message comes about by itself.
	owed bool
	// silences are those of the cluster, also what is over.
	silences []silence.Silence
	// incidents and postings give its lists, see readAhead.
	incidents func(context.Context) ([]incident.Incident, error)
	postings  func(context.Context) ([]outbox.Posting, error)
}

// Cluster begins the time of a cluster, one of those that are left in this invocation, and
// reads all that is kept of it at once.
func (v *Invocation) Cluster(ctx context.Context, name string, left int) (*Cluster, error) {
	c := &Cluster{Invocation: v, name: name, timeBudgetEnds: endOfBudget(ctx, left), wanted: map[outbox.Target]bool{}}
	v.clusters[name] = c
	var g sync.WaitGroup
	record := readAhead(ctx, &g, name, v.Clusters.ClusterRecord)
	silences := readAhead(ctx, &g, name, v.Silences.Silences)
	c.incidents, c.postings = readAhead(ctx, &g, name, v.Incidents.Incidents), readAhead(ctx, &g, name, v.Postings.Postings)
	g.Wait()
	var err error
	c.record, err = record(ctx)
	if newer := new(store.NewerFormat); errors.As(err, &newer) {
		c.newer, err = true, nil
	}
	if err != nil {
		return c, err
	}
	// One that cannot be read may hide what would be told now: it is waited for.
	c.silences, err = silences(ctx)
	return c, err
}

// readAhead begins to read something of a cluster, and returns what gives it, or its error,
// at the first call, and reads it again at each later one: where a version is out of date.
func readAhead[T any](ctx context.Context, g *sync.WaitGroup, cluster string, read func(context.Context, string) (T, error)) func(context.Context) (T, error) {
	var ahead func() (T, error)
	g.Go(func() {
		got, err := read(ctx, cluster)
		ahead = func() (T, error) { return got, err }
	})
	return func(ctx context.Context) (T, error) {
		if now := ahead; now != nil {
			ahead = nil
			return now()
		}
		return read(ctx, cluster)
	}
}

// Standing are the silences of the cluster.
func (c *Cluster) Standing() []silence.Silence { return c.silences }

// Decide gives what becomes of a cluster's incidents: all of them, which of them
// changed, and the presses whose incident is not there. It is asked again where another
// invocation wrote in between.
type Decide func(incidents []incident.Incident, now time.Time) (after []incident.Incident, changed map[report.Key]bool, strays []incident.ActRecord)

// attempts bounds how often a cluster is decided anew because another
// invocation wrote in between. Two at once are rare (the queue gives one group
// to one invocation), three never seen.
const attempts = 4

// DeliverIncidents records what is decided, then says and tells it, and answers the
// presses that were refused before.
func (c *Cluster) DeliverIncidents(ctx context.Context, decide Decide, refused []incident.ActRecord) error {
	for attempt := 1; ; attempt++ {
		out, strays, err := c.recordIncidents(ctx, decide)
		var conflict *store.Conflict
		if errors.As(err, &conflict) && attempt < attempts {
			c.Count("LostRaces", 1)
			continue
		}
		if err != nil {
			return err
		}
		for _, o := range oldestFirst(out) {
			if err := c.deliver(ctx, o); err != nil {
				return err
			}
		}
		return c.answerStrays(ctx, append(strays, refused...))
	}
}

// recordIncidents decides, and writes what is to be said before it is said. It gives
// what is due now, also from earlier invocations.
func (c *Cluster) recordIncidents(ctx context.Context, decide Decide) (due []outgoing, strays []incident.ActRecord, _ error) {
	incidents, err := c.incidents(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := c.Now()
	incidents, changed, strays := decide(incidents, now)
	defer func() { c.logOpen(ctx, incidents, len(changed) > 0) }()
	for _, inc := range incidents {
		c.open = c.open || inc.State != incident.Closed
		c.noteOwedFiles(inc)
		if slices.ContainsFunc(inc.PendingEvents, func(e incident.Event) bool { return e.Words == nil }) {
			inc.PendingEvents = slices.Clone(inc.PendingEvents)
			inc.Word(slack.Words(inc, c.shows()))
		}
		o := c.dueOf(inc, now)
		c.prepare(ctx, o)
		if changed[inc.Key] {
			if o.inc, err = c.Incidents.SaveIncident(ctx, o.inc); err != nil {
				return nil, nil, err
			}
		}
		if o.due() {
			due = append(due, o)
		}
	}
	return due, strays, nil
}

// prepare starts Prepare, once in an invocation, for an incident that is due for Slack: it
// runs while the incident is recorded.
func (c *Cluster) prepare(ctx context.Context, o outgoing) {
	held := func(t outbox.Target) bool { return c.record.Held(t, c.Now()) }
	if c.Prepare == nil || c.prepared || c.slackDown || c.budgetSpent() || !o.forSlack() || slices.ContainsFunc(c.targetsOf(o.inc), held) {
		return
	}
	c.prepared = true
	c.preparing.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, CallTimeout)
		defer cancel()
		c.Prepare(ctx)
	})
}

// logOpen tells how many incidents a cluster has, where it has some or has just lost its
// last: the dashboard shows them (infra, dashboard).
func (c *Cluster) logOpen(ctx context.Context, incidents []incident.Incident, changed bool) {
	open, critical := 0, 0
	for _, inc := range incidents {
		if inc.State == incident.Closed {
			continue
		}
		if open++; inc.Severity() == incident.Critical {
			critical++
		}
	}
	if open > 0 || changed {
		c.Log.InfoContext(ctx, "incidents open", "cluster", c.name, "open", open, "critical", critical)
	}
}
