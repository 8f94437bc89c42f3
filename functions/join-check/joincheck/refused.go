package joincheck

import (
	"context"

	"rollcall/shared/detect"
	"rollcall/shared/snapshot"
)

// addRefused puts the refused launches that launch-watch took down into the
// snapshot, with what the instances show: events of instances that EKS Auto Mode
// manages may not come. Where they cannot be read they are not judged.
func (h handler) addRefused(ctx context.Context, s *snapshot.Snapshot, r roll) *detect.Runs {
	runs, err := h.runs(ctx, s.Cluster.Name, r)
	if err != nil {
		s.Failures[snapshot.RefusedLaunches] = unreadTable(snapshot.RefusedLaunches, err)
		return nil
	}
	s.Read[snapshot.RefusedLaunches] = true
	s.Refused = runs.Launches()
	return runs
}

func (h handler) runs(ctx context.Context, cluster string, r roll) (*detect.Runs, error) {
	records, err := h.refused.RefusedLaunches(ctx, cluster)
	if err != nil {
		return nil, err
	}
	runs := detect.NewRuns(records)
	var instances []snapshot.Instance
	for _, e := range r.entries {
		if e.instance != nil {
			instances = append(instances, *e.instance)
		}
	}
	runs.Started(instances)
	return runs, nil
}

// saveRuns remembers which of them have worked since; nil where they were not read.
func (h handler) saveRuns(ctx context.Context, cluster string, r roll, runs *detect.Runs) error {
	if runs == nil {
		return nil
	}
	return h.SaveRuns(ctx, h.refused, runs, func(ctx context.Context) (*detect.Runs, error) { return h.runs(ctx, cluster, r) })
}
