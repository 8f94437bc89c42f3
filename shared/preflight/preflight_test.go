package preflight

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks/finding"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
	"rollcall/tools/expect"
)

// world is a well account in which nothing was launched.
func world() *snapshot.Snapshot {
	s := w.PrivateWithNAT()
	s.Instances, s.Nodes, s.Launches, s.Nodegroups, s.Groups, s.UserData, s.AccessEntries, s.Principals = nil, nil, nil, nil, nil, nil, nil, nil
	s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: w.Template, Name: "workers", Version: "3", Default: true}}
	var zones []string
	for _, n := range s.Subnets {
		zones = append(zones, n.Zone)
	}
	for _, name := range []string{"m5.large", "m6g.large", "t3.medium"} {
		s.TypeOfferings = append(s.TypeOfferings, snapshot.TypeOffering{Type: name, Zones: distinct(zones)})
	}
	return s
}

// nodegroup is a nodegroup that goes with it.
func nodegroup(fields ...string) string {
	all := []string{
		fmt.Sprintf(`"clusterName": %q, "nodegroupName": "batch", "subnets": [%q], "nodeRole": %q`, w.ClusterName, w.Private, w.NodeRole), `"instanceTypes": ["m5.large"]`,
	}
	for _, f := range fields {
		name, _, _ := strings.Cut(f, ":")
		all = slices.DeleteFunc(all, func(have string) bool { return strings.HasPrefix(have, name+":") })
		all = append(all, f)
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func judged(t *testing.T, s *snapshot.Snapshot, text string) Verdict {
	t.Helper()
	p, err := Parse([]byte(text))
	expect.OK(t, err)
	d := Draft{Plan: p, S: s}
	d.Announce()
	d.Settle()
	d.Place()
	d.Complete()
	return d.Judge()
}

// said is a verdict in short: refusals with their field, causes with their
// resource, and what is unknown.
func said(v Verdict) []string {
	list := []string{}
	for _, r := range v.Refused {
		list = append(list, fmt.Sprintf("%s %s", r.ID, r.Field))
	}
	for _, c := range v.Causes {
		if c.Confidence != "advice" {
			list = append(list, fmt.Sprintf("%s %s", c.Check, c.Resource))
		}
	}
	for _, u := range v.Unknown {
		list = append(list, fmt.Sprintf("? %s %s", u.Check, u.Blocked[0].Call))
	}
	return list
}

func TestJudge(t *testing.T) {
	gone := func(source snapshot.Source, key, code string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			s.Lack(source, key, snapshot.Failure{Source: source, Reason: snapshot.Broken, Code: code})
		}
	}
	template := func(change func(*snapshot.LaunchTemplate)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) { change(&s.LaunchTemplates[0]) }
	}
	const given = `"launchTemplate": {"id": "lt-0a", "version": "3"}`
	for _, tt := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		text   string
		want   []string
	}{
		{"all is well", nil, nodegroup(), []string{}},
		{"with a template", nil, nodegroup(given), []string{}},
		{"with the template's name and its default version", nil, nodegroup(`"launchTemplate": {"name": "workers"}`), []string{}},
		{"no route to the internet", func(s *snapshot.Snapshot) { w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()} }, nodegroup(), []string{"route/no-egress " + w.PrivateRTB}},
		{"a public subnet that gives no addresses", func(s *snapshot.Snapshot) { w.Subnet(s, w.Public).AssignPublicIP = false },
			nodegroup(`"subnets": ["` + w.Public + `"]`), []string{"route/igw-no-public-ip " + w.Public}},
		{"a public subnet that gives them", func(s *snapshot.Snapshot) { w.Subnet(s, w.Public).AssignPublicIP = true }, nodegroup(`"subnets": ["` + w.Public + `"]`), []string{}},
		{"a template that takes them away", func(s *snapshot.Snapshot) {
			w.Subnet(s, w.Public).AssignPublicIP = true
			s.LaunchTemplates[0].PublicIP = "false"
		}, nodegroup(`"subnets": ["`+w.Public+`"]`, given), []string{"route/igw-no-public-ip " + w.Public}},
		{"a role that trusts another service", func(s *snapshot.Snapshot) {
			s.Roles[0].Trust = strings.Replace(s.Roles[0].Trust, "ec2", "ecs", 1)
		}, nodegroup(), []string{"iam/role-trust " + w.NodeRole}},
		{"a role without policies", func(s *snapshot.Snapshot) { s.Roles[0].Policies = nil }, nodegroup(), []string{"iam/role-policies " + w.NodeRole}},
		{"a role that is gone", func(s *snapshot.Snapshot) {
			s.Roles = nil
			gone(snapshot.Roles, w.NodeRole, "NoSuchEntity")(s)
		}, nodegroup(), []string{"refused/role nodeRole"}},
		{"roles may not be read", func(s *snapshot.Snapshot) {
			w.Without(s, snapshot.Roles)
			s.Failures[snapshot.Roles] = snapshot.Failure{Source: snapshot.Roles, Reason: snapshot.Denied, Call: "iam:GetRole", Code: "AccessDenied"}
		}, nodegroup(), []string{"? iam/role-policies iam:GetRole", "? iam/role-trust iam:GetRole", "? iam/cni-role-policies iam:GetRole", "? iam/access-stale iam:GetRole"}},
		{"no role's ARN", nil, nodegroup(`"nodeRole": "workers"`), []string{"refused/role nodeRole"}},
		{"another account's role", nil, nodegroup(`"nodeRole": "arn:aws:iam::999999999999:role/workers"`), []string{"refused/role nodeRole"}},
		{"a subnet that is not there", nil, nodegroup(`"subnets": ["subnet-0gone"]`), []string{"refused/subnet subnets"}},
		{"a subnet of another VPC", func(s *snapshot.Snapshot) { w.Subnet(s, w.Private).VPC = "vpc-0other" }, nodegroup(), []string{"refused/subnet subnets"}},
		{"a name that is taken", func(s *snapshot.Snapshot) { s.Nodegroups = []snapshot.Nodegroup{{Name: "batch"}} }, nodegroup(), []string{"refused/name-taken nodegroupName"}},
		{"sizes that contradict each other", nil, nodegroup(`"scalingConfig": {"minSize": 3}`), []string{"refused/scaling scalingConfig.desiredSize"}},
		{"a type for another architecture", func(s *snapshot.Snapshot) {
			s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m6g.large", Interfaces: 3, IPv4PerInterface: 10, Architectures: []string{"arm64"}, Hypervisor: "nitro"})
		}, nodegroup(`"instanceTypes": ["m6g.large"]`, `"amiType": "AL2023_x86_64_STANDARD"`), []string{"refused/ami-type amiType"}},
		{"Arm without an AMI type", func(s *snapshot.Snapshot) {
			s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m6g.large", Interfaces: 3, IPv4PerInterface: 10, Architectures: []string{"arm64"}, Hypervisor: "nitro"})
		}, nodegroup(`"instanceTypes": ["m6g.large"]`), []string{}},
		{"a type that EC2 refuses the question about", func(s *snapshot.Snapshot) {
			w.Without(s, snapshot.InstanceTypes)
			s.Failures[snapshot.InstanceTypes] = snapshot.Failure{Source: snapshot.InstanceTypes, Reason: snapshot.Broken, Code: "InvalidInstanceType", Message: "m9.mega"}
		}, nodegroup(), []string{"refused/instance-types instanceTypes"}},
		{"a disk beside a template", nil, nodegroup(given, `"diskSize": 100`), []string{"refused/disk-size diskSize"}},
		{"a disk that is too small", nil, nodegroup(`"diskSize": 10`), []string{"refused/disk-size diskSize"}},
		{"a key beside a template", nil, nodegroup(given, `"remoteAccess": {"ec2SshKey": "me"}`), []string{"refused/remote-access remoteAccess"}},
		{"a profile in the template", template(func(t *snapshot.LaunchTemplate) { t.Profile = "eks-workers" }), nodegroup(given), []string{"refused/template-profile launchTemplate"}},
		{"types in both", template(func(t *snapshot.LaunchTemplate) { t.Type = "m5.large" }), nodegroup(given), []string{"refused/instance-types instanceTypes"}},
		{"an image of one's own and an AMI type", template(func(t *snapshot.LaunchTemplate) { t.Image, t.UserData = w.AMI, []byte(w.NodeConfig) }),
			nodegroup(given, `"amiType": "AL2023_x86_64_STANDARD"`), []string{"refused/custom-image amiType"}},
		{"an image of one's own that is told where to join", template(func(t *snapshot.LaunchTemplate) { t.Image, t.UserData = w.AMI, []byte(w.NodeConfig) }), nodegroup(given), []string{}},
		{"an image of one's own that is told nothing", template(func(t *snapshot.LaunchTemplate) { t.Image = w.AMI }), nodegroup(given), []string{"instance/user-data lt-0a"}},
		{"metadata that is off", template(func(t *snapshot.LaunchTemplate) { t.Metadata.Endpoint = "disabled" }), nodegroup(given), []string{"instance/imds lt-0a"}},
		{"a template that is not there", gone(snapshot.LaunchTemplates, "lt-0gone version $Default", "InvalidLaunchTemplateId.NotFound"),
			nodegroup(`"launchTemplate": {"id": "lt-0gone"}`), []string{"refused/template launchTemplate"}},
		{"another version of Kubernetes", nil, nodegroup(`"version": "1.29"`), []string{"refused/version version"}},
		{"Amazon Linux 2 where there is none", func(s *snapshot.Snapshot) { s.Cluster.Version = "1.33" }, nodegroup(`"amiType": "AL2_x86_64"`), []string{"refused/ami-type amiType"}},
		{"an AMI type that nobody knows", nil, nodegroup(`"amiType": "AL2030_x86_64"`), []string{"refused/ami-type amiType"}},
		{"a taint's effect as Kubernetes writes it", nil, nodegroup(`"taints": [{"key": "a", "effect": "NoSchedule"}]`), []string{"refused/taints taints"}},
		{"the role has an entry of the wrong type", func(s *snapshot.Snapshot) {
			s.AccessEntries = []snapshot.AccessEntry{{Principal: w.NodeRole, Type: "STANDARD"}}
			s.Principals = []string{w.NodeRole}
		}, nodegroup(), []string{"iam/access-wrong-type " + w.NodeRole}},
		{"a domain name that is too long for a host of the subnet", func(s *snapshot.Snapshot) {
			s.DHCPOptions[0].DomainNames = []string{"a-rather-long-name-of-a-department.of-a-large-company.example.com"}
		}, nodegroup(), []string{"dns/dhcp-options " + w.DHCP}},
		{"a DNS firewall that blocks all", func(s *snapshot.Snapshot) {
			s.FirewallRules = []snapshot.FirewallRule{{VPC: w.VPC, Group: "rslvr-frg-0a", Name: "all", Action: "BLOCK", List: "rslvr-fdl-0a", Domains: []string{"*"}}}
		}, nodegroup(), []string{"dns/firewall rslvr-frg-0a"}},
		{"no address is left", func(s *snapshot.Snapshot) { w.Subnet(s, w.Private).Free = 0 }, nodegroup(), []string{"ip/subnet-exhausted " + w.Private}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := world()
			if tt.change != nil {
				tt.change(s)
			}
			v := judged(t, s, tt.text)
			expect.Same(t, "got", said(v), tt.want)
			for _, r := range v.Refused {
				if !strings.HasPrefix(r.Source, "https://docs.aws.amazon.com/") || r.Title == "" || r.Why == "" || r.Fix == "" {
					t.Errorf("%s is not told in full: %+v", r.ID, r)
				}
			}
		})
	}
}

