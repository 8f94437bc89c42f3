package report

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"rollcall/shared/incident/response"
	"rollcall/shared/notify"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

// unanswering does not answer who is in a user group.
type unanswering struct{ *notifytest.Slack }

func (u unanswering) GroupMembers(ctx context.Context, group string) ([]string, error) {
	<-ctx.Done()
	u.Calls = append(u.Calls, "in vain")
	return nil, &slackapi.Error{Kind: slackapi.Unavailable, Method: "any"}
}

// Two user groups of a Slack that hangs cost one short wait, and a press is
// refused with the reason; the time to record it and to speak is left.
func TestGroupsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := &notifytest.Slack{}
		n := notify.Notifier{Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {}}
		p := invocation{handler: handler{Notifier: n, people: unanswering{said}}, delivery: n.Begin()}
		p.approvers = []string{"S0LEADS001", "S0LEADS002", notifytest.Dana}
		began := time.Now()
		for range 3 {
			who := p.mayPress(t.Context(), report.Press{Action: report.ApprovePlan, Home: notifytest.Home, User: report.User{ID: notifytest.Oncall}})
			if who.May != response.Unknown || who.Says != "S0LEADS001: Slack did not answer; S0LEADS002: Slack did not answer" {
				t.Errorf("may %q: %s", who.May, who.Says)
			}
		}
		if took := time.Since(began); took > notify.CallTimeout || len(said.Calls) != 1 {
			t.Errorf("took %s and %d calls", took, len(said.Calls))
		}
		if who := p.mayPress(t.Context(), report.Press{Action: report.ApprovePlan, Home: notifytest.Home, User: report.User{ID: notifytest.Dana}}); who.May != response.MayYes {
			t.Errorf("who is named may %q", who.May)
		}
	})
}
