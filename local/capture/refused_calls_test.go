package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLaunchCalls: records of the last hour, of both calls, oldest first.
func TestLaunchCalls(t *testing.T) {
	c := opened(t, map[string]string{
		"time.txt": "2026-11-20T15:10:00Z\n",
		"cloudtrail-lookup-events.CreateFleet.json": `{"Events": [
			{"EventTime": "2026-11-20T15:09:00+00:00", "CloudTrailEvent": "{\"eventTime\": \"2026-11-20T15:09:00Z\", \"n\": 3}"},
			{"CloudTrailEvent": "{\"eventTime\": \"2026-11-20T14:09:00Z\", \"n\": 0}"}, {"CloudTrailEvent": "no record"}, {}]}`,
		"cloudtrail-lookup-events.RunInstances.json": `{"Events": [
			{"CloudTrailEvent": "{\"eventTime\": \"2026-11-20T14:10:00Z\", \"n\": 1}"}, {"CloudTrailEvent": "{\"eventTime\": \"2026-11-20T15:11:00Z\", \"n\": 4}"}]}`,
	})
	var got []string
	for _, raw := range c.LaunchCalls() {
		got = append(got, string(raw))
	}
	want := []string{`{"eventTime": "2026-11-20T14:10:00Z", "n": 1}`, `{"eventTime": "2026-11-20T15:09:00Z", "n": 3}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if got := opened(t, map[string]string{"eks-list-clusters.json": `{"clusters": ["prod"]}`}).LaunchCalls(); len(got) > 0 {
		t.Errorf("records of a capture without them: %s", got)
	}
}