// TestWouldNotDo holds that nothing planned is to be replaced, looked at or
// changed by a command, and that no remedy is offered.
func TestWouldNotDo(t *testing.T) {
	s := world()
	w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()}
	s.LaunchTemplates[0].Metadata.Endpoint = "disabled"
	for _, c := range judged(t, s, nodegroup(`"launchTemplate": {"id": "lt-0a", "version": "3"}`)).Causes {
		if text := c.Fix.Command + c.Fix.Console; strings.Contains(text, "planned-") || c.Fix.Remedy != "" || strings.Contains(c.Fix.Text, "eplace the instances") {
			t.Errorf("%s: %+v", c.Check, c.Fix)
		}
	}
}

func TestWithoutReplacing(t *testing.T) {
	for text, want := range map[string]string{
		"Lead 0.0.0.0/0 to a NAT gateway.":                                                   "Lead 0.0.0.0/0 to a NAT gateway.",
		"Then replace the instances. If it is private, do that.":                             "If it is private, do that.",
		"Set it in the template, and replace the instances.":                                 "Set it in the template.",
		"Make an access entry for the role. Waiting nodes then join without further action.": "Make an access entry for the role.",
	} {
		expect.Equal(t, fmt.Sprintf("%q", text), withoutReplacing(text), want)
	}
}

