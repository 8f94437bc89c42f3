// Package via is the way to a cluster's Kubernetes API through its relay (package relay): it
// stands in the place of a connection.
package via

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/shared/awscall"
	"rollcall/shared/awsjson"
	"rollcall/shared/kube"
	"rollcall/shared/relay"
	"rollcall/shared/snapshot"
)

// Invoker invokes functions.
type Invoker interface {
	Invoke(ctx context.Context, function string, payload []byte) ([]byte, error)
}

// Uses is what is known of the relays that were used before the setting relays was there.
type Uses interface {
	// RelayUsed reports whether the relay of a cluster that the setting does not name may
	// still be asked.
	RelayUsed(ctx context.Context, cluster string) (bool, error)
}

// New finds the way to clusters whose API is not open to all: through relays that are invoked
// as cfg: those of the clusters that the setting names, and for a time those that were used
// before. Functions leave from addresses of AWS, and EKS drops what publicAccessCidrs does not
// name (EKS user guide, "Cluster API server endpoint"); where such a cluster has no relay, it
// is asked all the same, as the functions' addresses may be among those. Nil has no such way.
func New(cfg *aws.Config, prefix string, named []string, uses Uses) func(snapshot.Cluster) http.RoundTripper {
	if cfg == nil {
		return nil
	}
	client := NewLambda(*cfg)
	return func(c snapshot.Cluster) http.RoundTripper {
		through := &Relay{By: client, Function: relay.FunctionName(prefix, c.Name), Cluster: c.ARN, Endpoint: c.Endpoint}
		switch {
		case c.OpenToAll():
			return nil
		case !c.EndpointPublic && c.EndpointPrivate:
			switch {
			case slices.Contains(named, c.Name):
			case len(named) > 0: // the setting is in use here: those of before are over
				through.May = func(context.Context) error { return &relay.UnnamedError{Cluster: c.Name} }
			default:
				through.May = may(uses, c.Name)
			}
			return through
		case !c.EndpointPublic: // nothing of its access is known
			return nil
		}
		direct, err := kube.Transport(c.CA)
		if err != nil {
			return nil // and who connects says so
		}
		return &restricted{relay: through, direct: direct, function: through.Function, openTo: c.PublicAccessCIDRs, noRelay: !c.EndpointPrivate || !slices.Contains(named, c.Name)}
	}
}

// restricted is the way to a cluster whose public endpoint is open to some ranges alone:
// through its relay, or without one by itself.
type restricted struct {
	relay, direct http.RoundTripper
	function      string
	openTo        []netip.Prefix

	mu sync.Mutex
	// noRelay is set where there is none, or where the setting relays does not name the cluster.
	noRelay bool
}

// RoundTrip asks the relay, or the API where there is no relay or it cannot be invoked. Where
// the API cannot be reached the error holds *relay.MissingError with the ranges.
func (r *restricted) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	without := r.noRelay
	r.mu.Unlock()
	if !without {
		out, err := r.relay.RoundTrip(req)
		var refused *relay.Refusal
		var failed *relay.Failure
		if err == nil || errors.As(err, &refused) || errors.As(err, &failed) || req.Context().Err() != nil {
			return out, err
		}
		r.mu.Lock()
		r.noRelay = true
		r.mu.Unlock()
	}
	out, err := r.direct.RoundTrip(req)
	var dial net.Error
	if errors.As(err, &dial) && req.Context().Err() == nil {
		return nil, errors.Join(&relay.MissingError{Function: r.function, OpenTo: r.openTo}, err)
	}
	return out, err
}

// CloseIdleConnections closes those of the direct way.
func (r *restricted) CloseIdleConnections() {
	if t, ok := r.direct.(*http.Transport); ok {
		t.CloseIdleConnections()
	}
}

// Relay is the way through one relay.
type Relay struct {
	By                          Invoker
	Function, Cluster, Endpoint string
	// May is why the relay is not asked; nil: it may be.
	May func(context.Context) error
}

// may asks once for each way whether a relay that the setting does not name may be asked.
func may(uses Uses, cluster string) func(context.Context) error {
	var once sync.Once
	var err error
	return func(ctx context.Context) error {
		once.Do(func() {
			used, failed := uses.RelayUsed(ctx, cluster)
			if failed != nil || !used {
				err = errors.Join(&relay.UnnamedError{Cluster: cluster}, failed)
			}
		})
		return err
	}
}

var errNoList = errors.New("a relay is asked for lists alone")

// RoundTrip asks the relay what the request asks the API. The error holds *relay.MissingError,
// *relay.Refusal or *relay.Failure where it is one of these.
func (r *Relay) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if req.Method != http.MethodGet {
		return nil, errNoList
	}
	if r.May != nil {
		if err := r.May(req.Context()); err != nil {
			return nil, err
		}
	}
	ask := relay.Request{Cluster: r.Cluster, Endpoint: r.Endpoint, Path: req.URL.Path, Query: map[string]string{}}
	for key, values := range req.URL.Query() {
		if len(values) != 1 {
			return nil, errNoList
		}
		ask.Query[key] = values[0]
	}
	ask.Token, _ = strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	payload, err := json.Marshal(ask)
	if err != nil {
		return nil, fmt.Errorf("write what the relay is asked: %w", err)
	}
	raw, err := r.By.Invoke(req.Context(), r.Function, payload)
	failed := new(FunctionError)
	switch {
	case errors.Is(err, ErrNone):
		return nil, &relay.MissingError{Function: r.Function}
	case errors.As(err, &failed):
		return nil, &relay.Failure{Reason: relay.Disconnected, Says: "its relay " + r.Function + " gave up: " + failed.Message}
	case err != nil:
		return nil, fmt.Errorf("ask the relay %s: %w", r.Function, err)
	}
	return r.read(req, raw)
}

