package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/network/leak"
	"rollcall/shared/overview"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store/table"
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
	if !s.t.Spoke.Hub() && (d.Plan.Account != s.t.Spoke.Account || d.Plan.Region != s.t.Spoke.Region) {
		return remedy.Run{}, fmt.Errorf("write the run %s of %s in %s: %w", d.ID, d.Plan.Account, d.Plan.Region, table.ErrForeign)
	}
	d.Format = max(d.Format, remedy.Format)
	return table.Save(ctx, s.t, table.Item{
		PK: s.t.Key(runPrefix, d.Plan.Cluster), SK: d.ID, Kind: "deed", Format: d.Format, Expires: d.Began.Add(table.KeepAudits),
	}, &d, &d.Version)
}

// Runs reads all runs in a cluster, by their ids.
func (s *Store) Runs(ctx context.Context, cluster string) ([]remedy.Run, error) {
	return table.Partition[remedy.Run](ctx, s.t, s.t.Key(runPrefix, cluster), remedy.Format, "the runs in "+cluster)
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
	list, err := table.Partition[late](ctx, s.t, s.t.Key(runLimitPrefix, cluster), lateFormat, "how often remedies acted in "+cluster)
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
// when there is room; zero if the run is counted. The same run is
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
		l.Runs = append(l.Runs, recentRun{ID: d.ID, At: d.Began, Things: things})
		_, err = table.Save(ctx, s.t, table.Item{
			PK: s.t.Key(runLimitPrefix, d.Plan.Cluster), SK: string(d.Plan.Remedy), Kind: "count of runs", Format: lateFormat,
		}, &l, &l.Version)
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
		table.Write("RecordDeeds", "Each change is recorded before it is made, so that it is made once; the record is the audit trail afterwards.", runPrefix),
		table.Write("CountDeeds", "How often a remedy acts within an hour is limited.", runLimitPrefix),
	}
}

// ReadDeeds is what reading incidents, runs and sightings needs: nothing is in
// reach through an index.
func ReadRuns() []spec.Read { return table.Read(table.Queries(), spec.Table) }

// refusedPrefix begins the partition keys of launches without an Auto Scaling group
// that were refused: refused#<cluster>, <launcher>#<class>.
const refusedPrefix = "refused#"

// RefusedFormat is the version of RefusedRecord that this code writes and reads.
const RefusedFormat = 1

// keepRefused is how long a run of refused calls is remembered after its last
// call: it counts for an hour, and tells for one more that it was there.
const keepRefused = 6 * time.Hour

// RefusedRecord is what is remembered of one launcher and class of refusals.
type RefusedRecord struct {
	snapshot.RefusedLaunch
	Cluster string `json:"cluster"`
	// Version is of the record as it was read.
	Version int `json:"version"`
}

// RefusedLaunches reads those of a cluster.
func (s *Store) RefusedLaunches(ctx context.Context, cluster string) ([]RefusedRecord, error) {
	return table.Partition[RefusedRecord](ctx, s.t, s.t.Key(refusedPrefix, cluster), RefusedFormat, "the refused launches of "+cluster)
}

// SaveRefusedLaunch writes a record over the version that was read, 0 for none, and
// fails with *Conflict if that is not the newest any more.
func (s *Store) SaveRefusedLaunch(ctx context.Context, r RefusedRecord) error {
	_, err := table.Save(ctx, s.t, table.Item{
		PK: s.t.Key(refusedPrefix, r.Cluster), SK: strings.Join([]string{r.Launcher, string(r.Class)}, "#"),
		Kind: "refused launch", Format: RefusedFormat, Expires: r.Last.Add(keepRefused),
	}, &r, &r.Version)
	return err
}

// ReadRefusedLaunches is what reading them needs.
func ReadRefusedLaunches() []spec.Read { return table.Read(table.Queries(), spec.Table) }

