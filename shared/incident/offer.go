package incident

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/ownership"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/routing"
)

// Ack is the acknowledgment of an incident.
type Ack struct {
	By report.User `json:"by"`
	At time.Time   `json:"at"`
	// In is where, if not in Slack: "PagerDuty". By then has a name at most.
	In string `json:"in,omitempty"`
	// From is who had it before, if another took it over.
	From *report.User `json:"from,omitempty"`
}

// Mute suppresses mentions for an incident until a time.
type Mute struct {
	By    report.User `json:"by"`
	At    time.Time   `json:"at"`
	Until time.Time   `json:"until"`
}

// Offer is a remedy's plan for an incident, and what became of it.
type Offer struct {
	Plan   remedy.Plan  `json:"plan"`
	Hash   string       `json:"hash"`
	Policy optin.Policy `json:"policy"`
	State  OfferState   `json:"state"`
	// Made is when it was proposed, Expires until when it may be approved.
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires,omitzero"`
	// By is who approved or refused it, and Decided when.
	By      report.User `json:"by,omitzero"`
	Decided time.Time   `json:"decided,omitzero"`
	// Run is what was done.
	Run *remedy.Run `json:"deed,omitempty"`
	// Verified is when the check that found the cause passed after the run, or,
	// in the state Unhelpful, still failed.
	Verified time.Time `json:"verified,omitzero"`
	// Says is why there is none any more; while it is offered, why a person is
	// asked where the policy would do; while it waits, for what.
	Says string `json:"says,omitempty"`
	// Follows is what will be done after it, or offered: who approves it should know.
	Follows string `json:"follows,omitempty"`
	// After is when a remedy that waits is tried again, Reason the typed word for
	// what it waits, and Tried how often in a row a look failed. Woken is when
	// remediate was told.
	After  time.Time `json:"after,omitzero"`
	Reason string    `json:"reason,omitempty"`
	Tried  int       `json:"tried,omitempty"`
	Woken  time.Time `json:"woken,omitzero"`
	// Again reports whether it waits for the limit, or was made after such a wait.
	Again bool `json:"again,omitempty"`
}

// OfferState is where an offer is.
type OfferState string

// The states of an offer.
const (
	Offered     OfferState = "offered"
	Approved    OfferState = "approved" // a person said yes, or the policy did; not done yet
	RefusedByUs OfferState = "refused"  // a person said no
	Expired     OfferState = "expired"
	Outdated    OfferState = "outdated" // the world changed, or the incident is over
	Acted       OfferState = "acted"    // Run tells what came of it
	Helped      OfferState = "helped"   // the check passes since
	Unhelpful   OfferState = "unhelpful"
	// Deferred: it is tried again at After. Its plan is what would be done now; of a
	// look that failed there is none but the remedy's name.
	Deferred OfferState = "deferred"
)

// MaxOffers is how many offers an incident keeps, the newest last.
const MaxOffers = 6

// LastOffer is the newest offer in a state.
func (inc *Incident) LastOffer(s OfferState) *Offer {
	for _, o := range slices.Backward(inc.Offers) {
		if o.State == s {
			return &o
		}
	}
	return nil
}

// Over reports whether nothing can come of an offer any more.
func (o Offer) Over() bool {
	switch o.State {
	case Offered, Approved, Deferred:
		return false
	case Acted:
		return !o.Unverified()
	}
	return true
}

// RanOut are the newest offers of each remedy, of those that ran out and that were never
// decided on: a fresh plan may take their place.
func (inc *Incident) RanOut(now time.Time) (list []Offer) {
	for i, o := range inc.Offers {
		ran := o.State == Expired || o.State == Offered && !o.Expires.IsZero() && !now.Before(o.Expires)
		later := slices.ContainsFunc(inc.Offers[i+1:], func(x Offer) bool { return x.Plan.Remedy == o.Plan.Remedy })
		wanted := inc.State == Open && !IsReplacement(o) || inc.State == Cleared && IsReplacement(o)
		if ran && !later && wanted && !o.Made.Before(inc.Opened) {
			list = append(list, o)
		}
	}
	return list
}

// IsReplacement tells of the one remedy that is for the time after a cause.
func IsReplacement(o Offer) bool { return remedy.ByName(o.Plan.Remedy).AfterCause }

