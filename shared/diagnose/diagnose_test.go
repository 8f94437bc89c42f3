package diagnose

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/catalog"
	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/finding"
	"rollcall/shared/diagnosis"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/testfull"
)

// aBurst is eight m5.4xlarge in a /24 ten minutes ago, the world's node among
// them, which took the subnet's last address.
func aBurst(s *snapshot.Snapshot) {
	n := w.Subnet(s, w.Private)
	n.CIDR, n.Free = netip.MustParsePrefix("10.42.192.0/24"), 0
	w.Instance(s, w.Node).Type = "m5.4xlarge"
	s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro", Architectures: []string{"x86_64"}})
	began := s.Time.Add(-10 * time.Minute)
	for i, id := range []string{"i-1", "i-2", "i-3", "i-4", "i-5", "i-6", "i-7", w.Node} {
		p := snapshot.Past{
			ID: id, Nodegroup: w.Nodegroup, Group: "eks-" + w.Nodegroup, Type: "m5.4xlarge", Zone: w.Zone, Subnet: w.Private, Spot: true,
			Started: began.Add(time.Duration(i) * time.Second),
		}
		if id != w.Node {
			p.End = snapshot.Joined
		}
		s.History = append(s.History, p)
	}
	s.Samples = []snapshot.Sample{{Subnet: w.Private, At: began.Add(-time.Minute), Free: 251, Total: 251}}
}

// aRefusal is a launch that EC2 refused for want of addresses, as the group's
// activities and the history tell it.
func aRefusal(s *snapshot.Snapshot) {
	at := s.Time.Add(-8 * time.Minute)
	s.Activities = append(s.Activities, snapshot.Activity{
		ID: "act-1", Group: "eks-" + w.Nodegroup, Status: "Failed", About: "Launching a new EC2 instance.  Status Reason: There are not enough free addresses in subnet '" + w.Private + "' to satisfy the requested number of instances. Launching EC2 instance failed.",
		Message: "There are not enough free addresses in subnet '" + w.Private + "' to satisfy the requested number of instances. Launching EC2 instance failed.",
		Started: at, Ended: at, Subnet: w.Private, Zone: w.Zone,
	})
	s.History = append(s.History, snapshot.Past{
		ID: "act-1", Nodegroup: w.Nodegroup, Group: "eks-" + w.Nodegroup, Zone: w.Zone, Subnet: w.Private, Spot: true,
		Started: at, End: snapshot.Refused, Cause: "launch/subnet-full",
	})
}

// A burst that exceeds its subnet is the one cause: that the subnet is empty,
// and that a launch was refused for it, are how it shows.
func TestBurstExplainsTheEmptySubnet(t *testing.T) {
	const cause = "spot/burst-exceeds-subnet " + w.Private
	tests := []struct {
		name   string
		faults []func(*snapshot.Snapshot)
		want   said
	}{
		{"registered and not Ready", []func(*snapshot.Snapshot){aBurst, unready}, said{
			Causes: []string{cause}, Hidden: []diagnosis.Hidden{{Check: "ip/subnet-exhausted", Because: "spot/burst-exceeds-subnet"}}, Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"and a launch was refused", []func(*snapshot.Snapshot){aBurst, unready, aRefusal}, said{
			Causes: []string{cause}, Hidden: []diagnosis.Hidden{
				{Check: "launch/subnet-full", Because: "spot/burst-exceeds-subnet"}, {Check: "ip/subnet-exhausted", Because: "spot/burst-exceeds-subnet"},
			}, Symptoms: []checkid.ID{"node/not-ready"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			for _, f := range tt.faults {
				f(s)
			}
			got := short(Rank(checks.OfLaunches(), check.Eval(checks.OfLaunches(), s), s))
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want):\n%s", diff)
			}
		})
	}
}

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
	cause    checkid.ID
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
		cause    checkid.ID
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
			d := diagnosed(s)
			if len(d.Causes) == 0 {
				t.Fatalf("no cause, want %s", tt.cause)
			}
			var certain []checkid.ID
			for _, c := range d.Causes {
				if c.Confidence == finding.Certain {
					certain = append(certain, c.Check)
				}
			}
			want := []checkid.ID{tt.cause}
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
			if (i+j)%testfull.Count(1, 3) != 0 { // each fault and each source, in turn
				continue
			}
			s := tt.world()
			w.Unjoin(s, w.Node)
			w.Without(s, source)
			d := diagnosed(s)
			if len(d.Causes) == 0 && len(d.Unknown) == 0 {
				t.Errorf("%s without %s: neither a cause nor an unknown", tt.name, source)
			}
			for _, c := range d.Causes {
				if c.Confidence == finding.Certain && c.Check != tt.cause {
					t.Errorf("%s without %s: %s %s is called certain", tt.name, source, c.Check, c.Resource)
				}
			}
		}
	}
}