// lived is a well account with a nodegroup in it, of which nothing was read.
func lived() *snapshot.Snapshot {
	s := world()
	s.Subnets[0].Tags = map[string]string{"karpenter.sh/discovery": "prod"}
	for i := range s.Subnets {
		if s.Subnets[i].ID == w.Private {
			s.Subnets[i].Tags = map[string]string{"karpenter.sh/discovery": "prod"}
		} else {
			s.Subnets[i].Tags = nil
		}
	}
	s.AccessEntries = []snapshot.AccessEntry{{Principal: w.NodeRole, Type: "EC2_LINUX", Username: nodeUser, Groups: []string{"system:nodes"}}}
	s.Principals = []string{w.NodeRole}
	s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "m6g.large", CPUs: 2, Interfaces: 3, IPv4PerInterface: 10, Architectures: []string{"arm64"}, Hypervisor: "nitro"})
	s.Zones = []snapshot.Zone{{Name: "us-west-2a", ID: "usw2-az1", Kind: "availability-zone", State: "available"}, {Name: "us-west-2b", ID: "usw2-az2", Kind: "availability-zone", State: "available"}}
	return s
}

// pool is a NodePool and its class that go with it; each change replaces a text.
func pool(changes ...string) string {
	text := somePool + "---\n" + someClass
	text = strings.Replace(text, "role: workers", "role: "+w.NodeRole[strings.LastIndex(w.NodeRole, "/")+1:], 1)
	text = strings.Replace(text, "sg-0a", nodeGroupID(), 1)
	for i := 0; i+1 < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			panic(changes[i])
		}
		text = strings.Replace(text, changes[i], changes[i+1], 1)
	}
	return text
}

// byName changes a class to select its images by name.
var byName = []string{"amiSelectorTerms: [{alias: al2023@latest}]", "amiFamily: AL2023\n  amiSelectorTerms: [{name: mine-*}]"}

func mine(id, architecture string) snapshot.Image {
	return snapshot.Image{ID: id, Name: "mine-1.34-" + architecture, Architecture: architecture, State: "available", Owner: "111122223333"}
}

// selecting is an account in which a term selects images.
func selecting(term snapshot.SelectorTerm, images ...snapshot.Image) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		found := snapshot.SelectedImages{Term: term}
		for _, i := range images {
			found.Images = append(found.Images, i.ID)
		}
		s.Images, s.SelectedImages, s.Read[snapshot.Images] = images, []snapshot.SelectedImages{found}, true
	}
}

func nodeGroupID() string { return world().Cluster.SecurityGroup }

