package gather

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checks"
	"rollcall/shared/fn"
	"rollcall/shared/kube"
	"rollcall/shared/snapshot"
)

// clients are the calls of all client interfaces.
func clients() []string {
	return distinct(slices.Concat(
		fn.Actions[Instances]("ec2"), fn.Actions[InstanceTypes]("ec2"), fn.Actions[InstanceAttributes]("ec2"),
		fn.Actions[Statuses]("ec2"), fn.Actions[Consoles]("ec2"), fn.Actions[Images]("ec2"), fn.Actions[LaunchTemplates]("ec2"),
		fn.Actions[Network]("ec2"), fn.Actions[Filters]("ec2"), fn.Actions[Attributes]("ec2"), fn.Actions[Options]("ec2"),
		fn.Actions[PrefixLists]("ec2"), fn.Actions[Peerings]("ec2"), fn.Actions[Transit]("ec2"), fn.Actions[Interfaces]("ec2"), fn.Actions[Reservations]("ec2"),
		fn.Actions[Volumes]("ec2"), fn.Actions[Zones]("ec2"),
		fn.Actions[Groups]("autoscaling"), fn.Actions[Activities]("autoscaling"),
		fn.Actions[Clusters]("eks"), fn.Actions[Nodegroups]("eks"), fn.Actions[Updates]("eks"), fn.Actions[Addons]("eks"),
		fn.Actions[AccessEntries]("eks"), fn.Actions[PodIdentities]("eks"),
		fn.Actions[Profiles]("iam"), fn.Actions[Roles]("iam"),
	))
}

// TestEveryCallHasItsSource holds that the permissions derived from the
// sources are those of the client interfaces, no more and no less.
func TestEveryCallHasItsSource(t *testing.T) {
	var got []string
	for _, s := range snapshot.All() {
		got = append(got, Permissions(s)...)
	}
	if diff := cmp.Diff(clients(), distinct(got)); diff != "" {
		t.Errorf("actions of the interfaces against those of the sources (-want +got):\n%s", diff)
	}
}

// TestCallIsAPermission holds that the permission named in a message is one
// that the source really takes.
func TestCallIsAPermission(t *testing.T) {
	for _, s := range snapshot.All() {
		if ofKubernetes(s) {
			if !strings.HasPrefix(call(s), "kubernetes: ") || Permissions(s) != nil {
				t.Errorf("%s: call %q, permissions %q", s, call(s), Permissions(s))
			}
			continue
		}
		if !slices.Contains(Permissions(s), call(s)) {
			t.Errorf("%s: call %q is not among its permissions %q", s, call(s), Permissions(s))
		}
	}
}

// TestKubernetesCallsHaveTheirRule holds that what a refusal names is a right
// that the manifest gives.
func TestKubernetesCallsHaveTheirRule(t *testing.T) {
	var want, got []string
	for _, r := range kube.Rules() {
		text := "kubernetes: " + r.Verbs[0] + " " + r.Resources[0]
		if len(r.Names) > 0 {
			text = "kubernetes: " + r.Verbs[0] + " " + strings.TrimSuffix(r.Resources[0], "s") + " " + r.Names[0]
		}
		if r.Namespace != "" {
			text += " in " + r.Namespace
		}
		want = append(want, text)
	}
	got = append(got, accountCall)
	for _, s := range snapshot.All() {
		if ofKubernetes(s) {
			got = append(got, call(s))
		}
	}
	if diff := cmp.Diff(distinct(want), distinct(got)); diff != "" {
		t.Errorf("calls (-rules +sources):\n%s", diff)
	}
}

// TestKubeRules holds that each source has its rights, and all together all.
func TestKubeRules(t *testing.T) {
	if diff := cmp.Diff(kube.Rules(), KubeRules(snapshot.All()...)); diff != "" {
		t.Errorf("rights of all sources (-rules +sources):\n%s", diff)
	}
	for _, s := range snapshot.All() {
		if got := KubeRules(s); (len(got) > 0) != ofKubernetes(s) {
			t.Errorf("%s: rights %+v", s, got)
		}
	}
}

