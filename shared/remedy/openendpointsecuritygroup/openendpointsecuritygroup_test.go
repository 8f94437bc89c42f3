package openendpointsecuritygroup

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/checks/finding"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/shared/spec"
)

// The wrong target first: what is let in is whoever has the nodes' security
// group, so no other group may have it.
func TestWrongTargets(t *testing.T) {
	foreign := snapshot.Instance{ID: "i-0bastion", VPC: snapshottest.VPC, State: "running", Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"}}
	list := []remedytest.Wrong{
		{"an instance that nothing knows", host(snapshot.Interface{Attached: true, Instance: "i-0bastion"}), OutsideHosts},
		{"an instance with the cluster's tag, set by hand", func(s *snapshot.Snapshot, of *action.Subject) {
			s.Instances = append(s.Instances, foreign)
			host(snapshot.Interface{Attached: true, Instance: "i-0bastion", Tags: map[string]string{"cluster.k8s.amazonaws.com/name": "prod", "kubernetes.io/cluster/prod": "owned"}})(s, of)
		}, OutsideHosts},
		{"a node of another cluster", func(s *snapshot.Snapshot, of *action.Subject) {
			s.Groups = append(s.Groups, snapshot.Group{Name: "dev", Tags: map[string]string{"kubernetes.io/cluster/dev": "owned"}, Instances: []snapshot.GroupInstance{{ID: "i-0dev"}}})
			host(snapshot.Interface{Attached: true, Instance: "i-0dev"})(s, of)
		}, OutsideHosts},
		{"an instance with Karpenter's tags, set by hand, that no NodeClaim names", pooled, OutsideHosts},
		{"a function of Lambda's", host(snapshot.Interface{RequesterManaged: true, Description: "AWS Lambda VPC ENI-shop"}), OutsideHosts},
		{"another cluster's control plane", host(snapshot.Interface{RequesterManaged: true, Description: "Amazon EKS dev"}), OutsideHosts},
		{"an interface that says it is the control plane's", host(snapshot.Interface{Description: "Amazon EKS prod"}), OutsideHosts},
		{"an interface of another cluster's CNI", host(snapshot.Interface{Status: "available", Tags: map[string]string{"cluster.k8s.amazonaws.com/name": "dev"}}), OutsideHosts},
		{"the interface of one of the nodes is not among them", func(_ *snapshot.Snapshot, of *action.Subject) {
			for i := range of.Wearers {
				if of.Wearers[i].Instance == remedytest.Stuck {
					of.Wearers[i].Groups = nil
				}
			}
		}, remedy.CouldNotLook},
		{"a node of no group of the cluster's", func(s *snapshot.Snapshot, _ *action.Subject) { s.Groups[0].Instances = s.Groups[0].Instances[:1] }, OutsideHosts},
		{"another account's VPC", func(s *snapshot.Snapshot, _ *action.Subject) { s.VPCs[0].Owner = "999999999999" }, remedy.SharedVPC},
		{"nobody says whose the VPC is", func(s *snapshot.Snapshot, _ *action.Subject) { s.VPCs[0].Owner = "" }, remedy.CouldNotLook},
		{"the VPC is not among those read", func(s *snapshot.Snapshot, _ *action.Subject) { s.VPCs[0].ID = "vpc-0b" }, remedy.CouldNotLook},
	}
	remedytest.Refuses(t, Remedy(), shutOut, checks.All(), list)
	remedytest.Allows(t, Remedy(), shutOut, checks.All(), []remedytest.Harmless{
		{"another node of a group of the cluster's", func(s *snapshot.Snapshot, of *action.Subject) {
			s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: "i-0third"})
			host(snapshot.Interface{Attached: true, Instance: "i-0third"})(s, of)
		}},
		{"what the VPC CNI made for the cluster", host(snapshot.Interface{Status: "available", Tags: map[string]string{"cluster.k8s.amazonaws.com/name": "prod"}})},
		{"an instance that Karpenter launched, which is no node yet", func(s *snapshot.Snapshot, of *action.Subject) {
			pooled(s, of)
			s.NodeClaims = append(s.NodeClaims, snapshot.NodeClaim{Name: "default-x7k2p", Instance: "i-0pool"})
		}},
		{"a pod's branch interface", host(snapshot.Interface{Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"}})},
	})
	s, of := shutOut()
	host(snapshot.Interface{Attached: true, Instance: "i-0karpenter"})(s, &of)
	s.Nodes = append(s.Nodes, snapshot.Node{Name: "ip-10-42-1-1", Instance: "i-0karpenter"})
	if _, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, finding.Finding{Outcome: finding.Fail, Resource: of.Resource})); no != nil {
		t.Errorf("a node that no group launched: %s: %s", no.Reason, no.Says)
	}
}

