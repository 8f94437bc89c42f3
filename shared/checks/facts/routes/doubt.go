package routes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/finding"
	"rollcall/shared/checks/phrase"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// elsewhere are the targets of a lot's rows that lead to other private
// networks. There, shared endpoints (with a hosted zone of one's own) or a
// proxy can serve a subnet that has no default route; neither can be seen. A
// default route into a peering connection is a mistake, and no such row.
func (l Table) elsewhere() []string {
	var list []string
	for _, r := range l.Table.Routes {
		if r.Target.Kind == snapshot.ToPeering && !Rowless(l.Internet) && r.Target.ID == l.Internet.Row.Target.ID {
			continue
		}
		if path.Elsewhere(r.Target.Kind) && r.Usable() && !slices.Contains(list, r.Target.ID) {
			list = append(list, r.Target.ID)
		}
	}
	return list
}

// Template is the version of the launch template that an instance came from.
func (c *Scope) Template(i *snapshot.Instance) (snapshot.LaunchTemplate, bool) {
	k := slices.IndexFunc(c.S.LaunchTemplates, func(t snapshot.LaunchTemplate) bool {
		return t.ID != "" && t.ID == i.Template.ID && t.Version == i.Template.Version
	})
	if k < 0 {
		return snapshot.LaunchTemplate{}, false
	}
	return c.S.LaunchTemplates[k], true
}

// shared tells that a lot's subnets are another account's. Its endpoints serve
// them, and only that account can describe those (VPC user guide, "Share your
// VPC subnets with other accounts").
func (c *Scope) shared(l Table) bool {
	return slices.ContainsFunc(l.Subnets, func(s snapshot.Subnet) bool {
		// arn:aws:ec2:us-west-2:123456789012:subnet/subnet-0ab1
		parts := strings.Split(s.ARN, ":")
		return len(parts) > 4 && parts[4] != "" && c.S.Account != "" && parts[4] != c.S.Account
	})
}

// Doubt is why a lot may be well although no way can be seen; empty for none.
func (c *Scope) Doubt(l Table) string {
	if ways := l.elsewhere(); len(ways) > 0 {
		return fmt.Sprintf("a proxy or shared endpoints may be behind %s", phrase.Some(ways, 2))
	}
	if c.shared(l) {
		return fmt.Sprintf("%s is another account's, whose endpoints cannot be seen from this one", l.Table.VPC)
	}
	if from := c.starts.Proxied(c.waiting(l.IDs())); from != "" {
		return "the user data names a proxy (" + from + ")"
	}
	if c.S.Cluster.IPv6 && slices.ContainsFunc(l.Table.Routes, SixOut) {
		return "the nodes may reach the internet over IPv6"
	}
	return ""
}

// Counter is a Ready node in a lot's subnets that speaks against the lot's fault; empty
// for none. One that registered after those that fail were launched has reached EC2, ECR
// and STS since, by a way that is not seen. An older one may have joined before a route was
// taken away, and stays Ready by a private way to the API: it speaks only where there is a
// doubt beside it, a proxy or another network, by which it may have lived all along. Either
// makes the fault less sure and does not clear it: the way may be one node's own.
func (c *Scope) Counter(l Table) string {
	var last time.Time
	for _, id := range l.IDs() {
		for _, i := range slices.Concat(c.Here[id], c.Fell[id]) {
			if i.Launched.After(last) {
				last = i.Launched
			}
		}
	}
	if last.IsZero() {
		return ""
	}
	for _, n := range c.S.Nodes {
		inside := n.InternalIP.Is4() && slices.ContainsFunc(l.Subnets, func(s snapshot.Subnet) bool { return s.CIDR.IsValid() && s.CIDR.Contains(n.InternalIP) })
		if inside && n.Joined() && (n.Created.After(last) || c.Doubt(l) != "") {
			return n.Name
		}
	}
	return ""
}

// Excused is the finding on a lot that is in doubt, if the lot is not to be
// accused: what became of its launches decides, and as long as none tells it
// is Unknown. A launch that joined speaks for it, unless one that began later
// is overdue.
func (c *Scope) Excused(l Table, doubt string) (finding.Finding, bool) {
	launches := c.S.Index()
	joined := c.S.Ready()
	ids := l.IDs()
	var well, overdue time.Time
	var witness string
	for _, i := range c.S.Instances {
		launch, remembered := launches.Launches[i.ID]
		if !remembered || i.Ended() || launches.Warm[i.ID] || !slices.Contains(ids, i.Subnet) {
			continue
		}
		switch {
		case joined[i.ID]:
			if witness == "" || launch.Started.After(well) {
				well, witness = launch.Started, i.ID
			}
		case c.S.Has(snapshot.Nodes) && launches.Due(i.ID) && launch.Started.After(overdue):
			overdue = launch.Started
		}
	}
	switch {
	case !overdue.IsZero() && !well.After(overdue):
		return finding.Finding{}, false
	case witness != "":
		f := l.Pass()
		f.Evidence = []finding.Evidence{{What: witness, Value: "is a Ready node, with no route to the internet that can be seen: " + doubt}}
		return f, true
	}
	return Beyond(l, path.Way{
		Verdict: path.LeavesView, At: l.Table.ID, Reason: doubt,
		Hops: []path.Hop{{ID: ids[0]}, {ID: l.Table.ID}},
	}), true
}
