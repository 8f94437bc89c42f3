package slack

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"rollcall/shared/report"
)

func answers() []report.Answer {
	at := began.Add(10 * time.Minute)
	return []report.Answer{
		{Reason: report.AnswerApproved, Remedy: "add-nat-route"}, {Reason: report.AnswerRefused, Remedy: "add-nat-route"}, {Reason: report.AnswerAcknowledged}, {Reason: report.AnswerMuted, Until: at.Add(4 * time.Hour)},
		{Reason: report.AnswerUnmuted}, {Reason: report.AnswerChecking},
		{Reason: report.NotAllowed}, {Reason: report.NobodyAllowed}, {Reason: report.GroupNotRead, Says: "S0LEADS001: missing_scope, usergroups:read"},
		{Reason: report.NoSuchPlan}, {Reason: report.PlanChanged, Says: "nat-0aa4 is no longer available"}, {Reason: report.PlanExpired, Until: at},
		{Reason: report.AlreadyDecided, By: oncall(), When: at, State: report.Approved}, {Reason: report.AlreadyDecided, By: dev(), When: at, State: report.RefusedByUs},
		{Reason: report.AlreadyDecided, When: at, State: report.Helped}, {Reason: report.AlreadyDecided},
		{Reason: report.IncidentClosed, When: at}, {Reason: report.IncidentNotFound}, {Reason: report.EarlierOpening, When: at}, {Reason: report.UnknownAction},
		{Reason: report.NoSuchTime}, {Reason: report.AlreadyTaken, By: oncall(), When: at}, {Reason: report.NotMuted}, {Reason: report.AskedJustNow, Until: at},
		{Reason: report.CauseIsGone}, {Reason: report.NotNow, Until: began.Add(time.Hour)},
		{Reason: report.NotResponder}, {Reason: report.OtherWorkspace}, {Reason: report.WorkspaceNotRead, Says: "Slack did not answer"}, {Reason: report.AlreadyYours, When: at},
		{Reason: report.AnswerTakenOver, By: dev(), When: at},
		{Reason: report.OlderRelease}, {Reason: report.Incomplete}, {Reason: report.TooLate, When: at}, {Reason: report.FromFuture, When: at}, {Reason: "something-new"}, {},
	}
}

// TestAnswers keeps the words of every answer beside each other.
func TestAnswers(t *testing.T) {
	var list []Message
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
