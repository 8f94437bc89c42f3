package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/event"
	"rollcall/shared/spoke"
)

// picky takes batches, but refuses clusters for as many times as it is told.
type picky struct {
	t       *testing.T
	refuses map[string]int
	fails   string // of a batch with this cluster
	took    map[string]int32
	sizes   []int
}

func (q *picky) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	q.sizes = append(q.sizes, len(in.Entries))
	out := &sqs.SendMessageBatchOutput{}
	for _, e := range in.Entries {
		trigger, err := event.Parse([]byte(*e.MessageBody))
		if err != nil || trigger.Account != "111122223333" || trigger.Region != "eu-west-1" || trigger.Time.IsZero() {
			q.t.Error(err, trigger)
		}
		if trigger.Cluster == q.fails {
			return nil, errors.New("away")
		}
		if q.refuses[trigger.Cluster] > 0 {
			q.refuses[trigger.Cluster]--
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InternalError")})
			continue
		}
		q.took[trigger.Cluster] = e.DelaySeconds
	}
	return out, nil
}

func sweepsOf(n int) (list []Sweep, want map[string]int32) {
	want = map[string]int32{}
	for i := range n {
		s := Sweep{Cluster: fmt.Sprintf("c%02d", i), Account: "111122223333", Region: "eu-west-1", Due: time.Unix(int64(i), 1)}
		list, want[s.Cluster] = append(list, s), int32(i)
	}
	return list, want
}

func TestSendSweeps(t *testing.T) {
	list, want := sweepsOf(23)
	q := &picky{t: t, refuses: map[string]int{"c03": 1, "c21": 2}, took: map[string]int32{}}
	if err := (Sweeps{Client: q, Queue: "url"}).SendSweeps(t.Context(), list, time.Unix(0, 0)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, q.took); diff != "" {
		t.Errorf("delays in seconds (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{10, 1, 10, 3, 1, 1}, q.sizes); diff != "" {
		t.Errorf("messages by call (-want +got):\n%s", diff)
	}
}

// What one batch meets does not keep the others from being sent, and is said.
func TestSendSweepsRefused(t *testing.T) {
	list, _ := sweepsOf(30)
	q := &picky{t: t, refuses: map[string]int{"c03": 9}, fails: "c15", took: map[string]int32{}}
	err := (Sweeps{Client: q, Queue: "url"}).SendSweeps(t.Context(), list, time.Unix(0, 0))
	for _, want := range []string{"of 10 clusters from c00 on: the queue does not take 1: InternalError", "of 10 clusters from c10 on: away"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if len(q.took) < 19 {
		t.Errorf("%d were sent, want 19 at least", len(q.took))
	}
}

// A delay is never more than SQS takes, nor less than none.
func TestSweepDelays(t *testing.T) {
	q := &picky{t: t, took: map[string]int32{}}
	of := func(name string, d time.Duration) Sweep {
		return Sweep{Cluster: name, Account: "111122223333", Region: "eu-west-1", Due: time.Unix(0, 0).Add(d)}
	}
	if err := (Sweeps{Client: q, Queue: "url"}).SendSweeps(t.Context(), []Sweep{of("past", -time.Minute), of("far", time.Hour)}, time.Unix(0, 0)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]int32{"past": 0, "far": 900}, q.took); diff != "" {
		t.Errorf("delays (-want +got):\n%s", diff)
	}
}

// A spoke's turns are whose they say they are, in messages that come from the hub.
func TestSweepsOfASpoke(t *testing.T) {
	hub, theirs := spoke.ID{Account: "111122223333", Region: "eu-west-1"}, spoke.ID{Account: "222233334444", Region: "us-west-2"}
	for _, of := range []spoke.ID{{}, theirs} {
		sent := &sentBodies{}
		if err := (Sweeps{Client: sent, Queue: "url", Spoke: of}).SendSweeps(t.Context(), []Sweep{{Cluster: "prod", Account: hub.Account, Region: hub.Region, Due: time.Unix(0, 0)}}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		whose, err := event.WhoseIs([]byte(sent.bodies[0]), hub)
		if err != nil || whose.Spoke != of || whose.All {
			t.Errorf("of %q: %+v, %v", of, whose, err)
		}
	}
}

// sentBodies keeps what is sent.
type sentBodies struct{ bodies []string }

func (s *sentBodies) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	for _, e := range in.Entries {
		s.bodies = append(s.bodies, aws.ToString(e.MessageBody))
	}
	return &sqs.SendMessageBatchOutput{}, nil
}
