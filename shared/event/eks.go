package event

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
)

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

// addonNews are the events by which EKS tells of an add-on's health.
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

// nodegroupCall reads what CloudTrail tells of a call. That EKS took the call
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
		return &Malformed{What: t.Type + " " + d.EventName, Err: errors.New("the cluster or the nodegroup is missing")}
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
