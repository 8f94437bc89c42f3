package bus

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/event"
	"rollcall/shared/report"
	"rollcall/shared/spoke"
)

// TestNamesakesAreApartInTheQueue: what is sent of clusters of one name, in two accounts
// and two regions, is of different groups, drops none of the others as a repeat, says whose
// it is, and is refused by a release that knows no spokes.
func TestNamesakesAreApartInTheQueue(t *testing.T) {
	hub := spoke.ID{Account: "111122223333", Region: "us-west-2"}
	at := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	ids := []spoke.ID{{}, {Account: "222233334444", Region: "us-west-2"}, {Account: "222233334444", Region: "eu-west-1"}}
	q := &queue{}
	for _, id := range ids {
		queues := Queues{Client: q, Results: "results.fifo", Spoke: id}
		key := report.Key{Spoke: id, Cluster: "prod", Check: "c", Resource: "r"}
		press, err := report.EncodePress(report.Press{ID: "press", At: at, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{
			queues.SendResult(t.Context(), looked(1)),
			queues.SendSummary(t.Context(), report.Summary{Format: report.SummaryFormat, Kind: report.SpotSummary, ID: "spot/prod", At: at, Cluster: "prod"}),
			queues.SendPress(t.Context(), press),
			queues.SendProposal(t.Context(), report.Proposal{ID: "proposal", At: at, Key: key}),
			queues.SendRemedyResult(t.Context(), report.RemedyResult{ID: "deed", At: at, Key: key}),
			queues.SendChanges(t.Context(), report.Changes{ID: "changes", At: at, Key: key}),
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
		if w, err := event.WhoseIs(body, hub); err != nil || w.Spoke != id {
			t.Errorf("%s is of %q, %v; want %q", body, w.Spoke, err, id)
		}
		m, err := report.DecodeMessage(body)
		if err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if first := formatOf(t, q.sent[i%kinds].MessageBody); formatOf(t, in.MessageBody) != first && id.Hub() || formatOf(t, in.MessageBody) != first+1 && !id.Hub() {
			t.Errorf("%s has not the format of its kind", body)
		}
		if in := m.In(id, "payments"); in.Cluster() != "prod" {
			t.Errorf("%s is about %q", body, in.Cluster())
		}
	}
	if len(repeats) != len(q.sent) {
		t.Errorf("%d messages of %d would be dropped as repeats", len(q.sent)-len(repeats), len(q.sent))
	}
	var want []string
	for _, id := range ids {
		for range kinds {
			want = append(want, id.In("prod"))
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
			w, err := event.WhoseIs(body, hub)
			trigger, wrong := event.Parse(body)
			if err != nil || wrong != nil || w.Spoke != id || trigger.Account != id.Account || trigger.Region != id.Region {
				t.Errorf("%s is of %q (%s %s), %v, %v; want %q", body, w.Spoke, trigger.Account, trigger.Region, err, wrong, id)
			}
		}
	}
}

func decode(t *testing.T, body *string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(aws.ToString(body)), into); err != nil {
		t.Fatal(err)
	}
}
