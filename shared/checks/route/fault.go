package route

import (
	"slices"

	"rollcall/shared/checks/facts/routes"
	"rollcall/shared/checks/finding"
	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// wayFault is what ends the ways of some lots: a NAT gateway, a table, an
// instance. It is one finding however many tables lead there: it is what must
// change.
type wayFault struct {
	id   string
	lots []routes.Table
	way  path.Path // of the first lot
}

// wayCheck tells how a check of ways judges the lots.
type wayCheck struct {
	fault path.Verdict
	// id is what a fix would change.
	id func(routes.Table, path.Path) string
	// excuse is the finding on a lot that has the fault and is not accused; nil
	// for none.
	excuse func(*routes.Scope, routes.Table) (finding.Finding, bool)
	// open tells of a way that leaves what is read whether it may still end in
	// the fault: then the lot is Unknown.
	open func(path.Way) bool
	say  func(*routes.Scope, wayFault) finding.Finding
}

// ways sorts the lots by the fault that their ways end in, and judges each.
func ways(c *routes.Scope, w wayCheck) []finding.Finding {
	list := slices.Clone(c.Blind)
	var faults []wayFault
	for _, l := range c.Lots {
		p, found := l.Ends(w.fault)
		if !found {
			f := l.Pass()
			if way, away := l.Open(); away && w.open(way) {
				f = routes.Beyond(l, way)
			}
			list = append(list, f)
			continue
		}
		if l.Proven() {
			list = append(list, l.Works())
			continue
		}
		if w.excuse != nil {
			if f, excused := w.excuse(c, l); excused {
				list = append(list, f)
				continue
			}
		}
		id := w.id(l, p)
		k := slices.IndexFunc(faults, func(f wayFault) bool { return f.id == id })
		if k < 0 {
			k = len(faults)
			faults = append(faults, wayFault{id: id, way: p})
		}
		faults[k].lots = append(faults[k].lots, l)
	}
	for _, f := range faults {
		said := w.say(c, f)
		if !slices.ContainsFunc(f.lots, func(l routes.Table) bool { return l.Witness == "" }) {
			said.Confidence = finding.Likely // their nodes are Ready: what they needed once may come from elsewhere
		}
		if f.way.Unread != "" && said.Confidence == "" {
			said.Confidence = finding.Likely // what was not read could be another fault of the same hop
		}
		if f.way.NamesUnread != "" {
			if said.Confidence == "" {
				said.Confidence = finding.Likely
			}
			said.Evidence = append(said.Evidence, finding.Evidence{What: string(f.way.NamesUnread), Value: "were not read: names may lead to another network"})
		}
		list = append(list, said)
	}
	return list
}

// atEnd is the hop at which a way ends.
func atEnd(_ routes.Table, p path.Path) string { return p.At }

// inTable is the table whose row, or lack of one, decided.
func inTable(l routes.Table, p path.Path) string {
	if p.Table == "" {
		return l.Table.ID
	}
	return p.Table
}

func (f wayFault) subnets() []string {
	var ids []string
	for _, l := range f.lots {
		ids = append(ids, l.IDs()...)
	}
	slices.Sort(ids)
	return ids
}

// tables are the route tables that lead to the fault.
func (f wayFault) tables() []string {
	ids := make([]string, len(f.lots))
	for i, l := range f.lots {
		ids[i] = l.Table.ID
	}
	return ids
}

func (f wayFault) evidence() []finding.Evidence {
	const limit = 3
	var list []finding.Evidence
	for _, l := range f.lots[:min(len(f.lots), limit)] {
		list = append(list, l.Evidence()...)
	}
	return list
}

// lost are the services that end at the fault.
func (f wayFault) lost() []path.Service {
	var list []path.Service
	for _, p := range f.lots[0].Paths {
		if p.Verdict == f.way.Verdict && p.Means != path.ByPrivateAPI {
			list = append(list, p.Service)
		}
	}
	return list
}

// byNAT is a way whose first hop is a NAT gateway.
func byNAT(w path.Way) bool { return w.Row.Target.Kind == snapshot.ToNATGateway }
