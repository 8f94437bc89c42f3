package ip

import (
	"strings"
	"testing"
	"time"

	"rollcall/shared/checks/checktest"
	"rollcall/shared/snapshot"
	"rollcall/shared/snapshot/snapshottest"
)

// nodePool is a NodePool with a node, which launches m5.large into some subnets.
func nodePool(limits, used snapshot.Amounts, wanted int, subnets ...string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Groups, s.Nodegroups = nil, nil
		class := snapshot.NodeClass{Name: "default"}
		for _, id := range subnets {
			class.Selected = append(class.Selected, snapshot.ZonedSubnet{ID: id, Zone: snapshottest.Zone})
		}
		s.EC2NodeClasses = []snapshot.NodeClass{class}
		s.NodePools = []snapshot.NodePool{{Name: "web", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Name: "default"}, Limits: limits, Used: used}}
		s.NodeClaims = []snapshot.NodeClaim{{Name: "web-1", Pool: "web", Instance: snapshottest.Node, Type: "m5.large"}, {Name: "web-0", Pool: "web", Deleting: true}}
		for range wanted {
			s.NodeClaims = append(s.NodeClaims, snapshot.NodeClaim{Name: "web-new", Pool: "web"})
		}
	}
}

func TestNodePoolsWillNotFit(t *testing.T) {
	nodes := func(limit, used string) (snapshot.Amounts, snapshot.Amounts) {
		return snapshot.Amounts{"nodes": limit}, snapshot.Amounts{"nodes": used}
	}
	world := func(n int, limit, used string, wanted int, subnets ...string) *snapshot.Snapshot {
		limits, have := nodes(limit, used)
		return checktest.Change(free(n), nodePool(limits, have, wanted, subnets...), func(s *snapshot.Snapshot) { snapshottest.Subnet(s, snapshottest.Public).Free = 20 })
	}
	const (
		one, two = snapshottest.Private, snapshottest.Public
		pass     = "pass subnet-0private [subnet-0private]"
	)
	cpu := func(n int, limit string) *snapshot.Snapshot {
		return checktest.Change(free(n), nodePool(snapshot.Amounts{"cpu": limit}, snapshot.Amounts{"cpu": "2"}, 0, one))
	}
	checktest.RunCases(t, ScaleOutWillNotFit(), []checktest.Case{
		{Name: "it fits", World: world(380, "20", "1", 0, one), Want: []string{pass}},
		{Name: "one address less", World: world(379, "20", "1", 0, one), Want: []string{"fail (advice) subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"}},
		{Name: "what is asked for does not", World: world(170, "20", "1", 9, one), Want: []string{"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"}},
		{Name: "room for less than two", World: world(39, "20", "1", 0, one), Want: []string{"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"}},
		{Name: "by CPUs", World: cpu(380, "40"), Want: []string{pass}},
		{Name: "by CPUs, one address less", World: cpu(379, "40"), Want: []string{"fail (advice) subnet-0private [subnet-0private] [] subnet-0private has no room for 19 more nodes"}},
		{Name: "the limit is used up", World: world(0, "1", "1", 0, one), Want: []string{pass}},
		{Name: "without a limit", World: checktest.Change(free(0), nodePool(nil, nil, 0, one)), Want: []string{pass}},
		{Name: "without a limit, and it asks for two", World: checktest.Change(free(30), nodePool(nil, nil, 2, one)), Want: []string{"fail subnet-0private [subnet-0private] [] subnet-0private has no room for 2 more nodes"}},
		{Name: "two subnets, and all fit", World: world(170, "20", "1", 0, one, two), Want: []string{pass, "pass web [nodepool/web]"}},
		{Name: "two subnets, and one address less", World: world(169, "20", "1", 0, one, two), Want: []string{pass, "fail (advice) web [nodepool/web] [] NodePool web has no addresses for 19 more nodes"}},
		{Name: "two subnets, and what is asked for does not fit", World: world(60, "20", "1", 9, one, two), Want: []string{pass, "fail web [nodepool/web] [] NodePool web has no addresses for 19 more nodes"}},
		{Name: "it is deleted", World: checktest.Change(world(0, "20", "1", 9, one), func(s *snapshot.Snapshot) { s.NodePools[0].Deleting = true }), Want: []string{"pass prod [prod subnet-0private]"}},
		{Name: "Auto Mode has a network of its own", World: checktest.Change(world(19, "20", "1", 0, one), func(s *snapshot.Snapshot) {
			s.NodePools[0].Class.Group, s.AutoNodeClasses = snapshot.AutoModeGroup, s.EC2NodeClasses
		}), Want: []string{pass}},
		{Name: "its class was not read", World: checktest.Change(world(0, "20", "1", 9, one), checktest.Unread(snapshot.EC2NodeClassesOf)), Want: []string{"pass prod [subnet-0private]", "unknown prod [prod] ec2nodeclasses: denied"}},
		{Name: "the NodePools were not read", World: checktest.Change(world(0, "20", "1", 9, one), checktest.Unread(snapshot.NodePoolsOf), func(s *snapshot.Snapshot) { s.Cluster.AutoMode = true }),
			Want: []string{"pass prod [subnet-0private]", "unknown prod [prod] nodepools: denied"}},
		{Name: "not read", World: checktest.Change(free(0), checktest.Unread(snapshot.Subnets)), Want: []string{"unknown prod [] subnets: denied"}},
	})
	r := checktest.Failed(t, ScaleOutWillNotFit(), world(60, "20", "1", 9, one, two))
	if want := "NodePool web may launch 19 more nodes by its limits, in subnet-0private and subnet-0public: 19 more m5.large x 10 = 190; subnet-0private and subnet-0public have 80 free. It asks for 9 now."; r.Why != want {
		t.Errorf("why %q, want %q", r.Why, want)
	}
	open := checktest.EvalOne(t, ScaleOutWillNotFit(), checktest.Change(free(100), nodePool(nil, nil, 0, one)))
	if got := checktest.Value(t, open[0], "Without a limit"); got != "NodePool web: how much it may launch here is not known" {
		t.Errorf("evidence %q", got)
	}
}

