// Package trail is the account's CloudTrail: it records API calls, tells the
// bus of those about nodegroups and for instances, and answers LookupEvents from what it records.
package trail

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws/cloudtrail"
	"rollcall/stage/simaws/ids"
	"rollcall/stage/simaws/state"
	"rollcall/stage/simaws/table"
	"rollcall/stage/simaws/worldfile"
)

const (
	// EventTime is how long a call takes to become an event; see TrailRules.
	EventTime = 30 * time.Second
	// LookupTime and lookupSpread are how long it takes to be found; see
	// TrailRules. CloudTrail's guide says "within 5 minutes on average".
	LookupTime   = 3 * time.Minute
	LookupSpread = 2 * time.Minute
	// trailKept is how far back CloudTrail's event history goes.
	trailKept = 90 * 24 * time.Hour
)

// Call is an API call as CloudTrail records it.
type Call struct {
	// Operation is the call, such as "eks:CreateNodegroup".
	Operation string
	// CallerARN is who made it; empty is a person of the account. A service's
	// principal, such as autoscaling.amazonaws.com, is that service.
	CallerARN   string
	AccessKeyID string
	// InvokedBy is the service that called in the caller's name, if one did.
	InvokedBy string
	RequestID string
	// Input and Output are the SDK's structs; nil where the call was refused
	// before it was read, or failed.
	Input, Output any
	// Parameters and Response are in place of those of Input and Output, where the
	// call has none: of what a service did.
	Parameters, Response map[string]any
	// UserAgent and SourceIP are the caller's, where they are not the usual ones.
	UserAgent, SourceIP string
	// Federated is the OIDC provider's ARN of a session that was assumed with its
	// token.
	Federated string
	// Err is why the call failed, nil where it did not.
	Err error
}

// trailed are the calls that this world tells the bus of, and the source that the
// bus has for them.
func trailed() map[string]string {
	return map[string]string{
		"eks:CreateNodegroup": "aws.eks", "eks:UpdateNodegroupConfig": "aws.eks", "eks:UpdateNodegroupVersion": "aws.eks", "eks:DeleteNodegroup": "aws.eks",
		"ec2:CreateFleet": "aws.ec2", "ec2:RunInstances": "aws.ec2",
	}
}

// isWrite reports whether a call changes something.
func isWrite(operation string) bool {
	service, name, _ := strings.Cut(operation, ":")
	if !slices.Contains([]string{"ec2", "autoscaling", "eks", "iam"}, service) {
		return false // queues, tables and events are no management of the account
	}
	for _, verb := range []string{"Describe", "Get", "List", "Search", "Lookup"} {
		if strings.HasPrefix(name, verb) {
			return false
		}
	}
	return true
}

// Record keeps a call that changes something, and puts it on the bus some time
// later, as CloudTrail does. Only calls about nodegroups and for instances come to
// the bus: no others have a rule that would hear them.
func Record(w *state.State, c Call) {
	if !isWrite(c.Operation) {
		return
	}
	defer w.Enter()()
	RecordHeld(w, c)
}

// RecordHeld is Record within what holds the state.
func RecordHeld(w *state.State, c Call) {
	r := trailRecord(w, c)
	remember(w, r, nil)
	source, told := trailed()[c.Operation]
	if w.File.Trail.None || !told {
		return
	}
	e := state.Envelope{
		ID: w.TrailIDs.UUID(), DetailType: "AWS API Call via CloudTrail", Source: source,
		Time: r.EventTime, Resources: []string{}, Detail: r,
	}
	w.After(w.File.Trail.Delay, func() { w.Put(e) })
}

// RecordServiceCall remembers what an AWS service did by itself through a role that
// is linked to it.
func RecordServiceCall(w *state.State, operation, role, principal string, parameters, response map[string]any) {
	_, session, _ := strings.Cut(role, "ServiceRoleFor")
	r := trailRecord(w, Call{
		Operation: operation, InvokedBy: principal,
		CallerARN: "arn:aws:sts::" + w.Account + ":assumed-role/" + role + "/" + cmp.Or(session, role),
	})
	r.RequestParameters, r.ResponseElements = parameters, response
	remember(w, r, nil)
}

