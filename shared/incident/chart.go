package incident

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"rollcall/shared/checks"
)

// Chart is the picture of an incident's subnet: on its way into Slack, and as
// it is there.
type Chart struct {
	// Alt says in words what it shows, At when it was drawn.
	Alt string    `json:"alt,omitempty"`
	At  time.Time `json:"at"`
	// Of is what the message said when it was drawn (see Incident.Moment); empty in records
	// of earlier releases.
	Of string `json:"of,omitempty"`
	// Turn is where the incident was in its life when it was drawn.
	Turn string `json:"turn,omitempty"`
	// Returned is how many addresses it shows as given back by a cleanup.
	Returned int `json:"returned,omitempty"`
	// PNG is there until Slack has it, Next is Slack's id of it until the
	// message shows it, File the one that the message shows.
	PNG  []byte `json:"png,omitempty"`
	Next string `json:"next,omitempty"`
	File string `json:"file,omitempty"`
	// FileAlt and FileOf are Alt and Of of File, while another picture is on its way.
	FileAlt string `json:"fileAlt,omitempty"`
	FileOf  string `json:"fileOf,omitempty"`
	// Refusals counts how often Slack did not take the message with Next.
	Refusals int `json:"refusals,omitempty"`
	// Missing says why there is none, for people.
	Missing string `json:"missing,omitempty"`
}

// Due tells that a picture waits to be shown.
func (s *Chart) Due() bool { return s != nil && (len(s.PNG) > 0 || s.Next != "") }

// Shown is the chart as the message shows it: with the next picture, once Slack has it.
func (s Chart) Shown() Chart {
	s.File, s.FileAlt, s.FileOf = s.Next, s.Alt, s.Of
	s.Next, s.Refusals, s.Missing = "", 0, ""
	return s
}

// Moment tells the numbers that a message gives apart from those of another look: a
// picture is shown beside its own alone.
func (inc Incident) Moment() string {
	text, err := json.Marshal([]any{inc.Number, inc.State, inc.Resolution, inc.Cause.Title, inc.Cause.Why, inc.ClearedBy})
	if err != nil {
		return "" // as if it were of any
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// without is the sketch less the picture that Slack does not have yet.
func (s *Chart) without() *Chart {
	if s == nil {
		return nil
	}
	less := *s
	less.PNG = nil
	return &less
}

// Phase is where an incident is in its life, for the choice of its picture;
// empty where it needs none. A subnet that falls short shows how.
func (inc Incident) Phase() string {
	switch {
	case inc.Number == 0 || !OfAddresses(inc.Key.Check):
		return ""
	case inc.State == Open && inc.Cause.Confidence == checks.Certain:
		return fmt.Sprintf("%d %s short", inc.Number, inc.State)
	case inc.State == Open || inc.State == Cleared:
		return fmt.Sprintf("%d %s", inc.Number, inc.State)
	case inc.State == Closed && (inc.Resolution == Proved || inc.Resolution == Unproved):
		return fmt.Sprintf("%d %s", inc.Number, inc.Resolution)
	}
	return ""
}
