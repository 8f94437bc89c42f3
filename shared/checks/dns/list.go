// Package dns holds the checks of dns: whether names resolve.
package dns

import (
	"rollcall/shared/checks/check"
)

// DNSChecks are the checks of dns: whether names resolve.
func DNSChecks() []check.Check {
	return []check.Check{
		dnsSupportOff(),
		dnsHostnamesOff(),
		dhcpOptions(),
	}
}
