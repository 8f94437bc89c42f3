package interaction

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return []byte(url.Values{"payload": {string(data)}}.Encode())
}

func TestParse(t *testing.T) {
	pressed := Payload{
		Type: BlockActions, App: "A0ROLLCALL", Team: "T0ACME0001", User: "U0ONCALL01", Name: "oncall", Home: "T0ACME0001",
		Channel: "C0123456789", TS: "1763650800.000100", ResponseURL: "https://hooks.slack.com/actions/T0ACME0001/1234567890123/Sec0retSec0retSec0ret",
	}
	with := func(p Payload, change func(*Payload)) Payload { change(&p); return p }
	for name, want := range map[string]Payload{
		"button": with(pressed, func(p *Payload) {
			p.Actions = []Action{{ID: "approve", Block: "do", Type: "button", Value: `{"v":1}`}}
		}),
		"menu": with(pressed, func(p *Payload) {
			p.Actions = []Action{{ID: "mute", Block: "do", Type: "static_select", Option: "1h"}}
		}),
		"link": with(pressed, func(p *Payload) {
			p.Actions = []Action{{ID: "console", Block: "do", Type: "button", Link: true}}
		}),
		"thread": with(pressed, func(p *Payload) {
			p.Thread = "1763650700.000200"
			p.Actions = []Action{{ID: "approve", Block: "do", Type: "button", Value: `{"v":1}`}}
		}),
		"ephemeral": with(pressed, func(p *Payload) {
			p.Channel, p.User, p.Home = "D0123456789", "W0ONCALL01", "" // Slack does not say it of an ephemeral message
			p.Actions = []Action{{ID: "approve", Block: "do", Type: "button", Value: `{"v":1}`}}
		}),
		"home-tab": {
			Type: BlockActions, App: "A0ROLLCALL", Team: "T0ACME0001", User: "U0ONCALL01", Name: "oncall", Home: "T0ACME0001", OnHome: true,
			Actions: []Action{{ID: "approve", Block: "do", Type: "button", Value: `{"v":1}`}},
		},
	} {
		got, err := Parse(sample(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name != "ephemeral" && name != "home-tab" && !json.Valid(got.Blocks) {
			t.Errorf("%s: the message's blocks are %q", name, got.Blocks)
		}
		got.Blocks = nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, want := range map[string]Reason{
		"several": SeveralAtOnce, "nothing": Malformed, "shortcut": NotPressed, "message-action": NotPressed,
		"view-submission": NotPressed, "view-closed": NotPressed, "options-asked": NotPressed, "old-attachment": NotPressed,
	} {
		got, err := Parse(sample(t, name))
		if reasonOf(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if name == "message-action" && got.ResponseURL == "" {
			t.Error("whom to tell is not known")
		}
	}
	for body, want := range map[string]Reason{
		"": Malformed, "payload": Malformed, "payload=": Malformed, "payload=null": NotPressed, "payload=[]": Malformed,
		"payload=%zz": Malformed, "%zz&payload={}": Malformed, "ssl_check=1&payload={}": NotPressed, "payload={}&payload={}": Malformed, "a;b": Malformed, "payload={}{}": Malformed,
		"payload=" + strings.Repeat("[", 20000):           Malformed,
		`payload={"type":"block_actions","actions":[{}]}`: Malformed,
		`payload={"type":"block_actions","user":{"id":"U1<!here>"},"channel":{"id":"C012"},"message":{"ts":"1.2"},"actions":[{}]}`:               Malformed,
		`payload={"type":"block_actions","user":{"id":"U012"},"channel":{"id":"../x"},"message":{"ts":"1.2"},"actions":[{}]}`:                    Malformed,
		`payload={"type":"block_actions","user":{"id":"U012"},"channel":{"id":"C012"},"message":{"ts":"now"},"actions":[{}]}`:                    Malformed,
		`payload={"type":"block_actions","user":{"id":"U012"},"channel":{"id":"C012"},"message":{"ts":"1.2","thread_ts":"x"},"actions":[{}]}`:    Malformed,
		`payload={"type":"block_actions","user":{"id":"U012"},"channel":{"id":"C012"},"message":{"ts":"1.2"},"actions":[{"action_id":{"a":1}}]}`: Malformed,
	} {
		if _, err := Parse([]byte(body)); reasonOf(err) != want {
			t.Errorf("%.80s: %v, want %s", body, err, want)
		}
	}
	if p, err := Parse([]byte("ssl_check=1&token=x")); err != nil || p.Type != SSLCheck {
		t.Errorf("ssl_check: %+v, %v", p, err)
	}
}

// TestWhereWhoPressedIsFrom: what Slack says of the person is taken as it is, and
// what it says of the installation is not taken for it.
func TestWhereWhoPressedIsFrom(t *testing.T) {
	const user, team = `"team_id": "T0ACME0001"`, `"team": {
  "id": "T0ACME0001"`
	other := func(text string) string { return strings.ReplaceAll(text, "T0ACME0001", "T0OTHER001") }
	form, err := url.ParseQuery(string(sample(t, "button")))
	if err != nil {
		t.Fatal(err)
	}
	payload := form.Get("payload")
	for _, part := range []string{user, team, `"enterprise": null`} {
		if !strings.Contains(payload, part) {
			t.Fatalf("the sample lacks %s", part)
		}
	}
	const grid, ofGrid = `"enterprise": {"id": "E0ACME0001"}`, `, "enterprise_id": "E0ACME0001"`
	for name, test := range map[string]struct {
		change           []string
		home, enterprise string
	}{
		"a workspace alone":                    {nil, "T0ACME0001", ""},
		"a guest, in our workspace's view":     {[]string{user, other(user)}, "T0OTHER001", ""},
		"a guest, in their own workspace's":    {[]string{user, other(user), team, other(team)}, "T0OTHER001", ""},
		"nobody's workspace is told":           {[]string{user, `"x": 1`}, "", ""},
		"of our organization":                  {[]string{team, team + ofGrid, `"enterprise": null`, grid}, "T0ACME0001", "E0ACME0001"},
		"of another workspace of it":           {[]string{user, other(user), team, other(team) + ofGrid, `"enterprise": null`, grid}, "T0OTHER001", "E0ACME0001"},
		"by the organization's id":             {[]string{user, `"team_id": "E0ACME0001"`}, "E0ACME0001", "E0ACME0001"},
		"of an app of a whole organization":    {[]string{team, `"team": null, "x": {"id": "T0ACME0001"`, user, `"team_id": "E0ACME0001"`, `"enterprise": null`, grid}, "E0ACME0001", "E0ACME0001"},
		"a guest of such an app":               {[]string{team, `"team": null, "x": {"id": "T0ACME0001"`, user, other(user), `"enterprise": null`, grid}, "T0OTHER001", ""},
		"a guest of an app of an organization": {[]string{user, other(user), team, team + ofGrid, `"enterprise": null`, grid}, "T0OTHER001", ""},
	} {
		changed := url.Values{"payload": {strings.NewReplacer(test.change...).Replace(payload)}}
		p, err := Parse([]byte(changed.Encode()))
		if err != nil || p.Home != test.home || p.Enterprise != test.enterprise {
			t.Errorf("%s: %q, %q, %v; want %q, %q", name, p.Home, p.Enterprise, err, test.home, test.enterprise)
		}
	}
}

// TestRefusalsQuoteNothing: what somebody else wrote stands in no error.
func TestRefusalsQuoteNothing(t *testing.T) {
	for _, body := range []string{`payload={"type":"SECRET`, `payload={"type":"SECRET"}`, "SECRET=1", "payload=SECRET", `payload={"type":"block_actions","response_url":"SECRET","user":{"id":"SECRET!"}}`} {
		if _, err := Parse([]byte(body)); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestLongNamesAreCut(t *testing.T) {
	data, err := os.ReadFile("testdata/button.json")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.ReplaceAll(string(data), `"username": "oncall"`, `"username": "`+strings.Repeat("é", 5000)+`"`)
	p, err := Parse([]byte(url.Values{"payload": {long}}.Encode()))
	if err != nil || len([]rune(p.Name)) != maxName {
		t.Errorf("%v, a name of %d characters", err, len([]rune(p.Name)))
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err, len(files))
	}
	for _, file := range files {
		f.Add(sample(f, strings.TrimSuffix(filepath.Base(file), ".json")))
	}
	f.Add([]byte("ssl_check=1"))
	f.Add([]byte(exampleBody))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := Parse(body)
		if err != nil {
			if reasonOf(err) == "" || !reasonOf(err).Signed() {
				t.Errorf("an error without a reason: %v", err)
			}
			return
		}
		if p.Type == SSLCheck {
			return
		}
		if p.Type == SlashCommand || p.OnHome {
			if p.User == "" || len([]rune(p.Name)) > maxName || p.OnHome && len(p.Actions) != 1 {
				t.Errorf("let through: %+v", p)
			}
			return
		}
		if p.Type != BlockActions || len(p.Actions) != 1 || p.User == "" || p.Channel == "" || p.TS == "" || len([]rune(p.Name)) > maxName {
			t.Errorf("let through: %+v", p)
		}
	})
}

// A message with replies names itself as its thread: whoever presses there sees
// the channel.
func TestAMessageIsNotInItsOwnThread(t *testing.T) {
	body := strings.Replace(string(sample(t, "thread")), url.QueryEscape("1763650700.000200"), url.QueryEscape("1763650800.000100"), -1)
	if p, err := Parse([]byte(body)); err != nil || p.Thread != "" || p.TS != "1763650800.000100" {
		t.Errorf("thread %q of %q, %v", p.Thread, p.TS, err)
	}
}
