// Package dns holds the checks of dns: whether names resolve.
package dns

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		check.New(checkid.DNSDHCPOptions, dhcpOptions, snapshot.Clusters, snapshot.Instances, snapshot.Subnets,
			snapshot.RouteTables, snapshot.Endpoints, snapshot.VPCs, snapshot.DHCP).Using(snapshot.UserDataOf,
			snapshot.LaunchTemplates).WithPathSources(),
		// Firewall is a rule of Route 53 Resolver DNS Firewall that blocks a name that nodes
		// need. Rule groups are evaluated by the priority of their association, their rules by
		// their own, and the first that matches decides (Route 53 developer guide, "How
		// Route 53 Resolver DNS Firewall works"). A rule group may come to the VPC by a Route 53
		// Profile.
		check.New(checkid.DNSFirewall, ofResolver(firewall), snapshot.Clusters, snapshot.Instances,
			snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.DNSProfilesOf,
			snapshot.DNSFirewall).Using(snapshot.AWSNode).WithPathSources(),
		check.New(checkid.DNSHostnamesOff, hostnamesOff, snapshot.Clusters, snapshot.Instances, snapshot.Subnets,
			snapshot.RouteTables, snapshot.Endpoints, snapshot.VPCDNS).WithPathSources(),
		// PrivateZone is a private hosted zone that covers a name that nodes need and has no record
		// for it: "Resolver doesn't forward the request to a public DNS resolver. Instead, it returns
		// NXDOMAIN". The most specific zone is searched; a resolver rule that forwards the same domain
		// or a more specific one takes precedence (Route 53 developer guide, "Considerations when
		// working with a private hosted zone"). The cluster's own name needs no zone: with a private
		// endpoint alone it "is resolved by public DNS servers to a private IP address" (EKS user
		// guide, "Cluster API server endpoint").
		check.New(checkid.DNSPrivateZone, ofResolver(hidden), snapshot.Clusters, snapshot.Instances,
			snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.DNSProfilesOf,
			snapshot.ResolverRulesOf, snapshot.PrivateZonesOf).Using(snapshot.AWSNode).WithPathSources(),
		// ResolverRule is a rule of Route 53 Resolver that forwards a name that nodes need. The
		// most specific rule wins; of a rule and a private hosted zone for the same domain the
		// rule does (Route 53 developer guide, "How Resolver uses rules and private hosted
		// zones"). A rule may come to the VPC by a Route 53 Profile: the most specific one wins,
		// and for the same domain the VPC's own ("How Route 53 Profile settings are prioritized").
		check.New(checkid.DNSResolverRule, ofResolver(forwarded), snapshot.Clusters, snapshot.Instances,
			snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.DNSProfilesOf,
			snapshot.ResolverRulesOf).Using(snapshot.AWSNode, snapshot.PrivateZonesOf).WithPathSources(),
		check.New(checkid.DNSSupportOff, judgeSupportOff, snapshot.Clusters, snapshot.Instances, snapshot.Subnets,
			snapshot.RouteTables, snapshot.Endpoints, snapshot.VPCDNS).WithPathSources(),
	}
}

// resolved is the posts of one VPC: DNS is set by VPC.
type resolved struct {
	vpc   string
	posts []*check.Placement
	// private are the services whose names must lead to private addresses.
	private []path.Service
}

// byVPC sorts the posts that can be judged by VPC. Those of Ready nodes pass;
// those whose subnet is not known are Unknown.
func byVPC(g *check.Placements, v *check.Verdicts) []*resolved {
	var list []*resolved
	for _, p := range g.Posts {
		switch {
		case len(p.Blocked) > 0 && p.Idle():
			v.Pass(g.S.Cluster.Name, p.Place())
			continue
		case len(p.Blocked) > 0:
			v.Unknown(g.S.Cluster.Name, p.Place(), p.Blocked...)
			continue
		case p.Idle():
			v.Pass(p.Subnet.VPC, p.Place())
			continue
		}
		i := slices.IndexFunc(list, func(r *resolved) bool { return r.vpc == p.Subnet.VPC })
		if i < 0 {
			i = len(list)
			list = append(list, &resolved{vpc: p.Subnet.VPC})
		}
		r := list[i]
		r.posts = append(r.posts, p)
		for _, w := range p.Paths {
			if w.Means == path.ByInterface || w.Means == path.ByPrivateAPI {
				r.private = check.Adding(r.private, w.Service)
			}
		}
	}
	return list
}

