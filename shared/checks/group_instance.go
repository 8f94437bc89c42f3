package checks

import "rollcall/shared/snapshot"

// instanceChecks are the checks of instance: what was started, and how.
func instanceChecks() []Check {
	return []Check{
		forbiddenNodeLabel(),
		userData(),
		imds(),
		clusterTag(),
		maxPods(),
		foreignSecurityGroups(),
		olderThanCluster(),
		endedEarly(),
		statusCheck(),
		scheduledEvent(),
		imageUnfit(),
		versionSkew(),
		consoleError(),
	}
}

// usingStart is a check of instances: what is expected of one depends on its
// image and its template.
func usingStart(c Check) Check {
	return using([]snapshot.Source{
		snapshot.Images, snapshot.LaunchTemplates, snapshot.InstanceTypes, snapshot.AWSNode, snapshot.NodeEventsOf,
	}, c)
}
