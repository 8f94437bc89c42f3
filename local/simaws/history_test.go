package simaws

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/cloudtrail"
)

// remembers is a history of one event.
type remembers struct{ asked *cloudtrail.LookupEventsInput }

func (r *remembers) LookupEventsIn(_ string, in *cloudtrail.LookupEventsInput) (*cloudtrail.LookupEventsOutput, error) {
	*r.asked = *in
	return &cloudtrail.LookupEventsOutput{Events: []cloudtrail.Event{{
		EventID: "e-1", EventName: "CreateRoute", ReadOnly: "false", EventTime: time.Date(2026, 11, 20, 14, 41, 0, 0, time.UTC), EventSource: "ec2.amazonaws.com", Username: "ci", CloudTrailEvent: "{}",
	}}}, nil
}

func TestLookupEventsOnTheWire(t *testing.T) {
	var asked cloudtrail.LookupEventsInput
	s, err := wire.New(wire.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := &Cloud{cfg: Config{History: &remembers{&asked}}, wire: s}
	wire.HandlePlain(s, "cloudtrail", "LookupEvents", c.lookupEvents)
	// The SDK for Go sends the short target, the AWS CLI the long one.
	for _, target := range []string{"CloudTrail_20131101.LookupEvents", "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.LookupEvents"} {
		body := `{"LookupAttributes":[{"AttributeKey":"ResourceName","AttributeValue":"rtb-1"}],"StartTime":1795186690,"MaxResults":10}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/", bytes.NewBufferString(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", target)
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261120/us-west-2/cloudtrail/aws4_request, SignedHeaders=host, Signature=0")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s: %s", err, w.Body.Bytes())
		}
		want := map[string]any{"Events": []any{map[string]any{
			"EventId": "e-1", "EventName": "CreateRoute", "ReadOnly": "false", "EventTime": 1795185660.0, "EventSource": "ec2.amazonaws.com",
			"Username": "ci", "Resources": []any{}, "CloudTrailEvent": "{}",
		}}}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", target, diff)
		}
		if len(asked.LookupAttributes) != 1 || asked.LookupAttributes[0].AttributeValue != "rtb-1" || *asked.MaxResults != 10 || asked.StartTime.Unix() != 1795186690 {
			t.Errorf("asked %+v", asked)
		}
	}
}

func TestTwoLookupsASecond(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	b := NewBuckets(func() time.Time { return now })
	try := func() error {
		return b.Admit(context.Background(), &wire.Call{Service: "cloudtrail", Operation: "LookupEvents"}, &cloudtrail.LookupEventsInput{})
	}
	for range 2 {
		if err := try(); err != nil {
			t.Fatal(err)
		}
	}
	if err := try(); err != wire.Throttled {
		t.Errorf("the third in a second: %v", err)
	}
	now = now.Add(500 * time.Millisecond)
	if err := try(); err != nil {
		t.Errorf("half a second later: %v", err)
	}
}
