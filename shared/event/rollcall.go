package event

import (
	"encoding/json"
	"errors"
	"time"
)

// source is how our own messages are told from AWS's.
const source = "rollcall"

const lookAgain = "Rollcall Look Again"

type lookDetail struct {
	Instance string `json:"instance"`
}

// LookAgain is the message by which Rollcall reminds itself of an instance.
func LookAgain(instance string, now time.Time) ([]byte, error) {
	detail, err := json.Marshal(lookDetail{instance})
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{Version: "0", ID: "look/" + instance, DetailType: lookAgain, Source: source, Time: now.UTC(), Detail: detail})
}

func own(t *Trigger, raw json.RawMessage) error {
	if t.Type != lookAgain {
		foreign(t, "our own, but not a reminder")
		return nil
	}
	d, err := detail[lookDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Instance == "" {
		return &Malformed{What: t.Type, Err: errors.New("instance is missing")}
	}
	t.Kind, t.Instance = Reminder, d.Instance
	return nil
}
