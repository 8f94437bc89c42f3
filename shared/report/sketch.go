package report

import (
	"fmt"
	"time"

	"rollcall/shared/checks"
)

// Sketch is the picture of an incident's subnet: on its way into Slack, and as
// it is there.
type Sketch struct {
	// Alt says in words what it shows, At when it was drawn.
	Alt string    `json:"alt,omitempty"`
	At  time.Time `json:"at"`
	// Turn is where the incident was in its life when it was drawn.
	Turn string `json:"turn,omitempty"`
	// PNG is there until Slack has it, Next is Slack's id of it until the
	// message shows it, File the one that the message shows.
	PNG  []byte `json:"png,omitempty"`
	Next string `json:"next,omitempty"`
	File string `json:"file,omitempty"`
	// Refusals counts how often Slack did not take the message with Next.
	Refusals int `json:"refusals,omitempty"`
	// Missing says why there is none, for people.
	Missing string `json:"missing,omitempty"`
}

// Due tells that a picture waits to be shown.
func (s *Sketch) Due() bool { return s != nil && (len(s.PNG) > 0 || s.Next != "") }

// without is the sketch less the picture that Slack does not have yet.
func (s *Sketch) without() *Sketch {
	if s == nil || len(s.PNG) == 0 {
		return s
	}
	less := *s
	less.PNG = nil
	return &less
}

// redrawn is how often the picture of an incident in which nothing happens is
// drawn anew: an edit of the message and a file in Slack each time.
const redrawn = time.Hour

// turn is where an incident is in its life, for the choice of its picture;
// empty where it needs none. A subnet that falls short shows how.
func (inc Incident) turn() string {
	switch {
	case inc.Number == 0 || !ofAddresses(inc.Key.Check):
		return ""
	case inc.State == Open && inc.Cause.Confidence == checks.Certain:
		return fmt.Sprintf("%d %s short", inc.Number, inc.State)
	case inc.State == Open || inc.State == Cleared:
		return fmt.Sprintf("%d %s", inc.Number, inc.State)
	case inc.State == Closed && (inc.Ending == Proved || inc.Ending == Unproved):
		return fmt.Sprintf("%d %s", inc.Number, inc.Ending)
	}
	return ""
}

// draw takes the chart of an incident's subnet where its message needs one: it
// has none, the incident has moved on since, or an hour has passed.
func (d *reconciler) draw(f *draft) {
	turn := f.turn()
	if turn == "" && f.Sketch.Due() && f.changed {
		f.Sketch = &Sketch{Alt: f.Sketch.Alt, At: f.Sketch.At, File: f.Sketch.File} // nobody looks at it any more
	}
	if turn == "" || f.State != Open && d.obs.At.Before(f.Cleared) {
		return
	}
	for _, c := range d.obs.Charts {
		if c.Of != f.Key.Resource || len(c.PNG) == 0 {
			continue
		}
		var have Sketch
		if f.Sketch != nil {
			have = *f.Sketch
		}
		old := f.State != Closed && d.obs.At.Sub(have.At) >= redrawn
		if d.obs.At.Before(have.At) || have.Turn == turn && len(have.PNG) == 0 && !old {
			return
		}
		f.Sketch = &Sketch{Alt: c.Alt, At: d.obs.At, Turn: turn, PNG: c.PNG, File: have.File, Missing: have.Missing}
		f.changed = true
		return
	}
}
