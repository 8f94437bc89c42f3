package checks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rollcall/shared/network/leak"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// finding tells what is left behind in a subnet, and what becomes of it.
func (l leaks) finding(n snapshot.Subnet, here *leaked) Finding {
	owners := here.owners()
	held := here.addresses()
	what := fmt.Sprintf("%d %s of %d dead %s", len(here.own), plural(len(here.own), "interface", "interfaces"), len(owners), plural(len(owners), "node", "nodes"))
	since := l.since(here)
	f := Finding{
		Outcome:   Fail,
		Resource:  n.ID,
		Covers:    []string{n.ID},
		Resources: []string{n.ID, n.VPC},
		Title:     title("%d dead %s %d %s of %s", len(owners), plural(len(owners), "node holds", "nodes hold"), held, plural(held, "address", "addresses"), n.ID),
		Why:       fmt.Sprintf("%s hold %d %s of %s (%s, %s)%s. Nothing is attached to them, and EC2 has ended or forgotten who made them.", what, held, plural(held, "address", "addresses"), n.ID, n.CIDR, n.Zone, since),
		Evidence: []Evidence{
			{What: "Left behind in " + n.ID, Value: fmt.Sprintf("%s, %d %s%s", what, held, plural(held, "address", "addresses"), since)},
			{What: "Interfaces", Value: some(l.ids(here.own), 5)},
			{What: "Made by", Value: some(owners, 5)},
			{What: "Of cluster", Value: l.clusters(here)},
		},
		Fix: l.fix(n, here),
	}
	f.Evidence = append(f.Evidence, Evidence{What: "eni-cleanup", Value: l.fate(here)})
	if here.others > 0 {
		f.Evidence = append(f.Evidence, Evidence{What: "Not counted", Value: fmt.Sprintf("%d %s of dead nodes that name another cluster", here.others, plural(here.others, "interface", "interfaces"))})
	}
	if len(here.spared) > 0 {
		f.Evidence = append(f.Evidence, Evidence{What: "Not left behind", Value: reasons(here.spared)})
	}
	if back, returned := l.returned(n.ID); returned {
		back.What = "Given back to " + n.ID
		f.Evidence = append(f.Evidence, back)
	}
	return f
}

// explain says what the subnet lacks because of them.
func (l leaks) explain(f *Finding, n snapshot.Subnet, here *leaked, w nextNode) {
	held := here.addresses()
	one := "one more node"
	if w.kind != "" {
		one = "one more " + w.kind
	}
	f.Why = strings.TrimSuffix(f.Why, " Nothing is attached to them, and EC2 has ended or forgotten who made them.")
	if name := l.uncleaned(); name != "" {
		f.Why += fmt.Sprintf(" aws-node itself deletes none of them: %s=true.", name)
	}
	if n.Free == 0 {
		f.Why += fmt.Sprintf(" 0 are free: nothing can be launched there, and new pods of its nodes get no address. With theirs there are %d, and %s takes %d.", held, one, w.count)
	} else {
		f.Why += fmt.Sprintf(" %d %s free, and %s takes %d: with theirs there are %d.", n.Free, plural(n.Free, "is", "are"), one, w.count, n.Free+held)
	}
	f.Evidence = append([]Evidence{{What: "Addresses of " + n.ID, Value: fmt.Sprintf("%d free; %s takes %d at start; %d free once dead nodes' interfaces are deleted", n.Free, one, w.count, n.Free+held)}}, f.Evidence...)
}

// uncleaning are the settings with which aws-node deletes nothing that was left
// behind (amazon-vpc-cni-k8s, README).
func uncleaning() []string {
	return []string{"DISABLE_LEAKED_ENI_CLEANUP", "DISABLE_NETWORK_RESOURCE_PROVISIONING", "ENABLE_IMDS_ONLY_MODE"}
}

// uncleaned is the setting of aws-node that keeps it from deleting them itself;
// empty without one, and where that was not read.
func (l leaks) uncleaned() string {
	if !l.s.Has(snapshot.AWSNode) || l.s.CNI == nil {
		return ""
	}
	for _, name := range uncleaning() {
		if on, err := strconv.ParseBool(l.s.CNI.Env[name]); err == nil && on {
			return name
		}
	}
	return ""
}

// since is how long the oldest has been there, as far as dates can be read.
func (l leaks) since(here *leaked) string {
	for _, v := range here.own {
		if !v.Created.IsZero() {
			return fmt.Sprintf(", the oldest made %s UTC", v.Created.UTC().Format(dayAndMinute))
		}
	}
	return ""
}

func (l leaks) ids(list []leak.Verdict) []string {
	ids := make([]string, len(list))
	for i, v := range list {
		ids[i] = v.Interface.ID
	}
	return ids
}

