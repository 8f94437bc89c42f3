package report

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/incident"
	"rollcall/shared/notify"
	"rollcall/shared/notify/notifytest"
	"rollcall/shared/report"
)

// A message that nobody can read holds up nothing of its cluster: neither what is
// in its batch, nor what comes while it would be tried again.
func TestUnreadableHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &notifytest.Table{Items: map[report.Key]notifytest.Record{}}
		set := &asides{}
		h := handler{aside: set, people: &notifytest.Slack{}, naming: &naming{}, Notifier: notify.Notifier{
			Incidents: table, Postings: table, Slack: &notifytest.Slack{}, Files: &notifytest.Slack{}, Answers: &notifytest.Slack{}, Bus: notifytest.RefusingBus{}, Clusters: table, Silences: table,
			Policy: incident.Policy{ProofTime: time.Hour, ReopenTime: 24 * time.Hour, Channel: "C0123456789"}, Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string, int) {},
		}}
		queue := []queued{{id: "bad", group: "eks-workshop", body: `{"format":99}`}}
		begin := time.Now()
		for minute := range 10 {
			obs := notifytest.Failing(notifytest.Launch(notifytest.Instance1, 0, report.Waiting))
			obs.ID, obs.At = fmt.Sprint("minute ", minute), time.Now()
			queue = append(queue, queued{id: obs.ID, group: obs.Cluster, body: must(marshal(obs))})
			for batch := take(&queue, map[string]bool{}); len(batch) > 0; batch = take(&queue, map[string]bool{}) {
				back, err := invoke(t, h, batch)
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range back {
					m.from = time.Now().Add(invisible)
					queue = append([]queued{m}, queue...)
				}
			}
			if age := table.Stalest([]string{"eks-workshop"}); age > 5*time.Second {
				t.Errorf("minute %d: the newest observation is %s old", minute, age)
			}
			time.Sleep(time.Until(begin.Add(time.Duration(minute+1) * time.Minute)))
		}
		if len(set.messages) != 1 || set.messages[0].Body != `{"format":99}` {
			t.Errorf("set aside: %+v", set.messages)
		}
	})
}

// DynamoDB is away for an hour: what was observed meanwhile goes back to the queue,
// some of it to the dead-letter queue, and after make redrive all of it is known:
// no incident is lost, none is said twice, and none as what it no longer is.
func TestTableAwayForAnHour(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays hours of many incidents")
	}
	script := newScript(3, 24)
	as := onSlack(t, script, well)
	want, _, _ := as.read()
	o := onSlack(t, script, noTable)
	got, _, twice := o.read()
	if o.redriven == 0 {
		t.Error("nothing became a dead letter: the test shows nothing")
	}
	if twice > 0 || o.lost > 0 {
		t.Errorf("%d said twice, %d lost", twice, o.lost)
	}
	for key, story := range want {
		// Open or over, as the colour at the beginning tells. An end and a return that
		// were heard of together are one opening, with the instances of both.
		colour, _, _ := strings.Cut(story.text, " ")
		if is, _, _ := strings.Cut(got[key].text, " "); is != colour || len(got[key].notes) == 0 {
			t.Errorf("%s is %q with %d replies, want %q", key, is, len(got[key].notes), colour)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d messages, want %d", len(got), len(want))
	}
	if o.counts["RecordFailures"] == 0 || o.failed > 0 {
		t.Errorf("%d failures to record, %d invocations failed", o.counts["RecordFailures"], o.failed)
	}
	t.Logf("%d messages came back", o.redriven)
}

// A revoked token, a bot that was removed, an archived channel, a bus that refuses:
// for four hours what is observed is taken in as fast as ever, nothing is said
// twice or lost, one alarm rings and stays until it is mended, and then the channel
// is what it would have been.
func TestRefusedForFourHours(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays hours of many incidents")
	}
	script := newScript(3, 12)
	// The causes that a cluster is known by stay for all of the time.
	for i := range script.faults {
		if i < 3 {
			script.faults[i].gone, script.faults[i].back = 1000*time.Hour, 0
		}
	}
	as := onSlack(t, script, well)
	want, _, _ := as.read()
	for _, how := range []away{revoked, outside, archives, busDeaf} {
		t.Run(string(how), func(t *testing.T) {
			o := onSlack(t, script, how)
			if o.failed > 0 {
				t.Errorf("%d invocations failed, and brought their batches back", o.failed)
			}
			// Sweeps come every five minutes and are taken in within seconds.
			if o.stale > outageSweep+time.Minute {
				t.Errorf("the newest observation of a cluster became %s old", o.stale)
			}
			got, _, twice := o.read()
			if twice > 0 || o.lost > 0 {
				t.Errorf("%d said twice, %d lost", twice, o.lost)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(story{})); diff != "" {
				t.Errorf("the channel is not what it would have been (-want +got):\n%s", clip(diff))
			}
			// Whoever mended it is heard of within the longest wait, a sweep and the
			// time that Slack's limit takes.
			backlog := time.Duration(o.counts["SlackPosts"]+o.counts["SlackNotes"]) * time.Second
			if most := 15*time.Minute + outageSweep + 2*backlog; o.drained > most {
				t.Errorf("it took %s until all was said, want %s at most", o.drained, most)
			}
			if n := bytes.Count(o.errors.Bytes(), []byte("\n")); n == 0 || n > len(script.clusters) {
				t.Errorf("%d errors in the log, want one for each of %d clusters at most:\n%s", n, len(script.clusters), o.errors.Bytes())
			}
			first, last := -1, -1
			for i := range int(o.how.lasts() / outageTick) {
				if o.alarmed[i] {
					if last >= 0 && last != i-1 {
						t.Errorf("the alarm was over in period %d, and nothing was mended", last+1)
					}
					if last = i; first < 0 {
						first = i
					}
				}
			}
			if first < 0 || time.Duration(last+1)*outageTick < how.lasts() {
				t.Errorf("the alarm rang from period %d to %d, want until it is mended", first, last)
			}
			if end := int((how.lasts() + o.drained) / outageTick); o.alarmed[end+2] {
				t.Error("the alarm still rings")
			}
			t.Logf("observations at most %s old, all said %s after it was mended, %d invocations", o.stale, o.drained, o.invoked)
		})
	}
}
