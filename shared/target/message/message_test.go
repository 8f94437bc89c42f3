package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/target"
	"rollcall/stage/faketargets"
	"rollcall/tools/testfile"
)

// sample is an event of events/out.
func sample(t testing.TB, name string) Event {
	t.Helper()
	n, err := Parse(testfile.Read(t, filepath.Join("../../../events/out", name+".json")))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func changed(n Event, change func(*incident.Event)) Event {
	e := *n.Incident
	change(&e)
	n.Incident = &e
	return n
}

func TestParseRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"no JSON":        `{`,
		"another source": `{"source":"aws.ec2","detail-type":"Rollcall Incident Opened","detail":{}}`,
		"no detail":      `{"source":"rollcall","detail-type":"Rollcall Incident Opened"}`,
		"another kind": `{"source":"rollcall","detail-type":"Rollcall Incident Opened",` +
			`"detail":{"id":"1","kind":"Resolved","at":"2026-11-20T15:00:00Z","cluster":"c","check":"a/b","resource":"r"}}`,
		"no resource": `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{"id":"1","kind":"Opened","at":"2026-11-20T15:00:00Z","cluster":"c","check":"a/b"}}`,
		"no id": `{"source":"rollcall","detail-type":"Rollcall Incident Opened",` +
			`"detail":{"kind":"Opened","at":"2026-11-20T15:00:00Z","cluster":"c","check":"a/b","resource":"r"}}`,
		"nothing of whom": `{"detail-type":"Rollcall Incident Opened","detail":{"id":"1","kind":"Opened","at":"2026-11-20T15:00:00Z","cluster":"c","check":"a/b","resource":"r"}}`,
		"another's": `{"source":"aws.ec2","detail-type":"Rollcall Incident Opened",` +
			`"detail":{"id":"1","kind":"Opened","at":"2026-11-20T15:00:00Z","cluster":"c","check":"a/b","resource":"r"}}`,
		"no cluster":         `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{"id":"1","kind":"Opened","at":"2026-11-20T15:00:00Z","check":"a/b","resource":"r"}}`,
		"no check":           `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{"id":"1","kind":"Opened","at":"2026-11-20T15:00:00Z","cluster":"c","resource":"r"}}`,
		"no time":            `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{"id":"1","kind":"Opened","cluster":"c","check":"a/b","resource":"r"}}`,
		"a test of numbers":  `{"source":"rollcall","detail-type":"Rollcall Test Message","detail":{"id":1}}`,
		"a test without id":  `{"source":"rollcall","detail-type":"Rollcall Test Message","detail":{"at":"2026-11-20T15:00:00Z","words":{"headline":"x"}}}`,
		"a silent test":      `{"source":"rollcall","detail-type":"Rollcall Test Message","detail":{"id":"1","at":"2026-11-20T15:00:00Z"}}`,
		"a week without end": `{"source":"rollcall","detail-type":"Rollcall Weekly Report","detail":{"id":"weekly/1","at":"2026-11-20T15:00:00Z","words":{"headline":"x"}}}`,
		"a detail of text":   `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":"x"}`,
	} {
		if n, err := Parse([]byte(raw)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got %+v, %v", name, n, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../../events/out/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw := testfile.Read(f, file)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, err := Parse(raw)
		if err != nil {
			return
		}
		if body, err := ToTeams(n); err == nil && len(body) > maxTeams {
			t.Errorf("a card of %d bytes", len(body))
		}
		if m := ToMail(n); len(m.Subject) > maxSubject || strings.ContainsFunc(m.Subject, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("subject %q", m.Subject)
		}
		if p := ToPagerDuty(n, Trigger); len(p.DedupKey) > maxDedup || p.Payload != nil && utf8.RuneCountInString(p.Payload.Summary) > maxSummary {
			t.Errorf("event %+v", p)
		}
	})
}

