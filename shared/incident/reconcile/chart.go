package reconcile

import (
	"rollcall/shared/incident"
	"time"
)

// redrawn is how often the picture of an incident in which nothing happens is
// drawn anew: an edit of the message and a file in Slack each time.
const redrawn = time.Hour

// updateChart takes the chart of an incident's subnet where its message needs one: it
// has none, the incident has moved on since, an hour has passed, or a cleanup that
// ended the incident had not yet told what it gave back when the last one was drawn.
func (rec *reconciler) updateChart(u *incident.Update) {
	turn := u.Phase()
	if turn == "" && u.Chart.Due() && u.Touched {
		u.Chart = &incident.Chart{Alt: u.Chart.Alt, At: u.Chart.At, File: u.Chart.File} // nobody looks at it any more
	}
	if turn == "" || u.State != incident.Open && rec.Observation.At.Before(u.Cleared) {
		return
	}
	for _, c := range rec.Observation.Charts {
		if c.Of != u.Key.Resource || len(c.PNG) == 0 {
			continue
		}
		var have incident.Chart
		if u.Chart != nil {
			have = *u.Chart
		}
		old := u.State != incident.Closed && rec.Observation.At.Sub(have.At) >= redrawn
		told := u.State == incident.Closed && c.Returned > have.Returned && rec.Observation.At.Sub(u.Resolved) < redrawn
		if rec.Observation.At.Before(have.At) || have.Turn == turn && len(have.PNG) == 0 && !old && !told {
			return
		}
		u.Chart = &incident.Chart{Alt: c.Alt, At: rec.Observation.At, Turn: turn, Returned: c.Returned, PNG: c.PNG, File: have.File, Missing: have.Missing}
		u.Touched = true
		return
	}
}
