package createaccessentry

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/checks/finding"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/action"
	"rollcall/shared/remedy/remedytest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
	"rollcall/shared/spec"
)

// The wrong target first: the cluster's tag is one that anybody may set who may
// start an instance, and the role of such an instance is anybody's.
func TestWrongTargets(t *testing.T) {
	named := func(of *action.Subject) { of.Roles = append(of.Roles, of.Resource) }
	pool := func(change func(*snapshot.Instance)) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, of *action.Subject) {
			in := stranger(s, of, strangersRole)
			in.Tags["karpenter.sh/nodepool"], in.Tags["karpenter.k8s.aws/ec2nodeclass"] = "default", "default"
			change(in)
			named(of)
		}
	}
	for _, test := range []remedytest.Wrong{
		{"an instance with the cluster's tag, a role that nobody named", func(s *snapshot.Snapshot, of *action.Subject) { stranger(s, of, strangersRole) }, RoleNotNamed},
		{"no role is named at all", func(s *snapshot.Snapshot, of *action.Subject) { of.Roles = nil }, RoleNotNamed},
		{"a name is not a prefix", func(s *snapshot.Snapshot, of *action.Subject) {
			of.Roles = []string{snapshottest.NodeRole + "2", "arn:aws:iam::123456789012:role/work*"}
		}, RoleNotNamed},
		{"the cluster's tag and its nodegroup's, set by hand, a role that is named", func(s *snapshot.Snapshot, of *action.Subject) {
			stranger(s, of, strangersRole)
			named(of)
		}, remedy.NotLaunchedByIt},
		{"a stranger's instance with the nodes' own role", func(s *snapshot.Snapshot, of *action.Subject) { stranger(s, of, snapshottest.NodeRole) }, remedy.NotLaunchedByIt},
		{"a node's and a stranger's instance have the role", func(s *snapshot.Snapshot, of *action.Subject) {
			stranger(s, of, snapshottest.NodeRole)
			of.Covers = []string{snapshottest.Node, remedytest.Stuck}
		}, remedy.NotLaunchedByIt},
		{"the tag of a group of the cluster that does not count it", func(s *snapshot.Snapshot, of *action.Subject) {
			stranger(s, of, strangersRole).Tags["aws:autoscaling:groupName"] = s.Groups[0].Name
			named(of)
		}, remedy.NotTheGroups},
		{"a group that was not read", func(s *snapshot.Snapshot, of *action.Subject) {
			stranger(s, of, strangersRole).Tags["aws:autoscaling:groupName"] = "elsewhere"
			named(of)
		}, remedy.CouldNotLook},
		{"a stranger's group, which is the cluster's by no tag of its own", strangersGroup(nil), remedy.OtherCluster},
		{"a stranger's group that shares the cluster", strangersGroup(map[string]string{"kubernetes.io/cluster/prod": "shared"}), remedy.OtherCluster},
		{"another cluster's group", strangersGroup(map[string]string{"kubernetes.io/cluster/dev": "owned"}), remedy.OtherCluster},
		{"another cluster's nodegroup", func(s *snapshot.Snapshot, of *action.Subject) {
			strangersGroup(nil)(s, of)
			s.Nodegroups = append(s.Nodegroups, snapshot.Nodegroup{Name: "dev", Cluster: "dev", Groups: []string{"strangers"}})
		}, remedy.OtherCluster},
		{"a NodePool of another cluster", pool(func(in *snapshot.Instance) { in.Tags["eks:eks-cluster-name"] = "dev" }), remedy.NotLaunchedByIt},
		{"a NodePool, shared", pool(func(in *snapshot.Instance) { in.Tags["kubernetes.io/cluster/prod"] = "shared" }), remedy.NotLaunchedByIt},
		{"a NodePool without a class", pool(func(in *snapshot.Instance) { delete(in.Tags, "karpenter.k8s.aws/ec2nodeclass") }), remedy.NotLaunchedByIt},
		{"a class without a NodePool", pool(func(in *snapshot.Instance) { delete(in.Tags, "karpenter.sh/nodepool") }), remedy.NotLaunchedByIt},
	} {
		s, of := outsider()
		test.Wrong(s, &of)
		found := remedytest.Saying(of.Check, finding.Finding{Outcome: finding.Fail, Resource: of.Resource})
		if p, no := remedytest.Make(Remedy(), s, of, found); no == nil || no.Reason != test.Want || no.Says == "" {
			t.Errorf("%s: planned %v, refused %+v; want %s", test.Name, p, no, test.Want)
		}
	}
}

