// Package dynamo is the DynamoDB of the local stage and of the tests: as much of it
// as Rollcall uses, in this process and in memory. What it does not know it refuses,
// with the error code NotSimulated. A test holds it against dynalite, an emulator
// that others keep (package dynalite), with every operation and expression that
// Rollcall sends.
package dynamo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Server is a DynamoDB. It is an http.Handler, and safe for concurrent use: each
// call happens at once.
type Server struct {
	mu     sync.Mutex
	tables map[string]*table
}

// New makes one without tables.
func New() *Server { return &Server{tables: map[string]*table{}} }

// operation is a decoded request.
type operation interface {
	do(*Server) (any, error)
}

// operations are what it answers.
var operations = map[string]func() operation{
	"BatchGetItem":  func() operation { return &batchGetItem{} },
	"CreateTable":   func() operation { return &createTable{} },
	"DeleteItem":    func() operation { return &deleteItem{} },
	"DescribeTable": func() operation { return &describeTable{} },
	"ListTables":    func() operation { return &listTables{} },
	"PutItem":       func() operation { return &putItem{} },
	"Query":         func() operation { return &query{} },
	"Scan":          func() operation { return &scan{} },
}

// ServeHTTP answers a call in DynamoDB's protocol, AWS JSON 1.0. Signatures are
// looked at before.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := s.call(r)
	status := http.StatusOK
	if err != nil {
		var no *refusal
		if !errors.As(err, &no) {
			no = &refusal{"SerializationException", err.Error()}
		}
		status = http.StatusBadRequest
		out = map[string]string{"__type": "com.amazonaws.dynamodb.v20120810#" + no.code, "message": no.message}
	}
	body, err := json.Marshal(out)
	if err != nil { // text and numbers: cannot happen
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

func (s *Server) call(r *http.Request) (any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	made, ok := operations[name]
	if !ok {
		return nil, unknown("the operation %s", name)
	}
	op := made()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(op); err != nil {
		var no *refusal
		if !errors.As(err, &no) {
			err = unknown("this %s: %v", name, err)
		}
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return op.do(s)
}

// table is a table by its name. The lock is held.
func (s *Server) table(name string) (*table, error) {
	t, ok := s.tables[name]
	if !ok {
		return nil, &refusal{"ResourceNotFoundException", fmt.Sprintf("Requested resource not found: Table: %s not found", name)}
	}
	return t, nil
}

// RoundTrip answers a request without a connection.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	defer func() {
		if r.Body != nil {
			r.Body.Close()
		}
	}()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// Client is a client for it; region and credentials are of no matter.
func (s *Server) Client() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-west-2", BaseEndpoint: aws.String("http://dynamodb.invalid"), HTTPClient: &http.Client{Transport: s},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

// CreateTable makes a table as the stack does, for tests that have no template to
// make it from.
func (s *Server) CreateTable(ctx context.Context, name string) error {
	_, err := s.Client().CreateTable(ctx, TableOfTheStack(name))
	if err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	return nil
}

type schemaElement struct{ AttributeName, KeyType string }

type projection struct {
	ProjectionType   string
	NonKeyAttributes []string `json:",omitempty"`
}

type indexDefinition struct {
	IndexName  string
	KeySchema  []schemaElement
	Projection projection
}

type attributeDefinition struct{ AttributeName, AttributeType string }

type createTable struct {
	TableName              string
	KeySchema              []schemaElement
	AttributeDefinitions   []attributeDefinition
	GlobalSecondaryIndexes []indexDefinition
	BillingMode            string
}

// description is as much of a table's as its waiters read.
type description struct {
	TableName, TableStatus string
}

func (in *createTable) do(s *Server) (any, error) {
	if s.tables[in.TableName] != nil {
		return nil, &refusal{"ResourceInUseException", "Table already exists: " + in.TableName}
	}
	if in.TableName == "" || in.BillingMode != "PAY_PER_REQUEST" {
		return nil, unknown("a table %q with the billing mode %q", in.TableName, in.BillingMode)
	}
	var named []string
	for _, a := range in.AttributeDefinitions {
		if a.AttributeType != "S" {
			return nil, unknown("a key %s of type %s", a.AttributeName, a.AttributeType)
		}
		named = append(named, a.AttributeName)
	}
	key, err := schema(in.KeySchema)
	if err != nil {
		return nil, err
	}
	used := key.names()
	t := &table{name: in.TableName, key: key, indexes: map[string]*index{}, records: partitions{byKeys(key.ranged), map[string][]item{}}}
	for _, d := range in.GlobalSecondaryIndexes {
		x := &index{include: d.Projection.NonKeyAttributes, all: d.Projection.ProjectionType == "ALL"}
		if x.key, err = schema(d.KeySchema); err != nil {
			return nil, err
		}
		if !x.all && d.Projection.ProjectionType != "INCLUDE" {
			return nil, unknown("a projection %s", d.Projection.ProjectionType)
		}
		x.records = partitions{byKeys(x.key.ranged, key.hash, key.ranged), map[string][]item{}}
		t.indexes[d.IndexName] = x
		used = append(used, x.key.names()...)
	}
	slices.Sort(used)
	slices.Sort(named)
	if !slices.Equal(slices.Compact(used), slices.Compact(named)) {
		return nil, invalid("One or more parameter values were invalid: the keys are %v, the attributes that are defined %v", used, named)
	}
	s.tables[t.name] = t
	return struct{ TableDescription description }{description{t.name, "ACTIVE"}}, nil
}

// schema reads two keys: Rollcall's tables and indexes have no fewer.
func schema(list []schemaElement) (keySchema, error) {
	if len(list) != 2 || list[0].KeyType != "HASH" || list[1].KeyType != "RANGE" {
		return keySchema{}, unknown("a key that is not one to hash and one to sort by")
	}
	return keySchema{list[0].AttributeName, list[1].AttributeName}, nil
}

type describeTable struct{ TableName string }

func (in *describeTable) do(s *Server) (any, error) {
	t, err := s.table(in.TableName)
	if err != nil {
		return nil, err
	}
	return struct{ Table description }{description{t.name, "ACTIVE"}}, nil
}

type listTables struct{}

func (*listTables) do(s *Server) (any, error) {
	return struct{ TableNames []string }{append([]string{}, sorted(s.tables)...)}, nil
}

// condition is an expression as Rollcall writes them: attribute_not_exists(#a), and
// comparisons of an attribute with a value (=, <=, >=, BETWEEN), joined by AND and OR.
type condition struct {
	op   string // "AND", "OR", "attribute_not_exists", "=", "<=", ">=" or "BETWEEN"
	args []condition
	name string
	// low is what a comparison is with, high the other end of BETWEEN.
	low, high value
}

// words are the tokens of an expression.
var words = regexp.MustCompile(`[#:]\w+|\w+|<=|>=|<>|[<>=(),]|\S`)

type parser struct {
	words  []string
	names  map[string]string
	values map[string]value
	// usedNames and usedValues are the placeholders that stood in the expression:
	// DynamoDB refuses a request with others.
	usedNames, usedValues map[string]bool
}

// parse reads an expression, and refuses names and values that do not stand in it.
func parse(text string, names map[string]string, values map[string]value) (condition, error) {
	p := &parser{words: words.FindAllString(text, -1), names: names, values: values, usedNames: map[string]bool{}, usedValues: map[string]bool{}}
	c, err := p.or()
	if err != nil {
		return condition{}, err
	}
	if len(p.words) > 0 {
		return condition{}, unknown("%q in the expression %q", p.words[0], text)
	}
	return c, unused(names, values, p.usedNames, p.usedValues)
}

func unused(names map[string]string, values map[string]value, usedNames, usedValues map[string]bool) error {
	for _, name := range sorted(names) {
		if !usedNames[name] {
			return invalid("Value provided in ExpressionAttributeNames unused in expressions: keys: {%s}", name)
		}
	}
	for _, name := range sorted(values) {
		if !usedValues[name] {
			return invalid("Value provided in ExpressionAttributeValues unused in expressions: keys: {%s}", name)
		}
	}
	return nil
}

func (p *parser) or() (condition, error) { return p.joined("OR", p.and) }

func (p *parser) and() (condition, error) { return p.joined("AND", p.single) }

// joined reads what stands between one operator. AND binds tighter than OR
// (Developer Guide, "Condition and filter expressions, operators, and functions").
func (p *parser) joined(op string, next func() (condition, error)) (condition, error) {
	c, err := next()
	if err != nil {
		return c, err
	}
	all := condition{op: op, args: []condition{c}}
	for p.take(op) {
		if c, err = next(); err != nil {
			return c, err
		}
		all.args = append(all.args, c)
	}
	if len(all.args) == 1 {
		return c, nil
	}
	return all, nil
}

// take takes a word, if it is the next.
func (p *parser) take(word string) bool {
	if len(p.words) == 0 || !strings.EqualFold(p.words[0], word) {
		return false
	}
	p.words = p.words[1:]
	return true
}

func (p *parser) single() (c condition, err error) {
	if p.take("attribute_not_exists") {
		c.op = "attribute_not_exists"
		if !p.take("(") {
			return c, unknown("attribute_not_exists without a bracket")
		}
		if c.name, err = p.name(); err != nil {
			return c, err
		}
		if !p.take(")") {
			return c, unknown("attribute_not_exists of more than a name")
		}
		return c, nil
	}
	if c.name, err = p.name(); err != nil {
		return c, err
	}
	for _, op := range []string{"=", "<=", ">=", "BETWEEN"} {
		if !p.take(op) {
			continue
		}
		c.op = op
		if c.low, err = p.value(); err != nil || op != "BETWEEN" {
			return c, err
		}
		if !p.take("AND") {
			return c, unknown("BETWEEN without AND")
		}
		c.high, err = p.value()
		return c, err
	}
	return c, unknown("the comparison %q", strings.Join(p.words[:min(1, len(p.words))], ""))
}

// name reads a placeholder of a name. A name itself could be a reserved word, of
// which DynamoDB has hundreds: Rollcall writes none.
func (p *parser) name() (string, error) {
	if len(p.words) == 0 || !strings.HasPrefix(p.words[0], "#") {
		return "", unknown("the name %q", strings.Join(p.words[:min(1, len(p.words))], ""))
	}
	word := p.words[0]
	p.words = p.words[1:]
	name, ok := p.names[word]
	if !ok {
		return "", invalid("Invalid expression: An expression attribute name used in the document path is not defined; attribute name: %s", word)
	}
	p.usedNames[word] = true
	return name, nil
}

func (p *parser) value() (value, error) {
	if len(p.words) == 0 || !strings.HasPrefix(p.words[0], ":") {
		return value{}, unknown("the value %q", strings.Join(p.words[:min(1, len(p.words))], ""))
	}
	word := p.words[0]
	p.words = p.words[1:]
	v, ok := p.values[word]
	if !ok {
		return value{}, invalid("Invalid expression: An expression attribute value used in expression is not defined; attribute value: %s", word)
	}
	p.usedValues[word] = true
	return v, nil
}

// holds reports whether a condition is true of an item; nil is one that is not there.
// What an item does not have compares with nothing.
func (c condition) holds(it item) bool {
	switch c.op {
	case "AND":
		for _, arg := range c.args {
			if !arg.holds(it) {
				return false
			}
		}
		return true
	case "OR":
		for _, arg := range c.args {
			if arg.holds(it) {
				return true
			}
		}
		return false
	}
	v, there := it[c.name]
	if c.op == "attribute_not_exists" {
		return !there
	}
	order, comparable := v.compare(c.low)
	if !there || !comparable {
		return false
	}
	switch c.op {
	case "=":
		return order == 0
	case "<=":
		return order <= 0
	case ">=":
		return order >= 0
	}
	above, comparable := v.compare(c.high)
	return comparable && order >= 0 && above <= 0
}

// keyCondition takes a query's condition apart: the value of the hash key, and what
// is asked of the range key.
func keyCondition(c condition, hash, ranged string) (of value, asked []condition, err error) {
	parts := []condition{c}
	if c.op == "AND" {
		parts = c.args
	}
	found := false
	for _, part := range parts {
		switch {
		case part.op == "OR" || part.op == "attribute_not_exists":
			return value{}, nil, invalid("Invalid operator used in KeyConditionExpression: %s", part.op)
		case part.name == hash && part.op == "=" && !found:
			of, found = part.low, true
		case part.name == hash:
			return value{}, nil, invalid("Query key condition not supported")
		case part.name == ranged && len(asked) == 0:
			asked = append(asked, part)
		default:
			return value{}, nil, invalid("Query condition missed key schema element")
		}
	}
	if !found {
		return value{}, nil, invalid("Query condition missed key schema element: %s", hash)
	}
	if of.kind != "S" || len(asked) == 1 && (asked[0].low.kind != "S" || asked[0].op == "BETWEEN" && asked[0].high.kind != "S") {
		return value{}, nil, invalid("One or more parameter values were invalid: Condition parameter type does not match schema type")
	}
	return of, asked, nil
}

// capacity is what a call took, as the answer says it.
type capacity struct {
	CapacityUnits float64
	TableName     string
}

// asked are the parts that several requests have.
type asked struct {
	ReturnConsumedCapacity string
}

// wanted is the capacity if it was asked for. No caller reads in which index it was
// taken.
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

// TableOfTheStack is the table that the stack makes (see package state).
func TableOfTheStack(name string) *dynamodb.CreateTableInput {
	key := func(name string, t types.KeyType) types.KeySchemaElement {
		return types.KeySchemaElement{AttributeName: &name, KeyType: t}
	}
	word := func(name string) types.AttributeDefinition {
		return types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS}
	}
	return &dynamodb.CreateTableInput{
		TableName:            &name,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{word("pk"), word("sk"), word("open"), word("started"), word("day"), word("began")},
		KeySchema:            []types.KeySchemaElement{key("pk", types.KeyTypeHash), key("sk", types.KeyTypeRange)},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("open"),
			KeySchema:  []types.KeySchemaElement{key("open", types.KeyTypeHash), key("started", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}, {
			IndexName:  aws.String("ended"),
			KeySchema:  []types.KeySchemaElement{key("day", types.KeyTypeHash), key("began", types.KeyTypeRange)},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"past", "expires", "format"}},
		}},
	}
}

