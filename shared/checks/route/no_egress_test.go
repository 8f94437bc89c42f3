package route

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/checktest"
	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// unassociated is a subnet that lost its association and fell back to a main
// table without a route to the internet; its sibling still has the good one.
func unassociated() *snapshot.Snapshot {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	s.Subnets = append(s.Subnets, snapshot.Subnet{ID: "subnet-0sibling", VPC: snapshottest.VPC, Zone: snapshottest.Zone, CIDR: netip.MustParsePrefix("10.42.64.0/19"), Free: 100})
	snapshottest.Table(s, snapshottest.PrivateRTB).Subnets = []string{"subnet-0sibling"}
	return s
}

// readyBeside is a Ready node of another group in the private subnet.
func readyBeside(created time.Duration) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Nodes = append(s.Nodes, snapshot.Node{
			Name: "ip-10-42-192-9", Instance: "i-0proxied", Created: s.Time.Add(created), InternalIP: netip.MustParseAddr("10.42.192.9"),
			Ready: snapshot.Condition{Status: "True"},
		})
	}
}

func noEgressCases() []checktest.Case {
	tgw := snapshottest.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a")
	return []checktest.Case{
		{"NAT gateway", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"endpoints only", snapshottest.EndpointsOnly(), []string{"pass rtb-0private [subnet-0private]"}},
		{"only the local row", checktest.Isolated(), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"fell back to the main table", unassociated(), []string{
			"fail rtb-0main [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"two subnets of one table are one finding", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			snapshottest.Table(s, snapshottest.PrivateRTB).Subnets = []string{snapshottest.Private, snapshottest.Public}
			snapshottest.Table(s, snapshottest.PublicRTB).Subnets = nil
			snapshottest.Launch(s, "i-0other", snapshottest.Public, time.Minute)
		}), []string{
			"fail rtb-0private [subnet-0private subnet-0public] [i-0node i-0other] 2 subnets have no route to the internet",
		}},
		{"a Ready node is not counted among those that cannot join", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0ready", snapshottest.Private, time.Hour)
			snapshottest.Join(s, "i-0ready")
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"a Ready node that joined before a route was taken away excuses nothing", checktest.Change(checktest.Isolated(), readyBeside(-time.Hour)), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"a node that registered since is Ready there", checktest.Change(checktest.Isolated(), readyBeside(-time.Second)), []string{"fail (possible) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"a Ready node of old there, and a proxy may be behind a row", checktest.Change(checktest.Isolated(), readyBeside(-time.Hour), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), tgw)), []string{
			"fail (possible) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"a node of another subnet is Ready", checktest.Change(checktest.Isolated(), readyBeside(-time.Second), func(s *snapshot.Snapshot) { s.Nodes[len(s.Nodes)-1].InternalIP = netip.MustParseAddr("10.42.0.9") }), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"a VPC with one endpoint is private by design: endpoint/missing", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.Endpoints = snapshottest.EndpointsOnly().Endpoints[:1]
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"only a row to other private networks: a proxy may be there", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), tgw)), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"default route through a transit gateway", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"unknown tgw-0a [subnet-0private] route tables: not read: tgw-0a: what is behind the transit gateway is not read",
		}},
		{"rows for a part of the internet", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("52.0.0.0/8", snapshot.ToNATGateway, snapshottest.NAT))), []string{
			"unknown nat-0a [subnet-0private] route tables: not read: nat-0a: rtb-0private has rows for parts of the internet only (52.0.0.0/8 → nat-0a)",
		}},
		{"the default route in two halves", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(),
			snapshottest.To("0.0.0.0/1", snapshot.ToNATGateway, snapshottest.NAT), snapshottest.To("128.0.0.0/1", snapshot.ToNATGateway, snapshottest.NAT))), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"IPv6 cluster with an IPv6 way out only", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) { s.Cluster.IPv6 = true }, checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("::/0", snapshot.ToEgressOnly, "eigw-0a"))), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"no route to the internet, and the cluster's private endpoint in another VPC: the first is enough", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.Cluster.VPC, s.Cluster.EndpointPrivate, s.Cluster.EndpointPublic = "vpc-0other", true, false
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"the cluster's private endpoint in another VPC is route/api-private-unreachable", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, func(s *snapshot.Snapshot) {
			s.Cluster.VPC, s.Cluster.EndpointPrivate, s.Cluster.EndpointPublic = "vpc-0other", true, false
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"default route into a peering connection", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a"))), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"default route into a peering connection, and one endpoint", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a")), func(s *snapshot.Snapshot) {
			s.Endpoints = snapshottest.EndpointsOnly().Endpoints[:1]
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"a transit gateway's table without a row for the internet", hubbed(func(h *hubWorld) { h.rows = h.rows[:1] }), []string{
			"fail (likely) tgw-rtb-0spoke [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"the hub's table does not lead back", hubbed(func(h *hubWorld) { h.public.Routes = h.public.Routes[:2] }), []string{
			"fail (likely) rtb-0hubpublic [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"a transit gateway that leads out", hubbed(func(*hubWorld) {}), []string{"pass rtb-0private [subnet-0private]"}},
		{"a prefix list of one's own holds the default route", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.PrefixLists = append(s.PrefixLists, snapshot.PrefixList{ID: "pl-0mine", CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}})
		}, checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), listed("pl-0mine"))), []string{"pass rtb-0private [subnet-0private]"}},
		{"a prefix list of private ranges is no route to the internet", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.PrefixLists = append(s.PrefixLists, snapshot.PrefixList{ID: "pl-0mine", CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		}, checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), listed("pl-0mine"))), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"the user data names a proxy", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.UserData[0].Data = []byte("#!/bin/bash\nexport HTTPS_PROXY=http://10.42.1.5:3128\n")
		}), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"only the local row, and its nodes are Ready: a proxy in the VPC", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local())), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"only the local row, and its nodes are Ready by the private API", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local()), func(s *snapshot.Snapshot) {
			s.Cluster.EndpointPrivate = true
		}), []string{"fail (likely) rtb-0private [subnet-0private] [] subnet-0private has no route to the internet"}},
		{"an instance that ended meanwhile is named too", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.Subnet, i.StateReason.Code = "terminated", "", "Client.UserInitiatedShutdown"
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet"}},
		{"an instance that EC2 took back is not", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			i := snapshottest.Instance(s, snapshottest.Node)
			i.State, i.StateReason.Code = "terminated", "Server.SpotInstanceTermination"
		}), []string{"fail rtb-0private [subnet-0private] [] subnet-0private has no route to the internet"}},
		{"no table is known for the subnet", checktest.Change(unassociated(), func(s *snapshot.Snapshot) { s.RouteTables = s.RouteTables[1:] }), []string{
			"unknown subnet-0private [subnet-0private] route tables: not read: no route table is associated with subnet-0private, and the main table of vpc-0a is not among those that EC2 lists",
		}},
		{"a subnet that EC2 does not list", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.Scope = snapshot.Scope{Subnets: []string{"subnet-0gone"}}
		}), []string{
			"unknown subnet-0gone [subnet-0gone] subnets: not read: subnet-0gone is not among the subnets that EC2 lists",
		}},
		{"instances unread: the scope's subnets are judged all the same", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.Instances)), []string{
			"unknown prod [i-0node] instances: denied",
			"fail rtb-0private [subnet-0private] [] subnet-0private has no route to the internet",
		}},
		{"NAT gateways unread", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.NATGateways)), []string{
			"fail rtb-0private [subnet-0private] [i-0node] subnet-0private has no route to the internet",
		}},
		{"route tables unread", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.RouteTables)), []string{"unknown prod [] route tables: denied"}},
	}
}

