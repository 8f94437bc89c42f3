// Package faketargets stands in for the targets that hear of incidents besides Slack:
// PagerDuty, Microsoft Teams, and whoever has a webhook. Each holds what it is sent against
// a schema written after what is published of the real one, and refuses as that does.
package faketargets

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schema/*.json
var schemas embed.FS

// Schema compiles one of the schemas, with formats asserted.
func Schema(name string) (*jsonschema.Schema, error) {
	file, err := schemas.Open("schema/" + name)
	if err != nil {
		return nil, fmt.Errorf("open the schema %s: %w", name, err)
	}
	defer file.Close()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		return nil, fmt.Errorf("read the schema %s: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("add the schema %s: %w", name, err)
	}
	return c.Compile(name)
}

// Trouble has a stand-in answer a status in place of what it would, and ask to wait so
// long; a status of 0 is none, Gone no answer at all.
type Trouble func(at time.Time) (status int, wait time.Duration)

// Gone is no answer: the connection is cut.
const Gone = -1

// common is what the stand-ins share.
type common struct {
	mu      sync.Mutex
	now     func() time.Time
	trouble Trouble
	// requests are the times of all that came.
	requests []time.Time
}

// Trouble sets what goes wrong from now on; nil is nothing.
func (c *common) Trouble(t Trouble) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trouble = t
}

// Requests are how often it was asked.
func (c *common) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requests)
}

// begin counts a request and reads it; false where it is answered already.
func (c *common) begin(w http.ResponseWriter, r *http.Request, most int64, large func(http.ResponseWriter)) ([]byte, bool) {
	c.mu.Lock()
	at := c.now()
	c.requests = append(c.requests, at)
	trouble := c.trouble
	c.mu.Unlock()
	if trouble != nil {
		switch status, wait := trouble(at); status {
		case 0:
		case Gone:
			panic(http.ErrAbortHandler)
		default:
			if wait > 0 {
				w.Header().Set("Retry-After", fmt.Sprint(int(wait/time.Second)))
			}
			w.WriteHeader(status)
			return nil, false
		}
	}
	if r.Method != http.MethodPost || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return nil, false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return nil, false
	}
	if int64(len(body)) > most {
		large(w)
		return nil, false
	}
	return body, true
}

// within counts the requests of a span that ends now, this one among them.
func (c *common) within(span time.Duration) int {
	n, now := 0, c.now()
	for _, at := range c.requests {
		if now.Sub(at) < span {
			n++
		}
	}
	return n
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// Who no longer listens needs no answer.
	_ = json.NewEncoder(w).Encode(body)
}

// violations are what a document has wrong, each with its field.
func violations(s *jsonschema.Schema, body []byte) []string {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
	if err != nil {
		return []string{"JSON parse error"}
	}
	err = s.Validate(doc)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil
	}
	var list []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			list = append(list, "'"+strings.Join(e.InstanceLocation, ".")+"': "+strings.Join(e.ErrorKind.KeywordPath(), "."))
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(invalid)
	return list
}