// RecordRefusedLaunches lets a function write them, and nothing else.
func RecordRefusedLaunches() spec.Grant {
	return table.Write("RecordRefusedLaunches", "Thousands of refused calls an hour become one record and one message, which sweep reads too.", refusedPrefix)
}

// A sighting's record has the key sighting#<VPC>, <interface>.
const sightingPrefix = "sighting#"

// sightingFormat is the version of leak.Sighting that this code writes and
// reads.
const sightingFormat = 1

// keepSightings is how long a sighting that is not renewed is remembered. One
// that was forgotten costs the interface another run.
const keepSightings = 30 * 24 * time.Hour

// Sightings reads what is remembered of the interfaces of a VPC, by id. If some
// were written by a newer version of Rollcall, it gives the others and an
// error with *NewerFormat in it.
func (s *Store) Sightings(ctx context.Context, vpc string) (map[string]leak.Sighting, error) {
	list, err := table.Partition[leak.Sighting](ctx, s.t, s.t.Key(sightingPrefix, vpc), sightingFormat, "the sightings of "+vpc)
	return by(list, func(x leak.Sighting) string { return x.Interface }), err
}

// SaveSighting writes a sighting over the version that was read, and gives it
// with its new version. It fails with *Conflict if that version is not the
// newest any more: of two runs that want to delete an interface one alone can
// write that it will.
func (s *Store) SaveSighting(ctx context.Context, vpc string, x leak.Sighting) (leak.Sighting, error) {
	return s.saveSighting(ctx, vpc, x, s.t.Now().Add(keepSightings))
}

// ForgetSighting drops a sighting, if the version that was read is the newest.
func (s *Store) ForgetSighting(ctx context.Context, vpc string, x leak.Sighting) error {
	// What has expired counts as absent; DynamoDB deletes it in its time.
	_, err := s.saveSighting(ctx, vpc, x, s.t.Now())
	return err
}

func (s *Store) saveSighting(ctx context.Context, vpc string, x leak.Sighting, expires time.Time) (leak.Sighting, error) {
	return table.Save(ctx, s.t, table.Item{
		PK: s.t.Key(sightingPrefix, vpc), SK: x.Interface, Kind: "sighting", Format: sightingFormat, Expires: expires,
	}, &x, &x.Version)
}

// RecordSightings lets a function write sightings of interfaces and nothing
// else.
func RecordSightings() spec.Grant {
	return table.Write("RecordSightings", "An interface is deleted only if an earlier run found it leaked too, and by one run only.", sightingPrefix)
}

// Silences have the key silence#, <cluster>#<id>: one partition for each spoke, as who
// asks what is silenced reads all of them.
const silencePrefix = "silence#"

// keepSilences is how long a silence is remembered after it was over: what was quiet last
// week can be looked up.
const keepSilences = 30 * 24 * time.Hour

// Silences reads the silences of a cluster, also those that are over. Should one of them
// be of a newer version it gives none, and the error: what that hides is not known here,
// and must not be told as if there were none.
func (s *Store) Silences(ctx context.Context, cluster string) ([]silence.Silence, error) {
	items, err := s.t.Query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk BETWEEN :from AND :to"),
		ExpressionAttributeNames: map[string]string{"#pk": table.AttrPK, "#sk": table.AttrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": table.Text(s.t.Key(silencePrefix, "")), ":from": table.Text(cluster + "#"), ":to": table.Text(cluster + "#g"), // ids are hex digits
		},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read the silences of %s: %w", cluster, err)
	}
	list, err := table.All[silence.Silence](s.t, items, silence.Format)
	if err != nil {
		return nil, fmt.Errorf("read the silences of %s: %w", cluster, err)
	}
	return list, nil
}

// AllSilences reads those of all clusters. If some were written by a newer version of
// Rollcall, it gives the others and an error with *NewerFormat in it.
func (s *Store) AllSilences(ctx context.Context) ([]silence.Silence, error) {
	return table.Partition[silence.Silence](ctx, s.t, s.t.Key(silencePrefix, ""), silence.Format, "the silences")
}

