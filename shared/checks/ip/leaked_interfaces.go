package ip

import (
	"maps"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/address"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

func LeakedInterfaces() check.Check {
	return check.Check{
		ID:         checkid.IPLeakedInterfaces,
		Breaks:     check.Addresses,
		Proof:      check.ByPassingUnmet,
		CoversToo:  check.Groups,
		Remedy:     deleteLeakedInterfaces,
		Title:      "Network interfaces of nodes that are gone hold addresses",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.JoinCheck, check.SubnetWatch},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.Unattached, snapshot.CreatorsOf},
		Uses:       []snapshot.Source{snapshot.InstanceTypes, snapshot.AWSNode, snapshot.ENIConfigsOf},
		Predictive: true,
		AtLaunch:   true,
		Cause: "The VPC CNI makes further interfaces for pods. When an instance ends while one of them is being attached or detached, nobody deletes it: it stays, available, and holds all its addresses. " +
			"Counted are interfaces whose description and tag name one instance that EC2 says is terminated, or does not know, made more than five minutes ago; not those of other clusters, nor of instances that live or are only stopped. " +
			"It is certain where giving them back would let a node start that cannot now; likely where they hold more than 50 addresses or a tenth of the subnet; else advice.",
		Fix: "Let eni-cleanup delete them (setting cleanup), or delete them by hand. ip/leak-cause says why they are left.",
		Links: []string{
			"https://github.com/aws/amazon-vpc-cni-k8s/issues/608",
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
		},
		Run: runLeakedInterfaces,
	}
}

const (
	// muchLeaked addresses are worth a message, whatever the subnet's size: two
	// nodes' worth of a usual type.
	muchLeaked = 50
	// shareLeaked is the share of a subnet that is, in percent.
	shareLeaked = 10
)

// runLeakedInterfaces holds the rule:
//
//	none left behind                                                  Pass
//	less is free than one node takes; with what they hold, enough     Fail, certain
//	they hold more than 50 addresses or a tenth of the subnet         Fail, likely
//	fewer                                                             Fail, advice
//	owners that nobody asked for, and none left behind                Unknown
func runLeakedInterfaces(s *facts.View) []finding.Finding {
	l := s.Leaks()
	if l.Ground.Account == "" || l.Ground.VPC == "" {
		return []finding.Finding{{Outcome: finding.Unknown, Resource: s.Cluster.Name, Blocked: []snapshot.Failure{{
			Source: snapshot.Clusters, Reason: snapshot.Broken, Message: "the cluster's account or VPC is not known: whose interfaces these are cannot be told",
		}}}}
	}
	var list []finding.Finding
	var well, told []string
	for _, n := range s.Subnets {
		if n.VPC != s.Cluster.VPC {
			continue
		}
		here := l.Subnets[n.ID]
		back, returned := returned(l, n.ID)
		switch {
		case here != nil && len(here.Own) > 0:
			f := judge(l, n, here)
			told = append(told, f.Covers...)
			list = append(list, f)
		case here != nil && here.Spared[leak.OwnerUnread] > 0:
			list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: n.ID, Covers: []string{n.ID}, Blocked: []snapshot.Failure{{
				Source: snapshot.CreatorsOf, Reason: snapshot.NotRead, Message: "how the instances are that made interfaces in " + n.ID + " was not asked",
			}}})
		case returned:
			list = append(list, finding.Finding{Outcome: finding.Pass, Resource: n.ID, Covers: []string{n.ID}, Evidence: []finding.Evidence{back}})
		default:
			well = append(well, n.ID)
		}
	}
	// No leak keeps the other groups from launching.
	for _, g := range s.Groups {
		short := slices.ContainsFunc(list, func(f finding.Finding) bool {
			return f.Outcome != finding.Pass && slices.Contains(g.Subnets, f.Resource)
		})
		if !short && !slices.Contains(told, g.Name) {
			well = append(well, g.Name)
		}
	}
	return append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: append(well, s.Cluster.Name)})
}

func judge(l facts.Leaks, n snapshot.Subnet, here *facts.SubnetLeaks) finding.Finding {
	f := leakFinding(l, n, here)
	held, w := here.Addresses(), l.Wants(n.ID)
	short := n.CIDR.IsValid() && launchable(l, n.ID) && n.Free < w.Count && n.Free+held >= w.Count && (!w.Block || here.Blocks() > 0)
	switch {
	// Of aws-node's settings nothing is known: no address at all is too few
	// with any of them.
	case short && (w.Sure || n.Free == 0):
		f.Instances = unready(l, n.ID)
		f.Covers = append(f.Covers, refused(l, n, held, w.Count)...)
		explain(l, &f, n, here, w)
	case held > muchLeaked, n.CIDR.IsValid() && held*100 > shareLeaked*address.Usable(n.CIDR):
		f.Confidence = finding.Likely
	default:
		f.Confidence = finding.Advice
	}
	return f
}

// launchable tells that the cluster launches nodes in a subnet, or has its
// pods' addresses there.
func launchable(l facts.Leaks, id string) bool {
	return slices.Contains(l.S.Scope.Launchable, id) || slices.Contains(l.S.Scope.Subnets, id) ||
		slices.ContainsFunc(l.S.Groups, func(g snapshot.Group) bool { return slices.Contains(g.Subnets, id) }) ||
		slices.ContainsFunc(l.S.Scoped(), func(i *snapshot.Instance) bool { return i.Subnet == id }) ||
		slices.ContainsFunc(l.S.ENIConfigs, func(c snapshot.ENIConfig) bool { return c.Subnet == id })
}

// unready are the scope's instances in a subnet that registered and are not
// Ready: an instance has its own address, which is all that registering takes.
func unready(l facts.Leaks, subnet string) []string {
	nodes := l.S.Index()
	suspects, _ := nodes.Suspects()
	var ids []string
	for _, i := range suspects {
		if i.Subnet == subnet && !i.Ended() && nodes.Nodes[i.ID] != nil {
			ids = append(ids, i.ID)
		}
	}
	for _, i := range l.S.Starving() {
		if i.Subnet == subnet {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// refused are the groups whose launches EC2 refused for want of addresses in a
// subnet, where what comes back is enough for all nodes that they still want
// there. A group spreads them over its subnets.
func refused(l facts.Leaks, n snapshot.Subnet, held, each int) []string {
	if !l.S.Has(snapshot.Groups) || !l.S.Has(snapshot.Activities) {
		return nil
	}
	groups := map[string]bool{}
	for _, t := range l.S.Attempts().List {
		if t.Verdict.Class == checkid.LaunchSubnetFull && !t.Unsure && t.Subnet == n.ID {
			groups[t.Group] = true
		}
	}
	missing := 0
	for _, g := range l.S.Groups {
		if groups[g.Name] {
			parts := max(1, len(g.Subnets))
			missing += (max(1, g.Desired-len(g.Instances)) + parts - 1) / parts
		}
	}
	if n.Free+held < missing*each {
		return nil
	}
	return slices.Sorted(maps.Keys(groups))
}
