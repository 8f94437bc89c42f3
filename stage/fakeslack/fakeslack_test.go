package fakeslack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
)

// many is a JSON array of n times item; %d in item is its number.
func many(n int, item string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = strings.ReplaceAll(item, "%d", fmt.Sprint(i))
	}
	return "[" + strings.Join(items, ",") + "]"
}

func TestBlockLimits(t *testing.T) {
	x := func(n int) string { return strings.Repeat("é", n) }
	sect := func(s string) string { return `[{"type":"section","text":{"type":"mrkdwn","text":"` + s + `"}}]` }
	header := func(s string) string {
		return `[{"type":"header","text":{"type":"plain_text","text":"` + s + `"}}]`
	}
	button := func(rest string) string {
		return `[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Go"}` + rest + `}]}]`
	}
	question := func(s, kind string) string {
		return `{"title":{"type":"plain_text","text":"t"},"text":{"type":"` + kind + `","text":"` + s + `"},"confirm":{"type":"plain_text","text":"y"},"deny":{"type":"plain_text","text":"n"},"style":"danger"}`
	}
	menu := func(option string) string {
		return `[{"type":"actions","elements":[{"type":"static_select","action_id":"a","placeholder":{"type":"plain_text","text":"Mute for"},"options":[` + option + `]}]}]`
	}
	field := `{"type":"mrkdwn","text":"x"}`
	item := func(items string) string {
		return `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[` + items + `]}]}]`
	}
	tests := map[string]struct{ blocks, want string }{
		"50 blocks":              {many(50, `{"type":"divider"}`), ""},
		"51 blocks":              {many(51, `{"type":"divider"}`), "no more than 50 items allowed [json-pointer:/blocks]"},
		"section 3000":           {sect(x(3000)), ""},
		"section 3001":           {sect(x(3001)), "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"},
		"section empty":          {sect(""), "must be more than 0 characters [json-pointer:/blocks/0/text/text]"},
		"section of nothing":     {`[{"type":"section"}]`, "missing required field: text [json-pointer:/blocks/0]"},
		"header 150":             {header(x(150)), ""},
		"header 151":             {header(x(151)), "must be less than 151 characters [json-pointer:/blocks/0/text/text]"},
		"header mrkdwn":          {`[{"type":"header","text":{"type":"mrkdwn","text":"x"}}]`, "must be a valid enum value [json-pointer:/blocks/0/text/type]"},
		"10 fields":              {`[{"type":"section","fields":` + many(10, field) + `}]`, ""},
		"11 fields":              {`[{"type":"section","fields":` + many(11, field) + `}]`, "no more than 10 items allowed [json-pointer:/blocks/0/fields]"},
		"field 2001":             {`[{"type":"section","fields":[{"type":"mrkdwn","text":"` + x(2001) + `"}]}]`, "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]"},
		"10 in context":          {`[{"type":"context","elements":` + many(10, field) + `}]`, ""},
		"11 in context":          {`[{"type":"context","elements":` + many(11, field) + `}]`, "no more than 10 items allowed [json-pointer:/blocks/0/elements]"},
		"button":                 {button(`,"action_id":"a","style":"danger","value":"v"`), ""},
		"button text 76":         {`[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"` + x(76) + `"}}]}]`, "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]"},
		"button style":           {button(`,"style":"default"`), "must be a valid enum value [json-pointer:/blocks/0/elements/0/style]"},
		"action_id 256":          {button(`,"action_id":"` + x(256) + `"`), "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]"},
		"button with a typo":     {button(`,"colour":"red"`), "invalid additional property: colour [json-pointer:/blocks/0/elements/0]"},
		"same action twice":      {`[{"type":"actions","elements":` + many(2, `{"type":"button","action_id":"a","text":{"type":"plain_text","text":"x"}}`) + `}]`, `action_id "a" is not unique [json-pointer:/blocks/0/elements/1/action_id]`},
		"block_id 256":           {`[{"type":"divider","block_id":"` + x(256) + `"}]`, "must be less than 256 characters [json-pointer:/blocks/0/block_id]"},
		"same block_id twice":    {many(2, `{"type":"divider","block_id":"b"}`), `block_id "b" is not unique [json-pointer:/blocks/1/block_id]`},
		"unknown block":          {`[{"type":"marquee"}]`, "unsupported type: marquee [json-pointer:/blocks/0/type]"},
		"no type":                {`[{}]`, "missing required field: type [json-pointer:/blocks/0]"},
		"unknown element":        {`[{"type":"actions","elements":[{"type":"lever"}]}]`, "unsupported type: lever [json-pointer:/blocks/0/elements/0/type]"},
		"block is a number":      {`[1]`, "must be an object [json-pointer:/blocks/0]"},
		"select without options": {`[{"type":"actions","elements":[{"type":"static_select","action_id":"a"}]}]`, "one of options and option_groups is required [json-pointer:/blocks/0/elements/0]"},
		"6 in overflow":          {`[{"type":"actions","elements":[{"type":"overflow","options":` + many(6, `{"text":{"type":"plain_text","text":"x"},"value":"%d"}`) + `}]}]`, "no more than 5 items allowed [json-pointer:/blocks/0/elements/0/options]"},
		"confirm lacks deny": {button(`,"confirm":{"title":{"type":"plain_text","text":"t"},"text":{"type":"mrkdwn","text":"x"},"confirm":{"type":"plain_text","text":"y"}}`),
			"missing required field: deny [json-pointer:/blocks/0/elements/0/confirm]"},
		"confirm 300":       {button(`,"confirm":` + question(x(300), "plain_text")), ""},
		"confirm 301":       {button(`,"confirm":` + question(x(301), "plain_text")), "must be less than 301 characters [json-pointer:/blocks/0/elements/0/confirm/text/text]"},
		"confirm in mrkdwn": {button(`,"confirm":` + question("x", "mrkdwn")), ""},
		"value 2000":        {button(`,"value":"` + x(2000) + `"`), ""},
		"value 2001":        {button(`,"value":"` + x(2001) + `"`), "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]"},
		"25 buttons":        {`[{"type":"actions","elements":` + many(25, `{"type":"button","action_id":"%d","text":{"type":"plain_text","text":"x"}}`) + `}]`, ""},
		"26 buttons":        {`[{"type":"actions","elements":` + many(26, `{"type":"button","action_id":"%d","text":{"type":"plain_text","text":"x"}}`) + `}]`, "no more than 25 items allowed [json-pointer:/blocks/0/elements]"},
		"select":            {menu(`{"text":{"type":"plain_text","text":"` + x(75) + `"},"value":"` + x(150) + `"}`), ""},
		"option text 76":    {menu(`{"text":{"type":"plain_text","text":"` + x(76) + `"},"value":"v"}`), "must be less than 76 characters [json-pointer:/blocks/0/elements/0/options/0/text/text]"},
		"option value 151":  {menu(`{"text":{"type":"plain_text","text":"x"},"value":"` + x(151) + `"}`), "must be less than 151 characters [json-pointer:/blocks/0/elements/0/options/0/value]"},
		"option in mrkdwn":  {menu(`{"text":{"type":"mrkdwn","text":"x"},"value":"v"}`), "must be a valid enum value [json-pointer:/blocks/0/elements/0/options/0/text/type]"},
		"image without alt": {`[{"type":"image","image_url":"http://x/y.png"}]`, "missing required field: alt_text [json-pointer:/blocks/0]"},
		"rich text":         {`[{"type":"rich_text","elements":[{"type":"rich_text_list","style":"bullet","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"x"}]}]}]}]`, ""},
		"rich text typo":    {item(`{"type":"text","text":"x","stile":{"bold":true}}`), "invalid additional property: stile [json-pointer:/blocks/0/elements/0/elements/0]"},
		"rich style typo":   {item(`{"type":"text","text":"x","style":{"blod":true}}`), "invalid additional property: blod [json-pointer:/blocks/0/elements/0/elements/0/style]"},
		"rich style":        {item(`{"type":"text","text":"x","style":{"bold":1}}`), "must be a boolean [json-pointer:/blocks/0/elements/0/elements/0/style/bold]"},
		"rich style shape":  {item(`{"type":"text","text":"x","style":"bold"}`), "must be an object [json-pointer:/blocks/0/elements/0/elements/0/style]"},
		"rich link to":      {item(`{"type":"link","text":"x"}`), "missing required field: url [json-pointer:/blocks/0/elements/0/elements/0]"},
		"rich date":         {item(`{"type":"date","timestamp":1700000000,"format":"{time}","fallback":"then"}`), ""},
		"rich date as text": {item(`{"type":"date","timestamp":"1700000000","format":"{time}"}`), "must be an integer [json-pointer:/blocks/0/elements/0/elements/0/timestamp]"},
		"rich broadcast":    {item(`{"type":"broadcast","range":"all"}`), "must be a valid enum value [json-pointer:/blocks/0/elements/0/elements/0/range]"},
		"rich people": {item(`{"type":"user","user_id":"U1"},{"type":"usergroup","usergroup_id":"S1"},{"type":"channel","channel_id":"C1"},` +
			`{"type":"emoji","name":"wave"},{"type":"color","value":"#fff"},{"type":"broadcast","range":"here"}`), ""},
		"rich list of text": {`[{"type":"rich_text","elements":[{"type":"rich_text_list","style":"bullet","elements":[{"type":"text","text":"x"}]}]}]`,
			"unsupported type: text [json-pointer:/blocks/0/elements/0/elements/0/type]"},
		"rich border":       {`[{"type":"rich_text","elements":[{"type":"rich_text_quote","elements":[],"border":2}]}]`, "must be a valid enum value [json-pointer:/blocks/0/elements/0/border]"},
		"rich preformatted": {`[{"type":"rich_text","elements":[{"type":"rich_text_preformatted","elements":[{"type":"emoji","name":"x"}],"border":0}]}]`, "unsupported type: emoji [json-pointer:/blocks/0/elements/0/elements/0/type]"},
		"rich text of what": {`[{"type":"rich_text","elements":[{"type":"rich_text_song"}]}]`, "unsupported type: rich_text_song [json-pointer:/blocks/0/elements/0/type]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := checkBlocks(json.RawMessage(tt.blocks), func() string { return "b1" })
			got := ""
			var e *apiError
			if errors.As(err, &e) {
				if e.code != "invalid_blocks" {
					t.Errorf("got code %q, want invalid_blocks", e.code)
				}
				got = strings.TrimPrefix(strings.Join(e.messages, "\n"), "[ERROR] ")
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBlocksTooLong(t *testing.T) {
	of := func(n int) json.RawMessage {
		var list []string
		for n > 0 {
			k := min(n, 3000)
			list = append(list, `{"type":"section","text":{"type":"mrkdwn","text":"`+strings.Repeat("&", k)+`"}}`)
			n -= k
		}
		return json.RawMessage("[" + strings.Join(list, ",") + "]")
	}
	for n, want := range map[int]string{12500: "", 13200: "msg_blocks_too_long"} {
		_, err := checkBlocks(of(n), func() string { return "b" })
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d characters: got %q, want %q", n, got, want)
		}
	}
}

func TestBlocksFormat(t *testing.T) {
	for _, text := range []string{`{}`, `"x"`, `[`, `[] []`, ``} {
		_, err := checkBlocks(json.RawMessage(text), func() string { return "b" })
		var e *apiError
		if !errors.As(err, &e) || e.code != "invalid_blocks_format" {
			t.Errorf("%q: got %v, want invalid_blocks_format", text, err)
		}
	}
	got, err := checkBlocks(json.RawMessage(`[{"type":"divider"}]`), func() string { return "made" })
	if diff := cmp.Diff(`[{"block_id":"made","type":"divider"}]`, string(got)); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

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
		"unknown user":    {func() error { _, err := api.GetUserInfo("U404"); return err }, "user_not_found"},
		"unknown group":   {func() error { _, err := api.GetUserGroupMembers("S404"); return err }, "no_such_subteam"},
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

func TestConfigRefused(t *testing.T) {
	one := []Channel{{ID: "C1", Name: "a"}}
	for name, cfg := range map[string]Config{
		"no token":      {Channels: one},
		"no channel":    {Token: "x"},
		"no name":       {Token: "x", Channels: []Channel{{ID: "C1"}}},
		"the same id":   {Token: "x", Channels: []Channel{{ID: "C1", Name: "a"}, {ID: "C1", Name: "b"}}},
		"the same name": {Token: "x", Channels: []Channel{{ID: "C1", Name: "a"}, {ID: "C2", Name: "a"}}},
	} {
		if s, err := New(cfg); err == nil {
			t.Errorf("%s: started", name)
			_ = s.Close()
		}
	}
}

func TestPages(t *testing.T) {
	_, api := start(t, nil)
	parent := post(t, api, say("m0"))
	for i := 1; i < 5; i++ {
		post(t, api, say(fmt.Sprint("m", i)))
	}
	for i := range 3 {
		post(t, api, say(fmt.Sprint("r", i)), slack.MsgOptionTS(parent))
	}
	post(t, api, say("r3"), slack.MsgOptionTS(parent), slack.MsgOptionBroadcast())

	var got []string
	p := &slack.GetConversationHistoryParameters{ChannelID: alerts, Limit: 4}
	for {
		h, err := api.GetConversationHistory(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range h.Messages {
			got = append(got, m.Text)
		}
		if p.Cursor = h.ResponseMetaData.NextCursor; !h.HasMore {
			break
		}
	}
	if diff := cmp.Diff([]string{"r3", "m4", "m3", "m2", "m1", "m0"}, got); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}

	got = nil
	q := &slack.GetConversationRepliesParameters{ChannelID: alerts, Timestamp: parent, Limit: 2}
	for {
		list, more, next, err := api.GetConversationReplies(q)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			got = append(got, m.Text)
		}
		if q.Cursor = next; !more {
			break
		}
	}
	if diff := cmp.Diff([]string{"m0", "r0", "r1", "r2", "r3"}, got); diff != "" {
		t.Errorf("replies (-want +got):\n%s", diff)
	}

	h, err := api.GetConversationHistory(&slack.GetConversationHistoryParameters{
		ChannelID: alerts, Oldest: "1795176000.000001", Latest: "1795176000.000003", Inclusive: true,
	})
	if err != nil || len(h.Messages) != 3 {
		t.Errorf("inclusive window: got %d messages, error %v, want 3", len(h.Messages), err)
	}
}

func TestDirectory(t *testing.T) {
	s, api := start(t, nil)
	u, err := api.GetUserInfo(oncall)
	if err != nil || u.Name != "oncall" || u.TZ != "Europe/Berlin" {
		t.Errorf("got %+v, error %v", u, err)
	}
	members, err := api.GetUserGroupMembers("S0ONCALL01")
	if err != nil || len(members) != 1 || members[0] != oncall {
		t.Errorf("got %v, error %v", members, err)
	}
	ts := post(t, api, say("x"))
	link, err := api.GetPermalink(&slack.PermalinkParameters{Channel: alerts, Ts: ts})
	if err != nil || link != s.URL()+"/archives/"+alerts+"/p1795176000000000" {
		t.Errorf("got %q, error %v", link, err)
	}
	if status, body := get(t, link); status != 200 || !strings.Contains(body, `id="m`+ts+`"`) {
		t.Errorf("the permalink answers %d and does not lead to the message", status)
	}
	if _, err := api.PublishView(oncall, slack.HomeTabViewRequest{Type: slack.VTHomeTab}, ""); err != nil || len(s.Views()) != 1 {
		t.Errorf("publish: got %d views, error %v", len(s.Views()), err)
	}
}

func TestRetryAfter429(t *testing.T) {
	s, _ := start(t, nil)
	if err := s.Inject(Fault{Method: "chat.*", RetryAfter: time.Second, Times: 1}); err != nil {
		t.Fatal(err)
	}
	api := slack.New(testToken, slack.OptionAPIURL(s.APIURL()), slack.OptionRetry(2))
	post(t, api, say("x"))
	var got []int
	for _, c := range s.Calls() {
		got = append(got, c.Status)
	}
	if diff := cmp.Diff([]int{429, 200}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if n := len(s.Messages(alerts)); n != 1 {
		t.Errorf("got %d messages, want 1", n)
	}
}

func TestRateLimit(t *testing.T) {
	wall := noon()
	_, api := start(t, func(c *Config) {
		c.Wall, c.Limits = wall.now, Limits{PostsPerSecond: 1, PostBurst: 3, UpdatesPerMinute: 30}
	})
	var ts string
	for range 3 {
		ts = post(t, api, say("x"))
	}
	_, _, err := api.PostMessage(alerts, say("x"))
	var limited *slack.RateLimitedError
	if !errors.As(err, &limited) || limited.RetryAfter != time.Second {
		t.Errorf("fourth post: got %v, want a rate limit of 1 s", err)
	}
	if _, _, err := api.PostMessage("C0PRIVATE1", say("x")); err != nil {
		t.Errorf("another channel has a pace of its own: %v", err)
	}
	wall.pass(time.Second)
	post(t, api, say("x"))
	update := func() error { _, _, _, err := api.UpdateMessage(alerts, ts, say("y")); return err }
	if err := update(); err != nil {
		t.Errorf("first update: %v", err)
	}
	if err := update(); !errors.As(err, &limited) || limited.RetryAfter != 2*time.Second {
		t.Errorf("second update: got %v, want a rate limit of 2 s", err)
	}
}

func TestFaults(t *testing.T) {
	status := func(err error) int {
		var e slack.StatusCodeError
		if errors.As(err, &e) {
			return e.Code
		}
		return 0
	}
	tests := map[string]struct {
		fault Fault
		check func(error) bool
		// left is the number of messages afterwards.
		left int
	}{
		"500":              {Fault{Status: 500}, func(err error) bool { return status(err) == 500 }, 0},
		"503 on chat":      {Fault{Method: "chat.*", Status: 503}, func(err error) bool { return status(err) == 503 }, 0},
		"another method":   {Fault{Method: "views.publish", Status: 503}, func(err error) bool { return err == nil }, 1},
		"error":            {Fault{Error: "internal_error"}, func(err error) bool { return code(err) == "internal_error" }, 0},
		"reset":            {Fault{Reset: true}, func(err error) bool { return errors.Is(err, io.EOF) }, 0},
		"lost answer":      {Fault{Reset: true, Applied: true}, func(err error) bool { return err != nil }, 1},
		"latency":          {Fault{Latency: time.Millisecond}, func(err error) bool { return err == nil }, 1},
		"429 without wait": {Fault{Status: http.StatusTooManyRequests}, func(err error) bool { var e *slack.RateLimitedError; return errors.As(err, &e) }, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, api := start(t, nil)
			if err := s.Inject(tt.fault); err != nil {
				t.Fatal(err)
			}
			if _, _, err := api.PostMessage(alerts, say("x")); !tt.check(err) {
				t.Errorf("got error %v", err)
			}
			if got := len(s.Messages(alerts)); got != tt.left {
				t.Errorf("got %d messages, want %d", got, tt.left)
			}
		})
	}
}

func TestFaultForATime(t *testing.T) {
	stage := noon()
	s, api := start(t, func(c *Config) { c.Now = stage.now })
	if err := s.Inject(Fault{Status: 503, For: time.Hour}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := api.PostMessage(alerts, say("x")); err == nil {
		t.Error("Slack was up within the hour")
	}
	stage.pass(time.Hour)
	post(t, api, say("x"))
	if got := s.Calls()[0]; got.Fault != "503" || got.Status != 503 {
		t.Errorf("got %+v, want the fault in the record", got)
	}
}

func TestFaultThatDoesNothing(t *testing.T) {
	s, _ := start(t, nil)
	for _, f := range []Fault{{}, {Method: "[", Status: 500}} {
		if err := s.Inject(f); err == nil {
			t.Errorf("%+v was taken", f)
		}
	}
}

func TestFileInThread(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("parent"))
	png := []byte("\x89PNG\r\n\x1a\nrest")
	f, err := api.UploadFile(slack.UploadFileParameters{
		Reader: bytes.NewReader(png), FileSize: len(png), Filename: "Chart.png", Title: "Launches",
		AltTxt: "a chart", Channel: alerts, ThreadTimestamp: ts, InitialComment: "by hour",
	})
	if err != nil {
		t.Fatalf("UploadFile: %v", err)
	}
	want := []File{{ID: f.ID, Name: "Chart.png", Title: "Launches", Mimetype: "image/png", AltText: "a chart", Size: len(png)}}
	r := s.Messages(alerts)[0].Replies
	if len(r) != 1 || r[0].Text != "by hour" {
		t.Fatalf("got replies %+v, want one with the comment", r)
	}
	if diff := cmp.Diff(want, r[0].Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if status, body := get(t, s.URL()+"/file/"+f.ID); status != 200 || body != string(png) {
		t.Errorf("got status %d and %q, want the picture", status, body)
	}
	if status, _ := get(t, s.URL()+"/files-pri/"+f.ID+"/chart.png"); status != http.StatusForbidden {
		t.Errorf("url_private without a token: got status %d, want 403", status)
	}
	var b bytes.Buffer
	if err := api.GetFile(s.URL()+"/files-pri/"+f.ID+"/chart.png", &b); err != nil || b.String() != string(png) {
		t.Errorf("GetFile: got %q, error %v", b.String(), err)
	}
	if _, err := api.UploadFile(slack.UploadFileParameters{
		Reader: bytes.NewReader(png), FileSize: len(png) + 1, Filename: "short.png", Channel: alerts,
	}); err == nil {
		t.Error("an upload of another length than announced was taken")
	}
}

// TestHomeWorkspace: as Slack does, the stand-in says of a guest only in
// user.team_id that they are one. Its auth.test has the organization.
func TestHomeWorkspace(t *testing.T) {
	type of struct {
		User struct {
			Team string `json:"team_id"`
		}
		Team struct {
			ID         string
			Enterprise string `json:"enterprise_id"`
		}
		Enterprise *struct{ ID string }
	}
	for name, test := range map[string]struct {
		enterprise string
		user       User
		want       string // the person's, the team, its organization, the installation's
	}{
		"a colleague":                   {"", User{}, "T0STAGE001 T0STAGE001 - -"},
		"a guest":                       {"", User{Team: "T0OTHER001"}, "T0OTHER001 T0STAGE001 - -"},
		"a colleague in the grid":       {"E0ACME0001", User{}, "T0STAGE001 T0STAGE001 E0ACME0001 E0ACME0001"},
		"a guest in the grid":           {"E0ACME0001", User{Team: "T0OTHER001"}, "T0OTHER001 T0STAGE001 E0ACME0001 E0ACME0001"},
		"another workspace of the grid": {"E0ACME0001", User{Team: "T0SISTER01", Enterprise: "E0ACME0001"}, "T0SISTER01 T0SISTER01 E0ACME0001 E0ACME0001"},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan of, 1)
			app := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				var p of
				if err := json.Unmarshal([]byte(r.FormValue("payload")), &p); err != nil {
					t.Error(err)
				}
				got <- p
			}))
			defer app.Close()
			test.user.ID, test.user.Name = "U0SOMEBODY", "somebody"
			s, api := start(t, func(c *Config) { c.Enterprise, c.Users = test.enterprise, []User{test.user} })
			s.SetInteractivityURL(app.URL)
			ts := post(t, api, say("broken"), slack.MsgOptionBlocks(slack.NewActionBlock("row", slack.NewButtonBlockElement("a", "1", plainObj("A")))))
			if err := s.Press(context.Background(), Press{Channel: alerts, TS: ts, ActionID: "a"}); err != nil {
				t.Fatal(err)
			}
			p := <-got
			installed, team := "-", "-"
			if p.Enterprise != nil {
				installed = p.Enterprise.ID
			}
			if p.Team.Enterprise != "" {
				team = p.Team.Enterprise
			}
			if diff := cmp.Diff(test.want, p.User.Team+" "+p.Team.ID+" "+team+" "+installed); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			own, err := api.AuthTest()
			if err != nil || own.TeamID != "T0STAGE001" || own.EnterpriseID != test.enterprise {
				t.Errorf("auth.test says %+v, %v", own, err)
			}
		})
	}
}

