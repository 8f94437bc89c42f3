package preflight

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// lived is a well account with a nodegroup in it, of which nobody looks.
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
	if diff := cmp.Diff(want, said(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
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
	if diff := cmp.Diff([]string{"m6g.large", "m5.large"}, d.fleets[0].types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

func mustParse(t *testing.T, text string) Plan {
	t.Helper()
	p, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
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
		if got := meets(snapshot.Requirement{Operator: tt.operator, Values: tt.values}, tt.value); got != tt.want {
			t.Errorf("%s %s %q: got %t", tt.value, tt.operator, tt.values, got)
		}
	}
}

func TestLabelsOfName(t *testing.T) {
	for name, want := range map[string]string{
		"m5.large": "m 5 m5 large", "c7gn.16xlarge": "c 7 c7gn 16xlarge", "u-6tb1.112xlarge": "u 1 u-6tb1 112xlarge", "inf2.xlarge": "inf 2 inf2 xlarge", "mac2-m2.metal": "mac 2 mac2-m2 metal",
	} {
		l := labelsOfName(name)
		if got := fmt.Sprint(l["instance-category"], " ", l["instance-generation"], " ", l["instance-family"], " ", l["instance-size"]); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
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
		if err != nil {
			t.Fatal(err)
		}
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
		if c.Confidence == checks.Advice && strings.HasPrefix(string(c.Check), refused) {
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
