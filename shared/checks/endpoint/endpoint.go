// Package endpoint holds the checks of endpoint: VPC endpoints for what nodes need.
package endpoint

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/access/policy"
	"rollcall/shared/checkid"
	"rollcall/shared/checks/check"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/route"
	"rollcall/shared/network/path"
	"rollcall/shared/shell"
	"rollcall/shared/snapshot"
)

// Checks are the checks of the family.
func Checks() []check.Check {
	return []check.Check{
		check.New(checkid.EndpointMissing, missing, snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables,
			snapshot.Endpoints).WithPathSources(),
		check.New(checkid.EndpointNotAvailable, notAvailable, snapshot.Clusters, snapshot.Subnets,
			snapshot.RouteTables, snapshot.Endpoints).WithPathSources(),
		// Whose requests the policy must let through.
		check.New(checkid.EndpointPolicyDenies, runEndpointPolicyDenies, snapshot.Clusters, snapshot.Instances,
			snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints).Using(snapshot.Profiles, snapshot.Roles,
			snapshot.AWSNode, snapshot.PodIdentities, snapshot.Addons).WithPathSources(),
		check.New(checkid.EndpointPrivateDNSOff, privateDNSOff, snapshot.Clusters, snapshot.Subnets,
			snapshot.RouteTables, snapshot.Endpoints).WithPathSources(),
		check.New(checkid.EndpointS3RouteMissing, s3RouteMissing, snapshot.Clusters, snapshot.Subnets,
			snapshot.RouteTables, snapshot.Endpoints).WithPathSources(),
		check.New(checkid.EndpointSecurityGroup, runEndpointSecurityGroup, snapshot.Clusters, snapshot.Instances,
			snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.SecurityGroups).WithPathSources(),
	}
}

func missing(s *check.View) []check.Finding {
	c := routes.ForView(s)
	return gaps(c, absent, func(g gap) check.Finding {
		return gapFinding(c, g, g.vpc, g.missing(), fixMissing(c, g))
	})
}

func (g gap) missing() string {
	var made []path.Service
	for _, s := range g.services() {
		if s != path.API {
			made = append(made, s)
		}
	}
	if len(made) == 0 {
		return check.Title("private access to the cluster API is off, with no internet route")
	}
	return check.Title("%s has no endpoint for %s", g.vpc, check.And(path.Names(made)))
}

// fixMissing makes what is missing. A VPC with gateway endpoints only (they
// cost nothing, so most have one) and a NAT gateway that works is not private
// by design: there the plain fix is the route that was forgotten.
func fixMissing(c *routes.Scope, g gap) check.Fix {
	fix := check.Fix{Console: c.S.VPCLink("Endpoints:vpcId=" + g.vpc)}
	first := g.tables[0]
	nat, why, works := route.ToNAT(c, g.vpc, first.Zones(), "")
	if works && !interfaces(c, g.vpc) && len(g.tables) == 1 {
		return route.WayOut(c, first, "create-route", "")
	}
	var commands []string
	for _, a := range g.absent {
		commands = append(commands, makeEndpoints(c, g, a))
	}
	if !slices.Contains(commands, "") {
		fix.Command = shell.All(commands...)
	}
	fix.Text = "Create the missing endpoints: " + check.And(path.Names(g.services())) + "."
	if works {
		fix.Text += fmt.Sprintf(" Or point 0.0.0.0/0 of %s to %s (%s).", first.Table.ID, nat.ID, strings.TrimPrefix(why, nat.ID+": "))
	}
	return fix
}

// interfaces reports whether the VPC has an interface endpoint for a needed service.
func interfaces(c *routes.Scope, vpc string) bool {
	return slices.ContainsFunc(path.Needed(), func(service path.Service) bool {
		return slices.ContainsFunc(c.Net.Endpoints(vpc, service), func(e snapshot.Endpoint) bool {
			return strings.EqualFold(e.Kind, "Interface") && check.There(e)
		})
	})
}

