// Package routes is the scope's subnets by route table, and how far packets get from
// each: what the checks of routes, endpoints and addresses share.
package routes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checks/check"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// Scope is a snapshot's scope, sorted into what the route checks judge.
type Scope struct {
	S      *check.View
	Net    *path.Network
	starts *check.BootConfig
	// PendingBySubnet are the running instances of the scope by subnet that have not
	// joined and could have; those that are Ready nodes are not in it: nothing
	// keeps them from joining.
	PendingBySubnet map[string][]*snapshot.Instance
	// RunningBySubnet are the running instances of the scope by subnet, Ready nodes too.
	RunningBySubnet map[string][]*snapshot.Instance
	// TerminatedBySubnet are the instances of the scope by subnet that ended before they
	// joined, and neither on request nor because EC2 reclaimed them.
	TerminatedBySubnet map[string][]*snapshot.Instance
	// Ready are the instances that are Ready nodes.
	Ready  map[string]bool
	Tables []Table
	// Unreadable are the Unknowns: what of the scope cannot be judged at all.
	Unreadable []check.Finding
}

// ForView returns the scope by route table.
func ForView(s *check.View) *Scope {
	return check.Derive(s, "routes", func(s *check.View) *Scope { return NewScope(s, s.Scope.Subnets) })
}

// NewScope sorts the given subnets, beside those of the scope's instances.
func NewScope(s *check.View, subnets []string) *Scope {
	c := &Scope{
		S: s, Net: s.Network(), starts: s.Boot(), Ready: s.Ready(),
		PendingBySubnet: map[string][]*snapshot.Instance{}, RunningBySubnet: map[string][]*snapshot.Instance{}, TerminatedBySubnet: map[string][]*snapshot.Instance{},
	}
	subnets = append(slices.Clone(subnets), c.place()...)
	slices.Sort(subnets)
	index := map[string]int{}
	for _, id := range slices.Compact(subnets) {
		subnet, known := c.Net.Subnet(id)
		if !known {
			c.cannot(id, check.NotRead(snapshot.Subnets, "%s is not among the subnets that EC2 lists", id))
			continue
		}
		table, known := c.Net.Table(id)
		if !known {
			c.cannot(id, check.NotRead(snapshot.RouteTables, "no route table is associated with %s, and the main table of %s is not among those that EC2 lists", id, subnet.VPC))
			continue
		}
		key := table.ID + c.Net.Class(id)
		i, ok := index[key]
		if !ok {
			i = len(c.Tables)
			index[key] = i
			paths, _ := c.Net.Needs(id)
			c.Tables = append(c.Tables, Table{S: s, Table: table, Paths: paths, Internet: c.Net.Internet(id)})
		}
		c.Tables[i].Subnets = append(c.Tables[i].Subnets, subnet)
	}
	for i := range c.Tables {
		l := &c.Tables[i]
		l.ReadyNode = c.readyNode(*l)
		if more := c.starts.Describing(c.waiting(l.IDs())); len(more) > 0 {
			l.Paths, _ = c.Net.Needs(l.Subnets[0].ID, more...)
		} else {
			l.Asking = c.asking(*l)
		}
	}
	return c
}

// asking is why it is not known whether an instance that waits asks EKS about the cluster,
// where EKS has no endpoint.
func (c *Scope) asking(l Table) *snapshot.Failure {
	for _, i := range c.waiting(l.IDs()) {
		why, denied := c.starts.Denied(i)
		if !denied {
			continue
		}
		paths, _ := c.Net.Needs(l.Subnets[0].ID, path.EKS)
		if slices.ContainsFunc(paths, func(p path.Path) bool { return p.Service == path.EKS && p.Means == path.ByInternet }) {
			return &why
		}
	}
	return nil
}

