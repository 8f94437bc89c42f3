// Package event tells what an event says: what happened, when, and to which
// instance. It decodes by (source, detail-type), one file per service, and
// never guesses: what it cannot read is Malformed, what it does not know is
// Foreign.
package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Kind is what happened.
type Kind string

// The kinds.
const (
	// LaunchStarted: an Auto Scaling group waits with its launch hook.
	LaunchStarted Kind = "launch started"
	// LaunchSucceeded: the group has done all it does; says nothing of the
	// node, and may come half an hour late.
	LaunchSucceeded Kind = "launch succeeded"
	// LaunchFailed: no instance, or one that died before it was in service.
	LaunchFailed Kind = "launch failed"
	// LaunchRefused: a call for instances that no Auto Scaling group made brought none
	// (CloudTrail).
	LaunchRefused Kind = "launch refused"
	// InstanceRunning: EC2 has started the instance.
	InstanceRunning Kind = "instance running"
	// InstanceEnded: the instance has stopped or is terminated.
	InstanceEnded Kind = "instance ended"
	// Interruption: EC2 will take the instance, of Spot or of an interruptible capacity
	// reservation, back in two minutes.
	Interruption Kind = "interruption"
	// Rebalance: EC2 says that the Spot instance is likely to be taken back.
	Rebalance Kind = "rebalance recommendation"
	// Maintenance: EC2 has something planned for instances (AWS Health).
	Maintenance Kind = "maintenance"
	// NodegroupCalled: somebody called EKS about a nodegroup (CloudTrail), or
	// CloudFormation tells of one.
	NodegroupCalled Kind = "nodegroup called"
	// AddonHealth: an add-on became degraded, or is well again.
	AddonHealth Kind = "add-on health"
	// Asked: a person asks for a report now.
	Asked Kind = "asked"
	// CheckWanted: somebody wants a cause to be looked at now.
	CheckWanted Kind = "check wanted"
	// IncidentTold: Rollcall's own event of an incident that was opened, changed,
	// resolved, or whose remedy was approved.
	IncidentTold Kind = "incident told"
	// StatusChanged: Rollcall's own event of a nodegroup that has changed.
	StatusChanged Kind = "nodegroup status changed"
	// Reminder: Rollcall asked itself to look at the instance again.
	Reminder Kind = "reminder"
	// Sweep: time to look at everything.
	Sweep Kind = "sweep"
	// ClusterSweep: time to look at all of one cluster.
	ClusterSweep Kind = "cluster sweep"
	// Foreign: a known form, but nothing that we act on.
	Foreign Kind = "foreign"
)

// Trigger is what an event says.
type Trigger struct {
	ID      string
	Kind    Kind
	Source  string
	Type    string // the detail-type
	Account string
	Region  string
	Time    time.Time

	Instance string
	// Instances are those of a Reminder, which is of many.
	Instances []string
	Group     string // Auto Scaling group
	Activity  string
	Subnet    string
	Zone      string
	// State is EC2's word for an instance's state.
	State string
	// Message is the activity's status message.
	Message string
	Cause   string
	// Warm is set when the instance goes into a warm pool, where it is not
	// expected to join.
	Warm bool
	// Cluster, Nodegroup, Addon and Update are those of an EKS event, as far as
	// it names them.
	Cluster   string
	Nodegroup string
	Addon     string
	Update    string
	// Check, Resource and Told are those of an incident: Told is the end of the
	// detail-type, "Opened".
	Check    string
	Resource string
	Told     string
	// Opened and Round are those of a Reminder to look again for what was changed
	// before an incident that was opened then.
	Opened time.Time
	Round  int
	// Hours is how far back the report that was Asked for goes.
	Hours int
	// Call is what was called, e.g. "UpdateNodegroupConfig".
	Call string
	// Refusal is what a LaunchRefused was to launch.
	Refusal *Refusal
	// Why says why a Foreign event is none of ours.
	Why string
}

// Clock is when the launch began, as far as this event knows. "Launch
// Successful" does not know: it comes after the launch hook, which for a node
// that never joins is up to 30 minutes later.
func (t Trigger) Clock() (began time.Time, known bool) {
	switch t.Kind {
	case LaunchStarted, InstanceRunning:
		return t.Time, true
	}
	return time.Time{}, false
}

// Malformed is an event that cannot be read. It is returned, so that the
// message ends in the dead-letter queue, where a person can look at it.
type Malformed struct {
	What string // what was being read
	Err  error
}

func (m *Malformed) Error() string {
	return fmt.Sprintf("malformed event: %s: %v", m.What, m.Err)
}

func (m *Malformed) Unwrap() error { return m.Err }

// envelope is the common form of all EventBridge events. Scheduler sends
// detail as a string holding JSON, so detail stays raw.
type envelope struct {
	Version    string          `json:"version"`
	ID         string          `json:"id"`
	DetailType string          `json:"detail-type"`
	Source     string          `json:"source"`
	Account    string          `json:"account"`
	Time       time.Time       `json:"time"`
	Region     string          `json:"region"`
	Resources  []string        `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// Parse reads one EventBridge event.
func Parse(raw []byte) (Trigger, error) {
	var e envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return Trigger{}, &Malformed{What: "the envelope", Err: err}
	}
	if e.Source == "" || e.DetailType == "" {
		return Trigger{}, &Malformed{What: "the envelope", Err: errors.New("source or detail-type is missing; is this an EventBridge event?")}
	}
	// A person who asks by hand need not say when.
	if e.Time.IsZero() && !(e.Source == source && e.DetailType == asked) {
		return Trigger{}, &Malformed{What: "the envelope", Err: errors.New("time is missing")}
	}
	t := Trigger{
		ID: e.ID, Source: e.Source, Type: e.DetailType,
		Account: e.Account, Region: e.Region, Time: e.Time.UTC(),
	}
	var err error
	switch e.Source {
	case "aws.autoscaling":
		err = autoscaling(&t, e.Detail)
	case "aws.ec2":
		err = ec2(&t, e.Detail)
	case "aws.eks":
		err = eks(&t, e.Detail, e.Resources)
	case "aws.cloudformation":
		err = cloudformation(&t, e.Detail)
	case "aws.health":
		err = health(&t, e.Detail)
	case "aws.events", "aws.scheduler":
		schedule(&t)
	case source:
		err = own(&t, e.Detail)
	default:
		foreign(&t, "nothing is done with events of this source")
	}
	if err != nil {
		return Trigger{}, err
	}
	return t, nil
}

func foreign(t *Trigger, why string) {
	t.Kind, t.Why = Foreign, why
}

// detail decodes an event's detail into its service's form.
func detail[T any](t *Trigger, raw json.RawMessage) (T, error) {
	var d T
	if len(raw) == 0 {
		return d, &Malformed{What: t.Type, Err: errors.New("detail is missing")}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, &Malformed{What: t.Type, Err: err}
	}
	return d, nil
}
