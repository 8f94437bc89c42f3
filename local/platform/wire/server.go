package wire

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"sync/atomic"
	"time"
)

// Config is what a Server needs from outside.
type Config struct {
	// Principals tells who owns an access key id. A key it does not know is
	// refused. Nil takes every key as the name of its own principal.
	Principals func(accessKeyID string) (Principal, bool)
	// Secret tells the secret key of an access key id. A request that another
	// secret signed is refused. Nil believes every signature.
	Secret func(accessKeyID string) (secret string, ok bool)
	// Session tells whether a session token belongs to an access key id: temporary
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
	// Observe gets each call of somebody who is known, before the answer goes
	// out: the input where it could be read, the output of a success, else the
	// error. Nil is nobody.
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

// operationTypes tells whether a method type is that of an operation of the
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
		panic(fmt.Sprintf("wire: %s %s has no wire names: add it to local/platform/wire/gen/operations.txt and run go generate", service, operation))
	}
	s.add(service, operation, h)
}

func (s *Server) add(service, operation string, h handler) {
	key := service + "." + operation
	if s.models != nil && s.models[service].ops[operation] == "" {
		panic(fmt.Sprintf("wire: %s has no model of its request: add it to local/platform/wire/gen/model/operations.txt and run make aws-model", key))
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
