package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// maxBody bounds a request. The largest real one is a function's package, put into S3.
const maxBody = 64 << 20

// request is one HTTP request as far as it has been understood.
type request struct {
	http   *http.Request
	body   []byte
	form   url.Values
	labels map[string]string // members in a REST path
	svc    service
}

// ServeHTTP answers one request. It records the call just before the answer
// goes out, so a client that has its answer finds its call in Calls.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := &Call{Time: s.cfg.Now(), RequestID: s.nextID()}
	req, err := s.understand(r, call)
	s.wait(r.Context())
	if err == nil {
		err = s.refuse(r.Context(), req, call)
	}
	var a answer
	var said exchange
	switch {
	case err == nil && req.svc.protocol == objects:
		if err = s.admit(r.Context(), call, objectOf(r)); err == nil {
			a = s.pass(req, call)
		}
	case err == nil && req.svc.protocol == passOnly:
		if err = s.passedFits(req, call); err == nil {
			err = s.admit(r.Context(), call, Passed(req.body))
		}
		if err == nil {
			a = s.pass(req, call)
		}
	case err == nil:
		var body []byte
		if body, err = s.answer(r.Context(), req, call, &said); err == nil {
			a = newAnswer(req.svc, call, http.StatusOK, body)
			maps.Copy(a.header, said.header)
		}
	}
	if err != nil {
		if isReset(err) {
			reset(w, func() { s.record(call, 0, "ConnectionReset") })
			return
		}
		e := s.classify(req.svc, call, err)
		a = errorAnswer(req.svc, call, e)
		call.Code = e.Code
		said.out, err = nil, e
	}
	s.record(call, a.status, call.Code)
	if s.cfg.Observe != nil && call.Caller != "" {
		s.cfg.Observe(*call, said.in, said.out, err)
	}
	a.write(w)
}

// exchange is what a call said and was told, as far as it came.
type exchange struct {
	in, out any
	// header is what an answer says beside its body.
	header http.Header
}

// record ends a call.
func (s *Server) record(call *Call, status int, code string) {
	call.Duration = s.cfg.Now().Sub(call.Time)
	call.Status, call.Code = status, code
	s.calls.add(*call)
}

// wait lets the least latency pass.
func (s *Server) wait(ctx context.Context) {
	if s.cfg.MinLatency <= 0 {
		return
	}
	timer := time.NewTimer(s.cfg.MinLatency)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// understand finds out who calls what. The service in the returned request is
// set as well as it can be guessed even when there is an error, so that the
// error can be written in the service's form.
func (s *Server) understand(r *http.Request, call *Call) (request, error) {
	req := request{http: r}
	var err error
	req.body, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		req.svc = s.guess(req)
		return req, &Error{Code: "RequestEntityTooLarge", Message: "The request is too large or was cut off", Status: 413}
	}
	req.form = r.URL.Query()
	if isForm(r) {
		form, err := url.ParseQuery(string(req.body))
		if err != nil {
			req.svc = s.guess(req)
			return req, Errorf("MalformedQueryString", "The query string contains a syntax error")
		}
		for k, v := range form {
			req.form[k] = append(req.form[k], v...)
		}
	}
	req.svc = s.guess(req)
	call.Service = req.svc.name
	sc, ok := requestScope(r, req.form)
	if !ok {
		return req, &Error{Code: "MissingAuthenticationToken", Message: "Request is missing Authentication Token", Status: 403}
	}
	call.AccessKeyID, call.Region = sc.accessKeyID, sc.region
	svc, ok := s.bySigning[sc.signing]
	if !ok {
		return req, &Error{Code: "InvalidClientTokenId", Status: 403,
			Message: fmt.Sprintf("the simulated AWS has no service %q", sc.signing)}
	}
	req.svc, call.Service = svc, svc.name
	call.Operation, req.labels = s.operation(req)
	principal, ok := s.cfg.Principals(sc.accessKeyID)
	if !ok || s.cfg.Session != nil && !s.cfg.Session(sc.accessKeyID, cmp.Or(r.Header.Get("X-Amz-Security-Token"), r.URL.Query().Get("X-Amz-Security-Token"))) {
		return req, unknownKey(svc)
	}
	if s.cfg.Secret != nil {
		if secret, ok := s.cfg.Secret(sc.accessKeyID); !ok || !signed(r, req.body, sc, secret) {
			return req, wrongSignature(svc)
		}
	}
	call.Principal, call.Caller = principal, principal.Name
	return req, nil
}