// Unverified tells of a run that may have changed something and is not verified.
func (o Offer) Unverified() bool {
	if o.State != Acted || o.Run == nil || o.Run.Ended.IsZero() {
		return false
	}
	return o.Run.Result == remedy.Done || o.Run.Result == remedy.Partly || o.Run.Result == remedy.Uncertain
}

// HasVerdict tells of an offer that was verified.
func (o Offer) HasVerdict() bool { return o.State == Helped || o.State == Unhelpful }

// ReplacementWait is how long an incident whose cause is gone stays for replacements that
// wait for the limit.
const ReplacementWait = 24 * time.Hour

// Live reports whether something may come of an offer yet, before it is done.
func (o Offer) Live() bool { return o.State == Offered || o.State == Approved || o.State == Deferred }

// ForgetOffer takes an offer out of the list.
func (inc *Incident) ForgetOffer(o *Offer) {
	for i := range inc.Offers {
		if o == &inc.Offers[i] {
			inc.Offers = slices.Delete(inc.Offers, i, i+1)
			return
		}
	}
}

// EndWait ends a wait for which there is no plan any more. What was done before
// is worth more than why there is no more to do.
func (inc *Incident) EndWait(o *Offer, says string) {
	done := func(x Offer) bool {
		return x.Plan.Remedy == o.Plan.Remedy && x.Run != nil && !x.Made.Before(inc.Opened)
	}
	if slices.ContainsFunc(inc.Offers, done) {
		inc.ForgetOffer(o)
		return
	}
	o.State, o.Says = Outdated, says
}

// OutdateOffers takes back offers without a decision, approvals that were not
// carried out, and waits.
func (inc *Incident) OutdateOffers(says string, of func(Offer) bool) {
	for i := range slices.Backward(inc.Offers) {
		switch o := &inc.Offers[i]; {
		case !o.Live() || !of(*o):
		case o.State == Deferred:
			inc.EndWait(o, says)
		case o.State == Offered || o.Run == nil:
			o.State, o.Says = Outdated, says
		}
	}
}

// Replacing reports whether an incident whose cause is gone is not over: instances
// that failed for it wait for the limit, or for a person's yes after it.
func (inc Incident) Replacing() bool {
	return inc.State == Cleared && slices.ContainsFunc(inc.Offers, func(o Offer) bool {
		return o.Again && o.Live() && IsReplacement(o)
	})
}

// Fit gives the incident with as little left out as makes its record at most
// limit bytes: first the details of what was last posted long ago, then
// those of the rest. What happened, how often, and to how many always stays.
func (inc Incident) Fit(limit int) Incident {
	if inc.Size() <= limit {
		return inc
	}
	inc = inc.Clone()
	for _, shorten := range []func(*Incident){
		// A picture is drawn again in five minutes.
		func(i *Incident) { i.Chart = i.Chart.without() },
		func(i *Incident) { i.shortenUntold(2) },
		func(i *Incident) { i.shortenNotes(3) },
		func(i *Incident) { i.fewerUntold(50) },
		func(i *Incident) { i.shortenTrail(10) },
		func(i *Incident) { i.fewerOffers() },
		func(i *Incident) { i.shortenUntold(0) },
		func(i *Incident) { i.shortenNotes(0) },
		func(i *Incident) { i.shortenLaunches() },
		func(i *Incident) { i.Cause.Evidence, i.ClearedBy = First(i.Cause.Evidence, 5), First(i.ClearedBy, 5) },
		func(i *Incident) { i.Facts = First(i.Facts, 5) },
		func(i *Incident) { i.fewerNotes(10) },
		func(i *Incident) { i.fewerUntold(10) },
	} {
		shorten(&inc)
		if inc.Size() <= limit {
			return inc
		}
	}
	return inc
}

// Size is of the record. What cannot be encoded has none: writing it tells.
func (inc Incident) Size() int {
	body, err := json.Marshal(inc)
	if err != nil {
		return 0
	}
	return len(body)
}

// shortenUntold leaves out the lists of all but the newest events. An event
// says how many instances there are without naming them.
func (inc *Incident) shortenUntold(whole int) {
	for i := range max(0, len(inc.PendingEvents)-whole) {
		e := &inc.PendingEvents[i]
		e.Evidence, e.Instances, e.Covers, e.Blind = nil, nil, nil, nil
	}
}