// keySchema is what a table or an index sorts by.
type keySchema struct {
	hash, ranged string
}

func (k keySchema) names() []string { return []string{k.hash, k.ranged} }

// table is a table with its indexes.
type table struct {
	name    string
	key     keySchema
	records partitions
	indexes map[string]*index
}

// index is a global secondary index. An item is in it that has both of its keys.
type index struct {
	key keySchema
	// include are the attributes beside the keys that it holds; all is set where it
	// holds every one.
	include []string
	all     bool
	records partitions
}

// partitions are items by their hash key, in each in the order of their range
// key; in an index those of one range key by the table's keys.
type partitions struct {
	order  func(a, b item) int
	byHash map[string][]item
}

func byKeys(keys ...string) func(a, b item) int {
	return func(a, b item) int {
		for _, k := range keys {
			if order := strings.Compare(a[k].text, b[k].text); order != 0 {
				return order
			}
		}
		return 0
	}
}

func (p *partitions) put(hash string, it item) {
	list := p.byHash[hash]
	i, found := slices.BinarySearchFunc(list, it, p.order)
	if found {
		list[i] = it
	} else {
		list = slices.Insert(list, i, it)
	}
	p.byHash[hash] = list
}

func (p *partitions) remove(hash string, it item) {
	list := p.byHash[hash]
	if i, found := slices.BinarySearchFunc(list, it, p.order); found {
		list = slices.Delete(list, i, i+1)
	}
	if p.byHash[hash] = list; len(list) == 0 {
		delete(p.byHash, hash)
	}
}