func TestJudgePools(t *testing.T) {
	inCluster := func(s *snapshot.Snapshot) {
		s.EC2NodeClasses = []snapshot.NodeClass{{
			Name: "default", Role: w.NodeRole[strings.LastIndex(w.NodeRole, "/")+1:], Images: []snapshot.SelectorTerm{{Alias: "al2023@latest"}},
			Subnets: []snapshot.SelectorTerm{{ID: w.Private}}, Groups: []snapshot.SelectorTerm{{ID: nodeGroupID()}},
		}}
	}
	for _, tt := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		text   string
		want   []string
	}{
		{"all is well", nil, pool(), []string{}},
		{"no route to the internet", func(s *snapshot.Snapshot) { w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()} }, pool(), []string{"route/no-egress " + w.PrivateRTB}},
		{"a class of the cluster", inCluster, strings.Split(pool(), "---")[0], []string{}},
		{"a class that is nowhere", nil, strings.Split(pool(), "---")[0], []string{"refused/node-class nodeClassRef"}},
		{"classes may not be read", func(s *snapshot.Snapshot) {
			w.Without(s, snapshot.EC2NodeClassesOf)
			s.Failures[snapshot.EC2NodeClassesOf] = snapshot.Failure{Source: snapshot.EC2NodeClassesOf, Reason: snapshot.Denied, Call: "kubernetes: list ec2nodeclasses"}
		}, strings.Split(pool(), "---")[0], []string{"? refused/node-class kubernetes: list ec2nodeclasses"}},
		{"no subnet", nil, pool("karpenter.sh/discovery: prod", "karpenter.sh/discovery: staging"), []string{"refused/subnet-selector subnetSelectorTerms"}},
		{"no security group", nil, pool("id: "+nodeGroupID(), "tags: {a: b}"), []string{"refused/group-selector securityGroupSelectorTerms"}},
		{"a zone without a subnet", nil, pool("- {key: node", "- {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2c]}\n      - {key: node"), []string{"refused/zone requirements"}},
		{"a zone by its id", nil, pool("- {key: node", "- {key: topology.k8s.aws/zone-id, operator: NotIn, values: [usw2-az1, usw2-az2]}\n      - {key: node"), []string{"refused/zone requirements"}},
		{"a type that no zone has", nil, pool("m5.large", "m9.mega"), []string{"refused/requirements requirements"}},
		{"requirements that nothing meets", nil, pool("- {key: node", "- {key: kubernetes.io/arch, operator: In, values: [arm64]}\n      - {key: node"), []string{"refused/requirements requirements"}},
		{"another system", nil, pool("- {key: node", "- {key: kubernetes.io/os, operator: In, values: [windows]}\n      - {key: node"), []string{"refused/requirements requirements"}},
		{"offers may not be read", func(s *snapshot.Snapshot) {
			w.Without(s, snapshot.TypeOfferingsOf)
			s.Failures[snapshot.TypeOfferingsOf] = snapshot.Failure{Source: snapshot.TypeOfferingsOf, Reason: snapshot.Denied, Call: "ec2:DescribeInstanceTypeOfferings"}
		}, pool(), []string{"? refused/type-offering ec2:DescribeInstanceTypeOfferings"}},
		{"a role and a profile", nil, pool("role:", "instanceProfile: workers\n  role:"), []string{"refused/role role"}},
		{"neither", nil, pool("role:", "context: a\n  #"), []string{"refused/role role"}},
		{"an alias that nobody knows", nil, pool("al2023@latest", "ubuntu@latest"), []string{"refused/ami-selector amiSelectorTerms"}},
		{"an alias and an id", nil, pool("{alias: al2023@latest}", "{alias: al2023@latest}, {id: ami-0a}"), []string{"refused/ami-selector amiSelectorTerms"}},
		{"an id of no family", nil, pool("alias: al2023@latest", "id: "+w.AMI), []string{"refused/ami-selector amiFamily"}},
		{"an id of a family", nil, pool("amiSelectorTerms: [{alias: al2023@latest}]", "amiFamily: AL2023\n  amiSelectorTerms: [{id: "+w.AMI+"}]"), []string{}},
		{"an image of one's own that is told nothing", nil, pool("amiSelectorTerms: [{alias: al2023@latest}]", "amiFamily: Custom\n  amiSelectorTerms: [{id: "+w.AMI+"}]"), []string{"instance/user-data ec2nodeclass/default"}},
		{"images by name", nil, pool("amiSelectorTerms: [{alias: al2023@latest}]", "amiFamily: AL2023\n  amiSelectorTerms: [{name: mine-*}]"), []string{"? refused/ami-selector ", "? instance/ami ", "? instance/version-skew "}},
		{"images by name that are there", selecting(snapshot.SelectorTerm{Name: "mine-*"}, mine("ami-0a", "x86_64"), mine("ami-0b", "arm64")), pool(byName...), []string{"? instance/version-skew "}},
		{"images by name of which there is none", selecting(snapshot.SelectorTerm{Name: "mine-*"}), pool(byName...), []string{"refused/ami-selector amiSelectorTerms"}},
		{"images by name that are gone", selecting(snapshot.SelectorTerm{Name: "mine-*"}, snapshot.Image{ID: "ami-0a", Architecture: "x86_64", State: "disabled"}), pool(byName...), []string{"refused/ami-selector amiSelectorTerms"}},
		{"images of another owner than were looked up", selecting(snapshot.SelectorTerm{Name: "mine-*", Owner: "222233334444"}, mine("ami-0a", "x86_64")), pool(byName...), []string{"? refused/ami-selector ", "? instance/ami ", "? instance/version-skew "}},
		{"images by tags, for an architecture that the NodePool does not allow", selecting(snapshot.SelectorTerm{Tags: map[string]string{"team": "web"}}, mine("ami-0b", "arm64")),
			pool("amiSelectorTerms: [{alias: al2023@latest}]", "amiFamily: AL2023\n  amiSelectorTerms: [{tags: {team: web}}]", "requirements:", "requirements:\n      - {key: kubernetes.io/arch, operator: In, values: [amd64]}\n     "), []string{"refused/requirements requirements"}},
		{"Amazon Linux 2 where there is none", func(s *snapshot.Snapshot) { s.Cluster.Version = "1.33" }, pool("al2023@latest", "al2@latest"), []string{"refused/ami-selector amiSelectorTerms"}},
		{"metadata that is off", nil, pool("role:", "metadataOptions: {httpEndpoint: disabled}\n  role:"), []string{"instance/imds ec2nodeclass/default"}},
		{"a class of Auto Mode in a cluster without it", nil, pool("karpenter.k8s.aws, kind: EC2NodeClass", "eks.amazonaws.com, kind: NodeClass", "karpenter.k8s.aws/v1\nkind: EC2NodeClass", "eks.amazonaws.com/v1\nkind: NodeClass",
			"  amiSelectorTerms: [{alias: al2023@latest}]\n", ""), []string{"refused/auto-mode nodeClassRef"}},
		{"a role that nobody lets in", func(s *snapshot.Snapshot) { s.AccessEntries, s.Principals = nil, nil }, pool(), []string{"iam/access-missing " + w.NodeRole}},
		{"a role under a path", func(s *snapshot.Snapshot) {
			s.Roles[0].Path = "/nodes/"
			s.AccessEntries[0].Principal = strings.Replace(w.NodeRole, ":role/", ":role/nodes/", 1)
			s.Principals[0] = s.AccessEntries[0].Principal
		}, pool(), []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := lived()
			if tt.change != nil {
				tt.change(s)
			}
			compareSaid(t, tt.want, judged(t, s, tt.text))
		})
	}
}

func compareSaid(t *testing.T, want []string, v Verdict) {
	t.Helper()
	expect.Same(t, "got", said(v), want)
	for _, r := range v.Refused {
		if !strings.HasPrefix(r.Source, "https://docs.aws.amazon.com/") && !strings.HasPrefix(r.Source, "https://karpenter.sh/docs/") || r.Title == "" || r.Why == "" || r.Fix == "" {
			t.Errorf("%s is not told in full: %+v", r.ID, r)
		}
	}
}

// TestRepresent holds that a node of each architecture is judged, of a small type
// that is not the smallest.
func TestRepresent(t *testing.T) {
	s := lived()
	s.InstanceTypes = append(s.InstanceTypes, snapshot.InstanceType{Name: "t3.medium", CPUs: 1, Architectures: []string{"x86_64"}})
	d := Draft{Plan: mustParse(t, pool("key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]", "key: karpenter.k8s.aws/instance-size, operator: Exists, values: []")), S: s}
	d.Announce()
	d.Settle()
	d.Place()
	expect.Same(t, "types", d.fleets[0].types, []string{"m6g.large", "m5.large"})
}

func mustParse(t *testing.T, text string) Plan {
	t.Helper()
	p, err := Parse([]byte(text))
	expect.OK(t, err)
	return p
}

func TestMeets(t *testing.T) {
	for _, tt := range []struct {
		operator string
		values   []string
		value    string
		want     bool
	}{
		{"In", []string{"a", "b"}, "b", true}, {"In", []string{"a"}, "b", false}, {"NotIn", []string{"a"}, "b", true}, {"NotIn", []string{"a"}, "a", false},
		{"Gt", []string{"4"}, "5", true}, {"Gt", []string{"5"}, "5", false}, {"Gte", []string{"5"}, "5", true}, {"Lt", []string{"5"}, "5", false}, {"Lt", []string{"6"}, "5", true}, {"Lte", []string{"5"}, "5", true},
		{"Gt", nil, "5", false}, {"Gt", []string{"4"}, "a", false}, {"Exists", nil, "a", true}, {"DoesNotExist", nil, "a", false}, {"DoesNotExist", nil, "", true},
	} {
		expect.Equal(t, fmt.Sprintf("%s %s %q", tt.value, tt.operator, tt.values), meets(snapshot.Requirement{Operator: tt.operator, Values: tt.values}, tt.value), tt.want)
	}
}

