package coverzones

import (
	"slices"

	"rollcall/shared/spec"

	"rollcall/shared/remedy/action"
)

// grants are on groups and on managed nodegroups, whose ARN holds their
// cluster's name.
func grants(o action.OptIn) []spec.Grant {
	return slices.Concat(
		o.ToGroups("autoscaling:SetDesiredCapacity", "cover-zones raises the desired count of Auto Scaling groups, never above their maximum."),
		o.ByARN("arn:${Partition}:eks:${Region}:${Account}:nodegroup/%s/*/*", spec.Grant{
			Sid: "RaiseNodegroups", Why: "cover-zones raises the desired count of managed nodegroups, never above their maximum.",
			Actions: []string{"eks:UpdateNodegroupConfig"},
		}),
	)
}
