package ip

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
	"rollcall/shared/snapshot"
)

func Fragmented() check.Check {
	return check.Check{
		ID:         checkid.IPFragmented,
		Breaks:     check.Addresses,
		Proof:      check.ByPassingUnmet,
		Title:      "The subnet has no whole /28 block free for a prefix",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.SubnetWatch},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.AWSNode},
		Uses:       []snapshot.Source{snapshot.Usage, snapshot.CIDRsKept, snapshot.ENIConfigsOf, snapshot.InstanceTypes},
		// A subnet with too few addresses for a block has that fault, not this one.
		After:    []checkid.ID{checkid.IPSubnetExhausted},
		AtLaunch: true,
		Cause: "With prefix delegation the VPC CNI takes addresses for pods in whole aligned /28 blocks. EC2 gives a block only where none of its 16 addresses is in use, however many are free in all: single addresses scattered over the subnet break all blocks. The CNI then logs InsufficientCidrBlocks, waits two minutes and tries again; new nodes have no address for pods. " +
			"Blocks are counted from all network interfaces of the VPC, their prefixes, the CIDR reservations and the addresses that AWS keeps. That there is none is certain; where the plugin may make interfaces in other subnets too, or the types may not take prefixes, it is less than that.",
		Fix: "Reserve a range for prefixes (a subnet CIDR reservation of type prefix: addresses in it that come free are not given out singly again), then drain the nodes whose addresses break its blocks, one by one. Or give pods a new subnet.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses-procedure.html",
			"https://docs.aws.amazon.com/vpc/latest/userguide/subnet-cidr-reservation.html",
		},
		Run: runFragmented,
	}
}

func runFragmented(s *facts.View) []finding.Finding {
	c := routes.Of(s)
	pods := podNetworkOf(s)
	covers := watched(c)
	if !pods.Prefixes || pods.IPv6 || xen(c) {
		covers = append(covers, s.Cluster.Name)
		return []finding.Finding{{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: covers, Evidence: []finding.Evidence{{What: "Pods of " + s.Cluster.Name, Value: "take no /28 blocks out of subnets"}}}}
	}
	if !s.Has(snapshot.Usage) {
		return []finding.Finding{{Outcome: finding.Unknown, Resource: s.Cluster.Name, Blocked: []snapshot.Failure{s.Why(snapshot.Usage)}}}
	}
	takers, list := takers(c, pods)
	for _, n := range takers {
		if len(n.from) > 0 {
			list = append(list, blocksIn(c, n, pods))
		}
	}
	if len(list) == 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: append(covers, s.Cluster.Name)})
	}
	return list
}

// xen tells that no type that was read can have prefixes.
func xen(c *routes.Scope) bool {
	return c.S.Has(snapshot.InstanceTypes) && len(c.S.InstanceTypes) > 0 && !slices.ContainsFunc(c.S.InstanceTypes, address.Prefixed)
}

