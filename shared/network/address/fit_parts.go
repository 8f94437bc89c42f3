package address

// part is what a node takes of one subnet, Blocks of it in whole blocks.
type part struct {
	addresses Span
	blocks    int
}

// split is what a node takes of its own subnet, and of one of those of its
// pods. What may land in one of several counts as nothing at least.
func split(d Demand, p Places) (own, pods part) {
	own = part{Span{d.Total(), d.Total()}, d.Blocks}
	switch {
	case d.Elsewhere > 0:
		own.blocks = 0
		pods = part{Span{d.Elsewhere, d.Elsewhere}, d.Blocks}
		if len(p.Further) > 1 {
			pods.addresses.Least, pods.blocks = 0, 0
		}
	case len(p.Further) > 1:
		own.addresses.Least, own.blocks = d.First, min(d.Blocks, (d.First-1)/prefix)
		pods.addresses.Most = d.Warm
	}
	return own, pods
}

// widen takes one more type into a term. Types come by what they take.
func (t *Term) widen(name string, start, full part) {
	if t.Small == "" {
		t.Small, t.Start, t.Full, t.Blocks = name, start.addresses, full.addresses, start.blocks
	}
	t.Large = name
	t.Start = Span{min(t.Start.Least, start.addresses.Least), max(t.Start.Most, start.addresses.Most)}
	t.Full = Span{min(t.Full.Least, full.addresses.Least), max(t.Full.Most, full.addresses.Most)}
	t.Blocks = min(t.Blocks, start.blocks)
}

// merge adds a term; nodes of several subnets whose pods share one are one.
func (f *Fit) merge(t Term) {
	if t.Nodes.Most == 0 || t.Start.Most == 0 && t.Full.Most == 0 {
		return
	}
	for i := range f.Terms {
		if have := &f.Terms[i]; have.Group == t.Group && have.Pods == t.Pods {
			have.Nodes.Least += t.Nodes.Least
			have.Nodes.Most = max(have.Nodes.Most, t.Nodes.Most)
			have.Wanted += t.Wanted
			return
		}
	}
	f.Terms = append(f.Terms, t)
}
