package event

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// Refusal is a call for instances that brought none, as CloudTrail tells of it.
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
	// OfAService: Auto Scaling tells of its launches itself, and a fleet's own
	// calls are told by the fleet's answer.
	OfAService = "the call of a service that tells of it itself"
	// AnswerLeftOut: CloudTrail leaves out answers over 100 KB (AWS re:Post,
	// "responseElements omitted"), so that nobody knows what came of the call.
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
		return &Malformed{What: t.Type + " " + d.EventName, Err: errors.New("requestID is missing")}
	default:
		if d.ErrorCode != "" {
			r.Errors = []LaunchError{{Code: bare(d.ErrorCode), Message: d.ErrorMessage, Offers: 1}}
		}
		t.Kind, t.Refusal = LaunchRefused, &r
	}
	return nil
}

// tellThemselves are the services whose calls for instances are told elsewhere.
func tellThemselves() []string {
	return []string{"autoscaling.amazonaws.com", "ec2fleet.amazonaws.com", "spotfleet.amazonaws.com"}
}

// ofFleet reads a CreateFleet, and tells whether it brought instances. Its errors
// stand in the answer of a call that succeeded.
func (r *Refusal) ofFleet(d launchRecord) (launched bool) {
	request := d.Parameters.at("CreateFleetRequest")
	r.tags(request.at("TagSpecification").list(), "Tag", "Key", "Value")
	for _, config := range request.at("LaunchTemplateConfigs").list() {
		spec := config.at("LaunchTemplateSpecification")
		if r.Template == "" {
			r.Template, r.Version = cmp.Or(spec.at("LaunchTemplateId").text(), spec.at("LaunchTemplateName").text()), spec.at("Version").text()
		}
	}
	target := request.at("TargetCapacitySpecification")
	r.Asked, r.Spot = target.at("TotalTargetCapacity").number(), target.at("DefaultTargetCapacityType").text() == "spot"
	answer := d.Answer.at("CreateFleetResponse")
	for _, item := range answer.at("errorSet").at("item").list() {
		offer := item.at("launchTemplateAndOverrides").at("overrides")
		r.add(LaunchError{Code: bare(item.at("errorCode").text()), Message: item.at("errorMessage").text()},
			offer.at("subnetId").text(), offer.at("availabilityZone").text(), offer.at("instanceType").text())
	}
	return slices.ContainsFunc(answer.at("fleetInstanceSet").at("item").list(), func(item tree) bool {
		return slices.ContainsFunc(item.at("instanceIds").at("item").list(), func(id tree) bool { return id.text() != "" })
	})
}

// ofRun reads a RunInstances. It is refused as a whole, or starts what it was
// asked for, or at least its MinCount.
func (r *Refusal) ofRun(d launchRecord) (launched bool) {
	r.tags(d.Parameters.at("tagSpecificationSet").at("items").list(), "tags", "key", "value")
	template := d.Parameters.at("launchTemplate")
	r.Template = cmp.Or(template.at("launchTemplateId").text(), template.at("launchTemplateName").text())
	r.Version = template.at("version").text()
	for _, item := range d.Parameters.at("instancesSet").at("items").list() {
		r.Asked += item.at("maxCount").number()
	}
	r.Spot = d.Parameters.at("instanceMarketOptions").at("marketType").text() == "spot"
	return len(d.Answer.at("instancesSet").at("items").list()) > 0
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
		for _, tag := range spec.at(list).list() {
			name := tag.at(key).text()
			if _, told := r.Tags[name]; told || len(r.Tags) >= maxTags || !TellsOwner(name) {
				continue
			}
			if r.Tags == nil {
				r.Tags = map[string]string{}
			}
			r.Tags[name] = tag.at(value).text()
		}
	}
}

func ofInstances(spec tree) int {
	if cmp.Or(spec.at("ResourceType").text(), spec.at("resourceType").text()) == "instance" {
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
