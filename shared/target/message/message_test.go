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
		"nothing of whom": `{"detail-type":"Rollcall Incident Opened","detail":{"id":"1","kind":"Opened","at":"2026-11-20T15:00:00Z","cluster":"c","check":"a/b","resource":"r"}}`,
		"another's": `{"source":"aws.ec2","detail-type":"Rollcall Incident Opened",` +
			`"detail":{"id":"1","kind":"Opened","at":"2026-11-20T15:00:00Z","cluster":"c","check":"a/b","resource":"r"}}`,
		"no cluster":        `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{"id":"1","kind":"Opened","at":"2026-11-20T15:00:00Z","check":"a/b","resource":"r"}}`,
		"no check":          `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{"id":"1","kind":"Opened","at":"2026-11-20T15:00:00Z","cluster":"c","resource":"r"}}`,
		"no time":           `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":{"id":"1","kind":"Opened","cluster":"c","check":"a/b","resource":"r"}}`,
		"a test of numbers": `{"source":"rollcall","detail-type":"Rollcall Test Message","detail":{"id":1}}`,
		"a test without id": `{"source":"rollcall","detail-type":"Rollcall Test Message","detail":{"at":"2026-11-20T15:00:00Z","words":{"headline":"x"}}}`,
		"a silent test":     `{"source":"rollcall","detail-type":"Rollcall Test Message","detail":{"id":"1","at":"2026-11-20T15:00:00Z"}}`,
		"a detail of text":  `{"source":"rollcall","detail-type":"Rollcall Incident Opened","detail":"x"}`,
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
