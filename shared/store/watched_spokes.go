package store

import (
	"context"
	"slices"
	"time"

	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Which spokes are watched, and which were, has the key spoke#, <account>/<region>, among
// the hub's own records: what is remembered of a spoke cannot be found without its name.
const spokePrefix = "spoke#"

// SpokeFormat is the version of WatchedSpoke that this code writes and reads.
const SpokeFormat = 1

// WatchedSpoke is a spoke that is or was watched.
type WatchedSpoke struct {
	Spoke  spoke.ID `json:"spoke"`
	Format int      `json:"format"`
	// Left is when it was first seen to be no longer among the settings; zero while it is.
	Left time.Time `json:"left,omitzero"`
	// Done tells that nothing of it is open any more: the record is kept for as long as closed
	// incidents are, which are found by it.
	Done bool `json:"done,omitempty"`
}

// WatchedSpokes reads those of which something may be open, by account and region.
func (s *Store) WatchedSpokes(ctx context.Context) ([]WatchedSpoke, error) {
	list, err := s.AllSpokes(ctx)
	return slices.DeleteFunc(list, func(w WatchedSpoke) bool { return w.Done }), err
}

// AllSpokes reads those of which the table may have anything, by account and region.
func (s *Store) AllSpokes(ctx context.Context) ([]WatchedSpoke, error) {
	return partition[WatchedSpoke](ctx, s, spokePrefix, SpokeFormat, "which accounts and regions were watched")
}

// SaveWatchedSpoke writes one, over whatever is there.
func (s *Store) SaveWatchedSpoke(ctx context.Context, w WatchedSpoke) error {
	w.Format = SpokeFormat
	it := item{pk: spokePrefix, sk: w.Spoke.String(), kind: "spoke", format: w.Format, version: 1, body: w}
	if w.Done {
		it.expires = s.now().Add(keepQuiet)
	}
	return s.put(ctx, it, anyVersion)
}

// RecordSpokes lets a function write which spokes are watched.
func RecordSpokes() spec.Grant {
	return write("RecordSpokes", "Of an account and region that is no longer watched nothing is heard: what was open there is found, and closed, by its name.", spokePrefix)
}