// get is the item with the keys of another; nil if there is none.
func (t *table) get(key item) item {
	list := t.records.byHash[key[t.key.hash].text]
	if i, found := slices.BinarySearchFunc(list, key, t.records.order); found {
		return list[i]
	}
	return nil
}

// put writes an item over what is there, and into the indexes that it belongs to.
func (t *table) put(it item) {
	t.unlist(t.get(it))
	t.records.put(it[t.key.hash].text, it)
	for _, x := range t.indexes {
		if x.holds(it) {
			x.records.put(it[x.key.hash].text, x.projected(t, it))
		}
	}
}

func (t *table) remove(it item) {
	t.unlist(it)
	t.records.remove(it[t.key.hash].text, it)
}

// unlist takes an item out of the indexes.
func (t *table) unlist(it item) {
	for _, x := range t.indexes {
		if it != nil && x.holds(it) {
			x.records.remove(it[x.key.hash].text, it)
		}
	}
}

func (x *index) holds(it item) bool {
	_, hash := it[x.key.hash]
	_, ranged := it[x.key.ranged]
	return hash && ranged
}

func (x *index) projected(t *table, it item) item {
	if x.all {
		return it
	}
	return it.only(slices.Concat(t.key.names(), x.key.names(), x.include)...)
}

// maxHashKey and maxRangeKey are the longest keys, maxItem the largest item, in
// bytes (Developer Guide, "Quotas").
const (
	maxHashKey  = 2048
	maxRangeKey = 1024
	maxItem     = 400 << 10
)

