package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/document"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/stage/platform/dynamo"
	"rollcall/stage/platform/dynamo/dynalite"
)

// record is an item in short: text as it is, numbers as numbers.
type record map[string]any

func (r record) item() map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for name, v := range r {
		switch v := v.(type) {
		case string:
			out[name] = &types.AttributeValueMemberS{Value: v}
		case int:
			out[name] = &types.AttributeValueMemberN{Value: fmt.Sprint(v)}
		}
	}
	return out
}

// put writes an item, under a condition if there is one.
func put(r record, condition string, names map[string]string, values record) step {
	return func(ctx context.Context, c *dynamodb.Client) (any, error) {
		in := &dynamodb.PutItemInput{TableName: &name, Item: r.item(), ExpressionAttributeNames: names, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
		if condition != "" {
			in.ConditionExpression = &condition
		}
		if values != nil {
			in.ExpressionAttributeValues = values.item()
		}
		return c.PutItem(ctx, in)
	}
}

// ask queries the table, or an index of it, page by page to the end.
func ask(condition string, names map[string]string, values record, change ...func(*dynamodb.QueryInput)) step {
	return func(ctx context.Context, c *dynamodb.Client) (any, error) {
		in := &dynamodb.QueryInput{
			TableName: &name, KeyConditionExpression: &condition, ExpressionAttributeNames: names, ExpressionAttributeValues: values.item(),
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		}
		for _, f := range change {
			f(in)
		}
		var pages []any
		for {
			out, err := c.Query(ctx, in)
			if err != nil {
				return pages, err
			}
			if pages = append(pages, out); out.LastEvaluatedKey == nil {
				return pages, nil
			}
			in.ExclusiveStartKey = out.LastEvaluatedKey
		}
	}
}

func on(index string) func(*dynamodb.QueryInput) {
	return func(in *dynamodb.QueryInput) { in.IndexName = &index }
}
func backwards(in *dynamodb.QueryInput) { in.ScanIndexForward = aws.Bool(false) }
func newest(in *dynamodb.QueryInput)    { in.ConsistentRead = aws.Bool(true) }
func few(n int32) func(*dynamodb.QueryInput) {
	return func(in *dynamodb.QueryInput) { in.Limit = &n }
}

// batch reads by keys; its answer has no order.
func batch(consistent bool, keys ...record) step {
	return func(ctx context.Context, c *dynamodb.Client) (any, error) {
		of := types.KeysAndAttributes{ConsistentRead: &consistent}
		for _, k := range keys {
			of.Keys = append(of.Keys, k.item())
		}
		out, err := c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{name: of}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if out != nil {
			sorted(out.Responses[name])
		}
		return out, err
	}
}

func sorted(list []map[string]types.AttributeValue) {
	slices.SortFunc(list, func(a, b map[string]types.AttributeValue) int {
		return strings.Compare(key(a), key(b))
	})
}

func key(it map[string]types.AttributeValue) string {
	return fmt.Sprint(it["pk"].(*types.AttributeValueMemberS).Value, " ", it["sk"].(*types.AttributeValueMemberS).Value)
}

// all reads the whole table. The order of partitions is not to be relied on, and what
// it takes is not compared: dynalite counts a consistent scan as any other.
func all(ctx context.Context, c *dynamodb.Client) (any, error) {
	out, err := c.Scan(ctx, &dynamodb.ScanInput{TableName: &name, ConsistentRead: aws.Bool(true)})
	if out != nil {
		sorted(out.Items)
	}
	return out, err
}

func remove(r record) step {
	return func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &name, Key: r.item(), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	}
}

type step func(context.Context, *dynamodb.Client) (any, error)

// same compares answers without what came with them on the way; absent and empty are
// one to who reads.
var same = cmp.Options{cmpopts.IgnoreTypes(middleware.Metadata{}, document.NoSerde{}), cmpopts.EquateEmpty()}

func code(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return err.Error()
}

// name is the table's.
var name = "parity"

