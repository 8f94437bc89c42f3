package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// outsider is a world whose cluster does not know the nodes' role.
func outsider() (*snapshot.Snapshot, Subject) {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	s.AccessEntries, s.Principals = nil, nil
	s.Groups[0].Instances = []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: "InService"}}
	return s, Subject{
		Remedy: CreateAccessEntry, Cluster: snapshottest.ClusterName, Check: "iam/access-missing", Resource: snapshottest.NodeRole, Covers: []string{snapshottest.Node},
		Roles: []string{snapshottest.NodeRole},
	}
}

const strangersRole = "arn:aws:iam::123456789012:role/stranger"

// stranger starts an instance by hand that has the cluster's tag, and whatever
// else a person can set, and a role of its own. The check finds it like a node's.
func stranger(s *snapshot.Snapshot, of *Subject, role string) *snapshot.Instance {
	profile := snapshot.Profile{ARN: "arn:aws:iam::123456789012:instance-profile/stranger", Name: "stranger", Roles: []string{role}}
	s.Profiles = append(s.Profiles, profile)
	missed(s)
	in := snapshottest.Instance(s, stuck)
	in.Profile = profile.ARN
	in.Tags = map[string]string{"kubernetes.io/cluster/prod": "owned", "eks:cluster-name": "prod", "eks:nodegroup-name": snapshottest.Nodegroup, "eks:eks-cluster-name": "prod"}
	of.Resource, of.Covers = role, []string{stuck}
	return in
}

// The wrong target first: the cluster's tag is one that anybody may set who may
// start an instance, and the role of such an instance is anybody's.
func TestCreateAccessEntryForAStranger(t *testing.T) {
	named := func(of *Subject) { of.Roles = append(of.Roles, of.Resource) }
	pool := func(change func(*snapshot.Instance)) func(*snapshot.Snapshot, *Subject) {
		return func(s *snapshot.Snapshot, of *Subject) {
			in := stranger(s, of, strangersRole)
			in.Tags["karpenter.sh/nodepool"], in.Tags["karpenter.k8s.aws/ec2nodeclass"] = "default", "default"
			change(in)
			named(of)
		}
	}
	for _, test := range []wrong{
		{"an instance with the cluster's tag, a role that nobody named", func(s *snapshot.Snapshot, of *Subject) { stranger(s, of, strangersRole) }, RoleNotNamed},
		{"no role is named at all", func(s *snapshot.Snapshot, of *Subject) { of.Roles = nil }, RoleNotNamed},
		{"a name is not a prefix", func(s *snapshot.Snapshot, of *Subject) {
			of.Roles = []string{snapshottest.NodeRole + "2", "arn:aws:iam::123456789012:role/work*"}
		}, RoleNotNamed},
		{"the cluster's tag and its nodegroup's, set by hand, a role that is named", func(s *snapshot.Snapshot, of *Subject) {
			stranger(s, of, strangersRole)
			named(of)
		}, NotLaunchedByIt},
		{"a stranger's instance with the nodes' own role", func(s *snapshot.Snapshot, of *Subject) { stranger(s, of, snapshottest.NodeRole) }, NotLaunchedByIt},
		{"a node's and a stranger's instance have the role", func(s *snapshot.Snapshot, of *Subject) {
			stranger(s, of, snapshottest.NodeRole)
			of.Covers = []string{snapshottest.Node, stuck}
		}, NotLaunchedByIt},
		{"the tag of a group of the cluster that does not count it", func(s *snapshot.Snapshot, of *Subject) {
			stranger(s, of, strangersRole).Tags["aws:autoscaling:groupName"] = s.Groups[0].Name
			named(of)
		}, NotTheGroups},
		{"a group that was not read", func(s *snapshot.Snapshot, of *Subject) {
			stranger(s, of, strangersRole).Tags["aws:autoscaling:groupName"] = "elsewhere"
			named(of)
		}, CouldNotLook},
		{"a stranger's group, which is the cluster's by no tag of its own", strangersGroup(nil), OtherCluster},
		{"a stranger's group that shares the cluster", strangersGroup(map[string]string{"kubernetes.io/cluster/prod": "shared"}), OtherCluster},
		{"another cluster's group", strangersGroup(map[string]string{"kubernetes.io/cluster/dev": "owned"}), OtherCluster},
		{"another cluster's nodegroup", func(s *snapshot.Snapshot, of *Subject) {
			strangersGroup(nil)(s, of)
			s.Nodegroups = append(s.Nodegroups, snapshot.Nodegroup{Name: "dev", Cluster: "dev", Groups: []string{"strangers"}})
		}, OtherCluster},
		{"a NodePool of another cluster", pool(func(in *snapshot.Instance) { in.Tags["eks:eks-cluster-name"] = "dev" }), NotLaunchedByIt},
		{"a NodePool, shared", pool(func(in *snapshot.Instance) { in.Tags["kubernetes.io/cluster/prod"] = "shared" }), NotLaunchedByIt},
		{"a NodePool without a class", pool(func(in *snapshot.Instance) { delete(in.Tags, "karpenter.k8s.aws/ec2nodeclass") }), NotLaunchedByIt},
		{"a class without a NodePool", pool(func(in *snapshot.Instance) { delete(in.Tags, "karpenter.sh/nodepool") }), NotLaunchedByIt},
	} {
		s, of := outsider()
		test.wrong(s, &of)
		found := saying(of.Check, checks.Finding{Outcome: checks.Fail, Resource: of.Resource})
		if p, no := makeWith(s, of, found); no == nil || no.Reason != test.want || no.Says == "" {
			t.Errorf("%s: planned %v, refused %+v; want %s", test.name, p.Steps(), no, test.want)
		}
	}
}

