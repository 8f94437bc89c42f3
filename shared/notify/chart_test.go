package notify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
	"rollcall/shared/slack/slackapi"
)

// leaking is a look of subnet-watch with a chart.
func leaking(png string) report.Observation {
	obs := notifytest.Observation()
	obs.By = "subnet-watch"
	obs.Diagnosis.Causes = []diagnose.Cause{{
		Check: "ip/leaked-interfaces", Confidence: checks.Certain, Resource: notifytest.Subnet, Covers: []string{notifytest.Subnet}, Nodegroups: []string{"workers"},
		Title: "31 addresses of " + notifytest.Subnet + " are held by 4 dead nodes", Why: "12 interfaces are left behind.",
	}}
	return charted(obs, png)
}

func givenBack(png string) report.Observation {
	obs := notifytest.Observation()
	obs.Diagnosis.Passed = []diagnose.Passed{{Check: "ip/leaked-interfaces", Covers: []string{notifytest.Subnet}, Evidence: []checks.Evidence{{What: notifytest.Subnet, Value: "31 addresses back; 12 interfaces of 4 dead nodes"}}}}
	return charted(obs, png)
}

func charted(obs report.Observation, png string) report.Observation {
	if png != "" {
		obs.Charts = []report.Chart{{Of: "subnet-another", PNG: []byte("not this one"), Alt: "another"}, {Of: notifytest.Subnet, PNG: []byte(png), Alt: "It falls."}}
	}
	return obs
}

// The first picture comes after the words. It stands beside the numbers of its own look
// alone, and is drawn anew when the incident moves on, or after an hour.
func TestPictures(t *testing.T) {
	b := newBench(t)
	for _, s := range []struct {
		minute  int
		obs     report.Observation
		calls   string
		picture string
	}{
		{0, leaking("first"), "post, reply opened, upload, update", "F000000001"},
		{5, leaking("five minutes later"), "", "F000000001"},
		{10, func() report.Observation { o := leaking(""); o.Diagnosis.Causes[0].Why = "13 are."; return o }(), "update", ""},
		{15, leaking("too early"), "update", "F000000001"},
		{59, leaking("too early"), "", "F000000001"},
		{60, leaking("an hour later"), "upload, update", "F000000002"},
		{70, givenBack(""), "update, reply proved", ""},
		{75, givenBack("its end"), "upload, update", "F000000003"},
		{80, givenBack("said already"), "", "F000000003"},
		{90, leaking("it is back"), "upload, update, reply reopened", "F000000004"},
	} {
		before := len(b.channel.Calls)
		b.must(s.minute, s.obs)
		if got := strings.Join(b.channel.Calls[before:], ", "); got != s.calls {
			t.Errorf("minute %d: calls %q, want %q", s.minute, got, s.calls)
		}
		if posts := b.channel.Posts(); len(posts) != 1 || posts[0].Picture != s.picture {
			t.Errorf("minute %d: posts %+v, want one with %s", s.minute, posts, s.picture)
		}
		if inc := b.incident(); len(inc.Chart.PNG) > 0 || inc.Chart.Due() {
			t.Errorf("minute %d: the record keeps the picture: %+v", s.minute, inc.Chart)
		}
	}
	got := b.channel.Files[0]
	if diff := cmp.Diff(slackapi.File{Name: "addresses-" + notifytest.Subnet + "-20261120-1459.png", Title: "Free addresses of " + notifytest.Subnet, Alt: "It falls.", Data: []byte("first")}, got); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
	if text := b.channel.Posts()[0].Text; !strings.Contains(text, "for the 2nd time") {
		t.Errorf("the message is %q", text)
	}
}

// A picture that Slack does not take holds back no word, and comes later.
func TestPicturesNeverHoldBackWords(t *testing.T) {
	for name, fault := range map[string]func(string) (error, bool){"down": notifytest.Down, "rate limited": notifytest.RateLimited} {
		b := newBench(t)
		b.channel.Fail = func(call string) (error, bool) {
			if call == "upload" {
				return fault(call)
			}
			return nil, false
		}
		b.must(0, leaking("first"))
		b.must(5, notifytest.Sweep())
		if diff := cmp.Diff([]string{"post", "reply opened", "upload", "upload"}, b.channel.Calls); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", name, diff)
		}
		b.channel.Fail = nil
		b.must(10, notifytest.Sweep())
		if p := b.channel.Posts(); len(p) != 1 || p[0].Picture != "F000000001" {
			t.Errorf("%s: posts %+v, want one with its picture", name, p)
		}
	}
}

