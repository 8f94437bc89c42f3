package ip

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

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

func LeakedInterfaces() check.Check {
	return check.New(checkid.IPLeakedInterfaces, runLeakedInterfaces, snapshot.Clusters, snapshot.Subnets,
		snapshot.Unattached, snapshot.CreatorsOf).
		Using(snapshot.InstanceTypes, snapshot.AWSNode, snapshot.ENIConfigsOf)
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

// leakFinding tells what is left behind in a subnet, and what becomes of it.
func leakFinding(l facts.Leaks, n snapshot.Subnet, here *facts.SubnetLeaks) finding.Finding {
	owners := here.Owners()
	held := here.Addresses()
	what := fmt.Sprintf("%d %s of %d dead %s", len(here.Own), phrase.Plural(len(here.Own), "interface", "interfaces"), len(owners), phrase.Plural(len(owners), "node", "nodes"))
	since := since(l, here)
	f := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  n.ID,
		Covers:    []string{n.ID},
		Resources: []string{n.ID, n.VPC},
		Title:     phrase.Title("%d dead %s %d %s of %s", len(owners), phrase.Plural(len(owners), "node holds", "nodes hold"), held, phrase.Plural(held, "address", "addresses"), n.ID),
		Why:       fmt.Sprintf("%s %s %d %s of %s (%s, %s)%s. Nothing is attached to them, and EC2 has ended or forgotten who made them.", what, phrase.Plural(len(here.Own), "holds", "hold"), held, phrase.Plural(held, "address", "addresses"), n.ID, n.CIDR, n.Zone, since),
		Evidence: []finding.Evidence{
			{What: "Left behind in " + n.ID, Value: fmt.Sprintf("%s, %d %s%s", what, held, phrase.Plural(held, "address", "addresses"), since)},
			{What: "Interfaces", Value: phrase.Some(ids(l, here.Own), 5)},
			{What: "Made by", Value: phrase.Some(owners, 5)},
			{What: "Of cluster", Value: clusters(l, here)},
		},
		Fix: fix(l, n, here),
	}
	f.Evidence = append(f.Evidence, finding.Evidence{What: "eni-cleanup", Value: fate(l, here)})
	if here.Others > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Not counted", Value: fmt.Sprintf("%d %s of dead nodes that name another cluster", here.Others, phrase.Plural(here.Others, "interface", "interfaces"))})
	}
	if len(here.Spared) > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{What: "Not left behind", Value: reasons(here.Spared)})
	}
	if back, returned := returned(l, n.ID); returned {
		back.What = "Given back to " + n.ID
		f.Evidence = append(f.Evidence, back)
	}
	return f
}

// explain says what the subnet lacks because of them.
func explain(l facts.Leaks, f *finding.Finding, n snapshot.Subnet, here *facts.SubnetLeaks, w facts.NextNode) {
	held := here.Addresses()
	one := "one more node"
	if w.Kind != "" {
		one = "one more " + w.Kind
	}
	f.Why = strings.TrimSuffix(f.Why, " Nothing is attached to them, and EC2 has ended or forgotten who made them.")
	if name := uncleaned(l); name != "" {
		f.Why += fmt.Sprintf(" aws-node itself deletes none of them: %s=true.", name)
	}
	if n.Free == 0 {
		// A remedy may be about fewer, those that were there for long: "them" would be its own.
		all := phrase.Plural(len(here.Own), "it", fmt.Sprintf("all %d", len(here.Own)))
		f.Why += fmt.Sprintf(" 0 are free: nothing can be launched there, and new pods of its nodes get no address. Deleting %s frees %d; %s takes %d.", all, held, one, w.Count)
	} else {
		f.Why += fmt.Sprintf(" %d %s free, and %s takes %d; deleting them makes it %d.", n.Free, phrase.Plural(n.Free, "is", "are"), one, w.Count, n.Free+held)
	}
	f.Evidence = append([]finding.Evidence{{What: "Addresses of " + n.ID, Value: fmt.Sprintf("%d free; %s takes %d at start; %d free once dead nodes' interfaces are deleted", n.Free, one, w.Count, n.Free+held)}}, f.Evidence...)
}

// uncleaning are the settings with which aws-node deletes nothing that was left
// behind (amazon-vpc-cni-k8s, README).
func uncleaning() []string {
	return []string{"DISABLE_LEAKED_ENI_CLEANUP", "DISABLE_NETWORK_RESOURCE_PROVISIONING", "ENABLE_IMDS_ONLY_MODE"}
}

// uncleaned is the setting of aws-node that keeps it from deleting them itself;
// empty without one, and where that was not read.
func uncleaned(l facts.Leaks) string {
	if !l.S.Has(snapshot.AWSNode) || l.S.CNI == nil {
		return ""
	}
	for _, name := range uncleaning() {
		if on, err := strconv.ParseBool(l.S.CNI.Env[name]); err == nil && on {
			return name
		}
	}
	return ""
}

// since is how long the oldest has been there, as far as dates can be read.
func since(l facts.Leaks, here *facts.SubnetLeaks) string {
	for _, v := range here.Own {
		if !v.Created.IsZero() {
			return fmt.Sprintf(", the oldest made %s UTC", v.Created.UTC().Format(phrase.DayAndMinute))
		}
	}
	return ""
}

func ids(l facts.Leaks, list []leak.Verdict) []string {
	ids := make([]string, len(list))
	for i, v := range list {
		ids[i] = v.Interface.ID
	}
	return ids
}

