package address

import (
	"slices"
	"strings"
	"time"

	"rollcall/shared/snapshot"
)

// starting is how long after its launch a node may still take its addresses:
// the plugin does within about a minute of its own start.
const starting = 5 * time.Minute

// Fitting are the subnets that the snapshot's groups and the pools may launch into,
// and those that their pods take addresses of, by id.
func Fitting(s *snapshot.Snapshot, with Settings, pools []Pool) []Fit {
	f := newFitting(s, with)
	for _, g := range s.Groups {
		f.group(g)
	}
	for _, p := range pools {
		f.pool(p)
	}
	ids := make([]string, 0, len(f.fits))
	for id := range f.fits {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	list := make([]Fit, len(ids))
	for i, id := range ids {
		list[i] = *f.fits[id]
	}
	return list
}

// fitting is Fitting at work.
type fitting struct {
	s     *snapshot.Snapshot
	with  Settings
	types map[string]snapshot.InstanceType
	// pods is the most pods that a kubelet on a type allows, where one tells.
	pods   map[string]int
	fits   map[string]*Fit
	places map[string]Places
}

func newFitting(s *snapshot.Snapshot, with Settings) *fitting {
	f := &fitting{s: s, with: with, types: map[string]snapshot.InstanceType{}, pods: map[string]int{}, fits: map[string]*Fit{}, places: map[string]Places{}}
	for _, t := range s.InstanceTypes {
		f.types[t.Name] = t
	}
	f.kubelets()
	return f
}

func (f *fitting) kubelets() {
	kinds := map[string]string{}
	for _, i := range f.s.Instances {
		kinds[i.ID] = i.Type
	}
	for _, n := range f.s.Nodes {
		if kind := kinds[n.Instance]; kind != "" {
			f.pods[kind] = max(f.pods[kind], n.MaxPods)
		}
	}
}

func (f *fitting) subnet(id string) (snapshot.Subnet, bool) {
	i := slices.IndexFunc(f.s.Subnets, func(n snapshot.Subnet) bool { return n.ID == id })
	if i < 0 {
		return snapshot.Subnet{}, false
	}
	return f.s.Subnets[i], true
}

func (f *fitting) fit(id string) *Fit {
	if f.fits[id] == nil {
		n, _ := f.subnet(id)
		fit := &Fit{Subnet: n}
		for _, u := range f.s.Uses {
			if u.Subnet == id && f.s.Has(snapshot.Usage) {
				fit.Use, fit.Counted = u, true
			}
		}
		f.fits[id] = fit
	}
	return f.fits[id]
}

// group adds what a group may still launch, and what its nodes that just
// started have still to take.
func (f *fitting) group(g snapshot.Group) {
	sp := spreadOf(g, f.s)
	sizes, gaps := f.sizes(g)
	for _, id := range g.Subnets {
		n, known := f.subnet(id)
		if !known || !n.CIDR.IsValid() {
			continue // another check tells of a subnet that is gone; without IPv4 there is nothing to run out of
		}
		fit := f.fit(id)
		p, where := f.placed(n)
		if !sp.stops {
			fit.Gaps = append(fit.Gaps, gaps...)
			if len(sizes) > 0 {
				f.add(g.Name, fit, p, sp.share(n), sizes, where)
			}
		}
		f.owed(g.Name, fit, p, where)
	}
}

// placed is where nodes of a subnet take their addresses, and the settings
// that hold there: with its own subnet shut for pods, a node's first interface
// has none, as with custom networking.
func (f *fitting) placed(n snapshot.Subnet) (Places, Settings) {
	p, done := f.places[n.ID]
	if !done {
		var configs []snapshot.ENIConfig
		if f.s.Has(snapshot.ENIConfigsOf) {
			configs = f.s.ENIConfigs
		}
		p = f.with.PodSubnets(n, f.s.Subnets, configs)
		f.places[n.ID] = p
		if p.Doubt != NoDoubt {
			gap := Gap{Source: snapshot.ENIConfigsOf, Why: string(p.Doubt)}
			for _, id := range append([]string{n.ID}, p.Further...) {
				f.fit(id).Gaps = append(f.fit(id).Gaps, gap)
			}
		}
	}
	with := f.with
	with.Elsewhere = with.Elsewhere || !p.First
	return p, with
}

// add adds a group's nodes of one subnet to it, and to those of their pods.
func (f *fitting) add(group string, fit *Fit, p Places, nodes shared, sizes []snapshot.InstanceType, with Settings) {
	own := Term{Group: group, Nodes: nodes.nodes, Wanted: nodes.wanted, Idle: nodes.idle}
	pods := own
	pods.Pods = true
	for _, t := range sizes {
		startOwn, startPods := split(with.AtStart(t), p)
		fullOwn, fullPods := split(f.full(with, t), p)
		own.widen(t.Name, startOwn, fullOwn)
		pods.widen(t.Name, startPods, fullPods)
	}
	fit.merge(own)
	for _, id := range p.Further {
		if id != fit.Subnet.ID {
			f.fit(id).merge(pods)
		}
	}
}

func (f *fitting) full(with Settings, t snapshot.InstanceType) Demand {
	with.MaxPods = f.pods[t.Name]
	return with.Full(t)
}

// owed adds what nodes that started a moment ago have still to take. Those
// that are Ready have taken it.
func (f *fitting) owed(group string, fit *Fit, p Places, with Settings) {
	for _, i := range f.s.Instances {
		age := f.s.Time.Sub(i.Launched)
		if i.Subnet != fit.Subnet.ID || i.Tags["aws:autoscaling:groupName"] != group || i.Ended() || age >= starting ||
			slices.ContainsFunc(f.s.Nodes, func(n snapshot.Node) bool { return n.Instance == i.ID && n.Joined() }) {
			continue
		}
		t, known := f.types[i.Type]
		if !known {
			continue
		}
		d := with.AtStart(t)
		has := max(0, len(i.Interfaces)-1) * max(1, t.IPv4PerInterface)
		fit.Starting++
		fit.Owed += max(0, d.Total()-d.Own-has)
		if d.Elsewhere > 0 && len(p.Further) == 1 {
			pods := f.fit(p.Further[0])
			pods.Starting++
			pods.Owed += max(0, d.Elsewhere-has)
		}
	}
}

// gone tells that a group no longer counts an instance, or not yet.
func gone(lifecycle string) bool {
	return strings.HasPrefix(lifecycle, "Terminat") || strings.HasPrefix(lifecycle, "Warmed") || strings.HasPrefix(lifecycle, "Detach")
}
