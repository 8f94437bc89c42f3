// Package response is what people and remedies do about an incident, and what
// becomes of it: who may acknowledge, mute, approve; which plan is offered, waits,
// expires, was done; who is called. All of it is pure.
package response

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/silence"
)

// May is whether a person may do what they pressed.
type May string

// The zero May is no: who was not looked up may not.
const (
	MayNot      May = ""
	MayYes      May = "yes"
	NoApprovers May = "nobody"  // no approvers are set
	Unknown     May = "unknown" // a user group could not be read
	// Foreign is a user of another workspace, or of one that is not known;
	// Unplaced is a user whose workspace could not be looked up.
	Foreign  May = "foreign"
	Unplaced May = "unplaced"
	// Guest is a guest of the workspace; Unlisted is a user who could not be
	// looked up.
	Guest    May = "guest"
	Unlisted May = "unlisted"
)

// Who is what is known of the person who pressed.
type Who struct {
	May May
	// Says is what could not be looked up, and why.
	Says string
}

// Refusal is why a person may not do what they asked for with a command; the zero Answer
// if they may.
func (w Who) Refusal() incident.Answer { return w.refusal(report.MuteFor) }

// refusal is why a person may not do what they pressed; the zero Answer if they may.
func (w Who) refusal(a report.Action) incident.Answer {
	switch w.May {
	case MayYes:
		return incident.Answer{}
	case NoApprovers:
		return incident.Answer{Reason: incident.NobodyAllowed}
	case Unknown:
		return incident.Answer{Reason: incident.GroupNotRead, Says: w.Says}
	case Foreign:
		return incident.Answer{Reason: incident.OtherWorkspace}
	case Guest:
		return incident.Answer{Reason: incident.IsGuest}
	case Unlisted:
		return incident.Answer{Reason: incident.GuestNotRead, Says: w.Says}
	case Unplaced:
		return incident.Answer{Reason: incident.WorkspaceNotRead, Says: w.Says}
	}
	if a == report.ApprovePlan || a == report.RefusePlan {
		return incident.Answer{Reason: incident.NotAllowed}
	}
	return incident.Answer{Reason: incident.NotResponder}
}

// askedAgain is how soon a check of an incident may be asked for again: each is
// a sweep of the cluster, and a press costs nothing.
const askedAgain = time.Minute

// Act decides what a press makes of its incident, and what the person reads.
// Nothing that the press says of itself is believed but who pressed what, which
// Slack has signed.
//
// What is refused changes nothing but the outbox: it is audited too.
func Act(inc incident.Incident, p report.Press, who Who, now time.Time) (incident.Decision, incident.Answer) {
	if slices.Contains(inc.Applied, p.ID) {
		return incident.Decision{Incident: inc, Reason: incident.AlreadyApplied}, incident.Answer{}
	}
	inc = inc.Clone()
	reason, answer := act(&inc, p, who, now)
	inc.MarkApplied(p.ID)
	inc.Acts = append(inc.Acts, acted(p, inc, answer, now))
	if reason != incident.PressRefused {
		inc.Delivery.Dirty = true
	}
	return incident.Decision{Incident: inc, Reason: reason, Changed: true}, answer
}

func act(inc *incident.Incident, p report.Press, who Who, now time.Time) (incident.Reason, incident.Answer) {
	if a, wrong := misplaced(inc, p); wrong {
		return incident.PressRefused, a
	}
	if a := who.refusal(p.Action); a.Reason != "" {
		return incident.PressRefused, a
	}
	switch p.Action {
	case report.Acknowledge:
		if inc.Ack != nil {
			return incident.PressRefused, incident.Answer{Reason: incident.AlreadyTaken, By: inc.Ack.By, When: inc.Ack.At}
		}
		inc.Ack = &incident.Ack{By: p.User, At: now}
		inc.AddEvent(incident.IsAcknowledged, now)
		return incident.IsAcknowledged, incident.Answer{Reason: incident.AnswerAcknowledged}
	case report.TakeOver:
		return takeOver(inc, p, now)
	case report.MuteFor:
		if p.For != time.Hour && p.For != 4*time.Hour && p.For != 24*time.Hour {
			return incident.PressRefused, incident.Answer{Reason: incident.NoSuchTime}
		}
		// From the press on, so that a press that is delivered late or twice
		// does not last longer.
		inc.Mute = &incident.Mute{By: p.User, At: p.At, Until: p.At.Add(p.For)}
		inc.Mutes++
		return incident.IsMuted, incident.Answer{Reason: incident.AnswerMuted, Until: inc.Mute.Until}
	case report.Unmute:
		if !inc.Muted(now) {
			return incident.PressRefused, incident.Answer{Reason: incident.NotMuted}
		}
		inc.Mute = nil
		return incident.IsUnmuted, incident.Answer{Reason: incident.AnswerUnmuted}
	case report.CheckAgain:
		if next := inc.Asked.Add(askedAgain); now.Before(next) {
			return incident.PressRefused, incident.Answer{Reason: incident.AskedJustNow, Until: next}
		}
		inc.Asked = now
		inc.AddEvent(incident.IsAsked, now)
		planAnew(inc, now)
		return incident.IsAsked, incident.Answer{Reason: incident.AnswerChecking}
	case report.OfferAgain:
		if next := inc.Asked.Add(askedAgain); now.Before(next) {
			return incident.PressRefused, incident.Answer{Reason: incident.AskedJustNow, Until: next}
		}
		if !planAnew(inc, now) {
			return incident.PressRefused, incident.Answer{Reason: incident.NothingRanOut}
		}
		inc.Asked = now
		return incident.IsDue, incident.Answer{Reason: incident.AnswerOffering}
	case report.ApprovePlan, report.RefusePlan:
		return decideOffer(inc, p, now)
	case report.SayRight, report.SayWrong, report.SayNotUseful:
		inc.AddFeedback(incident.Feedback{By: p.User, At: now, Number: inc.Number, Says: p.Action})
		return incident.HasFeedback, incident.Answer{Reason: incident.AnswerFeedback}
	case report.SayMore:
		if !inc.AddFeedbackText(p.User, p.Text) {
			return incident.PressRefused, incident.Answer{Reason: incident.NoFeedback}
		}
		return incident.HasFeedback, incident.Answer{Reason: incident.AnswerNoted}
	}
	return incident.PressRefused, incident.Answer{Reason: incident.UnknownAction}
}

