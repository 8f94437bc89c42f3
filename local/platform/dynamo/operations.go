package dynamo

import (
	"math"
	"slices"
)

// capacity is what a call took, as the answer says it.
type capacity struct {
	CapacityUnits float64
	TableName     string
}

// asked are the parts that several requests have.
type asked struct {
	ReturnConsumedCapacity string
}

// wanted is the capacity if it was asked for. In which index it was taken nobody
// reads.
func (a asked) wanted(table string, units float64) *capacity {
	if a.ReturnConsumedCapacity == "" || a.ReturnConsumedCapacity == "NONE" {
		return nil
	}
	return &capacity{units, table}
}

// readUnits are those of so many bytes: one for 4 KB, half of it when eventually
// consistent (Developer Guide, "DynamoDB read and write operations").
func readUnits(bytes int, consistent bool) float64 {
	units := math.Ceil(float64(bytes) / 4096)
	if !consistent {
		units /= 2
	}
	return units
}

type putItem struct {
	asked
	TableName                 string
	Item                      item
	ConditionExpression       string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]value
}

func (in *putItem) do(s *Server) (any, error) {
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, err
	}
	if err := t.check(in.Item); err != nil {
		return nil, err
	}
	before := t.get(in.Item)
	if in.ConditionExpression == "" {
		err = unused(in.ExpressionAttributeNames, in.ExpressionAttributeValues, nil, nil)
	} else {
		var c condition
		c, err = parse(in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
		if err == nil && !c.holds(before) {
			err = &refusal{"ConditionalCheckFailedException", "The conditional request failed"}
		}
	}
	if err != nil {
		return nil, err
	}
	t.put(in.Item)
	// A unit for 1 KB, of the larger of what was and what is. Indexes are written
	// beside the table, and not counted, as dynalite does not.
	units := math.Ceil(float64(max(in.Item.size(), before.size())) / 1024)
	return struct{ ConsumedCapacity *capacity }{in.wanted(t.name, units)}, nil
}

type deleteItem struct {
	asked
	TableName string
	Key       item
}

func (in *deleteItem) do(s *Server) (any, error) {
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, err
	}
	if err := t.checkKey(in.Key); err != nil {
		return nil, err
	}
	before := t.get(in.Key)
	if before != nil {
		t.remove(before)
	}
	return struct{ ConsumedCapacity *capacity }{in.wanted(t.name, max(1, math.Ceil(float64(before.size())/1024)))}, nil
}

type keysOf struct {
	Keys           []item
	ConsistentRead bool
}

type batchGetItem struct {
	asked
	RequestItems map[string]keysOf
}

// maxKeys and maxBatch are BatchGetItem's limits: keys, and bytes of an answer,
// above which keys are given back (API reference, BatchGetItem).
const (
	maxKeys  = 100
	maxBatch = 16 << 20
)

func (in *batchGetItem) do(s *Server) (any, error) {
	type batch struct {
		Responses        map[string][]item
		UnprocessedKeys  map[string]keysOf
		ConsumedCapacity []capacity `json:",omitempty"`
	}
	out := batch{map[string][]item{}, map[string]keysOf{}, nil}
	keys, bytes := 0, 0
	for _, name := range sorted(in.RequestItems) {
		of := in.RequestItems[name]
		t, err := s.table(name)
		if err != nil {
			return nil, err
		}
		if keys += len(of.Keys); keys > maxKeys || len(of.Keys) == 0 {
			return nil, invalid("Too many items requested for the BatchGetItem call, or none: %d", keys)
		}
		units := 0.0
		out.Responses[name] = []item{}
		for i, key := range of.Keys {
			if err := t.checkKey(key); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(of.Keys[:i], func(other item) bool { return sameKey(key, other, t.key.names()) }) {
				return nil, invalid("Provided list of item keys contains duplicates")
			}
			it := t.get(key)
			if bytes += it.size(); bytes > maxBatch {
				left := out.UnprocessedKeys[name]
				left.Keys, left.ConsistentRead = append(left.Keys, key), of.ConsistentRead
				out.UnprocessedKeys[name] = left
				continue
			}
			if it != nil {
				out.Responses[name] = append(out.Responses[name], it)
			}
			// Each item is rounded up for itself, and one that is not there takes
			// what the smallest takes.
			units += readUnits(max(it.size(), 1), of.ConsistentRead)
		}
		if c := in.wanted(name, units); c != nil {
			out.ConsumedCapacity = append(out.ConsumedCapacity, *c)
		}
	}
	if keys == 0 {
		return nil, invalid("The batch names no table")
	}
	return out, nil
}

