package wire

import (
	"net/url"
	"strings"
)

// route is where one operation of a REST service lives: a method and a path
// whose {labels} are members of the input.
type route struct {
	operation, method string
	segments          []string
}

func newRoute(operation, method, uri string) route {
	return route{operation: operation, method: method, segments: strings.Split(strings.Trim(uri, "/"), "/")}
}

// match tells whether a request is for this route, and the labels' values.
// The path is the escaped one: a label may hold an escaped slash (an ARN).
func (r route) match(method, escapedPath string) (map[string]string, bool) {
	if method != r.method {
		return nil, false
	}
	parts := strings.Split(strings.Trim(escapedPath, "/"), "/")
	if len(parts) != len(r.segments) {
		return nil, false
	}
	labels := map[string]string{}
	for i, seg := range r.segments {
		part, err := url.PathUnescape(parts[i])
		if err != nil {
			return nil, false
		}
		if strings.HasPrefix(seg, "{") {
			if part == "" {
				return nil, false
			}
			labels[strings.Trim(seg, "{}")] = part
			continue
		}
		if part != seg {
			return nil, false
		}
	}
	return labels, true
}

// findRoute returns the operation that a request is for. A path with more
// literal segments wins over one with labels.
func findRoute(routes []route, method, escapedPath string) (operation string, labels map[string]string, ok bool) {
	best := -1
	for _, r := range routes {
		l, matched := r.match(method, escapedPath)
		if !matched {
			continue
		}
		if literal := len(r.segments) - len(l); literal > best {
			best, operation, labels, ok = literal, r.operation, l, true
		}
	}
	return operation, labels, ok
}