func (r *resolved) covers() []string {
	var list []string
	for _, p := range r.posts {
		list = check.Adding(list, p.Place()...)
	}
	return list
}

func (r *resolved) pendingInstances() []*snapshot.Instance {
	var list []*snapshot.Instance
	for _, p := range r.posts {
		list = append(list, p.Suspects...)
	}
	return list
}

// attributes are a VPC's DNS switches.
func attributes(g *check.Placements, vpc string) (snapshot.VPCAttributes, []snapshot.Failure) {
	for _, a := range g.S.VPCAttributes {
		if a.VPC == vpc {
			return a, nil
		}
	}
	if why, lacks := g.S.Lacks(snapshot.VPCDNS, vpc); lacks {
		return snapshot.VPCAttributes{}, []snapshot.Failure{why}
	}
	return snapshot.VPCAttributes{}, []snapshot.Failure{check.NotRead(snapshot.VPCDNS, "the DNS attributes of %s were not read", vpc)}
}

// attributeFault is the finding on a switch that is off.
func attributeFault(g *check.Placements, r *resolved, name, title, why string, a snapshot.VPCAttributes) check.Finding {
	f := check.Failed(r.vpc, r.covers()...).Affecting(check.IDs(r.pendingInstances())...).
		Involving(append([]string{r.vpc}, r.covers()...)...).
		Titled("%s", title).
		Because("%s", why).
		Notingf("DNS attributes of "+r.vpc, "enableDnsSupport %t, enableDnsHostnames %t", a.DNSSupport, a.DNSHostnames).
		ToFix("Turn %s on in %s.", name, r.vpc).
		Command(g.S.AWSCommand("ec2 modify-vpc-attribute", "--vpc-id", r.vpc, "--"+name, "Value=true")).
		Console(g.S.VPCLink("VpcDetails:VpcId=" + r.vpc))
	f = f.Showing(namesGiven(g, r.vpc)...)
	f = f.Showing(r.posts[0].Walks(r.private)...)
	return f
}

// namesGiven is what a VPC's DHCP options say, as evidence.
func namesGiven(g *check.Placements, vpc string) []check.Evidence {
	n := g.NameServers(vpc)
	if n.Blocked != nil {
		return nil
	}
	return []check.Evidence{{What: "DHCP options " + n.Options.ID, Value: fmt.Sprintf("domain-name-servers %s; domain-name %s", check.TenOf(n.Options.DomainNameServers), check.TenOf(n.Options.DomainNames))}}
}

// maxHostname is the longest name of a node: Kubernetes keeps it in the label
// kubernetes.io/hostname, whose values have at most 63 characters.
const maxHostname = 63

func dhcpOptions(s *check.View) []check.Finding {
	g := s.Placements()
	var v check.Verdicts
	for _, r := range byVPC(g, &v) {
		dhcp(g, r, &v)
	}
	return v.Findings()
}

// misnamed is one thing that DHCP options get wrong.
type misnamed struct {
	title, why string
	confidence check.Confidence
}

