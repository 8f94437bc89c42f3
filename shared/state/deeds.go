package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/fn"
	"rollcall/shared/plan"
)

// What remedies did: deed#<cluster>, <id>; and how often each acted lately:
// deeds-lately#<cluster>, <remedy>.
const (
	deedPrefix      = "deed#"
	deedLimitPrefix = "deeds-lately#"
)

const lateFormat = 1

// lately is the time that the limit of deeds is about.
const lately = time.Hour

// ClaimDeed writes ahead that a plan is about to be done, once: it gives the
// record that is there then, and whether this call wrote it. Who did not write
// it must not act.
func (s *Store) ClaimDeed(ctx context.Context, d plan.Deed) (_ plan.Deed, claimed bool, _ error) {
	d.Format, d.Version = plan.Format, 0
	there, err := s.SaveDeed(ctx, d)
	var taken *Conflict
	if !errors.As(err, &taken) {
		return there, err == nil, err
	}
	list, err := s.Deeds(ctx, d.Plan.Cluster)
	if err != nil {
		return plan.Deed{}, false, err
	}
	for _, other := range list {
		if other.ID == d.ID {
			return other, false, nil
		}
	}
	return plan.Deed{}, false, fmt.Errorf("the deed %s is gone: %w", d.ID, taken)
}

// SaveDeed writes a deed over the version that was read, and gives it with its
// new version. It fails with *Conflict if that is not the newest any more.
func (s *Store) SaveDeed(ctx context.Context, d plan.Deed) (plan.Deed, error) {
	over := d.Version
	d.Version++
	err := s.put(ctx, item{
		pk: deedPrefix + d.Plan.Cluster, sk: d.ID, kind: "deed", format: d.Format, version: d.Version, body: d,
		expires: d.Began.Add(keepAudits),
	}, over)
	if err != nil {
		return plan.Deed{}, err
	}
	return d, nil
}

// Deeds reads all deeds in a cluster, by their ids.
func (s *Store) Deeds(ctx context.Context, cluster string) ([]plan.Deed, error) {
	return partition[plan.Deed](ctx, s, deedPrefix+cluster, plan.Format, "the deeds in "+cluster)
}

// late is how often a remedy acted lately.
type late struct {
	Remedy  plan.Remedy `json:"remedy"`
	Deeds   []lateDeed  `json:"deeds"`
	Version int         `json:"version"`
}

type lateDeed struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
}

// CountDeed counts a deed against the limit of its remedy in its cluster within
// an hour. It tells false where the limit is reached, and counts the same deed
// once. Two at once cannot both be the last: it is written over the version
// that was read.
func (s *Store) CountDeed(ctx context.Context, d plan.Deed, most int) (within bool, err error) {
	const attempts = 8
	for range attempts {
		list, err := partition[late](ctx, s, deedLimitPrefix+d.Plan.Cluster, lateFormat, "how often remedies acted in "+d.Plan.Cluster)
		if err != nil {
			return false, err
		}
		l := by(list, func(l late) string { return string(l.Remedy) })[string(d.Plan.Remedy)]
		l.Remedy = d.Plan.Remedy
		l.Deeds = slices.DeleteFunc(l.Deeds, func(x lateDeed) bool { return d.Began.Sub(x.At) >= lately })
		if slices.ContainsFunc(l.Deeds, func(x lateDeed) bool { return x.ID == d.ID }) {
			return true, nil
		}
		if len(l.Deeds) >= most {
			return false, nil
		}
		over := l.Version
		l.Version++
		l.Deeds = append(l.Deeds, lateDeed{d.ID, d.Began})
		err = s.put(ctx, item{
			pk: deedLimitPrefix + d.Plan.Cluster, sk: string(d.Plan.Remedy), kind: "count of deeds", format: lateFormat, version: l.Version, body: l,
		}, over)
		var taken *Conflict
		if !errors.As(err, &taken) {
			return err == nil, err
		}
	}
	return false, fmt.Errorf("count a deed of %s in %s: somebody else wrote %d times in between", d.Plan.Remedy, d.Plan.Cluster, attempts)
}

// RecordDeeds lets a function write what remedies did, and how often.
func RecordDeeds() []fn.Grant {
	return []fn.Grant{
		write("RecordDeeds", "What a remedy does is written ahead, so that it is done once, and is the audit record after.", deedPrefix),
		write("CountDeeds", "How often a remedy acts within an hour is limited.", deedLimitPrefix),
	}
}

// ReadDeeds is what reading incidents, deeds and sightings needs: nothing is in
// reach through an index.
func ReadDeeds() []fn.Read { return read(fn.Actions[Querier]("dynamodb"), fn.Table) }
