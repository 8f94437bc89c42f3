// Package wire speaks the AWS wire protocols from the server's side: EC2 and
// AWS query with XML answers, AWS JSON 1.0 and 1.1, and REST-JSON. A handler is
// one typed Go function over the SDK's own Input and Output structs:
//
//	wire.Handle(s, "ec2", "DescribeRouteTables", func(ctx context.Context, call *wire.Call,
//		in *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) { ... })
//
// The package simulates nothing. What is behind an operation is the handler's
// business; what the package does itself is what every AWS service does before
// a handler runs: look at the signature's credential scope, find the operation,
// read the parameters, and write answers and errors in the protocol's own form.
package wire

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/aws/smithy-go/transport/http/protocol/awsjson"
)

//go:generate go run ./gen

// encode writes the output of a handler in the protocol's form.
func (s *Server) encode(ctx context.Context, svc service, call *Call, out any) ([]byte, error) {
	switch svc.protocol {
	case ec2Query, awsQuery:
		return encodeXML(s.names[svc.name], svc, call, out)
	case restJSON:
		return encodeJSON(ctx, withLists(out))
	case restXML:
		if written, is := out.(XML); is {
			return written, nil
		}
		return nil, fmt.Errorf("%T is no XML", out)
	}
	return encodeJSON(ctx, out)
}

// encodeXML writes an answer of the EC2 query or the AWS query protocol.
func encodeXML(table *serviceNames, svc service, call *Call, out any) ([]byte, error) {
	e := xmlEncoder{table: table}
	v := reflect.ValueOf(out).Elem()
	e.buf.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	e.buf.WriteString("<" + call.Operation + `Response xmlns="` + svc.namespace + `">`)
	if svc.protocol == ec2Query {
		e.text("requestId", call.RequestID)
		// An attribute operation answers the one attribute that was asked for.
		if err := e.structure(v, !strings.HasSuffix(call.Operation, "Attribute")); err != nil {
			return nil, err
		}
		if table.out[v.Type().Name()] == nil {
			e.text("return", "true")
		}
	} else {
		e.open(call.Operation + "Result")
		if err := e.structure(v, true); err != nil {
			return nil, err
		}
		e.close(call.Operation + "Result")
		e.open("ResponseMetadata")
		e.text("RequestId", call.RequestID)
		e.close("ResponseMetadata")
	}
	e.close(call.Operation + "Response")
	return e.buf.Bytes(), nil
}

// errorAnswer writes an error in the service's form.
func errorAnswer(svc service, call *Call, e *Error) answer {
	status := e.Status
	if status == 0 {
		status = http.StatusBadRequest
	}
	if svc.isJSON() {
		return jsonError(svc, call, status, e)
	}
	var x xmlEncoder
	x.buf.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n")
	switch svc.protocol {
	case objects:
		x.buf.WriteString("<Error>")
		x.text("Code", e.Code)
		x.text("Message", e.Message)
		x.text("RequestId", call.RequestID)
		x.close("Error")
	case ec2Query:
		x.buf.WriteString("<Response><Errors><Error>")
		x.text("Code", e.Code)
		x.text("Message", e.Message)
		x.buf.WriteString("</Error></Errors>")
		x.text("RequestID", call.RequestID)
		x.close("Response")
	default:
		fault := "Sender"
		if status >= 500 {
			fault = "Receiver"
		}
		x.buf.WriteString(`<ErrorResponse xmlns="` + svc.namespace + `"><Error>`)
		x.text("Type", fault)
		x.text("Code", e.Code)
		x.text("Message", e.Message)
		x.close("Error")
		x.text("RequestId", call.RequestID)
		x.close("ErrorResponse")
	}
	return newAnswer(svc, call, status, x.buf.Bytes())
}

