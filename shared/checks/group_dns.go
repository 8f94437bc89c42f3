package checks

// dnsChecks are the checks of dns: whether names resolve.
func dnsChecks() []Check {
	return []Check{
		dnsSupportOff(),
		dnsHostnamesOff(),
		dhcpOptions(),
	}
}
