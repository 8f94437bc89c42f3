// Package lambda is the frame around every function: settings, clients, logger
// and metrics are made here once, and each invocation gets a deadline, a
// summary line, and a report if it panics.
package lambda

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awsconf"
	"rollcall/shared/config"
	"rollcall/shared/spec"
	"rollcall/shared/spoke"
	"rollcall/shared/version"
)

// Env is what a function is given.
type Env struct {
	Config config.Config
	AWS    aws.Config
	// AWSAsReader is AWS as the role that reads in clusters; nil where the deployment
	// has none.
	AWSAsReader *aws.Config
	Log         *slog.Logger
	Metrics     *Metrics
	// Release is that of which the function was built; "" where nobody says.
	Release string
	Now     func() time.Time
	// Sleep waits in the time that Now tells, or until the context ends.
	Sleep func(context.Context, time.Duration) error
	// HTTP is the way of requests to others than AWS and Kubernetes; nil is net/http's
	// own.
	HTTP http.RoundTripper
	// Endpoints are other ways to the Kubernetes APIs of clusters than those that EKS
	// tells, on the local stage alone; via is taken in place of a connection.
	Endpoints Endpoints
	// Register has somebody told of each invocation.
	Register func(Around)
	// ForAll has something done once in an invocation that is of all spokes, a schedule:
	// before any of them has its part. It is for the hub's own handler.
	ForAll func(do func(ctx context.Context, raw json.RawMessage) error)
	// Function is its deployed name, which its sessions bear.
	Function string
	// spokeReader is AWS as the spoke's role reader; nil in the hub's own.
	spokeReader *aws.Config
}

// Around is told when an invocation begins, and when its own work is done: what it does
// then keeps nobody waiting but the next invocation, and is no failure of this one.
type Around interface {
	Begin(event json.RawMessage)
	Flush(ctx context.Context)
}

// WithReader adds the role that clusters know, where the settings name it; the function's
// name is its session's.
func (e Env) WithReader(function string) Env {
	if role := e.Config.ReaderRole; role != "" {
		assumed := awsconf.Assume(e.AWS, awsconf.Role{ARN: role, Session: function}, e.Now)
		e.AWSAsReader = &assumed
	}
	return e
}

// Endpoints finds the way to the Kubernetes API of a cluster, if there is one of its own.
type Endpoints = func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool)

// EndpointsOf are those that the environment names.
func EndpointsOf(d config.EndpointOverrides) Endpoints {
	return func(cluster string) (string, []byte, http.RoundTripper, bool) {
		endpoint, ca, ok := d.Of(cluster)
		return endpoint, ca, nil, ok
	}
}

// Way is how a function reaches others where it is called as Go, in one process with
// them: by what it is given, in place of the process's environment and network.
type Way struct {
	AWS       aws.Config
	HTTP      http.RoundTripper
	Endpoints Endpoints
}

// Handler does one invocation.
type Handler func(ctx context.Context, raw json.RawMessage) (any, error)

// Build makes a function's handler from what it is given.
type Build func(ctx context.Context, env Env) (Handler, error)

// Program is a function before it is started.
type Program struct {
	Name      string
	Variables []spec.Variable
	Build     Build
}

// margin is kept from the deadline, so that a function that runs out of time
// can still say so and give its messages back.
const margin = 2 * time.Second

// Start runs a function in Lambda; it does not return. The variables are those
// that the function's Spec names.
func Start(name string, variables []spec.Variable, build Build) {
	f := New(name, variables, build, os.Getenv, os.Stdout).Of(version.Current())
	// Built before the first event, while Lambda gives the start its full
	// processor. What is wrong is said now, and again with each event until
	// it is put right.
	f.prepare(context.Background())
	lambda.StartWithOptions(f.Invoke)
}

// Function is a function with its frame.
type Function struct {
	name      string
	variables []spec.Variable
	build     Build
	getenv    func(string) string
	log       *slog.Logger
	level     *slog.LevelVar
	metrics   *Metrics
	calls     awsconf.Calls
	// env is what the handlers of all spokes are made of; nil until it is there.
	env      *Env
	handlers map[spoke.ID]*spokeHandler
	now      func() time.Time
	way      *Way // nil in a process of its own
}

