// Package cloudtrail is the wire form of CloudTrail's LookupEvents (JSON 1.1,
// target CloudTrail_20131101), and the record that CloudTrail writes of an API
// call, as plain data: the service's own Go package is not among the
// dependencies.
package cloudtrail

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/stage/simaws/ids"
)

// LookupEventsInput asks for events of the last 90 days. All fields may be left
// out.
type LookupEventsInput struct {
	EventCategory    *string
	LookupAttributes []LookupAttribute // one at most
	StartTime        *time.Time
	EndTime          *time.Time
	MaxResults       *int32 // 1 to 50
	NextToken        *string
}

// LookupAttribute is what events must have.
type LookupAttribute struct {
	AttributeKey   string
	AttributeValue string
}

// LookupEventsOutput is a page of events, the newest first.
type LookupEventsOutput struct {
	Events    []Event
	NextToken *string
}

// Event is an event with what can be looked up.
type Event struct {
	EventID     string
	EventName   string
	ReadOnly    string // "true" or "false"
	AccessKeyID string
	EventTime   time.Time
	EventSource string
	Username    string
	Resources   []Resource
	// CloudTrailEvent is the whole record, as JSON in a string.
	CloudTrailEvent string
}

// Resource is something that the call was about.
type Resource struct {
	ResourceType string `json:"ResourceType,omitempty"`
	ResourceName string `json:"ResourceName,omitempty"`
}

// MarshalJSON writes the answer as CloudTrail does: times are seconds since
// 1970, and what is not known is left out.
func (o LookupEventsOutput) MarshalJSON() ([]byte, error) {
	type event struct {
		EventID         string     `json:"EventId"`
		EventName       string     `json:"EventName"`
		ReadOnly        string     `json:"ReadOnly"`
		AccessKeyID     string     `json:"AccessKeyId,omitempty"`
		EventTime       float64    `json:"EventTime"`
		EventSource     string     `json:"EventSource"`
		Username        string     `json:"Username,omitempty"`
		Resources       []Resource `json:"Resources"`
		CloudTrailEvent string     `json:"CloudTrailEvent"`
	}
	out := struct {
		Events    []event `json:"Events"`
		NextToken *string `json:"NextToken,omitempty"`
	}{Events: make([]event, len(o.Events)), NextToken: o.NextToken}
	for i, e := range o.Events {
		out.Events[i] = event{
			EventID: e.EventID, EventName: e.EventName, ReadOnly: e.ReadOnly, AccessKeyID: e.AccessKeyID, EventTime: float64(e.EventTime.Unix()),
			EventSource: e.EventSource, Username: e.Username, Resources: e.Resources, CloudTrailEvent: e.CloudTrailEvent,
		}
		if e.Resources == nil {
			out.Events[i].Resources = []Resource{}
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("write events: %w", err)
	}
	return text, nil
}

// fields is a struct of the SDK as the API's JSON has it: names in lower camel
// case, nothing that is not set, times in seconds.
func fields(v any) map[string]any {
	m, _ := jsonOf(reflect.ValueOf(v)).(map[string]any)
	if m == nil {
		return map[string]any{}
	}
	return m
}

// jsonOf is nil for what is not set. An empty list of a struct is kept, as in
// health.issues.
func jsonOf(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if v.Elem().Kind() == reflect.Bool {
			return v.Elem().Bool()
		}
		return jsonOf(v.Elem())
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return float64(t.UnixMilli()) / 1000
		}
		out := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Name == "ResultMetadata" {
				continue
			}
			if item := jsonOf(v.Field(i)); item != nil {
				out[strings.ToLower(f.Name[:1])+f.Name[1:]] = item
			}
		}
		return out
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		out := make([]any, v.Len())
		for i := range out {
			out[i] = jsonOf(v.Index(i))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return nil
		}
		out := map[string]any{}
		for it := v.MapRange(); it.Next(); {
			out[it.Key().String()] = jsonOf(it.Value())
		}
		return out
	case reflect.String:
		if v.Len() == 0 {
			return nil
		}
		return v.String()
	case reflect.Bool:
		if !v.Bool() {
			return nil // only the SDK's plain flags, whose zero is not sent
		}
		return true
	}
	return v.Interface()
}

// EC2's newer calls are in CloudTrail as its XML was turned into JSON: under the
// name of the request, lists numbered by "tag" and a list of one as what it holds,
// an empty one as an empty text, and whatever looks like a number as a number
// (aws/karpenter-provider-aws#5850, #7254, kubernetes-sigs/karpenter#2813).