// strangersGroup is an Auto Scaling group that launches instances with the
// cluster's tag.
func strangersGroup(tags map[string]string) func(*snapshot.Snapshot, *Subject) {
	return func(s *snapshot.Snapshot, of *Subject) {
		stranger(s, of, strangersRole).Tags["aws:autoscaling:groupName"] = "strangers"
		s.Groups = append(s.Groups, snapshot.Group{Name: "strangers", Tags: tags, Instances: []snapshot.GroupInstance{{ID: stuck, Lifecycle: "InService"}}})
		of.Roles = append(of.Roles, of.Resource)
	}
}

// What launched the instances stands in the plan; where tags alone say it, the
// plan says that too.
func TestCreateAccessEntryNamesTheLauncher(t *testing.T) {
	for _, test := range []struct {
		name string
		more func(*snapshot.Snapshot, *Subject)
		want Access
	}{
		{"a nodegroup", func(*snapshot.Snapshot, *Subject) {}, Access{LaunchedBy: []string{"nodegroup workers"}}},
		{"a group of one's own", func(s *snapshot.Snapshot, _ *Subject) { s.Nodegroups = nil }, Access{LaunchedBy: []string{"Auto Scaling group eks-workers"}}},
		{"a nodegroup whose group has lost its tags", func(s *snapshot.Snapshot, _ *Subject) { s.Groups[0].Tags = nil }, Access{LaunchedBy: []string{"nodegroup workers"}}},
		{"a NodePool", func(s *snapshot.Snapshot, _ *Subject) {
			s.Groups[0].Instances = nil
			snapshottest.Instance(s, snapshottest.Node).Tags = map[string]string{
				"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default",
			}
		}, Access{LaunchedBy: []string{"NodePool default"}, Tagged: true}},
		{"a nodegroup and a NodePool", func(s *snapshot.Snapshot, of *Subject) {
			missed(s)
			snapshottest.Instance(s, stuck).Tags = map[string]string{
				"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default",
			}
			of.Covers = append(of.Covers, stuck)
		}, Access{LaunchedBy: []string{"NodePool default", "nodegroup workers"}, Tagged: true}},
	} {
		s, of := outsider()
		test.more(s, &of)
		test.want.Principal, test.want.Type = snapshottest.NodeRole, "EC2_LINUX"
		p, no := makeWith(s, of, saying(of.Check, checks.Finding{Outcome: checks.Fail, Resource: of.Resource}))
		if no != nil {
			t.Errorf("%s: %s: %s", test.name, no.Reason, no.Says)
			continue
		}
		if diff := cmp.Diff(&test.want, p.Access); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestCreateAccessEntryRefuses(t *testing.T) {
	resource := func(arn string) func(*snapshot.Snapshot, *Subject) {
		return func(_ *snapshot.Snapshot, of *Subject) { of.Resource = arn }
	}
	mode := func(m string) func(*snapshot.Snapshot, *Subject) {
		return func(s *snapshot.Snapshot, _ *Subject) { s.Cluster.AuthMode = m }
	}
	node := func(change func(*snapshot.Instance)) func(*snapshot.Snapshot, *Subject) {
		return func(s *snapshot.Snapshot, _ *Subject) { change(snapshottest.Instance(s, snapshottest.Node)) }
	}
	mapRoles := func(text string) func(*snapshot.Snapshot, *Subject) {
		return func(s *snapshot.Snapshot, _ *Subject) { s.AWSAuth = &snapshot.AWSAuth{MapRoles: text} }
	}
	p := refuses(t, outsider, checks.All(), []wrong{
		{"no ARN", resource("workers"), NotARole},
		{"a user", resource("arn:aws:iam::123456789012:user/workers"), NotARole},
		{"a session", resource("arn:aws:sts::123456789012:assumed-role/workers/i-0"), NotARole},
		{"a service's own role", resource("arn:aws:iam::123456789012:role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"), NotARole},
		{"a role of people", resource("arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_Admin_0123456789abcdef"), NotARole},
		{"a service's role, by its path", resource("arn:aws:iam::123456789012:role/service-role/aws-codestar-service-role"), NotARole},
		{"a service's role, by its name", resource("arn:aws:iam::123456789012:role/AWSServiceRoleForAutoScaling"), NotARole},
		{"a service's role, by its path alone", resource("arn:aws:iam::123456789012:role/aws-service-role/x/y"), NotARole},
		{"a role of people, by its name", resource("arn:aws:iam::123456789012:role/AWSReservedSSO_Admin_0123456789abcdef"), NotARole},
		{"a role of people, by its path", resource("arn:aws:iam::123456789012:role/aws-reserved/x"), NotARole},
		{"a role of another service's form", resource("arn:aws:sts::123456789012:role/workers"), NotARole},
		{"no ARN, of its form", resource("urn:aws:iam::123456789012:role/workers"), NotARole},
		{"a role without a name", resource("arn:aws:iam::123456789012:role/x/"), ClusterRole},
		{"an entry of another type is there", func(s *snapshot.Snapshot, _ *Subject) {
			s.AccessEntries = []snapshot.AccessEntry{{Principal: snapshottest.NodeRole, Type: "STANDARD"}}
		}, AlreadyThere},
		{"another account's role", resource("arn:aws:iam::999999999999:role/workers"), OtherAccount},
		{"another partition's role", resource("arn:aws-cn:iam::123456789012:role/workers"), OtherAccount},
		{"the cluster's own role", resource("arn:aws:iam::123456789012:role/cluster"), ClusterRole},
		{"the mode CONFIG_MAP", mode("CONFIG_MAP"), WrongMode},
		{"no mode", mode(""), WrongMode},
		{"a mode that is not known", mode("SOMETHING_NEW"), WrongMode},
		{"an entry is there", func(s *snapshot.Snapshot, _ *Subject) { s.Principals = []string{snapshottest.NodeRole} }, AlreadyThere},
		{"the entry could not be described", func(s *snapshot.Snapshot, _ *Subject) {
			s.Lack(snapshot.Access, snapshottest.NodeRole, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.Denied, Code: "AccessDeniedException"})
		}, CouldNotLook},
		{"aws-auth was not read", func(s *snapshot.Snapshot, _ *Subject) { snapshottest.Without(s, snapshot.AWSAuthMap) }, CouldNotLook},
		{"aws-auth maps it", mapRoles("- rolearn: " + snapshottest.NodeRole + "\n  username: system:node:{{EC2PrivateDNSName}}\n  groups: [system:bootstrappers, system:nodes]\n"), Mapped},
		{"aws-auth maps it to people", mapRoles("- rolearn: " + snapshottest.NodeRole + "\n  username: admin\n  groups: [system:masters]\n"), Mapped},
		{"aws-auth is no YAML", mapRoles("- rolearn: [\n"), Mapped},
		{"the instance has ended", node(func(i *snapshot.Instance) { i.State = "terminated" }), NotSo},
		{"another cluster's instance", node(func(i *snapshot.Instance) { delete(i.Tags, "kubernetes.io/cluster/prod") }), OtherCluster},
		{"the instance has another profile", node(func(i *snapshot.Instance) { i.Profile = "arn:aws:iam::123456789012:instance-profile/other" }), CouldNotLook},
		{"the profile has another role", func(s *snapshot.Snapshot, _ *Subject) { s.Profiles[0].Roles = []string{snapshottest.NodeRole + "2"} }, NotARole},
		{"the role is not named", func(_ *snapshot.Snapshot, of *Subject) { of.Roles = nil }, RoleNotNamed},
		{"Linux and Windows", func(s *snapshot.Snapshot, of *Subject) {
			missed(s)
			snapshottest.Instance(s, stuck).Windows = true
			s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: stuck, Lifecycle: "InService"})
			of.Covers = append(of.Covers, stuck)
		}, MixedNodes},
		{"Auto Mode's instance", func(s *snapshot.Snapshot, _ *Subject) {
			s.Cluster.AutoMode = true
			snapshottest.Instance(s, snapshottest.Node).Tags["eks:eks-cluster-name"] = "prod"
		}, NotARole},
		{"it joined", func(s *snapshot.Snapshot, _ *Subject) { snapshottest.Join(s, snapshottest.Node) }, NotSo},
	})
	if diff := cmp.Diff(&Access{Principal: snapshottest.NodeRole, Type: "EC2_LINUX", LaunchedBy: []string{"nodegroup workers"}}, p.Access); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	wordsAreWhole(t, p)
	if got, want := p.Undo()[0], "aws eks delete-access-entry --region us-west-2 --cluster-name prod --principal-arn "+snapshottest.NodeRole; got != want {
		t.Errorf("undo %s", got)
	}
	s, of := outsider()
	snapshottest.Instance(s, snapshottest.Node).Windows = true
	s.Cluster.AuthMode = "API"
	if p, no := Make(s, of); no != nil || p.Access.Type != "EC2_WINDOWS" {
		t.Errorf("Windows: %+v, %+v", p.Access, no)
	}
}
