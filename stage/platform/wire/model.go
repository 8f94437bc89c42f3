package wire

import (
	"context"
	_ "embed"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed model.txt
var modelText string

// readModels reads the embedded table once, as readNames does.
var readModels = sync.OnceValues(func() (models, error) { return parseModels(modelText) })

// models is AWS's own description of requests, by SDK package name.
type models map[string]*serviceModel

// serviceModel is the part about one service.
type serviceModel struct {
	ops    map[string]string // the struct of the operation's request, "-" if it has none
	shapes map[string]*shape
	// filters are the names of an operation's filters, where it has some, and errors the
	// codes of the service's errors.
	filters map[string][]string
	errors  []string
}

// filter is a Violation where a request has a filter that the documentation of its operation
// does not list.
func (m *serviceModel) filter(operation string, in map[string]any) (v Violation, wrong bool) {
	known := m.filters[operation]
	if known == nil {
		return v, false
	}
	for _, member := range []string{"Filters", "Filter"} {
		list, _ := in[member].([]any)
		for i, f := range list {
			f, _ := f.(map[string]any)
			if name, ok := f["Name"].(string); ok && !listedFilter(known, name) {
				return Violation{Path: []string{member, strconv.Itoa(i + 1), "Name"}, Rule: UnknownFilter, Value: name}, true
			}
		}
	}
	return v, false
}

func listedFilter(known []string, name string) bool {
	return slices.Contains(known, name) || strings.HasPrefix(name, "tag:") && slices.Contains(known, "tag:")
}

// shapeKind is what a shape is.
type shapeKind string

const (
	structShape shapeKind = "struct"
	listShape   shapeKind = "list"
	mapShape    shapeKind = "map"
	enumShape   shapeKind = "enum"
	textShape   shapeKind = "text"
	numberShape shapeKind = "number"
)

// shape is what a value must be like.
type shape struct {
	kind    shapeKind
	members []memberRule   // of a struct
	key     string         // shape of a map's keys
	elem    string         // shape of a list's or a map's values
	least   *float64       // length, count or number
	most    *float64       //
	enum    []string       //
	pattern *regexp.Regexp // of the whole text
}

// memberRule is a member of a struct by its Go field's name.
type memberRule struct {
	name, shape string
	required    bool
}

// noRule refers to a shape that has none.
const noRule = "-"

// parseModels reads the generated table. It is embedded, so a broken line is a
// defect of the build and not of the input.
func parseModels(text string) (models, error) {
	all := models{}
	var svc *serviceModel
	for n, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if f[0] == string(textShape) && len(f) > 5 {
			f = strings.SplitN(line, " ", 5) // a pattern may have blanks
		}
		if f[0] == "service" && len(f) == 2 {
			svc = &serviceModel{ops: map[string]string{}, shapes: map[string]*shape{}, filters: map[string][]string{}}
			all[f[1]] = svc
			continue
		}
		if svc == nil || len(f) < 2 {
			return nil, fmt.Errorf("model line %d is not understood: %q", n+1, line)
		}
		if f[0] == "op" && len(f) == 3 {
			svc.ops[f[1]] = f[2]
			continue
		}
		switch f[0] {
		case "filters":
			svc.filters[f[1]] = f[2:]
			continue
		case "errors":
			svc.errors = f[2:]
			continue
		}
		sh, err := parseShape(shapeKind(f[0]), f[2:])
		if err != nil {
			return nil, fmt.Errorf("model line %d: %w", n+1, err)
		}
		svc.shapes[f[1]] = sh
	}
	return all, all.whole()
}

