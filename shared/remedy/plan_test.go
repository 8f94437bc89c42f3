package remedy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/addnatroute"
	"rollcall/shared/remedy/coverzones"
	"rollcall/shared/remedy/createaccessentry"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/remedy/replaceinstance"
	"rollcall/shared/snapshot"
)

// An approval is for one plan: whatever is different in what would be done is
// another plan.
func TestHashIsOfTheExactPlan(t *testing.T) {
	route := func(change func(*Plan)) Plan {
		p := Plan{
			Format: Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "111122223333", Region: "us-west-2", Cluster: "prod",
			Check: "route/no-egress", Resource: "rtb-0a",
			Route: &addnatroute.Plan{VPC: "vpc-0a", Table: "rtb-0a", Destination: "0.0.0.0/0", NAT: "nat-0a", Zones: []string{"us-west-2a"}},
		}
		change(&p)
		return p
	}
	base := route(func(*Plan) {}).Hash()
	// Approvals that were given before stay those of their plans.
	if want := "d74be757724c696c82ffef481aba7d89"; base != want {
		t.Errorf("hash %s, want %s", base, want)
	}
	if again := route(func(*Plan) {}).Hash(); again != base {
		t.Errorf("the same plan has two hashes, %s and %s", base, again)
	}
	for name, change := range map[string]func(*Plan){
		"another table":       func(p *Plan) { p.Route.Table = "rtb-0b" },
		"another gateway":     func(p *Plan) { p.Route.NAT = "nat-0b" },
		"another destination": func(p *Plan) { p.Route.Destination = "10.0.0.0/8" },
		"another cluster":     func(p *Plan) { p.Cluster = "dev" },
		"another account":     func(p *Plan) { p.Account = "444455556666" },
		"another incident":    func(p *Plan) { p.Resource = "rtb-0b" },
		"another remedy":      func(p *Plan) { p.Remedy = optin.ReplaceInstance },
	} {
		if got := route(change).Hash(); got == base {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}

// A plan's words are those of its remedy, in its region and of its cluster.
func TestWords(t *testing.T) {
	p := Plan{Region: "us-west-2", Cluster: "prod", Cover: &coverzones.Plan{Nodegroup: "workers", From: 2, To: 3, Max: 3, Without: []string{"us-west-2c"}}}
	got := action.Words{Title: p.Title(), Steps: p.Steps(), Commands: p.Commands(), Change: p.Change(), Undo: p.Undo(), Cost: p.Cost()}
	want := action.Words{
		Title:    "Raise workers from 2 to 3 nodes",
		Steps:    []string{"Set the desired count of workers from 2 to 3 (maximum 3): Auto Scaling launches in the zones that have the fewest, so in us-west-2c."},
		Change:   "desired 2 → 3",
		Commands: []string{"aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=3"},
		Undo:     []string{"aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=2"},
		Cost:     "1 instance more, as long as it stays so.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A title has 70 characters at most, however many bytes they are.
func TestTitleIsCut(t *testing.T) {
	title := func(letters int) string {
		return Plan{Cover: &coverzones.Plan{Nodegroup: strings.Repeat("ä", letters), From: 2, To: 3}}.Title()
	}
	if got, want := title(46), "Raise "+strings.Repeat("ä", 46)+" from 2 to 3 nodes"; got != want {
		t.Errorf("70: %q, want %q", got, want)
	}
	if got, want := title(47), "Raise "+strings.Repeat("ä", 47)+" from 2 to 3 nod…"; got != want {
		t.Errorf("71: %q, want %q", got, want)
	}
}

// What a plan counts for, where it changes the network, and whether a person
// decides on it.
func TestEachPart(t *testing.T) {
	const tags = "That Karpenter launched the instances, their tags alone say, which whoever may start an instance may set: look at them before you approve."
	for _, test := range []struct {
		name    string
		plan    Plan
		things  int
		vpc     string
		decides string
	}{
		{"nothing", Plan{}, 1, "", ""},
		{"a route", Plan{Route: &addnatroute.Plan{VPC: "vpc-0a"}}, 1, "vpc-0a", ""},
		{"three instances", Plan{Replace: &replaceinstance.Plan{Instances: make([]replaceinstance.Replaced, 3)}}, 3, "", ""},
		{"an entry", Plan{Access: &createaccessentry.Plan{}}, 1, "", ""},
		{"an entry by tags alone", Plan{Access: &createaccessentry.Plan{Tagged: true}}, 1, "", tags},
	} {
		if things, vpc, decides := test.plan.Things(), test.plan.VPC(), test.plan.PersonDecides(); things != test.things || vpc != test.vpc || decides != test.decides {
			t.Errorf("%s: %d things, VPC %q, a person decides: %q", test.name, things, vpc, decides)
		}
	}
}

// Whether a plan was done is asked of its remedy.
func TestApplied(t *testing.T) {
	s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.Groups: true}, Groups: []snapshot.Group{{Name: "a", Desired: 3}}}
	for to, want := range map[int]bool{3: true, 4: false} {
		if done, known := (Plan{Cover: &coverzones.Plan{Group: "a", To: to}}).Applied(s); done != want || !known {
			t.Errorf("to %d: done %v, known %v; want %v, true", to, done, known, want)
		}
	}
}