func TestBounds(t *testing.T) {
	its := snapshottest.EndpointGroup
	remedytest.Refuses(t, Remedy(), shutOut, checks.All(), []remedytest.Wrong{
		{"endpoint and group of another VPC", func(s *snapshot.Snapshot, of *action.Subject) {
			endpoint(func(e *snapshot.Endpoint) { e.VPC = "vpc-0b" })(s, of)
			group(its, func(g *snapshot.SecurityGroup) { g.VPC = "vpc-0b" })(s, of)
			for i := range of.Wearers {
				of.Wearers[i].VPC = "vpc-0b"
			}
		}, remedy.OtherVPC},
		{"made by EKS for a cluster", group(its, func(g *snapshot.SecurityGroup) { g.Tags["aws:eks:cluster-name"] = "dev" }), SharedGroup},
		{"a wearer without a kind", wearer(snapshot.Interface{VPC: snapshottest.VPC}), SharedGroup},
	})
	remedytest.Allows(t, Remedy(), shutOut, checks.All(), []remedytest.Harmless{
		{"a wearer of another group", func(_ *snapshot.Snapshot, of *action.Subject) {
			of.Wearers = append(of.Wearers, snapshot.Interface{ID: "eni-0x", VPC: snapshottest.VPC, Kind: "interface", Groups: []string{"sg-0x"}})
		}},
		{"the nodes have another group in common too, and the cluster's comes first", func(s *snapshot.Snapshot, _ *action.Subject) {
			for _, id := range []string{remedytest.Stuck, snapshottest.Node} {
				in := snapshottest.Instance(s, id)
				in.Groups = append([]string{"sg-0000first"}, in.Groups...)
			}
			s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: "sg-0000first", VPC: snapshottest.VPC, Name: "first"})
		}},
		{"another group that the nodes have in common was not read", func(s *snapshot.Snapshot, _ *action.Subject) {
			for _, id := range []string{remedytest.Stuck, snapshottest.Node} {
				in := snapshottest.Instance(s, id)
				in.Groups = append([]string{"sg-0000unread"}, in.Groups...)
			}
		}},
		{"EC2 names no groups of one of the nodes", remedytest.Instance(func(i *snapshot.Instance) { i.Groups = nil })},
		{"the endpoint names none of its interfaces", endpoint(func(e *snapshot.Endpoint) { e.Interfaces = nil })},
		{"an instance beside the incident has other groups", func(s *snapshot.Snapshot, of *action.Subject) {
			other := *snapshottest.Instance(s, remedytest.Stuck)
			other.ID, other.Groups = "i-0beside", []string{"sg-0x"}
			s.Instances = append(s.Instances, other)
		}},
		{"a rule of another port", group(its, func(g *snapshot.SecurityGroup) {
			g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "tcp", From: 22, To: 22, Groups: []string{snapshottest.ClusterGroup}}, snapshot.Rule{Protocol: "udp", From: 443, To: 443, Groups: []string{snapshottest.ClusterGroup}})
		})},
	})
}

