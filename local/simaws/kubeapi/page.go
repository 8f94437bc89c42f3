package kubeapi

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
)

// page is one page of a list.
type page struct {
	objects   []object
	next      string // continue token, empty on the last page
	remaining int
}

// continueToken is what a client sends back for the next page: the list's
// version and the key of the last object it has seen.
type continueToken struct {
	Version string `json:"rv"`
	After   string `json:"after"`
}

// paginate cuts one page out of sorted objects. A list with a selector has no
// count of what remains, as in the API.
func paginate(objects []object, version string, query url.Values) (page, *Status) {
	limit := 0
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			return page{}, badRequest("limit: %q is not a valid limit", text)
		}
		limit = max(n, 0)
	}
	if query.Get("resourceVersion") == "0" && query.Get("continue") == "" {
		limit = 0 // the API server lists what is in its cache, all of it
	}
	if text := query.Get("continue"); text != "" {
		var token continueToken
		raw, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil || json.Unmarshal(raw, &token) != nil || token.Version == "" {
			return page{}, badRequest("continue key is not valid: %q", text)
		}
		start := slices.IndexFunc(objects, func(o object) bool { return o.key() > token.After })
		if start < 0 {
			start = len(objects)
		}
		objects, version = objects[start:], token.Version
	}
	if limit == 0 || len(objects) <= limit {
		return page{objects: objects}, nil
	}
	// The token holds two strings.
	raw, _ := json.Marshal(continueToken{Version: version, After: objects[limit-1].key()})
	return page{objects: objects[:limit], next: base64.RawURLEncoding.EncodeToString(raw), remaining: len(objects) - limit}, nil
}
