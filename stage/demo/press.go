package demo

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rollcall/shared/report"
	"rollcall/stage"
	"rollcall/stage/fakeslack"
	"rollcall/stage/release"
)

// The people of the stage's Slack: who may approve, and a person who is not allowed to.
const (
	onCall = "U0ONCALL01"
	dev    = "U0DEV00001"
)

// personOf is the name of one of them.
func personOf(user string) string { return map[string]string{onCall: "oncall", dev: "dev"}[user] }

// needs holds that the template has functions.
func needs(s *stage.Stage, names ...string) error {
	for _, name := range names {
		if _, ok := s.Function(name); !ok {
			return fmt.Errorf("the template has no function %s", name)
		}
	}
	return nil
}

// only is the channel's only message.
func only(s *stage.Stage) fakeslack.Message {
	list := shown(s)
	if len(list) == 0 {
		return fakeslack.Message{}
	}
	return list[0]
}

// offers reports whether a message has the button that approves a fix.
func offers(m fakeslack.Message) bool {
	return strings.Contains(strings.ReplaceAll(string(m.Blocks), " ", ""), `"action_id":"`+string(report.ApprovePlan)+`"`)
}

// errRefused ends a story whose fix the person who looks has refused.
var errRefused = errors.New("you refused the fix")

// approved waits until the fix that a message offers is approved: by the story, as a
// person would who may, or by the person who looks, for whom the stage's time goes as the
// clock does meanwhile.
func (n *narrator) approved(ctx context.Context, m fakeslack.Message) error {
	s := n.stage
	if !n.person {
		if err := s.Slack.Press(ctx, fakeslack.Press{Channel: stage.Channel, TS: m.TS, ActionID: string(report.ApprovePlan), User: onCall}); err != nil {
			return err
		}
		n.say("@oncall clicks Approve on the page")
		return nil
	}
	before := n.decisions(m.TS)
	s.Clock.SetPace(1, 1)
	defer s.Clock.SetPace(n.rate, slow)
	n.credentials()
	fmt.Fprintf(n.out, "Your turn: open %s and click \"Approve this fix\" in the message. You are oncall, an approver; dev is not.\n"+
		"The stage runs in real time until then. Ctrl-C ends the story and the stage.\n\n", s.Slack.URL())
	var after decisions
	if err := n.waitFor(ctx, 0, "waiting for you", func() (bool, error) {
		after = n.decisions(m.TS)
		return after != before, nil
	}); err != nil {
		return err
	}
	if after.refused > before.refused {
		return errRefused
	}
	n.say("you approved it")
	return nil
}

// decisions are how often the thread of a message says that a fix was approved by a
// person, and refused by one.
type decisions struct{ approved, refused int }

func (n *narrator) decisions(ts string) (d decisions) {
	for _, m := range shown(n.stage) {
		if m.TS == ts {
			text := thread(m)
			d.approved += strings.Count(text, "Rechecking before applying")
			d.refused += strings.Count(text, "Rollcall will not ")
		}
	}
	return d
}

// refusedTo presses it as a person who is not allowed to, and who alone gets the reply.
func refusedTo(ctx context.Context, n *narrator, s *stage.Stage, m fakeslack.Message, user string) error {
	before := ephemeralCount(s, user)
	if err := s.Slack.Press(ctx, fakeslack.Press{Channel: stage.Channel, TS: m.TS, ActionID: string(report.ApprovePlan), User: user}); err != nil {
		return err
	}
	if err := n.wait(ctx, "waiting for the refusal", func() (bool, error) { return ephemeralCount(s, user) > before, nil }); err != nil {
		return err
	}
	n.say("@%s (not an approver) clicks Approve and is refused privately", personOf(user))
	return nil
}

// ephemeralCount counts the answers that only one person saw.
func ephemeralCount(s *stage.Stage, user string) int {
	count := 0
	for _, c := range s.Slack.Calls() {
		if c.Method == "chat.postEphemeral" && c.Error == "" && c.Params["user"] == user {
			count++
		}
	}
	return count
}

// called reports whether a function made a call, and AWS took it.
func called(s *stage.Stage, operation, function string) bool {
	for _, c := range s.Cloud.Calls() {
		if c.Operation == operation && c.Principal.Name == function && c.Code == "" {
			return true
		}
	}
	return false
}

// changed waits until the message says who changed what it is about.
func changed(ctx context.Context, n *narrator, s *stage.Stage, resource, who string) error {
	if err := n.wait(ctx, "waiting for CloudTrail", func() (bool, error) {
		text := everything(only(s))
		return strings.Contains(text, who) && strings.Contains(text, resource), nil
	}); err != nil {
		return err
	}
	n.say("the message says who changed %s: %s", resource, who)
	return nil
}

// thread is all that is said in a message's thread.
func thread(m fakeslack.Message) string {
	var b strings.Builder
	for _, r := range m.Replies {
		b.WriteString(everything(r) + "\n")
	}
	return b.String()
}

// public counts a thread's replies, without what only one person sees.
func public(m fakeslack.Message) int {
	count := 0
	for _, r := range m.Replies {
		if r.Visible == "" {
			count++
		}
	}
	return count
}

// messageWith is the channel's message that says all of it.
func messageWith(s *stage.Stage, parts ...string) (fakeslack.Message, bool) {
	for _, m := range shown(s) {
		text := everything(m)
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) }) {
			return m, true
		}
	}
	return fakeslack.Message{}, false
}

// shown are the channel's messages that everybody sees.
func shown(s *stage.Stage) []fakeslack.Message {
	return slices.DeleteFunc(s.Slack.Messages(stage.Channel), func(m fakeslack.Message) bool { return m.Visible != "" || m.ThreadTS != "" })
}

// channel is all that stands in the channel.
func channel(s *stage.Stage) string {
	var b strings.Builder
	for _, m := range shown(s) {
		b.WriteString(everything(m) + "\n")
	}
	return b.String()
}

// keepSamples watches what the functions write on a stage; what it gives ends
// that, and adds it to a folder's samples.
func keepSamples(ctx context.Context, r *release.Recorder, s *stage.Stage, dir string) func() error {
	watching, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- r.Watch(watching, s, time.Second) }()
	return func() error {
		stop()
		return errors.Join(<-ended, unsigned(ctx, s), r.Look(ctx, s), r.Write(dir))
	}
}

// unsigned sends what Slack has not signed: no story does, and a refusal leaves
// a record too.
func unsigned(ctx context.Context, s *stage.Stage) error {
	address := s.URL("slack-actions")
	if address == "" {
		return nil
	}
	body := url.Values{"payload": {"{}"}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("send an unsigned press: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("send an unsigned press: %w", err)
	}
	return res.Body.Close()
}

// keepSamples keeps what was written on the story's stage, where that is wanted.
func (n *narrator) keepSamples() error {
	if n.keep == nil {
		return nil
	}
	return n.keep()
}
