package route

import (
	"fmt"
	"slices"
	"strings"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// byInterface is a way whose first hop is an interface, or is not known.
func byInterface(w path.Way) bool {
	return routes.Rowless(w) || w.Row.Target.Kind == snapshot.ToInterface
}

func natInstanceFinding(c *routes.Scope, f wayFault) finding.Finding {
	subnets := f.subnets()
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.id,
		Covers:    subnets,
		Instances: c.Stranded(subnets),
		Resources: f.way.Resources(),
		Title:     phrase.Title("%s forwards nothing", f.id),
		Why: fmt.Sprintf("The default route of %s leads to %s, but %s. Nodes in %s cannot reach %s.",
			phrase.Some(f.tables(), 3), f.id, f.way.Reason, phrase.Some(subnets, 3), phrase.And(path.Names(f.lost()))),
		Evidence: append(f.evidence(), forwarderSeen(c, f.id)...),
		Fix:      fixForwarder(c, f),
	}
}

// forwards are the interface and the instance that a row leads to, as far as
// they were read.
func forwards(c *routes.Scope, id string) (snapshot.Interface, snapshot.Instance) {
	var e snapshot.Interface
	if i := slices.IndexFunc(c.S.Interfaces, func(e snapshot.Interface) bool { return e.ID == id }); i >= 0 {
		e = c.S.Interfaces[i]
	}
	for _, in := range c.S.Instances {
		if in.ID == id || in.ID == e.Instance && e.Instance != "" || slices.Contains(in.Interfaces, id) {
			return e, in
		}
	}
	return e, snapshot.Instance{}
}

func forwarderSeen(c *routes.Scope, id string) []finding.Evidence {
	var list []finding.Evidence
	e, i := forwards(c, id)
	if e.ID != "" {
		check := "off"
		if e.SourceCheck {
			check = "on"
		}
		value := fmt.Sprintf("%s, source/destination check %s", e.Status, check)
		if e.Instance != "" {
			value += ", attached to " + e.Instance
		}
		list = append(list, finding.Evidence{What: e.ID, Value: value})
	}
	if i.ID != "" {
		list = append(list, finding.Evidence{What: i.ID, Value: i.State})
	}
	return list
}

// fixForwarder undoes what keeps the instance from forwarding: what is stopped
// is started first.
func fixForwarder(c *routes.Scope, f wayFault) finding.Fix {
	e, i := forwards(c, f.id)
	instance := e.Instance
	if i.ID != "" {
		instance = i.ID
	}
	stopped := i.State == "stopped" || i.State == "" && !e.SourceCheck && instance != ""
	fix := finding.Fix{Console: link.EC2(c.S, "NetworkInterface:networkInterfaceId="+f.id)}
	if strings.HasPrefix(f.id, "i-") {
		fix.Console = link.EC2(c.S, "InstanceDetails:instanceId="+f.id)
	}
	switch {
	case stopped:
		fix.Text = fmt.Sprintf("Start %s. A NAT gateway in its place cannot be stopped.", instance)
		fix.Command = command.AWS(c.S, "ec2 start-instances", "--instance-ids", instance)
	case e.SourceCheck:
		fix.Text = "Switch the source/destination check off, if the instance is meant to forward."
		fix.Command = command.AWS(c.S, "ec2 modify-network-interface-attribute", "--network-interface-id", e.ID, "--no-source-dest-check")
	case i.SourceCheck:
		fix.Text = "Switch the source/destination check off, if the instance is meant to forward."
		fix.Command = command.AWS(c.S, "ec2 modify-instance-attribute", "--instance-id", i.ID, "--no-source-dest-check")
	default:
		return leadElsewhere(c, f.lots[0], f.way)
	}
	return fix
}

func rowlessOrNAT(w path.Way) bool { return routes.Rowless(w) || byNAT(w) }

func natNoInternetFinding(c *routes.Scope, f wayFault) finding.Finding {
	nat, _ := c.Net.NAT(f.id)
	ids := f.subnets()
	said := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.id,
		Covers:    ids,
		Instances: c.Stranded(ids),
		Resources: f.way.Resources(),
		Title:     phrase.Title("%s has no way to the internet", f.id),
		Why: fmt.Sprintf("%s is available in %s, but %s. Nodes in %s cannot reach %s.",
			f.id, nat.Subnet, f.way.Reason, phrase.Some(ids, 3), phrase.And(path.Names(f.lost()))),
		Evidence: f.evidence(),
		Fix:      fixStuckNAT(c, f, nat),
	}
	if table, ok := c.Net.Table(nat.Subnet); ok && len(said.Evidence) > 0 {
		said.Evidence = slices.Insert(said.Evidence, 0, finding.Evidence{
			What: fmt.Sprintf("Routes of %s, the table of %s", table.ID, nat.Subnet), Value: routes.Rows(table.Routes),
		})
	}
	return said
}

