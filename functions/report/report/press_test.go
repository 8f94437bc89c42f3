package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/store"
)

func theKey() report.Key {
	return report.Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: notifytest.RouteTable}
}

func thePlan() remedy.Plan {
	return remedy.Plan{
		Format: remedy.Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "111122223333", Region: "us-west-2", Cluster: "eks-workshop",
		Check: "route/no-egress", Resource: notifytest.RouteTable, Route: &addnatroute.Plan{VPC: "vpc-0a", Table: notifytest.RouteTable, Destination: "0.0.0.0/0", NAT: "nat-0aa4"},
	}
}

// send gives the function messages of any kind at a minute, in one batch.
func (b *bench) send(minute int, messages ...any) ([]string, error) {
	b.Helper()
	b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	var bodies []string
	for _, m := range messages {
		body, err := json.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		if p, ok := m.(report.Press); ok {
			b.passOn(p)
		}
		bodies = append(bodies, string(body))
	}
	return b.deliverBodies(bodies...)
}

// passOn does what slack-actions does before it sends a press. A second time it
// does nothing: the queue delivers twice what was passed on once.
func (b *bench) passOn(p report.Press) {
	b.Helper()
	m, err := report.EncodePress(p)
	if err != nil {
		b.Fatal(err)
	}
	first, err := b.store.ClaimPress(b.Context(), p.ID, "slack-actions")
	if err == nil && first {
		err = b.store.PassPress(b.Context(), p.ID, "slack-actions", m.Digest())
	}
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) mustSend(minute int, messages ...any) {
	b.Helper()
	if failed, err := b.send(minute, messages...); err != nil || len(failed) > 0 {
		b.Errorf("minute %d: failed %q, %v", minute, failed, err)
	}
}

func (b *bench) press(user string, action report.Action) report.Press {
	b.sent++
	p := report.Press{
		Format: report.PressFormat, Kind: report.PressKind, ID: fmt.Sprint("press-", b.sent), At: b.now, Key: theKey(), Number: 1,
		Action: action, User: report.User{ID: user}, Home: notifytest.Home, Channel: "C0123456789", TS: b.channel.Messages[0].Ts,
	}
	switch action {
	case report.ApprovePlan, report.RefusePlan:
		p.Plan = thePlan().Hash()
	case report.MuteFor:
		p.For = time.Hour
	}
	return p
}

func proposal(at time.Time) report.Proposal {
	p := thePlan()
	return report.Proposal{Format: report.ProposalFormat, Kind: report.ProposalKind, ID: "proposal", At: at, Cluster: "eks-workshop", Key: theKey(), Remedy: p.Remedy, Policy: optin.Approve, Plan: p, Hash: p.Hash(), Lasts: time.Hour}
}

// offering is a bench with the route incident, and a plan for it.
func offering(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.approvers = []string{notifytest.Dana, "S0ONCALL01"}
	b.channel.Members = map[string][]string{"S0ONCALL01": {notifytest.Oncall}}
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	b.mustSend(1, proposal(notifytest.Start.Add(time.Minute)))
	b.now = notifytest.Start.Add(2 * time.Minute)
	return b
}