// makeEndpoints is the command that ends one absence; empty where it takes a decision.
func makeEndpoints(c *routes.Scope, g gap, a absence) string {
	var tables []string
	for _, l := range g.tables {
		tables = append(tables, l.Table.ID)
	}
	switch {
	case a.service == path.API:
		return c.S.AWSCommand("eks update-cluster-config", "--name", c.S.Cluster.Name, "--resources-vpc-config", "endpointPrivateAccess=true")
	case a.lack == nameless:
		return c.S.AWSCommand("ec2 modify-vpc-endpoint", "--vpc-endpoint-id", a.unused.ID, "--private-dns-enabled")
	case c.S.Partition == "aws-cn":
		return "" // there the names of services differ from service to service
	case a.service == path.S3:
		return c.S.AWSCommand("ec2 create-vpc-endpoint", "--vpc-id", g.vpc, "--vpc-endpoint-type", "Gateway",
			"--service-name", fmt.Sprintf("com.amazonaws.%s.s3", c.S.Region), "--route-table-ids", tables)
	}
	words := []any{
		"--vpc-id", g.vpc, "--vpc-endpoint-type", "Interface", "--service-name", fmt.Sprintf("com.amazonaws.%s.%s", c.S.Region, a.service),
		"--private-dns-enabled", "--subnet-ids", g.onePerZone(),
	}
	if c.S.Cluster.SecurityGroup != "" {
		words = append(words, "--security-group-ids", c.S.Cluster.SecurityGroup)
	}
	return c.S.AWSCommand("ec2 create-vpc-endpoint", words...)
}

// onePerZone are subnets for an interface endpoint, which takes one in a zone.
func (g gap) onePerZone() []string {
	var ids, zones []string
	for _, l := range g.tables {
		for _, s := range l.Subnets {
			if !slices.Contains(zones, s.Zone) {
				zones = append(zones, s.Zone)
				ids = append(ids, s.ID)
			}
		}
	}
	return ids
}

func notAvailable(s *check.View) []check.Finding {
	c := routes.ForView(s)
	return gaps(c, unavailable, func(g gap) check.Finding {
		ids := g.unused()
		f := gapFinding(c, g, ids[0], check.Title("%s for %s %s not available", check.Subject(ids, "endpoint"), check.And(path.Names(g.services())), check.Verb(ids, "is", "are")), fixNotAvailable(c, g))
		for _, a := range g.absent {
			if a.unused.Error != "" {
				f = f.Noting(a.unused.ID, check.Clip(a.unused.Error))
			}
		}
		return f
	})
}

func fixNotAvailable(c *routes.Scope, g gap) check.Fix {
	fix := check.Fix{Console: c.S.VPCLink("Endpoints:vpcId=" + g.vpc)}
	waiting := true
	for _, a := range g.absent {
		waiting = waiting && strings.EqualFold(a.unused.State, "pending")
	}
	if waiting {
		fix.Text = "Wait: a new endpoint takes a few minutes to become available. Nodes that miss their join time then need replacing."
		return fix
	}
	fix.Text = fmt.Sprintf("Accept or recreate: %s.", check.Some(g.reasons(), 5))
	fix.Command = c.S.AWSCommand("ec2 describe-vpc-endpoints", "--vpc-endpoint-ids", g.unused(), "--query", "VpcEndpoints[].[VpcEndpointId,State,LastError]")
	return fix
}

// gate is an endpoint whose policy keeps nodes from what they need.
type gate struct {
	*check.SgBlock
	endpoint snapshot.Endpoint
	refused  []string // "ec2:DescribeInstances (not granted)"
	actions  []string
}

func runEndpointPolicyDenies(s *check.View) []check.Finding {
	g := s.Placements()
	var v check.Verdicts
	var found []*gate
	name := s.Cluster.Name
	for _, p := range g.Open(&v, name) {
		failed := false
		var blocked []snapshot.Failure
		for _, w := range p.Usable() {
			e, known := policed(g, p, w)
			if !known {
				continue
			}
			document, why := endpointPolicy(e)
			if why != nil {
				blocked = check.Adding(blocked, *why)
				continue
			}
			for _, r := range requests(g, p, e, w.Service) {
				switch d := document.Decide(r); d.Verdict {
				case policy.Allowed:
				case policy.Denied, policy.Silent:
					failed = true
					found = turnedAway(found, e, p, w.Service, r, d)
				default:
					blocked = check.Adding(blocked, check.NotRead(snapshot.Endpoints, "whether %s allows %s depends on %s", e.ID, r.Action, check.Some(d.On, 3)))
				}
			}
		}
		switch {
		case failed:
		case len(blocked) > 0:
			v.Unknown(name, check.IDs(p.Suspects), blocked...)
		default:
			v.Pass(name, check.IDs(p.Suspects))
		}
	}
	for _, x := range found {
		v.Fail(endpointPolicyDeniesFinding(g, x))
	}
	return v.Findings()
}