func isForm(r *http.Request) bool {
	mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.TrimSpace(mediaType) == "application/x-www-form-urlencoded"
}

// unknownKey is the answer to an access key id without an owner.
func unknownKey(svc service) *Error {
	const text = "The security token included in the request is invalid."
	switch {
	case svc.protocol == ec2Query:
		return &Error{Code: "AuthFailure", Message: "AWS was not able to validate the provided access credentials", Status: 401}
	case svc.protocol == restJSON:
		return &Error{Code: "UnrecognizedClientException", Message: text, Status: 403}
	case svc.protocol == objects:
		return &Error{Code: "InvalidAccessKeyId", Message: "The AWS Access Key Id you provided does not exist in our records.", Status: 403}
	case svc.isJSON(): // DynamoDB Developer Guide, "Error handling": 400
		return &Error{Code: "UnrecognizedClientException", Message: text, Status: 400}
	}
	return &Error{Code: "InvalidClientTokenId", Message: text, Status: 403}
}

// guess tells a request's service without its signature.
func (s *Server) guess(req request) service {
	target := req.http.Header.Get("X-Amz-Target")
	version := req.form.Get("Version")
	for _, svc := range s.services {
		if (target != "" && svc.target != "" && strings.HasPrefix(target, svc.target)) ||
			(version != "" && svc.version == version) {
			return svc
		}
	}
	if target == "" && req.form.Get("Action") == "" && !isForm(req.http) {
		return s.byName["eks"]
	}
	return s.byName["sts"]
}

// operation finds the operation's name in the request.
func (s *Server) operation(req request) (string, map[string]string) {
	switch req.svc.protocol {
	case ec2Query, awsQuery:
		return req.form.Get("Action"), nil
	case restJSON, restXML:
		routes := s.gets[req.svc.name]
		if n := s.names[req.svc.name]; n != nil {
			routes = n.routes
		}
		op, labels, _ := findRoute(routes, req.http.Method, req.http.URL.EscapedPath())
		return op, labels
	case objects:
		return objectOf(req.http).operation(), nil
	}
	op := req.http.Header.Get("X-Amz-Target")
	// CloudTrail's target has a longer form too, which the AWS CLI sends.
	op = strings.TrimPrefix(op, "com.amazonaws.cloudtrail.v20131101.")
	return strings.TrimPrefix(op, req.svc.target), nil
}

// refuse asks the faults, and knows the operations without a handler.
func (s *Server) refuse(ctx context.Context, req request, call *Call) error {
	_, handled := s.handlers[call.Service+"."+call.Operation]
	if req.svc.protocol == passOnly || req.svc.protocol == objects {
		_, handled = s.passed[call.Service]
	}
	if !handled {
		return req.svc.unknownOperation(call.Operation)
	}
	return s.cfg.Faults.Before(ctx, call)
}

// answer reads the input, runs the handler and writes the output.
func (s *Server) answer(ctx context.Context, req request, call *Call, said *exchange) (body []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	h := s.handlers[call.Service+"."+call.Operation]
	in := h.newInput()
	if err := s.decode(req, in); err != nil {
		return nil, err
	}
	said.in = in
	if err := s.fitsModel(req, call, in); err != nil {
		return nil, err
	}
	if err := s.admit(ctx, call, in); err != nil {
		return nil, err
	}
	if isDryRun(in) {
		return nil, &Error{Code: "DryRunOperation", Status: 412,
			Message: "Request would have succeeded, but DryRun flag is set."}
	}
	out, err := h.serve(ctx, call, in)
	if err != nil {
		return nil, err
	}
	said.out = out
	if payloads(req.svc, call.Operation) {
		body, said.header = encodePayload(out)
		return body, nil
	}
	return s.encode(ctx, req.svc, call, out)
}

