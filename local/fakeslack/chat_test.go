package fakeslack

import (
	"errors"
	"strings"
	"testing"

	"github.com/slack-go/slack"
)

func TestUpdateWithBlocksHasNoMark(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("a"))
	if _, _, _, err := api.UpdateMessage(alerts, ts, say("b"), slack.MsgOptionBlocks(slack.NewDividerBlock())); err != nil {
		t.Fatal(err)
	}
	if m := s.Messages(alerts)[0]; m.Edited != nil || len(m.Versions) != 1 {
		t.Errorf("got edited %v and %d versions, want no mark and one version", m.Edited, len(m.Versions))
	}
}

func TestTimestamps(t *testing.T) {
	s, api := start(t, nil)
	a, b := post(t, api, say("a")), post(t, api, say("b"))
	want := [2]string{"1795176000.000000", "1795176000.000001"}
	if got := [2]string{a, b}; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(s.Messages(alerts)) != 2 {
		t.Errorf("got %d messages, want 2", len(s.Messages(alerts)))
	}
}

func TestRefusals(t *testing.T) {
	s, api := start(t, nil)
	parent := post(t, api, say("parent"))
	reply := post(t, api, say("reply"), slack.MsgOptionTS(parent))
	human, err := s.Say(alerts, "U0DANA0001", "hello", "")
	if err != nil {
		t.Fatal(err)
	}
	send := func(channel string, opts ...slack.MsgOption) func() error {
		return func() error { _, _, err := api.PostMessage(channel, opts...); return err }
	}
	update := func(ts string, opts ...slack.MsgOption) func() error {
		return func() error { _, _, _, err := api.UpdateMessage(alerts, ts, opts...); return err }
	}
	tests := map[string]struct {
		call func() error
		want string
	}{
		"unknown channel":       {send("C404", say("x")), "channel_not_found"},
		"name of a channel":     {send("#alerts", say("x")), ""},
		"not a member":          {send("C0ABSENT01", say("x")), "not_in_channel"},
		"private, not a member": {send("C0HIDDEN01", say("x")), "channel_not_found"},
		"archived":              {send("C0ARCHIVE1", say("x")), "is_archived"},
		"nothing said":          {send(alerts), "no_text"},
		"thread is no time":     {send(alerts, say("x"), slack.MsgOptionTS("12")), "invalid_thread_ts"},
		"thread is unknown":     {send(alerts, say("x"), slack.MsgOptionTS("1795176000.999999")), "thread_not_found"},
		"thread is a reply":     {send(alerts, say("x"), slack.MsgOptionTS(reply)), "cannot_reply_to_message"},
		"update unknown":        {update("1795176000.999999", say("x")), "message_not_found"},
		"update another's":      {update(human, say("x")), "cant_update_message"},
		"update too long":       {update(parent, say(strings.Repeat("x", 4001))), "msg_too_long"},
		"update at the limit":   {update(parent, say(strings.Repeat("x", 4000))), ""},
		"delete another's":      {func() error { _, _, err := api.DeleteMessage(alerts, human); return err }, "cant_delete_message"},
		"ephemeral to nobody":   {func() error { _, err := api.PostEphemeral(alerts, "U404", say("x")); return err }, "user_not_in_channel"},
		"replies of nothing": {func() error {
			_, _, _, err := api.GetConversationReplies(&slack.GetConversationRepliesParameters{ChannelID: alerts, Timestamp: "1.1"})
			return err
		}, "thread_not_found"},
		"bad cursor": {func() error {
			_, err := api.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: alerts, Cursor: "zzz"})
			return err
		}, "invalid_cursor"},
		"bad limit": {func() error {
			_, err := api.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: alerts, Limit: 5000})
			return err
		}, "invalid_limit"},
		"reaction":        {func() error { return api.AddReaction("eyes", slack.NewRefToMessage(alerts, parent)) }, ""},
		"reaction to air": {func() error { return api.AddReaction("eyes", slack.NewRefToMessage(alerts, "1.1")) }, "message_not_found"},
		"unknown user":    {func() error { _, err := api.GetUserInfo("U404"); return err }, "user_not_found"},
		"unknown group":   {func() error { _, err := api.GetUserGroupMembers("S404"); return err }, "no_such_subteam"},
		"unknown trigger": {func() error {
			_, err := api.OpenView("nope", slack.ModalViewRequest{Type: slack.VTModal, Title: plainObj("T")})
			return err
		}, "invalid_trigger_id"},
		"method not here": {func() error { return api.ArchiveConversation(alerts) }, "unknown_method"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := code(tt.call()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTokenAndScopes(t *testing.T) {
	s, _ := start(t, func(c *Config) { c.Scopes = []string{"channels:read", "users:read"} })
	for token, want := range map[string]string{"": "not_authed", "xoxb-wrong": "invalid_auth", testToken: ""} {
		_, err := slack.New(token, slack.OptionAPIURL(s.APIURL())).AuthTest()
		if got := code(err); got != want {
			t.Errorf("token %q: got %q, want %q", token, got, want)
		}
	}
	_, _, err := slack.New(testToken, slack.OptionAPIURL(s.APIURL())).PostMessage(alerts, say("x"))
	var e slack.SlackErrorResponse
	if !errors.As(err, &e) || e.Err != "missing_scope" || e.Needed != "chat:write" || e.Provided != "channels:read,users:read" {
		t.Errorf("got %#v, want missing_scope for chat:write", err)
	}
}

func TestDeletedParentMakesAChannelMessage(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("parent"))
	if _, _, err := api.DeleteMessage(alerts, ts); err != nil {
		t.Fatal(err)
	}
	_, _, m, err := api.PostMessageWithResponse(alerts, say("late"), slack.MsgOptionTS(ts))
	if err != nil || m.ThreadTimestamp != "" {
		t.Errorf("got thread %q, error %v, want a message of the channel", m.ThreadTimestamp, err)
	}
	if got := s.Messages(alerts); len(got) != 1 || got[0].Text != "late" {
		t.Errorf("got %+v, want only \"late\"", got)
	}
}