func turnedAway(found []*gate, e snapshot.Endpoint, p *check.Placement, service path.Service, r policy.Request, d policy.Decision) []*gate {
	i := slices.IndexFunc(found, func(x *gate) bool { return x.endpoint.ID == e.ID })
	if i < 0 {
		i = len(found)
		found = append(found, &gate{SgBlock: &check.SgBlock{}, endpoint: e})
	}
	x := found[i]
	x.Add(p, p.Suspects, service)
	x.refused = check.Adding(x.refused, fmt.Sprintf("%s (%s)", r.Action, d))
	x.actions = check.Adding(x.actions, r.Action)
	return found
}

// policed is the endpoint whose policy judges a path.
func policed(g *check.Placements, p *check.Placement, w path.Path) (snapshot.Endpoint, bool) {
	switch w.Means {
	case path.ByInterface:
		return endpointOf(g, p, w)
	case path.ByGateway:
		for _, e := range g.Net.Endpoints(p.Subnet.VPC, w.Service) {
			if e.ID == w.At {
				return e, true
			}
		}
	}
	return snapshot.Endpoint{}, false
}

// endpointPolicy reads an endpoint's policy. EC2 gives one for every endpoint
// of these services, the default one too.
func endpointPolicy(e snapshot.Endpoint) (policy.Document, *snapshot.Failure) {
	if strings.TrimSpace(e.Policy) == "" {
		return policy.Document{}, &snapshot.Failure{Source: snapshot.Endpoints, Reason: snapshot.NotRead, Message: "EC2 gives no policy of " + e.ID}
	}
	d, err := policy.Parse(e.Policy)
	if err != nil {
		return policy.Document{}, &snapshot.Failure{Source: snapshot.Endpoints, Reason: snapshot.Broken, Message: fmt.Sprintf("the policy of %s cannot be parsed: %v", e.ID, err)}
	}
	return d, nil
}

// requests are what a node asks of a service, as the endpoint's policy sees it.
func requests(g *check.Placements, p *check.Placement, e snapshot.Endpoint, service path.Service) []policy.Request {
	facts := map[string][]string{"aws:SourceVpc": {p.Subnet.VPC}, "aws:SourceVpce": {e.ID}, "aws:RequestedRegion": {g.S.Region}}
	ask := func(action, resource string, by policy.Caller) policy.Request {
		return policy.Request{Action: action, Resource: resource, Caller: by, Facts: facts}
	}
	node := nodeCaller(g, p)
	arn := func(rest string) string { return "arn:" + g.S.Partition + ":" + rest }
	switch service {
	case path.EC2:
		// By it a node learns the name that it must register with.
		return []policy.Request{ask("ec2:DescribeInstances", policy.Unscoped, node)}
	case path.ECRAPI:
		return []policy.Request{ask("ecr:GetAuthorizationToken", policy.Unscoped, node)}
	case path.ECRDKR:
		// The images are in accounts of AWS's own, one or more for each region.
		repository := arn("ecr:" + g.S.Region + ":*:repository/eks/*")
		return []policy.Request{ask("ecr:BatchGetImage", repository, node), ask("ecr:GetDownloadUrlForLayer", repository, node)}
	case path.S3:
		if g.S.Partition != "aws" {
			return nil // elsewhere the bucket's name is not documented
		}
		// ECR signs the address of a layer itself: who asks is not the node
		// (ECR user guide, "Minimum Amazon S3 bucket permissions").
		return []policy.Request{ask("s3:GetObject", arn("s3:::prod-"+g.S.Region+"-starport-layer-bucket/*"), policy.Caller{})}
	case path.STS:
		if g.S.CNI != nil && g.S.CNI.Role != "" {
			// This request is unsigned: the token in it identifies the caller.
			return []policy.Request{ask("sts:AssumeRoleWithWebIdentity", g.S.CNI.Role, policy.Caller{})}
		}
	}
	return nil
}

