package slackapi

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/fakeslack"
)

// fakeSlack starts the stand-in for Slack, with one channel.
func fakeSlack(t *testing.T, cfg fakeslack.Config) (*fakeslack.Server, *Client) {
	t.Helper()
	cfg.Token, cfg.Channels = secretToken, []fakeslack.Channel{{ID: alerts, Name: "alerts"}}
	s, err := fakeslack.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := NewClient(s.APIURL(), secretToken, &http.Client{})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

const alerts = "C0000000001"

func people() fakeslack.Config {
	return fakeslack.Config{
		Users:  []fakeslack.User{{ID: "U0ONCALL01", Name: "oncall"}, {ID: "U0DANA0001", Name: "Dana Weber"}},
		Groups: []fakeslack.Group{{ID: "S0ONCALL01", Handle: "platform-oncall", Users: []string{"U0ONCALL01"}}, {ID: "S0EMPTY001", Handle: "nobody"}},
	}
}

func TestEphemeralIsSeenByOne(t *testing.T) {
	s, c := fakeSlack(t, people())
	ts, err := c.Post(t.Context(), alerts, hello())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Ephemeral(t.Context(), alerts, "U0DANA0001", "", Message{Text: "not you"}); err != nil {
		t.Error(err)
	}
	if err := c.Ephemeral(t.Context(), alerts, "U0DANA0001", ts, hello()); err != nil {
		t.Error(err)
	}
	for _, m := range s.Messages(alerts) {
		if m.TS != ts && m.Visible != "U0DANA0001" {
			t.Errorf("%q is seen by %q", m.Text, m.Visible)
		}
	}
	var e *Error
	if err := c.Ephemeral(t.Context(), alerts, "U0NOBODY01", "", Message{Text: "x"}); !errors.As(err, &e) || e.Code != "user_not_in_channel" || e.Retryable() {
		t.Errorf("to somebody who is not there: %v", err)
	}
}

func TestGroupMembers(t *testing.T) {
	_, c := fakeSlack(t, people())
	got, err := c.GroupMembers(t.Context(), "S0ONCALL01")
	if diff := cmp.Diff([]string{"U0ONCALL01"}, got); err != nil || diff != "" {
		t.Errorf("members (-want +got):\n%s%v", diff, err)
	}
	if got, err := c.GroupMembers(t.Context(), "S0EMPTY001"); err != nil || len(got) != 0 {
		t.Errorf("an empty group has %v, %v", got, err)
	}
	var e *Error
	if _, err := c.GroupMembers(t.Context(), "S0NOTHERE1"); !errors.As(err, &e) || e.Kind != Refused || e.Code != "no_such_subteam" {
		t.Errorf("a group that is not there: %v", err)
	}
	cfg := people()
	cfg.Scopes = []string{"chat:write"}
	_, c = fakeSlack(t, cfg)
	if _, err := c.GroupMembers(t.Context(), "S0ONCALL01"); !errors.As(err, &e) || e.Kind != Auth || e.Scope != "usergroups:read" || !strings.Contains(err.Error(), "add the scope usergroups:read") {
		t.Errorf("without the scope: %v", err)
	}
}
