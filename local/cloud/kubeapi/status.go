package kubeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Status is the Kubernetes API's error answer. It is an error, so that the
// decisions of this package can return it.
type Status struct {
	Code    int
	Reason  string
	Message string
}

// Error returns the message.
func (s *Status) Error() string { return s.Message }

func (s *Status) body() []byte {
	// The struct holds only strings and an integer.
	body, _ := json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": struct{}{}, "status": "Failure",
		"message": s.Message, "reason": s.Reason, "code": s.Code,
	})
	return body
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
	target := r.kind.Plural
	if r.kind.Group != "" {
		target += "." + r.kind.Group
	}
	return &Status{http.StatusForbidden, "Forbidden", fmt.Sprintf("%s%s is forbidden: User %q cannot %s resource %q in API group %q %s",
		target, name, user, r.verb, r.kind.Plural, r.kind.Group, where)}
}

func notFoundPath() *Status {
	return &Status{http.StatusNotFound, "NotFound", "the server could not find the requested resource"}
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
