package automation

import (
	"slices"
	"strings"

	"rollcall/shared/checks"
	"rollcall/shared/network/filter"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

const notOnline = "the SSM agent cannot be online"

// daemons is step 21. No API answer holds the state of a daemon.
func daemons(s Subject) answer {
	if !Online(s) {
		return skipped(notOnline)
	}
	return skipped("not knowable: the worlds have no daemons")
}

// connectivity is step 22.
func connectivity(s Subject) answer {
	if !Online(s) {
		return skipped(notOnline)
	}
	if len(s.Unreachable) > 0 {
		return flagged(symptom("not reached from the node: "+strings.Join(s.Unreachable, ", "), ofNetwork()...))
	}
	return passed()
}

// ofNetwork are the causes of which a service out of reach is the symptom.
func ofNetwork() []checks.ID {
	var list []checks.ID
	for _, c := range checks.All() {
		switch group, _, _ := strings.Cut(string(c.ID), "/"); group {
		case "route", "endpoint", "sg", "nacl", "dns":
			list = append(list, c.ID)
		}
	}
	return list
}

// Online tells whether the SSM agent of the node can be online: it is part of
// the images of EKS, and needs the metadata service, name resolution, its
// permission, and a way to its service.
func Online(s Subject) bool {
	role, ok := roleOf(s)
	if !ok || !assumed(s, role) || !allows(s, role, "ssm:UpdateInstanceInformation") || s.Node.Metadata.Endpoint == "disabled" {
		return false
	}
	dns, ok := find(s.Account.VPCAttributes, func(v snapshot.VPCAttributes) bool { return v.VPC == s.Node.VPC })
	if ok && !dns.DNSSupport {
		return false
	}
	f := filter.New(s.Account)
	if slices.ContainsFunc([]string{"ssm", "ssmmessages"}, func(service string) bool { return !has(s, f, service) }) {
		return internet(s, f)
	}
	return f.Out(s.Node.Groups, filter.Peer{Ranges: ranges(s), Groups: endpointGroups(s)}, filter.TCP, 443).Admits != filter.None
}

func has(s Subject, f *filter.Filters, service string) bool {
	return slices.ContainsFunc(s.Account.Endpoints, func(e snapshot.Endpoint) bool {
		return e.VPC == s.Node.VPC && strings.HasSuffix(e.Service, "."+s.Account.Region+"."+service) && e.PrivateDNS && path.Available(e) &&
			f.In(e.Groups, peer(s.Node), filter.TCP, 443).Admits != filter.None
	})
}

func internet(s Subject, f *filter.Filters) bool {
	way := path.New(s.Account).Internet(s.Node.Subnet)
	if !way.Good() || way.Verdict == path.NeedsPublicIP && !s.Node.PublicIP.IsValid() {
		return false
	}
	if f.Out(s.Node.Groups, filter.Peer{Ranges: filter.Internet()}, filter.TCP, 443).Admits == filter.None {
		return false
	}
	a, ok := f.ACL(s.Node.Subnet)
	return !ok || !denies(a, true, filter.Port(443), filter.Internet()) && !denies(a, false, filter.Ephemeral(s.Node.Windows), filter.Internet())
}
