package action

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/snapshot"
)

func TestLaunchedBy(t *testing.T) {
	const owned, pool, class, eks = "kubernetes.io/cluster/prod", "karpenter.sh/nodepool", "karpenter.k8s.aws/ec2nodeclass", "eks:eks-cluster-name"
	counts := func(name string, tags map[string]string) snapshot.Group {
		return snapshot.Group{Name: name, Tags: tags, Instances: []snapshot.GroupInstance{{ID: "i-0other"}, {ID: "i-0a"}}}
	}
	ours := map[string]string{owned: "owned"}
	stranger := &Refusal{Reason: NotLaunchedByIt, Says: "i-0a has the tag of prod, and neither an Auto Scaling group, a nodegroup nor a NodePool of it launched it: " +
		"anybody could have set the tag."}
	others := &Refusal{Reason: OtherCluster, Says: "a, which launched i-0a, is not tagged as owned by prod."}
	for _, test := range []struct {
		name       string
		tags       map[string]string // of the instance
		groups     []snapshot.Group
		nodegroups []snapshot.Nodegroup
		by         string
		proved     bool
		no         *Refusal
	}{
		{name: "no tag at all", no: stranger},
		{name: "a NodePool", tags: map[string]string{pool: "default", class: "default", owned: "owned", eks: "prod"}, by: "NodePool default"},
		{name: "no NodePool", tags: map[string]string{class: "default", owned: "owned", eks: "prod"}, no: stranger},
		{name: "a NodePool without a class", tags: map[string]string{pool: "default", owned: "owned", eks: "prod"}, no: stranger},
		{name: "a NodePool that shares the cluster", tags: map[string]string{pool: "default", class: "default", owned: "shared", eks: "prod"}, no: stranger},
		{name: "another cluster's NodePool", tags: map[string]string{pool: "default", class: "default", owned: "owned", eks: "dev"}, no: stranger},
		{name: "a group of the cluster", groups: []snapshot.Group{counts("a", ours)}, by: "Auto Scaling group a", proved: true},
		{name: "the second group, whatever a tag says", tags: map[string]string{"aws:autoscaling:groupName": "first"},
			groups: []snapshot.Group{{Name: "first", Tags: ours}, counts("a", ours)}, by: "Auto Scaling group a", proved: true},
		{name: "a group of nobody's", groups: []snapshot.Group{counts("a", nil)}, no: others},
		{name: "a group that shares the cluster", groups: []snapshot.Group{counts("a", map[string]string{owned: "shared"})}, no: others},
		{name: "a nodegroup's group", groups: []snapshot.Group{counts("a", nil)}, nodegroups: []snapshot.Nodegroup{{Name: "workers", Cluster: "prod", Groups: []string{"x", "a"}}},
			by: "nodegroup workers", proved: true},
		{name: "the second nodegroup's group", groups: []snapshot.Group{counts("a", nil)},
			nodegroups: []snapshot.Nodegroup{{Name: "first", Cluster: "prod", Groups: []string{"x"}}, {Name: "workers", Groups: []string{"a"}}}, by: "nodegroup workers", proved: true},
		{name: "a nodegroup of no named cluster", groups: []snapshot.Group{counts("a", nil)}, nodegroups: []snapshot.Nodegroup{{Name: "workers", Groups: []string{"a"}}},
			by: "nodegroup workers", proved: true},
		{name: "another cluster's nodegroup", groups: []snapshot.Group{counts("a", nil)},
			nodegroups: []snapshot.Nodegroup{{Name: "workers", Cluster: "dev", Groups: []string{"a"}}}, no: others},
		{name: "a group that does not count it", tags: map[string]string{"aws:autoscaling:groupName": "a"}, groups: []snapshot.Group{{Name: "x"}, {Name: "a", Tags: ours}},
			no: &Refusal{Reason: NotTheGroups, Says: "a does not count i-0a among its instances."}},
		{name: "a group that was not read", tags: map[string]string{"aws:autoscaling:groupName": "a"}, groups: []snapshot.Group{{Name: "x"}},
			no: &Refusal{Reason: CouldNotLook, Says: "No plan is made where something could not be read: auto scaling groups, broken.",
				Blocked: []snapshot.Failure{{Source: snapshot.Groups, Reason: snapshot.Broken, Message: "a is not among them"}}}},
	} {
		l := Look{Snapshot: &snapshot.Snapshot{Groups: test.groups, Nodegroups: test.nodegroups}, Subject: Subject{Cluster: "prod"}}
		by, proved, no := l.LaunchedBy(snapshot.Instance{ID: "i-0a", Tags: test.tags})
		if by != test.by || proved != test.proved {
			t.Errorf("%s: by %q, proved %v; want %q, %v", test.name, by, proved, test.by, test.proved)
		}
		if diff := cmp.Diff(test.no, no); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
