package report

import (
	"slices"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/silence"
)

// Period is what came of the launches and incidents of all that is watched in a time: what
// the weekly message and the answer to /rollcall report say. Package digest counts it.
type Period struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// At is when it was read: what is open, silenced and about to run out is as of then.
	At time.Time `json:"at"`
	// Site is the address of the Slack workspace; empty for none. Links to messages begin
	// with it.
	Site string `json:"site,omitempty"`

	Clusters int          `json:"clusters"`
	Launches Tally        `json:"launches"`
	Joining  *Joining     `json:"joining,omitempty"`
	Causes   []CauseCount `json:"causes,omitempty"`

	// Opened and Resolved are incidents of that time, Open those that are not closed at At.
	Opened   int `json:"opened"`
	Resolved int `json:"resolved"`
	Open     int `json:"open"`
	Critical int `json:"critical,omitempty"` // of those that are open
	// Seen are those that were not closed at some time of it, or are not at At.
	Seen int `json:"seen,omitempty"`
	// Incidents are Seen, the worst first.
	Incidents []PeriodIncident `json:"incidents,omitempty"`
	// Wrong are the clusters with launches that did not join, or incidents; the worst first.
	Wrong     []PeriodCluster `json:"wrong,omitempty"`
	MoreWrong int             `json:"moreWrong,omitempty"`

	Remedies []PeriodRemedy `json:"remedies,omitempty"`
	Freed    Freed          `json:"freed,omitzero"`
	// Feedback is what people said of closed incidents in the time, by check.
	Feedback []FeedbackCount `json:"feedback,omitempty"`
	Silences []Quiet         `json:"silences,omitempty"`
	Silenced int             `json:"silenced,omitempty"` // how many silences there are
	// Soonest are the subnets that run out of addresses first.
	Soonest []PeriodSubnet `json:"soonest,omitempty"`

	// Looks are the turns of all clusters.
	Looks  Looks    `json:"looks,omitzero"`
	Unseen []Unseen `json:"unseen,omitempty"`
	// MoreUnseen is how many were left out for want of room.
	MoreUnseen int `json:"moreUnseen,omitempty"`
	// Faults are Rollcall's own: who refuses what it says.
	Faults     []Fault `json:"faults,omitempty"`
	MoreFaults int     `json:"moreFaults,omitempty"`
	// Unread is what could not be read of the records, for people.
	Unread     []string `json:"unread,omitempty"`
	MoreUnread int      `json:"moreUnread,omitempty"`
	// LeftOut are how many clusters there was no time or room for.
	LeftOut int `json:"leftOut,omitempty"`
}

// Tally counts launches by their end. Failed did not join or were refused, or have missed
// their time and not joined so far.
type Tally struct {
	All       int `json:"all"`
	Joined    int `json:"joined"`
	Failed    int `json:"failed"`
	Reclaimed int `json:"reclaimed"`
	Other     int `json:"other"`
	Waiting   int `json:"waiting"`
}

// Joining is how long launches took to become Ready nodes, of those whose times are known.
type Joining struct {
	Median time.Duration `json:"median"`
	Most95 time.Duration `json:"most95"` // 95 of 100 took no longer
	N      int           `json:"n"`
}

// CauseCount is how many launches did not join for a cause.
type CauseCount struct {
	Check checkid.ID `json:"check"`
	N     int        `json:"n"`
}

// PeriodIncident is an incident in short.
type PeriodIncident struct {
	Whose      string     `json:"whose,omitempty"`
	Cluster    string     `json:"cluster"`
	Nodegroups []string   `json:"nodegroups,omitempty"`
	Check      checkid.ID `json:"check"`
	Title      string     `json:"title"`
	// Severity is "critical", "warning" or "info", as of now.
	Severity string    `json:"severity"`
	Opened   time.Time `json:"opened"`
	// Closed is zero while it is open; Ending is how it ended.
	Closed   time.Time `json:"closed,omitzero"`
	Ending   string    `json:"ending,omitempty"`
	Affected int       `json:"affected,omitempty"`
	Number   int       `json:"number,omitempty"`
	// Acked, Muted and Silenced tell what people did about it.
	Acked    bool `json:"acked,omitempty"`
	Muted    bool `json:"muted,omitempty"`
	Silenced bool `json:"silenced,omitempty"`
	// Approval reports whether a remedy's plan waits for a person.
	Approval bool   `json:"approval,omitempty"`
	Channel  string `json:"channel,omitempty"`
	TS       string `json:"ts,omitempty"`
}

