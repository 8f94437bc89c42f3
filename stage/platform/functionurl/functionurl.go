// Package functionurl serves a function at an address of its own, as Lambda
// does: an HTTP request becomes an event of payload format 2.0, and what the
// function answers becomes the response (Lambda, "Invoking function URLs").
package functionurl

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"rollcall/stage/platform/lambdaruntime"
)

// Invoker runs functions.
type Invoker interface {
	Invoke(ctx context.Context, name string, event []byte) (lambdaruntime.Result, error)
}

var _ Invoker = (*lambdaruntime.Runtime)(nil)

// maxEvent is the largest event of a synchronous invocation, 6 MB (Lambda,
// quotas): the event, not the body, which in base64 is a third larger.
const maxEvent = 6 << 20

// Handler answers the requests to a function's address.
type Handler struct {
	Function string
	Invoker  Invoker
	NewID    func() string
	Now      func() time.Time
}

// ServeHTTP invokes the function once the request is there as a whole: whoever
// sends slowly keeps no function waiting.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxEvent+1))
	if err != nil {
		fail(w, http.StatusBadRequest, "Bad Request")
		return
	}
	event, err := json.Marshal(h.event(r, body))
	if err != nil || len(event) > maxEvent {
		fail(w, http.StatusRequestEntityTooLarge, "Request Entity Too Large")
		return
	}
	result, err := h.Invoker.Invoke(r.Context(), h.Function, event)
	switch {
	case err != nil:
		fail(w, http.StatusServiceUnavailable, "Service Unavailable")
	case result.FunctionError != "":
		fail(w, http.StatusBadGateway, "Internal Server Error")
	default:
		answer(w, result.Payload)
	}
}

// event is the request as the function is given it.
func (h *Handler) event(r *http.Request, body []byte) events.LambdaFunctionURLRequest {
	now := h.Now().UTC()
	source, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		source = r.RemoteAddr
	}
	prefix, _, _ := strings.Cut(r.Host, ".")
	e := events.LambdaFunctionURLRequest{
		Version: "2.0", RawPath: r.URL.EscapedPath(), RawQueryString: r.URL.RawQuery,
		Headers: map[string]string{"host": r.Host, "x-forwarded-for": source, "x-forwarded-proto": "https", "x-forwarded-port": "443"},
		RequestContext: events.LambdaFunctionURLRequestContext{
			AccountID: "anonymous", RequestID: h.NewID(), APIID: prefix, DomainName: r.Host, DomainPrefix: prefix,
			Time: now.Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
			HTTP: events.LambdaFunctionURLRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: source, UserAgent: r.UserAgent(),
			},
		},
	}
	if r.ContentLength > 0 {
		e.Headers["content-length"] = fmt.Sprint(r.ContentLength)
	}
	for name, values := range r.Header {
		if name == "Cookie" {
			e.Cookies = values
			continue
		}
		// Names are in lower case, and the values of one name are joined.
		e.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	for name, values := range r.URL.Query() {
		if e.QueryStringParameters == nil {
			e.QueryStringParameters = map[string]string{}
		}
		e.QueryStringParameters[name] = strings.Join(values, ",")
	}
	if e.IsBase64Encoded = len(body) > 0 && !isText(r.Header.Get("Content-Type")); e.IsBase64Encoded {
		e.Body = base64.StdEncoding.EncodeToString(body)
	} else {
		e.Body = string(body)
	}
	return e
}

// isText tells the types whose bodies are handed over as they are; all others,
// forms among them, are in base64.
func isText(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript":
		return true
	}
	return strings.HasPrefix(kind, "text/")
}

// answer writes what the function said: a response, if it has a status; else
// whatever it is, with status 200.
func answer(w http.ResponseWriter, payload []byte) {
	r, err := response(payload)
	if err != nil {
		fail(w, http.StatusBadGateway, "Internal Server Error")
		return
	}
	for name, value := range r.Headers {
		w.Header().Set(name, value)
	}
	for _, cookie := range r.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(r.StatusCode)
	// If the caller has gone, there is no reader.
	_, _ = io.WriteString(w, r.Body)
}

var errNoResponse = errors.New("the function's answer is no response")

func response(payload []byte) (events.LambdaFunctionURLResponse, error) {
	var r events.LambdaFunctionURLResponse
	var head struct {
		Status *json.RawMessage `json:"statusCode"`
	}
	if json.Unmarshal(payload, &head) != nil || head.Status == nil {
		r.StatusCode, r.Body = http.StatusOK, string(payload)
		return r, nil
	}
	if err := json.Unmarshal(payload, &r); err != nil || r.StatusCode < 100 || r.StatusCode > 599 {
		return r, errNoResponse
	}
	if r.IsBase64Encoded {
		body, err := base64.StdEncoding.DecodeString(r.Body)
		if err != nil {
			return r, errNoResponse
		}
		r.Body = string(body)
	}
	return r, nil
}

// fail is Lambda's own answer.
func fail(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"Message":%q}`, text)
}