// SQSQueryCode is the code that an error of SQS had in its old query protocol.
// SQS sends it in a header beside the new one, and clients report it.
func SQSQueryCode(code string) string {
	switch code {
	case "QueueDoesNotExist":
		return "AWS.SimpleQueueService.NonExistentQueue"
	case "BatchEntryIdsNotDistinct", "BatchRequestTooLong", "EmptyBatchRequest", "InvalidBatchEntryId",
		"MessageNotInflight", "PurgeQueueInProgress", "TooManyEntriesInBatchRequest", "UnsupportedOperation":
		return "AWS.SimpleQueueService." + code
	case "InvalidParameterValueException":
		return "InvalidParameterValue"
	case "MissingRequiredParameterException":
		return "MissingParameter"
	}
	return code
}

func jsonError(svc service, call *Call, status int, e *Error) answer {
	kind := e.Code
	if svc.name == "sqs" {
		kind = "com.amazonaws.sqs#" + e.Code
	}
	fields := map[string]string{"message": e.Message}
	if svc.name == "secretsmanager" {
		fields = map[string]string{"Message": e.Message}
	}
	if svc.protocol != restJSON {
		fields["__type"] = kind
	}
	// A map of strings is always JSON.
	body, _ := json.Marshal(fields)
	a := newAnswer(svc, call, status, body)
	a.header.Set("X-Amzn-Errortype", kind)
	if svc.name == "sqs" {
		fault := "Sender"
		if status >= 500 {
			fault = "Receiver"
		}
		a.header.Set("X-Amzn-Query-Error", SQSQueryCode(e.Code)+";"+fault)
	}
	return a
}

// answer is a whole answer before it is sent. It is the ResponseWriter of
// services that are passed on.
type answer struct {
	status int
	header http.Header
	body   []byte
}

var _ http.ResponseWriter = (*answer)(nil)

// Header returns the answer's headers.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sets the status.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write adds to the body.
func (a *answer) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}

func newAnswer(svc service, call *Call, status int, body []byte) answer {
	h := http.Header{}
	h.Set("Content-Type", svc.contentType)
	h.Set("X-Amzn-Requestid", call.RequestID)
	if svc.name == "dynamodb" {
		// DynamoDB's clients check the body against this.
		h.Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE(body)))
	}
	return answer{status: status, header: h, body: body}
}

func (a *answer) write(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	w.WriteHeader(a.status)
	// A client that has gone away is not our failure.
	_, _ = w.Write(a.body)
}

// errorCode reads the code out of a passed-on JSON error.
func errorCode(body []byte) string {
	var e struct {
		Type string `json:"__type"`
	}
	if err := json.Unmarshal(body, &e); err != nil || e.Type == "" {
		return "UnknownError"
	}
	if _, code, ok := strings.Cut(e.Type, "#"); ok {
		return code
	}
	return e.Type
}

// Principal is who signed a request.
type Principal struct {
	// Name is the function or role name, as a stage shows it.
	Name string
	// ARN is what STS GetCallerIdentity answers and what denials name.
	ARN string
	// Account is the twelve-digit account id.
	Account string
}

// Call is the record of one request.
type Call struct {
	// Service is the SDK's package name, e.g. "ec2" or "eventbridge".
	Service string
	// Operation is the API's name of the operation; empty if it had none.
	Operation string
	Region    string
	// Caller is the name of the principal that signed the request.
	Caller      string
	Principal   Principal
	AccessKeyID string
	RequestID   string
	Time        time.Time
	Duration    time.Duration
	// Code is the error code of the answer, empty for a success, and Status
	// the HTTP status. A connection that was reset has status 0.
	Code   string
	Status int
	// Misfit is what in the request does not fit AWS's model of it, empty where
	// it fits.
	Misfit string
}

// Action is the operation as IAM policies write it, e.g.
// "ec2:DescribeRouteTables".
func (c Call) Action() string {
	switch c.Service {
	case "eventbridge":
		return "events:" + c.Operation
	case "cloudwatchlogs":
		return "logs:" + c.Operation
	case "arczonalshift":
		return "arc-zonal-shift:" + c.Operation
	case "lambda":
		if c.Operation == "Invoke" {
			return "lambda:InvokeFunction"
		}
	}
	return c.Service + ":" + c.Operation
}

