package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"rollcall/shared/ipam"
	"rollcall/shared/network/leak"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

func leakCause() Check {
	return Check{
		ID:         "ip/leak-cause",
		Title:      "Settings let interfaces of ended nodes stay behind",
		Confidence: Likely,
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.LaunchTemplates},
		Uses:       []snapshot.Source{snapshot.AWSNode, snapshot.Subnets, snapshot.Unattached, snapshot.CreatorsOf},
		Adds:       []ID{"ip/leaked-interfaces"},
		Ahead:      true,
		AtLaunch:   true,
		Cause: "A launch template that keeps the primary interface leaves it with every instance that ends. aws-node without CLUSTER_NAME makes interfaces that name no cluster, which nobody may safely delete. " +
			"The VPC CNI deletes what dead nodes left behind once an hour, but not with DISABLE_LEAKED_ENI_CLEANUP, DISABLE_NETWORK_RESOURCE_PROVISIONING or ENABLE_IMDS_ONLY_MODE, not in an IPv6 cluster, and not where no node is left to do it. " +
			"As long as nothing is left behind it is advice.",
		Fix: "Set DeleteOnTermination of the primary interface in the launch template; set CLUSTER_NAME on aws-node; leave its cleanup on.",
		Links: []string{
			"https://github.com/aws/amazon-vpc-cni-k8s/blob/master/README.md",
			"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-launch-template.html",
		},
		Run: func(s *View) []Finding {
			l := s.Leaks()
			return append(l.templates(), l.plugin()...)
		},
	}
}

// where tells for which subnets something is left behind: to that the cause
// contributes.
func (l leaks) where() []string {
	var ids []string
	for id, here := range l.subnets {
		if len(here.own) > 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// kept are idle interfaces that an instance had, is tagged for, and that the
// VPC CNI did not make, of instances that are gone: first interfaces.
func (l leaks) kept() (list []snapshot.Interface) {
	for _, i := range l.s.Idle {
		id := i.Tags[leak.TagInstance]
		c, asked := l.ground.Creators[id]
		cluster := i.Tags[leak.TagCluster]
		if id != "" && asked && (c.State == "" || c.State == "terminated") && leak.Owner(i) == "" && i.Kind == "interface" && !i.RequesterManaged &&
			!i.Attached && i.Status == "available" && i.Account == l.ground.Account && i.VPC == l.ground.VPC && (cluster == "" || cluster == l.s.Cluster.Name) {
			list = append(list, i)
		}
	}
	return list
}

// templates judges the launch templates, one finding each.
func (l leaks) templates() []Finding {
	var list []Finding
	well := []string{l.s.Cluster.Name}
	kept := l.kept()
	for _, t := range l.s.LaunchTemplates {
		if !t.KeepsInterface {
			well = append(well, t.ID)
			continue
		}
		// Of several versions that are in use one finding tells.
		if slices.ContainsFunc(list, func(f Finding) bool { return f.Resource == t.ID }) {
			continue
		}
		name := cmp.Or(t.Name, t.ID)
		f := Finding{
			Outcome: Fail, Confidence: Advice, Resource: t.ID, Covers: []string{t.ID}, Resources: append([]string{t.ID}, l.where()...),
			Title:    title("%s keeps the primary interface of ended instances", name),
			Why:      fmt.Sprintf("Version %s of launch template %s (%s) sets DeleteOnTermination=false on the primary interface: it stays, with its addresses, when its instance ends.", t.Version, name, t.ID),
			Evidence: []Evidence{{What: t.ID + " version " + t.Version, Value: "primary interface: DeleteOnTermination=false"}},
			Fix: Fix{
				// No command to make it: a list of interfaces replaces the whole list,
				// with the security groups in it.
				Text:    "Make a version with DeleteOnTermination=true on the primary interface, and let the group use it (the command shows what the interface has now).",
				Command: aws(l.s, "ec2 describe-launch-template-versions", "--launch-template-id", t.ID, "--versions", t.Version),
				Console: ec2Console(l.s, "LaunchTemplateDetails:launchTemplateId="+t.ID),
			},
		}
		if len(kept) > 0 {
			f.Confidence = l.weight(kept)
			var ids []string
			held := 0
			for _, i := range kept {
				ids = append(ids, i.ID)
				held += len(i.PrivateIPs)
			}
			f.Evidence = append(f.Evidence, Evidence{What: "Kept", Value: fmt.Sprintf("%d %s of instances that are gone, %d %s: %s", len(kept), plural(len(kept), "interface", "interfaces"), held, plural(held, "address", "addresses"), some(ids, 5))})
		}
		list = append(list, f)
	}
	for key, f := range l.s.Missing[snapshot.LaunchTemplates] {
		list = append(list, Finding{Outcome: Unknown, Resource: key, Covers: []string{key}, Blocked: []snapshot.Failure{f}})
	}
	well = slices.DeleteFunc(well, func(id string) bool {
		return slices.ContainsFunc(list, func(f Finding) bool { return slices.Contains(f.Covers, id) })
	})
	if len(well) > 0 {
		list = append(list, Finding{Outcome: Pass, Resource: l.s.Cluster.Name, Covers: well})
	}
	return list
}

// weight is likely where they hold as much as leaks that are told.
func (l leaks) weight(kept []snapshot.Interface) Confidence {
	held := map[string]int{}
	for _, i := range kept {
		held[i.Subnet] += len(i.PrivateIPs)
	}
	for _, n := range l.s.Subnets {
		if h := held[n.ID]; h > muchLeaked || n.CIDR.IsValid() && h*100 > shareLeaked*ipam.Usable(n.CIDR) {
			return Likely
		}
	}
	return Advice
}

// plugin judges aws-node's settings.
func (l leaks) plugin() []Finding {
	s := l.s
	f := Finding{Outcome: Pass, Resource: awsNode, Covers: []string{awsNode}}
	switch {
	case !s.Has(snapshot.AWSNode):
		f.Outcome, f.Blocked = Unknown, []snapshot.Failure{s.Why(snapshot.AWSNode)}
		return []Finding{f}
	case s.CNI == nil:
		return []Finding{f} // another plugin, or a part of the system
	}
	where := l.where()
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
		return []Finding{f}
	}
	f.Outcome, f.Confidence, f.Resources = Fail, Advice, append([]string{awsNode}, where...)
	f.Title = title("%s", heads[0])
	f.Why = fmt.Sprintf("Interfaces that nodes leave behind stay: %s.", and(say))
	for _, line := range say {
		f.Evidence = append(f.Evidence, Evidence{What: "aws-node", Value: line})
	}
	f.Fix = Fix{
		Text:    "Set CLUSTER_NAME and leave aws-node's own cleanup on; where the add-on is managed, in its configuration values.",
		Command: shell.Command("kubectl", "-n", "kube-system", "set", "env", "daemonset", "aws-node", "CLUSTER_NAME="+s.Cluster.Name, "DISABLE_LEAKED_ENI_CLEANUP=false"),
		Console: fmt.Sprintf("%s/eks/home?region=%s#/clusters/%s", consoleHost(s), s.Region, s.Cluster.Name),
	}
	return []Finding{f}
}
