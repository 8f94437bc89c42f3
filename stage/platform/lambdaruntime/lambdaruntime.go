package lambdaruntime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// maxAnswer is the largest answer that Lambda takes: 6 MB, and some room for
// the runtime's own framing.
const maxAnswer = 6<<20 + 100<<10

// routes serves the four routes of the Runtime API to one process.
func (e *environment) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", e.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", func(w http.ResponseWriter, req *http.Request) {
		e.answer(w, req, false)
	})
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", func(w http.ResponseWriter, req *http.Request) {
		e.answer(w, req, true)
	})
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(io.LimitReader(req.Body, maxAnswer))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		select {
		case e.initFail <- body:
		default: // only the first counts
		}
		w.WriteHeader(http.StatusAccepted)
	})
	return mux
}

// next blocks until there is an event.
func (e *environment) next(w http.ResponseWriter, req *http.Request) {
	e.mu.Lock()
	if !e.started {
		e.started = true
		close(e.ready)
	} else if e.current != nil {
		select {
		case <-e.current.settled:
		default:
			close(e.current.settled)
		}
	}
	e.mu.Unlock()
	select {
	case work := <-e.work:
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", work.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(work.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", work.arn)
		h.Set("Content-Type", "application/json")
		// If the process is gone the write fails; run sees its end.
		_, _ = w.Write(work.event)
	case <-e.dead:
	case <-req.Context().Done():
	}
}

func (e *environment) answer(w http.ResponseWriter, req *http.Request, failed bool) {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxAnswer+1))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := req.PathValue("id")
	e.mu.Lock()
	current := e.current
	e.mu.Unlock()
	if current == nil || current.id != id {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(errorObject("InvalidRequestID", "%q is not the current request", id))
		return
	}
	out := outcome{payload: body, failed: failed}
	status := http.StatusAccepted
	if len(body) > maxAnswer {
		status = http.StatusRequestEntityTooLarge
		out = outcome{failed: true, payload: errorObject("Function.ResponseSizeTooLarge", "Response payload size exceeded maximum allowed payload size (6291556 bytes).")}
	}
	select {
	case current.done <- out:
	default: // answered twice: the first counts
	}
	w.WriteHeader(status)
}

// InvokeAsync takes an event and returns at once with the request id. A
// failed event is tried again after one and then after two minutes of stage
// time, as Lambda does; one that still fails goes to the function's
// destination and dead-letter queue.
func (r *Runtime) InvokeAsync(name string, event []byte) (string, error) {
	f, err := r.begin(name)
	if err != nil {
		return "", err
	}
	id := r.o.NewID()
	go func() {
		defer r.end()
		r.attempts(f, id, event)
	}()
	return id, nil
}

func (r *Runtime) attempts(f *function, id string, event []byte) {
	accepted := r.o.Clock.Now()
	for attempt := 1; ; attempt++ {
		res, err := r.invoke(r.ctx, f, id, event)
		if err != nil {
			if r.ctx.Err() != nil {
				return // the stage ends
			}
			// The process could not be started at all: to the function's
			// event that is a failed attempt like any other.
			res = Result{RequestID: id, FunctionError: "Unhandled", MaxMemoryMB: -1, Payload: errorObject("Runtime.Unknown", "%v", err)}
		}
		r.o.Observe(Invocation{Function: f.Name, Async: true, Attempt: attempt, Event: event, Result: res})
		wait := time.Duration(attempt) * time.Minute
		switch decide(res, attempt, f.MaxRetries, r.o.Clock.Now().Add(wait).Sub(accepted), f.MaxAge) {
		case succeeded:
			r.destination(f, f.OnSuccessARN, "Success", event, res, attempt)
			return
		case exhausted:
			r.giveUp(f, "RetriesExhausted", event, res, attempt)
			return
		case tooOld:
			r.giveUp(f, "EventAgeExceeded", event, res, attempt)
			return
		case again:
			if !r.sleep(wait) {
				return
			}
		}
	}
}

type verdict int

const (
	succeeded verdict = iota
	again
	exhausted
	tooOld
)

// decide tells what comes after an attempt; age is how old the event will be
// at the next one.
func decide(res Result, attempt, maxRetries int, age, maxAge time.Duration) verdict {
	switch {
	case res.FunctionError == "":
		return succeeded
	case attempt > maxRetries:
		return exhausted
	case age > maxAge:
		return tooOld
	default:
		return again
	}
}