// TestParity asks dynalite and this package the same things in the same order:
// every operation with every expression that Rollcall sends (package state), and
// what is refused.
func TestParity(t *testing.T) {
	other, err := dynalite.Start(t.Context(), dynalite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	ours := dynamo.New()
	if err := errors.Join(other.CreateTable(t.Context(), name), ours.CreateTable(t.Context(), name)); err != nil {
		t.Fatal(err)
	}
	pk, version := map[string]string{"#pk": "pk"}, map[string]string{"#version": "version", "#format": "format"}
	both := map[string]string{"#pk": "pk", "#sk": "sk"}
	first := map[string]string{"#pk": "pk", "#expires": "expires"}
	newer := map[string]string{"#pk": "pk", "#format": "format", "#expires": "expires"}
	press := map[string]string{"#pk": "pk", "#expires": "expires", "#by": "by"}
	open, day := map[string]string{"#open": "open"}, map[string]string{"#day": "day", "#began": "began"}
	const (
		ifFirst = "attribute_not_exists(#pk) OR #expires <= :now"
		ifOver  = "#version = :over AND #format <= :format"
		ifNewer = "attribute_not_exists(#pk) OR #format <= :format OR #expires <= :now"
		ifPress = "attribute_not_exists(#pk) OR #expires <= :now OR #by = :by"
	)
	a := record{"pk": "launch#i-1", "sk": "launch", "version": 1, "format": 2, "expires": 100, "body": `{"a":"ü"}`, "open": "prod", "started": "2026-11-20T15:00:00.000Z"}
	with := func(r record, more record) record {
		out := record{}
		for _, m := range []record{r, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		for k, v := range out {
			if v == nil {
				delete(out, k)
			}
		}
		return out
	}
	big := strings.Repeat("x", 300<<10)
	steps := []struct {
		what string
		do   step
		// code is that of the refusal: both could be wrong in the same way.
		code string
	}{
		{"nothing there", ask("#pk = :pk", pk, record{":pk": "launch#i-1"}, newest), ""},
		{"the first", put(a, ifFirst, first, record{":now": 50}), ""},
		{"again", put(a, ifFirst, first, record{":now": 50}), "ConditionalCheckFailedException"},
		{"again when it has expired", put(a, ifFirst, first, record{":now": 100}), ""},
		{"over its version", put(with(a, record{"version": 2}), ifOver, version, record{":over": 1, ":format": 2}), ""},
		{"over an old version", put(with(a, record{"version": 2}), ifOver, version, record{":over": 1, ":format": 2}), "ConditionalCheckFailedException"},
		{"over a newer format", put(with(a, record{"version": 3}), ifOver, version, record{":over": 2, ":format": 1}), "ConditionalCheckFailedException"},
		{"over nothing", put(with(a, record{"pk": "launch#i-9"}), ifOver, version, record{":over": 1, ":format": 2}), "ConditionalCheckFailedException"},
		{"whatever is there", put(with(a, record{"version": 9}), ifNewer, newer, record{":format": 2, ":now": 1}), ""},
		{"but a newer format", put(with(a, record{"version": 10}), ifNewer, newer, record{":format": 1, ":now": 1}), "ConditionalCheckFailedException"},
		{"of which the time is over", put(with(a, record{"version": 10}), ifNewer, newer, record{":format": 1, ":now": 1000}), ""},
		{"another", put(with(a, record{"pk": "launch#i-2", "started": "2026-11-20T14:00:00.000Z"}), ifFirst, first, record{":now": 50}), ""},
		{"one of the same moment", put(with(a, record{"pk": "launch#i-3"}), ifFirst, first, record{":now": 50}), ""},
		{"open ones", ask("#open = :cluster", open, record{":cluster": "prod"}, on("open")), ""},
		{"one closes", put(with(a, record{"pk": "launch#i-2", "open": nil, "started": nil, "day": "prod 2026-11-20", "began": "2026-11-20T14:00:00.000Z", "past": "{}"}), "", nil, nil), ""},
		{"open ones then", ask("#open = :cluster", open, record{":cluster": "prod"}, on("open")), ""},
		{"ended ones", ask("#day = :day AND #began >= :since", day, record{":day": "prod 2026-11-20", ":since": "2026-11-20T13:00:00.000Z"}, on("ended"), backwards), ""},
		{"ended later", ask("#day = :day AND #began >= :since", day, record{":day": "prod 2026-11-20", ":since": "2026-11-20T15:00:00.000Z"}, on("ended"), backwards), ""},
		{"half in an index", put(with(a, record{"pk": "launch#i-4", "started": nil}), "", nil, nil), ""},
		{"open ones without it", ask("#open = :cluster", open, record{":cluster": "prod"}, on("open")), ""},
		{"a press", put(record{"pk": "press#1", "sk": "press", "by": "one", "expires": 100}, ifPress, press, record{":now": 50, ":by": "one"}), ""},
		{"of the same", put(record{"pk": "press#1", "sk": "press", "by": "one", "expires": 100}, ifPress, press, record{":now": 50, ":by": "one"}), ""},
		{"of another", put(record{"pk": "press#1", "sk": "press", "by": "two", "expires": 100}, ifPress, press, record{":now": 50, ":by": "two"}), "ConditionalCheckFailedException"},
		{"taken back", put(record{"pk": "press#1", "sk": "press", "by": "one", "expires": 1}, "#by = :by", map[string]string{"#by": "by"}, record{":by": "one"}), ""},
		{"not by another", put(record{"pk": "press#1", "sk": "press", "by": "two", "expires": 1}, "#by = :by", map[string]string{"#by": "by"}, record{":by": "two"}), "ConditionalCheckFailedException"},
		{"text is no number", put(record{"pk": "press#1", "sk": "press", "by": "one"}, "#expires <= :now", map[string]string{"#expires": "expires"}, record{":now": "9"}), "ConditionalCheckFailedException"},
		{"by keys", batch(true, record{"pk": "launch#i-1", "sk": "launch"}, record{"pk": "launch#i-3", "sk": "launch"}, record{"pk": "launch#none", "sk": "launch"}), ""},
		{"by keys, eventually", batch(false, record{"pk": "launch#i-1", "sk": "launch"}, record{"pk": "launch#i-3", "sk": "launch"}), ""},
		{"by one key twice", batch(true, record{"pk": "launch#i-1", "sk": "launch"}, record{"pk": "launch#i-1", "sk": "launch"}), "ValidationException"},
		{"by half a key", batch(true, record{"pk": "launch#i-1"}), "ValidationException"},
		{"by an empty key", batch(true, record{"pk": "launch#i-1", "sk": ""}), "ValidationException"},
		{"a sample at 10", put(record{"pk": "sample#s", "sk": "10", "body": "1"}, "", nil, nil), ""},
		{"a sample at 12", put(record{"pk": "sample#s", "sk": "12", "body": "12345678"}, "", nil, nil), ""},
		{"a sample at 11", put(record{"pk": "sample#s", "sk": "11", "body": big}, "", nil, nil), ""},
		{"a sample at 9", put(record{"pk": "sample#s", "sk": "09", "body": "9"}, "", nil, nil), ""},
		{"from 10 on", ask("#pk = :pk AND #sk >= :since", both, record{":pk": "sample#s", ":since": "10"}), ""},
		{"from 10 on, newest", ask("#pk = :pk AND #sk >= :since", both, record{":pk": "sample#s", ":since": "10"}, newest), ""},
		{"from 9 to 11", ask("#pk = :pk AND #sk BETWEEN :since AND :last", both, record{":pk": "sample#s", ":since": "09", ":last": "11"}), ""},
		{"the last one", ask("#pk = :pk AND #sk >= :since", both, record{":pk": "sample#s", ":since": "09"}, backwards, few(1)), ""},
		{"two at a time", ask("#pk = :pk", pk, record{":pk": "sample#s"}, few(2)), ""},
		{"two at a time of an index", ask("#open = :cluster", open, record{":cluster": "prod"}, on("open"), few(1)), ""},
		{"exactly one", ask("#pk = :pk AND #sk = :sk", both, record{":pk": "sample#s", ":sk": "12"}), ""},
		{"all", all, ""},
		{"one less", remove(record{"pk": "sample#s", "sk": "12"}), ""},
		{"one that is gone", remove(record{"pk": "sample#s", "sk": "12"}), ""},
		{"one of an index", remove(record{"pk": "launch#i-3", "sk": "launch"}), ""},
		{"open ones at last", ask("#open = :cluster", open, record{":cluster": "prod"}, on("open")), ""},
		{"all that is left", all, ""},
		{"over 400 KB", put(record{"pk": "p", "sk": "s", "body": big + big}, "", nil, nil), "ValidationException"},
		{"without a key", put(record{"pk": "p", "body": "b"}, "", nil, nil), "ValidationException"},
		{"with an empty key", put(record{"pk": "p", "sk": ""}, "", nil, nil), "ValidationException"},
		{"with a number as its key", put(record{"pk": "p", "sk": 1}, "", nil, nil), "ValidationException"},
		{"with a long key", put(record{"pk": strings.Repeat("x", 2049), "sk": "s"}, "", nil, nil), "ValidationException"},
		{"with a long range key", put(record{"pk": "p", "sk": strings.Repeat("x", 1025)}, "", nil, nil), "ValidationException"},
		{"with a number as an index's key", put(record{"pk": "p", "sk": "s", "open": 1, "started": "x"}, "", nil, nil), "ValidationException"},
		{"a name too many", put(a, ifFirst, newer, record{":now": 50}), "ValidationException"},
		{"a value too many", put(a, ifFirst, first, record{":now": 50, ":by": "x"}), "ValidationException"},
		{"a name that is not given", put(a, ifFirst, pk, record{":now": 50}), "ValidationException"},
		{"a value that is not given", put(a, ifFirst, first, record{":then": 50}), "ValidationException"},
		{"names without an expression", put(a, "", pk, nil), "ValidationException"},
		{"a query without the hash key", ask("#sk = :sk", map[string]string{"#sk": "sk"}, record{":sk": "12"}), "ValidationException"},
		{"a query that compares the hash key", ask("#pk >= :pk", pk, record{":pk": "a"}), "ValidationException"},
		{"a query by another attribute", ask("#pk = :pk AND #body = :b", map[string]string{"#pk": "pk", "#body": "body"}, record{":pk": "a", ":b": "b"}), "ValidationException"},
		{"a query with OR", ask("#pk = :pk OR #sk = :sk", both, record{":pk": "a", ":sk": "b"}), "ValidationException"},
		{"a query by a number", ask("#pk = :pk", pk, record{":pk": 1}), "ValidationException"},
		{"a query of no index", ask("#pk = :pk", pk, record{":pk": "a"}, on("none")), "ValidationException"},
		{"an index at its newest", ask("#open = :cluster", open, record{":cluster": "prod"}, on("open"), newest), "ValidationException"},
		{"no item at a time", ask("#pk = :pk", pk, record{":pk": "a"}, few(0)), "ValidationException"},
		{"another query's page", ask("#pk = :pk", pk, record{":pk": "sample#s"}, func(in *dynamodb.QueryInput) {
			in.ExclusiveStartKey = record{"pk": "launch#i-1", "sk": "launch"}.item()
		}), "ValidationException"},
		{"half a page's key", ask("#pk = :pk", pk, record{":pk": "sample#s"}, func(in *dynamodb.QueryInput) {
			in.ExclusiveStartKey = record{"pk": "sample#s"}.item()
		}), "ValidationException"},
		{"no such table", func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.Query(ctx, &dynamodb.QueryInput{TableName: aws.String("another"), KeyConditionExpression: aws.String("#pk = :pk"), ExpressionAttributeNames: pk, ExpressionAttributeValues: record{":pk": "a"}.item()})
		}, "ResourceNotFoundException"},
		{"the table again", func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.CreateTable(ctx, dynamo.TableOfTheStack(name))
		}, "ResourceInUseException"},
		{"the tables", func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.ListTables(ctx, &dynamodb.ListTablesInput{})
		}, ""},
		{"all in the end", all, ""},
	}
	many := record{"pk": "sample#s", "sk": "1"}
	var hundred []record
	for i := range 101 {
		hundred = append(hundred, with(many, record{"sk": fmt.Sprint(i)}))
	}
	steps = append(steps, steps[0], struct {
		what string
		do   step
		code string
	}{"101 keys", batch(true, hundred...), "ValidationException"})
	for _, s := range steps {
		want, wantErr := s.do(t.Context(), other.Client())
		got, err := s.do(t.Context(), ours.Client())
		if code(wantErr) != code(err) || code(err) != s.code {
			t.Errorf("%s: dynalite %q (%v), ours %q (%v), want %q", s.what, code(wantErr), wantErr, code(err), err, s.code)
			continue
		}
		if err == nil {
			if diff := cmp.Diff(want, got, same); diff != "" {
				t.Errorf("%s (-dynalite +ours):\n%s", s.what, diff)
			}
		}
	}
}

