package capture

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/kubeapi"
	"rollcall/shared/snapshot"
)

// NotCaptured is the error code of a call whose answer the capture does not
// hold. package gather takes it for what it is: nobody looked.
const NotCaptured = snapshot.NotCaptured

// NotAmong is in the message of a type that the file of types does not hold: it holds
// those that were in use.
const NotAmong = "of the capture does not hold the type"

// refusal is a call that was refused when the capture was taken.
type refusal struct{ code, message string }

// takeRefusals reads errors.json. An entry that is text instead of an object
// is the code alone.
func (c *Capture) takeRefusals(path string, tree any) error {
	for key, v := range tree.(map[string]any) {
		var r refusal
		switch v := v.(type) {
		case string:
			r.code = v
		case map[string]any:
			code, _ := member(v, "code")
			message, _ := member(v, "message")
			r.code, _ = code.(string)
			r.message, _ = message.(string)
		}
		if r.code == "" {
			return &Error{path, fmt.Sprintf(`%q: want {"code": "…", "message": "…"}`, key)}
		}
		name := tidyName(key)
		if operation, _ := splitName(name); !isOperation(operation) {
			c.warn("errors.json: %q is not a call that a capture has; it is left out", key)
			continue
		}
		c.refused[name] = r
	}
	return nil
}

func isOperation(name string) bool {
	_, ok := operations()[name]
	return ok
}

// absent is the answer to a call whose file is not there.
func (c *Capture) absent(name string) error {
	if r, ok := c.refused[name]; ok {
		return r.aws()
	}
	if c.partial[name] {
		return wire.Errorf(NotCaptured, "%s.json holds only the first page of the answer", name)
	}
	if why := c.leftOut[name]; why != "" {
		return wire.Errorf(NotCaptured, "the capture has no %s.json: %s", name, why)
	}
	return wire.Errorf(NotCaptured, "the capture has no %s.json", name)
}

// leftOutFile lists what whoever took the capture did not ask for.
const leftOutFile = "left-out.json"

// takeLeftOut reads what was left out, so that it is told where it is missed.
func (c *Capture) takeLeftOut(path string, tree any) error {
	list, ok := tree.([]any)
	if !ok {
		return &Error{path, "want a list, got " + kindOf(tree)}
	}
	for _, item := range list {
		m, _ := item.(map[string]any)
		file, _ := m["file"].(string)
		why, _ := m["why"].(string)
		if file == "" || why == "" {
			return &Error{path, `want entries {"file": "…", "why": "…"}`}
		}
		c.leftOut[tidyName(file)] = why
	}
	return nil
}

// aws is the refusal as the service gave it. The code decides what a client
// makes of it. A server's fault is answered with a client error's status too:
// clients would ask again for half a minute, and the answer stays the same.
func (r refusal) aws() *wire.Error {
	if again(r.code) {
		return wire.Errorf(NotCaptured, "the call was throttled or timed out when the capture was taken: %s %s", r.code, r.message)
	}
	status := http.StatusBadRequest
	switch {
	case denied(r.code):
		status = http.StatusForbidden
	case r.code == "NoSuchEntity" || r.code == "ResourceNotFoundException":
		status = http.StatusNotFound
	}
	return &wire.Error{Code: r.code, Message: r.message, Status: status}
}

// again tells the codes on which AWS's clients ask again whatever the status
// is (aws-sdk-go-v2, retry.DefaultThrottleErrorCodes and
// DefaultRetryableErrorCodes): a capture's answer would stay the same, until
// the function's time is up.
func again(code string) bool {
	switch code {
	case "RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "SlowDown", "PriorRequestNotComplete",
		"TooManyRequestsException", "ProvisionedThroughputExceededException", "TransactionInProgressException", "RequestTimeout", "RequestTimeoutException":
		return true
	}
	return strings.Contains(code, "Throttl")
}

func denied(code string) bool {
	return strings.HasPrefix(code, "AccessDenied") || code == "UnauthorizedOperation" || code == "Forbidden" || code == "AuthFailure"
}

// kubernetes is an answer of the Kubernetes API in its own words.
func kubernetes(err error) *kubeapi.Status {
	var w *wire.Error
	if !errors.As(err, &w) {
		return &kubeapi.Status{Code: http.StatusInternalServerError, Reason: "InternalError", Message: err.Error()}
	}
	s := &kubeapi.Status{Code: http.StatusInternalServerError, Reason: w.Code, Message: w.Message}
	switch {
	case w.Code == NotCaptured:
		s.Code = http.StatusNotImplemented
	case denied(w.Code):
		s.Code, s.Reason = http.StatusForbidden, "Forbidden"
	case w.Code == "Unauthorized":
		s.Code = http.StatusUnauthorized
	case w.Code == "NotFound" || strings.HasSuffix(w.Code, "NotFoundException") || w.Code == "404":
		s.Code, s.Reason = http.StatusNotFound, "NotFound"
	case w.Code == "TooManyRequests":
		s.Code = http.StatusTooManyRequests
	case w.Code == "ServiceUnavailable":
		s.Code = http.StatusServiceUnavailable
	case w.Code == "Timeout" || w.Code == "ServerTimeout":
		s.Code = http.StatusGatewayTimeout
	}
	if s.Message == "" {
		s.Message = w.Code
	}
	return s
}