// told is an app that keeps what it was sent, and answers what a test says.
type told struct {
	status int
	kind   string
	body   string
	header http.Header
	got    []*http.Request
	bodies []string
}

func (a *told) start(t *testing.T) string {
	t.Helper()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v, err := slack.NewSecretsVerifier(r.Header, testSecret)
		if err == nil {
			_, _ = v.Write(body)
			err = v.Ensure()
		}
		if err != nil {
			t.Errorf("signature: %v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		a.got, a.bodies = append(a.got, r), append(a.bodies, string(body))
		for name := range a.header {
			w.Header().Set(name, a.header.Get(name))
		}
		w.Header().Set("Content-Type", a.kind)
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(app.Close)
	return app.URL
}

// A command is what slack-go reads as one, and what the app answers at once is for its
// sender alone; later answers come by its response_url.
func TestCommand(t *testing.T) {
	a := &told{status: 200, kind: "application/json", body: `{"response_type":"ephemeral","text":"Looking…"}`}
	s, _ := start(t, nil)
	typed := Command{Channel: alerts, Text: "/rollcall  why i-1 ", User: "U0DANA0001"}
	if err := s.Command(t.Context(), typed); !errors.Is(err, ErrNoInteractivityURL) {
		t.Errorf("without an address: %v", err)
	}
	s.SetInteractivityURL(a.start(t))
	if err := s.Command(t.Context(), typed); err != nil {
		t.Fatal(err)
	}
	c, err := slack.SlashCommandParse(a.got[0])
	if err != nil || c.Command != "/rollcall" || c.Text != "why i-1" || c.UserID != "U0DANA0001" || c.ChannelID != alerts || c.TeamID != teamID {
		t.Errorf("%+v, %v", c, err)
	}
	for range replyURLUses {
		resp, err := http.Post(c.ResponseURL, "application/json", strings.NewReader(`{"text":"later","response_type":"ephemeral"}`))
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v, %v", resp, err)
		}
		resp.Body.Close()
	}
	resp, err := http.Post(c.ResponseURL, "application/json", strings.NewReader(`{"text":"too often"}`))
	if err != nil || resp.StatusCode != 404 {
		t.Errorf("a sixth answer: %v, %v", resp, err)
	}
	resp.Body.Close()
	m := s.Messages(alerts)
	if len(m) != 1+replyURLUses || m[0].Text != "Looking…" || m[0].Visible != "U0DANA0001" || m[1].Visible != "U0DANA0001" {
		t.Errorf("the channel has %+v", m)
	}
}

// Where Slack takes no command, or the app fails, the person reads what Slack says.
func TestCommandsInVain(t *testing.T) {
	s, _ := start(t, func(c *Config) {
		c.Users = append(c.Users, User{ID: "U0GUEST001", Name: "guest", Team: "T0OTHER001"})
	})
	a := &told{status: 500}
	s.SetInteractivityURL(a.start(t))
	for name, test := range map[string]struct {
		c    Command
		want string
	}{
		"another command":    {Command{Channel: alerts, Text: "/giphy cat"}, "/giphy is not a valid command"},
		"in a thread":        {Command{Channel: alerts, Text: "/rollcall status", Thread: "1.1"}, "not supported in threads"},
		"of another company": {Command{Channel: alerts, Text: "/rollcall status", User: "U0GUEST001"}, "is not a valid command"},
		"the app fails":      {Command{Channel: alerts, Text: "/rollcall status"}, `failed with the error "dispatch_failed"`},
	} {
		var says *CommandError
		if err := s.Command(t.Context(), test.c); !errors.As(err, &says) || !strings.Contains(says.Says, test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if len(a.got) != 1 {
		t.Errorf("the app was sent %q", a.bodies)
	}
	scopeless, _ := start(t, func(c *Config) { c.Scopes = []string{"chat:write"} })
	scopeless.SetInteractivityURL("http://127.0.0.1:1")
	var says *CommandError
	if err := scopeless.Command(t.Context(), Command{Channel: alerts, Text: "/rollcall status"}); !errors.As(err, &says) {
		t.Errorf("without the scope commands: %v", err)
	}
}

func TestVerifyEvents(t *testing.T) {
	s, _ := start(t, nil)
	a := &told{status: 200, body: "something else"}
	s.SetInteractivityURL(a.start(t))
	if err := s.VerifyEvents(t.Context()); err == nil || !strings.Contains(err.Error(), "challenge") {
		t.Errorf("no challenge comes back: %v", err)
	}
	e, err := slackevents.ParseEvent([]byte(a.bodies[0]), slackevents.OptionNoVerifyToken())
	if err != nil || e.Type != slackevents.URLVerification {
		t.Errorf("%+v, %v", e, err)
	}
}

// Opening the home page is an event that slack-go reads; one that is not taken comes three
// times more, unless the app says that it is not to.
func TestOpenHome(t *testing.T) {
	s, api := start(t, nil)
	a := &told{status: 200}
	s.SetInteractivityURL(a.start(t))
	view := slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewActionBlock("row", slack.NewButtonBlockElement("end", "ab", plainObj("End")))}}}
	first, err := api.PublishView(oncall, view, "")
	if err != nil || first.Hash == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	if err := s.OpenHome(context.Background(), oncall); err != nil {
		t.Fatal(err)
	}
	e, err := slackevents.ParseEvent([]byte(a.bodies[0]), slackevents.OptionNoVerifyToken())
	opened, ok := e.InnerEvent.Data.(*slackevents.AppHomeOpenedEvent)
	if err != nil || !ok || opened.User != oncall || opened.Tab != "home" || opened.View == nil || opened.View.Hash != first.Hash {
		t.Errorf("%+v, %v", e, err)
	}
	if err := s.Press(t.Context(), Press{Home: true, ActionID: "end", User: oncall}); err != nil {
		t.Fatal(err)
	}
	call, err := slack.InteractionCallbackParse(a.got[1])
	if err != nil || call.Container.Type != "view" || call.View.Hash != first.Hash || call.ResponseURL != "" || call.ActionCallback.BlockActions[0].Value != "ab" {
		t.Errorf("%+v, %v", call, err)
	}
	a.status = 500
	if err := s.OpenHome(t.Context(), oncall); err == nil || len(a.got) != 2+4 || a.got[5].Header.Get("X-Slack-Retry-Num") != "3" || a.got[5].Header.Get("X-Slack-Retry-Reason") != "http_error" {
		t.Errorf("%v, sent %d times", err, len(a.got)-2)
	}
	a.header = http.Header{"X-Slack-No-Retry": {"1"}}
	if err := s.OpenHome(t.Context(), oncall); err == nil || len(a.got) != 7 {
		t.Errorf("%v, sent %d times", err, len(a.got)-6)
	}
	if status, body := get(t, s.URL()+"/?home=1&as="+oncall); status != 200 || !strings.Contains(body, `data-list="home:`+oncall) || !strings.Contains(body, ">End<") {
		t.Errorf("%d: %s", status, body)
	}
}