// nodeCaller is the nodes' role, as far as it is known.
func nodeCaller(g *check.Placements, p *check.Placement) policy.Caller {
	roles := map[string]bool{}
	for _, i := range p.Suspects {
		for _, profile := range g.S.Profiles {
			if profile.ARN == i.Profile && len(profile.Roles) > 0 {
				roles[profile.Roles[0]] = true
			}
		}
		if len(roles) > 1 {
			break
		}
	}
	caller := policy.Caller{Account: g.S.Account}
	if len(roles) == 1 {
		for role := range roles {
			caller.ARN = role
		}
	}
	return caller
}

func endpointPolicyDeniesFinding(g *check.Placements, x *gate) check.Finding {
	services := check.Ordered(x.Services)
	return check.Failed(x.endpoint.ID, check.IDs(x.Instances)...).Affecting(check.IDs(x.Instances)...).
		Involving(append([]string{x.endpoint.ID}, x.Subnets()...)...).
		Titled("%s for %s denies %s", x.endpoint.ID, check.And(path.Names(services)), check.Some(x.actions, 1)).
		Because("Nodes in %s reach %s through %s, whose policy does not allow: %s.",
			check.Some(x.Subnets(), 3), check.And(path.Names(services)), x.endpoint.ID, check.Some(x.refused, 4)).
		Noting("Policy of "+x.endpoint.ID, check.Clip(x.endpoint.Policy)).
		Showing(x.Posts[0].Walks(services)...).
		ToFix("Allow %s in the policy of %s.", check.And(x.actions), x.endpoint.ID).
		Console(g.S.VPCLink("Endpoints:vpcEndpointId=" + x.endpoint.ID))
}

func privateDNSOff(s *check.View) []check.Finding {
	c := routes.ForView(s)
	return gaps(c, nameless, func(g gap) check.Finding {
		ids := g.unused()
		fix := check.Fix{Console: s.VPCLink("Endpoints:vpcId=" + g.vpc), Text: fmt.Sprintf("Enable private DNS: %s.", check.Some(ids, 5))}
		var commands []string
		for _, a := range g.absent {
			commands = append(commands, makeEndpoints(c, g, a))
		}
		fix.Command = check.JoinCommands(commands)
		return gapFinding(c, g, ids[0], check.Title("%s for %s %s private DNS off", check.Subject(ids, "endpoint"), check.And(path.Names(g.services())), check.Verb(ids, "has", "have")), fix)
	})
}

func s3RouteMissing(s *check.View) []check.Finding {
	c := routes.ForView(s)
	return gaps(c, unrouted, func(g gap) check.Finding {
		endpoint := g.absent[0].unused.ID
		var tables []string
		for _, l := range g.tables {
			tables = check.Adding(tables, l.Table.ID)
		}
		return gapFinding(c, g, endpoint, check.Title("%s %s not point to %s for %s", check.Some(tables, 1), check.Verb(tables, "does", "do"), endpoint, g.absent[0].service.Name()), check.Fix{
			Text:    fmt.Sprintf("Add %s to %s.", check.And(tables), endpoint),
			Command: s.AWSCommand("ec2 modify-vpc-endpoint", "--vpc-endpoint-id", endpoint, "--add-route-table-ids", tables),
			Console: s.VPCLink("Endpoints:vpcId=" + g.vpc),
		})
	})
}

// openEndpointSecurityGroup is the remedy that lets nodes in at an endpoint.
const openEndpointSecurityGroup = "open-endpoint-security-group"

// guarded are endpoints with the same security groups, which keep the same
// nodes out: one set of rules, one fault.
type guarded struct {
	*check.SgBlock
	groups    []string
	endpoints []string
}