func TestBounds(t *testing.T) {
	found := remedytest.Saying("iam/access-missing", finding.Finding{Outcome: finding.Fail, Resource: snapshottest.NodeRole})
	remedytest.Allows(t, Remedy(), outsider, found, []remedytest.Harmless{
		{"EKS says that there is no entry", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Lack(snapshot.Access, snapshottest.NodeRole, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.Broken, Code: "ResourceNotFoundException"})
		}},
		{"aws-auth does not count", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Cluster.AuthMode = "API"
			s.AWSAuth = &snapshot.AWSAuth{MapRoles: "- rolearn: " + snapshottest.NodeRole + "\n  username: x\n"}
		}},
		{"there is no aws-auth", func(s *snapshot.Snapshot, _ *action.Subject) { s.AWSAuth = nil }},
		{"aws-auth names others", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.AWSAuth = &snapshot.AWSAuth{
				MapRoles: "- rolearn: " + snapshottest.NodeRole + "2\n  username: x\n",
				MapUsers: "- userarn: arn:aws:iam::123456789012:user/a\n  username: a\n",
			}
		}},
		{"the cluster has Auto Mode's nodes too", func(s *snapshot.Snapshot, _ *action.Subject) { s.Cluster.AutoMode = true }},
		{"an entry of another role", func(s *snapshot.Snapshot, _ *action.Subject) { s.Principals = []string{snapshottest.NodeRole + "2"} }},
	})
	remedytest.Refuses(t, Remedy(), outsider, found, []remedytest.Wrong{
		{"the entry could not be described", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Lack(snapshot.Access, snapshottest.NodeRole, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.Denied, Code: "AccessDeniedException"})
		}, remedy.CouldNotLook},
		{"aws-auth names it among users", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.AWSAuth = &snapshot.AWSAuth{MapUsers: "- userarn: " + snapshottest.NodeRole + "\n  username: a\n"}
		}, Mapped},
		{"aws-auth's users are no YAML", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.AWSAuth = &snapshot.AWSAuth{MapUsers: "- userarn: [\n"}
		}, Mapped},
		{"half an ARN", func(_ *snapshot.Snapshot, of *action.Subject) { of.Resource = "arn:aws" }, NotARole},
		{"aws-auth was not read", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Without(s, snapshot.AWSAuthMap) }, remedy.CouldNotLook},
	})
}

// A role's path may hold whatever is printed, a colon too (IAM, CreateRole: Path).
func TestAPathWithAColon(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/team:a/workers"
	s, of := outsider()
	s.Profiles[0].Roles, of.Resource, of.Roles = []string{role}, role, []string{role}
	p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, finding.Finding{Outcome: finding.Fail, Resource: role}))
	if no != nil || p.Principal != role {
		t.Errorf("planned %+v, refused %+v", p, no)
	}
}

// There is a choice to be made in this world.
func TestSameInAnyOrder(t *testing.T) {
	remedytest.SameInAnyOrder(t, Remedy(), outsider, checks.All())
}

func TestFoundElsewhereIsNotSo(t *testing.T) { remedytest.FoundElsewhereIsNotSo(t, Remedy(), outsider) }

func TestApplied(t *testing.T) {
	remedytest.Applied(t, Remedy(), outsider, snapshot.Access,
		func(s *snapshot.Snapshot) { s.Principals = []string{snapshottest.NodeRole} },
		func(s *snapshot.Snapshot) { s.Principals = []string{snapshottest.NodeRole + "2"} })
}

// entries keeps which entries were made: cluster, role, type and token.
type entries []string

func (e *entries) CreateAccessEntry(_ context.Context, cluster, principal, kind, token string) action.Answer {
	*e = append(*e, strings.Join([]string{cluster, principal, kind, token}, " "))
	return action.Answer{Outcome: action.Done, Request: "r-1"}
}

