package route

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func detachedFinding(c *routes.Scope, f wayFault) finding.Finding {
	subnets, vpc := f.subnets(), vpcOf(c, inTable(f.lots[0], f.way), f.lots[0])
	var attached []string
	for _, igw := range c.S.InternetGateways {
		if igw.ID == f.id {
			attached = igw.Attached
		}
	}
	where := "to no VPC"
	if len(attached) > 0 {
		where = "to " + phrase.And(attached)
	}
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.id,
		Covers:    subnets,
		Instances: c.Stranded(subnets),
		Resources: f.way.Resources(),
		Title:     phrase.Title("%s is not attached to %s", f.id, vpc),
		Why: fmt.Sprintf("%s leads to %s, which is attached %s. Nodes in %s cannot reach %s.",
			inTable(f.lots[0], f.way), f.id, where, phrase.Some(subnets, 3), phrase.And(path.Names(f.lost()))),
		Evidence: append(f.evidence(), finding.Evidence{What: f.id, Value: "attached " + where}),
		Fix:      fixDetached(c, f, attached),
	}
}

// fixDetached attaches a gateway that nobody else uses, where the VPC has no
// other: a VPC can have one (VPC quotas), so a second one cannot be attached.
func fixDetached(c *routes.Scope, f wayFault, attached []string) finding.Fix {
	table := inTable(f.lots[0], f.way)
	vpc := vpcOf(c, table, f.lots[0])
	fix := finding.Fix{Console: link.VPC(c.S, "InternetGateway:internetGatewayId="+f.id)}
	other, has := c.Net.Gateway(vpc)
	switch {
	case has:
		fix.Text = fmt.Sprintf("%s is attached to %s", other.ID, vpc)
		fix.Command = command.Route(c.S, "replace-route", table, destinationTo(c, table, f), "--gateway-id", other.ID)
	case len(attached) == 0:
		fix.Text = fmt.Sprintf("%s has no other internet gateway, and no other VPC uses %s", vpc, f.id)
		fix.Command = command.AWS(c.S, "ec2 attach-internet-gateway", "--internet-gateway-id", f.id, "--vpc-id", vpc)
	default:
		fix.Text = fmt.Sprintf("Make an internet gateway, attach it to %s, and lead %s of %s to it. %s belongs to %s: leave it there.", vpc, destinationTo(c, table, f), table, f.id, phrase.And(attached))
	}
	return fix
}

// vpcOf is the VPC of the table that leads to the gateway: behind a transit
// gateway it is not the nodes'.
func vpcOf(c *routes.Scope, table string, l routes.Table) string {
	for _, t := range c.S.RouteTables {
		if t.ID == table {
			return t.VPC
		}
	}
	return l.Table.VPC
}

// destinationTo is the row of a table that leads to what ends the way.
func destinationTo(c *routes.Scope, table string, f wayFault) string {
	for _, t := range c.S.RouteTables {
		if t.ID != table {
			continue
		}
		if i := slices.IndexFunc(t.Routes, func(r snapshot.Route) bool { return r.Target.ID == f.way.At && r.PrefixList == "" }); i >= 0 {
			return path.Destination(t.Routes[i])
		}
	}
	return "0.0.0.0/0"
}

func igwNoPublicIP(c *routes.Scope) []finding.Finding {
	var list []finding.Finding
	list = append(list, c.Blind...)
	for _, l := range c.Lots {
		list = append(list, publicAddresses(c, l)...)
	}
	return list
}

func publicAddresses(c *routes.Scope, l routes.Table) []finding.Finding {
	if w, away := l.Open(); away && routes.Rowless(w) {
		return []finding.Finding{routes.Beyond(l, w)}
	}
	if len(l.Outside()) == 0 || l.Internet.Verdict != path.NeedsPublicIP {
		return []finding.Finding{l.Pass()}
	}
	var list []finding.Finding
	for _, subnet := range l.Subnets {
		if f, judged := publicAddress(c, l, subnet); judged {
			list = append(list, f)
		}
	}
	return list
}

