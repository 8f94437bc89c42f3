//go:build chromium

package press

import (
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"rollcall/stage"
)

// TestAskOnTheStage: the command is typed and the home page opened and pressed in a real
// browser, with all real programs behind it.
func TestAskOnTheStage(t *testing.T) {
	s := brokenStage(t)
	if err := s.Slack.VerifyEvents(minute(t)); err != nil {
		t.Errorf("the address is not taken for events: %v", err)
	}
	b := newBrowser(t, false)
	type step struct {
		name, as, text, until string
		want                  []string
	}
	for _, test := range []step{
		{"help", stage.Dev, "/rollcall", "Rollcall commands", []string{"Only visible to you", "/rollcall silence cluster=prod for 2h"}},
		{"wrong", stage.Dev, "/rollcall silence cluster=eks-workshop for 3d", "needs a reason", nil},
		{"slip", stage.Dev, "/rollcall silence cluster=eks-workshp for 2h", "not among the clusters", []string{"Looking…"}},
		{"status", stage.Dev, "/rollcall status", "incident open", []string{"1 cluster watched", "message"}},
		{"silence", stage.OnCall, `/rollcall silence cluster=eks-workshop for 2h reason "node upgrade"`, "Undo: /rollcall unsilence", []string{"1 open incident is silenced with it", "🔕"}},
		{"silences", stage.Dev, "/rollcall silences", "1 silence.", []string{"node upgrade"}},
	} {
		shown, err := b.Type(minute(t), Typed{Page: s.Slack.URL(), As: test.as, Text: test.text, Until: test.until})
		if err != nil {
			t.Fatalf("%s: %v; the page shows %s", test.name, err, shown.Channel)
		}
		for _, want := range test.want {
			if !strings.Contains(shown.Channel, want) && want != "🔕" {
				t.Errorf("%s: the page lacks %q: %s", test.name, want, shown.Channel)
			}
		}
		picture(t, b, "asked-"+test.name)
	}
	if shown, err := b.Type(minute(t), Typed{Page: s.Slack.URL(), Text: "/giphy cat", Until: "no answer comes"}); err != nil || !strings.Contains(shown.Hint, "not a valid command") {
		t.Errorf("another app's command: %+v, %v", shown, err)
	}
	shown, err := b.Home(minute(t), s.Slack.URL(), stage.Dev, "Clusters")
	if err != nil || !strings.Contains(shown.Channel, "eks-workshop is silenced until") || !strings.Contains(shown.Channel, "1 silenced") {
		t.Errorf("the home page shows %+v, %v", shown, err)
	}
	picture(t, b, "asked-home")
	shown, err = b.Press(minute(t), Press{Page: s.Slack.URL(), As: stage.OnCall, Home: true, Message: "is silenced until", Button: "End silence", Until: "Ended: the silence of eks-workshop"})
	if err != nil || !strings.Contains(shown.Asked, "End this silence?") || !strings.Contains(shown.Channel, "Nothing is silenced") {
		t.Errorf("after it was ended the page shows %+v, %v", shown, err)
	}
	picture(t, b, "asked-home-ended")
	olderHome(t, s, b)
	narrow := newBrowser(t, true)
	if _, err := narrow.Home(minute(t), s.Slack.URL(), stage.Dev, "Nothing is silenced"); err != nil {
		t.Error(err)
	}
	picture(t, narrow, "asked-home-narrow")
}

// olderHome presses a button of a home page that another version of Rollcall drew, and that
// this one does not know: the page says so when it is drawn anew.
func olderHome(t *testing.T, s *stage.Stage, b *Browser) {
	t.Helper()
	older := slackgo.HomeTabViewRequest{Type: slackgo.VTHomeTab, Blocks: slackgo.Blocks{BlockSet: []slackgo.Block{
		slackgo.NewSectionBlock(slackgo.NewTextBlockObject(slackgo.PlainTextType, "A page of another version", false, false), nil,
			slackgo.NewAccessory(slackgo.NewButtonBlockElement("rename", "ab12cd34", slackgo.NewTextBlockObject(slackgo.PlainTextType, "Rename", false, false)))),
	}}}
	api := slackgo.New(stage.SlackToken, slackgo.OptionAPIURL(s.Slack.APIURL()))
	if _, err := api.PublishViewContext(minute(t), slackgo.PublishViewContextRequest{UserID: stage.OnCall, View: older}); err != nil {
		t.Fatal(err)
	}
	shown, err := b.Press(minute(t), Press{Home: true, Message: "A page of another version", Button: "Rename", Until: "Nothing was done"})
	const says = "Nothing was done: this version of Rollcall does not know that button."
	if err != nil || !strings.Contains(shown.Channel, says) || !strings.Contains(shown.Channel, "1 cluster watched") || shown.Warning != "" {
		t.Errorf("after a button that is not known the page shows %+v, %v", shown, err)
	}
	picture(t, b, "asked-home-refused")
}
