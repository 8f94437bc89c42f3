// Package lambda is the frame around every function: settings, clients, logger
// and metrics are made here once, and each invocation gets a deadline, a
// summary line, and a report if it panics.
package lambda

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awsconf"
	"rollcall/shared/config"
	"rollcall/shared/event/inbox"
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
	// Release is that of which the function was built; "" where unknown.
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
	// Register adds an observer of each invocation.
	Register func(Around)
	// ForAll has something done once in an invocation that is of all spokes, a schedule:
	// before any of them has its part. It is for the hub's own handler.
	ForAll func(do func(ctx context.Context, raw json.RawMessage) error)
	// Function is its deployed name, which its sessions bear.
	Function string
	// spokeReader is AWS as the spoke's role reader; nil in the hub's own.
	spokeReader *aws.Config
}

// Around is called when an invocation begins, and when its own work is done: what it does
// then makes only the next invocation wait, and is no failure of this one.
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
		endpoint, ca, ok := d.ForCluster(cluster)
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

// Prepared is a function of this process, with its handler built before the first event, while
// Lambda gives the start its full processor. If that fails, each event reports the error until it
// is corrected.
func Prepared(name string, variables []spec.Variable, build Build) *Function {
	f := New(name, variables, build, os.Getenv, os.Stdout).WithRelease(version.Current())
	f.prepare(context.Background())
	return f
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

// WithRelease has the log's lines and the metrics say of which release a function is.
func (f *Function) WithRelease(release string) *Function {
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
	if _, err := f.handlerFor(ctx, spoke.ID{}); err != nil {
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
	if f.env.Config.Hub.Account == "" { // without the hub's account all is the hub's
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

// Metrics collects the numbers of one invocation. All stand in the log, where
// CloudWatch Logs Insights sums them; what an alarm or a curve is made of is
// also a metric, written in CloudWatch's embedded metric format: the log is the
// transport, no call and no permission is needed.
//
// A metric costs as much as twenty thousand calls for each hour in which it is
// published ($0.30 a month, for each set of dimensions): a count is one only if it is
// of a fault, so that nothing is paid while nothing happens.
type Metrics struct {
	function string
	// namespace is the stack's, for counts: two stacks in an account do not ring
	// each other's alarms.
	namespace string
	version   string // "" is left out
	out       io.Writer

	mu     sync.Mutex
	values map[string]metric
	// gauges are metrics of things other than the function, by the things.
	gauges []gauge

	// whole collects for all spokes, and these are one spoke's: its numbers are published by
	// its account and region. Nil for those of the hub's own, which have had none before
	// there were spokes, and would cost anew.
	whole *Metrics
	spoke []Dimension
}

// ForSpoke is the metrics of a spoke's things.
func (m *Metrics) ForSpoke(id spoke.ID) *Metrics {
	return &Metrics{whole: m, spoke: []Dimension{{"Account", id.Account}, {"Region", id.Region}}}
}

// Dimension is one name and value by which CloudWatch keeps numbers apart.
type Dimension struct{ Name, Value string }

// gauge is the numbers of one thing.
type gauge struct {
	of     []Dimension
	values map[string]metric
}

type metric struct {
	value float64
	unit  string
}

// Failures counts failed invocations, as Lambda's own lines about processes
// that died are counted (infra, alarms).
const Failures = "Failures"

// Fault reports whether a count is also a metric, by which an alarm can ring, and
// under which name: those that ask the same of a person are one.
func Fault(count string) (metric string, ok bool) {
	switch count {
	case Failures, "Undelivered", "RemediesFailed", "NotPassedOn", "RefusedRequests", "StrayMessages", "TargetsUndelivered":
		return count, true
	case "PressesRefused": // report's, of what slack-actions let through
		return "RefusedRequests", true
	case "LateSweeps": // clusters without a sweep in time
		return Failures, true
	}
	return "", false
}

// Namespace holds the metrics of clusters and subnets.
const Namespace = "Rollcall"

// StackNamespace holds the counts of a stack's faults. The prefix begins the
// names of its functions.
func StackNamespace(prefix string) string { return Namespace + "/" + prefix }

// NewMetrics writes to out, which must be the function's standard output. The
// deployed name of the function tells which stack it is of.
func NewMetrics(function, deployed string, out io.Writer) *Metrics {
	prefix := strings.TrimSuffix(deployed, "-"+function)
	if prefix == "" {
		prefix = "rollcall"
	}
	return &Metrics{function: function, namespace: StackNamespace(prefix), out: out, values: map[string]metric{}}
}

// Count adds n.
func (m *Metrics) Count(name string, n int) {
	if m.whole != nil {
		m.whole.Count(name, n)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[name] = metric{m.values[name].value + float64(n), "Count"}
}

// Gauge records how much there is of something of one thing, such as a subnet;
// the last of an invocation counts. The unit is one of CloudWatch's ("Count",
// "None", "Seconds").
func (m *Metrics) Gauge(name, unit string, value float64, of ...Dimension) {
	if math.IsNaN(value) || math.IsInf(value, 0) || len(of) == 0 {
		return // CloudWatch takes neither
	}
	if m.whole != nil {
		m.whole.Gauge(name, unit, value, slices.Concat(m.spoke, of)...)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.gauges, func(g gauge) bool { return slices.Equal(g.of, of) })
	if i < 0 {
		i = len(m.gauges)
		m.gauges = append(m.gauges, gauge{slices.Clone(of), map[string]metric{}})
	}
	m.gauges[i].values[name] = metric{value, unit}
}

// Counts are what was counted since the last Flush, for the summary line.
func (m *Metrics) Counts() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := map[string]int{}
	for name, v := range m.values {
		if v.unit == "Count" {
			counts[name] = int(v.value)
		}
	}
	return counts
}

// The line's form: CloudWatch, "Embedded metric format specification".
type emfLine map[string]any

type emfMetric struct {
	Name string
	Unit string
}

// lineMetrics is how many metrics a line holds at most (the format's limit).
const lineMetrics = 100

// Flush writes what was collected and starts anew: a line for the faults, if
// there are any, and one for each thing that was gauged.
func (m *Metrics) Flush(now time.Time) {
	m.mu.Lock()
	values, gauges := maps.Clone(m.values), m.gauges
	clear(m.values)
	m.gauges = nil
	m.mu.Unlock()
	faults := map[string]metric{}
	for count, v := range values {
		if name, ok := Fault(count); ok {
			faults[name] = metric{faults[name].value + v.value, v.unit}
		}
	}
	m.write(now, m.namespace, nil, faults)
	for _, g := range gauges {
		m.write(now, Namespace, g.of, g.values)
	}
}

func (m *Metrics) write(now time.Time, namespace string, of []Dimension, values map[string]metric) {
	for names := range slices.Chunk(slices.Sorted(maps.Keys(values)), lineMetrics) {
		line := emfLine{"function": m.function}
		if m.version != "" {
			line["version"] = m.version // a property, to be searched for: a dimension would be another metric
		}
		dimensions := []string{} // an empty set is written, and is one
		for _, d := range of {
			line[d.Name] = d.Value
			dimensions = append(dimensions, d.Name)
		}
		var defs []emfMetric
		for _, name := range names {
			line[name] = values[name].value
			defs = append(defs, emfMetric{name, values[name].unit})
		}
		line["_aws"] = map[string]any{
			"Timestamp": now.UnixMilli(),
			"CloudWatchMetrics": []any{map[string]any{
				"Namespace":  namespace,
				"Dimensions": [][]string{dimensions},
				"Metrics":    defs,
			}},
		}
		data, err := json.Marshal(line)
		if err != nil {
			return // numbers and names only: cannot happen
		}
		// A line that cannot be written is lost, and there is nowhere to say so.
		_, _ = m.out.Write(append(data, '\n'))
	}
}

// A function has one handler for each spoke that it hears of, made of that spoke's
// settings, credentials and records alone. What an invocation brings is sorted by owner
// before any handler sees it: within a handler a cluster's name, an instance's id
// or a subnet's is one spoke's, and nothing that is named there can be another's.

// spokeHandler is the handler of one spoke.
type spokeHandler struct {
	handle Handler
	around []Around
	// whole is what is done once for all spokes; nil for nothing.
	whole func(ctx context.Context, raw json.RawMessage) error
	log   *slog.Logger
}

// ForSpoke is what a function is given for a spoke.
func (e Env) ForSpoke(id spoke.ID) Env {
	hub := e.Config.Hub
	e.Config = e.Config.ForSpoke(id)
	if hub.Account == "" {
		return e
	}
	if id.Hub() {
		e.Log = e.Log.With("account", hub.Account, "region", hub.Region)
		return e
	}
	e.Log = e.Log.With("account", id.Account, "region", id.Region)
	e.Metrics = e.Metrics.ForSpoke(id)
	if hubs := e.Endpoints; hubs != nil {
		e.Endpoints = func(cluster string) (string, []byte, http.RoundTripper, bool) { return hubs(id.Qualify(cluster)) }
	}
	reader := e.As(spec.SpokeReader)
	e.spokeReader, e.AWSAsReader = &reader, &reader
	return e
}

// Watched is AWS as what looks at the spoke: the function itself in the hub's own account
// and region, the spoke's role reader elsewhere.
func (e Env) Watched() aws.Config {
	if e.spokeReader != nil {
		return *e.spokeReader
	}
	return e.AWS
}

// Reading is the same with another way to read the spoke by (package askonce, or limits).
func (e Env) Reading(by func(aws.Config) aws.Config) Env {
	if e.spokeReader == nil {
		e.AWS = by(e.AWS)
		return e
	}
	reader := by(*e.spokeReader)
	e.spokeReader = &reader
	return e
}

// As is AWS in one of the spoke's roles; in the hub's own account and region the function
// itself.
func (e Env) As(role spec.SpokeRole) aws.Config {
	if e.Config.Spoke.Hub() {
		return e.AWS
	}
	return awsconf.Assume(e.AWS, awsconf.Role{
		ARN: e.Config.SpokeRole(role), Session: e.Function, ExternalID: e.Config.ExternalID, Region: e.Config.Spoke.Region,
	}, e.Now)
}

// AsksRelays is AWS as who asks the relays of the spoke's clusters: who reads in them. It is
// nil for the hub's own where the function is in the operator's VPC, and reaches them itself.
func (e Env) AsksRelays() *aws.Config {
	if e.Config.InVPC && e.Config.Spoke.Hub() {
		return nil
	}
	return e.AWSAsReader
}

// handlerFor is the handler of a spoke, made when it is first wanted.
func (f *Function) handlerFor(ctx context.Context, id spoke.ID) (*spokeHandler, error) {
	if h, ok := f.handlers[id]; ok {
		return h, nil
	}
	h := &spokeHandler{}
	e := f.env.ForSpoke(id)
	h.log = e.Log
	e.Register = func(a Around) { h.around = append(h.around, a) }
	e.ForAll = func(do func(context.Context, json.RawMessage) error) { h.whole = do }
	var err error
	if h.handle, err = f.build(ctx, e); err != nil {
		return nil, fmt.Errorf("prepare %s: %w", f.name, err)
	}
	f.handlers[id] = h
	return h, nil
}

func (h *spokeHandler) invoke(ctx context.Context, raw json.RawMessage) (any, error) {
	for _, a := range h.around {
		a.Begin(raw)
	}
	answer, err := h.handle(ctx, raw)
	for _, a := range h.around {
		a.Flush(ctx)
	}
	return answer, err
}

// part is what an invocation brings for one spoke.
type part struct {
	of  spoke.ID
	raw json.RawMessage
	// messages are those of a batch.
	messages []string
}

// record is a message of a batch, as far as sorting it takes.
type record struct {
	MessageID string `json:"messageId"`
	Body      string `json:"body"`
}

// handleParts has each spoke's handler do its part. One spoke's trouble is its own: the
// messages of the others are not given back for it, and no schedule of the hub is
// repeated.
func (f *Function) handleParts(ctx context.Context, raw json.RawMessage) (any, error) {
	parts, batch := f.parts(ctx, raw)
	if len(parts) == 1 && parts[0].of.Hub() {
		h, err := f.handlerFor(ctx, spoke.ID{})
		if err != nil {
			return nil, err
		}
		if !batch {
			err = f.handleWhole(ctx, raw)
		}
		answer, wrong := h.invoke(ctx, parts[0].raw)
		return answer, errors.Join(err, wrong)
	}
	var failed []string
	var answer any
	var hubs error
	if !batch && len(parts) > 1 {
		hubs = f.handleWhole(ctx, raw)
	}
	for i, p := range parts {
		got, err := f.handlePart(ctx, p, len(parts)-i)
		switch a, ok := got.(inbox.Answer); {
		case err != nil && batch:
			failed = append(failed, p.messages...)
		case err != nil && p.of.Hub():
			hubs = errors.Join(hubs, err)
		case ok && batch:
			for _, m := range a.Failures {
				failed = append(failed, m.ID)
			}
		case p.of.Hub():
			answer = got
		}
	}
	if batch {
		return inbox.Failures(failed), nil
	}
	return answer, hubs
}

// handleWhole does what the hub's handler does once for all spokes, before any of them has
// its part, in half of the time at most: that is theirs, and what this does takes seconds.
func (f *Function) handleWhole(ctx context.Context, raw json.RawMessage) error {
	h, err := f.handlerFor(ctx, spoke.ID{})
	if err != nil || h.whole == nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	return h.whole(ctx, raw)
}

// handlePart does one part, in its share of the time that is left.
func (f *Function) handlePart(ctx context.Context, p part, left int) (any, error) {
	h, err := f.handlerFor(ctx, p.of)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	answer, err := h.invoke(ctx, p.raw)
	if err != nil {
		f.metrics.Count("FailedSpokes", 1)
		f.metrics.Count(Failures, 1)
		h.log.ErrorContext(ctx, "what is of this account and region could not be done", "error", err.Error())
	}
	return answer, err
}

// parts sorts an invocation by spoke, the hub's own first. What is forged, or of no
// watched spoke, is counted and left out: no later attempt could handle it.
func (f *Function) parts(ctx context.Context, raw json.RawMessage) (parts []part, batch bool) {
	whole := []part{{raw: raw}}
	if _, batch = inbox.Batch(raw); !batch {
		whose, ok := f.origin(ctx, raw, "")
		if !ok {
			return nil, false
		}
		ids := []spoke.ID{whose.Spoke}
		if whose.All {
			for _, s := range f.env.Config.Others() {
				ids = append(ids, s.ID)
			}
		}
		if len(ids) == 1 && ids[0].Hub() {
			return whole, false
		}
		for _, id := range ids {
			parts = append(parts, part{of: id, raw: addressed(raw, id)})
		}
		return parts, false
	}
	var b struct {
		Records []json.RawMessage `json:"Records"`
	}
	if json.Unmarshal(raw, &b) != nil {
		return whole, true
	}
	records := map[spoke.ID][]json.RawMessage{}
	messages := map[spoke.ID][]string{}
	all := true
	for _, one := range b.Records {
		var r record
		if json.Unmarshal(one, &r) != nil {
			return whole, true
		}
		whose, ok := f.origin(ctx, json.RawMessage(r.Body), r.MessageID)
		if !ok {
			all = false
			continue
		}
		records[whose.Spoke] = append(records[whose.Spoke], one)
		messages[whose.Spoke] = append(messages[whose.Spoke], r.MessageID)
	}
	if all && len(records[spoke.ID{}]) == len(b.Records) {
		return whole, true
	}
	for id, list := range records {
		// A list of what was JSON is JSON.
		part := part{of: id, messages: messages[id]}
		part.raw = slices.Concat([]byte(`{"Records":[`), bytes.Join(asBytes(list), []byte(",")), []byte(`]}`))
		parts = append(parts, part)
	}
	slices.SortFunc(parts, func(a, b part) int { return bytes.Compare([]byte(a.of.String()), []byte(b.of.String())) })
	return parts, true
}

func asBytes(list []json.RawMessage) [][]byte {
	all := make([][]byte, len(list))
	for i := range list {
		all[i] = list[i]
	}
	return all
}

// addressed is a schedule or a wish of all as if it were a spoke's own.
func addressed(raw json.RawMessage, id spoke.ID) json.RawMessage {
	var members map[string]json.RawMessage
	if id.Hub() || json.Unmarshal(raw, &members) != nil {
		return raw
	}
	account, err := json.Marshal(id.Account)
	region, wrong := json.Marshal(id.Region)
	if err != nil || wrong != nil || members["source"] == nil {
		return raw
	}
	members["account"], members["region"] = account, region
	out, err := json.Marshal(members)
	if err != nil {
		return raw
	}
	return out
}

// origin tells whose a message is; false for what is left out. What cannot be read is for
// the hub's handler, which has it dead-lettered.
func (f *Function) origin(ctx context.Context, body json.RawMessage, message string) (inbox.Origin, bool) {
	w, err := inbox.OriginOf(body, f.env.Config.Hub)
	forged := new(inbox.Forged)
	switch {
	case errors.As(err, &forged):
		f.metrics.Count("ForgedEvents", 1)
		f.log.WarnContext(ctx, "an event is not whose it says, and is refused", "message", message, "type", forged.Type,
			"account", forged.Envelope.Account, "region", forged.Envelope.Region, "says", forged.Says)
		return inbox.Origin{}, false
	case err != nil:
		return inbox.Origin{}, true
	case !f.env.Config.Watched(w.Spoke):
		f.metrics.Count("ForeignAccounts", 1)
		f.log.WarnContext(ctx, "a message is of an account and region that are not watched, and is left out", "message", message,
			"account", w.Spoke.Account, "region", w.Spoke.Region)
		return inbox.Origin{}, false
	}
	return w, true
}