// sleep waits for the next attempt; false when the stage ends.
func (r *Runtime) sleep(d time.Duration) bool {
	r.mu.Lock()
	r.count(-1)
	r.backoff++
	r.mu.Unlock()
	err := r.o.Clock.Sleep(r.ctx, d)
	r.mu.Lock()
	r.count(1)
	r.backoff--
	r.mu.Unlock()
	return err == nil
}

func (r *Runtime) giveUp(f *function, condition string, event []byte, res Result, attempts int) {
	r.destination(f, f.OnFailureARN, condition, event, res, attempts)
	if f.DeadLetterARN == "" || r.o.Send == nil {
		return
	}
	var object struct {
		Message string `json:"errorMessage"`
	}
	if err := json.Unmarshal(res.Payload, &object); err != nil {
		object.Message = "Unknown"
	}
	// Lambda's dead letter is the event itself with these attributes.
	err := r.o.Send(f.DeadLetterARN, string(event), map[string]string{
		"RequestID": res.RequestID, "ErrorCode": "200", "ErrorMessage": object.Message,
	})
	r.sendFailed(f, res.RequestID, f.DeadLetterARN, err)
}

// destination sends an invocation record, as the Lambda guide shows it.
func (r *Runtime) destination(f *function, arn, condition string, event []byte, res Result, attempts int) {
	if arn == "" || r.o.Send == nil {
		return
	}
	type object = map[string]any
	response := object{"statusCode": 200, "executedVersion": "$LATEST"}
	if res.FunctionError != "" {
		response["functionError"] = res.FunctionError
	}
	record, err := json.Marshal(object{
		"version": "1.0", "timestamp": r.o.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"requestContext": object{
			"requestId": res.RequestID, "functionArn": f.ARN + ":$LATEST", "condition": condition, "approximateInvokeCount": attempts,
		},
		"requestPayload": rawOrText(event), "responseContext": response, "responsePayload": rawOrText(res.Payload),
	})
	if err == nil {
		err = r.o.Send(arn, string(record), nil)
	}
	r.sendFailed(f, res.RequestID, arn, err)
}

// sendFailed says in the function's log what was lost.
func (r *Runtime) sendFailed(f *function, id, arn string, err error) {
	if err != nil {
		r.o.Log(Line{Time: time.Now(), Function: f.Name, RequestID: id, Stream: "platform", Text: fmt.Sprintf("LOST RequestId: %s could not be sent to %s: %v", id, arn, err)})
	}
}

// rawOrText keeps JSON as it is and makes a string of anything else.
func rawOrText(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	if json.Valid(b) {
		return json.RawMessage(b)
	}
	return string(b)
}

// MemoryOfOneCPU is the memory, in MB, at which a function has one whole vCPU;
// its share is in proportion to its memory (Lambda Developer Guide, "Configure
// Lambda function memory": at 1,769 MB a function has the equivalent of one
// vCPU).
const MemoryOfOneCPU = 1769

// CPUShare is the share of a core that a function of so much memory has: 0.145
// for 256 MB. Over 1 it is more than one core.
func CPUShare(memoryMB int) float64 { return float64(memoryMB) / MemoryOfOneCPU }

// cpuPeriod is the span over which a share is held: the Linux scheduler's own
// for CPU quotas (cpu.cfs_period_us, 100,000). A process with a tenth of a core
// that is always busy works for 10 ms and then waits for 90.
const cpuPeriod = 100 * time.Millisecond

// minQuota is the least that the scheduler takes as a quota: 1 ms a period.
const minQuota = time.Millisecond

// cpuQuota is how long a process may work in each period.
func cpuQuota(share float64) time.Duration {
	return max(time.Duration(share*float64(cpuPeriod)), minQuota)
}

// CPULimiter holds processes to a share of a core.
type CPULimiter interface {
	// Command is what runs a program within a share of a core. Release gives back
	// what that took, when the process has ended.
	Command(program string, share float64) (cmd *exec.Cmd, release func(), err error)
	// Started is called with each process that has started; stop ends what it does to it.
	Started(cmd *exec.Cmd, share float64) (stop func())
	// How tells people by what means.
	How() string
}

// wholeCores runs programs as they are.
type wholeCores struct{}

func (wholeCores) Command(program string, _ float64) (*exec.Cmd, func(), error) {
	return exec.Command(program), func() {}, nil
}

