// Package sg holds the checks of sg: what security groups let through.
package sg

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/network/filter"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		check.New(checkid.SGClusterIngress, RunClusterIngress, Needs()...).WithPathSources(),
		// EFASelfRule: an Elastic Fabric Adapter "must be a member of a security group that
		// allows all inbound and outbound traffic to and from the security group itself"
		// (EC2 User Guide, "Create and attach an Elastic Fabric Adapter"). What it sends has
		// no IP address: a rule for a range, 0.0.0.0/0 too, does not let it through
		// (awslabs/awsome-distributed-ai#546, gardener/gardener-extension-provider-aws#1832).
		// EKS gives the cluster's own group that rule from Kubernetes 1.33 on (eksctl#8509).
		// What an instance that has ended asked for, its launch template says.
		check.New(checkid.SGEFASelfRule, efaSelfRule, snapshot.Clusters, snapshot.Instances,
			snapshot.SecurityGroups).Using(snapshot.LaunchTemplates),
		check.New(checkid.SGKubeletIngress, RunKubeletIngress, snapshot.Clusters, snapshot.Instances,
			snapshot.Subnets, snapshot.SecurityGroups).WithPathSources(),
		// A proxy makes it less than certain; more than that neither decides.
		check.New(checkid.SGNodeEgress, RunNodeEgress, Needs()...).Using(snapshot.UserDataOf, snapshot.LaunchTemplates).
			WithPathSources(),
	}
}

// Needs are the sources of what security groups let through between a node and what it calls.
func Needs() []snapshot.Source {
	return []snapshot.Source{
		snapshot.Clusters, snapshot.Instances, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.SecurityGroups,
	}
}

func RunClusterIngress(s *check.View) []check.Finding {
	g := s.Placements()
	var v check.Verdicts
	var found []*check.SgBlock
	name := s.Cluster.Name
	for _, p := range g.Open(&v, name) {
		i := slices.IndexFunc(p.Paths, func(w path.Path) bool { return w.Service == path.API })
		if i < 0 || p.Paths[i].Means != path.ByPrivateAPI {
			v.Pass(name, check.IDs(p.Suspects), check.Evidence{What: "Path to the cluster API", Value: "not through the private endpoint"})
			continue
		}
		w := p.Paths[i]
		stop, known := g.End(w)
		if !known || len(stop.Groups) == 0 {
			v.Unknown(name, check.IDs(p.Suspects), check.NotRead(snapshot.Clusters, "EKS names no security group of %s", name))
			continue
		}
		shut, blind, why, by := g.Admitted(p, stop.Groups, check.HTTPSPort)
		if w.Verdict == path.LeavesView {
			// Another address may arrive than the one that left.
			blind = append(blind, shut...)
			if len(shut) > 0 {
				why = check.Adding(why, check.NotRead(snapshot.RouteTables, "%s: %s", w.At, w.Reason))
			}
			shut = nil
		}
		v.Unknown(name, check.IDs(blind), why...)
		v.Pass(name, check.IDs(check.Except(p.Suspects, shut, blind)), check.Evidence{What: "Allowed by", Value: check.TenOf(by)})
		if len(shut) > 0 {
			b, list := check.Bar(found, stop.Groups[0])
			b.Add(p, shut, path.API)
			b.Resources = check.Adding(b.Resources, stop.Groups...)
			found = list
		}
	}
	for _, b := range found {
		v.Fail(clusterIngressFinding(g, b))
	}
	return v.Findings()
}

func clusterIngressFinding(g *check.Placements, b *check.SgBlock) check.Finding {
	groups := b.Groups()
	return check.Failed(b.Group, check.IDs(b.Instances)...).Affecting(check.IDs(b.Instances)...).
		Involving(append(slices.Clone(b.Resources), groups...)...).
		WithConfidence(check.Weaker(b.Confidence(check.Certain), check.Certain)).
		Titled("%s does not allow 443 from %s", b.Group, check.Some(groups, 2)).
		Because("Nodes in %s reach the cluster API through its private endpoint, and come from %s. No inbound rule of %s allows tcp 443 from them.%s",
			check.Some(b.Subnets(), 3), check.And(groups), check.And(b.Resources), g.Foreign(b)).
		Showing(g.GroupRules(b.Resources, false)...).
		Showing(b.Posts[0].Walks(b.Services)...).
		ToFix("Allow 443 from %s in %s.", groups[0], b.Group).
		Command(g.S.AllowIngress(b.Group, check.HTTPSPort, groups[0])).Console(g.S.SecurityGroupLink(b.Group))
}

