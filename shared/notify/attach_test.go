package notify

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/incident"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

// long is a failure whose first reply has no room for all of its evidence.
func long() report.Observation {
	obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
	for n := range 60 {
		obs.Diagnosis.Causes[0].Evidence = append(obs.Diagnosis.Causes[0].Evidence, checks.Evidence{What: fmt.Sprint("line ", n), Value: strings.Repeat("x", 60)})
	}
	return obs
}

// owed counts the notes whose file is still due.
func (b *bench) owed() (n int) {
	for _, note := range b.incident().Delivery.Notes {
		if note.Owes() {
			n++
		}
	}
	return n
}

// The file comes after all words, once; what is short has none.
func TestFiles(t *testing.T) {
	b := newBench(t)
	b.must(0, long())
	b.must(1, notifytest.Sweep())
	if got := strings.Join(b.channel.Calls, ", "); got != "post, reply opened, share" {
		t.Errorf("calls %q", got)
	}
	if len(b.channel.Shared) != 1 || !strings.Contains(string(b.channel.Shared[0].Data), "line 59") || b.owed() != 0 {
		t.Errorf("shared %d files, %d due; want one with all lines", len(b.channel.Shared), b.owed())
	}
	if n := b.incident().Delivery.Notes[0]; len(n.Evidence) > 0 || n.Then != nil {
		t.Error("the record keeps what the file has")
	}
	b = newBench(t)
	b.must(0, notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting)))
	if slices.Contains(b.channel.Calls, "share") {
		t.Error("a short reply has a file")
	}
}

// What Slack does not take holds back no word, and comes when Slack is back.
func TestFilesWait(t *testing.T) {
	for name, fault := range map[string]slackapi.Error{
		"down":         {Kind: slackapi.Unavailable, Method: "files.getUploadURLExternal", Status: 503},
		"rate limited": {Kind: slackapi.RateLimited, Method: completes},
	} {
		b := newBench(t)
		b.channel.Fail = fails("share", fault, -1)
		for minute := range 5 {
			b.must(minute, long())
		}
		if len(b.channel.Posts()) != 1 || len(b.channel.Notes()) != 1 || b.owed() != 1 {
			t.Errorf("%s: calls %q, %d due", name, b.channel.Calls, b.owed())
		}
		b.channel.Fail = nil
		b.must(10, notifytest.Sweep())
		b.must(11, notifytest.Sweep())
		if len(b.channel.Shared) != 1 || b.owed() != 0 {
			t.Errorf("%s: shared %d files, %d due; want one", name, len(b.channel.Shared), b.owed())
		}
	}
}

// An answer that is lost, each time, repeats the file once and no more.
func TestFilesAreRepeatedOnceAtMost(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = func(call string) (error, bool) {
		if call == "share" {
			return &slackapi.Error{Kind: slackapi.Unavailable, Method: completes}, true
		}
		return nil, false
	}
	for minute := range 6 {
		b.must(minute, long())
	}
	if len(b.channel.Shared) != incident.MostShares || b.owed() != 0 {
		t.Errorf("shared %d times, %d due; want %d and none", len(b.channel.Shared), b.owed(), incident.MostShares)
	}
}

// Whichever write fails, the file is shared, and once more at most.
func TestFilesCutOff(t *testing.T) {
	for n := 1; n <= 6; n++ {
		b := newBench(t)
		b.Incidents = &forgetful{Records: b.store, from: n, to: n + 1}
		obs := long()
		obs.ID = "long"
		for minute := range 4 {
			if _, err := b.at(minute, obs); err != nil {
				t.Errorf("write %d: %v", n, err)
			}
		}
		if got := len(b.channel.Shared); got < 1 || got > 2 || b.owed() != 0 || len(b.channel.Notes()) != 1 {
			t.Errorf("write %d: shared %d times, %d due, notes %q", n, got, b.owed(), b.channel.Notes())
		}
	}
}

// Without files:write it is said once in the log, and the words stand.
func TestFilesWithoutScope(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = fails("share", slackapi.Error{Kind: slackapi.Auth, Method: "files.getUploadURLExternal", Code: "missing_scope", Scope: "files:write"}, -1)
	b.must(0, long())
	b.must(1, notifytest.Sweep())
	b.must(10, notifytest.Passing())
	again := long()
	again.Diagnosis.Causes[0].Why = "It is back."
	b.must(20, again)
	if said := strings.Count(b.log.String(), "goes without the file"); said != 1 || b.owed() != 0 || len(b.channel.Shared) != 0 {
		t.Errorf("said %d times, %d due, shared %d", said, b.owed(), len(b.channel.Shared))
	}
}