// An entry that is not for nodes is not asked of AWS, whatever the plan says.
func TestDoRefuses(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/workers"
	for _, kind := range []string{"STANDARD", "", "EC2", "ec2_linux", "FARGATE_LINUX", "HYBRID_LINUX"} {
		var made entries
		if got := do(t.Context(), &made, remedy.CreateAccessEntry{Principal: role, Type: kind}, remedy.Place{Cluster: "prod"}, "token"); got.Status != remedy.Failed || got.Reason != "NotANodeType" || len(made) != 0 {
			t.Errorf("%q: %+v, made %q; want NotANodeType", kind, got, made)
		}
	}
	for _, kind := range []string{"EC2_LINUX", "EC2_WINDOWS"} {
		var made entries
		got := do(t.Context(), &made, remedy.CreateAccessEntry{Principal: role, Type: kind}, remedy.Place{Cluster: "prod"}, "token")
		if diff := cmp.Diff(entries{"prod " + role + " " + kind + " token"}, made); diff != "" {
			t.Errorf("%s: made (-want +got):\n%s", kind, diff)
		}
		want := action.Result{Status: remedy.Done, Changed: []string{role}, Requests: []string{"r-1"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: result (-want +got):\n%s", kind, diff)
		}
	}
}

func TestGrants(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/workers"
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"dev", "prod"}, Roles: []string{role}})
	want := []spec.Grant{{
		Sid: "AdmitRoles1", Why: "create-access-entry gives the node roles that the operator named access to the cluster, as nodes only.",
		Actions: []string{"eks:CreateAccessEntry"}, Resources: []spec.Resource{"arn:${Partition}:eks:${Region}:${Account}:cluster/prod"},
		Conditions: map[string]map[string][]string{"StringEquals": {"eks:accessEntryType": {"EC2_LINUX", "EC2_WINDOWS"}}, "ArnEquals": {"eks:principalArn": {role}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	for name, o := range map[string]action.OptIn{"no role is named": {Clusters: []string{"prod"}}, "no cluster has opted in": {Roles: []string{role}}} {
		if got := grants(o); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What does not fit into one statement is in several, each role with each cluster.
func TestGrantsOfMany(t *testing.T) {
	long := func(n int) string { return fmt.Sprintf("%d%s", n, strings.Repeat("r", 999)) }
	o := action.OptIn{Roles: []string{long(1), long(2), long(3)}}
	for n := range 21 {
		o.Clusters = append(o.Clusters, fmt.Sprintf("c%02d", n))
	}
	type statement struct {
		Sid             string
		Clusters        int
		First, Of, Last string
	}
	var got []statement
	for _, g := range grants(o) {
		roles := g.Conditions["ArnEquals"]["eks:principalArn"]
		got = append(got, statement{g.Sid, len(g.Resources), string(g.Resources[0]), roles[0][:1], roles[len(roles)-1][:1]})
	}
	want := []statement{
		{"AdmitRoles1", 20, "arn:${Partition}:eks:${Region}:${Account}:cluster/c00", "1", "2"},
		{"AdmitRoles2", 1, "arn:${Partition}:eks:${Region}:${Account}:cluster/c20", "1", "2"},
		{"AdmitRoles3", 20, "arn:${Partition}:eks:${Region}:${Account}:cluster/c00", "3", "3"},
		{"AdmitRoles4", 1, "arn:${Partition}:eks:${Region}:${Account}:cluster/c20", "3", "3"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
}

// Each text takes its characters, quotation marks and comma.
func TestUpTo(t *testing.T) {
	for _, test := range []struct {
		list []string
		want [][]string
	}{
		{nil, nil},
		{[]string{"abcd"}, [][]string{{"abcd"}}},
		{[]string{"ab", "cd"}, [][]string{{"ab", "cd"}}},                     // 5 and 5: just what fits
		{[]string{"ab", "cde"}, [][]string{{"ab"}, {"cde"}}},                 // one too many
		{[]string{"abc", "de", "f"}, [][]string{{"abc"}, {"de", "f"}}},       // the second part is as large as the first
		{[]string{"abcdefghijkl", "m"}, [][]string{{"abcdefghijkl"}, {"m"}}}, // alone it is too long: it stands alone
	} {
		if diff := cmp.Diff(test.want, upTo(test.list, 10)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.list, diff)
		}
	}
}

func TestRefuses(t *testing.T) {
	resource := func(arn string) func(*snapshot.Snapshot, *action.Subject) {
		return func(_ *snapshot.Snapshot, of *action.Subject) { of.Resource = arn }
	}
	mode := func(m string) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, _ *action.Subject) { s.Cluster.AuthMode = m }
	}
	node := func(change func(*snapshot.Instance)) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, _ *action.Subject) { change(snapshottest.Instance(s, snapshottest.Node)) }
	}
	mapRoles := func(text string) func(*snapshot.Snapshot, *action.Subject) {
		return func(s *snapshot.Snapshot, _ *action.Subject) { s.AWSAuth = &snapshot.AWSAuth{MapRoles: text} }
	}
	p := remedytest.Refuses(t, Remedy(), outsider, checks.All(), []remedytest.Wrong{
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
		{"an entry of another type is there", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.AccessEntries = []snapshot.AccessEntry{{Principal: snapshottest.NodeRole, Type: "STANDARD"}}
		}, remedy.AlreadyThere},
		{"another account's role", resource("arn:aws:iam::999999999999:role/workers"), remedy.OtherAccount},
		{"another partition's role", resource("arn:aws-cn:iam::123456789012:role/workers"), remedy.OtherAccount},
		{"the cluster's own role", resource("arn:aws:iam::123456789012:role/cluster"), ClusterRole},
		{"the mode CONFIG_MAP", mode("CONFIG_MAP"), WrongMode},
		{"no mode", mode(""), WrongMode},
		{"a mode that is not known", mode("SOMETHING_NEW"), WrongMode},
		{"an entry is there", func(s *snapshot.Snapshot, _ *action.Subject) { s.Principals = []string{snapshottest.NodeRole} }, remedy.AlreadyThere},
		{"the entry could not be described", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Lack(snapshot.Access, snapshottest.NodeRole, snapshot.Failure{Source: snapshot.Access, Reason: snapshot.Denied, Code: "AccessDeniedException"})
		}, remedy.CouldNotLook},
		{"aws-auth was not read", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Without(s, snapshot.AWSAuthMap) }, remedy.CouldNotLook},
		{"aws-auth maps it", mapRoles("- rolearn: " + snapshottest.NodeRole + "\n  username: system:node:{{EC2PrivateDNSName}}\n  groups: [system:bootstrappers, system:nodes]\n"), Mapped},
		{"aws-auth maps it to people", mapRoles("- rolearn: " + snapshottest.NodeRole + "\n  username: admin\n  groups: [system:masters]\n"), Mapped},
		{"aws-auth is no YAML", mapRoles("- rolearn: [\n"), Mapped},
		{"the instance has ended", node(func(i *snapshot.Instance) { i.State = "terminated" }), remedy.NotSo},
		{"another cluster's instance", node(func(i *snapshot.Instance) { delete(i.Tags, "kubernetes.io/cluster/prod") }), remedy.OtherCluster},
		{"the instance has another profile", node(func(i *snapshot.Instance) { i.Profile = "arn:aws:iam::123456789012:instance-profile/other" }), remedy.CouldNotLook},
		{"the profile has another role", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Profiles[0].Roles = []string{snapshottest.NodeRole + "2"}
		}, NotARole},
		{"the role is not named", func(_ *snapshot.Snapshot, of *action.Subject) { of.Roles = nil }, RoleNotNamed},
		{"Linux and Windows", func(s *snapshot.Snapshot, of *action.Subject) {
			remedytest.Missed(s)
			snapshottest.Instance(s, remedytest.Stuck).Windows = true
			s.Groups[0].Instances = append(s.Groups[0].Instances, snapshot.GroupInstance{ID: remedytest.Stuck, Lifecycle: "InService"})
			of.Covers = append(of.Covers, remedytest.Stuck)
		}, MixedNodes},
		{"Auto Mode's instance", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Cluster.AutoMode = true
			snapshottest.Instance(s, snapshottest.Node).Tags["eks:eks-cluster-name"] = "prod"
		}, NotARole},
		{"it joined", func(s *snapshot.Snapshot, _ *action.Subject) { snapshottest.Join(s, snapshottest.Node) }, remedy.NotSo},
	})
	if diff := cmp.Diff(&remedy.CreateAccessEntry{Principal: snapshottest.NodeRole, Type: "EC2_LINUX", LaunchedBy: []string{"nodegroup workers"}}, p); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	w := remedytest.Words(t, p)
	if got, want := w.Undo[0], "aws eks delete-access-entry --region us-west-2 --cluster-name prod --principal-arn "+snapshottest.NodeRole; got != want {
		t.Errorf("undo %s", got)
	}
	s, of := outsider()
	snapshottest.Instance(s, snapshottest.Node).Windows = true
	s.Cluster.AuthMode = "API"
	if p, no := remedytest.Make(Remedy(), s, of, checks.All()); no != nil || p.Type != "EC2_WINDOWS" {
		t.Errorf("Windows: %+v, %+v", p, no)
	}
}