// admit asks whether the call is let through.
func (s *Server) admit(ctx context.Context, call *Call, in any) error {
	if s.cfg.Admit == nil {
		return nil
	}
	return s.cfg.Admit(ctx, call, in)
}

// passedFits looks at a request that is passed on.
func (s *Server) passedFits(req request, call *Call) error {
	if _, known := s.models[req.svc.name].ops[call.Operation]; !known {
		return req.svc.unknownOperation(call.Operation)
	}
	in, err := passedInput(req)
	if err != nil {
		return err
	}
	return s.fitsModel(req, call, in)
}

// pass gives the request to the handler of a service that is elsewhere, and
// takes its answer.
func (s *Server) pass(req request, call *Call) answer {
	r := req.http.Clone(req.http.Context())
	r.Body = io.NopCloser(bytes.NewReader(req.body))
	r.ContentLength = int64(len(req.body))
	a := answer{status: http.StatusOK, header: http.Header{}}
	s.passed[req.svc.name].ServeHTTP(&a, r)
	if a.status >= 400 {
		call.Code = errorCode(a.body)
		if req.svc.protocol == objects {
			call.Code = objectError(a.body)
		}
	}
	return a
}

// classify makes the answer for an error. An error that is not meant for the
// client becomes the service's internal error, and goes to the log.
func (s *Server) classify(svc service, call *Call, err error) *Error {
	var chosen *Error
	if errors.As(err, &chosen) {
		return chosen
	}
	var fault Fault
	known := errors.As(err, &fault)
	switch {
	case known && fault == Denied:
		return svc.deniedError(call.Principal.ARN, call.Operation)
	case known && fault == Throttled:
		return &svc.throttled
	case errors.Is(err, context.Canceled):
		// No client reads this answer; 499 is the custom for it in records.
		return &Error{Code: "ClientDisconnected", Status: 499}
	case !known:
		s.cfg.Log.Error("handler failed", "service", call.Service, "operation", call.Operation, "error", err)
	}
	return &svc.broken
}

func isReset(err error) bool {
	var fault Fault
	return errors.As(err, &fault) && fault == Reset
}

// reset cuts the connection so that the client sees a reset and no answer.
// before runs when nothing can go wrong any more.
func reset(w http.ResponseWriter, before func()) {
	conn, _, err := http.NewResponseController(w).Hijack()
	before()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: the server resets the stream
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		// Linger zero sends RST instead of FIN. It cannot fail on an open
		// connection, and a closed one is as good.
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// plain writes an input as maps, lists, texts, numbers and booleans. What is
// not set is left out: nil, and the zero of the SDK's few members that are no
// pointers.
func plain(v reflect.Value) (any, bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, false
		}
		out, ok := plain(v.Elem())
		if !ok && v.Elem().Kind() != reflect.Struct { // a pointer to a zero is set
			return zero(v.Elem()), true
		}
		return out, true
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return t.Format(time.RFC3339), !t.IsZero()
		}
		out := map[string]any{}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			// An embedded struct is the SDK's own mark and never on the wire.
			if !field.IsExported() || field.Anonymous || field.Name == "ResultMetadata" {
				continue
			}
			if value, ok := plain(v.Field(i)); ok {
				out[field.Name] = value
			}
		}
		return out, true
	case reflect.Slice:
		if v.IsNil() {
			return nil, false
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return "", true // a blob: no model has a rule for its text
		}
		out := make([]any, v.Len())
		for i := range out {
			out[i] = element(v.Index(i))
		}
		return out, true
	case reflect.Map:
		if v.IsNil() {
			return nil, false
		}
		out := map[string]any{}
		for _, key := range v.MapKeys() {
			out[key.String()] = element(v.MapIndex(key))
		}
		return out, true
	}
	return zero(v), !v.IsZero()
}

// element is a value in a list or a map, where a zero is a value.
func element(v reflect.Value) any {
	if out, ok := plain(v); ok {
		return out
	}
	return zero(v)
}

// zero is a scalar as it is.
func zero(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.CanInt():
		return float64(v.Int())
	case v.CanFloat():
		return v.Float()
	}
	return nil
}