func TestLabelsOfName(t *testing.T) {
	for name, want := range map[string]string{
		"m5.large": "m 5 m5 large", "c7gn.16xlarge": "c 7 c7gn 16xlarge", "u-6tb1.112xlarge": "u 1 u-6tb1 112xlarge", "inf2.xlarge": "inf 2 inf2 xlarge", "mac2-m2.metal": "mac 2 mac2-m2 metal",
	} {
		l := labelsOfName(name)
		expect.Equal(t, name, fmt.Sprint(l["instance-category"], " ", l["instance-generation"], " ", l["instance-family"], " ", l["instance-size"]), want)
	}
}

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// template is a launch template of one's own that goes with the world.
func template(changes ...string) string {
	text := fmt.Sprintf(`{"LaunchTemplateName": "mine", "LaunchTemplateData": {"ImageId": %q, "InstanceType": "m5.large", "UserData": %q, "SecurityGroupIds": [%q], "IamInstanceProfile": {"Arn": %q}}}`,
		w.AMI, inBase64(w.NodeConfig), nodeGroupID(), world().Profiles[0].ARN)
	for i := 0; i+1 < len(changes); i += 2 {
		if !strings.Contains(text, changes[i]) {
			panic(changes[i])
		}
		text = strings.Replace(text, changes[i], changes[i+1], 1)
	}
	return text
}

func TestJudgeTemplates(t *testing.T) {
	used := func(change func(*snapshot.Nodegroup)) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			g := snapshot.Nodegroup{Name: "workers", Status: "ACTIVE", Subnets: []string{w.Private}, Role: w.NodeRole, AMIType: "AL2023_x86_64_STANDARD", Types: []string{"m5.large"}, Template: snapshot.TemplateRef{ID: "lt-0mine", Version: "1"}}
			if change != nil {
				change(&g)
			}
			s.Nodegroups = []snapshot.Nodegroup{g}
			s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: "lt-0mine", Name: "mine", Version: "1", Default: true}}
		}
	}
	foreign := func(associated map[string]string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			other := s.SecurityGroups[slices.IndexFunc(s.SecurityGroups, func(g snapshot.SecurityGroup) bool { return g.ID == nodeGroupID() })]
			other.ID, other.VPC, other.Associated = "sg-0other", "vpc-0other", associated
			s.SecurityGroups = append(s.SecurityGroups, other)
		}
	}
	const next = `{"LaunchTemplateId": "lt-0mine", "LaunchTemplateData": {"MetadataOptions": {"HttpEndpoint": "disabled"}}}`
	gone := func(s *snapshot.Snapshot) {
		s.LaunchTemplates = nil
		s.Lack(snapshot.LaunchTemplates, "lt-0gone version $Default", snapshot.Failure{Source: snapshot.LaunchTemplates, Reason: snapshot.Broken, Code: "InvalidLaunchTemplateId.NotFound"})
		s.Lack(snapshot.LaunchTemplates, "lt-0gone", snapshot.Failure{Source: snapshot.LaunchTemplates, Reason: snapshot.Broken, Code: "InvalidLaunchTemplateId.NotFound"})
	}
	for _, tt := range []struct {
		name   string
		change func(*snapshot.Snapshot)
		text   string
		want   []string
	}{
		{"all is well", nil, template(), []string{}},
		{"as it was read", nil, `{"LaunchTemplateVersions": [` + strings.Replace(template(), `{"LaunchTemplateName"`, `{"VersionNumber": 4, "CreateTime": "2026-11-20T15:00:00Z", "LaunchTemplateName"`, 1) + "]}", []string{}},
		{"no image", nil, template(fmt.Sprintf(`"ImageId": %q, `, w.AMI), ""), []string{"refused/image LaunchTemplateData.ImageId"}},
		{"no type", nil, template(`"InstanceType": "m5.large", `, ""), []string{"? refused/instance-types ", "? instance/max-pods "}},
		{"no profile", nil, template(fmt.Sprintf(`, "IamInstanceProfile": {"Arn": %q}`, world().Profiles[0].ARN), ""), []string{"iam/profile-missing mine"}},
		{"groups twice", nil, template(`"UserData"`, `"NetworkInterfaces": [{"DeviceIndex": 0}], "UserData"`), []string{"refused/groups-twice LaunchTemplateData.SecurityGroupIds"}},
		{"a group that is not there", nil, template(nodeGroupID(), "sg-0gone"), []string{"refused/security-group LaunchTemplateData.SecurityGroupIds"}},
		{"a group of another VPC that is associated", foreign(map[string]string{w.VPC: "associated"}), template(nodeGroupID(), "sg-0other"), []string{}},
		{"a group of another VPC", foreign(map[string]string{}), template(nodeGroupID(), "sg-0other"), []string{"refused/security-group LaunchTemplateData.SecurityGroupIds"}},
		{"a group of another VPC that is being associated", foreign(map[string]string{w.VPC: "associating"}), template(nodeGroupID(), "sg-0other"), []string{"? refused/security-group "}},
		{"a group of another VPC, and associations are not read", func(s *snapshot.Snapshot) {
			foreign(nil)(s)
			w.Without(s, snapshot.GroupAssociations)
		}, template(nodeGroupID(), "sg-0other"), []string{"? refused/security-group test:Read security group associations"}},
		{"too much user data", nil, template(inBase64(w.NodeConfig), inBase64(w.NodeConfig+strings.Repeat("#", 16<<10))), []string{"refused/user-data-size LaunchTemplateData.UserData"}},
		{"no user data", nil, template(inBase64(w.NodeConfig), ""), []string{"instance/user-data mine"}},
		{"a type that the zone does not have", func(s *snapshot.Snapshot) { s.TypeOfferings = nil }, template(), []string{"refused/type-offering LaunchTemplateData.InstanceType"}},
		{"a subnet of the interface that is not there", nil, template(`"SecurityGroupIds": [`+fmt.Sprintf("%q", nodeGroupID())+`]`, `"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": "subnet-0gone"}]`), []string{"refused/subnet subnets"}},
		{"the next version of a nodegroup's", used(nil), next, []string{"instance/imds lt-0mine"}},
		{"one that names a profile", used(nil), `{"LaunchTemplateId": "lt-0mine", "LaunchTemplateData": {"IamInstanceProfile": {"Name": "a"}}}`, []string{"refused/template-profile LaunchTemplateData"}},
		{"one that names the types too", used(nil), `{"LaunchTemplateId": "lt-0mine", "LaunchTemplateData": {"InstanceType": "m6g.large"}}`, []string{"refused/instance-types instanceTypes"}},
		{"on top of a version with its metadata off", func(s *snapshot.Snapshot) {
			used(nil)(s)
			s.LaunchTemplates[0].Metadata.Endpoint = "disabled"
		}, `{"LaunchTemplateId": "lt-0mine", "SourceVersion": "1", "LaunchTemplateData": {"EbsOptimized": true}}`, []string{"instance/imds lt-0mine"}},
		{"a new version of nothing", gone, `{"LaunchTemplateId": "lt-0gone", "LaunchTemplateData": {}}`, []string{"refused/template LaunchTemplateId"}},
		{"on top of what is not there", gone, `{"LaunchTemplateId": "lt-0gone", "SourceVersion": "$Default", "LaunchTemplateData": {}}`, []string{"refused/template LaunchTemplateId"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := lived()
			s.Cluster.Subnets = []string{w.Private}
			if tt.change != nil {
				tt.change(s)
			}
			compareSaid(t, tt.want, judged(t, s, tt.text))
		})
	}
}

