package world

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
)

// envelope is the form that all EventBridge events share.
type envelope struct {
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

// emit puts an event on the account's default bus.
func (w *World) emit(source, detailType string, resources []string, detail any) {
	w.put(envelope{
		ID: w.ids.UUID(), DetailType: detailType, Source: source,
		Time: w.now.UTC().Format(time.RFC3339), Resources: resources, Detail: detail,
	})
}

// put completes an event and puts it on the bus.
func (w *World) put(e envelope) {
	e.Version, e.Account, e.Region = "0", w.account, w.region
	b, err := json.Marshal(e)
	if err != nil {
		// The details are structs of strings; this cannot fail in service.
		w.log.Error("event not written", "detail-type", e.DetailType, "error", err)
		return
	}
	w.events = append(w.events, b)
}

func (w *World) instanceARN(id string) string {
	return fmt.Sprintf("arn:aws:ec2:%s:%s:instance/%s", w.region, w.account, id)
}

type stateChange struct {
	InstanceID string `json:"instance-id"`
	State      string `json:"state"`
}

func (w *World) emitState(id, state string) {
	w.emit("aws.ec2", "EC2 Instance State-change Notification", []string{w.instanceARN(id)}, stateChange{id, state})
}

// spotARN is the form that the two Spot warnings carry: the zone where other
// events have the region, and no account.
func (w *World) spotARN(id string) string {
	zone := w.region
	if in := w.instances.Get(id); in != nil && in.Placement != nil {
		zone = aws.ToString(in.Placement.AvailabilityZone)
	}
	return fmt.Sprintf("arn:aws:ec2:%s:instance/%s", zone, id)
}

type interruptionWarning struct {
	InstanceID     string `json:"instance-id"`
	InstanceAction string `json:"instance-action"`
}

func (w *World) emitInterruption(id string) {
	w.emit("aws.ec2", "EC2 Spot Instance Interruption Warning", []string{w.spotARN(id)}, interruptionWarning{id, "terminate"})
}

type rebalanceRecommendation struct {
	InstanceID string `json:"instance-id"`
}

func (w *World) emitRebalance(id string) {
	w.emit("aws.ec2", "EC2 Instance Rebalance Recommendation", []string{w.spotARN(id)}, rebalanceRecommendation{id})
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

func (w *World) emitLifecycleAction(g *group, hook *astypes.LifecycleHook, instance, token, origin, destination string) {
	kind := "EC2 Instance-launch Lifecycle Action"
	if aws.ToString(hook.LifecycleTransition) == transitionTerminating {
		kind = "EC2 Instance-terminate Lifecycle Action"
	}
	w.emit("aws.autoscaling", kind, []string{aws.ToString(g.AutoScalingGroupARN)}, lifecycleAction{
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

// emitActivity sends the event of an activity's end. status is the event's own
// code: a success is sent while the activity still says InProgress.
func (w *World) emitActivity(detailType string, g *group, a *activity, status string) {
	resources := []string{aws.ToString(g.AutoScalingGroupARN)}
	if a.instance != "" {
		resources = append(resources, w.instanceARN(a.instance))
	}
	w.emit("aws.autoscaling", detailType, resources, scalingEvent{
		Origin: a.origin, Destination: a.destination,
		StatusCode: status, StatusMessage: aws.ToString(a.StatusMessage),
		Description:          aws.ToString(a.Description),
		AutoScalingGroupName: aws.ToString(g.AutoScalingGroupName),
		ActivityId:           aws.ToString(a.ActivityId), RequestId: aws.ToString(a.ActivityId),
		EC2InstanceId: a.instance,
		StartTime:     eventTime(aws.ToTime(a.StartTime)), EndTime: eventTime(w.now),
		Details: json.RawMessage(aws.ToString(a.Details)),
		Cause:   aws.ToString(a.Cause),
	})
}

// eventTime is the form with milliseconds that these details carry.
func eventTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
