package kubeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rollcall/local/platform/wire"
)

// User is an authenticated caller and what he may do.
type User struct {
	// Name is what the API's refusals call him: his ARN.
	Name string
	// Principal is the same caller, as the call record shows him.
	Principal wire.Principal
	Rules     []Rule
}

// Config is what the API of one cluster needs from outside.
type Config struct {
	// Version is the Kubernetes version, such as "1.33".
	Version string
	// Authenticate tells who a bearer token belongs to. Any error is a 401.
	Authenticate func(ctx context.Context, token string) (User, error)
	// Objects lists all objects of a kind by its plural, and the version of
	// the list. An error that is a *Status is the answer.
	Objects func(plural string) (items []json.RawMessage, version string, err error)
	// Faults is asked before each request for a resource.
	Faults wire.Faults
	// Record gets each request for a resource when it has ended.
	Record func(wire.Call)
	// Now is the clock of ages, in the time of the objects. Wall is the
	// clock of the call record.
	Now, Wall func() time.Time
}

// Server is the Kubernetes API of one cluster.
type Server struct{ cfg Config }

var _ http.Handler = (*Server)(nil)

// New makes the server.
func New(cfg Config) *Server { return &Server{cfg: cfg} }

// ServiceName is the Service of the calls that a Server records. Their
// Operation is the verb and the resource, such as "list nodes".
const ServiceName = "kubernetes"

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := wire.Call{Service: ServiceName, Time: s.cfg.Wall()}
	body, status := s.answer(r, &call)
	if call.Operation != "" {
		call.Duration, call.Status = s.cfg.Wall().Sub(call.Time), http.StatusOK
		if status != nil {
			call.Status, call.Code = status.Code, status.Reason
		}
		s.cfg.Record(call)
	}
	if status != nil && status.Code == 0 {
		panic(http.ErrAbortHandler) // a connection reset: no answer at all
	}
	code, contentType := http.StatusOK, "application/json"
	if status != nil {
		code = status.Code
		body, contentType = status.body()
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	// A client that has gone away is not our failure.
	_, _ = w.Write(body)
}

func (s *Server) answer(r *http.Request, call *wire.Call) ([]byte, *Status) {
	req, ofResource := parseRequest(r.Method, r.URL.EscapedPath(), r.URL.Query())
	if ofResource {
		call.Operation = req.verb + " " + req.target()
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return nil, unauthorized()
	}
	user, err := s.cfg.Authenticate(r.Context(), token)
	if err != nil {
		return nil, unauthorized()
	}
	call.Principal, call.Caller = user.Principal, user.Principal.Name
	if !ofResource {
		// Everybody who is authenticated may look at what there is.
		if d := discovery(r.URL.Path, s.cfg.Version, s.kinds()); d != nil && r.Method == http.MethodGet {
			return marshal(d)
		}
		return nil, noPath()
	}
	if status := s.fault(r.Context(), user, req, call); status != nil {
		return nil, status
	}
	// Who may not, does not learn what there is.
	wanted := Attributes{Verb: req.verb, Group: req.group, Resource: req.target(), Namespace: req.namespace, Name: req.name}
	switch {
	case !slices.ContainsFunc(user.Rules, func(rule Rule) bool { return rule.Allows(wanted) }):
		return nil, forbidden(user.Name, req)
	case !req.served && req.group != "" && !slices.Contains(groups(kinds()), req.group):
		return nil, noPath()
	case !req.served:
		return nil, noResource()
	case req.verb != "get" && req.verb != "list":
		return nil, methodNotAllowed()
	}
	return s.read(r, req)
}

// kinds lists what this cluster serves.
func (s *Server) kinds() []Kind {
	return slices.DeleteFunc(kinds(), func(k Kind) bool {
		var status *Status
		if !k.Custom {
			return false
		}
		_, _, err := s.cfg.Objects(k.Plural)
		return errors.As(err, &status)
	})
}

// fault asks the faults. A fault comes in Kubernetes's own words.
func (s *Server) fault(ctx context.Context, user User, req request, call *wire.Call) *Status {
	err := s.cfg.Faults.Before(ctx, call)
	if err == nil {
		return nil
	}
	var fault wire.Fault
	if errors.As(err, &fault) {
		switch fault {
		case wire.Denied:
			return forbidden(user.Name, req)
		case wire.Throttled:
			return &Status{http.StatusTooManyRequests, "TooManyRequests", "Too many requests, please try again later."}
		case wire.Reset:
			return &Status{Reason: "ConnectionReset"}
		}
	}
	return internalError(err)
}

func (s *Server) read(r *http.Request, req request) ([]byte, *Status) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("the query string is not valid")
	}
	labels, err := parseSelector(query.Get("labelSelector"))
	if err != nil {
		return nil, badRequest("%s", err)
	}
	fields, err := parseFields(req.kind, query.Get("fieldSelector"))
	if err != nil {
		return nil, badRequest("%s", err)
	}
	items, version, err := s.cfg.Objects(req.kind.Plural)
	var status *Status
	if errors.As(err, &status) {
		return nil, status
	}
	if err != nil {
		return nil, internalError(err)
	}
	if req.verb == "get" {
		labels, fields = nil, []requirement{{key: "metadata.name", op: opIn, values: []string{req.name}}}
	}
	objects, err := selectObjects(req, items, labels, fields)
	if err != nil {
		return nil, internalError(err)
	}
	asTable := wantsTable(r.Header.Get("Accept"))
	if req.verb == "get" {
		return s.one(req, objects, version, asTable)
	}
	p, status := paginate(objects, version, query)
	if status != nil {
		return nil, status
	}
	meta := map[string]any{"resourceVersion": version}
	if p.next != "" {
		meta["continue"] = p.next
		if len(labels) == 0 && len(fields) == 0 {
			meta["remainingItemCount"] = p.remaining
		}
	}
	return s.write(req.kind, p.objects, meta, asTable)
}

func (s *Server) one(req request, objects []object, version string, asTable bool) ([]byte, *Status) {
	if len(objects) == 0 {
		return nil, notFound(req.kind, req.name)
	}
	if asTable {
		return s.write(req.kind, objects[:1], map[string]any{"resourceVersion": version}, true)
	}
	body, err := objects[0].alone()
	if err != nil {
		return nil, internalError(err)
	}
	return body, nil
}

func (s *Server) write(k Kind, objects []object, meta map[string]any, asTable bool) ([]byte, *Status) {
	if asTable {
		body, err := table(k, objects, meta, s.cfg.Now())
		if err != nil {
			return nil, internalError(err)
		}
		return body, nil
	}
	// Written by hand: a list of thousands of nodes need not be read again.
	head, status := marshal(meta)
	if status != nil {
		return nil, status
	}
	var b bytes.Buffer
	b.WriteString(`{"kind":"` + k.Kind + `List","apiVersion":"` + k.groupVersion() + `","metadata":`)
	b.Write(head)
	b.WriteString(`,"items":[`)
	for i, o := range objects {
		if i > 0 {
			b.WriteByte(',')
		}
		item, err := o.item(k)
		if err != nil {
			return nil, internalError(err)
		}
		b.Write(item)
	}
	b.WriteString("]}")
	return b.Bytes(), nil
}

func marshal(v any) ([]byte, *Status) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, internalError(err)
	}
	return body, nil
}

// wantsTable tells whether the client, as kubectl does, prefers a table.
func wantsTable(accept string) bool {
	first, _, _ := strings.Cut(accept, ",")
	return strings.Contains(first, "as=Table") && strings.Contains(first, "g=meta.k8s.io")
}
