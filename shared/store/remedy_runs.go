package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/interaction"
	"rollcall/shared/network/leak"
	"rollcall/shared/outbox"
	"rollcall/shared/overview"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/target/message"
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
func ReadRuns() []spec.Read { return read(queries(), spec.Table) }

// A press has the key press#<id of the signed request>, press.
const (
	pressPrefix = "press#"
	pressSort   = "press"
	attrBy      = "by"
	pressFormat = report.PressRecordFormat
)

// keepPresses is how long a press is remembered: as long as its message may lie in
// the results queue (four days) and in its dead-letter queue (fourteen), and a day
// more. Its signature is good for five minutes.
const keepPresses = 19 * 24 * time.Hour

// ClaimPress writes down that a press was taken, and tells whether it is the
// first time. By is who claims it: the same one may claim it again, so that a
// write whose answer was lost, and which the client repeats, is not taken for
// somebody else's.
func (s *Store) ClaimPress(ctx context.Context, id, by string) (bool, error) {
	now := s.now()
	err := s.putPress(ctx, id, by, "", now.Add(keepPresses), aws.String("attribute_not_exists(#pk) OR #expires <= :now OR #by = :by"),
		map[string]string{"#pk": attrPK, "#expires": attrExpires, "#by": attrBy},
		map[string]types.AttributeValue{":now": number(now.Unix()), ":by": text(by)})
	var taken *Conflict
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// PassPress writes down which message a claimed press is passed on as. It comes
// before the message, so that report finds it.
func (s *Store) PassPress(ctx context.Context, id, by, digest string) error {
	return s.putPress(ctx, id, by, digest, s.now().Add(keepPresses), aws.String("#by = :by"),
		map[string]string{"#by": attrBy}, map[string]types.AttributeValue{":by": text(by)})
}

// PassedPress reads what is known of a press; nil for one that nobody took. It
// asks for the newest: a message may arrive at once.
func (s *Store) PassedPress(ctx context.Context, id string) (*report.PressRecord, error) {
	out, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(pressPrefix + id)},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read the press %s: %w", id, err)
	}
	if len(out) == 0 {
		return nil, nil
	}
	var r report.PressRecord
	if there, err := s.decode(out[0], pressFormat, &r); err != nil || !there {
		return nil, err
	}
	written, _, err := integer(out[0][attrFormat])
	if err != nil {
		return nil, fmt.Errorf("read the press %s: %w", id, err)
	}
	r.Format = int(written)
	return &r, nil
}

// ReleasePress takes the claim back: the press could not be passed on, and may
// come again. What has expired counts as absent.
func (s *Store) ReleasePress(ctx context.Context, id, by string) error {
	return s.putPress(ctx, id, by, "", s.now().Add(-time.Second), aws.String("#by = :by"),
		map[string]string{"#by": attrBy}, map[string]types.AttributeValue{":by": text(by)})
}

func (s *Store) putPress(
	ctx context.Context, id, by, digest string, expires time.Time, condition *string, names map[string]string, values map[string]types.AttributeValue,
) error {
	body, err := json.Marshal(report.PressRecord{Format: pressFormat, Digest: digest})
	if err != nil {
		return fmt.Errorf("encode the press: %w", err)
	}
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &s.table,
		Item: map[string]types.AttributeValue{
			attrPK: text(pressPrefix + id), attrSK: text(pressSort), attrBy: text(by),
			attrFormat: number(pressFormat), attrVersion: number(1), attrExpires: number(expires.Unix()), attrBody: text(string(body)),
		},
		ConditionExpression: condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	if err != nil {
		return fmt.Errorf("write the press: %w", classify(err, item{sk: pressSort, version: 1}, 0))
	}
	return nil
}

// RecordPresses lets a function write which presses were taken, and nothing
// else. Who has it can approve in anybody's name: slack-actions alone does.
func RecordPresses() spec.Grant {
	return write("RecordPresses", "A press counts once, and report believes a press only whose record slack-actions has written.", pressPrefix)
}

// The audit records of refused requests have the key refusal#slack-actions, and
// <minute>#<reason> for those that nobody signed: one stands for all of its
// minute, so that a flood fills nothing; <time>#<id> for those of Slack.
const refusalKey = "refusal#slack-actions"

// keepRefusals is how long they are kept, as long as all audit records.
const keepRefusals = keepAudits

// RecordRefusal writes the record of a refused request, and tells whether it
// was written: an unsigned one is not where its minute and reason have one.
func (s *Store) RecordRefusal(ctx context.Context, r interaction.Record) (bool, error) {
	r.Format = interaction.RecordFormat
	sk := r.At.UTC().Truncate(time.Minute).Format(sortable) + "#" + string(r.Reason)
	if r.Reason.Signed() {
		sk = r.At.UTC().Format(sortable) + "#" + r.Request
	}
	err := s.put(ctx, item{
		pk: refusalKey, sk: sk, kind: "refusal", format: r.Format, version: 1, body: r, expires: r.At.Add(keepRefusals),
	}, 0)
	var there *Conflict
	if errors.As(err, &there) {
		return false, nil
	}
	return err == nil, err
}