// LoadHistory remembers what was done before the start.
func LoadHistory(w *state.State, list []worldfile.TrailEntry) error {
	var errs []error
	for i, e := range list {
		service, name, _ := strings.Cut(e.Call, ":")
		switch {
		case service == "" || name == "":
			errs = append(errs, fmt.Errorf("trail.history[%d]: %q is no call such as ec2:CreateRouteTable", i, e.Call))
			continue
		case e.At.IsZero() || e.At.After(w.Start):
			errs = append(errs, fmt.Errorf("trail.history[%d] %s: want a time before the start", i, e.Call))
			continue
		}
		r := trailRecord(w, Call{Operation: e.Call, CallerARN: e.By, InvokedBy: e.Via})
		r.EventTime, r.ErrorCode = e.At.UTC().Format(time.RFC3339), e.Error
		if e.With != nil {
			r.RequestParameters = e.With
		}
		if e.Result != nil {
			r.ResponseElements = e.Result
		}
		remember(w, r, e.Resources)
	}
	return errors.Join(errs...)
}

// API is the world's CloudTrail API.
type API struct{ w *state.State }

// New is the CloudTrail API of an account.
func New(w *state.State) API { return API{w} }

// remember puts a record into the event history. What it is about is read off
// it where about is empty.
func remember(w *state.State, r *cloudtrail.Record, about []cloudtrail.Resource) {
	at, err := time.Parse(time.RFC3339, r.EventTime)
	if err != nil {
		at = w.Now
	}
	if about == nil {
		about = cloudtrail.ResourcesOf(r)
	}
	late := w.File.Trail.Lag + time.Duration(ids.Chance(r.EventID)*float64(w.File.Trail.Spread))
	w.History = append(w.History, cloudtrail.Recorded{Record: r, At: at, Found: at.Add(max(late, 0)), Resources: about})
}

// lookupPage is the largest page and the one without a size.
const lookupPage = 50

// LookupEvents finds what changed something in the world's region, the newest
// first. Reads are not in this history.
func (s API) LookupEvents(in *cloudtrail.LookupEventsInput) (*cloudtrail.LookupEventsOutput, error) {
	return s.LookupEventsIn(s.w.Region, in)
}

// LookupEventsIn finds what is recorded in a region: what is done to IAM is so
// in one region alone, wherever the caller is.
func (s API) LookupEventsIn(region string, in *cloudtrail.LookupEventsInput) (*cloudtrail.LookupEventsOutput, error) {
	defer s.w.Enter()()
	fits, err := lookup(s.w, in)
	if err != nil {
		return nil, err
	}
	size := int(lookupPage)
	if n := in.MaxResults; n != nil {
		if *n < 1 || *n > lookupPage {
			return nil, wire.Errorf("InvalidMaxResultsException", "Max results must be between 1 and %d.", lookupPage)
		}
		size = int(*n)
	}
	var found []cloudtrail.Recorded
	for _, r := range s.w.History {
		if r.Record.AWSRegion == region && fits(r) {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b cloudtrail.Recorded) int { return b.At.Compare(a.At) })
	from, err := pageStart(in, found)
	if err != nil {
		return nil, err
	}
	out := &cloudtrail.LookupEventsOutput{Events: []cloudtrail.Event{}}
	for i, r := range found[from:] {
		if i == size {
			out.NextToken = aws.String(table.WriteToken(question(in) + "/" + found[from+i-1].Record.EventID))
			break
		}
		e, err := r.Event()
		if err != nil {
			return nil, err
		}
		out.Events = append(out.Events, e)
	}
	return out, nil
}

// lookup is what the events of a lookup must have.
func lookup(w *state.State, in *cloudtrail.LookupEventsInput) (func(cloudtrail.Recorded) bool, error) {
	start, end := w.Now.Add(-trailKept), w.Now
	if in.StartTime != nil && in.StartTime.After(start) {
		start = *in.StartTime
	}
	if in.EndTime != nil && in.EndTime.Before(end) {
		end = *in.EndTime
	}
	if in.StartTime != nil && in.EndTime != nil && in.StartTime.After(*in.EndTime) {
		return nil, wire.Errorf("InvalidTimeRangeException", "Time range is not valid: the start time is after the end time.")
	}
	if in.EventCategory != nil && *in.EventCategory != "insight" {
		return nil, wire.Errorf("InvalidEventCategoryException", "The event category %s is not valid.", *in.EventCategory)
	}
	if len(in.LookupAttributes) > 1 {
		return nil, wire.Errorf("InvalidLookupAttributesException", "You can only specify one lookup attribute.")
	}
	has := func(cloudtrail.Recorded) bool { return true }
	for _, a := range in.LookupAttributes {
		value, ok := attributes()[a.AttributeKey]
		if !ok {
			return nil, wire.Errorf("InvalidLookupAttributesException", "The lookup attribute key %s is not valid.", a.AttributeKey)
		}
		if a.AttributeValue == "" || len(a.AttributeValue) > 2000 {
			return nil, wire.Errorf("InvalidLookupAttributesException", "The lookup attribute value must have 1 to 2000 characters.")
		}
		has = func(r cloudtrail.Recorded) bool { return slices.Contains(value(r), a.AttributeValue) }
	}
	return func(r cloudtrail.Recorded) bool {
		return in.EventCategory == nil && !r.Found.After(w.Now) && !r.At.Before(start) && !r.At.After(end) && has(r)
	}, nil
}

