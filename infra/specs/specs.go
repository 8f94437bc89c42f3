// Package specs lists the functions that are deployed.
package specs

import (
	"rollcall/shared/fn"

	enicleanup "rollcall/functions/eni-cleanup/spec"
	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	report "rollcall/functions/report/spec"
	spotreport "rollcall/functions/spot-report/spec"
	subnetwatch "rollcall/functions/subnet-watch/spec"
)

// All is every function, in the order in which an event passes through them.
// A function that is not listed here is not deployed.
func All() []fn.Spec {
	return []fn.Spec{
		launchwatch.Spec(),
		joincheck.Spec(),
		nodegroupwatch.Spec(),
		subnetwatch.Spec(),
		spotreport.Spec(),
		enicleanup.Spec(),
		report.Spec(),
	}
}