// fewerUntold forgets changes, oldest first: a later one reports
// the current state. What opened and ended is kept.
func (inc *Incident) fewerUntold(most int) {
	inc.PendingEvents = forgetFirst(inc.PendingEvents, most, func(e Event) bool { return e.Kind == EventChanged || e.Kind == EventCheckWanted })
}

// shortenNotes leaves out the lists of all but the newest unsent notes.
func (inc *Incident) shortenNotes(whole int) {
	for _, n := range slices.Backward(inc.Delivery.Notes) {
		if n.TS == "" {
			whole--
		}
		if whole >= 0 || n.TS != "" {
			continue
		}
		i := slices.IndexFunc(inc.Delivery.Notes, func(o Note) bool { return o.ID == n.ID })
		note := &inc.Delivery.Notes[i]
		note.Evidence, note.Facts, note.Blind, note.Instances = nil, nil, nil, First(note.Instances, 5)
		note.RecentChanges, note.Offer = nil, nil // the message has them
		if note.Then != nil {
			then := *note.Then
			then.ByStatus, then.ClearedBy, then.Launches = nil, nil, nil
			note.Then = &then
		}
	}
}

// fewerNotes forgets unsent notes about what comes and goes, oldest first; the
// message itself says how things stand.
func (inc *Incident) fewerNotes(most int) {
	inc.Delivery.Notes = forgetFirst(inc.Delivery.Notes, most, func(n Note) bool {
		return n.TS == "" && (n.Reason == CauseGone || n.Reason == FailedAgain || n.Reason == HasMissed)
	})
}

// forgetFirst drops members that may go, the first first, until at most so
// many are left.
func forgetFirst[T any](list []T, most int, may func(T) bool) []T {
	over := len(list) - most
	return slices.DeleteFunc(list, func(x T) bool {
		if over <= 0 || !may(x) {
			return false
		}
		over--
		return true
	})
}

// shortenLaunches cuts why instances ended, to what a message shows.
func (inc *Incident) shortenLaunches() {
	const longest = 120 // runes
	for i := range inc.Launches {
		if why := []rune(inc.Launches[i].EndedWhy); len(why) > longest {
			inc.Launches[i].EndedWhy = string(why[:longest-1]) + "…"
		}
	}
}

// MaxFacts is how many facts are kept: a thread shows twenty. A cluster may
// have 450 nodegroups, each with its own.
const MaxFacts = 30

// BoundedFacts is at most maxFacts facts, and how many there were.
func BoundedFacts(facts []report.Fact) []report.Fact {
	if len(facts) <= MaxFacts {
		return facts
	}
	return append(First(facts, MaxFacts), report.Fact{What: "More", Value: fmt.Sprintf("%d more were left out", len(facts)-MaxFacts)})
}

// shortenTrail keeps the newest changes; the others are counted.
func (inc *Incident) shortenTrail(most int) {
	if inc.RecentChanges == nil {
		return
	}
	trail := *inc.RecentChanges
	kept := First(trail.Changes, most)
	trail.More += len(trail.Changes) - len(kept)
	trail.Changes = kept
	inc.RecentChanges = &trail
}

// fewerOffers forgets offers of which nothing can come any more, but for the
// last one that was decided and what helped.
func (inc *Incident) fewerOffers() {
	last := len(inc.Offers) - 1
	kept := inc.Offers[:0]
	for i, o := range inc.Offers {
		if i == last || !o.Over() || o.State == Helped {
			kept = append(kept, o)
		}
	}
	inc.Offers = kept
}

// MaxUnseen is how long an incident stays open of which nothing is heard any more:
// neither its cause nor anything that it covers was judged, because its cluster is
// watched no longer or cannot be looked at. Sweeps come every five minutes.
const MaxUnseen = 14 * 24 * time.Hour

// Heard is when something was last heard of an incident.
func (inc Incident) Heard() time.Time {
	at := inc.Opened
	for _, t := range []time.Time{inc.Seen, inc.Cleared} {
		if t.After(at) {
			at = t
		}
	}
	return slices.MaxFunc(append([]Verdict{{At: at}}, inc.Verdicts...), func(a, b Verdict) int { return a.At.Compare(b.At) }).At
}

// Left is the name of the evidence that says what is left of a cause that is
// not pressing any more.
const Left = "Left"

// CannotLook is the check id of the incidents about Rollcall's own sight: a
// permission that is missing, a service that does not answer. It is none of
// the catalogue's checks; its resource is the permission's name.
const CannotLook checkid.ID = "rollcall/cannot-look"