// place finds the subnets of the scope's instances.
func (c *Scope) place() []string {
	if !c.S.Has(snapshot.Instances) {
		if len(c.S.Scope.Instances) > 0 {
			c.Unreadable = append(c.Unreadable, check.Unread(c.S.Cluster.Name, slices.Clone(c.S.Scope.Instances), c.S.Why(snapshot.Instances)))
		}
		return nil
	}
	var subnets []string
	suspects, well := c.S.Pending()
	for _, i := range suspects {
		subnet := check.SubnetOf(c.S, i)
		if subnet == "" {
			continue
		}
		subnets = append(subnets, subnet)
		if i.Ended() {
			c.TerminatedBySubnet[subnet] = append(c.TerminatedBySubnet[subnet], i)
			continue
		}
		c.PendingBySubnet[subnet] = append(c.PendingBySubnet[subnet], i)
		c.RunningBySubnet[subnet] = append(c.RunningBySubnet[subnet], i)
	}
	for _, i := range well {
		if i.Subnet != "" && !i.Ended() {
			subnets = append(subnets, i.Subnet)
			c.RunningBySubnet[i.Subnet] = append(c.RunningBySubnet[i.Subnet], i)
		}
	}
	return subnets
}

// readyNode is a Ready node in a table's subnets, where no instance waits beside
// it: whatever cannot be seen of the table's ways, they work.
func (c *Scope) readyNode(l Table) string {
	found := ""
	for _, id := range l.IDs() {
		if len(c.PendingBySubnet[id]) > 0 || len(c.TerminatedBySubnet[id]) > 0 {
			return ""
		}
		for _, i := range c.RunningBySubnet[id] {
			if found == "" && c.Ready[i.ID] {
				found = i.ID
			}
		}
	}
	return found
}

func (c *Scope) cannot(id string, f snapshot.Failure) {
	c.Unreadable = append(c.Unreadable, check.Unread(id, []string{id}, f))
}

// Stranded are the instances of the scope in the table's subnets that have not
// joined: those that wait, and those that ended meanwhile.
func (c *Scope) Stranded(subnets []string) []string { return check.IDs(c.waiting(subnets)) }

func (c *Scope) waiting(subnets []string) []*snapshot.Instance {
	var list []*snapshot.Instance
	for _, subnet := range subnets {
		list = append(list, c.PendingBySubnet[subnet]...)
		list = append(list, c.TerminatedBySubnet[subnet]...)
	}
	return list
}

// Each judges every table, and adds what cannot be judged.
func (c *Scope) Each(judge func(*Scope, Table) check.Finding) []check.Finding {
	list := slices.Clone(c.Unreadable)
	for _, l := range c.Tables {
		list = append(list, judge(c, l))
	}
	return list
}

// elsewhere are the targets of a table's rows that lead to other private
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

// shared reports whether a table's subnets are another account's. Its endpoints serve
// them, and only that account can describe those (VPC user guide, "Share your
// VPC subnets with other accounts").
func (c *Scope) shared(l Table) bool {
	return slices.ContainsFunc(l.Subnets, func(s snapshot.Subnet) bool {
		// arn:aws:ec2:us-west-2:123456789012:subnet/subnet-0ab1
		parts := strings.Split(s.ARN, ":")
		return len(parts) > 4 && parts[4] != "" && c.S.Account != "" && parts[4] != c.S.Account
	})
}

