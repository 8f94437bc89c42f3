package automation

import (
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/snapshot"
)

const amazonDNS = "AmazonProvidedDNS"

// maxDomain leaves room for "ip-10-0-0-1." in the 63 characters of a label.
const maxDomain = 63 - len("ip-10-0-0-1.")

// dhcpOptions is step 2. One custom domain name passes: what the step holds
// against it is not documented.
func dhcpOptions(s Subject) answer {
	vpc, _ := find(s.Account.VPCs, func(v snapshot.VPC) bool { return v.ID == s.Node.VPC })
	o, ok := find(s.Account.DHCPOptions, func(o snapshot.DHCPOptions) bool { return o.ID == vpc.DHCP })
	if !ok {
		return passed()
	}
	if !slices.Contains(o.DomainNameServers, amazonDNS) {
		return flagged(cause(o.ID+" has other name servers than "+amazonDNS, checkid.DNSDHCPOptions))
	}
	if domain := strings.Join(o.DomainNames, " "); len(domain) > maxDomain {
		return flagged(cause(o.ID+" has a domain name that makes too long a node name", checkid.DNSDHCPOptions))
	}
	if len(strings.Fields(strings.Join(o.DomainNames, " "))) != 1 {
		return flagged(cause(o.ID+" has no domain name, or several", checkid.DNSDHCPOptions))
	}
	return passed()
}

// addons is step 4. One that is being made or updated passes.
func addons(s Subject) answer {
	var found []Finding
	for _, a := range s.Account.Addons {
		if a.Status == "DEGRADED" || strings.HasSuffix(a.Status, "_FAILED") || len(a.Issues) > 0 {
			found = append(found, cause(a.Name+" is "+a.Status, checkid.AddonDegraded))
		}
	}
	return flagged(found...)
}

// clusterInterfaces is step 5.
func clusterInterfaces(s Subject) answer {
	for _, i := range s.Account.Interfaces {
		if i.Description == "Amazon EKS "+s.Account.Cluster.Name {
			return passed()
		}
	}
	return skipped("not knowable: the world does not draw the control plane's interfaces")
}

// vpcDNS is step 6.
func vpcDNS(s Subject) answer {
	v, ok := find(s.Account.VPCAttributes, func(v snapshot.VPCAttributes) bool { return v.VPC == s.Account.Cluster.VPC })
	if !ok {
		return passed()
	}
	var found []Finding
	if !v.DNSSupport {
		found = append(found, cause("DNS support of "+v.VPC+" is off", checkid.DNSSupportOff))
	}
	if !v.DNSHostnames {
		found = append(found, cause("DNS hostnames of "+v.VPC+" are off", checkid.DNSHostnamesOff))
	}
	return flagged(found...)
}

// health is step 7. An event that EC2 marks as over is none.
func health(s Subject) answer {
	st, ok := find(s.Account.Statuses, func(st snapshot.InstanceStatus) bool { return st.Instance == s.Node.ID })
	if !ok {
		return passed()
	}
	var found []Finding
	if st.System == "impaired" || st.OS == "impaired" {
		found = append(found, cause("status checks: system "+st.System+", instance "+st.OS, checkid.InstanceStatusCheck))
	}
	for _, e := range st.Events {
		if !strings.HasPrefix(e.Description, "[Completed]") && !strings.HasPrefix(e.Description, "[Canceled]") {
			found = append(found, cause("EC2 has scheduled "+e.Code, checkid.InstanceScheduledEvent))
		}
	}
	return flagged(found...)
}
