package lambdaruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

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
	// later its number may belong to somebody else.
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
