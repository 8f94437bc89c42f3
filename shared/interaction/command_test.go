package interaction

import (
	"strings"
	"testing"

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
