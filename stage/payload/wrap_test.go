package payload

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"rollcall/stage/platform/template"
)

var (
	noon   = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	sample = &template.Template{
		Region: "us-west-2",
		Rules: []template.Rule{
			{Name: "news", Pattern: json.RawMessage(`{"source":["rollcall"]}`), Targets: []template.Target{{ARN: "arn:reader"}}},
			{Name: "queued", Pattern: json.RawMessage(`{"source":["aws.ec2"]}`), Targets: []template.Target{{ARN: "arn:q"}}},
		},
		Mappings: []template.EventSourceMapping{{FunctionName: "reader", QueueARN: "arn:q"}, {FunctionName: "ordered", QueueARN: "arn:q.fifo"}},
		Queues:   []template.Queue{{Name: "q", ARN: "arn:q"}, {Name: "q.fifo", ARN: "arn:q.fifo", FIFO: true}},
	}
)

func TestWrap(t *testing.T) {
	tests := map[string]struct {
		function, raw string
		body          string // of the message; empty where the event goes as it is
		attributes    map[string]string
		how           string
		fails         bool
	}{
		"event for a reader":           {function: "reader", raw: `{"detail-type": "x"}`, body: `{"detail-type": "x"}`, how: "as a message of the queue q"},
		"observation for an ordered":   {function: "ordered", raw: `{"cluster": "c"}`, body: `{"cluster": "c"}`, how: "as a message of the queue q.fifo", attributes: map[string]string{"MessageGroupId": "c", "MessageDeduplicationId": "by-hand", "SequenceNumber": "18850000000000000000"}},
		"event past the queue":         {function: "reader", raw: `{"source": "rollcall"}`, how: "as the rule news hands it over"},
		"event for the queue":          {function: "reader", raw: `{"source": "aws.ec2"}`, body: `{"source": "aws.ec2"}`, how: "as a message of the queue q"},
		"another's event":              {function: "ordered", raw: `{"source": "rollcall"}`, body: `{"source": "rollcall"}`, how: "as a message of the queue q.fifo", attributes: map[string]string{"MessageGroupId": "", "MessageDeduplicationId": "by-hand", "SequenceNumber": "18850000000000000000"}},
		"batch":                        {function: "reader", raw: `{"Records": [{"body": "x"}]}`, how: "as it is"},
		"empty batch":                  {function: "reader", raw: `{"Records": []}`, body: `{"Records": []}`, how: "as a message of the queue q"},
		"schedule":                     {function: "reader", raw: `{"detail-type": "Scheduled Event"}`, how: "as it is"},
		"no queue":                     {function: "direct", raw: `{"detail-type": "x"}`, how: "as it is"},
		"not JSON for a reader":        {function: "reader", raw: `{"a":`, body: `{"a":`, how: "as a message of the queue q (it is not JSON)"},
		"not JSON without a queue":     {function: "direct", raw: `{"a":`, fails: true},
		"nothing":                      {function: "reader", raw: "", how: "as a message of the queue q (it is not JSON)"},
		"another shape under Records":  {function: "reader", raw: `{"Records": 1}`, body: `{"Records": 1}`, how: "as a message of the queue q"},
		"a number":                     {function: "reader", raw: "1", body: "1", how: "as a message of the queue q"},
		"a schedule that is not whole": {function: "reader", raw: `{"detail-type": "Scheduled Event"`, body: `{"detail-type": "Scheduled Event"`, how: "as a message of the queue q (it is not JSON)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, how, err := Wrap([]byte(tt.raw), template.Function{Name: tt.function, ARN: "arn:" + tt.function}, sample, noon)
			if (err != nil) != tt.fails {
				t.Fatalf("got error %v, want one: %t", err, tt.fails)
			}
			if how != tt.how {
				t.Errorf("got %q, want %q", how, tt.how)
			}
			if tt.fails {
				return
			}
			if tt.body == "" && tt.raw != "" {
				if string(got) != tt.raw {
					t.Errorf("got %q, want %q", got, tt.raw)
				}
				return
			}
			var batch events.SQSEvent
			if err := json.Unmarshal(got, &batch); err != nil || len(batch.Records) != 1 {
				t.Fatalf("got %s, %v, want one message", got, err)
			}
			m := batch.Records[0]
			attributes := map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": "1795176000000", "ApproximateFirstReceiveTimestamp": "1795176000000"}
			for k, v := range tt.attributes {
				attributes[k] = v
			}
			want := events.SQSMessage{MessageId: "by-hand", Body: tt.body, EventSource: "aws:sqs", EventSourceARN: m.EventSourceARN, AWSRegion: "us-west-2", Attributes: attributes}
			if d := cmp.Diff(m, want, cmp.Comparer(func(a, b map[string]events.SQSMessageAttribute) bool { return len(a) == len(b) })); d != "" {
				t.Errorf("message (got -, want +):\n%s", d)
			}
		})
	}
}