type query struct {
	asked
	TableName                 string
	IndexName                 string
	KeyConditionExpression    string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]value
	ConsistentRead            bool
	ScanIndexForward          *bool
	Limit                     *int
	ExclusiveStartKey         item
}

func (in *query) do(s *Server) (any, error) {
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, err
	}
	key, records := t.key, &t.records
	if in.IndexName != "" {
		x := t.indexes[in.IndexName]
		switch {
		case x == nil:
			return nil, invalid("The table does not have the specified index: %s", in.IndexName)
		case in.ConsistentRead:
			return nil, invalid("Consistent reads are not supported on global secondary indexes")
		}
		key, records = x.key, &x.records
	}
	c, err := parse(in.KeyConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil {
		return nil, err
	}
	hash, where, err := keyCondition(c, key.hash, key.ranged)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(records.byHash[hash.text])
	if in.ExclusiveStartKey != nil && in.ExclusiveStartKey[key.hash] != hash {
		return nil, invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	for _, part := range where {
		list = slices.DeleteFunc(list, func(it item) bool { return !part.holds(it) })
	}
	order := records.order
	if in.ScanIndexForward != nil && !*in.ScanIndexForward {
		slices.Reverse(list)
		order = func(a, b item) int { return records.order(b, a) }
	}
	return t.page(list, order, key, in.ExclusiveStartKey, in.Limit, in.ConsistentRead, in.asked)
}

type scan struct {
	asked
	TableName         string
	ConsistentRead    bool
	Limit             *int
	ExclusiveStartKey item
}

func (in *scan) do(s *Server) (any, error) {
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, err
	}
	var list []item
	for _, hash := range sorted(t.records.byHash) {
		list = append(list, t.records.byHash[hash]...)
	}
	return t.page(list, byKeys(t.key.names()...), t.key, in.ExclusiveStartKey, in.Limit, in.ConsistentRead, in.asked)
}

// maxPage is the most bytes of a page: the item with which it is reached is its
// last (API reference, Query).
const maxPage = 1 << 20

// page is a part of a list that is in order, from after a key on.
func (t *table) page(list []item, order func(a, b item) int, key keySchema, after item, limit *int, consistent bool, a asked) (any, error) {
	keys := t.key.names()
	if key != t.key {
		keys = slices.Concat(keys, key.names())
	}
	if after != nil {
		if len(after) != len(keys) || len(after.only(keys...)) != len(keys) {
			return nil, invalid("The provided starting key is invalid")
		}
		i, found := slices.BinarySearchFunc(list, after, order)
		if found {
			i++
		}
		list = list[i:]
	}
	if limit != nil && *limit < 1 {
		return nil, invalid("Limit must be greater than or equal to 1")
	}
	var out struct {
		Items               []item
		Count, ScannedCount int
		LastEvaluatedKey    item      `json:",omitempty"`
		ConsumedCapacity    *capacity `json:",omitempty"`
	}
	out.Items = []item{}
	bytes := 0
	for _, it := range list {
		out.Items = append(out.Items, it)
		bytes += it.size()
		// A limit that is reached with the last item gives a key too: DynamoDB does
		// not look further.
		if limit != nil && len(out.Items) == *limit || bytes >= maxPage {
			out.LastEvaluatedKey = it.only(keys...)
			break
		}
	}
	out.Count, out.ScannedCount = len(out.Items), len(out.Items)
	// A page is rounded up as a whole.
	out.ConsumedCapacity = a.wanted(t.name, readUnits(bytes, consistent))
	return out, nil
}
