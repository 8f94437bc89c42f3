package report

import (
	"fmt"
	"testing"

	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
)

var (
	theLeak    = Key{cluster, leakedInterfaces, subnet}
	theRunway  = Key{cluster, runway, subnet}
	theEmpty   = Key{cluster, subnetExhausted, subnet}
	theBurst   = Key{cluster, burstTooLarge, subnet}
	theRefusal = Key{cluster, launchRefused, subnet}
	thePlugin  = Key{cluster, cniNotReady, "aws-node"}
)

// fails is a cause of the subnet's addresses.
func fails(check checks.ID, confidence checks.Confidence, title string, more ...func(*diagnose.Cause)) func(*Observation) {
	return func(o *Observation) {
		c := diagnose.Cause{Check: check, Confidence: confidence, Resource: subnet, Covers: []string{subnet}, Title: title, Nodegroups: []string{"workers"}}
		for _, m := range more {
			m(&c)
		}
		o.Diagnosis.Causes = append(o.Diagnosis.Causes, c)
	}
}

func hides(ids ...checks.ID) func(*diagnose.Cause) {
	return func(c *diagnose.Cause) {
		for _, id := range ids {
			c.Hidden = append(c.Hidden, diagnose.Hidden{Check: id, Because: c.Check})
		}
	}
}

func worsenedBy(ids ...checks.ID) func(*diagnose.Cause) {
	return func(c *diagnose.Cause) { c.Contributing = ids }
}

func keepsOut(ids ...string) func(*diagnose.Cause) {
	return func(c *diagnose.Cause) { c.Instances = ids }
}

func leaks(more ...func(*diagnose.Cause)) func(*Observation) {
	return fails(leakedInterfaces, checks.Certain, "31 addresses of "+subnet+" are held by 4 dead nodes", more...)
}

func leaksSome(more ...func(*diagnose.Cause)) func(*Observation) {
	return fails(leakedInterfaces, checks.Likely, "31 addresses of "+subnet+" are held by 4 dead nodes", more...)
}

func runsOut(more ...func(*diagnose.Cause)) func(*Observation) {
	return fails(runway, checks.Likely, subnet+" runs out of addresses at about 16:40 UTC", more...)
}

func isEmpty(more ...func(*diagnose.Cause)) func(*Observation) {
	return fails(subnetExhausted, checks.Certain, subnet+" has no free address", more...)
}

func refusesLaunches(more ...func(*diagnose.Cause)) func(*Observation) {
	return func(o *Observation) {
		fails(launchRefused, checks.Certain, "workers cannot launch: the subnet has no free address", more...)(o)
		o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1].Covers = []string{"eks-workers"}
	}
}

func burst(more ...func(*diagnose.Cause)) func(*Observation) {
	return fails(burstTooLarge, checks.Certain, "12 launches needed 720 addresses", more...)
}

func pluginDown(instances ...string) func(*Observation) {
	return func(o *Observation) {
		fails(cniNotReady, checks.Certain, "aws-node does not come up", keepsOut(instances...))(o)
		c := &o.Diagnosis.Causes[len(o.Diagnosis.Causes)-1]
		c.Resource, c.Covers = "aws-node", instances
	}
}

func addressesBack(o *Observation) {
	o.Diagnosis.Passed = append(o.Diagnosis.Passed, diagnose.Passed{
		Check: leakedInterfaces, Covers: []string{subnet}, Evidence: []checks.Evidence{{What: subnet, Value: "31 addresses back; 12 interfaces of 4 dead nodes"}},
	})
}

