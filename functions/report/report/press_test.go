package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/config"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/incident/response"
	"rollcall/shared/lambda"
	"rollcall/shared/notify"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/tools/testfile"
)

func theKey() report.Key {
	return report.Key{Cluster: "eks-workshop", Check: "route/no-egress", Resource: notifytest.RouteTable}
}

func thePlan() remedy.Plan {
	return remedy.Plan{
		Format: remedy.Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "111122223333", Region: "us-west-2", Cluster: "eks-workshop",
		Check: "route/no-egress", Resource: notifytest.RouteTable, Route: &remedy.AddNATRoute{VPC: "vpc-0a", Table: notifytest.RouteTable, Destination: "0.0.0.0/0", NAT: "nat-0aa4"},
	}
}

// send gives the function messages of any kind at a minute, in one batch.
func (b *bench) send(minute int, messages ...any) ([]string, error) {
	b.Helper()
	b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	var bodies []string
	for _, m := range messages {
		body := testfile.JSON(b.T, m)
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
		Head: report.Head{Format: report.IncidentFormat, Kind: report.PressKind, ID: fmt.Sprint("press-", b.sent), At: b.now, Key: theKey()}, Number: 1,
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
	return report.Proposal{Head: report.Head{Format: report.IncidentFormat, Kind: report.ProposalKind, ID: "proposal", At: at, Cluster: "eks-workshop", Key: theKey()}, Remedy: p.Remedy, Policy: optin.Approve, Plan: p, Hash: p.Hash(), Lasts: time.Hour}
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
	if got := b.channel.Answers; len(got) != 2 || !strings.Contains(got[0], "no longer has a record of this incident") {
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
// back, unless it is too late.
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

// An approval is sent only with its audit record.
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

// pressedFirst lets another writer write before the first save.
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

// A message that cannot be read holds up nothing of its cluster: neither what is
// in its batch, nor what comes while it would be tried again.
func TestUnreadableHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &notifytest.Table{Items: map[report.Key]notifytest.Record{}}
		set := &asides{}
		h := handler{aside: set, people: &notifytest.Slack{}, naming: &naming{}, Notifier: notify.Notifier{
			Incidents: table, Postings: table, Slack: &notifytest.Slack{}, Files: &notifytest.Slack{}, Answers: &notifytest.Slack{}, Bus: notifytest.RefusingBus{}, Clusters: table, Silences: table,
			Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, Channel: "C0123456789"}, Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {},
		}}
		queue := []queued{{id: "bad", group: "eks-workshop", body: `{"format":99}`}}
		begin := time.Now()
		for minute := range 10 {
			obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
			obs.ID, obs.At = fmt.Sprint("minute ", minute), time.Now()
			queue = append(queue, queued{id: obs.ID, group: obs.Cluster, body: must(marshal(obs))})
			for batch := take(&queue, map[string]bool{}); len(batch) > 0; batch = take(&queue, map[string]bool{}) {
				back, err := invoke(t, h, batch)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range back {
					m.from = time.Now().Add(invisible)
					queue = append([]queued{m}, queue...)
				}
			}
			if age := table.Stalest([]string{"eks-workshop"}); age > 5*time.Second {
				t.Errorf("minute %d: the newest observation is %s old", minute, age)
			}
			time.Sleep(time.Until(begin.Add(time.Duration(minute+1) * time.Minute)))
		}
		if len(set.messages) != 1 || set.messages[0].Body != `{"format":99}` {
			t.Errorf("set aside: %+v", set.messages)
		}
	})
}

