package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"rollcall/shared/backoff"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/store/incoming"
	"rollcall/shared/store/outgoing"
	"rollcall/shared/store/table"
)

// Store reads and writes all kinds of records.
type Store struct {
	t *table.Table
	outgoing.Outgoing
	incoming.Incoming
	wait func(context.Context, time.Duration) error
	most int // launches of a history
}

// New makes a store that lives in the wall clock's time.
func New(client table.Client, name string) *Store {
	return (&Store{wait: wait, most: MaxHistory}).withTable(table.New(client, name))
}

// withTable is the same store over another table.
func (s *Store) withTable(t *table.Table) *Store {
	other := *s
	other.t, other.Outgoing, other.Incoming = t, outgoing.New(t), incoming.New(t)
	return &other
}

// WithClock is the same store in another clock's time: what has expired there counts
// as absent.
func (s *Store) WithClock(now func() time.Time) *Store { return s.withTable(s.t.WithClock(now)) }

// ForSpoke is the same store for the records of a spoke. Each store is of one: what it is
// asked for by name is that spoke's, and those of another are out of its reach.
func (s *Store) ForSpoke(id spoke.ID) *Store { return s.withTable(s.t.ForSpoke(id)) }

// What callers decide on of the table's errors.
type (
	Conflict    = table.Conflict
	NewerFormat = table.NewerFormat
	AtLimit     = table.AtLimit
)

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// The audit record of a press has the key act#<cluster>, <time>#<id>.
const actPrefix = "act#"

// RecordAct writes the audit record of a press, once: a record that is there
// already stays as it is, and is no error. It reports whether this call wrote it.
func (s *Store) RecordAct(ctx context.Context, a incident.ActRecord) (created bool, _ error) {
	if a.Key.Spoke != s.t.Spoke {
		return false, fmt.Errorf("write the press of %s: %w", a.Key.Name(), table.ErrForeign)
	}
	a.Format, a.Audited = incident.RecordFormat, true
	return table.Created(s.t.Put(ctx, table.Item{
		PK: s.t.Key(actPrefix, a.Key.Cluster), SK: actSort(a.At, a.ID),
		Kind: "audit record", Format: a.Format, Version: 1, Body: a, Expires: a.At.Add(table.KeepAudits),
	}, 0))
}

// ActRecorded reports whether a press of that time was decided on before.
func (s *Store) ActRecorded(ctx context.Context, p report.Press) (bool, error) {
	out, err := s.t.Query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk AND #sk = :sk"),
		ExpressionAttributeNames:  map[string]string{"#pk": table.AttrPK, "#sk": table.AttrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": table.Text(s.t.Key(actPrefix, p.Key.Cluster)), ":sk": table.Text(actSort(p.At, p.ID))},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return false, fmt.Errorf("see whether the press %s was decided on: %w", p.ID, err)
	}
	return len(out) > 0, nil
}

func actSort(at time.Time, id string) string { return at.UTC().Format(table.Sortable) + "#" + id }

// Acts reads the audit records of presses in a cluster since a time, oldest
// first.
func (s *Store) Acts(ctx context.Context, cluster string, from time.Time) ([]incident.ActRecord, error) {
	return table.Since[incident.ActRecord](ctx, s.t, s.t.Key(actPrefix, cluster), from, incident.RecordFormat, "the presses of "+cluster)
}

// RecordActs lets a function write the audit records of presses and nothing
// else.
func RecordActs() spec.Grant {
	return table.Write("RecordActs", "Every press of a button, allowed or refused, leaves a record of who pressed what, and what came of it.", actPrefix)
}

// What sweep has read of an account's alias has the key alias#, one for each spoke: report,
// which alone says names, reads nothing of other accounts.
const aliasPrefix = "alias#"

// keepAlias is how long an alias outlives its last read, which is each day: it is people's
// name for an account that cannot be asked for some days, too.
const keepAlias = 7 * 24 * time.Hour

const aliasFormat = 1

// Alias is what IAM has told of an account's alias. It is a name for people, and never a key.
type Alias struct {
	Format int       `json:"format"`
	At     time.Time `json:"at"`
	// Alias is empty where the account has none, or does not let it be read.
	Alias string `json:"alias,omitempty"`
}

// SaveAlias writes what the alias of the store's account is, over whatever is there.
func (s *Store) SaveAlias(ctx context.Context, a Alias) error {
	a.Format = aliasFormat
	return s.t.Put(ctx, table.Item{
		PK: s.t.Key(aliasPrefix, ""), SK: "account", Kind: "alias", Format: a.Format, Version: 1, Body: a, Expires: a.At.Add(keepAlias),
	}, table.AnyVersion)
}