// A home page is held against Slack's rules, and drawn over the state alone that it names.
func TestPublishHome(t *testing.T) {
	s, api := start(t, nil)
	blocks := func(n int) slack.HomeTabViewRequest {
		v := slack.HomeTabViewRequest{Type: slack.VTHomeTab}
		for range n {
			v.Blocks.BlockSet = append(v.Blocks.BlockSet, slack.NewDividerBlock())
		}
		return v
	}
	first, err := api.PublishView(oncall, blocks(maxHomeBlocks), "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := api.PublishView(oncall, blocks(1), first.Hash)
	if err != nil || second.ID != first.ID || second.Hash == first.Hash {
		t.Errorf("%+v, %v", second, err)
	}
	for name, test := range map[string]struct {
		user, hash string
		view       slack.HomeTabViewRequest
		want       string
	}{
		"one block too many":  {oncall, "", blocks(maxHomeBlocks + 1), "invalid_arguments"},
		"nobody":              {"U0NOBODY01", "", blocks(1), "invalid_arguments"},
		"an older state":      {oncall, first.Hash, blocks(1), "hash_conflict"},
		"a state of nothing":  {"U0DANA0001", first.Hash, blocks(1), "hash_conflict"},
		"a block that is not": {oncall, "", slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewActionBlock("x")}}}, "invalid_arguments"},
	} {
		if _, err := api.PublishView(test.user, test.view, test.hash); code(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	if n := len(s.Views()); n != 2 {
		t.Errorf("%d views are kept", n)
	}
}

const evil = `</span><script>alert(1)</script>"'><img src=x onerror=alert(1)>`

func TestNothingIsInjected(t *testing.T) {
	s, api := start(t, func(c *Config) {
		c.Workspace, c.Bot.Name, c.Users[1].Name, c.Channels[0].Topic = evil, evil, evil, evil
	})
	s.SetBanner(evil)
	mrk := slack.NewTextBlockObject(slack.MarkdownType, evil, false, false)
	btn := slack.NewButtonBlockElement(evil, evil, plainObj(evil))
	btn.URL = "javascript:alert(1)"
	btn.Confirm = slack.NewConfirmationBlockObject(plainObj(evil), mrk, plainObj("y"), plainObj("n"))
	ts := post(t, api, say(evil), slack.MsgOptionBlocks(
		slack.NewHeaderBlock(plainObj(evil)), slack.NewSectionBlock(mrk, []*slack.TextBlockObject{mrk}, slack.NewAccessory(btn)),
		slack.NewContextBlock("", mrk), slack.NewImageBlock("javascript:alert(1)", evil, "", plainObj(evil)),
	))
	post(t, api, say(evil), slack.MsgOptionTS(ts))
	if _, err := s.Say(alerts, "U0DANA0001", evil, ""); err != nil {
		t.Fatal(err)
	}
	post(t, api, slack.MsgOptionAttachments(slack.Attachment{Title: evil, TitleLink: "javascript:1", Text: evil, Footer: evil, Color: `"><script>`}))
	if _, err := api.UploadFile(slack.UploadFileParameters{Content: evil, FileSize: len(evil), Filename: evil, Title: evil, Channel: alerts}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/?thread=" + ts, "/?static=1&history=" + ts} {
		status, body := get(t, s.URL()+path)
		if status != 200 {
			t.Fatalf("%s: got status %d", path, status)
		}
		if n := strings.Count(body, "<script"); n != 1 {
			t.Errorf("%s: got %d scripts, want the page's own", path, n)
		}
		for _, bad := range []string{"<img src=x", `href="javascript:`, `src="javascript:`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s: the page contains %q", path, bad)
			}
		}
	}
}