// Without files:write the alarm rings once, and the words stand.
func TestPicturesWithoutScope(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = fails("upload", slackapi.Error{Kind: slackapi.Auth, Method: "files.getUploadURLExternal", Code: "missing_scope", Scope: "files:write"}, -1)
	for _, minute := range []int{0, 1, 61, 122, 183} {
		b.must(minute, leaking(fmt.Sprint(minute)))
	}
	rang := b.counts["Undelivered"]
	if posts := b.channel.Posts(); len(posts) != 1 || posts[0].Picture != "" || rang != 1 {
		t.Errorf("posts %+v, the alarm rang %d times; want one message without a picture, and once", posts, rang)
	}
}

// Slack refuses to show what it has not taken in yet: the file is tried again,
// and after a while let go.
func TestPictureNotTakenIn(t *testing.T) {
	refusal := slackapi.Error{Kind: slackapi.Refused, Method: "chat.update", Code: "invalid_blocks"}
	b := newBench(t)
	b.channel.Fail = fails("update", refusal, 1)
	b.must(0, leaking("first"))
	b.must(5, notifytest.Sweep())
	if p := b.channel.Posts(); len(p) != 1 || p[0].Picture != "F000000001" || len(b.channel.Files) != 1 {
		t.Errorf("posts %+v, %d files; want the picture, given once", p, len(b.channel.Files))
	}
	b = newBench(t)
	b.channel.Fail = fails("update", refusal, -1)
	for minute := range 5 {
		b.must(minute, leaking("first"))
	}
	rang := b.counts["Undelivered"]
	if inc := b.incident(); inc.Chart.Due() || rang != 1 || len(b.channel.Posts()) != 1 {
		t.Errorf("%+v, the alarm rang %d times, %d posts; want it let go with one alarm", inc.Chart, rang, len(b.channel.Posts()))
	}
}

func pictureStory() []notifytest.Step {
	return []notifytest.Step{{Minute: 0, Obs: leaking("first")}, {Minute: 5, Obs: leaking("x")}, {Minute: 14, Obs: givenBack("end")}, {Minute: 20, Obs: notifytest.Sweep()}}
}

// Whatever call is cut off, and whichever write: one message, with its picture.
func TestPictureCutOff(t *testing.T) {
	check := func(t *testing.T, b *bench) {
		t.Helper()
		p := b.channel.Posts()
		if len(p) != 1 || p[0].Picture == "" || !strings.HasPrefix(p[0].Text, "✅ eks-workshop / workers · "+notifytest.Subnet+" has its addresses back after 14 min: 31 addresses, 12 interfaces of 4 dead nodes") {
			t.Errorf("posts %+v, want one, resolved, with a picture", p)
		}
		if diff := cmp.Diff([]string{"opened", "proved"}, b.channel.Notes()); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}
	}
	for _, call := range []string{"post", "upload", "update", "reply opened", "reply proved"} {
		t.Run(call, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = notifytest.CutOff(call)
			for _, s := range pictureStory() {
				b.must(s.Minute, s.Obs)
			}
			check(t, b)
		})
	}
	for n := 1; n <= 7; n++ {
		t.Run(fmt.Sprint("write ", n), func(t *testing.T) {
			b := newBench(t)
			b.Incidents = &forgetful{Records: b.store, from: n, to: n + 1}
			for i, s := range pictureStory() {
				s.Obs.ID = fmt.Sprint("story-", i)
				failed, err := b.at(s.Minute, s.Obs)
				if err != nil {
					t.Fatal(err)
				}
				if len(failed) > 0 {
					b.must(s.Minute, s.Obs)
				}
			}
			check(t, b)
		})
	}
}