// Lasted is how long it was open, until now while it is.
func (i PeriodIncident) Lasted(now time.Time) time.Duration {
	if i.Closed.IsZero() {
		return now.Sub(i.Opened)
	}
	return i.Closed.Sub(i.Opened)
}

// IsOpen reports whether it is not closed.
func (i PeriodIncident) IsOpen() bool { return i.Closed.IsZero() }

// PeriodCluster is a cluster with something wrong.
type PeriodCluster struct {
	Whose    string `json:"whose,omitempty"`
	Cluster  string `json:"cluster"`
	Launches Tally  `json:"launches"`
	Seen     int    `json:"seen,omitempty"` // incidents
	Open     int    `json:"open,omitempty"`
}

// PeriodRemedy is how often a remedy came to something.
type PeriodRemedy struct {
	Remedy string `json:"remedy"`
	// Came is "helped", "unhelpful", "unverified" (done, and not proved yet), "not-done" or
	// "waiting" (for a person).
	Came string `json:"came"`
	N    int    `json:"n"`
}

// What comes of remedies.
const (
	RemedyHelped     = "helped"
	RemedyUnhelpful  = "unhelpful"
	RemedyUnverified = "unverified"
	RemedyNotDone    = "not-done"
	RemedyWaits      = "waiting"
)

// FeedbackCount is how many said what of the incidents of a check.
type FeedbackCount struct {
	Check     checkid.ID `json:"check"`
	Right     int        `json:"right,omitempty"`
	Wrong     int        `json:"wrong,omitempty"`
	NotUseful int        `json:"notUseful,omitempty"`
}

// Freed is what eni-cleanup gave back.
type Freed struct {
	Interfaces int `json:"interfaces,omitempty"`
	Addresses  int `json:"addresses,omitempty"`
	Clusters   int `json:"clusters,omitempty"`
}

// Quiet is a silence and its owner.
type Quiet struct {
	silence.Silence
	Whose string `json:"whose,omitempty"`
}

// PeriodSubnet is a subnet whose addresses last the least of its cluster.
type PeriodSubnet struct {
	Whose   string    `json:"whose,omitempty"`
	Cluster string    `json:"cluster"`
	ID      string    `json:"id"`
	Zone    string    `json:"zone,omitempty"`
	Free    int       `json:"free"`
	Total   int       `json:"total,omitempty"`
	Empty   time.Time `json:"empty,omitzero"`
	At      time.Time `json:"at"`
}

// Looks are the turns of all clusters in the time: those that were made, those in which a
// part failed, those in which a Kubernetes API did not answer.
type Looks struct {
	Made   int `json:"made"`
	Failed int `json:"failed,omitempty"`
	Silent int `json:"silent,omitempty"`
	// New are the clusters that are looked at since some time of the period only, Unnoted
	// those of which an earlier release noted no turns.
	New     int `json:"new,omitempty"`
	Unnoted int `json:"unnoted,omitempty"`
	// Since is when the first look of all was noted, where that is within the period: of the
	// time before nothing is known.
	Since time.Time `json:"since,omitzero"`
}

// UnseenReason is why something was not looked at.
type UnseenReason string

// The reasons.
const (
	// NothingLooked: no cluster at all was looked at.
	NothingLooked UnseenReason = "nothing"
	// SpokeUnseen: no cluster of an account and region was, and others were.
	SpokeUnseen UnseenReason = "spoke"
	// SpokeUnknown: no cluster of it was ever looked at.
	SpokeUnknown UnseenReason = "spoke-never"
	// ClusterUnseen: one cluster was not, and others of its account and region were.
	ClusterUnseen UnseenReason = "cluster"
	// ClusterStopped: as ClusterUnseen, and it is not looked at since: it may be gone.
	ClusterStopped UnseenReason = "cluster-stopped"
	// APISilent: its Kubernetes API did not answer in N of Of looks.
	APISilent UnseenReason = "kubernetes-silent"
	// PartFailed: a detector's look failed in N of Of looks.
	PartFailed UnseenReason = "part-failed"
	// Denied: a permission or a service was missing, as an incident of Rollcall itself says.
	Denied UnseenReason = "cannot-look"
)

