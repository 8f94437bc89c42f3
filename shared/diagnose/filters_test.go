package diagnose

import (
	"net/netip"
	"slices"
	"testing"

	"rollcall/local/testfull"
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// aclOf gives subnets a network ACL that lets everything through but for what
// it denies.
func aclOf(s *snapshot.Snapshot, subnet string, denied snapshot.ACLEntry) {
	everywhere := netip.MustParsePrefix("0.0.0.0/0")
	denied.Number, denied.Protocol, denied.CIDR = 50, "6", everywhere
	s.NetworkACLs[0].Subnets = slices.DeleteFunc(s.NetworkACLs[0].Subnets, func(id string) bool { return id == subnet })
	s.NetworkACLs = append(s.NetworkACLs, snapshot.NetworkACL{ID: "acl-0own", VPC: w.VPC, Subnets: []string{subnet}, Entries: []snapshot.ACLEntry{
		denied,
		{Number: 100, Allow: true, Protocol: "-1", To: 65535, CIDR: everywhere},
		{Number: 100, Egress: true, Allow: true, Protocol: "-1", To: 65535, CIDR: everywhere},
	}})
}

// ownGroup gives the node a security group without rules but for these.
func ownGroup(s *snapshot.Snapshot, egress ...snapshot.Rule) {
	s.SecurityGroups = append(s.SecurityGroups, snapshot.SecurityGroup{ID: "sg-0node", VPC: w.VPC, Egress: egress})
	w.Instance(s, w.Node).Groups = []string{"sg-0node"}
}

func allOut() snapshot.Rule {
	return snapshot.Rule{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}}
}

// filterFaults are single faults of filters, names and endpoints: how a healthy
// world is broken, and what must be named first.
func filterFaults() []struct {
	name     string
	cause    checks.ID
	resource string
	likely   bool
	world    func() *snapshot.Snapshot
} {
	type world = func() *snapshot.Snapshot
	broken := func(of world, f func(*snapshot.Snapshot)) world {
		return func() *snapshot.Snapshot {
			s := of()
			f(s)
			return s
		}
	}
	return []struct {
		name     string
		cause    checks.ID
		resource string
		likely   bool
		world    func() *snapshot.Snapshot
	}{
		{"nothing let out", "sg/node-egress", "sg-0node", false, broken(w.PrivateWithNAT, func(s *snapshot.Snapshot) { ownGroup(s) })},
		{"S3 not let out", "sg/node-egress", "sg-0node", false, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) {
			ownGroup(s, snapshot.Rule{Protocol: "tcp", From: 443, To: 443, CIDRs: []netip.Prefix{netip.MustParsePrefix("10.42.0.0/16")}})
			s.SecurityGroups[0].Ingress = append(s.SecurityGroups[0].Ingress, snapshot.Rule{Protocol: "-1", From: -1, To: -1, Groups: []string{"sg-0node"}})
		})},
		{"nodes of a group of their own, not let in by the cluster", "sg/cluster-ingress", w.ClusterGroup, false, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) { ownGroup(s, allOut()) })},
		{"443 denied by the ACL", "nacl/egress", "acl-0own", false, broken(w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			aclOf(s, w.Private, snapshot.ACLEntry{Egress: true, From: 443, To: 443})
		})},
		{"443 denied by the NAT gateway's ACL", "nacl/egress", "acl-0own", false, broken(w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			aclOf(s, w.Public, snapshot.ACLEntry{From: 443, To: 443})
		})},
		{"answers denied by the ACL", "nacl/return", "acl-0own", false, broken(w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			aclOf(s, w.Private, snapshot.ACLEntry{From: 1024, To: 65535})
		})},
		{"both ways denied by the ACL: one name", "nacl/egress", "acl-0own", false, broken(w.PublicOnly, func(s *snapshot.Snapshot) {
			aclOf(s, w.Public, snapshot.ACLEntry{})
			s.NetworkACLs[1].Entries = nil
		})},
		{"a part of the answers denied by the NAT gateway's ACL", "nacl/return", "acl-0own", true, broken(w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			aclOf(s, w.Public, snapshot.ACLEntry{From: 1024, To: 32767})
		})},
		{"an endpoint for EC2 that admits nobody, beside a NAT gateway", "endpoint/security-group", "vpce-0ec2", false, broken(w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			s.Endpoints = w.EndpointsOnly().Endpoints[:1]
			s.SecurityGroups[1].Ingress = nil
		})},
		{"endpoints that admit nobody", "endpoint/security-group", "vpce-0ec2", false, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) { s.SecurityGroups[1].Ingress = nil })},
		{"sts endpoint missing", "endpoint/missing", w.VPC, false, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) {
			s.Endpoints = slices.DeleteFunc(s.Endpoints, func(e snapshot.Endpoint) bool { return e.ID == "vpce-0sts" })
		})},
		{"sts endpoint pending", "endpoint/not-available", "vpce-0sts", false, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) { s.Endpoints[3].State = "pending" })},
		{"sts endpoint without private DNS", "endpoint/private-dns-off", "vpce-0sts", true, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) { s.Endpoints[3].PrivateDNS = false })},
		{"S3 endpoint not in the table", "endpoint/s3-route-missing", "vpce-0s3", false, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) {
			w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()}
			s.Endpoints[4].RouteTables = nil
		})},
		{"a policy for another role", "endpoint/policy-denies", "vpce-0ec2", true, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) {
			s.Endpoints[0].Policy = `{"Statement":[{"Effect":"Allow","Principal":{"AWS":"arn:aws:iam::123456789012:role/ci"},"Action":"*","Resource":"*"}]}`
		})},
		{"DNS support off", "dns/support-off", w.VPC, false, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) { s.VPCAttributes[0] = snapshot.VPCAttributes{VPC: w.VPC} })},
		{"DNS hostnames off", "dns/hostnames-off", w.VPC, true, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) { s.VPCAttributes[0].DNSHostnames = false })},
		{"name servers of one's own", "dns/dhcp-options", w.DHCP, true, broken(w.EndpointsOnly, func(s *snapshot.Snapshot) { s.DHCPOptions[0].DomainNameServers = []string{"10.42.0.53"} })},
		{"two domain names", "dns/dhcp-options", w.DHCP, true, broken(w.PrivateWithNAT, func(s *snapshot.Snapshot) { s.DHCPOptions[0].DomainNames = []string{"ec2.internal acmedev.com"} })},
	}
}

