package event

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"rollcall/shared/spoke"
)

const lookForChanges = "Rollcall Look For Changes"

// OpenedPattern is what Rollcall itself tells its bus when an incident begins,
// or comes back.
const OpenedPattern = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Incident Opened", "Rollcall Incident Reopened"]
}`

type changesDetail struct {
	spoke.ID
	Cluster  string    `json:"cluster"`
	Check    string    `json:"check"`
	Resource string    `json:"resource"`
	Opened   time.Time `json:"opened"`
	Round    int       `json:"round"`
}

// LookForChanges is the message by which Rollcall reminds itself to look again
// for what was changed before an incident: CloudTrail is late.
func LookForChanges(of spoke.ID, cluster, check, resource string, opened time.Time, round int, now time.Time) ([]byte, error) {
	detail, err := json.Marshal(changesDetail{of, cluster, check, resource, opened.UTC(), round})
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{
		Version: "0", ID: "look/" + cluster + "/" + check + "/" + resource + "/" + strconv.Itoa(round) + "/" + now.UTC().Format(time.RFC3339Nano),
		DetailType: lookForChanges, Source: source, Time: now.UTC(), Detail: detail,
	})
}

func ownChanges(t *Trigger, raw json.RawMessage) error {
	d, err := detail[changesDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Cluster == "" || d.Check == "" || d.Resource == "" || d.Opened.IsZero() || d.Round < 1 {
		return &Malformed{What: t.Type, Err: errors.New("the incident, its time or the round is missing")}
	}
	t.Kind, t.Cluster, t.Check, t.Resource, t.Opened, t.Round = Reminder, d.Cluster, d.Check, d.Resource, d.Opened, d.Round
	return nil
}