// fitsModel refuses a request that AWS's own model refuses. Unlike AWS, which
// overlooks many a member that it does not know, it refuses those too: a
// program that sends one means something by it.
func (s *Server) fitsModel(req request, call *Call, in any) error {
	model := s.models[req.svc.name]
	if model == nil {
		return nil
	}
	tree, ok := in.(map[string]any)
	if !ok {
		value, _ := plain(reflect.ValueOf(in))
		tree, _ = value.(map[string]any)
	}
	found := model.check(call.Operation, tree)
	if len(found) == 0 && req.svc.protocol == ec2Query {
		if refusal := malformed(tree); refusal != nil && !s.cfg.AnyIDs {
			return refusal
		}
	}
	if len(found) == 0 {
		return nil
	}
	refusal := req.svc.invalid(found)
	call.Misfit = refusal.Message
	return refusal
}

// passedInput is the request of a service that is passed on.
func passedInput(req request) (map[string]any, error) {
	var in map[string]any
	if err := json.Unmarshal(req.body, &in); err != nil {
		return nil, serialization("the body is not a JSON object: %s", err)
	}
	return in, nil
}

// invalid is a service's answer to a request that does not fit its model. The
// codes:
//
//   - EC2: MissingParameter, UnknownParameter and InvalidParameterValue (EC2 API
//     reference, "Error codes for the Amazon EC2 API").
//   - SQS: MissingParameter and InvalidParameterValue of its old protocol, which
//     are MissingRequiredParameterException and InvalidParameterValueException
//     in its JSON protocol (see SQSQueryCode).
//   - EKS: InvalidParameterException, the only one in its model that fits.
//   - Auto Scaling, IAM and STS: ValidationError (their "Common errors").
//   - The JSON services: ValidationException, with a sentence for each
//     constraint, as every service does that is made with AWS's framework.
func (s service) invalid(found []Violation) *Error {
	first := found[0]
	path := strings.Join(first.Path, ".")
	switch s.name {
	case "ec2":
		switch first.Rule {
		case Required:
			return Errorf("MissingParameter", "The request must contain the parameter %s", path)
		case UnknownMember:
			return Errorf("UnknownParameter", "The parameter %s is not recognized", path)
		case UnknownFilter: // aws/aws-cli#4013, boto/boto3#1299
			return Errorf("InvalidParameterValue", "The filter '%s' is invalid", first.Value)
		}
		return Errorf("InvalidParameterValue", "Value (%s) for parameter %s is invalid. %s", first.Value, path, sentence(first))
	case "sqs":
		if first.Rule == Required {
			return Errorf("MissingRequiredParameterException", "The request must contain the parameter %s.", path)
		}
		return Errorf("InvalidParameterValueException", "Value %s for parameter %s is invalid. Reason: %s.", first.Value, path, sentence(first))
	case "eks":
		return Errorf("InvalidParameterException", "%s: %s", path, sentence(first))
	}
	var list []string
	for _, v := range found {
		list = append(list, fmt.Sprintf("Value %s at '%s' failed to satisfy constraint: %s", quoted(v), lowerPath(v.Path), sentence(v)))
	}
	plural := ""
	if len(list) > 1 {
		plural = "s"
	}
	code := "ValidationException"
	if s.protocol == awsQuery {
		code = "ValidationError"
	}
	return &Error{Code: code, Status: http.StatusBadRequest, Message: fmt.Sprintf("%d validation error%s detected: %s", len(list), plural, strings.Join(list, "; "))}
}

func quoted(v Violation) string {
	if v.Rule == Required {
		return "null"
	}
	return "'" + v.Value + "'"
}

// lowerPath is how AWS's framework writes a member.
func lowerPath(path []string) string {
	var list []string
	for _, p := range path {
		list = append(list, strings.ToLower(p[:1])+p[1:])
	}
	return strings.Join(list, ".")
}

