package fakeslack

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
)

// TestAnswers: an answer has the fields that Slack's has, and no others.
func TestAnswers(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("parent"))
	post(t, api, say("reply"), slack.MsgOptionTS(ts))
	ask := func(method string, args url.Values) map[string]any {
		args.Set("token", testToken)
		status, body := get(t, s.APIURL()+method+"?"+args.Encode())
		var a map[string]any
		if err := json.Unmarshal([]byte(body), &a); err != nil || status != 200 {
			t.Fatalf("%s: status %d, %q, %v", method, status, body, err)
		}
		return a
	}
	names := func(a any) []string { return slices.Sorted(maps.Keys(a.(map[string]any))) }

	updated := ask("chat.update", url.Values{"channel": {alerts}, "ts": {ts}, "text": {"edited"}})
	want := []string{"app_id", "bot_id", "bot_profile", "edited", "team", "text", "type", "user"}
	if diff := cmp.Diff(names(updated["message"]), want); diff != "" {
		t.Errorf("message of chat.update (-got +want):\n%s", diff)
	}
	replies := ask("conversations.replies", url.Values{"channel": {alerts}, "ts": {ts}})
	if diff := cmp.Diff(names(replies), []string{"has_more", "messages", "ok", "response_metadata"}); diff != "" {
		t.Errorf("conversations.replies (-got +want):\n%s", diff)
	}
	history := ask("conversations.history", url.Values{"channel": {alerts}})
	if diff := cmp.Diff(names(history), []string{"has_more", "messages", "ok", "pin_count", "response_metadata"}); diff != "" {
		t.Errorf("conversations.history (-got +want):\n%s", diff)
	}
}