// SaveSilence writes a silence over the version that was read, and gives it with its new
// version. It fails with *Conflict if that is not the newest any more.
func (s *Store) SaveSilence(ctx context.Context, x silence.Silence) (silence.Silence, error) {
	if x.Spoke != s.t.Spoke {
		return silence.Silence{}, fmt.Errorf("write the silence of %s: %w", x.SpokeCluster(), table.ErrForeign)
	}
	x.Format = silence.Format
	return table.Save(ctx, s.t, table.Item{
		PK: s.t.Key(silencePrefix, ""), SK: x.Cluster + "#" + x.ID, Kind: "silence", Format: x.Format, Expires: x.Until.Add(keepSilences),
	}, &x, &x.Version)
}

// RecordSilences lets a function write silences and nothing else.
func RecordSilences() spec.Grant {
	return table.Write("RecordSilences", "Who silenced what, why and until when is kept between runs; a silence ends by itself.", silencePrefix)
}

// When a cluster was last looked at has the key swept#, <cluster>: one partition for each
// spoke, as who asks for the clusters reads all of them.
const sweptPrefix = "swept#"

// keepSwept is how long it is remembered: the weekly message tells of a week that began two
// weeks ago at most, also of clusters not swept since.
const keepSwept = 22 * 24 * time.Hour

// SaveSweep writes when a cluster was last looked at, over whatever is there.
func (s *Store) SaveSweep(ctx context.Context, w overview.Sweep) error {
	w.Format = overview.SweepFormat
	return s.t.Put(ctx, table.Item{
		PK: s.t.Key(sweptPrefix, ""), SK: w.Cluster, Kind: "sweep", Format: w.Format, Version: 1, Body: w, Expires: w.At.Add(keepSwept),
	}, table.AnyVersion)
}

// Sweep reads when a cluster was last looked at, and how lately; the zero record with its
// name where it never was.
func (s *Store) Sweep(ctx context.Context, cluster string) (overview.Sweep, error) {
	list, err := table.OneByOne[overview.Sweep](ctx, s.t, s.t.Key(sweptPrefix, ""), "#sk = :from", cluster, overview.SweepFormat, "when "+cluster+" was last looked at")
	return table.First(list, overview.Sweep{Cluster: cluster}), err
}

// RelayUsed reports whether the relay of a cluster that the setting relays does not name may
// still be asked: it was used before there was the setting (overview.Sweep).
func (s *Store) RelayUsed(ctx context.Context, cluster string) (bool, error) {
	swept, err := s.Sweep(ctx, cluster)
	return err == nil && swept.RelayUsed(s.t.Now()), err
}

// Sweeps reads when clusters were last looked at, by name. If some were written by a newer
// version of Rollcall, it gives the others and an error with *NewerFormat in it.
func (s *Store) Sweeps(ctx context.Context) ([]overview.Sweep, error) {
	return table.Partition[overview.Sweep](ctx, s.t, s.t.Key(sweptPrefix, ""), overview.SweepFormat, "when clusters were last checked")
}

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
	// Done reports whether nothing of it is open any more: the record is kept for as long as closed
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
	return table.Partition[WatchedSpoke](ctx, s.t, spokePrefix, SpokeFormat, "which accounts and regions were watched")
}

// SaveWatchedSpoke writes one, over whatever is there.
func (s *Store) SaveWatchedSpoke(ctx context.Context, w WatchedSpoke) error {
	w.Format = SpokeFormat
	it := table.Item{PK: spokePrefix, SK: w.Spoke.String(), Kind: "spoke", Format: w.Format, Version: 1, Body: w}
	if w.Done {
		it.Expires = s.t.Now().Add(keepQuiet)
	}
	return s.t.Put(ctx, it, table.AnyVersion)
}

// RecordSpokes lets a function write which spokes are watched.
func RecordSpokes() spec.Grant {
	return table.Write("RecordSpokes", "Incidents of an account and region that is no longer watched are found by this record, and closed.", spokePrefix)
}