// read is an answer as the API's own.
func (r *Relay) read(req *http.Request, raw []byte) (*http.Response, error) {
	var a relay.Answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, &relay.Failure{Reason: relay.Malformed, Says: "the answer of its relay " + r.Function + " cannot be read"}
	}
	switch {
	case a.Refused != nil:
		return nil, a.Refused
	case a.Failed != nil && a.Failed.Reason == relay.TooLarge:
		// As an API would say it: who lists asks for a smaller page.
		return answer(req, http.StatusRequestEntityTooLarge, io.NopCloser(bytes.NewReader(tooLarge(a.Failed.Says)))), nil
	case a.Failed != nil:
		return nil, a.Failed
	case a.Status < 200 || a.Status > 599:
		return nil, &relay.Failure{Reason: relay.Malformed, Says: "the answer of its relay " + r.Function + " says nothing"}
	case len(a.Body) == 0:
		return answer(req, a.Status, http.NoBody), nil
	}
	body, err := gzip.NewReader(bytes.NewReader(a.Body))
	if err != nil {
		return nil, &relay.Failure{Reason: relay.Malformed, Says: "the answer of its relay " + r.Function + " cannot be unpacked"}
	}
	return answer(req, a.Status, body), nil
}

// tooLarge is a Status of Kubernetes.
func tooLarge(says string) []byte {
	text, err := json.Marshal(map[string]string{"kind": "Status", "reason": "RequestEntityTooLarge", "message": says})
	if err != nil { // strings
		return nil
	}
	return text
}

func answer(req *http.Request, status int, body io.ReadCloser) *http.Response {
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ContentLength: -1, Request: req,
	}
}

// Lambda makes the one call of AWS Lambda that Rollcall needs: a function that is invoked, and
// whose answer is waited for. The SDK's client would make each function that reads in clusters
// larger by more than this is long.
type Lambda struct{ cfg aws.Config }

// NewLambda makes a client of what all AWS clients are made of.
func NewLambda(cfg aws.Config) *Lambda {
	cfg = cfg.Copy()
	// Who waits for an answer has others to wait for: once more, and not five times.
	cfg.Retryer = func() aws.Retryer { return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts = 2 }) }
	return &Lambda{cfg}
}

// ErrNone is that there is no such function.
var ErrNone = errors.New("there is no such function")

// FunctionError is a function that ended without an answer: it ran out of time or memory, or
// panicked (Lambda API reference, Invoke, X-Amz-Function-Error).
type FunctionError struct{ Function, Message string }

func (e *FunctionError) Error() string { return fmt.Sprintf("%s failed: %s", e.Function, e.Message) }

// InvokeInput is what is asked of Lambda.
type InvokeInput struct{ Function string }

// mostAnswer is a little more than Lambda answers ("Quotas": 6 MB).
const mostAnswer = 7 << 20

// Invoke invokes a function and gives its answer. The error is ErrNone, *FunctionError or
// *smithy.OperationError.
func (c *Lambda) Invoke(ctx context.Context, function string, payload []byte) ([]byte, error) {
	var answer []byte
	err := awscall.Make(ctx, c.cfg, awscall.Call{
		ID: "Lambda", Name: "lambda", Operation: "Invoke", Region: c.cfg.Region,
		// Lambda API reference, Invoke: "POST /2015-03-31/functions/FunctionName/invocations".
		Write: func(req *smithyhttp.Request, _ any) (*smithyhttp.Request, error) {
			var err error
			if req.URL, err = url.Parse(c.host() + "/2015-03-31/functions/" + url.PathEscape(function) + "/invocations"); err != nil {
				return nil, err
			}
			req.Method = "POST"
			req.Header.Set("Content-Type", "application/octet-stream")
			req.Header.Set("X-Amz-Invocation-Type", "RequestResponse")
			return req.SetStream(bytes.NewReader(payload))
		},
		Read: func(resp *smithyhttp.Response) (any, error) {
			body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
			answer = body
			if err == nil && resp.Header.Get("X-Amz-Function-Error") != "" {
				var said struct {
					ErrorMessage string `json:"errorMessage"`
				}
				if json.Unmarshal(body, &said) != nil || said.ErrorMessage == "" {
					said.ErrorMessage = "without a word"
				}
				err = &FunctionError{function, said.ErrorMessage}
			}
			return nil, err
		},
		Refused: func(resp *smithyhttp.Response) error {
			body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
			if err != nil {
				return &smithy.DeserializationError{Err: err}
			}
			return awsjson.Refusal(resp.Header.Get("X-Amzn-ErrorType"), resp.StatusCode, body)
		},
	}, &InvokeInput{function})
	var api smithy.APIError
	failed := new(FunctionError)
	switch {
	case errors.As(err, &failed):
		return nil, failed
	case errors.As(err, &api) && api.ErrorCode() == "ResourceNotFoundException":
		return nil, ErrNone
	case err != nil:
		return nil, err
	}
	return answer, nil
}

// host is where Lambda is: what the environment names, else the region's own.
func (c *Lambda) host() string {
	if c.cfg.BaseEndpoint != nil && *c.cfg.BaseEndpoint != "" {
		return strings.TrimRight(*c.cfg.BaseEndpoint, "/")
	}
	suffix := "amazonaws.com"
	if strings.HasPrefix(c.cfg.Region, "cn-") {
		suffix = "amazonaws.com.cn"
	}
	return "https://lambda." + c.cfg.Region + "." + suffix
}