// DynamoDB is away for an hour: what was observed meanwhile goes back to the queue,
// some of it to the dead-letter queue, and after make redrive all of it is known:
// no incident is lost, none is said twice, and none as what it no longer is.
func TestTableAwayForAnHour(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays hours of many incidents")
	}
	script := newScript(3, 24)
	as := onSlack(t, script, well)
	want, _, _ := as.read()
	o := onSlack(t, script, noTable)
	got, _, twice := o.read()
	if o.redriven == 0 {
		t.Error("nothing became a dead letter: the test shows nothing")
	}
	if twice > 0 || o.lost > 0 {
		t.Errorf("%d said twice, %d lost", twice, o.lost)
	}
	for key, story := range want {
		// Open or over, as the colour at the beginning tells. An end and a return that
		// were heard of together are one opening, with the instances of both.
		colour, _, _ := strings.Cut(story.text, " ")
		if is, _, _ := strings.Cut(got[key].text, " "); is != colour || len(got[key].notes) == 0 {
			t.Errorf("%s is %q with %d replies, want %q", key, is, len(got[key].notes), colour)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d messages, want %d", len(got), len(want))
	}
	if o.counts["RecordFailures"] == 0 || o.failed > 0 {
		t.Errorf("%d failures to record, %d invocations failed", o.counts["RecordFailures"], o.failed)
	}
	t.Logf("%d messages came back", o.redriven)
}

// A revoked token, a bot that was removed, an archived channel, a bus that refuses:
// for four hours what is observed is taken in as fast as ever, nothing is said
// twice or lost, one alarm rings and stays until it is mended, and then the channel
// is what it would have been.
func TestRefusedForFourHours(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays hours of many incidents")
	}
	script := newScript(3, 12)
	// The causes that a cluster is known by stay for all of the time.
	for i := range script.faults {
		if i < 3 {
			script.faults[i].gone, script.faults[i].back = 1000*time.Hour, 0
		}
	}
	as := onSlack(t, script, well)
	want, _, _ := as.read()
	for _, how := range []away{revoked, outside, archives, busDeaf} {
		t.Run(string(how), func(t *testing.T) {
			o := onSlack(t, script, how)
			if o.failed > 0 {
				t.Errorf("%d invocations failed, and brought their batches back", o.failed)
			}
			// Sweeps come every five minutes and are taken in within seconds.
			if o.stale > outageSweep+time.Minute {
				t.Errorf("the newest observation of a cluster became %s old", o.stale)
			}
			got, _, twice := o.read()
			if twice > 0 || o.lost > 0 {
				t.Errorf("%d said twice, %d lost", twice, o.lost)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(story{})); diff != "" {
				t.Errorf("the channel is not what it would have been (-want +got):\n%s", clip(diff))
			}
			// Whoever mended it is heard of within the longest wait, a sweep and the
			// time that Slack's limit takes.
			backlog := time.Duration(o.counts["SlackPosts"]+o.counts["SlackNotes"]) * time.Second
			if most := 15*time.Minute + outageSweep + 2*backlog; o.drained > most {
				t.Errorf("it took %s until all was said, want %s at most", o.drained, most)
			}
			if n := bytes.Count(o.errors.Bytes(), []byte("\n")); n == 0 || n > len(script.clusters) {
				t.Errorf("%d errors in the log, want one for each of %d clusters at most:\n%s", n, len(script.clusters), o.errors.Bytes())
			}
			first, last := -1, -1
			for i := range int(o.how.lasts() / outageTick) {
				if o.alarmed[i] {
					if last >= 0 && last != i-1 {
						t.Errorf("the alarm was over in period %d, and nothing was mended", last+1)
					}
					if last = i; first < 0 {
						first = i
					}
				}
			}
			if first < 0 || time.Duration(last+1)*outageTick < how.lasts() {
				t.Errorf("the alarm rang from period %d to %d, want until it is mended", first, last)
			}
			if end := int((how.lasts() + o.drained) / outageTick); o.alarmed[end+2] {
				t.Error("the alarm still rings")
			}
			t.Logf("observations at most %s old, all said %s after it was mended, %d invocations", o.stale, o.drained, o.invoked)
		})
	}
}

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

// The hub's own, another account's in the same region, and that account's in another one.
var (
	hub      = spoke.ID{Account: "111122223333", Region: "us-west-2"}
	payments = spoke.ID{Account: "222233334444", Region: "us-west-2"}
	europe   = spoke.ID{Account: "222233334444", Region: "eu-west-1"}
)

