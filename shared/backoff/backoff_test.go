package backoff

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

const every = 5 * time.Minute

func silence(endpoint string) Silence {
	return Silence{Endpoint: endpoint, Reason: snapshot.Unreachable, Message: "no connection"}
}

// asked plays ticks, which come some seconds off, and gives those in which the API is asked.
func asked(ticks int, answers func(tick int) bool) (at []int, reasons []Reason) {
	start := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	r := Record{Cluster: "prod"}
	for n := range ticks {
		tick := start.Add(time.Duration(n)*every + time.Duration(n*37%50-25)*time.Second)
		o, s := NotAsked, Silence{}
		if r.Known(tick) == nil {
			at, o = append(at, n), Answered
			if !answers(n) {
				o, s = Silent, silence("https://a")
			}
		}
		var reason Reason
		if r, reason = After(r, o, s, tick, every); reason != Unchanged {
			reasons = append(reasons, reason)
		}
	}
	return at, reasons
}

func TestAskedLessOften(t *testing.T) {
	at, reasons := asked(60, func(int) bool { return false })
	expect.Same(t, "ticks in which it is asked", at, []int{0, 1, 3, 7, 15, 27, 39, 51})
	if len(reasons) != len(at) || reasons[0] != Begun || reasons[1] != Continued {
		t.Errorf("reasons %q", reasons)
	}
}

// A moment costs nothing, recovery is found within the hour, and then all is as before.
func TestRecovers(t *testing.T) {
	at, reasons := asked(8, func(n int) bool { return n != 2 })
	expect.Same(t, "ticks in which it is asked", at, []int{0, 1, 2, 3, 4, 5, 6, 7})
	expect.Same(t, "reasons", reasons, []Reason{Begun, Recovered})
	at, _ = asked(44, func(n int) bool { return n > 28 && n != 41 })
	expect.Same(t, "ticks in which it is asked", at, []int{0, 1, 3, 7, 15, 27, 39, 40, 41, 42, 43})
}

// A cluster that was made again under its name is not waited for.
func TestAnotherEndpointBeginsAnew(t *testing.T) {
	tick := time.Unix(0, 0)
	r, _ := After(Record{Cluster: "prod", Version: 3}, Silent, silence("https://a"), tick, every)
	r, _ = After(r, Silent, silence("https://a"), tick.Add(every), every)
	now := tick.Add(time.Hour)
	got, reason := After(r, Silent, silence("https://b"), now, every)
	want := Record{Format: Format, Version: 3, Cluster: "prod", Attempts: 1, Since: now, Next: now.Add(every / 2), Silence: silence("https://b")}
	if diff := cmp.Diff(want, got); diff != "" || reason != Begun {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
	if r.Attempts != 2 || r.Since != tick {
		t.Errorf("record %+v, want two attempts since the first", r)
	}
	got, reason = After(r, Answered, Silence{}, now, every)
	if diff := cmp.Diff(Record{Format: Format, Version: 3, Cluster: "prod"}, got); diff != "" || reason != Recovered {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}
