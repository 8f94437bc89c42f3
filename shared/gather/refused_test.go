package gather

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
	"rollcall/shared/snapshot"
)

// refuse denies one action.
func refuse(action string) wire.Faults {
	return wire.FaultFunc(func(_ context.Context, c *wire.Call) error {
		if c.Action() == action {
			return wire.Denied
		}
		return nil
	})
}

// updateNodegroup makes an update: a nodegroup without any needs no permission
// to describe one.
func updateNodegroup(t *testing.T, p *place) {
	t.Helper()
	if _, err := p.world.Call("eks:UpdateNodegroupConfig", []byte(`{"clusterName":"eks-workshop","nodegroupName":"default","labels":{"addOrUpdateLabels":{"a":"b"}}}`)); err != nil {
		t.Fatal(err)
	}
}

// TestEveryRefusalIsNamed holds for each permission that a refusal fails the
// source that took it, by its name, and no other; where others are named by
// what was refused, they are not said to be refused themselves.
func TestEveryRefusalIsNamed(t *testing.T) {
	file := load(t, crowded)
	refuseLaunches(file)
	for _, action := range actions() {
		var of []snapshot.Source
		for _, s := range snapshot.All() {
			if slices.Contains(Permissions(s), action) {
				of = append(of, s)
			}
		}
		// What was read before the look stays; a cluster without a warm pool
		// and without instances in it needs no permission for them.
		if slices.Contains([]string{"ec2:DescribeInstances", "autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribeWarmPool", "eks:DescribeCluster"}, action) {
			continue
		}
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			p := start(t, file, refuse(action), "")
			updateNodegroup(t, p)
			s, _ := whole(t, p)
			for source, f := range s.Failures {
				switch {
				case slices.Contains(of, source):
					if f.Reason != snapshot.Denied || f.Call != action {
						t.Errorf("%s: %+v, want denied and %s", source, f, action)
					}
				case f.Reason != snapshot.NotRead || f.Message == "":
					t.Errorf("%s failed too: %+v", source, f)
				}
				if s.Has(source) {
					t.Errorf("%s counts as read", source)
				}
			}
			for _, source := range of {
				if _, failed := s.Failures[source]; !failed {
					t.Errorf("%s was not failed by a refused %s", source, action)
				}
			}
		})
	}
}

// TestEveryKubernetesRefusalIsNamed holds the same for the rights in the
// cluster: each fails its own source, with the right that is missing.
func TestEveryKubernetesRefusalIsNamed(t *testing.T) {
	file := load(t, crowded)
	for _, r := range KubeRules(snapshot.All()...) {
		resource := r.Resources[0]
		t.Run(resource, func(t *testing.T) {
			t.Parallel()
			s, _ := whole(t, start(t, file, wire.NoFaults{}, resource))
			if f, failed := s.Failures[snapshot.ENIConfigsOf]; failed && resource != "eniconfigs" && f.Reason == snapshot.NotRead {
				delete(s.Failures, snapshot.ENIConfigsOf) // aws-node says whether there is anything to ask for
			}
			for source, named := range map[snapshot.Source]string{snapshot.PodEventsOf: "pods", snapshot.PodsOnNodes: "nodes"} {
				if f, failed := s.Failures[source]; failed && resource == named && f.Reason == snapshot.NotRead {
					delete(s.Failures, source) // what to ask for is in those
				}
			}
			want := map[string]int{
				"pods":        2, // those of aws-node, and those that wait
				"events":      3, // of nodes, of pods, and of what Karpenter launches
				"nodepools":   6, // they name the rest
				"nodeclasses": 2, // and whose roles are refused
			}[resource]
			want = max(want, 1)
			if len(s.Failures) != want {
				t.Fatalf("failures %+v, want %d", s.Failures, want)
			}
			for source, f := range s.Failures {
				if f.Reason == snapshot.NotRead && source == snapshot.ClassAccess {
					continue
				}
				if f.Reason == snapshot.NotRead && ofKarpenter(source) {
					// Whether anything hangs on them the checks tell.
					if first := source == snapshot.NodePoolsOf || resource != "nodepools"; first != (f.Code == "Forbidden" && strings.Contains(f.Message, "deploy/clusterrole.yaml")) {
						t.Errorf("%s: %+v", source, f)
					}
					continue
				}
				if (source == snapshot.CSRs || source == snapshot.ENIConfigsOf) && f.Reason == snapshot.NotRead && strings.Contains(f.Message, "deploy/clusterrole.yaml") {
					continue // nothing certain hangs on them, and no access policy gives them
				}
				singular := strings.TrimSuffix(resource, "s")
				if !ofKubernetes(source) || f.Reason != snapshot.Denied || f.Code != "Forbidden" || !strings.Contains(f.Call, " "+singular) {
					t.Errorf("%s: %+v, want it refused for %s", source, f, resource)
				}
			}
		})
	}
}