func dhcp(g *check.Placements, r *resolved, v *check.Verdicts) {
	n := g.NameServers(r.vpc)
	if n.Blocked != nil {
		v.Unknown(r.vpc, r.covers(), *n.Blocked)
		return
	}
	own := nodesOwn(g, r.pendingInstances())
	faults := append(faults(n, r.private, own), hostnames(r.pendingInstances(), n.Options)...)
	if len(faults) == 0 {
		v.Pass(n.Options.ID, r.covers(), namesGiven(g, r.vpc)...)
		return
	}
	if witness := joinedSince(g, r); witness != "" {
		evidence := check.Evidence{What: witness, Value: "is a Ready node that was launched later, with the same DHCP options"}
		v.Pass(n.Options.ID, r.covers(), append([]check.Evidence{evidence}, namesGiven(g, r.vpc)...)...)
		return
	}
	var why []string
	confidence := check.Confidence("")
	for _, f := range faults {
		why = append(why, f.why)
		confidence = check.Surer(confidence, f.confidence)
	}
	v.Fail(check.Failed(n.Options.ID, r.covers()...).Affecting(check.IDs(r.pendingInstances())...).
		Involving(append([]string{n.Options.ID, r.vpc}, r.covers()...)...).
		WithConfidence(check.Weaker(confidence, check.Likely)).
		Titled("%s %s", n.Options.ID, faults[0].title).
		Because("%s uses the DHCP options %s. %s", r.vpc, n.Options.ID, strings.Join(why, " ")).
		Showing(namesGiven(g, r.vpc)...).
		Showing(r.posts[0].Walks(r.private)...).
		FixedBy(fixDHCP(g, r, n)))
}

// faults are what is wrong with the options themselves. Where a name server
// is one's own, private names resolve only if it forwards them.
func faults(n check.NameServers, private []path.Service, nodes []string) []misnamed {
	var list []misnamed
	besides := ""
	if len(nodes) > 0 {
		besides = " User data adds " + check.Some(nodes, 4) + ", which may respond."
	}
	switch own := len(n.Own) + len(n.Odd); {
	case own == 0 && !n.Amazon && len(nodes) > 0:
		list = append(list, misnamed{"has no name servers", "They have no name servers." + besides, check.Possible})
	case own == 0 && !n.Amazon:
		list = append(list, misnamed{"has no name servers", "They have no name servers, so nodes have none to query.", check.Likely})
	case own > 0 && !n.First && len(private) > 0:
		confidence := check.Likely
		if n.Amazon || len(nodes) > 0 {
			confidence = check.Possible // it is asked when the first does not answer
		}
		list = append(list, misnamed{
			"has its own name servers",
			fmt.Sprintf("Nodes query %s, which must forward the private names of %s to Amazon's resolver.", check.Some(n.Options.DomainNameServers, 4), check.And(path.Names(check.Ordered(private)))) + besides,
			confidence,
		})
	}
	var names []string
	for _, value := range n.Options.DomainNames {
		names = append(names, strings.Fields(value)...)
	}
	switch {
	case len(names) == 0:
		list = append(list, misnamed{"has no domain name", "They have no domain-name, so a node's host name is not the private name from EC2.", check.Likely})
	case len(names) > 1:
		list = append(list, misnamed{
			fmt.Sprintf("has %d domain names at once", len(names)),
			fmt.Sprintf("Their domain-name is %q: most systems take it as one name, so a node's host name is not the private name from EC2, and the cluster rejects it.", check.Clip(strings.Join(n.Options.DomainNames, " "))),
			check.Likely,
		})
	}
	return list
}

// nodesOwn are the name servers that the user data of all of some instances adds to DHCP's:
// nodeadm writes them for systemd-resolved, which asks both (nodeadm/internal/system/resolve.go).
func nodesOwn(g *check.Placements, list []*snapshot.Instance) []string {
	var servers []string
	st := g.S.Boot()
	for _, i := range list {
		t, _ := st.Data(i)
		if t == nil || t.Err != nil || len(t.NameServers) == 0 {
			return nil
		}
		servers = t.NameServers
	}
	return servers
}

