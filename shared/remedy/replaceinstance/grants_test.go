package replaceinstance

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/spec"
)

func TestGrants(t *testing.T) {
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"prod"}})
	want := []spec.Grant{{
		Sid: "ChangeGroups1", Why: "replace-instance ends instances that did not join through their Auto Scaling group, which launches others.",
		Actions: []string{"autoscaling:TerminateInstanceInAutoScalingGroup"}, Resources: []spec.Resource{"arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*"},
		Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/prod": {"owned"}}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
}
