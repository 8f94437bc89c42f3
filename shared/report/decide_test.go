package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
)

func TestDecide(t *testing.T) {
	type reasons = map[Key]Reason
	type states = map[Key]State
	opened := step{name: "launch", obs: observe(route("i-1"), launched("i-1", 0, Waiting)), want: reasons{theRoute: Opened}, state: states{theRoute: Open}}
	gone := step{name: "route added", minute: 10, obs: observe(passed("route/no-egress", subnet)), want: reasons{theRoute: CauseGone}, state: states{theRoute: Cleared}}
	proved := step{name: "joined", minute: 14, obs: observe(launched("i-2", 12, Joined)), want: reasons{theRoute: IsProved}, state: states{theRoute: Closed}}

	for _, test := range []struct {
		name  string
		steps []step
		// notes and events are those of the first incident at the end.
		notes  string
		events string
	}{
		{"the route story", []step{
			opened,
			{name: "missed", minute: 5, obs: observe(route("i-1"), launched("i-1", 0, Missed)), want: reasons{theRoute: HasMissed}},
			gone,
			{name: "old one replaced", minute: 11, obs: observe(passed("route/no-egress", subnet), launched("i-1", 0, Gone)), want: reasons{theRoute: NothingNew}},
			proved,
			{name: "still well", minute: 20, obs: observe(passed("route/no-egress", subnet)), want: reasons{theRoute: NothingNew}},
			{name: "quiet", minute: 25, obs: observe()},
		}, "opened missed cleared proved", "Opened Changed Resolved"},
		{"gone and proved at once", []step{
			opened,
			{name: "both", minute: 14, obs: observe(passed("route/no-egress", subnet), launched("i-2", 12, Joined)), want: reasons{theRoute: IsProved}},
		}, "opened proved", "Opened Resolved"},
		{"proof seen before the cause is known to be gone", []step{
			opened,
			{name: "joined", minute: 14, obs: observe(launched("i-2", 12, Joined)), want: reasons{theRoute: NothingNew}, state: states{theRoute: Open}},
			{name: "passed", minute: 15, obs: observe(passed("route/no-egress", subnet)), want: reasons{theRoute: IsProved}},
		}, "opened proved", "Opened Resolved"},
		{"joined while the cause held is no proof", []step{
			{name: "launch", minute: 14, obs: observe(route("i-1"), launched("i-1", 0, Waiting)), want: reasons{theRoute: Opened}},
			{name: "passed", minute: 15, obs: observe(passed("route/no-egress", subnet), launched("i-9", 12, Joined)), want: reasons{theRoute: CauseGone}},
			{name: "later", minute: 80, obs: observe(), want: reasons{theRoute: IsUnproved}},
		}, "opened cleared unproved", "Opened Changed Resolved"},
		{"a join that the cause outlived is dropped", []step{
			opened,
			{name: "joined", minute: 14, obs: observe(launched("i-2", 12, Joined)), want: reasons{theRoute: NothingNew}},
			{name: "still failing", minute: 15, obs: observe(route("i-1")), want: reasons{theRoute: NothingNew}},
			{name: "passed", minute: 16, obs: observe(passed("route/no-egress", subnet)), want: reasons{theRoute: CauseGone}},
		}, "opened cleared", "Opened Changed"},
		{"advice alone calls nobody", []step{
			{name: "launch", obs: observe(likely(checks.Advice), launched("i-1", 0, Waiting))},
		}, "", ""},
		{"a likely cause is acquitted by a node that joined in spite of it", []step{
			{name: "missed", minute: 5, obs: observe(likely(checks.Likely, "i-1"), launched("i-1", 0, Missed)), want: reasons{theOptions: Opened}, state: states{theOptions: Open}},
			{name: "another launch is not due", minute: 6, obs: observe(likely(checks.Advice), launched("i-2", 6, Waiting))},
			{name: "it joined", minute: 8, obs: observe(likely(checks.Advice), launched("i-2", 6, Joined)), want: reasons{theOptions: IsProved}, state: states{theOptions: Closed}},
		}, "opened proved", "Opened Resolved"},
		{"an add-on is well when EKS says so", []step{
			{name: "degraded", obs: observe(degraded()), want: reasons{theAddon: Opened}, state: states{theAddon: Open}},
			{name: "active", minute: 14, obs: observe(passed("addon/degraded", "vpc-cni")), want: reasons{theAddon: IsProved}, state: states{theAddon: Closed}},
		}, "opened proved", "Opened Resolved"},
		{"a Spot pool is well when it works again, or is left", []step{
			{name: "fails", obs: observe(poolFails()), want: reasons{thePool: Opened}, state: states{thePool: Open}},
			{name: "another pool is well", minute: 60, obs: observe(passed("spot/pool-failing", "m5.large/us-west-2b"))},
			{name: "works", minute: 120, obs: observe(passed("spot/pool-failing", "c5.large/us-west-2b")), want: reasons{thePool: IsProved}, state: states{thePool: Closed}},
		}, "opened proved", "Opened Resolved"},
		{"a healthy subnet of the nodegroup proves nothing", []step{
			opened, gone,
			{name: "elsewhere", minute: 14, obs: observe(launched("i-2", 12, Joined), inSubnet("subnet-well"))},
		}, "opened cleared", "Opened Changed"},
		{"nobody came to prove it", []step{
			opened, gone,
			{name: "not yet", minute: 69, obs: observe()},
			{name: "time is up", minute: 70, obs: observe(), want: reasons{theRoute: IsUnproved}, state: states{theRoute: Closed}},
		}, "opened cleared unproved", "Opened Changed Resolved"},
		{"fails again before the proof", []step{
			opened, gone,
			{name: "again", minute: 12, obs: observe(route("i-1")), want: reasons{theRoute: FailedAgain}, state: states{theRoute: Open}},
			{name: "gone again", minute: 13, obs: observe(passed("route/no-egress", subnet)), want: reasons{theRoute: CauseGone}},
		}, "opened cleared failed-again cleared-2", "Opened Changed"},
		{"comes back within the time", []step{
			opened, gone, proved,
			{name: "back", minute: 60, obs: observe(route("i-5"), launched("i-5", 60, Waiting)), want: reasons{theRoute: Reopened}, state: states{theRoute: Open}},
			{name: "missed", minute: 65, obs: observe(route("i-5"), launched("i-5", 60, Missed)), want: reasons{theRoute: HasMissed}},
		}, "opened cleared proved reopened missed", "Opened Changed Resolved Reopened Changed"},
		{"comes back much later: a new message", []step{
			opened, gone, proved,
			{name: "back", minute: 14 + 24*60 + 1, obs: observe(route("i-5")), want: reasons{theRoute: Opened}},
		}, "opened", "Opened"},
		{"more are affected", []step{
			opened,
			{name: "burst", minute: 1, obs: observe(route("i-1", "i-2", "i-3")), want: reasons{theRoute: MoreAffected}},
			{name: "no more", minute: 2, obs: observe(route("i-2")), want: reasons{theRoute: NothingNew}},
		}, "opened", "Opened Changed"},
		{"better known", []step{
			opened,
			{name: "words", minute: 1, obs: observe(route("i-1"), wordier), want: reasons{theRoute: BetterKnown}},
			{name: "same words", minute: 2, obs: observe(route("i-1"), wordier), want: reasons{theRoute: NothingNew}},
		}, "opened", "Opened Changed"},
		{"the same twice", []step{
			{name: "first", obs: observe(route("i-1"), named("x")), want: reasons{theRoute: Opened}},
			{name: "second", minute: 1, obs: observe(route("i-1", "i-2"), named("x")), want: reasons{theRoute: AlreadyApplied}},
		}, "opened", "Opened"},
		{"a late failure does not undo the pass", []step{
			opened, gone,
			{name: "late", minute: 9, now: 11, obs: observe(route("i-1")), want: reasons{theRoute: NothingNew}, state: states{theRoute: Cleared}},
			proved,
			{name: "from before the node was Ready", minute: 11, now: 19, obs: observe(route("i-1")), want: reasons{theRoute: OutOfDate}, state: states{theRoute: Closed}},
			{name: "later still", minute: 10, now: 20, obs: observe(route("i-1")), want: reasons{theRoute: OutOfDate}, state: states{theRoute: Closed}},
		}, "opened cleared proved", "Opened Changed Resolved"},
		{"a late pass does not hide the failure", []step{
			{name: "launch", minute: 5, obs: observe(route("i-1")), want: reasons{theRoute: Opened}},
			{name: "late", minute: 4, now: 6, obs: observe(passed("route/no-egress", subnet)), state: states{theRoute: Open}},
		}, "opened", "Opened"},
		{"unknown clears nothing", []step{
			opened,
			{name: "throttled", minute: 5, obs: observe(blindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), want: reasons{thePermit: NotYet}, state: states{theRoute: Open}},
		}, "opened", "Opened"},
		{"half of the subnets pass", []step{
			{name: "two subnets", obs: observe(route("i-1"), func(o *Observation) { o.Diagnosis.Causes[0].Covers = []string{subnet, "subnet-2"} }), want: reasons{theRoute: Opened}},
			{name: "one", minute: 5, obs: observe(passed("route/no-egress", subnet)), want: reasons{theRoute: NothingNew}, state: states{theRoute: Open}},
			{name: "the other", minute: 6, obs: observe(passed("route/no-egress", "subnet-2")), want: reasons{theRoute: CauseGone}},
		}, "opened cleared", "Opened Changed"},
		{"the subnet is gone", []step{
			opened,
			{name: "deleted", minute: 5, obs: observe(absent(subnet)), want: reasons{theRoute: IsWithdrawn}, state: states{theRoute: Closed}},
		}, "opened withdrawn", "Opened Resolved"},
		{"another table, as bad", []step{
			opened,
			{name: "associated", minute: 5, obs: observe(otherTable("i-1")), want: reasons{otherRoute: Opened, theRoute: IsSuperseded}, state: states{theRoute: Closed, otherRoute: Open}},
		}, "opened superseded", "Opened Resolved"},
		{"the route leads into a hole", []step{
			opened,
			{name: "hole", minute: 5, obs: observe(passed("route/no-egress", subnet), blackhole("i-1")), want: reasons{theHole: Opened, theRoute: IsSuperseded}},
		}, "opened superseded", "Opened Resolved"},
		{"a symptom, then its cause", []step{
			{name: "missed", minute: 5, obs: observe(notRegistered("i-1"), launched("i-1", 0, Missed)), want: reasons{theSymptom: Opened}},
			{name: "explained", minute: 6, obs: observe(route("i-1"), launched("i-1", 0, Missed)), want: reasons{theSymptom: IsSuperseded, theRoute: Opened}},
			{name: "late symptom", minute: 5, now: 7, obs: observe(notRegistered("i-1")), state: states{theSymptom: Closed}},
		}, "opened superseded", "Opened Resolved"},
		{"a symptom of a known cause has no message", []step{
			opened,
			{name: "routes unseen", minute: 5, obs: observe(notRegistered("i-1"), launched("i-1", 0, Missed)), want: reasons{theRoute: HasMissed}},
			{name: "cause gone, still not there", minute: 10, obs: observe(notRegistered("i-1"), passed("route/no-egress", subnet)), want: reasons{theRoute: CauseGone}},
			proved,
			{name: "waits for its replacement", minute: 20, obs: observe(notRegistered("i-1"))},
			{name: "nobody replaced it", minute: 80, obs: observe(notRegistered("i-1")), want: reasons{theSymptom: Opened}},
		}, "opened missed cleared proved", "Opened Changed Resolved"},
		{"a symptom heals", []step{
			{name: "missed", minute: 5, obs: observe(notRegistered("i-1"), launched("i-1", 0, Missed)), want: reasons{theSymptom: Opened}},
			{name: "joined", minute: 10, obs: observe(launched("i-1", 0, Joined), readyAt(9)), want: reasons{theSymptom: IsProved}, state: states{theSymptom: Closed}},
		}, "opened proved", "Opened Resolved"},
		{"a symptom's instance is gone", []step{
			{name: "missed", minute: 5, obs: observe(notRegistered("i-1", "i-2"), launched("i-1", 0, Missed)), want: reasons{theSymptom: Opened}},
			{name: "one", minute: 10, obs: observe(launched("i-1", 0, Gone)), want: reasons{theSymptom: NothingNew}, state: states{theSymptom: Open}},
			{name: "both", minute: 11, obs: observe(launched("i-2", 0, Gone)), want: reasons{theSymptom: IsWithdrawn}},
		}, "opened withdrawn", "Opened Resolved"},
		{"a symptom's instance is given up", []step{
			{name: "missed", minute: 5, obs: observe(notRegistered("i-1", "i-2"), launched("i-1", 0, Missed), launched("i-2", 0, Missed)), want: reasons{theSymptom: Opened}},
			{name: "one", minute: 125, obs: observe(notRegistered("i-1", "i-2"), launched("i-1", 0, GivenUp), launched("i-2", 0, Missed)), want: reasons{theSymptom: NothingNew}, state: states{theSymptom: Open}},
			{name: "both", minute: 126, obs: observe(notRegistered("i-1", "i-2"), launched("i-1", 0, GivenUp), launched("i-2", 0, GivenUp)), want: reasons{theSymptom: IsGivenUpOn}, state: states{theSymptom: Closed}},
			{name: "seen again", minute: 127, obs: observe(notRegistered("i-1", "i-2")), want: reasons{theSymptom: OutOfDate}, state: states{theSymptom: Closed}},
			{name: "another one", minute: 130, obs: observe(notRegistered("i-3"), launched("i-3", 125, Missed)), want: reasons{theSymptom: Reopened}, state: states{theSymptom: Open}},
			{name: "joined late", minute: 135, obs: observe(launched("i-3", 125, Joined), readyAt(134)), want: reasons{theSymptom: IsProved}},
		}, "opened given-up reopened proved", "Opened Resolved Reopened Resolved"},
		{"registered, and then not Ready", []step{
			{name: "missed", minute: 5, obs: observe(notRegistered("i-1"), launched("i-1", 0, Missed)), want: reasons{theSymptom: Opened}},
			{name: "not Ready", minute: 10, obs: observe(passed("node/not-registered", "i-1"), notReady("i-1"), launched("i-1", 0, Missed)), want: reasons{theSymptom: IsSuperseded, theNode: Opened}},
		}, "opened superseded", "Opened Resolved"},
		{"the end was no fault after all", []step{
			{name: "ended", minute: 2, obs: observe(endedSoon("i-1"), launched("i-1", 0, Gone)), want: reasons{theEnd: Opened}},
			{name: "it had been a node", minute: 3, obs: observe(passed(endedEarly, "i-1")), want: reasons{theEnd: CauseGone}, state: states{theEnd: Cleared}},
		}, "opened cleared", "Opened Changed"},
		{"an instance ended early; the next one joins", []step{
			{name: "ended", minute: 2, obs: observe(endedSoon("i-1"), launched("i-1", 0, Gone)), want: reasons{theEnd: Opened}},
			{name: "seen again", minute: 3, obs: observe(endedSoon("i-1"), launched("i-1", 0, Gone)), want: reasons{theEnd: NothingNew}, state: states{theEnd: Open}},
			{name: "next", minute: 6, obs: observe(launched("i-2", 3, Joined), inSubnet("subnet-2")), want: reasons{theEnd: IsProved}},
			{name: "seen once more", minute: 7, obs: observe(endedSoon("i-1"), launched("i-1", 0, Gone)), want: reasons{theEnd: OutOfDate}, state: states{theEnd: Closed}},
		}, "opened proved", "Opened Resolved"},
		{"an instance ended early; none comes after it", []step{
			{name: "ended", minute: 2, obs: observe(endedSoon("i-1"), launched("i-1", 0, Gone)), want: reasons{theEnd: Opened}},
			{name: "an hour later", minute: 62, obs: observe(), want: reasons{theEnd: IsUnproved}},
		}, "opened unproved", "Opened Resolved"},
		{"a permission is denied", []step{
			{name: "denied", obs: observe(blindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Denied)), want: reasons{thePermit: Opened}, state: states{thePermit: Open}},
			{name: "not asked", minute: 5, obs: observe(couldRead(snapshot.Subnets)), state: states{thePermit: Open}},
			{name: "granted", minute: 10, obs: observe(couldRead(snapshot.RouteTables)), want: reasons{thePermit: IsProved}, state: states{thePermit: Closed}},
		}, "opened proved", "Opened Resolved"},
		{"throttled for a while", []step{
			{name: "one", obs: observe(blindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), want: reasons{thePermit: NotYet}, state: states{thePermit: Pending}},
			{name: "two", minute: 5, obs: observe(blindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.TimedOut)), want: reasons{thePermit: NotYet}},
			{name: "three", minute: 10, obs: observe(blindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), want: reasons{thePermit: Opened}, state: states{thePermit: Open}},
		}, "opened", "Opened"},
		{"throttled once is said by nobody", []step{
			{name: "one", obs: observe(blindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), want: reasons{thePermit: NotYet}},
			{name: "well", minute: 5, obs: observe(couldRead(snapshot.RouteTables)), want: reasons{thePermit: NotYet}, state: states{thePermit: Closed}},
			{name: "and one", minute: 10, obs: observe(blindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Throttled)), want: reasons{thePermit: NotYet}, state: states{thePermit: Pending}},
		}, "", ""},
		{"missed and blind at once", []step{
			{name: "symptom only", minute: 5, obs: observe(notRegistered("i-1"), launched("i-1", 0, Missed), blindTo("ec2:DescribeRouteTables", snapshot.RouteTables, snapshot.Denied)),
				want: reasons{theSymptom: Opened, thePermit: Opened}},
		}, "opened", "Opened"},
		{"another cluster is another matter", []step{
			opened,
			{name: "other", minute: 5, obs: observe(passed("route/no-egress", subnet), func(o *Observation) { o.Cluster = "other" }), state: states{theRoute: Open}},
		}, "opened", "Opened"},
	} {
		t.Run(test.name, func(t *testing.T) {
			incidents := play(t, test.steps)
			var key Key
			for k := range test.steps[0].want {
				if key == (Key{}) || k != thePermit {
					key = k
				}
			}
			for _, inc := range incidents {
				if inc.Key != key {
					continue
				}
				var notes, events []string
				for _, n := range inc.Said.Notes {
					notes = append(notes, n.ID)
				}
				for _, e := range inc.Untold {
					events = append(events, string(e.Kind))
				}
				if got := strings.Join(notes, " "); got != test.notes {
					t.Errorf("notes are %q, want %q", got, test.notes)
				}
				if got := strings.Join(events, " "); got != test.events {
					t.Errorf("events are %q, want %q", got, test.events)
				}
			}
		})
	}
}

