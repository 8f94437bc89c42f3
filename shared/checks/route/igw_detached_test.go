package route

import (
	"testing"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// detached is a public subnet whose internet gateway is attached to the VPCs.
func detached(vpcs ...string) *snapshot.Snapshot {
	s := checktest.Change(snapshottest.PublicOnly(), checktest.Late)
	s.InternetGateways[0].Attached = vpcs
	r := snapshottest.Table(s, snapshottest.PublicRTB)
	r.Routes[1] = checktest.Gone(r.Routes[1])
	return s
}

func TestIgwDetached(t *testing.T) { checktest.RunCases(t, IGWDetached(), igwDetachedCases()) }

func igwDetachedCases() []checktest.Case {
	fail := []string{"fail igw-0a [subnet-0public] [i-0node] igw-0a is not attached to vpc-0a"}
	return []checktest.Case{
		{"attached", snapshottest.PublicOnly(), []string{"pass rtb-0public [subnet-0public]"}},
		{"attached to no VPC", detached(), fail},
		{"attached to another VPC", detached("vpc-0other"), fail},
		{"just detached: the row is not a blackhole yet", checktest.Change(detached(), func(s *snapshot.Snapshot) {
			snapshottest.Table(s, snapshottest.PublicRTB).Routes[1].State = "active"
		}), fail},
		{"of a NAT gateway's subnet", checktest.Change(snapshottest.PrivateWithNAT(), checktest.Late, func(s *snapshot.Snapshot) { s.InternetGateways[0].Attached = nil }), []string{
			"fail igw-0a [subnet-0private] [i-0node] igw-0a is not attached to vpc-0a",
		}},
		{"of the hub behind a transit gateway", checktest.Change(hubbed(func(*hubWorld) {}), func(s *snapshot.Snapshot) { s.InternetGateways[1].Attached = nil }), []string{
			"fail igw-0hub [subnet-0private] [i-0node] igw-0hub is not attached to vpc-0hub",
		}},
		{"gone is route/blackhole", checktest.Change(detached(), func(s *snapshot.Snapshot) { s.InternetGateways = nil }), []string{"pass rtb-0public [subnet-0public]"}},
		{"another account's, and active (shared VPC)", checktest.Change(snapshottest.PublicOnly(), checktest.Late, func(s *snapshot.Snapshot) { s.InternetGateways = nil }), []string{"pass rtb-0public [subnet-0public]"}},
		{"no service needs it", checktest.Change(snapshottest.EndpointsOnly(), checktest.Late, func(s *snapshot.Snapshot) {
			t := snapshottest.Table(s, snapshottest.PrivateRTB)
			t.Routes = append(t.Routes, checktest.Gone(snapshottest.To("0.0.0.0/0", snapshot.ToInternetGateway, snapshottest.IGW)))
			s.InternetGateways = []snapshot.InternetGateway{{ID: snapshottest.IGW}}
		}), []string{"pass rtb-0private [subnet-0private]"}},
		{"unread", checktest.Change(detached(), checktest.Unread(snapshot.InternetGateways)), []string{"unknown prod [] internet gateways: denied"}},
	}
}

func TestIGWDetachedFix(t *testing.T) {
	other := func(s *snapshot.Snapshot) {
		s.InternetGateways = append(s.InternetGateways, snapshot.InternetGateway{ID: "igw-0b", Attached: []string{snapshottest.VPC}})
	}
	tests := []struct {
		name, command, text string
		world               *snapshot.Snapshot
	}{
		{"nobody uses it", "aws ec2 attach-internet-gateway --region us-west-2 --internet-gateway-id igw-0a --vpc-id vpc-0a",
			"vpc-0a has no other internet gateway, and no other VPC uses igw-0a", detached()},
		{"another one is attached", "aws ec2 replace-route --region us-west-2 --route-table-id rtb-0public --destination-cidr-block 0.0.0.0/0 --gateway-id igw-0b",
			"igw-0b is attached to vpc-0a", checktest.Change(detached(), other)},
		{"another VPC uses it", "",
			"Make an internet gateway, attach it to vpc-0a, and lead 0.0.0.0/0 of rtb-0public to it. igw-0a belongs to vpc-0other: leave it there.", detached("vpc-0other")},
	}
	for _, tt := range tests {
		got := checktest.Failed(t, IGWDetached(), tt.world).Fix
		if got.Command != tt.command || got.Text != tt.text {
			t.Errorf("%s: Fix = %+v, want %q, %q", tt.name, got, tt.text, tt.command)
		}
	}
}