// Leak, runway, shortage, join failure: one message, whoever saw what first.
func TestAddressChain(t *testing.T) {
	type reasons = map[Key]Reason
	type states = map[Key]State
	leaked := step{name: "leak", obs: observe(leaksSome()), want: reasons{theLeak: Opened}, state: states{theLeak: Open}}
	for _, test := range []struct {
		name  string
		steps []step
		// notes and events are of the incident that opened first.
		notes, events string
	}{
		{"the ips story", []step{
			leaked,
			{name: "foreseen", minute: 5, obs: observe(leaksSome(), runsOut()), want: reasons{theLeak: BetterKnown}},
			{name: "empty", minute: 30, obs: observe(leaks(hides(subnetExhausted, runway))), want: reasons{theLeak: BetterKnown}},
			{name: "a launch is refused", minute: 31, obs: observe(refusesLaunches()), want: reasons{theLeak: BetterKnown}},
			{name: "a node starves", minute: 34, obs: observe(pluginDown("i-1"), launched("i-1", 30, Missed)), want: reasons{theLeak: MoreAffected}},
			{name: "another", minute: 35, obs: observe(notReady("i-2"), launched("i-2", 31, Missed)), want: reasons{theLeak: MoreAffected}},
			{name: "cleaned up", minute: 40, obs: observe(addressesBack, passed(subnetExhausted, subnet), passed(runway, subnet)), want: reasons{theLeak: CauseGone}, state: states{theLeak: Cleared}},
			{name: "they join", minute: 42, obs: observe(launched("i-1", 30, Joined), readyAt(41), launched("i-2", 31, Joined), readyAt(42)), want: reasons{theLeak: IsProved}, state: states{theLeak: Closed}},
			{name: "well", minute: 45, obs: observe(passed(subnetExhausted, subnet))},
		}, "opened joined-ip-runway joined-launch-subnet-full joined-node-cni-not-ready joined-node-not-ready cleared proved", "Opened Changed Resolved"},
		{"nobody was affected: it closes by itself", []step{
			leaked,
			{name: "cleaned up", minute: 14, obs: observe(addressesBack), want: reasons{theLeak: IsProved}, state: states{theLeak: Closed}},
		}, "opened proved", "Opened Resolved"},
		{"a few are left that no cleanup takes", []step{
			leaked,
			{name: "advice", minute: 14, obs: observe(fails(leakedInterfaces, checks.Advice, "2 addresses")), want: reasons{theLeak: IsProved}},
		}, "opened proved", "Opened Resolved"},
		{"a runway gives way to what it foresaw", []step{
			{name: "foreseen", obs: observe(runsOut()), want: reasons{theRunway: Opened}},
			{name: "empty", minute: 90, obs: observe(isEmpty()), want: reasons{theEmpty: Opened, theRunway: IsSuperseded}},
			{name: "seen again", minute: 95, obs: observe(isEmpty(), runsOut()), want: reasons{theEmpty: NothingNew}},
		}, "opened superseded", "Opened Resolved"},
		{"a runway gives way to its reason", []step{
			{name: "foreseen", obs: observe(runsOut()), want: reasons{theRunway: Opened}},
			{name: "leak", minute: 5, obs: observe(leaksSome()), want: reasons{theLeak: Opened, theRunway: IsSuperseded}},
			{name: "cured", minute: 20, obs: observe(addressesBack), want: reasons{theLeak: IsProved}},
			{name: "it still falls", minute: 60, obs: observe(runsOut()), want: reasons{theRunway: Reopened}, state: states{theRunway: Open}},
		}, "opened superseded reopened", "Opened Resolved Reopened"},
		{"a runway that is over closes by itself, and comes back into its message", []step{
			{name: "foreseen", obs: observe(runsOut()), want: reasons{theRunway: Opened}},
			{name: "over", minute: 5, obs: observe(passed(runway, subnet)), want: reasons{theRunway: IsProved}},
			{name: "again", minute: 10, obs: observe(runsOut()), want: reasons{theRunway: Reopened}},
		}, "opened proved reopened", "Opened Resolved Reopened"},
		{"cured, and still too small", []step{
			{name: "leak", obs: observe(leaks(hides(subnetExhausted))), want: reasons{theLeak: Opened}},
			{name: "empty, says another look", minute: 3, obs: observe(isEmpty()), want: reasons{theLeak: BetterKnown}},
			{name: "cured", minute: 10, obs: observe(addressesBack, isEmpty()), want: reasons{theLeak: IsProved, theEmpty: Opened}, state: states{theEmpty: Open}},
		}, "opened joined-ip-subnet-exhausted proved", "Opened Changed Resolved"},
		{"cured, still too small, and launches wait", []step{
			{name: "leak", obs: observe(leaks(hides(subnetExhausted), keepsOut("i-1")), launched("i-1", 0, Missed)), want: reasons{theLeak: Opened}},
			{name: "cured", minute: 10, obs: observe(addressesBack), want: reasons{theLeak: CauseGone}, state: states{theLeak: Cleared}},
			{name: "empty", minute: 11, obs: observe(isEmpty()), want: reasons{theLeak: IsSuperseded, theEmpty: Opened}, state: states{theEmpty: Open}},
			{name: "the launch is missed", minute: 12, obs: observe(notReady("i-1"), launched("i-1", 0, Missed))},
		}, "opened cleared superseded", "Opened Changed Resolved"},
		{"a small leak in a small subnet contributes", []step{
			leaked,
			{name: "empty", minute: 5, obs: observe(isEmpty(worsenedBy(leakedInterfaces))), want: reasons{theEmpty: Opened, theLeak: IsSuperseded}},
			{name: "the leak alone, from before", minute: 4, now: 6, obs: observe(leaksSome()), want: reasons{theEmpty: NothingNew}},
			{name: "freed", minute: 10, obs: observe(leaksSome(), passed(subnetExhausted, subnet)), want: reasons{theEmpty: CauseGone, theLeak: Reopened}},
		}, "opened superseded reopened", "Opened Resolved Reopened"},
		{"a leak that no longer explains the empty subnet gives way to it", []step{
			{name: "leak", obs: observe(leaks(hides(subnetExhausted))), want: reasons{theLeak: Opened}},
			{name: "most is back, and it is too small", minute: 5, obs: observe(isEmpty(worsenedBy(leakedInterfaces))), want: reasons{theEmpty: Opened, theLeak: IsSuperseded}},
			{name: "late", minute: 2, now: 6, obs: observe(leaks(hides(subnetExhausted))), want: reasons{theEmpty: NothingNew}},
		}, "opened superseded", "Opened Resolved"},
		{"one look finds a burst and an empty subnet apart", []step{
			{name: "burst", obs: observe(burst(hides(subnetExhausted))), want: reasons{theBurst: Opened}},
			{name: "explained", minute: 1, obs: observe(isEmpty()), want: reasons{theBurst: BetterKnown}},
			{name: "apart", minute: 5, obs: observe(isEmpty(), burst()), want: reasons{theBurst: BetterKnown, theEmpty: Opened}},
		}, "opened joined-ip-subnet-exhausted", "Opened Changed"},
		{"the empty subnet first, then its reason", []step{
			{name: "empty", obs: observe(isEmpty(keepsOut("i-1")), launched("i-1", 0, Missed)), want: reasons{theEmpty: Opened}},
			{name: "burst", minute: 1, obs: observe(burst(hides(subnetExhausted))), want: reasons{theBurst: Opened, theEmpty: IsSuperseded}},
			{name: "leak", minute: 2, obs: observe(leaks(hides(subnetExhausted, burstTooLarge))), want: reasons{theLeak: Opened, theBurst: IsSuperseded}},
		}, "opened superseded", "Opened Resolved"},
		{"the starving nodes first", []step{
			{name: "plugin", obs: observe(pluginDown("i-1"), launched("i-1", 0, Missed)), want: reasons{thePlugin: Opened}},
			{name: "not Ready", minute: 1, obs: observe(notReady("i-2"), launched("i-2", 0, Missed)), want: reasons{theNode: Opened}},
			{name: "leak", minute: 2, obs: observe(leaks()), want: reasons{theLeak: Opened, thePlugin: IsSuperseded, theNode: IsSuperseded}},
		}, "opened superseded", "Opened Resolved"},
		{"nodes in another subnet are another matter", []step{
			{name: "leak", obs: observe(leaks()), want: reasons{theLeak: Opened}},
			{name: "not Ready", minute: 1, obs: observe(notReady("i-2"), launched("i-2", 0, Missed), inSubnet("subnet-0ther")), want: reasons{theNode: Opened}},
		}, "opened", "Opened"},
		{"a leak that is not the reason takes nothing over", []step{
			leaked,
			{name: "not Ready", minute: 1, obs: observe(notReady("i-2"), launched("i-2", 0, Missed)), want: reasons{theNode: Opened}},
			{name: "one look finds both", minute: 5, obs: observe(leaksSome(), refusesLaunches()), want: reasons{theRefusal: Opened, theLeak: NothingNew}},
		}, "opened", "Opened"},
		{"late news of what was there belongs to what is over", []step{
			{name: "leak", minute: 5, obs: observe(leaks(hides(subnetExhausted))), want: reasons{theLeak: Opened}},
			{name: "cured", minute: 10, obs: observe(addressesBack), want: reasons{theLeak: IsProved}},
			{name: "empty, late", minute: 7, now: 11, obs: observe(isEmpty()), want: reasons{}},
			{name: "not Ready, late", minute: 8, now: 11, obs: observe(notReady("i-1"), launched("i-1", 0, Missed)), want: reasons{}},
			{name: "empty now", minute: 15, obs: observe(isEmpty()), want: reasons{theEmpty: Opened}},
		}, "opened proved", "Opened Resolved"},
		{"what could not be looked at resolves nothing", []step{
			leaked,
			{name: "unknown", minute: 5, obs: observe(func(o *Observation) {
				o.Diagnosis.Unknown = []diagnose.Unknown{{Check: leakedInterfaces, Covers: []string{subnet}}}
			})},
		}, "opened", "Opened"},
		{"a subnet at the threshold edits, and tires of telling the thread", []step{
			{name: "1", obs: observe(runsOut()), want: reasons{theRunway: Opened}},
			{minute: 5, obs: observe(passed(runway, subnet)), want: reasons{theRunway: IsProved}},
			{name: "2", minute: 10, obs: observe(runsOut()), want: reasons{theRunway: Reopened}},
			{minute: 15, obs: observe(passed(runway, subnet)), want: reasons{theRunway: IsProved}},
			{name: "3", minute: 20, obs: observe(runsOut()), want: reasons{theRunway: Reopened}},
			{minute: 25, obs: observe(passed(runway, subnet)), want: reasons{theRunway: IsProved}},
			{name: "4", minute: 30, obs: observe(runsOut()), want: reasons{theRunway: Reopened}},
			{minute: 35, obs: observe(passed(runway, subnet)), want: reasons{theRunway: IsProved}},
		}, "opened proved reopened proved-2 reopened-2 proved-3", "Opened Resolved Reopened Resolved Reopened Resolved Reopened Resolved"},
	} {
		t.Run(test.name, func(t *testing.T) {
			incidents := play(t, test.steps)
			first := incidents[0]
			for _, inc := range incidents {
				if len(inc.Untold) > 0 && inc.Untold[0].At.Before(first.Untold[0].At) {
					first = inc
				}
			}
			notes, events := "", ""
			for _, n := range first.Said.Notes {
				notes += n.ID + " "
			}
			for _, e := range first.Untold {
				events += string(e.Kind) + " "
			}
			if notes != test.notes+" " || events != test.events+" " {
				t.Errorf("notes are %q and events %q, want %q and %q", notes, events, test.notes, test.events)
			}
		})
	}
}