// namespace is that of EC2's answers.
const namespace = "http://ec2.amazonaws.com/doc/2016-11-15/"

// mostAnswer is the size over which CloudTrail leaves an answer out (AWS re:Post,
// "responseElements omitted").
const mostAnswer = 100 << 10

// requestOf is a request in that form; nil for a call that has another.
func requestOf(v any) map[string]any {
	switch in := v.(type) {
	case *ec2.CreateFleetInput:
		return map[string]any{"CreateFleetRequest": asked(reflect.ValueOf(in))}
	case *ec2.CreateLaunchTemplateInput:
		return map[string]any{"CreateLaunchTemplateRequest": asked(reflect.ValueOf(in))}
	}
	return nil
}

// answerOf is an answer in that form; nil for a call that has another.
func answerOf(v any, request string) map[string]any {
	var name string
	var answer any
	switch out := v.(type) {
	case *ec2.CreateFleetOutput:
		name = "CreateFleetResponse"
		answer = responseValue(reflect.ValueOf(struct {
			FleetId          *string
			FleetInstanceSet any
			ErrorSet         any
		}{out.FleetId, out.Instances, out.Errors}))
	case *ec2.CreateLaunchTemplateOutput:
		name, answer = "CreateLaunchTemplateResponse", responseValue(reflect.ValueOf(out))
	default:
		return nil
	}
	members, _ := answer.(map[string]any)
	members["xmlns"], members["requestId"] = namespace, request
	return map[string]any{name: members}
}

// queryNames are the members whose names in EC2's protocol are not the SDK's.
func queryNames() map[string]string {
	return map[string]string{
		"TagSpecifications": "TagSpecification", "Tags": "Tag", "NetworkInterfaces": "NetworkInterface", "SecurityGroupIds": "SecurityGroupId",
		"Groups": "SecurityGroupId", "BlockDeviceMappings": "BlockDeviceMapping",
	}
}

// asked is a part of a request. nil is what is not set.
func asked(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if v.Elem().Kind() == reflect.Bool {
			return v.Elem().Bool()
		}
		return asked(v.Elem())
	case reflect.Struct:
		out := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if item := asked(v.Field(i)); item != nil {
				name := f.Name
				if other, ok := queryNames()[name]; ok {
					name = other
				}
				out[name] = item
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case reflect.Slice:
		var list []any
		for i := range v.Len() {
			item := asked(v.Index(i))
			if m, ok := item.(map[string]any); ok {
				m["tag"] = i + 1
			} else {
				item = map[string]any{"tag": i + 1, "content": item}
			}
			list = append(list, item)
		}
		return one(list)
	}
	return plain(v)
}

// responseValue is a part of an answer: lists are items.
func responseValue(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if v.Elem().Kind() == reflect.Bool {
			return v.Elem().Bool()
		}
		return responseValue(v.Elem())
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return t.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		out := map[string]any{}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() || f.Name == "ResultMetadata" {
				continue
			}
			if item := responseValue(v.Field(i)); item != nil {
				out[strings.ToLower(f.Name[:1])+f.Name[1:]] = item
			}
		}
		return out
	case reflect.Slice:
		switch {
		case v.IsNil():
			return nil
		case v.Len() == 0:
			return "" // <errorSet/>
		}
		var list []any
		for i := range v.Len() {
			list = append(list, responseValue(v.Index(i)))
		}
		return map[string]any{"item": one(list)}
	}
	return plain(v)
}

// one is a list, or what a list of one holds.
func one(list []any) any {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return list
}

// plain is a text or a number. A text that is a whole number is one too.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.String:
		if v.Len() == 0 {
			return nil
		}
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil && strconv.FormatInt(n, 10) == v.String() {
			return n
		}
		return v.String()
	case reflect.Bool:
		if !v.Bool() {
			return nil // only the SDK's plain flags, whose zero is not sent
		}
		return true
	}
	return v.Interface()
}

