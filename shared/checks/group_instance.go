package checks

import "rollcall/shared/snapshot"

// instanceChecks are the checks of instance: what was started, and how.
func instanceChecks() []Check {
	foreign := walking(foreignSecurityGroups())[0]
	// What is expected of an instance depends on its image and its template.
	return using([]snapshot.Source{
		snapshot.Images, snapshot.LaunchTemplates, snapshot.InstanceTypes, snapshot.AWSNode, snapshot.NodeEventsOf,
	},
		forbiddenNodeLabel(),
		userData(),
		imds(),
		clusterTag(),
		maxPods(),
		foreign,
		olderThanCluster(),
		endedEarly(),
		statusCheck(),
		scheduledEvent(),
		imageUnfit(),
		versionSkew(),
		consoleError(),
	)
}
