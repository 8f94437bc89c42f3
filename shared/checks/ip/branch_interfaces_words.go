package ip

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/zones"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/branch"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// vpcResourcePolicy is the managed policy by which the controller makes trunks, with
// the cluster's own role (EKS user guide, "Configure the Amazon VPC CNI plugin for
// Kubernetes for security groups for Amazon EKS Pods").
const vpcResourcePolicy = "AmazonEKSVPCResourceController"

// finding is what is said of pods that wait for one reason.
func (b *branchScope) finding(reason noBranch, pods []string, since time.Time) finding.Finding {
	slices.Sort(pods)
	f := finding.Finding{
		Outcome: finding.Fail, Resource: b.s.Cluster.Name, Covers: []string{b.s.Cluster.Name}, Unconditional: true,
		Pods: pods[:min(len(pods), zones.MostPods)], Since: since, Evidence: b.trunkEvidence(),
	}
	wait := fmt.Sprintf("%s %s for a branch interface (%s), which a SecurityGroupPolicy gives %s", phrase.Some(pods, 2), phrase.Plural(len(pods), "waits", "wait"), branch.Resource, phrase.Plural(len(pods), "it", "them"))
	who := phrase.Subject(pods, "pod")
	switch reason {
	case trunkNotAsked:
		f.Resource = facts.AWSNode
		f.Title = phrase.Title("aws-node asks for no trunk interface, and %s %s one", who, phrase.Plural(len(pods), "needs", "need"))
		f.Why = wait + ". No node has any: ENABLE_POD_ENI of aws-node is not true, so that no trunk interface is made."
		f.Fix = finding.Fix{
			Text:    "Set ENABLE_POD_ENI (of the managed add-on in its configuration values). A node whose interfaces are all in use gets no trunk: replace such nodes.",
			Command: shell.Command("kubectl", "-n", "kube-system", "set", "env", "daemonset", "aws-node", "ENABLE_POD_ENI=true"), Console: link.Cluster(b.s),
		}
	case trunkRefused:
		event := b.refused()
		f.Resource = cmp.Or(b.s.Cluster.Role, b.s.Cluster.Name)
		f.Title = phrase.Title("No trunk interface can be made, and %s %s one", who, phrase.Plural(len(pods), "needs", "need"))
		f.Why = fmt.Sprintf("%s. No node has any: EC2 refused the trunk interface of %s.", wait, event.Node)
		f.Evidence = append([]finding.Evidence{{What: "Event of " + event.Node, Value: event.Reason + ": " + phrase.Clip(event.Message)}}, f.Evidence...)
		f.Fix = finding.Fix{Text: fmt.Sprintf("Attach %s to the cluster's role: with that role EKS makes trunk interfaces.", vpcResourcePolicy), Console: link.Cluster(b.s)}
		if role := b.s.Cluster.Role; role != "" {
			f.Fix.Console = link.Role(b.s, role)
			f.Fix.Command = command.AWS(b.s, "iam attach-role-policy", "--role-name", role[strings.LastIndex(role, "/")+1:],
				"--policy-arn", fmt.Sprintf("arn:%s:iam::aws:policy/%s", cmp.Or(b.s.Partition, "aws"), vpcResourcePolicy))
		}
	case trunkUnsupported:
		f.Title = phrase.Title("No instance type here carries branch interfaces")
		f.Why = fmt.Sprintf("%s. The nodes are %s: no such instance has a trunk interface.", wait, phrase.And(b.types()))
		f.Evidence = append(b.unsupportedEvidence(), f.Evidence...)
		f.Fix = finding.Fix{Text: "Use types that carry branch interfaces" + b.exceptUnsupported() + ": most of the Nitro system (m5.large 9, m5.xlarge 18, c6i.4xlarge 54), and none of the t family.", Console: link.Cluster(b.s)}
	case trunkMissing:
		f.Title = phrase.Title("No node has a trunk interface, and %s %s one", who, phrase.Plural(len(pods), "needs", "need"))
		f.Why = wait + ". No node has any, which needs one free interface of its own: a node that had all of them in use when trunks were asked for gets none."
		f.Fix = finding.Fix{
			Text:    "Replace the nodes that had all their interfaces in use, and look at their events for what the controller says of trunks.",
			Command: shell.Command("kubectl", "get", "events", "-n", "default", "--field-selector", "involvedObject.kind=Node,source=vpc-resource-controller"), Console: link.Cluster(b.s),
		}
	case branchesTaken:
		f.Title = phrase.Title("No branch interface is left for %s", who)
		f.Why = fmt.Sprintf("%s. The nodes that could run %s carry no more: how many a node carries its instance type decides, and the network plugin's other settings do not.", wait, phrase.Plural(len(pods), "it", "them"))
		f.Evidence = append(b.unsupportedEvidence(), f.Evidence...)
		f.Fix = finding.Fix{Text: "Add nodes, or use larger types" + b.larger() + ".", Console: link.Cluster(b.s)}
		if types := b.unsupportedTypes(); len(types) > 0 {
			f.Why += fmt.Sprintf(" The VPC resource controller does not support %s: such nodes carry none.", phrase.Some(types, 3))
			f.Fix.Text = "Add nodes of types that the VPC resource controller supports" + b.exceptUnsupported() + ": leave these out of the NodePool's or nodegroup's types, or Karpenter launches them again."
		}
	case branchUntold:
		f.Confidence = finding.Possible
		f.Title = phrase.Title("%s %s for a branch interface", who, phrase.Plural(len(pods), "waits", "wait"))
		f.Why = wait + ". A node took " + phrase.Plural(len(pods), "it", "them") + " and none was made: neither the trunk's limit nor its subnet tells why."
		namespace, name, _ := strings.Cut(pods[0], "/")
		f.Fix = finding.Fix{
			Text:    "Read the pod's events: BranchAllocationFailed says what EC2 refused (a security group that does not exist, a missing permission, no address).",
			Command: shell.Command("kubectl", "-n", namespace, "describe", "pod", name), Console: link.Cluster(b.s),
		}
	}
	return f
}