func (b *bench) acts() []incident.ActRecord {
	b.Helper()
	list, err := b.store.Acts(b.Context(), "eks-workshop", time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	return list
}

func TestApprovalByMembersOnly(t *testing.T) {
	for name, test := range map[string]struct {
		user   string
		change func(*bench)
		want   incident.AnswerReason
	}{
		"a member of the group":       {notifytest.Oncall, nil, incident.AnswerApproved},
		"a user who is named":         {notifytest.Dana, nil, incident.AnswerApproved},
		"a stranger":                  {"U0STRANGER", nil, incident.NotAllowed},
		"who left the group":          {notifytest.Oncall, func(b *bench) { b.channel.Members = nil }, incident.NotAllowed},
		"nobody is set":               {notifytest.Dana, func(b *bench) { b.approvers = nil }, incident.NobodyAllowed},
		"nobody at all pressed":       {"", nil, incident.Incomplete},
		"the group cannot be read":    {notifytest.Oncall, func(b *bench) { b.channel.Fail = noScope }, incident.GroupNotRead},
		"named, the group unreadable": {notifytest.Dana, func(b *bench) { b.channel.Fail = noScope }, incident.AnswerApproved},
		"a guest with a member's id":  {notifytest.Oncall, nil, incident.OtherWorkspace},
		"a guest with a named id":     {notifytest.Dana, nil, incident.OtherWorkspace},
		"a group's id is no user":     {"S0ONCALL01", func(b *bench) { b.approvers = []string{"S0ONCALL02"} }, incident.NotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			b := offering(t)
			if test.change != nil {
				test.change(b)
			}
			p := b.press(test.user, report.ApprovePlan)
			if strings.HasPrefix(name, "a guest") {
				p.Home = "T0OTHER001"
			}
			b.mustSend(2, p)
			approved := test.want == incident.AnswerApproved
			if acts := b.acts(); len(acts) != 1 || acts[0].Answer.Reason != test.want || acts[0].User.ID != test.user || (acts[0].Home != notifytest.Home) != strings.HasPrefix(name, "a guest") {
				t.Errorf("audited is %+v, want %q", acts, test.want)
			}
			if got := strings.Contains(b.bus.Kinds(), "Approved"); got != approved {
				t.Errorf("the bus was told %q", b.bus.Kinds())
			}
			if n := len(b.channel.Answers); n != 1 && test.user != "" {
				t.Errorf("answers are %q", b.channel.Answers)
			}
			if inc := b.incident(); len(inc.Acts) != 0 || (inc.Offers[0].State == incident.Approved) != approved {
				t.Errorf("the offer is %q, the outbox %+v", inc.Offers[0].State, inc.Acts)
			}
		})
	}
}

// noScope refuses to list the members of a user group.
func noScope(call string) (error, bool) {
	if !strings.HasPrefix(call, "members") {
		return nil, false
	}
	return &slackapi.Error{Kind: slackapi.Auth, Method: "usergroups.users.list", Code: "missing_scope", Scope: "usergroups:read"}, false
}

func TestAPressCountsOnce(t *testing.T) {
	b := offering(t)
	p := b.press(notifytest.Oncall, report.ApprovePlan)
	b.mustSend(2, p, p)
	b.mustSend(3, p)
	second := b.press(notifytest.Dana, report.ApprovePlan)
	b.mustSend(4, second)
	if got := strings.Count(b.bus.Kinds(), "Approved"); got != 1 {
		t.Errorf("the bus was told %q", b.bus.Kinds())
	}
	acts := b.acts()
	if len(acts) != 2 || acts[1].Answer.Reason != incident.AlreadyDecided || acts[1].Answer.By.ID != notifytest.Oncall {
		t.Errorf("audited are %+v", acts)
	}
	if len(b.channel.Answers) != 2 || !strings.Contains(b.channel.Answers[1], notifytest.Oncall+" approved this plan") {
		t.Errorf("answers are %q", b.channel.Answers)
	}
	if order := strings.Join(b.channel.Calls[len(b.channel.Calls)-1:], " "); order != "ephemeral "+notifytest.Dana {
		t.Errorf("the last call is %q", order)
	}
}

// The message comes first, then the thread, then the answer.
func TestOrderOfAnApproval(t *testing.T) {
	b := offering(t)
	b.channel.Calls = nil
	b.mustSend(2, b.press(notifytest.Oncall, report.ApprovePlan))
	calls := slices.DeleteFunc(b.channel.Calls, func(c string) bool { return c == "update" })
	if got := strings.Join(calls, ", "); got != "members S0ONCALL01, reply approved, ephemeral "+notifytest.Oncall {
		t.Errorf("calls are %q", got)
	}
}

func TestUnknownIncidents(t *testing.T) {
	b := offering(t)
	gone := b.press(notifytest.Oncall, report.ApprovePlan)
	gone.Key.Resource = "rtb-0gone"
	b.mustSend(2, gone)
	b.mustSend(3, gone)
	nowhere := b.press(notifytest.Oncall, report.Acknowledge)
	nowhere.Key.Cluster = "deleted"
	b.mustSend(4, nowhere)
	if got := b.channel.Answers; len(got) != 2 || !strings.Contains(got[0], "no record of this incident") {
		t.Errorf("answers are %q", got)
	}
	if acts := b.acts(); len(acts) != 1 || acts[0].Answer.Reason != incident.IncidentNotFound || acts[0].Key != gone.Key {
		t.Errorf("audited are %+v", acts)
	}
	other := proposal(b.now)
	other.Key.Resource = "rtb-0gone"
	b.mustSend(5, other)
	if b.counts["StrayMessages"] != 1 {
		t.Errorf("counted %v", b.counts)
	}
}