// Nodes without the cluster's security group are let in by the first one that
// all of them have, which is in the cluster's VPC and not its default one.
func TestOpenForAGroupInCommon(t *testing.T) {
	s, of := shutOut()
	wears(s, &of, "sg-0z", "sg-0c", "sg-0b", "sg-0a")
	s.SecurityGroups = append(s.SecurityGroups,
		snapshot.SecurityGroup{ID: "sg-0a", VPC: snapshottest.VPC, Name: "default"}, snapshot.SecurityGroup{ID: "sg-0b", VPC: "vpc-0b", Name: "b"},
		snapshot.SecurityGroup{ID: "sg-0c", VPC: snapshottest.VPC, Name: "c"}, snapshot.SecurityGroup{ID: "sg-0z", VPC: snapshottest.VPC, Name: "z"},
	)
	found := remedytest.Saying(of.Check, finding.Finding{Outcome: finding.Fail, Resource: of.Resource})
	p, no := remedytest.Make(Remedy(), s, of, found)
	if no != nil || !slices.Equal(p.From, []string{"sg-0c"}) {
		t.Errorf("%+v, %+v; want sg-0c", p, no)
	}
}

// Of the endpoint's own security groups the first by its id is opened, of those
// that only endpoints have.
func TestOpensTheFirst(t *testing.T) {
	s, of := shutOut()
	second := snapshot.SecurityGroup{ID: "sg-0zz", VPC: snapshottest.VPC, Name: "second"}
	s.SecurityGroups = append(s.SecurityGroups, second)
	for i := range s.Endpoints {
		if s.Endpoints[i].Kind == "Interface" {
			s.Endpoints[i].Groups = []string{second.ID, snapshottest.EndpointGroup}
		}
	}
	for i := range of.Wearers {
		if of.Wearers[i].Kind == "vpc_endpoint" {
			of.Wearers[i].Groups = []string{second.ID, snapshottest.EndpointGroup}
		}
	}
	p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, atTheEndpoint()))
	if no != nil || p.SecurityGroup != snapshottest.EndpointGroup {
		t.Errorf("planned %+v, refused %+v; want %s", p, no, snapshottest.EndpointGroup)
	}
}

// atTheEndpoint is what the check finds.
func atTheEndpoint() finding.Finding {
	return finding.Finding{Outcome: finding.Fail, Resource: "vpce-0ec2"}
}

func TestAdmits(t *testing.T) {
	for _, test := range []struct {
		protocol string
		from, to int
		group    string
		want     bool
	}{
		{"tcp", 443, 443, "sg-0a", true},
		{"tcp", 0, 65535, "sg-0a", true},
		{"tcp", 443, 444, "sg-0a", true},
		{"tcp", 442, 443, "sg-0a", true},
		{"6", 443, 443, "sg-0a", true},
		{"tcp", -1, -1, "sg-0a", true},
		{"-1", -1, -1, "sg-0a", true},
		{"tcp", 443, 443, "sg-0b", false},
		{"-1", -1, -1, "sg-0b", false},
		{"tcp", 444, 500, "sg-0a", false},
		{"tcp", 0, 442, "sg-0a", false},
		{"17", 443, 443, "sg-0a", false},
		{"udp", -1, -1, "sg-0a", false},
	} {
		r := snapshot.Rule{Protocol: test.protocol, From: test.from, To: test.to, Groups: []string{"sg-0x", test.group}}
		if got := admits(r, "sg-0a"); got != test.want {
			t.Errorf("%s %d to %d from %s: %v, want %v", test.protocol, test.from, test.to, test.group, got, test.want)
		}
	}
}