func (inc *Incident) IsSymptom() bool { return inc.Cause.Confidence == catalog.Symptom }

func (inc *Incident) IsBlind() bool { return inc.Key.Check == CannotLook }

// ByItself reports whether an incident ends when its check passes, without a node that joins:
// it is about what EKS or Karpenter says of its own objects, a Spot pool over days, a zone, a
// subnet's addresses that no launch lacked yet, or pods that wait on Ready nodes.
func (inc Incident) ByItself() bool {
	if inc.Affected == 0 && inc.Cause.OfPods() {
		return true
	}
	switch catalog.Meaning(inc.Key.Check).Proof {
	case catalog.ByPassing:
		return true
	case catalog.ByPassingUnmet:
		return inc.Affected == 0
	}
	return false
}

// Explains reports whether an incident can be the reason why instances did not
// join, so that their symptoms need no message of their own. A mere
// possibility is reported beside the symptom, not instead of it.
func (inc *Incident) Explains() bool {
	return !inc.IsBlind() && (inc.Cause.Confidence == catalog.Certain || inc.Cause.Confidence == catalog.Likely)
}

// maxMore is how many affected launches beyond MaxLaunches are kept apart by
// id; 5,000 ids of 19 characters are about 110 KB of an item's 400.
const maxMore = 5000

// rank orders the standings: a launch never goes back. Joined is last, because
// a launch that joined and ended later is no failed launch.
func rank(s report.LaunchStatus) int {
	return slices.Index([]report.LaunchStatus{report.Waiting, report.Missed, report.GivenUp, report.Gone, report.Joined}, s)
}

// mergeLaunch is all that two sights of one launch tell, in whichever order
// they come.
func mergeLaunch(a, b report.Launch) report.Launch {
	if rank(b.Status) > rank(a.Status) {
		a.Status = b.Status
	}
	fill(&a.Nodegroup, b.Nodegroup)
	fill(&a.Group, b.Group)
	fill(&a.Subnet, b.Subnet)
	fill(&a.Zone, b.Zone)
	fill(&a.Type, b.Type)
	fill(&a.EndedWhy, b.EndedWhy)
	a.Started = Earlier(a.Started, b.Started)
	a.Registered = Earlier(a.Registered, b.Registered)
	a.Ready = Earlier(a.Ready, b.Ready)
	a.Ended = Earlier(a.Ended, b.Ended)
	return a
}

// fill sets an empty field; of two values the first in order stays, so that
// the order of arrival does not matter.
func fill(have *string, other string) {
	switch {
	case *have == "":
		*have = other
	case other != "":
		*have = min(*have, other)
	}
}

// Earlier is the earlier of two times, where a zero time is not known.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func byInstance(l report.Launch, id string) int { return cmp.Compare(l.Instance, id) }

func (inc *Incident) KeptLaunch(id string) (*report.Launch, bool) {
	i, found := slices.BinarySearchFunc(inc.Launches, id, byInstance)
	if !found {
		return nil, false
	}
	return &inc.Launches[i], true
}

// Affects reports whether a launch was ever among those of the incident.
func (inc *Incident) Affects(id string) bool {
	if _, kept := inc.KeptLaunch(id); kept {
		return true
	}
	_, found := slices.BinarySearch(inc.More, id)
	return found
}

// AddAffected takes in an affected launch, and reports whether it is a new one.
func (inc *Incident) AddAffected(l report.Launch) (added bool) {
	i, found := slices.BinarySearchFunc(inc.Launches, l.Instance, byInstance)
	if found {
		inc.Launches[i] = mergeLaunch(inc.Launches[i], l)
		return false
	}
	if len(inc.Launches) < MaxLaunches {
		inc.Launches = slices.Insert(inc.Launches, i, l)
		inc.Affected++
		return true
	}
	i, found = slices.BinarySearch(inc.More, l.Instance)
	if found || len(inc.More) >= maxMore {
		return false
	}
	inc.More = slices.Insert(inc.More, i, l.Instance)
	inc.Affected++
	return true
}

