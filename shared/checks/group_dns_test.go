package checks

// dnsCases are the cases of dnsChecks.
func dnsCases() map[ID][]testCase {
	return map[ID][]testCase{
		"dns/support-off":   dnsSupportOffCases(),
		"dns/hostnames-off": dnsHostnamesOffCases(),
		"dns/dhcp-options":  dhcpOptionsCases(),
	}
}