// TestWhatHides holds what may stand before a fault: what its After and its own
// Behind name, what is not weaker than likely or than itself, and never advice
// or what stands behind it already.
func TestWhatHides(t *testing.T) {
	list := []check.Check{
		{Entry: catalog.Entry{ID: "a/cause", Confidence: finding.Certain, After: []checkid.ID{"b/cause"}}},
		{Entry: catalog.Entry{ID: "b/cause", Confidence: finding.Certain, After: []checkid.ID{"a/cause"}}},
		{Entry: catalog.Entry{ID: "c/sign", Confidence: finding.Certain, After: []checkid.ID{"a/cause", "d/weak"}}},
		{Entry: catalog.Entry{ID: "d/weak", Confidence: finding.Likely}},
		{Entry: catalog.Entry{ID: "e/weaker", Confidence: finding.Possible, After: []checkid.ID{"d/weak"}}},
		{Entry: catalog.Entry{ID: "f/symptom", Confidence: finding.Symptom}},
	}
	of := func(id checkid.ID, confidence finding.Confidence, behind ...checkid.ID) finding.Result {
		r := fail(id, "r-"+string(id), ids("i-1"), ids("i-1"))
		r.Confidence, r.NarrowedAfter = confidence, behind
		return r
	}
	symptom := fail("f/symptom", "i-1", ids("i-1"), ids("i-1"))
	tests := []struct {
		name    string
		results []finding.Result
		want    map[checkid.ID][]checkid.ID // by cause, what is hidden
	}{
		{"what After names", []finding.Result{of("c/sign", ""), of("a/cause", ""), symptom}, map[checkid.ID][]checkid.ID{"a/cause": {"c/sign"}}},
		{"what After does not name", []finding.Result{of("c/sign", ""), of("b/cause", ""), symptom}, map[checkid.ID][]checkid.ID{"b/cause": nil, "c/sign": nil}},
		{"each after the other: one of them stays", []finding.Result{of("a/cause", ""), of("b/cause", ""), symptom}, map[checkid.ID][]checkid.ID{"b/cause": {"a/cause"}}},
		{"Behind names it", []finding.Result{of("c/sign", "", "a/cause"), of("a/cause", ""), symptom}, map[checkid.ID][]checkid.ID{"a/cause": {"c/sign"}}},
		{"Behind names another", []finding.Result{of("c/sign", "", "d/weak"), of("a/cause", ""), symptom}, map[checkid.ID][]checkid.ID{"a/cause": nil, "c/sign": nil}},
		{"a likely cause before a certain sign", []finding.Result{of("c/sign", ""), of("d/weak", ""), symptom}, map[checkid.ID][]checkid.ID{"d/weak": {"c/sign"}}},
		{"a possible one is none", []finding.Result{of("c/sign", ""), of("d/weak", finding.Possible), symptom}, map[checkid.ID][]checkid.ID{"c/sign": nil}},
		{"a possible one before a possible one", []finding.Result{of("e/weaker", ""), of("d/weak", finding.Possible), symptom}, map[checkid.ID][]checkid.ID{"d/weak": {"e/weaker"}}},
		{"advice before nothing", []finding.Result{of("c/sign", ""), of("d/weak", finding.Advice), symptom}, map[checkid.ID][]checkid.ID{"c/sign": nil, "d/weak": nil}},
		{"advice before no advice", []finding.Result{of("e/weaker", finding.Advice), of("d/weak", finding.Advice), symptom}, map[checkid.ID][]checkid.ID{"e/weaker": nil, "d/weak": nil, "f/symptom": nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := map[checkid.ID][]checkid.ID{}
			for _, c := range Rank(list, tt.results, &snapshot.Snapshot{}).Causes {
				got[c.Check] = nil
				for _, h := range c.Hidden {
					got[c.Check] = append(got[c.Check], h.Check)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("causes and what they hide (-want +got):\n%s", diff)
			}
		})
	}
}

const cniRole = "arn:aws:iam::123456789012:role/cni"

// mapping is an entry of mapRoles.
func mapping(arn, user string, groups ...string) string {
	return fmt.Sprintf("- rolearn: %q\n  username: %q\n  groups: [%s]\n", arn, user, strings.Join(groups, ", "))
}

// onlyMap is a cluster that knows roles by aws-auth alone.
func onlyMap(entries ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Cluster.AuthMode, s.AccessEntries, s.Principals = "CONFIG_MAP", nil, nil
		s.AWSAuth = &snapshot.AWSAuth{MapRoles: strings.Join(entries, "")}
	}
}

func withoutPolicy(name string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Roles[0].Policies = slices.DeleteFunc(slices.Clone(s.Roles[0].Policies), func(p snapshot.Policy) bool { return p.Name == name })
	}
}

// ownCNIRole gives aws-node a role that may do what is listed.
func ownCNIRole(action string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.CNI.Role = cniRole
		s.Roles = append(s.Roles, snapshot.Role{ARN: cniRole, Name: "cni", Policies: []snapshot.Policy{
			{Name: "own", Document: fmt.Sprintf(`{"Statement":{"Effect":"Allow","Action":%q,"Resource":"*"}}`, action)},
		}})
	}
}

func consoleSays(line string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Consoles = append(s.Consoles, snapshot.Console{Instance: w.Node, Text: line})
	}
}

