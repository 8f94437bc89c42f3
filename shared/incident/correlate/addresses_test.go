package correlate_test

import (
	"fmt"
	"testing"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/diagnose"
	"rollcall/shared/incident"
	"rollcall/shared/incident/incidenttest"
	"rollcall/shared/report"
)

// Leak, runway, shortage, join failure: one message, whoever saw what first.
func TestAddressChain(t *testing.T) {
	type reasons = map[report.Key]incident.Reason
	type states = map[report.Key]incident.State
	leaked := incidenttest.Step{Name: "leak", Obs: incidenttest.Observe(incidenttest.LeaksSome()), Want: reasons{incidenttest.TheLeak: incident.Opened}, State: states{incidenttest.TheLeak: incident.Open}}
	for _, test := range []struct {
		name  string
		steps []incidenttest.Step
		// notes and events are of the incident that opened first.
		notes, events string
	}{
		{"the ips story", []incidenttest.Step{
			leaked,
			{Name: "foreseen", Minute: 5, Obs: incidenttest.Observe(incidenttest.LeaksSome(), incidenttest.RunsOut()), Want: reasons{incidenttest.TheLeak: incident.BetterKnown}},
			{Name: "empty", Minute: 30, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted, checkid.IPRunway))), Want: reasons{incidenttest.TheLeak: incident.IsWorse}},
			{Name: "a launch is refused", Minute: 31, Obs: incidenttest.Observe(incidenttest.RefusesLaunches()), Want: reasons{incidenttest.TheLeak: incident.BetterKnown}},
			{Name: "a node starves", Minute: 34, Obs: incidenttest.Observe(incidenttest.PluginDown("i-1"), incidenttest.Launched("i-1", 30, report.Missed)), Want: reasons{incidenttest.TheLeak: incident.MoreAffected}},
			{Name: "another", Minute: 35, Obs: incidenttest.Observe(incidenttest.NotReady("i-2"), incidenttest.Launched("i-2", 31, report.Missed)), Want: reasons{incidenttest.TheLeak: incident.MoreAffected}},
			{Name: "cleaned up", Minute: 40, Obs: incidenttest.Observe(incidenttest.AddressesBack, incidenttest.Passed(checkid.IPSubnetExhausted, incidenttest.Subnet), incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheLeak: incident.CauseGone}, State: states{incidenttest.TheLeak: incident.Cleared}},
			{Name: "they join", Minute: 42, Obs: incidenttest.Observe(incidenttest.Launched("i-1", 30, report.Joined), incidenttest.ReadyAt(41), incidenttest.Launched("i-2", 31, report.Joined), incidenttest.ReadyAt(42)), Want: reasons{incidenttest.TheLeak: incident.IsProved}, State: states{incidenttest.TheLeak: incident.Closed}},
			{Name: "well", Minute: 45, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPSubnetExhausted, incidenttest.Subnet))},
		}, "opened joined-ip-runway worse joined-launch-subnet-full joined-node-cni-not-ready joined-node-not-ready cleared proved", "Opened Changed Resolved"},
		{"nobody was affected: it closes by itself", []incidenttest.Step{
			leaked,
			{Name: "cleaned up", Minute: 14, Obs: incidenttest.Observe(incidenttest.AddressesBack), Want: reasons{incidenttest.TheLeak: incident.IsProved}, State: states{incidenttest.TheLeak: incident.Closed}},
		}, "opened proved", "Opened Resolved"},
		{"a few are left that no cleanup takes", []incidenttest.Step{
			leaked,
			{Name: "advice", Minute: 14, Obs: incidenttest.Observe(incidenttest.Fails(checkid.IPLeakedInterfaces, checks.Advice, "2 addresses")), Want: reasons{incidenttest.TheLeak: incident.IsProved}},
		}, "opened proved", "Opened Resolved"},
		{"a runway gives way to what it foresaw", []incidenttest.Step{
			{Name: "foreseen", Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Opened}},
			{Name: "empty", Minute: 90, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheEmpty: incident.Opened, incidenttest.TheRunway: incident.IsSuperseded}},
			{Name: "seen again", Minute: 95, Obs: incidenttest.Observe(incidenttest.IsEmpty(), incidenttest.RunsOut()), Want: reasons{incidenttest.TheEmpty: incident.NothingNew}},
		}, "opened superseded", "Opened Resolved"},
		{"a runway gives way to its reason", []incidenttest.Step{
			{Name: "foreseen", Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Opened}},
			{Name: "leak", Minute: 5, Obs: incidenttest.Observe(incidenttest.LeaksSome()), Want: reasons{incidenttest.TheLeak: incident.Opened, incidenttest.TheRunway: incident.IsSuperseded}},
			{Name: "cured", Minute: 20, Obs: incidenttest.Observe(incidenttest.AddressesBack), Want: reasons{incidenttest.TheLeak: incident.IsProved}},
			{Name: "it still falls", Minute: 60, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}, State: states{incidenttest.TheRunway: incident.Open}},
		}, "opened superseded reopened", "Opened Resolved Reopened"},
		{"a runway that is over closes by itself, and comes back into its message", []incidenttest.Step{
			{Name: "foreseen", Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Opened}},
			{Name: "over", Minute: 5, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
			{Name: "again", Minute: 10, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}},
		}, "opened proved reopened", "Opened Resolved Reopened"},
		{"cured, and still too small", []incidenttest.Step{
			{Name: "leak", Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "empty, says another look", Minute: 3, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheLeak: incident.BetterKnown}},
			{Name: "cured", Minute: 10, Obs: incidenttest.Observe(incidenttest.AddressesBack, incidenttest.IsEmpty()), Want: reasons{incidenttest.TheLeak: incident.IsProved, incidenttest.TheEmpty: incident.Opened}, State: states{incidenttest.TheEmpty: incident.Open}},
		}, "opened joined-ip-subnet-exhausted proved", "Opened Changed Resolved"},
		{"cured, still too small, and launches wait", []incidenttest.Step{
			{Name: "leak", Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted), incidenttest.KeepsOut("i-1")), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "cured", Minute: 10, Obs: incidenttest.Observe(incidenttest.AddressesBack), Want: reasons{incidenttest.TheLeak: incident.CauseGone}, State: states{incidenttest.TheLeak: incident.Cleared}},
			{Name: "empty", Minute: 11, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheLeak: incident.IsSuperseded, incidenttest.TheEmpty: incident.Opened}, State: states{incidenttest.TheEmpty: incident.Open}},
			{Name: "the launch is missed", Minute: 12, Obs: incidenttest.Observe(incidenttest.NotReady("i-1"), incidenttest.Launched("i-1", 0, report.Missed))},
		}, "opened cleared superseded", "Opened Changed Resolved"},
		{"a small leak in a small subnet contributes", []incidenttest.Step{
			leaked,
			{Name: "empty", Minute: 5, Obs: incidenttest.Observe(incidenttest.IsEmpty(incidenttest.WorsenedBy(checkid.IPLeakedInterfaces))), Want: reasons{incidenttest.TheEmpty: incident.Opened, incidenttest.TheLeak: incident.IsSuperseded}},
			{Name: "the leak alone, from before", Minute: 4, Now: 6, Obs: incidenttest.Observe(incidenttest.LeaksSome()), Want: reasons{incidenttest.TheEmpty: incident.NothingNew}},
			{Name: "freed", Minute: 10, Obs: incidenttest.Observe(incidenttest.LeaksSome(), incidenttest.Passed(checkid.IPSubnetExhausted, incidenttest.Subnet)), Want: reasons{incidenttest.TheEmpty: incident.CauseGone, incidenttest.TheLeak: incident.Reopened}},
		}, "opened superseded reopened", "Opened Resolved Reopened"},
		{"a leak that no longer explains the empty subnet gives way to it", []incidenttest.Step{
			{Name: "leak", Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "most is back, and it is too small", Minute: 5, Obs: incidenttest.Observe(incidenttest.IsEmpty(incidenttest.WorsenedBy(checkid.IPLeakedInterfaces))), Want: reasons{incidenttest.TheEmpty: incident.Opened, incidenttest.TheLeak: incident.IsSuperseded}},
			{Name: "late", Minute: 2, Now: 6, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheEmpty: incident.NothingNew}},
		}, "opened superseded", "Opened Resolved"},
		{"one look finds a burst and an empty subnet apart", []incidenttest.Step{
			{Name: "burst", Obs: incidenttest.Observe(incidenttest.Burst(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheBurst: incident.Opened}},
			{Name: "explained", Minute: 1, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheBurst: incident.BetterKnown}},
			{Name: "apart", Minute: 5, Obs: incidenttest.Observe(incidenttest.IsEmpty(), incidenttest.Burst()), Want: reasons{incidenttest.TheBurst: incident.BetterKnown, incidenttest.TheEmpty: incident.Opened}},
		}, "opened joined-ip-subnet-exhausted", "Opened Changed"},
		{"the empty subnet first, then its reason", []incidenttest.Step{
			{Name: "empty", Obs: incidenttest.Observe(incidenttest.IsEmpty(incidenttest.KeepsOut("i-1")), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.TheEmpty: incident.Opened}},
			{Name: "burst", Minute: 1, Obs: incidenttest.Observe(incidenttest.Burst(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheBurst: incident.Opened, incidenttest.TheEmpty: incident.IsSuperseded}},
			{Name: "leak", Minute: 2, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted, checkid.SpotBurstExceedsSubnet))), Want: reasons{incidenttest.TheLeak: incident.Opened, incidenttest.TheBurst: incident.IsSuperseded}},
		}, "opened superseded", "Opened Resolved"},
		{"the starving nodes first", []incidenttest.Step{
			{Name: "plugin", Obs: incidenttest.Observe(incidenttest.PluginDown("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{incidenttest.ThePlugin: incident.Opened}},
			{Name: "not Ready", Minute: 1, Obs: incidenttest.Observe(incidenttest.NotReady("i-2"), incidenttest.Launched("i-2", 0, report.Missed)), Want: reasons{incidenttest.TheNode: incident.Opened}},
			{Name: "leak", Minute: 2, Obs: incidenttest.Observe(incidenttest.Leaks()), Want: reasons{incidenttest.TheLeak: incident.Opened, incidenttest.ThePlugin: incident.IsSuperseded, incidenttest.TheNode: incident.IsSuperseded}},
		}, "opened superseded", "Opened Resolved"},
		{"nodes in another subnet are another matter", []incidenttest.Step{
			{Name: "leak", Obs: incidenttest.Observe(incidenttest.Leaks()), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "not Ready", Minute: 1, Obs: incidenttest.Observe(incidenttest.NotReady("i-2"), incidenttest.Launched("i-2", 0, report.Missed), incidenttest.InSubnet("subnet-0ther")), Want: reasons{incidenttest.TheNode: incident.Opened}},
		}, "opened", "Opened"},
		{"a leak that is not the reason takes nothing over", []incidenttest.Step{
			leaked,
			{Name: "not Ready", Minute: 1, Obs: incidenttest.Observe(incidenttest.NotReady("i-2"), incidenttest.Launched("i-2", 0, report.Missed)), Want: reasons{incidenttest.TheNode: incident.Opened}},
			{Name: "one look finds both", Minute: 5, Obs: incidenttest.Observe(incidenttest.LeaksSome(), incidenttest.RefusesLaunches()), Want: reasons{incidenttest.TheRefusal: incident.Opened, incidenttest.TheLeak: incident.NothingNew}},
		}, "opened", "Opened"},
		{"late news of what was there belongs to what is over", []incidenttest.Step{
			{Name: "leak", Minute: 5, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: reasons{incidenttest.TheLeak: incident.Opened}},
			{Name: "cured", Minute: 10, Obs: incidenttest.Observe(incidenttest.AddressesBack), Want: reasons{incidenttest.TheLeak: incident.IsProved}},
			{Name: "empty, late", Minute: 7, Now: 11, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{}},
			{Name: "not Ready, late", Minute: 8, Now: 11, Obs: incidenttest.Observe(incidenttest.NotReady("i-1"), incidenttest.Launched("i-1", 0, report.Missed)), Want: reasons{}},
			{Name: "empty now", Minute: 15, Obs: incidenttest.Observe(incidenttest.IsEmpty()), Want: reasons{incidenttest.TheEmpty: incident.Opened}},
		}, "opened proved", "Opened Resolved"},
		{"what could not be looked at resolves nothing", []incidenttest.Step{
			leaked,
			{Name: "unknown", Minute: 5, Obs: incidenttest.Observe(func(o *report.Observation) {
				o.Diagnosis.Unknown = []diagnose.Unknown{{Check: checkid.IPLeakedInterfaces, Covers: []string{incidenttest.Subnet}}}
			})},
		}, "opened", "Opened"},
		{"a subnet at the threshold edits, and tires of telling the thread", []incidenttest.Step{
			{Name: "1", Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Opened}},
			{Minute: 5, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
			{Name: "2", Minute: 10, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}},
			{Minute: 15, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
			{Name: "3", Minute: 20, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}},
			{Minute: 25, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
			{Name: "4", Minute: 30, Obs: incidenttest.Observe(incidenttest.RunsOut()), Want: reasons{incidenttest.TheRunway: incident.Reopened}},
			{Minute: 35, Obs: incidenttest.Observe(incidenttest.Passed(checkid.IPRunway, incidenttest.Subnet)), Want: reasons{incidenttest.TheRunway: incident.IsProved}},
		}, "opened proved reopened proved-2 reopened-2 proved-3", "Opened Resolved Reopened Resolved Reopened Resolved Reopened Resolved"},
	} {
		t.Run(test.name, func(t *testing.T) {
			incidents := incidenttest.Play(t, test.steps)
			first := incidents[0]
			for _, inc := range incidents {
				if len(inc.PendingEvents) > 0 && inc.PendingEvents[0].At.Before(first.PendingEvents[0].At) {
					first = inc
				}
			}
			notes, events := "", ""
			for _, n := range first.Delivery.Notes {
				notes += n.ID + " "
			}
			for _, e := range first.PendingEvents {
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
	incidents := incidenttest.Play(t, []incidenttest.Step{
		{Obs: incidenttest.Observe(incidenttest.IsEmpty(incidenttest.KeepsOut("i-1", "i-2")), incidenttest.Launched("i-1", 0, report.Missed), incidenttest.Launched("i-2", 0, report.Missed)), Want: map[report.Key]incident.Reason{incidenttest.TheEmpty: incident.Opened}},
		{Minute: 2, Obs: incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), Want: map[report.Key]incident.Reason{incidenttest.TheLeak: incident.Opened, incidenttest.TheEmpty: incident.IsSuperseded}},
	})
	for _, inc := range incidents {
		switch inc.Key {
		case incidenttest.TheLeak:
			if inc.Affected != 2 || !inc.Affects("i-1") || len(inc.Effects) != 1 || inc.Effects[0].Title != incidenttest.Subnet+" has no free address" || !inc.Effects[0].Since.Equal(incidenttest.Start) {
				t.Errorf("the leak affects %d, with %+v; want both launches and the empty subnet since the start", inc.Affected, inc.Effects)
			}
		case incidenttest.TheEmpty:
			if inc.By == nil || *inc.By != incidenttest.TheLeak {
				t.Errorf("the empty subnet gave way to %v, want the leak", inc.By)
			}
		}
	}
}

// An effect that passes is over, and is there again when it is seen again.
func TestEffectsComeAndGo(t *testing.T) {
	var incidents []incident.Incident
	for i, s := range []struct {
		obs  report.Observation
		here bool
	}{
		{incidenttest.Observe(incidenttest.Leaks()), false},
		{incidenttest.Observe(incidenttest.IsEmpty()), true},
		{incidenttest.Observe(incidenttest.Passed(checkid.IPSubnetExhausted, incidenttest.Subnet)), false},
		{incidenttest.Observe(incidenttest.IsEmpty()), true},
		{incidenttest.Observe(incidenttest.Leaks(incidenttest.Hides(checkid.IPSubnetExhausted))), true},
		{incidenttest.Observe(incidenttest.Leaks(), incidenttest.IsEmpty()), false},
	} {
		s.obs.ID, s.obs.At = fmt.Sprint(i), incidenttest.At(5*i)
		incidents = incidenttest.DecideAll(incidents, []report.Observation{s.obs}, s.obs.At)
		e, _ := incidents[0].KnownEffect(checkid.IPSubnetExhausted)
		if got := (e.Title != "" || !e.Told.IsZero()) && e.Here(); got != s.here {
			t.Errorf("look %d: here %v, want %v: %+v", i, got, s.here, e)
		}
	}
}
