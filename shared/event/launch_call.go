package event

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"rollcall/shared/event/inbox"
	"rollcall/shared/spoke"
)

// Refusal is a call for instances that brought none, as CloudTrail records it.
type Refusal struct {
	// Request is the call's id: the same in each record of it.
	Request string
	// Tags are those of the request that tell whose the instances are.
	Tags map[string]string
	// Template is the id of its launch template, or its name; Version the version as
	// the request has it: "3", "$Latest", or none.
	Template, Version string
	// Caller is the ARN of the role that called, or of whoever else did.
	Caller string
	// Asked is how many instances were asked for: one call of Karpenter may serve a
	// thousand NodeClaims.
	Asked int
	Spot  bool
	// Errors are what EC2 said, of each its code without "Client.".
	Errors []LaunchError
}

// LaunchError is why EC2 started no instance for some of the types and subnets
// of a call: all of them that were told the same.
type LaunchError struct {
	Code, Message string
	// Offers is how many types and subnets were told so.
	Offers  int
	Subnets []string
	Zones   []string
	Types   []string
}

// The reasons for which a call for instances is none of ours. They are typed: what is
// dropped is counted by them.
const (
	// BroughtInstances: that some of the types and subnets of a fleet failed is
	// how a fleet works.
	BroughtInstances = "the call brought instances"
	DryRun           = "a dry run"
	// OfAService: Auto Scaling reports its launches itself, and a fleet's own
	// calls are in the fleet's answer.
	OfAService = "the call of a service that tells of it itself"
	// AnswerLeftOut: CloudTrail leaves out answers over 100 KB (AWS re:Post,
	// "responseElements omitted"), so that it is unknown what came of the call.
	AnswerLeftOut = "CloudTrail left the answer out"
	NoTrace       = "neither tags nor a launch template tell whose the instances are"
	otherCall     = "a call that launches nothing"
)

// launchCall reads a call of CreateFleet or RunInstances. Members are as
// CloudTrail makes them of EC2's XML: a list of one is an object, an empty one a
// text, a number may be a text (aws/karpenter-provider-aws#5850, #7254,
// kubernetes-sigs/karpenter#2813).
func launchCall(t *Trigger, raw json.RawMessage) error {
	d, err := detail[launchRecord](t, raw)
	if err != nil {
		return err
	}
	t.Call = d.EventName
	if !d.Time.IsZero() {
		t.Time = d.Time.UTC()
	}
	r := Refusal{Request: d.Request, Caller: d.Identity.caller()}
	var launched bool
	switch {
	case d.EventSource != "ec2.amazonaws.com":
		foreign(t, otherCall)
		return nil
	case d.EventName == "CreateFleet":
		launched = r.ofFleet(d)
	case d.EventName == "RunInstances":
		launched = r.ofRun(d)
	default:
		foreign(t, otherCall)
		return nil
	}
	switch {
	case slices.Contains(tellThemselves(), d.Identity.InvokedBy), slices.Contains(tellThemselves(), d.From):
		foreign(t, OfAService)
	case d.dryRun():
		foreign(t, DryRun)
	case launched:
		foreign(t, BroughtInstances)
	case d.ErrorCode == "" && len(r.Errors) == 0:
		foreign(t, AnswerLeftOut)
	case len(r.Tags) == 0 && r.Template == "":
		foreign(t, NoTrace)
	case r.Request == "":
		return &inbox.Malformed{What: t.Type + " " + d.EventName, Err: errors.New("requestID is missing")}
	default:
		if d.ErrorCode != "" {
			r.Errors = []LaunchError{{Code: bare(d.ErrorCode), Message: d.ErrorMessage, Offers: 1}}
		}
		t.Kind, t.Refusal = LaunchRefused, &r
	}
	return nil
}

// tellThemselves are the services whose calls for instances are reported elsewhere.
func tellThemselves() []string {
	return []string{"autoscaling.amazonaws.com", "ec2fleet.amazonaws.com", "spotfleet.amazonaws.com"}
}

