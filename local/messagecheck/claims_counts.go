package messagecheck

import (
	"fmt"
	"regexp"
	"slices"
)

// claimsOfCounts are how many there are of something.
func claimsOfCounts() []claim {
	return []claim{
		{standsOut, byAgainst},
		{notReady, byAgainst},
		{missing, byAgainst},
		{form(`\bmin (\d+) max (\d+) desired (\d+)`), func(s said) string {
			if s.facts.says(fmt.Sprintf(`"DesiredSize":%s,"MaxSize":%s,"MinSize":%s`, s.m[3], s.m[2], s.m[1])) {
				return ""
			}
			return "no nodegroup is so"
		}},
		{form(`([\d,]+) pods? (?:pending|wait for an address on)`), is(func(s said) (int, bool) {
			n := len(regexp.MustCompile(`"phase":"Pending"`).FindAllString(s.facts.raw, -1))
			return n, n > 0
		})},
		{form(`([\d,]+) nodes? there (?:is|are) cordoned`), is(func(s said) (int, bool) {
			for _, l := range s.lines {
				if m := regexp.MustCompile(`away from ([a-z0-9-]+) \(`).FindStringSubmatch(l.Text); m != nil {
					return s.facts.Cordoned[m[1]], true
				}
			}
			return 0, false
		})},
		{form(`([\d,]+) failed launch(?:es)?\b`), is(func(s said) (int, bool) {
			if n := s.facts.failed(); n > 0 {
				return n, true
			}
			return len(s.facts.Affected), true // a NodePool's launches are in no group's activities
		})},
		{form(`\bcause found: ([\d,]+) instances of`), is(func(s said) (int, bool) { return headCount(s) })},
		{form(`\bThe same is true of ([\d,]+) more`), is(func(s said) (int, bool) { n, ok := headCount(s); return n - 1, ok })},
		{form(`([\d,]+) instances? (?:affected|joined all the same)`), is(func(s said) (int, bool) { return len(s.facts.Affected), true })},
		{form(`\b([\d,]+) of ([\d,]+) (?:launches )?(?:with|of type) (\S+) failed`), func(s said) string { return s.facts.common(s.m, false) }},
		{form(`\b([\d,]+) of ([\d,]+) others (?:joined|of the last (7) days joined)`), func(s said) string {
			for _, l := range s.lines {
				if m := regexp.MustCompile(`launches (?:with|of type) (\S+) failed`).FindStringSubmatch(l.Text); m != nil {
					return s.facts.common([]string{"", s.m[1], s.m[2], m[1]}, true)
				}
			}
			return "it is not said what the others are without"
		}},
		{form(`\band ([\d,]+) (?:more|m…)$`), is(func(s said) (int, bool) {
			action := regexp.MustCompile(`\b[a-z0-9]+:[A-Z][A-Za-z]+\b`)
			first := action.FindString(s.lines[0].Text)
			for _, l := range s.lines[1:] {
				if all := action.FindAllString(l.Text, -1); slices.Contains(all, first) {
					slices.Sort(all)
					return len(slices.Compact(all)) - 1, true
				}
			}
			return 0, false
		})},
		{form(`: ([\d,]+) subnets `), is(func(s said) (int, bool) {
			subnets := map[string]bool{}
			for _, id := range s.facts.Affected {
				subnets[s.facts.Subnet[id]] = true
			}
			return len(subnets), true
		})},
		{form(`: ([\d,]+) endpoints `), is(func(s said) (int, bool) {
			var all []string
			for _, l := range s.lines[1:] {
				all = append(all, regexp.MustCompile(`\bvpce-[0-9a-f]+\b`).FindAllString(l.Text, -1)...)
			}
			slices.Sort(all)
			return len(slices.Compact(all)), true
		})},
		{form(`\bno node there: desired is (\d+), zones in use are (\d+)`), func(s said) string {
			for _, list := range s.facts.Groups {
				for _, g := range list {
					if g.Desired == amount(s.m[1]) && len(g.Zones) == amount(s.m[2]) {
						return ""
					}
				}
			}
			return "no group is so"
		}},
		{form(`\bdesired count of (\S+) from (\d+) to (\d+) \(its maximum is (\d+)\)`), func(s said) string {
			for _, g := range s.facts.Groups[s.m[1]] {
				if g.Desired == amount(s.m[2]) && g.Max == amount(s.m[4]) && amount(s.m[3]) > g.Desired && amount(s.m[3]) <= g.Max {
					return ""
				}
			}
			return "no group is so"
		}},
		{form(`\b(\d+) of (\d+) cpu\b`), fields("cpu", "cpu")},
	}
}

// headCount is how many the first line tells of.
func headCount(s said) (int, bool) {
	m := regexp.MustCompile(`([\d,]+) instances? ha(?:s|ve) not joined`).FindStringSubmatch(s.lines[0].Text)
	if m == nil {
		return 0, false
	}
	return amount(m[1]), true
}

// failed are the launches that Auto Scaling, or the call of a NodePool, did not get.
func (f *Facts) failed() int {
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`"ActivityId":"([^"]+)"[^{}]*?"StatusCode":"(?:Failed|Cancelled)"`).FindAllStringSubmatch(f.text, -1) {
		ids[m[1]] = true
	}
	return len(ids)
}

// common holds how many launches with an image or of a type did not become nodes, or how
// many others did.
func (f *Facts) common(m []string, others bool) string {
	hit, all := 0, 0
	same := map[string]bool{} // launches of groups that have one with it
	with := func(id string) bool { return f.Image[id] == m[3] || f.Type[id] == m[3] }
	for _, list := range f.Groups {
		for _, g := range list {
			for _, id := range g.Instances {
				same[id] = same[id] || slices.ContainsFunc(g.Instances, with)
			}
		}
	}
	for id := range f.Launched {
		if with(id) == others || !same[id] {
			continue
		}
		all++
		if f.Ready[id] == others {
			hit++
		}
	}
	if hit != amount(m[1]) || all != amount(m[2]) {
		return fmt.Sprintf("it is %d of %d", hit, all)
	}
	return ""
}
