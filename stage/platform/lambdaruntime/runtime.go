// Package lambdaruntime runs real function binaries as AWS Lambda would: it
// serves the Lambda Runtime API to one process for each concurrent
// invocation, enforces timeouts, starts a new process after a crash, reports
// memory and durations, and carries out asynchronous invocations with their
// retries and dead letters.
//
// Functions live in wall time: deadlines and timeouts are not scaled, because
// a process cannot work faster than it does. Only what lies between
// invocations (the back-off of retries) runs on the stage clock.
package lambdaruntime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strconv"
	"sync"
	"time"

	"rollcall/stage/simclock"
)

// Function is a function to run.
type Function struct {
	Name    string
	ARN     string
	Handler string
	// Binary is the path of the executable.
	Binary string
	// Inside, if any, is called as Go in place of the executable.
	Inside Program
	// Env is the function's own environment: that of the template and what
	// the stage adds (credentials, endpoints, its clock). The variables that
	// Lambda sets itself come from the fields here.
	Env     map[string]string
	Timeout time.Duration
	Memory  int // MB
	// Concurrency is the most invocations at a time; more wait. Zero means
	// 10. (Lambda would throttle instead; a stage on one machine has not the
	// cores to tell the difference.)
	Concurrency int
	// MaxRetries of asynchronous invocations; negative means 2, as Lambda
	// has it.
	MaxRetries int
	// MaxAge of asynchronous events; zero means 6 hours, as Lambda has it.
	MaxAge time.Duration
	// OnFailureARN and DeadLetterARN are the queues for events given up.
	OnFailureARN, DeadLetterARN string
	// OnSuccessARN is the queue for records of successes.
	OnSuccessARN string
}

// Options are the settings of a Runtime.
type Options struct {
	// Clock is the stage clock, for the back-off of retries; a patient one
	// slows down while functions run. Nil is the wall's own.
	Clock *simclock.Clock
	// NewID makes request ids.
	NewID func() string
	// Region and AccountID are set in the functions' environment.
	Region, AccountID string
	// Log takes each line that functions write, and the START, END and
	// REPORT lines of the platform. It must not block. Nil drops them.
	Log func(Line)
	// Observe takes each invocation that has ended. Nil drops them.
	Observe func(Invocation)
	// Send puts a message into a queue: dead letters and destinations.
	Send func(queueARN, body string, attributes map[string]string) error
	// InitTimeout is how long a process may take to ask for its first event;
	// zero means 10 seconds, as Lambda has it.
	InitTimeout time.Duration
	// CPU holds each process to the share of a core that Lambda gives a function
	// of its memory; nil gives it whole cores.
	CPU CPULimiter
}

// Result is what an invocation came to.
type Result struct {
	RequestID string
	// Payload is the function's answer, or the error object.
	Payload []byte
	// FunctionError is empty for success, else "Unhandled", as in the header
	// X-Amz-Function-Error.
	FunctionError string
	// Duration is from handing the event over to the answer.
	Duration time.Duration
	// Init is how long the process took from its start to asking for its
	// first event; zero if it had been started before.
	Init time.Duration
	// MaxMemoryMB is the largest resident size of the process so far, -1
	// where it cannot be read.
	MaxMemoryMB int
}

// Invocation is a Result with what it was about.
type Invocation struct {
	Function string
	Async    bool
	Attempt  int // from 1
	Event    []byte
	Result   Result
}

// Runtime runs functions. Make one with New and end it with Close.
type Runtime struct {
	o       Options
	ctx     context.Context
	stop    context.CancelFunc
	spawner *spawner

	mu        sync.Mutex
	functions map[string]*function
	running   int    // invocations running or waiting for a process
	rest      func() // tells the clock that none of them runs
	backoff   int    // asynchronous events that wait for their next attempt
	closed    bool
	tasks     sync.WaitGroup
	// programs are those that are called as Go: one that was killed goes on until its
	// last call has failed.
	programs sync.WaitGroup
}

// ErrNoFunction says that there is no function of that name.
var ErrNoFunction = errors.New("no such function")

// ErrClosed says that the runtime was closed.
var ErrClosed = errors.New("the runtime is closed")

