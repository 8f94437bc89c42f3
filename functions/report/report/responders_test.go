package report

import (
	"errors"
	"strings"
	"testing"

	"rollcall/shared/config"
	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
)

// TestWhoMayAcknowledge: everybody of the app's own workspace or organization, or
// those whom the setting names; who Slack does not say that they are, may not.
func TestWhoMayAcknowledge(t *testing.T) {
	const other, grid = "T0OTHER001", "E0ACME0001"
	away := errors.New("no answer")
	for name, test := range map[string]struct {
		responders config.Responders
		enterprise string // the app's
		from       func(*report.Press)
		unplaced   error
		want       incident.AnswerReason
	}{
		"a colleague":                         {want: incident.AnswerAcknowledged},
		"a guest":                             {from: func(p *report.Press) { p.Home = other }, want: incident.OtherWorkspace},
		"a guest, the app in an organization": {enterprise: grid, from: func(p *report.Press) { p.Home = other }, want: incident.OtherWorkspace},
		"a guest of another organization":     {enterprise: grid, from: func(p *report.Press) { p.Home, p.Enterprise = other, "E0OTHER001" }, want: incident.OtherWorkspace},
		"of an organization, the app of none": {from: func(p *report.Press) { p.Home, p.Enterprise = other, grid }, want: incident.OtherWorkspace},
		"nobody says where they are from":     {from: func(p *report.Press) { p.Home = "" }, want: incident.OtherWorkspace},
		"of another workspace of ours":        {enterprise: grid, from: func(p *report.Press) { p.Home, p.Enterprise = other, grid }, want: incident.AnswerAcknowledged},
		"by the organization's id":            {enterprise: grid, from: func(p *report.Press) { p.Home = grid }, want: incident.AnswerAcknowledged},
		"the workspace is not known":          {unplaced: away, want: incident.WorkspaceNotRead},
		"the whole channel, a guest":          {responders: config.Responders{Channel: true}, from: func(p *report.Press) { p.Home = other }, unplaced: away, want: incident.AnswerAcknowledged},
		"who is named":                        {responders: config.Responders{IDs: []string{notifytest.Oncall}}, want: incident.AnswerAcknowledged},
		"a guest with the id of who is named": {responders: config.Responders{IDs: []string{notifytest.Oncall}}, from: func(p *report.Press) { p.Home = other }, want: incident.OtherWorkspace},
		"a member of a named group":           {responders: config.Responders{IDs: []string{"S0ONCALL01"}}, want: incident.AnswerAcknowledged},
		"not named":                           {responders: config.Responders{IDs: []string{"U0SOMEBODY"}}, from: func(p *report.Press) { p.User.ID = "U0STRANGER" }, want: incident.NotResponder},
		"an approver who is not named":        {responders: config.Responders{IDs: []string{"U0SOMEBODY"}}, from: func(p *report.Press) { p.User.ID = notifytest.Dana }, want: incident.AnswerAcknowledged},
		"a group that cannot be read decides": {responders: config.Responders{IDs: []string{"S0GONE0001"}}, from: func(p *report.Press) { p.User.ID = "U0STRANGER" }, want: incident.GroupNotRead},
	} {
		t.Run(name, func(t *testing.T) {
			b := offering(t)
			b.responders, b.channel.Enterprise, b.channel.WorkspaceError = test.responders, test.enterprise, test.unplaced
			if test.want == incident.GroupNotRead {
				b.channel.Fail = noScope
			}
			p := b.press(notifytest.Oncall, report.Acknowledge)
			if test.from != nil {
				test.from(&p)
			}
			b.mustSend(2, p)
			acts := b.acts()
			if len(acts) != 1 || acts[0].Answer.Reason != test.want || acts[0].Home != p.Home {
				t.Fatalf("audited %+v, want %s", acts, test.want)
			}
			if done := b.incident().Ack != nil; done != acts[0].Answer.Done() {
				t.Errorf("acknowledged: %v", done)
			}
		})
	}
}