// Refusals reads the records of refused requests since a time, oldest first.
func (s *Store) Refusals(ctx context.Context, from time.Time) ([]interaction.Record, error) {
	return since[interaction.Record](ctx, s, refusalKey, from, interaction.RecordFormat, "the refused requests")
}

// RecordRefusals lets a function write the audit records of refused requests,
// and nothing else.
func RecordRefusals() spec.Grant {
	return write("RecordRefusals", "Who tried what, and why it was refused, can be looked up for a year.", refusalKey)
}

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
	return partition[RefusedRecord](ctx, s, s.key(refusedPrefix, cluster), RefusedFormat, "the refused launches of "+cluster)
}

// SaveRefusedLaunch writes a record over the version that was read, 0 for none, and
// fails with *Conflict if that is not the newest any more.
func (s *Store) SaveRefusedLaunch(ctx context.Context, r RefusedRecord) error {
	over := r.Version
	r.Version++
	return s.put(ctx, item{
		pk: s.key(refusedPrefix, r.Cluster), sk: strings.Join([]string{r.Launcher, string(r.Class)}, "#"),
		kind: "refused launch", format: RefusedFormat, version: r.Version, body: r, expires: r.Last.Add(keepRefused),
	}, over)
}

// ReadRefusedLaunches is what reading them needs.
func ReadRefusedLaunches() []spec.Read { return read(queries(), spec.Table) }

// RecordRefusedLaunches lets a function write them, and nothing else.
func RecordRefusedLaunches() spec.Grant {
	return write("RecordRefusedLaunches", "Thousands of refused calls an hour are one record, and one message, of which the sweep knows too.", refusedPrefix)
}

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
	items, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:   aws.String("#pk = :pk AND #sk BETWEEN :from AND :to"),
		ExpressionAttributeNames: map[string]string{"#pk": attrPK, "#sk": attrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": text(s.key(silencePrefix, "")), ":from": text(cluster + "#"), ":to": text(cluster + "#g"), // ids are hex digits
		},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read the silences of %s: %w", cluster, err)
	}
	var list []silence.Silence
	for _, attributes := range items {
		var x silence.Silence
		there, err := s.decode(attributes, silence.Format, &x)
		if err != nil {
			return nil, fmt.Errorf("read the silences of %s: %w", cluster, err)
		}
		if there {
			list = append(list, x)
		}
	}
	return list, nil
}

// AllSilences reads those of all clusters. If some were written by a newer version of
// Rollcall, it gives the others and an error with *NewerFormat in it.
func (s *Store) AllSilences(ctx context.Context) ([]silence.Silence, error) {
	return partition[silence.Silence](ctx, s, s.key(silencePrefix, ""), silence.Format, "the silences")
}

// SaveSilence writes a silence over the version that was read, and gives it with its new
// version. It fails with *Conflict if that is not the newest any more.
func (s *Store) SaveSilence(ctx context.Context, x silence.Silence) (silence.Silence, error) {
	if x.Spoke != s.spoke {
		return silence.Silence{}, fmt.Errorf("write the silence of %s: %w", x.Of(), ErrForeign)
	}
	over := x.Version
	x.Version, x.Format = x.Version+1, silence.Format
	err := s.put(ctx, item{
		pk: s.key(silencePrefix, ""), sk: x.Cluster + "#" + x.ID, kind: "silence", format: x.Format, version: x.Version, body: x,
		expires: x.Until.Add(keepSilences),
	}, over)
	if err != nil {
		return silence.Silence{}, err
	}
	return x, nil
}

// RecordSilences lets a function write silences and nothing else.
func RecordSilences() spec.Grant {
	return write("RecordSilences", "Who silenced what, until when and why outlives the function; it ends by itself.", silencePrefix)
}

// A summary's record has the key summary#<cluster>, <id of the summary>.
const summaryPrefix = "summary#"

// keepSummaries is how long a summary is remembered: longer than a message can
// wait in the results queue and its dead-letter queue (4 and 14 days), so that
// none is said twice.
const keepSummaries = 30 * 24 * time.Hour

// RecordSummaries lets a function write the records of summaries and nothing
// else.
func RecordSummaries() spec.Grant {
	return write("RecordSummaries", "Each summary is said once: whether and where it was said outlives the function.", summaryPrefix)
}

