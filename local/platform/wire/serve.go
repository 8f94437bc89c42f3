package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
)

// maxBody bounds a request. SQS takes the largest real one: 1 MiB, which JSON
// escaping can make up to six times longer.
const maxBody = 8 << 20

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

// unknownKey is the answer to an access key id that belongs to nobody.
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

// refuse asks the faults, and knows the operations that nobody serves.
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
		// Nobody reads this answer; 499 is the custom for it in records.
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