// The groups of the endpoint and of the incident's instances, each once.
func TestWearersOf(t *testing.T) {
	s := &snapshot.Snapshot{
		Endpoints: []snapshot.Endpoint{{ID: "vpce-0other", Groups: []string{"sg-0other"}}, {ID: "vpce-0a", Groups: []string{"sg-0z", "sg-0a"}}},
		Instances: []snapshot.Instance{{ID: "i-0beside", Groups: []string{"sg-0beside"}}, {ID: "i-0a", Groups: []string{"sg-0n", "sg-0a"}}, {ID: "i-0b", Groups: []string{"sg-0n"}}},
	}
	got := wearersOf(s, action.Subject{Resource: "vpce-0a", Covers: []string{"i-0a", "i-0b", "i-0gone"}})
	if diff := cmp.Diff([]string{"sg-0a", "sg-0n", "sg-0z"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), func() (*snapshot.Snapshot, action.Subject) {
		s, of := shutOut()
		var second snapshot.SecurityGroup
		for _, g := range s.SecurityGroups {
			if len(s.Endpoints[0].Groups) > 0 && g.ID == s.Endpoints[0].Groups[0] {
				second = g
			}
		}
		second.ID, second.Name = "sg-0000second", "second"
		s.SecurityGroups = append(s.SecurityGroups, second)
		for i := range s.Endpoints {
			if s.Endpoints[i].Kind == "Interface" {
				s.Endpoints[i].Groups = append([]string{second.ID}, s.Endpoints[i].Groups...)
			}
		}
		for i := range of.Wearers {
			of.Wearers[i].Groups = append([]string{second.ID}, of.Wearers[i].Groups...)
		}
		return s, of
	}, checks.All())
}

func TestFoundElsewhereIsNotSo(t *testing.T) { remedytest.FoundElsewhereIsNotSo(t, Remedy(), shutOut) }

func TestApplied(t *testing.T) {
	admit := func(port int) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			group(snapshottest.EndpointGroup, func(g *snapshot.SecurityGroup) {
				g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "tcp", From: port, To: port, Groups: []string{snapshottest.ClusterGroup}})
			})(s, nil)
		}
	}
	remedytest.Applied(t, Remedy(), shutOut, snapshot.SecurityGroups, admit(443), admit(80))
}

// admitted keeps what was admitted where.
type admitted []string

func (a *admitted) AdmitTCP(_ context.Context, group string, port int, from []string) action.Answer {
	*a = append(*a, fmt.Sprintf("%s: tcp %d from %s", group, port, from))
	return action.Answer{Outcome: action.Done, Request: "r-1"}
}

