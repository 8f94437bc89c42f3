package notify

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/notify/notifytest"
	"rollcall/shared/outbox"
	"rollcall/shared/report"
	"rollcall/shared/slack"
	"rollcall/shared/slack/slackapi"
)

func (b *bench) posting() outbox.Posting {
	b.Helper()
	list, err := b.store.Postings(b.Context(), "eks-workshop")
	if err != nil || len(list) != 1 {
		b.Fatalf("postings are %v, %v; want one", list, err)
	}
	return list[0]
}

// complete is the one message with its picture and its details.
func (b *bench) complete(picture bool) {
	b.Helper()
	posts := b.channel.Posts()
	if len(posts) != 1 || !strings.Contains(posts[0].Text, "31 of 412 launches did not join") {
		b.Errorf("the channel has %+v, want one summary", posts)
	}
	if diff := cmp.Diff([]string{slack.DetailsNote}, b.channel.Notes()); diff != "" {
		b.Errorf("the thread (-want +got):\n%s", diff)
	}
	p := b.posting()
	if !p.Done || p.Due() || len(p.Summary.Chart) > 0 {
		b.Errorf("the record is %+v, want it done and small", p)
	}
	if got := p.Picture.File != ""; got != picture {
		b.Errorf("with a picture: %v (%q), want %v", got, p.Picture.Missing, picture)
	}
}

func TestSummary(t *testing.T) {
	b := newBench(t)
	for minute := range 3 {
		if failed, err := b.tell(minute, notifytest.Daily(31), notifytest.Daily(31)); err != nil || len(failed) > 0 {
			t.Fatal(failed, err)
		}
	}
	b.complete(true)
	if diff := cmp.Diff([]string{"upload", "post", "reply details"}, b.channel.Calls); diff != "" {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
	if got := b.channel.Files[0]; string(got.Data) != "\x89PNG" || got.Name != "spot-eks-workshop-2026-11-20.png" || !strings.Contains(got.Alt, "31 of 412") {
		t.Errorf("the file is %+v", got)
	}
	// Weeks later, from the dead-letter queue.
	if failed, err := b.tell(17*24*60, notifytest.Daily(31)); err != nil || len(failed) > 0 || len(b.channel.Posts()) != 1 {
		t.Errorf("repeated: %q, %v, %d posts", failed, err, len(b.channel.Posts()))
	}
	asked := notifytest.Daily(31)
	asked.ID = "spot/eks-workshop/asked/1"
	if _, err := b.tell(20, asked); err != nil || len(b.channel.Posts()) != 2 {
		t.Errorf("a summary that was asked for: %v, %d posts in all", err, len(b.channel.Posts()))
	}
}

func TestQuietSummary(t *testing.T) {
	b := newBench(t)
	quiet := notifytest.Daily(0)
	quiet.Chart = nil
	for minute := range 2 {
		if _, err := b.tell(minute, quiet); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"post"}, b.channel.Calls); diff != "" || !b.posting().Done {
		t.Errorf("calls of Slack (-want +got):\n%s", diff)
	}
}

// Whatever call is cut off after Slack took it, nothing is said twice.
func TestSummaryCutOff(t *testing.T) {
	for _, call := range []string{"upload", "post", "reply details"} {
		t.Run(call, func(t *testing.T) {
			b := newBench(t)
			b.channel.Fail = notifytest.CutOff(call)
			for _, step := range [][]report.Summary{{notifytest.Daily(31)}, nil, nil} {
				if _, err := b.tell(len(b.channel.Calls), step...); err != nil {
					t.Fatal(err)
				}
			}
			b.complete(true)
		})
	}
}

// Slack is away or asks to wait: one try for each batch, and later all is said.
func TestSummarySlackAway(t *testing.T) {
	for name, fault := range map[string]func(string) (error, bool){"down": notifytest.Down, "rate limited": notifytest.RateLimited} {
		for _, from := range []string{"upload", "post", "reply details"} {
			t.Run(name+" from "+from, func(t *testing.T) {
				b := newBench(t)
				away := false
				b.channel.Fail = func(call string) (error, bool) {
					if away = away || call == from; away {
						return fault(call)
					}
					return nil, false
				}
				if _, err := b.tell(0, notifytest.Daily(31)); err != nil {
					t.Fatal(err)
				}
				for minute := 5; minute < 20; minute += 5 {
					before := len(b.channel.Calls)
					if _, err := b.tell(minute); err != nil {
						t.Fatal(err)
					}
					if n := len(b.channel.Calls) - before; n != 1 {
						t.Errorf("%d calls in a batch, want 1", n)
					}
				}
				b.channel.Fail = nil
				if _, err := b.tell(30); err != nil {
					t.Fatal(err)
				}
				b.complete(true)
			})
		}
	}
}

func fails(name string, e slackapi.Error, times int) func(string) (error, bool) {
	return func(call string) (error, bool) {
		if call != name || times == 0 {
			return nil, false
		}
		times--
		return &e, false
	}
}

