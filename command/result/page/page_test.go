package page

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

// written is a page as it is written.
func written(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, Write(&b, p))
	return b.String()
}

func sample() Page {
	return Page{
		Subject: "prod", Taken: time.Date(2026, 11, 20, 15, 6, 0, 0, time.UTC), Version: "v1", Verdict: "1 cause", Mark: Fault,
		Incidents: []Incident{{
			Mark: Fault, Label: "FAULT", Check: "route/no-egress", Confidence: "certain", Where: "prod / workers", Title: "no route", Resources: []string{"rtb-1", "subnet-1"},
			Instances: []string{"i-1", "i-2", "i-3", "i-4", "i-5", "i-6", "i-7", "i-8", "i-9"}, Evidence: []Evidence{{"rtb-1", "10.0.0.0/16 → local"}},
		}},
		Diagrams: []Diagram{
			{Cluster: "prod", Table: "rtb-1", Subnets: []string{"subnet-1"}, Ways: []Way{{Services: []string{"sts"}, Means: "internet", State: Stops, Why: "no row", Hops: []Hop{{ID: "rtb-1"}}}}},
			{Cluster: "prod", Table: "rtb-2", Subnets: []string{"subnet-2"}, Ways: []Way{{Services: []string{"sts"}, Means: "internet", State: Reaches, Hops: []Hop{{ID: "rtb-2", Row: "0.0.0.0/0"}, {ID: "nat-2"}}}}},
			{Cluster: "other", Table: "rtb-1", Subnets: []string{"subnet-1"}},
		},
	}
}

// A page shows an incident with its own network, and the others once, below.
func TestDiagramsStandWithTheirIncident(t *testing.T) {
	text := written(t, sample())
	incident, below, ok := strings.Cut(text, "Network paths")
	if !ok {
		t.Fatal("no network paths below the incidents")
	}
	for id, part := range map[string]string{"rtb-1": incident, "rtb-2": below} {
		if !strings.Contains(part, ">"+id+"</text>") {
			t.Errorf("%s is not drawn where it belongs", id)
		}
	}
	if strings.Contains(incident, ">rtb-2</text>") {
		t.Error("the healthy network stands with the incident")
	}
}

// What an account's owner wrote is text on the page and nothing else.
func TestHostileTextStaysText(t *testing.T) {
	const bad = `<script>alert(1)</script>`
	p := sample()
	p.Subject, p.Verdict, p.Version = bad, bad, bad
	i := &p.Incidents[0]
	i.Title, i.Why, i.Fix, i.Command, i.Where, i.Label = bad, bad, bad, bad, bad+"prod", bad
	i.Console = "javascript:alert(1)"
	i.Evidence = []Evidence{{bad, bad}}
	i.Instances, i.Resources = []string{bad}, []string{bad, "rtb-2"}
	p.NotRun, p.Grants = []NotRun{{bad, bad, bad}}, []string{bad}
	p.Diagrams = []Diagram{{Cluster: "prod", Table: bad, Subnets: []string{bad}, Accused: []string{"sg-" + bad}, Ways: []Way{{Services: []string{bad}, Means: bad, Why: bad, Hops: []Hop{{bad, bad, []string{bad}, bad}}}}}}
	text := written(t, p)
	if strings.Contains(text, "<script") || strings.Contains(text, `href="javascript:`) {
		t.Errorf("the page runs what an account's owner wrote:\n%s", text)
	}
}

// Nothing is loaded from anywhere, and many instances are folded away.
func TestPageStandsAlone(t *testing.T) {
	text := written(t, sample())
	for _, word := range []string{"http://", "https://", "src=", "@import", "url("} {
		if strings.Contains(text, word) {
			t.Errorf("the page has %q", word)
		}
	}
	if !strings.Contains(text, "<summary>1 more</summary>") {
		t.Error("the ninth instance is not folded away")
	}
}

// The title is the incident's: a ticket shows nothing else. Advice is no incident.
func TestTitle(t *testing.T) {
	p := sample()
	p.Account, p.Region = "111122223333", "us-west-2"
	if text := written(t, p); !strings.Contains(text, "<title>prod / workers: no route</title>") || !strings.Contains(text, "Account 111122223333 · us-west-2 · prod<br>") {
		t.Errorf("want the incident, and where it is:\n%s", text)
	}
	p.Incidents = append(p.Incidents, p.Incidents[0], Incident{Mark: Advice, Where: "prod", Title: "one gateway"})
	if text := written(t, p); !strings.Contains(text, "<title>prod / workers: no route, and 1 more</title>") || !strings.Contains(text, "<details><summary>Advice: 1, ") {
		t.Errorf("want both incidents in the title, and the advice folded:\n%s", text)
	}
	p.Incidents = p.Incidents[2:]
	if text := written(t, p); !strings.Contains(text, "<title>prod: 1 cause</title>") {
		t.Errorf("want the verdict:\n%s", text)
	}
}

