package route

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

func TestBlackholeRoute(t *testing.T) { checktest.RunCases(t, Blackhole(), blackholeCases()) }

func blackholeCases() []checktest.Case {
	hole := func(kind snapshot.TargetKind, id string) *snapshot.Snapshot {
		return checktest.Change(checktest.DeletedNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), checktest.Gone(snapshottest.To("0.0.0.0/0", kind, id))))
	}
	return []checktest.Case{
		{"NAT gateway", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"deleted NAT gateway", checktest.DeletedNAT(), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private leads to nat-0old, which is gone",
		}},
		{"a deleted NAT gateway that can be described is route/nat-unusable", checktest.Change(checktest.DeletedNAT(), func(s *snapshot.Snapshot) {
			s.NATGateways = append(s.NATGateways, snapshot.NATGateway{ID: "nat-0old", VPC: snapshottest.VPC, State: "deleted", Public: true})
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"NAT gateways unread: the row passes nothing, and the gateway may be there", checktest.Change(checktest.DeletedNAT(), checktest.Unread(snapshot.NATGateways)), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] rtb-0private leads to nat-0old, which passes nothing",
		}},
		{"deleted NAT instance", hole(snapshot.ToInterface, "eni-0a"), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private leads to eni-0a, which is gone",
		}},
		{"deleted internet gateway", hole(snapshot.ToInternetGateway, "igw-0old"), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private leads to igw-0old, which is gone",
		}},
		{"names lead to another network", checktest.Change(checktest.DeletedNAT(), toHub, ownNames(snapshottest.VPC)), []string{"pass rtb-0private [subnet-0private]"}},
		{"names may lead to another network: a source of them was refused", checktest.Change(checktest.DeletedNAT(), toHub, refused(snapshot.DNSProfilesOf)), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] rtb-0private leads to nat-0old, which is gone",
		}},
		{"names lead to another network, by a zone whose records are not shown", checktest.Change(checktest.DeletedNAT(), toHub, ownNames(snapshottest.VPC), func(s *snapshot.Snapshot) {
			s.PrivateZones[0].Records, s.PrivateZones[0].Unread = nil, &snapshot.Failure{Source: snapshot.PrivateZonesOf, Reason: snapshot.NotShown}
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"names may lead to another network: the domain of a Profile's rule is not shown", checktest.Change(checktest.DeletedNAT(), toHub, func(s *snapshot.Snapshot) {
			s.ResolverRules = []snapshot.ResolverRule{{ID: "rslvr-rr-1", VPC: snapshottest.VPC, Unread: &snapshot.Failure{Source: snapshot.ResolverRulesOf, Reason: snapshot.NotShown}}}
		}), []string{
			"fail (likely) rtb-0private [subnet-0private] [i-0node] rtb-0private leads to nat-0old, which is gone",
		}},
		{"names may lead elsewhere, and nothing leads there", checktest.Change(checktest.DeletedNAT(), refused(snapshot.DNSProfilesOf)), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private leads to nat-0old, which is gone",
		}},
		{"endpoints carry all that is needed", checktest.Change(snapshottest.EndpointsOnly(), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, checktest.Gone(snapshottest.To("0.0.0.0/0", snapshot.ToNATGateway, "nat-0old")))
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"a blackhole for other addresses", checktest.Change(snapshottest.PrivateWithNAT(), func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, checktest.Gone(snapshottest.To("10.99.0.0/16", snapshot.ToPeering, "pcx-0a")))
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"transit gateway", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.To("0.0.0.0/0", snapshot.ToTransitGateway, "tgw-0a"))), []string{
			"pass rtb-0private [subnet-0private]",
		}},
		{"peering connection that nobody accepted", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToPeering, "pcx-0a")), func(s *snapshot.Snapshot) {
			s.Peerings = []snapshot.Peering{{ID: "pcx-0a", State: "pending-acceptance"}}
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] rtb-0private leads to pcx-0a, which passes nothing"}},
		{"transit gateway's table has a blackhole", hubbed(func(h *hubWorld) { h.rows[1].State = "blackhole" }), []string{
			"fail tgw-rtb-0spoke [subnet-0private] [i-0node] tgw-rtb-0spoke has a blackhole for the internet",
		}},
		{"transit gateway's attachment is gone", hubbed(func(h *hubWorld) { h.attachments[1].State = "deleted" }), []string{
			"fail rtb-0private [subnet-0private] [i-0node] rtb-0private leads to tgw-attach-0spoke, which passes nothing",
		}},
		{"firewall endpoint that failed", checktest.Change(checktest.Isolated(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), snapshottest.To("0.0.0.0/0", snapshot.ToEndpoint, "vpce-0fw")), func(s *snapshot.Snapshot) {
			s.Endpoints = []snapshot.Endpoint{{ID: "vpce-0fw", VPC: snapshottest.VPC, Kind: "GatewayLoadBalancer", State: "failed"}}
		}), []string{"fail rtb-0private [subnet-0private] [i-0node] rtb-0private leads to vpce-0fw, which passes nothing"}},
		{"a detached internet gateway that can be described is route/igw-detached", detached(), []string{"pass rtb-0public [subnet-0public]"}},
		{"endpoints unread", checktest.Change(checktest.DeletedNAT(), checktest.Unread(snapshot.Endpoints)), []string{"unknown prod [] vpc endpoints: denied"}},
	}
}

func TestBlackholeWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, Blackhole(), checktest.DeletedNAT())
	if want := "rtb-0private sends 0.0.0.0/0 to nat-0old, which was deleted or detached: EC2 calls the row a blackhole. Nodes in subnet-0private cannot reach the cluster API, EC2, ECR, S3 and STS."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
	if want := "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --nat-gateway-id nat-0a"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if got := checktest.Value(t, got, "Path to"); got != "subnet-0private → rtb-0private 0.0.0.0/0 → nat-0old: blackhole" {
		t.Errorf("path = %q", got)
	}
}

func TestBlackholeOfAnInternetGateway(t *testing.T) {
	detached := func(attached string) *snapshot.Snapshot {
		s := checktest.Change(checktest.DeletedNAT(), checktest.Routes(snapshottest.PrivateRTB, snapshottest.Local(), checktest.Gone(snapshottest.To("0.0.0.0/0", snapshot.ToInternetGateway, "igw-0old"))))
		s.InternetGateways[0].Attached = []string{attached}
		return s
	}
	tests := []struct{ attached, command, text string }{
		{snapshottest.VPC, "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0private --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0a", "igw-0a is attached to vpc-0a"},
		{"vpc-0other", "", "Attach an internet gateway to vpc-0a (the row names igw-0old), and lead 0.0.0.0/0 of rtb-0private to it."},
	}
	for _, tt := range tests {
		got := checktest.Failed(t, Blackhole(), detached(tt.attached)).Fix
		if got.Command != tt.command || got.Text != tt.text {
			t.Errorf("attached to %s: Fix = %+v, want %q, %q", tt.attached, got, tt.text, tt.command)
		}
	}
}

// toHub leads private addresses to another network, by the API's private endpoint too.
func toHub(s *snapshot.Snapshot) {
	t := snapshottest.Table(s, snapshottest.PrivateRTB)
	t.Routes = append(t.Routes, snapshottest.To("10.0.0.0/8", snapshot.ToTransitGateway, "tgw-0a"))
	s.Cluster.EndpointPrivate = true
}

// ownNames is a private hosted zone with all names of the Region.
func ownNames(vpc string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.PrivateZones = []snapshot.PrivateZone{{ID: "Z0A1", Domain: "us-west-2.amazonaws.com", VPC: vpc, Records: []snapshot.ZoneRecord{{Name: "*.us-west-2.amazonaws.com", Type: "A"}}}}
	}
}

func refused(source snapshot.Source) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		if s.Failures == nil {
			s.Failures = map[snapshot.Source]snapshot.Failure{}
		}
		s.Failures[source] = snapshot.Failure{Source: source, Reason: snapshot.Denied}
	}
}