// framed is the function of a bench in its frame, which sorts messages by whose they are.
func framed(b *bench) func(bodies ...string) []string {
	return framedFor(b, payments.String()+"=payments,"+europe.String()+"=payments")
}

// framedFor is the same with other spokes.
func framedFor(b *bench, spokes string) func(bodies ...string) []string {
	env := map[string]string{
		"AWS_REGION": hub.Region, "ROLLCALL_ACCOUNT": hub.Account, "ROLLCALL_EXTERNAL_ID": "rollcall-1",
		"ROLLCALL_SPOKES": spokes,
	}
	f := lambda.New("report", config.SpokeVariables(), func(_ context.Context, e lambda.Env) (lambda.Handler, error) {
		h := b.handler
		table := b.store.ForSpoke(e.Config.Spoke)
		h.Incidents, h.Postings, h.Clusters, h.Acts, h.audit = table, table, table, table, table
		h.spoke, h.naming = e.Config.Spoke, newNaming(e.Config, table)
		return h.handle, nil
	}, func(name string) string { return env[name] }, &bytes.Buffer{}).By(lambda.Way{})
	return func(bodies ...string) []string {
		b.Helper()
		var batch events.SQSEvent
		for i, body := range bodies {
			batch.Records = append(batch.Records, events.SQSMessage{MessageId: fmt.Sprint("m", i), Body: body, EventSource: "aws:sqs"})
		}
		answer, err := f.Invoke(b.Context(), testfile.JSON(b.T, batch))
		if err != nil {
			b.Fatal(err)
		}
		var failed []string
		for _, x := range answer.(inbox.Answer).Failures {
			failed = append(failed, x.ID)
		}
		return failed
	}
}

func (b *bench) body(v any) string {
	b.Helper()
	return string(testfile.JSON(b.T, v))
}

func (b *bench) incidentOf(id spoke.ID) incident.Incident {
	b.Helper()
	list, err := b.store.ForSpoke(id).Incidents(b.Context(), "eks-workshop")
	if err != nil || len(list) != 1 {
		b.Fatalf("%q has the incidents %+v, %v; want one", id, list, err)
	}
	return list[0]
}

func (b *bench) message(ts string) string {
	for _, m := range b.channel.Messages {
		if m.Ts == ts {
			return m.Text
		}
	}
	return ""
}

