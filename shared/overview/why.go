package overview

import (
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/incident"
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