// UpdateLaunches takes in what an observation says of launches that are affected
// already, and gives those that missed roll call now for the first time.
func (inc *Incident) UpdateLaunches(seen []report.Launch) (missed []string, changed bool) {
	for _, l := range seen {
		have, kept := inc.KeptLaunch(l.Instance)
		if !kept {
			continue
		}
		before := *have
		*have = mergeLaunch(before, l)
		if *have == before {
			continue
		}
		changed = true
		if before.Status == report.Waiting && (have.Status == report.Missed || have.Status == report.GivenUp) {
			missed = append(missed, l.Instance)
		}
	}
	return missed, changed
}

// Count is how many of the launches kept by name stand so.
func (inc *Incident) Count(standing report.LaunchStatus) int {
	n := 0
	for _, l := range inc.Launches {
		if l.Status == standing {
			n++
		}
	}
	return n
}

func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Union is both lists, sorted, each member once.
func Union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// lastLine is when the incident last had a line for a reason.
func (inc *Incident) lastLine(r Reason) (at time.Time) {
	for _, n := range inc.Delivery.Notes {
		if n.Reason == r && n.Line {
			at = Later(at, n.At)
		}
	}
	return at
}

const (
	// justSaid is how long what is said is still being opened: the parts of one burst come
	// within it.
	justSaid = 2 * time.Minute
	// longAgo is from when on what comes back is news, however urgent it is, and what got
	// worse may be told again: not with each breath of a subnet that is nearly full.
	longAgo = time.Hour
)

// wantsLine reports whether a person must know of this now. An edit mentions no one, and a reply
// only who wrote in the thread: it is shown in the channel too (DESIGN, section 17).
func (inc *Incident) wantsLine(r Reason, at time.Time) bool {
	last := Later(inc.Opened, inc.Lined)
	switch r {
	case Reopened: // Opened is now
		return inc.Severity() == Critical || at.Sub(Later(inc.Before, inc.Lined)) >= longAgo
	case FailedAgain:
		return inc.Severity() == Critical
	case IsWorse, IsUnsilenced:
		return true
	case IsProposed:
		// The message does not call anybody again when a button comes to it.
		return at.Sub(last) >= justSaid && at.Sub(inc.lastLine(IsProposed)) >= longAgo
	case RemedyFailed, IsUnhelpful: // the fix is a person's again
		return inc.State == Open
	}
	return false
}

// mayBeWorse reports whether it was not said just now, nor lately that it got worse.
func (inc *Incident) mayBeWorse(at time.Time) bool {
	if at.Sub(Later(inc.Opened, inc.Lined)) < justSaid {
		return false
	}
	for _, n := range inc.Delivery.Notes {
		if n.Reason == IsWorse && at.Sub(n.At) < longAgo {
			return false
		}
	}
	return true
}

// GotWorse reports whether an incident that was open as a lesser one is critical now.
func (u *Update) GotWorse(at time.Time) bool {
	return u.Was != "" && u.Was != Critical && u.State == Open && u.Severity() == Critical && u.mayBeWorse(at)
}

// MaxNotes bounds the record of an incident whose cause comes and goes. The
// oldest notes are forgotten once they are said.
const MaxNotes = 50

// AddNote puts a reply into the thread, with what the incident is now. It gives
// nil for what is not said while the incident is muted or silenced.
func (inc *Incident) AddNote(r Reason, at time.Time) *Note {
	if inc.hushed(at) && r.DroppedByMute() {
		return nil
	}
	times := 1
	for _, n := range inc.Delivery.Notes {
		if n.Reason == r {
			times = max(times, n.Times+1)
		}
	}
	n := Note{ID: string(r), Times: times, At: at, Reason: r, Then: inc.ForNote(), Line: inc.wantsLine(r, at)}
	if n.Line {
		inc.Lined = at
	}
	if times > 1 {
		n.ID = fmt.Sprintf("%s-%d", r, times)
	}
	inc.Delivery.Notes = append(inc.Delivery.Notes, n)
	for len(inc.Delivery.Notes) > MaxNotes && inc.Delivery.Notes[0].TS != "" {
		inc.Delivery.Notes = inc.Delivery.Notes[1:]
	}
	return &inc.Delivery.Notes[len(inc.Delivery.Notes)-1]
}

// SplitLine puts what the newest note has beside its line into a reply of its own: a line of
// the channel is short, and the thread has the rest.
func (inc *Incident) SplitLine() {
	last := len(inc.Delivery.Notes) - 1
	if last < 0 {
		return
	}
	n := &inc.Delivery.Notes[last]
	if !n.Line || n.Reason == HasMissed || len(n.Evidence)+len(n.Facts)+len(n.Blind) == 0 && n.Offer == nil {
		return
	}
	details := *n
	details.ID, details.Line, details.Details, details.Mention = n.ID+"-details", false, true, nil
	n.Evidence, n.Facts, n.Blind = nil, nil, nil
	inc.Delivery.Notes = append(inc.Delivery.Notes, details)
}