// efaGroups is a set of security groups of adapters, and whose they are.
type efaGroups struct {
	groups    []string
	instances []*snapshot.Instance
	// late reports whether one of the instances has not joined. That is not for this.
	late bool
}

func efaSelfRule(s *check.View) []check.Finding {
	var v check.Verdicts
	var order []string
	sets := map[string]*efaGroups{}
	suspects, well := s.Pending()
	for n, i := range slices.Concat(suspects, well) {
		list, blocked := efasOf(s, i)
		switch {
		case blocked != nil:
			v.Unknown(s.Cluster.Name, []string{i.ID}, *blocked)
		case len(list) == 0:
			v.Pass(s.Cluster.Name, []string{i.ID})
		}
		for _, efa := range list {
			key := strings.Join(efa.Groups, " ")
			if sets[key] == nil {
				order = append(order, key)
				sets[key] = &efaGroups{groups: efa.Groups}
			}
			set := sets[key]
			set.instances = check.Adding(set.instances, i)
			set.late = set.late || n < len(suspects)
		}
	}
	slices.Sort(order)
	for _, key := range order {
		set := sets[key]
		in, missing := selfRule(s, set.groups, false)
		out, more := selfRule(s, set.groups, true)
		resource := check.FirstOf(set.groups, s.Cluster.Name)
		switch blocked := check.Adding(missing, more...); {
		case in != "" && out != "":
			v.Pass(resource, check.IDs(set.instances), check.Evidence{What: "Allows EFA traffic", Value: strings.Join(check.Adding([]string{in}, out), ", ")})
		case len(set.groups) == 0:
			v.Unknown(s.Cluster.Name, check.IDs(set.instances), check.NotRead(snapshot.Instances, "the adapters' security groups are unknown"))
		case len(blocked) > 0:
			v.Unknown(resource, check.IDs(set.instances), blocked...)
		default:
			v.Fail(efaFinding(s, set, in, out))
		}
	}
	return v.Findings()
}

// efasOf are an instance's adapters; of one that has ended, which EC2 describes
// without interfaces, those that its launch template asks for.
func efasOf(s *check.View, i *snapshot.Instance) ([]snapshot.EFA, *snapshot.Failure) {
	ref := check.TemplateOf(i)
	if len(i.EFAs) > 0 || !i.Ended() || ref.ID == "" && ref.Name == "" {
		return i.EFAs, nil
	}
	if t := s.Boot().Template(ref); t != nil {
		return t.EFAs, nil
	}
	f := check.NotRead(snapshot.LaunchTemplates, "%s has ended, and its launch template is not among those that were read", i.ID)
	if !s.Has(snapshot.LaunchTemplates) {
		f = s.Why(snapshot.LaunchTemplates)
	}
	return nil, &f
}

// selfRule is the group that allows all traffic between those that have the
// groups, in one direction; empty if none does. Unknown groups may.
func selfRule(s *check.View, groups []string, egress bool) (by string, unknown []snapshot.Failure) {
	for _, id := range groups {
		g, known := s.Filters().Group(id)
		if !known {
			unknown = append(unknown, check.NotRead(snapshot.SecurityGroups, "%s is not among the security groups that EC2 lists", id))
			continue
		}
		rules := g.Ingress
		if egress {
			rules = g.Egress
		}
		for _, r := range rules {
			if r.Protocol == "-1" && slices.ContainsFunc(r.Groups, func(peer string) bool { return slices.Contains(groups, peer) }) {
				return id, nil
			}
		}
	}
	return "", unknown
}