func (wholeCores) Started(*exec.Cmd, float64) func() { return func() {} }

func (wholeCores) How() string { return "whole cores" }

// environment is one execution environment: a process and the Runtime API
// server that it alone talks to.
type environment struct {
	cmd *exec.Cmd
	// cut ends a program that is called as Go; nil for a process.
	cut func()
	// unlimit ends what holds the process to its share of a core; release gives
	// back what that took.
	unlimit, release func()
	server           *http.Server
	lines            *lineLog

	ready    chan struct{} // closed when the process asks for its first event
	initFail chan []byte   // the body of an initialisation error
	work     chan *work
	dead     chan struct{} // closed when the process has ended
	version  int           // of the function's configuration
	exit     error         // why; set before dead is closed

	mu      sync.Mutex
	started bool // ready is closed
	current *work
}

// work is one event for a process.
type work struct {
	id       string
	arn      string
	event    []byte
	deadline time.Time
	done     chan outcome  // capacity 1
	settled  chan struct{} // closed when the process asks for the next event
}

// outcome is an answer or an error object.
type outcome struct {
	payload []byte
	failed  bool
}

// errorObject writes an error as the platform does when the function cannot.
func errorObject(kind, format string, args ...any) []byte {
	b, err := json.Marshal(map[string]string{"errorType": kind, "errorMessage": fmt.Sprintf(format, args...)})
	if err != nil {
		return []byte(`{"errorType":"Runtime.Unknown"}`)
	}
	return b
}

// start starts a program.
func (r *Runtime) start(ctx context.Context, f *function, id string) (*environment, time.Duration, *outcome, error) {
	if f.Inside != nil {
		return r.startInside(f, id), 0, nil, nil
	}
	return r.startProcess(ctx, f, id)
}

// startProcess starts a process and waits until it asks for its first event. An
// outcome says that the process failed to get there.
func (r *Runtime) startProcess(ctx context.Context, f *function, id string) (*environment, time.Duration, *outcome, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, 0, nil, fmt.Errorf("listen for the runtime API: %w", err)
	}
	e := &environment{
		ready: make(chan struct{}), initFail: make(chan []byte, 1), work: make(chan *work), dead: make(chan struct{}),
		lines: &lineLog{function: f.Name, to: r.o.Log, id: id},
	}
	e.server = &http.Server{Handler: e.routes(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		// Serve ends when kill closes the server.
		_ = e.server.Serve(listener)
	}()
	binary, env, version := f.configuration()
	share := CPUShare(f.Memory)
	cmd, release, err := r.o.CPU.Command(binary, share)
	if err != nil {
		return nil, 0, nil, errors.Join(fmt.Errorf("start %s: %w", binary, err), e.server.Close())
	}
	e.cmd, e.release = cmd, release
	e.cmd.Dir = filepath.Dir(binary)
	e.version = version
	e.cmd.Env = r.variables(f, e.cmd.Dir, env, listener.Addr().String())
	e.cmd.Stdout, e.cmd.Stderr = e.lines.stream("stdout"), e.lines.stream("stderr")
	e.cmd.SysProcAttr = childAttributes()
	// A grandchild that keeps the pipes open must not keep Wait from
	// returning.
	e.cmd.WaitDelay = time.Second
	began := time.Now()
	if err := r.spawner.start(e.cmd); err != nil {
		release()
		return nil, 0, nil, errors.Join(fmt.Errorf("start %s: %w", binary, err), e.server.Close())
	}
	e.unlimit = r.o.CPU.Started(e.cmd, share)
	f.add(e)
	go e.watch()
	timer := time.NewTimer(r.o.InitTimeout)
	defer timer.Stop()
	fail := func(payload []byte) (*environment, time.Duration, *outcome, error) {
		f.forget(e)
		return nil, time.Since(began), &outcome{payload: payload, failed: true}, nil
	}
	select {
	case <-e.ready:
		return e, time.Since(began), nil, nil
	case body := <-e.initFail:
		return fail(body)
	case <-e.dead:
		select {
		case body := <-e.initFail:
			return fail(body)
		default:
		}
		return fail(exitError(id, e.exit))
	case <-timer.C:
		return fail(errorObject("Sandbox.Timedout", "RequestId: %s Error: Task timed out after %.2f seconds", id, r.o.InitTimeout.Seconds()))
	case <-ctx.Done():
		f.forget(e)
		return nil, 0, nil, ctx.Err()
	}
}

