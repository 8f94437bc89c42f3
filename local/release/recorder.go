package release

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is what is recorded of a stage.
type Table interface {
	Records(ctx context.Context) ([]map[string]types.AttributeValue, error)
}

// Recorder gathers what the programs on a stage write. It is safe for
// concurrent use.
type Recorder struct {
	mu      sync.Mutex
	samples Samples
	seen    map[string]bool // by key and version
}

// Sent takes a message that a queue took in.
func (r *Recorder) Sent(queue, body string) {
	if !json.Valid([]byte(body)) {
		quoted, _ := json.Marshal(body) // text always is
		body = string(quoted)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples.Messages = append(r.samples.Messages, Message{Queue: queue, Body: json.RawMessage(body)})
}

// Look takes the records that there are now.
func (r *Recorder) Look(ctx context.Context, t Table) error {
	items, err := t.Records(ctx)
	if err != nil {
		return fmt.Errorf("keep samples: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, item := range items {
		record, err := NewRecord(item)
		if err != nil {
			return fmt.Errorf("keep samples: %w", err)
		}
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		version := record.Texts["pk"] + " " + record.Texts["sk"] + " " + record.Numbers["version"].String()
		if !r.seen[version] {
			r.seen[version] = true
			r.samples.Records = append(r.samples.Records, record)
		}
	}
	return nil
}

// Watch looks each interval, until the context ends: what a record was on its way
// is of interest too.
func (r *Recorder) Watch(ctx context.Context, t Table, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := r.Look(ctx, t); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// Write adds what was gathered to a folder's samples.
func (r *Recorder) Write(dir string) error {
	kept, err := Read(dir)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept.Records = append(kept.Records, r.samples.Records...)
	kept.Messages = append(kept.Messages, r.samples.Messages...)
	return kept.Few().Write(dir)
}
