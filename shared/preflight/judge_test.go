package preflight

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
	w "rollcall/shared/snapshot/snapshottest"
)

// world is a well account in which nobody has launched anything.
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
	if err != nil {
		t.Fatal(err)
	}
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
			if diff := cmp.Diff(tt.want, said(v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
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
		"Lead 0.0.0.0/0 to a NAT gateway.":                                           "Lead 0.0.0.0/0 to a NAT gateway.",
		"Then replace the instances. If it is private, do that.":                     "If it is private, do that.",
		"Set it in the template, and replace the instances.":                         "Set it in the template.",
		"Make an access entry for the role. The nodes that wait join by themselves.": "Make an access entry for the role.",
	} {
		if got := withoutReplacing(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