// Postings reads the summaries of a cluster that were said, or are to be, by
// id. If some were written by a newer version of Rollcall, it gives the others
// and an error with *NewerFormat in it.
func (s *Store) Postings(ctx context.Context, cluster string) ([]outbox.Posting, error) {
	return partition[outbox.Posting](ctx, s, s.key(summaryPrefix, cluster), report.SummaryFormat, "the summaries of "+cluster)
}

// SavePosting writes a posting over the version that was read, and gives it
// with its new version. It fails with *Conflict if that version is not the
// newest any more.
func (s *Store) SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error) {
	over := p.Version
	p.Version++
	p.Summary.Format = max(p.Summary.Format, report.SummaryFormat)
	it := item{
		pk: s.key(summaryPrefix, p.Summary.Cluster), sk: p.Summary.ID,
		kind: "summary", format: p.Summary.Format, version: p.Version, body: p,
		expires: p.Summary.At.Add(keepSummaries),
	}
	if err := s.put(ctx, it, over); err != nil {
		return outbox.Posting{}, err
	}
	return p, nil
}

// When a cluster was last looked at has the key swept#, <cluster>: one partition for each
// spoke, as who asks for the clusters reads all of them.
const sweptPrefix = "swept#"

// keepSwept is how long it is remembered: the weekly message tells of a week that began two
// weeks ago at most, also of clusters that nobody has looked at since.
const keepSwept = 22 * 24 * time.Hour

// SaveSweep writes when a cluster was last looked at, over whatever is there.
func (s *Store) SaveSweep(ctx context.Context, w overview.Sweep) error {
	w.Format = overview.SweepFormat
	return s.put(ctx, item{
		pk: s.key(sweptPrefix, ""), sk: w.Cluster, kind: "sweep", format: w.Format, version: 1, body: w, expires: w.At.Add(keepSwept),
	}, anyVersion)
}

// Sweep reads when a cluster was last looked at, and how lately; the zero record with its
// name where it never was.
func (s *Store) Sweep(ctx context.Context, cluster string) (overview.Sweep, error) {
	list, err := oneByOne[overview.Sweep](ctx, s, s.key(sweptPrefix, ""), "#sk = :from", cluster, overview.SweepFormat, "when "+cluster+" was last looked at")
	if err != nil || len(list) == 0 {
		return overview.Sweep{Cluster: cluster}, err
	}
	return list[0], nil
}

// RelayUsed reports whether the relay of a cluster that the setting relays does not name may
// still be asked: it was used before there was the setting (overview.Sweep).
func (s *Store) RelayUsed(ctx context.Context, cluster string) (bool, error) {
	swept, err := s.Sweep(ctx, cluster)
	return err == nil && swept.RelayUsed(s.now()), err
}

// Sweeps reads when clusters were last looked at, by name. If some were written by a newer
// version of Rollcall, it gives the others and an error with *NewerFormat in it.
func (s *Store) Sweeps(ctx context.Context) ([]overview.Sweep, error) {
	return partition[overview.Sweep](ctx, s, s.key(sweptPrefix, ""), overview.SweepFormat, "when clusters were last looked at")
}

// What a target besides Slack was told of an incident: target#<target>, <incident>.
const targetPrefix = "target#"

// keepTold is how long that outlives the last telling: longer than an incident of which
// nothing is heard stays open.
const keepTold = 180 * 24 * time.Hour

// ToldFormat is the version of ToldRecord that this code writes and reads.
const ToldFormat = 1

// ToldRecord is what a target was told of an incident, with the version of the record.
type ToldRecord struct {
	message.Told
	Target  string `json:"target"`
	About   string `json:"about"`
	Version int    `json:"version"`
	Format  int    `json:"format"`
}

// Told reads what a target was told of an incident; the zero record where it was nothing.
func (s *Store) Told(ctx context.Context, target, about string) (ToldRecord, error) {
	list, err := oneByOne[ToldRecord](ctx, s, targetPrefix+target, "#sk = :from", about, ToldFormat, "what "+target+" was told of "+about)
	if err != nil || len(list) == 0 {
		return ToldRecord{Target: target, About: about}, err
	}
	return list[0], nil
}

// SaveTold writes a record over the version that was read, and fails with *Conflict if
// that is not the newest any more.
func (s *Store) SaveTold(ctx context.Context, r ToldRecord) error {
	over := r.Version
	r.Version, r.Format = r.Version+1, ToldFormat
	return s.put(ctx, item{
		pk: targetPrefix + r.Target, sk: r.About, kind: "target", format: r.Format, version: r.Version, body: r, expires: s.now().Add(keepTold),
	}, over)
}

// RecordTold lets a function write what targets were told and nothing else.
func RecordTold() spec.Grant {
	return write("RecordTold", "An older event that arrives late must not undo a newer one, and what was told already is not told again.", targetPrefix)
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