func TestOneFilterFaultOneName(t *testing.T) {
	for _, tt := range filterFaults() {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.world()
			w.Unjoin(s, w.Node)
			d := diagnosis(s)
			if len(d.Causes) == 0 {
				t.Fatalf("no cause, want %s", tt.cause)
			}
			var certain []checks.ID
			for _, c := range d.Causes {
				if c.Confidence == checks.Certain {
					certain = append(certain, c.Check)
				}
			}
			want := []checks.ID{tt.cause}
			if tt.likely {
				want = nil
			}
			c := d.Causes[0]
			if c.Check != tt.cause || c.Resource != tt.resource || !slices.Equal(certain, want) {
				t.Errorf("first %s %s (%s), certain %v; want first %s %s, alone among the certain ones", c.Check, c.Resource, c.Confidence, certain, tt.cause, tt.resource)
			}
			if !slices.Equal(c.Instances, []string{w.Node}) || !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) || len(c.Symptoms) != 1 {
				t.Errorf("instances %v of %v with symptoms %v, want the node with one symptom", c.Instances, c.Nodegroups, c.Symptoms)
			}
			for _, u := range d.Unknown {
				t.Errorf("unknown %s: %v", u.Check, u.Blocked)
			}
		})
	}
}

// A broken world in which something else cannot be read is never accused of
// more, and never looks healthy.
func TestFilterFaultsWhenBlind(t *testing.T) {
	for i, tt := range filterFaults() {
		for j, source := range w.Sources() {
			if (i+j)%testfull.Of(1, 3) != 0 { // each fault and each source, in turn
				continue
			}
			s := tt.world()
			w.Unjoin(s, w.Node)
			w.Without(s, source)
			d := diagnosis(s)
			if len(d.Causes) == 0 && len(d.Unknown) == 0 {
				t.Errorf("%s without %s: neither a cause nor an unknown", tt.name, source)
			}
			for _, c := range d.Causes {
				if c.Confidence == checks.Certain && c.Check != tt.cause {
					t.Errorf("%s without %s: %s %s is called certain", tt.name, source, c.Check, c.Resource)
				}
			}
		}
	}
}
