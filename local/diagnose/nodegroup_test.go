package diagnose

import "testing"

const (
	updates = "eks-list-updates.eks-workshop.new_nodegroup_2"
	update  = "eks-describe-update.eks-workshop.new_nodegroup_2.0fe9746f-aa5b-e824-dac0-75ae25ff8170"
)

// issues gives the nodegroup a status and health issues, as EKS shows them.
func issues(status, list string) change {
	return func(t *testing.T, dir string) {
		set(groupFile, "nodegroup.status", `"`+status+`"`)(t, dir)
		set(groupFile, "nodegroup.health.issues", list)(t, dir)
	}
}

// updateIs gives the nodegroup's only update a status and errors.
func updateIs(status, errors string) change {
	return func(t *testing.T, dir string) {
		set(update, "update.status", `"`+status+`"`)(t, dir)
		set(update, "update.errors", errors)(t, dir)
	}
}

const (
	quota   = `[{"code": "InstanceLimitExceeded", "message": "You have requested more vCPU capacity than your current vCPU limit of 16 allows.", "resourceIds": ["` + asg + `"]}]`
	foreign = `[{"code": "Ec2PlacementGroupNotFound", "message": "The placement group of the launch template does not exist.", "resourceIds": ["pg-0123456789abcdef0"]}]`
	absent  = `[{"code": "NodeCreationFailure", "message": "Instances failed to join the kubernetes cluster", "resourceIds": ["` + young + `"]}]`
	evict   = `[{"errorCode": "PodEvictionFailure", "errorMessage": "Reached max retries while trying to evict pods", "resourceIds": ["ip-10-42-192-4.us-west-2.compute.internal"]}]`
)

// TestNodegroups holds what EKS says of nodegroups against what a capture says:
// what it lacks makes a healthy one unknown only where it was asked for and
// refused, or is half there.
func TestNodegroups(t *testing.T) {
	well := said{}
	unknown := func(words string) said { return said{2, nil, nil, words} }
	long := set(groupFile, "nodegroup.modifiedAt", "1795178000")
	tests := map[string]struct {
		want    said
		changes []change
	}{
		"a quota":                      {one("nodegroup/health", "new_nodegroup_2"), []change{noInstance, issues("DEGRADED", quota)}},
		"a quota, and as many as want": {well, []change{issues("DEGRADED", quota)}},
		"a code of tomorrow":           {one("nodegroup/health", "new_nodegroup_2"), []change{issues("DEGRADED", foreign)}},
		"instances that do not join":   {one("route/no-egress", table), []change{noNode(), noWayOut(), issues("CREATE_FAILED", absent)}},
		"nobody knows why":             {said{1, []string{"node/not-registered symptom", "nodegroup/health symptom"}, nil, ""}, []change{noNode(), issues("DEGRADED", absent)}},
		"and they joined":              {well, []change{issues("DEGRADED", absent)}},
		"an update failed":             {one("nodegroup/update-failed", "new_nodegroup_2"), []change{updateIs("Failed", evict)}},
		"an update goes on":            {well, []change{updateIs("InProgress", "[]"), set(groupFile, "nodegroup.status", `"UPDATING"`)}},
		"deleted since two hours":      {one("nodegroup/status", "new_nodegroup_2"), []change{set(groupFile, "nodegroup.status", `"DELETING"`), long}},
		"deleted since minutes":        {well, []change{set(groupFile, "nodegroup.status", `"DELETING"`)}},
		"updates not captured":         {well, []change{without(updates+".json", update+".json", "eks-list-updates.eks-workshop.default.json")}},
		"of one not captured":          {one("nodegroup/update-failed", "new_nodegroup_2"), []change{updateIs("Failed", evict), without("eks-list-updates.eks-workshop.default.json")}},
		"described and not listed":     {one("nodegroup/update-failed", "new_nodegroup_2"), []change{updateIs("Failed", evict), without(updates + ".json")}},
		"described, in no list":        {one("nodegroup/update-failed", "new_nodegroup_2"), []change{updateIs("Failed", evict), set(updates, "updateIds", "[]")}},
		"described, went well":         {well, []change{without(updates + ".json")}},
		"a symptom, without updates":   {said{1, []string{"node/not-registered symptom"}, nil, ""}, []change{noNode(), without(updates+".json", update+".json")}},
		"listed and not described":     {unknown("nodegroup/update-failed new_nodegroup_2: eks:DescribeUpdate: broken (the capture has no eks-describe-update"), []change{without(update + ".json")}},
		"updates refused":              {unknown("nodegroup/update-failed eks-workshop: eks:ListUpdates: denied"), []change{refused(updates + " AccessDeniedException")}},
		"no such updates":              {well, []change{refused(updates + " ResourceNotFoundException")}},
		"updates throttled":            {well, []change{refused(updates + " ThrottlingException")}},
		"one Spot pool":                {said{0, []string{"spot/few-pools advice"}, []string{"new_nodegroup_2"}, ""}, []change{set(groupFile, "nodegroup.capacityType", `"SPOT"`)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tell(t, tt.want, tt.changes...)
		})
	}
}
