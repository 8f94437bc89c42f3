package kubeapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// request is what is wanted of a resource, in the authorizer's words.
type request struct {
	verb                  string // "list", "get", "watch", "delete", ...
	group, version        string
	resource, subresource string // "nodes" and "proxy"
	namespace             string
	name                  string

	// kind is the resource, if it is served here at this path.
	kind   Kind
	served bool
}

// target is the resource with its subresource, as rules and refusals name it.
func (r request) target() string {
	if r.subresource == "" {
		return r.resource
	}
	return r.resource + "/" + r.subresource
}

// parseRequest understands a request for a resource: /api/v1/nodes,
// /api/v1/nodes/{name}, /api/v1/nodes/{name}/{subresource},
// /api/v1/namespaces/{ns}/pods/{name}, /apis/{group}/{version}/... It is false
// for other paths.
func parseRequest(method, escaped string, query url.Values) (request, bool) {
	var parts []string
	for part := range strings.SplitSeq(strings.Trim(escaped, "/"), "/") {
		p, err := url.PathUnescape(part)
		if err != nil || p == "" {
			return request{}, false
		}
		parts = append(parts, p)
	}
	var r request
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		r.version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		r.group, r.version, parts = parts[1], parts[2], parts[3:]
	default:
		return request{}, false
	}
	if len(parts) >= 2 && parts[0] == "namespaces" {
		r.namespace = parts[1] // of the namespace itself, too
		if len(parts) >= 3 {
			parts = parts[2:]
		}
	}
	r.resource = parts[0]
	if len(parts) >= 2 {
		r.name = parts[1]
	}
	if len(parts) >= 3 {
		r.subresource = parts[2]
	}
	kind, known := findKind(r.group, r.version, r.resource)
	// An object of a namespaced kind has no path without its namespace, and
	// one of the others none within.
	if known && len(parts) <= 2 && (kind.Namespaced || r.namespace == "") && (r.name == "" || r.namespace != "" || !kind.Namespaced) {
		r.kind, r.served = kind, true
	}
	r.verb = verb(method, r.name != "", query)
	if r.verb == "list" || r.verb == "watch" {
		// Those of one object by a selector are authorized for this object.
		for term := range strings.SplitSeq(query.Get("fieldSelector"), ",") {
			if name, ok := strings.CutPrefix(term, "metadata.name="); ok {
				r.name = strings.TrimPrefix(name, "=")
			}
		}
	}
	return r, true
}

// verb is what a method does, of one object or of all.
func verb(method string, one bool, query url.Values) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		if one {
			return "get"
		}
		if query.Has("watch") && !slices.Contains([]string{"false", "0"}, query.Get("watch")) {
			return "watch"
		}
		return "list"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if one {
			return "delete"
		}
		return "deletecollection"
	}
	return ""
}