// A guest of the own workspace may acknowledge what they see, and mute nothing, unless the
// setting names them; nor does anyone where Slack does not say who is a guest.
func TestAGuestMayNotMute(t *testing.T) {
	for name, test := range map[string]struct {
		responders config.Responders
		action     report.Action
		unread     error
		want       incident.AnswerReason
	}{
		"a guest mutes":              {action: report.MuteFor, want: incident.IsGuest},
		"a guest acknowledges":       {action: report.Acknowledge, want: incident.AnswerAcknowledged},
		"a guest who is named mutes": {responders: config.Responders{IDs: []string{notifytest.Oncall}}, action: report.MuteFor, want: incident.AnswerMuted},
		"Slack does not say":         {action: report.MuteFor, unread: errors.New("no answer"), want: incident.GuestNotRead},
	} {
		b := offering(t)
		b.responders, b.channel.Guests, b.channel.GuestError = test.responders, []string{notifytest.Oncall}, test.unread
		b.mustSend(2, b.press(notifytest.Oncall, test.action))
		if acts := b.acts(); len(acts) != 1 || acts[0].Answer.Reason != test.want || (b.incident().Mute != nil) != (test.want == incident.AnswerMuted) {
			t.Errorf("%s: audited %+v, want %s", name, acts, test.want)
		}
	}
}

// TestAGuestDoesNothing: no button at all is for people of another company.
func TestAGuestDoesNothing(t *testing.T) {
	for _, action := range []report.Action{report.Acknowledge, report.TakeOver, report.MuteFor, report.Unmute, report.CheckAgain, report.ApprovePlan, report.RefusePlan} {
		b := offering(t)
		b.mustSend(2, b.press(notifytest.Oncall, report.MuteFor))
		before := b.bus.Kinds()
		p := b.press(notifytest.Oncall, action)
		p.Home = "T0OTHER001"
		b.mustSend(3, p)
		inc, acts := b.incident(), b.acts()
		if len(acts) != 2 || acts[1].Answer.Reason != incident.OtherWorkspace || inc.Ack != nil || inc.Mute == nil || inc.Offers[0].State != incident.Offered || b.bus.Kinds() != before {
			t.Errorf("%s: audited %+v, incident %+v %+v %s", action, acts, inc.Ack, inc.Mute, inc.Offers[0].State)
		}
		if last := b.channel.Answers[len(b.channel.Answers)-1]; !strings.Contains(last, "Slack workspace") {
			t.Errorf("%s: told %q", action, last)
		}
	}
}

// TestTakingOver: who has it is asked nothing, and reads it in the thread.
func TestTakingOver(t *testing.T) {
	b := offering(t)
	b.mustSend(2, b.press(notifytest.Oncall, report.Acknowledge))
	for _, step := range []struct {
		minute int
		user   string
		action report.Action
		want   incident.AnswerReason
		has    string
	}{
		{3, notifytest.Dana, report.Acknowledge, incident.AlreadyTaken, notifytest.Oncall},
		{4, notifytest.Oncall, report.TakeOver, incident.AlreadyYours, notifytest.Oncall},
		{5, notifytest.Dana, report.TakeOver, incident.AnswerTakenOver, notifytest.Dana},
		{6, notifytest.Oncall, report.TakeOver, incident.AnswerTakenOver, notifytest.Oncall},
	} {
		b.mustSend(step.minute, b.press(step.user, step.action))
		acts := b.acts()
		if a := acts[len(acts)-1]; a.Answer.Reason != step.want || b.incident().Ack.By.ID != step.has {
			t.Errorf("minute %d: %s, it is %s's; want %s, %s's", step.minute, a.Answer.Reason, b.incident().Ack.By.ID, step.want, step.has)
		}
	}
	if from := b.incident().Ack.From; from == nil || from.ID != notifytest.Dana {
		t.Errorf("taken over from %v", from)
	}
	if notes := strings.Join(b.channel.Notes(), " "); !strings.HasSuffix(notes, "taken-over taken-over-2") {
		t.Errorf("the thread has %q", notes)
	}
}
