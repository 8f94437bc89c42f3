package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/event"
	"rollcall/shared/event/inbox"
	"rollcall/shared/node/spotreport"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
	"rollcall/tools/testfile"
)

// What is set aside keeps its body and its group, and says why it is there as far
// as SQS has room for that.
func TestSetAside(t *testing.T) {
	because := func(s string) map[string]types.MessageAttributeValue {
		return map[string]types.MessageAttributeValue{"Reason": {DataType: aws.String("String"), StringValue: aws.String(s)}}
	}
	full := strings.Repeat("x", MaxBody-len("ReasonStringshort"))
	for name, test := range map[string]struct {
		m      inbox.Message
		reason string
		group  string
		want   map[string]types.MessageAttributeValue
	}{
		"a message":              {inbox.Message{ID: "1", Body: "{", Group: "prod"}, "short", "prod", because("short")},
		"without a group":        {inbox.Message{ID: "1", Body: "{"}, "short", "no-cluster", because("short")},
		"a long reason":          {inbox.Message{ID: "1", Body: "{", Group: "prod"}, strings.Repeat("é", 300), "prod", because(strings.Repeat("é", 200))},
		"cut within a character": {inbox.Message{ID: "1", Body: "{", Group: "prod"}, "a" + strings.Repeat("é", 300), "prod", because("a" + strings.Repeat("é", 199))},
		"just room for it":       {inbox.Message{ID: "1", Body: full, Group: "prod"}, "short", "prod", because("short")},
		"no room for it":         {inbox.Message{ID: "1", Body: full + "x", Group: "prod"}, "short", "prod", nil},
	} {
		q := &queue{}
		if err := (Queues{Client: q, Aside: "dead.fifo", Results: "results.fifo"}).SetAside(t.Context(), test.m, test.reason); err != nil {
			t.Fatal(err)
		}
		want := []*sqs.SendMessageInput{{
			QueueUrl: aws.String("dead.fifo"), MessageBody: aws.String(test.m.Body), MessageGroupId: aws.String(test.group),
			MessageDeduplicationId: aws.String(digest("1")), MessageAttributes: test.want,
		}}
		if diff := cmp.Diff(want, q.sent, cmpopts.IgnoreUnexported(sqs.SendMessageInput{}, types.MessageAttributeValue{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if err := (Queues{Client: &queue{refuse: 1}}).SetAside(t.Context(), inbox.Message{ID: "1"}, "x"); err == nil {
		t.Error("SQS refused, and there is no error")
	}
}

// lastSent is a queue that keeps the last message.
type lastSent struct{ in *sqs.SendMessageInput }

func (l *lastSent) SendMessage(_ context.Context, in *sqs.SendMessageInput, _ ...func(*sqs.Options)) (*sqs.SendMessageOutput, error) {
	l.in = in
	return &sqs.SendMessageOutput{}, nil
}

// What a responder did with an alert goes to report in its cluster's order, a spoke's too.
func TestAlertChanges(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 59, 4, 0, time.UTC)
	of := spoke.ID{Account: "222233334444", Region: "us-west-2"}
	sent := &lastSent{}
	key := report.Key{Spoke: of, Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}
	if err := (Queues{Client: sent, Results: "results"}).SendAlertChange(t.Context(), report.AlertChange{Head: report.Head{ID: "1", At: at, Key: key}, Opened: at, In: "PagerDuty", State: report.AlertAcknowledged}); err != nil {
		t.Fatal(err)
	}
	m, err := report.DecodeMessage([]byte(aws.ToString(sent.in.MessageBody)))
	if err != nil || m.Alert == nil || m.Alert.State != report.AlertAcknowledged || m.ForSpoke(of, "").Alert.Key != key || m.Cluster() != "prod" || aws.ToString(sent.in.MessageGroupId) != of.Qualify("prod") {
		t.Errorf("sent %+v: %+v, %v", sent.in, m.Alert, err)
	}
}

// What change-check finds goes to report as it can be decoded there, and its
// reminder comes back to itself.
func TestChanges(t *testing.T) {
	opened := time.Date(2026, 11, 20, 14, 59, 4, 0, time.UTC)
	key := report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-1"}
	sent := &lastSent{}
	q := Queues{Client: sent, Results: "results", Changes: "changes"}
	if err := q.SendChanges(t.Context(), report.Changes{Head: report.Head{ID: "1", At: opened, Key: key}, Opened: opened, Found: report.RecentChanges{Changes: []report.Change{{ID: "e", Times: 2}}}}); err != nil {
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

func TestLookAtNodegroup(t *testing.T) {
	q := &queue{}
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	if err := (Queues{Client: q, Nodegroups: "nodegroups"}).LookAtNodegroup(t.Context(), "prod", "workers", now, time.Minute); err != nil {
		t.Fatal(err)
	}
	got, err := event.Parse([]byte(aws.ToString(q.sent[0].MessageBody)))
	if err != nil || got.Kind != event.Reminder || got.Cluster != "prod" || got.Nodegroup != "workers" || q.sent[0].DelaySeconds != 60 || aws.ToString(q.sent[0].QueueUrl) != "nodegroups" {
		t.Errorf("sent %+v (%v) after %d s to %s", got, err, q.sent[0].DelaySeconds, aws.ToString(q.sent[0].QueueUrl))
	}
	q = &queue{refuse: 1}
	if err := (Queues{Client: q}).LookAtNodegroup(t.Context(), "prod", "workers", now, 0); err == nil {
		t.Error("no error of a queue that refuses")
	}
}

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

// TestNamesakesAreApartInTheQueue: what is sent of clusters of one name, in two accounts
// and two regions, is of different groups, drops none of the others as a repeat, names its
// owner, and is refused by a release that knows no spokes.
func TestNamesakesAreApartInTheQueue(t *testing.T) {
	hub := spoke.ID{Account: "111122223333", Region: "us-west-2"}
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	ids := []spoke.ID{{}, {Account: "222233334444", Region: "us-west-2"}, {Account: "222233334444", Region: "eu-west-1"}}
	q := &queue{}
	for _, id := range ids {
		queues := Queues{Client: q, Results: "results.fifo", Spoke: id}
		key := report.Key{Spoke: id, Cluster: "prod", Check: "c", Resource: "r"}
		press, err := report.EncodePress(report.Press{Head: report.Head{ID: "press", At: at, Key: key}})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			queues.SendResult(t.Context(), looked(1)),
			queues.SendSummary(t.Context(), report.Summary{Format: report.SummaryFormat, Kind: report.SpotSummary, ID: "spot/prod", At: at, Cluster: "prod"}),
			queues.SendPress(t.Context(), press),
			queues.SendProposal(t.Context(), report.Proposal{Head: report.Head{ID: "proposal", At: at, Key: key}}),
			queues.SendRemedyResult(t.Context(), report.RemedyResult{Head: report.Head{ID: "deed", At: at, Key: key}}),
			queues.SendChanges(t.Context(), report.Changes{Head: report.Head{ID: "changes", At: at, Key: key}}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	kinds := len(q.sent) / len(ids)
	repeats := map[string]bool{}
	var groups []string
	for i, in := range q.sent {
		id := ids[i/kinds]
		repeats[aws.ToString(in.MessageDeduplicationId)] = true
		groups = append(groups, aws.ToString(in.MessageGroupId))
		body := []byte(aws.ToString(in.MessageBody))
		if w, err := inbox.OriginOf(body, hub); err != nil || w.Spoke != id {
			t.Errorf("%s is of %q, %v; want %q", body, w.Spoke, err, id)
		}
		m, err := report.DecodeMessage(body)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if first := formatOf(t, q.sent[i%kinds].MessageBody); formatOf(t, in.MessageBody) != first && id.Hub() || formatOf(t, in.MessageBody) != first+1 && !id.Hub() {
			t.Errorf("%s has not the format of its kind", body)
		}
		if in := m.ForSpoke(id, "payments"); in.Cluster() != "prod" {
			t.Errorf("%s is about %q", body, in.Cluster())
		}
	}
	if len(repeats) != len(q.sent) {
		t.Errorf("%d messages of %d would be dropped as repeats", len(q.sent)-len(repeats), len(q.sent))
	}
	var want []string
	for _, id := range ids {
		for range kinds {
			want = append(want, id.Qualify("prod"))
		}
	}
	if diff := cmp.Diff(want, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

func formatOf(t *testing.T, body *string) int {
	t.Helper()
	var v struct{ Format int }
	decode(t, body, &v)
	return v.Format
}

// TestRemindersSayWhose: so that another account's instance of the same id is not looked at.
func TestRemindersSayWhose(t *testing.T) {
	hub := spoke.ID{Account: "111122223333", Region: "us-west-2"}
	for _, id := range []spoke.ID{{}, {Account: "222233334444", Region: "eu-west-1"}} {
		q := &queue{}
		queues := Queues{Client: q, Spoke: id}
		now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
		for _, err := range []error{
			queues.LookAgain(t.Context(), []string{"i-1"}, now, time.Minute),
			queues.LookAtNodegroup(t.Context(), "prod", "workers", now, time.Minute),
			queues.LookForChanges(t.Context(), report.Key{Spoke: id, Cluster: "prod", Check: "c", Resource: "r"}, now, 1, now, time.Minute),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, in := range q.sent {
			body := []byte(aws.ToString(in.MessageBody))
			w, err := inbox.OriginOf(body, hub)
			trigger, wrong := event.Parse(body)
			if err != nil || wrong != nil || w.Spoke != id || trigger.Account != id.Account || trigger.Region != id.Region {
				t.Errorf("%s is of %q (%s %s), %v, %v; want %q", body, w.Spoke, trigger.Account, trigger.Region, err, wrong, id)
			}
		}
	}
}

func decode(t *testing.T, body *string, into any) {
	t.Helper()
	testfile.Parse(t, []byte(aws.ToString(body)), into)
}

// The largest chart that a report draws fits into a message, with many pools
// beside it.
func TestSendSummary(t *testing.T) {
	s := report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: "spot/prod/2026-11-20", At: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC), Cluster: "prod",
		Chart: bytes.Repeat([]byte{0xff}, 120<<10),
	}
	s.Spot.Pools = make([]spotreport.Pool, 1000)
	q := &queue{}
	for range 2 {
		if err := (Queues{Client: q, Results: "results.fifo"}).SendSummary(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	body := aws.ToString(q.sent[0].MessageBody)
	m, err := report.DecodeMessage([]byte(body))
	if err != nil || m.Summary == nil || len(m.Summary.Chart) != 120<<10 || m.Summary.MorePools == 0 {
		t.Errorf("arrived: %v, a chart and %d pools were to", err, len(s.Spot.Pools))
	}
	if len(body) > 256<<10 || aws.ToString(q.sent[0].MessageGroupId) != "prod" {
		t.Errorf("%d bytes in group %q", len(body), aws.ToString(q.sent[0].MessageGroupId))
	}
	if a, b := aws.ToString(q.sent[0].MessageDeduplicationId), aws.ToString(q.sent[1].MessageDeduplicationId); a != b || a == "" {
		t.Errorf("sent twice it has the ids %q and %q", a, b)
	}
	if err := (Queues{Client: &queue{refuse: 1}}).SendSummary(t.Context(), s); err == nil {
		t.Error("it was refused, and there is no error")
	}
}

// A day's cleanup has one id, and is sent again when something was added.
func TestSendCleanupSummary(t *testing.T) {
	s := report.Summary{
		Format: report.SummaryFormat, Kind: report.CleanupSummary, ID: "cleanup/prod/2026-11-20", At: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC), Cluster: "prod",
		Cleanup: &report.Cleanup{Mode: "delete", Left: 3},
	}
	q := &queue{}
	for _, left := range []int{3, 3, 0} {
		s.Cleanup = &report.Cleanup{Mode: "delete", Left: left}
		if err := (Queues{Client: q, Results: "results.fifo"}).SendSummary(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	id := func(i int) string { return aws.ToString(q.sent[i].MessageDeduplicationId) }
	if id(0) != id(1) || id(0) == id(2) {
		t.Errorf("ids %q, %q and %q: the same is one, what was added to is another", id(0), id(1), id(2))
	}
}

// picky takes batches, but refuses clusters for as many times as it is set to.
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
		whose, err := inbox.OriginOf([]byte(sent.bodies[0]), hub)
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