// planAnew has remediate look again at what ran out: it makes a fresh plan, which is
// offered for its own time, or says why there is none. Nothing of the old approval's
// time is carried over, and what a person refused stays refused.
func planAnew(inc *incident.Incident, now time.Time) bool {
	if len(inc.RanOut(now)) == 0 {
		return false
	}
	inc.AddEvent(incident.IsDue, now)
	return true
}

// takeOver gives an incident to whoever pressed. Who had it stays on the record,
// and reads it in the thread.
func takeOver(inc *incident.Incident, p report.Press, now time.Time) (incident.Reason, incident.Answer) {
	if inc.Ack == nil {
		inc.Ack = &incident.Ack{By: p.User, At: now}
		inc.AddEvent(incident.IsAcknowledged, now)
		return incident.IsAcknowledged, incident.Answer{Reason: incident.AnswerAcknowledged}
	}
	before := *inc.Ack
	if before.By.ID == p.User.ID {
		return incident.PressRefused, incident.Answer{Reason: incident.AlreadyYours, When: before.At}
	}
	inc.Ack = &incident.Ack{By: p.User, At: now, From: &before.By}
	inc.AddEvent(incident.IsTakenOver, now)
	if n := inc.AddNote(incident.IsTakenOver, now); n != nil {
		n.Ack = inc.Ack
	}
	return incident.IsTakenOver, incident.Answer{Reason: incident.AnswerTakenOver, By: before.By, When: before.At}
}

// misplaced finds a press that is not for this incident as it is now.
func misplaced(inc *incident.Incident, p report.Press) (incident.Answer, bool) {
	said := inc.Delivery
	// What is written about feedback is written into the answer to it, which the person alone sees.
	elsewhere := said.TS != "" && p.TS != said.TS && p.Thread != said.TS && p.Action != report.SayMore || said.Channel != "" && p.Channel != said.Channel
	switch {
	case inc.Number == 0 || inc.Key != p.Key:
		return incident.Answer{Reason: incident.IncidentNotFound}, true
	case inc.State == incident.Closed && !p.Action.IsFeedback():
		return incident.Answer{Reason: incident.IncidentClosed, When: inc.Resolved}, true
	case p.Number != 0 && p.Number != inc.Number, p.At.Before(inc.Opened.Truncate(time.Second)), elsewhere:
		// Slack tells the time of a press in seconds.
		return incident.Answer{Reason: incident.EarlierOpening, When: inc.Opened}, true
	case inc.State != incident.Closed && p.Action.IsFeedback():
		return incident.Answer{Reason: incident.NotOver}, true
	}
	return incident.Answer{}, false
}

// decideOffer takes the yes or no to a plan of a person who may say it.
func decideOffer(inc *incident.Incident, p report.Press, now time.Time) (incident.Reason, incident.Answer) {
	o := offerOf(inc, p.Plan)
	if o == nil {
		return incident.PressRefused, incident.Answer{Reason: incident.NoSuchPlan}
	}
	if a, decided := whyTooLate(inc, o, p, incident.Later(now, p.At)); decided {
		return incident.PressRefused, a
	}
	o.By, o.Decided = p.User, now
	if p.Action == report.RefusePlan {
		o.State = incident.RefusedByUs
		noteOffer(inc, incident.IsRefused, *o, now)
		return incident.IsRefused, incident.Answer{Reason: incident.AnswerRefused, Remedy: o.Plan.Remedy, State: o.State}
	}
	o.State = incident.Approved
	addApproval(inc, *o, now)
	noteOffer(inc, incident.IsApproved, *o, now)
	return incident.IsApproved, incident.Answer{Reason: incident.AnswerApproved, Remedy: o.Plan.Remedy, State: o.State}
}

// offerOf is the newest offer of exactly that plan.
func offerOf(inc *incident.Incident, hash string) *incident.Offer {
	if hash == "" {
		return nil
	}
	for i := range slices.Backward(inc.Offers) {
		if inc.Offers[i].Hash == hash {
			return &inc.Offers[i]
		}
	}
	return nil
}