// TestNamesakesHaveTheirOwnIncidents: the same cause in clusters of the same name, in two
// accounts and two regions, is three incidents with a message each, which cannot be taken
// for one another; and an approval of one approves nothing of another.
func TestNamesakesHaveTheirOwnIncidents(t *testing.T) {
	b := newBench(t)
	b.approvers = []string{notifytest.Dana}
	invoke := framed(b)
	own := []spoke.ID{{}, payments, europe}
	var seen []string
	for _, id := range own {
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)).For(id)
		obs.ID, obs.At = "observation", b.now // the same for all three
		seen = append(seen, b.body(obs))
	}
	if failed := invoke(seen...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	if len(b.channel.Posts()) != 3 {
		t.Fatalf("%d messages, want one each", len(b.channel.Posts()))
	}
	whose := map[spoke.ID]string{{}: "eks-workshop (111122223333, us-west-2)", payments: "eks-workshop (payments, us-west-2)", europe: "eks-workshop (payments, eu-west-1)"}
	for _, id := range own {
		inc := b.incidentOf(id)
		if inc.Key.Spoke != id || inc.Account != (map[bool]string{true: hub.Account, false: id.Account})[id.Hub()] {
			t.Errorf("the incident of %q is %s of %s", id, inc.Key.Name(), inc.Account)
		}
		if says := b.message(inc.Delivery.TS); !strings.Contains(says, whose[id]) {
			t.Errorf("the message of %q is %q, want %q in it", id, says, whose[id])
		}
	}

	b.now = notifytest.Start.Add(time.Minute)
	var offered []string
	for _, id := range own {
		p := proposal(b.now)
		p.Key.Spoke = id
		if !id.Hub() {
			p.Format++
			p.Plan.Account, p.Plan.Region = id.Account, id.Region
		}
		p.Hash = p.Plan.Hash()
		offered = append(offered, b.body(p))
	}
	if failed := invoke(offered...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	approve := func(key spoke.ID, plan string) {
		t.Helper()
		b.now = b.now.Add(time.Minute)
		p := b.press(notifytest.Dana, report.ApprovePlan)
		p.At, p.Key.Spoke, p.Plan, p.TS = b.now, key, plan, b.incidentOf(key).Delivery.TS
		m, err := report.EncodePress(p)
		if err != nil {
			t.Fatal(err)
		}
		b.passOn(p)
		if failed := invoke(string(m.Body)); len(failed) > 0 {
			t.Fatalf("given back: %q", failed)
		}
	}
	states := func() string {
		var list []string
		for _, id := range own {
			list = append(list, string(b.incidentOf(id).Offers[0].State))
		}
		return strings.Join(list, " ")
	}
	// A button of one with the plan of another is refused.
	approve(payments, b.incidentOf(spoke.ID{}).Offers[0].Hash)
	approve(spoke.ID{}, b.incidentOf(europe).Offers[0].Hash)
	if got := states(); got != "offered offered offered" {
		t.Errorf("after the approval of a plan by another's button: %s", got)
	}
	approve(payments, b.incidentOf(payments).Offers[0].Hash)
	if got := states(); got != "offered approved offered" {
		t.Errorf("after the approval of payments: %s", got)
	}
	for _, e := range b.bus.Told {
		if e.Kind == incident.EventApproved && (e.Account != payments.Account || e.Region != payments.Region) {
			t.Errorf("the bus is told of an approval in %s %s", e.Account, e.Region)
		}
	}
	answers := map[string][]incident.AnswerReason{}
	for _, id := range own {
		acts, err := b.store.ForSpoke(id).Acts(b.Context(), "eks-workshop", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range acts {
			answers[id.String()] = append(answers[id.String()], a.Answer.Reason)
		}
	}
	if diff := cmp.Diff(map[string][]incident.AnswerReason{"": {incident.NoSuchPlan}, payments.String(): {incident.NoSuchPlan, incident.AnswerApproved}}, answers); diff != "" {
		t.Errorf("presses and their answers (-want +got):\n%s", diff)
	}
}

// TestAPressOfEarlierReleases: a button of a message from before there were spokes is the
// hub's own, whatever else is watched now.
func TestAPressOfEarlierReleases(t *testing.T) {
	b := offering(t)
	invoke := framed(b)
	p := b.press(notifytest.Dana, report.ApprovePlan)
	b.passOn(p)
	m, err := report.EncodePress(p)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(m.Body), "spoke") {
		t.Fatalf("the press %s is not as earlier releases wrote it", m.Body)
	}
	if failed := invoke(string(m.Body)); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	if inc := b.incident(); inc.Offers[0].State != incident.Approved {
		t.Errorf("the offer is %s", inc.Offers[0].State)
	}
}

// TestSummariesOfNamesakes: the daily report of each is said once, with its owner.
func TestSummariesOfNamesakes(t *testing.T) {
	b := newBench(t)
	invoke := framed(b)
	var bodies []string
	for range 2 { // delivered twice, each is said once
		for _, id := range []spoke.ID{{}, payments, europe} {
			bodies = append(bodies, b.body(notifytest.Daily(3).For(id)))
		}
	}
	if failed := invoke(bodies...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	var got []string
	for _, m := range b.channel.Posts() {
		where, _, _ := strings.Cut(m.Text, " · ")
		got = append(got, where)
	}
	want := []string{"🟠 eks-workshop (111122223333, us-west-2)", "🟠 eks-workshop (payments, eu-west-1)", "🟠 eks-workshop (payments, us-west-2)"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDue: what is missing in the settings is closed after a quarter of an hour, and nothing
// else ever is.
func TestDue(t *testing.T) {
	now := notifytest.Start
	left := func(ago time.Duration) store.WatchedSpoke {
		return store.WatchedSpoke{Spoke: payments, Left: now.Add(-ago)}
	}
	watchedOne := store.WatchedSpoke{Spoke: payments}
	for name, test := range map[string]struct {
		records []store.WatchedSpoke
		watched []spoke.ID
		save    []store.WatchedSpoke
		left    []spoke.ID
	}{
		"a hub alone":                        {},
		"watched for the first time":         {watched: []spoke.ID{payments}, save: []store.WatchedSpoke{watchedOne}},
		"watched":                            {records: []store.WatchedSpoke{watchedOne}, watched: []spoke.ID{payments}},
		"missing":                            {records: []store.WatchedSpoke{watchedOne}, save: []store.WatchedSpoke{left(0)}},
		"missing, another region is there":   {records: []store.WatchedSpoke{watchedOne}, watched: []spoke.ID{europe}, save: []store.WatchedSpoke{left(0), {Spoke: europe}}},
		"missing, not long":                  {records: []store.WatchedSpoke{left(leaveAfter - time.Second)}},
		"missing long enough":                {records: []store.WatchedSpoke{left(leaveAfter)}, left: []spoke.ID{payments}},
		"there again before it was too late": {records: []store.WatchedSpoke{left(leaveAfter - time.Second)}, watched: []spoke.ID{payments}, save: []store.WatchedSpoke{watchedOne}},
		"there again, late":                  {records: []store.WatchedSpoke{left(time.Hour)}, watched: []spoke.ID{payments}, save: []store.WatchedSpoke{watchedOne}},
	} {
		save, gone := due(test.records, test.watched, now)
		if diff := cmp.Diff([]any{test.save, test.left}, []any{save, gone}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// leaving is the hub's handler of a bench, by what the settings watch beside the hub.
func (b *bench) leaving(watched ...spoke.ID) handler {
	h := b.handler
	h.unwatched = unwatched{spokes: b.store, watched: watched, of: func(id spoke.ID) handler {
		f := b.handler
		table := b.store.ForSpoke(id)
		f.Incidents, f.Postings, f.Clusters, f.Acts, f.audit, f.Silences = table, table, table, table, table, table
		f.spoke, f.Unwatched = id, func(string) bool { return true }
		return f
	}}
	return h
}

// TestASpokeThatIsNotWatchedAnyMore: what is open of it is closed, once, in its own message,
// with its offers; the namesakes of the hub and of the other region stay as they are, and so
// do those of a spoke that was only missing for a while.
func TestASpokeThatIsNotWatchedAnyMore(t *testing.T) {
	b := newBench(t)
	invoke := framed(b)
	own := []spoke.ID{{}, payments, europe}
	var seen []string
	for _, id := range own {
		obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)).For(id)
		obs.ID, obs.At = "observation", b.now
		p := proposal(b.now)
		if p.Key.Spoke = id; !id.Hub() {
			p.Format++
			p.Plan.Account, p.Plan.Region = id.Account, id.Region
		}
		p.Hash = p.Plan.Hash()
		seen = append(seen, b.body(obs), b.body(p))
	}
	if failed := invoke(seen...); len(failed) > 0 {
		t.Fatalf("given back: %q", failed)
	}
	leave := func(minute int, watched ...spoke.ID) {
		t.Helper()
		b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
		if err := b.leaving(watched...).leave(t.Context(), json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	stands := func(want string) {
		t.Helper()
		var list []string
		for _, id := range own {
			inc := b.incidentOf(id)
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", inc.State, inc.Resolution, inc.Offers[0].State)))
		}
		if got := strings.Join(list, ", "); got != want {
			t.Errorf("minute %v: %s, want %s", b.now.Sub(notifytest.Start), got, want)
		}
	}
	leave(0, payments, europe)
	leave(5, europe) // payments is taken out
	stands("open  offered, open  offered, open  offered")
	leave(10, payments, europe) // and back
	leave(15, europe)
	leave(25, europe)
	stands("open  offered, open  offered, open  offered")
	edits := len(b.channel.Posts())
	leave(30, europe)
	stands("open  offered, closed unwatched outdated, open  offered")
	inc := b.incidentOf(payments)
	if says := b.message(inc.Delivery.TS); !strings.Contains(says, "eks-workshop (payments, us-west-2)") || !strings.Contains(says, "closed, no longer watched, may still fail") {
		t.Errorf("its message is %q", says)
	}
	if n := inc.Delivery.Notes; n[len(n)-1].Reason != incident.IsWithdrawn {
		t.Errorf("notes %+v", n)
	}
	last := b.bus.Told[len(b.bus.Told)-1]
	if last.Kind != incident.EventResolved || last.Resolution != incident.Unwatched || last.Account != payments.Account || last.Region != payments.Region {
		t.Errorf("the bus is told %+v", last)
	}
	told, posts := len(b.bus.Told), len(b.channel.Posts())
	leave(35, europe)
	leave(40, europe)
	if len(b.bus.Told) != told || len(b.channel.Posts()) != posts || posts != edits {
		t.Errorf("said again, or in a message of its own: %d events, %d messages; before %d, %d, %d", len(b.bus.Told), len(b.channel.Posts()), told, posts, edits)
	}
	records, err := b.store.WatchedSpokes(t.Context())
	if diff := cmp.Diff([]store.WatchedSpoke{{Spoke: europe, Format: store.SpokeFormat}}, records); err != nil || diff != "" {
		t.Errorf("remembered, %v (-want +got):\n%s", err, diff)
	}
	if known, err := b.store.ForSpoke(payments).Clusters(t.Context()); err != nil || !slices.Equal(known, []string{"eks-workshop"}) {
		t.Errorf("its closed incident is found in no cluster: %q, %v", known, err)
	}
	// What a spoke that is watched again finds opens it again.
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 50, report.Waiting)).For(payments)
	obs.ID, obs.At = "again", notifytest.Start.Add(50*time.Minute)
	b.now = obs.At
	if failed := invoke(b.body(obs)); len(failed) > 0 || b.incidentOf(payments).State != incident.Open {
		t.Errorf("watched again: %s, given back %q", b.incidentOf(payments).State, failed)
	}
}

// TestAClusterThatIsNotWatchedAnyMore: one that the setting clusters does not name any more is
// looked after with the next tick, and closed; what a function of before still sends of it
// opens nothing.
func TestAClusterThatIsNotWatchedAnyMore(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	var woken []string
	b.Again = notifytest.AgainFunc(func(o report.Observation) error { woken = append(woken, o.Cluster); return nil })
	tick := func() {
		t.Helper()
		if err := b.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tick()
	b.Unwatched = notAmong(nil)
	tick()
	b.Unwatched = notAmong([]string{"eks-workshop", "dev"})
	tick()
	if len(woken) > 0 {
		t.Fatalf("what is watched is woken: %q", woken)
	}
	b.Unwatched = notAmong([]string{"dev"})
	if tick(); cmp.Diff([]string{"eks-workshop"}, woken) != "" {
		t.Fatalf("woken: %q", woken)
	}
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting), notifytest.Launch(notifytest.Instance2, 4, report.Waiting)))
	inc := b.incident()
	if inc.State != incident.Closed || inc.Resolution != incident.Unwatched || inc.Affected != 1 {
		t.Errorf("%s, %s, %d affected", inc.State, inc.Resolution, inc.Affected)
	}
	posts := len(b.channel.Posts())
	b.must(10, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if tick(); b.incident().State != incident.Closed || len(b.channel.Posts()) != posts || len(woken) != 1 {
		t.Errorf("again: %s, %d messages, woken %q", b.incident().State, len(b.channel.Posts()), woken)
	}
	if left := notAmong([]string{"dev"}); left(report.AllClusters) || !left("eks-workshop") || left("dev") {
		t.Error("what is about no cluster in particular is closed with one")
	}
}

// queued is a press as it lies in the results queue.
func (b *bench) queued(p report.Press) string {
	b.Helper()
	return string(testfile.JSON(b.T, p))
}

// deliverNow hands messages over that were not passed on.
func (b *bench) deliverNow(bodies ...string) {
	b.Helper()
	if failed, err := b.deliverBodies(bodies...); err != nil || len(failed) > 0 {
		b.Errorf("failed %q, %v", failed, err)
	}
}

// TestOnlyWhatSlackActionsPassedOnIsBelieved: every function may send to the
// results queue, so whoever has the role of one can put anything there.
func TestOnlyWhatSlackActionsPassedOnIsBelieved(t *testing.T) {
	for name, test := range map[string]struct {
		put  func(*bench, report.Press) string
		want incident.AnswerReason
		// told reports whether the person gets a reply, and that there is an audit record.
		told bool
	}{
		"made up": {func(b *bench, p report.Press) string { return b.queued(p) }, incident.NotPassedOn, false},
		"in another's name": {func(b *bench, p report.Press) string {
			b.passOn(p)
			p.User.ID = notifytest.Oncall
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"of another plan": {func(b *bench, p report.Press) string {
			b.passOn(p)
			p.Plan = strings.Repeat("0", 32)
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"an approval of what was an acknowledgement": {func(b *bench, p report.Press) string {
			ack := p
			ack.Action, ack.Plan = report.Acknowledge, ""
			b.passOn(ack)
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"under the id of a request that was refused": {func(b *bench, p report.Press) string {
			if _, err := b.store.ClaimPress(b.Context(), p.ID, "slack-actions"); err != nil {
				b.Fatal(err)
			}
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"given back": {func(b *bench, p report.Press) string {
			b.passOn(p)
			if err := b.store.ReleasePress(b.Context(), p.ID, "slack-actions"); err != nil {
				b.Fatal(err)
			}
			return b.queued(p)
		}, incident.NotPassedOn, false},
		"without a channel": {func(b *bench, p report.Press) string { p.Channel = ""; b.passOn(p); return b.queued(p) }, incident.Incomplete, true},
		"without a message": {func(b *bench, p report.Press) string { p.TS = ""; b.passOn(p); return b.queued(p) }, incident.Incomplete, true},
		"three hours on its way": {func(b *bench, p report.Press) string {
			p.At = b.now.Add(-response.PressLasts - time.Second)
			b.passOn(p)
			return b.queued(p)
		}, incident.TooLate, true},
		"of the future": {func(b *bench, p report.Press) string {
			p.At = b.now.Add(time.Minute + time.Second)
			b.passOn(p)
			return b.queued(p)
		}, incident.FromFuture, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := offering(t)
			body := test.put(b, b.press(notifytest.Dana, report.ApprovePlan))
			b.channel.Calls = nil
			b.deliverNow(body)
			if o := b.incident().Offers[0]; o.State != incident.Offered || strings.Contains(b.bus.Kinds(), "Approved") {
				t.Errorf("the offer is %s, the bus was told %q", o.State, b.bus.Kinds())
			}
			acts := b.acts()
			if test.told != (len(acts) == 1) || test.told && acts[0].Answer.Reason != test.want {
				t.Errorf("audited are %+v, want %s: %v", acts, test.want, test.told)
			}
			answered := 0
			if test.told && test.want != incident.Incomplete { // which names no person or no place for the reply
				answered = 1
			}
			if name == "without a message" {
				answered = 1
			}
			if len(b.channel.Answers) != answered {
				t.Errorf("answers are %q, want %d", b.channel.Answers, answered)
			}
			if got := b.log.String(); !strings.Contains(got, `"answer":"`+string(test.want)+`"`) || b.counts["PressesRefused"] != 1 {
				t.Errorf("counted %v, logged %s", b.counts, got)
			}
			b.mustSend(3, b.press(notifytest.Dana, report.ApprovePlan))
			if b.incident().Offers[0].State != incident.Approved {
				t.Error("the next press of the same person does not count")
			}
		})
	}
}

// TestAGenuinePressCannotBeSentAgain: the queue forgets a message after five
// minutes, and an incident after 32 others; the audit record does not.
func TestAGenuinePressCannotBeSentAgain(t *testing.T) {
	b := offering(t)
	muted := b.press(notifytest.Oncall, report.MuteFor)
	b.mustSend(2, muted)
	b.mustSend(3, b.press(notifytest.Oncall, report.Unmute))
	for minute := range 35 {
		b.must(4+minute, notifytest.Failing(notifytest.Launch(fmt.Sprintf("i-0%016d", minute), 0, report.Waiting)))
	}
	b.deliverNow(b.queued(muted))
	if inc := b.incident(); inc.Mute != nil || len(b.acts()) != 2 {
		t.Errorf("muted again: %+v, %d acts", inc.Mute, len(b.acts()))
	}
}

// TestAFloodOfMadeUpPresses is one line in the log for each batch.
func TestAFloodOfMadeUpPresses(t *testing.T) {
	b := offering(t)
	var bodies []string
	for range 10 {
		bodies = append(bodies, b.queued(b.press(notifytest.Dana, report.ApprovePlan)))
	}
	b.log.Reset()
	b.deliverNow(bodies...)
	if got := strings.Count(b.log.String(), `"level":"ERROR"`); got != 1 || !strings.Contains(b.log.String(), `"presses":10`) || b.counts["PressesNotPassedOn"] != 10 {
		t.Errorf("counted %v, logged %s", b.counts, b.log.String())
	}
	if n := len(b.incident().Applied); n > 2 {
		t.Errorf("the incident remembers %d messages", n)
	}
}

// TestAPressThatCannotBeVettedComesAgain: that the table is away proves nothing.
func TestAPressThatCannotBeVettedComesAgain(t *testing.T) {
	b := offering(t)
	p := b.press(notifytest.Dana, report.ApprovePlan)
	b.passed = unreadable{}
	if failed, err := b.send(2, p); err != nil || len(failed) != 1 || len(b.channel.Answers) > 0 || len(b.acts()) > 0 {
		t.Errorf("failed %q, %v, answers %q", failed, err, b.channel.Answers)
	}
	b.passed = b.store
	b.mustSend(3, p)
	if b.incident().Offers[0].State != incident.Approved {
		t.Error("the press is lost")
	}
}

type unreadable struct{}

func (unreadable) PassedPress(context.Context, string) (*report.PressRecord, error) {
	return nil, errors.New("the table is away")
}

func TestWorkspaceHas(t *testing.T) {
	ours := report.Workspace{ID: "T1", Enterprise: "E1"}
	small := report.Workspace{ID: "T1"}
	of := func(home, enterprise string) report.Press { return report.Press{Home: home, Enterprise: enterprise} }
	for name, test := range map[string]struct {
		w    report.Workspace
		p    report.Press
		want bool
	}{
		"of the workspace":                      {ours, of("T1", ""), true},
		"of a workspace without organization":   {small, of("T1", ""), true},
		"of another workspace of it":            {ours, of("T2", "E1"), true},
		"of the organization":                   {ours, of("E1", ""), true},
		"of another workspace":                  {ours, of("T2", ""), false},
		"of another organization":               {ours, of("T2", "E2"), false},
		"of another, and neither has one":       {small, of("T2", ""), false},
		"Slack does not say where they are of":  {ours, of("", "E1"), false},
		"nor where the app is":                  {report.Workspace{Enterprise: "E1"}, of("T1", "E1"), false},
		"nor either":                            {report.Workspace{}, of("", ""), false},
		"the organization says it of the press": {ours, of("T9", "E1"), true},
	} {
		if got := inWorkspace(test.w, test.p.Home, test.p.Enterprise); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