// maxCalls bounds the record of a stage that is left running. The largest
// planned run, 10,000 launches and all reads and writes for them, is far below.
const maxCalls = 1_000_000

// callLog keeps the newest calls in the order in which they ended.
type callLog struct {
	mu    sync.Mutex
	calls []Call
}

func (l *callLog) add(c Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) == maxCalls {
		l.calls = slices.Delete(l.calls, 0, maxCalls/10)
	}
	l.calls = append(l.calls, c)
}

func (l *callLog) all() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}

// idForm is how the ids of one kind of EC2's resources look, and what EC2 says
// of one that does not. The codes are those of the EC2 API reference, "Error
// codes for the Amazon EC2 API"; parameters that it has no such code for are
// not looked at.
type idForm struct{ prefix, code string }

// idForms are the parameters that are ids, by their Go fields' names without
// the plural's s.
func idForms() map[string]idForm {
	return map[string]idForm{
		"InstanceId":             {"i", "InvalidInstanceID.Malformed"},
		"SubnetId":               {"subnet", "InvalidSubnetID.Malformed"},
		"VpcId":                  {"vpc", "InvalidVpcID.Malformed"},
		"GroupId":                {"sg", "InvalidGroupId.Malformed"},
		"SecurityGroupId":        {"sg", "InvalidGroupId.Malformed"},
		"RouteTableId":           {"rtb", "InvalidRouteTableId.Malformed"},
		"NetworkInterfaceId":     {"eni", "InvalidNetworkInterfaceId.Malformed"},
		"NetworkAclId":           {"acl", "InvalidNetworkAclId.Malformed"},
		"NatGatewayId":           {"nat", "NatGatewayMalformed"},
		"InternetGatewayId":      {"igw", "InvalidInternetGatewayId.Malformed"},
		"VolumeId":               {"vol", "InvalidVolumeID.Malformed"},
		"ImageId":                {"ami", "InvalidAMIID.Malformed"},
		"LaunchTemplateId":       {"lt", "InvalidLaunchTemplateId.Malformed"},
		"PrefixListId":           {"pl", "InvalidPrefixListId.Malformed"},
		"VpcEndpointId":          {"vpce", "InvalidVpcEndpointId.Malformed"},
		"VpcPeeringConnectionId": {"pcx", "InvalidVpcPeeringConnectionId.Malformed"},
		"AttachmentId":           {"eni-attach", "InvalidNetworkInterfaceAttachmentId.Malformed"},
	}
}

// digits are those of an id behind its prefix: 8 of the old form, 17 of the new
// one. Amazon's own prefix lists and old resources have 8.
var digits = regexp.MustCompile(`^([0-9a-f]{8}|[0-9a-f]{17})$`)

// malformed finds the first id in a request to EC2 that cannot be one. Filters
// are not ids: EC2 looks for their values and finds nothing.
func malformed(in map[string]any) *Error {
	forms := idForms()
	for _, name := range slices.Sorted(maps.Keys(in)) {
		form, ok := forms[strings.TrimSuffix(name, "s")]
		if !ok {
			continue
		}
		values, list := in[name].([]any)
		if !list {
			values = []any{in[name]}
		}
		for _, v := range values {
			id, _ := v.(string)
			rest, ok := strings.CutPrefix(id, form.prefix+"-")
			if !ok {
				return Errorf(form.code, "Invalid id: \"%s\" (expecting \"%s-...\")", id, form.prefix)
			}
			if !digits.MatchString(rest) {
				return Errorf(form.code, "Invalid id: \"%s\"", id)
			}
		}
	}
	return nil
}