// Alias reads what the alias of the store's account is; false where it was not read.
func (s *Store) Alias(ctx context.Context) (Alias, bool, error) {
	list, err := table.Partition[Alias](ctx, s.t, s.t.Key(aliasPrefix, ""), aliasFormat, "the account's alias")
	return table.First(list, Alias{}), len(list) > 0, err
}

// An audit record has the key audit#<cluster>, <time>#<interface>.
const auditPrefix = "audit#"

func auditKey(a leak.Audit) string { return a.At.UTC().Format(table.Sortable) + "#" + a.Interface }

// RecordAudit writes the record of a delete, once: it gives the record that is
// there then, and whether this call wrote it. An audit record is never written
// over.
func (s *Store) RecordAudit(ctx context.Context, a leak.Audit) (_ leak.Audit, created bool, _ error) {
	a.Format = leak.AuditFormat
	err := s.t.Put(ctx, table.Item{
		PK: s.t.Key(auditPrefix, a.Cluster), SK: auditKey(a),
		Kind: "audit record", Format: a.Format, Version: 1, Body: a, Expires: a.At.Add(table.KeepAudits),
	}, 0)
	var taken *Conflict
	if !errors.As(err, &taken) {
		return a, err == nil, err
	}
	list, err := table.OneByOne[leak.Audit](ctx, s.t, s.t.Key(auditPrefix, a.Cluster), "#sk = :from", auditKey(a), leak.AuditFormat, "the audit records of "+a.Cluster)
	if err != nil {
		return leak.Audit{}, false, err
	}
	if len(list) == 0 {
		// It expired in between: records of a year ago are not read.
		return leak.Audit{}, false, fmt.Errorf("the audit record %s is gone: %w", auditKey(a), taken)
	}
	return list[0], false, nil
}

// Audits reads the audit records of a cluster since a time, oldest first.
func (s *Store) Audits(ctx context.Context, cluster string, from time.Time) ([]leak.Audit, error) {
	return table.Since[leak.Audit](ctx, s.t, s.t.Key(auditPrefix, cluster), from, leak.AuditFormat, "the audit records of "+cluster)
}

// Returned is what was given back to the subnets of a cluster since a time.
func (s *Store) Returned(ctx context.Context, cluster string, since time.Time) ([]snapshot.Returned, error) {
	list, err := s.Audits(ctx, cluster, since)
	if err != nil {
		return nil, err
	}
	return leak.Returned(list, leak.Deleted), nil
}

// RecordAudits lets a function write audit records and nothing else.
func RecordAudits() spec.Grant {
	return table.Write("RecordAudits", "Every delete leaves a record of what was deleted, why, and by which run.", auditPrefix)
}

// backoffPrefix begins the partition keys of the records of clusters that do not answer.
const backoffPrefix = "backoff#"

// keepBackoff is how long a record outlives its last write, which is within the hour
// while the cluster is silent.
const keepBackoff = 24 * time.Hour

// Backoff reads how long a cluster's Kubernetes API has been silent; the zero record with
// its name where it is not.
func (s *Store) Backoff(ctx context.Context, cluster string) (backoff.Record, error) {
	list, err := table.Partition[backoff.Record](ctx, s.t, s.t.Key(backoffPrefix, cluster), backoff.Format, "how long "+cluster+" has not answered")
	return table.First(list, backoff.Record{Cluster: cluster}), err
}

// SaveBackoff writes a record over the version that was read, and fails with *Conflict if
// that is not the newest any more. One that tells no silence counts as absent from now on.
func (s *Store) SaveBackoff(ctx context.Context, r backoff.Record) error {
	r.Format = backoff.Format
	it := table.Item{
		PK: s.t.Key(backoffPrefix, r.Cluster), SK: "kubernetes", Kind: "backoff", Format: r.Format, Expires: s.t.Now().Add(keepBackoff),
	}
	if r.Attempts == 0 {
		it.Expires = s.t.Now()
	}
	_, err := table.Save(ctx, s.t, it, &r, &r.Version)
	return err
}

// RecordTurns lets a function write what is remembered of clusters' turns: when each was
// last looked at, which do not answer, and what people call the account. It is one
// statement, as a role has room for few more.
func RecordTurns() spec.Grant {
	return table.Write("RecordTurns", "A cluster whose Kubernetes API does not answer is read less often; /rollcall status shows when each cluster was last checked; messages show an account's alias.", backoffPrefix, sweptPrefix, aliasPrefix)
}

