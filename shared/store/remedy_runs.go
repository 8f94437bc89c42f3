package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rollcall/shared/spec"

	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
)

// What remedies did: run#<cluster>, <id>; and how often each acted lately:
// runs-lately#<cluster>, <remedy>.
const (
	runPrefix      = "deed#"
	runLimitPrefix = "deeds-lately#"
)

const lateFormat = 1

// lately is the time that the limit of runs is about. A run is counted just
// before it is done, and is at it for two minutes at most: with them no hour
// that anybody looks at has more than the limit.
const lately = time.Hour + 2*time.Minute

// ClaimDeed writes ahead that a plan is about to be done, once: it gives the
// record that is there then, and whether this call wrote it. Who did not write
// it must not act.
func (s *Store) ClaimRun(ctx context.Context, d remedy.Run) (_ remedy.Run, claimed bool, _ error) {
	d.Format, d.Version = remedy.Format, 0
	there, err := s.SaveRun(ctx, d)
	var taken *Conflict
	if !errors.As(err, &taken) {
		return there, err == nil, err
	}
	list, err := s.Runs(ctx, d.Plan.Cluster)
	if err != nil {
		return remedy.Run{}, false, err
	}
	for _, other := range list {
		if other.ID == d.ID {
			return other, false, nil
		}
	}
	return remedy.Run{}, false, fmt.Errorf("the run %s is gone: %w", d.ID, taken)
}

// SaveDeed writes a run over the version that was read, and gives it with its
// new version. It fails with *Conflict if that is not the newest any more.
func (s *Store) SaveRun(ctx context.Context, d remedy.Run) (remedy.Run, error) {
	if !s.spoke.Hub() && (d.Plan.Account != s.spoke.Account || d.Plan.Region != s.spoke.Region) {
		return remedy.Run{}, fmt.Errorf("write the run %s of %s in %s: %w", d.ID, d.Plan.Account, d.Plan.Region, ErrForeign)
	}
	over := d.Version
	d.Version++
	d.Format = max(d.Format, remedy.Format)
	err := s.put(ctx, item{
		pk: s.key(runPrefix, d.Plan.Cluster), sk: d.ID, kind: "deed", format: d.Format, version: d.Version, body: d,
		expires: d.Began.Add(keepAudits),
	}, over)
	if err != nil {
		return remedy.Run{}, err
	}
	return d, nil
}

// Runs reads all runs in a cluster, by their ids.
func (s *Store) Runs(ctx context.Context, cluster string) ([]remedy.Run, error) {
	return partition[remedy.Run](ctx, s, s.key(runPrefix, cluster), remedy.Format, "the runs in "+cluster)
}

// late is how often a remedy acted lately.
type late struct {
	Remedy  optin.Remedy `json:"remedy"`
	Runs    []recentRun  `json:"deeds"`
	Version int          `json:"version"`
}

type recentRun struct {
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// Things is how many things it changed; 0 stands for one.
	Things int `json:"things,omitempty"`
}

func (d recentRun) things() int { return max(d.Things, 1) }

// room is when so many things more are within the limit; zero for now. More than
// the limit never are: then it is when the last that was counted is over.
func (l late) room(things, most int) time.Time {
	slices.SortFunc(l.Runs, func(a, b recentRun) int { return a.At.Compare(b.At) })
	taken := 0
	for _, d := range l.Runs {
		taken += d.things()
	}
	var free time.Time
	for _, d := range l.Runs {
		if taken+things <= most {
			return free
		}
		taken -= d.things()
		free = d.At.Add(lately)
	}
	return free
}

// RoomForDeeds is when there is room for so many things more within the limit of
// a remedy; zero for now.
func (s *Store) RoomForRuns(ctx context.Context, cluster string, r optin.Remedy, things, most int, now time.Time) (time.Time, error) {
	l, err := s.late(ctx, cluster, r, now)
	return l.room(things, most), err
}

// late reads how often a remedy acted within the hour.
func (s *Store) late(ctx context.Context, cluster string, r optin.Remedy, now time.Time) (late, error) {
	list, err := partition[late](ctx, s, s.key(runLimitPrefix, cluster), lateFormat, "how often remedies acted in "+cluster)
	if err != nil {
		return late{}, err
	}
	l := by(list, func(l late) string { return string(l.Remedy) })[string(r)]
	l.Remedy = r
	l.Runs = slices.DeleteFunc(l.Runs, func(x recentRun) bool { return now.Sub(x.At) >= lately })
	return l, nil
}

// CountDeed counts what a run changes against the limit of its remedy in its
// cluster within an hour. Where the limit is reached it counts nothing and gives
// when there is room; zero tells that the run is counted. The same run is
// counted once, from the last time on. Two at once cannot both be the last: it
// is written over the version that was read.
func (s *Store) CountRun(ctx context.Context, d remedy.Run, most int) (room time.Time, err error) {
	const attempts = 8
	things := d.Plan.Things()
	if things > most {
		return time.Time{}, fmt.Errorf("count a run of %s in %s: it changes %d things, the limit is %d", d.Plan.Remedy, d.Plan.Cluster, things, most)
	}
	for range attempts {
		l, err := s.late(ctx, d.Plan.Cluster, d.Plan.Remedy, d.Began)
		if err != nil {
			return time.Time{}, err
		}
		if i := slices.IndexFunc(l.Runs, func(x recentRun) bool { return x.ID == d.ID }); i >= 0 {
			if !d.Began.After(l.Runs[i].At) {
				return time.Time{}, nil
			}
			l.Runs = slices.Delete(l.Runs, i, i+1)
		}
		if room := l.room(things, most); !room.IsZero() {
			return room, nil
		}
		over := l.Version
		l.Version++
		l.Runs = append(l.Runs, recentRun{ID: d.ID, At: d.Began, Things: things})
		err = s.put(ctx, item{
			pk: s.key(runLimitPrefix, d.Plan.Cluster), sk: string(d.Plan.Remedy), kind: "count of runs", format: lateFormat, version: l.Version, body: l,
		}, over)
		var taken *Conflict
		if !errors.As(err, &taken) {
			return time.Time{}, err
		}
	}
	return time.Time{}, fmt.Errorf("count a run of %s in %s: somebody else wrote %d times in between", d.Plan.Remedy, d.Plan.Cluster, attempts)
}

// RecordDeeds lets a function write what remedies did, and how often.
func RecordRuns() []spec.Grant {
	return []spec.Grant{
		write("RecordDeeds", "What a remedy does is written ahead, so that it is done once, and is the audit record after.", runPrefix),
		write("CountDeeds", "How often a remedy acts within an hour is limited.", runLimitPrefix),
	}
}

// ReadDeeds is what reading incidents, runs and sightings needs: nothing is in
// reach through an index.
func ReadRuns() []spec.Read { return read(spec.Actions[Querier]("dynamodb"), spec.Table) }