// hostnames are names of nodes that are too long.
func hostnames(list []*snapshot.Instance, o snapshot.DHCPOptions) []misnamed {
	for _, i := range list {
		name := i.PrivateDNS
		host, _, _ := strings.Cut(name, ".")
		if i.PrivateIP.Is4() {
			host = "ip-" + strings.ReplaceAll(i.PrivateIP.String(), ".", "-")
		}
		if len(o.DomainNames) == 1 && host != "" {
			made := host + "." + strings.TrimSpace(o.DomainNames[0])
			if len(made) > len(name) && !strings.Contains(made, " ") {
				name = made
			}
		}
		if len(name) > maxHostname {
			return []misnamed{{"makes host names too long", fmt.Sprintf("The host name of %s is %s: %d characters, and a node's name has at most %d.", i.ID, check.Clip(name), len(name), maxHostname), check.Likely}}
		}
	}
	return nil
}

// joinedSince is a Ready node of the VPC that was launched after one of those
// that did not join: what it resolved, they could have.
func joinedSince(g *check.Placements, r *resolved) string {
	since := check.Earliest(r.pendingInstances())
	joined := g.S.Ready()
	for _, i := range g.S.Instances {
		if i.VPC == r.vpc && joined[i.ID] && !since.IsZero() && i.Launched.After(since) {
			return i.ID
		}
	}
	return ""
}

func fixDHCP(g *check.Placements, r *resolved, n check.NameServers) check.Fix {
	domain := g.S.Region + ".compute.internal"
	if g.S.Region == "us-east-1" {
		domain = "ec2.internal" // EC2 user guide, "EC2 instance hostnames and domains"
	}
	servers := "AmazonProvidedDNS"
	text := fmt.Sprintf("Give %s options with AmazonProvidedDNS and the domain name %s, then replace the instances.", r.vpc, domain)
	if own := len(n.Own) + len(n.Odd); own > 0 {
		text += " Or have your name servers forward the private names to Amazon's resolver."
		if len(r.private) == 0 {
			servers = strings.Join(n.Options.DomainNameServers, ",")
			text = fmt.Sprintf("Give %s options with the domain name %s, then replace the instances.", r.vpc, domain)
		}
	}
	return check.Fix{
		Text: text,
		Command: g.S.AWSCommand("ec2 associate-dhcp-options", "--vpc-id", r.vpc, "--dhcp-options-id", shell.Output(
			g.S.AWSCommand("ec2 create-dhcp-options", "--dhcp-configurations", "Key=domain-name-servers,Values="+servers, "Key=domain-name,Values="+domain,
				"--query", "DhcpOptions.DhcpOptionsId", "--output", "text"))),
		Console: g.S.VPCLink("DhcpOptionsDetails:DhcpOptionsId=" + n.Options.ID),
	}
}

func firewall(g *check.Placements, r *resolved, v *check.Verdicts) {
	rules := inVPC(g.S.FirewallRules, r.vpc, func(x snapshot.FirewallRule) string { return x.VPC })
	blocked := map[string][]needed{}
	by := map[string]snapshot.FirewallRule{}
	var order []string
	var unread []snapshot.Failure
	for _, n := range neededNames(g, r) {
		rule, hit, doubt := firewallRule(rules, n.name, g.S.Cluster.IPv6)
		switch {
		case hit && rule.Action == "BLOCK" && doubt != nil:
			unread = check.Adding(unread, *doubt)
		case hit && rule.Action == "BLOCK":
			key := rule.Group + " " + rule.Name
			if blocked[key] == nil {
				order = append(order, key)
			}
			blocked[key], by[key] = append(blocked[key], n), rule
		}
	}
	for _, key := range order {
		v.Fail(blockedNames(g, r, by[key], blocked[key]))
	}
	switch {
	case len(order) > 0:
	case len(unread) > 0:
		v.Unknown(r.vpc, r.covers(), unread...)
	default:
		v.Pass(r.vpc, r.covers(), check.Evidence{What: "DNS Firewall of " + r.vpc, Value: fmt.Sprintf("%d rules, none of which blocks a name that nodes need", len(rules))})
	}
}