// check refuses an item that DynamoDB would not write.
func (t *table) check(it item) error {
	if err := checkKeys(it, t.key, true); err != nil {
		return err
	}
	for _, x := range t.indexes {
		if err := checkKeys(it, x.key, false); err != nil {
			return err
		}
	}
	if it.size() > maxItem {
		return invalid("Item size has exceeded the maximum allowed size")
	}
	return nil
}

func checkKeys(it item, key keySchema, must bool) error {
	for i, name := range key.names() {
		v, ok := it[name]
		most := []int{maxHashKey, maxRangeKey}[i]
		switch {
		case !ok && must:
			return invalid("One or more parameter values were invalid: Missing the key %s in the item", name)
		case !ok:
		case v.kind != "S":
			return invalid("One or more parameter values were invalid: Type mismatch for key %s expected: S actual: %s", name, v.kind)
		case v.text == "":
			return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", name)
		case len(v.text) > most:
			return invalid("One or more parameter values were invalid: Size of the key %s has exceeded the maximum size limit of %d bytes", name, most)
		}
	}
	return nil
}

// checkKey refuses what is not exactly a key of the table.
func (t *table) checkKey(key item) error {
	if len(key) != 2 || checkKeys(key, t.key, true) != nil {
		return invalid("The provided key element does not match the schema")
	}
	return nil
}
