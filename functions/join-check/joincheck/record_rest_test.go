package joincheck

import (
	"fmt"
	"testing"
	"time"

	"rollcall/local/stage/stagetest"
	"rollcall/shared/detect"
	"rollcall/shared/event"
	"rollcall/shared/node/outcome"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
	"rollcall/shared/store"
)

// TestWritesOfALaunch: recorded, then joined, and what the nodegroup and the
// subnet have learned by it. A burst shares the last two.
func TestWritesOfALaunch(t *testing.T) {
	for _, n := range []int{1, 20} {
		b := bench(t, healthy)
		b.Scale(n)
		news := b.News(0)
		b.Calls()
		b.Send(news...)
		b.Advance(2 * time.Minute)
		var ids []string
		seen := map[string]bool{}
		for _, body := range news {
			if id := b.Instance(body); !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
		reminder, err := event.LookAgain(spoke.ID{}, ids, b.Now())
		if err != nil {
			t.Fatal(err)
		}
		b.Send(string(reminder))
		b.Advance(5 * time.Minute)
		b.Send(news...)
		for _, id := range ids {
			if l, _ := b.Launch(id); l.End != snapshot.Joined {
				t.Fatalf("%d launches: %+v", n, l)
			}
		}
		writes := b.Calls()["dynamodb:PutItem"]
		t.Logf("%d launches: %d writes", n, writes)
		if most := 2*n + 2; writes > most {
			t.Errorf("%d launches: %d writes, want at most %d", n, writes, most)
		}
		times, err := b.Store.JoinTimes(t.Context(), stagetest.Cluster)
		if err != nil || len(times[stagetest.Nodegroup].Joins) != n {
			t.Errorf("%d launches: %+v, %v", n, times, err)
		}
	}
}

// TestSweepFindsRefusedLaunches: their events were lost, the group's activities
// tell; once each.
func TestSweepFindsRefusedLaunches(t *testing.T) {
	b := bench(t, stagetest.Options{World: "subnet-exhausted.yaml", Over: "ec2: {Subnets: [{SubnetId: " + stagetest.Subnet + ", AvailableIpAddressCount: 0}]}\n"})
	b.Advance(time.Minute)
	sweep(t, b)
	count := func() int {
		t.Helper()
		list, err := b.Store.History(t.Context(), stagetest.Cluster, b.Now().Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if p.End != snapshot.Refused || p.Cause != "launch/subnet-full" || p.Nodegroup != stagetest.Nodegroup {
				t.Errorf("%+v, want a refused launch", p)
			}
		}
		return len(list)
	}
	first := count()
	if first == 0 {
		t.Fatal("no refused launch is recorded")
	}
	b.Advance(time.Second)
	sweep(t, b)
	if again := count(); again != first {
		t.Errorf("%d refused launches, then %d", first, again)
	}
}

// TestRootCauseIsRemembered: what explained a launch that missed the roll stays
// its cause when the instance is ended later.
func TestRootCauseIsRemembered(t *testing.T) {
	b, id, _ := launched(t, stagetest.Options{})
	b.Advance(6 * time.Minute)
	sweep(t, b)
	if l, _ := b.Launch(id); l.Root != "route/no-egress" || !l.RootSure || l.Missed.IsZero() || l.End != snapshot.Open {
		t.Errorf("record %+v, want that it missed the roll because of its route", l)
	}
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	b.Advance(time.Minute)
	sweep(t, b)
	if l, _ := b.Launch(id); l.End != snapshot.NotJoined || l.Cause != "route/no-egress" {
		t.Errorf("%s because of %q (%s), want not joined because of its route", l.End, l.Cause, l.Why)
	}
}

// TestLateJoinsTeachNothing: how long a repair took is not how long joining
// takes.
func TestLateJoinsTeachNothing(t *testing.T) {
	b := bench(t, healthy)
	b.Scale(1)
	id := b.Instance(b.News(0)[0])
	l := store.LaunchRecord{Launch: outcome.Launch{Instance: id, Nodegroup: stagetest.Nodegroup, Started: b.Now().Add(-20 * time.Minute), Status: outcome.Missed}, Cluster: stagetest.Cluster, Due: b.Now().Add(-15 * time.Minute)}
	l.Learn(outcome.Facts{Missed: l.Due, Root: outcome.Root{Check: "route/no-egress", Sure: true, At: l.Due}})
	if _, err := b.Store.CreateLaunch(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	b.Advance(2 * time.Minute)
	sweep(t, b)
	if l, _ := b.Launch(id); l.End != snapshot.Joined {
		t.Fatalf("record %+v, want joined", l)
	}
	if times, err := b.Store.JoinTimes(t.Context(), stagetest.Cluster); err != nil || len(times) > 0 {
		t.Errorf("join times %+v, %v; want none", times, err)
	}
}

// TestSweepSeesANodeLost: one that had joined and ended within the hour.
func TestSweepSeesANodeLost(t *testing.T) {
	b, id, _ := launched(t, healthy)
	b.Advance(5 * time.Minute)
	sweep(t, b)
	b.Call("ec2:TerminateInstances", `{"InstanceIds":["`+id+`"]}`)
	b.Advance(10 * time.Minute)
	sweep(t, b)
	l, _ := b.Launch(id)
	if l.End != snapshot.Joined || l.Ended.IsZero() || l.EndedCode != "Client.UserInitiatedShutdown" {
		t.Errorf("record %+v, want that it joined, and when and why it ended", l)
	}
	b.Advance(time.Second)
	sweep(t, b)
	if again, _ := b.Launch(id); again.Version != l.Version {
		t.Errorf("the end was written again: %+v", again)
	}
}

// A history that cannot be read is a source that could not be read.
func TestHistoryUnread(t *testing.T) {
	f := unreadTable(snapshot.LaunchHistory, fmt.Errorf("read: %w", &store.AtLimit{Code: "ThrottlingException"}))
	if f.Reason != snapshot.Throttled || f.Call != "dynamodb:Query" || f.Source != snapshot.LaunchHistory || f.Code != "ThrottlingException" {
		t.Errorf("failure %+v", f)
	}
}

// TestDueIsLearned: what join-check records itself is due as its nodegroup
// teaches, and called again until then.
func TestDueIsLearned(t *testing.T) {
	for seconds, want := range map[int]time.Duration{20: time.Minute, 480: 12 * time.Minute} {
		b := bench(t, stagetest.Options{})
		b.Scale(1)
		news := b.News(0)
		var joins []outcome.Join
		for i := range 30 {
			joins = append(joins, outcome.Join{Instance: fmt.Sprintf("i-%017x", i), At: b.Now(), Seconds: seconds})
		}
		if err := b.Store.SaveJoinTimes(t.Context(), stagetest.Cluster, store.JoinTimes{Nodegroup: stagetest.Nodegroup, Joins: joins}); err != nil {
			t.Fatal(err)
		}
		b.Send(news[0])
		id := b.Instance(news[0])
		l, _ := b.Launch(id)
		if got := l.Due.Sub(l.Started); got != want || l.Samples != 30 {
			t.Fatalf("due after %s of %d samples, want %s", got, l.Samples, want)
		}
		if got := b.Reminders()[id]; got <= 0 || got > detect.Soon {
			t.Errorf("asked again in %s", got)
		}
		// An event of the same launch starts no second chain of reminders, and
		// is met by the roll call where it comes past due.
		b.Advance(5 * time.Minute)
		calls := len(b.Reminders())
		b.Send(news...)
		l, _ = b.Launch(id)
		if missed := want < 5*time.Minute; (l.Status == outcome.Missed) != missed || len(b.Reminders()) != calls {
			t.Errorf("due after %s: %s after five minutes", want, l.Status)
		}
	}
}
