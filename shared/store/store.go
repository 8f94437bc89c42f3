package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/backoff"
	"rollcall/shared/incident"
	"rollcall/shared/network/leak"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/snapshot"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Client is what the store needs of DynamoDB.
type Client interface {
	Reader
	Writer
}

var _ Client = (*dynamodb.Client)(nil)

// Store reads and writes the table.
type Store struct {
	client Client
	table  string
	now    func() time.Time
	wait   func(context.Context, time.Duration) error
	most   int // launches of a history
	// spoke is whose records it reads and writes, and no other's.
	spoke spoke.ID
}

// New makes a store that lives in the wall clock's time.
func New(client Client, table string) *Store {
	return &Store{client: client, table: table, now: time.Now, wait: wait, most: MaxHistory}
}

// At is the same store in another clock's time: what has expired there counts
// as absent.
func (s *Store) At(now func() time.Time) *Store {
	other := *s
	other.now = now
	return &other
}

// In is the same store for the records of a spoke. Each store is of one: what it is
// asked for by name is that spoke's, and those of another are out of its reach.
func (s *Store) In(id spoke.ID) *Store {
	other := *s
	other.spoke = id
	return &other
}

// key is the partition key of a record of the store's spoke.
func (s *Store) key(prefix, of string) string { return prefix + s.spoke.In(of) }

// item is a record as it lies in the table: the attributes that keys,
// conditions and indexes need, and the record itself as JSON.
type item struct {
	pk, sk  string
	kind    string
	format  int
	version int
	expires time.Time // zero: never
	body    any
	// open and started put the item into the index OpenIndex; empty: not in it.
	open    string
	started time.Time
	// day, began and past put it into the index EndedIndex; empty: not in it.
	day   string
	began time.Time
	past  string
}

// The table's attributes. "expires" is the one that DynamoDB's time to live
// is switched on for.
const (
	attrPK      = "pk"
	attrSK      = "sk"
	attrFormat  = "format"
	attrVersion = "version"
	attrExpires = "expires"
	attrBody    = "body"
	attrOpen    = "open"
	attrStarted = "started"
	attrDay     = "day"
	attrBegan   = "began"
	attrPast    = "past"
)

// sortable is a time as text that sorts as the times do.
const sortable = "2006-01-02T15:04:05.000Z"

// anyVersion lets put write over whatever is there, except a record of a newer
// format: for what says the same whoever writes it.
const anyVersion = -1

// put writes an item over exactly the given version of it: 0 means that there
// must be none. What has expired counts as none: DynamoDB may take days to
// delete it. A record of a newer format is never written over: after a rollback
// the older release would drop what it does not know of.
func (s *Store) put(ctx context.Context, it item, over int) error {
	body, err := json.Marshal(it.body)
	if err != nil {
		return fmt.Errorf("encode the %s %s: %w", it.kind, it.sk, err)
	}
	attributes := map[string]types.AttributeValue{
		attrPK:      text(it.pk),
		attrSK:      text(it.sk),
		attrFormat:  number(int64(it.format)),
		attrVersion: number(int64(it.version)),
		attrBody:    text(string(body)),
	}
	if !it.expires.IsZero() {
		attributes[attrExpires] = number(it.expires.Unix())
	}
	if it.open != "" {
		attributes[attrOpen] = text(it.open)
		attributes[attrStarted] = text(it.started.UTC().Format(sortable))
	}
	if it.day != "" {
		attributes[attrDay] = text(it.day)
		attributes[attrBegan] = text(it.began.UTC().Format(sortable))
		attributes[attrPast] = text(it.past)
	}
	in := &dynamodb.PutItemInput{
		TableName:                 &s.table,
		Item:                      attributes,
		ExpressionAttributeNames:  map[string]string{"#version": attrVersion, "#format": attrFormat},
		ExpressionAttributeValues: map[string]types.AttributeValue{":over": number(int64(over)), ":format": number(int64(it.format))},
		ConditionExpression:       aws.String("#version = :over AND #format <= :format"),
	}
	switch over {
	case anyVersion:
		in.ConditionExpression = aws.String("attribute_not_exists(#pk) OR #format <= :format OR #expires <= :now")
		in.ExpressionAttributeNames = map[string]string{"#pk": attrPK, "#format": attrFormat, "#expires": attrExpires}
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":format": number(int64(it.format)), ":now": number(s.now().Unix())}
	case 0:
		in.ConditionExpression = aws.String("attribute_not_exists(#pk) OR #expires <= :now")
		in.ExpressionAttributeNames = map[string]string{"#pk": attrPK, "#expires": attrExpires}
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":now": number(s.now().Unix())}
	}
	if _, err = s.client.PutItem(ctx, in); err != nil {
		err = classify(err, it, len(body))
		var conflict *Conflict
		if over == anyVersion && errors.As(err, &conflict) {
			err = &NewerFormat{Record: it.pk + " " + it.sk, Known: it.format} // nothing else refuses such a write
		}
		return fmt.Errorf("write the %s %s: %w", it.kind, it.sk, err)
	}
	return nil
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// decode reads an item's record into into. It tells false for what is there
// no more, and *NewerFormat for what a newer version of Rollcall wrote.
func (s *Store) decode(attributes map[string]types.AttributeValue, format int, into any) (bool, error) {
	name, there, err := s.there(attributes, format)
	if err != nil || !there {
		return false, err
	}
	body, hasBody := attributes[attrBody].(*types.AttributeValueMemberS)
	if !hasBody {
		return false, fmt.Errorf("record %s: no body: %w", name, errNotOurs)
	}
	if err := json.Unmarshal([]byte(body.Value), into); err != nil {
		return false, fmt.Errorf("record %s: %w", name, err)
	}
	return true, nil
}

