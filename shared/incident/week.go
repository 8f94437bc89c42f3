package incident

import (
	"encoding/json"
	"fmt"
	"time"

	"rollcall/shared/report"
)

// WeekType is the detail-type of the event of a week.
const WeekType = "Rollcall Weekly Report"

// WeekFormat is the version of Week. Fields may be added without a new one.
const WeekFormat = 1

// Week is the detail of the event of a week in all that is watched, on the Rollcall bus
// (events/schema/rollcall-weekly-report.json).
type Week struct {
	// ID is the same each time this event is sent, and however often the week is told.
	ID     string         `json:"id"`
	Format int            `json:"format"`
	At     time.Time      `json:"at"`
	From   time.Time      `json:"from"`
	To     time.Time      `json:"to"`
	Result report.Verdict `json:"result"`

	Clusters  int           `json:"clusters"`
	Launches  report.Tally  `json:"launches"`
	Incidents WeekIncidents `json:"incidents"`
	// Open are the worst of those that are open.
	Open []report.PeriodIncident `json:"open,omitempty"`
	// Unseen is what was not looked at, Unread what could not be read of the records: it is
	// not taken for nothing.
	Unseen      []report.Unseen `json:"unseen,omitempty"`
	UnseenCount int             `json:"unseenCount"`
	Unread      []string        `json:"unread,omitempty"`
	UnreadCount int             `json:"unreadCount"`

	Words Words `json:"words"`
}

// WeekIncidents counts the incidents of a week; those that are open are so at its At.
type WeekIncidents struct {
	Seen     int `json:"seen"`
	Opened   int `json:"opened"`
	Resolved int `json:"resolved"`
	Open     int `json:"open"`
	Critical int `json:"critical"`
}

// weekOpen and weekUnseen are the most that the event lists.
const (
	weekOpen   = 25
	weekUnseen = 25
)

// NewWeek is the event of a summary of a week.
func NewWeek(s report.Summary, words Words) Week {
	p := *s.Period
	w := Week{
		ID: s.ID, Format: WeekFormat, At: s.At, From: p.From, To: p.To, Result: p.Verdict(), Clusters: p.Clusters, Launches: p.Launches,
		Incidents: WeekIncidents{Seen: p.Seen, Opened: p.Opened, Resolved: p.Resolved, Open: p.Open, Critical: p.Critical},
		Unseen:    First(p.Unseen, weekUnseen), UnseenCount: len(p.Unseen) + p.MoreUnseen,
		Unread: First(p.Unread, weekUnseen), UnreadCount: len(p.Unread) + p.MoreUnread, Words: words,
	}
	for _, i := range p.Incidents {
		if i.IsOpen() && len(w.Open) < weekOpen {
			w.Open = append(w.Open, i)
		}
	}
	return w
}

// MaxWeek is the most bytes of a week's event: well within an entry of 256 KB ("Calculating
// PutEvents event entry size"), as each target gets it in a message of SQS too.
const MaxWeek = 200 << 10

// ReadWeek reads the event of a week, and returns its digest: the same for what says the same,
// in whichever order of fields.
func ReadWeek(detail []byte) (Week, string, error) {
	var w Week
	if err := json.Unmarshal(detail, &w); err != nil {
		return Week{}, "", fmt.Errorf("read the event of a week: %w", err)
	}
	return w, digest(w), nil
}

// Encode writes the event in at most limit bytes: what it lists is left out before its words.
func (w Week) Encode(limit int) ([]byte, error) {
	for _, shorter := range []func(){
		func() {},
		func() { w.Open = nil },
		func() { w.Unseen, w.Unread = nil, nil },
		func() { w.Words.Lines = First(w.Words.Lines, 10) },
	} {
		shorter()
		body, err := json.Marshal(w)
		if err != nil {
			return nil, fmt.Errorf("encode the event %s: %w", w.ID, err)
		}
		if len(body) <= limit {
			return body, nil
		}
	}
	return nil, nil
}
