package overview

import (
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
)

// Why is what is stored of an instance.
type Why struct {
	Instance string
	Now      time.Time
	// Found are the launches of that id, by account and region: one, or none.
	Found []Found
	// Unread is what could not be read, for people.
	Unread []string
	Site   string
}

// Found is a launch that is known, and the incidents that it is in.
type Found struct {
	Cluster Cluster
	// Region is that of its cluster, where it is known.
	Region string
	// Nodegroup is its managed nodegroup, or its Auto Scaling group.
	Nodegroup, Type, Zone, Subnet string
	Started, Registered, Ready    time.Time
	Due                           time.Time
	Ended                         time.Time
	End                           snapshot.End
	Cause                         checkid.ID
	Says                          string
	// Incidents are those that name it, the open ones first.
	Incidents []incident.Incident
}

// Naming are the incidents that name an instance, the open ones first.
func Naming(list []incident.Incident, instance string) []incident.Incident {
	var open, closed []incident.Incident
	for _, inc := range list {
		switch {
		case inc.Number == 0 || !names(inc, instance):
		case inc.State == incident.Closed:
			closed = append(closed, inc)
		default:
			open = append(open, inc)
		}
	}
	return append(open, closed...)
}

func names(inc incident.Incident, instance string) bool {
	if inc.Key.Resource == instance {
		return true
	}
	for _, l := range inc.Launches {
		if l.Instance == instance {
			return true
		}
	}
	for _, id := range inc.More {
		if id == instance {
			return true
		}
	}
	return false
}

// Joined tells that it is a Ready node, as far as is known.
func (f Found) Joined() bool { return f.End == snapshot.Joined }

// Report is what came of the launches and incidents of a time.
type Report struct {
	From, To time.Time
	Clusters int
	Launches Tally
	// Opened, Resolved and StillOpen are incidents.
	Opened, Resolved, StillOpen int
	// Causes are those of launches that did not join, the most frequent first.
	Causes []Cause
	// LeftOut are how many clusters there was no time or room for.
	LeftOut int
	Unread  []string
}

// Tally counts launches by their end.
type Tally struct{ All, Joined, Failed, Reclaimed, Other, Waiting int }

// Cause is how many launches did not join for it.
type Cause struct {
	Check checkid.ID
	N     int
}

// Count takes a cluster's launches in.
func (r *Report) Count(list []snapshot.Past) {
	for _, p := range list {
		if p.Started.Before(r.From) {
			continue
		}
		r.Launches.All++
		switch p.End {
		case snapshot.Joined:
			r.Launches.Joined++
		case snapshot.NotJoined, snapshot.Refused:
			r.Launches.Failed++
			r.cause(p.Cause)
		case snapshot.Reclaimed:
			r.Launches.Reclaimed++
		case snapshot.Open:
			r.Launches.Waiting++
		default:
			r.Launches.Other++
		}
	}
}

func (r *Report) cause(id checkid.ID) {
	for i := range r.Causes {
		if r.Causes[i].Check == id {
			r.Causes[i].N++
			for ; i > 0 && r.Causes[i].N > r.Causes[i-1].N; i-- {
				r.Causes[i], r.Causes[i-1] = r.Causes[i-1], r.Causes[i]
			}
			return
		}
	}
	r.Causes = append(r.Causes, Cause{id, 1})
}

// CountIncidents takes a cluster's incidents in.
func (r *Report) CountIncidents(list []incident.Incident) {
	for _, inc := range list {
		if inc.Number == 0 || inc.Key.Cluster == report.AllClusters {
			continue
		}
		if !inc.Opened.Before(r.From) {
			r.Opened++
		}
		switch {
		case inc.State != incident.Closed:
			r.StillOpen++
		case !inc.Resolved.Before(r.From):
			r.Resolved++
		}
	}
}