// What is kept of the facts is what the message is made from.
func TestDecideFacts(t *testing.T) {
	incidents := play(t, []step{
		{name: "launch", minute: 1, obs: observe(route("i-1"), launched("i-1", 0, Waiting)), want: map[Key]Reason{theRoute: Opened}},
		{name: "one joins all the same", minute: 5, obs: observe(route("i-1"), launched("i-1", 0, Joined), readyAt(4)), want: map[Key]Reason{theRoute: NothingNew}},
		{name: "another", minute: 6, obs: observe(route("i-2"), launched("i-2", 6, Waiting)), want: map[Key]Reason{theRoute: MoreAffected}},
		{name: "passed", minute: 14, obs: observe(passed("route/no-egress", subnet)), want: map[Key]Reason{theRoute: CauseGone}},
		{name: "proved", minute: 15, obs: observe(launched("i-3", 13, Joined)), want: map[Key]Reason{theRoute: IsProved}},
	})
	inc := incidents[0]
	if got := inc.Count(Joined); got != 1 || inc.Affected != 2 {
		t.Errorf("joined %d of %d, want 1 of 2", got, inc.Affected)
	}
	if !inc.Began.Equal(start) || !inc.Opened.Equal(at(1)) || !inc.Cleared.Equal(at(14)) || !inc.Resolved.Equal(at(15)) {
		t.Errorf("began %v, opened %v, cleared %v, resolved %v", inc.Began, inc.Opened, inc.Cleared, inc.Resolved)
	}
	if inc.Proof == nil || inc.Proof.Instance != "i-3" {
		t.Errorf("proof is %+v, want i-3", inc.Proof)
	}
	if diff := cmp.Diff([]checks.Evidence{{What: table, Value: "0.0.0.0/0 → nat-0aa4"}}, inc.ClearedBy); diff != "" {
		t.Errorf("cleared by (-want +got):\n%s", diff)
	}
}