func ofKarpenter(source snapshot.Source) bool {
	return slices.Contains([]snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf, snapshot.PoolEventsOf}, source)
}

// TestKarpenterIsAskedForOnce holds that a cluster without Karpenter is asked one
// question, and that its answer is "none"; and that of the classes only those
// are read that a NodePool names.
func TestKarpenterIsAskedForOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		pools string
		want  []string
	}{
		"no such kind": {"", []string{"list nodepools"}},
		"no pool":      {"NodePools: []", []string{"list nodepools"}},
		"Karpenter":    {"NodePools: [{metadata: {name: a}, spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}}}}]", []string{"list ec2nodeclasses", "list nodeclaims", "list nodepools"}},
		"Auto Mode":    {"NodePools: [{metadata: {name: a}, spec: {template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: a}}}}}]", []string{"list nodeclaims", "list nodeclasses", "list nodepools"}},
		"another's":    {"NodePools: [{metadata: {name: a}, spec: {template: {spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: a}}}}}]", []string{"list nodeclaims", "list nodepools"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := open(t, "name: plain\nkubernetes: {eks-workshop: {"+tt.pools+"}}\n")
			q := broughtBy(t, p)
			q.Sources = []snapshot.Source{snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf}
			s, err := p.Read(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			asked := slices.DeleteFunc(slices.Sorted(slices.Values(p.asked)), func(a string) bool { return !strings.Contains(a, "node") || strings.HasSuffix(a, " nodes") })
			if diff := cmp.Diff(tt.want, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			for _, source := range append(q.Sources, snapshot.NodePoolsOf) {
				if !s.Has(source) {
					t.Errorf("%s: %+v", source, s.Failures[source])
				}
			}
		})
	}
}

// TestHalfAnAnswerIsNone holds that a list whose second page fails is not
// taken for the whole.
func TestHalfAnAnswerIsNone(t *testing.T) {
	calls := map[string]int{}
	r, _ := faulty(t, wholeVPC, wire.FaultFunc(func(_ context.Context, c *wire.Call) error {
		if calls[c.Action()]++; c.Action() == "ec2:DescribeSubnets" && calls[c.Action()] == 2 {
			return &wire.Error{Code: "InternalError", Status: 500, Message: "page 2"}
		}
		return nil
	}))
	s, err := r.Read(t.Context(), query(snapshot.Subnets))
	if err != nil {
		t.Fatal(err)
	}
	if s.Has(snapshot.Subnets) || len(s.Subnets) != 0 || s.Failures[snapshot.Subnets].Reason != snapshot.Broken {
		t.Errorf("subnets %+v, failure %+v; want none and why", s.Subnets, s.Failures[snapshot.Subnets])
	}
}

// TestNothingLeadsThere holds that what no route and no rule names is read
// without a call: there is none of it.
func TestNothingLeadsThere(t *testing.T) {
	p := open(t, "name: plain\nkubernetes: {eks-workshop: {DaemonSets: [], ServiceAccounts: []}}\n")
	s, _ := whole(t, p)
	for _, source := range []snapshot.Source{snapshot.TransitGateways, snapshot.Peerings, snapshot.PrefixListEntries, snapshot.AWSNode, snapshot.AWSAuthMap} {
		if !s.Has(source) {
			t.Errorf("%s: %+v", source, s.Failures[source])
		}
	}
	if s.CNI != nil || s.AWSAuth != nil {
		t.Errorf("CNI %+v, aws-auth %+v of a cluster that has neither", s.CNI, s.AWSAuth)
	}
	for _, c := range p.aws.Calls() {
		for _, part := range []string{"TransitGateway", "Peering", "PrefixList"} {
			if strings.Contains(c.Operation, part) {
				t.Errorf("called %s", c.Operation)
			}
		}
	}
}

// TestWhatNamesIsMissing holds that a source whose things are named by another
// that could not be read is not read, and says so.
func TestWhatNamesIsMissing(t *testing.T) {
	s, _ := whole(t, openFaulty(t, crowded, refuse("ec2:DescribeRouteTables"), ""))
	got := map[snapshot.Source]snapshot.Reason{}
	for source, f := range s.Failures {
		got[source] = f.Reason
	}
	want := map[snapshot.Source]snapshot.Reason{snapshot.RouteTables: snapshot.Denied, snapshot.TransitGateways: snapshot.NotRead, snapshot.Peerings: snapshot.NotRead}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if len(s.PrefixLists) != 1 {
		t.Errorf("prefix lists %+v, want the one of the security group", s.PrefixLists)
	}
}

// TestConfigMapMode holds that a cluster without access entries has none, and
// that this is no failure.
func TestConfigMapMode(t *testing.T) {
	s, _ := whole(t, open(t, "eks: {clusters: [{name: eks-workshop, accessConfig: {authenticationMode: CONFIG_MAP}}]}\n"))
	if !s.Has(snapshot.Access) || len(s.Principals)+len(s.AccessEntries) != 0 || s.Cluster.AuthMode != "CONFIG_MAP" {
		t.Errorf("access read %t: %q, mode %q", s.Has(snapshot.Access), s.Principals, s.Cluster.AuthMode)
	}
}

// TestNoDHCPOptions holds that a VPC without DHCP options is not taken for one
// with Amazon's name server.
func TestNoDHCPOptions(t *testing.T) {
	s, _ := whole(t, open(t, "ec2: {Vpcs: [{VpcId: "+workshopVPC+", DhcpOptionsId: default}]}\n"))
	if diff := cmp.Diff([]snapshot.DHCPOptions{{ID: "default"}}, s.DHCPOptions); diff != "" || !s.Has(snapshot.DHCP) {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	s, _ = whole(t, open(t, "ec2: {Vpcs: [{VpcId: "+workshopVPC+", DhcpOptionsId: dopt-gone}]}\n"))
	if got := slices.Collect(maps.Keys(s.Missing[snapshot.DHCP])); !slices.Equal(got, []string{"dopt-gone"}) {
		t.Errorf("missing options %q, want dopt-gone", got)
	}
}

// TestTransitGatewayOfAnotherAccount holds that its route table is not asked
// for, and whose it is.
func TestTransitGatewayOfAnotherAccount(t *testing.T) {
	change := strings.Replace(crowded, "TransitGatewayAttachmentId: tgw-attach-01, TransitGatewayId: tgw-01,",
		`TransitGatewayAttachmentId: tgw-attach-01, TransitGatewayId: tgw-01, TransitGatewayOwnerId: "999900001111",`, 1)
	s, _ := whole(t, open(t, change))
	f, lacks := s.Lacks(snapshot.TransitGateways, "tgw-rtb-01")
	if !lacks || !strings.Contains(f.Message, "999900001111") || len(s.TransitRoutes) != 0 || !s.Has(snapshot.TransitGateways) {
		t.Errorf("lacks %t %+v, routes %+v", lacks, f, s.TransitRoutes)
	}
}