// Single faults of identity and permission: the one that is named first, and
// alone among the certain ones. Cases of the field are named by their ids.
func TestOneIAMFaultOneName(t *testing.T) {
	node := []string{"system:bootstrappers", "system:nodes"}
	const user = "system:node:{{EC2PrivateDNSName}}"
	tests := []struct {
		name       string
		cause      checkid.ID
		confidence finding.Confidence
		world      func() *snapshot.Snapshot
		breakIt    func(*snapshot.Snapshot)
	}{
		{"no instance profile", "iam/profile-missing", finding.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) { w.Instance(s, w.Node).Profile = "" }},
		{"profile without a role", "iam/profile-missing", finding.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) { s.Profiles[0].Roles = nil }},
		{"role deleted", "iam/profile-missing", finding.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			s.Roles = nil
			s.Lack(snapshot.Roles, w.NodeRole, snapshot.Failure{Source: snapshot.Roles, Code: "NoSuchEntity"})
		}},
		{"no trust in EC2", "iam/role-trust", finding.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			s.Roles[0].Trust = strings.Replace(w.EC2Trust, "ec2", "eks", 1)
		}},
		{"no ECR policy", "iam/role-policies", finding.Likely, w.PrivateWithNAT, withoutPolicy("AmazonEC2ContainerRegistryReadOnly")},
		{"no CNI policy anywhere (karp1185)", "iam/role-policies", finding.Likely, w.PrivateWithNAT, withoutPolicy("AmazonEKS_CNI_Policy")},
		{"aws-node's own role may nothing", "iam/cni-role-policies", finding.Certain, w.PrivateWithNAT, ownCNIRole("s3:*")},
		{"no access entry (aioneks111)", "iam/access-missing", finding.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) { s.AccessEntries, s.Principals = nil, nil }},
		{"no access entry in the mode API", "iam/access-missing", finding.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			onlyMap(mapping(w.NodeRole, user, node...))(s)
			s.Cluster.AuthMode = "API"
		}},
		{"dropped from aws-auth (eks2289)", "iam/access-missing", finding.Certain, w.PrivateWithNAT, onlyMap(mapping("arn:aws:iam::123456789012:role/other", user, node...))},
		{"mapped without the nodes' group", "iam/access-missing", finding.Certain, w.PrivateWithNAT, onlyMap(mapping(w.NodeRole, user, "system:bootstrappers"))},
		{"mapped by the instance profile", "iam/access-wrong-arn", finding.Certain, w.PrivateWithNAT, onlyMap(mapping(w.ProfileARN, user, node...))},
		{"mapped with the path (roadmap926, eks893)", "iam/access-wrong-arn", finding.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			const role = "arn:aws:iam::123456789012:role/foo/workers"
			s.Roles[0].ARN, s.Profiles[0].Roles[0] = role, role
			onlyMap(mapping(role, user, node...))(s)
		}},
		{"a STANDARD entry", "iam/access-wrong-type", finding.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) { s.AccessEntries[0].Type = "STANDARD" }},
		{"a STANDARD entry before a good mapping", "iam/access-wrong-type", finding.Certain, w.PrivateWithNAT, func(s *snapshot.Snapshot) {
			s.AccessEntries[0].Type, s.AccessEntries[0].Username = "STANDARD", "workers"
			s.AWSAuth = &snapshot.AWSAuth{MapRoles: mapping(w.NodeRole, user, node...)}
		}},
		{"mapped twice (ami610)", "iam/access-duplicate-mapping", finding.Likely, w.PrivateWithNAT, onlyMap(mapping(w.NodeRole, user, node...), mapping(w.NodeRole, "test", "system:masters"))},
		{"mapped twice, the last one is nobody", "iam/access-duplicate-mapping", finding.Likely, w.PrivateWithNAT, onlyMap(mapping(w.NodeRole, user, node...), mapping(w.NodeRole, "test"))},
		{"aws-auth is no list (roadmap1287)", "iam/aws-auth-invalid", finding.Certain, w.PrivateWithNAT, onlyMap("rolearn: x\n")},
		{"aws-auth is no YAML (roadmap1287)", "iam/aws-auth-invalid", finding.Certain, w.PrivateWithNAT, onlyMap("- rolearn: x\n\tgroups: []\n")},
		{"STS switched off (eksctl7931)", "iam/sts-region-deactivated", finding.Certain, w.PrivateWithNAT, consoleSays("RegionDisabledException: STS is not activated in this region")},
		{"tokens refused (eksctl2558)", "iam/sts-endpoint", finding.Possible, w.PrivateWithNAT, consoleSays("Failed to list *v1.Service: Unauthorized")},
		{"global STS in a closed VPC (cni647)", "iam/sts-endpoint", finding.Likely, w.EndpointsOnly, func(s *snapshot.Snapshot) {
			ownCNIRole("ec2:*")(s)
			s.CNI.Env["AWS_STS_REGIONAL_ENDPOINTS"] = "legacy"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.world()
			w.Unjoin(s, w.Node)
			tt.breakIt(s)
			d := diagnosed(s)
			if len(d.Causes) == 0 {
				t.Fatal("no cause")
			}
			c := d.Causes[0]
			if c.Check != tt.cause || c.Confidence != tt.confidence {
				t.Errorf("the first cause is %s, want %s (%s)", line(c), tt.cause, tt.confidence)
			}
			if len(d.Causes) != 1 {
				t.Errorf("%d causes, the second %s, want one", len(d.Causes), line(d.Causes[1]))
			}
			if !slices.Equal(c.Instances, []string{w.Node}) || !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) || !slices.Equal(c.Symptoms, []checkid.ID{"node/not-registered"}) {
				t.Errorf("instances %q of %q with %q, want %q of %q", c.Instances, c.Nodegroups, c.Symptoms, w.Node, w.Nodegroup)
			}
		})
	}
}

// The plugin of a node that registered, on a policy that is too old for it.
func TestNewerCNIOnAnOldPolicy(t *testing.T) {
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	unready(s)
	ownCNIRole("ec2:*")(s)
	s.CNI.Image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.22.1-eksbuild.2"
	s.Roles[1].Policies = append(s.Roles[1].Policies, snapshot.Policy{Name: "lock", Document: `{"Statement":{"Effect":"Deny","Action":"ec2:DescribeSecurityGroups","Resource":"*"}}`})
	d := diagnosed(s)
	if len(d.Causes) != 1 || d.Causes[0].Check != "iam/cni-role-policies" || !slices.Equal(d.Causes[0].Symptoms, []checkid.ID{"node/not-ready"}) {
		t.Errorf("causes %+v, want iam/cni-role-policies alone", d.Causes)
	}
}

// Two faults: each is named, and none is taken for the other.
func TestTwoIAMFaults(t *testing.T) {
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	noWayOut(s)
	s.AccessEntries, s.Principals = nil, nil
	var got []checkid.ID
	for _, c := range diagnosed(s).Causes {
		got = append(got, c.Check)
	}
	if want := []checkid.ID{"route/no-egress", "iam/access-missing"}; !slices.Equal(got, want) {
		t.Errorf("causes %q, want %q", got, want)
	}
}