func TestPageParts(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("parent *bold*"))
	post(t, api, say("evidence"), slack.MsgOptionTS(ts))
	post(t, api, say("more"), slack.MsgOptionTS(ts))
	if _, _, _, err := api.UpdateMessage(alerts, ts, say("parent *changed*")); err != nil {
		t.Fatal(err)
	}
	if _, err := api.PostEphemeral(alerts, oncall, say("psst")); err != nil {
		t.Fatal(err)
	}
	another := post(t, api, say("another line"))
	tests := map[string]struct {
		path       string
		has, lacks []string
	}{
		"one message":     {"/?message=" + ts, []string{"<b>changed</b>", "<b>2 replies</b>"}, []string{"another line", "psst"}},
		"another message": {"/?message=" + another, []string{"another line"}, []string{"<b>changed</b>"}},
		"channel":         {"/", []string{"<b>changed</b>", "(edited)", "<b>2 replies</b>", "Only visible to you", `<aside id="pane" hidden>`}, []string{"evidence", "data-static"}},
		"thread":          {"/?thread=" + ts, []string{"evidence", "more", `data-list="thread:` + alerts + ":" + ts}, nil},
		"history":         {"/?history=" + ts, []string{"<b>bold</b>", "<b>changed</b>"}, nil},
		"static":          {"/?static=1", []string{"data-static"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, body := get(t, s.URL()+tt.path)
			for _, x := range tt.has {
				if !strings.Contains(body, x) {
					t.Errorf("the page lacks %q", x)
				}
			}
			for _, x := range tt.lacks {
				if strings.Contains(body, x) {
					t.Errorf("the page has %q", x)
				}
			}
		})
	}
	for _, path := range []string{"/?channel=C404", "/?thread=1.1", "/?message=1.1", "/archives/x/y", "/emoji/none.svg", "/web/none", "/nothing"} {
		if status, _ := get(t, s.URL()+path); status != http.StatusNotFound {
			t.Errorf("%s: got status %d, want 404", path, status)
		}
	}
}

