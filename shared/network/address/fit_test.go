package address

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
)

// town is a VPC of three zones with a node subnet and a pod subnet each, and
// groups that a test adds.
func town(groups ...snapshot.Group) *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Time: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC),
		Read: map[snapshot.Source]bool{snapshot.Usage: true, snapshot.ENIConfigsOf: true},
		InstanceTypes: []snapshot.InstanceType{
			{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro", CPUs: 16},
			{Name: "m5.large", Interfaces: 3, IPv4PerInterface: 10, Hypervisor: "nitro", CPUs: 2},
		},
		Groups: groups,
	}
	for i, zone := range []string{"a", "b", "c"} {
		for j, kind := range []string{"nodes", "pods"} {
			s.Subnets = append(s.Subnets, snapshot.Subnet{
				ID: "subnet-0" + kind + zone, VPC: "vpc-0a", Zone: "us-west-2" + zone, Free: 251, Tags: map[string]string{},
				CIDR: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(j), byte(i), 0}), 24),
			})
		}
	}
	return s
}

func asg(name string, size, most int, types []string, subnets ...string) snapshot.Group {
	g := snapshot.Group{Name: name, Max: most, Desired: size, Types: types}
	for i := range size {
		g.Instances = append(g.Instances, snapshot.GroupInstance{ID: fmt.Sprint("i-", name, i), Lifecycle: "InService"})
	}
	for _, zone := range subnets {
		g.Subnets = append(g.Subnets, "subnet-0nodes"+zone)
	}
	return g
}

func fitOf(t *testing.T, s *snapshot.Snapshot, env map[string]string, id string) Fit {
	t.Helper()
	for _, f := range Fitting(s, SettingsOf(&snapshot.CNI{Env: env}), nil) {
		if f.Subnet.ID == id {
			return f
		}
	}
	t.Fatalf("no fit of %s", id)
	return Fit{}
}

func TestFitOfSharedSubnet(t *testing.T) {
	s := town(asg("big", 1, 10, []string{"m5.4xlarge"}, "a"), asg("small", 0, 5, []string{"m5.large"}, "a"))
	got := fitOf(t, s, nil, "subnet-0nodesa")
	want := Fit{
		Subnet: s.Subnets[0],
		Terms: []Term{
			{Group: "big", Nodes: Span{9, 9}, Small: "m5.4xlarge", Large: "m5.4xlarge", Start: Span{60, 60}, Full: Span{240, 240}},
			{Group: "small", Nodes: Span{5, 5}, Idle: true, Small: "m5.large", Large: "m5.large", Start: Span{20, 20}, Full: Span{30, 30}},
		},
	}
	if diff := cmp.Diff(got, want, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("Fitting (-got +want):\n%s", diff)
	}
	if start, full := got.Start(), got.Full(); start != (Span{640, 640}) || full != (Span{2310, 2310}) || got.Judge() != TooFew || got.Imminent() {
		t.Errorf("start %v, full %v, %s, imminent %v; want 640, 2310, too few, far off", start, full, got.Judge(), got.Imminent())
	}
}

