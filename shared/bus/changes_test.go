package bus

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/event"
	"rollcall/shared/report"
)

// lastSent is a queue that keeps the last message.
type lastSent struct{ in *sqs.SendMessageInput }

func (l *lastSent) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	l.in = in
	return &sqs.SendMessageOutput{}, nil
}

// What change-check finds goes to report as it can be decoded there, and its
// reminder comes back to itself.
func TestChanges(t *testing.T) {
	opened := time.Date(2026, 11, 20, 14, 59, 4, 0, time.UTC)
	key := report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}
	sent := &lastSent{}
	q := Queues{Client: sent, Results: "results", Changes: "changes"}
	if err := q.SendChanges(t.Context(), report.Changes{ID: "1", At: opened, Key: key, Opened: opened, Found: report.RecentChanges{Changes: []report.Change{{ID: "e", Times: 2}}}}); err != nil {
		t.Fatal(err)
	}
	m, err := report.DecodeMessage([]byte(aws.ToString(sent.in.MessageBody)))
	if err != nil || m.Changes == nil || m.Cluster() != "prod" || m.Changes.Found.Changes[0].Times != 2 || aws.ToString(sent.in.MessageGroupId) != "prod" || aws.ToString(sent.in.QueueUrl) != "results" {
		t.Errorf("sent %+v: %+v, %v", sent.in, m.Changes, err)
	}
	if err := q.LookForChanges(t.Context(), key, opened, 1, opened, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	got, err := event.Parse(json.RawMessage(aws.ToString(sent.in.MessageBody)))
	if err != nil || got.Kind != event.Reminder || got.Resource != "rtb-1" || !got.Opened.Equal(opened) || sent.in.DelaySeconds != 300 || aws.ToString(sent.in.QueueUrl) != "changes" {
		t.Errorf("sent %+v: %+v, %v", sent.in, got, err)
	}
}