func exitError(id string, exit error) []byte {
	if exit == nil {
		// A runtime that ends by itself, even with status 0, has failed its
		// invocation.
		return errorObject("Runtime.ExitError", "RequestId: %s Error: Runtime exited without providing a reason", id)
	}
	return errorObject("Runtime.ExitError", "RequestId: %s Error: Runtime exited with error: %v", id, exit)
}

// watch waits for the end of the process.
func (e *environment) watch() {
	e.exit = e.cmd.Wait()
	e.unlimit()
	// What the process may have started itself goes with it. At once, because
	// later its number may belong to another process.
	killGroup(e.cmd.Process.Pid)
	e.lines.flush()
	e.release()
	close(e.dead)
	_ = e.server.Close()
}

func (e *environment) ended() bool {
	select {
	case <-e.dead:
		return true
	default:
		return false
	}
}

// kill ends the process with all its children and waits for its end.
func (e *environment) kill() {
	if e.cut != nil {
		e.cut()
	} else if !e.ended() {
		killGroup(e.cmd.Process.Pid)
	}
	<-e.dead
}

// run hands an event to a process that waits for one.
func (r *Runtime) run(ctx context.Context, f *function, e *environment, id string, event []byte) (Result, error) {
	began := time.Now()
	w := &work{id: id, arn: f.ARN, event: event, deadline: began.Add(f.Timeout), done: make(chan outcome, 1), settled: make(chan struct{})}
	e.lines.begin(id)
	e.mu.Lock()
	e.current = w
	e.mu.Unlock()
	timer := time.NewTimer(f.Timeout)
	defer timer.Stop()
	var out outcome
	memory := -1
	work := e.work
wait:
	for {
		select {
		case work <- w:
			work = nil // handed over; from here on only wait
		case out = <-w.done:
			break wait
		case <-e.dead:
			select {
			case out = <-w.done: // answered, then ended
			default:
				out = outcome{payload: exitError(id, e.exit), failed: true}
			}
			break wait
		case <-timer.C:
			memory = e.memory() // while there is a process to ask
			e.kill()
			out = outcome{payload: errorObject("Sandbox.Timedout", "RequestId: %s Error: Task timed out after %.2f seconds", id, f.Timeout.Seconds()), failed: true}
			break wait
		case <-ctx.Done():
			e.kill()
			return Result{}, ctx.Err()
		}
	}
	duration := time.Since(began)
	if memory < 0 {
		memory = e.memory()
	}
	res := Result{RequestID: id, Payload: out.payload, Duration: duration, MaxMemoryMB: memory}
	if out.failed {
		res.FunctionError = "Unhandled"
	}
	return res, nil
}

// settle waits until the process asks for the next event; false if it has
// ended, does neither in time, or the runtime is closed.
func (e *environment) settle(ctx context.Context, limit time.Duration) bool {
	e.mu.Lock()
	w := e.current
	e.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-e.dead:
		return false
	case <-w.settled:
		return true
	case <-ctx.Done():
		return false
	case <-timer.C:
		return false
	}
}

// function is a function with its processes.
type function struct {
	Function
	slots chan struct{} // one for each invocation that runs

	mu   sync.Mutex
	free []*environment // wait for an event
	all  map[*environment]bool
	// version counts how often the function was configured anew.
	version int
}

// configure changes the variables of the processes that start from now on, and
// ends those that wait for an event.
func (f *function) configure(env map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Env = env
	f.version++
	for _, e := range f.free {
		delete(f.all, e)
		e.kill()
	}
	f.free = nil
}

// replace changes the program of the processes that start from now on, and ends
// those that wait for an event.
func (f *function) replace(binary string) {
	f.mu.Lock()
	f.Binary = binary
	env := f.Env
	f.mu.Unlock()
	f.configure(env)
}

// configuration is what a process starts with.
func (f *function) configuration() (binary string, env map[string]string, version int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Binary, f.Env, f.version
}

// idle takes a waiting process, the one used last first, as Lambda does; nil
// if there is none.
func (f *function) idle() *environment {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.free) > 0 {
		e := f.free[len(f.free)-1]
		f.free = f.free[:len(f.free)-1]
		if !e.ended() {
			return e
		}
		delete(f.all, e)
	}
	return nil
}

