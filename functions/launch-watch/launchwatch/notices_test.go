package launchwatch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/detect"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/store"
)

var warnings = []string{"ec2-spot-interruption.json", "ec2-capacity-reservation-interruption.json", "ec2-rebalance-recommendation.json", "health-ec2-scheduled-change.json"}

// TestNoticesOfALaunch: what EC2 says beforehand is on the record, whether it
// comes before the launch's own events, with them, or after.
func TestNoticesOfALaunch(t *testing.T) {
	var notices []string
	for _, name := range warnings {
		notices = append(notices, sample(t, name))
	}
	action := sample(t, "autoscaling-launch-lifecycle-action.json")
	for name, batches := range map[string][][]string{
		"before":   {notices, {action}},
		"with":     {append([]string{action}, notices...)},
		"after":    {{action}, notices},
		"one each": {{notices[1]}, {action}, {notices[0]}, {notices[2]}, notices},
	} {
		t.Run(name, func(t *testing.T) {
			b := bench(t, stagetest.Options{World: "samples.yaml"})
			for _, bodies := range batches {
				if back := b.Send(bodies...); len(back) > 0 {
					t.Errorf("gave back %q", back)
				}
			}
			if n := len(b.Observations()); n != 1 {
				t.Errorf("%d observations, want that of the launch alone", n)
			}
			l, ok := b.Launch(sampled)
			at := func(second int) time.Time { return time.Date(2026, 11, 20, 14, 59, second, 0, time.UTC) }
			if !ok || !l.Noticed.Equal(at(40)) || !l.Rebalance.Equal(at(30)) || !l.Maintenance.Equal(at(35)) || l.End != snapshot.Open || l.Status != outcome.Waiting {
				t.Errorf("record %+v (%v)", l, ok)
			}
			if got := b.Counts()["Launches"]; got != 1 {
				t.Errorf("%d launches were counted", got)
			}
		})
	}
}

// TestNoticesOfOthers: a node of old, an instance of others, one that nobody
// knows.
func TestNoticesOfOthers(t *testing.T) {
	b := bench(t, stagetest.Options{World: "samples.yaml"})
	b.Advance(time.Hour)
	warning := sample(t, "ec2-spot-interruption.json")
	if back := b.Send(warning, strings.ReplaceAll(warning, sampled, "i-0eeeeeeeeeeeeeee1")); len(back) > 0 {
		t.Errorf("gave back %q", back)
	}
	if _, recorded := b.Launch(sampled); recorded || len(b.Observations()) > 0 {
		t.Error("an old node was taken for a launch")
	}
	if got := b.Counts(); got["NoticesIgnored"] != 1 || got["UnknownInstances"] != 1 {
		t.Errorf("counts %v, want one ignored and one unknown", got)
	}
}

