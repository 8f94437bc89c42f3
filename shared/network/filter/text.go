package filter

import (
	"fmt"
	"strings"

	"rollcall/shared/snapshot"
)

// Rules are the rules of groups in one direction, one line each.
func (f *Filters) Rules(groups []string, egress bool) []string {
	var list []string
	for _, id := range groups {
		g, ok := f.groups[id]
		if !ok {
			list = append(list, id+": not read")
			continue
		}
		rules := g.Ingress
		if egress {
			rules = g.Egress
		}
		if len(rules) == 0 {
			list = append(list, fmt.Sprintf("%s %s: no rules", id, way(egress)))
		}
		for _, r := range rules {
			list = append(list, rule(id, r, egress))
		}
	}
	return list
}

func way(egress bool) string {
	if egress {
		return "egress"
	}
	return "ingress"
}

// rule writes a rule: "sg-0a ingress tcp 443 ← sg-0b, 10.0.0.0/8".
func rule(group string, r snapshot.Rule, egress bool) string {
	var peers []string
	for _, c := range r.CIDRs {
		peers = append(peers, c.String())
	}
	peers = append(append(peers, r.PrefixLists...), r.Groups...)
	const limit = 8
	if more := len(peers) - limit; more > 0 {
		peers = append(peers[:limit], fmt.Sprintf("%d more", more))
	}
	arrow := "←"
	if egress {
		arrow = "→"
	}
	return fmt.Sprintf("%s %s %s %s %s", group, way(egress), traffic(r.Protocol, r.From, r.To), arrow, strings.Join(peers, ", "))
}

// traffic writes a rule's protocol and ports: "tcp 443", "all traffic".
func traffic(text string, from, to int) string {
	number, all, ok := protocol(text)
	switch {
	case all:
		return "all traffic"
	case !ok:
		return fmt.Sprintf("protocol %q", text)
	case anyPort(text, from, to) || from == 0 && to == 65535:
		return number.String()
	}
	return fmt.Sprintf("%s %s", number, Ports{From: from, To: to})
}