// Doubt is why a table may be well although no way can be seen; empty for none.
func (c *Scope) Doubt(l Table) string {
	if ways := l.elsewhere(); len(ways) > 0 {
		return fmt.Sprintf("a proxy or shared endpoints may be behind %s", check.Some(ways, 2))
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

// Counter is a Ready node in a table's subnets that speaks against the table's fault; empty
// for none. One that registered after those that fail were launched has reached EC2, ECR
// and STS since, by a way that is not seen. An older one may have joined before a route was
// taken away, and stays Ready by a private way to the API: it speaks only where there is a
// doubt beside it, a proxy or another network, by which it may have lived all along. Either
// makes the fault less sure and does not clear it: the way may be one node's own.
func (c *Scope) Counter(l Table) string {
	var last time.Time
	for _, id := range l.IDs() {
		for _, i := range slices.Concat(c.PendingBySubnet[id], c.TerminatedBySubnet[id]) {
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

// Exempt is the finding on a table that is in doubt, if the table is not to be
// accused: what became of its launches decides, and as long as none tells it
// is Unknown. A launch that joined speaks for it, unless one that began later
// is overdue.
func (c *Scope) Exempt(l Table, doubt string) (check.Finding, bool) {
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
		return check.Finding{}, false
	case witness != "":
		f := l.Pass()
		f.Evidence = []check.Evidence{{What: witness, Value: "is a Ready node, with no visible route to the internet: " + doubt}}
		return f, true
	}
	return BeyondView(l, path.Way{
		Verdict: path.LeavesView, At: l.Table.ID, Reason: doubt,
		Hops: []path.Hop{{ID: ids[0]}, {ID: l.Table.ID}},
	}), true
}

// Endpointed are the needed services for which a VPC has an endpoint of any
// kind and setting, that is there or coming.
func (c *Scope) Endpointed(vpc string) []path.Service {
	var list []path.Service
	for _, service := range path.Needed() {
		if slices.ContainsFunc(c.Net.Endpoints(vpc, service), check.There) {
			list = append(list, service)
		}
	}
	return list
}

// Rows writes a table's rows, at most twenty.
func Rows(routes []snapshot.Route) string {
	const limit = 20
	list := make([]string, 0, min(len(routes), limit+1))
	for i, r := range routes {
		if i == limit {
			list = append(list, fmt.Sprintf("and %d more", len(routes)-limit))
			break
		}
		list = append(list, path.Row(r))
	}
	if len(list) == 0 {
		return "no routes"
	}
	return strings.Join(list, "; ")
}

// Evidence is what a person would have looked up for a table: the table, how
// the subnets came by it, the subnets, and the path to each service.
func (l Table) Evidence() []check.Evidence {
	const limit = 5
	list := []check.Evidence{{What: "Routes of " + l.Table.ID, Value: Rows(l.Table.Routes)}}
	for i, s := range l.Subnets {
		if i == limit {
			list = append(list, check.Evidence{What: "Subnets", Value: fmt.Sprintf("and %d more", len(l.Subnets)-limit)})
			break
		}
		how := "associated with " + l.Table.ID
		if !slices.Contains(l.Table.Subnets, s.ID) {
			how = fmt.Sprintf("no association of its own: uses the main table of %s", s.VPC)
		}
		list = append(list, check.Evidence{
			What:  s.ID,
			Value: fmt.Sprintf("%s, %s, %d free addresses; %s", s.CIDR, s.Zone, s.Free, how),
		})
	}
	return append(list, check.Walked(l.Paths)...)
}

// Table is the subnets of the scope that share a route table and whatever else decides
// about their ways, and so every path to what their nodes need.
type Table struct {
	S       *check.View
	Table   path.Table
	Subnets []snapshot.Subnet
	Paths   []path.Path
	// Internet is the way out, whether or not a service needs it.
	Internet path.Way
	// Asking is why it is not known whether an instance that waits asks EKS about the
	// cluster, which only the internet leads to here; nil where that is known.
	Asking *snapshot.Failure
	// ReadyNode is a Ready node that speaks for what cannot be seen; often empty.
	ReadyNode string
}

func (l Table) IDs() []string {
	ids := make([]string, len(l.Subnets))
	for i, s := range l.Subnets {
		ids[i] = s.ID
	}
	return ids
}

func (l Table) Zones() []string {
	var zones []string
	for _, s := range l.Subnets {
		if !slices.Contains(zones, s.Zone) && s.Zone != "" {
			zones = append(zones, s.Zone)
		}
	}
	return zones
}

// Outside are the services that only the internet leads to.
func (l Table) Outside() []path.Service {
	var list []path.Service
	for _, p := range l.Paths {
		if p.Means == path.ByInternet {
			list = append(list, p.Service)
		}
	}
	return list
}

// Inside are the services that are reached without the internet.
func (l Table) Inside() []path.Service {
	var list []path.Service
	for _, p := range l.Paths {
		if p.Means != path.ByInternet {
			list = append(list, p.Service)
		}
	}
	return list
}

// Away is a path to a needed service that leaves what is read, if any.
func (l Table) Away() (path.Way, bool) {
	for _, p := range l.Paths {
		if p.Verdict == path.LeavesView {
			return p.Way, true
		}
	}
	return path.Way{}, false
}

// Ends is a path over the internet to a needed service that ends in a
// verdict, if any. A private endpoint of the cluster in another VPC has a check
// of its own.
func (l Table) Ends(v path.Verdict) (path.Path, bool) {
	i := slices.IndexFunc(l.Paths, func(p path.Path) bool { return p.Verdict == v && p.Means != path.ByPrivateAPI })
	if i < 0 {
		return path.Path{}, false
	}
	return l.Paths[i], true
}

// Open is the way to the internet where a needed service takes it and it
// leaves what is read.
func (l Table) Open() (path.Way, bool) {
	return l.Internet, len(l.Outside()) > 0 && l.Internet.Verdict == path.LeavesView
}

// API is the path to the cluster's API.
func (l Table) API() path.Path {
	i := slices.IndexFunc(l.Paths, func(p path.Path) bool { return p.Service == path.API })
	if i < 0 {
		return path.Path{}
	}
	return l.Paths[i]
}

// Proven reports whether a Ready node shows that the table's way to the internet
// works, whatever is seen of it (a proxy, say): its kubelet renews its lease
// with the API every 10 seconds over it, and within a minute of the last time
// it is not Ready any more (Kubernetes, "Node heartbeats").
func (l Table) Proven() bool { return l.ReadyNode != "" && l.API().Means == path.ByInternet }

// Works is the Pass of a table whose way is proven.
func (l Table) Works() check.Finding {
	f := l.Pass()
	f.Evidence = []check.Evidence{{What: l.ReadyNode, Value: "is a Ready node and reaches the API, although no working path is visible"}}
	return f
}

// Rowless is a way whose first row is not known.
func Rowless(w path.Way) bool { return w.Row.Target.Kind == "" }

// BeyondView is the Unknown for paths that leave what is read. Where a Ready node
// speaks for them, they work all the same.
func BeyondView(l Table, w path.Way) check.Finding {
	if l.ReadyNode != "" {
		f := l.Pass()
		f.Evidence = []check.Evidence{{What: l.ReadyNode, Value: fmt.Sprintf("is a Ready node, on a path that cannot be followed beyond %s", w.At)}}
		return f
	}
	blocked := snapshot.Failure{Source: snapshot.RouteTables, Reason: snapshot.NotRead}
	if w.Unread != "" {
		blocked = l.S.Why(w.Unread)
	}
	blocked.Message = fmt.Sprintf("%s: %s", w.At, w.Reason)
	return check.Finding{
		Outcome: check.Unknown, Resource: w.At, Covers: l.IDs(), Resources: w.Resources(),
		Title:   check.Title("%s: path cannot be followed beyond %s", check.Subject(l.IDs(), "subnet"), w.At),
		Why:     w.String(),
		Blocked: []snapshot.Failure{blocked},
	}
}

// Pass is the Pass of a table: what wins, so that a closed incident can show it.
func (l Table) Pass() check.Finding {
	value := "no internet needed: endpoints for " + check.And(path.Names(l.Inside()))
	if len(l.Outside()) > 0 {
		value = Rows(l.Table.Routes)
		if !Rowless(l.Internet) {
			value = path.Row(l.Internet.Row)
		}
	}
	return check.Passed(l.Table.ID, l.IDs()...).Noting(l.Table.ID, value)
}

// SixOut reports whether a row is a default route over IPv6 that works.
func SixOut(r snapshot.Route) bool {
	return r.Destination.IsValid() && r.Destination.Addr().Is6() && r.Destination.Bits() == 0 && r.Usable()
}