func clusters(l facts.Leaks, here *facts.SubnetLeaks) string {
	none := 0
	for _, v := range here.Own {
		if v.Cluster == "" {
			none++
		}
	}
	switch named := len(here.Own) - none; {
	case none == 0:
		return l.S.Cluster.Name
	case named == 0:
		return "they name none: aws-node without CLUSTER_NAME made them"
	default:
		return fmt.Sprintf("%d name %s, %d none", named, l.S.Cluster.Name, none)
	}
}

// sorted are those that eni-cleanup may delete by its own settings, and the
// reasons why it leaves the others.
func sorted(l facts.Leaks, here *facts.SubnetLeaks) (may []leak.Verdict, left map[leak.Reason]int) {
	g := l.Ground
	g.Grace, g.Untagged = l.S.Cleanup.Grace, l.S.Cleanup.Untagged
	left = map[leak.Reason]int{}
	for _, v := range here.Own {
		if again := leak.Judge(v.Interface, g); again.Why == leak.Leaked {
			may = append(may, again)
		} else {
			left[again.Why]++
		}
	}
	return may, left
}

// fate is what eni-cleanup does with them.
func fate(l facts.Leaks, here *facts.SubnetLeaks) string {
	may, left := sorted(l, here)
	text := ""
	switch l.S.Cleanup.Mode {
	case "delete":
		text = fmt.Sprintf("on: deletes %d of them, once it has seen them twice", len(may))
	case "dry-run":
		text = fmt.Sprintf("dry-run: would delete %d of them", len(may))
	case "report":
		text = fmt.Sprintf("off for %s: could delete %d of them", l.S.Cluster.Name, len(may))
	default:
		text = fmt.Sprintf("could delete %d of them, where it is on", len(may))
	}
	if n := len(may) - len(naming(may)); n > 0 {
		text += fmt.Sprintf("; %d %s no cluster, and %s only where all clusters of the VPC are watched and in mode delete", n, phrase.Plural(n, "names", "name"), phrase.Plural(n, "goes", "go"))
	}
	if len(left) > 0 {
		text += "; not " + reasons(left)
	}
	return text
}

// naming are those that name a cluster: whatever the operator opted in, nobody
// can see here whose the others are.
func naming(list []leak.Verdict) []leak.Verdict {
	return slices.DeleteFunc(slices.Clone(list), func(v leak.Verdict) bool { return v.Cluster == "" })
}

// fix is what to switch, or to paste.
func fix(l facts.Leaks, n snapshot.Subnet, here *facts.SubnetLeaks) finding.Fix {
	may, left := sorted(l, here)
	f := finding.Fix{
		Command: command.AWS(l.S, "ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+n.ID, "Name=status,Values=available", "Name=description,Values=aws-K8S-i-*"),
		Console: link.EC2(l.S, "NIC:subnetId="+n.ID),
	}
	named := naming(may)
	switch {
	case l.S.Cleanup.Mode == "delete" && len(named) > 0:
		f.Text = "Nothing: eni-cleanup runs every 15 minutes and deletes them."
	case len(named) > 0:
		f.Remedy = deleteLeakedInterfaces
		f.Text = fmt.Sprintf("Let eni-cleanup delete them: deploy with the setting cleanup=%s=delete. Or delete them by hand; EC2 refuses to delete one that is in use.", l.S.Cluster.Name)
		f.Command = deletes(l, named)
	case len(may) > 0:
		f.Text = fmt.Sprintf("Let eni-cleanup delete them: watch all clusters of %s, each in mode delete (settings clusters and cleanup). Or look at each of them, and delete by hand what nobody needs (the command lists them).", l.S.Cluster.VPC)
	default:
		f.Text = "Look at each of them, and delete by hand what nobody needs (the command lists them)."
	}
	if left[leak.Untagged] > 0 {
		f.Text += fmt.Sprintf(" %d %s no cluster: where all clusters of the VPC are watched, set cleanupUntagged=%s.", left[leak.Untagged], phrase.Plural(left[leak.Untagged], "names", "name"), l.S.Cluster.VPC)
	}
	return f
}

// deletes are the commands that delete the oldest: no more than a person looks
// through before pasting them.
func deletes(l facts.Leaks, may []leak.Verdict) string {
	const most = 20
	ids := ids(l, may[:min(len(may), most)])
	if len(ids) == 1 {
		return command.AWS(l.S, "ec2 delete-network-interface", "--network-interface-id", ids[0])
	}
	return shell.Each(ids, "aws", "ec2", "delete-network-interface", "--region", l.S.Region, "--network-interface-id")
}

// reasons lists them with their numbers, most first.
func reasons(counts map[leak.Reason]int) string {
	list := slices.SortedFunc(maps.Keys(counts), func(a, b leak.Reason) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, r := range list {
		parts = append(parts, fmt.Sprintf("%d (%s)", counts[r], r))
	}
	return strings.Join(parts, ", ")
}

// returned is what eni-cleanup gave back to a subnet lately.
func returned(l facts.Leaks, subnet string) (finding.Evidence, bool) {
	for _, r := range l.S.Returned {
		if r.Subnet == subnet && r.Interfaces > 0 {
			return finding.Evidence{What: subnet, Value: fmt.Sprintf("%d %s back; %d %s of %d dead %s", r.Addresses, phrase.Plural(r.Addresses, "address", "addresses"),
				r.Interfaces, phrase.Plural(r.Interfaces, "interface", "interfaces"), r.Nodes, phrase.Plural(r.Nodes, "node", "nodes"))}, true
		}
	}
	return finding.Evidence{}, false
}