// ranOutBefore is the offer that a press was of, if its time is over and the same
// plan was offered anew since: a press may have been a dead letter meanwhile.
func ranOutBefore(inc *incident.Incident, p report.Press) *incident.Offer {
	for i := range slices.Backward(inc.Offers) {
		o := &inc.Offers[i]
		if o.Hash == p.Plan && o.State == incident.Expired && !o.Made.Before(inc.Opened) && !p.At.Before(o.Made.Truncate(time.Second)) {
			return o
		}
	}
	return nil
}

// whyTooLate tells why an offer cannot be approved or refused any more.
func whyTooLate(inc *incident.Incident, o *incident.Offer, p report.Press, now time.Time) (incident.Answer, bool) {
	a := incident.Answer{Remedy: o.Plan.Remedy, State: o.State}
	switch {
	case o.State == incident.Outdated:
		a.Reason, a.Says = incident.PlanChanged, o.Says
	case o.State == incident.Expired, o.State == incident.Offered && !now.Before(o.Expires):
		a.Reason, a.Until = incident.PlanExpired, o.Expires
	case o.State == incident.Deferred:
		a.Reason, a.Until = incident.NotNow, o.After
	case o.State != incident.Offered:
		a.Reason, a.By, a.When = incident.AlreadyDecided, o.By, o.Decided
	case o.Hash != o.Plan.Hash():
		a.Reason = incident.PlanChanged // the record does not hold what the person saw
	case p.At.Before(o.Made.Truncate(time.Second)), o.Made.Before(inc.Opened):
		// The button was of an earlier offer of it, or the offer is of an earlier
		// opening, which remediate does not look at.
		a.Reason = incident.PlanChanged
		if ran := ranOutBefore(inc, p); ran != nil {
			a.Reason, a.State, a.Until = incident.PlanExpired, ran.State, ran.Expires
		}
	case p.Action == report.ApprovePlan && inc.State == incident.Cleared && !remedy.ByName(o.Plan.Remedy).AfterCause:
		a.Reason = incident.CauseIsGone
	default:
		return incident.Answer{}, false
	}
	return a, true
}

// addApproval puts the approval into the outbox, with its plan.
func addApproval(inc *incident.Incident, o incident.Offer, at time.Time) {
	inc.AddEvent(incident.IsApproved, at)
	inc.PendingEvents[len(inc.PendingEvents)-1].Offer = &o
}

// noteOffer says in the thread what became of an offer.
func noteOffer(inc *incident.Incident, r incident.Reason, o incident.Offer, at time.Time) {
	if n := inc.AddNote(r, at); n != nil {
		n.Offer = &o
		inc.SplitLine()
	}
}

// acted is the record of a press on an incident.
func acted(p report.Press, inc incident.Incident, a incident.Answer, now time.Time) incident.ActRecord {
	return incident.ActRecord{
		Format: incident.RecordFormat, ID: p.ID, At: p.At, Decided: now,
		Key: p.Key, Number: inc.Number, Opened: inc.Opened,
		Action: p.Action, For: p.For, Plan: p.Plan, Remedy: a.Remedy,
		User: p.User, Team: p.Team, Home: p.Home, Channel: p.Channel, TS: p.TS, Thread: p.Thread,
		Answer: a,
	}
}

// NotFound is what comes of a press whose incident there is not.
func NotFound(p report.Press, now time.Time) incident.ActRecord {
	return Refused(p, incident.Answer{Reason: incident.IncidentNotFound}, now)
}

// Refused is the audit record of a press that was not let in.
func Refused(p report.Press, a incident.Answer, now time.Time) incident.ActRecord {
	return acted(p, incident.Incident{}, a, now)
}

// MostCalls is how often people are called for one opening of an incident: when
// it opens, and three times after. With the default of 30 minutes that is an
// hour and a half; whoever has not come by then does not come because of a
// fifth call, and a channel that calls for ever is muted by everybody. Only others are
// called after that, once.
const MostCalls = 4

// leastCalm is how long it is calm after a call at the least, also when an
// incident is resolved and comes back meanwhile: the least of the setting
// remindAfter.
const leastCalm = 5 * time.Minute

// callPeople calls the people whom a route names, in the thread and shown in the
// channel, while an incident is critical and not acknowledged. After the last reminder it
// calls once those to whom the route escalates.
func callPeople(inc *incident.Incident, now time.Time, policy incident.Policy) incident.Reason {
	if !needsPeople(inc, now) || inc.Calls > MostCalls {
		return incident.NothingNew
	}
	calm := max(policy.RemindAfter, leastCalm)
	switch {
	case inc.Calls > 0 && policy.RemindAfter <= 0:
		return incident.NothingNew
	case now.Sub(inc.Called) < calm: // never called is long ago
		return incident.NothingNew
	case slices.ContainsFunc(inc.Delivery.Notes, func(n incident.Note) bool { return (isCall(n) || len(n.Mention) > 0) && n.TS == "" }):
		return incident.NothingNew // Slack has not taken the last one yet
	}
	_, mentions := incident.Route(*inc, policy)
	if len(mentions) == 0 {
		return incident.NothingNew
	}
	reason := incident.IsCalled
	switch {
	case inc.Calls == MostCalls:
		if mentions = incident.Escalation(*inc, policy); len(mentions) == 0 {
			return incident.NothingNew
		}
		reason = incident.IsEscalated
	case inc.Calls > 0:
		reason = incident.IsReminded
	}
	inc.Called, inc.Calls = now, inc.Calls+1
	if n := lineOf(inc, now); n != nil {
		n.Mention = mentions // one line for both
		return reason
	}
	if n := inc.AddNote(reason, now); n != nil {
		n.Mention = mentions
	}
	return reason
}