func TestDo(t *testing.T) {
	var made admitted
	got := do(t.Context(), &made, remedy.OpenEndpointSecurityGroup{VPC: "vpc-0a", SecurityGroup: "sg-0a", Port: 443, From: []string{"sg-0n", "sg-0m"}}, remedy.Place{}, "token")
	if diff := cmp.Diff(admitted{"sg-0a: tcp 443 from [sg-0n sg-0m]"}, made); diff != "" {
		t.Errorf("admitted (-want +got):\n%s", diff)
	}
	want := action.Result{Status: remedy.Done, Changed: []string{"sg-0a"}, Requests: []string{"r-1"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestGrants(t *testing.T) {
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"prod"}, VPCs: []string{"vpc-0a"}})
	want := []spec.Grant{{
		Sid: "OpenEndpoints", Why: "open-endpoint-security-group allows nodes to reach endpoints, in the VPCs that the operator named.",
		Actions: []string{"ec2:AuthorizeSecurityGroupIngress"}, Resources: []spec.Resource{"arn:${Partition}:ec2:${Region}:${Account}:security-group/*"},
		Conditions: map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": {"arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0a"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}

// pooled adds a host with the nodes' security group and the tags of a NodePool.
func pooled(s *snapshot.Snapshot, of *action.Subject) {
	s.Instances = append([]snapshot.Instance{{ID: "i-0pool", VPC: snapshottest.VPC, State: "running", Tags: map[string]string{
		"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default",
	}}}, s.Instances...)
	host(snapshot.Interface{Attached: true, Instance: "i-0pool"})(s, of)
}

// Where the NodeClaims could not be read a person decides, and the plan says for whom.
func TestUnprovedHosts(t *testing.T) {
	s, of := shutOut()
	pooled(s, &of)
	snapshottest.Without(s, snapshot.NodeClaimsOf)
	p, no := remedytest.Make(Remedy(), s, of, checks.All())
	if no != nil {
		t.Fatalf("%s: %s", no.Reason, no.Says)
	}
	if diff := cmp.Diff([]string{"i-0pool"}, p.Unproved); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := (remedy.Plan{Open: p}).PersonDecides(), "That i-0pool is the cluster's is known only from tags, which anybody who can start an instance can set: check before you approve."; got != want {
		t.Errorf("a person decides: %q, want %q", got, want)
	}
	s, of = shutOut()
	if p, no := remedytest.Make(Remedy(), s, of, checks.All()); no != nil || (remedy.Plan{Open: p}).PersonDecides() != "" {
		t.Errorf("proved hosts: planned %+v, refused %+v", p, no)
	}
}

// Which host is not the cluster's is said, by its instance or by what it is.
func TestSaysWhichHost(t *testing.T) {
	for _, test := range []struct {
		name string
		is   snapshot.Interface
		want string
	}{
		{"an instance", snapshot.Interface{Attached: true, Instance: "i-0bastion", Description: "eth0"}, "i-0bastion"},
		{"no instance", snapshot.Interface{Description: "AWS Lambda VPC ENI-shop"}, "interface AWS Lambda VPC ENI-shop"},
		{"no description", snapshot.Interface{}, "interface"},
	} {
		s, of := shutOut()
		host(test.is)(s, &of)
		p, no := remedytest.Make(Remedy(), s, of, checks.All())
		want := &action.Refusal{Reason: OutsideHosts, Says: "eni-0host (" + test.want + ") has sg-0cluster too, and is not known to belong to prod: the endpoint would be open to it."}
		if diff := cmp.Diff(want, no); diff != "" {
			t.Errorf("%s: planned %+v (-want +got):\n%s", test.name, p, diff)
		}
	}
}

// Why no security group of the nodes is known is said.
func TestSaysWhyNoNodes(t *testing.T) {
	for want, change := range map[string]func(*snapshot.Instance){
		"None of the instances is running any longer, so their security groups are unknown.": func(i *snapshot.Instance) { i.State = "terminated" },
		"The instances have no security group in common but the VPC's default one.":          func(i *snapshot.Instance) { i.Groups = []string{"sg-0of-" + i.ID} },
	} {
		s, of := shutOut()
		change(snapshottest.Instance(s, remedytest.Stuck))
		change(snapshottest.Instance(s, snapshottest.Node))
		p, no := remedytest.Make(Remedy(), s, of, checks.All())
		if diff := cmp.Diff(&action.Refusal{Reason: NoNodes, Says: want}, no); diff != "" {
			t.Errorf("planned %+v (-want +got):\n%s", p, diff)
		}
	}
}

func TestRefuses(t *testing.T) {
	its := snapshottest.EndpointGroup
	nodes := func(change func(*snapshot.Instance)) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, _ *action.Subject) {
			change(snapshottest.Instance(s, remedytest.Stuck))
			change(snapshottest.Instance(s, snapshottest.Node))
		}
	}
	p := remedytest.Refuses(t, Remedy(), shutOut, checks.All(), []remedytest.Wrong{
		{"the endpoint is gone", func(_ *snapshot.Snapshot, of *action.Subject) { of.Resource = "vpce-0gone" }, remedy.Gone},
		{"an endpoint of another VPC", endpoint(func(e *snapshot.Endpoint) { e.VPC = "vpc-0b" }), remedy.OtherVPC},
		{"a gateway endpoint", endpoint(func(e *snapshot.Endpoint) { e.Kind = "Gateway" }), NotInterface},
		{"an endpoint on its way", endpoint(func(e *snapshot.Endpoint) { e.State = "pending" }), NotAvailable},
		{"an endpoint that does not take the name", endpoint(func(e *snapshot.Endpoint) { e.PrivateDNS = false }), remedy.NotSo},
		{"no security group is named", endpoint(func(e *snapshot.Endpoint) { e.Groups = nil }), remedy.CouldNotLook},
		{"its security group was not read", endpoint(func(e *snapshot.Endpoint) { e.Groups = []string{"sg-0x"} }), remedy.CouldNotLook},
		{"its security group is in another VPC", group(its, func(g *snapshot.SecurityGroup) { g.VPC = "vpc-0b" }), remedy.OtherVPC},
		{"the default security group", group(its, func(g *snapshot.SecurityGroup) { g.Name = "default" }), DefaultGroup},
		{"the cluster's own", func(s *snapshot.Snapshot, _ *action.Subject) { s.Cluster.SecurityGroup = its }, SharedGroup},
		{"an additional one of the control plane's", func(s *snapshot.Snapshot, _ *action.Subject) { s.Cluster.SecurityGroups = []string{its} }, SharedGroup},
		{"the nodes' own", remedytest.Instance(func(i *snapshot.Instance) { i.Groups = append(i.Groups, its) }), SharedGroup},
		{"tagged as a cluster's", group(its, func(g *snapshot.SecurityGroup) { g.Tags["kubernetes.io/cluster/dev"] = "owned" }), SharedGroup},
		{"an instance elsewhere has it", wearer(snapshot.Interface{VPC: snapshottest.VPC, Kind: "interface"}), SharedGroup},
		{"a load balancer has it", wearer(snapshot.Interface{VPC: snapshottest.VPC, Kind: "network_load_balancer"}), SharedGroup},
		{"an endpoint of another VPC has it", wearer(snapshot.Interface{VPC: "vpc-0b", Kind: "vpc_endpoint"}), SharedGroup},
		{"who has it is not known", func(_ *snapshot.Snapshot, of *action.Subject) { of.Wearers = nil }, remedy.CouldNotLook},
		{"the endpoint's own are not among them", func(_ *snapshot.Snapshot, of *action.Subject) { of.Wearers[0].ID = "eni-0other" }, remedy.CouldNotLook},

		{"the instances have ended", nodes(func(i *snapshot.Instance) { i.State = "terminated" }), NoNodes},
		{"EC2 names no groups of theirs", nodes(func(i *snapshot.Instance) { i.Groups = nil }), NoNodes},
		{"they are in another VPC", nodes(func(i *snapshot.Instance) { i.VPC = "vpc-0b" }), NoNodes},
		{"they are another cluster's", nodes(func(i *snapshot.Instance) { delete(i.Tags, "kubernetes.io/cluster/prod") }), remedy.OtherCluster},
		{"they have nothing in common", remedytest.Instance(func(i *snapshot.Instance) { i.Groups = []string{"sg-0x"} }), NoNodes},
		{"they have the default group alone", func(s *snapshot.Snapshot, of *action.Subject) {
			nodes(func(i *snapshot.Instance) { i.Groups = []string{"sg-0default"} })(s, of)
			s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: "sg-0default", VPC: snapshottest.VPC, Name: "default"})
		}, NoNodes},
		{"the rule is there", group(its, func(g *snapshot.SecurityGroup) {
			g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{snapshottest.ClusterGroup}})
		}), remedy.AlreadyThere},
		{"a wider rule is there", group(its, func(g *snapshot.SecurityGroup) {
			g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{snapshottest.ClusterGroup}})
		}), remedy.AlreadyThere},
		{"the nodes are let in by their addresses", group(its, func(g *snapshot.SecurityGroup) {
			g.Ingress[0].CIDRs = []netip.Prefix{netip.MustParsePrefix("10.42.0.0/16")}
		}), remedy.NotSo},
		{"a node that is Ready speaks against it", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Join(s, snapshottest.Node) }, remedy.NotCertain},
		{"what the check needs was not read", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Without(s, snapshot.RouteTables) }, remedy.CouldNotLook},
	})
	want := &remedy.OpenEndpointSecurityGroup{
		VPC: snapshottest.VPC, SecurityGroup: its, Port: 443, From: []string{snapshottest.ClusterGroup},
		Endpoints: []string{"vpce-0ec2", "vpce-0ecr.api", "vpce-0ecr.dkr", "vpce-0sts"},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	w := remedytest.Words(t, p)
	if got, want := w.Undo[0], "aws ec2 revoke-security-group-ingress --region us-west-2 --group-id "+its+" --protocol tcp --port 443 --source-group "+snapshottest.ClusterGroup; got != want {
		t.Errorf("undo %s", got)
	}
}

