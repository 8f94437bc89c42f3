package checks

import (
	"fmt"
	"net/netip"

	"rollcall/shared/firewall"
	"rollcall/shared/snapshot"
)

// What joining needs of filters.
const (
	tcp   = firewall.TCP
	udp   = firewall.UDP
	https = 443
	dns53 = 53
	// kubeletPort is where the control plane reaches a node's kubelet, for logs
	// and exec (EKS user guide, "Amazon EKS security group requirements").
	kubeletPort = 10250
)

// anywhere is all of IPv4.
func anywhere() netip.Prefix { return netip.PrefixFrom(netip.IPv4Unspecified(), 0) }

func peer(ranges []netip.Prefix, groups []string) firewall.Peer {
	return firewall.Peer{Ranges: ranges, Groups: groups}
}

// outcome is what an answer is worth: all is a pass, none is a failure, and
// a part does not tell, because which address counts is not known.
func outcome(a firewall.Answer) (Outcome, []snapshot.Failure, []string) {
	switch a.Admits {
	case firewall.All:
		return Pass, nil, a.By
	case firewall.None:
		return Fail, nil, nil
	case firewall.Part:
		return Unknown, []snapshot.Failure{{
			Source: snapshot.SecurityGroups, Reason: snapshot.NotRead,
			Message: fmt.Sprintf("only a part of the addresses in question is admitted (%s), and which one counts is not known", tenOf(a.By)),
		}}, nil
	}
	return Unknown, a.Blind, nil
}

// letsOut judges groups for one door. Where it is not known, groups that let
// out to anywhere let out there too.
func (g *ground) letsOut(groups []string, d door, far []string, port int) (Outcome, []snapshot.Failure, []string) {
	o, why, by := outcome(g.fw.Out(groups, peer(d.ranges, far), tcp, port))
	if o == Unknown && len(d.ranges) == 0 {
		if everywhere, _, by := outcome(g.fw.Out(groups, peer([]netip.Prefix{anywhere()}, far), tcp, port)); everywhere == Pass {
			return Pass, nil, by
		}
	}
	return o, why, by
}