// Error is an answer of the simulated AWS that is not a success. A handler
// returns it to choose the error code a client decodes; every protocol writes
// it in its own form.
type Error struct {
	// Code is the AWS error code, for example "InvalidInstanceID.NotFound".
	Code string
	// Message is the text AWS would send with the code.
	Message string
	// Status is the HTTP status. Zero means 400, which is what AWS uses for
	// nearly all client errors.
	Status int
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// Errorf makes a client error (HTTP 400) with a formatted message.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Status: 400}
}

// Faults is asked before each handler. It may wait (latency), return nil (no
// fault), one of the Fault values, or an *Error of its own choosing.
type Faults interface {
	Before(ctx context.Context, call *Call) error
}

// Fault is a thing that goes wrong, which each service says in its own codes.
type Fault int

// The faults.
const (
	// Denied is the answer to a caller without the permission:
	// UnauthorizedOperation, AccessDenied or AccessDeniedException.
	Denied Fault = iota + 1
	// Throttled is RequestLimitExceeded, Throttling or ThrottlingException.
	Throttled
	// Broken is a server error with HTTP status 500.
	Broken
	// Reset cuts the connection without an answer.
	Reset
)

// Error names the fault.
func (f Fault) Error() string {
	switch f {
	case Denied:
		return "denied"
	case Throttled:
		return "throttled"
	case Broken:
		return "server error"
	case Reset:
		return "connection reset"
	}
	return "unknown fault"
}

// FaultFunc lets a function be Faults.
type FaultFunc func(ctx context.Context, call *Call) error

// Before calls the function.
func (f FaultFunc) Before(ctx context.Context, call *Call) error { return f(ctx, call) }

var _ Faults = FaultFunc(nil)

// NoFaults lets every call through.
type NoFaults struct{}

// Before returns nil.
func (NoFaults) Before(context.Context, *Call) error { return nil }

var _ Faults = NoFaults{}

// maxFormDepth bounds the segments of one parameter name. The deepest real one
// (a launch template's nested lists) has fewer than ten.
const maxFormDepth = 32

// formNode is one level of a form: `Filter.1.Name=vpc-id` is the path
// Filter, 1, Name with a value at its end.
type formNode struct {
	value    string
	hasValue bool
	children map[string]*formNode
}

func (n *formNode) child(key string) *formNode {
	if n.children == nil {
		n.children = map[string]*formNode{}
	}
	c := n.children[key]
	if c == nil {
		c = &formNode{}
		n.children[key] = c
	}
	return c
}

// formTree arranges the parameters of a form by their dotted names. Action and
// Version belong to the protocol and are left out.
func formTree(values url.Values) (*formNode, error) {
	root := &formNode{}
	for key, vals := range values {
		if key == "Action" || key == "Version" {
			continue
		}
		parts := strings.Split(key, ".")
		if len(parts) > maxFormDepth {
			return nil, Errorf("MalformedQueryString", "The query string is malformed: parameter %q is nested too deeply", key)
		}
		n := root
		for _, p := range parts {
			n = n.child(p)
		}
		n.value, n.hasValue = vals[len(vals)-1], true
	}
	return root, nil
}

// decodeForm fills an Input struct from a request form. in is a pointer to it.
func decodeForm(table *serviceNames, values url.Values, in any) error {
	root, err := formTree(values)
	if err != nil {
		return err
	}
	d := formDecoder{table: table}
	return d.structure(root, reflect.ValueOf(in).Elem(), "")
}

type formDecoder struct {
	table *serviceNames
}

// structure fills a struct; path is the parameter name so far, for errors.
func (d formDecoder) structure(n *formNode, v reflect.Value, path string) error {
	table := d.table.in[v.Type().Name()]
	for _, key := range slices.Sorted(maps.Keys(n.children)) {
		m, ok := table.member(key)
		if !ok {
			return Errorf("UnknownParameter", "The parameter %s is not recognized", join(path, key))
		}
		field := v.FieldByName(m.field)
		if !field.IsValid() {
			return fmt.Errorf("wire names: %s has no field %s", v.Type(), m.field)
		}
		if err := d.value(n.children[key], field, m.list, join(path, key)); err != nil {
			return err
		}
	}
	return nil
}

