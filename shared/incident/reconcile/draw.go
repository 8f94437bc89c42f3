package reconcile

import (
	"rollcall/shared/incident"
	"time"
)

// redrawn is how often the picture of an incident in which nothing happens is
// drawn anew: an edit of the message and a file in Slack each time.
const redrawn = time.Hour

// updateChart takes the chart of an incident's subnet where its message needs one: it
// has none, the incident has moved on since, or an hour has passed.
func (d *reconciler) updateChart(f *incident.Update) {
	turn := f.Phase()
	if turn == "" && f.Chart.Due() && f.Touched {
		f.Chart = &incident.Chart{Alt: f.Chart.Alt, At: f.Chart.At, File: f.Chart.File} // nobody looks at it any more
	}
	if turn == "" || f.State != incident.Open && d.Observation.At.Before(f.Cleared) {
		return
	}
	for _, c := range d.Observation.Charts {
		if c.Of != f.Key.Resource || len(c.PNG) == 0 {
			continue
		}
		var have incident.Chart
		if f.Chart != nil {
			have = *f.Chart
		}
		old := f.State != incident.Closed && d.Observation.At.Sub(have.At) >= redrawn
		if d.Observation.At.Before(have.At) || have.Turn == turn && len(have.PNG) == 0 && !old {
			return
		}
		f.Chart = &incident.Chart{Alt: c.Alt, At: d.Observation.At, Turn: turn, PNG: c.PNG, File: have.File, Missing: have.Missing}
		f.Touched = true
		return
	}
}