// shutOut is a private VPC whose endpoints' security group admits no node.
func shutOut() (*snapshot.Snapshot, action.Subject) {
	s := snapshottest.EndpointsOnly()
	snapshottest.Unjoin(s, snapshottest.Node)
	remedytest.Missed(s)
	for i := range s.SecurityGroups {
		if s.SecurityGroups[i].ID == snapshottest.EndpointGroup {
			s.SecurityGroups[i].Ingress = []snapshot.Rule{{Protocol: "tcp", From: 443, To: 443, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.99.0.0/16")}}}
			s.SecurityGroups[i].Tags = map[string]string{}
		}
	}
	for i := range s.Endpoints {
		if s.Endpoints[i].Kind == "Interface" {
			s.Endpoints[i].Interfaces = []string{"eni-" + s.Endpoints[i].ID}
		}
	}
	of := action.Subject{
		Cluster: snapshottest.ClusterName, Check: "endpoint/security-group", Resource: "vpce-0ec2",
		Covers: []string{snapshottest.Node, remedytest.Stuck},
	}
	for _, e := range s.Endpoints {
		for _, id := range e.Interfaces {
			of.Wearers = append(of.Wearers, snapshot.Interface{ID: id, VPC: snapshottest.VPC, Kind: "vpc_endpoint", Groups: e.Groups})
		}
	}
	s.Groups[0].Instances = []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: "InService"}, {ID: remedytest.Stuck, Lifecycle: "InService"}}
	for _, in := range s.Instances {
		of.Wearers = append(of.Wearers, snapshot.Interface{ID: "eni-of-" + in.ID, VPC: snapshottest.VPC, Kind: "interface", Attached: true, Instance: in.ID, Groups: in.Groups})
	}
	of.Wearers = append(of.Wearers, s.Interfaces...) // the control plane's
	return s, of
}