func (d formDecoder) value(n *formNode, v reflect.Value, list, path string) error {
	switch {
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8:
		return d.slice(n, v, list, path)
	case v.Kind() == reflect.Map:
		return d.entries(n, v, list, path)
	case v.Kind() == reflect.Pointer && isStruct(v.Type().Elem()):
		v.Set(reflect.New(v.Type().Elem()))
		return d.structure(n, v.Elem(), path)
	case isStruct(v.Type()):
		return d.structure(n, v, path)
	case !n.hasValue || len(n.children) > 0:
		return Errorf("InvalidParameterValue", "The parameter %s is not a structure or a list", path)
	}
	if err := setScalar(v, n.value); err != nil {
		return Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. %s", n.value, path, err)
	}
	return nil
}

// slice fills a list. A flat list (EC2) has its numbers directly below its
// name; the others have one level with the element's name in between. A name
// with an empty value is the query protocol's empty list.
func (d formDecoder) slice(n *formNode, v reflect.Value, list, path string) error {
	if n.hasValue && n.value == "" && len(n.children) == 0 {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return nil
	}
	if list != flatList {
		for key := range n.children {
			if key != list {
				return Errorf("UnknownParameter", "The parameter %s is not recognized", join(path, key))
			}
		}
		path = join(path, list)
		if n = n.children[list]; n == nil {
			return Errorf("InvalidParameterValue", "The parameter %s is a list", path)
		}
	}
	if n.hasValue {
		return Errorf("InvalidParameterValue", "The parameter %s is a list", path)
	}
	indexes := make([]int, 0, len(n.children))
	for key := range n.children {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || strconv.Itoa(i) != key {
			return Errorf("UnknownParameter", "The parameter %s is not recognized", join(path, key))
		}
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	out := reflect.MakeSlice(v.Type(), len(indexes), len(indexes))
	for i, index := range indexes {
		key := strconv.Itoa(index)
		if err := d.value(n.children[key], out.Index(i), "", join(path, key)); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

// entries fills a map of structures: below the entries' name are their numbers, and below
// each the names of key and value.
func (d formDecoder) entries(n *formNode, v reflect.Value, names, path string) error {
	parts := strings.Split(names, ":")
	if len(parts) != 3 {
		return fmt.Errorf("wire names: %s is a map, and its entries have the names %q", path, names)
	}
	path = join(path, parts[0])
	below, ok := n.children[parts[0]]
	if !ok || len(n.children) != 1 {
		return Errorf("InvalidParameterValue", "The parameter %s is a map", path)
	}
	out := reflect.MakeMap(v.Type())
	for _, number := range slices.Sorted(maps.Keys(below.children)) {
		entry, at := below.children[number], join(path, number)
		key, value := entry.children[parts[1]], entry.children[parts[2]]
		if _, err := strconv.Atoi(number); err != nil || key == nil || !key.hasValue || value == nil || len(entry.children) != 2 {
			return Errorf("InvalidParameterValue", "The parameter %s is no entry of a map", at)
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(value, item, "", join(at, parts[2])); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key.value), item)
	}
	v.Set(out)
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]()
}

// decode reads the input of an operation out of a request.
func (s *Server) decode(req request, in any) error {
	switch req.svc.protocol {
	case ec2Query, awsQuery:
		form := url.Values{}
		for k, v := range req.form {
			if !strings.HasPrefix(k, "X-Amz-") {
				form[k] = v
			}
		}
		return decodeForm(s.names[req.svc.name], form, in)
	case restJSON:
		if op, _ := s.operation(req); payloads(req.svc, op) {
			return decodePayload(req, in)
		}
		if err := decodeJSON(req.body, in); err != nil {
			return err
		}
		return decodeBindings(req, in)
	case restXML:
		return decodeBindings(req, in)
	}
	return decodeJSON(req.body, in)
}

// renamed is an input whose members have other names in the query.
type renamed interface {
	Member(parameter string) string
}

// decodeBindings sets the members that a REST request carries in its path and
// its query string.
func decodeBindings(req request, in any) error {
	v := reflect.ValueOf(in).Elem()
	for name, text := range req.labels {
		field, ok := fieldFor(v, name)
		if !ok {
			return fmt.Errorf("%T has no member for the path label %q", in, name)
		}
		if err := setScalar(field, text); err != nil {
			return Errorf("InvalidParameterException", "%s: %s", name, err)
		}
	}
	for name, texts := range req.http.URL.Query() {
		if r, is := in.(renamed); is {
			name = r.Member(name)
		}
		field, ok := fieldFor(v, name)
		if !ok {
			return Errorf("InvalidParameterException", "The parameter %s is not recognized", name)
		}
		if field.Kind() == reflect.Slice {
			list := reflect.MakeSlice(field.Type(), len(texts), len(texts))
			for i, text := range texts {
				if err := setScalar(list.Index(i), text); err != nil {
					return Errorf("InvalidParameterException", "%s: %s", name, err)
				}
			}
			field.Set(list)
			continue
		}
		if err := setScalar(field, texts[len(texts)-1]); err != nil {
			return Errorf("InvalidParameterException", "%s: %s", name, err)
		}
	}
	return nil
}

// isDryRun reports whether the input asks EC2 only to check the permission,
// which is done by the time a handler would run.
func isDryRun(in any) bool {
	f := reflect.ValueOf(in).Elem().FieldByName("DryRun")
	return f.IsValid() && f.Kind() == reflect.Pointer && !f.IsNil() && f.Elem().Kind() == reflect.Bool && f.Elem().Bool()
}

// decodeJSON fills an Input struct from a JSON body. in is a pointer to it. A
// member's Go field is its name with the first letter raised: the SDK names
// its fields so.
func decodeJSON(body []byte, in any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return serialization("the body is not JSON: %s", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return serialization("the body goes on after its JSON value")
	}
	obj, ok := tree.(map[string]any)
	if !ok {
		return serialization("the body is not a JSON object")
	}
	return jsonStruct(obj, reflect.ValueOf(in).Elem(), "")
}

func serialization(format string, args ...any) *Error {
	return Errorf("SerializationException", format, args...)
}

func jsonStruct(obj map[string]any, v reflect.Value, path string) error {
	for key, val := range obj {
		field, ok := fieldFor(v, key)
		if !ok {
			return serialization("unknown member %q of %s", join(path, key), v.Type().Name())
		}
		if err := jsonValue(val, field, join(path, key)); err != nil {
			return err
		}
	}
	return nil
}

// fieldFor finds the Go field of a member name. ResultMetadata is the SDK's
// own and never on the wire.
func fieldFor(v reflect.Value, name string) (reflect.Value, bool) {
	if name == "" || name[0] >= 0x80 {
		return reflect.Value{}, false
	}
	b := []byte(name)
	if 'a' <= b[0] && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
	sf, ok := v.Type().FieldByName(string(b))
	if !ok || !sf.IsExported() || sf.Anonymous || sf.Name == "ResultMetadata" {
		return reflect.Value{}, false
	}
	return v.FieldByIndex(sf.Index), true
}

func jsonValue(val any, v reflect.Value, path string) error {
	if val == nil {
		return nil
	}
	if v.Kind() == reflect.Pointer {
		p := reflect.New(v.Type().Elem())
		if err := jsonValue(val, p.Elem(), path); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	switch val := val.(type) {
	case map[string]any:
		return jsonObject(val, v, path)
	case []any:
		if v.Kind() != reflect.Slice || v.Type().Elem().Kind() == reflect.Uint8 {
			return serialization("%s is a list, not a %s", path, v.Kind())
		}
		out := reflect.MakeSlice(v.Type(), len(val), len(val))
		for i, elem := range val {
			if err := jsonValue(elem, out.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		v.Set(out)
		return nil
	case string:
		return jsonString(val, v, path)
	case bool:
		if v.Kind() != reflect.Bool {
			return serialization("%s is a boolean, not a %s", path, v.Kind())
		}
		v.SetBool(val)
		return nil
	case json.Number:
		return jsonNumber(val, v, path)
	}
	return serialization("%s has an unexpected value", path)
}

func jsonObject(obj map[string]any, v reflect.Value, path string) error {
	if isStruct(v.Type()) {
		return jsonStruct(obj, v, path)
	}
	if v.Kind() != reflect.Map {
		return serialization("%s is an object, not a %s", path, v.Kind())
	}
	out := reflect.MakeMapWithSize(v.Type(), len(obj))
	for key, elem := range obj {
		e := reflect.New(v.Type().Elem()).Elem()
		if err := jsonValue(elem, e, join(path, key)); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), e)
	}
	v.Set(out)
	return nil
}

func jsonString(text string, v reflect.Value, path string) error {
	switch {
	case v.Kind() == reflect.String:
		v.SetString(text)
		return nil
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8:
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return serialization("%s is not base64", path)
		}
		v.SetBytes(b)
		return nil
	case v.Type() == reflect.TypeFor[time.Time]():
		// The AWS CLI sends ISO 8601 to some JSON services.
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return serialization("%s is not a time", path)
		}
		v.Set(reflect.ValueOf(t))
		return nil
	}
	return serialization("%s is a string, not a %s", path, v.Kind())
}

