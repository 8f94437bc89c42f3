package look

import (
	"encoding/json"
	"fmt"

	"rollcall/shared/event"
)

// batch is the refused calls for instances among CloudTrail's records as the queue of
// launch-watch brings them, oldest first; nil where there is none.
func (p parts) batch(records []Record) (json.RawMessage, error) {
	type message struct {
		ID     string `json:"messageId"`
		Source string `json:"eventSource"`
		Body   string `json:"body"`
	}
	var list []message
	for _, record := range records {
		raw, err := p.event("AWS API Call via CloudTrail", "aws.ec2", record)
		if err != nil {
			return nil, err
		}
		// What brought instances, dry runs and what cannot be read are none.
		if t, err := event.Parse(raw); err != nil || t.Kind != event.LaunchRefused {
			continue
		}
		list = append(list, message{ID: fmt.Sprintf("m%d", len(list)), Source: "aws:sqs", Body: string(raw)})
	}
	if len(list) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(map[string]any{"Records": list})
	if err != nil {
		return nil, fmt.Errorf("write the batch: %w", err)
	}
	return raw, nil
}