func TestShares(t *testing.T) {
	three := []string{"a", "b", "c"}
	large := []string{"m5.large"}
	mixed := []string{"m5.4xlarge", "m5.large"}
	placed := func(zones ...string) func(*snapshot.Snapshot) {
		return func(s *snapshot.Snapshot) {
			for i, zone := range zones {
				s.Instances = append(s.Instances, snapshot.Instance{
					ID: fmt.Sprint("i-g", i), Type: "m5.large", State: "running", Subnet: "subnet-0nodes" + zone, Zone: "us-west-2" + zone,
					Launched: s.Time.Add(-time.Hour), Tags: map[string]string{"aws:autoscaling:groupName": "g"},
				})
			}
		}
	}
	none := func(*snapshot.Snapshot) {}
	tests := []struct {
		name   string
		group  snapshot.Group
		change func(*snapshot.Snapshot)
		want   []Term
	}{
		{"one subnet takes all", asg("g", 1, 4, large, "a"), none, []Term{{Nodes: Span{3, 3}, Start: Span{20, 20}, Full: Span{30, 30}}}},
		{"three zones, nobody knows where nodes run: a third of what is left", asg("g", 1, 10, large, three...), none, []Term{{Nodes: Span{3, 9}, Start: Span{20, 20}, Full: Span{30, 30}}}},
		{"what runs in the zone is part of its third", asg("g", 3, 12, large, three...), placed("a", "a", "b"), []Term{{Nodes: Span{2, 9}, Start: Span{20, 20}, Full: Span{30, 30}}}},
		{"a zone that has more than its third", asg("g", 3, 6, large, three...), placed("a", "a", "a"), []Term{{Nodes: Span{0, 3}, Start: Span{20, 20}, Full: Span{30, 30}}}},
		{"mixed types", asg("g", 0, 2, mixed, "a"), none, []Term{{Nodes: Span{2, 2}, Idle: true, Start: Span{20, 60}, Full: Span{30, 240}}}},
		{"a group at its maximum", asg("g", 2, 2, large, "a"), none, nil},
		{"launches suspended", func() snapshot.Group {
			g := asg("g", 0, 2, large, "a")
			g.Suspended = []snapshot.Suspended{{Process: "Launch"}}
			return g
		}(), none, nil},
		{"nodes that are wanted now", func() snapshot.Group {
			g := asg("g", 1, 9, large, "a")
			g.Desired = 4
			return g
		}(), none, []Term{{Nodes: Span{8, 8}, Wanted: 3, Start: Span{20, 20}, Full: Span{30, 30}}}},
		{"those that end, and those of the warm pool, do not count", func() snapshot.Group {
			g := asg("g", 2, 3, large, "a")
			g.Desired = 1
			g.Instances[0].Lifecycle, g.Instances[1].Lifecycle = "Terminating:Wait", "Warmed:Stopped"
			return g
		}(), none, []Term{{Nodes: Span{3, 3}, Wanted: 1, Start: Span{20, 20}, Full: Span{30, 30}}}},
		{"the kubelet allows few pods", asg("g", 1, 2, large, "a"), func(s *snapshot.Snapshot) {
			placed("a")(s)
			s.Nodes = []snapshot.Node{{Instance: "i-g0", MaxPods: 15}}
		}, []Term{{Nodes: Span{1, 1}, Start: Span{20, 20}, Full: Span{20, 20}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := town(tt.group)
			tt.change(s)
			for i := range tt.want {
				tt.want[i].Group = "g"
			}
			got := fitOf(t, s, nil, "subnet-0nodesa").Terms
			if diff := cmp.Diff(got, tt.want, cmpopts.IgnoreFields(Term{}, "Small", "Large")); diff != "" {
				t.Errorf("Terms (-got +want):\n%s", diff)
			}
		})
	}
}

func TestFitOfPodSubnets(t *testing.T) {
	byZone := map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "ENI_CONFIG_LABEL_DEF": "topology.kubernetes.io/zone"}
	s := town(asg("g", 0, 12, []string{"m5.large"}, "a", "b", "c"))
	s.ENIConfigs = []snapshot.ENIConfig{{Name: "us-west-2a", Subnet: "subnet-0podsa"}, {Name: "us-west-2b", Subnet: "subnet-0podsb"}}
	if got := fitOf(t, s, byZone, "subnet-0nodesa"); got.Start() != (Span{4, 12}) || got.Full() != (Span{4, 12}) || len(got.Gaps) > 0 {
		t.Errorf("node subnet: %v at start, %v full, gaps %v; want one address a node", got.Start(), got.Full(), got.Gaps)
	}
	if got := fitOf(t, s, byZone, "subnet-0podsa"); got.Start() != (Span{80, 240}) || got.Full() != (Span{80, 240}) {
		t.Errorf("pod subnet: %v at start, %v full; want two interfaces for each of 4 to 12 nodes", got.Start(), got.Full())
	}
	if got := fitOf(t, s, byZone, "subnet-0nodesc"); len(got.Gaps) != 1 || got.Gaps[0].Source != snapshot.ENIConfigsOf {
		t.Errorf("no ENIConfig in the zone: gaps %v, want one", got.Gaps)
	}

	s.Subnets[1].Tags["kubernetes.io/role/cni"] = "1"
	if got := fitOf(t, s, nil, "subnet-0podsa"); got.Start() != (Span{0, 120}) {
		t.Errorf("a subnet that discovery may use: %v at start, want nothing at least, all second interfaces at most", got.Start())
	}
	if got := fitOf(t, s, nil, "subnet-0nodesa"); got.Start() != (Span{40, 240}) {
		t.Errorf("the nodes' own then: %v at start, want the first interfaces at least", got.Start())
	}
}

func TestFitInPrefixes(t *testing.T) {
	prefixes := map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}
	tests := []struct {
		name   string
		free   int
		use    snapshot.Use
		unread bool
		want   Verdict
	}{
		{"blocks for all", 251, snapshot.Use{Blocks: 8}, false, Fits},
		{"blocks that a reservation keeps: EC2 counts the rest alone", 10, snapshot.Use{Blocks: 8, Kept: 128}, false, Fits},
		{"one block short", 251, snapshot.Use{Blocks: 7}, false, TooFewBlocks},
		{"no address for the nodes themselves", 3, snapshot.Use{Blocks: 8, Kept: 200}, false, TooFew},
		{"together too much", 130, snapshot.Use{Blocks: 8}, false, TooFew},
		{"not counted", 251, snapshot.Use{Blocks: 8}, true, NotCounted},
		{"not counted, and no address for the nodes themselves", 3, snapshot.Use{}, true, TooFew},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := town(asg("g", 0, 4, []string{"m5.large"}, "a"))
			s.Subnets[0].Free = tt.free
			tt.use.Subnet = "subnet-0nodesa"
			s.Uses = []snapshot.Use{tt.use}
			s.Read[snapshot.Usage] = !tt.unread
			got := fitOf(t, s, prefixes, "subnet-0nodesa")
			if got.Judge() != tt.want || got.Blocks() != 8 || got.Start().Least != 132 {
				t.Errorf("%s, %d blocks, %d addresses; want %s, 8 and 132", got.Judge(), got.Blocks(), got.Start().Least, tt.want)
			}
		})
	}
}

