package detect

import (
	"context"
	"errors"
	"fmt"

	"rollcall/shared/node/outcome"
	"rollcall/shared/store"
)

// Writers bounds the writes at once: a burst of a thousand launches is recorded
// in some seconds, and the table is not flooded.
const Writers = 16

// Launches is the table of launches, which several invocations write.
type Launches interface {
	GetLaunches(ctx context.Context, instances []string) (map[string]store.LaunchRecord, error)
	CreateLaunch(ctx context.Context, l store.LaunchRecord) (created bool, err error)
	SaveLaunch(ctx context.Context, l store.LaunchRecord) error
}

// races is how often a record is read again that somebody else has written.
const races = 3

// LostRaces is the error that somebody else wrote a record each time.
type LostRaces struct{ ID string }

func (e *LostRaces) Error() string {
	return fmt.Sprintf("record what is known of %s: somebody else wrote it %d times", e.ID, races)
}

// SaveLaunch writes a launch. Over a record that another invocation has written
// meanwhile what is known is added: facts only add up. A record that has expired
// is not written anew. The error is *LostRaces where it could not be written
// for others' writes.
func (d Detector) SaveLaunch(ctx context.Context, table Launches, recorded bool, l store.LaunchRecord) error {
	if !recorded {
		created, err := table.CreateLaunch(ctx, l)
		if err != nil || created {
			return err
		}
	} else if err := table.SaveLaunch(ctx, l); !conflicts(err) {
		return err
	}
	for range races {
		d.Count("LostRaces", 1)
		list, err := table.GetLaunches(ctx, []string{l.ID()})
		if err != nil {
			return fmt.Errorf("read the launch of %s again: %w", l.ID(), err)
		}
		other, ok := list[l.ID()]
		if !ok {
			return nil // expired
		}
		changed := other.Learn(l.Known())
		if !other.Status.Final() && other.Status != l.Status && l.Status == outcome.Missed {
			other.Status, changed = l.Status, true
		}
		if !changed {
			return nil
		}
		if err := table.SaveLaunch(ctx, other); !conflicts(err) {
			return err
		}
	}
	return &LostRaces{l.ID()}
}

func conflicts(err error) bool {
	var conflict *store.Conflict
	return errors.As(err, &conflict)
}
