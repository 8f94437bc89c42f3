// Package ip holds the checks of ip: addresses.
package ip

import (
	"rollcall/shared/checks/check"
)

// AddressChecks are the checks of ip: addresses.
func AddressChecks() []check.Check {
	return []check.Check{
		subnetExhausted(),
		scaleOutWillNotFit(),
		fragmented(),
		runway(),
		leakedInterfaces(),
		leakCause(),
	}
}