// Without files:write the message goes out and says so, and the alarm rings.
func TestSummaryWithoutScope(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = fails("upload", slackapi.Error{Kind: slackapi.Auth, Method: "files.getUploadURLExternal", Code: "missing_scope", Scope: "files:write"}, -1)
	if _, err := b.tell(0, notifytest.Daily(31)); err != nil || b.counts["Undelivered"] != 1 || !strings.Contains(b.log.String(), "add the scope files:write") {
		t.Errorf("%v, %d undelivered; want the scope in the log: %s", err, b.counts["Undelivered"], b.log)
	}
	b.complete(false)
	if !strings.Contains(b.posting().Picture.Missing, "files:write") {
		t.Errorf("the record says %q", b.posting().Picture.Missing)
	}
	// The queue gives the batch again.
	if failed, err := b.tell(1, notifytest.Daily(31)); err != nil || len(failed) > 0 {
		t.Errorf("given again: %q, %v", failed, err)
	}
	b.complete(false)
}

// Slack takes pictures in after it has answered: the message waits for that,
// but not for ever.
func TestSummaryPictureNotTakenIn(t *testing.T) {
	refusal := slackapi.Error{Kind: slackapi.Refused, Method: "chat.postMessage", Code: "invalid_blocks"}
	b := newBench(t)
	b.channel.Fail = fails("post", refusal, 2)
	for minute, step := range [][]report.Summary{{notifytest.Daily(31)}, nil, nil} {
		if _, err := b.tell(minute, step...); err != nil {
			t.Fatal(err)
		}
	}
	b.complete(true)
	if n := len(b.channel.Files); n != 1 {
		t.Errorf("%d uploads, want 1", n)
	}

	b = newBench(t)
	b.channel.Fail = fails("post", refusal, mostRefusals)
	for minute, step := range [][]report.Summary{{notifytest.Daily(31)}, nil, nil, nil} {
		if _, err := b.tell(minute, step...); err != nil {
			t.Fatal(err)
		}
	}
	b.complete(false)
	if rang := b.counts["Undelivered"]; rang != 1 {
		t.Errorf("the alarm rang %d times, want once", rang)
	}
}

// A wrong token or channel rings the alarm and loses nothing.
func TestSummaryRefused(t *testing.T) {
	for _, from := range []string{"upload", "post", "reply details"} {
		b := newBench(t)
		b.channel.Fail = fails(from, slackapi.Error{Kind: slackapi.Auth, Method: "x", Code: "invalid_auth"}, 2)
		for i, step := range [][]report.Summary{{notifytest.Daily(31)}, nil, nil} {
			// The second try is two minutes after the first, the third four after that.
			if failed, err := b.tell([]int{0, 2, 6}[i], step...); err != nil || len(failed) > 0 {
				t.Errorf("%s: gave back %q, %v", from, failed, err)
			}
		}
		if b.counts["Undelivered"] != 2 {
			t.Errorf("%s: %d undelivered, want 2", from, b.counts["Undelivered"])
		}
		b.complete(true)
	}
}

// Somebody deletes the message before its details come.
func TestSummaryDeleted(t *testing.T) {
	b := newBench(t)
	b.channel.Fail = fails("reply details", slackapi.Error{Kind: slackapi.MessageGone, Method: "chat.postMessage", Code: "thread_not_found"}, -1)
	if _, err := b.tell(0, notifytest.Daily(31)); err != nil || !b.posting().Done {
		t.Errorf("%v, %+v; want it done", err, b.posting())
	}
}

// lapse is a store whose n-th write of a posting fails, as if the function
// were stopped there.
type lapse struct {
	Summaries
	writes, at int
}

func (l *lapse) SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error) {
	if l.writes++; l.writes == l.at {
		return outbox.Posting{}, errStopped
	}
	return l.Summaries.SavePosting(ctx, p)
}

// Stopped at any write, with the message coming again: one message, one reply.
func TestSummaryStoppedBetweenSendAndSave(t *testing.T) {
	for n := 1; n <= 5; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBench(t)
			b.Postings = &lapse{Summaries: b.store, at: n}
			failed, err := b.tell(0, notifytest.Daily(31))
			if err != nil || len(failed) != 1 {
				t.Fatalf("gave back %q, %v; want the message", failed, err)
			}
			if failed, err := b.tell(1, notifytest.Daily(31)); err != nil || len(failed) > 0 {
				t.Fatalf("gave back %q, %v the second time", failed, err)
			}
			b.complete(true)
		})
	}
}

// Two invocations at once: who comes second sees it and leaves it.
func TestSummaryRace(t *testing.T) {
	b := newBench(t)
	b.Postings = &overtaken{Summaries: b.store, bench: b}
	if failed, err := b.tell(0, notifytest.Daily(31)); err != nil || len(failed) > 0 {
		t.Fatalf("gave back %q, %v", failed, err)
	}
	b.complete(true)
	if b.counts["LostRaces"] != 1 {
		t.Errorf("%d races were lost, want 1", b.counts["LostRaces"])
	}
}

// overtaken lets another invocation say everything before the first write.
type overtaken struct {
	Summaries
	bench *bench
	done  bool
}

func (r *overtaken) SavePosting(ctx context.Context, p outbox.Posting) (outbox.Posting, error) {
	if !r.done {
		r.done = true
		if _, err := r.bench.tell(0, notifytest.Daily(31)); err != nil {
			return outbox.Posting{}, err
		}
	}
	return r.Summaries.SavePosting(ctx, p)
}