// Of has the log's lines and the metrics say of which release a function is.
func (f *Function) Of(release string) *Function {
	f.log = f.log.With("version", release)
	f.metrics.version = release
	return f
}

// By makes a function go by a way that it is given.
func (f *Function) By(w Way) *Function {
	f.way = &w
	return f
}

// New frames a function. Logs and metrics go to out as JSON lines.
func New(name string, variables []spec.Variable, build Build, getenv func(string) string, out io.Writer) *Function {
	level := new(slog.LevelVar)
	log := slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level})).With("function", name)
	return &Function{
		name: name, variables: variables, build: build, getenv: getenv, log: log, level: level,
		metrics: NewMetrics(name, getenv("AWS_LAMBDA_FUNCTION_NAME"), out),
		now:     config.Clock{}.Now,
	}
}

// prepare makes the hub's own handler once. It is tried again with each invocation
// while it fails, so that a secret that is filled in later needs no new
// deployment.
func (f *Function) prepare(ctx context.Context) error {
	if f.handlers != nil {
		return nil
	}
	c, err := config.Load(f.getenv, f.variables)
	if err != nil {
		return err
	}
	f.level.Set(c.LogLevel)
	f.now = c.Clock.Now
	e := Env{Config: c, Log: f.log, Metrics: f.metrics, Release: f.metrics.version, Now: f.now, Sleep: c.Clock.Sleep}
	e.Endpoints = EndpointsOf(c.Endpoints)
	if f.way != nil {
		e.AWS, e.HTTP, e.Endpoints = awsconf.From(f.way.AWS, f.log, &f.calls), f.way.HTTP, f.way.Endpoints
	} else if e.AWS, err = awsconf.Load(ctx, f.log, &f.calls); err != nil {
		return err
	}
	e.Function = cmp.Or(f.getenv("AWS_LAMBDA_FUNCTION_NAME"), f.name)
	e = e.WithReader(e.Function)
	f.env, f.handlers = &e, map[spoke.ID]*spokeHandler{}
	if _, err := f.of(ctx, spoke.ID{}); err != nil {
		f.handlers = nil
		return err
	}
	return nil
}

// Invoke does one invocation. An error makes Lambda try again, and in the end
// puts the event into the dead-letter queue.
func (f *Function) Invoke(ctx context.Context, raw json.RawMessage) (answer any, err error) {
	began := time.Now()
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	log := f.log
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		log = log.With("request", lc.AwsRequestID)
	}
	defer func() {
		if p := recover(); p != nil {
			f.metrics.Count("Panics", 1)
			log.Error("panic", "value", fmt.Sprint(p), "stack", string(debug.Stack()))
			f.finish(log, began, fmt.Errorf("panic: %v", p))
			panic(p) // the process cannot be trusted any more: Lambda starts a new one
		}
		f.finish(log, began, err)
	}()
	if err := f.prepare(ctx); err != nil {
		return nil, err
	}
	if f.env.Config.Hub.Account == "" { // nobody says who is who: all is the hub's
		err := f.handleWhole(ctx, raw)
		answer, wrong := f.handlers[spoke.ID{}].invoke(ctx, raw)
		return answer, errors.Join(err, wrong)
	}
	return f.handleParts(ctx, raw)
}

// finish writes the summary line and the metrics of an invocation.
func (f *Function) finish(log *slog.Logger, began time.Time, err error) {
	calls, failed := f.calls.Take()
	attrs := []any{"took", time.Since(began).Round(time.Millisecond).String(), "calls", calls}
	if len(failed) > 0 {
		attrs = append(attrs, "failedCalls", failed)
	}
	for name, n := range f.metrics.Counts() {
		attrs = append(attrs, name, n)
	}
	if err != nil {
		log.Error("failed", append(attrs, "error", err.Error())...)
		f.metrics.Count(Failures, 1)
	} else {
		log.Info("done", attrs...)
	}
	f.metrics.Flush(f.now())
}