// outsider is a world whose cluster does not know the nodes' role.
func outsider() (*snapshot.Snapshot, action.Subject) {
	s := snapshottest.PrivateWithNAT()
	snapshottest.Unjoin(s, snapshottest.Node)
	s.AccessEntries, s.Principals = nil, nil
	s.Groups[0].Instances = []snapshot.GroupInstance{{ID: snapshottest.Node, Lifecycle: "InService"}}
	return s, action.Subject{
		Cluster: snapshottest.ClusterName, Check: "iam/access-missing", Resource: snapshottest.NodeRole, Covers: []string{snapshottest.Node},
		Roles: []string{snapshottest.NodeRole},
	}
}

const strangersRole = "arn:aws:iam::123456789012:role/stranger"

// stranger starts an instance by hand that has the cluster's tag, and whatever
// else a person can set, and a role of its own. The check finds it like a node's.
func stranger(s *snapshot.Snapshot, of *action.Subject, role string) *snapshot.Instance {
	profile := snapshot.Profile{ARN: "arn:aws:iam::123456789012:instance-profile/stranger", Name: "stranger", Roles: []string{role}}
	s.Profiles = append(s.Profiles, profile)
	remedytest.Missed(s)
	in := snapshottest.Instance(s, remedytest.Stuck)
	in.Profile = profile.ARN
	in.Tags = map[string]string{"kubernetes.io/cluster/prod": "owned", "eks:cluster-name": "prod", "eks:nodegroup-name": snapshottest.Nodegroup, "eks:eks-cluster-name": "prod"}
	of.Resource, of.Covers = role, []string{remedytest.Stuck}
	return in
}

