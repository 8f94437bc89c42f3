package world

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"rollcall/local/platform/wire"
)

type trailRecord struct {
	EventVersion       string       `json:"eventVersion"`
	UserIdentity       userIdentity `json:"userIdentity"`
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

// globalRegion is where calls to IAM are recorded.
const globalRegion = "us-east-1"

func (w *World) trailRecord(c APICall) *trailRecord {
	service, name, _ := strings.Cut(c.Operation, ":")
	r := &trailRecord{
		EventVersion: "1.11", UserIdentity: w.identityOf(c), EventTime: w.now.UTC().Format(time.RFC3339),
		EventSource: service + ".amazonaws.com", EventName: name, AWSRegion: w.region,
		SourceIPAddress: cmp.Or(c.InvokedBy, "203.0.113.10"), UserAgent: cmp.Or(c.InvokedBy, "aws-cli/2.31"),
		RequestID: cmp.Or(c.RequestID, w.trailIDs.uuid()), EventID: w.trailIDs.uuid(),
		EventType: "AwsApiCall", ManagementEvent: true, RecipientAccountID: w.account, EventCategory: "Management",
	}
	if service == "iam" {
		r.AWSRegion = globalRegion
	}
	if c.Input != nil {
		r.RequestParameters = parametersOf(service, c.Input)
	}
	if c.Err != nil {
		r.ErrorCode, r.ErrorMessage = "InternalFailure", "An internal failure occurred."
		var e *wire.Error
		if errors.As(c.Err, &e) {
			r.ErrorCode, r.ErrorMessage = e.Code, e.Message
		}
		switch {
		case r.ErrorCode == "AccessDeniedException":
			r.ErrorCode = "AccessDenied" // CloudTrail's word for it
		case service == "ec2" && e != nil && e.Status >= 500:
			r.ErrorCode = "Server." + r.ErrorCode
		case service == "ec2":
			r.ErrorCode = "Client." + r.ErrorCode // as EC2's own services name it
		}
		return r
	}
	if c.Output != nil {
		if out := parametersOf(service, c.Output); len(out) > 0 || service == "eks" {
			r.ResponseElements = out
		}
	}
	return r
}

// parametersOf is an input or output as CloudTrail writes it.
func parametersOf(service string, v any) map[string]any {
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
	SessionIssuer sessionIssuer `json:"sessionIssuer"`
}

type userIdentity struct {
	Type           string          `json:"type"`
	PrincipalID    string          `json:"principalId,omitempty"`
	ARN            string          `json:"arn,omitempty"`
	AccountID      string          `json:"accountId,omitempty"`
	AccessKeyID    string          `json:"accessKeyId,omitempty"`
	UserName       string          `json:"userName,omitempty"`
	SessionContext *sessionContext `json:"sessionContext,omitempty"`
	InvokedBy      string          `json:"invokedBy,omitempty"`
}

// identityOf is the caller as CloudTrail writes it.
func (w *World) identityOf(c APICall) userIdentity {
	arn := cmp.Or(c.CallerARN, "arn:aws:iam::"+w.account+":user/admin")
	if strings.HasSuffix(arn, ".amazonaws.com") {
		return userIdentity{Type: "AWSService", InvokedBy: arn}
	}
	u := userIdentity{ARN: arn, AccountID: w.account, AccessKeyID: c.AccessKeyID, InvokedBy: c.InvokedBy}
	_, session, assumed := strings.Cut(arn, ":assumed-role/")
	role, session, _ := strings.Cut(session, "/")
	switch {
	case assumed:
		issuer := sessionIssuer{Type: "Role", ARN: "arn:aws:iam::" + w.account + ":role/" + role, AccountID: w.account, UserName: role}
		issuer.PrincipalID = "AROA" + strings.ToUpper(sum(issuer.ARN)[:17])
		u.Type, u.PrincipalID, u.SessionContext = "AssumedRole", issuer.PrincipalID+":"+session, &sessionContext{issuer}
	case strings.HasSuffix(arn, ":root"):
		u.Type, u.PrincipalID = "Root", w.account
	default:
		u.Type, u.PrincipalID, u.UserName = "IAMUser", "AIDA"+strings.ToUpper(sum(arn)[:17]), lastOf(arn)
	}
	return u
}
