package fakeslack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxBody bounds a request. A message is at most 40,000 characters of text and
// as much of blocks; a view is smaller.
const maxBody = 1 << 20

// params are the arguments of a call. An argument that is not a string in a JSON
// body is kept as JSON text, which is also how a form sends it.
type params map[string]string

// parseParams reads the arguments of a call from the query and the body.
func parseParams(query url.Values, contentType string, body []byte) (params, error) {
	p := params{}
	for k, v := range query {
		p[k] = v[0]
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return p, nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, &apiError{code: "invalid_post_type"}
	}
	switch media {
	case "application/json":
		return p, p.addJSON(body)
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, &apiError{code: "invalid_form_data"}
		}
		for k, v := range form {
			p[k] = v[0]
		}
		return p, nil
	}
	return nil, &apiError{code: "invalid_post_type"}
}

func (p params) addJSON(body []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return &apiError{code: "invalid_json"}
	}
	for k, raw := range fields {
		var text string
		switch {
		case string(raw) == "null":
		case json.Unmarshal(raw, &text) == nil:
			p[k] = text
		default:
			p[k] = string(raw)
		}
	}
	return nil
}

// readBody reads at most maxBody bytes.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("read body: %w", err)
	}
	if len(body) > maxBody {
		return nil, &apiError{code: "request_too_large"}
	}
	return body, nil
}

// flag reads a boolean as Slack does: 1, t, true.
func (p params) flag(name string) bool {
	switch strings.ToLower(p[name]) {
	case "1", "t", "true":
		return true
	}
	return false
}

// limit reads a page size between 1 and most.
func (p params) limit(usual, most int) (int, error) {
	text := p["limit"]
	if text == "" || text == "0" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, &apiError{code: "invalid_limit"}
	}
	return n, nil
}

// need reports the first argument that is missing, in Slack's words.
func (p params) need(names ...string) error {
	var messages []string
	for _, n := range names {
		if p[n] == "" {
			messages = append(messages, "[ERROR] missing required field: "+n)
		}
	}
	if messages == nil {
		return nil
	}
	return &apiError{code: "invalid_arguments", messages: messages}
}
