package store

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