// firewallRule is the first rule that is about a name. Doubt is a rule before it that may
// allow the name: its domains could not be read.
func firewallRule(rules []snapshot.FirewallRule, name string, six bool) (rule snapshot.FirewallRule, hit bool, doubt *snapshot.Failure) {
	for _, r := range rules {
		if r.Type != "" && r.Type != "A" && !(six && r.Type == "AAAA") {
			continue
		}
		if r.Unread != nil && r.Action != "BLOCK" {
			doubt = r.Unread
		}
		for _, d := range r.Domains {
			// "*" stands at the beginning, for anything (Route 53 developer guide,
			// "Route 53 Resolver DNS Firewall domain lists").
			if tail, wild := strings.CutPrefix(d, "*"); d == name || wild && strings.HasSuffix(name, tail) {
				return r, true, doubt
			}
		}
	}
	return rule, false, doubt
}

func blockedNames(g *check.Placements, r *resolved, rule snapshot.FirewallRule, names []needed) check.Finding {
	group := rule.Group
	if rule.GroupName != "" {
		group += " (" + check.Clip(rule.GroupName) + ")"
	}
	services := check.And(path.Names(servicesOf(names)))
	answer := cmp.Or(rule.Response, "nothing")
	association, where := r.vpc, "there"
	if rule.Profile != "" {
		association, where = fmt.Sprintf("the Route 53 Profile %s of %s", rule.Profile, r.vpc), "in "+r.vpc
	}
	return check.Failed(rule.Group, r.covers()...).Affecting(check.IDs(r.pendingInstances())...).
		Involving(append(inForceIn(rule.Group, rule.Profile, r.vpc), r.covers()...)...).
		Titled("DNS Firewall blocks the names of %s", few(names)).
		Because("Rule %q of %s, which is associated with %s, answers %s for the name of %s. Nodes %s cannot resolve it.",
			check.Clip(rule.Name), group, association, answer, services, where).
		Showing(nameEvidence(names, func(needed) string {
			return fmt.Sprintf("%s by rule %q (%s)", rule.Action, check.Clip(rule.Name), rule.List)
		})...).
		Showing(namesGiven(g, r.vpc)...).
		ToFix("Put %s into a domain list of an allow rule of %s, with a lower priority number than rule %q.", check.Some(namesOf(names), 6), rule.Group, check.Clip(rule.Name)).
		Console(g.S.VPCLink("VpcDetails:VpcId=" + r.vpc))
}

func namesOf(list []needed) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = n.name
	}
	return out
}

func hostnamesOff(s *check.View) []check.Finding {
	g := s.Placements()
	var v check.Verdicts
	for _, r := range byVPC(g, &v) {
		a, blocked := attributes(g, r.vpc)
		switch {
		case len(blocked) > 0:
			v.Unknown(r.vpc, r.covers(), blocked...)
		case a.DNSHostnames || len(r.private) == 0:
			v.Pass(r.vpc, r.covers(), check.Evidence{What: r.vpc, Value: fmt.Sprintf("enableDnsHostnames %t", a.DNSHostnames)})
		default:
			v.Fail(attributeFault(g, r, "enable-dns-hostnames", check.Title("DNS hostnames of %s are off", r.vpc),
				fmt.Sprintf("enableDnsHostnames of %s is off. The private names of %s, which nodes in %s use, need it.", r.vpc, check.And(path.Names(check.Ordered(r.private))), check.Some(r.covers(), 3)), a))
		}
	}
	return v.Findings()
}

// needed is a name that nodes resolve before they join.
type needed struct {
	name    string
	service path.Service
	// private reports whether a zone of its own answers for it in the VPC: the cluster's
	// private endpoint, or an interface endpoint with private DNS.
	private bool
}

// neededNames are the names that nodes of a VPC must resolve.
func neededNames(g *check.Placements, r *resolved) []needed {
	var list []needed
	for _, p := range r.posts[0].Paths {
		if name := g.Net.Name(p.Service); name != "" {
			list = append(list, needed{name, p.Service, slices.Contains(r.private, p.Service)})
		}
	}
	return list
}