func runEndpointSecurityGroup(s *check.View) []check.Finding {
	g := s.Placements()
	var v check.Verdicts
	var found []*guarded
	name := s.Cluster.Name
	for _, p := range g.Open(&v, name) {
		var out, blind []*snapshot.Instance
		var why []snapshot.Failure
		var rules []check.Evidence
		for _, w := range p.Usable() {
			if w.Means != path.ByInterface {
				continue
			}
			e, known := endpointOf(g, p, w)
			if !known {
				continue
			}
			shut, unclear, because, by := g.Admitted(p, e.Groups, check.HTTPSPort)
			if w.Verdict == path.LeavesView && len(shut) > 0 {
				unclear, shut = append(unclear, shut...), nil
				because = check.Adding(because, check.NotRead(snapshot.RouteTables, "%s: %s", w.At, w.Reason))
			}
			out, blind, why = append(out, shut...), append(blind, unclear...), check.Adding(why, because...)
			if len(by) > 0 {
				rules = append(rules, check.Evidence{What: fmt.Sprintf("%s (%s) allows", e.ID, w.Service.Name()), Value: check.TenOf(by)})
			}
			if len(shut) > 0 {
				i := slices.IndexFunc(found, func(x *guarded) bool { return slices.Equal(x.groups, e.Groups) })
				if i < 0 {
					i = len(found)
					found = append(found, &guarded{SgBlock: &check.SgBlock{Group: e.Groups[0]}, groups: e.Groups})
				}
				found[i].Add(p, shut, w.Service)
				found[i].endpoints = check.Adding(found[i].endpoints, e.ID)
			}
		}
		v.Unknown(name, check.IDs(check.Except(blind, out)), why...)
		v.Pass(name, check.IDs(check.Except(p.Suspects, out, blind)), rules...)
	}
	for _, x := range found {
		v.Fail(endpointSecurityGroupFinding(g, x))
	}
	return v.Findings()
}

// endpointOf is the interface endpoint that wins for a path.
func endpointOf(g *check.Placements, p *check.Placement, w path.Path) (snapshot.Endpoint, bool) {
	for _, e := range g.Net.Endpoints(p.Subnet.VPC, w.Service) {
		if path.Available(e) && strings.EqualFold(e.Kind, "Interface") && e.PrivateDNS {
			return e, true
		}
	}
	return snapshot.Endpoint{}, false
}

func endpointSecurityGroupFinding(g *check.Placements, x *guarded) check.Finding {
	slices.Sort(x.endpoints)
	groups := x.SgBlock.Groups()
	services := check.Ordered(x.Services)
	f := check.Failed(x.endpoints[0], check.IDs(x.Instances)...).Affecting(check.IDs(x.Instances)...).
		Involving(slices.Concat(x.endpoints, x.groups, groups)...).
		WithConfidence(check.Weaker(x.Confidence(check.Certain), check.Certain)).
		Titled("%s for %s %s not allow the nodes", check.Subject(x.endpoints, "endpoint"), check.And(path.Names(services)), check.Verb(x.endpoints, "does", "do")).
		Because("%s %s over the name of %s for the whole VPC (private DNS), with %s. No inbound rule there allows tcp 443 from nodes in %s, which have %s.",
			check.Some(x.endpoints, 5), check.Verb(x.endpoints, "takes", "take"), check.And(path.Names(services)), check.And(x.groups), check.Some(x.Subnets(), 3), check.And(groups)).
		Showing(g.GroupRules(x.groups, false)...).
		Showing(x.Posts[0].Walks(services)...).
		ToFix("Allow 443 from the nodes in %s.", x.Group).Console(g.S.SecurityGroupLink(x.Group)).
		Remedy(openEndpointSecurityGroup)
	if len(groups) > 0 {
		f.Fix.Command = g.S.AllowIngress(x.Group, check.HTTPSPort, groups[0])
	}
	internet := g.Net.Internet(x.Posts[0].Subnet.ID)
	if internet.Verdict == path.Reaches || internet.Verdict == path.NeedsPublicIP {
		f.Why += " The subnet's route to the internet does not help: the name resolves to the endpoint."
	}
	return f
}

// lack is why a service has no endpoint that works.
type lack string

const (
	absent      lack = "absent"      // there is none
	unavailable lack = "unavailable" // its state is not "available"
	nameless    lack = "nameless"    // an interface endpoint with private DNS off
	unrouted    lack = "unrouted"    // a gateway endpoint that the table does not lead to
)

// gap is what a VPC lacks in one way for some route tables.
type gap struct {
	vpc    string
	tables []routes.Table
	absent []absence
}