// attributes are what can be looked up, and where an event has it.
func attributes() map[string]func(cloudtrail.Recorded) []string {
	return map[string]func(cloudtrail.Recorded) []string{
		"EventId":     func(r cloudtrail.Recorded) []string { return []string{r.Record.EventID} },
		"EventName":   func(r cloudtrail.Recorded) []string { return []string{r.Record.EventName} },
		"EventSource": func(r cloudtrail.Recorded) []string { return []string{r.Record.EventSource} },
		"ReadOnly":    func(r cloudtrail.Recorded) []string { return []string{strconv.FormatBool(r.Record.ReadOnly)} },
		"Username":    func(r cloudtrail.Recorded) []string { return []string{r.Username()} },
		"AccessKeyId": func(r cloudtrail.Recorded) []string { return []string{r.Record.UserIdentity.AccessKeyID} },
		"ResourceName": func(r cloudtrail.Recorded) []string {
			return table.Each(r.Resources, func(x cloudtrail.Resource) *string { return &x.ResourceName })
		},
		"ResourceType": func(r cloudtrail.Recorded) []string {
			return table.Each(r.Resources, func(x cloudtrail.Resource) *string { return &x.ResourceType })
		},
	}
}

// question is what a token is bound to: the next page must ask the same.
func question(in *cloudtrail.LookupEventsInput) string {
	text, err := json.Marshal([]any{in.LookupAttributes, in.StartTime, in.EndTime, in.EventCategory})
	if err != nil {
		return "" // texts and times only: it cannot happen
	}
	return ids.SHA256(string(text))[:16]
}

// pageStart is where a page begins.
func pageStart(in *cloudtrail.LookupEventsInput, found []cloudtrail.Recorded) (int, error) {
	if aws.ToString(in.NextToken) == "" {
		return 0, nil
	}
	text, ok := table.ReadToken(*in.NextToken)
	asked, last, _ := strings.Cut(text, "/")
	if i := slices.IndexFunc(found, func(r cloudtrail.Recorded) bool { return r.Record.EventID == last }); ok && asked == question(in) && i >= 0 {
		return i + 1, nil
	}
	return 0, wire.Errorf("InvalidNextTokenException", "The next token is not valid: it belongs to other parameters, or is too old.")
}

// globalRegion is where calls to IAM are recorded.
const globalRegion = "us-east-1"

func trailRecord(w *state.State, c Call) *cloudtrail.Record {
	service, name, _ := strings.Cut(c.Operation, ":")
	r := &cloudtrail.Record{
		EventVersion: "1.11", UserIdentity: cloudtrail.Identity(w.Account, c.CallerARN, c.AccessKeyID, c.InvokedBy).FederatedBy(c.Federated), EventTime: w.Now.UTC().Format(time.RFC3339),
		EventSource: service + ".amazonaws.com", EventName: name, AWSRegion: w.Region,
		SourceIPAddress: cmp.Or(c.InvokedBy, c.SourceIP, "203.0.113.10"), UserAgent: cmp.Or(c.InvokedBy, c.UserAgent, "aws-cli/2.31"),
		RequestID: cmp.Or(c.RequestID, w.TrailIDs.UUID()), EventID: w.TrailIDs.UUID(),
		EventType: "AwsApiCall", ManagementEvent: true, RecipientAccountID: w.Account, EventCategory: "Management",
	}
	if service == "iam" {
		r.AWSRegion = globalRegion
	}
	if c.Input != nil {
		r.RequestParameters = cloudtrail.ParametersOf(service, c.Input)
	}
	if c.Parameters != nil {
		r.RequestParameters = c.Parameters
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
	if c.Response != nil {
		r.ResponseElements = c.Response
	}
	if c.Output != nil {
		if out := cloudtrail.AnswerOf(service, c.Output, r.RequestID); len(out) > 0 || service == "eks" {
			r.ResponseElements = out
		}
	}
	return r
}
