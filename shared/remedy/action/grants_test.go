package action

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/spec"
)

func TestInVPCs(t *testing.T) {
	add := spec.Grant{Sid: "Add", Actions: []string{"ec2:CreateRoute"}, Resources: []spec.Resource{"route-table/*"}}
	got := OptIn{Clusters: []string{"prod"}, VPCs: []string{"vpc-0a"}}.InVPCs(add)
	want := []spec.Grant{{
		Sid: "Add", Actions: []string{"ec2:CreateRoute"}, Resources: []spec.Resource{"route-table/*"},
		Conditions: map[string]map[string][]string{"ArnEquals": {"ec2:Vpc": {"arn:${Partition}:ec2:${Region}:${Account}:vpc/vpc-0a"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, o := range map[string]OptIn{"no VPC": {Clusters: []string{"prod"}}, "no cluster": {VPCs: []string{"vpc-0a"}}} {
		if got := o.InVPCs(add); len(got) != 0 {
			t.Errorf("%s: granted %+v", name, got)
		}
	}
}

// Each cluster has a statement of its own, by its number among all that have opted
// in to any remedy: remedies share them.
func TestToGroups(t *testing.T) {
	of := func(sid, cluster string) spec.Grant {
		return spec.Grant{
			Sid: sid, Why: "because", Actions: []string{"autoscaling:SetDesiredCapacity"},
			Resources:  []spec.Resource{"arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*"},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/" + cluster: {"owned"}}},
		}
	}
	got := OptIn{Clusters: []string{"a", "c"}, Any: []string{"a", "b", "c"}}.ToGroups("autoscaling:SetDesiredCapacity", "because")
	if diff := cmp.Diff([]spec.Grant{of("ChangeGroups1", "a"), of("ChangeGroups3", "c")}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A statement names twenty clusters at most. What is a %s in a name stays.
func TestByARN(t *testing.T) {
	grant := spec.Grant{Sid: "Raise", Why: "because", Actions: []string{"eks:UpdateNodegroupConfig"}}
	got := OptIn{Clusters: []string{"prod"}}.ByARN("nodegroup/%s/%s/*", grant)
	want := []spec.Grant{{Sid: "Raise1", Why: "because", Actions: []string{"eks:UpdateNodegroupConfig"}, Resources: []spec.Resource{"nodegroup/prod/%s/*"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one (-want +got):\n%s", diff)
	}
	var many OptIn
	for n := range 41 {
		many.Clusters = append(many.Clusters, fmt.Sprintf("c%02d", n))
	}
	var said []string
	for _, g := range many.ByARN("%s", grant) {
		said = append(said, fmt.Sprintf("%s: %d from %s", g.Sid, len(g.Resources), g.Resources[0]))
	}
	if diff := cmp.Diff([]string{"Raise1: 20 from c00", "Raise2: 20 from c20", "Raise3: 1 from c40"}, said); diff != "" {
		t.Errorf("many (-want +got):\n%s", diff)
	}
}

// Statements of one id are one, which does what each of them does. Those of a kind
// come together, the kind that came first first, by their number.
func TestJoin(t *testing.T) {
	grant := func(sid, why, action string) spec.Grant {
		return spec.Grant{Sid: sid, Why: why, Actions: []string{action}}
	}
	got := Join([]spec.Grant{
		grant("Groups10", "d", "raise"), grant("Routes", "r", "add"), grant("Groups2", "b", "raise"),
		grant("Groups2", "e", "end"), grant("Admit1", "m", "admit"), grant("Groups10", "e", "end"), grant("Groups1", "e", "end"),
	})
	want := []spec.Grant{
		grant("Groups1", "e", "end"),
		{Sid: "Groups2", Why: "b e", Actions: []string{"raise", "end"}},
		{Sid: "Groups10", Why: "d e", Actions: []string{"raise", "end"}},
		grant("Routes", "r", "add"), grant("Admit1", "m", "admit"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	shared := []string{"raise", "kept"}[:1]
	Join([]spec.Grant{{Sid: "Groups1", Actions: shared}, grant("Groups1", "", "end")})
	if got := shared[:2][1]; got != "kept" {
		t.Errorf("what a remedy granted has become %q", got)
	}
}