// fixStuckNAT gives the gateway's subnet a way to the internet gateway. A
// table that other subnets use too is left alone: they may rely on it.
func fixStuckNAT(c *routes.Scope, f wayFault, nat snapshot.NATGateway) finding.Fix {
	fix := finding.Fix{Console: link.VPC(c.S, "NatGatewayDetails:natGatewayId="+f.id)}
	table, known := c.Net.Table(nat.Subnet)
	igw, attached := c.Net.Gateway(nat.VPC)
	public, other := publicTable(c, nat.VPC)
	switch mode := c.Net.Mode(nat.Subnet, nat.VPC).Mode; {
	case mode == snapshot.BlockBidirectional:
		fix.Text = fmt.Sprintf("Lead 0.0.0.0/0 of %s to an internet gateway, and exclude %s from VPC Block Public Access (%s) with allow-egress: it drops the traffic else.", table.ID, nat.Subnet, mode)
	case !known || !attached:
		fix.Text = fmt.Sprintf("Attach an internet gateway to %s, and lead 0.0.0.0/0 of the table of %s to it.", nat.VPC, nat.Subnet)
	case table.Fallback && other:
		fix.Text = fmt.Sprintf("%s: leads to %s; %s has no association of its own", public.ID, igw.ID, nat.Subnet)
		fix.Command = command.AWS(c.S, "ec2 associate-route-table", "--route-table-id", public.ID, "--subnet-id", nat.Subnet)
	case !table.Fallback && slices.Equal(table.Subnets, []string{nat.Subnet}):
		fix.Text = fmt.Sprintf("%s: attached to %s; only %s uses %s", igw.ID, nat.VPC, nat.Subnet, table.ID)
		fix.Command = command.Route(c.S, setRoute(table.Routes, "0.0.0.0/0"), table.ID, "0.0.0.0/0", "--gateway-id", igw.ID)
	default:
		fix.Text = fmt.Sprintf("Associate %s with a table of its own whose 0.0.0.0/0 leads to %s. Other subnets use %s too, so do not change that.", nat.Subnet, igw.ID, table.ID)
	}
	return fix
}

// publicTable is a table of the VPC that leads to its internet gateway.
func publicTable(c *routes.Scope, vpc string) (snapshot.RouteTable, bool) {
	for _, t := range c.S.RouteTables {
		if t.VPC != vpc || len(t.Subnets) == 0 {
			continue
		}
		if _, known := c.Net.Subnet(t.Subnets[0]); known && c.Net.Internet(t.Subnets[0]).Verdict == path.NeedsPublicIP {
			return t, true
		}
	}
	return snapshot.RouteTable{}, false
}

// setRoute is the action that sets a table's route for a destination.
func setRoute(list []snapshot.Route, destination string) string {
	if slices.ContainsFunc(list, func(r snapshot.Route) bool { return path.Destination(r) == destination }) {
		return "replace-route"
	}
	return "create-route"
}

func natUnusable(c *routes.Scope) []finding.Finding {
	open := func(w path.Way) bool { return maySpareNAT(c, w) }
	return wayCheck{fault: path.NATUnusable, id: atEnd, open: open, say: natUnusableFinding}.findings(c)
}

// maySpareNAT tells that a way that leaves what is read may still end at an
// unusable NAT gateway. A public one that is available is usable, wherever it
// leads.
func maySpareNAT(c *routes.Scope, w path.Way) bool {
	nat, seen := c.Net.NAT(w.Row.Target.ID)
	return routes.Rowless(w) || byNAT(w) && !(seen && nat.Public)
}

func natUnusableFinding(c *routes.Scope, f wayFault) finding.Finding {
	nat, _ := c.Net.NAT(f.id)
	state := path.NATState(nat.State)
	if nat.State == "available" {
		state = "is private and leads nowhere"
	}
	ids := f.subnets()
	return finding.Finding{
		Outcome:   finding.Fail,
		Resource:  f.id,
		Covers:    ids,
		Instances: c.Stranded(ids),
		Resources: f.way.Resources(),
		Title:     phrase.Title("%s %s", f.id, state),
		Why: fmt.Sprintf("%s %s %s to %s, but %s. Nodes in %s cannot reach %s.",
			phrase.Some(f.tables(), 3), phrase.Verb(f.tables(), "sends", "send"), path.Destination(f.way.Row), f.way.Row.Target.ID,
			phrase.Clip(f.way.Reason), phrase.Some(ids, 3), phrase.And(path.Names(f.lost()))),
		Evidence: f.evidence(),
		Fix:      fixNAT(c, f, nat),
	}
}

func fixNAT(c *routes.Scope, f wayFault, nat snapshot.NATGateway) finding.Fix {
	fix := finding.Fix{Console: link.VPC(c.S, "NatGatewayDetails:natGatewayId="+f.id)}
	var commands []string
	for _, l := range f.lots {
		other, why, ok := ToNAT(c, l.Table.VPC, l.Zones(), f.id)
		if !ok {
			break
		}
		fix.Text = why
		commands = append(commands, command.Route(c.S, "replace-route", l.Table.ID, path.Destination(f.way.Row), "--nat-gateway-id", other.ID))
	}
	switch {
	case nat.State == "pending":
		return finding.Fix{Text: "Wait: a new NAT gateway takes a few minutes to become available. Nodes that miss their time then need replacing.", Console: fix.Console}
	case len(commands) == len(f.lots):
		fix.Command = command.Several(commands)
	default:
		fix.Text = fmt.Sprintf("Make a new public NAT gateway in a public subnet, and lead %s of %s to it. No other NAT gateway of %s works.", path.Destination(f.way.Row), phrase.Some(f.tables(), 3), nat.VPC)
	}
	return fix
}
