package notify

import (
	"context"
	"strings"
	"testing"

	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

// archived is a Slack whose old channel takes nothing any more.
type archived struct {
	*notifytest.Slack
	old string
}

func (a archived) refuse(id string) error {
	if id == a.old {
		return &slackapi.Error{Kind: slackapi.Channel, Method: "chat.update", Code: "is_archived"}
	}
	return nil
}

func (a archived) Update(ctx context.Context, id, ts string, m slackapi.Message) error {
	if err := a.refuse(id); err != nil {
		return err
	}
	return a.Slack.Update(ctx, id, ts, m)
}

func (a archived) Reply(ctx context.Context, id, thread string, m slackapi.Message) (string, error) {
	if err := a.refuse(id); err != nil {
		return "", err
	}
	return a.Slack.Reply(ctx, id, thread, m)
}

// The channel was archived and another one is set: what is open goes on there.
func TestChannelReplaced(t *testing.T) {
	b := newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	old := b.Policy.Channel
	b.Slack = archived{b.channel, old}
	b.must(5, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Missed)))
	if b.counts["Undelivered"] != 1 || !strings.Contains(b.log.String(), "unarchive the channel") {
		t.Errorf("the channel is archived and no other is set: %d undelivered, log %s", b.counts["Undelivered"], b.log)
	}
	b.Policy.Channel = "C0NEW"
	b.must(10, notifytest.Sweep())
	b.must(15, notifytest.Passing())
	var there []string
	for _, m := range b.channel.Messages {
		if m.Channel == "C0NEW" {
			there = append(there, m.Tag.Note)
		}
	}
	if got := strings.Join(there, " "); got != " missed cleared" {
		t.Errorf("in the new channel: %q, want the message, and what was not said yet", got)
	}
}
