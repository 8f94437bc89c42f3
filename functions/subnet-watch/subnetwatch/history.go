package subnetwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/detect"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

// past is how long back samples are read: two weeks have each weekday's waves
// twice.
const past = 15 * 24 * time.Hour

// lately is how long what eni-cleanup gave back is told.
const lately = time.Hour

// addHistory adds what subnets had before, and what eni-cleanup gave back. Where
// that cannot be read the checks that go by it cannot look, and the others can.
func (h handler) addHistory(ctx context.Context, s *snapshot.Snapshot, subnets []string) error {
	var samples []snapshot.Sample
	for _, id := range subnets {
		list, err := h.history.Samples(ctx, id, s.Time.Add(-past))
		var newer *store.NewerFormat
		if errors.As(err, &newer) {
			h.Log.WarnContext(ctx, "some samples were recorded by a newer version of Rollcall, they are left out", "subnet", id, "error", err.Error())
			h.Count("NewerRecords", 1)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("read what %s had: %w", id, err)
		}
		samples = append(samples, list...)
	}
	// What they have now is part of it, though it is written only after this look.
	for _, x := range detect.Samples(s, subnets) {
		x.At = s.Time
		samples = append(samples, x)
	}
	slices.SortStableFunc(samples, func(a, b snapshot.Sample) int {
		return cmp.Or(strings.Compare(a.Subnet, b.Subnet), a.At.Compare(b.At))
	})
	s.Samples, s.Read[snapshot.LaunchHistory] = samples, true
	returned, err := h.history.Returned(ctx, s.Cluster.Name, s.Time.Add(-lately))
	if err != nil {
		return fmt.Errorf("read what eni-cleanup gave back: %w", err)
	}
	s.Returned = returned
	return nil
}

// keep notes what the subnets have now.
func (h handler) keep(ctx context.Context, s *snapshot.Snapshot, subnets []string) error {
	samples := detect.Samples(s, subnets)
	if len(samples) == 0 {
		return nil
	}
	if err := h.history.RecordSamples(ctx, samples); err != nil {
		return fmt.Errorf("note what the subnets have: %w", err)
	}
	for _, id := range subnets {
		if _, err := h.history.CatchUp(ctx, id); err != nil {
			return fmt.Errorf("roll up what %s had: %w", id, err)
		}
	}
	return nil
}