// refused makes the nodegroup's group fail to launch, five minutes ago.
func refused(message string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Activities = append(s.Activities, snapshot.Activity{
			ID: "a-1", Group: "eks-" + w.Nodegroup, Status: "Failed", About: "Launching a new EC2 instance.  Status Reason: " + message, Message: message,
			Started: s.Time.Add(-5 * time.Minute), Ended: s.Time.Add(-5 * time.Minute), Subnet: w.Private, Zone: w.Zone,
		})
	}
}

const fullText = "There are not enough free addresses in subnet 'subnet-0private' to satisfy the requested number of instances. Launching EC2 instance failed."

// died makes the node an instance that EC2 could not bring up.
func died(code string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		i := w.Instance(s, w.Node)
		i.State, i.Subnet = "terminated", ""
		i.StateReason = snapshot.StateReason{Code: code, When: i.Launched.Add(10 * time.Second)}
	}
}

func TestFailedLaunches(t *testing.T) {
	type list = []func(*snapshot.Snapshot)
	joined := func(s *snapshot.Snapshot) { w.Join(s, w.Node) }
	tests := []struct {
		name   string
		faults list
		want   said
	}{
		{"a launch failed, all nodes are Ready", list{joined, refused("Max spot instance count exceeded. Launching EC2 instance failed.")}, said{
			Causes: []string{"launch/spot-limit L-34B43A08"},
		}},
		{"a launch failed, and a node did not register", list{refused("Max spot instance count exceeded. Launching EC2 instance failed.")}, said{
			// The one that runs is not explained by those that never came.
			Causes: []string{"launch/spot-limit L-34B43A08", "node/not-registered " + w.Nodegroup},
		}},
		{"the text names a full subnet, and it has no free address", list{joined, full, refused(fullText)}, said{
			Causes:       []string{"launch/subnet-full " + w.Private},
			Contributing: []checkid.ID{"ip/subnet-exhausted"},
		}},
		{"the same, and one of its nodes is not Ready", list{unready, full, refused(fullText)}, said{
			Causes:       []string{"launch/subnet-full " + w.Private},
			Contributing: []checkid.ID{"ip/subnet-exhausted"},
			Symptoms:     []checkid.ID{"node/not-ready"},
		}},
		{"the text names a full subnet, and a few addresses are free again", list{joined, tight, refused(fullText)}, said{
			Causes:       []string{"launch/subnet-full " + w.Private},
			Contributing: []checkid.ID{"ip/subnet-exhausted"},
		}},
		{"no launch has failed: a subnet that is merely empty", list{joined, full}, said{
			Causes: []string{"ip/subnet-exhausted " + w.Private},
		}},
		{"another subnet is empty", list{joined, refused(fullText), func(s *snapshot.Snapshot) {
			w.Subnet(s, w.Public).Free = 0
			s.Scope.Subnets = append(s.Scope.Subnets, w.Public)
		}}, said{
			Causes: []string{"launch/subnet-full " + w.Private, "ip/subnet-exhausted " + w.Public},
		}},
		{"a KMS key: not that the instance ended early", list{died("Client.InternalError")}, said{
			Causes: []string{"launch/kms-key eks-" + w.Nodegroup},
		}},
		{"the limit of volumes", list{died("Client.VolumeLimitExceeded")}, said{
			Causes: []string{"launch/volume-limit 123456789012"},
		}},
		{"a KMS key, and what its group does cannot be read", list{died("Client.InternalError"), func(s *snapshot.Snapshot) { w.Without(s, snapshot.Activities) }}, said{
			Causes: []string{"instance/ended-early " + w.Nodegroup},
		}},
		{"Spot took it back", list{reclaimed}, said{Causes: []string{"spot/reclaimed-before-join " + w.Nodegroup}}},
		{"suspended", list{joined, func(s *snapshot.Snapshot) {
			s.Groups[0].Suspended = []snapshot.Suspended{{Process: "Launch"}}
		}}, said{Causes: []string{"launch/suspended eks-" + w.Nodegroup}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			w.Instance(s, w.Node).Launched = s.Time.Add(-10 * time.Minute)
			for _, breakIt := range tt.faults {
				breakIt(s)
			}
			if diff := cmp.Diff(tt.want, short(diagnosed(s))); diff != "" {
				t.Errorf("diagnosis (-want +got):\n%s", diff)
			}
		})
	}
}

// The cause that an incident is about has the arithmetic, the instances and
// the nodegroup.
func TestContributorGivesItsFacts(t *testing.T) {
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	for _, breakIt := range []func(*snapshot.Snapshot){unready, full, refused(fullText)} {
		breakIt(s)
	}
	c := diagnosed(s).Causes[0]
	if !slices.ContainsFunc(c.Evidence, func(e finding.Evidence) bool { return e.What == "Addresses of "+w.Private }) {
		t.Errorf("no arithmetic in %v", c.Evidence)
	}
	if !slices.Equal(c.Instances, []string{w.Node}) || !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) {
		t.Errorf("instances %v, nodegroups %v", c.Instances, c.Nodegroups)
	}
	w.Join(s, w.Node)
	s.Nodes = s.Nodes[1:]
	if c := diagnosed(s).Causes[0]; len(c.Instances) != 0 || !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) {
		t.Errorf("without instances: %v, nodegroups %v", c.Instances, c.Nodegroups)
	}
}

