package gather

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/checks"
	"rollcall/shared/spec"

	"rollcall/shared/gather/source"
	"rollcall/shared/snapshot"
)

// one is the source of that name, without its client.
func one(name snapshot.Source) source.Source { return oneOf(catalogue(), name) }

func oneOf(list []source.Source, name snapshot.Source) source.Source {
	return list[slices.IndexFunc(list, func(s source.Source) bool { return s.Name == name })]
}

// actions are the calls of all sources.
func actions() []string {
	var all []string
	for _, s := range catalogue() {
		all = append(all, s.Actions()...)
	}
	return source.Distinct(all)
}

// TestSourcesAreWhole holds what every source must have: a name of its own,
// which snapshot knows; calls or rights in the cluster, and not both; names of
// sources that there are; and a way to be read, but for what a query brings.
func TestSourcesAreWhole(t *testing.T) {
	names := source.Each(catalogue(), func(s source.Source) snapshot.Source { return s.Name })
	if diff := cmp.Diff(slices.Sorted(slices.Values(snapshot.All())), slices.Sorted(slices.Values(names))); diff != "" {
		t.Errorf("sources (-package snapshot +here):\n%s", diff)
	}
	brought := []snapshot.Source{snapshot.Clusters, snapshot.Groups, snapshot.Instances}
	for _, s := range catalogue() {
		if (len(s.Calls) > 0) == (len(s.Kube) > 0) {
			t.Errorf("%s has %d calls and %d rights in the cluster, want either", s.Name, len(s.Calls), len(s.Kube))
		}
		for _, other := range slices.Concat(s.Needs, s.After) {
			if !slices.Contains(snapshot.All(), other) || other == s.Name {
				t.Errorf("%s comes after %q, which is none", s.Name, other)
			}
		}
		if (s.Read == nil) != slices.Contains(brought, s.Name) {
			t.Errorf("%s can be read: %t", s.Name, s.Read != nil)
		}
	}
}