// blocksIn holds the rule:
//
//	not counted                                                   Unknown
//	a free block, reservations not read                           Unknown: it may be kept
//	a free block                                                  Pass
//	none                                                          Fail, certain
//	none, and the types are not known                             Fail, likely
//	none, and pods can take addresses in another subnet as well   Fail, possible
//
// Reservations that were not read make blocks fewer, never more: that there is
// none is certain without them.
func blocksIn(c *routes.Scope, n taker, pods podNetwork) finding.Finding {
	s, id := c.S, n.subnet.ID
	f := finding.Finding{Outcome: finding.Pass, Resource: id, Covers: []string{id}}
	if !n.subnet.CIDR.IsValid() {
		f.Evidence = []finding.Evidence{{What: id, Value: "has no IPv4 range"}}
		return f
	}
	i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == id })
	if i < 0 {
		f.Outcome = finding.Unknown
		f.Blocked = []snapshot.Failure{{Source: snapshot.Usage, Reason: snapshot.NotRead, Message: "the addresses of " + id + " were not counted"}}
		return f
	}
	u := s.Uses[i]
	f.Evidence = []finding.Evidence{{What: "Blocks of " + id, Value: fmt.Sprintf("%d of %d whole /28 blocks free; %d addresses free, %d held by %d interfaces, %d kept by reservations",
		u.Blocks, wholeBlocks(n.subnet), n.subnet.Free, u.Held, u.Interfaces, u.Kept)}}
	if u.Blocks > 0 {
		if !s.Has(snapshot.CIDRsKept) {
			return finding.Finding{Outcome: finding.Unknown, Resource: id, Covers: f.Covers, Blocked: []snapshot.Failure{s.Why(snapshot.CIDRsKept)}}
		}
		return f
	}
	f.Outcome = finding.Fail
	f.Instances = notReadyIn(c, n.from...)
	switch {
	case len(n.further) > 0:
		f.Confidence, f.Instances = finding.Possible, nil
	case !s.Has(snapshot.InstanceTypes):
		f.Confidence = finding.Likely
	}
	// With custom networking the nodes stand in other subnets than this one.
	elsewhere := slices.DeleteFunc(slices.Clone(n.from), func(node string) bool { return node == id })
	f.Resources = slices.Concat([]string{id}, elsewhere, []string{n.subnet.VPC})
	f.Title = phrase.Title("%s has no free /28 for a prefix", id)
	f.Why = fmt.Sprintf("%s (%s, %s) has %d free %s, but none of its %d /28 blocks is whole: aws-node takes addresses for pods in whole blocks (ENABLE_PREFIX_DELEGATION) and gets no more here.",
		id, n.subnet.CIDR, n.subnet.Zone, n.subnet.Free, phrase.Plural(n.subnet.Free, "address", "addresses"), wholeBlocks(n.subnet))
	if len(n.further) > 0 {
		f.Why += fmt.Sprintf(" Further interfaces can be made in %s.", phrase.Some(n.further, 3))
	}
	f.Evidence = append(f.Evidence, finding.Evidence{What: "Settings of aws-node", Value: pods.words()})
	f.Evidence = append(f.Evidence, breakers(u)...)
	f.Fix = mend(c, n, u)
	return f
}

// breakers are the addresses that break the blocks that are nearly free.
func breakers(u snapshot.Use) []finding.Evidence {
	var list []finding.Evidence
	for _, b := range u.Nearest {
		names := make([]string, len(b.Used))
		for i, a := range b.Used {
			names[i] = a.String()
		}
		list = append(list, finding.Evidence{What: "Breaks " + b.CIDR.String(), Value: fmt.Sprintf("%d of 16 in use: %s", len(names), phrase.Some(names, 8))})
	}
	return list
}

// wholeBlocks is how many /28 blocks of a subnet hold none of the addresses
// that AWS keeps: all but the first and the last.
func wholeBlocks(n snapshot.Subnet) int { return max(0, 1<<max(0, 28-n.CIDR.Bits())-2) }

// mend is the advice, and the command that names who holds the block that is
// nearest to being free.
func mend(c *routes.Scope, n taker, u snapshot.Use) finding.Fix {
	id := n.subnet.ID
	fix := finding.Fix{
		Text:    fmt.Sprintf("%s is in use all over: give pods a new subnet, or drain nodes. A CIDR reservation of type prefix keeps what comes free for prefixes.", id),
		Console: link.VPC(c.S, "SubnetDetails:subnetId="+id),
	}
	if len(u.Nearest) == 0 {
		return fix
	}
	b := u.Nearest[0]
	names := make([]string, len(b.Used))
	for i, a := range b.Used {
		names[i] = a.String()
	}
	fix.Text = fmt.Sprintf("Reserve a range of %s for prefixes (aws ec2 create-subnet-cidr-reservation, type prefix), so that what comes free in it is not given out singly again; then drain the nodes whose addresses break its blocks. The nearest is %s: the command lists who holds its %s. Or give pods a new subnet.",
		id, b.CIDR, phrase.Plural(len(names), "address", fmt.Sprintf("%d addresses", len(names))))
	fix.Command = command.AWS(c.S, "ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+id, "Name=addresses.private-ip-address,Values="+strings.Join(names, ","))
	return fix
}
