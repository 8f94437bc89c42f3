package event

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

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

// dryRun tells that nothing was to be launched. Karpenter asks so whether it may
// launch, every 30 minutes for each class (aws/karpenter-provider-aws
// pkg/controllers/nodeclass/validation.go): that it may is an error too.
func (d launchRecord) dryRun() bool {
	return bare(d.ErrorCode) == "DryRunOperation" || slices.ContainsFunc([]tree{
		d.Parameters.at("CreateFleetRequest").at("DryRun"), d.Parameters.at("dryRun"), d.Parameters.at("DryRun"),
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

// at is a member of an object.
func (x tree) at(name string) tree {
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
