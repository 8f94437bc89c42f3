package address

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func few(n int) *int          { return &n }
func cpus(n float64) *float64 { return &n }
func nodesIn(zones ...string) (ids []string) {
	for _, z := range zones {
		ids = append(ids, "subnet-0nodes"+z)
	}
	return ids
}

func TestPoolOfOneSubnet(t *testing.T) {
	for name, tt := range map[string]struct {
		pool   Pool
		nodes  Span
		wanted int
		none   bool
		open   []string
	}{
		"by nodes":                       {pool: Pool{Nodes: few(3)}, nodes: Span{3, 3}},
		"by CPUs":                        {pool: Pool{CPUs: cpus(33)}, nodes: Span{2, 16}},
		"by both":                        {pool: Pool{Nodes: few(5), CPUs: cpus(33)}, nodes: Span{2, 5}},
		"nothing is left":                {pool: Pool{Nodes: few(0)}, none: true},
		"more than the limit is used":    {pool: Pool{CPUs: cpus(-4)}, none: true},
		"less than the smallest takes":   {pool: Pool{CPUs: cpus(1.5)}, none: true},
		"without a limit":                {pool: Pool{}, none: true, open: []string{"web"}},
		"without a limit, and two asked": {pool: Pool{Wanted: 2}, nodes: Span{2, 2}, wanted: 2, open: []string{"web"}},
		"asked for, and counted":         {pool: Pool{Nodes: few(3), Wanted: 2}, nodes: Span{3, 3}, wanted: 2},
		"asked for beyond what is left":  {pool: Pool{Nodes: few(1), Wanted: 2}, nodes: Span{2, 2}, wanted: 2},
	} {
		tt.pool.Name, tt.pool.Subnets, tt.pool.Types = "web", nodesIn("a"), []string{"m5.large", "m5.4xlarge", "x9.unknown"}
		var got Fit
		for _, f := range Fitting(town(), Defaults(), []Pool{tt.pool}) {
			if f.Subnet.ID == "subnet-0nodesa" {
				got = f
			}
		}
		want := []Term{{Group: "nodepool/web", Nodes: tt.nodes, Wanted: tt.wanted, Small: "m5.large", Large: "m5.4xlarge", Start: Span{20, 60}, Full: Span{30, 240}}}
		if tt.none {
			want = nil
		}
		if diff := cmp.Diff(want, got.Terms); diff != "" || !cmp.Equal(tt.open, got.Unbounded) {
			t.Errorf("%s: without a limit %q (-want +got):\n%s", name, got.Unbounded, diff)
		}
	}
}

// TestPoolBesideAGroup: both take of the subnet.
func TestPoolBesideAGroup(t *testing.T) {
	s := town(asg("workers", 0, 5, []string{"m5.4xlarge"}, "a"))
	pool := Pool{Name: "web", Subnets: nodesIn("a"), Nodes: few(4), Types: []string{"m5.large"}}
	for _, f := range Fitting(s, Defaults(), []Pool{pool}) {
		if f.Subnet.ID == "subnet-0nodesa" && (f.Judge() != TooFew || f.Start() != Span{380, 380} || f.Nodes() != Span{9, 9}) {
			t.Errorf("%s: %v addresses for %v nodes; 5 x 60 and 4 x 20 need 380 of 251", f.Judge(), f.Start(), f.Nodes())
		}
	}
	auto := pool
	auto.Auto = true // EKS runs its network: a node's own address alone is sure
	for _, f := range Fitting(s, Defaults(), []Pool{auto}) {
		if f.Subnet.ID == "subnet-0nodesa" && f.Start() != (Span{304, 304}) {
			t.Errorf("with Auto Mode %v addresses, want 5 x 60 and 4", f.Start())
		}
	}
}

// TestPoolOfSeveralSubnets: no single one is sure to get a node, all of them are.
func TestPoolOfSeveralSubnets(t *testing.T) {
	pool := func(change func(*Pool)) Pool {
		p := Pool{Name: "web", Subnets: nodesIn("a", "b"), Types: []string{"m5.large"}}
		change(&p)
		return p
	}
	for _, f := range Fitting(town(), Defaults(), []Pool{pool(func(p *Pool) { p.Nodes, p.Wanted = few(100), 40 })}) {
		if f.Judge() != Fits || f.Imminent() || f.Start().Least != 0 {
			t.Errorf("%s: %s, %v; of two subnets none is sure to get a node", f.Subnet.ID, f.Judge(), f.Start())
		}
	}
	for name, tt := range map[string]struct {
		pool           Pool
		with           Settings
		none           bool
		fits, imminent bool
	}{
		"it fits":                     {pool: pool(func(p *Pool) { p.Nodes = few(50) }), fits: true},
		"one more does not":           {pool: pool(func(p *Pool) { p.Nodes = few(51) })},
		"as many asked for as fit":    {pool: pool(func(p *Pool) { p.Nodes, p.Wanted = few(51), 52 })},
		"more asked for than fit":     {pool: pool(func(p *Pool) { p.Nodes, p.Wanted = few(51), 56 }), imminent: true},
		"idle, and nothing is free":   {pool: pool(func(p *Pool) { p.Nodes, p.Idle, p.Subnets = few(100), true, nodesIn("full", "fuller") })},
		"in use, and nothing is free": {pool: pool(func(p *Pool) { p.Nodes, p.Subnets = few(100), nodesIn("full", "fuller") }), imminent: true},
		"without a limit":             {pool: pool(func(*Pool) {}), none: true},
		"of types that nobody knows":  {pool: pool(func(p *Pool) { p.Nodes, p.Types = few(100), []string{"x9.huge"} }), none: true},
		"a subnet that is not known":  {pool: pool(func(p *Pool) { p.Nodes, p.Subnets = few(100), nodesIn("a", "gone") }), none: true},
		"pods elsewhere":              {pool: pool(func(p *Pool) { p.Nodes = few(100) }), with: Settings{Elsewhere: true}, none: true},
		"Auto Mode":                   {pool: pool(func(p *Pool) { p.Nodes, p.Auto = few(502), true }), fits: true},
		"Auto Mode, and one more":     {pool: pool(func(p *Pool) { p.Nodes, p.Auto = few(503), true })},
	} {
		s := town()
		for _, id := range nodesIn("full", "fuller") {
			n := s.Subnets[0]
			n.ID, n.Free = id, 4
			s.Subnets = append(s.Subnets, n)
		}
		with := Defaults()
		with.Elsewhere = tt.with.Elsewhere
		got := FittingPools(s, with, []Pool{tt.pool})
		if len(got) != 1 {
			if !tt.none || len(got) > 0 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		if tt.none || got[0].Fits() != tt.fits || got[0].Imminent() != tt.imminent {
			t.Errorf("%s: fits %v, imminent %v of %+v; want %v, %v (none: %v)", name, got[0].Fits(), got[0].Imminent(), got[0], tt.fits, tt.imminent, tt.none)
		}
	}
	want := []PoolFit{{Pool: "web", Subnets: nodesIn("a", "b"), Free: 502, Nodes: Span{7, 7}, Wanted: 2, Small: "m5.large", Each: 10}}
	if diff := cmp.Diff(want, FittingPools(town(), Defaults(), []Pool{pool(func(p *Pool) { p.Nodes, p.Wanted = few(7), 2 })})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