// Unseen is something that Rollcall could not read.
type Unseen struct {
	Reason  UnseenReason `json:"reason"`
	Whose   string       `json:"whose,omitempty"`
	Cluster string       `json:"cluster,omitempty"`
	// Clusters is how many of a spoke it is about.
	Clusters int       `json:"clusters,omitempty"`
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	N        int       `json:"n,omitempty"`
	Of       int       `json:"of,omitempty"`
	Says     string    `json:"says,omitempty"`
	// Still reports whether it lasts.
	Still   bool   `json:"still,omitempty"`
	Channel string `json:"channel,omitempty"`
	TS      string `json:"ts,omitempty"`
}

// Fault is who refuses what Rollcall says.
type Fault struct {
	Whose   string    `json:"whose,omitempty"`
	Cluster string    `json:"cluster"`
	Target  string    `json:"target"`
	Code    string    `json:"code"`
	Since   time.Time `json:"since"`
}

// sound reports whether there is a period, which ends after it began.
func (p *Period) sound() bool { return p != nil && p.From.Before(p.To) && !p.At.IsZero() }

// What the message shows of each list; the rest is in its thread.
const (
	ShownOpen     = 5
	ShownClosed   = 3
	ShownClusters = 5
	ShownSubnets  = 2
	ShownSilences = 3
	ShownUnseen   = 4
	ShownFaults   = 3
)

// Verdict is how a week was, in a word.
type Verdict string

// The verdicts, the worst first.
const (
	WeekCritical Verdict = "critical" // a critical incident is open
	WeekWrong    Verdict = "wrong"    // an incident is open, or launches did not join
	WeekUnseen   Verdict = "unseen"   // nothing wrong was seen, and not all was looked at
	WeekWell     Verdict = "well"
)

// Verdict is the result.
func (p Period) Verdict() Verdict {
	switch {
	case p.Critical > 0:
		return WeekCritical
	case p.Open > 0 || p.Launches.Failed > 0:
		return WeekWrong
	case len(p.Unseen) > 0 || !p.Looks.Since.IsZero() || len(p.Faults) > 0 || len(p.Unread) > 0 || p.LeftOut > 0:
		return WeekUnseen
	}
	return WeekWell
}

// Gaps reports whether something was not looked at for a time.
func (p Period) Gaps() bool {
	return slices.ContainsFunc(p.Unseen, func(u Unseen) bool {
		return slices.Contains([]UnseenReason{NothingLooked, SpokeUnseen, ClusterUnseen, ClusterStopped}, u.Reason)
	})
}

// NextKind is what is to be done.
type NextKind string

// What to do next, the most urgent first.
const (
	FixIncident   NextKind = "incident"
	DecideOnPlans NextKind = "approve"
	LookWhy       NextKind = "look"
	FindRoom      NextKind = "addresses"
	MendDelivery  NextKind = "delivery"
)

// Next is one thing to do, and what it is about.
type Next struct {
	Kind     NextKind
	Incident *PeriodIncident
	Subnet   *PeriodSubnet
	N        int
}

// roomFor is how soon a subnet must run out to be something to do now.
const roomFor = 14 * 24 * time.Hour

// Next is what to do, at most one of each kind.
func (p Period) Next() (list []Next) {
	waiting := 0
	for _, r := range p.Remedies {
		if r.Came == RemedyWaits {
			waiting += r.N
		}
	}
	for i := range p.Incidents {
		if inc := &p.Incidents[i]; inc.IsOpen() && inc.Severity != "info" && !inc.Acked {
			list = append(list, Next{Kind: FixIncident, Incident: inc})
			break
		}
	}
	if waiting > 0 {
		list = append(list, Next{Kind: DecideOnPlans, N: waiting})
	}
	if len(p.Unseen) > 0 || len(p.Unread) > 0 {
		list = append(list, Next{Kind: LookWhy, N: len(p.Unseen) + p.MoreUnseen})
	}
	if len(p.Soonest) > 0 && !p.Soonest[0].Empty.IsZero() && p.Soonest[0].Empty.Sub(p.At) <= roomFor {
		list = append(list, Next{Kind: FindRoom, Subnet: &p.Soonest[0]})
	}
	if len(p.Faults) > 0 {
		list = append(list, Next{Kind: MendDelivery, N: len(p.Faults)})
	}
	return list
}

// The most that a period lists: more could not be shown, and its record must fit into an item
// of the table (400 KB, DynamoDB, "Quotas").
const (
	mostPeriodIncidents = 60
	mostPeriodClusters  = 60
	mostPeriodUnseen    = 60
	mostPeriodOthers    = 30
	maxPeriodText       = 300 // runes of a sentence
	maxPeriodName       = 100 // and of a name
)

