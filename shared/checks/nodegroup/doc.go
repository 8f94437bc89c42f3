// Package nodegroup holds the checks of nodegroup: what EKS says of node groups.
package nodegroup

import (
	"rollcall/shared/checkid"
)

// behindNodegroups are the checks that are nearer to the cause of an issue
// than EKS's word for it.
func behindNodegroups() []checkid.ID {
	return []checkid.ID{
		checkid.AnyJoinCause, checkid.AnyFailedLaunch, checkid.LaunchSuspended, checkid.IPSubnetExhausted, checkid.SpotReclaimedBeforeJoin, checkid.ClusterHealth, checkid.AddonDegraded,
	}
}
