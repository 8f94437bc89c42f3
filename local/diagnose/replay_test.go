package diagnose

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"

	"rollcall/local/capture"
	"rollcall/local/reading"
)

// replay gives the answers of a look again to later ones: the accounts of tests stand still,
// so that the same question has the same answer, and most of the time of a look is spent on
// writing and reading answers.
type replay struct {
	of reading.Open
	// fresh reports whether a call, an operation with its input or the path of a list of
	// Kubernetes objects, has another answer now, which is not kept.
	fresh func(call string, in any) bool
	kept  *keptAnswers
}

type keptAnswers struct {
	mu      sync.Mutex
	answers map[string]*keptAnswer
}

// keptAnswer is the answer to an AWS call, or that to a request to a cluster.
type keptAnswer struct {
	call     string
	in, out  any
	err      error
	written  []byte
	response *http.Response
}

func newReplay(of reading.Open, fresh func(call string, in any) bool) *replay {
	return &replay{of, fresh, &keptAnswers{answers: map[string]*keptAnswer{}}}
}

// with is the replay for an account that differs in some answers.
func (r *replay) with(of reading.Open, fresh func(call string, in any) bool) *replay {
	return &replay{of, fresh, r.kept}
}

func (k *keptAnswers) get(key string) (*keptAnswer, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a, ok := k.answers[key]
	return a, ok
}

func (k *keptAnswers) keep(key string, a *keptAnswer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.answers[key] = a
}

// open is the account, as it is read.
func (r *replay) open() reading.Open {
	o := r.of
	o.AWS.APIOptions = append(slices.Clone(o.AWS.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Replay", r.answer), middleware.After)
	})
	o.Endpoints = func(cluster string) (string, []byte, http.RoundTripper, bool) {
		endpoint, ca, via, ok := r.of.Endpoints(cluster)
		return endpoint, ca, replayed{r, cluster, via}, ok
	}
	return o
}

// presigned is the operation that is signed for somebody else as well as called.
const presigned = "GetCallerIdentity"

func (r *replay) answer(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
	call := awsmiddleware.GetOperationName(ctx)
	if call == presigned || r.fresh(call, in.Parameters) {
		return next.HandleInitialize(ctx, in)
	}
	asked, err := json.Marshal(in.Parameters)
	if err != nil {
		return middleware.InitializeOutput{}, middleware.Metadata{}, err
	}
	key := awsmiddleware.GetServiceID(ctx) + "." + call + string(asked)
	if a, ok := r.kept.get(key); ok && !handedOn(in.Parameters) {
		return middleware.InitializeOutput{Result: a.out}, middleware.Metadata{}, a.err
	}
	out, meta, err := next.HandleInitialize(ctx, in)
	if ctx.Err() != nil {
		return out, meta, err
	}
	a := &keptAnswer{call: call, in: in.Parameters, out: out.Result, err: err}
	if a.written, err = json.Marshal(a.out); err != nil {
		return out, meta, err
	}
	r.kept.keep(key, a)
	return out, meta, a.err
}

// handedOn reports whether the answer to a call goes past the middleware: package awscall
// has its callers read it.
func handedOn(in any) bool {
	t := reflect.TypeOf(in)
	return t.Kind() != reflect.Pointer || !strings.HasPrefix(t.Elem().PkgPath(), "github.com/aws/aws-sdk-go-v2/")
}

// replayed is the way to a cluster's API.
type replayed struct {
	of      *replay
	cluster string
	via     http.RoundTripper
}

func (w replayed) RoundTrip(req *http.Request) (*http.Response, error) {
	if w.of.fresh(req.URL.Path, w.cluster) {
		return w.via.RoundTrip(req)
	}
	key := w.cluster + " " + req.Method + " " + req.URL.RequestURI()
	a, ok := w.of.kept.get(key)
	if !ok {
		response, err := w.via.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return nil, err
		}
		a = &keptAnswer{call: req.URL.Path, in: w.cluster, written: body, response: response}
		w.of.kept.keep(key, a)
	}
	again := *a.response
	again.Header, again.Request, again.Body = a.response.Header.Clone(), req, io.NopCloser(bytes.NewReader(a.written))
	return &again, nil
}

// unwritten holds that no reader has changed an answer that others get, too.
func (r *replay) unwritten(t *testing.T) {
	t.Helper()
	for key, a := range r.kept.answers {
		if a.response != nil {
			continue
		}
		if now, err := json.Marshal(a.out); err != nil || !bytes.Equal(now, a.written) {
			t.Errorf("the answer to %s was changed by its reader, %v", key, err)
		}
	}
}

// asked is what a look at a capture asked for, and what the capture answers.
type asked struct {
	calls   []*keptAnswer
	answers []any
}

// asked returns what was asked for so far.
func (r *replay) asked(c *capture.Capture) asked {
	list := asked{calls: []*keptAnswer{{call: presigned, in: map[string]any{}}}}
	for _, a := range r.kept.answers {
		list.calls = append(list.calls, a)
	}
	for _, a := range list.calls {
		list.answers = append(list.answers, directly(c, a.call, a.in))
	}
	return list
}

// changes are the calls to which a capture that lacks files has another answer.
type changes struct {
	any   bool
	calls map[string]bool
}

func (c changes) call(call string, in any) bool { return c.calls[call] }

// changed compares what two captures answer to what was asked. Where they do not differ, a
// look at the one is a look at the other.
func (l asked) changed(full, less *capture.Capture, kind string) changes {
	of := changes{calls: map[string]bool{}}
	of.any = full.Account != less.Account || full.Region != less.Region || !slices.Equal(full.Clusters, less.Clusters) ||
		!slices.Equal(full.LogGroups(), less.LogGroups()) || !reflect.DeepEqual(full.LaunchCalls(), less.LaunchCalls())
	for _, cluster := range full.Clusters {
		of.any = of.any || full.Bare(cluster) != less.Bare(cluster)
	}
	for i, a := range l.calls {
		if a.response != nil && !strings.HasPrefix(kind, "kubectl-get-") {
			continue // objects are read of no other files
		}
		if !reflect.DeepEqual(l.answers[i], directly(less, a.call, a.in)) {
			of.any, of.calls[a.call] = true, true
		}
	}
	return of
}

// directly is what a capture answers to a call, without a connection between.
func directly(c *capture.Capture, call string, in any) any {
	type answer struct{ out, err any }
	if strings.HasPrefix(call, "/") {
		list, version, err := c.Objects(in.(string), pluralOf(call))
		return answer{append(list, json.RawMessage(version)), err}
	}
	method := reflect.ValueOf(c.API()).MethodByName(call)
	if !method.IsValid() {
		return nil // a capture has no answer to it
	}
	input := reflect.ValueOf(in)
	if want := method.Type().In(0); input.Type() != want {
		// The small clients have types of their own, which are written alike.
		text, err := json.Marshal(in)
		if err != nil {
			return answer{err: err}
		}
		input = reflect.New(want.Elem())
		if err := json.Unmarshal(text, input.Interface()); err != nil {
			return answer{err: err}
		}
	}
	out := method.Call([]reflect.Value{input})
	return answer{out[0].Interface(), out[1].Interface()}
}

// pluralOf is the kind that a path of the Kubernetes API is of: a list's, or one object's.
func pluralOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	parts = parts[map[string]int{"api": 2, "apis": 3}[parts[0]]:]
	if parts[0] == "namespaces" {
		parts = parts[2:]
	}
	return parts[0]
}