func TestImminent(t *testing.T) {
	tests := []struct {
		name    string
		free    int
		desired int
		want    bool
	}{
		{"far off", 200, 1, false},
		{"a scale-out that fits", 200, 4, false},
		{"a scale-out that does not", 50, 4, true},
		{"room for less than two nodes", 39, 1, true},
		{"room for two", 40, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := asg("g", 1, 20, []string{"m5.large"}, "a")
			g.Desired = tt.desired
			s := town(g)
			s.Subnets[0].Free = tt.free
			if got := fitOf(t, s, nil, "subnet-0nodesa"); got.Imminent() != tt.want || got.Judge() != TooFew {
				t.Errorf("imminent %v, %s; want %v, too few", got.Imminent(), got.Judge(), tt.want)
			}
		})
	}
}

func TestOwed(t *testing.T) {
	in := func(id, kind string, ago time.Duration, interfaces ...string) snapshot.Instance {
		return snapshot.Instance{
			ID: id, Type: kind, State: "running", Subnet: "subnet-0nodesa", Zone: "us-west-2a", Interfaces: interfaces,
			Tags: map[string]string{"aws:autoscaling:groupName": "g"}, Launched: town().Time.Add(-ago),
		}
	}
	s := town(asg("g", 0, 9, []string{"m5.large"}, "a"))
	s.Instances = []snapshot.Instance{
		in("i-0new", "m5.large", time.Minute, "eni-1"), in("i-0second", "m5.large", time.Minute, "eni-1", "eni-2"),
		in("i-0old", "m5.large", time.Hour, "eni-1"), in("i-0ready", "m5.large", time.Minute, "eni-1"), in("i-0odd", "x9.huge", time.Minute),
	}
	s.Nodes = []snapshot.Node{{Instance: "i-0ready", Ready: snapshot.Condition{Status: "True"}}}
	if got := fitOf(t, s, nil, "subnet-0nodesa"); got.Starting != 2 || got.Owed != 19+9 {
		t.Errorf("%d nodes owe %d; want 2 and 28", got.Starting, got.Owed)
	}
	byZone := map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}
	s.ENIConfigs = []snapshot.ENIConfig{{Name: "default", Subnet: "subnet-0podsa"}}
	if got := fitOf(t, s, byZone, "subnet-0podsa"); got.Starting != 2 || got.Owed != 20+10 {
		t.Errorf("in the pods' subnet %d nodes owe %d; want 2 and 30", got.Starting, got.Owed)
	}
}

func TestGaps(t *testing.T) {
	template := snapshot.TemplateRef{ID: "lt-0a", Version: "3"}
	tests := []struct {
		name   string
		types  []string
		change func(*snapshot.Snapshot)
		want   []Gap
	}{
		{"a type that was not read", []string{"m5.large", "x9.huge"}, func(*snapshot.Snapshot) {}, []Gap{{Source: snapshot.InstanceTypes, Key: "x9.huge", Why: "what x9.huge carries is not known"}}},
		{"no type is named", nil, func(*snapshot.Snapshot) {}, []Gap{{Source: snapshot.LaunchTemplates, Key: "lt-0a", Why: "which instance types g launches is not known"}}},
		{"its nodegroup names it", nil, func(s *snapshot.Snapshot) {
			s.Nodegroups = []snapshot.Nodegroup{{Groups: []string{"g"}, Types: []string{"m5.large"}}}
		}, nil},
		{"its launch template does", nil, func(s *snapshot.Snapshot) {
			s.LaunchTemplates = []snapshot.LaunchTemplate{{ID: "lt-0a", Version: "3", Type: "m5.large"}}
		}, nil},
		{"what it runs does", nil, func(s *snapshot.Snapshot) {
			s.Instances = []snapshot.Instance{{ID: "i-g0", Type: "m5.large", State: "running", Tags: map[string]string{"aws:autoscaling:groupName": "g"}}}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := asg("g", 0, 9, tt.types, "a")
			g.Template = template
			s := town(g)
			tt.change(s)
			got := fitOf(t, s, nil, "subnet-0nodesa")
			if diff := cmp.Diff(got.Gaps, tt.want); diff != "" {
				t.Errorf("Gaps (-got +want):\n%s", diff)
			}
			if (len(tt.types) > 0 || tt.want == nil) != (len(got.Terms) == 1) {
				t.Errorf("terms %v", got.Terms)
			}
		})
	}
}

func TestFittingPassesOverWhatIsNoIPv4Subnet(t *testing.T) {
	g := asg("g", 0, 9, []string{"m5.large"}, "a")
	g.Subnets = append(g.Subnets, "subnet-0gone")
	s := town(g)
	s.Subnets[0].CIDR = netip.Prefix{}
	if got := Fitting(s, Defaults(), nil); len(got) != 0 {
		t.Errorf("Fitting = %v, want none", got)
	}
}