func TestJudgeSubnets(t *testing.T) {
	planned := func(cidr, more string) string {
		return fmt.Sprintf(`{"VpcId": %q, "CidrBlock": %q%s}`, w.VPC, cidr, more)
	}
	id := func(id string) Plan {
		p, err := ParseSubnet(id)
		expect.OK(t, err)
		return p
	}
	workers := func(s *snapshot.Snapshot) {
		s.Nodegroups = []snapshot.Nodegroup{{Name: "workers", Status: "ACTIVE", Subnets: []string{w.Public}, Role: w.NodeRole, AMIType: "AL2023_x86_64_STANDARD", Types: []string{"m5.large"}}}
	}
	out := func(s *snapshot.Snapshot) { w.Table(s, w.MainRTB).Routes = w.Table(s, w.PrivateRTB).Routes }
	for _, tt := range []struct {
		name   string
		change []func(*snapshot.Snapshot)
		plan   Plan
		want   []string
	}{
		{"one that is there", nil, id(w.Private), []string{}},
		{"one with a nodegroup's next node", []func(*snapshot.Snapshot){workers}, id(w.Private), []string{}},
		{"a nodegroup whose role is not let in", []func(*snapshot.Snapshot){workers, func(s *snapshot.Snapshot) { s.AccessEntries, s.Principals = nil, nil }}, id(w.Private), []string{"iam/access-missing " + w.NodeRole}},
		{"one without a route to the internet", []func(*snapshot.Snapshot){func(s *snapshot.Snapshot) { w.Table(s, w.PrivateRTB).Routes = []snapshot.Route{w.Local()} }}, id(w.Private), []string{"route/no-egress " + w.PrivateRTB}},
		{"one that is not there", nil, id("subnet-0gone"), []string{"refused/subnet subnet"}},
		{"planned, by the main table", nil, mustParse(t, planned("10.42.64.0/24", "")), []string{"route/no-egress " + w.MainRTB}},
		{"planned, with a main table that leads out", []func(*snapshot.Snapshot){out}, mustParse(t, planned("10.42.64.0/24", `, "AvailabilityZone": "us-west-2a"`)), []string{}},
		{"planned, by the id of its zone", []func(*snapshot.Snapshot){out, workers}, mustParse(t, planned("10.42.64.0/24", `, "AvailabilityZoneId": "usw2-az1"`)), []string{}},
		{"in a zone that is none", []func(*snapshot.Snapshot){out}, mustParse(t, planned("10.42.64.0/24", `, "AvailabilityZone": "us-west-2z"`)), []string{"refused/zone AvailabilityZone"}},
		{"a range that is taken", nil, mustParse(t, planned("10.42.200.0/24", "")), []string{"refused/range CidrBlock"}},
		{"a range of another network", nil, mustParse(t, planned("192.168.0.0/24", "")), []string{"refused/range CidrBlock"}},
		{"a range that is too small", nil, mustParse(t, planned("10.42.64.0/29", "")), []string{"refused/range CidrBlock"}},
		{"a range that is too large", nil, mustParse(t, planned("10.0.0.0/8", "")), []string{"refused/range CidrBlock"}},
		{"IPv6 that the VPC does not have", nil, mustParse(t, planned("10.42.64.0/24", `, "Ipv6CidrBlock": "2600:1f14::/64"`)), []string{"refused/range Ipv6CidrBlock"}},
		{"another VPC", nil, mustParse(t, strings.Replace(planned("10.42.64.0/24", ""), w.VPC, "vpc-0other", 1)), []string{"refused/subnet VpcId"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := lived()
			for _, change := range tt.change {
				change(s)
			}
			d := Draft{Plan: tt.plan, S: s}
			d.Announce()
			d.Settle()
			d.Place()
			d.Complete()
			compareSaid(t, tt.want, d.Judge())
		})
	}
}

// TestOffered holds that a zone without the types is named where another has them,
// and that no node is judged there.
func TestOffered(t *testing.T) {
	s := world()
	w.Subnet(s, w.Public).Zone = "us-west-2b"
	w.Subnet(s, w.Public).AssignPublicIP = true
	s.TypeOfferings = []snapshot.TypeOffering{{Type: "m5.large", Zones: []string{w.Zone}}}
	v := judged(t, s, nodegroup(fmt.Sprintf(`"subnets": [%q, %q]`, w.Private, w.Public)))
	var advice []string
	for _, c := range v.Causes {
		if c.Confidence == finding.Advice && strings.HasPrefix(string(c.Check), refused) {
			advice = append(advice, c.Title)
		}
	}
	if diff := cmp.Diff([]string{"us-west-2b does not have m5.large"}, advice); diff != "" || v.Fails() {
		t.Errorf("fails: %t, advice (-want +got):\n%s", v.Fails(), diff)
	}
	s = world()
	s.TypeOfferings = []snapshot.TypeOffering{{Type: "m5.large", Zones: []string{"us-west-2c"}}}
	compareSaid(t, []string{"refused/type-offering instanceTypes"}, judged(t, s, nodegroup()))
}