// host is an interface that has the nodes' security group.
func host(x snapshot.Interface) remedytest.Change {
	return func(_ *snapshot.Snapshot, of *action.Subject) {
		x.ID, x.VPC, x.Kind, x.Groups = "eni-0host", snapshottest.VPC, "interface", []string{snapshottest.ClusterGroup}
		of.Wearers = append(of.Wearers, x)
	}
}

// wears gives the nodes other security groups, and their interfaces with them.
func wears(s *snapshot.Snapshot, of *action.Subject, groups ...string) {
	for _, id := range []string{remedytest.Stuck, snapshottest.Node} {
		snapshottest.Instance(s, id).Groups = groups
	}
	for i := range of.Wearers {
		if of.Wearers[i].Instance != "" {
			of.Wearers[i].Groups = groups
		}
	}
}

func endpoint(change func(*snapshot.Endpoint)) remedytest.Change {
	return func(s *snapshot.Snapshot, of *action.Subject) {
		for i := range s.Endpoints {
			if s.Endpoints[i].ID == of.Resource {
				change(&s.Endpoints[i])
			}
		}
	}
}

func group(id string, change func(*snapshot.SecurityGroup)) remedytest.Change {
	return func(s *snapshot.Snapshot, _ *action.Subject) {
		for i := range s.SecurityGroups {
			if s.SecurityGroups[i].ID == id {
				change(&s.SecurityGroups[i])
			}
		}
	}
}

func wearer(x snapshot.Interface) remedytest.Change {
	return func(_ *snapshot.Snapshot, of *action.Subject) {
		x.ID, x.Groups = "eni-0other", []string{snapshottest.EndpointGroup}
		of.Wearers = append(of.Wearers, x)
	}
}