// DroppedByMute tells of what a mute drops. Each reply reaches everybody who ever wrote
// in the thread, which is what was muted; the message itself is edited, and says
// how things stand, so nothing is made up for when the mute ends. The end is
// said, and so is whatever a person or a remedy did: the thread is where the
// command stands that undoes it.
func (r Reason) DroppedByMute() bool {
	switch r {
	case Opened, Reopened, FailedAgain, CauseGone, HasMissed, IsWorse, HasJoined, HasChanges, IsProposed, IsDeferred, IsCalled, IsReminded, IsEscalated:
		return true
	}
	return false
}

// HasNote reports whether the thread has a reply of a reason since the incident
// last opened.
func (inc *Incident) HasNote(r Reason) bool {
	for _, n := range slices.Backward(inc.Delivery.Notes) {
		switch n.Reason {
		case r:
			return true
		case Opened, Reopened:
			return false
		}
	}
	return false
}

// An incident of a large burst names the same instances again and again: as
// what it covers, in the verdicts, among the launches that are not kept by
// name. Its JSON names each once, so that 5,000 fit into an item of the table.

// plain is an incident without its own JSON.
type plain Incident

// packed is an incident as it is written.
type packed struct {
	plain
	// Covers and More are those that the verdicts do not give.
	Covers   []string `json:"covers,omitempty"`
	More     []string `json:"more,omitempty"`
	Verdicts []same   `json:"verdicts,omitempty"`
	// CauseCovers reports whether the cause covers what the incident covers.
	CauseCovers bool `json:"causeCovers,omitempty"`
	// MoreCovers reports whether what it covers, and is not kept by name, is in More.
	MoreCovers bool `json:"moreCovers,omitempty"`
}

// same are the verdicts that were found at once.
type same struct {
	Found Found     `json:"found"`
	At    time.Time `json:"at"`
	Of    []string  `json:"of"`
}

