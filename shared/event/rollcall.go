package event

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"rollcall/shared/spoke"
)

// source is how our own messages are told from AWS's.
const source = "rollcall"

const (
	lookAgain = "Rollcall Look Again"
	asked     = "Rollcall Spot Report Wanted"
)

type lookDetail struct {
	spoke.ID
	Instances []string `json:"instances"`
}

// LookAgain is the message by which Rollcall reminds itself of instances of a spoke.
func LookAgain(of spoke.ID, instances []string, now time.Time) ([]byte, error) {
	detail, err := json.Marshal(lookDetail{of, instances})
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{Version: "0", ID: "look/" + now.UTC().Format(time.RFC3339Nano), DetailType: lookAgain, Source: source, Time: now.UTC(), Detail: detail})
}

func own(t *Trigger, raw json.RawMessage) error {
	// The envelope is the hub's; whose the event is it says itself.
	var of spoke.ID
	if json.Unmarshal(raw, &of) == nil && of.Account != "" {
		t.Account, t.Region = of.Account, of.Region
	}
	switch t.Type {
	case lookAgain:
	case lookAtNodegroup:
		return ownNodegroup(t, raw)
	case clusterSweep:
		return ownSweep(t, raw)
	case lookForChanges:
		return ownChanges(t, raw)
	case asked:
		return wanted(t, raw)
	case statusChange:
		return readOwnEvent(t, raw)
	case checkWanted, remedyApproved:
		return readOwnEvent(t, raw)
	default:
		if strings.HasPrefix(t.Type, incident) {
			return readOwnEvent(t, raw)
		}
		foreign(t, "our own, but nothing that we act on")
		return nil
	}
	d, err := detail[lookDetail](t, raw)
	if err != nil {
		return err
	}
	if len(d.Instances) == 0 || slices.Contains(d.Instances, "") {
		return &Malformed{What: t.Type, Err: errors.New("instances are missing")}
	}
	t.Kind, t.Instances = Reminder, d.Instances
	return nil
}