// ofFleet reads a CreateFleet, and reports whether it brought instances. Its errors
// stand in the answer of a call that succeeded.
func (r *Refusal) ofFleet(d launchRecord) (launched bool) {
	request := d.Parameters.get("CreateFleetRequest")
	r.tags(request.get("TagSpecification").list(), "Tag", "Key", "Value")
	for _, config := range request.get("LaunchTemplateConfigs").list() {
		spec := config.get("LaunchTemplateSpecification")
		if r.Template == "" {
			r.Template, r.Version = cmp.Or(spec.get("LaunchTemplateId").text(), spec.get("LaunchTemplateName").text()), spec.get("Version").text()
		}
	}
	target := request.get("TargetCapacitySpecification")
	r.Asked, r.Spot = target.get("TotalTargetCapacity").number(), target.get("DefaultTargetCapacityType").text() == "spot"
	answer := d.Answer.get("CreateFleetResponse")
	for _, item := range answer.get("errorSet").get("item").list() {
		offer := item.get("launchTemplateAndOverrides").get("overrides")
		r.add(LaunchError{Code: bare(item.get("errorCode").text()), Message: item.get("errorMessage").text()},
			offer.get("subnetId").text(), offer.get("availabilityZone").text(), offer.get("instanceType").text())
	}
	return slices.ContainsFunc(answer.get("fleetInstanceSet").get("item").list(), func(item tree) bool {
		return slices.ContainsFunc(item.get("instanceIds").get("item").list(), func(id tree) bool { return id.text() != "" })
	})
}

// ofRun reads a RunInstances. It is refused as a whole, or starts what it was
// asked for, or at least its MinCount.
func (r *Refusal) ofRun(d launchRecord) (launched bool) {
	r.tags(d.Parameters.get("tagSpecificationSet").get("items").list(), "tags", "key", "value")
	template := d.Parameters.get("launchTemplate")
	r.Template = cmp.Or(template.get("launchTemplateId").text(), template.get("launchTemplateName").text())
	r.Version = template.get("version").text()
	for _, item := range d.Parameters.get("instancesSet").get("items").list() {
		r.Asked += item.get("maxCount").number()
	}
	r.Spot = d.Parameters.get("instanceMarketOptions").get("marketType").text() == "spot"
	return len(d.Answer.get("instancesSet").get("items").list()) > 0
}

// Bounds of what is kept of one call: an answer may hold 180 types and subnets.
const (
	maxErrors = 64
	maxTexts  = 4 // of one code: they differ by type and zone
	maxPlaces = 20
	maxTags   = 50
)

// add takes in that a type in a subnet failed. Beyond what is kept, one more text
// of a code is counted with the first of that code.
func (r *Refusal) add(e LaunchError, subnet, zone, kind string) {
	texts, i := 0, slices.IndexFunc(r.Errors, func(x LaunchError) bool { return x.Code == e.Code && x.Message == e.Message })
	for _, x := range r.Errors {
		if x.Code == e.Code {
			texts++
		}
	}
	if i < 0 && (texts >= maxTexts || len(r.Errors) >= maxErrors) {
		i = max(0, slices.IndexFunc(r.Errors, func(x LaunchError) bool { return x.Code == e.Code }))
	}
	if i < 0 {
		i, r.Errors = len(r.Errors), append(r.Errors, e)
	}
	x := &r.Errors[i]
	x.Offers++
	x.Subnets, x.Zones, x.Types = with(x.Subnets, subnet), with(x.Zones, zone), with(x.Types, kind)
}

