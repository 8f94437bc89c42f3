package bus

import (
	"bytes"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/node/spot"
	"rollcall/shared/report"
)

// The largest chart that a report draws fits into a message, with many pools
// beside it.
func TestSendSummary(t *testing.T) {
	s := report.Summary{
		Format: report.SummaryFormat, Kind: report.SpotSummary, ID: "spot/prod/2026-11-20", At: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC), Cluster: "prod",
		Chart: bytes.Repeat([]byte{0xff}, 120<<10),
	}
	s.Spot.Pools = make([]spot.Pool, 1000)
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
