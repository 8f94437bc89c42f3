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
	return s, Subject{
		Remedy: CreateAccessEntry, Cluster: snapshottest.ClusterName, Check: "iam/access-missing", Resource: snapshottest.NodeRole, Covers: []string{snapshottest.Node},
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
		{"Linux and Windows", func(s *snapshot.Snapshot, of *Subject) {
			missed(s)
			snapshottest.Instance(s, stuck).Windows = true
			of.Covers = append(of.Covers, stuck)
		}, MixedNodes},
		{"Auto Mode's instance", func(s *snapshot.Snapshot, _ *Subject) {
			s.Cluster.AutoMode = true
			snapshottest.Instance(s, snapshottest.Node).Tags["eks:eks-cluster-name"] = "prod"
		}, NotARole},
		{"it joined", func(s *snapshot.Snapshot, _ *Subject) { snapshottest.Join(s, snapshottest.Node) }, NotSo},
	})
	if diff := cmp.Diff(&Access{Principal: snapshottest.NodeRole, Type: "EC2_LINUX"}, p.Access); diff != "" {
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
