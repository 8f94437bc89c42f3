// Package specs lists the functions that are deployed.
package specs

import (
	"rollcall/shared/fn"

	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	report "rollcall/functions/report/spec"
	spotreport "rollcall/functions/spot-report/spec"
)

// All is every function, in the order in which an event passes through them.
// A function that is not listed here is not deployed.
func All() []fn.Spec {
	return []fn.Spec{
		launchwatch.Spec(),
		joincheck.Spec(),
		nodegroupwatch.Spec(),
		spotreport.Spec(),
		report.Spec(),
	}
}
