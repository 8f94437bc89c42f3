package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// noIPv6Way is the finding on a lot without a way out over IPv6. Where the API
// is reached privately, the rest goes over IPv4 unless it is told otherwise,
// and nodes may well join: then it is likely only.
func (c *scene) noIPv6Way(l lot, w path.Way) Finding {
	f := Finding{
		Outcome:   Fail,
		Resource:  l.table.ID,
		Covers:    l.ids(),
		Instances: c.stranded(l.ids()),
		Resources: w.Resources(),
		Title:     title("%s %s no way out over IPv6", subject(l.ids(), "subnet"), verb(l.ids(), "has", "have")),
		Why: fmt.Sprintf("%s is an IPv6 cluster, and %s leads no IPv6 out: %s. It has %s.",
			c.s.Cluster.Name, l.table.ID, w.Reason, rows(l.table.Routes)),
		Evidence: append(l.evidence(), Evidence{What: "Way out over IPv6", Value: w.String()}),
		Fix:      c.fixIPv6Way(l, w),
	}
	if l.api().Means == path.ByPrivateAPI {
		f.Confidence = Likely
		f.Why += " The API is reached privately, so nodes need IPv6 only for what else answers on it."
	}
	return f
}

// fixIPv6Way leads ::/0 out the way the subnet goes over IPv4: by the internet
// gateway where it is public, else by an egress-only one.
func (c *scene) fixIPv6Way(l lot, w path.Way) Fix {
	fix := Fix{Console: tableLink(c.s, l.table.ID)}
	action := "create-route"
	if !rowless(w) && path.Destination(w.Row) == "::/0" {
		action = "replace-route"
	}
	if igw, attached := c.net.Gateway(l.table.VPC); attached && l.internet.Verdict == path.NeedsPublicIP {
		fix.Text = fmt.Sprintf("%s is attached to %s", igw.ID, l.table.VPC)
		fix.Command = route6(c.s, action, l.table.ID, "--gateway-id", igw.ID)
		return fix
	}
	i := slices.IndexFunc(c.s.EgressOnly, func(g snapshot.EgressOnlyGateway) bool { return slices.Contains(g.Attached, l.table.VPC) })
	switch {
	case i >= 0:
		fix.Text = fmt.Sprintf("%s is attached to %s", c.s.EgressOnly[i].ID, l.table.VPC)
		fix.Command = route6(c.s, action, l.table.ID, "--egress-only-internet-gateway-id", c.s.EgressOnly[i].ID)
	case !c.s.Has(snapshot.EgressOnly):
		fix.Text = fmt.Sprintf("Lead ::/0 of %s to an egress-only internet gateway of %s. Which there are could not be read.", l.table.ID, l.table.VPC)
	default:
		fix.Text = fmt.Sprintf("%s has no egress-only internet gateway. Make one, then lead ::/0 of %s to it.", l.table.VPC, l.table.ID)
		fix.Command = aws(c.s, "ec2 create-egress-only-internet-gateway", "--vpc-id", l.table.VPC)
	}
	return fix
}
