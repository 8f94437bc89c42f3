package worldgen

import (
	"slices"

	"rollcall/shared/checkid"
)

// Fault is one thing that is broken in a world that was healthy.
type Fault struct {
	Name string
	// Check is the check that must be named first; Or are others that are as
	// right.
	Check checkid.ID
	Or    []checkid.ID

	// Except says, of fleets whose nodes cannot have the fault, why.
	Except map[Fleet]string

	applies func(*World) bool
	breaks  func(*World)
	reach   reach
}

// reach is what a fault does to the young instances.
type reach int

const (
	keepsOut   reach = iota // none of them registers
	keepsTable              // those behind the first route table do not register
	lets                    // they are nodes, as the fault leaves them
	noLaunch                // they are Ready nodes; others cannot be launched
)

// Faults are all single faults.
func Faults() []Fault {
	list := slices.Concat(routeFaults(), resolverFaults(), endpointFaults(), filterFaults(), nameFaults(), roleFaults(), accessFaults(), startFaults(), instanceFaults(), nodeFaults(), launchFaults(), nodegroupFaults(), zoneFaults())
	for i := range list {
		list[i].Except = exceptions(list[i])
	}
	return list
}

// Applies tells that a world has what the fault breaks.
func (f Fault) Applies(w *World) bool { return f.Except[w.Shape.Fleet] == "" && f.applies(w) }

// Break breaks a world. It returns the instances that miss their roll call.
func (f Fault) Break(w *World) []string {
	failing := w.Young
	if f.reach == keepsTable {
		failing = w.behind(w.Tables[0])
	}
	f.breaks(w)
	w.File.Expect.Healthy = false
	switch f.reach {
	case noLaunch:
		return nil
	case keepsOut, keepsTable:
		w.unjoin(failing)
	}
	return failing
}

// behind are the young instances for which a route table is in force.
func (w *World) behind(table string) []string {
	if len(w.Tables) == 1 {
		return w.Young
	}
	return slices.DeleteFunc(slices.Clone(w.Young), func(id string) bool {
		subnet := *w.instance(id).SubnetId
		for _, a := range w.table(table).Associations {
			if a.SubnetId != nil && *a.SubnetId == subnet {
				return false
			}
		}
		return true
	})
}

// always applies everywhere.
func always(*World) bool { return true }

// of applies where the egress is one of some.
func of(kinds ...Egress) func(*World) bool {
	return func(w *World) bool { return slices.Contains(kinds, w.Shape.Egress) }
}

// both applies where all do.
func both(list ...func(*World) bool) func(*World) bool {
	return func(w *World) bool {
		return !slices.ContainsFunc(list, func(applies func(*World) bool) bool { return !applies(w) })
	}
}

func not(applies func(*World) bool) func(*World) bool {
	return func(w *World) bool { return !applies(w) }
}

func inIPv6(w *World) bool { return w.Shape.IPv6 }

func grouped(w *World) bool { return !w.Shape.pooled() }

func linux(w *World) bool { return w.Shape.Image != Windows }
