package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

const day = 24 * time.Hour

// MaxHistory is how many launches with an outcome History reads, the newest: a
// day and a quarter of 10,000 launches an hour, a week of 1,700. They take 150
// MB of memory and about 17,000 read units (measured, see the tests); a week of
// 10,000 an hour would take 750 MB, and a minute.
const MaxHistory = 300_000

// dayOf is the key of EndedIndex: a cluster and the UTC day of a launch. A day
// of a cluster that launches ten thousand nodes an hour is 100 MB, and is
// written with three units a second: well within what one partition takes.
func dayOf(cluster string, t time.Time) string {
	return cluster + "#" + t.UTC().Format(time.DateOnly)
}

// History reads the launches of a cluster that began since a time, those that
// have no outcome yet among them, oldest first. Of more than MaxHistory it gives
// the newest, and *OlderLeftOut. If some were written by a newer version of
// Rollcall, or cannot be read, it gives the others and an error that says so.
// What was written in the last second may be missing.
func (s *Store) History(ctx context.Context, cluster string, since time.Time) ([]snapshot.Past, error) {
	list, cut, err := s.history(ctx, cluster, since, s.most)
	if !cut.IsZero() {
		err = errors.Join(err, fmt.Errorf("read the launches of %s: %w", cluster, &OlderLeftOut{Since: cut, Most: s.most}))
	}
	return list, err
}

// RecentHistory is History of at most that many launches with an outcome, the
// newest. That older ones were left out is no error.
func (s *Store) RecentHistory(ctx context.Context, cluster string, since time.Time, most int) ([]snapshot.Past, error) {
	list, _, err := s.history(ctx, cluster, since, most)
	return list, err
}

// history gives beside an error what it could read all the same, and from when on
// if there were more than it reads.
func (s *Store) history(ctx context.Context, cluster string, since time.Time, most int) (list []snapshot.Past, cut time.Time, err error) {
	now := s.now()
	if oldest := now.Add(-keepLaunches); since.Before(oldest) {
		since = oldest
	}
	r := recall{store: s, cluster: cluster, since: since, left: most, once: map[string]string{}}
	// A launch may begin, by EC2's clock, a little after now.
	for d := now.Add(day).UTC().Truncate(day); r.left > 0 && !d.Before(since.UTC().Truncate(day)); d = d.Add(-day) {
		if err := r.day(ctx, d); err != nil {
			return nil, cut, fmt.Errorf("read the launches of %s of %s: %w", cluster, d.Format(time.DateOnly), err)
		}
	}
	wrong := r.wrong
	if r.left == 0 {
		since = r.cut()
		cut = since
	}
	open, err := s.openLaunches(ctx, cluster)
	if err != nil {
		wrong = append(wrong, err)
	}
	list = append(r.list, unended(open, r.list, since)...)
	// Sorted by the index to the millisecond, newest first, but for the open ones.
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b snapshot.Past) int { return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID)) })
	if len(wrong) > 0 {
		return list, cut, fmt.Errorf("read the launches of %s: %w", cluster, errors.Join(wrong...))
	}
	return list, cut, nil
}

// recall is a history while it is read, newest first.
type recall struct {
	store   *Store
	cluster string
	since   time.Time
	left    int
	list    []snapshot.Past
	wrong   []error
	// once holds each text that many launches share, once: names of types,
	// zones, subnets and groups are most of what a launch would take.
	once map[string]string
}

// day reads the launches of one day, page by page: of the items themselves only
// one page is ever held.
func (r *recall) day(ctx context.Context, d time.Time) error {
	in := &dynamodb.QueryInput{
		TableName: &r.store.table, IndexName: aws.String(EndedIndex),
		KeyConditionExpression:   aws.String("#day = :day AND #began >= :since"),
		ExpressionAttributeNames: map[string]string{"#day": attrDay, "#began": attrBegan},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":day": text(dayOf(r.store.spoke.In(r.cluster), d)), ":since": text(r.since.UTC().Format(sortable)),
		},
		ScanIndexForward: aws.Bool(false),
	}
	for {
		out, err := r.store.client.Query(ctx, in)
		if err != nil {
			return classify(err, item{}, 0)
		}
		for _, attributes := range out.Items {
			p, there, err := r.store.past(attributes)
			if err != nil {
				r.wrong = append(r.wrong, err)
			}
			if !there {
				continue
			}
			if r.left == 0 {
				return nil
			}
			r.left--
			r.list = append(r.list, r.share(p))
		}
		if len(out.LastEvaluatedKey) == 0 || r.left == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// cut drops the launches of the oldest moment that was read, as others of the
// same moment may not have been, and gives from when on all are there.
func (r *recall) cut() time.Time {
	last := r.list[len(r.list)-1].Started
	n := len(r.list)
	for n > 0 && r.list[n-1].Started.Equal(last) {
		n--
	}
	if n == 0 {
		return last
	}
	r.list = r.list[:n]
	return r.list[n-1].Started
}

// share makes texts that are the same one.
func (r *recall) share(p snapshot.Past) snapshot.Past {
	cause := string(p.Cause)
	for _, field := range []*string{&p.Nodegroup, &p.Group, &p.Type, &p.Zone, &p.Subnet, &p.Template.ID, &p.Template.Version, &p.AMI, &p.Architecture, &p.Plugin, &cause, &p.Why} {
		known, ok := r.once[*field]
		if !ok && len(r.once) < maxShared {
			r.once[*field] = *field
		}
		if ok {
			*field = known
		}
	}
	p.Cause, p.End = checkid.ID(cause), end(p.End)
	return p
}

// maxShared bounds the texts that are looked up: "Ready 1m3s after its launch"
// is one of hundreds, a refusal may name an id of its own each time.
const maxShared = 20_000

// end is one of the known ends with no memory of its own.
func end(e snapshot.End) snapshot.End {
	for _, known := range []snapshot.End{snapshot.Joined, snapshot.NotJoined, snapshot.Reclaimed, snapshot.Refused, snapshot.Terminated, snapshot.Unclear} {
		if e == known {
			return known
		}
	}
	return e
}

// unended are the open launches since a time. The indexes follow the table each
// in its own time: what has just ended may be in both.
func unended(open []LaunchRecord, list []snapshot.Past, since time.Time) []snapshot.Past {
	both := make(map[string]bool, len(open))
	for _, l := range open {
		both[l.ID()] = false
	}
	for _, p := range list {
		if _, ok := both[p.ID]; ok {
			both[p.ID] = true
		}
	}
	var more []snapshot.Past
	for _, l := range slices.Backward(open) {
		if !l.Started.Before(since) && !both[l.ID()] {
			more = append(more, l.Past())
		}
	}
	return more
}
