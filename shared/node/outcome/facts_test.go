package outcome

import (
	"math/rand/v2"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

// some are facts with every field drawn from a few values, so that they clash.
func some(r *rand.Rand) Facts {
	at := func() time.Time {
		if r.IntN(2) == 0 {
			return time.Time{}
		}
		return after(time.Duration(r.IntN(20)) * time.Minute)
	}
	word := func(words ...string) string { return append(words, "")[r.IntN(len(words)+1)] }
	root := Root{checkid.ID(word("route/no-egress", "iam/role-trust")), r.IntN(2) == 0, at()}
	if root.Check == "" {
		root = Root{}
	}
	return Facts{
		Started: at(), Due: at(), Registered: at(), Ready: at(), Tagged: at(), Ended: at(), Alive: at(), Over: at(),
		Reason: EndReason{word(spotCode, userCode, "Client.InternalError"), word("a", "b", "ab")},
		By:     word(scaledIn, rebal), Forgotten: at(), Noticed: at(), Rebalance: at(), Maintenance: at(), Missed: at(),
		Root:    root,
		Refused: checkid.ID(word("launch/unclassified", "launch/kms-key", "launch/template")), GivenUp: at(), Blind: word("x", "y"), Unseen: word("x", "y"),
	}
}

func TestMergeIsASemilattice(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		a, b, c := some(r), some(r), some(r)
		if Merge(a, a) != a || Merge(a, b) != Merge(b, a) || Merge(Merge(a, b), c) != Merge(a, Merge(b, c)) {
			t.Fatalf("of\n%+v\n%+v\n%+v\nthe order matters", a, b, c)
		}
		if Merge(a, Facts{}) != a {
			t.Fatalf("nothing changes %+v", a)
		}
		if end, _, _ := Conclude(a); end == snapshot.Joined {
			if with, _, _ := Conclude(Merge(a, b)); with != snapshot.Joined {
				t.Fatalf("%+v had joined; with %+v it is %s", a, b, with)
			}
		}
	}
}

// story is what really became of a launch, the events that tell of it, and what
// a sweep sees in the end, when EC2 still describes it.
type story struct {
	end    snapshot.End
	cause  checkid.ID
	events []Facts
	sweep  []Facts
}

// tell makes a story.
func tell(r *rand.Rand) story {
	began := Facts{Started: launched, Due: due}
	minutes := func(from, to int) time.Duration {
		return time.Duration(from)*time.Minute + time.Duration(r.IntN((to-from)*60))*time.Second
	}
	route := Root{Check: "route/no-egress", Sure: true, At: due}
	miss := Facts{Missed: due.Add(time.Second), Root: route}
	switch r.IntN(9) {
	case 0:
		ready := Facts{Ready: after(minutes(1, 4))}
		return story{snapshot.Joined, "", []Facts{began}, []Facts{began, ready}}
	case 1: // seen Ready, and gone since
		ready, gone := Facts{Ready: after(minutes(1, 4))}, Facts{Ended: after(minutes(6, 60)), Reason: EndReason{Code: spotCode}}
		return story{snapshot.Joined, "", []Facts{began, {Noticed: gone.Ended.Add(-2 * time.Minute)}, {Ended: gone.Ended}}, []Facts{began, ready, gone}}
	case 2: // the warning may be lost: EC2's own reason tells
		gone := Facts{Ended: after(minutes(1, 4)), Reason: EndReason{Code: spotCode}}
		return story{snapshot.Reclaimed, "", []Facts{began, {Noticed: gone.Ended.Add(-30 * time.Second)}, {Ended: gone.Ended.Add(time.Second)}}, []Facts{began, gone}}
	case 3:
		return story{snapshot.NotJoined, route.Check, []Facts{began}, []Facts{began, miss, {GivenUp: after(2 * time.Hour)}}}
	case 4:
		gone := Facts{Ended: after(minutes(20, 60)), Reason: EndReason{Code: spotCode}}
		return story{snapshot.NotJoined, route.Check, []Facts{began, {Noticed: gone.Ended.Add(-time.Minute)}}, []Facts{began, miss, gone}}
	case 5:
		gone := Facts{Ended: after(minutes(1, 4)), Reason: EndReason{Code: userCode}, By: scaledIn}
		return story{snapshot.Terminated, "", []Facts{began, {Rebalance: after(time.Second)}, {Ended: gone.Ended.Add(time.Second)}}, []Facts{began, gone}}
	case 6:
		refused := Facts{Started: launched, Refused: "launch/insufficient-capacity", Reason: EndReason{Message: "We currently do not have sufficient m5.large capacity"}}
		return story{snapshot.Refused, refused.Refused, []Facts{refused}, []Facts{refused}}
	case 7:
		gone := Facts{Ended: after(10 * time.Second), Reason: EndReason{Code: "Client.InvalidKMSKey.InvalidState"}}
		return story{snapshot.Refused, "launch/kms-key", []Facts{began, {Ended: gone.Ended.Add(time.Second)}, {Refused: "launch/kms-key"}}, []Facts{began, gone}}
	}
	return story{snapshot.Unclear, "", []Facts{began}, []Facts{began, {Forgotten: after(2 * time.Hour)}}}
}

// Whatever is lost, doubled or late: once the sweep has looked the end is the
// true one.
func TestEndsAreRightWhateverTheEventsDo(t *testing.T) {
	seen := map[snapshot.End]int{}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 7))
		s := tell(r)
		var told []Facts
		for _, e := range s.events {
			for range r.IntN(3) { // lost, once, or twice
				told = append(told, e)
			}
		}
		told = append(told, s.sweep...)
		r.Shuffle(len(told), func(i, j int) { told[i], told[j] = told[j], told[i] })
		var f Facts
		for _, e := range told {
			f = Merge(f, e)
		}
		end, cause, why := Conclude(f)
		if end != s.end || cause != s.cause {
			t.Fatalf("seed %d: %s because of %q (%s), truly %s because of %q\n%+v", seed, end, cause, why, s.end, s.cause, f)
		}
		seen[end]++
	}
	if len(seen) != 6 {
		t.Errorf("ends %v, want all six", seen)
	}
}
