package report

import (
	"encoding/json"
	"fmt"
	"time"

	"rollcall/shared/node/spotreport"
	"rollcall/shared/spoke"
)

// Summary is a report over a time, for people: the other kind of message on
// the results queue. Like observations it is made by a function that does not
// talk to Slack.
type Summary struct {
	// Format is the version of this type. It counts from above all formats of
	// Observation, so that a report function that knows no summaries refuses
	// one instead of taking it for an observation of nothing.
	Format int `json:"format"`
	// Kind tells a summary from an observation, which has none.
	Kind SummaryKind `json:"kind"`
	// ID is the same for the same report, however often it is made: what was
	// said once is not said again.
	ID        string    `json:"id"`
	By        string    `json:"by"` // the function
	At        time.Time `json:"at"`
	Account   string    `json:"account"`
	Region    string    `json:"region"`
	Partition string    `json:"partition"`
	Cluster   string    `json:"cluster"`
	// Whose is the name that people know the account by, where there are several.
	Whose string `json:"whose,omitempty"`

	// Spot is what the history says.
	Spot spotreport.Report `json:"spot"`
	// MorePools is how many pools were left out for want of room.
	MorePools int `json:"morePools,omitempty"`
	// Slowest is the pool whose nodes take longest to join; nil if none is known.
	Slowest *Slowest `json:"slowest,omitempty"`
	// Cleanup is what a cleanup summary is about; nil for others.
	Cleanup *Cleanup `json:"cleanup,omitempty"`
	// Period is what a weekly summary is about; nil for others. Its cluster is AllClusters.
	Period *Period `json:"period,omitempty"`
	// Chart is a PNG; empty where there is nothing to show.
	Chart []byte `json:"chart,omitempty"`
}

// For is a summary of a spoke's cluster, as it is sent.
func (s Summary) For(of spoke.ID) Summary {
	s.Format = formatOf(of, SummaryFormat)
	if !of.Hub() {
		s.Account, s.Region, s.Partition = of.Account, of.Region, of.Partition()
	}
	return s
}

// Weekly is the summary of a week in all that is watched; its id is of the hub and the day
// after the week, so that whoever makes it a second time makes the same.
func Weekly(by string, p Period) Summary {
	p = p.Bounded()
	return Summary{Format: SummaryFormat, Kind: WeeklySummary, ID: WeeklyID(p.To), By: by, At: p.At, Cluster: AllClusters, Period: &p}
}

// WeeklyID is the id of the summary of the week that ended before a day.
func WeeklyID(to time.Time) string { return "weekly/" + to.UTC().Format(time.DateOnly) }

// Failed is how many Spot launches came to no node for a reason that people
// should know: they were not ended on purpose.
func (s Summary) Failed() int { return Failed(s.Spot.Spot) }

// Failed is how many launches of a funnel came to no node by themselves.
func Failed(f spotreport.Funnel) int { return f.NotJoined + f.Reclaimed + f.Refused }

// Quiet reports whether nothing failed: its message says it all, and needs no details. Of a week
// the words tell.
func (s Summary) Quiet() bool { return s.Failed() == 0 }

// SummaryKind is what a summary is about.
type SummaryKind string

// The kinds.
const (
	SpotSummary    SummaryKind = "spot"
	CleanupSummary SummaryKind = "cleanup"
	WeeklySummary  SummaryKind = "weekly"
)

// SummaryFormat is the version of Summary that this code writes and reads. A
// new kind needs no new one: a report function that does not know the kind
// refuses the message.
const SummaryFormat = 101

// Slowest is the pool whose nodes take longest to join.
type Slowest struct {
	Type   string        `json:"type"`
	Zone   string        `json:"zone"`
	Median time.Duration `json:"median"` // from launch to Ready
	Joined int           `json:"joined"` // of how many
}

// MaxSummary is how large a summary may be as JSON: well within a message
// (SQS: 1 MiB, 256 KiB before August 2025) and an item of the table (400 KB).
const MaxSummary = 240 << 10

// Fit gives the summary in at most limit bytes: first the pools that do best
// are left out, then the chart. What is wrong stays. Of a week the ends of its lists are
// left out, and counted.
func (s Summary) Fit(limit int) (Summary, error) {
	for {
		body, err := json.Marshal(s)
		if err != nil {
			return s, fmt.Errorf("encode the summary %s: %w", s.ID, err)
		}
		const fewPools = 40
		switch n := len(s.Spot.Pools); {
		case len(body) <= limit:
			return s, nil
		case n > fewPools:
			keep := max(n/2, fewPools)
			s.MorePools += n - keep
			s.Spot.Pools = s.Spot.Pools[:keep]
		case len(s.Chart) > 0:
			s.Chart = nil
		case s.Period != nil:
			p, ok := s.Period.shorter()
			if !ok {
				return s, s.tooLarge(len(body), limit)
			}
			s.Period = &p
		default:
			return s, s.tooLarge(len(body), limit)
		}
	}
}

func (s Summary) tooLarge(has, limit int) error {
	return fmt.Errorf("the summary %s has %d bytes, more than the allowed %d", s.ID, has, limit)
}

// known tells a summary of a kind that this code knows, with what it is about.
func (s Summary) known() bool {
	return s.Kind == SpotSummary || s.Kind == CleanupSummary && s.Cleanup != nil || s.Kind == WeeklySummary && s.Period.sound()
}