func (l leaks) clusters(here *leaked) string {
	none := 0
	for _, v := range here.own {
		if v.Cluster == "" {
			none++
		}
	}
	switch named := len(here.own) - none; {
	case none == 0:
		return l.s.Cluster.Name
	case named == 0:
		return "they name none: aws-node without CLUSTER_NAME made them"
	default:
		return fmt.Sprintf("%d name %s, %d none", named, l.s.Cluster.Name, none)
	}
}

// sorted are those that eni-cleanup may delete by its own settings, and the
// reasons why it leaves the others.
func (l leaks) sorted(here *leaked) (may []leak.Verdict, left map[leak.Reason]int) {
	g := l.ground
	g.Grace, g.Untagged = l.s.Cleanup.Grace, l.s.Cleanup.Untagged
	left = map[leak.Reason]int{}
	for _, v := range here.own {
		if again := leak.Judge(v.Interface, g); again.Why == leak.Leaked {
			may = append(may, again)
		} else {
			left[again.Why]++
		}
	}
	return may, left
}

// fate is what eni-cleanup does with them.
func (l leaks) fate(here *leaked) string {
	may, left := l.sorted(here)
	text := ""
	switch l.s.Cleanup.Mode {
	case "delete":
		text = fmt.Sprintf("on: deletes %d of them, once it has seen them twice", len(may))
	case "dry-run":
		text = fmt.Sprintf("dry-run: would delete %d of them", len(may))
	case "report":
		text = fmt.Sprintf("off for %s: could delete %d of them", l.s.Cluster.Name, len(may))
	default:
		text = fmt.Sprintf("could delete %d of them, where it is on", len(may))
	}
	if n := len(may) - len(naming(may)); n > 0 {
		text += fmt.Sprintf("; %d %s no cluster, and %s only where all clusters of the VPC are watched and in mode delete", n, plural(n, "names", "name"), plural(n, "goes", "go"))
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
func (l leaks) fix(n snapshot.Subnet, here *leaked) Fix {
	may, left := l.sorted(here)
	f := Fix{
		Command: aws(l.s, "ec2 describe-network-interfaces", "--filters", "Name=subnet-id,Values="+n.ID, "Name=status,Values=available", "Name=description,Values=aws-K8S-i-*"),
		Console: ec2Console(l.s, "NIC:subnetId="+n.ID),
	}
	named := naming(may)
	switch {
	case l.s.Cleanup.Mode == "delete" && len(named) > 0:
		f.Text = "Nothing: eni-cleanup runs every 15 minutes and deletes them."
	case len(named) > 0:
		f.Remedy = deleteLeakedInterfaces
		f.Text = fmt.Sprintf("Let eni-cleanup delete them: deploy with the setting cleanup=%s=delete. Or delete them by hand; EC2 refuses to delete one that is in use.", l.s.Cluster.Name)
		f.Command = l.deletes(named)
	case len(may) > 0:
		f.Text = fmt.Sprintf("Let eni-cleanup delete them: watch all clusters of %s, each in mode delete (settings clusters and cleanup). Or look at each of them, and delete by hand what nobody needs (the command lists them).", l.s.Cluster.VPC)
	default:
		f.Text = "Look at each of them, and delete by hand what nobody needs (the command lists them)."
	}
	if left[leak.Untagged] > 0 {
		f.Text += fmt.Sprintf(" %d %s no cluster: where all clusters of the VPC are watched, set cleanupUntagged=%s.", left[leak.Untagged], plural(left[leak.Untagged], "names", "name"), l.s.Cluster.VPC)
	}
	return f
}

// deletes are the commands that delete the oldest: no more than a person looks
// through before pasting them.
func (l leaks) deletes(may []leak.Verdict) string {
	const most = 20
	ids := l.ids(may[:min(len(may), most)])
	if len(ids) == 1 {
		return aws(l.s, "ec2 delete-network-interface", "--network-interface-id", ids[0])
	}
	return shell.Each(ids, "aws", "ec2", "delete-network-interface", "--region", l.s.Region, "--network-interface-id")
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
func (l leaks) returned(subnet string) (Evidence, bool) {
	for _, r := range l.s.Returned {
		if r.Subnet == subnet && r.Interfaces > 0 {
			return Evidence{What: subnet, Value: fmt.Sprintf("%d %s back; %d %s of %d dead %s", r.Addresses, plural(r.Addresses, "address", "addresses"),
				r.Interfaces, plural(r.Interfaces, "interface", "interfaces"), r.Nodes, plural(r.Nodes, "node", "nodes"))}, true
		}
	}
	return Evidence{}, false
}
