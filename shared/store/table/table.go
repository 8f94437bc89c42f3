// Package table is the one DynamoDB table in which Rollcall remembers: conditional writes of
// single records, reads of partitions, and the errors that callers decide on. Package store
// documents the keys and has all kinds of records.
package table

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/spec"
	"rollcall/shared/spoke"
)

// Client is what the table needs of DynamoDB.
type Client interface {
	Reader
	Writer
}

// Table reads and writes the records of one spoke.
type Table struct {
	Client Client
	Name   string
	Now    func() time.Time
	// Spoke is whose records are read and written, and no other's.
	Spoke spoke.ID
}

// New returns the table of that name, for the hub's records, in the wall clock's time.
func New(client Client, name string) *Table { return &Table{Client: client, Name: name, Now: time.Now} }

// WithClock returns the same table in another clock's time: what has expired there counts
// as absent.
func (t *Table) WithClock(now func() time.Time) *Table {
	other := *t
	other.Now = now
	return &other
}

// ForSpoke returns the same table for the records of a spoke.
func (t *Table) ForSpoke(id spoke.ID) *Table {
	other := *t
	other.Spoke = id
	return &other
}

// Key is the partition key of a record of the table's spoke.
func (t *Table) Key(prefix, of string) string { return prefix + t.Spoke.Qualify(of) }

// Item is a record as it lies in the table: the attributes that keys,
// conditions and indexes need, and the record itself as JSON.
type Item struct {
	PK, SK  string
	Kind    string
	Format  int
	Version int
	Expires time.Time // zero: never
	Body    any
	// Open and Started put the item into the index of open launches; empty: not in it.
	Open    string
	Started time.Time
	// Day, Began and Past put it into the index of launches that ended; empty: not in it.
	Day   string
	Began time.Time
	Past  string
}

// The table's attributes. "expires" is the one that DynamoDB's time to live
// is switched on for.
const (
	AttrPK      = "pk"
	AttrSK      = "sk"
	AttrFormat  = "format"
	AttrVersion = "version"
	AttrExpires = "expires"
	AttrBody    = "body"
	AttrOpen    = "open"
	AttrStarted = "started"
	AttrDay     = "day"
	AttrBegan   = "began"
	AttrPast    = "past"
)

// Sortable is a time as text that sorts as the times do.
const Sortable = "2006-01-02T15:04:05.000Z"

// AnyVersion lets Put write over whatever is there, except a record of a newer
// format: for what says the same whoever writes it.
const AnyVersion = -1

// Put writes an item over exactly the given version of it: 0 means that there
// must be none. What has expired counts as none: DynamoDB may take days to
// delete it. A record of a newer format is never written over: after a rollback
// the older release would drop what it does not know of.
func (t *Table) Put(ctx context.Context, it Item, over int) error {
	body, err := json.Marshal(it.Body)
	if err != nil {
		return fmt.Errorf("encode the %s %s: %w", it.Kind, it.SK, err)
	}
	attributes := map[string]types.AttributeValue{
		AttrPK:      Text(it.PK),
		AttrSK:      Text(it.SK),
		AttrFormat:  Number(int64(it.Format)),
		AttrVersion: Number(int64(it.Version)),
		AttrBody:    Text(string(body)),
	}
	if !it.Expires.IsZero() {
		attributes[AttrExpires] = Number(it.Expires.Unix())
	}
	if it.Open != "" {
		attributes[AttrOpen] = Text(it.Open)
		attributes[AttrStarted] = Text(it.Started.UTC().Format(Sortable))
	}
	if it.Day != "" {
		attributes[AttrDay] = Text(it.Day)
		attributes[AttrBegan] = Text(it.Began.UTC().Format(Sortable))
		attributes[AttrPast] = Text(it.Past)
	}
	in := &dynamodb.PutItemInput{
		TableName:                 &t.Name,
		Item:                      attributes,
		ExpressionAttributeNames:  map[string]string{"#version": AttrVersion, "#format": AttrFormat},
		ExpressionAttributeValues: map[string]types.AttributeValue{":over": Number(int64(over)), ":format": Number(int64(it.Format))},
		ConditionExpression:       aws.String("#version = :over AND #format <= :format"),
	}
	switch over {
	case AnyVersion:
		in.ConditionExpression = aws.String("attribute_not_exists(#pk) OR #format <= :format OR #expires <= :now")
		in.ExpressionAttributeNames = map[string]string{"#pk": AttrPK, "#format": AttrFormat, "#expires": AttrExpires}
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":format": Number(int64(it.Format)), ":now": Number(t.Now().Unix())}
	case 0:
		in.ConditionExpression = aws.String("attribute_not_exists(#pk) OR #expires <= :now")
		in.ExpressionAttributeNames = map[string]string{"#pk": AttrPK, "#expires": AttrExpires}
		in.ExpressionAttributeValues = map[string]types.AttributeValue{":now": Number(t.Now().Unix())}
	}
	if _, err = t.Client.PutItem(ctx, in); err != nil {
		err = Classify(err, it, len(body))
		var conflict *Conflict
		if over == AnyVersion && errors.As(err, &conflict) {
			err = &NewerFormat{Record: it.PK + " " + it.SK, Known: it.Format} // nothing else refuses such a write
		}
		return fmt.Errorf("write the %s %s: %w", it.Kind, it.SK, err)
	}
	return nil
}