// absence is a service that is not reached, and the endpoint for it that is
// there but cannot be used, if any.
type absence struct {
	service path.Service
	lack    lack
	unused  snapshot.Endpoint
	because string
}

// gaps finds what VPCs without a way to the internet lack in one way. A VPC
// that has endpoints for some of what nodes need is private by design; one
// that has none is route/no-egress.
func gaps(c *routes.Scope, kind lack, say func(gap) check.Finding) []check.Finding {
	list := slices.Clone(c.Unreadable)
	var gaps []gap
	for _, l := range c.Tables {
		w, away := l.Away()
		lacks := absences(c, l, kind)
		switch shut := l.Internet.Verdict == path.NoRoute && len(c.Endpointed(l.Table.VPC)) > 0; {
		case shut && len(lacks) > 0:
			if doubt := gapDoubt(c, l, lacks); doubt != "" {
				if f, excused := c.Exempt(l, doubt); excused {
					list = append(list, f)
					continue
				}
			}
			gaps = widen(gaps, l, lacks)
		case shut && len(l.Outside()) > 0, l.Internet.Verdict == path.NoRoute && len(l.Outside()) > 0:
			list = append(list, l.Pass()) // another check names what is wrong
		case away:
			list = append(list, routes.BeyondView(l, w))
		case shut && kind == absent && l.Asking != nil:
			list = append(list, check.Unread(l.Table.ID, l.IDs(), *l.Asking))
		default:
			list = append(list, l.Pass())
		}
	}
	for _, g := range gaps {
		list = append(list, say(g))
	}
	return list
}

func widen(gaps []gap, l routes.Table, lacks []absence) []gap {
	i := slices.IndexFunc(gaps, func(g gap) bool { return g.vpc == l.Table.VPC })
	if i < 0 {
		i = len(gaps)
		gaps = append(gaps, gap{vpc: l.Table.VPC})
	}
	g := &gaps[i]
	g.tables = append(g.tables, l)
	for _, a := range lacks {
		if !slices.ContainsFunc(g.absent, func(have absence) bool { return have.service == a.service }) {
			g.absent = append(g.absent, a)
		}
	}
	return gaps
}

// absences are the services that a table lacks in one way.
func absences(c *routes.Scope, l routes.Table, kind lack) []absence {
	var list []absence
	for _, service := range l.Outside() {
		if a := absenceOf(c, service, l); a.lack == kind {
			list = append(list, a)
		}
	}
	if kind != unrouted {
		return list
	}
	// EC2 adds the row with the association; one without the other is not
	// what EC2 says of a table that works.
	for _, p := range l.Paths {
		if p.Means == path.ByGateway && routes.Rowless(p.Way) {
			for _, e := range c.Net.Endpoints(l.Table.VPC, p.Service) {
				if e.ID == p.At {
					list = append(list, absence{service: p.Service, lack: unrouted, unused: e, because: fmt.Sprintf("%s has no route to %s", l.Table.ID, e.ID)})
				}
			}
		}
	}
	return list
}

// absenceOf tells why a service has no endpoint that works for a table.
func absenceOf(c *routes.Scope, service path.Service, l routes.Table) absence {
	a := absence{service: service, lack: absent}
	if service == path.API {
		a.because = "private access of the cluster's endpoint is off"
		return a
	}
	for _, e := range c.Net.Endpoints(l.Table.VPC, service) {
		switch {
		case a.lack == unrouted:
			// It takes no more than a row: nothing else about S3 is better known.
		case !path.Available(e):
			if a.lack == absent {
				a.lack, a.unused, a.because = unavailable, e, e.ID+" is "+e.State
			}
		case strings.EqualFold(e.Kind, "Gateway"):
			a.lack, a.unused, a.because = unrouted, e, fmt.Sprintf("%s is not in %s", e.ID, l.Table.ID)
		default:
			a.lack, a.unused, a.because = nameless, e, e.ID+" has private DNS off"
		}
	}
	return a
}

func (g gap) subnets() []string {
	var ids []string
	for _, l := range g.tables {
		ids = append(ids, l.IDs()...)
	}
	slices.Sort(ids)
	return ids
}

func (g gap) services() []path.Service {
	list := make([]path.Service, len(g.absent))
	for i, a := range g.absent {
		list[i] = a.service
	}
	return list
}