// sentence is a constraint in the framework's words.
func sentence(v Violation) string {
	switch v.Rule {
	case Required:
		return "Member must not be null"
	case Enumeration:
		return "Member must satisfy enum value set: " + v.Limit
	case Shortest:
		return "Member must have length greater than or equal to " + v.Limit
	case Longest:
		return "Member must have length less than or equal to " + v.Limit
	case Smallest:
		return "Member must have value greater than or equal to " + v.Limit
	case Largest:
		return "Member must have value less than or equal to " + v.Limit
	case Pattern:
		return "Member must satisfy regular expression pattern: " + v.Limit
	}
	return "Member is not known"
}

// route is where one operation of a REST service lives: a method and a path
// whose {labels} are members of the input.
type route struct {
	operation, method string
	segments          []string
}

func newRoute(operation, method, uri string) route {
	return route{operation: operation, method: method, segments: strings.Split(strings.Trim(uri, "/"), "/")}
}

// match reports whether a request is for this route, and the labels' values.
// The path is the escaped one: a label may hold an escaped slash (an ARN).
func (r route) match(method, escapedPath string) (map[string]string, bool) {
	if method != r.method {
		return nil, false
	}
	parts := strings.Split(strings.Trim(escapedPath, "/"), "/")
	if len(parts) != len(r.segments) {
		return nil, false
	}
	labels := map[string]string{}
	for i, seg := range r.segments {
		part, err := url.PathUnescape(parts[i])
		if err != nil {
			return nil, false
		}
		if strings.HasPrefix(seg, "{") {
			if part == "" {
				return nil, false
			}
			labels[strings.Trim(seg, "{}")] = part
			continue
		}
		if part != seg {
			return nil, false
		}
	}
	return labels, true
}

// findRoute returns the operation that a request is for. A path with more
// literal segments wins over one with labels.
func findRoute(routes []route, method, escapedPath string) (operation string, labels map[string]string, ok bool) {
	best := -1
	for _, r := range routes {
		l, matched := r.match(method, escapedPath)
		if !matched {
			continue
		}
		if literal := len(r.segments) - len(l); literal > best {
			best, operation, labels, ok = literal, r.operation, l, true
		}
	}
	return operation, labels, ok
}

// setScalar sets a string, number, boolean, time or blob, or a pointer to one,
// from its text in a form, a path or a query string.
func setScalar(v reflect.Value, text string) error {
	if v.Kind() == reflect.Pointer {
		p := reflect.New(v.Type().Elem())
		if err := setScalar(p.Elem(), text); err != nil {
			return err
		}
		v.Set(p)
		return nil
	}
	if v.Type() == reflect.TypeFor[time.Time]() {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return errors.New("it must be a date in ISO 8601 form")
		}
		v.Set(reflect.ValueOf(t))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("it must be true or false")
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return errors.New("it must be a whole number")
		}
		v.SetInt(i)
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil {
			return errors.New("it must be a number")
		}
		v.SetFloat(f)
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Uint8 {
			return fmt.Errorf("a %s is not a single value", v.Type())
		}
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return errors.New("it must be base64")
		}
		v.SetBytes(b)
	default:
		return fmt.Errorf("a %s is not a single value", v.Type())
	}
	return nil
}

// scope is the credential scope of a SigV4 signature.
type scope struct {
	accessKeyID, date, region, signing string
}

const algorithm = "AWS4-HMAC-SHA256"

// requestScope reads the credential scope of a signed request, from its
// Authorization header or from a presigned query.
func requestScope(r *http.Request, query url.Values) (scope, bool) {
	if auth := r.Header.Get("Authorization"); auth != "" {
		if !strings.HasPrefix(auth, algorithm+" ") {
			return scope{}, false
		}
		parts := authorization(auth)
		if parts["Signature"] == "" || parts["SignedHeaders"] == "" {
			return scope{}, false
		}
		return parseScope(parts["Credential"])
	}
	if query.Get("X-Amz-Algorithm") != algorithm || query.Get("X-Amz-Signature") == "" {
		return scope{}, false
	}
	return parseScope(query.Get("X-Amz-Credential"))
}

func parseScope(credential string) (scope, bool) {
	p := strings.Split(credential, "/")
	if len(p) != 5 || p[4] != "aws4_request" || p[0] == "" || p[3] == "" {
		return scope{}, false
	}
	return scope{accessKeyID: p[0], date: p[1], region: p[2], signing: p[3]}, true
}