// Whose an incident is stays known, though a look could not tell: remedies and
// readers of its events go by it.
func TestDecideKeepsTheAccount(t *testing.T) {
	nameless := func(o *Observation) { o.Account = "" }
	incidents := play(t, []step{
		{name: "launch", minute: 1, obs: observe(route("i-1"), launched("i-1", 0, Waiting)), want: map[Key]Reason{theRoute: Opened}},
		{name: "a reminder", minute: 5, obs: observe(route("i-1"), launched("i-1", 0, Missed), nameless), want: map[Key]Reason{theRoute: HasMissed}},
	})
	if got, want := incidents[0].Account, observe().Account; got != want || want == "" {
		t.Errorf("account %q, want %q", got, want)
	}
}

// A record stays within what the table takes, however large the burst.
func TestDecideBounds(t *testing.T) {
	var ids []string
	for i := range MaxLaunches + 700 {
		ids = append(ids, "i-"+string(rune('a'+i%26))+time.Duration(i).String())
	}
	incidents := play(t, []step{
		{name: "burst", obs: observe(route(ids...)), want: map[Key]Reason{theRoute: Opened}},
		{name: "again", minute: 1, obs: observe(route(ids...)), want: map[Key]Reason{theRoute: NothingNew}},
	})
	if got := incidents[0]; got.Affected != len(ids) || len(got.Launches) != MaxLaunches || len(got.Untold[0].Instances) != MaxNamed {
		t.Errorf("affected %d, kept %d, told %d; want %d, %d, %d", got.Affected, len(got.Launches), len(got.Untold[0].Instances), len(ids), MaxLaunches, MaxNamed)
	}
	flapping := []step{{name: "open", obs: observe(route("i-1")), want: map[Key]Reason{theRoute: Opened}}}
	incidents = play(t, flapping)
	for i := range 100 {
		obs := observe(route("i-1"))
		if i%2 == 0 {
			obs = observe(passed("route/no-egress", subnet))
		}
		obs.ID, obs.At = time.Duration(i).String(), at(1+i)
		for _, d := range Decide(incidents, obs, obs.At, policy) {
			for n := range d.Incident.Said.Notes {
				d.Incident.Said.Notes[n].TS = "said"
			}
			incidents = with(incidents, d.Incident)
		}
	}
	if got := incidents[0]; len(got.Said.Notes) != maxNotes || len(got.Applied) != maxApplied || len(got.Untold) > 2 {
		t.Errorf("%d notes, %d applied, %d untold; want %d, %d, at most 2", len(got.Said.Notes), len(got.Applied), len(got.Untold), maxNotes, maxApplied)
	}
}