// lineOf is what the channel gets now anyway; nil for nothing.
func lineOf(inc *incident.Incident, now time.Time) *incident.Note {
	inc.Delivery.Notes = slices.Clone(inc.Delivery.Notes)
	for i := range slices.Backward(inc.Delivery.Notes) {
		if n := &inc.Delivery.Notes[i]; n.Line && n.TS == "" && n.Sending.IsZero() && n.At.Equal(now) {
			return n
		}
	}
	return nil
}

// needsPeople reports whether people are to be called.
func needsPeople(inc *incident.Incident, now time.Time) bool {
	return inc.State == incident.Open && inc.Severity() == incident.Critical && inc.Ack == nil && !inc.Muted(now) && inc.Silence == nil
}

// withdrawCalls takes back calls that Slack was not given in time: no responder is called
// for what is over, or taken on.
func withdrawCalls(inc *incident.Incident, now time.Time) incident.Reason {
	if needsPeople(inc, now) {
		return incident.NothingNew
	}
	before, calmed := len(inc.Delivery.Notes), false
	inc.Delivery.Notes = slices.Clone(inc.Delivery.Notes)
	for i := range inc.Delivery.Notes {
		if n := &inc.Delivery.Notes[i]; !isCall(*n) && len(n.Mention) > 0 && n.TS == "" && n.Sending.IsZero() {
			n.Mention, calmed = nil, true
		}
	}
	inc.Delivery.Notes = slices.DeleteFunc(inc.Delivery.Notes, func(n incident.Note) bool { return isCall(n) && n.TS == "" && n.Sending.IsZero() })
	if len(inc.Delivery.Notes) == before && !calmed {
		return incident.NothingNew
	}
	return incident.IsCalmed
}

func isCall(n incident.Note) bool {
	return n.Reason == incident.IsCalled || n.Reason == incident.IsReminded || n.Reason == incident.IsEscalated
}

// maxChanges and maxWord bound what an incident keeps of CloudTrail: 50 calls of
// at most 2 KB each are a quarter of an item of the table. IAM's longest names
// and ARNs fit.
const (
	MaxChanges = 50
	maxWord    = 300
)

// ApplyAlert decides what becomes of an incident whose alert a responder acknowledged or
// resolved elsewhere. An acknowledgement is as good as one in Slack. A resolved alert ends
// nothing, as only a check's pass does: the thread says so, and reminders go on.
func ApplyAlert(inc incident.Incident, a report.AlertChange, now time.Time) incident.Decision {
	switch {
	case slices.Contains(inc.Applied, a.ID):
		return incident.Decision{Incident: inc, Reason: incident.AlreadyApplied}
	case inc.Number == 0, inc.State == incident.Closed, !a.Opened.Equal(inc.Opened), a.When.Before(inc.Opened.Truncate(time.Second)):
		// Services return times in seconds.
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate}
	case a.In == "", a.State != report.AlertAcknowledged && a.State != report.AlertResolved, a.When.After(now.Add(pressAhead)):
		return incident.Decision{Incident: inc, Reason: incident.IsMalformed}
	case a.State == report.AlertAcknowledged && inc.Ack != nil:
		return incident.Decision{Incident: inc, Reason: incident.NothingNew}
	}
	inc = inc.Clone()
	inc.MarkApplied(a.ID)
	inc.Delivery.Dirty = true
	ack := incident.Ack{By: report.User{Name: a.By}, At: a.When, In: a.In}
	if a.State == report.AlertAcknowledged {
		inc.Ack = &ack
		inc.AddEvent(incident.IsAcknowledged, now)
		return incident.Decision{Incident: inc, Reason: incident.IsAcknowledged, Changed: true}
	}
	if n := inc.AddNote(incident.IsAlertResolved, now); n != nil {
		n.Ack = &ack
	}
	return incident.Decision{Incident: inc, Reason: incident.IsAlertResolved, Changed: true}
}

// ApplyChanges takes in what was changed before an incident began. It is said
// in the thread when there is something, and once more when CloudTrail has
// everything and brought more meanwhile: the message promises that all of it is
// there. What comes in between edits the message.
func ApplyChanges(inc incident.Incident, c report.Changes, now time.Time) incident.Decision {
	switch {
	case slices.Contains(inc.Applied, c.ID):
		return incident.Decision{Incident: inc, Reason: incident.AlreadyApplied}
	case inc.Number == 0 || !c.Opened.Equal(inc.Opened):
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate}
	}
	inc = inc.Clone()
	trail := c.Found
	trail.Changes, trail.Shown = slices.Clone(trail.Changes), 0
	if inc.RecentChanges != nil {
		trail = mergeChanges(trail, *inc.RecentChanges)
	}
	trail = boundedChanges(trail)
	inc.RecentChanges = &trail
	inc.MarkApplied(c.ID)
	inc.Delivery.Dirty = true
	reason := incident.NothingNew
	first, late := !inc.HasNote(incident.HasChanges), len(trail.Changes) > trail.Shown
	if first && (len(trail.Changes) > 0 || !trail.Open) || late && !trail.Open {
		reason = incident.HasChanges
		if n := inc.AddNote(incident.HasChanges, now); n != nil {
			trail.Shown = len(trail.Changes)
			n.RecentChanges = &trail
		}
	}
	return incident.Decision{Incident: inc, Reason: reason, Changed: true}
}