// TestRefusesWhatItDoesNotKnow: nothing that Rollcall may send one day is taken for
// something else, or left out.
func TestRefusesWhatItDoesNotKnow(t *testing.T) {
	ours := dynamo.New()
	if err := ours.CreateTable(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	item := record{"pk": "p", "sk": "s"}.item()
	with := func(change func(*dynamodb.PutItemInput)) step {
		return func(ctx context.Context, c *dynamodb.Client) (any, error) {
			in := &dynamodb.PutItemInput{TableName: &name, Item: record{"pk": "p", "sk": "s"}.item()}
			change(in)
			return c.PutItem(ctx, in)
		}
	}
	if _, err := ours.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: item}); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"#a": "a"}
	for what, tt := range map[string]struct {
		do   step
		says string
	}{
		"an operation": {func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &name, Key: item})
		}, "the operation UpdateItem"},
		"a parameter": {with(func(in *dynamodb.PutItemInput) { in.ReturnValues = types.ReturnValueAllOld }), `"ReturnValues"`},
		"a filter": {ask("#a = :a", names, record{":a": "x"}, func(in *dynamodb.QueryInput) {
			in.FilterExpression = aws.String("#b = :b")
		}), `"FilterExpression"`},
		"a list":         {with(func(in *dynamodb.PutItemInput) { in.Item["l"] = &types.AttributeValueMemberL{} }), "attributes of type L"},
		"a fraction":     {with(func(in *dynamodb.PutItemInput) { in.Item["n"] = &types.AttributeValueMemberN{Value: "1.5"} }), `the number "1.5"`},
		"a function":     {put(record{"pk": "p", "sk": "s"}, "attribute_exists(#a)", names, nil), `the name "attribute_exists"`},
		"a plain name":   {put(record{"pk": "p", "sk": "s"}, "attribute_not_exists(pk)", nil, nil), `the name "pk"`},
		"a path":         {put(record{"pk": "p", "sk": "s"}, "attribute_not_exists(#a.b)", names, nil), "more than a name"},
		"less than":      {put(record{"pk": "p", "sk": "s"}, "#a < :a", names, record{":a": 1}), `the comparison "<"`},
		"not":            {put(record{"pk": "p", "sk": "s"}, "NOT #a = :a", names, record{":a": 1}), `the name "NOT"`},
		"brackets":       {put(record{"pk": "p", "sk": "s"}, "(#a = :a)", names, record{":a": 1}), `the name "("`},
		"another name":   {put(record{"pk": "p", "sk": "s"}, "#a = #a", names, nil), `the value "#a"`},
		"words after it": {put(record{"pk": "p", "sk": "s"}, "#a = :a :a", names, record{":a": 1}), `":a" in the expression`},
		"a table's bill": {func(ctx context.Context, c *dynamodb.Client) (any, error) {
			in := dynamo.TableOfTheStack("other")
			in.BillingMode = types.BillingModeProvisioned
			return c.CreateTable(ctx, in)
		}, "billing mode"},
		"a key of a number": {func(ctx context.Context, c *dynamodb.Client) (any, error) {
			in := dynamo.TableOfTheStack("other")
			in.AttributeDefinitions[0].AttributeType = types.ScalarAttributeTypeN
			return c.CreateTable(ctx, in)
		}, "a key pk of type N"},
		"keys alone in an index": {func(ctx context.Context, c *dynamodb.Client) (any, error) {
			in := dynamo.TableOfTheStack("other")
			in.GlobalSecondaryIndexes[0].Projection.ProjectionType = types.ProjectionTypeKeysOnly
			return c.CreateTable(ctx, in)
		}, "a projection KEYS_ONLY"},
	} {
		t.Run(what, func(t *testing.T) {
			_, err := tt.do(t.Context(), ours.Client())
			if code(err) != "NotSimulated" || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want NotSimulated and %q", err, tt.says)
			}
		})
	}
}

