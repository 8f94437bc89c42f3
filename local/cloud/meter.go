package cloud

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
// The emulator counts as DynamoDB documents it (4 KB a read unit, half of it
// when eventually consistent, 1 KB a write unit, indexes written beside the
// table).
type Meter struct {
	mu   sync.Mutex
	used map[string]Used
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
func (m *Meter) take(r *http.Response) error {
	_, operation, _ := strings.Cut(r.Request.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.used == nil {
		m.used = map[string]Used{}
	}
	u := m.used[operation]
	u.Calls++
	u.Units += units(body)
	m.used[operation] = u
	return nil
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
