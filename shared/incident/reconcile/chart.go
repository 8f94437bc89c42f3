package reconcile

import (
	"cmp"
	"rollcall/shared/incident"
	"time"
)

// redrawn is how often the picture of an incident in which nothing happens is
// drawn anew: an edit of the message and a file in Slack each time.
const redrawn = time.Hour

// follows is how soon a picture follows numbers that go on changing: two looks of
// subnet-watch.
const follows = 10 * time.Minute

// updateChart takes the chart of an incident's subnet where its message needs one: it
// has none, the incident has moved on since, its numbers are others, an hour has passed, or a cleanup that
// ended the incident had not yet told what it gave back when the last one was drawn.
func (rec *reconciler) updateChart(u *incident.Update) {
	turn := u.Phase()
	if turn == "" && u.Chart.Due() && u.Touched {
		u.Chart = &incident.Chart{At: u.Chart.At, Alt: cmp.Or(u.Chart.FileAlt, u.Chart.Alt), Of: u.Chart.FileOf, File: u.Chart.File, FileAlt: u.Chart.FileAlt, FileOf: u.Chart.FileOf} // nobody looks at it any more
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
		// Beside other numbers than its own it is not shown, so that another is needed.
		other := u.State != incident.Closed && have.Of != "" && have.Of != u.Moment() && rec.Observation.At.Sub(have.At) >= follows
		if rec.Observation.At.Before(have.At) || have.Turn == turn && len(have.PNG) == 0 && !old && !told && !other {
			return
		}
		u.Chart = &incident.Chart{
			Alt: c.Alt, Of: u.Moment(), At: rec.Observation.At, Turn: turn, Returned: c.Returned, PNG: c.PNG,
			File: have.File, FileAlt: cmp.Or(have.FileAlt, have.Alt), FileOf: have.FileOf, Missing: have.Missing,
		}
		u.Touched = true
		return
	}
}