// mergeChanges is a trail and what was known before: a later look that could not see
// everything takes nothing away.
func mergeChanges(t report.RecentChanges, known report.RecentChanges) report.RecentChanges {
	for _, c := range known.Changes {
		if !slices.ContainsFunc(t.Changes, func(have report.Change) bool { return have.ID == c.ID }) {
			t.Changes = append(t.Changes, c)
		}
	}
	t.More, t.Shown = max(t.More, known.More), known.Shown
	return t
}

// boundedChanges is a trail, newest first, as long as a record keeps it.
func boundedChanges(t report.RecentChanges) report.RecentChanges {
	slices.SortStableFunc(t.Changes, func(a, b report.Change) int { return b.At.Compare(a.At) })
	kept := min(len(t.Changes), MaxChanges)
	t.Changes, t.More = t.Changes[:kept], t.More+len(t.Changes)-kept
	for i := range t.Changes {
		c := &t.Changes[i]
		for _, word := range []*string{&c.ID, &c.Call, &c.Resource, &c.Actor, &c.Principal, &c.By, &c.Error} {
			*word = short(*word)
		}
	}
	t.LastGood, t.Blind = short(t.LastGood), short(t.Blind)
	return t
}

func short(s string) string {
	if len(s) <= maxWord {
		return s
	}
	return strings.ToValidUTF8(s[:maxWord], "") + "…"
}

// usuallyLasts is how long a plan may be approved that does not say so: the
// default of the setting approvalTime; longest is the setting's bound.
const (
	usuallyLasts    = time.Hour
	LongestApproval = 24 * time.Hour
)

// Propose takes in a plan that remediate made, or takes one back. A plan that
// is on its way to be done stays until its run is reported.
func Propose(inc incident.Incident, p report.Proposal, now time.Time) incident.Decision {
	switch {
	case slices.Contains(inc.Applied, p.ID):
		return incident.Decision{Incident: inc, Reason: incident.AlreadyApplied}
	case !proposalIsSound(p):
		return incident.Decision{Incident: inc, Reason: incident.IsMalformed}
	case inc.Number == 0 || inc.State == incident.Closed || p.At.Before(inc.Opened):
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate}
	case p.Hash != "" && inc.State == incident.Cleared && !remedy.ByName(p.Remedy).AfterCause:
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate} // the cause is gone
	case isWait(p) && !mayWait(&inc, p):
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate} // or is back
	}
	inc = inc.Clone()
	reason := propose(&inc, p, now)
	if reason == incident.NothingNew || reason == incident.OutOfDate {
		return incident.Decision{Incident: inc, Reason: reason}
	}
	inc.MarkApplied(p.ID)
	inc.Delivery.Dirty = true
	return incident.Decision{Incident: inc, Reason: reason, Changed: true}
}

// proposalIsSound reports whether a proposal is one plan, for the incident that it names.
func proposalIsSound(p report.Proposal) bool {
	if p.Hash == "" {
		return p.Remedy != ""
	}
	return p.Hash == p.Plan.Hash() && isSmall(p) && p.Plan.Format == remedy.Format && p.Plan.Remedy == p.Remedy &&
		isOf(p.Plan, p.Key) && p.Plan.Cluster == p.Key.Cluster && p.Plan.Check == p.Key.Check && p.Plan.Resource == p.Key.Resource &&
		(p.Policy == optin.Approve || p.Policy == optin.Auto)
}

// isOf reports whether a plan is of the account and region of an incident, where that is a
// spoke's.
func isOf(p remedy.Plan, k report.Key) bool {
	return k.Spoke.Hub() || p.Account == k.Spoke.Account && p.Region == k.Spoke.Region
}

// maxPlan is how large a plan may be: an incident keeps six of them, some twice
// (in the run, in a note, in an event), in an item of 400 KB. The largest, of
// 200 interfaces, has 6 KB.
const maxPlan = 16 << 10

func isSmall(p report.Proposal) bool {
	body, err := json.Marshal(p.Plan)
	return err == nil && len(body) <= maxPlan
}