// Config is what a Server needs from outside.
type Config struct {
	// Principals tells who owns an access key id. A key it does not know is
	// refused. Nil takes every key as the name of its own principal.
	Principals func(accessKeyID string) (Principal, bool)
	// Secret tells the secret key of an access key id. A request that another
	// secret signed is refused. Nil believes every signature.
	Secret func(accessKeyID string) (secret string, ok bool)
	// Session reports whether a session token belongs to an access key id: temporary
	// credentials have one, others none. Nil takes any.
	Session func(accessKeyID, token string) bool
	// Faults is asked before each handler. Nil is no faults.
	Faults Faults
	// Admit is asked before each handler once the input is read, so that it can
	// decide by what is asked for: request limits and permissions. It answers as
	// Faults do. Nil lets all through.
	// What is handed to another server (Pass) comes as Passed, and S3's as Object.
	Admit func(ctx context.Context, call *Call, in any) error
	// AnyIDs takes ids that EC2 would call malformed, "i-1": for tests of what is
	// not about ids. The stage never does.
	AnyIDs bool
	// MinLatency is the least time between a request and its answer. It should
	// be a millisecond or more when Go SDK clients call over loopback: smithy-go
	// closes the request body once it sees the answer's headers, and an answer
	// that comes before net/http has looked past the body's end makes net/http
	// drop the connection ("use of closed network connection", aws-sdk-go-v2
	// issue 2737). AWS itself is never so fast.
	MinLatency time.Duration
	// Observe gets each call of a known caller, before the answer goes
	// out: the input where it could be read, the output of a success, else the
	// error. Nil observes nothing.
	Observe func(call Call, in, out any, err error)
	// Now is the clock of the call record. Nil is time.Now.
	Now func() time.Time
	// Log gets what a client must not see: handlers' unexpected errors. Nil
	// drops it.
	Log *slog.Logger
}

// Server answers requests of every registered operation, of all services on
// one address. Register first, then serve.
type Server struct {
	cfg       Config
	names     names
	models    models
	services  []service
	bySigning map[string]service
	byName    map[string]service
	handlers  map[string]handler // by service name and operation
	passed    map[string]http.Handler
	// gets are the routes of REST services that are not in names.
	gets     map[string][]route
	calls    callLog
	requests atomic.Uint64
}

var _ http.Handler = (*Server)(nil)

// handler is a typed handler with its types erased.
type handler struct {
	newInput func() any
	serve    func(ctx context.Context, call *Call, in any) (any, error)
}

