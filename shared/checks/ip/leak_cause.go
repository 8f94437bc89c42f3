package ip

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
	"rollcall/shared/network/leak"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func LeakCause() check.Check {
	return check.Check{
		ID:         checkid.IPLeakCause,
		Breaks:     check.Addresses,
		Proof:      check.ByPassingUnmet,
		Title:      "Settings let interfaces of ended nodes stay behind",
		Confidence: finding.Likely,
		WatchedBy:  []check.Detector{check.SubnetWatch},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.LaunchTemplates},
		Uses:       []snapshot.Source{snapshot.AWSNode, snapshot.Subnets, snapshot.Unattached, snapshot.CreatorsOf},
		Adds:       []checkid.ID{checkid.IPLeakedInterfaces},
		Predictive: true,
		AtLaunch:   true,
		Cause: "A launch template that keeps the primary interface leaves it with every instance that ends. aws-node without CLUSTER_NAME makes interfaces that name no cluster, which nobody may safely delete. " +
			"The VPC CNI deletes what dead nodes left behind once an hour, but not with DISABLE_LEAKED_ENI_CLEANUP, DISABLE_NETWORK_RESOURCE_PROVISIONING or ENABLE_IMDS_ONLY_MODE, not in an IPv6 cluster, and not where no node is left to do it. " +
			"As long as nothing is left behind it is advice.",
		Fix: "Set DeleteOnTermination of the primary interface in the launch template; set CLUSTER_NAME on aws-node; leave its cleanup on.",
		Links: []string{
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/README.md",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-launch-template.html",
		},
		Run: func(s *facts.View) []finding.Finding {
			l := s.Leaks()
			return append(templates(l), plugin(l)...)
		},
	}
}