// TestEmptyKeyOfAnIndex: dynalite takes it. DynamoDB does not (Developer Guide,
// "Supported data types": no key of a table or an index may be empty).
func TestEmptyKeyOfAnIndex(t *testing.T) {
	ours := dynamo.New()
	if err := ours.CreateTable(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	_, err := put(record{"pk": "p", "sk": "s", "open": "", "started": "x"}, "", nil, nil)(t.Context(), ours.Client())
	if code(err) != "ValidationException" || !strings.Contains(err.Error(), "Key: open") {
		t.Errorf("error %v, want ValidationException for the key open", err)
	}
}

// TestPageOfOneMegabyte: an answer has that much, and goes on where it ended.
func TestPageOfOneMegabyte(t *testing.T) {
	ours := dynamo.New()
	if err := ours.CreateTable(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		r := record{"pk": "p", "sk": fmt.Sprint(i), "body": strings.Repeat("x", 300<<10)}
		if _, err := put(r, "", nil, nil)(t.Context(), ours.Client()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ask("#pk = :pk", map[string]string{"#pk": "pk"}, record{":pk": "p"})(t.Context(), ours.Client())
	if err != nil {
		t.Fatal(err)
	}
	var pages [][]string
	for _, page := range got.([]any) {
		var keys []string
		for _, it := range page.(*dynamodb.QueryOutput).Items {
			keys = append(keys, key(it))
		}
		pages = append(pages, keys)
	}
	if diff := cmp.Diff([][]string{{"p 0", "p 1", "p 2", "p 3"}, {"p 4"}}, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}
