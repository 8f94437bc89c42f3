package checks

import (
	"slices"

	"rollcall/shared/network/path"
	"rollcall/shared/snapshot"
)

// wayFault is what ends the ways of some lots: a NAT gateway, a table, an
// instance. It is one finding however many tables lead there: it is what must
// change.
type wayFault struct {
	id   string
	lots []lot
	way  path.Path // of the first lot
}

// wayCheck tells how a check of ways judges the lots.
type wayCheck struct {
	fault path.Verdict
	// id is what a fix would change.
	id func(lot, path.Path) string
	// excuse is the finding on a lot that has the fault and is not accused; nil
	// for none.
	excuse func(*scene, lot) (Finding, bool)
	// open tells of a way that leaves what is read whether it may still end in
	// the fault: then the lot is Unknown.
	open func(path.Way) bool
	say  func(*scene, wayFault) Finding
}

// ways sorts the lots by the fault that their ways end in, and judges each.
func (c *scene) ways(w wayCheck) []Finding {
	list := slices.Clone(c.blind)
	var faults []wayFault
	for _, l := range c.lots {
		p, found := l.ends(w.fault)
		if !found {
			f := l.pass()
			if way, away := l.open(); away && w.open(way) {
				f = beyond(l, way)
			}
			list = append(list, f)
			continue
		}
		if l.proven() {
			list = append(list, l.works())
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
		if !slices.ContainsFunc(f.lots, func(l lot) bool { return l.witness == "" }) {
			said.Confidence = Likely // their nodes are Ready: what they needed once may come from elsewhere
		}
		list = append(list, said)
	}
	return list
}

// atEnd is the hop at which a way ends.
func atEnd(_ lot, p path.Path) string { return p.At }

// inTable is the table whose row, or lack of one, decided.
func inTable(l lot, p path.Path) string {
	if p.Table == "" {
		return l.table.ID
	}
	return p.Table
}

func (f wayFault) subnets() []string {
	var ids []string
	for _, l := range f.lots {
		ids = append(ids, l.ids()...)
	}
	slices.Sort(ids)
	return ids
}

// tables are the route tables that lead to the fault.
func (f wayFault) tables() []string {
	ids := make([]string, len(f.lots))
	for i, l := range f.lots {
		ids[i] = l.table.ID
	}
	return ids
}

func (f wayFault) evidence() []Evidence {
	const limit = 3
	var list []Evidence
	for _, l := range f.lots[:min(len(f.lots), limit)] {
		list = append(list, l.evidence()...)
	}
	return list
}

// lost are the services that end at the fault.
func (f wayFault) lost() []path.Service {
	var list []path.Service
	for _, p := range f.lots[0].paths {
		if p.Verdict == f.way.Verdict && p.Means != path.ByPrivateAPI {
			list = append(list, p.Service)
		}
	}
	return list
}

// byNAT is a way whose first hop is a NAT gateway.
func byNAT(w path.Way) bool { return w.Row.Target.Kind == snapshot.ToNATGateway }
