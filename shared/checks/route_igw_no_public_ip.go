package checks

import (
	"fmt"
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

func igwNoPublicIP() Check {
	return usingTemplates(walking(Check{
		ID:         "route/igw-no-public-ip",
		Title:      "The way out is an internet gateway, and nodes have no public address",
		Confidence: Certain,
		Explains:   []ID{AnyJoinCause},
		Needs:      []snapshot.Source{snapshot.Clusters, snapshot.Subnets, snapshot.RouteTables, snapshot.Endpoints, snapshot.Instances},
		Uses:       []snapshot.Source{snapshot.LaunchTemplates}, // which may turn public addresses off
		AtLaunch:   true,
		Cause:      "An internet gateway only carries traffic of addresses that have a public one. The subnet does not assign them, or the launch template turns that off.",
		Fix:        "Let the subnet (or the launch template's network interface) assign public addresses, or lead 0.0.0.0/0 to a NAT gateway. Then replace the instances: a running one is not given an address.",
		Links:      []string{"https://docs.aws.amazon.com/vpc/latest/userguide/vpc-igw-internet-access.html"},
		Run: func(s *View) []Finding {
			c := s.RouteScope()
			var list []Finding
			list = append(list, c.blind...)
			for _, l := range c.lots {
				list = append(list, c.publicAddresses(l)...)
			}
			return list
		},
	}))
}

func (c *scene) publicAddresses(l lot) []Finding {
	if w, away := l.open(); away && rowless(w) {
		return []Finding{beyond(l, w)}
	}
	if len(l.outside()) == 0 || l.internet.Verdict != path.NeedsPublicIP {
		return []Finding{l.pass()}
	}
	var list []Finding
	for _, subnet := range l.subnets {
		if f, judged := c.publicAddress(l, subnet); judged {
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
func (c *scene) publicAddress(l lot, subnet snapshot.Subnet) (Finding, bool) {
	var without, waiting []string
	with := 0
	for _, i := range c.all[subnet.ID] {
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
		without = c.neverHad(subnet)
	}
	setting := "does not assign them"
	if subnet.AssignPublicIP {
		setting = "assigns them"
	}
	switch {
	case len(without) > 0:
	case with > 0, len(waiting) == 0 && subnet.AssignPublicIP:
		return Finding{
			Outcome: Pass, Resource: subnet.ID, Covers: []string{subnet.ID},
			Evidence: []Evidence{{What: subnet.ID, Value: fmt.Sprintf("%s; public addresses: the subnet %s, %d instances have one", path.Row(l.internet.Row), setting, with)}},
		}, true
	case len(waiting) > 0:
		return Finding{}, false
	default:
		return c.unsettled(subnet, "no instance runs there, and what the launch template assigns is not read"), true
	}
	if c.s.Cluster.IPv6 && slices.ContainsFunc(l.table.Routes, sixOut) {
		return c.unsettled(subnet, "the nodes may take the way out over IPv6"), true
	}
	if l.proven() {
		f := l.works()
		f.Resource, f.Covers = subnet.ID, []string{subnet.ID}
		return f, true
	}
	one := lot{s: l.s, table: l.table, subnets: []snapshot.Subnet{subnet}, paths: l.paths, internet: l.internet}
	f := Finding{
		Outcome:   Fail,
		Resource:  subnet.ID,
		Covers:    []string{subnet.ID},
		Instances: c.stranded([]string{subnet.ID}),
		Resources: l.internet.Resources(),
		Title:     title("%s gives its nodes no public address", subnet.ID),
		Why: fmt.Sprintf("%s sends 0.0.0.0/0 to %s, which serves public addresses only, and %s does not assign them. Nodes cannot reach %s.",
			l.table.ID, l.internet.At, subnet.ID, and(path.Names(l.outside()))),
		Evidence: append(one.evidence(), Evidence{What: "Public addresses", Value: subnet.ID + " " + setting}),
		Fix:      c.fixPublicAddress(l, subnet),
	}
	f.Instances = slices.DeleteFunc(f.Instances, func(id string) bool { return !slices.Contains(without, id) })
	f.Evidence[len(f.Evidence)-1].Value += fmt.Sprintf("; none on %s", some(without, 5))
	if l.witness != "" {
		f.Confidence = Likely
	}
	if subnet.AssignPublicIP {
		f.Title = title("instances in %s have no public address", subnet.ID)
		f.Why = fmt.Sprintf("%s sends 0.0.0.0/0 to %s, which serves public addresses only. %s assigns them, but the launch template's network interface turns that off: %s %s none. Nodes cannot reach %s.",
			l.table.ID, l.internet.At, subnet.ID, some(without, 3), verb(without, "has", "have"), and(path.Names(l.outside())))
	}
	return f, true
}

// neverHad are the instances that ended and, by their launch template and the
// subnet's setting, never had a public address; EC2 forgets it when they end.
// Nil when that is not sure of all of them.
func (c *scene) neverHad(subnet snapshot.Subnet) []string {
	for _, i := range c.fell[subnet.ID] {
		t, known := c.template(i)
		if !known || t.PublicIP == "true" || t.PublicIP == "" && subnet.AssignPublicIP {
			return nil
		}
	}
	return ids(c.fell[subnet.ID])
}

// sixOut tells that a row is a default route over IPv6 that works.
func sixOut(r snapshot.Route) bool {
	return r.Destination.IsValid() && r.Destination.Addr().Is6() && r.Destination.Bits() == 0 && r.State != "blackhole"
}

// unsettled is the Unknown for a subnet whose public addresses cannot be judged.
func (c *scene) unsettled(subnet snapshot.Subnet, why string) Finding {
	return Finding{
		Outcome: Unknown, Resource: subnet.ID, Covers: []string{subnet.ID},
		Blocked: []snapshot.Failure{{Source: snapshot.Instances, Reason: snapshot.NotRead, Message: subnet.ID + ": " + why}},
	}
}

func (c *scene) fixPublicAddress(l lot, subnet snapshot.Subnet) Fix {
	fix := Fix{Console: console(c.s, "SubnetDetails:subnetId="+subnet.ID)}
	if subnet.AssignPublicIP {
		fix.Text = "Set AssociatePublicIpAddress to true in the launch template's network interface, or take the interface out of it; then replace the instances."
		return fix
	}
	fix.Text = fmt.Sprintf("Then replace the instances. If %s is meant to be private, associate it with a table that leads to a NAT gateway instead.", subnet.ID)
	if other, ok := c.sibling(l.table, []string{subnet.Zone}); ok {
		fix.Text = fmt.Sprintf("Then replace the instances. If %s is meant to be private, associate it with %s, which leads to a NAT gateway, instead.", subnet.ID, other.ID)
	}
	fix.Command = aws(c.s, "ec2 modify-subnet-attribute", "--subnet-id", subnet.ID, "--map-public-ip-on-launch")
	return fix
}
