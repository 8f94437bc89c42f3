package checks

import "slices"

// All is every check, in the catalogue's order.
func All() []Check {
	return []Check{
		noEgress(),
		blackholeRoute(),
		natUnusable(),
		natNoInternet(),
		igwNoPublicIP(),
		endpointMissing(),
		subnetExhausted(),
		endedEarly(),
		notRegistered(),
		notReady(),
	}
}

// AtLaunch is the checks that can judge a launch at once.
func AtLaunch() []Check {
	return slices.DeleteFunc(All(), func(c Check) bool { return !c.AtLaunch })
}