// What eni-cleanup remembers beside its sightings: pace#<account>#<region>,
// pace; and cleanup#<cluster>, <day>.
const (
	pacePrefix    = "pace#"
	cleanupPrefix = "cleanup#"
)

const (
	paceFormat    = 1
	cleanupFormat = 1
)

// keepPace is longer than any bucket takes to fill, keepCleanups longer than a
// day's summary may change.
const (
	keepPace     = 24 * time.Hour
	keepCleanups = 7 * 24 * time.Hour
)

// Pace reads what the last run believed of EC2's bucket; the zero Pace where
// there was none lately.
func (s *Store) Pace(ctx context.Context, account, region string) (leak.Pace, error) {
	list, err := table.Partition[leak.Pace](ctx, s.t, pacePrefix+account+"#"+region, paceFormat, "the pace of deletes")
	return table.First(list, leak.Pace{}), err
}

// SavePace writes what this run believes of EC2's bucket; the last one to write
// it knows best.
func (s *Store) SavePace(ctx context.Context, account, region string, p leak.Pace) error {
	return s.t.Put(ctx, table.Item{
		PK: pacePrefix + account + "#" + region, SK: "pace",
		Kind: "pace", Format: paceFormat, Version: 1, Body: p, Expires: s.t.Now().Add(keepPace),
	}, table.AnyVersion)
}

// summaryDigest is what the last summary of a day said, as a digest.
type summaryDigest struct {
	Day    string `json:"day"`
	Digest string `json:"digest"`
}

// CleanupDigests reads what the cluster's summaries said, as digests by day.
func (s *Store) CleanupDigests(ctx context.Context, cluster string) (map[string]string, error) {
	list, err := table.Partition[summaryDigest](ctx, s.t, s.t.Key(cleanupPrefix, cluster), cleanupFormat, "what was said of the cleanup of "+cluster)
	days := map[string]string{}
	for _, t := range list {
		days[t.Day] = t.Digest
	}
	return days, err
}

// SaveCleanupTold writes what the summary of a day said.
func (s *Store) SaveCleanupTold(ctx context.Context, cluster, day, digest string) error {
	if err := s.t.Put(ctx, table.Item{
		PK: s.t.Key(cleanupPrefix, cluster), SK: day,
		Kind: "summary of the cleanup", Format: cleanupFormat, Version: 1, Body: summaryDigest{day, digest}, Expires: s.t.Now().Add(keepCleanups),
	}, table.AnyVersion); err != nil {
		return fmt.Errorf("remember what was said of %s: %w", cluster, err)
	}
	return nil
}

// RecordCleanups lets a function write the pace of deletes and what was said of
// a day, and nothing else.
func RecordCleanups() []spec.Grant {
	return []spec.Grant{
		table.Write("RecordPace", "The next run starts with what is left of EC2's request limit.", pacePrefix),
		table.Write("RecordCleanups", "A day's summary is sent again only when something was added to it.", cleanupPrefix),
	}
}

// ReadCleanups is what reading sightings, audit records and the rest needs:
// nothing is in reach through an index.
func ReadCleanups() []spec.Read { return table.Read(table.Queries(), spec.Table) }

// What report remembers of clusters: cluster#, <cluster>. It is one partition, as
// the tick reads all of them. A record outlives the cluster's closed incidents, which
// are found by it.
const clusterPrefix = "cluster#"

// keepCluster is how long a record outlives its last write: it is written every
// hour while anything is open.
const keepCluster = 90 * 24 * time.Hour

// keepQuiet is keepCluster where nothing is open: the last incident was closed before
// the write, and is kept for outgoing.KeepClosed after that.
const keepQuiet = outgoing.KeepClosed + time.Hour

// ClusterRecord reads what is remembered of a cluster; the zero record with its
// name where there is nothing.
func (s *Store) ClusterRecord(ctx context.Context, cluster string) (outbox.ClusterRecord, error) {
	list, err := table.OneByOne[outbox.ClusterRecord](ctx, s.t, s.t.Key(clusterPrefix, ""), "#sk = :from", cluster, outbox.ClusterFormat, "what is remembered of "+cluster)
	return table.First(list, outbox.ClusterRecord{Cluster: cluster}), err
}