// Slack being down loses no press's effect, and the answer comes when it is
// back, unless nobody waits for it any more.
func TestSlackDownDuringAPress(t *testing.T) {
	for minute, answers := range map[int]int{10: 1, 40: 0} {
		b := offering(t)
		p := b.press(notifytest.Dana, report.ApprovePlan)
		b.channel.Fail = notifytest.Down
		b.mustSend(2, p)
		if !strings.Contains(b.bus.Kinds(), "Approved") || len(b.acts()) != 1 || b.incident().Offers[0].State != incident.Approved {
			t.Errorf("the bus was told %q, audited %d", b.bus.Kinds(), len(b.acts()))
		}
		b.channel.Fail = nil
		b.must(minute, notifytest.Sweep())
		b.must(minute+5, notifytest.Sweep())
		if len(b.channel.Answers) != answers || len(b.incident().Acts) != 0 || !slices.Contains(b.channel.Notes(), "approved") {
			t.Errorf("minute %d: answers %q, thread %q", minute, b.channel.Answers, b.channel.Notes())
		}
	}
}

// An approval is told only with its audit record.
func TestNoAuditNoApproval(t *testing.T) {
	b := offering(t)
	b.Acts = unwritable{}
	p := b.press(notifytest.Dana, report.ApprovePlan)
	if failed, err := b.send(2, p); err != nil || len(failed) != 1 {
		t.Errorf("failed %q, %v; want the message to go back", failed, err)
	}
	if strings.Contains(b.bus.Kinds(), "Approved") || len(b.channel.Answers) > 0 {
		t.Errorf("the bus was told %q, answers %q", b.bus.Kinds(), b.channel.Answers)
	}
	b.Acts = b.store
	b.mustSend(3, p)
	if strings.Count(b.bus.Kinds(), "Approved") != 1 || len(b.acts()) != 1 || len(b.channel.Answers) != 1 {
		t.Errorf("later: the bus was told %q, audited %d, answers %q", b.bus.Kinds(), len(b.acts()), b.channel.Answers)
	}
}

type unwritable struct{}

func (unwritable) RecordAct(context.Context, incident.ActRecord) (bool, error) {
	return false, errors.New("the table is away")
}

func (unwritable) ActRecorded(context.Context, report.Press) (bool, error) { return false, nil }

// Who writes in between is not written over: the press is decided on anew.
func TestPressAndAnotherWriter(t *testing.T) {
	b := offering(t)
	second := b.press(notifytest.Dana, report.RefusePlan)
	race := &pressedFirst{Store: b.store, before: func() {
		inc := b.incident()
		d, _ := response.Act(inc, b.press(notifytest.Oncall, report.ApprovePlan), response.Who{May: response.MayYes}, b.now)
		if _, err := b.store.SaveIncident(t.Context(), d.Incident); err != nil {
			t.Error(err)
		}
	}}
	b.Incidents = race
	b.mustSend(2, second)
	inc := b.incident()
	if o := inc.Offers[0]; o.State != incident.Approved || o.By.ID != notifytest.Oncall {
		t.Errorf("the offer is %q by %v", o.State, o.By)
	}
	for _, a := range b.acts() {
		if a.ID == second.ID && (a.Answer.Reason != incident.AlreadyDecided || a.Answer.By.ID != notifytest.Oncall) {
			t.Errorf("audited is %+v", a)
		}
	}
}

// pressedFirst lets somebody else write before the first save.
type pressedFirst struct {
	*store.Store
	before func()
}

func (r *pressedFirst) SaveIncident(ctx context.Context, inc incident.Incident) (incident.Incident, error) {
	if before := r.before; before != nil {
		r.before = nil
		before()
	}
	return r.Store.SaveIncident(ctx, inc)
}
