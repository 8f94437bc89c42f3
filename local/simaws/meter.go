package simaws

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Meter counts what the calls of DynamoDB take, in the units that it bills.
// What answers counts as DynamoDB documents it (4 KB a read unit, half of it
// when eventually consistent, 1 KB a write unit, indexes written beside the
// table).
type Meter struct {
	mu   sync.Mutex
	used map[string]Used
}

// over counts what goes through a DynamoDB.
func (m *Meter) over(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.ask(r)
		answer := &kept{ResponseWriter: w}
		next.ServeHTTP(answer, r)
		_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		m.take(operation, answer.body.Bytes())
	})
}

// kept keeps the answer that it passes on.
type kept struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (k *kept) Write(p []byte) (int, error) {
	k.body.Write(p)
	return k.ResponseWriter.Write(p)
}

// Used is what the calls of one operation took.
type Used struct {
	Calls int
	Units float64
}

// Used is what was taken so far, by operation ("PutItem").
func (m *Meter) Used() map[string]Used {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.used)
}

// ask makes a request ask for what it takes.
func (m *Meter) ask(r *http.Request) {
	if r.Body == nil {
		return
	}
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	var in map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err == nil && decoder.Decode(&in) == nil {
		in["ReturnConsumedCapacity"] = "INDEXES"
		if asking, err := json.Marshal(in); err == nil {
			body = asking
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Length")
}

// take reads the units off an answer.
func (m *Meter) take(operation string, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == nil {
		m.used = map[string]Used{}
	}
	u := m.used[operation]
	u.Calls++
	u.Units += units(body)
	m.used[operation] = u
}

type consumed struct{ CapacityUnits float64 }

// units are those of an answer: one table's, or a list for a batch. A refused
// write takes units too, but its answer does not say how many: one is counted.
func units(body []byte) float64 {
	var failed struct {
		Type string `json:"__type"`
	}
	if json.Unmarshal(body, &failed) == nil && strings.HasSuffix(failed.Type, "ConditionalCheckFailedException") {
		return 1
	}
	var one struct{ ConsumedCapacity consumed }
	if json.Unmarshal(body, &one) == nil {
		return one.ConsumedCapacity.CapacityUnits
	}
	var many struct{ ConsumedCapacity []consumed }
	if json.Unmarshal(body, &many) != nil {
		return 0
	}
	sum := 0.0
	for _, c := range many.ConsumedCapacity {
		sum += c.CapacityUnits
	}
	return sum
}
