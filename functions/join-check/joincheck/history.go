package joincheck

import (
	"context"
	"errors"
	"time"

	"rollcall/shared/detect"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// lately is how far back the history goes that the checks of a launch see: a
// burst is over in minutes.
const lately = time.Hour

// addHistory puts the launches of the last hour into the snapshot, and what the
// subnets of the scope had. It gives the instance types of those launches.
func (h handler) addHistory(ctx context.Context, s *snapshot.Snapshot) []string {
	since := s.Time.Add(-lately)
	history, err := h.memory.History(ctx, s.Cluster.Name, since)
	s.History = history
	for _, subnet := range s.Scope.Subnets {
		samples, failed := h.memory.Samples(ctx, subnet, since)
		s.Samples = append(s.Samples, samples...)
		err = errors.Join(err, failed)
	}
	if err != nil {
		s.Failures[snapshot.LaunchHistory] = unreadHistory(err)
	} else {
		s.Read[snapshot.LaunchHistory] = true
	}
	var types []string
	for _, p := range history {
		types = append(types, p.Type)
	}
	return detect.Distinct(types)
}

// unreadHistory is a history that could not be read in full.
func unreadHistory(err error) snapshot.Failure {
	f := snapshot.Failure{Source: snapshot.LaunchHistory, Reason: snapshot.Broken, Call: "dynamodb:Query", Message: err.Error()}
	var limit *store.AtLimit
	switch {
	case errors.As(err, &limit):
		f.Reason, f.Code = snapshot.Throttled, limit.Code
	case errors.Is(err, context.DeadlineExceeded):
		f.Reason = snapshot.TimedOut
	}
	return f
}