// Record is an event as CloudTrail writes it.
type Record struct {
	EventVersion       string       `json:"eventVersion"`
	UserIdentity       UserIdentity `json:"userIdentity"`
	EventTime          string       `json:"eventTime"`
	EventSource        string       `json:"eventSource"`
	EventName          string       `json:"eventName"`
	AWSRegion          string       `json:"awsRegion"`
	SourceIPAddress    string       `json:"sourceIPAddress"`
	UserAgent          string       `json:"userAgent"`
	ErrorCode          string       `json:"errorCode,omitempty"`
	ErrorMessage       string       `json:"errorMessage,omitempty"`
	RequestParameters  any          `json:"requestParameters"`
	ResponseElements   any          `json:"responseElements"`
	RequestID          string       `json:"requestID"`
	EventID            string       `json:"eventID"`
	ReadOnly           bool         `json:"readOnly"`
	EventType          string       `json:"eventType"`
	ManagementEvent    bool         `json:"managementEvent"`
	RecipientAccountID string       `json:"recipientAccountId"`
	EventCategory      string       `json:"eventCategory"`
}

// Recorded is a record in the event history.
type Recorded struct {
	Record *Record
	At     time.Time
	// Found is when a lookup finds it first.
	Found     time.Time
	Resources []Resource
}

// ParametersOf is an input or output as CloudTrail writes it.
func ParametersOf(service string, v any) map[string]any {
	if form := requestOf(v); form != nil {
		return form
	}
	parameters := fields(v)
	switch service {
	case "eks":
		// Path parameters keep their name in the path, where a cluster's is name.
		if cluster, ok := parameters["clusterName"]; ok {
			parameters["name"] = cluster
			delete(parameters, "clusterName")
		}
	case "ec2":
		return itemised(parameters)
	}
	return parameters
}

// AnswerOf is the output of a call with some id as CloudTrail writes it, nil where
// it leaves it out.
func AnswerOf(service string, v any, request string) map[string]any {
	form := answerOf(v, request)
	if form == nil {
		return ParametersOf(service, v)
	}
	if text, err := json.Marshal(form); err != nil || len(text) > mostAnswer {
		return nil
	}
	return form
}

// itemised puts the lists of EC2 where CloudTrail has them: in items, and some
// under the names of EC2's own protocol.
func itemised(v map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range v {
		switch key {
		case "userIdGroupPairs":
			key = "groups"
		case "return":
			key = "_return"
		case "instanceIds":
			key = "instancesSet"
		}
		switch value := value.(type) {
		case map[string]any:
			out[key] = itemised(value)
		case []any:
			items := make([]any, len(value))
			for i, item := range value {
				items[i] = item
				if m, ok := item.(map[string]any); ok {
					items[i] = itemised(m)
				} else if key == "instancesSet" {
					items[i] = map[string]any{"instanceId": item}
				}
			}
			out[key] = map[string]any{"items": items}
		default:
			out[key] = value
		}
	}
	return out
}

type sessionIssuer struct {
	Type        string `json:"type"`
	PrincipalID string `json:"principalId"`
	ARN         string `json:"arn"`
	AccountID   string `json:"accountId"`
	UserName    string `json:"userName"`
}

type sessionContext struct {
	SessionIssuer       sessionIssuer        `json:"sessionIssuer"`
	WebIDFederationData *webIDFederationData `json:"webIdFederationData,omitempty"`
}

// webIDFederationData is of a session that was assumed with the token of an OIDC
// provider, as those of pods with a service account's role are.
type webIDFederationData struct {
	FederatedProvider string   `json:"federatedProvider"`
	Attributes        struct{} `json:"attributes"`
}

// UserIdentity is who made a call.
type UserIdentity struct {
	Type           string          `json:"type"`
	PrincipalID    string          `json:"principalId,omitempty"`
	ARN            string          `json:"arn,omitempty"`
	AccountID      string          `json:"accountId,omitempty"`
	AccessKeyID    string          `json:"accessKeyId,omitempty"`
	UserName       string          `json:"userName,omitempty"`
	SessionContext *sessionContext `json:"sessionContext,omitempty"`
	InvokedBy      string          `json:"invokedBy,omitempty"`
}

// Identity is the caller as CloudTrail writes it: an ARN, a service's principal,
// or nothing for a person of the account.
func Identity(account, caller, accessKeyID, invokedBy string) UserIdentity {
	arn := cmp.Or(caller, "arn:aws:iam::"+account+":user/admin")
	if strings.HasSuffix(arn, ".amazonaws.com") {
		return UserIdentity{Type: "AWSService", InvokedBy: arn}
	}
	u := UserIdentity{ARN: arn, AccountID: account, AccessKeyID: accessKeyID, InvokedBy: invokedBy}
	_, session, assumed := strings.Cut(arn, ":assumed-role/")
	role, session, _ := strings.Cut(session, "/")
	switch {
	case assumed:
		issuer := sessionIssuer{Type: "Role", ARN: "arn:aws:iam::" + account + ":role/" + role, AccountID: account, UserName: role}
		issuer.PrincipalID = "AROA" + strings.ToUpper(ids.SHA256(issuer.ARN)[:17])
		u.Type, u.PrincipalID, u.SessionContext = "AssumedRole", issuer.PrincipalID+":"+session, &sessionContext{SessionIssuer: issuer}
	case strings.HasSuffix(arn, ":root"):
		u.Type, u.PrincipalID = "Root", account
	default:
		u.Type, u.PrincipalID, u.UserName = "IAMUser", "AIDA"+strings.ToUpper(ids.SHA256(arn)[:17]), ids.NameInARN(arn)
	}
	return u
}