// What happened to the launches of an incident goes with it.
func TestBlastRadiusOfALeak(t *testing.T) {
	incidents := play(t, []step{
		{obs: observe(isEmpty(keepsOut("i-1", "i-2")), launched("i-1", 0, Missed), launched("i-2", 0, Missed)), want: map[Key]Reason{theEmpty: Opened}},
		{minute: 2, obs: observe(leaks(hides(subnetExhausted))), want: map[Key]Reason{theLeak: Opened, theEmpty: IsSuperseded}},
	})
	for _, inc := range incidents {
		switch inc.Key {
		case theLeak:
			if inc.Affected != 2 || !inc.affects("i-1") || len(inc.Effects) != 1 || inc.Effects[0].Title != subnet+" has no free address" || !inc.Effects[0].Since.Equal(start) {
				t.Errorf("the leak affects %d, with %+v; want both launches and the empty subnet since the start", inc.Affected, inc.Effects)
			}
		case theEmpty:
			if inc.By == nil || *inc.By != theLeak {
				t.Errorf("the empty subnet gave way to %v, want the leak", inc.By)
			}
		}
	}
}

// An effect that passes is over, and is there again when it is seen again.
func TestEffectsComeAndGo(t *testing.T) {
	var incidents []Incident
	for i, s := range []struct {
		obs  Observation
		here bool
	}{
		{observe(leaks()), false},
		{observe(isEmpty()), true},
		{observe(passed(subnetExhausted, subnet)), false},
		{observe(isEmpty()), true},
		{observe(leaks(hides(subnetExhausted))), true},
		{observe(leaks(), isEmpty()), false},
	} {
		s.obs.ID, s.obs.At = fmt.Sprint(i), at(5*i)
		incidents = decideAll(incidents, []Observation{s.obs}, s.obs.At)
		e, _ := incidents[0].knownEffect(subnetExhausted)
		if got := (e.Title != "" || !e.Told.IsZero()) && e.Here(); got != s.here {
			t.Errorf("look %d: here %v, want %v: %+v", i, got, s.here, e)
		}
	}
}
