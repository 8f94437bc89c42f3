// Package event tells what an event says: what happened, when, and to which
// instance. It decodes by (source, detail-type), one file per service, and
// never guesses: what it cannot read is Malformed, what it does not know is
// Foreign.
package event

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"rollcall/shared/event/inbox"
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
	// NodegroupCalled: a principal called EKS about a nodegroup (CloudTrail), or
	// CloudFormation reports one.
	NodegroupCalled Kind = "nodegroup called"
	// AddonHealth: an add-on became degraded, or is well again.
	AddonHealth Kind = "add-on health"
	// Asked: a person asks for a report now.
	Asked Kind = "asked"
	// CheckWanted: a request to look at a cause now.
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

// Parse reads one EventBridge event.
func Parse(raw []byte) (Trigger, error) {
	var e inbox.Envelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return Trigger{}, &inbox.Malformed{What: "the envelope", Err: err}
	}
	if e.Source == "" || e.DetailType == "" {
		return Trigger{}, &inbox.Malformed{What: "the envelope", Err: errors.New("source or detail-type is missing; is this an EventBridge event?")}
	}
	// A person who asks by hand need not say when.
	if e.Time.IsZero() && !(e.Source == inbox.Source && e.DetailType == inbox.TypeAsked) {
		return Trigger{}, &inbox.Malformed{What: "the envelope", Err: errors.New("time is missing")}
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
	case inbox.Source:
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
		return d, &inbox.Malformed{What: t.Type, Err: errors.New("detail is missing")}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, &inbox.Malformed{What: t.Type, Err: err}
	}
	return d, nil
}

// AskedPattern matches a person's wish for a Spot report, sent to the default
// bus.
const AskedPattern = `{"source":["` + inbox.Source + `"],"detail-type":["` + inbox.TypeAsked + `"]}`

// How far back a requested report goes: a day where the wish does
// not say, at most the time for which launches are kept.
const (
	usualHours = 24
	mostHours  = 90 * 24
)

type askedDetail struct {
	Cluster string `json:"cluster"`
	Hours   int    `json:"hours"`
}

