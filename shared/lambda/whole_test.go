package lambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/config"
)

// TestForAll: what is of all spokes is done once for a schedule, before the parts, in half of
// the time, and whether it fails or not every spoke has its part; a batch has none of it.
func TestForAll(t *testing.T) {
	const schedule = `{"id":"x","detail-type":"Scheduled Event","source":"aws.events","account":"111122223333","time":"2026-11-23T08:00:00Z","region":"us-west-2","detail":{}}`
	for name, spokes := range map[string]string{"of one": "", "of three": "222233334444/us-west-2=payments,222233334444/eu-west-1"} {
		env := map[string]string{
			"AWS_REGION": "us-west-2", "ROLLCALL_ACCOUNT": "111122223333", "ROLLCALL_EXTERNAL_ID": "rollcall-1", "ROLLCALL_ROLE_PREFIX": "rollcall", "ROLLCALL_SPOKES": spokes,
		}
		var order []string
		var left time.Duration
		fails := errors.New("the table did not answer")
		f := New("test", config.SpokeVariables(), func(_ context.Context, e Env) (Handler, error) {
			if e.Config.Spoke.Hub() {
				e.ForAll(func(ctx context.Context, raw json.RawMessage) error {
					deadline, _ := ctx.Deadline()
					order, left = append(order, "all"), time.Until(deadline)
					return fails
				})
			}
			return func(context.Context, json.RawMessage) (any, error) {
				order = append(order, e.Config.Spoke.String())
				return nil, nil
			}, nil
		}, func(name string) string { return env[name] }, &bytes.Buffer{}).By(Way{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		if _, err := f.Invoke(ctx, json.RawMessage(schedule)); !errors.Is(err, fails) {
			t.Errorf("%s: %v, want that it failed", name, err)
		}
		if left > 31*time.Minute || left < 29*time.Minute {
			t.Errorf("%s: it has %s of an hour", name, left)
		}
		if want := 2 + 2*strings.Count(spokes, "2222")/2; len(order) != want || order[0] != "all" || slices.Index(order[1:], "all") >= 0 {
			t.Errorf("%s: %q", name, order)
		}
		order = nil
		if _, err := f.Invoke(ctx, json.RawMessage(queued(running(hubID), running(hubID)))); err != nil || slices.Contains(order, "all") {
			t.Errorf("%s: a batch has %q, %v", name, order, err)
		}
		cancel()
	}
}
