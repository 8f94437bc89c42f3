package interaction

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rollcall/tools/testfile"

	"github.com/google/go-cmp/cmp"
)

// The example of Slack's own documentation is a command (signature_test.go).
func TestSlash(t *testing.T) {
	got, err := Parse([]byte(exampleBody))
	want := Payload{
		Type: SlashCommand, Team: "T1DC2JH3J", User: "U2CERLKJA", Name: "roadrunner", Home: "T1DC2JH3J", Channel: "G8PSS9T3V",
		ResponseURL: "https://hooks.slack.com/commands/T1DC2JH3J/397700885554/96rGlfmibIGlgcZRskXaIFfN",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for name, change := range map[string][2]string{
		"nobody":             {"user_id=U2CERLKJA", "user_id="},
		"no person":          {"user_id=U2CERLKJA", "user_id=B2CERLKJA"},
		"no channel":         {"channel_id=G8PSS9T3V", "x=y"},
		"a person of no one": {"user_id=U2CERLKJA", "user_id=U2%0ASECRET"},
	} {
		_, err := Parse([]byte(strings.Replace(exampleBody, change[0], change[1], 1)))
		if reasonOf(err) != Malformed || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
	of, err := Parse([]byte(exampleBody + "&enterprise_id=E1ACME"))
	if err != nil || of.Enterprise != "E1ACME" {
		t.Errorf("of an organization: %+v, %v", of, err)
	}
}

const openedHome = `{"token":"x","team_id":"T1","api_app_id":"A1","type":"event_callback","event":{"type":"app_home_opened","user":"U1ONCALL","tab":"home","view":{"type":"home","hash":"1.a"}}}`

func TestParseEvent(t *testing.T) {
	got, err := ParseEvent([]byte(openedHome))
	want := Payload{Type: HomeOpened, App: "A1", Team: "T1", Home: "T1", User: "U1ONCALL", OnHome: true, View: "1.a", Tab: "home"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for body, reason := range map[string]Reason{
		`{`:                           Malformed,
		`[]`:                          Malformed,
		`{}`:                          NotPressed,
		`{"type":"url_verification"}`: Malformed,
		`{"type":"url_verification","challenge":"` + strings.Repeat("x", 201) + `"}`:    Malformed,
		`{"type":"event_callback","event":{"type":"message","user":"U1ONCALL"}}`:        NotPressed,
		`{"type":"event_callback","event":{"type":"app_home_opened","user":"SECRET!"}}`: Malformed,
		`{"type":"app_rate_limited"}`: NotPressed,
		`{"type":"app_home_opened","event":{"type":"app_home_opened","user":"U1ONCALL"}}`: NotPressed,
	} {
		if _, err := ParseEvent([]byte(body)); reasonOf(err) != reason || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, want %s", body, err, reason)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(openedHome))
	f.Add([]byte(`{"type":"url_verification","challenge":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := ParseEvent(body)
		switch {
		case err != nil && (reasonOf(err) == "" || !reasonOf(err).Signed()):
			t.Errorf("an error without a reason: %v", err)
		case err != nil:
		case p.Type == URLVerification && p.Challenge != "":
		case p.Type != HomeOpened || p.User == "" || !p.OnHome:
			t.Errorf("let through: %+v", p)
		}
	})
}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	return []byte(url.Values{"payload": {string(testfile.Read(t, filepath.Join("testdata", name+".json")))}}.Encode())
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

// TestRefusalsQuoteNothing: errors contain no text of a sender.
func TestRefusalsQuoteNothing(t *testing.T) {
	for _, body := range []string{`payload={"type":"SECRET`, `payload={"type":"SECRET"}`, "SECRET=1", "payload=SECRET", `payload={"type":"block_actions","response_url":"SECRET","user":{"id":"SECRET!"}}`} {
		if _, err := Parse([]byte(body)); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestLongNamesAreCut(t *testing.T) {
	data := testfile.Read(t, "testdata/button.json")
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

// The example of docs.slack.dev/authentication/verifying-requests-from-slack.
const (
	exampleSecret    = "8f742231b10e8888abcd99yyyzzz85a5"
	exampleTime      = "1531420618"
	exampleSignature = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
	exampleBody      = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)

func example() Request {
	return Request{Method: "POST", ContentType: "application/x-www-form-urlencoded", Timestamp: exampleTime, Signature: exampleSignature, Body: []byte(exampleBody)}
}

func TestVerify(t *testing.T) {
	for _, test := range []struct {
		name   string
		secret string
		change func(*Request)
		want   bool
	}{
		{"Slack's own example", exampleSecret, func(*Request) {}, true},
		{"another secret", exampleSecret + "5", func(*Request) {}, false},
		{"no secret", "", func(r *Request) { r.Signature = "v0=" + hex.EncodeToString(sign("", r.Timestamp, r.Body)) }, false},
		{"another body", exampleSecret, func(r *Request) { r.Body = append(r.Body, '&') }, false},
		{"another time", exampleSecret, func(r *Request) { r.Timestamp = "1531420619" }, false},
		{"half a signature", exampleSecret, func(r *Request) { r.Signature = r.Signature[:35] }, false},
		{"no signature", exampleSecret, func(r *Request) { r.Signature = "" }, false},
		{"no digits", exampleSecret, func(r *Request) { r.Signature = "v0=xyz" }, false},
	} {
		r := example()
		test.change(&r)
		if got := Verify(test.secret, r); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

func reasonOf(err error) Reason {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

func TestAcceptable(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Request)
		want   Reason
	}{
		{"Slack's", func(*Request) {}, ""},
		{"with a charset", func(r *Request) { r.ContentType += "; charset=utf-8" }, ""},
		{"in capitals", func(r *Request) { r.ContentType = strings.ToUpper(r.ContentType) }, ""},
		{"as large as may be", func(r *Request) { r.Body = make([]byte, MaxBody) }, ""},
		{"larger", func(r *Request) { r.Body = make([]byte, MaxBody+1) }, TooLarge},
		{"GET", func(r *Request) { r.Method = "GET" }, NotPost},
		{"an event", func(r *Request) { r.ContentType = "application/json" }, ""},
		{"text", func(r *Request) { r.ContentType = "text/plain" }, NotForm},
		{"no type", func(r *Request) { r.ContentType = "" }, NotForm},
		{"files", func(r *Request) { r.ContentType = "multipart/form-data; boundary=x" }, NotForm},
		{"a type that breaks off", func(r *Request) { r.ContentType += "; charset" }, NotForm},
		{"no version", func(r *Request) { r.Signature = r.Signature[3:] }, Unsigned},
		{"half a signature", func(r *Request) { r.Signature = r.Signature[:35] }, Unsigned},
		{"no time", func(r *Request) { r.Timestamp = "" }, Unsigned},
		{"two times", func(r *Request) { r.Timestamp += "," + r.Timestamp }, Unsigned},
		{"a time with a sign", func(r *Request) { r.Timestamp = "+" + r.Timestamp[1:] }, Unsigned},
		{"a time with a space", func(r *Request) { r.Timestamp = " " + r.Timestamp[1:] }, Unsigned},
		{"a time of another kind", func(r *Request) { r.Timestamp = "1531420618000" }, Unsigned},
		{"no signature", func(r *Request) { r.Signature = "" }, Unsigned},
		{"two signatures", func(r *Request) { r.Signature += "," + r.Signature }, Unsigned},
		{"another version", func(r *Request) { r.Signature = "v1" + r.Signature[2:] }, Unsigned},
		{"capitals", func(r *Request) { r.Signature = "v0=" + strings.ToUpper(r.Signature[3:]) }, Unsigned},
	} {
		r := example()
		test.change(&r)
		if got := reasonOf(Acceptable(r)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestFresh(t *testing.T) {
	signed := time.Unix(1531420618, 0)
	for _, test := range []struct {
		after time.Duration
		want  Reason
	}{
		{0, ""}, {time.Second, ""}, {MaxAge, ""}, {MaxAge + time.Millisecond, TooOld}, {24 * time.Hour, TooOld},
		{-MaxAhead, ""}, {-MaxAhead - time.Millisecond, FromFuture}, {-24 * time.Hour, FromFuture},
	} {
		if got := reasonOf(Fresh(example(), signed.Add(test.after))); got != test.want {
			t.Errorf("%s after it was signed: %q, want %q", test.after, got, test.want)
		}
	}
}

func TestIDIsOfTheRequest(t *testing.T) {
	a, b, c := example(), example(), example()
	b.Signature = "v0=" + strings.Repeat("0", 64) // is not part of what was signed
	c.Timestamp = "1531420619"
	if ID(a) != ID(b) || ID(a) == ID(c) || len(ID(a)) != 64 {
		t.Errorf("ids %q, %q, %q", ID(a), ID(b), ID(c))
	}
}

func TestReasonsHaveAnAnswer(t *testing.T) {
	for _, r := range Reasons() {
		if s := r.Status(); s < 400 || s > 499 {
			t.Errorf("%s is answered with %d", r, s)
		}
	}
}

// FuzzSigned: whatever comes, only what the secret signed is let in.
func FuzzSigned(f *testing.F) {
	f.Add("POST", "application/x-www-form-urlencoded", exampleTime, exampleSignature, []byte(exampleBody))
	f.Add("GET", "", "", "", []byte(nil))
	f.Add("POST", "application/x-www-form-urlencoded;", "0000000000", "v0="+strings.Repeat("a", 64), []byte("payload={}"))
	f.Fuzz(func(t *testing.T, method, kind, stamp, signature string, body []byte) {
		r := Request{Method: method, ContentType: kind, Timestamp: stamp, Signature: signature, Body: body}
		now := time.Unix(1531420618, 0)
		if Acceptable(r) != nil || Fresh(r, now) != nil || !Verify(exampleSecret, r) {
			return
		}
		if _, err := strconv.ParseInt(stamp, 10, 64); err != nil || signature != "v0="+hex.EncodeToString(sign(exampleSecret, stamp, body)) {
			t.Errorf("let in: %q %q", stamp, signature)
		}
	})
}
