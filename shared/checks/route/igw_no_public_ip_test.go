package route

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// noPublicIP is a node in a public subnet that assigns no public addresses.
func noPublicIP() *snapshot.Snapshot {
	s := snapshottest.PublicOnly()
	snapshottest.Unjoin(s, snapshottest.Node)
	snapshottest.Instance(s, snapshottest.Node).PublicIP = netip.Addr{}
	snapshottest.Subnet(s, snapshottest.Public).AssignPublicIP = false
	return s
}

func TestIgwNoPublicIP(t *testing.T) { checktest.RunCases(t, IGWNoPublicIP(), igwNoPublicIPCases()) }

func igwNoPublicIPCases() []checktest.Case {
	pending := func(s *snapshot.Snapshot) { snapshottest.Instance(s, snapshottest.Node).State = "pending" }
	nobody := func(s *snapshot.Snapshot) { s.Scope.Instances = nil }
	ended := func(s *snapshot.Snapshot) {
		i := snapshottest.Instance(s, snapshottest.Node)
		i.State, i.Subnet, i.StateReason.Code = "terminated", snapshottest.Public, "Client.UserInitiatedShutdown"
	}
	assigns := func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Public).AssignPublicIP = true }
	return []checktest.Case{
		{"the node has a public address", snapshottest.PublicOnly(), []string{"pass subnet-0public [subnet-0public]"}},
		{"the launch template gives one, the subnet does not", checktest.Change(snapshottest.PublicOnly(), func(s *snapshot.Snapshot) {
			snapshottest.Subnet(s, snapshottest.Public).AssignPublicIP = false
		}), []string{"pass subnet-0public [subnet-0public]"}},
		{"a NAT gateway is on the way", snapshottest.PrivateWithNAT(), []string{"pass rtb-0private [subnet-0private]"}},
		{"neither", noPublicIP(), []string{"fail subnet-0public [subnet-0public] [i-0node] subnet-0public gives its nodes no public address"}},
		{"the launch template takes it away", checktest.Change(noPublicIP(), assigns), []string{
			"fail subnet-0public [subnet-0public] [i-0node] instances in subnet-0public have no public address",
		}},
		{"only those without one are named", checktest.Change(noPublicIP(), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0good", snapshottest.Public, time.Minute)
			snapshottest.Instance(s, "i-0good").PublicIP = netip.MustParseAddr("203.0.113.10")
		}), []string{"fail subnet-0public [subnet-0public] [i-0node] subnet-0public gives its nodes no public address"}},
		{"a pending instance may yet get one", checktest.Change(noPublicIP(), pending), nil},
		{"no instance to look at: the launch template may give one", checktest.Change(noPublicIP(), nobody), []string{
			"unknown subnet-0public [subnet-0public] instances: not read: subnet-0public: no instance runs there, and what the launch template assigns is not read",
		}},
		{"a Ready node is not among those that cannot join", checktest.Change(noPublicIP(), func(s *snapshot.Snapshot) {
			snapshottest.Launch(s, "i-0ready", snapshottest.Public, time.Hour)
			snapshottest.Join(s, "i-0ready")
		}), []string{"fail subnet-0public [subnet-0public] [i-0node] subnet-0public gives its nodes no public address"}},
		{"it ended, and its launch template gave none", checktest.Change(noPublicIP(), ended), []string{
			"fail subnet-0public [subnet-0public] [i-0node] subnet-0public gives its nodes no public address",
		}},
		{"it ended, and its launch template gave one", checktest.Change(noPublicIP(), ended, func(s *snapshot.Snapshot) { s.LaunchTemplates[0].PublicIP = "true" }), []string{
			"unknown subnet-0public [subnet-0public] instances: not read: subnet-0public: no instance runs there, and what the launch template assigns is not read",
		}},
		{"it ended, and launch templates are unread", checktest.Change(noPublicIP(), ended, checktest.Unread(snapshot.LaunchTemplates)), []string{
			"unknown subnet-0public [subnet-0public] instances: not read: subnet-0public: no instance runs there, and what the launch template assigns is not read",
		}},
		{"its nodes are Ready: they are proven", checktest.Change(noPublicIP(), func(s *snapshot.Snapshot) { snapshottest.Join(s, snapshottest.Node) }), []string{
			"pass subnet-0public [subnet-0public]",
		}},
		{"IPv6 cluster with a way out over IPv6", checktest.Change(noPublicIP(), func(s *snapshot.Snapshot) {
			s.Cluster.IPv6 = true
			t := snapshottest.Table(s, snapshottest.PublicRTB)
			t.Routes = append(t.Routes, snapshottest.To("::/0", snapshot.ToInternetGateway, snapshottest.IGW))
		}), []string{"unknown subnet-0public [subnet-0public] instances: not read: subnet-0public: the nodes may reach the internet over IPv6"}},
		{"no instance to look at, and the subnet assigns", checktest.Change(noPublicIP(), nobody, assigns), []string{"pass subnet-0public [subnet-0public]"}},
		{"endpoints carry all that is needed", snapshottest.EndpointsOnly(), []string{"pass rtb-0private [subnet-0private]"}},
		{"instances unread", checktest.Change(noPublicIP(), checktest.Unread(snapshot.Instances)), []string{"unknown prod [] instances: denied"}},
	}
}

func TestIGWNoPublicIPFix(t *testing.T) {
	got := checktest.Failed(t, IGWNoPublicIP(), noPublicIP())
	if want := "aws ec2 modify-subnet-attribute --region us-west-2 --subnet-id subnet-0public --map-public-ip-on-launch"; got.Fix.Command != want {
		t.Errorf("Command = %q, want %q", got.Fix.Command, want)
	}
	if want := "associate it with rtb-0private"; !strings.Contains(got.Fix.Text, want) {
		t.Errorf("Text = %q, want %q in it", got.Fix.Text, want)
	}
	if want := "rtb-0public sends 0.0.0.0/0 to igw-0a, which serves public addresses only, and subnet-0public does not assign them. Nodes cannot reach the cluster API, EC2, ECR, S3 and STS."; got.Why != want {
		t.Errorf("Why = %q, want %q", got.Why, want)
	}
}

func TestIGWNoPublicIPOfALaunchTemplate(t *testing.T) {
	s := noPublicIP()
	snapshottest.Subnet(s, snapshottest.Public).AssignPublicIP = true
	got := checktest.Failed(t, IGWNoPublicIP(), s)
	if want := "subnet-0public assigns them, but the launch template's network interface turns that off: i-0node has none."; !strings.Contains(got.Why, want) {
		t.Errorf("Why = %q, want %q in it", got.Why, want)
	}
	if got.Fix.Command != "" || !strings.HasPrefix(got.Fix.Text, "Set AssociatePublicIpAddress") {
		t.Errorf("Fix = %+v, want words about the launch template and no command", got.Fix)
	}
}
