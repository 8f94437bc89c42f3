package report

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"rollcall/local/fakeslack"
	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/routing"
	"rollcall/shared/slack/slackapi"
)

// TestApprovalInSlack: with the real client, on the stand-in for Slack, a member
// of the user group approves and only they are told; without the scope to read
// the group nobody does.
func TestApprovalInSlack(t *testing.T) {
	for name, test := range map[string]struct {
		scopes []string
		want   incident.AnswerReason
		says   string
	}{
		"all scopes":         {nil, incident.AnswerApproved, ""},
		"no usergroups:read": {[]string{"chat:write", "channels:history"}, incident.GroupNotRead, "usergroups:read"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := fakeslack.New(fakeslack.Config{
				Token: "xoxb-1", Scopes: test.scopes, Channels: []fakeslack.Channel{{ID: "C0123456789", Name: "alerts"}},
				Users:  []fakeslack.User{{ID: notifytest.Oncall, Name: "oncall"}, {ID: notifytest.Dana, Name: "Dana Weber"}},
				Groups: []fakeslack.Group{{ID: "S0ONCALL01", Handle: "platform-oncall", Users: []string{notifytest.Oncall}}},
			})
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
			b.Slack, b.Files, b.Answers, b.people = client, client, client, client
			b.approvers = []string{"S0ONCALL01"}
			if b.Policy.Routes, err = routing.Parse("all/critical=@S0ONCALL01"); err != nil {
				t.Fatal(err)
			}
			b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
			b.mustSend(1, proposal(notifytest.Start.Add(time.Minute)))
			top := s.Messages("C0123456789")[0]
			b.channel.Messages = []notifytest.Message{{Ts: top.TS}}
			b.now = notifytest.Start.Add(2 * time.Minute)
			b.mustSend(2, b.press(notifytest.Oncall, report.ApprovePlan))
			if acts := b.acts(); len(acts) != 1 || acts[0].Answer.Reason != test.want || !strings.Contains(acts[0].Answer.Says, test.says) {
				t.Errorf("audited is %+v", acts)
			}
			told, called := 0, 0
			for _, m := range s.Messages("C0123456789") {
				switch {
				case m.Visible == notifytest.Oncall:
					told++
				case m.Visible != "":
					t.Errorf("%s was told too", m.Visible)
				case m.Broadcast && m.ThreadTS == top.TS:
					called++
				}
			}
			if told != 1 || called != 1 {
				t.Errorf("the person was told %d times, people called %d times; want once each", told, called)
			}
		})
	}
}
