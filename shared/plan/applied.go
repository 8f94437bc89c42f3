package plan

import (
	"slices"
	"strings"

	"rollcall/shared/snapshot"
)

// Applied tells whether the world is now as the plan makes it. Known is false
// where that could not be looked at. It is asked when no answer came, and when
// a run ended between its claim and its record.
func (p Plan) Applied(s *snapshot.Snapshot) (done, known bool) {
	switch {
	case p.Route != nil:
		return p.Route.applied(s), s.Has(snapshot.RouteTables)
	case p.Replace != nil:
		return p.Replace.applied(s), s.Has(snapshot.Instances)
	case p.Open != nil:
		return p.Open.applied(s), s.Has(snapshot.SecurityGroups)
	case p.Cover != nil:
		return slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool {
			return (g.Name == p.Cover.Group || p.Cover.Nodegroup != "" && g.Tags["eks:nodegroup-name"] == p.Cover.Nodegroup) && g.Desired >= p.Cover.To
		}), s.Has(snapshot.Groups)
	case p.Access != nil:
		return slices.ContainsFunc(s.Principals, func(arn string) bool { return strings.EqualFold(arn, p.Access.Principal) }), s.Has(snapshot.Access)
	}
	return false, false
}

func (r Route) applied(s *snapshot.Snapshot) bool {
	return slices.ContainsFunc(s.RouteTables, func(t snapshot.RouteTable) bool {
		return t.ID == r.Table && slices.ContainsFunc(t.Routes, func(x snapshot.Route) bool {
			return x.Destination.IsValid() && x.Destination.String() == r.Destination && x.Target.ID == r.NAT
		})
	})
}

// applied tells that all of the instances are on their way out.
func (r Replace) applied(s *snapshot.Snapshot) bool {
	return !slices.ContainsFunc(r.Instances, func(x Replaced) bool {
		ending := slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool {
			return slices.ContainsFunc(g.Instances, func(m snapshot.GroupInstance) bool {
				return m.ID == x.Instance && strings.HasPrefix(m.Lifecycle, "Terminat")
			})
		})
		return !ending && slices.ContainsFunc(s.Instances, func(i snapshot.Instance) bool {
			return i.ID == x.Instance && i.State != "shutting-down" && i.State != "terminated"
		})
	})
}

func (o Open) applied(s *snapshot.Snapshot) bool {
	return slices.ContainsFunc(s.SecurityGroups, func(g snapshot.SecurityGroup) bool {
		return g.ID == o.SecurityGroup && !slices.ContainsFunc(o.From, func(from string) bool {
			return !slices.ContainsFunc(g.Ingress, func(r snapshot.Rule) bool { return admits(r, from) })
		})
	})
}