// MarshalJSON writes the incident, naming each instance once.
func (inc Incident) MarshalJSON() ([]byte, error) {
	p := packed{plain: plain(inc), More: inc.More}
	var of []string
	for _, v := range inc.Verdicts {
		of = append(of, v.Of)
		i := slices.IndexFunc(p.Verdicts, func(s same) bool { return s.Found == v.Found && s.At.Equal(v.At) })
		if i < 0 {
			i = len(p.Verdicts)
			p.Verdicts = append(p.Verdicts, same{Found: v.Found, At: v.At})
		}
		p.Verdicts[i].Of = append(p.Verdicts[i].Of, v.Of)
	}
	slices.Sort(of)
	p.Covers = without(inc.Covers, of)
	if len(inc.Covers) > 0 && slices.Equal(inc.Cause.Covers, inc.Covers) {
		p.CauseCovers, p.Cause.Covers = true, nil
	}
	if rest := inc.unkept(); len(rest) > 0 && len(without(rest, inc.More)) == 0 {
		p.MoreCovers, p.More = true, without(inc.More, rest)
	}
	return json.Marshal(p)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (inc *Incident) UnmarshalJSON(body []byte) error {
	var p packed
	if err := json.Unmarshal(body, &p); err != nil {
		return err
	}
	*inc = Incident(p.plain)
	for _, s := range p.Verdicts {
		for _, of := range s.Of {
			inc.Verdicts = append(inc.Verdicts, Verdict{Of: of, Found: s.Found, At: s.At})
		}
	}
	slices.SortStableFunc(inc.Verdicts, func(a, b Verdict) int { return strings.Compare(a.Of, b.Of) })
	inc.Covers = p.Covers
	for _, v := range inc.Verdicts {
		inc.Covers = append(inc.Covers, v.Of)
	}
	slices.Sort(inc.Covers)
	inc.Covers = slices.Compact(inc.Covers)
	if p.CauseCovers {
		inc.Cause.Covers = slices.Clone(inc.Covers)
	}
	inc.More = p.More
	if p.MoreCovers {
		inc.More = append(inc.More, inc.unkept()...)
		slices.Sort(inc.More)
	}
	return nil
}

// unkept is what the incident covers beside the launches kept by name.
func (inc *Incident) unkept() []string {
	var rest []string
	for _, id := range inc.Covers {
		if _, kept := inc.KeptLaunch(id); !kept {
			rest = append(rest, id)
		}
	}
	return rest
}

// without is a list less the members of a sorted one.
func without(list, sorted []string) []string {
	var kept []string
	for _, id := range list {
		if _, found := slices.BinarySearch(sorted, id); !found {
			kept = append(kept, id)
		}
	}
	return kept
}

// Policy is what an operator may set.
type Policy struct {
	// ProofTime is how long an incident whose cause is gone waits for proof.
	ProofTime time.Duration
	// ReopenTime is how long a closed incident is reopened, not said anew.
	ReopenTime time.Duration
	// RemindAfter is after how long people are called again; 0 for never.
	RemindAfter time.Duration
	// Routes tell who hears of what. Of nodegroups' tags only TagKeys are kept.
	Routes  []routing.Route
	TagKeys []string
	// Owners tell which labels and tags name an owner.
	Owners ownership.Settings
	// Logs is the log group of the function report: where nothing nearer logs, it says what
	// was decided about an incident.
	Logs report.Logs
	// Channel is for what no route sends elsewhere.
	Channel string
}

// Concerns reports whether a launch that joined says something of the incident:
// it came from what the cause covers, or is one of the affected.
func (inc *Incident) Concerns(l report.Launch) bool {
	if inc.IsBlind() {
		return false
	}
	if inc.Affects(l.Instance) || slices.Contains(inc.Covers, l.Subnet) {
		return true
	}
	if inc.IsSymptom() {
		return false // another instance's luck is no proof for these
	}
	if l.Subnet != "" && slices.ContainsFunc(inc.Covers, isSubnet) {
		return false // a node of the same nodegroup in a healthy subnet
	}
	return l.Nodegroup != "" && slices.Contains(inc.Cause.Nodegroups, l.Nodegroup) ||
		slices.ContainsFunc(inc.Launches, func(a report.Launch) bool {
			return l.Nodegroup != "" && a.Nodegroup == l.Nodegroup || l.Group != "" && a.Group == l.Group
		})
}

func isSubnet(id string) bool { return strings.HasPrefix(id, "subnet-") }

// heldUntil is when the cause was last known to hold: who became Ready earlier
// joined in spite of it, and proves nothing.
func (inc *Incident) heldUntil() time.Time {
	if !inc.AllEnded() {
		return inc.Seen
	}
	var ended time.Time
	for _, l := range inc.Launches {
		if l.Ended.After(ended) {
			ended = l.Ended
		}
	}
	if ended.IsZero() {
		return inc.Seen
	}
	return ended
}

// proves reports whether a launch that joined shows that the cause is gone. An
// instance that was seen to lack, and then joined, has shown it whatever the
// clocks of the node and of EC2 say.
func (inc *Incident) proves(l report.Launch) bool {
	return l.Ready.After(inc.heldUntil()) || inc.IsSymptom() && inc.Affects(l.Instance)
}

// AddJoin keeps a launch that may be the proof, and reports whether it is kept:
// the first, because it is what people waited for, and the last, because it
// still counts if the cause is found to have held longer.
func (inc *Incident) AddJoin(l report.Launch) bool {
	if !inc.proves(l) || slices.ContainsFunc(inc.Joins, func(j report.Launch) bool { return j.Instance == l.Instance }) {
		return false
	}
	inc.Joins = append(inc.Joins, l)
	slices.SortStableFunc(inc.Joins, func(a, b report.Launch) int {
		return cmp.Or(a.Ready.Compare(b.Ready), strings.Compare(a.Instance, b.Instance))
	})
	inc.Joins = slices.Delete(inc.Joins, 1, max(1, len(inc.Joins)-1))
	return true
}

// DropOutdatedJoins forgets joins that turned out to be older than the cause.
func (inc *Incident) DropOutdatedJoins() {
	inc.Joins = slices.DeleteFunc(inc.Joins, func(l report.Launch) bool { return !inc.proves(l) })
}

func (inc *Incident) FirstJoin() (report.Launch, bool) {
	if len(inc.Joins) == 0 {
		return report.Launch{}, false
	}
	return inc.Joins[0], true
}
