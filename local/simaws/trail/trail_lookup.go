package trail

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/cloudtrail"
	"rollcall/local/simaws/ids"
	"rollcall/local/simaws/state"
	"rollcall/local/simaws/table"
)

// API is the world's CloudTrail API.
type API struct{ w *state.State }

// New is the CloudTrail API of an account.
func New(w *state.State) API { return API{w} }

// remember puts a record into the event history. What it is about is read off
// it where nobody says.
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