func TestNoEgressWords(t *testing.T) {
	got := checktest.Failed(t, checkOf(checkid.RouteNoEgress), checktest.Isolated())
	if want := "rtb-0private (us-west-2a) has only 10.42.0.0/16 → local. Nodes must reach the cluster API, EC2, ECR, S3 and STS; this VPC has no endpoints for them."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	want := []finding.Evidence{
		{What: "Routes of rtb-0private", Value: "10.42.0.0/16 → local"},
		{What: "subnet-0private", Value: "10.42.192.0/19, us-west-2a, 8186 free addresses; associated with rtb-0private"},
		{What: "Path to the cluster API, EC2, ECR, S3 and STS", Value: "subnet-0private → rtb-0private: no route"},
	}
	if diff := cmp.Diff(got.Evidence, want); diff != "" {
		t.Errorf("Evidence (-got +want):\n%s", diff)
	}

	private := checktest.Failed(t, checkOf(checkid.RouteNoEgress), checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) { s.Cluster.EndpointPrivate = true }))
	if want := "Nodes must reach EC2, ECR, S3 and STS; this VPC has no endpoints for them. Only the cluster API is reached privately."; !strings.HasSuffix(private.Why, want) {
		t.Errorf("Why = %q, want it to end in %q", private.Why, want)
	}
}