func with(list []string, value string) []string {
	if value == "" || len(list) >= maxPlaces || slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// tags takes the tags that tell whose instances are, the instances' own first.
func (r *Refusal) tags(specs []tree, list, key, value string) {
	slices.SortStableFunc(specs, func(a, b tree) int { return ofInstances(b) - ofInstances(a) })
	for _, spec := range specs {
		for _, tag := range spec.get(list).list() {
			name := tag.get(key).text()
			if _, told := r.Tags[name]; told || len(r.Tags) >= maxTags || !TellsOwner(name) {
				continue
			}
			if r.Tags == nil {
				r.Tags = map[string]string{}
			}
			r.Tags[name] = tag.get(value).text()
		}
	}
}

func ofInstances(spec tree) int {
	if cmp.Or(spec.get("ResourceType").text(), spec.get("resourceType").text()) == "instance" {
		return 1
	}
	return 0
}

// TellsOwner tells a tag that says whose an instance is.
func TellsOwner(key string) bool {
	return slices.ContainsFunc([]string{"kubernetes.io/cluster/", "k8s.io/", "eks:", "aws:eks:", "alpha.eksctl.io/", "karpenter.", "aws:autoscaling:"},
		func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// bare is a code without what EC2's records set before it: the codes in a fleet's
// answer have none (aws/karpenter-provider-aws#5850).
func bare(code string) string {
	return strings.TrimPrefix(strings.TrimPrefix(code, "Client."), "Server.")
}

// The detail-types of what Rollcall tells its own bus.
const (
	incident       = "Rollcall Incident "
	remedyApproved = "Rollcall Remedy Approved"
	checkWanted    = "Rollcall Check Wanted"
	statusChange   = "EKS Nodegroup Status Change"
)

// ownDetail is what all of them say of whom they are about. What else they
// say, is in the table too, and what is acted on is read from there: anybody
// who may put events could say anything here.
type ownDetail struct {
	Cluster   string `json:"cluster"`
	Nodegroup string `json:"nodegroup"`
	Check     string `json:"check"`
	Resource  string `json:"resource"`
}

func readOwnEvent(t *Trigger, raw json.RawMessage) error {
	d, err := detail[ownDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Cluster == "" {
		return &inbox.Malformed{What: t.Type, Err: errors.New("the cluster is missing")}
	}
	t.Cluster, t.Nodegroup = d.Cluster, d.Nodegroup
	if t.Type == statusChange {
		t.Kind = StatusChanged
		return nil
	}
	if d.Check == "" || d.Resource == "" {
		return &inbox.Malformed{What: t.Type, Err: errors.New("check or resource is missing")}
	}
	t.Kind, t.Check, t.Resource = IncidentTold, d.Check, d.Resource
	switch t.Type {
	case checkWanted:
		t.Kind = CheckWanted
	case remedyApproved:
		t.Told = "Approved"
	default:
		t.Told = strings.TrimPrefix(t.Type, incident)
	}
	return nil
}

// The patterns name what Parse understands. EventBridge's own JSON.
//
// Auto Scaling groups that are not ours wake us too: whose a group is stands
// in its tags, not in the event (only managed nodegroups' names can be told,
// by their "eks-" prefix), so it is decided after a look, and counted.
const (
	// JoinCheckWanted, NodegroupCheckWanted and AddressCheckWanted are wishes to
	// look at a cause now, by the check's group: each goes to the function whose
	// sweep judges it.
	JoinCheckWanted = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Check Wanted"],
  "detail": {"check": [
    {"prefix": "launch/"}, {"prefix": "route/"}, {"prefix": "endpoint/"}, {"prefix": "sg/"}, {"prefix": "nacl/"},
    {"prefix": "dns/"}, {"prefix": "iam/"}, {"prefix": "instance/"}, {"prefix": "node/"}
  ]}
}`
	NodegroupCheckWanted = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Check Wanted"],
  "detail": {"check": [{"prefix": "nodegroup/"}, {"prefix": "addon/"}, {"prefix": "cluster/"}]}
}`
	AddressCheckWanted = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Check Wanted"],
  "detail": {"check": [{"prefix": "ip/"}]}
}`
	// RemedyPattern is what a remedy may follow from: an incident that is open,
	// and a plan that a person approved.
	RemedyPattern = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Incident Opened", "Rollcall Incident Reopened", "Rollcall Incident Changed", "Rollcall Remedy Approved"]
}`
	// CleanupPattern is an approval of what eni-cleanup does.
	CleanupPattern = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Remedy Approved"],
  "detail": {"offer": {"plan": {"remedy": ["delete-leaked-interfaces"]}}}
}`
	// LaunchPattern is each word that Auto Scaling has for a launch. The
	// lifecycle action is the early one: "Launch Successful" comes when the
	// launch hook ends, up to half an hour later for a node that never joins.
	LaunchPattern = `{
  "source": ["aws.autoscaling"],
  "detail-type": ["EC2 Instance-launch Lifecycle Action", "EC2 Instance Launch Successful", "EC2 Instance Launch Unsuccessful"]
}`
	// RunningPattern is how launches without an Auto Scaling group (Karpenter)
	// are seen; for the others it is a second source.
	RunningPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["EC2 Instance State-change Notification"],
  "detail": {"state": ["running"]}
}`
	// FleetRefusedPattern is CreateFleet refused as a whole, FleetEmptyPattern one
	// that was taken and brought no instance: its errors stand in the answer, with
	// those that it brought beside them where there are any. (A trail that logs
	// management events is needed.) Only calls that name a cluster in a tag, or
	// that leave the tags to their launch template, are asked for; calls of Auto
	// Scaling and dry runs are left out. What EventBridge cannot tell apart
	// (a list of one, an answer that CloudTrail left out) launchCall does.
	FleetRefusedPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["AWS API Call via CloudTrail"],
  "detail": {
    "eventSource": ["ec2.amazonaws.com"],
    "eventName": ["CreateFleet"],
    "errorCode": [{"anything-but": ["Client.DryRunOperation"]}],
    "sourceIPAddress": [{"anything-but": ["autoscaling.amazonaws.com"]}],
    "requestParameters": {"CreateFleetRequest": {
      "DryRun": [{"exists": false}, false, "false"],
      "TagSpecification": {"Tag": {"Key": [` + clusterKeys + `, {"exists": false}]}}
    }}
  }
}`
	FleetEmptyPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["AWS API Call via CloudTrail"],
  "detail": {
    "eventSource": ["ec2.amazonaws.com"],
    "eventName": ["CreateFleet"],
    "errorCode": [{"exists": false}],
    "sourceIPAddress": [{"anything-but": ["autoscaling.amazonaws.com"]}],
    "requestParameters": {"CreateFleetRequest": {
      "Type": ["instant"],
      "TagSpecification": {"Tag": {"Key": [` + clusterKeys + `, {"exists": false}]}}
    }},
    "responseElements": {"CreateFleetResponse": {"fleetInstanceSet": {"item": {"instanceIds": {"item": [{"exists": false}]}}}}}
  }
}`
	// RunRefusedPattern is RunInstances refused. A fleet makes such calls itself
	// and has them in its answer.
	RunRefusedPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["AWS API Call via CloudTrail"],
  "detail": {
    "eventSource": ["ec2.amazonaws.com"],
    "eventName": ["RunInstances"],
    "errorCode": [{"anything-but": ["Client.DryRunOperation"]}],
    "sourceIPAddress": [{"anything-but": ["autoscaling.amazonaws.com", "ec2fleet.amazonaws.com", "spotfleet.amazonaws.com"]}],
    "$or": [
      {"requestParameters": {"tagSpecificationSet": {"items": {"tags": {"key": [` + clusterKeys + `]}}}}},
      {"requestParameters": {"tagSpecificationSet": {"items": {"tags": {"key": [{"exists": false}]}}}, "launchTemplate": {"launchTemplateId": [{"exists": true}]}}},
      {"requestParameters": {"tagSpecificationSet": {"items": {"tags": {"key": [{"exists": false}]}}}, "launchTemplate": {"launchTemplateName": [{"exists": true}]}}}
    ]
  }
}`
	// clusterKeys are the keys of the tags that name a cluster (gather.ClusterOf).
	clusterKeys = `{"prefix": "kubernetes.io/cluster/"}, {"prefix": "k8s.io/cluster"}, "eks:eks-cluster-name", "eks:cluster-name", "alpha.eksctl.io/cluster-name"`
	// EndedPattern matches instances that end; only those that we wait for matter.
	EndedPattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["EC2 Instance State-change Notification"],
  "detail": {"state": ["terminated", "stopped"]}
}`
	// NoticePattern matches where EC2 takes an instance of Spot, or of an interruptible
	// capacity reservation, back, or is likely to.
	// Only those that we wait for, or that have just joined, matter.
	NoticePattern = `{
  "source": ["aws.ec2"],
  "detail-type": ["EC2 Spot Instance Interruption Warning", "EC2 Capacity Reservation Instance Interruption Warning", "EC2 Instance Rebalance Recommendation"]
}`
	// MaintenancePattern matches where EC2 plans something for instances.
	MaintenancePattern = `{
  "source": ["aws.health"],
  "detail-type": ["AWS Health Event"],
  "detail": {"service": ["EC2"], "eventTypeCategory": ["scheduledChange"]}
}`
	// EKSCallPattern is each call that changes a nodegroup, as CloudTrail tells
	// of it (a trail that logs management events is needed). Refused calls are
	// left out: they change nothing.
	EKSCallPattern = `{
  "source": ["aws.eks"],
  "detail-type": ["AWS API Call via CloudTrail"],
  "detail": {
    "eventSource": ["eks.amazonaws.com"],
    "eventName": ["CreateNodegroup", "UpdateNodegroupConfig", "UpdateNodegroupVersion", "DeleteNodegroup"],
    "errorCode": [{"exists": false}]
  }
}`
	// AddonPattern matches EKS's own events of an add-on's health.
	AddonPattern = `{
  "source": ["aws.eks"],
  "detail-type": ["EKS Addon Health Degraded", "EKS Addon Health Restored", "EKS Addon Creation Failed", "EKS Addon Update Failed"]
}`
	// NodegroupResourcePattern matches CloudFormation's events of the nodegroups of
	// its stacks (eksctl's and CDK's among them).
	NodegroupResourcePattern = `{
  "source": ["aws.cloudformation"],
  "detail-type": ["CloudFormation Resource Status Change"],
  "detail": {"resource-type": ["AWS::EKS::Nodegroup"]}
}`
)

