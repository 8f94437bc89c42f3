package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/config"
	"rollcall/shared/event/inbox"
	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/overview"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
	"rollcall/tools/testfile"
)

// talk is a bench that is asked things.
type talk struct {
	*bench
	said   []string
	asked  int
	homes  []string
	woken  []spoke.Cluster
	unheld error // of Slack
}

func (k *talk) Answer(_ context.Context, to, _ string, blocks any) error {
	if to != "https://hooks.slack.com/commands/SECRET" {
		k.Errorf("answered at %s", to)
	}
	k.said = append(k.said, read(k.T, blocks.([]slackgo.Block)))
	return k.unheld
}

func (k *talk) PublishHome(_ context.Context, user, hash string, page slackapi.Message) error {
	k.homes = append(k.homes, user+" "+hash+" "+read(k.T, page.Blocks))
	return k.unheld
}

// read is all text of blocks.
func read(t *testing.T, blocks []slackgo.Block) string {
	t.Helper()
	raw := testfile.JSON(t, blocks)
	var tree any
	testfile.Parse(t, raw, &tree)
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, key := range []string{"text", "user_id", "fallback"} {
				if s, ok := v[key].(string); ok {
					b.WriteString(s)
				}
			}
			if _, ok := v["text"].(map[string]any); ok {
				walk(v["text"])
			}
			if v["elements"] != nil {
				walk(v["elements"])
				b.WriteString("\n")
			}
		}
	}
	walk(tree)
	return b.String()
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	k := &talk{bench: newBench(t)}
	k.responders = config.Responders{IDs: []string{notifytest.Dana, "S0ONCALL01"}}
	k.channel.Members = map[string][]string{"S0ONCALL01": {notifytest.Oncall}}
	k.commands = commands{
		replies: k, home: k, hub: spoke.ID{Account: "111122223333", Region: "us-west-2"},
		watched: []watched{
			{ID: spoke.ID{}, table: k.store, naming: &naming{}}, {ID: payments, table: k.store.ForSpoke(payments), naming: &naming{whose: "payments"}},
		},
		wake: func(_ context.Context, of spoke.Cluster) error {
			k.woken = append(k.woken, of)
			return nil
		},
	}
	for id, name := range map[spoke.ID]string{{}: "eks-workshop", payments: "prod"} {
		if err := k.store.ForSpoke(id).SaveSweep(t.Context(), overview.Sweep{Cluster: name, At: k.now}); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// ask types a command at a minute, as slack-actions passes it on, and gives the answer.
func (k *talk) ask(minute int, user string, ask report.Ask, change ...func(*report.Command)) string {
	k.Helper()
	k.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	k.asked++
	c := report.Command{
		ID: fmt.Sprintf("%08x%056x", k.asked, 0), At: k.now, Ask: ask, User: report.User{ID: user}, Home: notifytest.Home, ResponseURL: "https://hooks.slack.com/commands/SECRET",
	}
	for _, f := range change {
		f(&c)
	}
	before := len(k.said)
	if failed := k.pass(c, true); len(failed) > 0 {
		k.Errorf("minute %d: %q went back", minute, failed)
	}
	if len(k.said) == before {
		return ""
	}
	return k.said[len(k.said)-1]
}

// pass gives report a command, with what slack-actions writes down of it or without.
func (k *talk) pass(c report.Command, written bool) (failed []string) {
	k.Helper()
	m, err := report.EncodeCommand(c)
	if err != nil {
		k.Fatal(err)
	}
	if first, err := k.store.ClaimPress(k.Context(), c.ID, "slack-actions"); written && first && err == nil {
		err = k.store.PassPress(k.Context(), c.ID, "slack-actions", m.Digest())
		if err != nil {
			k.Fatal(err)
		}
	}
	failed, err = k.deliverBodies(string(m.Body))
	if err != nil {
		k.Fatal(err)
	}
	return failed
}

func quiet(of spoke.Cluster, lasts time.Duration) report.Ask {
	return report.Ask{Verb: report.AskSilence, Cluster: of, For: lasts, Reason: "node upgrade"}
}

func workshop() spoke.Cluster { return spoke.Cluster{Name: "eks-workshop"} }

// TestWhoMayAsk: what a person is not allowed to do is refused with its reason, and nothing is written.
func TestWhoMayAsk(t *testing.T) {
	for name, test := range map[string]struct {
		user   string
		ask    report.Ask
		change func(*report.Command)
		want   string
	}{
		"a stranger silences":            {"U0STRANGER", quiet(workshop(), time.Hour), nil, "You are not allowed to silence here"},
		"a stranger asks":                {"U0STRANGER", report.Ask{Verb: report.AskStatus}, nil, "No open incidents"},
		"a stranger ends":                {"U0STRANGER", report.Ask{Verb: report.AskUnsilence, Silence: "ab12cd34"}, nil, "You are not allowed to silence here"},
		"of another company":             {notifytest.Dana, quiet(workshop(), time.Hour), func(c *report.Command) { c.Home = "T0OTHER001" }, "Slack workspace"},
		"of another company, to know":    {notifytest.Dana, report.Ask{Verb: report.AskStatus}, func(c *report.Command) { c.Home = "T0OTHER001" }, "Slack workspace"},
		"of nobody knows which":          {notifytest.Dana, report.Ask{Verb: report.AskStatus}, func(c *report.Command) { c.Home = "" }, "Slack workspace"},
		"too late":                       {notifytest.Dana, quiet(workshop(), time.Hour), func(c *report.Command) { c.At = c.At.Add(-4 * time.Hour) }, "too old to act on"},
		"a cluster that nobody looks at": {notifytest.Dana, quiet(spoke.Cluster{Name: "eks-workshp"}, time.Hour), nil, "not among the clusters checked"},
		"one of that name elsewhere":     {notifytest.Dana, quiet(spoke.Cluster{Name: "prod"}, time.Hour), nil, "Did you mean cluster=222233334444/us-west-2/prod?"},
		"an account that nobody looks at": {notifytest.Dana, quiet(spoke.Cluster{ID: spoke.ID{Account: "999999999999", Region: "eu-west-1"}, Name: "prod"}, time.Hour),
			nil, "does not watch 999999999999/eu-west-1"},
		"too long":                  {notifytest.Dana, quiet(workshop(), 31*24*time.Hour), nil, "at most 30 days"},
		"no such silence":           {notifytest.Dana, report.Ask{Verb: report.AskUnsilence, Silence: "ab12cd34"}, nil, "There is no silence ab12cd34"},
		"a verb of a newer version": {notifytest.Dana, report.Ask{Verb: "dance"}, nil, "does not know that command"},
	} {
		k := newTalk(t)
		var change []func(*report.Command)
		if test.change != nil {
			change = append(change, test.change)
		}
		if got := k.ask(0, test.user, test.ask, change...); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		for _, s := range []Table{k.store, k.store.ForSpoke(payments)} {
			if list, err := s.AllSilences(t.Context()); err != nil || len(list) > 0 {
				t.Errorf("%s: %v, %v are written", name, list, err)
			}
		}
		if len(k.woken) > 0 || strings.Contains(k.log.String(), "SECRET") {
			t.Errorf("%s: woke %v, logged %s", name, k.woken, k.log)
		}
	}
}

// What slack-actions did not pass on has no sender: nothing is done or answered.
func TestCommandsThatNobodySigned(t *testing.T) {
	k := newTalk(t)
	c := report.Command{ID: strings.Repeat("ab", 32), At: k.now, Ask: quiet(workshop(), time.Hour), User: report.User{ID: notifytest.Dana},
		Home: notifytest.Home, ResponseURL: "https://hooks.slack.com/commands/SECRET"}
	if failed := k.pass(c, false); len(failed) > 0 || len(k.said) > 0 || k.counts["PressesNotPassedOn"] != 1 {
		t.Errorf("failed %q, said %q, counts %v", failed, k.said, k.counts)
	}
	if list, err := k.store.AllSilences(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func failing(minute int) report.Observation {
	o := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	o.At = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	return o
}

// A silence from before: what opens is recorded and not posted; when it ends, and it
// is still there, it is posted as new, with its thread.
func TestSilencedFromTheStart(t *testing.T) {
	k := newTalk(t)
	got := k.ask(0, notifytest.Oncall, quiet(workshop(), time.Hour))
	if !strings.Contains(got, "eks-workshop is silenced until") || !strings.Contains(got, "It hides nothing that is open now") || !strings.Contains(got, "/rollcall unsilence 00000001") {
		t.Errorf("answered %q", got)
	}
	if len(k.woken) != 1 || k.woken[0] != workshop() || !strings.Contains(k.log.String(), `"audit":true`) {
		t.Errorf("woke %v, logged %s", k.woken, k.log)
	}
	k.must(1, notifytest.Sweep())
	k.must(2, failing(2))
	k.must(30, failing(30))
	posts := k.channel.Posts()
	if len(posts) != 1 || !strings.Contains(posts[0].Text, "eks-workshop is silenced by") || len(k.channel.Notes()) > 0 {
		t.Fatalf("the channel has %+v, %q; want the silence alone", posts, k.channel.Notes())
	}
	inc := k.incident()
	if inc.State != incident.Open || inc.Silence == nil || inc.Silence.ID != "00000001" || k.bus.Told[0].Kind != incident.EventOpened || !k.bus.Told[0].Silenced {
		t.Errorf("the record is %s, %+v; the bus was told %+v", inc.State, inc.Silence, k.bus.Told)
	}
	if got := k.ask(31, "U0STRANGER", report.Ask{Verb: report.AskStatus}); !strings.Contains(got, "1 incident open") || !strings.Contains(got, "1 silenced") || !strings.Contains(got, "silenced by") {
		t.Errorf("status %q", got)
	}
	k.must(61, failing(61))
	posts = k.channel.Posts()
	if len(posts) != 2 || !strings.Contains(posts[1].Text, "able to join") || k.incident().Silence != nil || !strings.Contains(strings.Join(k.channel.Notes(), " "), "opened") {
		t.Errorf("after its end the channel has %+v, with %q", posts, k.channel.Notes())
	}
	if posts[0].Edits != 1 {
		t.Errorf("the line of the silence was edited %d times, want that it is over", posts[0].Edits)
	}
}

// A silence over what was posted: the message is kept up to date, and nothing is added
// until it ends, which is a new line of the channel.
func TestSilencedLater(t *testing.T) {
	k := newTalk(t)
	k.must(0, failing(0))
	if got := k.ask(1, notifytest.Dana, quiet(workshop(), time.Hour)); !strings.Contains(got, "1 open incident is silenced with it") {
		t.Errorf("answered %q", got)
	}
	before := len(k.channel.Notes())
	k.must(2, failing(2))
	missed := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed))
	missed.At = notifytest.Start.Add(6 * time.Minute)
	k.must(6, missed)
	if got := k.channel.Notes()[before:]; len(got) > 0 {
		t.Errorf("the thread has %q more", got)
	}
	if got := k.ask(7, notifytest.Oncall, report.Ask{Verb: report.AskUnsilence, Silence: "00000001"}); !strings.Contains(got, "Ended: the silence of eks-workshop") {
		t.Errorf("answered %q", got)
	}
	k.must(8, notifytest.Sweep())
	if got := k.channel.Notes()[before:]; len(got) != 1 || got[0] != "unsilenced" {
		t.Errorf("the thread has %q more, want that the silence is over", got)
	}
	last := k.channel.Messages[len(k.channel.Messages)-1]
	if !last.Broadcast || !strings.Contains(last.Text, "able to join") && !strings.Contains(last.Text, "not joined") && !strings.Contains(last.Text, "cannot join") {
		t.Errorf("the line is %+v, want one that the channel sees", last)
	}
	if got := k.ask(9, notifytest.Dana, report.Ask{Verb: report.AskUnsilence, Silence: "00000001"}); !strings.Contains(got, "already ended") {
		t.Errorf("a second time: %q", got)
	}
}

// What came and went within a silence is not posted, and is on record.
func TestCameAndWent(t *testing.T) {
	k := newTalk(t)
	k.ask(0, notifytest.Dana, quiet(workshop(), 3*time.Hour))
	for _, s := range notifytest.RouteStory() {
		k.must(s.Minute+1, s.Obs)
	}
	k.must(200, notifytest.Sweep())
	if posts := k.channel.Posts(); len(posts) != 1 || len(k.channel.Notes()) > 0 {
		t.Errorf("the channel has %+v, with %q", posts, k.channel.Notes())
	}
	if inc := k.incident(); inc.State != incident.Closed || inc.Silence != nil || inc.Delivery.TS != "" {
		t.Errorf("the record is %s, %+v", inc.State, inc.Silence)
	}
}

// A command that the queue delivers twice is one silence; one that cannot be read waits.
func TestRepeatedSilence(t *testing.T) {
	k := newTalk(t)
	c := report.Command{ID: strings.Repeat("ab", 32), At: k.now, Ask: quiet(workshop(), time.Hour), User: report.User{ID: notifytest.Dana},
		Home: notifytest.Home, ResponseURL: "https://hooks.slack.com/commands/SECRET"}
	for range 2 {
		if failed := k.pass(c, true); len(failed) > 0 {
			t.Errorf("went back: %q", failed)
		}
	}
	if list, err := k.store.AllSilences(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%v, %v; want one", list, err)
	}
	// Slack that does not take the answer is no reason to do it again.
	k.unheld = errors.New("expired_url")
	c.ID = strings.Repeat("cd", 32)
	if failed := k.pass(c, true); len(failed) > 0 || !strings.Contains(k.log.String(), "could not send a command's result") {
		t.Errorf("went back: %q; logged %s", failed, k.log)
	}
}

// The home page shows what is silenced by whom, and an end that is not allowed says so there.
func TestHomePage(t *testing.T) {
	k := newTalk(t)
	k.must(0, failing(0))
	k.ask(1, notifytest.Dana, quiet(workshop(), time.Hour))
	k.must(2, failing(2))
	home := func(c *report.Command) { c.OnHome, c.View, c.ResponseURL = true, "hash", "" }
	k.ask(3, "U0STRANGER", report.Ask{Verb: report.OpenHome}, home)
	k.ask(4, "U0STRANGER", report.Ask{Verb: report.AskUnsilence, Silence: "00000001"}, home)
	k.ask(5, notifytest.Oncall, report.Ask{Verb: report.AskUnsilence, Silence: "00000001"}, home)
	if len(k.homes) != 3 {
		t.Fatalf("%d homes: %q", len(k.homes), k.homes)
	}
	for i, want := range [][]string{
		{"U0STRANGER hash", "1 incident open", "eks-workshop is silenced", notifytest.Dana, "node upgrade", "2 clusters watched", "End"},
		{"You are not allowed to silence here"},
		{"Ended: the silence of eks-workshop", "Nothing is silenced"},
	} {
		for _, w := range want {
			if !strings.Contains(k.homes[i], w) {
				t.Errorf("home %d lacks %q:\n%s", i, w, k.homes[i])
			}
		}
	}
	if strings.Contains(k.homes[1], "Ended") {
		t.Error("a stranger ended it")
	}
	k.ask(7, notifytest.Oncall, report.Ask{Verb: report.OpenHome}, home, func(c *report.Command) { c.Says = "Nothing was done: because." })
	if len(k.homes) != 4 || !strings.Contains(k.homes[3], "Nothing was done: because.") || !strings.Contains(k.homes[3], "eks-workshop") {
		t.Errorf("a press that slack-actions refused: the page says %q", k.homes[3:])
	}
	k.ask(6, "U0STRANGER", report.Ask{Verb: report.OpenHome}, home, func(c *report.Command) { c.Home = "T0OTHER001" })
	if len(k.homes) != 5 || !strings.Contains(k.homes[4], "Slack workspace") || strings.Contains(k.homes[4], "eks-workshop") {
		t.Errorf("somebody of another company sees %q", k.homes[4:])
	}
}

func TestAskWhyAndReport(t *testing.T) {
	k := newTalk(t)
	k.must(0, failing(0))
	if got := k.ask(1, "U0STRANGER", report.Ask{Verb: report.AskWhy, Instance: "i-0abc1234"}); !strings.Contains(got, "not found") || !strings.Contains(got, "rollcall diagnose --cluster") {
		t.Errorf("why %q", got)
	}
	l := store.LaunchRecord{Cluster: "eks-workshop"}
	l.Instance, l.Nodegroup, l.Started, l.Due, l.Status = notifytest.Instance1, "workers", k.now, k.now.Add(5*time.Minute), report.Waiting
	if _, err := k.store.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	got := k.ask(2, "U0STRANGER", report.Ask{Verb: report.AskWhy, Instance: notifytest.Instance1})
	for _, want := range []string{"has not joined yet", "eks-workshop, workers", "will not be able to join", "rollcall diagnose --cluster eks-workshop --region us-west-2"} {
		if !strings.Contains(got, want) {
			t.Errorf("why lacks %q: %s", want, got)
		}
	}
	got = k.ask(3, "U0STRANGER", report.Ask{Verb: report.AskReport, For: 24 * time.Hour})
	for _, want := range []string{"1 launch in 2 clusters in the last 24 h", "1 outcome not known yet", "1 opened, 0 closed, 1 open now"} {
		if !strings.Contains(got, want) {
			t.Errorf("report lacks %q: %s", want, got)
		}
	}
	if got := k.ask(4, "U0STRANGER", report.Ask{Verb: report.AskReport, For: 24 * time.Hour, Cluster: spoke.Cluster{ID: payments, Name: "prod"}}); !strings.Contains(got, "0 launches in 1 cluster") {
		t.Errorf("report of one %q", got)
	}
	got = k.ask(30, "U0STRANGER", report.Ask{Verb: report.AskClusters})
	if !strings.Contains(got, "222233334444/us-west-2/prod (payments)") || !strings.Contains(got, "(late)") {
		t.Errorf("clusters %q", got)
	}
}

// A command is the hub's to answer, whichever account's cluster it names.
func TestCommandsAreTheHubs(t *testing.T) {
	m, err := report.EncodeCommand(report.Command{ID: "x", At: notifytest.Start, Ask: quiet(spoke.Cluster{ID: payments, Name: "prod"}, time.Hour), User: report.User{ID: notifytest.Dana}})
	if err != nil {
		t.Fatal(err)
	}
	if whose, err := inbox.OriginOf(m.Body, spoke.ID{Account: "111122223333", Region: "us-west-2"}); err != nil || !whose.Spoke.Hub() || whose.All {
		t.Errorf("%+v, %v", whose, err)
	}
}

// A guest of the workspace learns nothing of all accounts and silences nothing; where Slack
// does not say who is one, no one does, and the sentence says what is missing.
func TestGuestsMayNotAsk(t *testing.T) {
	k := newTalk(t)
	status := report.Ask{Verb: report.AskStatus}
	k.channel.Guests = []string{"U0VISITOR1"}
	if got := k.ask(1, "U0VISITOR1", status); !strings.Contains(got, "Guests of the workspace cannot use commands") {
		t.Errorf("a guest: %q", got)
	}
	if got := k.ask(2, "U0MEMBER01", status); strings.Contains(got, "may not ask") || got == "" {
		t.Errorf("a member: %q", got)
	}
	k.channel.GuestError = &slackapi.Error{Kind: slackapi.Auth, Method: "users.info", Code: "missing_scope", Scope: "users:read"}
	if got := k.ask(3, "U0MEMBER01", status); !strings.Contains(got, "give the Slack app the scope users:read") {
		t.Errorf("without the scope: %q", got)
	}
}
