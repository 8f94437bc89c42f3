package notify

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rollcall/shared/notify/notifytest"
	"rollcall/shared/silence"
	"rollcall/shared/slack/slackapi"
	"rollcall/shared/spoke"
)

// silenced writes a silence of the workshop's cluster, of an hour.
func silenced(b *bench) {
	b.Helper()
	_, err := b.store.SaveSilence(b.Context(), silence.Silence{
		ID: "ab12cd34", Cluster: "eks-workshop", From: notifytest.Start, Until: notifytest.Start.Add(time.Hour), At: notifytest.Start, By: silence.Person{ID: notifytest.Oncall},
	})
	if err != nil {
		b.Fatal(err)
	}
}

// say gives the cluster its time at a minute.
func (b *bench) say(minute int) error {
	b.Helper()
	b.now = notifytest.Start.Add(time.Duration(minute) * time.Minute)
	c, err := b.Begin().Cluster(b.Context(), "eks-workshop", 1)
	if err != nil {
		return err
	}
	err = c.DeliverSilences(b.Context())
	c.End(b.Context(), err == nil)
	return err
}

func (b *bench) silence() silence.Silence {
	b.Helper()
	list, err := b.store.Silences(b.Context(), "eks-workshop")
	if err != nil || len(list) != 1 {
		b.Fatalf("%v, %v; want one", list, err)
	}
	return list[0]
}

// The line is posted once, and edited once when the silence is over.
func TestSilenceIsSaidOnce(t *testing.T) {
	b := newBench(t)
	silenced(b)
	for _, minute := range []int{1, 2, 30, 61, 62, 90} {
		if err := b.say(minute); err != nil {
			t.Errorf("minute %d: %v", minute, err)
		}
	}
	if got := strings.Join(b.channel.Calls, " "); got != "post update" {
		t.Errorf("Slack was called: %s", got)
	}
	if s := b.silence(); s.Begun.TS == "" || s.Over.TS != s.Begun.TS || !s.Begun.Sending.IsZero() {
		t.Errorf("the record is %+v", s)
	}
}

// An invocation that was cut off after Slack took the line is followed by one that finds
// it; what Slack refused, or could not take, is said with the cluster's next message.
func TestSilenceAfterTrouble(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		cut   bool
		calls string
	}{
		"cut off":           {&slackapi.Error{Kind: slackapi.Unavailable}, true, "post find"},
		"away":              {&slackapi.Error{Kind: slackapi.Unavailable}, false, "post find post"},
		"refused, as it is": {&slackapi.Error{Kind: slackapi.Refused, Code: "x"}, false, "post post"},
	} {
		b := newBench(t)
		silenced(b)
		b.channel.Fail = func(string) (error, bool) { return test.err, test.cut }
		if err := b.say(1); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b.channel.Fail = nil
		for _, minute := range []int{6, 11} {
			if err := b.say(minute); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := strings.Join(strings.Fields(strings.Join(b.channel.Calls, " ")), " "); got != test.calls || b.silence().Begun.TS == "" || len(b.channel.Messages) != 1 {
			t.Errorf("%s: Slack was called: %s; it has %d messages, the record is %+v", name, got, len(b.channel.Messages), b.silence().Begun)
		}
	}
}

// Silences that cannot be read hold the cluster up: one of them may hide what would be told.
func TestSilencesThatCannotBeRead(t *testing.T) {
	b := newBench(t)
	b.Silences = mute{b.store}
	if _, err := b.Begin().Cluster(t.Context(), "eks-workshop", 1); !errors.Is(err, errUnread) {
		t.Errorf("%v", err)
	}
	// Another cluster of that name has nothing to do with it.
	b.Silences = b.store.In(spoke.ID{Account: "222233334444", Region: "eu-west-1"})
	silenced(b)
	if err := b.say(1); err != nil || len(b.channel.Calls) > 0 {
		t.Errorf("%v, %q", err, b.channel.Calls)
	}
}

var errUnread = errors.New("ThrottlingException")

// mute is a table that does not tell its silences.
type mute struct{ of Silences }

func (mute) Silences(context.Context, string) ([]silence.Silence, error) { return nil, errUnread }

func (u mute) SaveSilence(ctx context.Context, s silence.Silence) (silence.Silence, error) {
	return u.of.SaveSilence(ctx, s)
}