// Save writes a record over the version of it that was read, 0 for none, and returns it
// with its new version. It fails with *Conflict if that version is not the newest any more.
func Save[T any](ctx context.Context, t *Table, it Item, record *T, version *int) (saved T, err error) {
	over := *version
	*version++
	it.Version, it.Body = *version, *record
	if err := t.Put(ctx, it, over); err != nil {
		return saved, err
	}
	return *record, nil
}

// Created reports by the error of a write whether it made the record. That there was one
// already is no error.
func Created(err error) (bool, error) {
	var taken *Conflict
	if errors.As(err, &taken) {
		return false, nil
	}
	return err == nil, err
}

// First returns the only record that was read, or none where there is none.
func First[T any](list []T, none T) T {
	if len(list) == 0 {
		return none
	}
	return list[0]
}

// Text is a string attribute.
func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number is a number attribute.
func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Decode reads an item's record into into. It tells false for what is there
// no more, and *NewerFormat for what a newer version of Rollcall wrote.
func (t *Table) Decode(attributes map[string]types.AttributeValue, format int, into any) (bool, error) {
	name, there, err := t.There(attributes, format)
	if err != nil || !there {
		return false, err
	}
	body, hasBody := attributes[AttrBody].(*types.AttributeValueMemberS)
	if !hasBody {
		return false, fmt.Errorf("record %s: no body: %w", name, ErrNotOurs)
	}
	if err := json.Unmarshal([]byte(body.Value), into); err != nil {
		return false, fmt.Errorf("record %s: %w", name, err)
	}
	return true, nil
}

// There reports whether an item counts: it has not expired, and its format is
// known.
func (t *Table) There(attributes map[string]types.AttributeValue, format int) (name string, there bool, err error) {
	pk, _ := attributes[AttrPK].(*types.AttributeValueMemberS)
	sk, _ := attributes[AttrSK].(*types.AttributeValueMemberS)
	if pk == nil || sk == nil {
		return "", false, ErrNotOurs
	}
	name = pk.Value + " " + sk.Value
	if expires, ok, err := Integer(attributes[AttrExpires]); err != nil {
		return name, false, fmt.Errorf("record %s: %s: %w", name, AttrExpires, err)
	} else if ok && expires <= t.Now().Unix() {
		return name, false, nil
	}
	written, ok, err := Integer(attributes[AttrFormat])
	if err != nil || !ok {
		return name, false, fmt.Errorf("record %s: no format: %w", name, ErrNotOurs)
	}
	if written > int64(format) {
		return name, false, &NewerFormat{Record: name, Written: int(written), Known: format}
	}
	return name, true, nil
}

// ErrNotOurs: an item has no key, format or body of ours.
var ErrNotOurs = errors.New("the table holds an item that Rollcall did not write")

// Integer reads a number attribute; false where there is none.
func Integer(v types.AttributeValue) (n int64, ok bool, err error) {
	member, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0, false, nil
	}
	n, err = strconv.ParseInt(member.Value, 10, 64)
	return n, err == nil, err
}

