package bus

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"rollcall/shared/report"
)

// queue keeps what it was sent, and refuses the message with the number refuse.
type queue struct {
	sent   []*sqs.SendMessageInput
	refuse int
}

func (q *queue) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	if q.sent = append(q.sent, in); len(q.sent) == q.refuse {
		return nil, errors.New("refused")
	}
	return &sqs.SendMessageOutput{}, nil
}

func looked(n int) report.Observation {
	o := report.Observation{Format: report.Format, ID: "join-check/prod/1", By: "join-check", At: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC), Cluster: "prod"}
	for i := range n {
		o.Launches = append(o.Launches, report.Launch{
			Instance: fmt.Sprintf("i-%017x", i), Nodegroup: "workers", Group: "eks-workers-0ac1b2c3-d4e5-f607-1829-3a4b5c6d7e8f",
			Subnet: "subnet-0123456789abcdef0", Zone: "us-west-2a", Type: "m5.24xlarge", Started: o.At, Status: report.Missed,
		})
	}
	return o
}

// A burst of any size arrives whole, in messages that SQS takes.
func TestSendResultOfABurst(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 5000} {
		q := &queue{}
		if err := (Queues{Client: q, Results: "results.fifo"}).SendResult(t.Context(), looked(n)); err != nil {
			t.Fatalf("%d launches: %v", n, err)
		}
		ids, launches := map[string]bool{}, map[string]bool{}
		for _, in := range q.sent {
			body := aws.ToString(in.MessageBody)
			if len(body) > MaxBody || aws.ToString(in.MessageGroupId) != "prod" {
				t.Errorf("%d launches: a message of %d bytes in group %q", n, len(body), aws.ToString(in.MessageGroupId))
			}
			ids[aws.ToString(in.MessageDeduplicationId)] = true
			o, err := report.Decode([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range o.Launches {
				launches[l.Instance] = true
			}
		}
		if len(launches) != n || len(ids) != len(q.sent) {
			t.Errorf("%d launches: %d arrived in %d messages with %d ids", n, len(launches), len(q.sent), len(ids))
		}
		if n <= 1000 && len(q.sent) != 1 {
			t.Errorf("%d launches took %d messages, want 1", n, len(q.sent))
		}
	}
}

func TestSendResultTellsOfARefusedPart(t *testing.T) {
	if err := (Queues{Client: &queue{refuse: 2}}).SendResult(t.Context(), looked(5000)); err == nil {
		t.Error("the second part was refused, and there is no error")
	}
}

func TestLookAgainKeepsToTheQueuesDelays(t *testing.T) {
	for delay, want := range map[time.Duration]int32{-time.Minute: 1, time.Minute: 60, time.Hour: 900} {
		q := &queue{}
		if err := (Queues{Client: q, Joins: "joins"}).LookAgain(t.Context(), []string{"i-1"}, time.Time{}.AddDate(2026, 0, 0), delay); err != nil {
			t.Fatal(err)
		}
		if got := q.sent[0].DelaySeconds; got != want {
			t.Errorf("delay of %s: %d seconds, want %d", delay, got, want)
		}
	}
}
