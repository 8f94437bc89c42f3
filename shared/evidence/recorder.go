package evidence

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"reflect"
	"strings"
	"sync"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/shared/capture"
)

// What is held of one invocation, in bytes of answers. A function has 256 MiB; what a
// client has made of an answer is about as large as the answer.
const (
	mostHeld = 32 << 20
	// packFrom is from when on an answer of Kubernetes is held compressed: a page of
	// 500 nodes is five megabytes.
	packFrom = 64 << 10
)

// Recorder holds what the reads of one invocation were answered. The zero Recorder is
// ready, and nil records nothing; it is safe for use by several goroutines.
type Recorder struct {
	mu      sync.Mutex
	trigger json.RawMessage
	reads   []read
	held    int
	// lost is how many of the first reads are not held any more.
	lost int
}

// read is a call and its answer: out of AWS's, or body of Kubernetes'.
type read struct {
	file     string
	question Question
	call     string
	out      any
	body     []byte
	packed   bool
	size     int
	refused  *capture.Refusal
	// lost tells that the answer is not held any more.
	lost bool
}

// Begin forgets what was read before: the invocation of an event begins.
func (r *Recorder) Begin(event json.RawMessage) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trigger, r.reads, r.held, r.lost = event, nil, 0, 0
}

// add holds a read, and drops the oldest where there is too much: what was read last is
// what was looked at last.
func (r *Recorder) add(one read) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads = append(r.reads, one)
	r.held += one.size
	for ; r.held > mostHeld && r.lost < len(r.reads); r.lost++ {
		old := &r.reads[r.lost]
		r.held -= old.size
		old.out, old.body, old.size, old.lost = nil, nil, 0, true
	}
}

// sizeKey is under which an answer's metadata has its size.
type sizeKey struct{}

// Middleware has the clients of a configuration tell the recorder of each read.
func (r *Recorder) Middleware(stack *middleware.Stack) error {
	if err := stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("RollcallEvidenceSize", measure), middleware.After); err != nil {
		return err
	}
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallEvidence",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			// A paginator writes the next page's token into the same parameters: the file
			// is found before.
			call := strings.ToLower(strings.ReplaceAll(awsmiddleware.GetServiceID(ctx), " ", "")) + ":" + awsmiddleware.GetOperationName(ctx)
			file, q := File(call, in.Parameters)
			out, meta, err := next.HandleInitialize(ctx, in)
			if file == "" {
				return out, meta, err
			}
			one := read{file: file, question: q, call: call, out: out.Result}
			if n, counted := meta.Get(sizeKey{}).(*int); counted {
				one.size = *n
			}
			if err != nil {
				refused := capture.RefusalOf(err)
				one.out, one.refused = nil, &refused
			}
			r.add(one)
			return out, meta, err
		}), middleware.Before)
}

// measure counts the bytes of an answer as they are read.
func measure(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
	out, meta, err := next.HandleDeserialize(ctx, in)
	if answer, ok := out.RawResponse.(*smithyhttp.Response); ok && err == nil {
		n := new(int)
		answer.Body = counted{answer.Body, n}
		meta.Set(sizeKey{}, n)
	}
	return out, meta, err
}

type counted struct {
	io.ReadCloser
	n *int
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	*c.n += n
	return n, err
}

// Kubernetes takes in what a cluster's API answered a request: the body is not written to
// afterwards.
func (r *Recorder) Kubernetes(cluster, path string, query url.Values, body []byte, err error) {
	if r == nil {
		return
	}
	file, q := KubernetesFile(cluster, path, query)
	if file == "" {
		return
	}
	one := read{file: file, question: q, body: body}
	switch {
	case err != nil:
		refused := capture.RefusalOf(err)
		one.body, one.refused = nil, &refused
	case len(body) > packFrom:
		one.body, one.packed = packed(body), true
	}
	one.size = len(one.body)
	r.add(one)
}

// packed is compressed fast rather than small.
func packed(body []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil // the level is one of the package's own
	}
	// Writing to a bytes.Buffer does not fail.
	_, _ = w.Write(body)
	_ = w.Close()
	return b.Bytes()
}

// text is the body of an answer of Kubernetes.
func (o read) text() ([]byte, error) {
	if !o.packed {
		return o.body, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(o.body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// all is what is held now: copies of the lists, not of the answers.
func (r *Recorder) all() (trigger json.RawMessage, reads []read) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trigger, append([]read(nil), r.reads...)
}

// isNil tells an answer that is not there.
func isNil(out any) bool {
	v := reflect.ValueOf(out)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