func TestNoEgressFix(t *testing.T) {
	otherZone := func(s *snapshot.Snapshot) {
		s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0b", VPC: snapshottest.VPC, Subnet: snapshottest.Public, State: "available", Public: true, Zone: "us-west-2b"})
	}
	createNAT := func(id string) string {
		return "aws ec2 create-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --nat-gateway-id " + id
	}
	link := "https://us-west-2.console.aws.amazon.com/vpcconsole/home?region=us-west-2#RouteTableDetails:RouteTableId="
	tests := []struct {
		name  string
		world *snapshot.Snapshot
		want  finding.Fix
	}{
		{"NAT gateway of the same zone first", checktest.Change(checktest.Isolated(), otherZone),
			finding.Fix{Text: "nat-0a: available, same zone", Command: createNAT("nat-0a"), Console: link + "rtb-0private", Remedy: "add-nat-route"}},
		{"else one of another zone", checktest.Change(checktest.Isolated(), otherZone, func(s *snapshot.Snapshot) { s.NATGateways[0].State = "failed" }),
			finding.Fix{Text: "nat-0b: available, in us-west-2b", Command: createNAT("nat-0b"), Console: link + "rtb-0private", Remedy: "add-nat-route"}},
		{"a NAT gateway without internet is no fix", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PublicRTB, snapshottest.Local())),
			finding.Fix{Text: "vpc-0a has no NAT gateway that works. Make one in a public subnet and lead 0.0.0.0/0 of rtb-0private to it, or make VPC endpoints for what nodes need.", Console: link + "rtb-0private"}},
		{"the internet gateway where the subnet gives public addresses", checktest.Change(checktest.Isolated(), func(s *snapshot.Snapshot) {
			s.NATGateways = nil
			snapshottest.Subnet(s, snapshottest.Private).AssignPublicIP = true
		}), finding.Fix{
			Text:    "igw-0a is attached to vpc-0a, and subnet-0private gives public addresses",
			Command: "aws ec2 create-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0a",
			Console: link + "rtb-0private",
		}},
		{"a subnet that fell back is associated, and the main table left alone", unassociated(), finding.Fix{
			Text:    "rtb-0private: has a route to the internet, and subnet-0sibling uses it; subnet-0private has no association of its own",
			Command: "aws ec2 associate-route-table --region us-west-2 --route-table-id rtb-0private --subnet-id subnet-0private",
			Console: link + "rtb-0private",
		}},
		{"a main table says whom it is for", checktest.Change(snapshottest.MainTable(), checktest.Late, checktest.Routes(snapshottest.MainRTB, snapshottest.Local())), finding.Fix{
			Text:    "nat-0a: available, same zone. rtb-0main is the main table: every subnet without an association of its own uses it",
			Command: "aws ec2 create-route --region us-west-2 --route-table-id rtb-0main --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0a",
			Console: link + "rtb-0main", Remedy: "add-nat-route",
		}},
		{"NAT gateways unread", checktest.Change(checktest.Isolated(), checktest.Unread(snapshot.NATGateways)), finding.Fix{
			Text: "Lead 0.0.0.0/0 of rtb-0private to a NAT gateway that works. Which there are could not be read.", Console: link + "rtb-0private",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(checktest.Failed(t, checkOf(checkid.RouteNoEgress), tt.world).Fix, tt.want); diff != "" {
				t.Errorf("Fix (-got +want):\n%s", diff)
			}
		})
	}
}

// The Pass that closes an incident shows the row that was added.
func TestNoEgressPassShowsTheRow(t *testing.T) {
	results := checktest.EvalOne(t, checkOf(checkid.RouteNoEgress), snapshottest.PrivateWithNAT())
	want := []finding.Evidence{{What: "rtb-0private", Value: "0.0.0.0/0 → nat-0a"}}
	if diff := cmp.Diff(results[0].Evidence, want); diff != "" {
		t.Errorf("Evidence (-got +want):\n%s", diff)
	}
}