// ClusterRecords reads the records of the clusters with something open, owed or
// refused, by name. If some were written by a newer version of Rollcall, it gives the
// others and an error with *NewerFormat in it.
func (s *Store) ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error) {
	list, err := table.Partition[outbox.ClusterRecord](ctx, s.t, s.t.Key(clusterPrefix, ""), outbox.ClusterFormat, "what is remembered of clusters")
	return slices.DeleteFunc(list, quiet), err
}

func quiet(r outbox.ClusterRecord) bool { return !r.Open && !r.Owed && len(r.Refusals) == 0 }

// Clusters returns the names of all clusters that have or may have incidents in the
// table, closed ones among them, sorted: those with a record, and those that were swept,
// as earlier releases kept no record after the last incident was closed.
func (s *Store) Clusters(ctx context.Context) ([]string, error) {
	var names []string
	for _, prefix := range []string{clusterPrefix, sweptPrefix} {
		items, err := s.t.Query(ctx, &dynamodb.QueryInput{
			KeyConditionExpression:    aws.String("#pk = :pk"),
			ExpressionAttributeNames:  map[string]string{"#pk": table.AttrPK},
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": table.Text(s.t.Key(prefix, ""))},
			ConsistentRead:            aws.Bool(true),
		})
		if err != nil {
			return nil, fmt.Errorf("read which clusters have incidents: %w", err)
		}
		for _, attributes := range items {
			_, there, err := s.t.There(attributes, math.MaxInt) // of any format: the name is the key
			if err != nil {
				return nil, fmt.Errorf("read which clusters have incidents: %w", err)
			}
			if name, ok := attributes[table.AttrSK].(*types.AttributeValueMemberS); ok && there {
				names = append(names, name.Value)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// SaveClusterRecord writes a record over the version that was read, and fails with
// *Conflict if that is not the newest any more.
func (s *Store) SaveClusterRecord(ctx context.Context, r outbox.ClusterRecord) error {
	r.Format = outbox.ClusterFormat
	it := table.Item{PK: s.t.Key(clusterPrefix, ""), SK: r.Cluster, Kind: "cluster", Format: r.Format, Expires: s.t.Now().Add(keepCluster)}
	if quiet(r) {
		it.Expires = s.t.Now().Add(keepQuiet)
	}
	_, err := table.Save(ctx, s.t, it, &r, &r.Version)
	return err
}

// RecordClusters lets a function write what is remembered of clusters.
func RecordClusters() spec.Grant {
	return table.Write("RecordClusters", "Which channel or target rejects posts, when to retry, and which clusters have open incidents are kept between runs.", clusterPrefix)
}

// OlderLeftOut is a history of more launches than are read: what is beside it
// is all that began since a time.
type OlderLeftOut struct {
	Since time.Time
	Most  int
}

func (e *OlderLeftOut) Error() string {
	return fmt.Sprintf("there are more than %d launches: those from before %s are left out", e.Most, e.Since.UTC().Format(time.RFC3339))
}

// Reads is what reading the table and its index over open launches needs.
func Reads() []spec.Read { return table.Read(table.Reads(), spec.Table, spec.TableIndex) }

// ReadHistory is what reading the launches of the past, the open ones too, and
// the samples needs.
func ReadHistory() []spec.Read {
	return table.Read(table.Queries(), spec.Table, spec.TableIndex, spec.EndedIndex)
}

// ReadJoinTimes is what reading the learned join times needs.
func ReadJoinTimes() []spec.Read { return table.Read(table.Queries(), spec.Table) }

// ReadSamples is what reading the samples of subnets needs.
func ReadSamples() []spec.Read { return table.Read(table.Queries(), spec.Table) }

// ReadLaunches is what reading launches by their ids needs.
func ReadLaunches() []spec.Read { return table.Read(table.Gets(), spec.Table) }

// RecordLaunches lets a function write launch records and nothing else: the
// table's partition keys begin with the kind of the record.
func RecordLaunches() spec.Grant {
	return table.Write("RecordLaunches", "Each launch is recorded once, whichever event or sweep found it, until its outcome is known.", launchPrefix)
}

// RecordJoinTimes lets a function write how long nodes took to join.
func RecordJoinTimes() spec.Grant {
	return table.Write("RecordJoinTimes", "How long the nodes of each nodegroup take to join is learned from those that did.", joinTimePrefix)
}

// RecordSamples lets a function write what subnets had left.
func RecordSamples() spec.Grant {
	return table.Write("RecordSamples", "A subnet's free addresses when launches began show later whether there were too many launches for it.", samplePrefix)
}
