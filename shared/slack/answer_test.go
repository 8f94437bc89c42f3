package slack

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/slack/slackapi"
)

func answers() []incident.Answer {
	at := began.Add(10 * time.Minute)
	return []incident.Answer{
		{Reason: incident.AnswerApproved, Remedy: "add-nat-route"}, {Reason: incident.AnswerRefused, Remedy: "add-nat-route"}, {Reason: incident.AnswerAcknowledged}, {Reason: incident.AnswerMuted, Until: at.Add(4 * time.Hour)},
		{Reason: incident.AnswerUnmuted}, {Reason: incident.AnswerChecking},
		{Reason: incident.NotAllowed}, {Reason: incident.NobodyAllowed}, {Reason: incident.GroupNotRead, Says: "S0LEADS001: missing_scope, usergroups:read"},
		{Reason: incident.NoSuchPlan}, {Reason: incident.PlanChanged, Says: "nat-0aa4 is no longer available"}, {Reason: incident.PlanExpired, Until: at},
		{Reason: incident.AlreadyDecided, By: oncall(), When: at, State: incident.Approved}, {Reason: incident.AlreadyDecided, By: dev(), When: at, State: incident.RefusedByUs},
		{Reason: incident.AlreadyDecided, When: at, State: incident.Helped}, {Reason: incident.AlreadyDecided},
		{Reason: incident.IncidentClosed, When: at}, {Reason: incident.IncidentNotFound}, {Reason: incident.EarlierOpening, When: at}, {Reason: incident.UnknownAction},
		{Reason: incident.NoSuchTime}, {Reason: incident.AlreadyTaken, By: oncall(), When: at}, {Reason: incident.NotMuted}, {Reason: incident.AskedJustNow, Until: at},
		{Reason: incident.CauseIsGone}, {Reason: incident.NotNow, Until: began.Add(time.Hour)},
		{Reason: incident.NotResponder}, {Reason: incident.OtherWorkspace}, {Reason: incident.WorkspaceNotRead, Says: "Slack did not answer"}, {Reason: incident.AlreadyYours, When: at},
		{Reason: incident.AnswerTakenOver, By: dev(), When: at},
		{Reason: incident.Incomplete}, {Reason: incident.TooLate, When: at}, {Reason: incident.FromFuture, When: at}, {Reason: "something-new"}, {},
	}
}

// TestAnswers keeps the words of every answer beside each other.
func TestAnswers(t *testing.T) {
	var list []slackapi.Message
	for _, a := range answers() {
		m := RenderAnswer(a, began.Add(11*time.Minute))
		for _, problem := range problems(m) {
			t.Errorf("%s: %s", a.Reason, problem)
		}
		if nothing := strings.HasPrefix(m.Text, "Nothing was done."); nothing == a.Done() {
			t.Errorf("%s: %s", a.Reason, m.Text)
		}
		list = append(list, m)
	}
	golden(t, "answers.golden.json", wire(t, list))
	golden(t, "answers.txt", []byte(strings.ReplaceAll(read(list), "--- reply", "--- answer")))
}

// TestAnswersNeverPastTheLimits: what a person is told comes from outside too.
func TestAnswersNeverPastTheLimits(t *testing.T) {
	for seed := range uint64(60) {
		w := wild{rand.New(rand.NewPCG(seed, 9))}
		for _, a := range answers() {
			a.By, a.When, a.Until, a.Says = w.user(), w.time(), w.time(), w.text(3000)
			for _, problem := range problems(RenderAnswer(a, w.time())) {
				t.Errorf("seed %d, %s: %s", seed, a.Reason, problem)
			}
		}
	}
}
