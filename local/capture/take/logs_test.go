package take

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLogGroups: those of the clusters' own logs of EKS Auto Mode; a bucket is none.
func TestLogGroups(t *testing.T) {
	object := func(pairs ...any) any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	source := func(name, kind string, of ...any) any {
		return object("name", name, "logType", kind, "resourceArns", of)
	}
	delivery := func(from, to string) any { return object("deliverySourceName", from, "deliveryDestinationArn", to) }
	destination := func(at, to string) any {
		return object("arn", at, "deliveryDestinationConfiguration", object("destinationResourceArn", to))
	}
	got := logGroups([]string{"prod"},
		map[string]any{"deliverySources": []any{source("own", "AUTO_MODE_COMPUTE_LOGS", "prod"), source("other", "AUTO_MODE_COMPUTE_LOGS", "dev"), source("api", "ACCESS_LOGS", "prod")}},
		map[string]any{"deliveries": []any{delivery("own", "d1"), delivery("own", "d2"), delivery("other", "d3"), delivery("api", "d3")}},
		map[string]any{"deliveryDestinations": []any{
			destination("d1", "arn:aws:logs:us-west-2:111122223333:log-group:/aws/eks/prod:*"), destination("d2", "arn:aws:s3:::bucket"), destination("d3", "arn:aws:logs:us-west-2:111122223333:log-group:no"),
		}})
	if diff := cmp.Diff([]string{"/aws/eks/prod"}, got); diff != "" {
		t.Errorf("log groups (-want +got):\n%s", diff)
	}
}
