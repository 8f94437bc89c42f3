package messagecheck

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// claimsOfAddresses are addresses, interfaces and what a node takes of them.
func claimsOfAddresses() []claim {
	return []claim{
		{form(`\b(subnet-[0-9a-f]+)(?: \([^)]*\))? has(?: only)? ([\d,]+) free(?: address| of|,|\.)`), func(s said) string {
			if n, known := s.facts.Free[s.m[1]]; !known || n != amount(s.m[2]) {
				return fmt.Sprintf("it has %d", n)
			}
			return ""
		}},
		{form(`(?:^|[.;] )([\d,]+)(?: are)? free\b`), func(s said) string {
			for subnet, n := range s.facts.Free {
				if n == amount(s.m[1]) && tells(s.lines, subnet) {
					return ""
				}
			}
			return "no subnet of the message has so many"
		}},
		{form(`\b(\d+) interfaces? of (\d+) dead nodes? holds? (\d+) addresses? of (subnet-[0-9a-f]+)`), func(s said) string {
			l := s.facts.Left[s.m[4]]
			return different(s.m[1:4], l.Interfaces, len(l.Owners), l.Addresses)
		}},
		{form(`\b(\d+) dead nodes? holds? (\d+) addresses? of (subnet-[0-9a-f]+)`), func(s said) string {
			l := s.facts.Left[s.m[3]]
			return different(s.m[1:3], len(l.Owners), l.Addresses)
		}},
		{form(`\b(\d+) branch interfaces without a trunk`), is(func(s said) (int, bool) { return len(s.facts.branches()), true })},
		{form(`\band (\d+) more hold one address each`), is(func(s said) (int, bool) { return len(s.facts.branches()) - 3, true })},
		{form(`\bDeleting (?:it|all (\d+)) frees (\d+)`), byAgainst},
		{form(`\bone more (\S+) takes ([\d,]+)`), func(s said) string { return s.facts.takes(s.m[1], amount(s.m[2])) }},
		{form(`\bmax pods is (\d+)`), quotedNumber},
		{form(`\ballows (\d+) pods on`), quotedNumber},
		{form(`\buser data allows (\d+) pods`), quotedNumber},
		{form(`\b(\S+) has addresses for (\d+)\b`), func(s said) string { return s.facts.pods(s.m[1], amount(s.m[2])) }},
		{form(`\bSet max pods to (\d+) or less for ([a-z0-9.]+)`), func(s said) string { return s.facts.pods(s.m[2], amount(s.m[1])) }},
		{form(`\((\d+\.\d+\.\d+\.\d+)/(\d+), [^)]*\) has [\d,]+ free addresses, but none of its (\d+) (/28) blocks`), func(s said) string {
			// The first and the last are never whole: AWS keeps five addresses
			// (docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing).
			return different(s.m[3:4], 1<<max(28-amount(s.m[2]), 0)-2)
		}},
		{form(`\bThe nearest is (\d+\.\d+\.\d+\.\d+/28)\b`), func(s said) string { return s.facts.within(s.m[1]) }},
		{form(`\b(?:whole|no free) (/28) (?:blocks|for a prefix)`), documented},
		{form(`([0-9a-f:]+::/64) is a free (/64) of`), func(s said) string { return s.facts.within(s.m[1]) }},
		{form(`\b(1|\d+ (?:group|NodePool)s)(?: (?:group|NodePool))? may launch (\d+) more nodes here: (\d+) (\S+) x (\d+) = ([\d,]+)`), func(s said) string {
			if n := s.facts.room(); !slices.Contains(n, amount(s.m[2])) || s.m[2] != s.m[3] {
				return fmt.Sprintf("there may be %d more", n)
			}
			return s.facts.takes(s.m[4], amount(s.m[5]))
		}},
		{form(`\bhas no room for (\d+) more nodes`), func(s said) string {
			if n := s.facts.room(); !slices.Contains(n, amount(s.m[1])) {
				return fmt.Sprintf("there may be %d more", n)
			}
			return ""
		}},
		{form(`\b((\d+\.\d+\.\d+\.\d+)/32)\b`), func(s said) string {
			if !s.facts.says(s.m[2]) {
				return "no answer has that address"
			}
			return ""
		}},
	}
}

// branches are the branch interfaces of the world.
func (f *Facts) branches() map[string]bool {
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`"InterfaceType":"branch"[^{}]*?"NetworkInterfaceId":"(eni-[0-9a-f]+)"`).FindAllStringSubmatch(f.raw, -1) {
		ids[m[1]] = true
	}
	return ids
}

func tells(lines []Line, words string) bool {
	for _, l := range lines {
		if strings.Contains(l.Text, words) {
			return true
		}
	}
	return false
}

// different tells which of the numbers are others.
func different(told []string, are ...int) string {
	for n, is := range are {
		if amount(told[n]) != is {
			return fmt.Sprintf("%s is %d", told[n], is)
		}
	}
	return ""
}

// quotedNumber stands so in a setting that an answer has, or in the capacity of a node.
func quotedNumber(s said) string {
	if !regexp.MustCompile(`(?i)(?:max-?|")pods[^0-9]{1,4}` + s.m[1] + `\b`).MatchString(s.facts.text) {
		return "no setting says that"
	}
	return ""
}

// takes holds what a node takes as it starts: its interface's addresses, and those of a
// warm one (github.com/aws/amazon-vpc-cni-k8s, docs/eni-and-ip-target: WARM_ENI_TARGET), and
// one interface on each further network card that the plugin manages (README.md there,
// ENABLE_MULTI_NIC).
func (f *Facts) takes(of string, n int) string {
	card, known := f.Types[of]
	each := card[1]
	cards := f.says(`{"name":"ENABLE_MULTI_NIC","value":"true"}`) && n == (1+card[2])*each
	if !known || n != each && n != 2*each && !cards {
		return fmt.Sprintf("an interface of it has %d", each)
	}
	return ""
}

// pods are interfaces times their addresses without their own, and two in the host's network
// (docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type).
func (f *Facts) pods(of string, n int) string {
	card, known := f.Types[of]
	if is := card[0]*(card[1]-1) + 2; !known || n != is {
		return fmt.Sprintf("it is %d", is)
	}
	return ""
}

// room is how many more nodes each group may launch, all of them, or a NodePool with a
// limit of nodes.
func (f *Facts) room() (list []int) {
	if m := regexp.MustCompile(`"limits":\{[^}]*"nodes":"?(\d+)"?`).FindStringSubmatch(f.raw); m != nil {
		if used := regexp.MustCompile(`"resources":\{[^}]*"nodes":"?(\d+)"?`).FindStringSubmatch(f.raw); used != nil {
			list = append(list, amount(m[1])-amount(used[1]))
		}
	}
	all, seen := 0, map[string]bool{}
	for _, groups := range f.Groups {
		for _, g := range groups {
			if !seen[g.Name] {
				list, all = append(list, g.Max-g.Desired), all+g.Max-g.Desired
			}
			seen[g.Name] = true
		}
	}
	return append(list, all)
}

// Remains are interfaces that no instance has any more.
type Remains struct {
	Interfaces, Addresses int
	Owners                map[string]bool
}

// block is how many addresses a prefix has.
func block(prefix string) int {
	p, err := netip.ParsePrefix(prefix)
	if err != nil {
		return 0
	}
	return 1 << (p.Addr().BitLen() - p.Bits())
}
