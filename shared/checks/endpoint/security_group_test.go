package endpoint

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// captured is the usual VPC in which somebody made an endpoint for EC2 with
// private DNS: it takes the name, and admits nobody whom nobody let in.
func captured(changes ...func(*snapshot.Snapshot)) *snapshot.Snapshot {
	s := checktest.Unjoined(snapshottest.PrivateWithNAT())
	s.Endpoints = snapshottest.EndpointsOnly().Endpoints[:1]
	admitsFrom("10.99.0.0/16")(s)
	return checktest.Change(s, changes...)
}

// admitsFrom makes a range the only one that the endpoints' group admits.
func admitsFrom(cidr string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for i := range s.SecurityGroups {
			if s.SecurityGroups[i].ID == snapshottest.EndpointGroup {
				s.SecurityGroups[i].Ingress = []snapshot.Rule{{Protocol: "tcp", From: 443, To: 443, CIDRs: []netip.Prefix{netip.MustParsePrefix(cidr)}}}
			}
		}
	}
}

func TestEndpointSecurityGroup(t *testing.T) {
	checktest.RunCases(t, SecurityGroup(), endpointSecurityGroupCases())
}

func endpointSecurityGroupCases() []checktest.Case {
	const shut = "fail vpce-0ec2 [i-0node] [i-0node] vpce-0ec2 for EC2 does not admit the nodes"
	return []checktest.Case{
		{"admits the VPC", checktest.Unjoined(snapshottest.EndpointsOnly()), []string{"pass prod [i-0node]"}},
		{"no endpoint", checktest.Unjoined(snapshottest.PrivateWithNAT()), []string{"pass prod [i-0node]"}},
		{"does not admit the node, although a NAT gateway is there", captured(), []string{shut}},
		{"the endpoint is in another subnet", captured(func(s *snapshot.Snapshot) { s.Endpoints[0].Subnets = []string{snapshottest.Public} }), []string{shut}},
		{"a Ready node is not accused", checktest.Change(captured(), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), []string{"pass prod [i-0node]"}},
		{"a Ready node that came later speaks against it", captured(func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0later", snapshottest.Private, time.Minute)
			snapshottest.Join(s, "i-0later")
		}), []string{"pass prod [i-0later]", strings.Replace(shut, "fail", "fail (likely)", 1)}},
		{"private DNS off: it does not win", captured(func(s *snapshot.Snapshot) { s.Endpoints[0].PrivateDNS = false }), []string{"pass prod [i-0node]"}},
		{"admits the node's group", captured(func(s *snapshot.Snapshot) {
			s.SecurityGroups[1].Ingress = checktest.RuleSet(snapshot.Rule{Protocol: "tcp", From: 443, To: 443, Groups: []string{snapshottest.ClusterGroup}})
		}), []string{"pass prod [i-0node]"}},
		{"admits the node's address", captured(admitsFrom("10.42.192.10/32")), []string{"pass prod [i-0node]"}},
		{"admits another address of its subnet", captured(admitsFrom("10.42.192.11/32")), []string{shut}},
		{"one of two nodes", captured(admitsFrom("10.42.192.11/32"), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0second", snapshottest.Private, 10*time.Minute)
			snapshottest.Instance(s, "i-0second").PrivateIP = netip.MustParseAddr("10.42.192.11")
		}), []string{"pass prod [i-0second]", shut}},
		{"all endpoints with one group are one finding", checktest.Change(checktest.Unjoined(snapshottest.EndpointsOnly()), admitsFrom("10.99.0.0/16")), []string{
			"fail vpce-0ec2 [i-0node] [i-0node] 4 endpoints for EC2, ECR and STS do not admit the nodes",
		}},
		{"a group of another account, or not read", captured(func(s *snapshot.Snapshot) { s.Endpoints[0].Groups = []string{"sg-0abroad"} }), []string{
			"unknown prod [i-0node] security groups: not read: sg-0abroad is not among the security groups that EC2 lists",
		}},
		{"no groups named", captured(func(s *snapshot.Snapshot) { s.Endpoints[0].Groups = nil }), []string{
			"unknown prod [i-0node] security groups: not read: its security groups are not known",
		}},
		{"a middlebox in front of it", captured(func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, snapshottest.To("10.42.192.0/20", snapshot.ToEndpoint, "vpce-0fw"))
		}), []string{"unknown prod [i-0node] route tables: not read: vpce-0fw: what is behind the vpc endpoint is not read"}},
		{"unread", captured(checktest.Unread(snapshot.SecurityGroups)), []string{"unknown prod [] security groups: denied"}},
	}
}

func TestEndpointSecurityGroupWordsAndFix(t *testing.T) {
	got := checktest.Failed(t, SecurityGroup(), captured())
	want := "aws ec2 authorize-security-group-ingress --region us-west-2 --group-id sg-0endpoints --protocol tcp --port 443 --source-group sg-0cluster"
	if got.Fix.Command != want || got.Fix.Remedy != "open-endpoint-security-group" {
		t.Errorf("Fix = %+v, want the command %q and its remedy", got.Fix, want)
	}
	if !strings.Contains(got.Why, "way to the internet does not help") {
		t.Errorf("Why = %q, want it to say that the NAT gateway does not help", got.Why)
	}
	if rules := checktest.Value(t, got, "Inbound rules of sg-0endpoints"); rules != "sg-0endpoints ingress tcp 443 ← 10.99.0.0/16" {
		t.Errorf("rules = %q", rules)
	}
	if !slices.Equal(got.Resources, []string{"vpce-0ec2", "sg-0endpoints", "sg-0cluster"}) {
		t.Errorf("Resources = %v", got.Resources)
	}
}