// Each event that PagerDuty and Teams are sent fits what they publish.
// Anyone in the account may send a test message: what is published is Rollcall's own text.
func TestForgedTestMessage(t *testing.T) {
	n, err := Parse([]byte(`{"source":"rollcall","detail-type":"Rollcall Test Message","account":"111122223333","region":"us-west-2",
		"detail":{"id":"1","at":"2026-11-20T15:00:00Z","words":{"headline":"prod is down, call +1 555 0100","lines":[{"label":"Do","text":"x"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(TestWords("111122223333", "us-west-2"), n.Words); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	if strings.Contains(string(n.Raw), "555") {
		t.Errorf("a webhook gets %s", n.Raw)
	}
}

func TestWhatIsSentFitsTheSchemas(t *testing.T) {
	for file, of := range map[string]func(Event) ([]byte, error){
		"pagerduty-events-v2.json": func(n Event) ([]byte, error) {
			p := ToPagerDuty(n, Trigger)
			p.RoutingKey = strings.Repeat("k", 32)
			return json.Marshal(p)
		},
		"teams-message.json": ToTeams,
	} {
		schema, err := faketargets.Schema(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"incident-opened", "incident-changed", "incident-acknowledged", "remedy-acted", "incident-resolved", "incident-reopened"} {
			hostile := changed(sample(t, name), func(e *incident.Event) { e.Cluster, e.Resource = "[x](http://evil)\n", strings.Repeat("ü", 400) })
			hostile.Words.Headline, hostile.Words.Command = strings.Repeat("→ ", 2000), strings.Repeat("x", 40<<10)
			for _, n := range []Event{sample(t, name), hostile} {
				body, err := of(n)
				if err != nil {
					t.Fatal(err)
				}
				var doc any
				testfile.Parse(t, body, &doc)
				if err := schema.Validate(doc); err != nil {
					t.Errorf("%s of %s: %v\n%s", file, name, err, body)
				}
			}
		}
	}
}

func TestMail(t *testing.T) {
	got := ToMail(sample(t, "incident-opened"))
	want := Mail{
		Subject: "Critical: eks-workshop / new_nodegroup_2 - 1 instance will not be able to join: subnet-0ab1c2d3e...",
		Body: `Critical: eks-workshop / new_nodegroup_2 · 1 instance will not be able to join: subnet-0ab1c2d3e4f5a6b7c has no route to the internet

Impact: 1 new instance not Ready yet, since 14:59 UTC.

Pods: Not checked yet.

Why: rtb-0cd2e3f4a5b6c7d8e (us-west-2a) has only 10.42.0.0/16 → local.

Do: Add a default route to a NAT gateway.

Run: Changes the route of every subnet of this table; a NAT gateway costs about $0.045 a GB. Undo: aws ec2 delete-route. Terraform or CloudFormation? The next apply reverts this.

    aws ec2 create-route --route-table-id rtb-0cd2e3f4a5b6c7d8e --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0aa4b5c6d7e8f9a0b

Open in console: https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-0cd2e3f4a5b6c7d8e

route/no-egress · account 111122223333 · us-west-2
`,
		Attributes: map[string]string{"type": "Rollcall Incident Opened", "severity": "critical", "cluster": "eks-workshop",
			"check": "route/no-egress", "account": "111122223333", "region": "us-west-2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Subject) != maxSubject {
		t.Errorf("the subject has %d characters", len(got.Subject))
	}
}

// An event of an earlier release has no words: it is sent in those that it has.
func TestWithoutWords(t *testing.T) {
	raw := []byte(`{"source":"rollcall","detail-type":"Rollcall Incident Resolved","detail":{"id":"1","kind":"Resolved","at":"2026-11-20T15:00:00Z","state":"closed","ending":"proved",
		"cluster":"prod","check":"route/no-egress","resource":"rtb-1","title":"no route","why":"because.","fix":{"text":"Do it."}}}`)
	n, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	want := incident.Words{Headline: "prod · closed: no route", Lines: []incident.Line{{Label: "Why", Text: "because."}, {Label: "Do", Text: "Do it."}}}
	if diff := cmp.Diff(want, n.Words); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDedupKey(t *testing.T) {
	opened, resolved := sample(t, "incident-opened"), sample(t, "incident-resolved")
	if a, b := ToPagerDuty(opened, Trigger).DedupKey, ToPagerDuty(resolved, Resolve).DedupKey; a != b ||
		a != "rollcall/111122223333/us-west-2/eks-workshop/route/no-egress#rtb-0cd2e3f4a5b6c7d8e" {
		t.Errorf("triggered as %q, resolved as %q", a, b)
	}
	long := changed(opened, func(e *incident.Event) { e.Resource = strings.Repeat("r", 300) })
	other := changed(opened, func(e *incident.Event) { e.Resource = strings.Repeat("r", 301) })
	if a, b := ToPagerDuty(long, Trigger).DedupKey, ToPagerDuty(other, Trigger).DedupKey; a == b || len(a) > maxDedup {
		t.Errorf("%q and %q", a, b)
	}
}

// The signature is that of the documentation, and of any other body or time it is none.
func TestSignature(t *testing.T) {
	now := time.Unix(1795186800, 0)
	key, body := strings.Repeat("k", 32), []byte(`{"a":1}`)
	h := Headers(key, "webhook=x", "event", body, now)
	verify := func(key, timestamp, signature string, body []byte, at time.Time) bool {
		return faketargets.Verify(key, timestamp, signature, body, at)
	}
	if !verify(key, h[HeaderTimestamp], h[HeaderSignature], body, now) {
		t.Error("what is signed is refused")
	}
	for name, wrong := range map[string]bool{
		"another key":    verify(key+"x", h[HeaderTimestamp], h[HeaderSignature], body, now),
		"another body":   verify(key, h[HeaderTimestamp], h[HeaderSignature], []byte(`{"a":2}`), now),
		"another time":   verify(key, "1795186801", h[HeaderSignature], body, now),
		"sent again":     verify(key, h[HeaderTimestamp], h[HeaderSignature], body, now.Add(6*time.Minute)),
		"no signature":   verify(key, h[HeaderTimestamp], "", body, now),
		"another scheme": verify(key, h[HeaderTimestamp], strings.Replace(h[HeaderSignature], "v1=", "v0=", 1), body, now),
	} {
		if wrong {
			t.Errorf("%s is taken", name)
		}
	}
	if again := Headers(key, "webhook=x", "event", body, now.Add(time.Minute)); again[HeaderDelivery] != h[HeaderDelivery] || again[HeaderSignature] == h[HeaderSignature] {
		t.Errorf("sent again: %v, then %v", h, again)
	}
}

func TestDecide(t *testing.T) {
	opened, resolved := sample(t, "incident-opened"), sample(t, "incident-resolved")
	reopened, taken, acted := sample(t, "incident-reopened"), sample(t, "incident-acknowledged"), sample(t, "remedy-acted")
	detail := changed(sample(t, "incident-changed"), func(e *incident.Event) { e.Reason = incident.MoreAffected })
	missed := changed(detail, func(e *incident.Event) { e.Reason = incident.HasMissed })
	least := func(of target.Target, s string) target.Target { of.Least = s; return of }
	info := changed(opened, func(e *incident.Event) { e.Severity = incident.Info })
	warning := changed(opened, func(e *incident.Event) { e.Severity = incident.Warning })
	silenced := func(n Event) Event { return changed(n, func(e *incident.Event) { e.Silenced = true }) }
	unsilenced := changed(detail, func(e *incident.Event) { e.Reason = incident.IsUnsilenced })
	givenUp := changed(resolved, func(e *incident.Event) { e.Resolution = incident.GivenUpOn })
	try := Event{Type: Test, ID: "t", At: time.Now()}

	knows := func(n Event) Told { return Told{Opened: n.Incident.Opened, Sequence: n.Incident.Sequence, Open: true} }
	later := func(n Event) Event { return changed(n, func(e *incident.Event) { e.Opened = e.Opened.Add(time.Hour) }) }
	over := func(n Event) Told { return Told{Opened: n.Incident.Opened, Sequence: n.Incident.Sequence} }
	pd, teams, mail, hook := target.Target{Kind: target.PagerDuty}, target.Target{Kind: target.Teams}, target.Target{Kind: target.SNS}, target.Target{Kind: target.Webhook}
	first := target.Target{Kind: target.SlackWebhook}
	critical := func(of target.Target) target.Target { return least(of, "critical") }
	for _, test := range []struct {
		name   string
		of     target.Target
		news   Event
		told   Told
		want   []Action
		reason Reason
	}{
		{"an alert", pd, opened, Told{}, []Action{Trigger}, ToTell},
		{"a card", teams, opened, Told{}, []Action{Post}, ToTell},
		{"a chat by Amazon Q", target.Target{Kind: target.AmazonQ}, opened, Told{}, []Action{Post}, ToTell},
		{"nothing of an acknowledgment to Amazon Q", target.Target{Kind: target.AmazonQ}, taken, knows(opened), nil, NotForPeople},
		{"a first look", first, opened, Told{}, []Action{Post}, ToTell},
		{"a first look: it got worse", first, missed, knows(opened), []Action{Post}, ToTell},
		{"a first look: its end", first, resolved, knows(opened), []Action{Post}, ToTell},
		{"a first look: nothing of an acknowledgment", first, taken, knows(opened), nil, NotForPeople},
		{"a first look: nothing of a remedy, which the end tells of", first, acted, Told{Open: true}, nil, NotForPeople},
		{"a first look: nothing of more of the same", first, detail, knows(opened), nil, NotForPeople},
		{"an alert in Jira", target.Target{Kind: target.JSM}, opened, Told{}, []Action{Trigger}, ToTell},
		{"its acknowledgment, of an alert that was never made", target.Target{Kind: target.JSM}, taken, Told{}, []Action{Trigger, Acknowledge}, ToTell},
		{"its end", target.Target{Kind: target.JSM}, resolved, knows(opened), []Action{Resolve}, ToTell},
		{"given up on: the alert in Jira stays open", target.Target{Kind: target.JSM}, givenUp, knows(opened), nil, StillFails},
		{"a mail", mail, opened, Told{}, []Action{Post}, ToTell},
		{"a request", hook, opened, Told{}, []Action{Post}, ToTell},
		{"the same again", pd, opened, knows(opened), nil, OlderNews},
		{"a mail once", mail, opened, knows(opened), nil, OlderNews},
		{"older than what it knows", pd, opened, knows(resolved), nil, OlderNews},
		{"a receiver orders by itself", hook, opened, knows(resolved), []Action{Post}, ToTell},
		{"it came back", pd, reopened, Told{Opened: resolved.Incident.Opened, Sequence: resolved.Incident.Sequence}, []Action{Trigger}, ToTell},
		{"more of the same", pd, detail, knows(opened), nil, NotForPeople},
		{"more of the same, a card", teams, detail, knows(opened), nil, NotForPeople},
		{"more of the same, to a machine", hook, detail, knows(opened), []Action{Post}, ToTell},
		{"what was foreseen", teams, missed, knows(opened), []Action{Post}, ToTell},
		{"worse", pd, missed, knows(opened), []Action{Trigger}, ToTell},
		{"worse, while it is muted", pd, changed(missed, func(e *incident.Event) { e.Muted = true }), knows(opened), nil, IsMuted},
		{"worse, while it is muted, to a machine", hook, changed(missed, func(e *incident.Event) { e.Muted = true }), knows(opened), []Action{Post}, ToTell},
		{"over, while it is muted", pd, changed(resolved, func(e *incident.Event) { e.Muted = true }), knows(opened), []Action{Resolve}, ToTell},
		{"silenced", pd, silenced(opened), Told{}, nil, IsSilenced},
		{"silenced, a mail", mail, silenced(opened), Told{}, nil, IsSilenced},
		{"silenced, to a machine", hook, silenced(opened), Told{}, []Action{Post}, ToTell},
		{"worse, while it is silenced", pd, silenced(missed), knows(opened), nil, IsSilenced},
		{"over, while it is silenced", pd, silenced(resolved), knows(opened), []Action{Resolve}, ToTell},
		{"came and went while it was silenced", mail, silenced(resolved), Told{}, nil, IsSilenced},
		{"still there when the silence ends", pd, unsilenced, Told{}, []Action{Trigger}, ToTell},
		{"still there when the silence ends, a card", teams, unsilenced, Told{}, []Action{Post}, ToTell},
		{"still there, and not urgent enough", critical(pd), changed(unsilenced, func(e *incident.Event) { e.Severity = incident.Warning }), Told{}, nil, BelowSeverity},
		{"somebody has it", pd, taken, knows(opened), []Action{Acknowledge}, ToTell},
		{"somebody has what was never triggered", pd, taken, Told{}, []Action{Trigger, Acknowledge}, ToTell},
		{"from one to another", pd, changed(taken, func(e *incident.Event) { e.Sequence = 9 }),
			Told{Opened: taken.Incident.Opened, Sequence: 4, Open: true, Acknowledged: true}, nil, NotForPeople},
		{"somebody has it, a card", teams, taken, knows(opened), nil, NotForPeople},
		{"somebody has it, to a machine", hook, taken, knows(opened), []Action{Post}, ToTell},
		{"a remedy", mail, acted, knows(opened), []Action{Post}, ToTell},
		{"a remedy wakes nobody", pd, acted, knows(opened), nil, NotForPeople},
		{"over", pd, resolved, knows(opened), []Action{Resolve}, ToTell},
		{"over, a mail", mail, resolved, knows(opened), []Action{Post}, ToTell},
		{"only the looking stopped", pd, givenUp, knows(opened), nil, StillFails},
		{"only the looking stopped, a mail", mail, givenUp, knows(opened), []Action{Post}, ToTell},
		{"not urgent enough", critical(pd), warning, Told{}, nil, BelowSeverity},
		{"urgent enough", critical(pd), opened, Told{}, []Action{Trigger}, ToTell},
		{"over, and never told of it", critical(mail), resolved, Told{}, nil, NeverTold},
		{"over, and told of it", critical(mail), resolved, knows(opened), []Action{Post}, ToTell},
		{"somebody has what is not urgent", critical(pd), changed(taken, func(e *incident.Event) { e.Severity = incident.Warning }), Told{}, nil, BelowSeverity},
		{"a test of PagerDuty closes itself", critical(pd), try, Told{}, []Action{Trigger, Resolve}, ToTell},
		{"a test", mail, try, Told{}, []Action{Post}, ToTell},
		{"a test is for all", critical(teams), try, Told{}, []Action{Post}, ToTell},
		{"began again, and the record anew", pd, changed(opened, func(e *incident.Event) { e.Opened, e.Sequence = e.Opened.Add(time.Hour), 1 }), knows(resolved), []Action{Trigger}, ToTell},
		{"of a record that was before", pd, changed(opened, func(e *incident.Event) { e.Opened, e.Sequence = e.Opened.Add(-time.Hour), 99 }), knows(opened), nil, OlderNews},
		{"taken anew after it began again", pd, changed(taken, func(e *incident.Event) { e.Opened = e.Opened.Add(time.Hour) }),
			Told{Opened: taken.Incident.Opened, Sequence: 4, Open: true, Acknowledged: true}, []Action{Acknowledge}, ToTell},
		{"urgent when it was told, and no longer", critical(pd), changed(missed, func(e *incident.Event) { e.Severity = incident.Warning }), knows(opened), []Action{Trigger}, ToTell},
		{"somebody has what was urgent", critical(pd), changed(taken, func(e *incident.Event) { e.Severity = incident.Warning }), knows(opened), []Action{Acknowledge}, ToTell},
		{"a remedy of what it was not told", critical(mail), changed(acted, func(e *incident.Event) { e.Severity = incident.Warning }), Told{}, nil, BelowSeverity},
		{"a remedy of what it was told", critical(mail), changed(acted, func(e *incident.Event) { e.Severity = incident.Warning }), knows(opened), []Action{Post}, ToTell},
		{"a detail of what it was not told, to a machine", critical(hook), changed(detail, func(e *incident.Event) { e.Severity = incident.Warning }), Told{}, nil, BelowSeverity},
		{"somebody has what another was told, to a machine", hook, taken, Told{}, []Action{Post}, ToTell},
		{"over, and nothing asked of its severity", mail, resolved, Told{}, []Action{Post}, ToTell},
		{"not urgent, long after one that was", critical(pd), later(warning), over(opened), nil, BelowSeverity},
		{"somebody has what is not urgent, long after", critical(pd), later(changed(taken, func(e *incident.Event) { e.Severity = incident.Warning })), over(opened), nil, BelowSeverity},
		{"somebody has it, a card, long after", teams, later(taken), over(opened), nil, NotForPeople},
		{"over, of what was not urgent, long after", critical(mail), later(resolved), over(opened), nil, NeverTold},
		{"a remedy of what is not urgent, long after", critical(mail), later(changed(acted, func(e *incident.Event) { e.Severity = incident.Warning })), over(opened), nil, BelowSeverity},
		{"a remedy, and the beginning was not told", mail, acted, Told{}, []Action{Post}, ToTell},
		{"a detail, and the beginning was not told, to a machine", hook, detail, Told{}, []Action{Post}, ToTell},
		{"became worse", teams, changed(detail, func(e *incident.Event) { e.Reason = incident.IsWorse }), knows(opened), []Action{Post}, ToTell},
		{"failed again", teams, changed(detail, func(e *incident.Event) { e.Reason = incident.FailedAgain }), knows(opened), []Action{Post}, ToTell},
		{"a remedy did not help", teams, changed(detail, func(e *incident.Event) { e.Reason = incident.IsUnhelpful }), knows(opened), []Action{Post}, ToTell},
		{"a warning where warnings are wanted", least(mail, "warning"), warning, Told{}, []Action{Post}, ToTell},
		{"news where warnings are wanted", least(mail, "warning"), info, Told{}, nil, BelowSeverity},
		{"news where all is wanted", least(mail, "info"), info, Told{}, []Action{Post}, ToTell},
	} {
		got, next, reason := Decide(test.of, test.news, test.told)
		if diff := cmp.Diff(test.want, got); diff != "" || reason != test.reason {
			t.Errorf("%s: reason %q, want %q; actions (-want +got):\n%s", test.name, reason, test.reason, diff)
		}
		if len(got) == 0 && next != test.told {
			t.Errorf("%s: nothing is sent, and %+v is remembered", test.name, next)
		}
		if len(got) > 0 && !Wants(test.of, test.news) {
			t.Errorf("%s: it is sent, and there is no message of it", test.name)
		}
	}
}

// TestDecideWeek: a week is sent once, in its order, to those that hear of all; PagerDuty
// never hears of it, nor does a target that is for incidents from a severity on.
func TestDecideWeek(t *testing.T) {
	week := sample(t, "weekly-report")
	later := week
	later.Week = &Week{Result: week.Week.Result, To: week.Week.To.AddDate(0, 0, 7)}
	told := Told{Opened: week.Week.To}
	for _, test := range []struct {
		name   string
		of     target.Target
		news   Event
		told   Told
		want   []Action
		reason Reason
	}{
		{"a mail", target.Target{Kind: target.SNS}, week, Told{}, []Action{Post}, ToTell},
		{"a card", target.Target{Kind: target.Teams}, week, Told{}, []Action{Post}, ToTell},
		{"a webhook", target.Target{Kind: target.Webhook}, week, Told{}, []Action{Post}, ToTell},
		{"no alert", target.Target{Kind: target.PagerDuty}, week, told, nil, NoAlert},
		{"for all incidents", target.Target{Kind: target.SNS, Least: "info"}, week, told, nil, IncidentsOnly},
		{"for what is critical", target.Target{Kind: target.Teams, Least: "critical"}, week, Told{}, nil, IncidentsOnly},
		{"it comes again", target.Target{Kind: target.SNS}, week, told, nil, OlderNews},
		{"it comes again, a webhook", target.Target{Kind: target.Webhook}, week, told, nil, OlderNews},
		{"the next", target.Target{Kind: target.SNS}, later, told, []Action{Post}, ToTell},
		{"late, after the next", target.Target{Kind: target.SNS}, week, Told{Opened: later.Week.To}, nil, OlderNews},
	} {
		got, next, reason := Decide(test.of, test.news, test.told)
		want := test.told
		if len(test.want) > 0 {
			want = Told{Opened: test.news.Week.To}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || reason != test.reason || next != want {
			t.Errorf("%s: reason %q, remembered %+v; actions (-want +got):\n%s", test.name, reason, next, diff)
		}
		if wants := Wants(test.of, test.news); wants != (reason == ToTell || reason == OlderNews) {
			t.Errorf("%s: wanted %v", test.name, wants)
		}
	}
	if week.Subject() != "week" {
		t.Errorf("it is about %q", week.Subject())
	}
}

// TestRemembered: what a target knows after it was told.
func TestRemembered(t *testing.T) {
	opened, taken, resolved := sample(t, "incident-opened"), sample(t, "incident-acknowledged"), sample(t, "incident-resolved")
	acted := sample(t, "remedy-acted")
	of := func(n Event, open, acknowledged bool) Told {
		return Told{Opened: n.Incident.Opened, Sequence: n.Incident.Sequence, Open: open, Acknowledged: acknowledged}
	}
	again := changed(opened, func(e *incident.Event) { e.Opened, e.Sequence = e.Opened.Add(time.Hour), 1 })
	for name, test := range map[string]struct {
		kind       target.Kind
		news       Event
		told, want Told
	}{
		"it began":                         {target.PagerDuty, opened, Told{}, of(opened, true, false)},
		"somebody has it":                  {target.PagerDuty, taken, of(opened, true, false), of(taken, true, true)},
		"somebody has what was not told":   {target.PagerDuty, taken, Told{}, of(taken, true, true)},
		"it is over":                       {target.PagerDuty, resolved, of(taken, true, true), of(resolved, false, false)},
		"it began again, nobody has it":    {target.PagerDuty, again, of(taken, true, true), of(again, true, false)},
		"a remedy":                         {target.SNS, acted, of(opened, true, false), of(acted, true, false)},
		"a machine is told what was older": {target.Webhook, opened, of(resolved, false, false), of(resolved, false, false)},
		"a test":                           {target.SNS, Event{Type: Test, ID: "t", At: time.Now()}, of(opened, true, false), of(opened, true, false)},
		"a test of PagerDuty":              {target.PagerDuty, Event{Type: Test, ID: "t", At: time.Now()}, of(opened, true, false), of(opened, true, false)},
	} {
		actions, got, reason := Decide(target.Target{Kind: test.kind}, test.news, test.told)
		if len(actions) == 0 || reason != ToTell || got != test.want {
			t.Errorf("%s: %v (%s), remembered %+v, want %+v", name, actions, reason, got, test.want)
		}
	}
}

// TestWants: there is a message on the queue only for whom it may ever be.
func TestWants(t *testing.T) {
	detail := changed(sample(t, "incident-changed"), func(e *incident.Event) { e.Reason = incident.MoreAffected })
	for _, test := range []struct {
		kind target.Kind
		news Event
		want bool
	}{
		{target.PagerDuty, detail, false},
		{target.Teams, detail, false},
		{target.SNS, detail, false},
		{target.Webhook, detail, true},
		{target.PagerDuty, sample(t, "remedy-acted"), false},
		{target.SNS, sample(t, "remedy-acted"), true},
		{target.PagerDuty, sample(t, "incident-acknowledged"), true},
		{target.Teams, sample(t, "incident-acknowledged"), false},
		{target.PagerDuty, sample(t, "incident-resolved"), true},
		// What it gets of these hangs on what it knows then.
		{target.PagerDuty, changed(sample(t, "incident-resolved"), func(e *incident.Event) { e.Resolution = incident.GivenUpOn }), true},
		{target.Teams, changed(sample(t, "incident-opened"), func(e *incident.Event) { e.Silenced = true }), true},
	} {
		if got := Wants(target.Target{Kind: test.kind, Least: "critical"}, test.news); got != test.want {
			t.Errorf("%s, %s %s: %v", test.kind, test.news.Type, test.news.Incident.Reason, got)
		}
	}
}

// TestAnyOrder: in whichever order the events of an incident come, and however often,
// PagerDuty's alert ends as the incident does, and is never opened after it was resolved.
func TestAnyOrder(t *testing.T) {
	story := []Event{sample(t, "incident-opened"), sample(t, "incident-changed"), sample(t, "incident-acknowledged"), sample(t, "incident-resolved")}
	var tried int
	var play func(left, order []Event)
	play = func(left, order []Event) {
		if len(left) > 0 {
			for i := range left {
				rest := append(append([]Event{}, left[:i]...), left[i+1:]...)
				play(rest, append(append([]Event{}, order...), left[i]))
			}
			return
		}
		tried++
		told, open := Told{}, false
		for _, n := range append(order, order[0]) {
			actions, next, _ := Decide(target.Target{Kind: target.PagerDuty}, n, told)
			told = next
			for _, a := range actions {
				open = a != Resolve
			}
		}
		if open {
			t.Errorf("the alert is open at the end: %v", order)
		}
	}
	play(story, nil)
	if tried != 24 {
		t.Errorf("%d orders", tried)
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// samples are events of events/out, of each kind that people get.
func samples(t *testing.T) []Event {
	t.Helper()
	var list []Event
	for _, name := range []string{"incident-opened", "incident-changed", "incident-acknowledged", "remedy-acted", "incident-resolved", "incident-reopened", "test-message", "weekly-report"} {
		list = append(list, sample(t, name))
	}
	list[0].Words.Docs = "https://docs.example.com/checks/route-no-egress.html"
	return list
}

// TestGolden: each event as each form, whole.
func TestGolden(t *testing.T) {
	var mail, pager, jsm, q, teams, slack bytes.Buffer
	for _, n := range samples(t) {
		m := ToMail(n)
		fmt.Fprintf(&mail, "=== %s\n%v\n%s\n\n%s\n", n.Type, m.Attributes, m.Subject, m.Body)
		for _, a := range []Action{Trigger, Acknowledge, Resolve} {
			if n.Week != nil {
				break // it hears of none (TestDecideWeek)
			}
			raw, err := json.MarshalIndent(ToPagerDuty(n, a), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&pager, "=== %s: %s\n%s\n", n.Type, a, raw)
			request := ToJSM(n, a)
			fmt.Fprintf(&jsm, "=== %s: %s\nPOST %s\n%s\n", n.Type, a, request.Path, testfile.JSON(t, request.Body))
		}
		raw, err := ToAmazonQ(n)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&q, "=== %s\n", n.Type)
		if err := json.Indent(&q, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		q.WriteByte('\n')
		raw, err = ToTeams(n)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&teams, "=== %s\n", n.Type)
		if err := json.Indent(&teams, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		teams.WriteByte('\n')
		if raw, err = ToSlack(n); err != nil {
			t.Fatal(err)
		}
		var in SlackMessage
		testfile.Parse(t, raw, &in)
		fmt.Fprintf(&slack, "=== %s\n%s\n", n.Type, in.Text)
		for _, block := range in.Blocks {
			fmt.Fprintf(&slack, "--- %s\n", block.Type)
			for _, section := range block.Elements {
				line := ""
				for _, run := range section.Elements {
					line += run.Text
					if run.URL != "" {
						line += " (" + run.URL + ")"
					}
				}
				fmt.Fprintf(&slack, "%s: %s\n", strings.TrimPrefix(section.Type, "rich_text_"), line)
			}
		}
	}
	for name, got := range map[string][]byte{"mail": mail.Bytes(), "pagerduty": pager.Bytes(), "jsm": jsm.Bytes(), "amazonq": q.Bytes(), "teams": teams.Bytes(), "slackwebhook": slack.Bytes()} {
		file := filepath.Join("testdata", name+".golden")
		if *update {
			testfile.Write(t, file, got)
		}
		want := testfile.Read(t, file)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got, -update writes it anew):\n%s", file, diff)
		}
	}
}

// TestAmazonQEscapes: what comes from AWS is no mention and no link in the chat.
func TestAmazonQEscapes(t *testing.T) {
	n := sample(t, "incident-opened")
	n.Words.Headline, n.Words.Lines = "<!channel> & <https://evil.example|click>", []incident.Line{{Label: "Why", Text: "<@U1>"}, {Label: "Do", Text: "<!here>"}}
	n.Words.Command, n.Words.Console, n.Words.Docs = "echo <x>", "", ""
	raw, err := ToAmazonQ(n)
	if err != nil {
		t.Fatal(err)
	}
	var q AmazonQ
	testfile.Parse(t, raw, &q)
	for _, text := range append([]string{q.Content.Title, q.Content.Description, q.Metadata.Summary}, q.Content.NextSteps...) {
		if strings.ContainsAny(text, "<>") {
			t.Errorf("%q can be a mention or a link", text)
		}
	}
}

// TestJSMLimits: however long the words are, an alert is taken.
func TestJSMLimits(t *testing.T) {
	n := changed(sample(t, "incident-opened"), func(e *incident.Event) { e.Resource = strings.Repeat("r", 2000) })
	n.Words.Headline, n.Words.Lines = strings.Repeat("ä", 3000), []incident.Line{{Label: "Why", Text: strings.Repeat("w", 30_000)}}
	const key = "0f1e1b1a-1111-4222-8333-444455556666"
	fake := faketargets.NewJSM(key, time.Now)
	for _, a := range []Action{Trigger, Trigger, Acknowledge, Resolve} {
		request := ToJSM(n, a)
		r := httptest.NewRequest(http.MethodPost, request.Path, bytes.NewReader(testfile.JSON(t, request.Body)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "GenieKey "+key)
		w := httptest.NewRecorder()
		fake.ServeHTTP(w, r)
		if w.Code != http.StatusAccepted {
			t.Errorf("%s: %d %s", a, w.Code, w.Body)
		}
	}
	list := fake.Alerts()
	if len(list) != 1 || list[0].State != faketargets.Resolved || strings.Join(list[0].Log, " ") != "create create acknowledge close" {
		t.Errorf("alerts %+v", list)
	}
}

// TestRespond: what a responder did is taken once, of this opening's alert alone.
func TestRespond(t *testing.T) {
	opened := time.Date(2026, 11, 20, 14, 59, 4, 500, time.UTC)
	now := opened.Add(10 * time.Minute)
	sent := Told{Opened: opened, Sequence: 1, Open: true}
	alert := func(state report.AlertState, after time.Duration) Alert {
		return Alert{State: state, Created: opened.Add(time.Second), Changed: opened.Add(after).Truncate(time.Second), By: "Ana"}
	}
	acknowledged, resolved := sent, sent
	acknowledged.Acknowledged, resolved.Resolved = true, true
	undated := Alert{State: report.AlertAcknowledged, Created: opened.Add(time.Second)}
	for name, test := range map[string]struct {
		told   Told
		alerts []Alert
		next   Told
		want   Reason
	}{
		"none":                             {sent, nil, sent, NoneThere},
		"nobody has it":                    {sent, []Alert{alert(report.AlertTriggered, time.Second)}, sent, StillTriggered},
		"acknowledged before it came back": {sent, []Alert{alert(report.AlertAcknowledged, -time.Second)}, sent, EarlierAlert},
		"resolved before it came back":     {sent, []Alert{alert(report.AlertTriggered, time.Second), alert(report.AlertResolved, -time.Hour)}, sent, StillTriggered},
		"in a time that has not come":      {sent, []Alert{alert(report.AlertAcknowledged, time.Hour)}, sent, EarlierAlert},
		"of no known state":                {sent, []Alert{alert("snoozed", time.Minute)}, sent, EarlierAlert},
		"made before, of no known time":    {sent, []Alert{{State: report.AlertAcknowledged, Created: opened.Add(-time.Hour)}}, sent, EarlierAlert},
		"known already":                    {acknowledged, []Alert{alert(report.AlertAcknowledged, time.Minute)}, acknowledged, OlderNews},
		"resolved, known already":          {resolved, []Alert{alert(report.AlertResolved, time.Minute)}, resolved, OlderNews},
		"never sent":                       {Told{}, []Alert{alert(report.AlertAcknowledged, time.Minute)}, Told{}, OlderNews},
		"resolved, and triggered again":    {sent, []Alert{alert(report.AlertTriggered, 2*time.Minute), alert(report.AlertResolved, time.Minute)}, sent, StillTriggered},
		"acknowledged":                     {sent, []Alert{alert(report.AlertAcknowledged, time.Minute)}, acknowledged, ToTell},
		"within the opening's second":      {sent, []Alert{alert(report.AlertAcknowledged, 0)}, acknowledged, ToTell},
		"acknowledged, of no known time":   {sent, []Alert{undated}, acknowledged, ToTell},
		"acknowledged after a resolved":    {sent, []Alert{alert(report.AlertResolved, 2*time.Minute), alert(report.AlertAcknowledged, time.Minute)}, acknowledged, ToTell},
		"acknowledged in one of two":       {sent, []Alert{alert(report.AlertTriggered, time.Second), alert(report.AlertAcknowledged, time.Minute)}, acknowledged, ToTell},
		"resolved after acknowledged":      {sent, []Alert{alert(report.AlertAcknowledged, time.Minute), alert(report.AlertResolved, 2*time.Minute)}, acknowledged, ToTell},
		"resolved":                         {sent, []Alert{alert(report.AlertResolved, time.Minute)}, resolved, ToTell},
	} {
		got, next, reason := Respond(test.told, test.alerts, now)
		if reason != test.want || next != test.next || (reason == ToTell) == (got == Alert{}) {
			t.Errorf("%s: %s, %+v, %+v; want %s, %+v", name, reason, next, got, test.want, test.next)
		}
	}
	// What comes back, or gets worse, is awaited again.
	opening := sample(t, "incident-reopened")
	for _, before := range []Told{acknowledged, resolved} {
		before.Opened = opening.Incident.Opened.Add(-time.Hour)
		if _, next, reason := Decide(target.Target{Kind: target.PagerDuty}, opening, before); reason != ToTell || !next.Awaits() {
			t.Errorf("after %+v: %s, %+v", before, reason, next)
		}
	}
}

// TestResponder: a name is one short line that turns nothing around.
func TestResponder(t *testing.T) {
	for name, want := range map[string]string{
		"Ana Example": "Ana Example", " Ana\n\tExample ": "Ana Example", "": "", "ana_b@example.com": "ana_b@example.com",
		"<!channel> <https://evil.example|Ana>": "!channel https://evil.exampleAna", "Ana\u202eelpmaxE\x00\xff": "AnaelpmaxE",
		strings.Repeat("ä", 300): strings.Repeat("ä", 59) + "…",
	} {
		if got := Responder(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestNamed: an incident's name is read back whole, whatever its resource is called.
func TestNamed(t *testing.T) {
	n := changed(sample(t, "incident-opened"), func(e *incident.Event) { e.Resource = "arn:aws:x/y#z/1" })
	got, ok := Named(n.Subject())
	if want := *n.Incident; !ok || (Event{Incident: &got}).Subject() != n.Subject() || got.Check != want.Check || got.Resource != want.Resource || got.Cluster != want.Cluster {
		t.Errorf("%q is %+v, %v", n.Subject(), got, ok)
	}
	for _, about := range []string{"week", "test", "alerts", "1/2/3#x"} {
		if got, ok := Named(about); ok {
			t.Errorf("%q names %+v", about, got)
		}
	}
}

// TestUrgency: the state as a word, in a color of Adaptive Cards, and as PagerDuty's severity.
func TestUrgency(t *testing.T) {
	for _, test := range []struct {
		of            incident.Event
		want, color   string
		pagerDutySays string
	}{
		{incident.Event{Kind: incident.EventOpened, State: incident.Open, Severity: incident.Critical}, "Critical", "Attention", "critical"},
		{incident.Event{Kind: incident.EventReopened, State: incident.Open, Severity: incident.Warning}, "Warning", "Warning", "warning"},
		{incident.Event{Kind: incident.EventOpened, State: incident.Open, Severity: incident.Info}, "Info", "Accent", "info"},
		{incident.Event{Kind: incident.EventAcknowledged, State: incident.Open, Severity: incident.Critical}, "Acknowledged", "Accent", "critical"},
		{incident.Event{Kind: incident.EventActed, Reason: incident.RemedyDone, Severity: incident.Critical}, "Remedy done", "Good", "critical"},
		{incident.Event{Kind: incident.EventActed, Reason: incident.RemedyFailed, Severity: incident.Critical}, "Remedy not done", "Warning", "critical"},
		{incident.Event{Kind: incident.EventChanged, Reason: incident.RemedyDone, State: incident.Open, Severity: incident.Critical}, "Critical", "Attention", "critical"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.Proved, Severity: incident.Critical}, "Resolved", "Good", "critical"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.Unproved, Severity: incident.Warning}, "Resolved", "Good", "warning"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.Withdrawn, Severity: incident.Warning}, "Closed", "Accent", "warning"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.Superseded, Severity: incident.Critical}, "Closed", "Accent", "critical"},
		{incident.Event{Kind: incident.EventResolved, State: incident.Closed, Resolution: incident.GivenUpOn, Severity: incident.Critical}, "Critical", "Attention", "critical"},
		{incident.Event{Kind: incident.EventOpened, State: incident.Open, Resolution: incident.Proved, Severity: incident.Warning}, "Warning", "Warning", "warning"},
		{incident.Event{Kind: incident.EventChanged, State: incident.Cleared, Severity: incident.Critical}, "Cause gone", "Warning", "critical"},
	} {
		n := Event{Incident: &test.of, Type: test.of.Kind.DetailType(), At: time.Unix(0, 0)}
		if got := Urgency(n); got != test.want || color(n) != test.color || ToPagerDuty(n, Trigger).Payload.Severity != test.pagerDutySays {
			t.Errorf("%+v: %q, %q, %q; want %q, %q, %q", test.of, got, color(n), ToPagerDuty(n, Trigger).Payload.Severity, test.want, test.color, test.pagerDutySays)
		}
	}
}

func TestSubject(t *testing.T) {
	for text, want := range map[string]string{
		"a → b · c – d’s…":             "a -> b - c - d's...",
		"a\nb\rc\td\x00e\x7ff\x1b":     "a b c def",
		"~ ü 日本 }":                     "~ ? ?? }",
		strings.Repeat("x", 99):        strings.Repeat("x", 99),
		strings.Repeat("x", 100):       strings.Repeat("x", 96) + "...",
		strings.Repeat("→", 49) + "x":  strings.Repeat("->", 49) + "x",
		strings.Repeat("→", 49) + "xy": strings.Repeat("->", 48) + "...",
	} {
		if got := subject(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestCardsThatAreTooLarge: what is left out first is what people can do without, and the
// headline always arrives.
func TestCardsThatAreTooLarge(t *testing.T) {
	n := sample(t, "incident-opened")
	n.Words.Docs = ""
	large := strings.Repeat("x", maxTeams)
	short := incident.Words{Headline: "It broke.", Command: "fix it", Lines: []incident.Line{{Label: "Impact", Text: "first"}, {Label: "Why", Text: "second"}}}
	for name, test := range map[string]struct {
		change func(*incident.Words)
		want   string
	}{
		"it fits":             {func(*incident.Words) {}, "It broke.|first|second|fix it"},
		"a long command":      {func(w *incident.Words) { w.Command = large }, "It broke.|first|second"},
		"a long second line":  {func(w *incident.Words) { w.Lines[1].Text = large }, "It broke.|first"},
		"a long first line":   {func(w *incident.Words) { w.Lines[0].Text = large }, "It broke."},
		"a long line alone":   {func(w *incident.Words) { w.Lines = []incident.Line{{Label: "Why", Text: large}} }, "It broke."},
		"a long headline":     {func(w *incident.Words) { w.Headline = large; w.Lines = nil }, strings.Repeat("x", maxHeadline-1) + "…"},
		"a headline as it is": {func(w *incident.Words) { w.Headline = large[:maxHeadline]; w.Lines[0].Text = large }, large[:maxHeadline]},
	} {
		n := n
		n.Words = short
		n.Words.Lines = append([]incident.Line{}, short.Lines...)
		test.change(&n.Words)
		body, err := ToTeams(n)
		if err != nil {
			t.Fatal(err)
		}
		var sent Teams
		testfile.Parse(t, body, &sent)
		var said []string
		blocks := sent.Attachments[0].Content.Body
		for _, block := range blocks[:len(blocks)-1] { // the last is the spoke
			said = append(said, block.Inlines[len(block.Inlines)-1].Text)
		}
		if got := strings.Join(said, "|"); got != test.want || len(body) > maxTeams {
			t.Errorf("%s: %d bytes: %.80q, want %.80q", name, len(body), got, test.want)
		}
	}
	n.Words = short
	overhead := func() int {
		body, err := ToTeams(n)
		if err != nil {
			t.Fatal(err)
		}
		return len(body) - len(n.Words.Command)
	}()
	n.Words.Command = strings.Repeat("x", maxTeams-overhead)
	if body, err := ToTeams(n); err != nil || len(body) != maxTeams || !bytes.Contains(body, []byte(n.Words.Command)) {
		t.Errorf("a card of just what Teams takes: %d bytes, %v", len(body), err)
	}
	n.Words = incident.Words{Headline: "x", Console: "https://example.com/" + large}
	if body, err := ToTeams(n); err == nil || !strings.Contains(err.Error(), "exceeds the") {
		t.Errorf("an address that is too long: %d bytes, %v", len(body), err)
	}
}

// TestCardsOfWeeks: what has no room is at the end, and is counted; the headline and what to do
// next always arrive.
func TestCardsOfWeeks(t *testing.T) {
	n := sample(t, "weekly-report")
	first := len(n.Words.Lines)
	for range 300 {
		n.Words.Lines = append(n.Words.Lines, incident.Line{Text: strings.Repeat("<", 100)})
	}
	body, err := ToTeams(n)
	if err != nil || len(body) > maxTeams || len(body) < maxTeams-2000 {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	var sent Teams
	testfile.Parse(t, body, &sent)
	blocks := sent.Attachments[0].Content.Body
	if blocks[1].Inlines[0].Text != "Next" || len(blocks) < first {
		t.Errorf("%d blocks of %d lines, the second is %+v", len(blocks), first, blocks[1])
	}
	if last := blocks[len(blocks)-1].Inlines; last[0].Text != "More  " || last[1].Text != fmt.Sprintf("%d more lines in Slack", first+300-(len(blocks)-2)) {
		t.Errorf("the last block is %+v", last)
	}
}

// TestPagerDutyLimits: summaries and keys at the length that PagerDuty takes are as they are.
func TestPagerDutyLimits(t *testing.T) {
	n := sample(t, "incident-opened")
	n.Words.Headline = strings.Repeat("ü", maxSummary)
	if got := ToPagerDuty(n, Trigger).Payload.Summary; got != n.Words.Headline {
		t.Errorf("a summary of the limit is cut to %d characters", utf8.RuneCountInString(got))
	}
	n.Words.Headline += "ü"
	if got := ToPagerDuty(n, Trigger).Payload.Summary; utf8.RuneCountInString(got) != maxSummary || !strings.HasSuffix(got, "ü…") {
		t.Errorf("a longer one has %d characters", utf8.RuneCountInString(got))
	}
	about := strings.Repeat("a", maxDedup-len("rollcall/"))
	if got := Key(about); got != "rollcall/"+about {
		t.Errorf("a key of the limit: %s", got)
	}
	if got := Key(about + "a"); len(got) != len("rollcall/")+64 {
		t.Errorf("a longer one: %s", got)
	}
}

// TestDelivery: the name of a delivery is that of the documentation.
func TestDelivery(t *testing.T) {
	// printf 'webhook=x\nevent' | sha256sum | cut -c1-32
	if got := Delivery("webhook=x", "event"); got != "4b54d06dc31a35b91f57dd5e8732851f" {
		t.Error(got)
	}
}

func TestFuture(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
	late := now.Add(6 * time.Minute)
	for name, tt := range map[string]struct {
		n    Event
		want bool
	}{
		"now":                  {Event{At: now.Add(5 * time.Minute)}, false},
		"later":                {Event{At: late}, true},
		"an opening to come":   {Event{At: now, Incident: &incident.Event{Opened: late}}, true},
		"a beginning to come":  {Event{At: now, Incident: &incident.Event{Began: late}}, true},
		"an end to come":       {Event{At: now, Incident: &incident.Event{Resolved: late}}, true},
		"an incident of today": {Event{At: now, Incident: &incident.Event{Opened: now}}, false},
		"a week to come":       {Event{At: now, Week: &Week{To: late}}, true},
		"a week that is over":  {Event{At: now, Week: &Week{To: now}}, false},
	} {
		if got := tt.n.Future(now); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestWithWeek: of a week is sent what its record has the digest of, without what else is in
// the event.
func TestWithWeek(t *testing.T) {
	raw := []byte(`{"source":"rollcall","detail":{"id":"weekly/2026-11-23","to":"2026-11-23T00:00:00Z","words":{"headline":"Week of 16 Nov"},"note":"forged"}}`)
	_, digest, err := incident.ReadWeek([]byte(`{"words":{"headline":"Week of 16 Nov"},"id":"weekly/2026-11-23","to":"2026-11-23T00:00:00Z"}`))
	if err != nil {
		t.Fatal(err)
	}
	n, same, err := Event{Raw: raw, ID: "weekly/2026-11-23"}.WithWeek(digest)
	if err != nil || !same || n.ID != "weekly/2026-11-23" || strings.Contains(string(n.Raw), "forged") || !strings.Contains(string(n.Raw), "Week of 16 Nov") {
		t.Errorf("%t, %v, %s", same, err, n.Raw)
	}
	if n, same, err := (Event{Raw: raw}).WithWeek("another"); err != nil || same || n.Raw != nil {
		t.Errorf("another digest: %t, %v, %s", same, err, n.Raw)
	}
	for _, broken := range []string{`[]`, `{"detail":[]}`} {
		if _, same, err := (Event{Raw: []byte(broken)}).WithWeek(digest); err == nil || same {
			t.Errorf("%s: %t, %v", broken, same, err)
		}
	}
}

func TestWithEvent(t *testing.T) {
	n, err := Event{Raw: []byte(`{"source":"rollcall","detail":{"title":"forged"}}`)}.WithEvent(incident.Event{ID: "a/2", Cluster: "prod", Title: "recorded"})
	if err != nil || n.ID != "a/2" || n.Incident.Title != "recorded" || n.Words.Headline == "" {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := (Event{Raw: []byte(`[]`)}).WithEvent(incident.Event{}); err == nil {
		t.Error("an envelope that is none is taken")
	}
}

// TestToSlack holds a message by an incoming webhook block for block, and what is left out of
// one with too many lines.
func TestToSlack(t *testing.T) {
	bold, italic := &SlackStyle{Bold: true}, &SlackStyle{Italic: true}
	paragraph := func(runs ...SlackRun) SlackSection { return SlackSection{"rich_text_section", runs} }
	text := func(s string, style *SlackStyle) SlackRun { return SlackRun{Type: "text", Text: s, Style: style} }
	read := func(w incident.Words) (m SlackMessage) {
		raw, err := ToSlack(Event{ID: "e", Words: w})
		if err == nil {
			err = json.Unmarshal(raw, &m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	got := read(incident.Words{
		Headline: "prod", Lines: []incident.Line{{Label: "Why", Text: "no route"}, {Label: "Done"}, {Text: "one step"}}, Command: strings.Repeat("é", 3*maxHeadline+1),
		Console: "https://console.example.com", Docs: "https://docs.example.com", Logs: "https://logs.example.com",
	}).Blocks
	want := []SlackBlock{
		{"rich_text", []SlackSection{paragraph(text(Urgency(Event{ID: "e"})+" · prod", bold))}},
		{"rich_text", []SlackSection{
			paragraph(text("Why", bold), text("\u2003no route", nil)), paragraph(text("Done", bold)), paragraph(text("• one step", nil)),
			{"rich_text_preformatted", []SlackRun{text(strings.Repeat("é", 3*maxHeadline-1)+"…", nil)}},
		}},
		{"rich_text", []SlackSection{
			paragraph(
				SlackRun{Type: "link", Text: "Open in console", URL: "https://console.example.com"}, text(" · ", nil),
				SlackRun{Type: "link", Text: "About this check", URL: "https://docs.example.com"}, text(" · ", nil),
				SlackRun{Type: "link", Text: "Logs", URL: "https://logs.example.com"}),
			paragraph(text(slackLimits, italic)),
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Six lines of a thousand characters are all that fits.
	full := slices.Repeat([]incident.Line{{Label: strings.Repeat("l", 10), Text: strings.Repeat("x", 990)}}, maxSlack/1000)
	for more, last := range map[int]string{0: "\u2003" + strings.Repeat("x", 990), 1: "1 more line has no room here.", 3: "3 more lines have no room here."} {
		lines := append(slices.Clone(full), slices.Repeat([]incident.Line{{Text: "y"}}, more)...)
		shown := read(incident.Words{Headline: "prod", Lines: lines}).Blocks[1].Elements
		runs := shown[len(shown)-1].Elements
		if rows := len(full) + min(more, 1); len(shown) != rows || runs[len(runs)-1].Text != last {
			t.Errorf("%d too many: %d lines, the last %q", more, len(shown), runs[len(runs)-1].Text)
		}
	}
	// Without a link and without a footer there is no third block but the limits.
	if m := read(incident.Words{Headline: "prod"}); len(m.Blocks) != 2 || len(m.Blocks[1].Elements) != 1 {
		t.Errorf("of a headline alone: %+v", m.Blocks)
	}
}
