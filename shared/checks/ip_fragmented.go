package checks

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/ipam"
	"rollcall/shared/snapshot"
)

func fragmented() Check {
	return Check{
		ID:         "ip/fragmented",
		Title:      "The subnet has no whole /28 block free for a prefix",
		Confidence: Certain,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.Usage, snapshot.AWSNode},
		Uses:       []snapshot.Source{snapshot.CIDRsKept, snapshot.ENIConfigsOf, snapshot.InstanceTypes},
		// A subnet with too few addresses for a block has that fault, not this one.
		After:    []ID{"ip/subnet-exhausted"},
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

func runFragmented(s *View) []Finding {
	c := s.RouteScope()
	pods := podNetworkOf(s)
	covers := c.watched()
	if !pods.Prefixes || pods.IPv6 || c.xen() {
		covers = append(covers, s.Cluster.Name)
		return []Finding{{Outcome: Pass, Resource: s.Cluster.Name, Covers: covers, Evidence: []Evidence{{What: "Pods of " + s.Cluster.Name, Value: "take no /28 blocks out of subnets"}}}}
	}
	takers, list := c.takers(pods)
	for _, n := range takers {
		if len(n.from) > 0 {
			list = append(list, c.blocksIn(n, pods))
		}
	}
	if len(list) == 0 {
		list = append(list, Finding{Outcome: Pass, Resource: s.Cluster.Name, Covers: append(covers, s.Cluster.Name)})
	}
	return list
}

// xen tells that no type that was read can have prefixes.
func (c *scene) xen() bool {
	return c.s.Has(snapshot.InstanceTypes) && len(c.s.InstanceTypes) > 0 && !slices.ContainsFunc(c.s.InstanceTypes, ipam.Prefixed)
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
func (c *scene) blocksIn(n taker, pods podNetwork) Finding {
	s, id := c.s, n.subnet.ID
	f := Finding{Outcome: Pass, Resource: id, Covers: []string{id}}
	if !n.subnet.CIDR.IsValid() {
		f.Evidence = []Evidence{{What: id, Value: "has no IPv4 range"}}
		return f
	}
	i := slices.IndexFunc(s.Uses, func(u snapshot.Use) bool { return u.Subnet == id })
	if i < 0 {
		f.Outcome = Unknown
		f.Blocked = []snapshot.Failure{{Source: snapshot.Usage, Reason: snapshot.NotRead, Message: "the addresses of " + id + " were not counted"}}
		return f
	}
	u := s.Uses[i]
	f.Evidence = []Evidence{{What: "Blocks of " + id, Value: fmt.Sprintf("%d of %d whole /28 blocks free; %d addresses free, %d held by %d interfaces, %d kept by reservations",
		u.Blocks, wholeBlocks(n.subnet), n.subnet.Free, u.Held, u.Interfaces, u.Kept)}}
	if u.Blocks > 0 {
		if !s.Has(snapshot.CIDRsKept) {
			return Finding{Outcome: Unknown, Resource: id, Covers: f.Covers, Blocked: []snapshot.Failure{s.Why(snapshot.CIDRsKept)}}
		}
		return f
	}
	f.Outcome = Fail
	f.Instances = c.notReadyIn(n.from...)
	switch {
	case len(n.further) > 0:
		f.Confidence, f.Instances = Possible, nil
	case !s.Has(snapshot.InstanceTypes):
		f.Confidence = Likely
	}
	// With custom networking the nodes stand in other subnets than this one.
	elsewhere := slices.DeleteFunc(slices.Clone(n.from), func(node string) bool { return node == id })
	f.Resources = slices.Concat([]string{id}, elsewhere, []string{n.subnet.VPC})
	f.Title = title("%s has no free /28 for a prefix", id)
	f.Why = fmt.Sprintf("%s (%s, %s) has %d free %s, but none of its %d /28 blocks is whole: aws-node takes addresses for pods in whole blocks (ENABLE_PREFIX_DELEGATION) and gets no more here.",
		id, n.subnet.CIDR, n.subnet.Zone, n.subnet.Free, plural(n.subnet.Free, "address", "addresses"), wholeBlocks(n.subnet))
	if len(n.further) > 0 {
		f.Why += fmt.Sprintf(" Further interfaces can be made in %s.", some(n.further, 3))
	}
	f.Evidence = append(f.Evidence, Evidence{What: "Settings of aws-node", Value: pods.words()})
	f.Evidence = append(f.Evidence, breakers(u)...)
	f.Fix = c.mend(n, u)
	return f
}

// breakers are the addresses that break the blocks that are nearly free.
func breakers(u snapshot.Use) []Evidence {
	var list []Evidence
	for _, b := range u.Nearest {
		names := make([]string, len(b.Used))
		for i, a := range b.Used {
			names[i] = a.String()
		}
		list = append(list, Evidence{What: "Breaks " + b.CIDR.String(), Value: fmt.Sprintf("%d of 16 in use: %s", len(names), some(names, 8))})
	}
	return list
}

// wholeBlocks is how many /28 blocks of a subnet hold none of the addresses
// that AWS keeps: all but the first and the last.
func wholeBlocks(n snapshot.Subnet) int { return max(0, 1<<max(0, 28-n.CIDR.Bits())-2) }

// mend is the advice, and the command that names who holds the block that is
// nearest to being free.
func (c *scene) mend(n taker, u snapshot.Use) Fix {
	id := n.subnet.ID
	fix := Fix{
		Text:    fmt.Sprintf("%s is in use all over: give pods a new subnet, or drain nodes. A CIDR reservation of type prefix keeps what comes free for prefixes.", id),
		Console: console(c.s, "SubnetDetails:subnetId="+id),
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
		id, b.CIDR, plural(len(names), "address", fmt.Sprintf("%d addresses", len(names))))
	fix.Command = aws(c.s, "ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+id, "Name=addresses.private-ip-address,Values="+strings.Join(names, ","))
	return fix
}
