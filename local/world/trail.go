package world

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"rollcall/local/wire"
)

const (
	// trailTime is how long a call takes to become an event; see TrailRules.
	trailTime = 30 * time.Second
	// trailSeed sets the ids of recorded calls apart from all others.
	trailSeed = 0x747261696c
)

// APICall is an API call as CloudTrail records it.
type APICall struct {
	// Operation is the call, such as "eks:CreateNodegroup".
	Operation string
	// CallerARN is who made it; empty is a person of the account.
	CallerARN   string
	AccessKeyID string
	RequestID   string
	// Input and Output are the SDK's structs; nil where the call was refused
	// before it was read, or failed.
	Input, Output any
	// Err is why the call failed, nil where it did not.
	Err error
}

// trailed are the calls that this world tells of.
func trailed() []string {
	return []string{"eks:CreateNodegroup", "eks:UpdateNodegroupConfig", "eks:UpdateNodegroupVersion", "eks:DeleteNodegroup"}
}

// Record puts a call on the bus some time later, as CloudTrail does. Calls
// that this world does not tell of are passed over.
func (w *World) Record(c APICall) {
	if w.file.Trail.None || !slices.Contains(trailed(), c.Operation) {
		return
	}
	defer w.enter()()
	r := w.trailRecord(c)
	e := envelope{
		ID: w.trailIDs.uuid(), DetailType: "AWS API Call via CloudTrail", Source: "aws.eks",
		Time: r.EventTime, Resources: []string{}, Detail: r,
	}
	w.after(w.file.Trail.Delay, func() { w.put(e) })
}

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

func (w *World) trailRecord(c APICall) trailRecord {
	_, name, _ := strings.Cut(c.Operation, ":")
	r := trailRecord{
		EventVersion: "1.11", UserIdentity: w.identityOf(c), EventTime: w.now.UTC().Format(time.RFC3339),
		EventSource: "eks.amazonaws.com", EventName: name, AWSRegion: w.region,
		SourceIPAddress: "203.0.113.10", UserAgent: "aws-cli/2.31",
		RequestID: cmp.Or(c.RequestID, w.trailIDs.uuid()), EventID: w.trailIDs.uuid(),
		EventType: "AwsApiCall", ManagementEvent: true, RecipientAccountID: w.account, EventCategory: "Management",
	}
	if c.Input != nil {
		parameters := fields(c.Input)
		// Path parameters keep their name in the path, where a cluster's is name.
		if cluster, ok := parameters["clusterName"]; ok {
			parameters["name"] = cluster
			delete(parameters, "clusterName")
		}
		r.RequestParameters = parameters
	}
	if c.Err != nil {
		r.ErrorCode, r.ErrorMessage = "InternalFailure", "An internal failure occurred."
		var e *wire.Error
		if errors.As(c.Err, &e) {
			r.ErrorCode, r.ErrorMessage = e.Code, e.Message
		}
		if r.ErrorCode == "AccessDeniedException" {
			r.ErrorCode = "AccessDenied" // CloudTrail's word for it
		}
		return r
	}
	if c.Output != nil {
		r.ResponseElements = fields(c.Output)
	}
	return r
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
	PrincipalID    string          `json:"principalId"`
	ARN            string          `json:"arn"`
	AccountID      string          `json:"accountId"`
	AccessKeyID    string          `json:"accessKeyId,omitempty"`
	UserName       string          `json:"userName,omitempty"`
	SessionContext *sessionContext `json:"sessionContext,omitempty"`
}

// identityOf is the caller as CloudTrail writes it.
func (w *World) identityOf(c APICall) userIdentity {
	arn := cmp.Or(c.CallerARN, "arn:aws:iam::"+w.account+":user/admin")
	u := userIdentity{ARN: arn, AccountID: w.account, AccessKeyID: c.AccessKeyID}
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

func sum(name string) string {
	s := sha256.Sum256([]byte(name))
	return hex.EncodeToString(s[:])
}

// nameID is an id in the form of a UUID that a name always has.
func nameID(name string) string {
	s := sum(name)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:32]
}
