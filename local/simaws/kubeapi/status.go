package kubeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Status is the Kubernetes API's error answer. It is an error, so that the
// decisions of this package can return it. One without a reason is no answer of
// the API, but of the server before it: plain text.
type Status struct {
	Code    int
	Reason  string
	Message string
}

// Error returns the message.
func (s *Status) Error() string { return s.Message }

func (s *Status) body() (body []byte, contentType string) {
	if s.Reason == "" {
		return []byte(s.Message + "\n"), "text/plain; charset=utf-8"
	}
	// The struct holds only strings and an integer.
	body, _ = json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": struct{}{}, "status": "Failure",
		"message": s.Message, "reason": s.Reason, "code": s.Code,
	})
	return body, "application/json"
}

func unauthorized() *Status {
	return &Status{http.StatusUnauthorized, "Unauthorized", "Unauthorized"}
}

// forbidden is the authorizer's answer, in its words.
func forbidden(user string, r request) *Status {
	where := "at the cluster scope"
	if r.namespace != "" {
		where = fmt.Sprintf("in the namespace %q", r.namespace)
	}
	name := ""
	if r.name != "" {
		name = fmt.Sprintf(" %q", r.name)
	}
	resource := r.resource
	if r.group != "" {
		resource += "." + r.group
	}
	return &Status{http.StatusForbidden, "Forbidden", fmt.Sprintf("%s%s is forbidden: User %q cannot %s resource %q in API group %q %s",
		resource, name, user, r.verb, r.target(), r.group, where)}
}

// noResource is for a resource that an API group does not have.
func noResource() *Status {
	return &Status{http.StatusNotFound, "NotFound", "the server could not find the requested resource"}
}

// NotInstalled is the answer for a kind whose definition nobody installed. For
// a group of which nothing is installed, the API server answers as for any path
// that it does not have.
func NotInstalled() *Status { return noPath() }

// noPath is for a path, or an API group, that is not there.
func noPath() *Status {
	return &Status{Code: http.StatusNotFound, Message: "404 page not found"}
}

func notFound(k Kind, name string) *Status {
	target := k.Plural
	if k.Group != "" {
		target += "." + k.Group
	}
	return &Status{http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", target, name)}
}

func badRequest(format string, args ...any) *Status {
	return &Status{http.StatusBadRequest, "BadRequest", fmt.Sprintf(format, args...)}
}

func methodNotAllowed() *Status {
	return &Status{http.StatusMethodNotAllowed, "MethodNotAllowed", "the server does not allow this method on the requested resource"}
}

func internalError(err error) *Status {
	return &Status{http.StatusInternalServerError, "InternalError", "Internal error occurred: " + err.Error()}
}
