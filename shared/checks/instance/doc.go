// Package instance holds the checks of instance: what was started, and how.
package instance

import (
	"rollcall/shared/checks/check"
	"rollcall/shared/snapshot"
)

// usingStart is a check of instances: what is expected of one depends on its
// image and its template.
func usingStart(c check.Check) check.Check {
	return check.Using([]snapshot.Source{
		snapshot.Images, snapshot.LaunchedImagesOf, snapshot.LaunchTemplates, snapshot.InstanceTypes, snapshot.AWSNode, snapshot.NodeEventsOf,
	}, c)
}
