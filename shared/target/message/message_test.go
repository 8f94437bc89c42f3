package message

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/faketargets"
	"rollcall/shared/incident"
	"rollcall/shared/target"
)

// sample is an event of events/out.
func sample(t testing.TB, name string) News {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../../events/out", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := Parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func changed(n News, change func(*incident.Event)) News {
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
		"a silent test":    `{"source":"rollcall","detail-type":"Rollcall Test Message","detail":{"id":"1","at":"2026-11-20T15:00:00Z"}}`,
		"a detail of text": `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":"x"}`,
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
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
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

func TestDecide(t *testing.T) {
	opened, resolved := sample(t, "incident-opened"), sample(t, "incident-resolved")
	reopened, taken, acted := sample(t, "incident-reopened"), sample(t, "incident-acknowledged"), sample(t, "remedy-acted")
	detail := changed(sample(t, "incident-changed"), func(e *incident.Event) { e.Reason = incident.MoreAffected })
	missed := changed(detail, func(e *incident.Event) { e.Reason = incident.HasMissed })
	warning := changed(opened, func(e *incident.Event) { e.Severity = incident.Warning })
	silenced := func(n News) News { return changed(n, func(e *incident.Event) { e.Silenced = true }) }
	unsilenced := changed(detail, func(e *incident.Event) { e.Reason = incident.IsUnsilenced })
	givenUp := changed(resolved, func(e *incident.Event) { e.Resolution = incident.GivenUpOn })
	try := News{Type: Test, ID: "t", At: time.Now()}

	knows := func(n News) Told { return Told{Opened: n.Incident.Opened, Sequence: n.Incident.Sequence, Open: true} }
	pd, teams, mail, hook := target.Target{Kind: target.PagerDuty}, target.Target{Kind: target.Teams}, target.Target{Kind: target.SNS}, target.Target{Kind: target.Webhook}
	critical := func(of target.Target) target.Target { of.Least = "critical"; return of }
	for _, test := range []struct {
		name   string
		of     target.Target
		news   News
		told   Told
		want   []Action
		reason Reason
	}{
		{"an alert", pd, opened, Told{}, []Action{Trigger}, ToTell},
		{"a card", teams, opened, Told{}, []Action{Post}, ToTell},
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
	} {
		got, next, reason := Decide(test.of, test.news, test.told)
		if diff := cmp.Diff(test.want, got); diff != "" || reason != test.reason {
			t.Errorf("%s: reason %q, want %q; actions (-want +got):\n%s", test.name, reason, test.reason, diff)
		}
		if len(got) == 0 && next != test.told {
			t.Errorf("%s: nothing is told, and %+v is remembered", test.name, next)
		}
		if len(got) > 0 && !Wants(test.of, test.news) {
			t.Errorf("%s: it is told, and there is no message of it", test.name)
		}
	}
}

// TestAnyOrder: in whichever order the events of an incident come, and however often,
// PagerDuty's alert ends as the incident does, and is never opened after it was resolved.
func TestAnyOrder(t *testing.T) {
	story := []News{sample(t, "incident-opened"), sample(t, "incident-changed"), sample(t, "incident-acknowledged"), sample(t, "incident-resolved")}
	var tried int
	var play func(left, order []News)
	play = func(left, order []News) {
		if len(left) > 0 {
			for i := range left {
				rest := append(append([]News{}, left[:i]...), left[i+1:]...)
				play(rest, append(append([]News{}, order...), left[i]))
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

// Each event that PagerDuty and Teams are sent fits what they publish.
func TestWhatIsSentFitsTheSchemas(t *testing.T) {
	for file, of := range map[string]func(News) ([]byte, error){
		"pagerduty-events-v2.json": func(n News) ([]byte, error) {
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
			for _, n := range []News{sample(t, name), hostile} {
				body, err := of(n)
				if err != nil {
					t.Fatal(err)
				}
				var doc any
				if err := json.Unmarshal(body, &doc); err != nil {
					t.Fatal(err)
				}
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

Why: rtb-0cd2e3f4a5b6c7d8e (us-west-2a) has only 10.42.0.0/16 → local.

Do: Add a default route to a NAT gateway.

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

// An event of an earlier release has no words: it is told in those that it has.
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
