package event

import (
	"encoding/json"
	"errors"
)

// autoscalingDetail is the detail of aws.autoscaling@EC2InstanceLaunchSuccessful,
// …LaunchUnsuccessful and …LaunchLifecycleAction (EventBridge schema registry),
// as far as it is used. Members that the registry calls required are missing
// in real events, so none is relied on but the instance or the activity.
type autoscalingDetail struct {
	AutoScalingGroupName string
	EC2InstanceID        string `json:"EC2InstanceId"`
	ActivityID           string `json:"ActivityId"`
	StatusMessage        string
	Cause                string
	LifecycleTransition  string
	Destination          string
	// Details can hold arrays and objects (InvokingAlarms) beside the two
	// strings that are wanted.
	Details map[string]json.RawMessage
}

const warmPool = "WarmPool"

func autoscaling(t *Trigger, raw json.RawMessage) error {
	switch t.Type {
	case "EC2 Instance-launch Lifecycle Action":
		t.Kind = LaunchStarted
	case "EC2 Instance Launch Successful":
		// StatusCode is "InProgress" on these, or a lifecycle word: never a gate.
		t.Kind = LaunchSucceeded
	case "EC2 Instance Launch Unsuccessful":
		t.Kind = LaunchFailed
	default:
		foreign(t, "not a launch")
		return nil
	}
	d, err := detail[autoscalingDetail](t, raw)
	if err != nil {
		return err
	}
	t.Group, t.Instance, t.Activity = d.AutoScalingGroupName, d.EC2InstanceID, d.ActivityID
	t.Message, t.Cause = d.StatusMessage, d.Cause
	t.Subnet, t.Zone = text(d.Details["Subnet ID"]), text(d.Details["Availability Zone"])
	t.Warm = d.Destination == warmPool
	switch {
	case t.Group == "":
		return &Malformed{What: t.Type, Err: errors.New("AutoScalingGroupName is missing")}
	case d.LifecycleTransition == "autoscaling:TEST_NOTIFICATION":
		foreign(t, "a test notification")
	case t.Kind == LaunchFailed:
		// No instance was made, or the id is left out: the activity names the failure.
		if t.Activity == "" && t.Instance == "" {
			return &Malformed{What: t.Type, Err: errors.New("neither ActivityId nor EC2InstanceId")}
		}
	case t.Instance == "":
		return &Malformed{What: t.Type, Err: errors.New("EC2InstanceId is missing")}
	}
	return nil
}

// text is the string in raw, or nothing where it is something else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