// Query reads all pages.
func (t *Table) Query(ctx context.Context, in *dynamodb.QueryInput) ([]map[string]types.AttributeValue, error) {
	in.TableName = &t.Name
	var items []map[string]types.AttributeValue
	for {
		out, err := t.Client.Query(ctx, in)
		if err != nil {
			return nil, Classify(err, Item{}, 0)
		}
		items = append(items, out.Items...)
		if len(out.LastEvaluatedKey) == 0 {
			return items, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// Partition reads all records of a partition, by sort key. What was just
// written is seen: the records say what was told or said already, or are
// written over what was read. If some were written by a newer version of
// Rollcall, it gives the others and an error with *NewerFormat in it.
func Partition[T any](ctx context.Context, t *Table, pk string, format int, what string) ([]T, error) {
	items, err := t.Query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk"),
		ExpressionAttributeNames:  map[string]string{"#pk": AttrPK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": Text(pk)},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	records, err := All[T](t, items, format)
	if err != nil {
		err = fmt.Errorf("read %s: %w", what, err)
	}
	return records, err
}

// All decodes the items that count, and returns an error about those that it cannot read.
func All[T any](t *Table, items []map[string]types.AttributeValue, format int) ([]T, error) {
	var records []T
	var wrong []error
	for _, attributes := range items {
		var r T
		there, err := t.Decode(attributes, format, &r)
		if err != nil {
			wrong = append(wrong, err)
		}
		if there {
			records = append(records, r)
		}
	}
	return records, errors.Join(wrong...)
}

// OneByOne reads the records of a partition whose sort keys are as where says of
// #sk and :from, in their order. Unlike Partition it gives none if one of them
// was written by a newer version: who counts audit records must have them all.
func OneByOne[T any](ctx context.Context, t *Table, pk, where, from string, format int, what string) ([]T, error) {
	items, err := t.Query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :pk AND " + where),
		ExpressionAttributeNames:  map[string]string{"#pk": AttrPK, "#sk": AttrSK},
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": Text(pk), ":from": Text(from)},
		ConsistentRead:            aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	list, err := All[T](t, items, format)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return list, nil
}

// Since reads those whose sort keys begin with a time, from one on.
func Since[T any](ctx context.Context, t *Table, pk string, from time.Time, format int, what string) ([]T, error) {
	return OneByOne[T](ctx, t, pk, "#sk >= :from", from.UTC().Format(Sortable), format, what)
}

// KeepAudits is how long audit records are kept.
const KeepAudits = 366 * 24 * time.Hour

// Conflict is a write over another version than the one that was read:
// another writer was first. Read again, decide again.
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

// ErrForeign: a record is of another spoke than the table. Nothing of one account may be
// kept as another's.
var ErrForeign = errors.New("it is of another account or region")

// AtLimit is a table, or an account, that takes no more for now.
type AtLimit struct {
	// Code is DynamoDB's error code.
	Code  string
	Cause error
}

func (e *AtLimit) Error() string {
	return fmt.Sprintf("the table is at its limit (%s): raise its maximum throughput or the account's quota, or look for what else uses the table: %v", e.Code, e.Cause)
}

// Unwrap gives DynamoDB's error.
func (e *AtLimit) Unwrap() error { return e.Cause }

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

// MaxItem is DynamoDB's limit of an item: 400 KB, names of attributes included.
const MaxItem = 400 << 10

// MaxBody leaves room in an item for the other attributes and their names:
// keys of at most 3 KB, and a few numbers.
const MaxBody = MaxItem - 16<<10

// Classify gives DynamoDB's errors the types that callers decide on.
func Classify(err error, it Item, bytes int) error {
	var failed *types.ConditionalCheckFailedException
	if errors.As(err, &failed) {
		return &Conflict{Record: it.SK, Over: it.Version - 1, cause: err}
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch code := api.ErrorCode(); code {
	case "ProvisionedThroughputExceededException", "RequestLimitExceeded", "ThrottlingException",
		"LimitExceededException", "ItemCollectionSizeLimitExceededException":
		return &AtLimit{Code: code, Cause: err}
	case "ValidationException":
		// DynamoDB has no code of its own for an item that is too large; the
		// size itself tells.
		if bytes > MaxItem-4<<10 {
			return &TooLarge{Record: it.SK, Bytes: bytes, cause: err}
		}
	}
	return err
}

// Reader is what reading the table takes.
type Reader interface {
	Querier
	Getter
}

// Getter is what reading records by their keys takes.
type Getter interface {
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
}

// Querier is what reading incidents alone takes.
type Querier interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Writer is what writing a record takes: one conditional write per record.
type Writer interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
}

// Queries are the actions of Querier, as a policy has them.
func Queries() []string { return []string{"dynamodb:Query"} }

// Gets are the actions of Getter.
func Gets() []string { return []string{"dynamodb:BatchGetItem"} }

// Reads are the actions of Reader.
func Reads() []string { return append(Gets(), Queries()...) }

func writes() []string { return []string{"dynamodb:PutItem"} }

var _ Client = (*dynamodb.Client)(nil)

// Read is what reading needs by these actions: the table, or indexes of it too.
func Read(actions []string, from ...spec.Resource) []spec.Read {
	var names []string
	for _, r := range from {
		names = append(names, string(r))
	}
	return []spec.Read{{Actions: actions, Resources: names}}
}

// Write lets a function write records with these prefixes of their keys and nothing else.
func Write(sid, why string, prefixes ...string) spec.Grant {
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
