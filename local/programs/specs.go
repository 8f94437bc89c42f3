package programs

import (
	changecheck "rollcall/functions/change-check/spec"
	enicleanup "rollcall/functions/eni-cleanup/spec"
	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	remediate "rollcall/functions/remediate/spec"
	report "rollcall/functions/report/spec"
	slackactions "rollcall/functions/slack-actions/spec"
	spotreport "rollcall/functions/spot-report/spec"
	subnetwatch "rollcall/functions/subnet-watch/spec"
	zonewatch "rollcall/functions/zone-watch/spec"
	"rollcall/shared/spec"
)

// Specs say what each function is: what wakes it, and what it reads.
func Specs() []spec.Spec {
	return []spec.Spec{
		changecheck.Spec(), enicleanup.Spec(), joincheck.Spec(), launchwatch.Spec(), nodegroupwatch.Spec(), remediate.Spec(), report.Spec(), slackactions.Spec(),
		spotreport.Spec(), subnetwatch.Spec(), zonewatch.Spec(),
	}
}