const (
	// ZoneCheckWanted is a wish to look at a cause of zone/ now.
	ZoneCheckWanted = `{
  "source": ["rollcall"],
  "detail-type": ["Rollcall Check Wanted"],
  "detail": {"check": [{"prefix": "zone/"}]}
}`
	// StatusChangePattern matches nodegroup-watch's events of nodegroups: EKS itself
	// sends no such event.
	StatusChangePattern = `{
  "source": ["rollcall"],
  "detail-type": ["EKS Nodegroup Status Change"]
}`
)

func own(t *Trigger, raw json.RawMessage) error {
	// The envelope is the hub's; whose the event is it says itself.
	var of spoke.ID
	if json.Unmarshal(raw, &of) == nil && of.Account != "" {
		t.Account, t.Region = of.Account, of.Region
	}
	switch t.Type {
	case inbox.TypeLookAgain:
	case inbox.TypeLookAtNodegroup:
		return ownNodegroup(t, raw)
	case inbox.TypeClusterSweep:
		return ownSweep(t, raw)
	case inbox.TypeLookForChanges:
		return ownChanges(t, raw)
	case inbox.TypeAsked:
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
	d, err := detail[inbox.LookDetail](t, raw)
	if err != nil {
		return err
	}
	if len(d.Instances) == 0 || slices.Contains(d.Instances, "") {
		return &inbox.Malformed{What: t.Type, Err: errors.New("instances are missing")}
	}
	t.Kind, t.Instances = Reminder, d.Instances
	return nil
}

func ownNodegroup(t *Trigger, raw json.RawMessage) error {
	d, err := detail[inbox.NodegroupDetail](t, raw)
	if err != nil {
		return err
	}
	if d.Cluster == "" || d.Nodegroup == "" {
		return &inbox.Malformed{What: t.Type, Err: errors.New("the cluster or the nodegroup is missing")}
	}
	t.Kind, t.Cluster, t.Nodegroup = Reminder, d.Cluster, d.Nodegroup
	return nil
}

// schedule takes the events of EventBridge rules (detail is {}) and of
// EventBridge Scheduler (detail is the string "{}"): neither says more than
// that it is time.
func schedule(t *Trigger) {
	if t.Type == "Scheduled Event" {
		t.Kind = Sweep
		return
	}
	foreign(t, "not a schedule")
}
