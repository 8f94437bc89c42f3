package remedy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/optin"
)

func TestUnproved(t *testing.T) {
	const rest = " the cluster's is known only from tags, which anybody who can start an instance can set: check before you approve."
	for want, things := range map[string][]string{
		"":                              nil,
		"That subnet-0a is" + rest:      {"subnet-0a"},
		"That i-0a and i-0b are" + rest: {"i-0a", "i-0b"},
	} {
		if got := Unproved(things); got != want {
			t.Errorf("%v: %q, want %q", things, got, want)
		}
	}
}

func TestLists(t *testing.T) {
	six := []string{"a", "b", "c", "d", "e", "f"}
	for _, test := range []struct {
		n        int
		and, few string
	}{
		{0, "", ""}, {1, "a", "a"}, {2, "a and b", "a and b"}, {3, "a, b and c", "a, b and c"},
		{5, "a, b, c, d and e", "a, b, c, d and e"}, {6, "a, b, c, d, e and f", "a, b, c, d, e, …: 6 things"},
	} {
		if got := And(six[:test.n]); got != test.and {
			t.Errorf("and of %d: %q, want %q", test.n, got, test.and)
		}
		if got := Few(six[:test.n], "thing"); got != test.few {
			t.Errorf("few of %d: %q, want %q", test.n, got, test.few)
		}
	}
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		n          int
		what, want string
	}{
		{0, "instance", "0 instances"}, {1, "instance", "1 instance"}, {2, "instance", "2 instances"},
		{1, "address", "1 address"}, {2, "address", "2 addresses"}, {2, "subnet", "2 subnets"}, {2, "host", "2 hosts"},
	} {
		if got := Count(test.n, test.what); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// Each word is one, whatever is in it.
func TestAWS(t *testing.T) {
	got := Place{Region: "us-west-2"}.AWS("ec2 create-route", "--route-table-id", "rtb-0a; rm", []string{"--dry-run"}, 3)
	if want := "aws ec2 create-route --region us-west-2 --route-table-id 'rtb-0a; rm' --dry-run 3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An approval is for one plan: whatever is different in what would be done is
// another plan.
func TestHashIsOfTheExactPlan(t *testing.T) {
	route := func(change func(*Plan)) Plan {
		p := Plan{
			Format: Format, Remedy: optin.AddNATRoute, Partition: "aws", Account: "111122223333", Region: "us-west-2", Cluster: "prod",
			Check: "route/no-egress", Resource: "rtb-0a",
			Route: &AddNATRoute{VPC: "vpc-0a", Table: "rtb-0a", Destination: "0.0.0.0/0", NAT: "nat-0a", Zones: []string{"us-west-2a"}},
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

// A title has 70 characters at most, however many bytes they are.
func TestTitleIsCut(t *testing.T) {
	title := func(letters int) string {
		return Plan{Cover: &CoverZones{Nodegroup: strings.Repeat("ä", letters), From: 2, To: 3}}.Title()
	}
	if got, want := title(46), "Raise "+strings.Repeat("ä", 46)+" from 2 to 3 nodes"; got != want {
		t.Errorf("70: %q, want %q", got, want)
	}
	if got, want := title(47), "Raise "+strings.Repeat("ä", 47)+" from 2 to 3 nod…"; got != want {
		t.Errorf("71: %q, want %q", got, want)
	}
}

// A plan's words are those of its remedy, in its region and of its cluster.
func TestWords(t *testing.T) {
	p := Plan{Region: "us-west-2", Cluster: "prod", Cover: &CoverZones{Nodegroup: "workers", From: 2, To: 3, Max: 3, Without: []string{"us-west-2c"}}}
	got := Words{Title: p.Title(), Steps: p.Steps(), Commands: p.Commands(), Change: p.Change(), Undo: p.Undo(), Cost: p.Cost()}
	want := Words{
		Title:    "Raise workers from 2 to 3 nodes",
		Steps:    []string{"Set the desired count of workers from 2 to 3 (maximum 3): Auto Scaling launches in the zones that have the fewest, so in us-west-2c."},
		Change:   "desired 2 → 3",
		Commands: []string{"aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=3"},
		Undo:     []string{"aws eks update-nodegroup-config --region us-west-2 --cluster-name prod --nodegroup-name workers --scaling-config desiredSize=2"},
		Cost:     "1 instance extra, until you scale down again.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a plan counts for, where it changes the network, and whether a person
// decides on it.
func TestEachPart(t *testing.T) {
	const tags = "That Karpenter launched the instances is known only from tags, which anyone who can start an instance can set: check them before you approve."
	for _, test := range []struct {
		name    string
		plan    Plan
		things  int
		vpc     string
		decides string
	}{
		{"nothing", Plan{}, 1, "", ""},
		{"a route", Plan{Route: &AddNATRoute{VPC: "vpc-0a"}}, 1, "vpc-0a", ""},
		{"a port", Plan{Open: &OpenEndpointSecurityGroup{VPC: "vpc-0a"}}, 1, "vpc-0a", ""},
		{"no instance", Plan{Replace: &ReplaceInstance{}}, 1, "", ""},
		{"an instance", Plan{Replace: &ReplaceInstance{Instances: make([]Replaced, 1)}}, 1, "", ""},
		{"three instances", Plan{Replace: &ReplaceInstance{Instances: make([]Replaced, 3)}}, 3, "", ""},
		{"an entry", Plan{Access: &CreateAccessEntry{}}, 1, "", ""},
		{"an entry by tags alone", Plan{Access: &CreateAccessEntry{Tagged: true}}, 1, "", tags},
	} {
		if things, vpc, decides := test.plan.Things(), test.plan.VPC(), test.plan.PersonDecides(); things != test.things || vpc != test.vpc || decides != test.decides {
			t.Errorf("%s: %d things, VPC %q, a person decides: %q", test.name, things, vpc, decides)
		}
	}
}

// Only a plan that deletes interfaces can grow; and of a name that is not known, the name is left.
func TestSizeAndByName(t *testing.T) {
	for want, p := range map[int]Plan{0: {Route: &AddNATRoute{}}, 20: {Cleanup: &DeleteLeakedInterfaces{Addresses: 20}}} {
		if got := p.Size(); got != want {
			t.Errorf("size %d, want %d", got, want)
		}
	}
	if got := ByName("former"); got != (Remedy{Name: "former"}) {
		t.Errorf("%+v", got)
	}
}

// A plan's words are those of its part.
func TestPlanHasTheWordsOfItsPart(t *testing.T) {
	at := Place{Region: "us-west-2", Cluster: "prod"}
	part := map[string]struct {
		plan Plan
		want Words
	}{
		"route":   {Plan{Route: &AddNATRoute{Table: "rtb-0a", NAT: "nat-0a", Destination: "0.0.0.0/0"}}, AddNATRoute{Table: "rtb-0a", NAT: "nat-0a", Destination: "0.0.0.0/0"}.Words(at)},
		"open":    {Plan{Open: &OpenEndpointSecurityGroup{SecurityGroup: "sg-0a", From: []string{"sg-0b"}, Port: 443}}, OpenEndpointSecurityGroup{SecurityGroup: "sg-0a", From: []string{"sg-0b"}, Port: 443}.Words(at)},
		"cover":   {Plan{Cover: &CoverZones{Group: "asg"}}, CoverZones{Group: "asg"}.Words(at)},
		"replace": {Plan{Replace: &ReplaceInstance{Instances: []Replaced{{Instance: "i-0a", Group: "asg"}}}}, ReplaceInstance{Instances: []Replaced{{Instance: "i-0a", Group: "asg"}}}.Words(at)},
		"cleanup": {Plan{Cleanup: &DeleteLeakedInterfaces{}}, DeleteLeakedInterfaces{}.Words(at)},
		"access":  {Plan{Access: &CreateAccessEntry{Principal: "arn:aws:iam::1:role/node"}}, CreateAccessEntry{Principal: "arn:aws:iam::1:role/node"}.Words(at)},
	}
	for name, tt := range part {
		tt.plan.Region, tt.plan.Cluster = at.Region, at.Cluster
		if diff := cmp.Diff(tt.want, tt.plan.words()); diff != "" || tt.want.Title == "" {
			t.Errorf("%s (%q):\n%s", name, tt.want.Title, diff)
		}
	}
}