func jsonNumber(n json.Number, v reflect.Value, path string) error {
	if v.Type() == reflect.TypeFor[time.Time]() {
		f, err := n.Float64()
		if err != nil || math.Abs(f) > 1e12 {
			return serialization("%s is not a time in epoch seconds", path)
		}
		// Epoch seconds carry milliseconds at most.
		v.Set(reflect.ValueOf(time.UnixMilli(int64(math.Round(f * 1000))).UTC()))
		return nil
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
		if err := setScalar(v, n.String()); err != nil {
			return serialization("%s: %s is not valid: %s", path, n, err)
		}
		return nil
	}
	return serialization("%s is a number, not a %s", path, v.Kind())
}

// encodeJSON writes an Output struct as JSON. The SDK's structs of the JSON
// services know how to serialise themselves against their schema, so names and
// time formats are the service model's own. The SDK's JSON serializer is
// reached through the protocol that sends requests: a request whose body is
// the answer.
func encodeJSON(ctx context.Context, out any) ([]byte, error) {
	if plain, ok := out.(json.Marshaler); ok {
		body, err := plain.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("write %T: %w", out, err)
		}
		return body, nil
	}
	shape, ok := out.(smithy.Serializable)
	if !ok {
		return nil, fmt.Errorf("%T cannot be written as JSON", out)
	}
	id := smithy.ShapeID{Namespace: "rollcall.wire", Name: "Answer"}
	schema := smithy.NewSchema(id, smithy.ShapeTypeStructure, 0)
	req := &smithyhttp.Request{Request: &http.Request{URL: &url.URL{}, Header: http.Header{}}}
	protocol := awsjson.New11(smithy.NewServiceSchema(schema, ""))
	if err := protocol.SerializeRequest(ctx, smithy.NewOperationSchema(schema, schema, schema), shape, req); err != nil {
		return nil, fmt.Errorf("serialise %T: %w", out, err)
	}
	body, err := io.ReadAll(req.GetStream())
	if err != nil {
		return nil, fmt.Errorf("serialise %T: %w", out, err)
	}
	return body, nil
}

// withLists returns a copy of an Output struct whose own nil lists are empty
// lists. EKS always sends them, and the AWS CLI prints [] for them.
func withLists(out any) any {
	v := reflect.ValueOf(out)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return out
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	for i := range c.Elem().NumField() {
		f := c.Elem().Field(i)
		if f.Kind() == reflect.Slice && f.IsNil() && f.CanSet() {
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		}
	}
	return c.Interface()
}