// FederatedBy is the identity of a session that an OIDC provider, by its ARN, vouched
// for; without one it is left as it is.
func (u UserIdentity) FederatedBy(provider string) UserIdentity {
	if provider == "" || u.SessionContext == nil {
		return u
	}
	with := *u.SessionContext
	with.WebIDFederationData = &webIDFederationData{FederatedProvider: provider}
	u.SessionContext = &with
	return u
}

// Username is a user's name or that of a role's session.
func (r Recorded) Username() string {
	u := r.Record.UserIdentity
	if u.Type == "AssumedRole" {
		return ids.NameInARN(u.ARN)
	}
	return cmp.Or(u.UserName, map[string]string{"Root": "root"}[u.Type])
}

// Event is a record as LookupEvents answers it.
func (r Recorded) Event() (Event, error) {
	text, err := json.Marshal(r.Record)
	if err != nil {
		return Event{}, err
	}
	return Event{
		EventID: r.Record.EventID, EventName: r.Record.EventName, ReadOnly: strconv.FormatBool(r.Record.ReadOnly), AccessKeyID: r.Record.UserIdentity.AccessKeyID,
		EventTime: r.At, EventSource: r.Record.EventSource, Username: r.Username(), Resources: r.Resources, CloudTrailEvent: string(text),
	}, nil
}

// ResourcesOf are the resources that CloudTrail lists with a call, so that it
// is found by them: those of the services whose resources its event history
// knows (CloudTrail's guide, "resource types supported by event history"). EKS
// is not among them: a nodegroup's calls have an empty list, and are found by
// their source or name.
func ResourcesOf(r *Record) []Resource {
	var out []Resource
	if r.EventSource == "eks.amazonaws.com" {
		return nil
	}
	listed(r.RequestParameters, &out)
	listed(r.ResponseElements, &out)
	return out
}

// resourceType is what a parameter of that name is the name of.
func resourceType(key, value string) string {
	prefix, _, _ := strings.Cut(value, "-")
	switch key {
	case "routeTableId", "vpcId", "subnetId", "natGatewayId", "gatewayId", "groupId", "instanceId", "networkInterfaceId",
		"vpcEndpointId", "volumeId", "launchTemplateId", "imageId", "networkAclId", "internetGatewayId", "resourceId", "allocationId":
		return map[string]string{
			"rtb": "AWS::EC2::RouteTable", "vpc": "AWS::EC2::VPC", "subnet": "AWS::EC2::Subnet", "nat": "AWS::EC2::NatGateway",
			"igw": "AWS::EC2::InternetGateway", "sg": "AWS::EC2::SecurityGroup", "i": "AWS::EC2::Instance", "eni": "AWS::EC2::NetworkInterface",
			"vpce": "AWS::EC2::VPCEndpoint", "vol": "AWS::EC2::Volume", "lt": "AWS::EC2::LaunchTemplate", "ami": "AWS::EC2::Ami",
			"acl": "AWS::EC2::NetworkAcl", "eipalloc": "AWS::EC2::EIP",
		}[prefix]
	case "autoScalingGroupName":
		return "AWS::AutoScaling::AutoScalingGroup"
	case "roleName":
		return "AWS::IAM::Role"
	case "instanceProfileName":
		return "AWS::IAM::InstanceProfile"
	case "policyArn":
		return "AWS::IAM::Policy"
	}
	return ""
}

// listed walks what a call said and was told, and collects the names.
func listed(v any, out *[]Resource) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text, ok := v[key].(string); ok {
				found := Resource{ResourceType: resourceType(key, text), ResourceName: text}
				if found.ResourceType != "" && !slices.Contains(*out, found) {
					*out = append(*out, found)
				}
				continue
			}
			listed(v[key], out)
		}
	case []any:
		for _, item := range v {
			listed(item, out)
		}
	}
}