// Of the groups that all nodes have, the cluster's own is let in, then the one
// that is tagged as its own, then the first that the cluster's hosts alone have.
func TestOpenPrefersTheClustersGroup(t *testing.T) {
	group := func(id string, tags map[string]string) snapshot.SecurityGroup {
		return snapshot.SecurityGroup{ID: id, VPC: snapshottest.VPC, Name: id, Tags: tags}
	}
	for _, test := range []struct {
		name  string
		tags  map[string]string // of sg-0nodes
		more  func(*snapshot.Snapshot, *action.Subject)
		wears []string
		want  string
	}{
		{"the cluster's own", nil, nil, []string{"sg-0nodes", "sg-0apps", snapshottest.ClusterGroup}, snapshottest.ClusterGroup},
		{"the one tagged as the cluster's", map[string]string{"kubernetes.io/cluster/prod": "owned"}, nil, []string{"sg-0apps", "sg-0nodes"}, "sg-0nodes"},
		{"the one tagged by EKS", map[string]string{"aws:eks:cluster-name": "prod"}, nil, []string{"sg-0apps", "sg-0nodes"}, "sg-0nodes"},
		{"a shared one is not the cluster's", map[string]string{"kubernetes.io/cluster/prod": "shared"}, nil, []string{"sg-0apps", "sg-0nodes"}, "sg-0apps"},
		{"another cluster's is not", map[string]string{"kubernetes.io/cluster/dev": "owned"}, nil, []string{"sg-0apps", "sg-0nodes"}, "sg-0apps"},
		{"the next, where a host outside has the first", nil, func(_ *snapshot.Snapshot, of *action.Subject) {
			of.Wearers = append(of.Wearers, snapshot.Interface{ID: "eni-0x", VPC: snapshottest.VPC, Kind: "interface", Instance: "i-0x", Groups: []string{"sg-0apps"}})
		}, []string{"sg-0apps", "sg-0nodes"}, "sg-0nodes"},
	} {
		s, of := shutOut()
		s.SecurityGroups = append(s.SecurityGroups, group("sg-0apps", nil), group("sg-0nodes", test.tags))
		wears(s, &of, test.wears...)
		if test.more != nil {
			test.more(s, &of)
		}
		p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, finding.Finding{Outcome: finding.Fail, Resource: of.Resource}))
		if no != nil {
			t.Errorf("%s: %s: %s", test.name, no.Reason, no.Says)
			continue
		}
		if diff := cmp.Diff([]string{test.want}, p.From); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), shutOut, atTheEndpoint(),
		snapshot.Clusters, snapshot.VPCs, snapshot.Instances, snapshot.Subnets, snapshot.Endpoints, snapshot.SecurityGroups, snapshot.Groups, snapshot.Nodegroups)
}

func TestWords(t *testing.T) {
	for _, test := range []struct {
		from, endpoints  []string
		names, opens, at string
	}{
		{[]string{"sg-0n"}, []string{"vpce-0a"}, "sg-0n", "--protocol tcp --port 443 --source-group sg-0n", "vpce-0a"},
		{[]string{"sg-0n", "sg-0m"}, []string{"vpce-0a", "vpce-0b"}, "sg-0n and sg-0m",
			"--ip-permissions 'IpProtocol=tcp,FromPort=443,ToPort=443,UserIdGroupPairs=[{GroupId=sg-0n},{GroupId=sg-0m}]'", "vpce-0a and vpce-0b"},
	} {
		want := remedy.Words{
			Title:    "Allow tcp 443 from " + test.names + " in sg-0a",
			Steps:    []string{"Add to sg-0a, used only by interfaces of " + test.at + ": inbound tcp 443 from " + test.names + "."},
			Commands: []string{"aws ec2 authorize-security-group-ingress --region us-west-2 --group-id sg-0a " + test.opens},
			Undo:     []string{"aws ec2 revoke-security-group-ingress --region us-west-2 --group-id sg-0a " + test.opens},
			Cost:     "Everything with " + test.names + " can reach " + test.at + ", on tcp 443 only.",
		}
		got := remedy.OpenEndpointSecurityGroup{SecurityGroup: "sg-0a", Port: 443, From: test.from, Endpoints: test.endpoints}.Words(remedy.Place{Region: "us-west-2", Cluster: "prod"})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("from %q (-want +got):\n%s", test.from, diff)
		}
	}
}
