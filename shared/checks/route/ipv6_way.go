package route

import (
	"fmt"
	"slices"

	"rollcall/shared/checks/command"
	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/link"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// noIPv6Way is the finding on a lot without a route to the internet over IPv6. Where the API
// is reached privately, the rest goes over IPv4 unless it is told otherwise,
// and nodes may well join: then it is likely only.
func noIPv6Way(c *routes.Scope, l routes.Table, w path.Way) finding.Finding {
	f := finding.Finding{
		Outcome:   finding.Fail,
		Resource:  l.Table.ID,
		Covers:    l.IDs(),
		Instances: c.Stranded(l.IDs()),
		Resources: w.Resources(),
		Title:     phrase.Title("%s %s no IPv6 route to the internet", phrase.Subject(l.IDs(), "subnet"), phrase.Verb(l.IDs(), "has", "have")),
		Why: fmt.Sprintf("%s is an IPv6 cluster, and %s leads no IPv6 out: %s. It has %s.",
			c.S.Cluster.Name, l.Table.ID, w.Reason, routes.Rows(l.Table.Routes)),
		Evidence: append(l.Evidence(), finding.Evidence{What: "Way out over IPv6", Value: w.String()}),
		Fix:      fixIPv6Way(c, l, w),
	}
	if l.API().Means == path.ByPrivateAPI {
		f.Confidence = finding.Likely
		f.Why += " The API is reached privately, so nodes need IPv6 only for what else answers on it."
	}
	return f
}

// fixIPv6Way leads ::/0 out the way the subnet goes over IPv4: by the internet
// gateway where it is public, else by an egress-only one.
func fixIPv6Way(c *routes.Scope, l routes.Table, w path.Way) finding.Fix {
	fix := finding.Fix{Console: link.RouteTable(c.S, l.Table.ID)}
	if mode := c.Net.Mode(l.Subnets[0].ID, l.Table.VPC).Mode; mode == snapshot.BlockBidirectional {
		fix.Text = fmt.Sprintf("A route for ::/0 alone does not help: VPC Block Public Access (%s) drops the traffic of %s. Exclude it with allow-egress, then lead ::/0 of %s to an egress-only internet gateway.", mode, phrase.Some(l.IDs(), 3), l.Table.ID)
		return fix
	}
	action := "create-route"
	if !routes.Rowless(w) && path.Destination(w.Row) == "::/0" {
		action = "replace-route"
	}
	if igw, attached := c.Net.Gateway(l.Table.VPC); attached && l.Internet.Verdict == path.NeedsPublicIP {
		fix.Text = fmt.Sprintf("%s is attached to %s", igw.ID, l.Table.VPC)
		fix.Command = command.Route6(c.S, action, l.Table.ID, "--gateway-id", igw.ID)
		return fix
	}
	i := slices.IndexFunc(c.S.EgressOnly, func(g snapshot.EgressOnlyGateway) bool { return slices.Contains(g.Attached, l.Table.VPC) })
	switch {
	case i >= 0:
		fix.Text = fmt.Sprintf("%s is attached to %s", c.S.EgressOnly[i].ID, l.Table.VPC)
		fix.Command = command.Route6(c.S, action, l.Table.ID, "--egress-only-internet-gateway-id", c.S.EgressOnly[i].ID)
	case !c.S.Has(snapshot.EgressOnly):
		fix.Text = fmt.Sprintf("Lead ::/0 of %s to an egress-only internet gateway of %s. Which there are could not be read.", l.Table.ID, l.Table.VPC)
	default:
		fix.Text = fmt.Sprintf("%s has no egress-only internet gateway. Make one, then lead ::/0 of %s to it.", l.Table.VPC, l.Table.ID)
		fix.Command = command.AWS(c.S, "ec2 create-egress-only-internet-gateway", "--vpc-id", l.Table.VPC)
	}
	return fix
}