// TestCallsThatAreMade holds that what a source says it calls is what it calls:
// in a world in which there is one of everything, a look at it, at what it
// needs and at what tells it more takes those calls and rights, and no others.
func TestCallsThatAreMade(t *testing.T) {
	file := load(t, crowded)
	refuseLaunches(file)
	for _, s := range catalogue() {
		if s.Read == nil {
			continue
		}
		t.Run(string(s.Name), func(t *testing.T) {
			p := start(t, file, wire.NoFaults{}, "")
			updateNodegroup(t, p)
			list := closure(s)
			var want []string
			for _, o := range list {
				if o.Read != nil {
					want = append(append(want, o.Actions()...), source.Each(o.Kube, requested)...)
				}
			}
			// The query says that all nodegroups are meant.
			if slices.Contains(want, "eks:DescribeNodegroup") {
				want = append(want, ListNodegroups().Actions...)
			}
			q := broughtBy(t, p)
			q.Sources = source.Each(list, func(o source.Source) snapshot.Source { return o.Name })
			before := len(p.aws.Calls())
			if _, err := p.Read(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(p.asked)
			for _, c := range p.aws.Calls()[before:] {
				if c.Action() != "eks:DescribeCluster" {
					got = append(got, c.Action())
				}
			}
			if diff := cmp.Diff(source.Distinct(want), source.Distinct(got)); diff != "" {
				t.Errorf("calls (-said +made):\n%s", diff)
			}
		})
	}
}

// refuseLaunches has a launch of each group refused: settings are read where one was.
func refuseLaunches(file *worldfile.File) {
	for _, g := range file.AutoScaling.AutoScalingGroups {
		file.AutoScaling.Activities = append(file.AutoScaling.Activities, astypes.Activity{
			AutoScalingGroupName: g.AutoScalingGroupName, StatusCode: astypes.ScalingActivityStatusCodeFailed, StartTime: aws.Time(time.Date(2026, 11, 20, 14, 59, 0, 0, time.UTC)),
			ActivityId: aws.String("a-" + *g.AutoScalingGroupName), Cause: aws.String("c"), Details: aws.String("{}"), Description: aws.String("Launching a new EC2 instance.  Status Reason: x"), StatusMessage: aws.String("x"),
		})
	}
}

// requested is a right as the simulated API records the request: "get
// configmaps/aws-auth".
func requested(r spec.KubeRule) string { return r.Verbs[0] + " " + r.Resources[0] }

// closure is a source with all that is read before it.
func closure(s source.Source) []source.Source {
	list := []source.Source{s}
	for i := 0; i < len(list); i++ {
		for _, name := range slices.Concat(list[i].Needs, list[i].After) {
			if !slices.ContainsFunc(list, func(o source.Source) bool { return o.Name == name }) {
				list = append(list, one(name))
			}
		}
	}
	return list
}

// TestRequestsAreAsBefore holds how a refused request to Kubernetes is named in
// messages.
func TestRequestsAreAsBefore(t *testing.T) {
	want := []string{
		"kubernetes: get configmap aws-auth in kube-system", "kubernetes: get daemonset aws-node in kube-system", "kubernetes: get serviceaccount aws-node in kube-system",
		"kubernetes: list certificatesigningrequests", "kubernetes: list ec2nodeclasses", "kubernetes: list eniconfigs", "kubernetes: list events", "kubernetes: list events in default",
		"kubernetes: list nodeclaims", "kubernetes: list nodeclasses", "kubernetes: list nodepools", "kubernetes: list nodes",
		"kubernetes: list persistentvolumeclaims", "kubernetes: list persistentvolumes", "kubernetes: list pods", "kubernetes: list pods in kube-system",
	}
	var got []string
	for _, r := range KubeRules(snapshot.All()...) {
		got = append(got, source.Request(r))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestOneActionIsNarrowedOneWay: a call that several sources make has the same
// resources for each.
func TestOneActionIsNarrowedOneWay(t *testing.T) {
	narrowed := map[string][]string{}
	for _, s := range catalogue() {
		for _, c := range s.Calls {
			if other, seen := narrowed[c.Action]; seen && !slices.Equal(other, c.Resources) {
				t.Errorf("%s is narrowed to %q and to %q", c.Action, other, c.Resources)
			}
			narrowed[c.Action] = c.Resources
		}
	}
}

// TestReadsAreNarrow holds that what can be narrowed to a resource is.
func TestReadsAreNarrow(t *testing.T) {
	const here = ":${Region}:${Account}:"
	want := []spec.Read{
		{Resources: []string{"arn:${Partition}:ec2" + here + "instance/*"}, Actions: []string{"ec2:DescribeInstanceAttribute", "ec2:GetConsoleOutput"}},
		{Resources: []string{"arn:${Partition}:ec2" + here + "transit-gateway-route-table/*"}, Actions: []string{"ec2:SearchTransitGatewayRoutes"}},
		{Resources: []string{"arn:${Partition}:ec2:${Region}:*:prefix-list/*"}, Actions: []string{"ec2:GetManagedPrefixListEntries"}},
		{Resources: []string{"arn:${Partition}:ec2:${Region}:*:vpc/*"}, Actions: []string{"ec2:DescribeVpcAttribute"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "access-entry/*/*/*/*/*"}, Actions: []string{"eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "addon/*/*/*"}, Actions: []string{"eks:DescribeAddon"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "cluster/*"}, Actions: []string{"eks:DescribeCluster", "eks:ListAccessEntries", "eks:ListAddons", "eks:ListPodIdentityAssociations"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "cluster/*", "arn:${Partition}:eks" + here + "nodegroup/*/*/*"}, Actions: []string{"eks:DescribeUpdate", "eks:ListUpdates"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "nodegroup/*/*/*"}, Actions: []string{"eks:DescribeNodegroup"}},
		{Resources: []string{"arn:${Partition}:eks" + here + "podidentityassociation/*/*"}, Actions: []string{"eks:DescribePodIdentityAssociation"}},
		{Resources: []string{"arn:${Partition}:iam::${Account}:instance-profile/*"}, Actions: []string{"iam:GetInstanceProfile"}},
		{Resources: []string{"arn:${Partition}:iam::${Account}:policy/*", "arn:${Partition}:iam::aws:policy/*"}, Actions: []string{"iam:GetPolicy", "iam:GetPolicyVersion"}},
		{Resources: []string{"arn:${Partition}:iam::${Account}:role/*"}, Actions: []string{"iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies"}},
		{Actions: []string{"route53:ListResourceRecordSets"}, Resources: []string{"arn:${Partition}:route53:::hostedzone/*"}},
		{Actions: []string{"route53resolver:ListFirewallDomains"}, Resources: []string{"arn:${Partition}:route53resolver:${Region}:*:firewall-domain-list/*"}},
		{Actions: []string{"route53resolver:ListFirewallRules"}, Resources: []string{"arn:${Partition}:route53resolver:${Region}:*:firewall-rule-group/*"}},
	}
	reads := Reads(snapshot.All()...)
	if len(reads) == 0 || !slices.Equal(reads[0].Resources, []string{"*"}) {
		t.Fatalf("the first is %+v, want what takes no resource", reads)
	}
	settings := []string{"ec2:GetSubnetCidrReservations", "ec2:GetAllowedImagesSettings", "ec2:GetInstanceMetadataDefaults"}
	for _, action := range reads[0].Actions {
		if !strings.HasPrefix(action, "ec2:Describe") && !slices.Contains(settings, action) && !strings.HasPrefix(action, "autoscaling:Describe") && !strings.HasPrefix(action, "route53resolver:List") && !strings.HasPrefix(action, "route53profiles:List") && action != "route53:ListHostedZonesByVPC" && !strings.HasPrefix(action, "arc-zonal-shift:List") {
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
}

// TestOrder: nothing is read before what it needs, or what tells it more; and a
// look at everything has as many waves of calls as before there was an order to
// compute: five, and one without calls, for what was counted is told.
func TestOrder(t *testing.T) {
	waves := source.Waves(catalogue())
	at := map[snapshot.Source]int{}
	for i, wave := range waves {
		for _, s := range wave {
			at[s.Name] = i
		}
	}
	for _, s := range catalogue() {
		for _, before := range slices.Concat(s.Needs, s.After) {
			if at[before] >= at[s.Name] {
				t.Errorf("%s is read no later than %s", s.Name, before)
			}
		}
	}
	if len(waves) > 6 || at[snapshot.Unattached] != at[snapshot.Usage]+1 || at[snapshot.CreatorsOf] != at[snapshot.Unattached]+1 {
		t.Errorf("%d waves: %v", len(waves), at)
	}
}

// TestWholeKubernetesAPI: what fails for all of an API is told of the call by which the
// nodes are listed.
func TestWholeKubernetesAPI(t *testing.T) {
	if got := known(snapshot.Nodes).Call(); got != snapshot.WholeKubernetesAPI {
		t.Errorf("the nodes are listed by %q", got)
	}
}