// joinedOnce records a launch that joined some time ago.
func joinedOnce(t *testing.T, b *stagetest.Bench, id string, ago time.Duration) {
	t.Helper()
	l := store.LaunchRecord{Launch: outcome.Launch{Instance: id, Subnet: stagetest.Subnet, Started: b.Now().Add(-ago - time.Minute)}, Cluster: stagetest.Cluster, Due: b.Now().Add(-ago + 4*time.Minute)}
	l.Learn(outcome.Facts{Ready: b.Now().Add(-ago)})
	if _, err := b.Store.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

func TestNoticeOfANodeThatHasJustJoined(t *testing.T) {
	for _, test := range []struct {
		ago  time.Duration
		want int
	}{{10 * time.Minute, 1}, {2 * time.Hour, 0}} {
		b := bench(t, stagetest.Options{World: "samples.yaml"})
		joinedOnce(t, b, sampled, test.ago)
		b.Calls()
		warning := sample(t, "ec2-spot-interruption.json")
		b.Send(warning)
		b.Send(warning)
		if got := b.Calls()["dynamodb:PutItem"]; got != test.want {
			t.Errorf("joined %s ago: %d writes, want %d", test.ago, got, test.want)
		}
		if l, _ := b.Launch(sampled); l.End != snapshot.Joined || l.Noticed.IsZero() == (test.want == 1) {
			t.Errorf("joined %s ago: %+v", test.ago, l)
		}
		if n := len(b.Observations()); n > 0 {
			t.Errorf("%d observations", n)
		}
	}
}

// TestLostNode: a node that ends soon after it has joined is no failed launch,
// and its end is kept with EC2's reason.
func TestLostNode(t *testing.T) {
	b := bench(t, stagetest.Options{})
	b.Scale(1)
	id := b.Instance(b.News(0)[0])
	joinedOnce(t, b, id, 5*time.Minute)
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	before := len(b.News(0))
	b.Advance(time.Minute)
	var ends []string
	for _, body := range b.News(before) {
		if strings.Contains(body, `"state":"terminated"`) && b.Instance(body) == id {
			ends = append(ends, body)
		}
	}
	if len(ends) == 0 {
		t.Fatal("the world tells of no end")
	}
	b.Send(append(ends, ends...)...)
	b.Send(ends...)
	l, _ := b.Launch(id)
	if l.End != snapshot.Joined || l.Ended.IsZero() || l.EndedCode != "Client.UserInitiatedShutdown" {
		t.Errorf("record %+v, want that it joined, and when and why it ended", l)
	}
	if n := len(b.Observations()); n > 0 || b.Counts()["LostNodes"] != 1 {
		t.Errorf("%d observations; want none, and one lost node", n)
	}
}

// TestRefusedLaunchIsRecordedOnce: by its activity, with its class.
func TestRefusedLaunchIsRecordedOnce(t *testing.T) {
	b := bench(t, stagetest.Options{World: "subnet-exhausted.yaml", Over: "ec2: {Subnets: [{SubnetId: " + stagetest.Subnet + ", AvailableIpAddressCount: 0}]}\n"})
	b.Advance(time.Minute)
	news := b.News(0)[0]
	b.Send(news, news)
	b.Send(news)
	list, err := b.Store.History(t.Context(), stagetest.Cluster, b.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].End != snapshot.Refused || list[0].Cause != "launch/subnet-full" || list[0].Subnet != stagetest.Subnet || list[0].Nodegroup != stagetest.Nodegroup || list[0].FreeAt.IsZero() {
		t.Errorf("history %+v, want one refused launch", list)
	}
	samples, err := b.Store.Samples(t.Context(), stagetest.Subnet, b.Now().Add(-time.Hour))
	if err != nil || len(samples) != 1 || samples[0].Free != 0 || samples[0].Total == 0 {
		t.Errorf("samples %+v, %v; want one of a full subnet", samples, err)
	}
}

// TestLearnedTime: a launch is due after what its nodegroup usually takes, and
// the first reminder meets it.
func TestLearnedTime(t *testing.T) {
	for seconds, want := range map[int]time.Duration{20: time.Minute, 80: 2 * time.Minute, 480: 12 * time.Minute} {
		b := bench(t, stagetest.Options{World: "samples.yaml"})
		var joins []outcome.Join
		for i := range 40 {
			joins = append(joins, outcome.Join{Instance: fmt.Sprintf("i-%017x", i), At: b.Now().Add(-time.Hour), Seconds: seconds})
		}
		if err := b.Store.SaveJoinTimes(t.Context(), stagetest.Cluster, store.JoinTimes{Nodegroup: stagetest.Nodegroup, Joins: joins}); err != nil {
			t.Fatal(err)
		}
		b.Send(sample(t, "autoscaling-launch-lifecycle-action.json"))
		l, _ := b.Launch(sampled)
		if got := l.Due.Sub(l.Started); got != want || l.Samples != 40 || l.Usual != time.Duration(seconds)*time.Second {
			t.Errorf("%d s: due after %s (%d samples), want %s", seconds, got, l.Samples, want)
		}
		if got := b.Reminders()[sampled]; got <= 0 || got > detect.Soon || got > l.Due.Sub(b.Now())+5*time.Second {
			t.Errorf("%d s: the first reminder is in %s", seconds, got)
		}
		if n := b.Calls()["dynamodb:Query"]; n != 1 {
			t.Errorf("%d queries, want one", n)
		}
	}
}