// New returns a runtime without functions.
func New(o Options) *Runtime {
	if o.CPU == nil {
		o.CPU = wholeCores{}
	}
	if o.InitTimeout == 0 {
		o.InitTimeout = 10 * time.Second
	}
	if o.Clock == nil {
		now := time.Now()
		o.Clock = simclock.New(now, now, 1)
	}
	if o.Log == nil {
		o.Log = func(Line) {}
	}
	if o.Observe == nil {
		o.Observe = func(Invocation) {}
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Runtime{o: o, ctx: ctx, stop: stop, spawner: newSpawner(), functions: make(map[string]*function)}
}

// Add makes a function known.
func (r *Runtime) Add(f Function) error {
	if f.Inside == nil {
		info, err := os.Stat(f.Binary)
		if err != nil {
			return fmt.Errorf("function %q: %w", f.Name, err)
		}
		if info.IsDir() || info.Mode()&0o111 == 0 {
			return fmt.Errorf("function %q: %s is not an executable file", f.Name, f.Binary)
		}
	}
	if f.Timeout <= 0 || f.Memory <= 0 {
		return fmt.Errorf("function %q: timeout %v and memory %d MB must be positive", f.Name, f.Timeout, f.Memory)
	}
	if f.Concurrency <= 0 {
		f.Concurrency = 10
	}
	if f.MaxRetries < 0 {
		f.MaxRetries = 2
	}
	if f.MaxAge <= 0 {
		f.MaxAge = 6 * time.Hour
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.functions[f.Name]; ok {
		return fmt.Errorf("function %q: added twice", f.Name)
	}
	r.functions[f.Name] = &function{Function: f, slots: make(chan struct{}, f.Concurrency)}
	return nil
}

// Configure gives a function other variables, as an update of its configuration
// does: what runs ends with the old ones, what starts has the new ones.
func (r *Runtime) Configure(name string, env map[string]string) error {
	r.mu.Lock()
	f := r.functions[name]
	r.mu.Unlock()
	if f == nil {
		return fmt.Errorf("configure %q: %w", name, ErrNoFunction)
	}
	f.configure(env)
	return nil
}

// Replace gives a function another program, as an update of its code does: what
// runs ends with the old one, what starts is the new one.
func (r *Runtime) Replace(name, binary string) error {
	r.mu.Lock()
	f := r.functions[name]
	r.mu.Unlock()
	if f == nil {
		return fmt.Errorf("replace the program of %q: %w", name, ErrNoFunction)
	}
	if _, err := os.Stat(binary); err != nil {
		return fmt.Errorf("replace the program of %q: %w", name, err)
	}
	f.replace(binary)
	return nil
}

// Names lists the functions, sorted.
func (r *Runtime) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]string, 0, len(r.functions))
	for name := range r.functions {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Invoke runs a function and waits for its answer. An error of the function
// is a Result; the error returned says that it could not be run at all.
func (r *Runtime) Invoke(ctx context.Context, name string, event []byte) (Result, error) {
	f, err := r.begin(name)
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	res, err := r.invoke(ctx, f, r.o.NewID(), event)
	if err == nil {
		r.o.Observe(Invocation{Function: name, Attempt: 1, Event: event, Result: res})
	}
	return res, err
}

func (r *Runtime) begin(name string) (*function, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	f, ok := r.functions[name]
	if !ok {
		return nil, fmt.Errorf("function %q: %w", name, ErrNoFunction)
	}
	r.count(1)
	r.tasks.Add(1)
	return f, nil
}

func (r *Runtime) end() {
	r.mu.Lock()
	r.count(-1)
	r.mu.Unlock()
	r.tasks.Done()
}

// count counts invocations; while there are any, it holds the clock's
// Work. The lock is held.
func (r *Runtime) count(n int) {
	before := r.running
	r.running += n
	switch {
	case before == 0:
		r.rest = r.o.Clock.Work()
	case r.running == 0:
		r.rest()
	}
}

// Running counts the invocations that run or wait for a process.
func (r *Runtime) Running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}

// BackingOff counts the asynchronous events that wait for another attempt.
func (r *Runtime) BackingOff() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.backoff
}

// Close ends all invocations and kills all processes. When it returns none
// is left.
func (r *Runtime) Close() {
	r.mu.Lock()
	r.closed = true
	var all []*function
	for _, f := range r.functions {
		all = append(all, f)
	}
	r.mu.Unlock()
	r.stop()
	r.tasks.Wait()
	for _, f := range all {
		f.close()
	}
	r.spawner.close()
	// A process that is killed is gone. A program that is called as Go may have left the
	// context of its invocation to record what it has sent, and sleep between two tries
	// of that: whoever closes in virtual time would leave it asleep for ever.
	r.programs.Wait()
}

// spawner starts processes from one thread that stays.
//
// On Linux a child asks for a signal when its parent dies, so that nothing
// is left behind even if the stage is killed. "Parent" is there the thread
// that forked, not the process: if Go ended that thread, the children would
// be killed with it. So all are forked on one goroutine that is locked to
// its thread until the last child has ended.
type spawner struct {
	requests chan request
	done     chan struct{}
	once     sync.Once
}

type request struct {
	cmd *exec.Cmd
	err chan error
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan request), done: make(chan struct{})}
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for {
			select {
			case r := <-s.requests:
				r.err <- r.cmd.Start()
			case <-s.done:
				return
			}
		}
	}()
	return s
}

func (s *spawner) start(cmd *exec.Cmd) error {
	r := request{cmd: cmd, err: make(chan error, 1)}
	select {
	case s.requests <- r:
		return <-r.err
	case <-s.done:
		return ErrClosed
	}
}

// close ends the thread's work; the children must have ended before.
func (s *spawner) close() { s.once.Do(func() { close(s.done) }) }

// variables is the whole environment of a process: nothing is inherited from
// the stage, so that a function cannot depend on it. A function's own
// variables cannot replace the reserved ones, as on Lambda; region and
// credentials can be given, because the stage's caller is who hands them out.
func (r *Runtime) variables(f *function, dir string, own map[string]string, api string) []string {
	all := map[string]string{
		"AWS_REGION":         r.o.Region,
		"AWS_DEFAULT_REGION": r.o.Region,
		"LANG":               "en_US.UTF-8",
		"TZ":                 ":UTC",
		"PATH":               "/usr/local/bin:/usr/bin:/bin",
	}
	for k, v := range own {
		all[k] = v
	}
	for k, v := range map[string]string{
		"AWS_LAMBDA_RUNTIME_API":          api,
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.Memory),
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      "stage/[$LATEST]" + f.Name,
		"AWS_EXECUTION_ENV":               "AWS_Lambda_provided.al2023",
		"LAMBDA_TASK_ROOT":                dir,
		"LAMBDA_RUNTIME_DIR":              "/var/runtime",
		"_HANDLER":                        f.Handler,
	} {
		all[k] = v
	}
	out := make([]string, 0, len(all))
	for k, v := range all {
		out = append(out, k+"="+v)
	}
	sort.Strings(out)
	return out
}