func propose(inc *incident.Incident, p report.Proposal, now time.Time) incident.Reason {
	last := newestOffer(inc, p.Remedy, func(incident.Offer) bool { return true })
	live := newestOffer(inc, p.Remedy, incident.Offer.Live)
	switch {
	case last != nil && p.At.Before(last.Made):
		return incident.OutOfDate
	case isWait(p):
		return deferOffer(inc, p, now)
	case last != nil && !p.At.After(last.Made):
		return incident.OutOfDate
	case live != nil && live.State == incident.Approved && (live.Policy == optin.Approve || live.Run != nil || live.Hash == p.Hash):
		// A person's yes stands until its run is reported; the policy's only as long
		// as it is of what would be done now.
		return incident.NothingNew
	case p.Hash == "" && live != nil && live.State == incident.Deferred:
		inc.EndWait(live, p.Says)
		return incident.IsOutdated
	case p.Hash == "" && live != nil:
		live.State, live.Says = incident.Outdated, p.Says
		return incident.IsOutdated
	case p.Hash == "":
		return keepWhyNone(inc, p, last)
	case live != nil && live.Hash == p.Hash && live.Policy == p.Policy && now.Before(live.Expires):
		live.Expires = incident.Later(live.Expires, expiryOf(p)) // a fresh look gave the same plan
		return incident.IsRenewed
	case answeredBefore(inc, p.Hash):
		return incident.NothingNew
	}
	again := followsWait(inc, p.Remedy)
	known := offerOf(inc, p.Hash) != nil && (live == nil || live.State != incident.Deferred)
	wanted := live != nil && live.State == incident.Offered && now.Before(live.Expires)
	switch {
	case live == nil:
	case live.State == incident.Deferred:
		inc.ForgetOffer(live)
	case live.State == incident.Offered && !now.Before(live.Expires):
		live.State = incident.Expired // and no look came until now
	default:
		live.State, live.Says = incident.Outdated, "another plan took its place"
	}
	o := incident.Offer{Plan: p.Plan, Hash: p.Hash, Policy: p.Policy, State: incident.Offered, Made: p.At, Expires: expiryOf(p), Says: p.Says, Follows: p.Follows, Again: again}
	if p.Policy == optin.Auto {
		o.State, o.Decided = incident.Approved, now
	}
	keepOffer(inc, o)
	if o.State == incident.Approved {
		approveByPolicy(inc, p, o, now)
		return incident.IsApproved
	}
	switch {
	case known:
	case wanted && o.Plan.Size() <= live.Plan.Size(): // a decision was wanted already: that it is on another plan now is a reply
		lined := inc.Lined
		if n := inc.AddNote(incident.IsProposed, now); n != nil {
			n.Offer, n.Line = &o, false
		}
		inc.Lined = lined
	default:
		noteOffer(inc, incident.IsProposed, o, now)
	}
	return incident.IsProposed
}

// keepWhyNone keeps why there is no plan for a remedy: a person who waits for its
// button is to know. What became of an earlier plan is worth more.
func keepWhyNone(inc *incident.Incident, p report.Proposal, last *incident.Offer) incident.Reason {
	switch {
	case p.Says == "":
		return incident.NothingNew
	case last == nil:
		keepOffer(inc, incident.Offer{Plan: remedy.Plan{Remedy: p.Remedy}, Policy: p.Policy, State: incident.Outdated, Made: p.At, Says: p.Says})
		return incident.IsOutdated
	case last.State != incident.Outdated || last.Says == p.Says:
		return incident.NothingNew
	}
	last.Says = p.Says
	return incident.IsOutdated
}

// approveByPolicy records that the policy approved a plan. remediate acts on its own then;
// only eni-cleanup, which deletes interfaces, waits to be told.
func approveByPolicy(inc *incident.Incident, p report.Proposal, o incident.Offer, now time.Time) {
	inc.Acts = append(inc.Acts, incident.ActRecord{
		Format: incident.RecordFormat, ID: p.ID, At: p.At, Decided: now, Key: inc.Key, Number: inc.Number, Opened: inc.Opened,
		Action: report.ApprovePlan, Plan: p.Hash, Remedy: p.Remedy,
		Answer: incident.Answer{Reason: incident.AnswerApproved, Remedy: p.Remedy, State: incident.Approved},
	})
	if remedy.ByName(p.Remedy).Elsewhere != "" {
		addApproval(inc, o, now)
	}
}

// newestOffer is the last of some offers of a remedy.
func newestOffer(inc *incident.Incident, r optin.Remedy, of func(incident.Offer) bool) *incident.Offer {
	for i := range slices.Backward(inc.Offers) {
		if inc.Offers[i].Plan.Remedy == r && of(inc.Offers[i]) {
			return &inc.Offers[i]
		}
	}
	return nil
}

// answeredBefore reports whether exactly this plan had its answer in this opening: a person
// said no, or it was done. It is not offered again; what AWS or a rule refused
// may be.
func answeredBefore(inc *incident.Incident, hash string) bool {
	return slices.ContainsFunc(inc.Offers, func(o incident.Offer) bool {
		if o.Hash != hash {
			return false
		}
		failed := o.Run != nil && (o.Run.Result == remedy.Refused || o.Run.Result == remedy.Failed)
		return o.State == incident.RefusedByUs || o.State == incident.Helped || o.State == incident.Unhelpful || o.State == incident.Acted && !failed
	})
}

func expiryOf(p report.Proposal) time.Time {
	lasts := min(p.Lasts, LongestApproval)
	if lasts <= 0 {
		lasts = usuallyLasts
	}
	return p.At.Add(lasts)
}

