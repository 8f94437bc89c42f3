package cloudtrail

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"rollcall/local/simaws/ids"
)

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
