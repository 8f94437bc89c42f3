package facts

import (
	"fmt"
	"net/netip"

	"rollcall/shared/checks/finding"
	"rollcall/shared/network/filter"

	"rollcall/shared/snapshot"
)

// What joining needs of filters.
const (
	TCP       = filter.TCP
	Udp       = filter.UDP
	HTTPSPort = 443
	DNSPort   = 53
	// KubeletPort is where the control plane reaches a node's kubelet, for logs
	// and exec (EKS user guide, "Amazon EKS security group requirements").
	KubeletPort = 10250
)

// Anywhere is all of IPv4.
func Anywhere() netip.Prefix { return netip.PrefixFrom(netip.IPv4Unspecified(), 0) }

func Peer(ranges []netip.Prefix, groups []string) filter.Peer {
	return filter.Peer{Ranges: ranges, Groups: groups}
}

// Outcome is what an answer is worth: all is a pass, none is a failure, and
// a part does not tell, because which address counts is not known.
func Outcome(a filter.Answer) (finding.Outcome, []snapshot.Failure, []string) {
	switch a.Admits {
	case filter.All:
		return finding.Pass, nil, a.By
	case filter.None:
		return finding.Fail, nil, nil
	case filter.Part:
		return finding.Unknown, []snapshot.Failure{{
			Source: snapshot.SecurityGroups, Reason: snapshot.NotRead,
			Message: fmt.Sprintf("only a part of the addresses in question is admitted (%s), and which one counts is not known", TenOf(a.By)),
		}}, nil
	}
	return finding.Unknown, a.Blind, nil
}

// LetsOut judges groups for one door. Where it is not known, groups that let
// out to anywhere let out there too.
func (g *Placements) LetsOut(groups []string, d endpointAddress, far []string, port int) (finding.Outcome, []snapshot.Failure, []string) {
	o, why, by := Outcome(g.Fw.Out(groups, Peer(d.Ranges, far), TCP, port))
	if o == finding.Unknown && len(d.Ranges) == 0 {
		if everywhere, _, by := Outcome(g.Fw.Out(groups, Peer([]netip.Prefix{Anywhere()}, far), TCP, port)); everywhere == finding.Pass {
			return finding.Pass, nil, by
		}
	}
	return o, why, by
}
