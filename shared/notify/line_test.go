package notify

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
)

// What a person must know is a new line of the channel, without any route; all else is
// an edit or a reply.
func TestNewLines(t *testing.T) {
	b := newBench(t)
	for _, s := range []notifytest.Step{
		{Minute: 0, Obs: notifytest.Failing()}, // a warning: no launch has met it
		{Minute: 30, Obs: notifytest.Failing(notifytest.Launch(notifytest.Instance1, 30, report.Waiting))},
		{Minute: 35, Obs: notifytest.Failing(notifytest.Launch(notifytest.Instance1, 30, report.Missed))},
		{Minute: 40, Obs: notifytest.Passing(notifytest.Launch(notifytest.Instance1, 30, report.Missed))},
		{Minute: 44, Obs: notifytest.Failing(notifytest.Launch(notifytest.Instance1, 30, report.Missed))},
		{Minute: 50, Obs: notifytest.Passing(notifytest.Launch(notifytest.Instance1, 30, report.Gone), notifytest.Launch(notifytest.Instance2, 48, report.Joined))},
		{Minute: 90, Obs: notifytest.Failing(notifytest.Launch("i-0aa5a6b7c8d9e0f1a", 85, report.Missed))},
	} {
		b.must(s.Minute, s.Obs)
	}
	var got []string
	for _, m := range b.channel.Messages {
		word := m.Tag.Note
		if m.Broadcast {
			word += ", in the channel"
		}
		got = append(got, word)
	}
	want := []string{"", "opened", "worse, in the channel", "missed", "cleared", "failed-again, in the channel", "proved", "reopened, in the channel"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

// A line that comes late is one, and none where the message was posted after it, or where
// all is over.
func TestLateLines(t *testing.T) {
	at := time.Unix(1700000000, 0)
	line := func(minute int, sent string, mention ...string) incident.Note {
		return incident.Note{At: at.Add(time.Duration(minute) * time.Minute), Line: true, TS: sent, Mention: mention}
	}
	for name, test := range map[string]struct {
		state incident.State
		notes []incident.Note
		want  bool
	}{
		"in time":                          {incident.Open, []incident.Note{line(5, "")}, true},
		"another was sent after it":        {incident.Open, []incident.Note{line(5, ""), line(6, "1.1")}, true},
		"another waits after it":           {incident.Open, []incident.Note{line(5, ""), line(6, "")}, false},
		"a call waits after it":            {incident.Open, []incident.Note{line(5, ""), {At: at.Add(time.Hour), Mention: []string{"here"}}}, false},
		"a reply waits after it":           {incident.Open, []incident.Note{line(5, ""), {At: at.Add(time.Hour)}}, true},
		"the message was posted after it":  {incident.Open, []incident.Note{line(-1, "")}, false},
		"it is over":                       {incident.Closed, []incident.Note{line(5, "")}, false},
		"the cause is gone":                {incident.Cleared, []incident.Note{line(5, "")}, true},
		"who is called is called all same": {incident.Closed, []incident.Note{line(-1, "", "here")}, true},
		"a reply":                          {incident.Open, []incident.Note{{At: at.Add(time.Hour)}}, false},
	} {
		inc := incident.Incident{State: test.state, Delivery: incident.Delivery{TS: "1700000000.000100", Notes: test.notes}}
		if got := shownInChannel(inc, test.notes[0]); got != test.want {
			t.Errorf("%s: in the channel %t, want %t", name, got, test.want)
		}
	}
}