// publicAddress judges one subnet by its running instances: what they have
// counts, whatever the subnet's setting is, as a launch template overrides it.
// Where there is none, a subnet that assigns addresses is well, and of one that
// does not it is not known what the launch template does. An instance that is
// still pending may not show its address yet, and says nothing. In an IPv6
// cluster a way out over IPv6 may do.
func publicAddress(c *routes.Scope, l routes.Table, subnet snapshot.Subnet) (finding.Finding, bool) {
	var without, waiting []string
	with := 0
	for _, i := range c.All[subnet.ID] {
		switch {
		case i.PublicIP.IsValid():
			with++
		case i.State == "pending":
			waiting = append(waiting, i.ID)
		default:
			without = append(without, i.ID)
		}
	}
	if with == 0 && len(without) == 0 && len(waiting) == 0 {
		without = neverHad(c, subnet)
	}
	setting := "does not assign them"
	if subnet.AssignPublicIP {
		setting = "assigns them"
	}
	switch {
	case len(without) > 0:
	case with > 0, len(waiting) == 0 && subnet.AssignPublicIP:
		return finding.Finding{
			Outcome: finding.Pass, Resource: subnet.ID, Covers: []string{subnet.ID},
			Evidence: []finding.Evidence{{What: subnet.ID, Value: fmt.Sprintf("%s; public addresses: the subnet %s, %d instances have one", path.Row(l.Internet.Row), setting, with)}},
		}, true
	case len(waiting) > 0:
		return finding.Finding{}, false
	default:
		return unsettled(c, subnet, "no instance runs there, and what the launch template assigns is not read"), true
	}
	if c.S.Cluster.IPv6 && slices.ContainsFunc(l.Table.Routes, routes.SixOut) {
		return unsettled(c, subnet, "the nodes may reach the internet over IPv6"), true
	}
	if l.Proven() {
		f := l.Works()
		f.Resource, f.Covers = subnet.ID, []string{subnet.ID}
		return f, true
	}
	one := routes.Table{S: l.S, Table: l.Table, Subnets: []snapshot.Subnet{subnet}, Paths: l.Paths, Internet: l.Internet}
	f := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  subnet.ID,
		Covers:    []string{subnet.ID},
		Instances: c.Stranded([]string{subnet.ID}),
		Resources: l.Internet.Resources(),
		Title:     phrase.Title("%s gives its nodes no public address", subnet.ID),
		Why: fmt.Sprintf("%s sends 0.0.0.0/0 to %s, which serves public addresses only, and %s does not assign them. Nodes cannot reach %s.",
			l.Table.ID, l.Internet.At, subnet.ID, phrase.And(path.Names(l.Outside()))),
		Evidence: append(one.Evidence(), finding.Evidence{What: "Public addresses", Value: subnet.ID + " " + setting}),
		Fix:      fixPublicAddress(c, l, subnet),
	}
	f.Instances = slices.DeleteFunc(f.Instances, func(id string) bool { return !slices.Contains(without, id) })
	f.Evidence[len(f.Evidence)-1].Value += fmt.Sprintf("; none on %s", phrase.Some(without, 5))
	if l.Witness != "" {
		f.Confidence = finding.Likely
	}
	if subnet.AssignPublicIP {
		f.Title = phrase.Title("instances in %s have no public address", subnet.ID)
		f.Why = fmt.Sprintf("%s sends 0.0.0.0/0 to %s, which serves public addresses only. %s assigns them, but the launch template's network interface turns that off: %s %s none. Nodes cannot reach %s.",
			l.Table.ID, l.Internet.At, subnet.ID, phrase.Some(without, 3), phrase.Verb(without, "has", "have"), phrase.And(path.Names(l.Outside())))
	}
	return f, true
}

// neverHad are the instances that ended and, by their launch template and the
// subnet's setting, never had a public address; EC2 forgets it when they end.
// Nil when that is not sure of all of them.
func neverHad(c *routes.Scope, subnet snapshot.Subnet) []string {
	for _, i := range c.Fell[subnet.ID] {
		t, known := c.Template(i)
		if !known || t.PublicIP == "true" || t.PublicIP == "" && subnet.AssignPublicIP {
			return nil
		}
	}
	return facts.IDs(c.Fell[subnet.ID])
}

// unsettled is the Unknown for a subnet whose public addresses cannot be judged.
func unsettled(c *routes.Scope, subnet snapshot.Subnet, why string) finding.Finding {
	return finding.Unread(subnet.ID, []string{subnet.ID}, snapshot.Failure{
		Source: snapshot.Instances, Reason: snapshot.NotRead, Message: subnet.ID + ": " + why,
	})
}

func fixPublicAddress(c *routes.Scope, l routes.Table, subnet snapshot.Subnet) finding.Fix {
	fix := finding.Fix{Console: link.VPC(c.S, "SubnetDetails:subnetId="+subnet.ID)}
	if subnet.AssignPublicIP {
		fix.Text = "Set AssociatePublicIpAddress to true in the launch template's network interface, or take the interface out of it; then replace the instances."
		return fix
	}
	fix.Text = fmt.Sprintf("Then replace the instances. If %s is meant to be private, associate it with a table that leads to a NAT gateway instead.", subnet.ID)
	if other, ok := sibling(c, l.Table, []string{subnet.Zone}); ok {
		fix.Text = fmt.Sprintf("Then replace the instances. If %s is meant to be private, associate it with %s, which leads to a NAT gateway, instead.", subnet.ID, other.ID)
	}
	fix.Command = command.AWS(c.S, "ec2 modify-subnet-attribute", "--subnet-id", subnet.ID, "--map-public-ip-on-launch")
	return fix
}
