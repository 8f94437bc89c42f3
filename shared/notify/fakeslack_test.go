package notify

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"rollcall/local/fakeslack"
	"rollcall/shared/chart"
	"rollcall/shared/node/spot"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/slack/slackapi"
)

// TestSummaryInSlack: with the real client, on the stand-in for Slack, the
// picture is in the message, and without files:write the message says so.
func TestSummaryInSlack(t *testing.T) {
	for name, test := range map[string]struct {
		scopes []string
		says   string
		picture,
		alarm bool
	}{
		"all scopes":     {nil, "", true, false},
		"no files:write": {[]string{"chat:write", "channels:history"}, "files:write", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := fakeslack.New(fakeslack.Config{Token: "xoxb-1", Scopes: test.scopes, Channels: []fakeslack.Channel{{ID: "C0123456789", Name: "alerts"}}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			b := newBench(t)
			client, err := slackapi.NewClient(s.APIURL(), "xoxb-1", &http.Client{})
			if err != nil {
				t.Fatal(err)
			}
			b.Slack, b.Files, b.Answers = client, client, client
			sum := notifytest.Daily(31)
			sum.Spot.Pools = []spot.Pool{{Type: "m5.large", Zone: "us-west-2a", Spot: true, Funnel: spot.Funnel{Requested: 412, NotJoined: 31, Joined: 381}}}
			if sum.Chart, err = chart.Spot(sum.Spot, nil, chart.ForSlack()); err != nil {
				t.Fatal(err)
			}
			if _, err := b.tell(0, sum); err != nil || b.counts["Undelivered"] > 0 != test.alarm {
				t.Errorf("%v, %d undelivered", err, b.counts["Undelivered"])
			}
			b.now = b.now.Add(time.Minute)
			if _, err := b.tell(1); err != nil {
				t.Fatal(err)
			}
			list := s.Messages("C0123456789")
			if len(list) != 1 || len(list[0].Replies) != 1 {
				t.Fatalf("messages %+v, want one with its details", list)
			}
			blocks := string(list[0].Blocks)
			if got := strings.Contains(blocks, "slack_file"); got != test.picture || !strings.Contains(blocks, test.says) {
				t.Errorf("with a picture: %v, want %v; blocks %s", got, test.picture, blocks)
			}
		})
	}
}

// TestPictureInSlack: an incident's chart is in its message, stays through an
// edit, and is another one when the addresses are back.
func TestPictureInSlack(t *testing.T) {
	s, err := fakeslack.New(fakeslack.Config{Token: "xoxb-1", Channels: []fakeslack.Channel{{ID: "C0123456789", Name: "alerts"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b := newBench(t)
	client, err := slackapi.NewClient(s.APIURL(), "xoxb-1", &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	b.Slack, b.Files, b.Answers = client, client, client
	drawn, err := chart.Spot(spot.Report{Spot: spot.Funnel{Requested: 1}}, nil, chart.ForSlack())
	if err != nil || len(drawn) == 0 {
		drawn = []byte("\x89PNG\r\n\x1a\nrest")
	}
	pictures := map[string]bool{}
	for _, step := range []notifytest.Step{{Minute: 0, Obs: leaking(string(drawn))}, {Minute: 5, Obs: leaking("")}, {Minute: 14, Obs: givenBack(string(drawn))}} {
		b.must(step.Minute, step.Obs)
		list := s.Messages("C0123456789")
		if len(list) != 1 {
			t.Fatalf("minute %d: %d messages, want 1", step.Minute, len(list))
		}
		_, rest, shown := strings.Cut(string(list[0].Blocks), `"slack_file"`)
		if !shown {
			t.Fatalf("minute %d: no picture in %s", step.Minute, list[0].Blocks)
		}
		id, _, _ := strings.Cut(rest, "}")
		pictures[id] = true
	}
	if len(pictures) != 2 {
		t.Errorf("%d pictures were shown, want 2: %v", len(pictures), pictures)
	}
}
