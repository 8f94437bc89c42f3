//go:build chromium

package press

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/incident"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/slack/button"
	"rollcall/stage/fakeslack"
)

const channel = "C0000000001"

// scene is a stand-in with an incident in it, and an app that answers presses.
type scene struct {
	stand    *fakeslack.Server
	pressed  chan button.Pressed
	by       chan string
	incident incident.Incident
}

// brokenRoute has an offer that may be approved.
func brokenRoute() incident.Incident {
	at := time.Now()
	p := remedy.Plan{Format: 1, Remedy: optin.AddNATRoute, Region: "us-west-2", Account: "111122223333", Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0cd2",
		Route: &remedy.AddNATRoute{VPC: "vpc-0aaa", Table: "rtb-0cd2", Destination: "0.0.0.0/0", NAT: "nat-0aa4", NATZone: "us-west-2a", Zones: []string{"us-west-2a"}, Subnets: []string{"subnet-0ab1"}}}
	return incident.Incident{
		Key: report.Key{Cluster: "prod", Check: "route/no-egress", Resource: "rtb-0cd2"}, Region: "us-west-2", Partition: "aws",
		State: incident.Open, Number: 1, Began: at, Opened: at, Changed: at,
		Cause:  diagnosis.Cause{Check: "route/no-egress", Confidence: finding.Certain, Resource: "rtb-0cd2", Title: "subnet-0ab1 has no route to the internet", Why: "rtb-0cd2 has no default route."},
		Offers: []incident.Offer{{Plan: p, Hash: p.Hash(), Policy: optin.Approve, State: incident.Offered, Made: at, Expires: at.Add(time.Hour)}},
	}
}