// Every class of failed launches is named first and alone among the certain
// ones.
func TestEveryFailedLaunchIsNamedAlone(t *testing.T) {
	texts := map[checkid.ID]string{
		"launch/insufficient-capacity": "We currently do not have sufficient m5.large capacity in the Availability Zone you requested (us-west-2a). Launching EC2 instance failed.",
		"launch/capacity-reservation":  "The requested reservation does not have sufficient compatible and available capacity for this request.",
		"launch/placement":             "InsufficientInstanceCapacity: We currently do not have sufficient capacity to launch all of the additional requested instances into Placement Group 'hpc'.",
		"launch/spot-limit":            "Max spot instance count exceeded. Launching EC2 instance failed.",
		"launch/spot-price":            "SpotMaxPriceTooLow",
		"launch/vcpu-limit":            "VcpuLimitExceeded",
		"launch/fleet-limit":           "You've reached your quota for maximum Fleet Requests for this account. Launching EC2 instance failed.",
		"launch/subnet-full":           fullText,
		"launch/kms-key":               "Client.InvalidKMSKey.InvalidState: The KMS key provided is in an incorrect state",
		"launch/template":              "InvalidLaunchTemplateId.NotFound",
		"launch/ami":                   "InvalidAMIID.NotFound",
		"launch/security-group":        "InvalidGroup.NotFound",
		"launch/profile":               "Invalid IAM Instance Profile name",
		"launch/unauthorized":          "UnauthorizedOperation",
		"launch/policy-denied":         "UnauthorizedOperation: You are not authorized to perform this operation. User: arn:aws:sts::111122223333:assumed-role/AWSServiceRoleForAutoScaling/AutoScaling is not authorized to perform: ec2:RunInstances on resource: arn:aws:ec2:us-west-2:111122223333:instance/* with an explicit deny in a service control policy.",
		"launch/unsupported-type":      "The requested configuration is currently not supported.",
		"launch/volume-limit":          "Client.VolumeLimitExceeded: Volume limit exceeded",
		"launch/throttled":             "RequestLimitExceeded",
		"launch/account-validation":    "PendingVerification",
		"launch/service-role":          "Authentication Failure. Launching EC2 instance failed.",
		"launch/unclassified":          "The moon is in the wrong house.",
	}
	for want, text := range texts {
		s := w.PrivateWithNAT()
		refused(text)(s)
		var certain []checkid.ID
		for _, c := range diagnosed(s).Causes {
			if c.Confidence == finding.Certain {
				certain = append(certain, c.Check)
			}
		}
		if !slices.Equal(certain, []checkid.ID{want}) {
			t.Errorf("%q: causes %v, want %s alone", text, certain, want)
		}
	}
}

// aLeak is interfaces of a dead node with ten addresses each, in the world's
// private subnet, which is a /24.
func aLeak(interfaces int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		const dead = "i-0dead00000000dead"
		w.Subnet(s, w.Private).CIDR = netip.MustParsePrefix("10.42.192.0/24")
		s.Creators = []snapshot.Creator{{Instance: dead, State: "terminated"}}
		for k := range interfaces {
			i := snapshot.Interface{
				ID: fmt.Sprintf("eni-0%d", k), Account: s.Account, VPC: w.VPC, Subnet: w.Private, Status: "available", Kind: "interface", Description: "aws-K8S-" + dead,
				Tags: map[string]string{leak.TagInstance: dead, leak.TagCluster: w.ClusterName, leak.TagCreated: s.Time.Add(-time.Hour).Format(time.RFC3339)},
			}
			for a := range 10 {
				i.PrivateIPs = append(i.PrivateIPs, netip.AddrFrom4([4]byte{10, 42, 192, byte(4 + 10*k + a)}))
			}
			s.Idle = append(s.Idle, i)
		}
	}
}

// pluginDown is a node whose network plugin finds no address.
func pluginDown(s *snapshot.Snapshot) {
	unready(s)
	n := &s.Nodes[len(s.Nodes)-1]
	n.Ready.Message = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
	s.Pods = append(s.Pods, snapshot.Pod{Namespace: "kube-system", Name: "aws-node-x", Node: n.Name, Phase: "Running", Containers: []snapshot.Container{
		{Name: "aws-node", State: "waiting", Reason: "CrashLoopBackOff", Last: "Error", LastMessage: "no free address"},
	}})
}

// wants sets how many nodes the group wants.
func wants(desired int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Groups[0].Desired = desired }
}

// growsTo sets how many nodes the group may have.
func growsTo(most int) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Groups[0].Max = most }
}

func uncleaned(s *snapshot.Snapshot) { s.CNI.Env["DISABLE_LEAKED_ENI_CLEANUP"] = "true" }