// TestReadsAreNarrow holds that what can be narrowed to a resource is.
func TestReadsAreNarrow(t *testing.T) {
	const here = ":${Region}:${Account}:"
	want := []fn.Read{
		{Resources: []string{"arn:${Partition}:ec2" + here + "instance/*"}, Actions: []string{"ec2:DescribeInstanceAttribute", "ec2:GetConsoleOutput"}},
		{Resources: []string{"arn:${Partition}:ec2" + here + "transit-gateway-route-table/*"}, Actions: []string{"ec2:SearchTransitGatewayRoutes"}},
		{Resources: []string{"arn:${Partition}:ec2:${Region}:*:prefix-list/*"}, Actions: []string{"ec2:GetManagedPrefixListEntries"}},
		{Resources: []string{"arn:${Partition}:ec2:${Region}:*:vpc/*"}, Actions: []string{"ec2:DescribeVpcAttribute"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "access-entry/*/*/*/*/*"}, Actions: []string{"eks:DescribeAccessEntry"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "addon/*/*/*"}, Actions: []string{"eks:DescribeAddon"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "cluster/*"}, Actions: []string{"eks:DescribeCluster", "eks:ListAccessEntries", "eks:ListAddons", "eks:ListPodIdentityAssociations"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "cluster/*", "arn:${Partition}:eks" + here + "nodegroup/*/*/*"}, Actions: []string{"eks:DescribeUpdate", "eks:ListUpdates"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "nodegroup/*/*/*"}, Actions: []string{"eks:DescribeNodegroup"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "podidentityassociation/*/*"}, Actions: []string{"eks:DescribePodIdentityAssociation"}},
		{Resources: []string{"arn:${Partition}:iam::${Account}:instance-profile/*"}, Actions: []string{"iam:GetInstanceProfile"}},
		{Resources: []string{"arn:${Partition}:iam::${Account}:policy/*", "arn:${Partition}:iam::aws:policy/*"}, Actions: []string{"iam:GetPolicy", "iam:GetPolicyVersion"}},
		{Resources: []string{"arn:${Partition}:iam::${Account}:role/*"}, Actions: []string{"iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies"}},
	}
	reads := Reads(snapshot.All()...)
	if len(reads) == 0 || !slices.Equal(reads[0].Resources, []string{"*"}) {
		t.Fatalf("the first is %+v, want what takes no resource", reads)
	}
	for _, action := range reads[0].Actions {
		if !strings.HasPrefix(action, "ec2:Describe") && action != "ec2:GetSubnetCidrReservations" && !strings.HasPrefix(action, "autoscaling:Describe") {
			t.Errorf("%s is allowed of anything", action)
		}
	}
	if diff := cmp.Diff(want, reads[1:]); diff != "" {
		t.Errorf("narrowed reads (-want +got):\n%s", diff)
	}
	for _, r := range append(reads, ListNodegroups(), ListClusters()) {
		for _, action := range r.Actions {
			if _, name, _ := strings.Cut(action, ":"); !strings.HasPrefix(name, "Describe") && !strings.HasPrefix(name, "List") && !strings.HasPrefix(name, "Get") && !strings.HasPrefix(name, "Search") {
				t.Errorf("%s does not look like a read", action)
			}
		}
	}
}

// TestSourcesBringWhatTheyNeed holds that a check that needs a source gets
// those, and their permissions, without which it cannot be read.
func TestSourcesBringWhatTheyNeed(t *testing.T) {
	got := JoinSources([]checks.Check{{Needs: []snapshot.Source{snapshot.DHCP, snapshot.Roles}}})
	for _, want := range []snapshot.Source{snapshot.DHCP, snapshot.VPCs, snapshot.Roles, snapshot.Profiles, snapshot.Nodes} {
		if !slices.Contains(got, want) {
			t.Errorf("sources %q lack %q", got, want)
		}
	}
	// What another source would only add to is left to those who ask for it:
	// a function may have no rights in the cluster.
	if got := LaunchSources([]checks.Check{{Needs: []snapshot.Source{snapshot.UserDataOf, snapshot.Consoles}}}); slices.ContainsFunc(got, ofKubernetes) {
		t.Errorf("sources %q read Kubernetes, which nobody asked for", got)
	}
	for _, s := range snapshot.All() {
		for _, needed := range namedBy(s) {
			if wave(needed) >= wave(s) {
				t.Errorf("%s is read no later than %s, which names what it reads", s, needed)
			}
		}
	}
}