func efaFinding(s *check.View, set *efaGroups, in, out string) check.Finding {
	// Where one direction is there, the other belongs in the same group.
	group := set.groups[0]
	if in+out != "" {
		group = in + out
	}
	var lacks, commands []string
	add := func(direction, operation string) {
		lacks = append(lacks, direction)
		commands = append(commands, s.AWSCommand(operation, "--group-id", group, "--ip-permissions", "IpProtocol=-1,UserIdGroupPairs=[{GroupId="+group+"}]"))
	}
	if in == "" {
		add("inbound", "ec2 authorize-security-group-ingress")
	}
	if out == "" {
		add("outbound", "ec2 authorize-security-group-egress")
	}
	f := check.Failed(group, check.IDs(set.instances)...).Affecting(check.IDs(set.instances)...).
		Involving(set.groups...).
		Titled("%s blocks EFA traffic", group).
		Because("The Elastic Fabric Adapters of %s have %s, and no %s rule allows all traffic between those that have it. A rule for addresses does not count for EFA. Nodes still join; MPI and NCCL between them fail.",
			check.Some(check.IDs(set.instances), 3), check.And(set.groups), strings.Join(lacks, " and no ")).
		Showing(slices.Concat(s.Placements().GroupRules(set.groups, false), s.Placements().GroupRules(set.groups, true))...).
		ToFix("Allow all %s traffic between %s and itself.", strings.Join(lacks, " and "), group).
		Command(check.JoinCommands(commands)).Console(s.SecurityGroupLink(group))
	if set.late {
		// It is not why they did not join.
		f.Confidence = check.Possible
	}
	return f
}

func RunKubeletIngress(s *check.View) []check.Finding {
	g := s.Placements()
	var v check.Verdicts
	var found []*check.SgBlock
	name := s.Cluster.Name
	from := controlPlane(g)
	for _, p := range g.Posts {
		v.Pass(name, check.IDs(p.Well))
		switch {
		case len(p.Suspects) == 0:
			continue
		case p.Subnet.ID == "" || p.Subnet.VPC == "":
			v.Unknown(name, check.IDs(p.Suspects), p.Blocked...)
			continue
		}
		o, why, by := check.OutcomeOf(g.Fw.Inbound(p.Groups, from, check.TCP, check.KubeletPort))
		switch {
		case o == check.Pass:
			v.Pass(name, check.IDs(p.Suspects), check.Evidence{What: "Allowed by", Value: check.TenOf(by)})
		case p.Subnet.VPC != s.Cluster.VPC:
			// What arrives may have been translated on the way.
			v.Unknown(name, check.IDs(p.Suspects), check.NotRead(snapshot.SecurityGroups, "the control plane is in %s, the nodes in %s", s.Cluster.VPC, p.Subnet.VPC))
		case o == check.Fail:
			b, list := check.Bar(found, p.Groups[0])
			b.Add(p, p.Suspects, path.API)
			found = list
		default:
			v.Unknown(name, check.IDs(p.Suspects), why...)
		}
	}
	for _, b := range found {
		v.Fail(kubeletIngressFinding(g, b))
	}
	return v.Findings()
}

// controlPlane is the control plane as a peer: its interfaces where they were
// read, else the subnets in which they may stand.
func controlPlane(g *check.Placements) (p filter.Peer) {
	c := g.S.Cluster
	if c.SecurityGroup != "" {
		p.Groups = append(p.Groups, c.SecurityGroup)
	}
	p.Groups = append(p.Groups, c.SecurityGroups...)
	for _, e := range g.S.Interfaces {
		if path.ControlPlane(e, c.Name) {
			for _, a := range e.PrivateIPs {
				p.Ranges = append(p.Ranges, netip.PrefixFrom(a, a.BitLen()))
			}
		}
	}
	if len(p.Ranges) > 0 {
		return p
	}
	for _, id := range c.Subnets {
		if s, known := g.Net.Subnet(id); known && s.CIDR.IsValid() {
			p.Ranges = append(p.Ranges, s.CIDR)
		}
	}
	return p
}

func kubeletIngressFinding(g *check.Placements, b *check.SgBlock) check.Finding {
	groups := b.Groups()
	from := controlPlane(g).Groups
	f := check.Failed(b.Group, check.IDs(b.Instances)...).Affecting(check.IDs(b.Instances)...).
		Involving(append(slices.Clone(groups), from...)...).
		Titled("%s does not allow 10250 from the control plane", b.Group).
		Because("Nodes in %s have %s. No inbound rule allows tcp 10250 from the control plane (%s). They can join; logs and exec will not work.",
			check.Some(b.Subnets(), 3), check.And(groups), check.Some(from, 3)).
		Showing(g.GroupRules(groups, false)...).
		ToFix("Allow 10250 from the cluster's security group in %s.", b.Group).
		Console(g.S.SecurityGroupLink(b.Group))
	if len(from) > 0 {
		f.Fix.Command = g.S.AllowIngress(b.Group, check.KubeletPort, from[0])
	}
	return f
}

