package kubeapi

import (
	"net/url"
	"strings"
)

// request is a list or a get, understood.
type request struct {
	verb      string // "list" or "get"
	kind      Kind
	namespace string
	name      string
}

// parsePath understands a resource path: /api/v1/nodes, /api/v1/nodes/{name},
// /api/v1/namespaces/{ns}/pods/{name}, /apis/{group}/{version}/...
func parsePath(escaped string) (request, bool) {
	var parts []string
	for part := range strings.SplitSeq(strings.Trim(escaped, "/"), "/") {
		p, err := url.PathUnescape(part)
		if err != nil || p == "" {
			return request{}, false
		}
		parts = append(parts, p)
	}
	group, version := "", ""
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		group, version, parts = parts[1], parts[2], parts[3:]
	default:
		return request{}, false
	}
	var r request
	if len(parts) >= 3 && parts[0] == "namespaces" {
		r.namespace, parts = parts[1], parts[2:]
	}
	kind, ok := findKind(group, version, parts[0])
	if !ok || len(parts) > 2 {
		return request{}, false
	}
	r.kind, r.verb = kind, "list"
	if len(parts) == 2 {
		r.verb, r.name = "get", parts[1]
	}
	if r.namespace != "" && !kind.Namespaced {
		return request{}, false
	}
	// An object of a namespaced kind has no path without its namespace.
	return r, r.verb == "list" || !kind.Namespaced || r.namespace != ""
}