// Bounded is the period with its lists cut to what can be shown: what is left out is counted.
func (p Period) Bounded() Period {
	p.Incidents = p.Incidents[:min(len(p.Incidents), mostPeriodIncidents)]
	if n := len(p.Wrong) - mostPeriodClusters; n > 0 {
		p.Wrong, p.MoreWrong = p.Wrong[:mostPeriodClusters], p.MoreWrong+n
	}
	if n := len(p.Unseen) - mostPeriodUnseen; n > 0 {
		p.Unseen, p.MoreUnseen = p.Unseen[:mostPeriodUnseen], p.MoreUnseen+n
	}
	p.Silences = p.Silences[:min(len(p.Silences), mostPeriodOthers)]
	p.Soonest = p.Soonest[:min(len(p.Soonest), mostPeriodOthers)]
	if n := len(p.Faults) - mostPeriodOthers; n > 0 {
		p.Faults, p.MoreFaults = p.Faults[:mostPeriodOthers], p.MoreFaults+n
	}
	if n := len(p.Unread) - mostPeriodOthers; n > 0 {
		p.Unread, p.MoreUnread = p.Unread[:mostPeriodOthers], p.MoreUnread+n
	}
	p.Causes = p.Causes[:min(len(p.Causes), mostPeriodOthers)]
	// All of it that comes from the account or from people is of a length that can be shown.
	p.Incidents, p.Unseen, p.Unread, p.Silences = slices.Clone(p.Incidents), slices.Clone(p.Unseen), slices.Clone(p.Unread), slices.Clone(p.Silences)
	p.Wrong, p.Soonest, p.Faults = slices.Clone(p.Wrong), slices.Clone(p.Soonest), slices.Clone(p.Faults)
	for i := range p.Silences {
		clip(maxPeriodText, &p.Silences[i].Reason)
		clip(maxPeriodName, &p.Silences[i].Whose, &p.Silences[i].By.Name, &p.Silences[i].Nodegroup)
	}
	for i := range p.Incidents {
		inc := &p.Incidents[i]
		clip(maxPeriodText, &inc.Title)
		clip(maxPeriodName, &inc.Whose)
		inc.Nodegroups = slices.Clone(inc.Nodegroups[:min(len(inc.Nodegroups), 4)])
		for k := range inc.Nodegroups {
			clip(maxPeriodName, &inc.Nodegroups[k])
		}
	}
	for i := range p.Wrong {
		clip(maxPeriodName, &p.Wrong[i].Whose)
	}
	for i := range p.Soonest {
		clip(maxPeriodName, &p.Soonest[i].Whose)
	}
	for i := range p.Unseen {
		clip(maxPeriodText, &p.Unseen[i].Says)
		clip(maxPeriodName, &p.Unseen[i].Whose)
	}
	for i := range p.Faults {
		clip(maxPeriodName, &p.Faults[i].Whose, &p.Faults[i].Target, &p.Faults[i].Code)
	}
	for i := range p.Unread {
		clip(maxPeriodText, &p.Unread[i])
	}
	return p
}

func clip(most int, texts ...*string) {
	for _, text := range texts {
		if len(*text) > most { // bytes are no fewer than runes
			runes := []rune(*text)
			*text = string(runes[:min(len(runes), most)])
		}
	}
}

// shorter is the period with half of its longest lists, down to few of each; false where they
// are that short already. What is left out is counted as by Bounded.
func (p Period) shorter() (Period, bool) {
	const few = 5
	half := func(n int) int { return max(n/2, few) }
	shorter := false
	cut := func(n int) int {
		shorter = shorter || n > few
		return min(n, half(n))
	}
	p.Incidents = p.Incidents[:cut(len(p.Incidents))]
	n := cut(len(p.Wrong))
	p.Wrong, p.MoreWrong = p.Wrong[:n], p.MoreWrong+len(p.Wrong)-n
	n = cut(len(p.Unseen))
	p.Unseen, p.MoreUnseen = p.Unseen[:n], p.MoreUnseen+len(p.Unseen)-n
	p.Silences, p.Soonest, p.Causes = p.Silences[:cut(len(p.Silences))], p.Soonest[:cut(len(p.Soonest))], p.Causes[:cut(len(p.Causes))]
	n = cut(len(p.Faults))
	p.Faults, p.MoreFaults = p.Faults[:n], p.MoreFaults+len(p.Faults)-n
	n = cut(len(p.Unread))
	p.Unread, p.MoreUnread = p.Unread[:n], p.MoreUnread+len(p.Unread)-n
	return p, shorter
}