// shutOut is what the security groups of a post do not let out.
type shutOut struct {
	confidence check.Confidence
	services   []path.Service // on 443
	servers    []string       // on 53
	protocol   string         // of 53
	far        []netip.Prefix // where it is, when it is in private networks
	anywhere   bool           // some of it is at public addresses
	blocked    []snapshot.Failure
	by         []string
}

func RunNodeEgress(s *check.View) []check.Finding {
	g := s.Placements()
	var v check.Verdicts
	type bad struct {
		*check.SgBlock
		shutOut
	}
	var found []*bad
	for _, p := range g.Posts {
		switch {
		case p.Empty():
			continue
		case p.Idle():
			v.Pass(check.FirstOf(p.Groups, s.Cluster.Name), check.IDs(p.Well))
			continue
		case len(p.Blocked) > 0:
			v.Unknown(s.Cluster.Name, check.IDs(p.Suspects), p.Blocked...)
			continue
		}
		out := shutOutOf(g, p)
		switch {
		case len(out.services)+len(out.servers) > 0:
			i := slices.IndexFunc(found, func(b *bad) bool { return b.Group == p.Groups[0] })
			if i < 0 {
				i = len(found)
				found = append(found, &bad{SgBlock: &check.SgBlock{Group: p.Groups[0]}})
			}
			b := found[i]
			b.Add(p, p.Suspects, out.services...)
			b.shutOut.confidence = check.Surer(b.shutOut.confidence, out.confidence)
			b.servers, b.far = check.Adding(b.servers, out.servers...), check.Adding(b.far, out.far...)
			b.protocol, b.anywhere = out.protocol, b.anywhere || out.anywhere
		case len(out.blocked) > 0:
			v.Unknown(check.FirstOf(p.Groups, s.Cluster.Name), check.IDs(p.Suspects), out.blocked...)
		default:
			v.Pass(check.FirstOf(p.Groups, s.Cluster.Name), check.IDs(p.Suspects), check.Evidence{What: "Allows outbound 443", Value: check.TenOf(out.by)})
		}
		v.Pass(check.FirstOf(p.Groups, s.Cluster.Name), check.IDs(p.Well))
	}
	for _, b := range found {
		v.Fail(nodeEgress(g, b.SgBlock, b.shutOut))
	}
	return v.Findings()
}

// shutOutOf judges a post. A path is shut when all of its doors are; when only
// some are, it depends on which one answers.
func shutOutOf(g *check.Placements, p *check.Placement) shutOut {
	var out shutOut
	for _, w := range p.Usable() {
		stop, known := g.End(w)
		if !known {
			out.blocked = check.Adding(out.blocked, check.NotRead(snapshot.RouteTables, "%s: %s", w.At, w.Reason))
			continue
		}
		open, shut := 0, 0
		var far []netip.Prefix
		var blocked []snapshot.Failure
		for _, d := range g.EndpointAddresses(w, stop) {
			switch o, why, by := g.LetsOut(p.Groups, d, stop.Groups, check.HTTPSPort); o {
			case check.Pass:
				open++
				out.by = check.Adding(out.by, by...)
			case check.Fail:
				shut++
				far = append(far, d.Ranges...)
			default:
				blocked = append(blocked, why...)
			}
		}
		switch {
		case shut == 0:
			out.blocked = check.Adding(out.blocked, blocked...)
			continue
		case open > 0 || len(blocked) > 0:
			out.confidence = check.Surer(out.confidence, check.Likely)
		case w.NamesUnread != "", check.EndsPublic(w) && g.Starts.Proxied(p.Suspects) != "":
			out.confidence = check.Surer(out.confidence, check.Likely)
		default:
			out.confidence = check.Certain
		}
		out.services = append(out.services, w.Service)
		if check.EndsPublic(w) {
			out.anywhere = true
		} else {
			out.far = check.Adding(out.far, far...)
		}
	}
	shutNames(g, p, &out)
	return out
}