// On a narrow screen paths are lists, of which those that stop come first; the drawing is
// not shown, which needs more room than that.
func TestListedPaths(t *testing.T) {
	d := Diagram{Table: "rtb-1", Subnets: []string{"subnet-1"}, Accused: []string{"sg-1"}, Ways: []Way{
		{Services: []string{"s3"}, Means: "gateway endpoint", State: Reaches, Hops: []Hop{{ID: "rtb-1", Row: "pl-1"}, {ID: "vpce-1", Note: "available"}}},
		{Services: []string{"ec2", "sts"}, Means: "internet", State: Stops, Why: "gone", Hops: []Hop{{ID: "rtb-1", Row: "0.0.0.0/0"}}},
	}}
	var b builder
	b.listed(d)
	want := `<div class="listed">
<div class="stops"><strong>✗ ec2, sts</strong> <span class="soft">internet</span>
<ol><li>subnet-1<br>✗ sg-1</li>
<li>rtb-1<br><span class="soft">0.0.0.0/0</span></li></ol><p>✗ gone</p></div>
<div class="reaches"><strong>✓ s3</strong> <span class="soft">gateway endpoint</span>
<ol><li>subnet-1<br>✗ sg-1</li>
<li>rtb-1<br><span class="soft">pl-1</span></li>
<li>vpce-1 <span class="soft">available</span></li></ol></div>
</div>
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(head, "@media (max-width: 899px) { .drawing { display: none; } .listed { display: block; } }") {
		t.Error("no width is left to the lists")
	}
}

// Paths that lead alike share a way, and those that do not do not.
func TestServicesShareTheirWay(t *testing.T) {
	d := Diagram{Table: "rtb-1", Subnets: []string{"subnet-1", "subnet-2"}}
	out := path.Way{Verdict: path.Blackhole, Reason: "gone", Hops: []path.Hop{{ID: "subnet-1"}, {ID: "rtb-1", Row: "0.0.0.0/0"}, {ID: "nat-1", Note: "deleted"}}}
	if a, b := d.add(path.Path{Service: path.EC2, Means: path.ByInternet, Way: out}), d.add(path.Path{Service: path.STS, Means: path.ByInternet, Way: out}); a != b {
		t.Errorf("EC2's way is the %dth, STS' the %dth", a, b)
	}
	d.add(path.Path{Service: path.S3, Means: path.ByGateway, Way: path.Way{Verdict: path.Reaches, Hops: []path.Hop{{ID: "subnet-1"}, {ID: "rtb-1", Row: "pl-1"}, {ID: "vpce-1"}}}})
	d.add(path.Path{Service: path.API, Means: path.ByInternet, Way: path.Way{Verdict: path.LeavesView, Reason: "a gateway"}})
	d.add(path.Path{Service: path.EKS, Means: path.ByInternet, Way: path.Way{Verdict: path.NeedsPublicIP}})
	d.add(path.Path{Service: path.ECRAPI, Means: path.ByInternet, Way: path.Way{Verdict: path.Reaches, Hops: []path.Hop{
		{ID: "subnet-2"}, {ID: "rtb-1", Row: "0.0.0.0/0"}, {ID: "nat-2", Note: "available"}, {ID: "subnet-9"}, {ID: "rtb-9", Row: "::/0"}, {ID: "igw-1"},
	}}})
	want := []Way{
		{Means: "internet", State: Stops, Why: "gone", Hops: []Hop{{ID: "rtb-1", Row: "0.0.0.0/0"}, {ID: "nat-1", Note: "deleted"}}},
		{Means: "gateway endpoint", State: Reaches, Hops: []Hop{{ID: "rtb-1", Row: "pl-1"}, {ID: "vpce-1"}}},
		{Means: "internet", State: Unseen, Why: "a gateway"},
		{Means: "internet", State: Reaches, Why: "only for nodes with a public address"},
		// The NAT gateway's own subnet and table are the gateway's.
		{Means: "internet", State: Reaches, Hops: []Hop{{ID: "rtb-1", Row: "0.0.0.0/0"}, {ID: "nat-2", Note: "available", Via: []string{"subnet-9", "rtb-9"}, Row: "::/0"}, {ID: "igw-1"}}},
	}
	if diff := cmp.Diff(want, d.Ways); diff != "" {
		t.Error(diff)
	}
}

// A table from which one service is reached is not red itself; the hop at which a way
// ends is.
func TestColours(t *testing.T) {
	d := Diagram{Table: "rtb-1", Subnets: []string{"subnet-1"}, Ways: []Way{
		{Services: []string{"ec2"}, State: Stops, Why: "gone", Hops: []Hop{{ID: "rtb-1", Row: "0.0.0.0/0"}, {ID: "nat-1"}}},
		{Services: []string{"s3"}, State: Reaches, Hops: []Hop{{ID: "rtb-1", Row: "pl-1"}, {ID: "vpce-1"}}},
		{Services: []string{"sts"}, State: Unseen, Hops: []Hop{{ID: "rtb-1", Row: "10.0.0.0/8"}, {ID: "tgw-1"}}},
	}}
	got := map[string]State{}
	var walk func(*place)
	walk = func(p *place) {
		got[strings.Join(p.lines[:1], "")] = p.class
		for _, n := range p.next {
			walk(n)
		}
	}
	walk(d.tree())
	want := map[string]State{"subnet-1": Reaches, "rtb-1": Reaches, "nat-1": Stops, "vpce-1": Reaches, "tgw-1": Unseen, "✗ ec2": Stops, "✓ s3": Reaches, "? sts": Unseen}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A filter that is a cause stands before the route table of its own network alone.
func TestAccusedFilters(t *testing.T) {
	list := []Diagram{
		{Cluster: "prod", Table: "rtb-1", Subnets: []string{"subnet-1"}, Instances: []string{"i-1"}},
		{Cluster: "prod", Table: "rtb-2", Subnets: []string{"subnet-2"}},
	}
	Accuse(list, []Incident{
		{Mark: Fault, Check: "sg/no-egress", Where: "prod / workers", Instances: []string{"i-1"}, Resources: []string{"sg-1", "vpc-1"}},
		{Mark: Advice, Check: "sg/wide", Where: "prod", Instances: []string{"i-1"}, Resources: []string{"sg-2"}},
		{Mark: Fault, Check: "nacl/ephemeral", Where: "other", Resources: []string{"acl-9", "subnet-1"}},
		{Mark: Fault, Check: "nacl/ephemeral", Where: "prod", Resources: []string{"acl-1", "subnet-1"}},
	})
	if diff := cmp.Diff([][]string{{"sg-1", "acl-1"}, nil}, [][]string{list[0].Accused, list[1].Accused}); diff != "" {
		t.Error(diff)
	}
}

// A network ACL is accused where it stands: at the nodes' subnets, or at the NAT
// gateway's.
func TestACLsStandWhereTheyAre(t *testing.T) {
	d := Diagram{
		Subnets: []string{"subnet-1"}, Table: "rtb-1", ACLs: map[string]string{"subnet-1": "acl-1", "subnet-9": "acl-9"}, Accused: []string{"acl-9"},
		Ways: []Way{{Services: []string{"sts"}, State: Reaches, Hops: []Hop{{ID: "rtb-1"}, {ID: "nat-1", Via: []string{"subnet-9", "rtb-9"}}, {ID: "igw-1"}}}},
	}
	root := d.tree()
	nat := root.next[0].next[0]
	if root.class != Reaches || nat.class != Stops || !slices.Contains(nat.lines, "✗ acl-9") {
		t.Errorf("subnets %s, %q %s", root.class, nat.lines, nat.class)
	}
	d.Accused = []string{"acl-1"}
	root = d.tree()
	if nat = root.next[0].next[0]; root.class != Stops || !slices.Contains(root.lines, "✗ acl-1") || nat.class != Reaches {
		t.Errorf("subnets %q %s, NAT gateway %s", root.lines, root.class, nat.class)
	}
}

// A snapshot without subnets has nothing to draw.
func TestNothingToDraw(t *testing.T) {
	if got := Diagrams(&snapshot.Snapshot{}); len(got) != 0 {
		t.Errorf("%d diagrams of nothing", len(got))
	}
}