// unused are the endpoints that are there and cannot be used, by id.
func (g gap) unused() []string {
	var list []string
	for _, a := range g.absent {
		if a.unused.ID != "" {
			list = check.Adding(list, a.unused.ID)
		}
	}
	slices.Sort(list)
	return list
}

func (g gap) reasons() []string {
	var list []string
	for _, a := range g.absent {
		if a.because != "" {
			list = check.Adding(list, a.because)
		}
	}
	return list
}

// gapFinding is what all gaps say alike; the title and the fix are the check's.
func gapFinding(c *routes.Scope, g gap, resource, title string, fix check.Fix) check.Finding {
	covers := g.subnets()
	first := g.tables[0]
	f := check.Failed(resource, covers...).Affecting(c.Stranded(covers)...).
		Involving(check.Adding([]string{g.vpc, first.Table.ID, first.Subnets[0].ID}, g.unused()...)...).
		WithConfidence(gapConfidence(c, g)).
		Titled("%s", title).
		Because("%s has no route to the internet: %s. Nodes in %s cannot reach %s; %s has endpoints for %s.",
			first.Table.ID, routes.Rows(first.Table.Routes), check.Some(covers, 3), check.And(path.Names(g.services())), g.vpc, check.And(path.Names(c.Endpointed(g.vpc)))).
		FixedBy(fix)
	if because := g.reasons(); len(because) > 0 {
		f.Why += " Cause: " + check.Some(because, 5) + "."
	}
	const limit = 3
	for _, l := range g.tables[:min(len(g.tables), limit)] {
		f = f.Showing(l.Evidence()...)
	}
	f = f.Showing(endpointsSeen(c, g.vpc)...)
	return f
}

// gapDoubt is why a table may be well although endpoints are missing: what is
// behind another network, or a hosted zone of one's own in front of endpoints
// with private DNS off. Such a zone needs both of the VPC's DNS attributes
// (Route 53 developer guide, "Considerations when working with a private
// hosted zone").
func gapDoubt(c *routes.Scope, l routes.Table, lacks []absence) string {
	if doubt := c.Doubt(l); doubt != "" {
		return doubt
	}
	if lacks[0].lack == unrouted && slices.ContainsFunc(lacks, func(a absence) bool { return slices.Contains(a.unused.RouteTables, l.Table.ID) }) {
		return "EC2 names the association and not the route"
	}
	if lacks[0].lack != nameless || zoneless(c, l.Table.VPC) {
		return ""
	}
	var own []string
	for _, a := range lacks {
		own = append(own, a.unused.ID)
	}
	return fmt.Sprintf("a hosted zone of your own may resolve to %s", check.Some(own, 2))
}

// zoneless reports whether no private hosted zone can work in a VPC.
func zoneless(c *routes.Scope, vpc string) bool {
	return c.S.Has(snapshot.VPCDNS) && slices.ContainsFunc(c.S.VPCAttributes, func(a snapshot.VPCAttributes) bool {
		return a.VPC == vpc && !(a.DNSSupport && a.DNSHostnames)
	})
}

// gapConfidence is weaker where names may lead to what cannot be seen.
func gapConfidence(c *routes.Scope, g gap) check.Confidence {
	if slices.ContainsFunc(g.tables, func(l routes.Table) bool { return gapDoubt(c, l, g.absent) != "" }) {
		return check.Likely
	}
	return ""
}

// endpointsSeen lists the VPC's endpoints for what nodes need, at most ten.
func endpointsSeen(c *routes.Scope, vpc string) []check.Evidence {
	const limit = 10
	var list []check.Evidence
	for _, service := range path.Needed() {
		for _, e := range c.Net.Endpoints(vpc, service) {
			if len(list) == limit {
				return list
			}
			value := fmt.Sprintf("%s, %s", e.Kind, e.State)
			switch {
			case strings.EqualFold(e.Kind, "Gateway"):
				value += ", in " + check.Some(e.RouteTables, 5)
			case e.PrivateDNS:
				value += ", private DNS on"
			default:
				value += ", private DNS off"
			}
			list = append(list, check.Evidence{What: fmt.Sprintf("%s (%s)", e.ID, service.Name()), Value: value})
		}
	}
	return list
}
