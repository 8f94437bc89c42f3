package event

import (
	"encoding/json"
	"errors"
)

// ec2Detail is the detail of aws.ec2@EC2InstanceStateChangeNotification,
// …SpotInstanceInterruptionWarning and …InstanceRebalanceRecommendation. The
// ARN of the last two has the zone in the region's place and no account, so ids
// are never taken from "resources".
type ec2Detail struct {
	InstanceID string `json:"instance-id"`
	State      string `json:"state"`
	Action     string `json:"instance-action"` // terminate, stop, hibernate
}

func ec2(t *Trigger, raw json.RawMessage) error {
	switch t.Type {
	case apiCallType:
		return launchCall(t, raw)
	case "EC2 Instance State-change Notification":
	// An interruptible capacity reservation is reclaimed as Spot capacity is (EC2 user guide,
	// "Monitor interruptible Capacity Reservations with EventBridge and CloudTrail").
	case "EC2 Spot Instance Interruption Warning", "EC2 Capacity Reservation Instance Interruption Warning":
		t.Kind = Interruption
	case "EC2 Instance Rebalance Recommendation":
		t.Kind = Rebalance
	default:
		foreign(t, "neither a state change, a warning nor a call")
		return nil
	}
	d, err := detail[ec2Detail](t, raw)
	if err != nil {
		return err
	}
	if d.InstanceID == "" {
		return &Malformed{What: t.Type, Err: errors.New("instance-id is missing")}
	}
	t.Instance = d.InstanceID
	switch {
	case t.Kind != "":
		t.Instances, t.Call = []string{d.InstanceID}, d.Action
	case d.State == "running":
		t.Kind, t.State = InstanceRunning, d.State
	case d.State == "terminated", d.State == "stopped":
		t.Kind, t.State = InstanceEnded, d.State
	default:
		t.State = d.State
		foreign(t, "a state on the way: "+d.State)
	}
	return nil
}