// wanted reads a wish for a report; without a cluster it is of all that are
// watched.
func wanted(t *Trigger, raw json.RawMessage) error {
	d, err := detail[askedDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Hours < 0 || d.Hours > mostHours {
		return &inbox.Malformed{What: t.Type, Err: fmt.Errorf("hours is %d, it may be 1 to %d", d.Hours, mostHours)}
	}
	if d.Hours == 0 {
		d.Hours = usualHours
	}
	t.Kind, t.Cluster, t.Hours = Asked, d.Cluster, d.Hours
	return nil
}

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
		return &inbox.Malformed{What: t.Type, Err: errors.New("AutoScalingGroupName is missing")}
	case d.LifecycleTransition == "autoscaling:TEST_NOTIFICATION":
		foreign(t, "a test notification")
	case t.Kind == LaunchFailed:
		// No instance was made, or the id is left out: the activity names the failure.
		if t.Activity == "" && t.Instance == "" {
			return &inbox.Malformed{What: t.Type, Err: errors.New("neither ActivityId nor EC2InstanceId")}
		}
	case t.Instance == "":
		return &inbox.Malformed{What: t.Type, Err: errors.New("EC2InstanceId is missing")}
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

// OpenedPattern is what Rollcall itself tells its bus when an incident begins,
// or comes back.
const OpenedPattern = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Incident Opened", "Rollcall Incident Reopened"]
}`

func ownChanges(t *Trigger, raw json.RawMessage) error {
	d, err := detail[inbox.ChangesDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Cluster == "" || d.Check == "" || d.Resource == "" || d.Opened.IsZero() || d.Round < 1 {
		return &inbox.Malformed{What: t.Type, Err: errors.New("the incident, its time or the round is missing")}
	}
	t.Kind, t.Cluster, t.Check, t.Resource, t.Opened, t.Round = Reminder, d.Cluster, d.Check, d.Resource, d.Opened, d.Round
	return nil
}

// resourceStatus is the detail of "CloudFormation Resource Status Change", as
// far as it is used.
type resourceStatus struct {
	ResourceType string `json:"resource-type"`
	// PhysicalID of a nodegroup is "cluster/nodegroup"; it is empty as long as
	// there is none.
	PhysicalID string `json:"physical-resource-id"`
	Status     struct {
		Status string `json:"status"`
		Reason string `json:"status-reason"`
	} `json:"status-details"`
}

const nodegroupResource = "AWS::EKS::Nodegroup"

func cloudformation(t *Trigger, raw json.RawMessage) error {
	if t.Type != "CloudFormation Resource Status Change" {
		foreign(t, "not the status of a resource")
		return nil
	}
	d, err := detail[resourceStatus](t, raw)
	if err != nil {
		return err
	}
	t.State, t.Message = d.Status.Status, d.Status.Reason
	cluster, name, named := strings.Cut(d.PhysicalID, "/")
	switch {
	case d.ResourceType != nodegroupResource:
		foreign(t, "a resource that is no nodegroup")
	case d.PhysicalID == "":
		foreign(t, "the nodegroup is not made yet")
	case !named || cluster == "" || name == "":
		return &inbox.Malformed{What: t.Type, Err: errors.New("physical-resource-id is not a cluster and a nodegroup: " + d.PhysicalID)}
	default:
		t.Kind, t.Cluster, t.Nodegroup, t.Call = NodegroupCalled, cluster, name, t.Type
	}
	return nil
}

// launchRecord is CloudTrail's record of a call to EC2, as far as it is used.
type launchRecord struct {
	EventSource  string    `json:"eventSource"`
	EventName    string    `json:"eventName"`
	Time         time.Time `json:"eventTime"`
	From         string    `json:"sourceIPAddress"`
	Identity     identity  `json:"userIdentity"`
	ErrorCode    string    `json:"errorCode"`
	ErrorMessage string    `json:"errorMessage"`
	Parameters   tree      `json:"requestParameters"`
	Answer       tree      `json:"responseElements"`
	Request      string    `json:"requestID"`
}

// dryRun reports whether nothing was to be launched. Karpenter asks so whether it may
// launch, every 30 minutes for each class (aws/karpenter-provider-aws
// pkg/controllers/nodeclass/validation.go): that it may is an error too.
func (d launchRecord) dryRun() bool {
	return bare(d.ErrorCode) == "DryRunOperation" || slices.ContainsFunc([]tree{
		d.Parameters.get("CreateFleetRequest").get("DryRun"), d.Parameters.get("dryRun"), d.Parameters.get("DryRun"),
	}, func(x tree) bool { return x.text() == "true" })
}

type identity struct {
	ARN       string `json:"arn"`
	InvokedBy string `json:"invokedBy"`
	Session   struct {
		Issuer struct {
			ARN string `json:"arn"`
		} `json:"sessionIssuer"`
	} `json:"sessionContext"`
}

// caller is the role, not its session: Karpenter names each session anew.
func (i identity) caller() string { return cmp.Or(i.Session.Issuer.ARN, i.ARN) }

// tree is a member of a record whose form is not relied on: what CloudTrail made
// of XML. Whatever is not of the form that is asked for is not there.
type tree struct{ value any }

func (x *tree) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return dec.Decode(&x.value)
}

// get is a member of an object.
func (x tree) get(name string) tree {
	members, _ := x.value.(map[string]any)
	return tree{members[name]}
}

// list is what a list holds; a list of one is what it holds itself.
func (x tree) list() []tree {
	switch v := x.value.(type) {
	case []any:
		all := make([]tree, len(v))
		for i := range v {
			all[i] = tree{v[i]}
		}
		return all
	case nil:
		return nil
	case string:
		if v == "" { // <errorSet/>
			return nil
		}
	}
	return []tree{x}
}

func (x tree) text() string {
	switch v := x.value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// number is a count; none where there is no such number.
func (x tree) number() int {
	n, err := strconv.Atoi(x.text())
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func ownSweep(t *Trigger, raw json.RawMessage) error {
	d, err := detail[inbox.ClusterDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Cluster == "" {
		return &inbox.Malformed{What: t.Type, Err: errors.New("the cluster is missing")}
	}
	t.Kind, t.Cluster = ClusterSweep, d.Cluster
	return nil
}

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
		return &inbox.Malformed{What: t.Type, Err: errors.New("instance-id is missing")}
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

// apiCall is the detail of "AWS API Call via CloudTrail", as far as it is
// used. Parameters and answers stay raw: the same member is a number in one
// record and a text in the next.
type apiCall struct {
	EventSource       string                     `json:"eventSource"`
	EventName         string                     `json:"eventName"`
	ErrorCode         string                     `json:"errorCode"`
	RequestParameters map[string]json.RawMessage `json:"requestParameters"`
	ResponseElements  map[string]json.RawMessage `json:"responseElements"`
}

const apiCallType = "AWS API Call via CloudTrail"

// nodegroupCalls are the calls of EKS that change a nodegroup.
func nodegroupCalls() []string {
	return []string{"CreateNodegroup", "UpdateNodegroupConfig", "UpdateNodegroupVersion", "DeleteNodegroup"}
}

// addonNews are the events by which EKS reports an add-on's health.
func addonNews() []string {
	return []string{"EKS Addon Health Degraded", "EKS Addon Health Restored", "EKS Addon Creation Failed", "EKS Addon Update Failed"}
}

func eks(t *Trigger, raw json.RawMessage, resources []string) error {
	switch {
	case t.Type == apiCallType:
		return nodegroupCall(t, raw)
	case slices.Contains(addonNews(), t.Type):
		return addonHealth(t, raw, resources)
	}
	foreign(t, "nothing is done with this event of EKS")
	return nil
}

// nodegroupCall reads CloudTrail's record of a call. That EKS took the call
// does not mean that what was asked for is done.
func nodegroupCall(t *Trigger, raw json.RawMessage) error {
	d, err := detail[apiCall](t, raw)
	if err != nil {
		return err
	}
	t.Call = d.EventName
	switch {
	case d.EventSource != "" && d.EventSource != "eks.amazonaws.com":
		foreign(t, "a call of another service")
		return nil
	case !slices.Contains(nodegroupCalls(), d.EventName):
		foreign(t, "a call that changes no nodegroup")
		return nil
	case d.ErrorCode != "":
		foreign(t, "EKS refused the call: "+d.ErrorCode)
		return nil
	}
	answer := members(d.ResponseElements["nodegroup"])
	// CloudTrail names a parameter of the path as it is on the wire: the
	// cluster is "name", and may be URL-encoded.
	t.Cluster = cmp.Or(text(answer["clusterName"]), plain(d.RequestParameters["name"]), plain(d.RequestParameters["clusterName"]))
	t.Nodegroup = cmp.Or(text(answer["nodegroupName"]), plain(d.RequestParameters["nodegroupName"]))
	t.Update = text(members(d.ResponseElements["update"])["id"])
	t.State = text(answer["status"])
	if t.Cluster == "" || t.Nodegroup == "" {
		return &inbox.Malformed{What: t.Type + " " + d.EventName, Err: errors.New("the cluster or the nodegroup is missing")}
	}
	t.Kind = NodegroupCalled
	return nil
}

// addonHealth reads whose add-on the event is about. What its detail holds is
// documented nowhere: both spellings of a member are taken, and the add-on's
// ARN tells the same. Where nothing does, Cluster stays empty: the sweep looks
// at the add-ons of every cluster anyway.
func addonHealth(t *Trigger, raw json.RawMessage, resources []string) error {
	d, err := detail[map[string]json.RawMessage](t, raw)
	if err != nil {
		return err
	}
	t.Kind = AddonHealth
	t.Cluster = cmp.Or(text(d["clusterName"]), text(d["cluster-name"]), text(d["cluster"]))
	t.Addon = cmp.Or(text(d["addonName"]), text(d["addon-name"]), text(d["addon"]))
	for _, arn := range resources {
		// arn:aws:eks:us-west-2:111122223333:addon/prod/vpc-cni/9cb5c5a2-…
		_, rest, found := strings.Cut(arn, ":addon/")
		if parts := strings.Split(rest, "/"); found && len(parts) >= 2 {
			t.Cluster, t.Addon = cmp.Or(t.Cluster, parts[0]), cmp.Or(t.Addon, parts[1])
		}
	}
	return nil
}

// members are those of an object; none where raw is something else.
func members(raw json.RawMessage) map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// plain is the text in raw, without URL encoding.
func plain(raw json.RawMessage) string {
	s := text(raw)
	if decoded, err := url.PathUnescape(s); err == nil {
		return decoded
	}
	return s
}

// healthDetail is the detail of aws.health@AWSHealthEvent, as far as it is
// used. Its times are RFC 1123, not RFC 3339.
type healthDetail struct {
	Service          string `json:"service"`
	EventTypeCode    string `json:"eventTypeCode"`
	Category         string `json:"eventTypeCategory"` // issue, accountNotification, scheduledChange
	Status           string `json:"statusCode"`        // upcoming, open, closed
	StartTime        string `json:"startTime"`
	AffectedEntities []struct {
		Value string `json:"entityValue"`
	} `json:"affectedEntities"`
}

func health(t *Trigger, raw json.RawMessage) error {
	if t.Type != "AWS Health Event" {
		foreign(t, "not an event of AWS Health about resources")
		return nil
	}
	d, err := detail[healthDetail](t, raw)
	if err != nil {
		return err
	}
	switch {
	case d.Service != "EC2" || d.Category != "scheduledChange":
		foreign(t, "nothing that is planned for instances")
		return nil
	case d.Status == "closed":
		foreign(t, "what was planned is over")
		return nil
	}
	for _, e := range d.AffectedEntities {
		// One event can hold ids of several kinds, and ARNs.
		id := e.Value[strings.LastIndex(e.Value, "/")+1:]
		if strings.HasPrefix(id, "i-") && !slices.Contains(t.Instances, id) {
			t.Instances = append(t.Instances, id)
		}
	}
	if len(t.Instances) == 0 {
		// Large events come in pages, and an update may name no instance.
		foreign(t, "no instance is named")
		return nil
	}
	if d.StartTime != "" {
		if _, err := healthTime(d.StartTime); err != nil {
			return &inbox.Malformed{What: t.Type, Err: errors.New("startTime is no time of RFC 1123: " + d.StartTime)}
		}
	}
	t.Kind, t.Call = Maintenance, d.EventTypeCode
	return nil
}

// healthTime reads a time as AWS Health writes it: "Sat, 05 Jun 2016 15:10:09 GMT".
// The day of the week is not always that of the date, even in AWS's samples.
func healthTime(text string) (time.Time, error) {
	if _, rest, ok := strings.Cut(text, ", "); ok {
		text = rest
	}
	return time.Parse("2 Jan 2006 15:04:05 MST", text)
}