// New makes a server without any operation.
func New(cfg Config) (*Server, error) {
	table, err := readNames()
	if err != nil {
		return nil, err
	}
	requests, err := readModels()
	if err != nil {
		return nil, err
	}
	if cfg.Faults == nil {
		cfg.Faults = NoFaults{}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Principals == nil {
		cfg.Principals = func(key string) (Principal, bool) {
			const account = "123456789012"
			return Principal{Name: key, Account: account, ARN: "arn:aws:iam::" + account + ":user/" + key}, true
		}
	}
	s := &Server{cfg: cfg, names: table, models: requests, services: services(), bySigning: map[string]service{}, byName: map[string]service{},
		handlers: map[string]handler{}, passed: map[string]http.Handler{}, gets: map[string][]route{}}
	for _, svc := range s.services {
		s.bySigning[svc.signing], s.byName[svc.name] = svc, svc
	}
	return s, nil
}

// Handle registers the handler of one operation. service is the SDK's package
// name. It panics on an operation that cannot be served, which is a mistake in
// the program: an unknown service, input and output types of another
// operation, or one whose names or model are not in the generated tables.
func Handle[I, O any](s *Server, service, operation string, h func(ctx context.Context, call *Call, in *I) (*O, error)) {
	s.register(service, operation, reflect.TypeFor[I](), reflect.TypeFor[O](), handler{
		newInput: func() any { return new(I) },
		serve: func(ctx context.Context, call *Call, in any) (any, error) {
			out, err := h(ctx, call, in.(*I))
			if err != nil {
				return nil, err
			}
			if out == nil {
				out = new(O)
			}
			return out, nil
		},
	})
}

// HandleMethods registers every exported method of v that has the form
// func(*XInput) (*XOutput, error), with the input type from the SDK package of
// the service and the operation's name as its own, but those named in except.
// It returns the operations.
func HandleMethods(s *Server, service string, v any, except ...string) []string {
	var ops []string
	rv := reflect.ValueOf(v)
	for i := range rv.NumMethod() {
		method, op := rv.Method(i), rv.Type().Method(i).Name
		in, out, ok := operationTypes(method.Type(), service, op)
		if !ok || slices.Contains(except, op) {
			continue
		}
		s.register(service, op, in, out, handler{
			newInput: func() any { return reflect.New(in).Interface() },
			serve: func(_ context.Context, _ *Call, input any) (any, error) {
				res := method.Call([]reflect.Value{reflect.ValueOf(input)})
				if err, _ := res[1].Interface().(error); err != nil {
					return nil, err
				}
				if res[0].IsNil() {
					return reflect.New(out).Interface(), nil
				}
				return res[0].Interface(), nil
			},
		})
		ops = append(ops, op)
	}
	return ops
}

const sdkServices = "github.com/aws/aws-sdk-go-v2/service/"

// operationTypes reports whether a method type is that of an operation of the
// service, and its input and output structs.
func operationTypes(t reflect.Type, service, op string) (in, out reflect.Type, ok bool) {
	if t.NumIn() != 1 || t.NumOut() != 2 || t.In(0).Kind() != reflect.Pointer || t.Out(0).Kind() != reflect.Pointer ||
		t.Out(1) != reflect.TypeFor[error]() {
		return nil, nil, false
	}
	in, out = t.In(0).Elem(), t.Out(0).Elem()
	return in, out, in.PkgPath() == sdkServices+service && in.Name() == op+"Input" && out.Name() == op+"Output"
}

func (s *Server) register(service, operation string, in, out reflect.Type, h handler) {
	svc, ok := s.byName[service]
	if !ok || svc.protocol == passOnly || svc.protocol == objects || svc.protocol == restXML {
		panic(fmt.Sprintf("wire: no service %q to register %s for", service, operation))
	}
	if in.Name() != operation+"Input" || out.Name() != operation+"Output" ||
		in.PkgPath() != sdkServices+service || out.PkgPath() != sdkServices+service {
		panic(fmt.Sprintf("wire: %s and %s are not the types of %s %s", in, out, service, operation))
	}
	if svc.protocol != awsJSON && !s.names[service].ops[operation] {
		panic(fmt.Sprintf("wire: %s %s has no wire names: add it to stage/platform/wire/gen/operations.txt and run go generate", service, operation))
	}
	s.add(service, operation, h)
}

func (s *Server) add(service, operation string, h handler) {
	key := service + "." + operation
	if s.models != nil && s.models[service].ops[operation] == "" {
		panic(fmt.Sprintf("wire: %s has no model of its request: add it to stage/platform/wire/gen/model/operations.txt and run go run ./stage/platform/wire/gen/model", key))
	}
	if _, ok := s.handlers[key]; ok {
		panic("wire: two handlers for " + key)
	}
	s.handlers[key] = h
}

// Passed is the body of a request that is handed to another server, as it came.
type Passed []byte

// Pass hands every request of a JSON service, once its signature's scope and
// the faults were looked at, to another HTTP handler.
func (s *Server) Pass(service string, h http.Handler) {
	if p := s.byName[service].protocol; p != passOnly && p != objects {
		panic(fmt.Sprintf("wire: service %q is not one to pass on", service))
	}
	s.passed[service] = h
}

// Calls returns the record of all requests so far, in the order they ended.
func (s *Server) Calls() []Call { return s.calls.all() }

// Record adds the call of a server that does not speak an AWS protocol, such
// as a Kubernetes API, to the same record.
func (s *Server) Record(c Call) { s.calls.add(c) }

// nextID makes request ids: unique in a run, and the same in the next.
func (s *Server) nextID() string {
	return fmt.Sprintf("00000000-0000-4000-8000-%012x", s.requests.Add(1))
}