// TestTypesByTheirOwnData: requirements are held against what EC2 says of a type, as
// Karpenter does; a label that a type does not have is not there.
func TestTypesByTheirOwnData(t *testing.T) {
	small := snapshot.InstanceType{
		Name: "m5.large", CPUs: 2, Hypervisor: "nitro", Architectures: []string{"x86_64"}, MemoryMiB: 8192, CPUMaker: "Intel", EBSMbps: 4750,
	}
	gpu := snapshot.InstanceType{
		Name: "g5.xlarge", CPUs: 4, Hypervisor: "nitro", Architectures: []string{"x86_64"}, MemoryMiB: 16384, CPUMaker: "AMD", EBSMbps: 3500, LocalNVMeGB: 250, EncryptsInTransit: true,
		GPU: snapshot.Device{Name: "A10G", Maker: "NVIDIA", Count: 1, MemoryMiB: 24576},
	}
	inf := snapshot.InstanceType{Name: "inf2.xlarge", CPUs: 4, Architectures: []string{"x86_64"}, MemoryMiB: 16384, Accelerator: snapshot.Device{Name: "Inferentia 2", Maker: "AWS", Count: 1}}
	for _, tt := range []struct {
		key, operator string
		values        []string
		small, gpu    bool
	}{
		{"instance-memory", "Gt", []string{"8192"}, false, true},
		{"instance-memory", "Gte", []string{"8192"}, true, true},
		{"instance-memory", "In", []string{"8192"}, true, false},
		{"instance-cpu-manufacturer", "In", []string{"amd"}, false, true},
		{"instance-cpu-manufacturer", "NotIn", []string{"amd"}, true, false},
		{"instance-ebs-bandwidth", "Gt", []string{"4000"}, true, false},
		{"instance-local-nvme", "Exists", nil, false, true},
		{"instance-local-nvme", "Gt", []string{"300"}, false, false},
		{"instance-encryption-in-transit-supported", "In", []string{"true"}, false, true},
		{"instance-gpu-count", "Exists", nil, false, true},
		{"instance-gpu-count", "Gt", []string{"1"}, false, false},
		{"instance-gpu-name", "In", []string{"a10g", "t4"}, false, true},
		{"instance-gpu-name", "DoesNotExist", nil, true, false},
		{"instance-gpu-manufacturer", "In", []string{"nvidia"}, false, true},
		{"instance-gpu-memory", "Gte", []string{"24576"}, false, true},
		{"instance-accelerator-count", "DoesNotExist", nil, true, true},
		{"instance-accelerator-name", "In", []string{"inferentia-2"}, false, false},
		{"instance-network-bandwidth", "Gt", []string{"100000"}, true, true}, // only Karpenter has it
	} {
		for _, group := range []string{snapshot.KarpenterGroup, snapshot.AutoModeGroup} {
			n := &nodes{pool: &snapshot.NodePool{Requirements: []snapshot.Requirement{{Key: group + "/" + tt.key, Operator: tt.operator, Values: tt.values}}}}
			if n.fits(small) != tt.small || n.fits(gpu) != tt.gpu {
				t.Errorf("%s/%s %s %v: m5.large %v, g5.xlarge %v", group, tt.key, tt.operator, tt.values, n.fits(small), n.fits(gpu))
			}
		}
	}
	for _, r := range []snapshot.Requirement{
		{Key: "karpenter.k8s.aws/instance-accelerator-name", Operator: "In", Values: []string{"inferentia-2"}}, {Key: "karpenter.k8s.aws/instance-accelerator-manufacturer", Operator: "In", Values: []string{"aws"}},
		{Key: "karpenter.k8s.aws/instance-accelerator-count", Operator: "In", Values: []string{"1"}}, {Key: "karpenter.k8s.aws/instance-gpu-count", Operator: "DoesNotExist"},
	} {
		if n := (&nodes{pool: &snapshot.NodePool{Requirements: []snapshot.Requirement{r}}}); !n.fits(inf) {
			t.Errorf("inf2.xlarge does not meet %+v", r)
		}
	}
	// What was not read keeps no type out.
	small.MemoryMiB = 0
	if n := (&nodes{pool: &snapshot.NodePool{Requirements: []snapshot.Requirement{{Key: "karpenter.k8s.aws/instance-memory", Operator: "Gt", Values: []string{"1"}}}}}); !n.fits(small) {
		t.Error("a type of which the memory was not read does not fit")
	}
}

const someNodegroup = `{"clusterName": "prod", "nodegroupName": "batch", "subnets": ["subnet-0private"], "nodeRole": "arn:aws:iam::123456789012:role/node"}`

const somePool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: batch
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}
`

const someClass = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: workers
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{id: sg-0a}]
`

