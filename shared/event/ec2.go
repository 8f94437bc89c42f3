package event

import (
	"encoding/json"
	"errors"
)

// stateChange is aws.ec2@EC2InstanceStateChangeNotification.
type stateChange struct {
	InstanceID string `json:"instance-id"`
	State      string `json:"state"`
}

func ec2(t *Trigger, raw json.RawMessage) error {
	if t.Type != "EC2 Instance State-change Notification" {
		foreign(t, "not a state change")
		return nil
	}
	d, err := detail[stateChange](t, raw)
	if err != nil {
		return err
	}
	if d.InstanceID == "" {
		return &Malformed{What: t.Type, Err: errors.New("instance-id is missing")}
	}
	t.Instance, t.State = d.InstanceID, d.State
	switch d.State {
	case "running":
		t.Kind = InstanceRunning
	case "terminated", "stopped":
		t.Kind = InstanceEnded
	default:
		foreign(t, "a state on the way: "+d.State)
	}
	return nil
}