// keepOffer adds an offer, and forgets the oldest that is over when there are too many.
func keepOffer(inc *incident.Incident, o incident.Offer) {
	inc.Offers = append(inc.Offers, o)
	for over := len(inc.Offers) - incident.MaxOffers; over > 0; over-- {
		i := slices.IndexFunc(inc.Offers, func(o incident.Offer) bool { return o.Over() })
		if i < 0 { // what was replaced in parts is verified by the newest part
			i = slices.IndexFunc(inc.Offers, func(x incident.Offer) bool {
				return x.State == incident.Acted && incident.IsReplacement(x) && incident.IsReplacement(o)
			})
		}
		if i < 0 || i == len(inc.Offers)-1 {
			return
		}
		inc.Offers = slices.Delete(inc.Offers, i, i+1)
	}
}

// ApplyRemedyResult takes in what a remedy did. It did it whatever the record says: a
// run of a plan that is not known here any more is kept too.
func ApplyRemedyResult(inc incident.Incident, d report.RemedyResult, now time.Time) incident.Decision {
	switch {
	case slices.Contains(inc.Applied, d.ID):
		return incident.Decision{Incident: inc, Reason: incident.AlreadyApplied}
	case !runIsSound(d):
		return incident.Decision{Incident: inc, Reason: incident.IsMalformed}
	case inc.Number == 0:
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate}
	}
	inc = inc.Clone()
	o := offerOfRun(&inc, d.Run)
	if o.Run != nil && !follows(d.Run, *o.Run) {
		return incident.Decision{Incident: inc, Reason: incident.OutOfDate}
	}
	run := d.Run
	o.Run = &run
	inc.MarkApplied(d.ID)
	inc.Delivery.Dirty = true
	if run.Result == "" { // written ahead, not done yet
		return incident.Decision{Incident: inc, Reason: incident.NothingNew, Changed: true}
	}
	if !o.HasVerdict() {
		o.State = incident.Acted
	}
	reason := incident.RemedyFailed
	if run.Result == remedy.Done {
		reason = incident.RemedyDone
	}
	noteOffer(&inc, reason, *o, now)
	inc.AddActed(reason, *o, now)
	if inc.VerifyRemedies(); o.HasVerdict() {
		noteOffer(&inc, map[incident.OfferState]incident.Reason{incident.Helped: incident.IsVerified, incident.Unhelpful: incident.IsUnhelpful}[o.State], *o, now)
	}
	if p := nextWait(d); isWait(p) && mayWait(&inc, p) {
		deferOffer(&inc, p, now)
	}
	return incident.Decision{Incident: inc, Reason: reason, Changed: true}
}

// runIsSound reports whether a run is of the plan that it says, for the incident that it
// names.
func runIsSound(d report.RemedyResult) bool {
	p := d.Run.Plan
	return d.Run.ID != "" && d.Run.Hash == p.Hash() && isOf(p, d.Key) && p.Cluster == d.Key.Cluster && p.Check == d.Key.Check && p.Resource == d.Key.Resource
}

// offerOfRun is the offer that a run is of, made if need be.
func offerOfRun(inc *incident.Incident, d remedy.Run) *incident.Offer {
	for i := range inc.Offers {
		if o := &inc.Offers[i]; o.Run != nil && o.Run.ID == d.ID {
			return o
		}
	}
	if o := offerOf(inc, d.Hash); o != nil && o.Run == nil {
		return o
	}
	keepOffer(inc, incident.Offer{Plan: d.Plan, Hash: d.Hash, Policy: d.Policy, State: incident.Acted, Made: d.Began, Decided: d.Approved, By: report.User{ID: d.ApprovedBy}})
	return &inc.Offers[len(inc.Offers)-1]
}

// follows reports whether a run says more than what is known of it: what was
// uncertain may be known later, and what was refused, by the limit of an hour,
// may be done by the next run. What was done, or failed, does not change.
func follows(d, known remedy.Run) bool {
	open := known.Result == "" || known.Result == remedy.Uncertain || known.Result == remedy.Refused
	return open && d.Result != "" && d.Result != known.Result
}

// Silence decides what the silences of a cluster make of an incident of it: nothing is said
// of it, no responder is called and nothing is offered while one hides it. What is there when
// that ends is posted then; what came and went meanwhile is on record alone.
func Silence(inc incident.Incident, list []silence.Silence, now time.Time) incident.Decision {
	nothing := incident.Decision{Incident: inc, Reason: incident.NothingNew}
	if inc.Number == 0 || inc.State == incident.Closed && inc.Silence == nil {
		return nothing
	}
	by, hidden := silence.Hiding(list, inc.Subject(), now)
	if hidden && inc.State != incident.Closed {
		return hide(inc, by, now)
	}
	if inc.Silence == nil {
		return nothing
	}
	inc = inc.Clone()
	inc.Silence = nil
	inc.Changed = now
	if inc.State == incident.Closed && !inc.Posted() {
		inc.Delivery.Notes, inc.Delivery.Dirty, inc.Chart = nil, false, nil // it was never posted
		return incident.Decision{Incident: inc, Reason: incident.IsUnsilenced, Changed: true}
	}
	inc.Delivery.Dirty = true
	if inc.State != incident.Closed {
		inc.AddEvent(incident.IsUnsilenced, now)
		if inc.Posted() {
			inc.AddNote(incident.IsUnsilenced, now)
		}
	}
	return incident.Decision{Incident: inc, Reason: incident.IsUnsilenced, Changed: true}
}