func nodeEgress(g *check.Placements, b *check.SgBlock, out shutOut) check.Finding {
	var lost []string
	var commands []string
	if services := check.Ordered(b.Services); len(services) > 0 {
		lost = append(lost, "tcp 443 to "+check.And(path.Names(services)))
		to := out.far
		for _, p := range b.Posts {
			if ranges := g.VPCRanges(p.Subnet.VPC); len(ranges) > 0 {
				to = ranges
			}
		}
		if out.anywhere || len(to) == 0 {
			to = []netip.Prefix{check.Anywhere()}
		}
		for _, r := range to {
			commands = append(commands, g.S.AllowEgress(b.Group, "tcp", check.HTTPSPort, r))
		}
	}
	if len(out.servers) > 0 {
		lost = append(lost, fmt.Sprintf("%s 53 to the name servers %s", out.protocol, check.Some(out.servers, 3)))
		for _, a := range out.servers {
			addr := netip.MustParseAddr(a)
			commands = append(commands, g.S.AllowEgress(b.Group, out.protocol, check.DNSPort, netip.PrefixFrom(addr, addr.BitLen())))
		}
	}
	what := "443 to " + check.And(path.Names(check.Ordered(b.Services)))
	if len(b.Services) == 0 {
		what = "53 to the name servers"
	}
	groups := b.Groups()
	f := check.Failed(b.Group, check.IDs(b.Instances)...).Affecting(check.IDs(b.Instances)...).
		Involving(append(slices.Clone(groups), b.Subnets()...)...).
		WithConfidence(check.Weaker(b.Confidence(out.confidence), check.Certain)).
		Titled("%s blocks outbound %s", b.Group, what).
		Because("Nodes in %s have %s. No outbound rule allows %s.%s",
			check.Some(b.Subnets(), 3), check.And(groups), check.And(lost), g.Foreign(b)).
		Showing(g.GroupRules(groups, true)...).
		Showing(b.Posts[0].Walks(b.Services)...).
		ToFix("Allow %s outbound in %s.", strings.Join(lost, " and "), b.Group).
		Command(check.JoinCommands(commands)).Console(g.S.SecurityGroupLink(b.Group))
	if out.confidence == check.Likely && len(out.servers) == 0 && !out.anywhere {
		f.Why += " Other addresses of the same service are allowed: it depends on which one responds."
	}
	return f
}

// shutNames judges the way to name servers. TCP is for answers that do not
// fit a datagram: without it most names still resolve.
func shutNames(g *check.Placements, p *check.Placement, out *shutOut) {
	servers := g.NameServers(p.Subnet.VPC)
	if servers.Blocked != nil {
		if o, _, _ := check.OutcomeOf(g.Fw.Outbound(p.Groups, check.Peer([]netip.Prefix{check.Anywhere()}, nil), check.Udp, check.DNSPort)); o != check.Pass {
			out.blocked = check.Adding(out.blocked, *servers.Blocked)
		}
		return
	}
	if servers.Amazon || len(servers.Own) == 0 {
		return
	}
	for _, way := range []struct {
		name       string
		confidence check.Confidence
	}{{"udp", check.Certain}, {"tcp", check.Possible}} {
		protocol := check.Udp
		if way.name == "tcp" {
			protocol = check.TCP
		}
		var shut []string
		var blocked []snapshot.Failure
		for _, a := range servers.Own {
			switch o, why, _ := check.OutcomeOf(g.Fw.Outbound(p.Groups, check.Peer([]netip.Prefix{netip.PrefixFrom(a, a.BitLen())}, nil), protocol, check.DNSPort)); o {
			case check.Fail:
				shut = append(shut, a.String())
			case check.Unknown:
				// A server in the VPC may be admitted by its own groups,
				// which are not read: see below.
				blocked = append(blocked, why...)
			}
		}
		switch {
		case len(shut) == len(servers.Own):
			if byOtherGroups(g, p.Groups) {
				way.confidence = check.Possible
				if way.name == "udp" {
					way.confidence = check.Likely
				}
			}
			out.servers, out.protocol = shut, way.name
			out.confidence = check.Surer(out.confidence, way.confidence)
			return
		case len(blocked) > 0:
			out.blocked = check.Adding(out.blocked, blocked...)
		}
	}
}

// byOtherGroups reports whether the groups let something out to other groups. A
// name server may be in one of them; its own groups are not read.
func byOtherGroups(g *check.Placements, groups []string) bool {
	return slices.ContainsFunc(groups, func(id string) bool {
		group, _ := g.Fw.Group(id)
		return slices.ContainsFunc(group.Egress, func(r snapshot.Rule) bool { return len(r.Groups) > 0 })
	})
}
