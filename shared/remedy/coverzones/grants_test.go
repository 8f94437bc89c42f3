package coverzones

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/remedy/action"
	"rollcall/shared/spec"
)

func TestGrants(t *testing.T) {
	got := grants(action.OptIn{Clusters: []string{"prod"}, Any: []string{"dev", "prod"}, VPCs: []string{"vpc-0a"}})
	want := []spec.Grant{
		{
			Sid: "ChangeGroups2", Why: "cover-zones raises the desired count of Auto Scaling groups, never above their maximum.",
			Actions: []string{"autoscaling:SetDesiredCapacity"}, Resources: []spec.Resource{"arn:${Partition}:autoscaling:${Region}:${Account}:autoScalingGroup:*"},
			Conditions: map[string]map[string][]string{"StringEquals": {"aws:ResourceTag/kubernetes.io/cluster/prod": {"owned"}}},
		},
		{
			Sid: "RaiseNodegroups1", Why: "cover-zones raises the desired count of managed nodegroups, never above their maximum.",
			Actions: []string{"eks:UpdateNodegroupConfig"}, Resources: []spec.Resource{"arn:${Partition}:eks:${Region}:${Account}:nodegroup/prod/*/*"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	if got := grants(action.OptIn{Any: []string{"dev"}}); len(got) != 0 {
		t.Errorf("nobody opted in: %+v", got)
	}
}
