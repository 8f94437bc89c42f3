package state

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// Envelope is the form that all EventBridge events share.
type Envelope struct {
	Version    string   `json:"version"`
	ID         string   `json:"id"`
	DetailType string   `json:"detail-type"`
	Source     string   `json:"source"`
	Account    string   `json:"account"`
	Time       string   `json:"time"`
	Region     string   `json:"region"`
	Resources  []string `json:"resources"`
	Detail     any      `json:"detail"`
}

// Emit puts an event on the account's default bus.
func (w *State) Emit(source, detailType string, resources []string, detail any) {
	w.Put(Envelope{
		ID: w.IDs.UUID(), DetailType: detailType, Source: source,
		Time: w.Now.UTC().Format(time.RFC3339), Resources: resources, Detail: detail,
	})
}

// Put completes an event and puts it on the bus.
func (w *State) Put(e Envelope) {
	e.Version, e.Account, e.Region = "0", w.Account, w.Region
	b, err := json.Marshal(e)
	if err != nil {
		// The details are structs of strings; this cannot fail in service.
		w.Log.Error("event not written", "detail-type", e.DetailType, "error", err)
		return
	}
	w.events = append(w.events, b)
}

func (w *State) instanceARN(id string) string {
	return fmt.Sprintf("arn:aws:ec2:%s:%s:instance/%s", w.Region, w.Account, id)
}

type stateChange struct {
	InstanceID string `json:"instance-id"`
	State      string `json:"state"`
}

// EmitState tells of an instance's state change.
func (w *State) EmitState(id, state string) {
	w.Emit("aws.ec2", "EC2 Instance State-change Notification", []string{w.instanceARN(id)}, stateChange{id, state})
}

// spotARN is the form that the two Spot warnings carry: the zone where other
// events have the region, and no account.
func (w *State) spotARN(id string) string {
	zone := w.Region
	if in := w.Instances.Get(id); in != nil && in.Placement != nil {
		zone = aws.ToString(in.Placement.AvailabilityZone)
	}
	return fmt.Sprintf("arn:aws:ec2:%s:instance/%s", zone, id)
}

type interruptionWarning struct {
	InstanceID     string `json:"instance-id"`
	InstanceAction string `json:"instance-action"`
}

// EmitInterruption warns that an instance of Spot, or of an interruptible Capacity
// Reservation, is taken back.
func (w *State) EmitInterruption(id string) {
	in := w.Instances.Get(id)
	if in == nil || in.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot || in.CapacityReservationId == nil {
		w.Emit("aws.ec2", "EC2 Spot Instance Interruption Warning", []string{w.spotARN(id)}, interruptionWarning{id, "terminate"})
		return
	}
	var zone *string
	if in.Placement != nil {
		zone = in.Placement.AvailabilityZoneId
	}
	// The members are those of the EC2 user guide's example; the warning comes two minutes before.
	type warning struct {
		interruptionWarning
		Terminates string `json:"instance-termination-time"`
		ZoneID     string `json:"azId"`
	}
	w.Emit("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", []string{w.instanceARN(id)},
		warning{interruptionWarning{id, "terminate"}, w.Now.Add(2 * time.Minute).UTC().Format(time.RFC3339), aws.ToString(zone)})
}

type rebalanceRecommendation struct {
	InstanceID string `json:"instance-id"`
}

// EmitRebalance tells that a Spot instance is at risk.
func (w *State) EmitRebalance(id string) {
	w.Emit("aws.ec2", "EC2 Instance Rebalance Recommendation", []string{w.spotARN(id)}, rebalanceRecommendation{id})
}

type lifecycleAction struct {
	LifecycleActionToken string
	AutoScalingGroupName string
	LifecycleHookName    string
	EC2InstanceId        string
	LifecycleTransition  string
	NotificationMetadata string `json:",omitempty"`
	Origin               string
	Destination          string
}

// EmitLifecycleAction tells that a hook holds an instance.
func (w *State) EmitLifecycleAction(g *Group, hook *astypes.LifecycleHook, instance, token, origin, destination string) {
	kind := "EC2 Instance-launch Lifecycle Action"
	if aws.ToString(hook.LifecycleTransition) == TransitionTerminating {
		kind = "EC2 Instance-terminate Lifecycle Action"
	}
	w.Emit("aws.autoscaling", kind, []string{aws.ToString(g.AutoScalingGroupARN)}, lifecycleAction{
		LifecycleActionToken: token,
		AutoScalingGroupName: aws.ToString(g.AutoScalingGroupName),
		LifecycleHookName:    aws.ToString(hook.LifecycleHookName),
		EC2InstanceId:        instance,
		LifecycleTransition:  aws.ToString(hook.LifecycleTransition),
		NotificationMetadata: aws.ToString(hook.NotificationMetadata),
		Origin:               origin,
		Destination:          destination,
	})
}

// scalingEvent is the detail of the four launch and terminate events.
type scalingEvent struct {
	Origin               string
	Destination          string
	StatusCode           string
	StatusMessage        string
	Description          string
	AutoScalingGroupName string
	ActivityId           string
	RequestId            string
	EC2InstanceId        string
	StartTime            string
	EndTime              string
	Details              json.RawMessage
	Cause                string
}

// EmitActivity sends the event of an activity's end. status is the event's own
// code: a success is sent while the activity still says InProgress.
func (w *State) EmitActivity(detailType string, g *Group, a *Activity, status string) {
	resources := []string{aws.ToString(g.AutoScalingGroupARN)}
	if a.Instance != "" {
		resources = append(resources, w.instanceARN(a.Instance))
	}
	w.Emit("aws.autoscaling", detailType, resources, scalingEvent{
		Origin: a.Origin, Destination: a.Destination,
		StatusCode: status, StatusMessage: aws.ToString(a.StatusMessage),
		Description:          aws.ToString(a.Description),
		AutoScalingGroupName: aws.ToString(g.AutoScalingGroupName),
		ActivityId:           aws.ToString(a.ActivityId), RequestId: aws.ToString(a.ActivityId),
		EC2InstanceId: a.Instance,
		StartTime:     eventTime(aws.ToTime(a.StartTime)), EndTime: eventTime(w.Now),
		Details: json.RawMessage(aws.ToString(a.Details)),
		Cause:   aws.ToString(a.Cause),
	})
}

// eventTime is the form with milliseconds that these details carry.
func eventTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
