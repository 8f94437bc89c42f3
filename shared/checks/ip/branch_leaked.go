package ip

import (
	"fmt"
	"rollcall/shared/checkid"

	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
	"rollcall/shared/snapshot"
)

// BranchLeaked: the controller deletes the branch interfaces of a node that is gone, and
// looks for what it missed every hour (amazon-vpc-resource-controller-k8s
// pkg/aws/ec2/api/cleanup/eni_cleanup.go). Rollcall never deletes one: it knows only by a
// tag which trunk it was made for.
func BranchLeaked() check.Check {
	return check.Check{
		ID:         checkid.IPBranchLeaked,
		Breaks:     check.Addresses,
		Proof:      check.ByPassing,
		Title:      "Branch interfaces whose trunk is gone hold addresses",
		Confidence: finding.Certain,
		WatchedBy:  []check.Detector{check.JoinCheck, check.SubnetWatch},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.TrunksOf},
		Uses:       []snapshot.Source{snapshot.InstanceTypes},
		Predictive: true,
		AtLaunch:   true,
		Cause: "Security groups for pods give each such pod a branch interface with an address of the subnet. When a node ends, its trunk interface goes with it; the VPC resource controller deletes the branch interfaces then, and those that it missed once an hour. Those that stay hold an address each. " +
			"It is certain where giving them back would let a node start, or a pod have an address, that cannot now; likely where they are more than 50 or a tenth of the subnet. Fewer are the controller's work of the hour.",
		Fix: "See why the VPC resource controller does not delete them (the cluster's role, AmazonEKSVPCResourceController), or delete them by hand once no pod uses them.",
		Links: []string{
			"https://docs.aws.amazon.com/eks/latest/userguide/security-groups-for-pods.html",
			"https://github.com/aws/amazon-vpc-resource-controller-k8s",
		},
		Run: runBranchLeaked,
	}
}

func runBranchLeaked(s *facts.View) []finding.Finding {
	well := []string{s.Cluster.Name}
	var list []finding.Finding
	for _, n := range s.Subnets {
		strays := facts.StrayBranches(s, n.ID)
		f := branchLeaked(s, n, strays)
		w := s.Leaks().Wants(n.ID)
		switch {
		case len(strays) == 0 || !n.CIDR.IsValid():
			well = append(well, n.ID)
			continue
		case n.Free < w.Count && n.Free+len(strays) >= w.Count && (w.Sure || n.Free == 0):
			f.Instances = unready(s.Leaks(), n.ID)
		case len(strays) > muchLeaked, len(strays)*100 > shareLeaked*address.Usable(n.CIDR):
			f.Confidence = finding.Likely
		default:
			well = append(well, n.ID)
			continue
		}
		list = append(list, f)
	}
	return append(list, finding.Finding{Outcome: finding.Pass, Resource: s.Cluster.Name, Covers: well})
}

func branchLeaked(s *facts.View, n snapshot.Subnet, strays []string) finding.Finding {
	return finding.Finding{
		Outcome: finding.Fail, Resource: n.ID, Covers: []string{n.ID}, Resources: append([]string{n.ID}, strays[:min(len(strays), 3)]...),
		Title: phrase.Title("%s without a trunk %s addresses of %s", phrase.Subject(strays, "branch interface"), phrase.Verb(strays, "holds", "hold"), n.ID),
		Why: fmt.Sprintf("%s (%s, %s) has %d free, and %s %s one address each: %s trunk is gone, and with it the node.",
			n.ID, n.CIDR, n.Zone, n.Free, phrase.Some(strays, 3), phrase.Verb(strays, "holds", "hold"), phrase.Verb(strays, "its", "their")),
		Evidence: []finding.Evidence{
			{What: "Branch interfaces in " + n.ID + " without a trunk", Value: fmt.Sprint(len(strays))},
			{What: "Free in " + n.ID, Value: fmt.Sprint(n.Free)},
		},
		Fix: finding.Fix{
			Text:    "The VPC resource controller deletes what is left over within an hour. If they stay, see whether the cluster's role may (AmazonEKSVPCResourceController), and delete them by hand once no pod uses them. The command lists them.",
			Command: listStrays(s, n.ID), Console: link.VPC(s, "SubnetDetails:subnetId="+n.ID),
		},
	}
}

// listStrays lists the controller's interfaces in a subnet that nothing is attached to.
func listStrays(s *facts.View, subnet string) string {
	return command.AWS(s, "ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+subnet, "Name=status,Values=available", "Name=tag:eks:eni:owner,Values=eks-vpc-resource-controller")
}