// open starts the scene. Status is what the app answers; with 200 it also
// edits the message and tells the presser, as report does.
func open(t *testing.T, status int) *scene {
	t.Helper()
	s := &scene{pressed: make(chan button.Pressed, 8), by: make(chan string, 8), incident: brokenRoute()}
	var api *slackgo.Client
	var ts string
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		var payload struct {
			User    struct{ ID string }
			Message struct{ Blocks json.RawMessage }
			Actions []struct {
				ActionID string `json:"action_id"`
				BlockID  string `json:"block_id"`
				Value    string
				Option   struct{ Value string } `json:"selected_option"`
			}
		}
		if err := json.Unmarshal([]byte(form.Get("payload")), &payload); err != nil || len(payload.Actions) != 1 {
			t.Errorf("payload: %v", err)
			return
		}
		a := payload.Actions[0]
		p, err := button.Read(button.Element{ActionID: a.ActionID, BlockID: a.BlockID, Value: a.Value, Option: a.Option.Value}, payload.Message.Blocks)
		if err != nil {
			t.Error(err)
		}
		s.pressed <- p
		s.by <- payload.User.ID
		w.WriteHeader(status)
		if status != http.StatusOK {
			return
		}
		if _, err := api.PostEphemeral(channel, payload.User.ID, slackgo.MsgOptionText("Rollcall heard "+a.ActionID+".", false)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(app.Close)
	stand, err := fakeslack.New(fakeslack.Config{
		Token: "xoxb-1", SigningSecret: "secret", InteractivityURL: app.URL, Channels: []fakeslack.Channel{{ID: channel, Name: "alerts"}},
		Users: []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}, {ID: "U0DEV00001", Name: "dev"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stand.Close() })
	s.stand = stand
	api = slackgo.New("xoxb-1", slackgo.OptionAPIURL(stand.APIURL()))
	m := slack.Render(s.incident, slack.Options{Actions: true, Now: time.Now()})
	if _, ts, err = api.PostMessage(channel, slackgo.MsgOptionText(m.Text, false), slackgo.MsgOptionBlocks(m.Blocks...)); err != nil || ts == "" {
		t.Fatal(err)
	}
	return s
}

func newBrowser(t *testing.T, narrow bool) *Browser {
	t.Helper()
	b, err := Start(t.Context(), narrow)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// minute is for a machine that is busy with other things.
func minute(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// TestApprove: a person approves the fix in the page, on a desk's screen and a
// phone's.
func TestApprove(t *testing.T) {
	for name, narrow := range map[string]bool{"wide": false, "narrow": true} {
		t.Run(name, func(t *testing.T) {
			s, b := open(t, http.StatusOK), newBrowser(t, narrow)
			shown, err := b.Press(minute(t), Press{Page: s.stand.URL(), Message: "has no route to the internet", Button: "Approve this fix", Until: "Rollcall heard approve."})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(shown.Asked, "Rollcall will add 0.0.0.0/0 → nat-0aa4 to rtb-0cd2") {
				t.Errorf("the dialog asked %q", shown.Asked)
			}
			p := <-s.pressed
			if p.Action != report.ApprovePlan || p.Key != s.incident.Key || p.Plan != s.incident.Offers[0].Hash || p.Number != 1 {
				t.Errorf("pressed %+v", p)
			}
			if who := <-s.by; who != "U0ONCALL01" {
				t.Errorf("pressed by %s", who)
			}
			if shown.Warning != "" || !strings.Contains(shown.Channel, "Only visible to you") {
				t.Errorf("the page shows %+v", shown)
			}
			if dir := os.Getenv("ROLLCALL_PICTURES"); dir != "" {
				if err := b.Picture(minute(t), dir+"/press-"+name+".png"); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestNotSure: who says no in the dialog has pressed nothing.
func TestNotSure(t *testing.T) {
	s, b := open(t, http.StatusOK), newBrowser(t, false)
	if _, err := b.Press(minute(t), Press{Page: s.stand.URL(), Message: "has no route to the internet", Button: "Approve this fix", Cancel: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Press(minute(t), Press{Page: s.stand.URL(), Message: "has no route to the internet", Button: "Refuse", As: "U0DEV00001", Until: "Rollcall heard refuse."}); err != nil {
		t.Fatal(err)
	}
	if p, who := <-s.pressed, <-s.by; p.Action != report.RefusePlan || who != "U0DEV00001" || len(s.pressed) != 0 {
		t.Errorf("pressed %+v by %s, and %d more", p, who, len(s.pressed))
	}
}

// TestMenu: an option is chosen for as long as it says, and its answer is for
// the presser alone.
func TestMenu(t *testing.T) {
	s, b := open(t, http.StatusOK), newBrowser(t, false)
	if _, err := b.Press(minute(t), Press{Page: s.stand.URL(), Message: "has no route to the internet", Button: "Mute for", Option: "4 hours", As: "U0DEV00001", Until: "Rollcall heard mute."}); err != nil {
		t.Fatal(err)
	}
	if p := <-s.pressed; p.Action != report.MuteFor || p.For != 4*time.Hour || p.Key != s.incident.Key {
		t.Errorf("pressed %+v", p)
	}
	shown, err := b.Press(minute(t), Press{Page: s.stand.URL(), As: "U0ONCALL01", Message: "has no route to the internet", Button: "Approve this fix", Cancel: true})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(shown.Channel, "Rollcall heard mute") {
		t.Error("another sees the ephemeral answer")
	}
}

// TestWarningSign: an app that does not take the press is marked.
func TestWarningSign(t *testing.T) {
	s, b := open(t, http.StatusInternalServerError), newBrowser(t, false)
	shown, err := b.Press(minute(t), Press{Page: s.stand.URL(), Message: "has no route to the internet", Button: "Check again", Until: "never"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown.Warning, "status code 500") {
		t.Errorf("the page shows %+v", shown)
	}
	if dir := os.Getenv("ROLLCALL_PICTURES"); dir != "" {
		if err := b.Picture(minute(t), dir+"/press-warning.png"); err != nil {
			t.Error(err)
		}
	}
}

// TestNoSuchButton says what there is.
func TestNoSuchButton(t *testing.T) {
	s, b := open(t, http.StatusOK), newBrowser(t, false)
	_, err := b.Press(minute(t), Press{Page: s.stand.URL(), Message: "has no route to the internet", Button: "Launch"})
	if err == nil || !strings.Contains(err.Error(), "Check again") {
		t.Errorf("got %v", err)
	}
}