// byResolver reports whether nodes of a VPC ask the VPC's resolver at all. Name servers of
// one's own are asked in its place.
func byResolver(g *check.Placements, vpc string) bool {
	n := g.NameServers(vpc)
	return n.Blocked != nil || n.Amazon
}

// ofResolver runs a check of what the resolver of each VPC does with the names.
func ofResolver(judge func(*check.Placements, *resolved, *check.Verdicts)) func(*check.View) []check.Finding {
	return func(s *check.View) []check.Finding {
		g := s.Placements()
		var v check.Verdicts
		for _, r := range byVPC(g, &v) {
			if !settled(g, r, &v) {
				judge(g, r, &v)
			}
		}
		return v.Findings()
	}
}

// settled passes what the resolver of a VPC does, where it is not asked, or where a node
// that was launched later has joined.
func settled(g *check.Placements, r *resolved, v *check.Verdicts) bool {
	if !byResolver(g, r.vpc) {
		v.Pass(r.vpc, r.covers(), namesGiven(g, r.vpc)...)
		return true
	}
	if witness := joinedSince(g, r); witness != "" {
		v.Pass(r.vpc, r.covers(), check.Evidence{What: witness, Value: "is a Ready node that was launched later in the same VPC"})
		return true
	}
	return false
}

// readyBeside is a Ready node of the VPC, which resolves the same names; empty for none.
func readyBeside(g *check.Placements, vpc string) string {
	joined := g.S.Ready()
	for _, i := range g.S.Instances {
		if i.VPC == vpc && joined[i.ID] {
			return i.ID
		}
	}
	return ""
}

// inVPC are the rules of one VPC.
func inVPC[T any](list []T, vpc string, of func(T) string) []T {
	var out []T
	for _, x := range list {
		if of(x) == vpc {
			out = append(out, x)
		}
	}
	return out
}

// inForceIn returns the resources of what is in force in a VPC: by itself, or by a Route 53
// Profile.
func inForceIn(id, profile, vpc string) []string {
	if profile == "" {
		return []string{id, vpc}
	}
	return []string{id, profile, vpc}
}

// servicesOf are the services of names.
func servicesOf(list []needed) []path.Service {
	var services []path.Service
	for _, n := range list {
		services = check.Adding(services, n.service)
	}
	return check.Ordered(services)
}

// few names one or two services, and counts more.
func few(list []needed) string {
	names := path.Names(servicesOf(list))
	if len(names) > 2 {
		return fmt.Sprintf("%d services", len(names))
	}
	return check.And(names)
}

// nameEvidence is what each name meets.
func nameEvidence(list []needed, what func(needed) string) []check.Evidence {
	var out []check.Evidence
	for _, n := range list {
		out = append(out, check.Evidence{What: n.name, Value: what(n)})
	}
	return out
}

func hidden(g *check.Placements, r *resolved, v *check.Verdicts) {
	zones := inVPC(g.S.PrivateZones, r.vpc, func(z snapshot.PrivateZone) string { return z.VPC })
	rules := inVPC(g.S.ResolverRules, r.vpc, func(x snapshot.ResolverRule) string { return x.VPC })
	missing := make([][]needed, len(zones))
	var unread []snapshot.Failure
	for _, z := range zones {
		if z.Unread != nil && z.Domain == "" {
			unread = check.Adding(unread, *z.Unread)
		}
	}
	for _, n := range neededNames(g, r) {
		i := path.ZoneOf(zones, n.name)
		if i < 0 || n.private {
			continue
		}
		switch z := zones[i]; {
		case forwardsBefore(rules, n.name, z.Domain), z.Service != "":
		case z.Unread != nil:
			unread = check.Adding(unread, *z.Unread)
		case !path.HasRecord(z, n.name, g.S.Cluster.IPv6):
			missing[i] = append(missing[i], n)
		}
	}
	found := false
	for i, names := range missing {
		if len(names) > 0 {
			found = true
			v.Fail(hiddenNames(g, r, zones[i], names))
		}
	}
	switch {
	case found:
	case len(unread) > 0:
		v.Unknown(r.vpc, r.covers(), unread...)
	default:
		v.Pass(r.vpc, r.covers(), check.Evidence{What: "Private hosted zones of " + r.vpc, Value: fmt.Sprintf("%d that cover names of AWS, none of which hides a name that nodes need", len(zones))})
	}
}