// hide writes down which silence hides an incident.
func hide(inc incident.Incident, by silence.Silence, now time.Time) incident.Decision {
	is := incident.Silenced{ID: by.ID, By: report.User(by.By), At: by.At, Until: by.Ends(now), Reason: by.Reason}
	if inc.Silence != nil && *inc.Silence == is {
		return incident.Decision{Incident: inc, Reason: incident.NothingNew}
	}
	inc = inc.Clone()
	inc.Silence = &is
	inc.Delivery.Dirty = true
	for i := range inc.PendingEvents {
		if e := &inc.PendingEvents[i]; !e.At.Before(now) {
			e.Silenced = true // of this very moment: it opened, and is hidden from the start
		}
	}
	return incident.Decision{Incident: inc, Reason: incident.IsSilenced, Changed: true}
}

// unheard is how long after an approval its run should have been told:
// remediate is woken within seconds, its queue tries again for some minutes.
// unended is the same of one that was written ahead: a run of deletes takes up
// to a quarter of an hour (Lambda), and may have to be begun again.
const (
	unheard = 15 * time.Minute
	unended = time.Hour
)

// Tick tells what the passing of time makes of an incident: plans expire, mutes
// end, people are called again. It is given each incident whenever its cluster
// is looked at, every five minutes at the least.
func Tick(inc incident.Incident, now time.Time, policy incident.Policy) incident.Decision {
	if inc.Number == 0 {
		return incident.Decision{Incident: inc, Reason: incident.NothingNew}
	}
	inc = inc.Clone()
	top := incident.NothingNew
	for _, step := range []func(*incident.Incident, time.Time) incident.Reason{expireOffers, wakeDeferred, endMute, withdrawCalls, closeUnheard} {
		if r := step(&inc, now); r != incident.NothingNew {
			top = r
		}
	}
	if r := callPeople(&inc, now, policy); r != incident.NothingNew {
		top = r
	}
	if top == incident.NothingNew {
		return incident.Decision{Incident: inc, Reason: incident.NothingNew}
	}
	inc.Delivery.Dirty = true
	return incident.Decision{Incident: inc, Reason: top, Changed: true}
}

func expireOffers(inc *incident.Incident, now time.Time) incident.Reason {
	reason := incident.NothingNew
	for i := range inc.Offers {
		o := &inc.Offers[i]
		lost := o.State == incident.Approved && (o.Run == nil && now.Sub(o.Decided) >= unheard || o.Run != nil && now.Sub(o.Run.Began) >= unended)
		if now.Before(o.Expires) || o.State != incident.Offered && !lost {
			continue
		}
		if o.State = incident.Expired; lost {
			o.Says = "it was approved, but no result arrived"
		}
		reason = incident.IsExpired
	}
	return reason
}

func endMute(inc *incident.Incident, now time.Time) incident.Reason {
	if inc.Mute == nil || now.Before(inc.Mute.Until) {
		return incident.NothingNew
	}
	inc.Mute = nil
	return incident.IsUnmuted
}

// closeUnheard closes an incident of which nothing was heard for long.
func closeUnheard(inc *incident.Incident, now time.Time) incident.Reason {
	t := inc.AfterSilence(now)
	if t.None() {
		return incident.NothingNew
	}
	inc.Apply(t, now)
	inc.Changed = now
	inc.AddNote(t.Reason, now)
	inc.AddEvent(t.Reason, now)
	return t.Reason
}

// PressLasts is how old a press may be when report decides on it: an hour's
// outage, the half hour in which the queue tries a message, and time for an operator
// to move it back from the dead-letter queue. What a person saw longer ago than
// that, they look at again.
const PressLasts = 3 * time.Hour

// pressAhead is how far the clocks of two functions may differ.
const pressAhead = time.Minute

// VetPress checks that a press is one that slack-actions passed on, whole and of a
// time near now: the zero Answer is yes. Digest is that of the message in which
// it came; a nil record is one that is not there.
func VetPress(p report.Press, digest string, record *report.PressRecord, now time.Time) incident.Answer {
	return vet(p.At, p.Channel != "" && p.TS != "" && p.User.ID != "", digest, record, now)
}

// VetCommand is the same of a command.
func VetCommand(c report.Command, digest string, record *report.PressRecord, now time.Time) incident.Answer {
	return vet(c.At, c.User.ID != "", digest, record, now)
}

func vet(at time.Time, complete bool, digest string, record *report.PressRecord, now time.Time) incident.Answer {
	switch age := now.Sub(at); {
	case record == nil || record.Digest == "" || record.Digest != digest:
		return incident.Answer{Reason: incident.NotPassedOn}
	case !complete:
		return incident.Answer{Reason: incident.Incomplete}
	case age > PressLasts:
		return incident.Answer{Reason: incident.TooLate, When: at}
	case age < -pressAhead:
		return incident.Answer{Reason: incident.FromFuture, When: at}
	}
	return incident.Answer{}
}
