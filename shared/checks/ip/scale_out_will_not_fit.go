package ip

import (
	"fmt"
	"slices"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
	"rollcall/shared/snapshot"
)

func ScaleOutWillNotFit() check.Check {
	return check.Check{
		ID:         checkid.IPScaleOutWillNotFit,
		Breaks:     check.Addresses,
		Proof:      check.ByPassingUnmet,
		Title:      "The groups of the subnet cannot all grow to their maximum",
		Confidence: finding.Likely,
		WatchedBy:  []check.Detector{check.SubnetWatch},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.Groups, snapshot.InstanceTypes, snapshot.AWSNode},
		Uses: []snapshot.Source{snapshot.LaunchTemplates, snapshot.Usage, snapshot.ENIConfigsOf, snapshot.Unattached, snapshot.CreatorsOf,
			snapshot.NodePoolsOf, snapshot.NodeClaimsOf, snapshot.EC2NodeClassesOf, snapshot.AutoNodeClassesOf},
		CoversToo:  check.NodePools,
		After:      []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented, checkid.IPLeakedInterfaces},
		AtLaunch:   true,
		Predictive: true,
		// Leaks only say what explains it: where all would fit without them.
		Cause: "What the groups that share a subnet may still launch, each to its maximum, takes more addresses as it starts than the subnet has free: by type, interfaces and addresses, with the settings of aws-node, in the nodes' subnets and the pods'. Of a group with several zones its even share is counted, of several types the smallest, of nodes that start now what they have still to take. " +
			"Nothing has failed yet, and many maxima are set high and never reached: it is advice as long as the need is far off. It is likely once what groups want now does not fit, or there is room for less than two nodes of a group that has some. A NodePool counts as far as its limits on nodes and CPUs go, as if its nodes were of the largest type that it names or runs: in its subnet if it has one, else in all of them together. A NodePool without a limit and other clusters' groups are not counted.",
		Fix: "Give the groups larger subnets or more of them (a secondary CIDR), lower their maximum to what fits, or let nodes take fewer addresses (WARM_IP_TARGET and MINIMUM_IP_TARGET, smaller types).",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/best-practices/ip-opt.html",
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/eni-and-ip-target.md",
		},
		Run: runScaleOutWillNotFit,
	}
}

func runScaleOutWillNotFit(s *facts.View) []finding.Finding {
	pods := podNetworkOf(s)
	c := routes.Of(s)
	scope := watched(c)
	own := addressPools(s)
	list := judgePools(s, own, pods)
	told := map[string]bool{}
	for _, fit := range address.Fitting(s.Snapshot, pods.Settings, own) {
		// Pods' subnets come in with the nodes that are in scope.
		ofPods := slices.ContainsFunc(fit.Terms, func(t address.Term) bool { return t.Pods })
		if !slices.Contains(scope, fit.Subnet.ID) && !ofPods {
			continue
		}
		told[fit.Subnet.ID] = true
		list = append(list, judgeFit(s, fit, pods))
	}
	rest := slices.DeleteFunc(scope, func(id string) bool { return told[id] })
	if blocked, unread := facts.KarpenterUnread(s, append([]snapshot.Source{snapshot.NodePoolsOf, snapshot.NodeClaimsOf}, classesOf(s)...)...); unread {
		list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: s.Cluster.Name, Covers: []string{s.Cluster.Name}, Blocked: blocked})
	} else if len(rest) > 0 || len(list) == 0 {
		rest = append(rest, s.Cluster.Name)
	}
	if len(rest) > 0 {
		list = append(list, finding.Finding{
			Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: rest,
			Evidence: []finding.Evidence{{What: s.Cluster.Name, Value: "no group may launch there"}},
		})
	}
	return list
}

// classesOf are the sources of the classes that NodePools name: without its class the
// subnets of a pool are not known.
func classesOf(s *facts.View) []snapshot.Source {
	var list []snapshot.Source
	for _, p := range s.NodePools {
		source := snapshot.EC2NodeClassesOf
		if p.Class.Group == snapshot.AutoModeGroup {
			source = snapshot.AutoNodeClassesOf
		}
		if !p.Deleting && !slices.Contains(list, source) {
			list = append(list, source)
		}
	}
	return list
}

