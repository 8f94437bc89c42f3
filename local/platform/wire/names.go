package wire

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed names.txt
var namesText string

// readNames reads the embedded table once: a test process starts dozens of servers, and
// nothing writes to the table.
var readNames = sync.OnceValues(func() (names, error) { return parseNames(namesText) })

// names is the generated table of wire names, by SDK package name.
type names map[string]*serviceNames

// serviceNames is the part of the table about one service.
type serviceNames struct {
	ops     map[string]bool
	routes  []route
	in, out map[string]*structNames
}

// structNames is the members of one struct in one direction.
type structNames struct {
	members []memberNames
	byWire  map[string]int
}

// memberNames is one field: its Go name, its name on the wire and, for a list,
// the name of its elements; flat lists have "*", maps "entry:Name:Value".
type memberNames struct {
	field, wire, list string
}

const flatList = "*"

func (s *structNames) member(wire string) (memberNames, bool) {
	if s == nil {
		return memberNames{}, false
	}
	i, ok := s.byWire[wire]
	if !ok {
		return memberNames{}, false
	}
	return s.members[i], true
}

// parseNames reads the generated table. The table is embedded, so a broken
// line is a defect of the build and not of the input.
func parseNames(text string) (names, error) {
	table := names{}
	var svc *serviceNames
	var cur *structNames
	for n, line := range strings.Split(text, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if f[0] == "service" && len(f) == 2 {
			svc = &serviceNames{ops: map[string]bool{}, in: map[string]*structNames{}, out: map[string]*structNames{}}
			table[f[1]] = svc
			continue
		}
		if svc == nil {
			return nil, fmt.Errorf("names line %d: no service yet", n+1)
		}
		switch {
		case f[0] == "op" && len(f) == 2:
			svc.ops[f[1]] = true
		case f[0] == "rest" && len(f) == 4:
			svc.ops[f[1]] = true
			svc.routes = append(svc.routes, newRoute(f[1], f[2], f[3]))
		case (f[0] == "in" || f[0] == "out") && len(f) == 2:
			cur = &structNames{byWire: map[string]int{}}
			if f[0] == "in" {
				svc.in[f[1]] = cur
			} else {
				svc.out[f[1]] = cur
			}
		case cur != nil && (len(f) == 2 || len(f) == 3):
			m := memberNames{field: f[0], wire: f[1]}
			if len(f) == 3 {
				m.list = f[2]
			}
			cur.byWire[m.wire] = len(cur.members)
			cur.members = append(cur.members, m)
		default:
			return nil, fmt.Errorf("names line %d: not understood: %q", n+1, line)
		}
	}
	return table, nil
}
