package checks

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/route"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestEveryCheckIsWhole(t *testing.T) {
	ids := map[checkid.ID]bool{}
	for _, c := range All() {
		if ids[c.ID] {
			t.Errorf("two checks have the id %q", c.ID)
		}
		ids[c.ID] = true
	}
	for _, c := range All() {
		if n := utf8.RuneCountInString(c.Title); n == 0 || n > 70 || strings.HasSuffix(c.Title, ".") {
			t.Errorf("%s: title %q has %d runes; it needs 1 to 70 and no full stop", c.ID, c.Title, n)
		}
		if c.Cause == "" || c.Fix == "" || len(c.Links) == 0 || len(c.Needs)+len(c.Uses) == 0 || c.Run == nil {
			t.Errorf("%s: lacks a cause, a fix, a link, a need or a function", c.ID)
		}
		for _, after := range slices.Concat(c.After, c.Adds, []checkid.ID{c.ID}) {
			if _, known := Of(after); !known && after != checkid.AnyJoinCause && after != checkid.AnyFailedLaunch {
				t.Errorf("%s: %q is not an id of the catalogue", c.ID, after)
			}
		}
		group, _, _ := strings.Cut(string(c.ID), "/")
		switch group {
		case "route", "endpoint", "sg", "nacl", "dns", "launch", "ip":
			// A trend is judged over days, and pods wait for minutes.
			// What is optional is read where something has failed.
			if !c.Optional && c.AtLaunch == (c.ID == "ip/runway" || c.ID == "ip/branch-interfaces" || c.ID == "ip/pod-without-address") {
				t.Errorf("%s: judges what is set, not what became of it, and is not AtLaunch", c.ID)
			}
		case "node", "addon", "cluster":
			if c.AtLaunch {
				t.Errorf("%s: judges what Kubernetes says, and is AtLaunch", c.ID)
			}
		}
	}
}

// A source that was not read makes the checks that need it Unknown, with the
// permission's name, and never Pass.
func TestUnreadSourceIsUnknownNeverPass(t *testing.T) {
	for _, source := range snapshottest.Sources() {
		for name, world := range healthy() {
			s := world
			snapshottest.Without(s, source)
			for _, c := range All() {
				if !slices.Contains(c.Needs, source) {
					continue
				}
				results := check.Eval([]check.Check{c}, s)
				if len(results) != 1 || results[0].Outcome != finding.Unknown {
					t.Errorf("%s, %s, without %s: got %v, want one unknown", name, c.ID, source, checktest.Lines(results))
					continue
				}
				if got, want := results[0].Blocked[0].Call, "test:Read "+string(source); got != want {
					t.Errorf("%s without %s: blocked by %q, want %q", c.ID, source, got, want)
				}
			}
		}
	}
}

func healthy() map[string]*snapshot.Snapshot {
	return map[string]*snapshot.Snapshot{
		"private with NAT": snapshottest.PrivateWithNAT(),
		"public":           snapshottest.PublicOnly(),
		"endpoints only":   snapshottest.EndpointsOnly(),
		"main table":       snapshottest.MainTable(),
	}
}

// In a healthy world every check that has anything to judge passes.
func TestHealthyWorldsPassEverything(t *testing.T) {
	for name, s := range healthy() {
		for _, c := range All() {
			results := check.Eval([]check.Check{c}, s)
			if len(results) == 0 {
				t.Errorf("%s: %s says nothing", name, c.ID)
			}
			for _, r := range results {
				if r.Outcome != finding.Pass {
					t.Errorf("%s: %s, want pass", name, checktest.Lines([]finding.Result{r}))
				}
			}
		}
	}
}

func TestEvalRecoversAPanic(t *testing.T) {
	broken := check.Check{ID: "test/broken", Run: func(*facts.View) []finding.Finding { panic("index out of range") }}
	got := checktest.Lines(check.Eval([]check.Check{broken, route.NoEgress()}, snapshottest.PrivateWithNAT()))
	want := []string{
		"unknown prod [] check test/broken: broken: the check itself broke: index out of range",
		"pass rtb-0private [subnet-0private]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Eval = %q, want %q", got, want)
	}
}

func TestNotAskedForIsUnknownToo(t *testing.T) {
	s := snapshottest.PrivateWithNAT()
	delete(s.Read, snapshot.Endpoints)
	got := checktest.Lines(check.Eval([]check.Check{route.NoEgress()}, s))
	want := []string{"unknown prod [] vpc endpoints: not read: nobody asked for it"}
	if !slices.Equal(got, want) {
		t.Errorf("Eval = %q, want %q", got, want)
	}
}

func TestConsoleByPartition(t *testing.T) {
	for partition, want := range map[string]string{
		"aws":        "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-1",
		"aws-cn":     "https://us-west-2.console.amazonaws.cn/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-1",
		"aws-us-gov": "https://us-west-2.console.amazonaws-us-gov.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId=rtb-1",
	} {
		if got := link.RouteTable(facts.NewView(&snapshot.Snapshot{Partition: partition, Region: "us-west-2"}), "rtb-1"); got != want {
			t.Errorf("%s: %q, want %q", partition, got, want)
		}
	}
}