// forwardsBefore reports whether a rule forwards a name before a zone is searched for it.
func forwardsBefore(rules []snapshot.ResolverRule, name, domain string) bool {
	rule, ok := forwards(rules, needed{name: name})
	return ok && len(rule.Domain) >= len(domain)
}

func hiddenNames(g *check.Placements, r *resolved, z snapshot.PrivateZone, names []needed) check.Finding {
	services := check.And(path.Names(servicesOf(names)))
	association := r.vpc
	if z.Profile != "" {
		association = fmt.Sprintf("the Route 53 Profile %s of %s", z.Profile, r.vpc)
	}
	return check.Failed(z.ID, r.covers()...).Affecting(check.IDs(r.pendingInstances())...).
		Involving(append(inForceIn(z.ID, z.Profile, r.vpc), r.covers()...)...).
		Titled("Private zone %s hides the names of %s", z.ID, few(names)).
		Because("The private hosted zone %s (%s) is associated with %s and has no record for the name of %s. Amazon's resolver answers NXDOMAIN in %s and does not query public DNS.",
			z.ID, z.Domain, association, services, r.vpc).
		Showing(nameEvidence(names, func(needed) string { return "no record in " + z.ID })...).
		Showing(namesGiven(g, r.vpc)...).
		ToFix("Add records for %s to %s, or disassociate it from %s.", check.Some(namesOf(names), 6), z.ID, association).
		Console(g.S.VPCLink("VpcDetails:VpcId=" + r.vpc))
}

func forwarded(g *check.Placements, r *resolved, v *check.Verdicts) {
	rules := inVPC(g.S.ResolverRules, r.vpc, func(x snapshot.ResolverRule) string { return x.VPC })
	zones := inVPC(g.S.PrivateZones, r.vpc, func(z snapshot.PrivateZone) string { return z.VPC })
	names := map[string][]needed{}
	for _, n := range neededNames(g, r) {
		if rule, ok := forwards(rules, n); ok && !zoneBefore(zones, n.name, rule.Domain) {
			names[rule.ID] = append(names[rule.ID], n)
		}
	}
	found := false
	var unread []snapshot.Failure
	for _, rule := range rules {
		if rule.Unread != nil {
			unread = check.Adding(unread, *rule.Unread)
		}
		if list := names[rule.ID]; len(list) > 0 {
			found = true
			v.Fail(forwardedNames(g, r, rule, list))
			delete(names, rule.ID) // a Profile may bring a rule that the VPC has
		}
	}
	switch {
	case found:
	case len(unread) > 0:
		v.Unknown(r.vpc, r.covers(), unread...)
	default:
		v.Pass(r.vpc, r.covers(), check.Evidence{What: "Resolver rules of " + r.vpc, Value: fmt.Sprintf("%d rules, none of which forwards a name that nodes need", len(rules))})
	}
}

// zoneBefore reports whether a private hosted zone is searched for a name before a rule for a
// domain counts: one that is more specific.
func zoneBefore(zones []snapshot.PrivateZone, name, domain string) bool {
	i := path.ZoneOf(zones, name)
	return i >= 0 && len(zones[i].Domain) > len(domain)
}

// forwards returns the rule that wins for a name, and whether it forwards the name. Of several
// rules for one domain the first wins.
func forwards(rules []snapshot.ResolverRule, n needed) (snapshot.ResolverRule, bool) {
	best := path.RuleOf(rules, n.name)
	if best < 0 || !rules[best].Forward {
		return snapshot.ResolverRule{}, false
	}
	// A zone for the name itself is more specific than a rule for what it is under.
	return rules[best], !n.private || rules[best].Domain == n.name
}

