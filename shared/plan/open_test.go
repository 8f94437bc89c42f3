package plan

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// shutOut is a private VPC whose endpoints' security group admits nobody.
func shutOut() (*snapshot.Snapshot, Subject) {
	s := snapshottest.EndpointsOnly()
	snapshottest.Unjoin(s, snapshottest.Node)
	missed(s)
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
	of := Subject{
		Remedy: OpenEndpointSecurityGroup, Cluster: snapshottest.ClusterName, Check: "endpoint/security-group", Resource: "vpce-0ec2",
		Covers: []string{snapshottest.Node, stuck},
	}
	for _, e := range s.Endpoints {
		for _, id := range e.Interfaces {
			of.Wearers = append(of.Wearers, snapshot.Interface{ID: id, VPC: snapshottest.VPC, Kind: "vpc_endpoint", Groups: e.Groups})
		}
	}
	return s, of
}

func endpoint(change func(*snapshot.Endpoint)) func(*snapshot.Snapshot, *Subject) {
	return func(s *snapshot.Snapshot, of *Subject) {
		for i := range s.Endpoints {
			if s.Endpoints[i].ID == of.Resource {
				change(&s.Endpoints[i])
			}
		}
	}
}

func group(id string, change func(*snapshot.SecurityGroup)) func(*snapshot.Snapshot, *Subject) {
	return func(s *snapshot.Snapshot, _ *Subject) {
		for i := range s.SecurityGroups {
			if s.SecurityGroups[i].ID == id {
				change(&s.SecurityGroups[i])
			}
		}
	}
}

func wearer(x snapshot.Interface) func(*snapshot.Snapshot, *Subject) {
	return func(_ *snapshot.Snapshot, of *Subject) {
		x.ID, x.Groups = "eni-0other", []string{snapshottest.EndpointGroup}
		of.Wearers = append(of.Wearers, x)
	}
}

func TestOpenEndpointSecurityGroupRefuses(t *testing.T) {
	its := snapshottest.EndpointGroup
	nodes := func(change func(*snapshot.Instance)) func(*snapshot.Snapshot, *Subject) {
		return func(s *snapshot.Snapshot, _ *Subject) {
			change(snapshottest.Instance(s, stuck))
			change(snapshottest.Instance(s, snapshottest.Node))
		}
	}
	p := refuses(t, shutOut, checks.All(), []wrong{
		{"the endpoint is gone", func(_ *snapshot.Snapshot, of *Subject) { of.Resource = "vpce-0gone" }, Gone},
		{"an endpoint of another VPC", endpoint(func(e *snapshot.Endpoint) { e.VPC = "vpc-0b" }), OtherVPC},
		{"a gateway endpoint", endpoint(func(e *snapshot.Endpoint) { e.Kind = "Gateway" }), NotInterface},
		{"an endpoint on its way", endpoint(func(e *snapshot.Endpoint) { e.State = "pending" }), NotAvailable},
		{"an endpoint that does not take the name", endpoint(func(e *snapshot.Endpoint) { e.PrivateDNS = false }), NotSo},
		{"no security group is named", endpoint(func(e *snapshot.Endpoint) { e.Groups = nil }), CouldNotLook},
		{"its security group was not read", endpoint(func(e *snapshot.Endpoint) { e.Groups = []string{"sg-0x"} }), CouldNotLook},
		{"its security group is in another VPC", group(its, func(g *snapshot.SecurityGroup) { g.VPC = "vpc-0b" }), OtherVPC},
		{"the default security group", group(its, func(g *snapshot.SecurityGroup) { g.Name = "default" }), DefaultGroup},
		{"the cluster's own", func(s *snapshot.Snapshot, _ *Subject) { s.Cluster.SecurityGroup = its }, SharedGroup},
		{"an additional one of the control plane's", func(s *snapshot.Snapshot, _ *Subject) { s.Cluster.SecurityGroups = []string{its} }, SharedGroup},
		{"the nodes' own", instance(func(i *snapshot.Instance) { i.Groups = append(i.Groups, its) }), SharedGroup},
		{"tagged as a cluster's", group(its, func(g *snapshot.SecurityGroup) { g.Tags["kubernetes.io/cluster/dev"] = "owned" }), SharedGroup},
		{"an instance elsewhere has it", wearer(snapshot.Interface{VPC: snapshottest.VPC, Kind: "interface"}), SharedGroup},
		{"a load balancer has it", wearer(snapshot.Interface{VPC: snapshottest.VPC, Kind: "network_load_balancer"}), SharedGroup},
		{"an endpoint of another VPC has it", wearer(snapshot.Interface{VPC: "vpc-0b", Kind: "vpc_endpoint"}), SharedGroup},
		{"who has it is not known", func(_ *snapshot.Snapshot, of *Subject) { of.Wearers = nil }, CouldNotLook},
		{"the endpoint's own are not among them", func(_ *snapshot.Snapshot, of *Subject) { of.Wearers[0].ID = "eni-0other" }, CouldNotLook},

		{"the instances have ended", nodes(func(i *snapshot.Instance) { i.State = "terminated" }), NoNodes},
		{"EC2 names no groups of theirs", nodes(func(i *snapshot.Instance) { i.Groups = nil }), NoNodes},
		{"they are in another VPC", nodes(func(i *snapshot.Instance) { i.VPC = "vpc-0b" }), NoNodes},
		{"they are another cluster's", nodes(func(i *snapshot.Instance) { delete(i.Tags, "kubernetes.io/cluster/prod") }), OtherCluster},
		{"they have nothing in common", instance(func(i *snapshot.Instance) { i.Groups = []string{"sg-0x"} }), NoNodes},
		{"they have the default group alone", func(s *snapshot.Snapshot, of *Subject) {
			nodes(func(i *snapshot.Instance) { i.Groups = []string{"sg-0default"} })(s, of)
			s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: "sg-0default", VPC: snapshottest.VPC, Name: "default"})
		}, NoNodes},
		{"the rule is there", group(its, func(g *snapshot.SecurityGroup) {
			g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{snapshottest.ClusterGroup}})
		}), AlreadyThere},
		{"a wider rule is there", group(its, func(g *snapshot.SecurityGroup) {
			g.Ingress = append(g.Ingress, snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{snapshottest.ClusterGroup}})
		}), AlreadyThere},
		{"the nodes are let in by their addresses", group(its, func(g *snapshot.SecurityGroup) {
			g.Ingress[0].CIDRs = []netip.Prefix{netip.MustParsePrefix("10.42.0.0/16")}
		}), NotSo},
		{"a node that is Ready speaks against it", func(s *snapshot.Snapshot, _ *Subject) { snapshottest.Join(s, snapshottest.Node) }, NotCertain},
		{"what the check needs was not read", func(s *snapshot.Snapshot, _ *Subject) { snapshottest.Without(s, snapshot.RouteTables) }, CouldNotLook},
	})
	want := &Open{
		VPC: snapshottest.VPC, SecurityGroup: its, Port: 443, From: []string{snapshottest.ClusterGroup},
		Endpoints: []string{"vpce-0ec2", "vpce-0ecr.api", "vpce-0ecr.dkr", "vpce-0sts"},
	}
	if diff := cmp.Diff(want, p.Open); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	wordsAreWhole(t, p)
	if got, want := p.Undo()[0], "aws ec2 revoke-security-group-ingress --region us-west-2 --group-id "+its+" --protocol tcp --port 443 --source-group "+snapshottest.ClusterGroup; got != want {
		t.Errorf("undo %s", got)
	}
}
