package checks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// elsewhere are the targets of a lot's rows that lead to other private
// networks. There, shared endpoints (with a hosted zone of one's own) or a
// proxy can serve a subnet that has no default route; neither can be seen. A
// default route into a peering connection is a mistake, and no such row.
func (l lot) elsewhere() []string {
	var list []string
	for _, r := range l.table.Routes {
		if r.Target.Kind == snapshot.ToPeering && !rowless(l.internet) && r.Target.ID == l.internet.Row.Target.ID {
			continue
		}
		switch r.Target.Kind {
		case snapshot.ToTransitGateway, snapshot.ToPeering, snapshot.ToVPNGateway, snapshot.ToCoreNetwork, snapshot.ToInterface:
			if r.State != "blackhole" && !slices.Contains(list, r.Target.ID) {
				list = append(list, r.Target.ID)
			}
		}
	}
	return list
}

// template is the version of the launch template that an instance came from.
func (c *scene) template(i *snapshot.Instance) (snapshot.LaunchTemplate, bool) {
	k := slices.IndexFunc(c.s.LaunchTemplates, func(t snapshot.LaunchTemplate) bool {
		return t.ID != "" && t.ID == i.Template.ID && t.Version == i.Template.Version
	})
	if k < 0 {
		return snapshot.LaunchTemplate{}, false
	}
	return c.s.LaunchTemplates[k], true
}

// shared tells that a lot's subnets are another account's. Its endpoints serve
// them, and only that account can describe those (VPC user guide, "Share your
// VPC subnets with other accounts").
func (c *scene) shared(l lot) bool {
	return slices.ContainsFunc(l.subnets, func(s snapshot.Subnet) bool {
		// arn:aws:ec2:us-west-2:123456789012:subnet/subnet-0ab1
		parts := strings.Split(s.ARN, ":")
		return len(parts) > 4 && parts[4] != "" && c.s.Account != "" && parts[4] != c.s.Account
	})
}

// doubt is why a lot may be well although no way can be seen; empty for none.
func (c *scene) doubt(l lot) string {
	if ways := l.elsewhere(); len(ways) > 0 {
		return fmt.Sprintf("a proxy or shared endpoints may be behind %s", some(ways, 2))
	}
	if c.shared(l) {
		return fmt.Sprintf("%s is another account's, whose endpoints cannot be seen from this one", l.table.VPC)
	}
	if from := c.starts.proxied(c.waiting(l.ids())); from != "" {
		return "the user data names a proxy (" + from + ")"
	}
	if c.s.Cluster.IPv6 && slices.ContainsFunc(l.table.Routes, sixOut) {
		return "the nodes may take the way out over IPv6"
	}
	return ""
}

// excused is the finding on a lot that is in doubt, if the lot is not to be
// accused: what became of its launches decides, and as long as none tells it
// is Unknown. A launch that joined speaks for it, unless one that began later
// is overdue.
func (c *scene) excused(l lot, doubt string) (Finding, bool) {
	launches := c.s.Index()
	joined := c.s.Ready()
	ids := l.ids()
	var well, overdue time.Time
	var witness string
	for _, i := range c.s.Instances {
		launch, remembered := launches.launches[i.ID]
		if !remembered || i.Ended() || launches.warm[i.ID] || !slices.Contains(ids, i.Subnet) {
			continue
		}
		switch {
		case joined[i.ID]:
			if witness == "" || launch.Started.After(well) {
				well, witness = launch.Started, i.ID
			}
		case c.s.Has(snapshot.Nodes) && launches.due(i.ID) && launch.Started.After(overdue):
			overdue = launch.Started
		}
	}
	switch {
	case !overdue.IsZero() && !well.After(overdue):
		return Finding{}, false
	case witness != "":
		f := l.pass()
		f.Evidence = []Evidence{{What: witness, Value: "is a Ready node, with no way out that can be seen: " + doubt}}
		return f, true
	}
	return beyond(l, path.Way{
		Verdict: path.LeavesView, At: l.table.ID, Reason: doubt,
		Hops: []path.Hop{{ID: ids[0]}, {ID: l.table.ID}},
	}), true
}