// strangersGroup is an Auto Scaling group that launches instances with the
// cluster's tag.
func strangersGroup(tags map[string]string) remedytest.Change {
	return func(s *snapshot.Snapshot, of *action.Subject) {
		stranger(s, of, strangersRole).Tags["aws:autoscaling:groupName"] = "strangers"
		s.Groups = append(s.Groups, snapshot.Group{Name: "strangers", Tags: tags, Instances: []snapshot.GroupInstance{{ID: remedytest.Stuck, Lifecycle: "InService"}}})
		of.Roles = append(of.Roles, of.Resource)
	}
}

// What launched the instances stands in the plan; where tags alone say it, the
// plan says that too.
func TestNamesTheLauncher(t *testing.T) {
	for _, test := range []struct {
		name string
		more func(*snapshot.Snapshot, *action.Subject)
		want remedy.CreateAccessEntry
	}{
		{"a nodegroup", func(*snapshot.Snapshot, *action.Subject) {}, remedy.CreateAccessEntry{LaunchedBy: []string{"nodegroup workers"}}},
		{"a group of one's own", func(s *snapshot.Snapshot, _ *action.Subject) { s.Nodegroups = nil }, remedy.CreateAccessEntry{LaunchedBy: []string{"Auto Scaling group eks-workers"}}},
		{"a nodegroup whose group has lost its tags", func(s *snapshot.Snapshot, _ *action.Subject) { s.Groups[0].Tags = nil }, remedy.CreateAccessEntry{LaunchedBy: []string{"nodegroup workers"}}},
		{"a NodePool", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Groups[0].Instances = nil
			snapshottest.Instance(s, snapshottest.Node).Tags = map[string]string{
				"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default",
			}
			snapshottest.Without(s, snapshot.NodeClaimsOf)
		}, remedy.CreateAccessEntry{LaunchedBy: []string{"NodePool default"}, Tagged: true}},
		{"a NodePool with its NodeClaim", func(s *snapshot.Snapshot, _ *action.Subject) {
			s.Groups[0].Instances = nil
			s.NodeClaims = []snapshot.NodeClaim{{Name: "default-x7k2p", Instance: snapshottest.Node}}
			snapshottest.Instance(s, snapshottest.Node).Tags = map[string]string{
				"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default",
			}
		}, remedy.CreateAccessEntry{LaunchedBy: []string{"NodePool default"}}},
		{"a nodegroup and a NodePool", func(s *snapshot.Snapshot, of *action.Subject) {
			remedytest.Missed(s)
			snapshottest.Instance(s, remedytest.Stuck).Tags = map[string]string{
				"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default",
			}
			of.Covers = append(of.Covers, remedytest.Stuck)
			snapshottest.Without(s, snapshot.NodeClaimsOf)
		}, remedy.CreateAccessEntry{LaunchedBy: []string{"NodePool default", "nodegroup workers"}, Tagged: true}},
		{"a NodePool and a nodegroup", func(s *snapshot.Snapshot, of *action.Subject) {
			remedytest.Missed(s)
			s.Groups[0].Instances = []snapshot.GroupInstance{{ID: remedytest.Stuck, Lifecycle: "InService"}}
			snapshottest.Instance(s, snapshottest.Node).Tags = map[string]string{
				"kubernetes.io/cluster/prod": "owned", "eks:eks-cluster-name": "prod", "karpenter.sh/nodepool": "default", "karpenter.k8s.aws/ec2nodeclass": "default",
			}
			of.Covers = append(of.Covers, remedytest.Stuck)
			snapshottest.Without(s, snapshot.NodeClaimsOf)
		}, remedy.CreateAccessEntry{LaunchedBy: []string{"NodePool default", "nodegroup workers"}, Tagged: true}},
	} {
		s, of := outsider()
		test.more(s, &of)
		test.want.Principal, test.want.Type = snapshottest.NodeRole, "EC2_LINUX"
		p, no := remedytest.Make(Remedy(), s, of, remedytest.Saying(of.Check, finding.Finding{Outcome: finding.Fail, Resource: of.Resource}))
		if no != nil {
			t.Errorf("%s: %s: %s", test.name, no.Reason, no.Says)
			continue
		}
		if diff := cmp.Diff(&test.want, p); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestRefusesUnread(t *testing.T) {
	remedytest.RefusesUnread(t, Remedy(), outsider, finding.Finding{Outcome: finding.Fail, Resource: snapshottest.NodeRole},
		snapshot.Clusters, snapshot.Instances, snapshot.Profiles, snapshot.Access, snapshot.Groups, snapshot.Nodegroups)
}

func TestWords(t *testing.T) {
	const role = "arn:aws:iam::123456789012:role/team/workers"
	want := remedy.Words{
		Title:    "Create an access entry EC2_LINUX for workers",
		Steps:    []string{"Create an access entry of type EC2_LINUX for " + role + " in prod: no groups, no policy."},
		Commands: []string{"aws eks create-access-entry --region us-west-2 --cluster-name prod --principal-arn " + role + " --type EC2_LINUX"},
		Undo:     []string{"aws eks delete-access-entry --region us-west-2 --cluster-name prod --principal-arn " + role},
		Cost:     "Everything that is allowed to use the role workers can join prod as a node.",
	}
	plan := remedy.CreateAccessEntry{Principal: role, Type: "EC2_LINUX"}
	place := remedy.Place{Region: "us-west-2", Cluster: "prod"}
	if diff := cmp.Diff(want, plan.Words(place)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	plan.LaunchedBy = []string{"NodePool default", "nodegroup workers"}
	want.Steps[0] += " Its instances were launched by NodePool default and nodegroup workers."
	if diff := cmp.Diff(want, plan.Words(place)); diff != "" {
		t.Errorf("with who launched them (-want +got):\n%s", diff)
	}
}
