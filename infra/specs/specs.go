// Package specs lists the functions that are deployed.
package specs

import (
	"slices"

	"rollcall/shared/spec"

	changecheck "rollcall/functions/change-check/spec"
	enicleanup "rollcall/functions/eni-cleanup/spec"
	joincheck "rollcall/functions/join-check/spec"
	launchwatch "rollcall/functions/launch-watch/spec"
	nodegroupwatch "rollcall/functions/nodegroup-watch/spec"
	notifytargets "rollcall/functions/notify-targets/spec"
	remediate "rollcall/functions/remediate/spec"
	report "rollcall/functions/report/spec"
	slackactions "rollcall/functions/slack-actions/spec"
	spotreport "rollcall/functions/spot-report/spec"
	subnetwatch "rollcall/functions/subnet-watch/spec"
	sweep "rollcall/functions/sweep/spec"
	zonewatch "rollcall/functions/zone-watch/spec"
)

// Deployed are the functions of a deployment: those that hang on a setting only
// where it is neither "off" nor "none".
func Deployed(list []spec.Spec, environment map[spec.Variable]string) []spec.Spec {
	return slices.DeleteFunc(slices.Clone(list), func(s spec.Spec) bool { return s.Only != "" && !chosen(environment[s.Only]) })
}

// chosen tells that a setting has something deployed.
func chosen(value string) bool { return value != "" && value != "off" && value != "none" }

// All is every function, in the order in which an event passes through them.
// A function that is not listed here is not deployed.
func All() []spec.Spec {
	return []spec.Spec{
		launchwatch.Spec(),
		joincheck.Spec(),
		sweep.Spec(),
		nodegroupwatch.Spec(),
		subnetwatch.Spec(),
		zonewatch.Spec(),
		spotreport.Spec(),
		enicleanup.Spec(),
		remediate.Spec(),
		report.Spec(),
		slackactions.Spec(),
		notifytargets.Spec(),
		changecheck.Spec(),
	}
}