// there tells whether an item counts: it has not expired, and its format is
// known.
func (s *Store) there(attributes map[string]types.AttributeValue, format int) (name string, there bool, err error) {
	pk, _ := attributes[attrPK].(*types.AttributeValueMemberS)
	sk, _ := attributes[attrSK].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return "", false, errNotOurs
	}
	name = pk.Value + " " + sk.Value
	if expires, ok, err := integer(attributes[attrExpires]); err != nil {
		return name, false, fmt.Errorf("record %s: %s: %w", name, attrExpires, err)
	} else if ok && expires <= s.now().Unix() {
		return name, false, nil
	}
	written, ok, err := integer(attributes[attrFormat])
	if err != nil || !ok {
		return name, false, fmt.Errorf("record %s: no format: %w", name, errNotOurs)
	}
	if written > int64(format) {
		return name, false, &NewerFormat{Record: name, Written: int(written), Known: format}
	}
	return name, true, nil
}

var errNotOurs = errors.New("the table holds an item that Rollcall did not write")

func integer(v types.AttributeValue) (n int64, ok bool, err error) {
	member, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, false, nil
	}
	n, err = strconv.ParseInt(member.Value, 10, 64)
	return n, err == nil, err
}

// query reads all pages.
func (s *Store) query(ctx context.Context, in *dynamodb.QueryInput) ([]map[string]types.AttributeValue, error) {
	in.TableName = &s.table
	var items []map[string]types.AttributeValue
	for {
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return nil, classify(err, item{}, 0)
		}
		items = append(items, out.Items...)
		if len(out.LastEvaluatedKey) == 0 {
			return items, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

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
// already stays as it is, and is no error. It tells whether this call wrote it.
func (s *Store) RecordAct(ctx context.Context, a incident.ActRecord) (created bool, _ error) {
	if a.Key.Spoke != s.spoke {
		return false, fmt.Errorf("write the press of %s: %w", a.Key.Name(), ErrForeign)
	}
	a.Format, a.Audited = incident.RecordFormat, true
	err := s.put(ctx, item{
		pk: s.key(actPrefix, a.Key.Cluster), sk: actSort(a.At, a.ID),
		kind: "audit record", format: a.Format, version: 1, body: a, expires: a.At.Add(keepAudits),
	}, 0)
	var taken *Conflict
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// ActRecorded tells whether a press of that time was decided on before.
func (s *Store) ActRecorded(ctx context.Context, p report.Press) (bool, error) {
	out, err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk AND #sk = :sk"),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK, "#sk": attrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(s.key(actPrefix, p.Key.Cluster)), ":sk": text(actSort(p.At, p.ID))},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return false, fmt.Errorf("see whether the press %s was decided on: %w", p.ID, err)
	}
	return len(out) > 0, nil
}

func actSort(at time.Time, id string) string { return at.UTC().Format(sortable) + "#" + id }

// Acts reads the audit records of presses in a cluster since a time, oldest
// first.
func (s *Store) Acts(ctx context.Context, cluster string, from time.Time) ([]incident.ActRecord, error) {
	return since[incident.ActRecord](ctx, s, s.key(actPrefix, cluster), from, incident.RecordFormat, "the presses of "+cluster)
}

// RecordActs lets a function write the audit records of presses and nothing
// else.
func RecordActs() spec.Grant {
	return write("RecordActs", "Every press of a button, allowed or refused, leaves a record of who pressed what, and what came of it.", actPrefix)
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
	return s.put(ctx, item{
		pk: s.key(aliasPrefix, ""), sk: "account", kind: "alias", format: a.Format, version: 1, body: a, expires: a.At.Add(keepAlias),
	}, anyVersion)
}

// Alias reads what the alias of the store's account is; false where nobody has asked.
func (s *Store) Alias(ctx context.Context) (Alias, bool, error) {
	list, err := partition[Alias](ctx, s, s.key(aliasPrefix, ""), aliasFormat, "the account's alias")
	if err != nil || len(list) == 0 {
		return Alias{}, false, err
	}
	return list[0], true, nil
}

// An audit record has the key audit#<cluster>, <time>#<interface>.
const auditPrefix = "audit#"

// keepAudits is how long audit records are kept.
const keepAudits = 366 * 24 * time.Hour

func auditKey(a leak.Audit) string { return a.At.UTC().Format(sortable) + "#" + a.Interface }

// RecordAudit writes the record of a delete, once: it gives the record that is
// there then, and whether this call wrote it. An audit record is never written
// over.
func (s *Store) RecordAudit(ctx context.Context, a leak.Audit) (_ leak.Audit, created bool, _ error) {
	a.Format = leak.AuditFormat
	err := s.put(ctx, item{
		pk: s.key(auditPrefix, a.Cluster), sk: auditKey(a),
		kind: "audit record", format: a.Format, version: 1, body: a, expires: a.At.Add(keepAudits),
	}, 0)
	var taken *Conflict
	if !errors.As(err, &taken) {
		return a, err == nil, err
	}
	list, err := oneByOne[leak.Audit](ctx, s, s.key(auditPrefix, a.Cluster), "#sk = :from", auditKey(a), leak.AuditFormat, "the audit records of "+a.Cluster)
	if err != nil {
		return leak.Audit{}, false, err
	}
	if len(list) == 0 {
		// It expired in between: nobody asks for what is a year old.
		return leak.Audit{}, false, fmt.Errorf("the audit record %s is gone: %w", auditKey(a), taken)
	}
	return list[0], false, nil
}

// Audits reads the audit records of a cluster since a time, oldest first.
func (s *Store) Audits(ctx context.Context, cluster string, from time.Time) ([]leak.Audit, error) {
	return since[leak.Audit](ctx, s, s.key(auditPrefix, cluster), from, leak.AuditFormat, "the audit records of "+cluster)
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
	return write("RecordAudits", "Every delete leaves a record of what was deleted, why, and by which run.", auditPrefix)
}

// backoffPrefix begins the partition keys of the records of clusters that do not answer.
const backoffPrefix = "backoff#"

// keepBackoff is how long a record outlives its last write, which is within the hour
// while the cluster is silent.
const keepBackoff = 24 * time.Hour

// Backoff reads how long a cluster's Kubernetes API has been silent; the zero record with
// its name where it is not.
func (s *Store) Backoff(ctx context.Context, cluster string) (backoff.Record, error) {
	list, err := partition[backoff.Record](ctx, s, s.key(backoffPrefix, cluster), backoff.Format, "how long "+cluster+" has not answered")
	if err != nil || len(list) == 0 {
		return backoff.Record{Cluster: cluster}, err
	}
	return list[0], nil
}

// SaveBackoff writes a record over the version that was read, and fails with *Conflict if
// that is not the newest any more. One that tells no silence counts as absent from now on.
func (s *Store) SaveBackoff(ctx context.Context, r backoff.Record) error {
	over := r.Version
	r.Version, r.Format = r.Version+1, backoff.Format
	it := item{
		pk: s.key(backoffPrefix, r.Cluster), sk: "kubernetes", kind: "backoff", format: r.Format, version: r.Version, body: r,
		expires: s.now().Add(keepBackoff),
	}
	if r.Attempts == 0 {
		it.expires = s.now()
	}
	return s.put(ctx, it, over)
}

// RecordTurns lets a function write what is remembered of clusters' turns: when each was
// last looked at, which do not answer, and what people call the account. It is one
// statement, as a role has room for few more.
func RecordTurns() spec.Grant {
	return write("RecordTurns", "A cluster whose Kubernetes API does not answer is asked less often; when each was last looked at is what /rollcall status tells; an account's alias is what messages call it.", backoffPrefix, sweptPrefix, aliasPrefix)
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
	list, err := partition[leak.Pace](ctx, s, pacePrefix+account+"#"+region, paceFormat, "the pace of deletes")
	if err != nil || len(list) == 0 {
		return leak.Pace{}, err
	}
	return list[0], nil
}

// SavePace writes what this run believes of EC2's bucket; the last one to write
// it knows best.
func (s *Store) SavePace(ctx context.Context, account, region string, p leak.Pace) error {
	return s.put(ctx, item{
		pk: pacePrefix + account + "#" + region, sk: "pace",
		kind: "pace", format: paceFormat, version: 1, body: p, expires: s.now().Add(keepPace),
	}, anyVersion)
}

// summaryDigest is what the last summary of a day said, as a digest.
type summaryDigest struct {
	Day    string `json:"day"`
	Digest string `json:"digest"`
}

// CleanupsTold reads what the cluster's summaries said, as digests by day.
func (s *Store) CleanupsTold(ctx context.Context, cluster string) (map[string]string, error) {
	list, err := partition[summaryDigest](ctx, s, s.key(cleanupPrefix, cluster), cleanupFormat, "what was said of the cleanup of "+cluster)
	days := map[string]string{}
	for _, t := range list {
		days[t.Day] = t.Digest
	}
	return days, err
}

// SaveCleanupTold writes what the summary of a day said.
func (s *Store) SaveCleanupTold(ctx context.Context, cluster, day, digest string) error {
	if err := s.put(ctx, item{
		pk: s.key(cleanupPrefix, cluster), sk: day,
		kind: "summary of the cleanup", format: cleanupFormat, version: 1, body: summaryDigest{day, digest}, expires: s.now().Add(keepCleanups),
	}, anyVersion); err != nil {
		return fmt.Errorf("remember what was said of %s: %w", cluster, err)
	}
	return nil
}

// RecordCleanups lets a function write the pace of deletes and what was said of
// a day, and nothing else.
func RecordCleanups() []spec.Grant {
	return []spec.Grant{
		write("RecordPace", "The next run begins with what this one left of EC2's request bucket.", pacePrefix),
		write("RecordCleanups", "A day's summary is sent again only when something was added to it.", cleanupPrefix),
	}
}

// ReadCleanups is what reading sightings, audit records and the rest needs:
// nothing is in reach through an index.
func ReadCleanups() []spec.Read { return read(queries(), spec.Table) }

// What report remembers of clusters: cluster#, <cluster>. It is one partition, as
// the tick reads all of them. A record outlives the cluster's closed incidents, which
// are found by it.
const clusterPrefix = "cluster#"

// keepCluster is how long a record outlives its last write: it is written every
// hour while anything is open.
const keepCluster = 90 * 24 * time.Hour

// keepQuiet is keepCluster where nothing is open: the last incident was closed before
// the write, and is kept for keepClosed after that.
const keepQuiet = keepClosed + time.Hour

// ClusterRecord reads what is remembered of a cluster; the zero record with its
// name where there is nothing.
func (s *Store) ClusterRecord(ctx context.Context, cluster string) (outbox.ClusterRecord, error) {
	list, err := oneByOne[outbox.ClusterRecord](ctx, s, s.key(clusterPrefix, ""), "#sk = :from", cluster, outbox.ClusterFormat, "what is remembered of "+cluster)
	if err != nil || len(list) == 0 {
		return outbox.ClusterRecord{Cluster: cluster}, err
	}
	return list[0], nil
}

// ClusterRecords reads the records of the clusters with something open, owed or
// refused, by name. If some were written by a newer version of Rollcall, it gives the
// others and an error with *NewerFormat in it.
func (s *Store) ClusterRecords(ctx context.Context) ([]outbox.ClusterRecord, error) {
	list, err := partition[outbox.ClusterRecord](ctx, s, s.key(clusterPrefix, ""), outbox.ClusterFormat, "what is remembered of clusters")
	return slices.DeleteFunc(list, quiet), err
}

func quiet(r outbox.ClusterRecord) bool { return !r.Open && !r.Owed && len(r.Refusals) == 0 }

// Clusters returns the names of all clusters that have or may have incidents in the
// table, closed ones among them, sorted: those with a record, and those that were swept,
// as earlier releases kept no record after the last incident was closed.
func (s *Store) Clusters(ctx context.Context) ([]string, error) {
	var names []string
	for _, prefix := range []string{clusterPrefix, sweptPrefix} {
		items, err := s.query(ctx, &dynamodb.QueryInput{
			KeyConditionExpression:    aws.String("#pk = :pk"),
			ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": text(s.key(prefix, ""))},
			ConsistentRead:            aws.Bool(true),
		})
		if err != nil {
			return nil, fmt.Errorf("read which clusters have incidents: %w", err)
		}
		for _, attributes := range items {
			_, there, err := s.there(attributes, math.MaxInt) // of any format: the name is the key
			if err != nil {
				return nil, fmt.Errorf("read which clusters have incidents: %w", err)
			}
			if name, ok := attributes[attrSK].(*types.AttributeValueMemberS); ok && there {
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
	over := r.Version
	r.Version, r.Format = r.Version+1, outbox.ClusterFormat
	it := item{
		pk: s.key(clusterPrefix, ""), sk: r.Cluster, kind: "cluster", format: r.Format, version: r.Version, body: r,
		expires: s.now().Add(keepCluster),
	}
	if quiet(r) {
		it.expires = s.now().Add(keepQuiet)
	}
	return s.put(ctx, it, over)
}

// RecordClusters lets a function write what is remembered of clusters.
func RecordClusters() spec.Grant {
	return write("RecordClusters", "Who refuses what is said, and until when it is not tried again, outlives the function; so does which clusters have open incidents.", clusterPrefix)
}

// Conflict is a write over another version than the one that was read:
// somebody else wrote in between. Read again, decide again.
type Conflict struct {
	// Record is the record's sort key.
	Record string
	// Over is the version that the write was for; 0 stands for none.
	Over  int
	cause error
}

func (e *Conflict) Error() string {
	if e.Over == 0 {
		return "it exists already"
	}
	return fmt.Sprintf("it is not at version %d any more", e.Over)
}

// Unwrap gives DynamoDB's error.
func (e *Conflict) Unwrap() error { return e.cause }

// NewerFormat is a record that a newer version of Rollcall wrote. It is left
// alone: to write it would lose what the newer version knows.
type NewerFormat struct {
	Record string
	// Written is the record's format; 0 where only the refused write tells of it.
	Written int
	Known   int
}

func (e *NewerFormat) Error() string {
	if e.Written == 0 {
		return fmt.Sprintf("record %s has a newer format than %d, which this version of Rollcall knows: deploy the newer version again", e.Record, e.Known)
	}
	return fmt.Sprintf("record %s has format %d, this version of Rollcall knows up to %d: deploy the newer version again", e.Record, e.Written, e.Known)
}

// ErrForeign: a record is of another spoke than the store. Nothing of one account may be
// kept as another's.
var ErrForeign = errors.New("it is of another account or region")

// OlderLeftOut is a history of more launches than are read: what is beside it
// is all that began since a time.
type OlderLeftOut struct {
	Since time.Time
	Most  int
}

func (e *OlderLeftOut) Error() string {
	return fmt.Sprintf("there are more than %d launches: those from before %s are left out", e.Most, e.Since.UTC().Format(time.RFC3339))
}

// AtLimit is a table, or an account, that takes no more for now.
type AtLimit struct {
	// Code is DynamoDB's error code.
	Code  string
	cause error
}

func (e *AtLimit) Error() string {
	return fmt.Sprintf("the table is at its limit (%s): raise its maximum throughput or the account's quota, or look for what else uses the table: %v", e.Code, e.cause)
}

// Unwrap gives DynamoDB's error.
func (e *AtLimit) Unwrap() error { return e.cause }

// TooLarge is a record over DynamoDB's 400 KB of an item.
type TooLarge struct {
	Record string
	Bytes  int
	cause  error
}

func (e *TooLarge) Error() string {
	return fmt.Sprintf("record %s has %d bytes, DynamoDB takes 400 KB", e.Record, e.Bytes)
}

// Unwrap gives DynamoDB's error.
func (e *TooLarge) Unwrap() error { return e.cause }

// maxItem is DynamoDB's limit of an item: 400 KB, names of attributes included.
const maxItem = 400 << 10

// maxBody leaves room in an item for the other attributes and their names:
// keys of at most 3 KB, and a few numbers.
const maxBody = maxItem - 16<<10

// classify gives DynamoDB's errors the types that callers decide on.
func classify(err error, it item, bytes int) error {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return &Conflict{Record: it.sk, Over: it.version - 1, cause: err}
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch code := api.ErrorCode(); code {
	case "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException",
		"LimitExceededException", "ItemCollectionSizeLimitExceededException":
		return &AtLimit{Code: code, cause: err}
	case "ValidationException":
		// DynamoDB has no code of its own for an item that is too large; the
		// size itself tells.
		if bytes > maxItem-4<<10 {
			return &TooLarge{Record: it.sk, Bytes: bytes, cause: err}
		}
	}
	return err
}

// Reads is what reading the table and its index over open launches needs.
func Reads() []spec.Read { return read(reads(), spec.Table, spec.TableIndex) }

// ReadHistory is what reading the launches of the past, the open ones too, and
// the samples needs.
func ReadHistory() []spec.Read {
	return read(queries(), spec.Table, spec.TableIndex, spec.EndedIndex)
}

// ReadJoinTimes is what reading the learned join times needs.
func ReadJoinTimes() []spec.Read { return read(queries(), spec.Table) }

// ReadSamples is what reading the samples of subnets needs.
func ReadSamples() []spec.Read { return read(queries(), spec.Table) }

// ReadLaunches is what reading launches by their ids needs.
func ReadLaunches() []spec.Read { return read(gets(), spec.Table) }

// ReadIncidents is what reading incidents alone needs: no launch is in reach
// through the index.
func ReadIncidents() []spec.Read { return read(queries(), spec.Table) }

func read(actions []string, from ...spec.Resource) []spec.Read {
	var names []string
	for _, r := range from {
		names = append(names, string(r))
	}
	return []spec.Read{{Actions: actions, Resources: names}}
}

// RecordLaunches lets a function write launch records and nothing else: the
// table's partition keys begin with the kind of the record.
func RecordLaunches() spec.Grant {
	return write("RecordLaunches", "Each launch is recorded once, whichever event or sweep brought it, until its outcome is known.", launchPrefix)
}

// RecordJoinTimes lets a function write how long nodes took to join.
func RecordJoinTimes() spec.Grant {
	return write("RecordJoinTimes", "How long the nodes of each nodegroup take to join is learned from those that did.", joinTimePrefix)
}

// RecordSamples lets a function write what subnets had left.
func RecordSamples() spec.Grant {
	return write("RecordSamples", "What a subnet had left when launches began tells later whether they were too many for it.", samplePrefix)
}

// RecordIncidents lets a function write incidents and nothing else.
func RecordIncidents() spec.Grant {
	return write("RecordIncidents", "What was said, where, and what is still to be said outlives the function.", incidentPrefix)
}

func write(sid, why string, prefixes ...string) spec.Grant {
	var keys []string
	for _, prefix := range prefixes {
		keys = append(keys, prefix+"*")
	}
	return spec.Grant{
		Sid:       sid,
		Why:       why,
		Actions:   writes(),
		Resources: []spec.Resource{spec.Table},
		Conditions: map[string]map[string][]string{
			"ForAllValues:StringLike": {"dynamodb:LeadingKeys": keys},
		},
	}
}