// What dead nodes left behind is the one cause where giving it back cures what
// is wrong; where it would not, it is none.
func TestLeakExplainsTheShortage(t *testing.T) {
	const (
		leaked    = "ip/leaked-interfaces " + w.Private
		exhausted = "ip/subnet-exhausted " + w.Private
	)
	type list = []func(*snapshot.Snapshot)
	behind := func(ids ...checkid.ID) (all []diagnosis.Hidden) {
		for _, id := range ids {
			all = append(all, diagnosis.Hidden{Check: id, Because: "ip/leaked-interfaces"})
		}
		return all
	}
	tests := []struct {
		name   string
		faults list
		want   said
	}{
		{"the subnet is empty", list{full, unready, aLeak(6)}, said{
			Causes: []string{leaked}, Hidden: behind("ip/subnet-exhausted"), Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"the network plugin finds no address", list{full, pluginDown, aLeak(6)}, said{
			Causes: []string{leaked}, Hidden: behind("node/cni-not-ready", "ip/subnet-exhausted"), Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"launches are refused", list{full, unready, aLeak(6), aRefusal, wants(3)}, said{
			Causes: []string{leaked}, Hidden: behind("launch/subnet-full", "ip/subnet-exhausted"), Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"a few are free, and not enough for a node", list{tight, unready, aLeak(1)}, said{
			Causes: []string{leaked}, Hidden: behind("ip/subnet-exhausted"), Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"a small leak in a subnet that is too small", list{full, unready, aLeak(1), func(s *snapshot.Snapshot) { s.Idle[0].PrivateIPs = s.Idle[0].PrivateIPs[:3] }}, said{
			Causes: []string{exhausted, leaked}, Symptoms: []checkid.ID{"node/not-ready"}, // the leak is advice
		}},
		{"a leak that cures one node, and thirty are refused", list{full, unready, aLeak(1), aRefusal, wants(30)}, said{
			Causes: []string{leaked, "launch/subnet-full " + w.Private}, Hidden: behind("ip/subnet-exhausted"), Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"a burst of far more than the leak", list{aBurst, unready, aLeak(1)}, said{
			Causes: []string{"spot/burst-exceeds-subnet " + w.Private, leaked}, Hidden: []diagnosis.Hidden{{Check: "ip/subnet-exhausted", Because: "spot/burst-exceeds-subnet"}}, Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"a burst that had fit without the leak", list{aBurst, unready, aLeak(24)}, said{
			Causes: []string{leaked}, Hidden: behind("ip/subnet-exhausted", "spot/burst-exceeds-subnet"), Symptoms: []checkid.ID{"node/not-ready"},
		}},
		{"much is leaked and nothing short", list{aLeak(6)}, said{Causes: []string{leaked}, Symptoms: nil}},
		{"little is leaked and nothing short", list{aLeak(1)}, said{Causes: []string{leaked}}}, // advice
		{"why it leaks", list{full, unready, aLeak(6), uncleaned}, said{
			Causes: []string{leaked}, Contributing: []checkid.ID{"ip/leak-cause"}, Hidden: behind("ip/subnet-exhausted"), Symptoms: []checkid.ID{"node/not-ready"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Subnet(s, w.Private).Free = 100
			if len(tt.want.Symptoms) > 0 {
				w.Unjoin(s, w.Node)
			}
			for _, f := range tt.faults {
				f(s)
			}
			if diff := cmp.Diff(tt.want, short(diagnosed(s))); diff != "" {
				t.Errorf("diagnosis (-want +got):\n%s", diff)
			}
		})
	}
}

// A leak that is large is reported although no node suffers yet; one that is little
// is not.
func TestLeakIsToldByItsSize(t *testing.T) {
	for n, want := range map[int]finding.Confidence{1: finding.Advice, 6: finding.Likely} {
		s := w.PrivateWithNAT()
		w.Subnet(s, w.Private).Free = 100
		aLeak(n)(s)
		d := diagnosed(s)
		if len(d.Causes) != 1 || d.Causes[0].Confidence != want {
			t.Errorf("%d interfaces: causes %+v, want one that is %s", n, d.Causes, want)
		}
	}
}

// What the groups may still launch is the leak's matter where it fits with the
// leaked addresses, and one of its own where it does not.
func TestLeakExplainsWhatWillNotFit(t *testing.T) {
	list := checks.OfAddresses()
	for most, want := range map[int]said{
		7: {Causes: []string{"ip/leaked-interfaces " + w.Private}, // 6 x 20 = 120 of 30 + 100
			Hidden: []diagnosis.Hidden{{Check: "ip/scale-out-will-not-fit", Because: "ip/leaked-interfaces"}}},
		20: {Causes: []string{"ip/scale-out-will-not-fit " + w.Private, "ip/leaked-interfaces " + w.Private}},
	} {
		s := w.PrivateWithNAT()
		w.Subnet(s, w.Private).Free = 30
		growsTo(most)(s)
		aLeak(10)(s)
		if diff := cmp.Diff(want, short(Rank(list, check.Eval(list, s), s))); diff != "" {
			t.Errorf("%d nodes: diagnosis (-want +got):\n%s", most, diff)
		}
	}
}

const bootLines = "[    0.000000] Linux version 6.1.112\n[  OK  ] Reached target Basic System.\n"

// wrote gives the worlds' instance a console.
func wrote(line string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Consoles = []snapshot.Console{{Instance: w.Node, Text: bootLines + line + "\n"}}
	}
}

// registered makes a node of the instance that is not Ready, with a message.
func registered(message string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Nodes = []snapshot.Node{{Name: "n", Instance: w.Node, Ready: snapshot.Condition{Status: "False", Reason: "KubeletNotReady", Message: message}}}
	}
}

const networkDown = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized"

// noImage is a node whose network plugin's image cannot be pulled.
func noImage(s *snapshot.Snapshot) {
	registered(networkDown)(s)
	s.Pods = []snapshot.Pod{{Namespace: "kube-system", Name: "aws-node-x", Node: "n", Phase: "Pending", Containers: []snapshot.Container{
		{Name: "aws-vpc-cni-init", Init: true, State: "waiting", Reason: "ImagePullBackOff", Message: "Back-off pulling image"},
	}}}
}

// What the machine itself and Kubernetes tell, each first and alone among the
// certain causes.
func TestMachineFaultsHaveOneName(t *testing.T) {
	const (
		fatal  = `nodeadm[1]: {"level":"fatal","caller":"nodeadm/main.go:36","msg":"Command failed","error":"Name is missing in cluster configuration"}`
		denied = "kubelet[2]: reflector.go:123] Failed to list *v1.Service: Unauthorized\n"
	)
	tests := []struct {
		name     string
		cause    checkid.ID
		resource string
		breakIt  func(*snapshot.Snapshot)
		alone    bool
	}{
		{"nodeadm says why", "instance/console-error", w.Nodegroup, wrote(fatal), true},
		{"the API refuses the node", "instance/console-error", w.Nodegroup, wrote(denied + denied), true},
		{"a kernel panic, and EC2 sees it too", "instance/console-error", w.Nodegroup, func(s *snapshot.Snapshot) {
			wrote("[    2.6] Kernel panic - not syncing: Attempted to kill init!")(s)
			s.Statuses[0].OS = "impaired"
		}, true},
		{"the image is newer than the control plane", "instance/version-skew", w.Nodegroup, func(s *snapshot.Snapshot) {
			s.Images[0].Name = "amazon-eks-node-al2023-x86_64-standard-1.37-v1"
		}, true},
		{"the image is too new, and the kubelet says so", "instance/version-skew", w.Nodegroup, func(s *snapshot.Snapshot) {
			s.Images[0].Name = "amazon-eks-node-al2023-x86_64-standard-1.37-v1"
			wrote(denied + denied)(s)
		}, true},
		{"the network plugin's image cannot be pulled", "node/cni-not-ready", "kube-system/aws-node", noImage, true},
		{"the same, and EKS says so", "node/cni-not-ready", "kube-system/aws-node", func(s *snapshot.Snapshot) {
			noImage(s)
			s.Addons[2].Status, s.Addons[2].Issues = "DEGRADED", []snapshot.Issue{{Code: "InsufficientNumberOfReplicas"}}
		}, true},
		{"vpc-cni is degraded", "addon/degraded", "vpc-cni", func(s *snapshot.Snapshot) {
			registered(networkDown)(s)
			s.Pods = []snapshot.Pod{{Name: "aws-node-x", Node: "n", Phase: "Running", Containers: []snapshot.Container{{Name: "aws-node", Ready: true, State: "running"}}}}
			s.Addons[2].Status, s.Addons[2].Issues = "DEGRADED", []snapshot.Issue{{Code: "ConfigurationConflict"}}
		}, true},
		// The cluster's own health claims no instance: the symptom stays.
		{"the cluster has an issue", "cluster/health", w.ClusterName, func(s *snapshot.Snapshot) {
			s.Cluster.Issues = []snapshot.Issue{{Code: "Ec2SubnetNotFound"}}
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Unjoin(s, w.Node)
			tt.breakIt(s)
			d := diagnosed(s)
			var certain []string
			for _, c := range d.Causes {
				if c.Confidence == finding.Certain {
					certain = append(certain, string(c.Check)+" "+c.Resource)
				}
			}
			if want := []string{string(tt.cause) + " " + tt.resource}; !slices.Equal(certain, want) || d.Causes[0].Check != tt.cause {
				t.Fatalf("certain causes %q, want first and only %q", certain, want)
			}
			if tt.alone && (len(d.Causes) != 1 || !slices.ContainsFunc(d.Causes[0].Symptoms, ofNode)) {
				t.Errorf("%d causes, the first with symptoms %v, want one with the node's", len(d.Causes), d.Causes[0].Symptoms)
			}
		})
	}
}

func ofNode(id checkid.ID) bool { return strings.HasPrefix(string(id), "node/") }

// A fault of the network is the cause, and what the machine says of it is not.
func TestTheConsoleIsHiddenByItsCause(t *testing.T) {
	timeout := `kubelet[2]: "Unable to register node with API server" err="Post \"https://A.gr7.us-west-2.eks.amazonaws.com/api/v1/nodes\": dial tcp 10.0.0.1:443: i/o timeout"` + "\n"
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	noWayOut(s)
	wrote(strings.Repeat(timeout, 9))(s)
	got := short(diagnosed(s))
	if !slices.Equal(got.Causes, []string{"route/no-egress " + w.PrivateRTB}) || !slices.Contains(got.Hidden, diagnosis.Hidden{Check: "instance/console-error", Because: "route/no-egress"}) {
		t.Errorf("diagnosis %+v, want route/no-egress with instance/console-error hidden by it", got)
	}
}

// coredns without a node to run on follows from whatever keeps nodes away.
func TestAddonWithoutNodesIsASymptom(t *testing.T) {
	degraded := func(s *snapshot.Snapshot) {
		s.Addons[0].Status, s.Addons[0].Issues = "DEGRADED", []snapshot.Issue{{Code: "InsufficientNumberOfReplicas"}}
	}
	s := w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	degraded(s)
	noWayOut(s)
	got := short(diagnosed(s))
	if !slices.Equal(got.Causes, []string{"route/no-egress " + w.PrivateRTB}) || !slices.Contains(got.Symptoms, "addon/degraded") {
		t.Errorf("diagnosis %+v, want route/no-egress with the symptom addon/degraded", got)
	}

	s = w.PrivateWithNAT()
	w.Unjoin(s, w.Node)
	degraded(s)
	for _, c := range diagnosed(s).Causes {
		if c.Confidence != finding.Symptom {
			t.Errorf("%s, want only symptoms: nothing explains them", line(c))
		}
	}
}

// What is likely only explains a node that failed; Ready nodes make it advice.
func TestLikelyMachineFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		cause   checkid.ID
		breakIt func(*snapshot.Snapshot)
	}{
		"impaired": {"instance/status-check", func(s *snapshot.Snapshot) { s.Statuses[0].System = "impaired" }},
		"retirement": {"instance/scheduled-event", func(s *snapshot.Snapshot) {
			s.Statuses[0].Events = []snapshot.ScheduledEvent{{Code: "instance-retirement", NotBefore: s.Time.Add(time.Hour)}}
		}},
		"both": {"instance/scheduled-event", func(s *snapshot.Snapshot) {
			s.Statuses[0].System = "impaired"
			s.Statuses[0].Events = []snapshot.ScheduledEvent{{Code: "instance-stop"}}
		}},
		"image":     {"instance/ami", func(s *snapshot.Snapshot) { s.Images[0].Architecture = "arm64" }},
		"disk full": {"instance/console-error", wrote("kubelet[2]: write /x: no space left on device")},
		"uninitialized": {"node/uninitialized", func(s *snapshot.Snapshot) {
			s.Nodes = []snapshot.Node{{Name: "n", Instance: w.Node, Ready: snapshot.Condition{Status: "True"}, Uninitialized: true}}
		}},
	} {
		s := w.PrivateWithNAT()
		w.Unjoin(s, w.Node)
		tt.breakIt(s)
		d := diagnosed(s)
		if len(d.Causes) != 1 || d.Causes[0].Check != tt.cause || d.Causes[0].Confidence != finding.Likely || len(d.Causes[0].Symptoms) != 1 {
			t.Errorf("%s: %+v, want one likely cause %s with the symptom", name, short(d), tt.cause)
		}
	}
	// A Ready node's certificate that waits is advice.
	s := w.PrivateWithNAT()
	s.CSRs = []snapshot.CSR{{Name: "csr-1", Signer: "kubernetes.io/kubelet-serving", Username: "test", Created: s.Time.Add(-time.Hour)}}
	if d := diagnosed(s); len(d.Causes) != 1 || d.Causes[0].Check != "node/csr-pending" || d.Causes[0].Confidence != finding.Advice {
		t.Errorf("a pending certificate: %+v, want advice", short(d))
	}
}

// degraded gives the worlds' nodegroup a status and an issue, since an hour.
func degraded(status, code string, resources ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		n := &s.Nodegroups[0]
		n.Status, n.Since, n.Desired = status, s.Time.Add(-time.Hour), 3
		n.Issues = []snapshot.Issue{{Code: code, Message: "about " + code, Resources: resources, Since: n.Since}}
	}
}

// What EKS says of a nodegroup is reported once, by the name that is nearest to
// the cause.
func TestNodegroupIssuesHaveOneName(t *testing.T) {
	const spot = "Max spot instance count exceeded. Launching EC2 instance failed."
	unjoined := func(s *snapshot.Snapshot) { w.Unjoin(s, w.Node) }
	type list = []func(*snapshot.Snapshot)
	health := []checkid.ID{"nodegroup/health", "nodegroup/status"}
	tests := []struct {
		name   string
		faults list
		want   []string
		signs  []checkid.ID // of the first
	}{
		{"instances without a route to the internet", list{unjoined, noWayOut, degraded("DEGRADED", "NodeCreationFailure", w.Node)}, []string{"route/no-egress"}, append(slices.Clone(health), "node/not-registered")},
		{"nothing else explains the instances", list{unjoined, degraded("CREATE_FAILED", "NodeCreationFailure", w.Node)}, []string{"nodegroup/health", "node/not-registered"}, []checkid.ID{"nodegroup/status"}},
		{"the launch itself fails", list{unjoined, refused(spot), degraded("DEGRADED", "NodeCreationFailure", "DUMMY_7f1c")}, []string{"launch/spot-limit", "node/not-registered"}, health},
		{"Auto Scaling cannot launch", list{unjoined, refused(spot), degraded("DEGRADED", "AsgInstanceLaunchFailures", "eks-workers")}, []string{"launch/spot-limit", "node/not-registered"}, health},
		{"a quota, which the group's activity names too", list{unjoined, refused("VcpuLimitExceeded"), degraded("DEGRADED", "InstanceLimitExceeded")}, []string{"launch/vcpu-limit", "node/not-registered"}, health},
		{"a quota, and the group's activities are old", list{unjoined, degraded("DEGRADED", "InstanceLimitExceeded")}, []string{"nodegroup/health", "node/not-registered"}, nil},
		{"no addresses, and the subnet has none", list{full, unjoined, degraded("DEGRADED", "InsufficientFreeAddresses")}, []string{"ip/subnet-exhausted", "node/not-registered"}, health},
		{"one fault under two names", list{unjoined, func(s *snapshot.Snapshot) { s.AccessEntries, s.Principals = nil, nil }, degraded("DEGRADED", "AccessDenied")}, []string{"iam/access-missing"}, []checkid.ID{"node/not-registered"}},
		{"two faults", list{unjoined, noWayOut, degraded("DEGRADED", "AccessDenied")}, []string{"route/no-egress", "nodegroup/health"}, []checkid.ID{"node/not-registered"}},
		{"a status alone", list{unjoined, noWayOut, func(s *snapshot.Snapshot) { s.Nodegroups[0].Status = "DELETE_FAILED" }}, []string{"route/no-egress", "nodegroup/status"}, []checkid.ID{"node/not-registered"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := w.PrivateWithNAT()
			w.Instance(s, w.Node).Launched = s.Time.Add(-2 * time.Hour)
			for _, breakIt := range tt.faults {
				breakIt(s)
			}
			d := diagnosed(s)
			var got []string
			for _, c := range d.Causes {
				if c.Confidence != finding.Advice {
					got = append(got, string(c.Check))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Fatalf("causes (-want +got):\n%s", diff)
			}
			signs := slices.Clone(d.Causes[0].Symptoms)
			slices.Sort(signs)
			want := slices.Clone(tt.signs)
			slices.Sort(want)
			if !slices.Equal(signs, want) {
				t.Errorf("symptoms %q, want %q", signs, want)
			}
			for _, c := range d.Causes {
				if strings.HasPrefix(string(c.Check), "nodegroup/") && !slices.Equal(c.Nodegroups, []string{w.Nodegroup}) {
					t.Errorf("%s is told of the nodegroups %q", c.Check, c.Nodegroups)
				}
			}
		})
	}
}