func (f *function) add(e *environment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = make(map[*environment]bool)
	}
	f.all[e] = true
}

// giveBack keeps a process for the next event, unless its configuration is an
// old one.
func (f *function) giveBack(e *environment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.version != f.version {
		delete(f.all, e)
		e.kill()
		return
	}
	f.free = append(f.free, e)
}

func (f *function) forget(e *environment) {
	e.kill()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, e)
}

func (f *function) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for e := range f.all {
		e.kill()
	}
	f.all, f.free = nil, nil
}

// Program is a function that is called as Go, in this process. Like a process it is
// started once for many invocations, one at a time, with its environment and what
// takes its log. Its context ends when it is killed: from then on nothing that it
// does may reach anybody.
type Program func(life context.Context, env map[string]string, log io.Writer) func(ctx context.Context, event json.RawMessage) (any, error)

// errKilled is how a process ends that is killed.
var errKilled = errors.New("signal: killed")

// startInside starts a program that is called as Go.
func (r *Runtime) startInside(f *function, id string) *environment {
	_, env, version := f.configuration()
	// Not r.ctx: what runs when the runtime is closed is killed by it.
	life, end := context.WithCancel(context.Background())
	e := &environment{
		work: make(chan *work), dead: make(chan struct{}), version: version,
		lines: &lineLog{function: f.Name, to: r.o.Log, id: id},
	}
	e.cut = sync.OnceFunc(func() {
		end()
		e.exit = errKilled
		close(e.dead)
	})
	variables := map[string]string{"AWS_REGION": r.o.Region, "AWS_LAMBDA_FUNCTION_NAME": f.Name}
	for name, value := range env {
		variables[name] = value
	}
	invoke := f.Inside(life, variables, e.lines.stream("stdout"))
	f.add(e)
	r.programs.Go(func() {
		for {
			select {
			case w := <-e.work:
				out, alive := call(life, f.ARN, invoke, w)
				w.done <- out // it has room for one
				if !alive {
					e.cut()
				}
				close(w.settled)
			case <-e.dead:
				return
			}
		}
	})
	return e
}

// call is one invocation. Its error is written as the Go runtime of Lambda writes it
// (github.com/aws/aws-lambda-go, lambda/errors.go). A panic ends the program.
func call(life context.Context, arn string, invoke func(context.Context, json.RawMessage) (any, error), w *work) (out outcome, alive bool) {
	ctx, cancel := context.WithDeadline(life, w.deadline)
	defer cancel()
	ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: w.id, InvokedFunctionArn: arn})
	defer func() {
		if p := recover(); p != nil {
			slog.Debug("a function panicked", "value", p, "stack", string(debug.Stack()))
			out, alive = outcome{payload: errorObject("string", "%v", p), failed: true}, false
		}
	}()
	answer, err := invoke(ctx, json.RawMessage(w.event))
	if err == nil {
		var payload []byte
		if payload, err = json.Marshal(answer); err == nil {
			return outcome{payload: payload}, true
		}
	}
	kind := reflect.TypeOf(err)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	return outcome{payload: errorObject(kind.Name(), "%s", err.Error()), failed: true}, true
}

// memory is the largest resident size of a process so far, in MB; -1 where it cannot
// be read, and for a program that is called as Go.
func (e *environment) memory() int {
	if e.cmd == nil {
		return -1
	}
	return maxMemoryMB(e.cmd)
}

// settleWait bounds how long an answer is held back for a process that is
// slow to ask for its next event.
const settleWait = 100 * time.Millisecond

// invoke runs one attempt.
func (r *Runtime) invoke(ctx context.Context, f *function, id string, event []byte) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
		return Result{}, fmt.Errorf("invoke %q: %w", f.Name, ctx.Err())
	}
	e := f.idle()
	var started time.Duration
	if e == nil {
		var failed *outcome
		var err error
		e, started, failed, err = r.start(ctx, f, id)
		if err != nil || failed != nil {
			<-f.slots
			if err != nil {
				return Result{}, fmt.Errorf("invoke %q: %w", f.Name, err)
			}
			res := Result{RequestID: id, Payload: failed.payload, FunctionError: "Unhandled", Init: started, MaxMemoryMB: -1}
			r.report(f, res)
			return res, nil
		}
	}
	res, err := r.run(ctx, f, e, id, event)
	res.Init = started
	// Others get the slot when the process has asked for its next event or
	// has ended. The caller waits a little for that, most often less than a
	// millisecond, so that calls one after the other find the process free.
	settled := make(chan struct{})
	r.tasks.Add(1)
	go func() {
		defer r.tasks.Done()
		defer close(settled)
		if e.settle(r.ctx, f.Timeout) {
			f.giveBack(e)
		} else {
			f.forget(e)
		}
		<-f.slots
	}()
	timer := time.NewTimer(settleWait)
	defer timer.Stop()
	select {
	case <-settled:
	case <-timer.C:
	}
	if err != nil {
		return Result{}, fmt.Errorf("invoke %q: %w", f.Name, err)
	}
	r.report(f, res)
	return res, nil
}

