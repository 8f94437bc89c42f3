package lambdaruntime

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

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
