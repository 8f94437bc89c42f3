package fakeslack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
)

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
	list, next, err := api.GetConversations(&slack.GetConversationsParameters{Limit: 2, Types: []string{"public_channel", "private_channel"}})
	if err != nil || next == "" || len(list) != 2 || list[0].Name != "alerts" || !list[1].IsPrivate {
		t.Errorf("got %d channels, cursor %q, error %v", len(list), next, err)
	}
	c, err := api.GetConversationInfo(&slack.GetConversationInfoInput{ChannelID: alerts, IncludeNumMembers: true})
	if err != nil || !c.IsMember || c.NumMembers != 3 || c.Topic.Value != "Node alerts" {
		t.Errorf("got %+v, error %v", c, err)
	}
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