func forwardedNames(g *check.Placements, r *resolved, rule snapshot.ResolverRule, names []needed) check.Finding {
	services := check.And(path.Names(servicesOf(names)))
	domain := rule.Domain
	if domain == "" {
		domain = "."
	}
	to := "its targets"
	if len(rule.Targets) > 0 {
		to = check.Some(rule.Targets, 4)
	}
	name, owner := check.Clip(rule.Name), r.vpc
	if rule.Profile != "" {
		name += fmt.Sprintf(", of the Route 53 Profile %s", rule.Profile)
		owner = rule.Profile
	}
	f := check.Failed(rule.ID, r.covers()...).Affecting(check.IDs(r.pendingInstances())...).
		Involving(append(inForceIn(rule.ID, rule.Profile, r.vpc), r.covers()...)...).
		Titled("%s forwards the names of %s", rule.ID, few(names)).
		Because("%s (%s) forwards %s to %s, and with it the name of %s. Nodes in %s resolve it only if these respond.",
			rule.ID, name, domain, to, services, r.vpc).
		Showing(nameEvidence(names, func(needed) string { return fmt.Sprintf("forwarded to %s by %s", to, rule.ID) })...).
		Showing(namesGiven(g, r.vpc)...).
		ToFix("Query %s for %s. If they do not respond, create a SYSTEM rule for the domain and associate it with %s, or remove %s from %s.", to, names[0].name, r.vpc, rule.ID, owner).
		Console(g.S.VPCLink("VpcDetails:VpcId=" + r.vpc))
	if id := readyBeside(g, r.vpc); id != "" {
		f.Confidence = check.Possible
		f.Evidence = slices.Insert(f.Evidence, 0, check.Evidence{What: id, Value: "is a Ready node of the same VPC, to which the rule applies too"})
	}
	return f
}

func judgeSupportOff(s *check.View) []check.Finding {
	g := s.Placements()
	var v check.Verdicts
	for _, r := range byVPC(g, &v) {
		supportOff(g, r, &v)
	}
	return v.Findings()
}

func supportOff(g *check.Placements, r *resolved, v *check.Verdicts) {
	a, blocked := attributes(g, r.vpc)
	if len(blocked) > 0 {
		v.Unknown(r.vpc, r.covers(), blocked...)
		return
	}
	seen := check.Evidence{What: r.vpc, Value: fmt.Sprintf("enableDnsSupport %t", a.DNSSupport)}
	if a.DNSSupport {
		v.Pass(r.vpc, r.covers(), seen)
		return
	}
	n := g.NameServers(r.vpc)
	own := n.Blocked == nil && len(n.Own)+len(n.Odd) > 0
	switch {
	case own && len(r.private) == 0:
		v.Pass(r.vpc, r.covers(), seen, namesGiven(g, r.vpc)[0])
		return
	case n.Blocked != nil && len(r.private) == 0:
		// Whether anything resolves depends on the name servers.
		v.Unknown(r.vpc, r.covers(), *n.Blocked)
		return
	}
	why := fmt.Sprintf("enableDnsSupport of %s is off, so Amazon's resolver does not respond there. Nodes in %s resolve no name.", r.vpc, check.Some(r.covers(), 3))
	if own || n.Blocked != nil {
		why = fmt.Sprintf("enableDnsSupport of %s is off, so Amazon's resolver does not respond there. Nodes in %s cannot get the private addresses of %s from it.",
			r.vpc, check.Some(r.covers(), 3), check.And(path.Names(check.Ordered(r.private))))
	}
	f := attributeFault(g, r, "enable-dns-support", check.Title("DNS support of %s is off", r.vpc), why, a)
	if own || n.Blocked != nil {
		f.Confidence = check.Likely
	}
	v.Fail(f)
}