// unsupportedTypes are the types that the controller says it does not support.
func (b *branchScope) unsupportedTypes() (types []string) {
	for _, n := range b.hosts() {
		if kind := b.kinds[n.Instance]; kind != "" && facts.UnsupportedByController(b.s, n.Name) != nil {
			types = append(types, kind)
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

func (b *branchScope) exceptUnsupported() string {
	if types := b.unsupportedTypes(); len(types) > 0 {
		return " (not " + phrase.Some(types, 3) + ")"
	}
	return ""
}

// unsupportedEvidence is one of the controller's events that say so.
func (b *branchScope) unsupportedEvidence() []finding.Evidence {
	for _, n := range b.hosts() {
		if e := facts.UnsupportedByController(b.s, n.Name); e != nil {
			return []finding.Evidence{{What: "Event of " + e.Node, Value: e.Reason + ": " + phrase.Clip(e.Message)}}
		}
	}
	return nil
}

// subnetWords are those of a trunk's subnet that has no address for branches.
func (b *branchScope) subnetWords(id string, pods []string) (title, why string, fix finding.Fix) {
	title = phrase.Title("%s has no address for branch interfaces", id)
	why = fmt.Sprintf("%s %s for a branch interface. Each takes an address of the trunk's subnet, %s, which has none left.", phrase.Some(pods, 2), phrase.Plural(len(pods), "waits", "wait"), id)
	fix = finding.Fix{Text: fmt.Sprintf("Free addresses of %s, or let nodes launch into another subnet.", id), Console: link.VPC(b.s, "SubnetDetails:subnetId="+id)}
	if strays := facts.StrayBranches(b.s, id); len(strays) > 0 {
		why += fmt.Sprintf(" %s %s one each, and %s trunk is gone.", phrase.Some(strays, 2), phrase.Plural(len(strays), "holds", "hold"), phrase.Plural(len(strays), "its", "their"))
		fix.Text = fmt.Sprintf("The controller deletes the %d branch interfaces that are left over within an hour while it runs; look again then, or give nodes another subnet.", len(strays))
		fix.Command = listStrays(b.s, id)
	}
	return title, why, fix
}

// trunkEvidence is how many branch interfaces the nodes have, and carry.
func (b *branchScope) trunkEvidence() []finding.Evidence {
	const most = 5
	var list []finding.Evidence
	shown := 0
	left := func(n snapshot.Node) int {
		if trunk := b.trunk[n.Instance]; trunk != nil {
			return b.limit(n) - trunk.Branches
		}
		return b.limit(n)
	}
	hosts := slices.DeleteFunc(b.hosts(), func(n snapshot.Node) bool { return b.trunk[n.Instance] == nil && n.Branches == 0 })
	slices.SortStableFunc(hosts, func(x, y snapshot.Node) int { return cmp.Compare(left(x), left(y)) })
	for _, n := range hosts {
		trunk, limit := b.trunk[n.Instance], b.limit(n)
		if shown++; shown > most {
			continue
		}
		value := fmt.Sprintf("%s, carries %d", cmp.Or(b.kinds[n.Instance], "type not known"), limit)
		if trunk != nil {
			value = fmt.Sprintf("%s, %d of %d branch interfaces on %s", cmp.Or(b.kinds[n.Instance], "type not known"), trunk.Branches, limit, trunk.ID)
		}
		list = append(list, finding.Evidence{What: n.Name, Value: value})
	}
	if shown > most {
		list = append(list, finding.Evidence{What: "More nodes with a trunk", Value: fmt.Sprint(shown - most)})
	}
	if n := len(b.s.StrayBranches); n > 0 {
		list = append(list, finding.Evidence{What: "Left over", Value: fmt.Sprintf("%d branch %s whose trunk is gone", n, phrase.Plural(n, "interface", "interfaces"))})
	}
	return list
}

// types are the instance types of the nodes.
func (b *branchScope) types() []string {
	var list []string
	for _, n := range b.hosts() {
		list = append(list, cmp.Or(b.kinds[n.Instance], "of an unknown type"))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// larger tells what the next sizes of the nodes' types carry, for one of them.
func (b *branchScope) larger() string {
	for _, n := range b.hosts() {
		family, _, _ := strings.Cut(b.kinds[n.Instance], ".")
		for _, size := range []string{"large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "24xlarge"} {
			if more, known := branch.Limit(family + "." + size); known && more > b.limit(n) && b.limit(n) > 0 {
				return fmt.Sprintf(" (%s carries %d, %s.%s %d; as of %s)", b.kinds[n.Instance], b.limit(n), family, size, more, branch.AsOf)
			}
		}
	}
	return ""
}
