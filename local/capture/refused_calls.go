package capture

import (
	"encoding/json"
	"slices"
	"time"
)

// recordsFile is the operation whose files hold CloudTrail's records of calls.
const recordsFile = "cloudtrail-lookup-events"

// callsFor is how long a refused call for instances counts, as a failed scaling activity
// does (the contract of captures).
const callsFor = time.Hour

// LaunchCalls are CloudTrail's records of calls for instances of the capture's last hour,
// oldest first. What cannot be read as a record is left out.
func (c *Capture) LaunchCalls() []json.RawMessage {
	type record struct {
		at  time.Time
		raw json.RawMessage
	}
	var all []record
	for _, name := range c.names(recordsFile) {
		tree, _ := c.files[name].(map[string]any)
		events, _ := tree["Events"].([]any)
		for _, e := range events {
			event, _ := e.(map[string]any)
			text, _ := event["CloudTrailEvent"].(string)
			var told struct{ EventTime time.Time }
			if json.Unmarshal([]byte(text), &told) != nil {
				continue
			}
			if age := c.Time.Sub(told.EventTime); age >= 0 && age <= callsFor {
				all = append(all, record{told.EventTime, json.RawMessage(text)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b record) int { return a.at.Compare(b.at) })
	list := make([]json.RawMessage, len(all))
	for i, r := range all {
		list[i] = r.raw
	}
	return list
}
