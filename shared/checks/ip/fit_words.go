package ip

import (
	"fmt"
	"strings"

	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/address"
)

// fitSum is the arithmetic of a subnet in words: "2 groups may launch 14 more
// nodes here: 9 m5.4xlarge x 60 + 5 m5.large x 20 = 640; 251 free".
func fitSum(f address.Fit) string {
	groups := map[string]bool{}
	var parts []string
	here := "whose pods take addresses here"
	for _, t := range f.Terms {
		if t.Nodes.Least == 0 || t.Start.Least == 0 {
			continue
		}
		groups[t.Group] = true
		part := fmt.Sprintf("%d %s x %d", t.Nodes.Least, t.Small, t.Start.Least)
		if t.Large != t.Small {
			part = fmt.Sprintf("%d of %s (the smallest) x %d", t.Nodes.Least, t.Small, t.Start.Least)
		}
		if !t.Pods {
			here = "here"
		} else if len(f.Terms) > 1 {
			part += " for pods"
		}
		parts = append(parts, part)
	}
	if f.Owed > 0 {
		parts = append(parts, fmt.Sprintf("%d that %s now %s still to take", f.Owed, phrase.Plural(f.Starting, "a node that starts", fmt.Sprintf("%d nodes that start", f.Starting)), phrase.Plural(f.Starting, "has", "have")))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("no more nodes for certain; %d free", f.Subnet.Free)
	}
	n := f.Nodes().Least
	who := fmt.Sprintf("%s may launch %d more %s %s", launcherNoun(groups), n, phrase.Plural(n, "node", "nodes"), here)
	if len(groups) == 0 {
		who = "nodes that start now"
	}
	return fmt.Sprintf("%s: %s = %d; %d free", who, strings.Join(parts, " + "), f.Start().Least, f.Subnet.Free)
}

// fitEvidence is what a fit was judged by.
func fitEvidence(s *facts.View, f address.Fit, pods podNetwork) []finding.Evidence {
	list := []finding.Evidence{{What: "Addresses of " + f.Subnet.ID, Value: fitSum(f)}}
	if n, start, full := f.Nodes(), f.Start(), f.Full(); n.Most > 0 {
		if n.Most > n.Least {
			list = append(list, finding.Evidence{What: "If no other zone has capacity", Value: fmt.Sprintf("%d more %s, %d addresses at start", n.Most, phrase.Plural(n.Most, "node", "nodes"), start.Most)})
		}
		list = append(list, finding.Evidence{What: "When pods fill the nodes", Value: fmt.Sprintf("%s addresses", between(full))})
	}
	if len(f.Unbounded) > 0 {
		list = append(list, finding.Evidence{What: "Without a limit", Value: "NodePool " + phrase.Some(f.Unbounded, 3) + ": how much it may launch here is not known"})
	}
	if f.Blocks() > 0 && f.Counted {
		list = append(list, finding.Evidence{What: "Blocks of " + f.Subnet.ID, Value: fmt.Sprintf("%d /28 blocks needed at start, %d free", f.Blocks(), f.Use.Blocks)})
	}
	list = append(list, finding.Evidence{What: "Settings of aws-node", Value: pods.words()})
	for _, i := range s.Instances {
		if i.Tags["karpenter.sh/nodepool"] != "" {
			return append(list, finding.Evidence{What: "Karpenter", Value: "what its node pools may launch is not counted"})
		}
	}
	return list
}

func between(s address.Span) string {
	if s.Least == s.Most {
		return fmt.Sprint(s.Least)
	}
	return fmt.Sprintf("%d to %d", s.Least, s.Most)
}