// A cause that comes back again and again does not make its record grow for ever.
func TestDecideForgets(t *testing.T) {
	var incidents []Incident
	for day := range 60 {
		id, minute := fmt.Sprint("i-", day), day*20*60
		for i, obs := range []Observation{
			observe(endedSoon("i-1"), func(o *Observation) { c := &o.Diagnosis.Causes[0]; c.Covers, c.Instances = []string{id}, []string{id} }, launched(id, minute, Gone)),
			observe(launched(id+"-next", minute+3, Joined)),
		} {
			obs.ID, obs.At = fmt.Sprint(day, "-", i), at(minute+i*5)
			for _, d := range Decide(incidents, obs, obs.At, policy) {
				incidents = []Incident{d.Incident}
			}
		}
	}
	if got := incidents[0]; got.Number != 60 || got.State != Closed || len(got.Covers) > 4 || len(got.Verdicts) != len(got.Covers) {
		t.Errorf("number %d, %q, %d covers, %d verdicts; want the 60th, closed, with those of two days", got.Number, got.State, len(got.Covers), len(got.Verdicts))
	}
}

// Decide must not write into what it was given.
func TestDecideLeavesItsInputAlone(t *testing.T) {
	incidents := play(t, []step{{name: "launch", obs: observe(route("i-2"), launched("i-2", 0, Waiting)), want: map[Key]Reason{theRoute: Opened}}})
	before := []Incident{incidents[0].clone()}
	obs := observe(route("i-1", "i-2"), launched("i-2", 0, Missed), passed("route/no-egress", subnet))
	obs.ID, obs.At = "later", at(5)
	Decide(incidents, obs, at(5), policy)
	if diff := cmp.Diff(before, incidents); diff != "" {
		t.Errorf("previous was changed (-before +after):\n%s", diff)
	}
}
