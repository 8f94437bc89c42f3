package store

import (
	"context"
	"time"

	"rollcall/shared/spec"

	"rollcall/shared/network/leak"
)

// A sighting's record has the key sighting#<VPC>, <interface>.
const sightingPrefix = "sighting#"

// sightingFormat is the version of leak.Sighting that this code writes and
// reads.
const sightingFormat = 1

// keepSightings is how long a sighting that nobody renews is remembered. One
// that was forgotten costs the interface another run.
const keepSightings = 30 * 24 * time.Hour

// Sightings reads what is remembered of the interfaces of a VPC, by id. If some
// were written by a newer version of Rollcall, it gives the others and an
// error with *NewerFormat in it.
func (s *Store) Sightings(ctx context.Context, vpc string) (map[string]leak.Sighting, error) {
	list, err := partition[leak.Sighting](ctx, s, s.key(sightingPrefix, vpc), sightingFormat, "the sightings of "+vpc)
	return by(list, func(x leak.Sighting) string { return x.Interface }), err
}

// SaveSighting writes a sighting over the version that was read, and gives it
// with its new version. It fails with *Conflict if that version is not the
// newest any more: of two runs that want to delete an interface one alone can
// write that it will.
func (s *Store) SaveSighting(ctx context.Context, vpc string, x leak.Sighting) (leak.Sighting, error) {
	return s.saveSighting(ctx, vpc, x, s.now().Add(keepSightings))
}

// ForgetSighting drops a sighting, if the version that was read is the newest.
func (s *Store) ForgetSighting(ctx context.Context, vpc string, x leak.Sighting) error {
	// What has expired counts as absent; DynamoDB deletes it in its time.
	_, err := s.saveSighting(ctx, vpc, x, s.now())
	return err
}

func (s *Store) saveSighting(ctx context.Context, vpc string, x leak.Sighting, expires time.Time) (leak.Sighting, error) {
	over := x.Version
	x.Version++
	err := s.put(ctx, item{
		pk: s.key(sightingPrefix, vpc), sk: x.Interface,
		kind: "sighting", format: sightingFormat, version: x.Version, body: x, expires: expires,
	}, over)
	if err != nil {
		return leak.Sighting{}, err
	}
	return x, nil
}

// RecordSightings lets a function write sightings of interfaces and nothing
// else.
func RecordSightings() spec.Grant {
	return write("RecordSightings", "An interface is deleted only if an earlier run saw it left behind, and by one run alone.", sightingPrefix)
}