func TestState(t *testing.T) {
	s, api := start(t, nil)
	s.SetBanner("route")
	post(t, api, say("x"))
	_, body := get(t, s.URL()+"/state.json")
	var got struct {
		Banner   string
		Calls    int
		Channels []struct{ Messages []Message }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if got.Banner != "route" || got.Calls != 1 || got.Channels[0].Messages[0].Text != "x" {
		t.Errorf("got %+v", got)
	}
}

func TestLive(t *testing.T) {
	s, api := start(t, nil)
	resp, err := http.Get(s.URL() + "/live")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	next := func() (f fragment) {
		t.Helper()
		for in.Scan() {
			if in.Text() != "event: fragment" {
				continue
			}
			in.Scan()
			if err := json.Unmarshal([]byte(strings.TrimPrefix(in.Text(), "data: ")), &f); err != nil {
				t.Fatal(err)
			}
			return f
		}
		t.Fatalf("the stream ended: %v", in.Err())
		return f
	}
	// The first line says that the page is watched.
	in.Scan()
	ts := post(t, api, say("hello"))
	if f := next(); f.List != "channel:"+alerts || f.TS != ts || !strings.Contains(f.HTML, "hello") {
		t.Errorf("got %+v, want the message in the channel", f)
	}
	if f := next(); f.List != "thread:"+alerts+":"+ts {
		t.Errorf("got list %q, want the thread", f.List)
	}
	reply := post(t, api, say("evidence"), slack.MsgOptionTS(ts))
	if f := next(); f.List != "thread:"+alerts+":"+ts || f.TS != reply {
		t.Errorf("got %+v, want the reply in the thread", f)
	}
	if f := next(); f.TS != ts || !strings.Contains(f.HTML, "1 reply") {
		t.Errorf("got %+v, want the parent with its summary", f)
	}
}

func TestPressOnThePage(t *testing.T) {
	s, api := start(t, nil)
	ts := post(t, api, say("x"), slack.MsgOptionBlocks(slack.NewActionBlock("row", slack.NewButtonBlockElement("go", "", plainObj("Go")))))
	send := func(path, contentType, body string) (int, string) {
		resp, err := http.Post(s.URL()+path, contentType, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var a struct{ Hint string }
		_ = json.NewDecoder(resp.Body).Decode(&a)
		return resp.StatusCode, a.Hint
	}
	body := `{"channel":"` + alerts + `","ts":"` + ts + `","action":"go"}`
	if status, hint := send("/press", "application/json", body); status != 200 || !strings.Contains(hint, "No interactivity URL") {
		t.Errorf("got %d %q, want the hint", status, hint)
	}
	if status, _ := send("/press", "text/plain", body); status != http.StatusBadRequest {
		t.Errorf("a form of another site was taken: %d", status)
	}
	if status, _ := send("/say", "application/json", `{"channel":"`+alerts+`","text":"a <b> & c"}`); status != 200 {
		t.Errorf("say: got %d", status)
	}
	if m := s.Messages(alerts); m[1].Text != "a &lt;b&gt; &amp; c" || m[1].User != oncall {
		t.Errorf("got %+v", m[1])
	}
}

func TestParams(t *testing.T) {
	tests := map[string]struct {
		contentType, body string
		want              params
		code              string
	}{
		"form":       {"application/x-www-form-urlencoded", "a=1&b=x%20y", params{"q": "0", "a": "1", "b": "x y"}, ""},
		"bad form":   {"application/x-www-form-urlencoded", "a=%", nil, "invalid_form_data"},
		"JSON":       {"application/json; charset=utf-8", `{"a":"1","b":true,"c":[1],"d":null}`, params{"q": "0", "a": "1", "b": "true", "c": "[1]"}, ""},
		"nothing":    {"", "", params{"q": "0"}, ""},
		"not JSON":   {"application/json", "a=1", nil, "invalid_json"},
		"a list":     {"application/json", "[]", nil, "invalid_json"},
		"plain text": {"text/plain", "a=1", nil, "invalid_post_type"},
		"no type":    {"", "a=1", nil, "invalid_post_type"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseParams(url.Values{"q": {"0"}}, tt.contentType, []byte(tt.body))
			if refusal(err) != tt.code {
				t.Fatalf("got error %v, want %q", err, tt.code)
			}
			if diff := cmp.Diff(tt.want, got); tt.code == "" && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// refusal is the code of an answer that is not ok.
func refusal(err error) string {
	var e *apiError
	if errors.As(err, &e) {
		return e.code
	}
	return ""
}

func FuzzParams(f *testing.F) {
	f.Add("application/json", `{"channel":"C1","blocks":[]}`)
	f.Add("application/x-www-form-urlencoded", "channel=C1&text=%")
	f.Add("multipart/form-data; boundary=x", "--x--")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		p, err := parseParams(nil, contentType, []byte(body))
		if err != nil && refusal(err) == "" {
			t.Errorf("got an error that is no answer: %v", err)
		}
		if err == nil && p == nil {
			t.Error("got neither arguments nor an error")
		}
	})
}

// A picture that was uploaded into no channel is shown by a message.
func TestPictureInMessage(t *testing.T) {
	s, api := start(t, nil)
	png := []byte("\x89PNG\r\n\x1a\nrest")
	f, err := api.UploadFile(slack.UploadFileParameters{Reader: bytes.NewReader(png), FileSize: len(png), Filename: "chart.png"})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Messages(alerts)); n != 0 {
		t.Errorf("the upload alone said %d messages", n)
	}
	show := func(id string) slack.MsgOption {
		return slack.MsgOptionBlocks(slack.NewImageBlockSlackFile(&slack.SlackFileObject{ID: id}, "a chart", "", nil))
	}
	post(t, api, show(f.ID))
	if _, body := get(t, s.URL()+"/?static=1"); !strings.Contains(body, `<img src="/file/`+f.ID+`" alt="a chart">`) {
		t.Error("the page does not show the picture")
	}
	for name, id := range map[string]string{"unknown": "F0STAGE9999", "no id": "f1", "not complete": pending(t, api)} {
		if _, _, err := api.PostMessage(alerts, show(id)); code(err) != "invalid_blocks" {
			t.Errorf("%s: %v, want invalid_blocks", name, err)
		}
	}
	both := slack.NewImageBlockSlackFile(&slack.SlackFileObject{ID: f.ID, URL: "https://files.example/x.png"}, "x", "", nil)
	if _, _, err := api.PostMessage(alerts, slack.MsgOptionBlocks(both)); code(err) != "invalid_blocks" {
		t.Errorf("a file by id and by address: %v, want invalid_blocks", err)
	}
}

// pending is a file whose upload was begun only.
func pending(t *testing.T, api *slack.Client) string {
	t.Helper()
	u, err := api.GetUploadURLExternalContext(t.Context(), slack.GetUploadURLExternalParameters{FileName: "x.png", FileSize: 3})
	if err != nil {
		t.Fatal(err)
	}
	return u.FileID
}

func TestPress(t *testing.T) {
	got := make(chan slack.InteractionCallback, 1)
	status := http.StatusOK
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		v, err := slack.NewSecretsVerifier(r.Header, testSecret)
		if err == nil {
			_, _ = v.Write(body)
			err = v.Ensure()
		}
		if err != nil {
			t.Errorf("signature: %v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		call, err := slack.InteractionCallbackParse(r)
		if err != nil {
			t.Errorf("payload: %v", err)
		}
		w.WriteHeader(status)
		got <- call
	}))
	defer app.Close()
	s, api := start(t, nil)
	mute := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, plainObj("Mute"), "mute", slack.NewOptionBlockObject("1h", plainObj("1 hour"), nil))
	ts := post(t, api, say("broken"), slack.MsgOptionBlocks(slack.NewActionBlock("row", slack.NewButtonBlockElement("approve", "plan-1", plainObj("Approve")), mute)))
	ctx := context.Background()

	press := Press{Channel: alerts, TS: ts, ActionID: "approve"}
	if err := s.Press(ctx, press); !errors.Is(err, ErrNoInteractivityURL) {
		t.Fatalf("got %v, want ErrNoInteractivityURL", err)
	}
	s.SetInteractivityURL(app.URL)
	if err := s.Press(ctx, press); err != nil {
		t.Fatalf("Press: %v", err)
	}
	call := <-got
	a := call.ActionCallback.BlockActions
	if call.Type != slack.InteractionTypeBlockActions || len(a) != 1 || a[0].Value != "plan-1" || a[0].BlockID != "row" ||
		call.User.ID != oncall || call.Container.MessageTs != ts || call.Channel.ID != alerts {
		t.Errorf("got %+v", call)
	}

	answer := func(body string) (int, string) {
		resp, err := http.Post(call.ResponseURL, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var a struct{ Error string }
		_ = json.NewDecoder(resp.Body).Decode(&a)
		return resp.StatusCode, a.Error
	}
	answer(`{"text":"only you","response_type":"ephemeral"}`)
	answer(`{"text":"approved by oncall","replace_original":true}`)
	m := s.Messages(alerts)
	if len(m) != 2 || m[0].Text != "approved by oncall" || len(m[0].Blocks) != 0 || m[1].Visible != oncall {
		t.Errorf("got %+v, want the message replaced and an ephemeral one", m)
	}
	for range 3 {
		answer(`{"text":"again"}`)
	}
	if status, code := answer(`{"text":"sixth"}`); status != 404 || code != "used_url" {
		t.Errorf("sixth use: got %d %q, want 404 used_url", status, code)
	}

	ts = post(t, api, say("menu"), slack.MsgOptionBlocks(slack.NewActionBlock("row", mute)))
	if err := s.Press(ctx, Press{Channel: alerts, TS: ts, ActionID: "mute", Value: "1h", User: "U0DANA0001"}); err != nil {
		t.Fatalf("Press: %v", err)
	}
	if call = <-got; call.ActionCallback.BlockActions[0].SelectedOption.Value != "1h" || call.User.Name != "Dana" {
		t.Errorf("got %+v, want the option 1h chosen by Dana", call)
	}
	status = http.StatusInternalServerError
	err := s.Press(ctx, Press{Channel: alerts, TS: ts, ActionID: "mute", Value: "1h"})
	var pe *PressError
	if !errors.As(err, &pe) || pe.Status != 500 {
		t.Errorf("got %v, want a PressError with 500", err)
	}
	<-got
	if err := s.Press(ctx, Press{Channel: alerts, TS: ts, ActionID: "mute", Value: "2h"}); err == nil {
		t.Error("an option that is not there was chosen")
	}
}