// Kill kills the processes of a function that wait for an event, as Lambda
// does with those that it no longer needs. The next invocation starts a new one.
func (r *Runtime) Kill(name string) {
	f, err := r.begin(name)
	if err != nil {
		return // closed, or no such function: nothing to kill
	}
	defer r.end()
	for e := f.idle(); e != nil; e = f.idle() {
		f.forget(e)
	}
}

// Line is one line of a function's log.
type Line struct {
	Time      time.Time // on the wall
	Function  string
	RequestID string
	// Stream is "stdout", "stderr" or "platform".
	Stream string
	Text   string
}

// maxLine is where a line without an end is cut, as CloudWatch Logs would
// (256 KB an event).
const maxLine = 256 << 10

// lineLog cuts what a process writes into lines.
type lineLog struct {
	function string
	to       func(Line)

	mu      sync.Mutex
	id      string // of the invocation that runs, or ran last
	streams []*lineStream
}

type lineStream struct {
	log  *lineLog
	name string
	rest []byte
}

var _ io.Writer = (*lineStream)(nil)

func (l *lineLog) stream(name string) *lineStream {
	s := &lineStream{log: l, name: name}
	l.streams = append(l.streams, s)
	return s
}

// begin starts an invocation's part of the log.
func (l *lineLog) begin(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.id = id
	l.to(Line{Time: time.Now(), Function: l.function, RequestID: id, Stream: "platform", Text: "START RequestId: " + id + " Version: $LATEST"})
}

// Write takes output of the process.
func (s *lineStream) Write(b []byte) (int, error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.rest = append(s.rest, b...)
	for {
		i := bytes.IndexByte(s.rest, '\n')
		if i < 0 && len(s.rest) < maxLine {
			return len(b), nil
		}
		if i < 0 || i > maxLine {
			s.emit(s.rest[:maxLine])
			s.rest = s.rest[maxLine:]
			continue
		}
		s.emit(s.rest[:i])
		s.rest = s.rest[i+1:]
	}
}

func (s *lineStream) emit(text []byte) {
	s.log.to(Line{Time: time.Now(), Function: s.log.function, RequestID: s.log.id, Stream: s.name, Text: string(text)})
}

// flush emits what the process left without an end of line.
func (l *lineLog) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		if len(s.rest) > 0 {
			s.emit(s.rest)
			s.rest = nil
		}
	}
}

// report writes the END and REPORT lines of the platform. Lines that the
// process wrote last may follow them: they come through a pipe, the answer
// over a socket.
func (r *Runtime) report(f *function, res Result) {
	line := func(text string) {
		r.o.Log(Line{Time: time.Now(), Function: f.Name, RequestID: res.RequestID, Stream: "platform", Text: text})
	}
	if res.FunctionError != "" {
		line(fmt.Sprintf("ERROR RequestId: %s %s", res.RequestID, res.Payload))
	}
	line("END RequestId: " + res.RequestID)
	memory := "unknown"
	if res.MaxMemoryMB >= 0 {
		memory = fmt.Sprintf("%d MB", res.MaxMemoryMB)
		if res.MaxMemoryMB > f.Memory {
			memory += " (over the limit: Lambda would have killed it)"
		}
	}
	text := fmt.Sprintf("REPORT RequestId: %s\tDuration: %.2f ms\tBilled Duration: %d ms\tMemory Size: %d MB\tMax Memory Used: %s",
		res.RequestID, milliseconds(res.Duration), (res.Duration+res.Init+time.Millisecond-1)/time.Millisecond, f.Memory, memory)
	if res.Init > 0 {
		text += fmt.Sprintf("\tInit Duration: %.2f ms", milliseconds(res.Init))
	}
	line(text)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