// where tells for which subnets something is left behind: to that the cause
// contributes.
func where(l facts.Leaks) []string {
	var ids []string
	for id, here := range l.Subnets {
		if len(here.Own) > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// kept are idle interfaces that an instance had, is tagged for, and that the
// VPC CNI did not make, of instances that are gone: first interfaces.
func kept(l facts.Leaks) (list []snapshot.Interface) {
	for _, i := range l.S.Idle {
		id := i.Tags[leak.TagInstance]
		c, asked := l.Ground.Creators[id]
		cluster := i.Tags[leak.TagCluster]
		if id != "" && asked && (c.State == "" || c.State == "terminated") && leak.Owner(i) == "" && i.Kind == "interface" && !i.RequesterManaged &&
			!i.Attached && i.Status == "available" && i.Account == l.Ground.Account && i.VPC == l.Ground.VPC && (cluster == "" || cluster == l.S.Cluster.Name) {
			list = append(list, i)
		}
	}
	return list
}

// templates judges the launch templates, one finding each.
func templates(l facts.Leaks) []finding.Finding {
	var list []finding.Finding
	well := []string{l.S.Cluster.Name}
	kept := kept(l)
	for _, t := range l.S.LaunchTemplates {
		if !t.KeepsInterface {
			well = append(well, t.ID)
			continue
		}
		// Of several versions that are in use one finding tells.
		if slices.ContainsFunc(list, func(f finding.Finding) bool { return f.Resource == t.ID }) {
			continue
		}
		name := cmp.Or(t.Name, t.ID)
		f := finding.Finding{
			Outcome: finding.Fail, Confidence: finding.Advice, Resource: t.ID, Covers: []string{t.ID}, Resources: append([]string{t.ID}, where(l)...),
			Title:    phrase.Title("%s keeps the primary interface of ended instances", name),
			Why:      fmt.Sprintf("Version %s of launch template %s (%s) sets DeleteOnTermination=false on the primary interface: it stays, with its addresses, when its instance ends.", t.Version, name, t.ID),
			Evidence: []finding.Evidence{{What: t.ID + " version " + t.Version, Value: "primary interface: DeleteOnTermination=false"}},
			Fix: finding.Fix{
				// No command to make it: a list of interfaces replaces the whole list,
				// with the security groups in it.
				Text:    "Make a version with DeleteOnTermination=true on the primary interface, and let the group use it (the command shows what the interface has now).",
				Command: command.AWS(l.S, "ec2 describe-launch-template-versions", "--launch-template-id", t.ID, "--versions", t.Version),
				Console: link.EC2(l.S, "LaunchTemplateDetails:launchTemplateId="+t.ID),
			},
		}
		if len(kept) > 0 {
			f.Confidence = weight(l, kept)
			var ids []string
			held := 0
			for _, i := range kept {
				ids = append(ids, i.ID)
				held += len(i.PrivateIPs)
			}
			f.Evidence = append(f.Evidence, finding.Evidence{What: "Kept", Value: fmt.Sprintf("%d %s of instances that are gone, %d %s: %s", len(kept), phrase.Plural(len(kept), "interface", "interfaces"), held, phrase.Plural(held, "address", "addresses"), phrase.Some(ids, 5))})
		}
		list = append(list, f)
	}
	for key, f := range l.S.Missing[snapshot.LaunchTemplates] {
		list = append(list, finding.Finding{Outcome: finding.Unknown, Resource: key, Covers: []string{key}, Blocked: []snapshot.Failure{f}})
	}
	well = slices.DeleteFunc(well, func(id string) bool {
		return slices.ContainsFunc(list, func(f finding.Finding) bool { return slices.Contains(f.Covers, id) })
	})
	if len(well) > 0 {
		list = append(list, finding.Finding{Outcome: finding.Pass, Resource: l.S.Cluster.Name, Covers: well})
	}
	return list
}

// weight is likely where they hold as much as leaks that are told.
func weight(l facts.Leaks, kept []snapshot.Interface) finding.Confidence {
	held := map[string]int{}
	for _, i := range kept {
		held[i.Subnet] += len(i.PrivateIPs)
	}
	for _, n := range l.S.Subnets {
		if h := held[n.ID]; h > muchLeaked || n.CIDR.IsValid() && h*100 > shareLeaked*address.Usable(n.CIDR) {
			return finding.Likely
		}
	}
	return finding.Advice
}

// plugin judges aws-node's settings.
func plugin(l facts.Leaks) []finding.Finding {
	s := l.S
	f := finding.Finding{Outcome: finding.Pass, Resource: facts.AWSNode, Covers: []string{facts.AWSNode}}
	switch {
	case !s.Has(snapshot.AWSNode):
		f.Outcome, f.Blocked = finding.Unknown, []snapshot.Failure{s.Why(snapshot.AWSNode)}
		return []finding.Finding{f}
	case s.CNI == nil:
		return []finding.Finding{f} // another plugin, or a part of the system
	}
	where := where(l)
	var heads, say []string
	add := func(head, text string) { heads, say = append(heads, head), append(say, text) }
	const nobody = "aws-node deletes nothing that was left behind"
	for _, name := range uncleaning() {
		if on, err := strconv.ParseBool(s.CNI.Env[name]); err == nil && on {
			add("aws-node has "+name+"=true", name+"=true: "+nobody)
		}
	}
	// A value that comes from elsewhere is listed, and empty here.
	if _, set := s.CNI.Env["CLUSTER_NAME"]; !set {
		add("aws-node has no CLUSTER_NAME", "no CLUSTER_NAME: the interfaces that aws-node makes name no cluster")
	}
	// What nobody would change for its own sake is told only of leaks.
	six, _ := strconv.ParseBool(s.CNI.Env["ENABLE_IPv6"])
	if len(where) > 0 && (s.Cluster.IPv6 || six) {
		add("aws-node does not clean up in an IPv6 cluster", "an IPv6 cluster: "+nobody)
	}
	if len(where) > 0 && s.CNI.Desired == 0 {
		add("aws-node runs on no node", "aws-node runs on no node: nobody is there to delete what was left behind")
	}
	if len(say) == 0 {
		return []finding.Finding{f}
	}
	f.Outcome, f.Confidence, f.Resources = finding.Fail, finding.Advice, append([]string{facts.AWSNode}, where...)
	f.Title = phrase.Title("%s", heads[0])
	f.Why = fmt.Sprintf("Interfaces that nodes leave behind stay: %s.", phrase.And(say))
	for _, line := range say {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "aws-node", Value: line})
	}
	f.Fix = finding.Fix{
		Text:    "Set CLUSTER_NAME and leave aws-node's own cleanup on; where the add-on is managed, in its configuration values.",
		Command: shell.Command("kubectl", "-n", "kube-system", "set", "env", "daemonset", "aws-node", "CLUSTER_NAME="+s.Cluster.Name, "DISABLE_LEAKED_ENI_CLEANUP=false"),
		Console: fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s", link.Host(s), s.Region, s.Cluster.Name),
	}
	return []finding.Finding{f}
}
