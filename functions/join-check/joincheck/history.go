package joincheck

import (
	"context"
	"errors"
	"slices"
	"time"

	"rollcall/shared/detect"
	"rollcall/shared/node/factor"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

const (
	// lately is how far back the history goes that the checks of a launch see: a
	// burst is over in minutes.
	lately = time.Hour
	// compared is how many launches of the last week are read beside it, the newest:
	// what launches have in common shows in a few hundred.
	compared = 20_000
)

// addHistory puts the launches of the last hour and of the last week into the
// snapshot, and what the subnets of the scope had. It gives the instance types of those launches.
func (h handler) addHistory(ctx context.Context, s *snapshot.Snapshot, joined []snapshot.Past) []string {
	since := s.Time.Add(-lately)
	week, err := h.memory.RecentHistory(ctx, s.Cluster.Name, s.Time.Add(-factor.Window), compared)
	began, _ := slices.BinarySearchFunc(week, since, func(p snapshot.Past, t time.Time) int { return p.Started.Compare(t) })
	history := week[began:]
	s.Week, s.History = withJoined(week, joined), history
	for _, subnet := range s.Scope.Subnets {
		samples, failed := h.memory.Samples(ctx, subnet, since)
		s.Samples = append(s.Samples, samples...)
		err = errors.Join(err, failed)
	}
	if err != nil {
		s.Failures[snapshot.LaunchHistory] = unreadTable(snapshot.LaunchHistory, err)
	} else {
		s.Read[snapshot.LaunchHistory] = true
	}
	var types []string
	for _, p := range history {
		types = append(types, p.Type)
	}
	return detect.Distinct(types)
}

// unreadTable is what of Rollcall's table could not be read in full.
func unreadTable(of snapshot.Source, err error) snapshot.Failure {
	f := snapshot.Failure{Source: of, Reason: snapshot.Broken, Call: "dynamodb:Query", Message: err.Error()}
	var limit *store.AtLimit
	switch {
	case errors.As(err, &limit):
		f.Reason, f.Code = snapshot.Throttled, limit.Code
	case errors.Is(err, context.DeadlineExceeded):
		f.Reason = snapshot.TimedOut
	}
	return f
}

// joinedLaunches are the launches of the Ready nodes that were found, whether or not
// anybody has recorded them: nobody has where Rollcall is new to a cluster.
func joinedLaunches(s *snapshot.Snapshot) (list []snapshot.Past) {
	ready := map[string]bool{}
	for _, n := range s.Nodes {
		ready[n.Instance] = ready[n.Instance] || n.Joined()
	}
	for _, i := range s.Instances {
		if !ready[i.ID] || s.Time.Sub(i.Launched) > factor.Window {
			continue
		}
		list = append(list, snapshot.Past{
			ID: i.ID, Nodegroup: i.Owner(), Type: i.Type, Zone: i.Zone, Subnet: i.Subnet, Spot: i.Spot, Template: i.Template,
			AMI: i.AMI, Architecture: i.Architecture, Started: i.Launched, End: snapshot.Joined,
		})
	}
	return list
}

// withJoined adds those that are not in the list.
func withJoined(list, joined []snapshot.Past) []snapshot.Past {
	known := make(map[string]bool, len(list))
	for _, p := range list {
		known[p.ID] = true
	}
	list = slices.Clip(list) // History is a part of it
	for _, p := range joined {
		if !known[p.ID] {
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b snapshot.Past) int { return a.Started.Compare(b.Started) })
	return list
}