// TestNodePoolMayGrow: too little for one more node is a fault where a NodePool that is
// in use launches there, and has no other subnet with plenty in that zone.
func TestNodePoolMayGrow(t *testing.T) {
	const one, two = snapshottest.Private, snapshottest.Public
	for name, tt := range map[string]struct {
		change func(*snapshot.Snapshot)
		want   bool
	}{
		"in use, without a limit":    {nodePool(nil, nil, 0, one), true},
		"its nodes are used up":      {nodePool(snapshot.Amounts{"nodes": "1"}, snapshot.Amounts{"nodes": "1"}, 0, one), false},
		"its CPUs are used up":       {nodePool(snapshot.Amounts{"cpu": "2"}, snapshot.Amounts{"cpu": "2"}, 0, one), false},
		"idle":                       {func(s *snapshot.Snapshot) { nodePool(nil, nil, 0, one)(s); s.NodeClaims = nil }, false},
		"elsewhere":                  {nodePool(nil, nil, 0, two), false},
		"another subnet of the zone": {nodePool(nil, nil, 0, one, two), false},
		"which is as tight":          {func(s *snapshot.Snapshot) { nodePool(nil, nil, 0, one, two)(s); snapshottest.Subnet(s, two).Free = 5 }, true},
		"another subnet, in a zone of its own": {func(s *snapshot.Snapshot) {
			nodePool(nil, nil, 0, one, two)(s)
			snapshottest.Subnet(s, two).Zone = "us-west-2z"
		}, true},
	} {
		r := checktest.Failed(t, SubnetExhausted(), checktest.Change(free(9), func(s *snapshot.Snapshot) { snapshottest.Subnet(s, two).Free = 5000 }, tt.change, func(s *snapshot.Snapshot) {
			s.Scope.Subnets, s.Scope.Launchable = []string{one}, nil
		}))
		if r.Unconditional != tt.want {
			t.Errorf("%s: it is a fault by itself: %v, want %v", name, r.Unconditional, tt.want)
		}
	}
}

// TestRunwayCountsNodesThatPoolsAskFor: they are taken off what is left, each subnet
// its part.
func TestRunwayCountsNodesThatPoolsAskFor(t *testing.T) {
	s := checktest.Change(free(500), nodePool(nil, nil, 3, snapshottest.Private, snapshottest.Public), func(s *snapshot.Snapshot) {
		s.Scope.Launchable = []string{snapshottest.Private}
		for n := range 60 {
			s.Samples = append(s.Samples, snapshot.Sample{Subnet: snapshottest.Private, At: s.Time.Add(time.Duration(n-60) * 5 * time.Minute), Free: 500, Total: 8187})
		}
		s.Read[snapshot.LaunchHistory] = true
	})
	for _, r := range checktest.EvalOne(t, Runway(), s) {
		if got := checktest.Value(t, r, "Launches wanted"); !strings.HasPrefix(got, "2 here, by NodePool web: ") {
			t.Errorf("launches wanted: %q", got)
		}
	}
}