// judgeFit holds the rule:
//
//	it does not fit, wanted now or room for less than two nodes   Fail, likely
//	it does not fit                                               Fail, advice
//	it fits, and something is not known                           Unknown
//	nodes take blocks, and the free ones were not counted         Unknown
//	it fits                                                       Pass
//
// What is not known only adds to the need: what does not fit without it, does
// not fit.
func judgeFit(s *facts.View, fit address.Fit, pods podNetwork) finding.Finding {
	id := fit.Subnet.ID
	f := finding.Finding{Outcome: finding.Pass, Resource: id, Covers: []string{id}, Evidence: fitEvidence(s, fit, pods)}
	verdict := fit.Judge()
	switch {
	case verdict == address.NotCounted:
		return finding.Finding{Outcome: finding.Unknown, Resource: id, Covers: f.Covers, Blocked: []snapshot.Failure{notCounted(s, id)}}
	case verdict == address.Fits && len(fit.Gaps) > 0:
		return finding.Finding{Outcome: finding.Unknown, Resource: id, Covers: f.Covers, Blocked: unknowns(s, fit.Gaps)}
	case verdict == address.Fits:
		return f
	}
	f.Outcome = finding.Fail
	if !fit.Imminent() {
		f.Confidence = finding.Advice
	}
	if !fitsWithout(fit, s.Leaks().Subnets[id]) {
		f.Behind = []checkid.ID{checkid.IPSubnetExhausted, checkid.IPFragmented} // giving the leaked addresses back would not cure it
	}
	f.Resources = []string{id}
	for _, t := range fit.Terms {
		f.Resources = append(f.Resources, t.Group)
	}
	f.Title = phrase.Title("%s has no room for %d more %s", id, fit.Nodes().Least, phrase.Plural(fit.Nodes().Least, "node", "nodes"))
	if fit.Nodes().Least == 0 {
		f.Title = phrase.Title("%s has not enough for the nodes that start now", id)
	}
	f.Why = fmt.Sprintf("%s (%s, %s): %s.", id, fit.Subnet.CIDR, fit.Subnet.Zone, fitSum(fit))
	if verdict == address.TooFewBlocks {
		f.Title = phrase.Title("%s has too few /28 blocks for %d more %s", id, fit.Nodes().Least, phrase.Plural(fit.Nodes().Least, "node", "nodes"))
		f.Why += fmt.Sprintf(" They take these in /28 blocks: %d, and %d %s free.", fit.Blocks(), fit.Use.Blocks, phrase.Plural(fit.Use.Blocks, "is", "are"))
	}
	f.Fix = finding.Fix{
		Text:    fmt.Sprintf("Give %s larger subnets, or more of them; or lower the maximum to what fits; or let nodes take fewer addresses (WARM_IP_TARGET and MINIMUM_IP_TARGET of aws-node).", phrase.Some(f.Resources[1:], 3)),
		Console: link.VPC(s, "SubnetDetails:subnetId="+id),
	}
	return f
}

// fitsWithout tells that all would fit once what dead nodes left behind is
// deleted. What is wanted may have its first address, as for Imminent.
func fitsWithout(fit address.Fit, here *facts.SubnetLeaks) bool {
	if here == nil {
		return false
	}
	fit.Subnet.Free += here.Addresses()
	for _, t := range fit.Terms {
		fit.Subnet.Free += t.Wanted
	}
	fit.Use.Blocks += here.Blocks()
	return fit.Judge() == address.Fits
}

func notCounted(s *facts.View, id string) snapshot.Failure {
	if !s.Has(snapshot.Usage) {
		return s.Why(snapshot.Usage)
	}
	return snapshot.Failure{Source: snapshot.Usage, Reason: snapshot.NotRead, Message: "the addresses of " + id + " were not counted"}
}

// unknowns are what would tell of gaps, each source once.
func unknowns(s *facts.View, gaps []address.Gap) []snapshot.Failure {
	var list []snapshot.Failure
	for _, g := range gaps {
		why := snapshot.Failure{Source: g.Source, Reason: snapshot.NotRead, Message: g.Why}
		if lacks, is := s.Lacks(g.Source, g.Key); is {
			why = lacks
		}
		if !s.Has(g.Source) {
			why = s.Why(g.Source)
		}
		if !slices.Contains(list, why) {
			list = append(list, why)
		}
	}
	return list
}
