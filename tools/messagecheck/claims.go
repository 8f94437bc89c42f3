package messagecheck

import (
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// claim is a form in which messages say numbers, and what holds them.
type claim struct {
	form *regexp.Regexp // its groups are the numbers
	// holds is what is otherwise; empty where all is as the message says.
	holds func(said) string
}

// said is where a claim is met.
type said struct {
	facts *Facts
	m     []string // what its form found
	lines []Line   // of the message
}

// apart is what is not between words.
const apart = "[^\\s\\p{Z}()\\[\\]{}\"'“”`→×+;=]"

var (
	// word is one that a reader takes for a fact.
	word       = regexp.MustCompile(apart + `*\d` + apart + `*`)
	bareNumber = regexp.MustCompile(`^\$?\d[\d,]*(?:\.\d+)?%?$`)
	clock      = regexp.MustCompile(`^\d{2}:\d{2}(?::\d{2})?$`)
)

// Unheld are the numbers, times and names with a digit in a message that nothing holds, and
// those that are otherwise than what was answered; held is how many are as they should be.
// A name holds where an answer has it, a time where an answer has that minute, and a bare
// number, which would be found in any answer, only by a claim or in the words of a quotation.
func (f *Facts) Unheld(blocks []byte) (found []string, held int, err error) {
	lines, err := Read(blocks)
	if err != nil {
		return nil, 0, err
	}
	for _, l := range lines {
		if l.Copied {
			continue
		}
		claimed, wrong := f.claimed(l.Text, lines)
		found = append(found, wrong...)
		for _, at := range word.FindAllStringIndex(l.Text, -1) {
			from, to := trimmed(l.Text, at[0], at[1])
			w := l.Text[from:to]
			switch {
			case covered(claimed, from, to):
			case clock.MatchString(w) && (f.minutes[w] || f.Now.Format("15:04") == w):
			case !clock.MatchString(w) && !bareNumber.MatchString(w) && f.names(w):
			case strings.HasPrefix(l.Text[to:], "…") && f.contains(w): // it is cut
			case f.quotes(l.Text, from, to):
			default:
				found = append(found, fmt.Sprintf("%s: nothing holds %q in %q", l.Label, w, around(l.Text, from, to)))
				continue
			}
			held++
		}
	}
	return found, held, nil
}

// span is where a number stands in a line.
type span struct{ from, to int }

func covered(claimed []span, from, to int) bool {
	return slices.ContainsFunc(claimed, func(s span) bool { return s.from <= from && to <= s.to })
}

// claimed is where claims hold numbers of a line.
func (f *Facts) claimed(text string, lines []Line) (list []span, wrong []string) {
	for _, c := range f.claims {
		for _, at := range c.form.FindAllStringSubmatchIndex(text, -1) {
			var m []string
			fresh := false
			for n := 0; n < len(at); n += 2 {
				if at[n] < 0 {
					m = append(m, "")
					continue
				}
				m = append(m, text[at[n]:at[n+1]])
				fresh = fresh || n > 0 && !covered(list, at[n], at[n+1])
			}
			if !fresh {
				continue
			}
			if is := c.holds(said{f, m, lines}); is != "" {
				wrong = append(wrong, fmt.Sprintf("%q, and %s", m[0], is))
			}
			for n := 2; n < len(at); n += 2 {
				if at[n] >= 0 {
					list = append(list, span{at[n], at[n+1]})
				}
			}
		}
	}
	return list, wrong
}

// quotes reports whether the word stands among the same words in an answer: three before it, or
// three after it.
func (f *Facts) quotes(text string, from, to int) bool {
	before, after := strings.Fields(text[:from]), strings.Fields(text[to:])
	w := text[from:to]
	if n := len(before); n >= 3 && f.contains(strings.Join(before[n-3:], " ")+" "+w) {
		return true
	}
	return len(after) >= 3 && (f.contains(w+" "+strings.Join(after[:3], " ")) || f.contains(w+strings.Join(after[:3], " ")))
}

// trimmed leaves out the marks around a word.
func trimmed(text string, from, to int) (int, int) {
	w := strings.TrimLeft(text[from:to], ".,:*_<>")
	from = to - len(w)
	w = strings.TrimRight(w, ".,:*_<>…")
	return from, from + len(w)
}

func around(text string, from, to int) string {
	return strings.ToValidUTF8(text[max(0, from-40):min(len(text), to+40)], "")
}

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
				if n == amount(s.m[1]) && containsWords(s.lines, subnet) {
					return ""
				}
			}
			return "no subnet of the message has so many"
		}},
		{form(`\b(\d+) interfaces? of (\d+) terminated nodes? holds? (\d+) addresses? of (subnet-[0-9a-f]+)`), func(s said) string {
			l := s.facts.Left[s.m[4]]
			return different(s.m[1:4], l.Interfaces, len(l.Owners), l.Addresses)
		}},
		{form(`\b(\d+) terminated nodes? holds? (\d+) addresses? of (subnet-[0-9a-f]+)`), func(s said) string {
			l := s.facts.Left[s.m[3]]
			return different(s.m[1:3], len(l.Owners), l.Addresses)
		}},
		{form(`\b(\d+) branch interfaces without a trunk`), is(func(s said) (int, bool) { return len(s.facts.branches()), true })},
		{form(`\band (\d+) more hold one address each`), is(func(s said) (int, bool) { return len(s.facts.branches()) - 3, true })},
		{form(`\bDeleting (?:it|all (\d+)) frees (\d+)`), byAgainst},
		{form(`\bone more (\S+) needs ([\d,]+)`), func(s said) string { return s.facts.takes(s.m[1], amount(s.m[2])) }},
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
		{form(`\b(1|\d+ (?:group|NodePool)s)(?: (?:group|NodePool))? can launch (\d+) more nodes here: (\d+) (\S+) x (\d+) = ([\d,]+)`), func(s said) string {
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
			if !s.facts.contains(s.m[2]) {
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

func containsWords(lines []Line, words string) bool {
	for _, l := range lines {
		if strings.Contains(l.Text, words) {
			return true
		}
	}
	return false
}

// ofPending holds a number of pods that wait: there are not more that do.
func ofPending(s said) string {
	if n := len(regexp.MustCompile(`"phase":"Pending"`).FindAllString(s.facts.raw, -1)); amount(s.m[1]) > n {
		return fmt.Sprintf("%d pods are pending", n)
	}
	return ""
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
	cards := f.contains(`{"name":"ENABLE_MULTI_NIC","value":"true"}`) && n == (1+card[2])*each
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

// claimsOfCounts are how many there are of something.
func claimsOfCounts() []claim {
	return []claim{
		{standsOut, byAgainst},
		{notReady, byAgainst},
		{missing, byAgainst},
		{form(`\bmin (\d+) max (\d+) desired (\d+)`), func(s said) string {
			if s.facts.contains(fmt.Sprintf(`"DesiredSize":%s,"MaxSize":%s,"MinSize":%s`, s.m[3], s.m[2], s.m[1])) {
				return ""
			}
			return "no nodegroup is so"
		}},
		// Some of them may wait for something else: not more than there are.
		{form(`([\d,]+) pods? (?:is|are|may be) waiting`), ofPending},
		{form(`([\d,]+) more may be waiting for this`), ofPending},
		{form(`\b(?:Deployment|StatefulSet|DaemonSet|ReplicaSet|Job) \S+ \(([\d,]+)\)`), ofPending},
		{form(`(\$0\.045) a GB`), documented},
		{form(`(\$0\.01) an hour`), documented},
		{form(`(\$0\.01) a GB`), documented},
		{form(`([\d,]+) pods? wait for an address on`), is(func(s said) (int, bool) {
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
		{form(`([\d,]+) instances? (?:affected|joined anyway)`), is(func(s said) (int, bool) { return len(s.facts.Affected), true })},
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
		{form(`\bno node there \(desired (\d+), spread over (\d+) zones\)`), func(s said) string {
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

// headCount is the count in the first line.
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

// claimsOfNames are names and constants that documents give, and those made of others.
func claimsOfNames() []claim {
	return []claim{
		{form(`^[\p{Z}\s]*rollcall replay (\S+)|^(\S+:[a-z]+/[a-z0-9-]+:\S+)$`), func(s said) string {
			_, rest, _ := strings.Cut(s.m[1]+s.m[2], ":")
			check, resource, _ := strings.Cut(rest, ":")
			if strings.ContainsAny(check, "0123456789") && !checksWithDigits.MatchString(check) {
				return "there is no such check"
			}
			if account := regexp.MustCompile(`:(\d{12}):`).FindStringSubmatch(resource); account != nil && account[1] != s.facts.Account {
				return "the account is " + s.facts.Account
			}
			_, named, _ := strings.Cut(resource, "/")
			region, endpoint := strings.CutPrefix(resource, "sts.")
			if endpoint && s.facts.contains(":"+strings.TrimSuffix(region, ".amazonaws.com")+":") || quota(resource) || resource == "eks-pod-identity-agent" ||
				named != "" && s.facts.contains(`"`+named+`"`) || s.facts.contains(resource) {
				return ""
			}
			return "no answer tells of " + resource
		}},
		{form(`\baccount (\d{12})\b`), func(s said) string {
			if s.m[1] != s.facts.Account {
				return "it is " + s.facts.Account
			}
			return ""
		}},
		{form(`\b(arn:aws[a-z-]*:iam::(\d{12}):role/([\w+=,.@-]*\w))`), func(s said) string {
			if !s.facts.contains(s.m[1]) && (s.m[2] != s.facts.Account || !s.facts.contains(`"RoleName":"`+s.m[3]+`"`)) {
				return "there is no such role"
			}
			return ""
		}},
		// Checks whose names have a digit (the catalogue).
		{checksWithDigits, documented},
		{form(`\b(EC2_[LW][A-Z]*)…`), documented}, // a type of access entry in a title that is cut
		{form(`\b(S3|Route 53|EC2|EC2NodeClass|IMDSv2|gp2|gp3|EC2_LINUX|EC2_WINDOWS|AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG|ENABLE_IPv4|ENABLE_IPv6|IPv4|IPv6|ec2\.amazonaws\.com)\b`), documented},
		{form(`(?:^|[^\w.])(SHA-256)\b`), documented},
		{form(`\b((?:sts|ec2|eks|api\.ecr)\.([a-z0-9-]+)\.amazonaws\.com)\b`), func(s said) string {
			if !s.facts.contains(":" + s.m[2] + ":") {
				return "no ARN is of " + s.m[2]
			}
			return ""
		}},
		{form(`\b(?:forwards|blocks) the names of (\d+) services`), func(s said) string {
			// The services are listed in the sentence on why.
			listed := regexp.MustCompile(`\bthe names? of ([^.]+(?:, [^.]+)* and [^.,]+)`)
			for _, l := range s.lines {
				if m := listed.FindStringSubmatch(l.Text); m != nil && strconv.Itoa(strings.Count(m[1], ",")+2) == s.m[1] {
					return ""
				}
			}
			return "it lists another number of services"
		}},
		// Amazon VPC CNI's releases: CRI v1 since 1.12 (github.com/aws/amazon-vpc-cni-k8s, release
		// notes of v1.12.0), v1alpha2 gone in Kubernetes 1.26 (kubernetes.io, blog of 1.26).
		{form(`\bKubernetes (1\.26) took CRI (v1alpha2) away, which the plugin asks for before (1\.12)\b`), documented},
		{form(`\b(v1\.12\.0) or later`), documented},
		{form(`\bKubernetes (1\.\d+)\b`), func(s said) string { return s.facts.version(s.m[1]) }},
		{form(`\bkubelet (1\.\d+), control plane (1\.\d+)`), func(s said) string {
			if s.m[1] == s.m[2] {
				return "they are the same"
			}
			return s.facts.version(s.m[1]) + s.facts.version(s.m[2])
		}},
		{form(`\bcontrol plane's (1\.\d+) of`), func(s said) string { return s.facts.version(s.m[1]) }},
		{form(`\bimage of Kubernetes (1\.\d+)\b`), func(s said) string { return s.facts.version(s.m[1]) }},
		// Amazon EKS's "AL2 AMI deprecation FAQs" (shared/checks/instance/image.go).
		{form(`\bAmazon Linux (2), unsupported since (26) November (2025|…)`), documented},
		{form(`\bAmazon Linux (2023)\b`), func(s said) string {
			if !s.facts.contains("al2023") && !s.facts.contains("AL2023") {
				return "no image is"
			}
			return ""
		}},
		{form(`\bmore than the (\d+) that quota`), func(s said) string {
			if !s.facts.contains("limit of " + s.m[1] + " ") {
				return "no answer says that limit"
			}
			return ""
		}},
		{form(`\b(\d+) Insufficient (?:memory|cpu)\b`), func(s said) string {
			if !s.facts.contains(s.m[0]) {
				return "the scheduler says something else"
			}
			return ""
		}},
		{form(`\b(L-[0-9A-F]{8})\b`), func(s said) string {
			if !quota(s.m[1]) {
				return "there is no such quota"
			}
			return ""
		}},
		// github.com/aws/amazon-vpc-resource-controller-k8s, pkg/aws/vpc/limits.go, of that day.
		{form(`\bm5\.large carries (9), (m5\.xlarge) (18); as of (2026-03-20)`), documented},
		// IAM's actions are held by the service authorization reference (.ci/run authorization).
		{form(`\b((?:ec2|ecr|s3|sts|eks):[A-Z][A-Za-z0-9]+)\b`), documented},
		{form(`\b([a-z-]+/[a-z0-9-]*[a-z]-\d+)\b`), func(s said) string {
			_, name, _ := strings.Cut(s.m[1], "/")
			if !s.facts.contains(`"name":"` + name + `"`) {
				return "there is no pod " + name
			}
			return ""
		}},
		{form(`\b(Ip-[0-9-]+\.[a-z0-9.-]+)\b`), func(s said) string {
			if !s.facts.contains("i" + s.m[1][1:]) {
				return "there is no such node"
			}
			return ""
		}},
		// Setting joinTime's default.
		{form(`\bshould have been a node (5) min after its launch`), documented},
		// AWS's waiters (shared/checks/nodegroup/status.go has their arithmetic).
		{form(`\bthat takes at most (40|45) min`), documented},
		{form(`\b(\d+m\d+s|\d+s|\d+ s) after its launch`), func(s said) string {
			took, err := time.ParseDuration(strings.ReplaceAll(s.m[1], " ", ""))
			if err != nil {
				return err.Error()
			}
			for _, began := range s.facts.Launched {
				if s.facts.instants[began.Add(took).Unix()] {
					return ""
				}
			}
			return "nothing happened so long after a launch"
		}},
		{form(`\bALLOWED DISRUPTIONS (0)\b`), documented},
		{form(`\bwith (lt-[0-9a-f]+) version (\d+)\b`), func(s said) string { return fields("VersionNumber")(said{s.facts, s.m[1:], nil}) }},
	}
}

var checksWithDigits = form(`\b(route/ipv6-no-egress|endpoint/s3-route-missing|cni/ipv6)\b`)

// quota reports whether there is one by that code (docs.aws.amazon.com/general/latest/gr/ec2-service
// and ebs-service): vCPUs of standard types on demand and as Spot, storage of gp3 and gp2, Elastic IPs.
func quota(code string) bool {
	return slices.Contains([]string{"L-1216C47A", "L-34B43A08", "L-7A658B76", "L-D18FCD1D", "L-0263D0A3"}, code)
}

// version returns what is wrong where no control plane and no kubelet is of it.
func (f *Facts) version(v string) string {
	if !regexp.MustCompile(`"(?:Version|kubeletVersion|ReleaseVersion)":"v?` + regexp.QuoteMeta(v) + `[".]|-` + regexp.QuoteMeta(v) + `-v?\d`).MatchString(f.text) {
		return "nothing is of " + v
	}
	return ""
}

// within returns what is wrong where a block is in no network of the world.
func (f *Facts) within(block string) string {
	p, err := netip.ParsePrefix(block)
	if err != nil {
		return err.Error()
	}
	for _, m := range regexp.MustCompile(`[0-9a-f.:]+/\d+`).FindAllString(f.text, -1) {
		if in, err := netip.ParsePrefix(m); err == nil && in.Bits() > 0 && in.Bits() < p.Bits() && in.Contains(p.Addr()) {
			return ""
		}
	}
	return "no network of the world has it"
}

// claimsOfRules are ports, rules, roles and what Kubernetes asks.
func claimsOfRules() []claim {
	return []claim{
		{form(`\b(?:tcp|udp|ports) (\d+(?:-\d+)?)(?: and (\d+-\d*…?))?`), ports},
		{form(`\b(?:denies|blocks outbound|blocks inbound|denies outbound|does not allow|Allow|allows) (\d+(?:-\d+)?)(?: |$)`), ports},
		{form(`\brule (\d+) (?:denies|allows)`), fields("RuleNumber")},
		{form(`\b(401) Unauthorized`), documented},
		// RFC 1123, kubernetes.io/docs/concepts/overview/working-with-objects/names.
		{form(`\bis (\S+): (\d+) characters, and a node's name has at most (63)\b`), func(s said) string {
			if len(s.m[1]) != amount(s.m[2]) {
				return fmt.Sprintf("it has %d", len(s.m[1]))
			}
			host, domain, _ := strings.Cut(s.m[1], ".")
			if !s.facts.contains(strings.ReplaceAll(strings.TrimPrefix(host, "ip-"), "-", ".")) || !s.facts.contains(domain) {
				return "no instance has that address and domain"
			}
			return ""
		}},
		{form(`\bhas (\d+) domain names at once`), is(func(s said) (int, bool) {
			m := regexp.MustCompile(`"Key":"domain-name","Values":\[\{[^}]*"Value":"([^"]*)"`).FindStringSubmatch(s.facts.text)
			if m == nil {
				return 0, false
			}
			return len(strings.Fields(m[1])), true
		})},
		{form(`\btheir hop limit is (\d+)\b`), func(s said) string {
			if !regexp.MustCompile(`(?i)HttpPutResponseHopLimit\W+` + s.m[1] + `\b`).MatchString(s.facts.raw) {
				return "no instance has that hop limit"
			}
			return ""
		}},
		// What pods need: one hop to the node's network, one to the metadata service
		// (EKS best practices, "Identity and access management").
		{form(`\ba hop limit of (\d+) where`), is(func(said) (int, bool) { return 2, true })},
		{form(`\bmapRoles, entry (\d+): (\S+):`), func(s said) string { return s.facts.entry(amount(s.m[1]), s.m[2]) }},
		{form(`\(entry (\d+) of mapRoles\)`), func(s said) string { return s.facts.entry(amount(s.m[1]), "{{SessionName}}") }},
		{form(`\bis mapped to (\d+) different users`), is(func(s said) (int, bool) {
			role := ""
			for _, l := range s.lines {
				if role = regexp.MustCompile(`arn:aws\S*:role/[\w/+=,.@-]+`).FindString(l.Text); role != "" {
					break
				}
			}
			users := map[string]bool{}
			for _, e := range s.facts.mapRoles() {
				if strings.Contains(e, role) {
					users[regexp.MustCompile(`username: *(\S+)`).FindString(e)] = true
				}
			}
			return len(users), role != ""
		})},
		// The library that reads YAML counts so; the line is one of the map's.
		{form(`\byaml: line (\d+): `), func(s said) string {
			if lines := strings.Count(s.facts.rolesText(), "\n"); amount(s.m[1]) > lines+1 {
				return fmt.Sprintf("mapRoles has %d lines", lines)
			}
			return ""
		}},
		{form(`\bis not node\.eks\.aws/(v1alpha1) \(line (\d+)\) in part (\d+)\b`), func(s said) string {
			return s.facts.part(amount(s.m[3]), amount(s.m[2]), "apiVersion:")
		}},
		{form(`\bthe header of part (\d+) is not ended`), func(s said) string { return s.facts.part(amount(s.m[1]), 0, "") }},
		{form(`\bSHA-(256) ([0-9a-f]{16})…`), func(s said) string {
			for _, m := range authority.FindAllStringSubmatch(s.facts.text, -1) {
				if block, _ := pem.Decode([]byte(unpacked(m[1]))); block != nil && strings.HasPrefix(fmt.Sprintf("%x", sha256.Sum256(block.Bytes)), s.m[2]) {
					return ""
				}
			}
			return "no certificate authority has that sum"
		}},
	}
}

// authority is a cluster's, or what user data gives for it.
var authority = regexp.MustCompile(`(?:certificateAuthority: *|--b64-cluster-ca +'?|"certificateAuthority":\{"data":"|"CertificateAuthority":\{"Data":")([A-Za-z0-9+/]+=*)`)

// ports are those that nodes need, those that a rule of the world has, and the borders of
// what the one leaves out of the other. Linux chooses 32768 to 60999
// (docs.kernel.org/networking/ip-sysctl, ip_local_port_range), a NAT gateway 1024 to 65535
// (docs.aws.amazon.com/vpc/latest/userguide/nacl-ephemeral-ports).
func ports(s said) string {
	for _, p := range s.m[1:] {
		// A headline is cut.
		cut := strings.HasSuffix(p, "…")
		from, to, ranged := strings.Cut(strings.TrimSuffix(p, "…"), "-")
		if !ranged {
			to = from
		}
		for n, border := range []string{from, to} {
			if border == "" || slices.Contains([]string{"443", "53", "10250", "32768", "60999", "1024", "65535"}, border) || n == 1 && cut {
				continue
			}
			// What a rule lets through ends where what is denied begins.
			if !ranged {
				return "nodes do not need it"
			}
			before, after := fmt.Sprint(amount(border)-1), fmt.Sprint(amount(border)+1)
			if before != "60999" && after != "32768" &&
				!regexp.MustCompile(`"(?:From|To)(?:Port)?":(?:`+border+`|`+before+`|`+after+`)\b`).MatchString(s.facts.text) {
				return "no rule ends at port " + border
			}
		}
	}
	return ""
}

func form(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// claims are in order: the first that knows a number holds it.
func claims() []claim {
	return slices.Concat(claimsOfCounts(), claimsOfAddresses(), claimsOfRules(), claimsOfNames())
}

// byAgainst: Against, counts or arithmetic hold it, of the whole message.
func byAgainst(said) string { return "" }

// documented: the form itself has what a document says.
func documented(said) string { return "" }

// fields are numbers that these fields of an answer have, one for each group.
func fields(names ...string) func(said) string {
	return func(s said) string {
		for n, name := range names {
			is := strings.ReplaceAll(s.m[n+1], ",", "")
			if is != "" && !regexp.MustCompile(`"`+name+`": ?"?`+regexp.QuoteMeta(is)+`(?:["}\]\s,.]|$)`).MatchString(s.facts.text) {
				return fmt.Sprintf("no %s is %s", name, is)
			}
		}
		return ""
	}
}

// is holds a count that the world, or the message itself, has.
func is(count func(said) (n int, known bool)) func(said) string {
	return func(s said) string {
		n, known := count(s)
		switch {
		case !known:
			return "what it counts is not found"
		case n != amount(s.m[1]):
			return fmt.Sprintf("it is %d", n)
		}
		return ""
	}
}
