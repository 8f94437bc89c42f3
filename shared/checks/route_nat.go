package checks

import (
	"slices"

	"rollcall/shared/path"
	"rollcall/shared/snapshot"
)

// natFault is a NAT gateway at which the ways of some lots end. It is one
// finding however many tables lead there: the gateway is what must change.
type natFault struct {
	id   string
	lots []lot
	way  path.Path // of the first lot
}

func (f natFault) subnets() []string {
	var ids []string
	for _, l := range f.lots {
		ids = append(ids, l.ids()...)
	}
	slices.Sort(ids)
	return ids
}

// tables are the route tables that lead to the gateway.
func (f natFault) tables() []string {
	ids := make([]string, len(f.lots))
	for i, l := range f.lots {
		ids[i] = l.table.ID
	}
	return ids
}

func (f natFault) evidence() []Evidence {
	const limit = 3
	var list []Evidence
	for _, l := range f.lots[:min(len(f.lots), limit)] {
		list = append(list, l.evidence()...)
	}
	return list
}

// nats sorts the lots by a fault at a NAT gateway. For the others, open says
// whether the question is still open for them: then they are Unknown, else
// they pass.
func (c *scene) nats(fault path.Verdict, open func(path.Way) bool, say func(natFault) Finding) []Finding {
	list := slices.Clone(c.blind)
	var faults []natFault
	for _, l := range c.lots {
		i := slices.IndexFunc(l.paths, func(p path.Path) bool { return p.Verdict == fault })
		if i < 0 {
			f := l.pass()
			if w, away := l.open(); away && open(w) {
				f = beyond(l, w)
			}
			list = append(list, f)
			continue
		}
		way := l.paths[i]
		k := slices.IndexFunc(faults, func(f natFault) bool { return f.id == way.At })
		if k < 0 {
			k = len(faults)
			faults = append(faults, natFault{id: way.At, way: way})
		}
		faults[k].lots = append(faults[k].lots, l)
	}
	for _, f := range faults {
		list = append(list, say(f))
	}
	return list
}

// lost are the services that end at the fault.
func (f natFault) lost() []path.Service {
	var list []path.Service
	for _, p := range f.lots[0].paths {
		if p.Verdict == f.way.Verdict {
			list = append(list, p.Service)
		}
	}
	return list
}

// byNAT is a way whose first hop is a NAT gateway.
func byNAT(w path.Way) bool { return w.Row.Target.Kind == snapshot.ToNATGateway }
