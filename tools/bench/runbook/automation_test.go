package main

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	"rollcall/tools/expect"
)

const (
	roleARN = "arn:aws:iam::111122223333:role/node"
	profile = "arn:aws:iam::111122223333:instance-profile/node"
	trust   = `{"Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	all     = `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
)

// sound is a Ready node behind a NAT gateway, of which no step warns.
func sound() Subject {
	open := []snapshot.Rule{{Protocol: "-1", From: -1, To: -1, CIDRs: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}}}
	table := func(id, subnet string, to snapshot.Target) snapshot.RouteTable {
		return snapshot.RouteTable{ID: id, VPC: "vpc-1", Subnets: []string{subnet}, Routes: []snapshot.Route{
			{Destination: netip.MustParsePrefix("10.0.0.0/16"), Target: snapshot.Target{Kind: snapshot.ToLocal, ID: "local"}, State: "active"},
			{Destination: netip.MustParsePrefix("0.0.0.0/0"), Target: to, State: "active"},
		}}
	}
	read := map[snapshot.Source]bool{}
	for _, s := range snapshot.All() {
		read[s] = true
	}
	return Subject{
		Secondary: 9,
		Node: snapshot.Instance{
			ID: "i-1", State: "running", Subnet: "subnet-1", VPC: "vpc-1", PrivateIP: netip.MustParseAddr("10.0.1.5"), AMI: "ami-1",
			Groups: []string{"sg-1"}, Profile: profile, Tags: map[string]string{"kubernetes.io/cluster/prod": "owned"},
			Metadata: snapshot.Metadata{Endpoint: "enabled"},
		},
		Account: &snapshot.Snapshot{
			Account: "111122223333", Region: "us-west-2", Partition: "aws", Read: read,
			Cluster: snapshot.Cluster{
				Name: "prod", Status: "ACTIVE", Version: "1.34", VPC: "vpc-1", SecurityGroup: "sg-1", AuthMode: "API",
				EndpointPublic: true, EndpointPrivate: true,
			},
			VPCs:          []snapshot.VPC{{ID: "vpc-1", CIDRs: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/16")}, DHCP: "dopt-1"}},
			VPCAttributes: []snapshot.VPCAttributes{{VPC: "vpc-1", DNSSupport: true, DNSHostnames: true}},
			DHCPOptions:   []snapshot.DHCPOptions{{ID: "dopt-1", DomainNames: []string{"us-west-2.compute.internal"}, DomainNameServers: []string{amazonDNS}}},
			Subnets: []snapshot.Subnet{
				{ID: "subnet-1", VPC: "vpc-1", CIDR: netip.MustParsePrefix("10.0.1.0/24")},
				{ID: "subnet-2", VPC: "vpc-1", CIDR: netip.MustParsePrefix("10.0.2.0/24")},
			},
			RouteTables: []snapshot.RouteTable{
				table("rtb-1", "subnet-1", snapshot.Target{Kind: snapshot.ToNATGateway, ID: "nat-1"}),
				table("rtb-2", "subnet-2", snapshot.Target{Kind: snapshot.ToInternetGateway, ID: "igw-1"}),
			},
			NATGateways:      []snapshot.NATGateway{{ID: "nat-1", VPC: "vpc-1", Subnet: "subnet-2", State: "available", Public: true, Addresses: []snapshot.NATAddress{{IP: netip.MustParseAddr("198.51.100.7")}}}},
			InternetGateways: []snapshot.InternetGateway{{ID: "igw-1", Attached: []string{"vpc-1"}}},
			SecurityGroups:   []snapshot.SecurityGroup{{ID: "sg-1", VPC: "vpc-1", Ingress: open, Egress: open}, {ID: "sg-shut", VPC: "vpc-1"}},
			NetworkACLs: []snapshot.NetworkACL{{ID: "acl-1", VPC: "vpc-1", Subnets: []string{"subnet-1", "subnet-2"}, Entries: []snapshot.ACLEntry{
				{Number: 100, Allow: true, Protocol: "-1", To: 65535, CIDR: netip.MustParsePrefix("0.0.0.0/0")},
				{Number: 100, Egress: true, Allow: true, Protocol: "-1", To: 65535, CIDR: netip.MustParsePrefix("0.0.0.0/0")},
			}}},
			Images:        []snapshot.Image{{ID: "ami-1", Name: "amazon-eks-node-1.34-v20250612", State: "available", OwnerAlias: "amazon"}},
			Profiles:      []snapshot.Profile{{ARN: profile, Name: "node", Roles: []string{roleARN}}},
			Roles:         []snapshot.Role{{ARN: roleARN, Name: "node", Path: "/", Trust: trust, Policies: []snapshot.Policy{{Name: "all", Document: all}}}},
			Principals:    []string{roleARN},
			AccessEntries: []snapshot.AccessEntry{{Principal: roleARN, Type: "EC2_LINUX"}},
			UserData:      []snapshot.UserData{{Instances: []string{"i-1"}, Data: []byte("#!/bin/bash\n/etc/eks/bootstrap.sh prod\n")}},
		},
	}
}

func TestRun(t *testing.T) {
	to := func(k snapshot.TargetKind, id string) func(*Subject) {
		return func(s *Subject) { s.Account.RouteTables[0].Routes[1].Target = snapshot.Target{Kind: k, ID: id} }
	}
	endpointsOnly := func(s *Subject) {
		s.Account.RouteTables[0].Routes = s.Account.RouteTables[0].Routes[:1]
		for _, service := range []string{"ec2", "ecr.api", "ecr.dkr", "sts", "s3"} {
			s.Account.Endpoints = append(s.Account.Endpoints, snapshot.Endpoint{
				ID: "vpce-" + service, VPC: "vpc-1", Service: "com.amazonaws.us-west-2." + service,
				Kind: "Interface", State: "available", PrivateDNS: true, Groups: []string{"sg-1"},
			})
		}
	}
	tests := map[string]struct {
		change func(*Subject)
		// want are "step: id id" of the findings, ~ before a symptom's.
		want    []string
		stopped string
	}{
		"nothing":            {func(*Subject) {}, nil, ""},
		"cluster not active": {func(s *Subject) { s.Account.Cluster.Status = "CREATING" }, []string{"0: cluster/health"}, "the cluster is not ACTIVE"},
		"terminated":         {func(s *Subject) { s.Node.State = "terminated" }, []string{"0: ~instance/ended-early"}, "the instance is not running"},
		"windows":            {func(s *Subject) { s.Node.Windows = true }, nil, "Windows is not supported"},
		"bottlerocket":       {func(s *Subject) { s.Account.Images[0].Name = "bottlerocket-aws-k8s-1.34" }, nil, "Bottlerocket is not supported"},
		"cluster's group":    {func(s *Subject) { s.Account.Cluster.SecurityGroup = "sg-shut" }, []string{"1: sg/cluster-ingress"}, ""},
		"own name servers":   {func(s *Subject) { s.Account.DHCPOptions[0].DomainNameServers = []string{"10.0.0.9"} }, []string{"2: dns/dhcp-options"}, ""},
		"add-on":             {func(s *Subject) { s.Account.Addons = []snapshot.Addon{{Name: "vpc-cni", Status: "DEGRADED"}} }, []string{"4: addon/degraded"}, ""},
		"hostnames off":      {func(s *Subject) { s.Account.VPCAttributes[0].DNSHostnames = false }, []string{"6: dns/hostnames-off"}, ""},
		"impaired": {func(s *Subject) {
			s.Account.Statuses = []snapshot.InstanceStatus{{Instance: "i-1", System: "impaired"}}
		}, []string{"7: instance/status-check"}, ""},
		"event that is over": {func(s *Subject) {
			s.Account.Statuses = []snapshot.InstanceStatus{{Instance: "i-1", Events: []snapshot.ScheduledEvent{{Description: "[Completed] reboot"}}}}
		}, nil, ""},
		"nat gone": {func(s *Subject) {
			to(snapshot.ToNATGateway, "nat-9")(s)
			s.Account.RouteTables[0].Routes[1].State = "blackhole"
		}, []string{"9a: route/nat-unusable route/blackhole"}, ""},
		"another account's nat":        {to(snapshot.ToNATGateway, "nat-9"), nil, ""},
		"firewall endpoint: no branch": {to(snapshot.ToEndpoint, "vpce-1"), nil, ""},
		"long domain name":             {func(s *Subject) { s.Account.DHCPOptions[0].DomainNames = []string{strings.Repeat("a", 60)} }, []string{"2: dns/dhcp-options"}, ""},
		"acl shuts out the control plane": {func(s *Subject) {
			s.Account.Cluster.Subnets = []string{"subnet-2"}
			s.Account.NetworkACLs[0].Subnets = []string{"subnet-2"}
			own := snapshot.NetworkACL{ID: "acl-2", Subnets: []string{"subnet-1"}, Entries: append([]snapshot.ACLEntry{
				{Number: 50, Egress: true, Protocol: "-1", To: 65535, CIDR: netip.MustParsePrefix("10.0.2.0/24")},
			}, s.Account.NetworkACLs[0].Entries...)}
			s.Account.NetworkACLs = append(s.Account.NetworkACLs, own)
		}, []string{"18: nacl/egress"}, ""},
		"private nat":                {func(s *Subject) { s.Account.NATGateways[0].Public = false }, []string{"9a: route/nat-unusable"}, ""},
		"nat without internet":       {func(s *Subject) { s.Account.InternetGateways[0].Attached = nil }, []string{"9a: route/nat-no-internet route/igw-detached"}, ""},
		"no public address":          {to(snapshot.ToInternetGateway, "igw-1"), []string{"9b: route/igw-no-public-ip"}, ""},
		"transit gateway: no branch": {to(snapshot.ToTransitGateway, "tgw-1"), nil, ""},
		"endpoints":                  {endpointsOnly, nil, ""},
		"an endpoint is missing":     {func(s *Subject) { endpointsOnly(s); s.Account.Endpoints = s.Account.Endpoints[1:] }, []string{"9c: endpoint/missing route/no-egress"}, ""},
		"an endpoint is shut":        {func(s *Subject) { endpointsOnly(s); s.Account.Endpoints[3].Groups = []string{"sg-shut"} }, []string{"9c: endpoint/security-group"}, ""},
		"shut endpoint beside a nat": {func(s *Subject) {
			routes := s.Account.RouteTables[0].Routes
			endpointsOnly(s)
			s.Account.RouteTables[0].Routes = routes
			s.Account.Endpoints[3].Groups = []string{"sg-shut"}
		}, nil, ""},
		"public ranges": {func(s *Subject) {
			s.Account.Cluster.EndpointPrivate = false
			s.Account.Cluster.PublicAccessCIDRs = []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24")}
		}, []string{"9a: route/api-public-cidr"}, ""},
		"no profile":               {func(s *Subject) { s.Node.Profile = "" }, []string{"10: iam/profile-missing"}, ""},
		"no policies":              {func(s *Subject) { s.Account.Roles[0].Policies = nil }, []string{"10: iam/role-policies", "10: iam/role-policies", "10: iam/role-policies iam/cni-role-policies"}, ""},
		"no trust":                 {func(s *Subject) { s.Account.Roles[0].Trust = `{"Statement":[]}` }, []string{"10: iam/role-trust"}, ""},
		"no access entry":          {func(s *Subject) { s.Account.Principals, s.Account.AccessEntries = nil, nil }, []string{"11: iam/access-missing iam/access-wrong-arn iam/aws-auth-invalid iam/access-duplicate-mapping"}, ""},
		"aws-auth is not read":     {func(s *Subject) { s.Account.Principals, s.Account.Cluster.AuthMode = nil, "CONFIG_MAP" }, nil, ""},
		"another cluster's data":   {func(s *Subject) { s.Account.UserData[0].Data = []byte("#!/bin/bash\n/etc/eks/bootstrap.sh dev\n") }, []string{"12: instance/user-data"}, ""},
		"no tag":                   {func(s *Subject) { s.Node.Tags = nil }, []string{"13: instance/cluster-tag"}, ""},
		"an image of one's own":    {func(s *Subject) { s.Account.Images[0].OwnerAlias = "" }, []string{"14: instance/ami"}, ""},
		"an image that is too new": {func(s *Subject) { s.Account.Cluster.Version = "1.33" }, []string{"14: instance/ami instance/version-skew"}, ""},
		"bootstrap.sh on AL2023":   {func(s *Subject) { s.Account.Images[0].Name = "amazon-eks-node-al2023-x86_64-standard-1.34-v20261112" }, []string{"12: instance/user-data"}, ""},
		"AL2 after its end":        {func(s *Subject) { s.Account.Time = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) }, []string{"14: instance/ami"}, ""},
		"add-on being updated":     {func(s *Subject) { s.Account.Addons = []snapshot.Addon{{Name: "vpc-cni", Status: "UPDATING"}} }, nil, ""},
		"sts of a Ready node": {func(s *Subject) {
			s.Ready = true
			s.Account.Consoles = []snapshot.Console{{Instance: "i-1", Text: "RegionDisabledException"}}
		}, nil, ""},
		"no addresses":       {func(s *Subject) { s.Secondary = 0 }, []string{"15: ~node/cni-not-ready iam/cni-role-policies"}, ""},
		"nothing goes out":   {func(s *Subject) { s.Node.Groups = []string{"sg-shut"} }, []string{"16: sg/node-egress"}, ""},
		"acl denies answers": {func(s *Subject) { s.Account.NetworkACLs[0].Entries = s.Account.NetworkACLs[0].Entries[1:] }, []string{"18: nacl/return"}, ""},
		"sts is off": {func(s *Subject) {
			s.Account.Consoles = []snapshot.Console{{Instance: "i-1", Text: "RegionDisabledException"}}
		}, []string{"19: iam/sts-region-deactivated iam/sts-endpoint"}, ""},
		"metadata off": {func(s *Subject) { s.Node.Metadata.Endpoint = "disabled" }, []string{"20: instance/imds"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := sound()
			tt.change(&s)
			r := Run(s)
			var got []string
			for _, f := range r.Findings {
				text := f.Step + ": "
				if f.Symptom {
					text += "~"
				}
				got = append(got, text+strings.Join(texts(f.Names), " "))
				step, _ := find(Steps(), func(s Step) bool { return s.Number == f.Step })
				for _, id := range f.Names {
					if !slices.Contains(step.Checks, id) {
						t.Errorf("step %s names %s, which is not among its checks", f.Step, id)
					}
				}
			}
			expect.Same(t, "findings", got, tt.want)
			if r.Stopped != tt.stopped {
				t.Errorf("stopped %q, want %q", r.Stopped, tt.stopped)
			}
		})
	}
}

func texts(list []checkid.ID) []string {
	var out []string
	for _, id := range list {
		out = append(out, string(id))
	}
	return out
}

// The agent's steps say nothing where the node has no network, and a symptom
// where it has.
func TestAgent(t *testing.T) {
	s := sound()
	s.Unreachable = []string{"api"}
	if a := connectivity(s); len(a.findings) != 1 || !a.findings[0].Symptom {
		t.Errorf("online: %+v, want one symptom", a)
	}
	s.Account.NATGateways[0].State = "failed"
	if a := connectivity(s); a.skipped != notOnline || len(a.findings) > 0 {
		t.Errorf("offline: %+v, want skipped", a)
	}
}

// Every check that a step is said to have is one of the catalogue.
func TestStepsNameChecks(t *testing.T) {
	known := map[checkid.ID]bool{}
	for _, c := range checks.All() {
		known[c.ID] = true
	}
	line := 0
	for _, s := range Steps() {
		for _, id := range s.Checks {
			if !known[id] {
				t.Errorf("step %s: %s is no check", s.Number, id)
			}
		}
		if s.Line <= line {
			t.Errorf("step %s: line %d is not behind %d", s.Number, s.Line, line)
		}
		line = s.Line
	}
}