// TestParseManifests holds that documents, lists and JSON are read alike, and what a
// NodePool of a cluster has beside its spec is no fault.
func TestParseManifests(t *testing.T) {
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(somePool), "\n", "\n  ") + "\n- " + strings.ReplaceAll(strings.TrimSpace(someClass), "\n", "\n  ") + "\n"
	read := strings.Replace(somePool, "  name: batch\n", "  name: batch\n  uid: 0a\n  generation: 3\n", 1) + "status: {conditions: []}\n"
	inJSON := `{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "batch"}, "spec": {"template": {"spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}}}`
	for name, text := range map[string]string{"documents": somePool + "---\n" + someClass + "---\n", "a list": list, "as read": read, "JSON": inJSON} {
		p, err := Parse([]byte(text))
		if err != nil || p.Kind != NodePool || p.Name != "batch" || len(p.Pools.pools) != 1 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestParseTemplateRef(t *testing.T) {
	for text, want := range map[string]string{
		"lt-0abc:7": "7", "lt-0abc": "$Default", "lt-0abc:$Latest": "$Latest", "lt-0abc:": "", "lt-0abc:0": "", "lt-0abc:newest": "", "workers:1": "", "lt-": "",
	} {
		p, err := ParseTemplateRef(text)
		var m *Misunderstood
		switch {
		case want == "" && !errors.As(err, &m):
			t.Errorf("%s: %+v, %v", text, p, err)
		case want != "" && (err != nil || p.Template.ref.ID != "lt-0abc" || p.Template.ref.Version != want):
			t.Errorf("%s: %+v, %v", text, p.Template, err)
		}
	}
}

func TestParseNodegroup(t *testing.T) {
	p, err := Parse([]byte("\xef\xbb\xbf " + someNodegroup))
	expect.OK(t, err)
	want := Plan{Kind: Nodegroup, Name: "batch", Cluster: "prod", Nodegroup: &NodegroupPlan{
		ClusterName: "prod", NodegroupName: "batch", Subnets: []string{"subnet-0private"}, NodeRole: "arn:aws:iam::123456789012:role/node",
	}}
	expect.Same(t, "got", p, want)
}

func TestMisunderstood(t *testing.T) {
	with := func(field string) string { return strings.TrimSuffix(someNodegroup, "}") + ", " + field + "}" }
	for _, tt := range []struct{ name, text, at, why string }{
		{"nothing", " \n", "", "the file is empty"},
		{"a text", "hello", "", "none of what can be judged"},
		{"two kinds at once", with(`"CidrBlock": "10.0.0.0/24", "VpcId": "vpc-0a"`), "", "two kinds of things at once"},
		{"what describe-subnets printed", `{"Subnets": []}`, "Subnets", "name one by its id, with -subnet"},
		{"a template without a name", `{"LaunchTemplateData": {}}`, "LaunchTemplateName", "requires LaunchTemplateId or LaunchTemplateName"},
		{"a template's field that nobody has", `{"LaunchTemplateName": "a", "LaunchTemplateData": {"Subnet": "subnet-0a"}}`, "LaunchTemplateData.Subnet", "no such field"},
		{"several versions", `{"LaunchTemplateVersions": [{"LaunchTemplateId": "lt-0a"}, {"LaunchTemplateId": "lt-0a"}]}`, "LaunchTemplateVersions", "it holds 2 versions"},
		{"a subnet without a VPC", `{"CidrBlock": "10.0.0.0/24"}`, "VpcId", "create-subnet requires it"},
		{"a subnet without a range", `{"VpcId": "vpc-0a"}`, "CidrBlock", "needed here"},
		{"a range that is none", `{"VpcId": "vpc-0a", "CidrBlock": "10.0.0.0"}`, "CidrBlock", "is no range"},
		{"broken YAML", "kind: [NodePool\napiVersion: karpenter.sh/v1\n", "", "it is not YAML: line 1"},
		{"a class alone", someClass, "", "a class alone launches nothing"},
		{"another kind", "apiVersion: apps/v1\nkind: Deployment\n", "kind", "Deployment of apps/v1 is none of what can be judged"},
		{"another kind beside", somePool + "---\napiVersion: apps/v1\nkind: Deployment\n", "kind", "a Deployment of apps/v1 beside NodePools: take it out"},
		{"an unknown version", strings.Replace(somePool, "karpenter.sh/v1", "karpenter.sh/v1beta1", 1), "apiVersion", "write the NodePool as karpenter.sh/v1"},
		{"a NodePool twice", somePool + "---\n" + somePool, "metadata.name", "holds the NodePool batch twice"},
		{"a NodePool's field that nobody has", strings.Replace(somePool, "requirements:", "provider:", 1), "spec.template.spec.provider", "NodePool has no such field"},
		{"an operator that is none", strings.Replace(somePool, "operator: In", "operator: Is", 1), "spec.template.spec.requirements[0].operator", `"Is" is no operator`},
		{"a class of nobody's", strings.Replace(somePool, "kind: EC2NodeClass", "kind: NodeClass", 1), "spec.template.spec.nodeClassRef", "want EC2NodeClass of karpenter.k8s.aws, or NodeClass of eks.amazonaws.com"},
		{"no class", strings.Replace(somePool, "name: default", "name: ''", 1), "spec.template.spec.nodeClassRef", "must name group, kind and name"},
		{"a NodePool without a name", strings.Replace(somePool, "name: batch", "labels: {}", 1), "metadata.name", "must have a name"},
		{"no JSON", "{\n  \"clusterName\": prod\n}", "", "it is not JSON: line 2"},
		{"cut", `{"clusterName": "prod"`, "", "it ends too early"},
		{"two documents", someNodegroup + someNodegroup, "", "more than one JSON document"},
		{"something else", `{"Reservations": []}`, "", "none of what can be judged"},
		{"what exists", `{"nodegroup": {"nodegroupName": "batch"}}`, "nodegroup", "this nodegroup exists"},
		{"a field that nobody has", with(`"colour": "red"`), "colour", "create-nodegroup has no such field"},
		{"capitals", with(`"InstanceTypes": ["m5.large"]`), "InstanceTypes", "no such field"},
		{"a field below", with(`"scalingConfig": {"min": 1}`), "scalingConfig.min", "no such field"},
		{"a field in a list", with(`"taints": [{"key": "a", "operator": "Equal"}]`), "taints[0].operator", "no such field"},
		{"a text in place of a number", with(`"diskSize": "20"`), "diskSize", "want a whole number, got string"},
		{"a text in place of a list", with(`"instanceTypes": "m5.large"`), "instanceTypes", "want a list, got string"},
		{"no role", strings.Replace(someNodegroup, `"nodeRole"`, `"tags": {}, "version"`, 1), "nodeRole", "create-nodegroup requires it"},
		{"no subnets", strings.Replace(someNodegroup, `["subnet-0private"]`, "[]", 1), "subnets", "requires it"},
		{"too large", "{" + strings.Repeat(" ", most) + "}", "", "larger than 1024 KiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.text))
			var m *Misunderstood
			if !errors.As(err, &m) || m.At != tt.at || !strings.Contains(m.Why, tt.why) || strings.Contains(m.Error(), "\n") {
				t.Errorf("got %v, want %q: …%s…, in one line", err, tt.at, tt.why)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(someNodegroup))
	f.Add([]byte("apiVersion: karpenter.sh/v1\nkind: NodePool\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		var m *Misunderstood
		if err != nil && !errors.As(err, &m) || err == nil && p.Kind == "" {
			t.Errorf("%v, %v", p, err)
		}
	})
}