func parseShape(kind shapeKind, f []string) (*shape, error) {
	s := &shape{kind: kind}
	rest := 0 // where the limits begin
	switch {
	case kind == structShape:
		for _, text := range f {
			name, below, ok := strings.Cut(text, "=")
			if !ok {
				return nil, fmt.Errorf("%q is no member", text)
			}
			name, required := strings.CutSuffix(name, "!")
			s.members = append(s.members, memberRule{name: name, shape: below, required: required})
		}
		return s, nil
	case kind == enumShape:
		s.enum = f
		return s, nil
	case kind == listShape && len(f) == 3:
		s.elem, rest = f[0], 1
	case kind == mapShape && len(f) == 4:
		s.key, s.elem, rest = f[0], f[1], 2
	case kind == numberShape && len(f) == 2, kind == textShape && (len(f) == 2 || len(f) == 3):
	default:
		return nil, fmt.Errorf("%s with %d parts is not understood", kind, len(f))
	}
	for i, into := range []**float64{&s.least, &s.most} {
		if f[rest+i] == noRule {
			continue
		}
		limit, err := strconv.ParseFloat(f[rest+i], 64)
		if err != nil {
			return nil, err
		}
		*into = &limit
	}
	if kind == textShape && len(f) == 3 {
		pattern, err := strconv.Unquote(f[2])
		if err != nil {
			return nil, fmt.Errorf("pattern %s: %w", f[2], err)
		}
		if s.pattern, err = regexp.Compile(`\A(?:` + pattern + `)\z`); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// whole finds references to shapes that are not there.
func (m models) whole() error {
	for service, svc := range m {
		var used []string
		for _, in := range svc.ops {
			used = append(used, in)
		}
		for _, s := range svc.shapes {
			used = append(used, s.key, s.elem)
			for _, member := range s.members {
				used = append(used, member.shape)
			}
		}
		for _, name := range used {
			if name != noRule && name != "" && svc.shapes[name] == nil {
				return fmt.Errorf("the model of %s has no shape %s", service, name)
			}
		}
	}
	return nil
}

// Rule is what a request breaks.
type Rule string

// The rules.
const (
	Required      Rule = "required"
	UnknownMember Rule = "unknown member"
	Enumeration   Rule = "enumeration"
	Shortest      Rule = "least length"
	Longest       Rule = "greatest length"
	Smallest      Rule = "least value"
	Largest       Rule = "greatest value"
	Pattern       Rule = "pattern"
	UnknownFilter Rule = "unknown filter"
)

// Violation is one place where a request does not fit the model.
type Violation struct {
	// Path is the member, with its parents and indexes, by Go field names.
	Path []string
	Rule Rule
	// Value is what is there, as text, and Limit what the model wants.
	Value, Limit string
}

// check compares a request with the struct of its operation. in is as plain
// makes it.
func (m *serviceModel) check(operation string, in map[string]any) []Violation {
	name, ok := m.ops[operation]
	if !ok || name == noRule {
		return nil
	}
	var found []Violation
	m.value(name, in, nil, &found)
	if v, wrong := m.filter(operation, in); wrong {
		found = append(found, v)
	}
	return found
}

func (m *serviceModel) value(name string, v any, path []string, found *[]Violation) {
	s := m.shapes[name]
	if s == nil {
		return
	}
	add := func(rule Rule, value any, limit string) {
		*found = append(*found, Violation{Path: slices.Clone(path), Rule: rule, Value: fmt.Sprint(value), Limit: limit})
	}
	switch v := v.(type) {
	case map[string]any:
		if s.kind == structShape {
			m.structure(s, v, path, found)
			return
		}
		s.within(float64(len(v)), Shortest, Longest, v, add)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			m.value(s.key, key, append(path, key), found)
			m.value(s.elem, v[key], append(path, key), found)
		}
	case []any:
		s.within(float64(len(v)), Shortest, Longest, v, add)
		for i, elem := range v {
			m.value(s.elem, elem, append(path, strconv.Itoa(i+1)), found)
		}
	case string:
		switch {
		case s.kind == enumShape && !slices.Contains(s.enum, v):
			add(Enumeration, v, "["+strings.Join(s.enum, ", ")+"]")
		case s.kind == textShape:
			s.within(float64(len([]rune(v))), Shortest, Longest, v, add)
			if s.pattern != nil && !s.pattern.MatchString(v) {
				add(Pattern, v, strings.TrimSuffix(strings.TrimPrefix(s.pattern.String(), `\A(?:`), `)\z`))
			}
		}
	case float64:
		s.within(v, Smallest, Largest, v, add)
	}
}

func (m *serviceModel) structure(s *shape, v map[string]any, path []string, found *[]Violation) {
	for _, member := range s.members {
		value, ok := v[member.name]
		below := append(path, member.name)
		switch {
		case ok:
			m.value(member.shape, value, below, found)
		case member.required:
			*found = append(*found, Violation{Path: slices.Clone(below), Rule: Required})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !slices.ContainsFunc(s.members, func(r memberRule) bool { return r.name == name }) {
			*found = append(*found, Violation{Path: append(slices.Clone(path), name), Rule: UnknownMember})
		}
	}
}

func (s *shape) within(n float64, below, above Rule, value any, add func(Rule, any, string)) {
	text := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	if s.least != nil && n < *s.least {
		add(below, value, text(*s.least))
	}
	if s.most != nil && n > *s.most {
		add(above, value, text(*s.most))
	}
}

//go:embed names.txt
var namesText string

// readNames reads the embedded table once: a test process starts dozens of servers, and
// nothing writes to the table.
var readNames = sync.OnceValues(func() (names, error) { return parseNames(namesText) })

// names is the generated table of wire names, by SDK package name.
type names map[string]*serviceNames

// serviceNames is the part of the table about one service.
type serviceNames struct {
	ops     map[string]bool
	routes  []route
	in, out map[string]*structNames
}

// structNames is the members of one struct in one direction.
type structNames struct {
	members []memberNames
	byWire  map[string]int
}

// memberNames is one field: its Go name, its name on the wire and, for a list,
// the name of its elements; flat lists have "*", maps "entry:Name:Value".
type memberNames struct {
	field, wire, list string
}

const flatList = "*"

func (s *structNames) member(wire string) (memberNames, bool) {
	if s == nil {
		return memberNames{}, false
	}
	i, ok := s.byWire[wire]
	if !ok {
		return memberNames{}, false
	}
	return s.members[i], true
}

// parseNames reads the generated table. The table is embedded, so a broken
// line is a defect of the build and not of the input.
func parseNames(text string) (names, error) {
	table := names{}
	var svc *serviceNames
	var cur *structNames
	for n, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if f[0] == "service" && len(f) == 2 {
			svc = &serviceNames{ops: map[string]bool{}, in: map[string]*structNames{}, out: map[string]*structNames{}}
			table[f[1]] = svc
			continue
		}
		if svc == nil {
			return nil, fmt.Errorf("names line %d: no service yet", n+1)
		}
		switch {
		case f[0] == "op" && len(f) == 2:
			svc.ops[f[1]] = true
		case f[0] == "rest" && len(f) == 4:
			svc.ops[f[1]] = true
			svc.routes = append(svc.routes, newRoute(f[1], f[2], f[3]))
		case (f[0] == "in" || f[0] == "out") && len(f) == 2:
			cur = &structNames{byWire: map[string]int{}}
			if f[0] == "in" {
				svc.in[f[1]] = cur
			} else {
				svc.out[f[1]] = cur
			}
		case cur != nil && (len(f) == 2 || len(f) == 3):
			m := memberNames{field: f[0], wire: f[1]}
			if len(f) == 3 {
				m.list = f[2]
			}
			cur.byWire[m.wire] = len(cur.members)
			cur.members = append(cur.members, m)
		default:
			return nil, fmt.Errorf("names line %d: not understood: %q", n+1, line)
		}
	}
	return table, nil
}

// Object is what a request of S3 is about, by its path: the stage's one host has the
// bucket in the path ("path-style requests", S3 user guide).
type Object struct {
	Method, Bucket, Key string
	Header              http.Header
	query               url.Values
}

func objectOf(r *http.Request) Object {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return Object{Method: r.Method, Bucket: bucket, Key: key, Header: r.Header, query: r.URL.Query()}
}

// bucketOperations are the operations on a bucket beside listing, by method and the query's first
// word, as IAM names their actions (service authorization reference, Amazon S3).
func bucketOperations() map[string]string {
	return map[string]string{
		"PUT ": "CreateBucket", "DELETE ": "DeleteBucket", "HEAD ": "HeadBucket",
		"PUT publicAccessBlock": "PutBucketPublicAccessBlock", "PUT policy": "PutBucketPolicy",
		"PUT encryption": "PutEncryptionConfiguration", "PUT ownershipControls": "PutBucketOwnershipControls",
	}
}

// operation is the operation of a request, "" for one that is not served.
func (o Object) operation() string {
	switch {
	case o.Bucket == "":
	case o.Key == "" && o.Method == http.MethodGet && o.query.Get("list-type") == "2":
		return "ListObjectsV2"
	case o.Key == "":
		for _, sub := range []string{"publicAccessBlock", "policy", "encryption", "ownershipControls"} {
			if o.query.Has(sub) {
				return bucketOperations()[o.Method+" "+sub]
			}
		}
		return bucketOperations()[o.Method+" "]
	case o.Method == http.MethodDelete:
		return "DeleteObject"
	case o.Method == http.MethodPut:
		return "PutObject"
	case o.Method == http.MethodGet:
		return "GetObject"
	case o.Method == http.MethodHead:
		return "HeadObject"
	}
	return ""
}

// objectError is the code of an error of S3.
func objectError(body []byte) string {
	var said struct{ Code string }
	if xml.Unmarshal(body, &said) != nil {
		return ""
	}
	return said.Code
}

// payloads tells the operations of REST services whose body is one member as it is, and not
// JSON of all: botocore's model (lambda/2015-03-31: InvocationRequest and InvocationResponse,
// "payload").
func payloads(svc service, operation string) bool {
	return svc.name == "lambda" && operation == "Invoke"
}

// decodePayload reads such an input: the body, and what is in the path and in headers.
func decodePayload(req request, in any) error {
	v := reflect.ValueOf(in).Elem()
	v.FieldByName("Payload").SetBytes(req.body)
	if kind := req.http.Header.Get("X-Amz-Invocation-Type"); kind != "" {
		v.FieldByName("InvocationType").SetString(kind)
	}
	return decodeBindings(req, in)
}

// encodePayload writes such an output: its body, and what is in headers.
func encodePayload(out any) (body []byte, header http.Header) {
	v := reflect.ValueOf(out).Elem()
	header = http.Header{}
	if e := v.FieldByName("FunctionError"); !e.IsNil() {
		header.Set("X-Amz-Function-Error", e.Elem().String())
	}
	return v.FieldByName("Payload").Bytes(), header
}

// HandlePlain registers the handler of an operation of a JSON service whose SDK
// package is not among the dependencies: its input is a plain struct with the
// members' names, and its output what encoding/json writes.
func HandlePlain[I, O any](s *Server, service, operation string, h func(ctx context.Context, call *Call, in *I) (O, error)) {
	if s.byName[service].protocol != awsJSON {
		panic(fmt.Sprintf("wire: %s is no JSON service", service))
	}
	addPlain(s, service, operation, asJSON(h))
}

// HandleGet registers the handler of an operation of a REST service likewise. It is
// requested by GET, with its parameters in the query.
func HandleGet[I, O any](s *Server, service, operation, path string, h func(ctx context.Context, call *Call, in *I) (O, error)) {
	if s.byName[service].protocol != restJSON || s.names[service] != nil {
		panic(fmt.Sprintf("wire: %s is no REST service without an SDK package", service))
	}
	s.gets[service] = append(s.gets[service], newRoute(operation, "GET", path))
	addPlain(s, service, operation, asJSON(h))
}

// asJSON is a handler whose answer is written already.
func asJSON[I, O any](h func(ctx context.Context, call *Call, in *I) (O, error)) func(ctx context.Context, call *Call, in *I) (json.RawMessage, error) {
	return func(ctx context.Context, call *Call, in *I) (json.RawMessage, error) {
		out, err := h(ctx, call, in)
		if err != nil {
			return nil, err
		}
		return json.Marshal(out)
	}
}

func addPlain[I, O any](s *Server, service, operation string, h func(ctx context.Context, call *Call, in *I) (O, error)) {
	s.add(service, operation, handler{
		newInput: func() any { return new(I) },
		serve: func(ctx context.Context, call *Call, in any) (any, error) {
			out, err := h(ctx, call, in.(*I))
			if err != nil {
				return nil, err
			}
			return out, nil
		},
	})
}

// XML is an answer that is written already.
type XML []byte

// HandleXML registers the handler of an operation of a REST service whose answers are XML
// likewise.
func HandleXML[I any](s *Server, service, operation, path string, h func(ctx context.Context, call *Call, in *I) (XML, error)) {
	if s.byName[service].protocol != restXML {
		panic(fmt.Sprintf("wire: %s is no REST service with XML", service))
	}
	s.gets[service] = append(s.gets[service], newRoute(operation, "GET", path))
	addPlain(s, service, operation, h)
}
