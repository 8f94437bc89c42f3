package stage

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"rollcall/local/testfull"
	"rollcall/shared/checkid"
	"rollcall/shared/incident"
)

// TestStormOfRefusedFleets: an hour of a NodePool whose fleets are all refused, as
// CloudTrail tells of them, minutes late and some twice, is one message with few
// edits and a record a minute; and it is over when nobody asks any more. The
// smaller number shows the same: there are several of them to a minute.
func TestStormOfRefusedFleets(t *testing.T) {
	sample, err := os.ReadFile("../../events/in/ec2-call-create-fleet-refused.json")
	if err != nil {
		t.Fatal(err)
	}
	fleets := testfull.Of(5000, 500)
	virtual(t, func(t *testing.T) {
		s := start(t, "route")
		for i := range fleets {
			called := s.Clock.Now().UTC().Format(time.RFC3339)
			event := json.RawMessage(strings.ReplaceAll(string(sample), "2026-11-20T14:58:40Z", called))
			late := 3*time.Minute + time.Duration(i%7)*20*time.Second
			for range 1 + i%20/19 {
				s.background(func() {
					if s.Clock.Sleep(t.Context(), late) == nil {
						s.put(event)
					}
				})
			}
			s.pass(time.Hour / time.Duration(fleets))
		}
		s.pass(10 * time.Minute)
		if !s.says("NodePool default cannot launch", "a service control policy forbids it")() {
			t.Fatalf("the channel says %d messages: %v", len(s.messages()), s.messages())
		}
		writes, edits := 0, 0
		for _, c := range s.Cloud.Calls() {
			if c.Action() == "dynamodb:PutItem" && c.Principal.Name == "rollcall-launch-watch" {
				writes++
			}
		}
		for _, c := range s.Slack.Calls() {
			if c.Method == "chat.update" {
				edits++
			}
		}
		t.Logf("%d fleets: %d writes, %d edits", fleets, writes, edits)
		if writes > 150 || edits > 10 {
			t.Errorf("%d fleets are %d writes of launch-watch and %d edits of the message", fleets, writes, edits)
		}
		over := func() bool {
			for _, inc := range s.incidents() {
				if inc.Key.Check == checkid.LaunchPolicyDenied && inc.State == incident.Closed {
					return true
				}
			}
			return false
		}
		if over() {
			t.Fatal("it is over while fleets are refused")
		}
		s.until("nobody asks for an hour: it is over", over)
	})
}
