package address

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rollcall/shared/snapshot"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/expect"
)

func TestAtStart(t *testing.T) {
	tests := []struct {
		name  string
		of    snapshot.InstanceType
		want  Demand
		total int
	}{
		{"m5.4xlarge: the 60 of the Spot story", snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30}, Demand{Own: 1, First: 30, Warm: 30}, 60},
		{"t3.nano", snapshot.InstanceType{Name: "t3.nano", Interfaces: 2, IPv4PerInterface: 2}, Demand{Own: 1, First: 2, Warm: 2}, 4},
		{"one interface only", snapshot.InstanceType{Interfaces: 1, IPv4PerInterface: 10}, Demand{Own: 1, First: 10}, 10},
		{"a type that nothing is known of", snapshot.InstanceType{}, Demand{Own: 1, First: 1}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := AtStart(tt.of)
			expect.Same(t, "AtStart", got, tt.want)
			if got.Total() != tt.total {
				t.Errorf("Total() = %d, want %d", got.Total(), tt.total)
			}
		})
	}
}

func TestSettingsAtStart(t *testing.T) {
	xlarge4 := snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro"}
	large := snapshot.InstanceType{Name: "m5.large", Interfaces: 3, IPv4PerInterface: 10, Hypervisor: "nitro"}
	cards := snapshot.InstanceType{Name: "p4d.24xlarge", Interfaces: 15, IPv4PerInterface: 50, Cards: []int{15, 15}, Hypervisor: "nitro"}
	xen := snapshot.InstanceType{Name: "m4.large", Interfaces: 2, IPv4PerInterface: 10, Hypervisor: "xen"}
	tests := []struct {
		name string
		of   snapshot.InstanceType
		env  map[string]string
		want Demand
	}{
		{"aws-node says nothing", xlarge4, nil, Demand{Own: 1, First: 30, Warm: 30}},
		{"the manifest's own settings", xlarge4, map[string]string{"WARM_ENI_TARGET": "1", "WARM_PREFIX_TARGET": "1", "ENABLE_PREFIX_DELEGATION": "false"}, Demand{Own: 1, First: 30, Warm: 30}},
		{"nothing in reserve", xlarge4, map[string]string{"WARM_ENI_TARGET": "0"}, Demand{Own: 1, First: 30, Warm: 0}},
		{"two interfaces in reserve", large, map[string]string{"WARM_ENI_TARGET": "2"}, Demand{Own: 1, First: 10, Warm: 20}},
		{"never more interfaces than the type has", large, map[string]string{"WARM_ENI_TARGET": "9"}, Demand{Own: 1, First: 10, Warm: 20}},
		{"nor than MAX_ENI", large, map[string]string{"WARM_ENI_TARGET": "9", "MAX_ENI": "2"}, Demand{Own: 1, First: 10, Warm: 10}},
		{"five addresses in reserve", xlarge4, map[string]string{"WARM_IP_TARGET": "5"}, Demand{Own: 1, First: 6, Warm: 0}},
		{"at least twelve: 9 on the first interface, 3 and its own on a second", large, map[string]string{"WARM_IP_TARGET": "2", "MINIMUM_IP_TARGET": "12"}, Demand{Own: 1, First: 10, Warm: 4}},
		{"a minimum alone counts too", large, map[string]string{"MINIMUM_IP_TARGET": "4"}, Demand{Own: 1, First: 5, Warm: 0}},
		{"more than the type can hold", large, map[string]string{"WARM_IP_TARGET": "500"}, Demand{Own: 1, First: 10, Warm: 20}},
		{"one prefix", xlarge4, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 17, Warm: 16, Blocks: 2}},
		{"three prefixes", xlarge4, map[string]string{"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "3"}, Demand{Own: 1, First: 49, Warm: 16, Blocks: 4}},
		{"addresses in reserve, in whole prefixes", xlarge4, map[string]string{"ENABLE_PREFIX_DELEGATION": "true", "WARM_IP_TARGET": "17"}, Demand{Own: 1, First: 33, Blocks: 2}},
		{"Xen has no prefixes", xen, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 10, Warm: 10}},
		{"ENABLE_MULTI_NIC: one whole interface on each further card", cards, map[string]string{"ENABLE_MULTI_NIC": "true"}, Demand{Own: 1, First: 50, Warm: 50 + 2*50}},
		{"five addresses on each", cards, map[string]string{"ENABLE_MULTI_NIC": "true", "WARM_IP_TARGET": "5"}, Demand{Own: 1, First: 6, Warm: 2 * 6}},
		{"a prefix on each", cards, map[string]string{"ENABLE_MULTI_NIC": "true", "ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 17, Warm: 16 + 2*17, Blocks: 4}},
		{"custom networking, and a card with one interface", snapshot.InstanceType{Interfaces: 4, IPv4PerInterface: 50, Cards: []int{1}, Hypervisor: "nitro"}, map[string]string{"ENABLE_MULTI_NIC": "true", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, Demand{Own: 1, First: 1, Elsewhere: 150}},
		{"the default card alone", cards, nil, Demand{Own: 1, First: 50, Warm: 50}},
		{"pods in another subnet", xlarge4, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, Demand{Own: 1, First: 1, Elsewhere: 60}},
		{"pods in another subnet, addresses in reserve", large, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "WARM_IP_TARGET": "12"}, Demand{Own: 1, First: 1, Elsewhere: 14}},
		{"pods in another subnet, in prefixes", large, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 1, Elsewhere: 33, Blocks: 2}},
		{"pods in another subnet, and no interface for them", large, map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "MAX_ENI": "1"}, Demand{Own: 1, First: 1}},
		{"a prefix that needs a second interface", snapshot.InstanceType{Interfaces: 2, IPv4PerInterface: 2, Hypervisor: "nitro"}, map[string]string{"ENABLE_PREFIX_DELEGATION": "true"}, Demand{Own: 1, First: 17, Warm: 17, Blocks: 2}},
		{"pods with IPv6 addresses", xlarge4, map[string]string{"ENABLE_IPv6": "true"}, Demand{Own: 1, First: 1, Warm: 0}},
		{"what is no number is not set", large, map[string]string{"WARM_ENI_TARGET": "many", "WARM_IP_TARGET": "-1", "MAX_ENI": "0"}, Demand{Own: 1, First: 10, Warm: 10}},
		{"a type that nothing is known of", snapshot.InstanceType{}, map[string]string{"WARM_IP_TARGET": "8"}, Demand{Own: 1, First: 1, Warm: 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, "AtStart", SettingsOf(&snapshot.CNI{Env: tt.env}).AtStart(tt.of), tt.want)
		})
	}
}

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
	expect.Same(t, "Fitting", got, want, cmpopts.EquateComparable(netip.Prefix{}))
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
			expect.Same(t, "Terms", got, tt.want, cmpopts.IgnoreFields(Term{}, "Small", "Large"))
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
			expect.Same(t, "Gaps", got.Gaps, tt.want)
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

func TestFull(t *testing.T) {
	xlarge4 := snapshot.InstanceType{Name: "m5.4xlarge", Interfaces: 8, IPv4PerInterface: 30, Hypervisor: "nitro", CPUs: 16}
	large := snapshot.InstanceType{Name: "m5.large", Interfaces: 3, IPv4PerInterface: 10, Hypervisor: "nitro", CPUs: 2}
	xlarge24 := snapshot.InstanceType{Name: "m5.24xlarge", Interfaces: 15, IPv4PerInterface: 50, Hypervisor: "nitro", CPUs: 96}
	nano := snapshot.InstanceType{Name: "t3.nano", Interfaces: 2, IPv4PerInterface: 2, Hypervisor: "nitro", CPUs: 2}
	xen := snapshot.InstanceType{Name: "m4.large", Interfaces: 2, IPv4PerInterface: 10, Hypervisor: "xen", CPUs: 2}
	const prefixes, custom = "ENABLE_PREFIX_DELEGATION", "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"
	tests := []struct {
		name string
		of   snapshot.InstanceType
		env  map[string]string
		pods int
		want Demand
	}{
		{"all interfaces, all addresses", xlarge4, nil, 0, Demand{Own: 1, First: 30, Warm: 210}},
		{"MAX_ENI", xlarge4, map[string]string{"MAX_ENI": "2"}, 0, Demand{Own: 1, First: 30, Warm: 30}},
		{"110 pods: four whole interfaces of 29", xlarge4, nil, 110, Demand{Own: 1, First: 30, Warm: 90}},
		{"110 pods, address by address", xlarge4, map[string]string{"WARM_IP_TARGET": "2"}, 110, Demand{Own: 1, First: 30, Warm: 84}},
		{"more pods than addresses", large, nil, 500, Demand{Own: 1, First: 10, Warm: 20}},
		{"prefixes: 110 pods are 7 blocks", xlarge4, map[string]string{prefixes: "true"}, 0, Demand{Own: 1, First: 113, Blocks: 7}},
		{"prefixes on 96 CPUs: 250 pods are 16 blocks", xlarge24, map[string]string{prefixes: "true"}, 0, Demand{Own: 1, First: 257, Blocks: 16}},
		{"prefixes: no more than its slots", nano, map[string]string{prefixes: "true"}, 0, Demand{Own: 1, First: 17, Warm: 17, Blocks: 2}},
		{"prefixes, the kubelet allows 20", xlarge4, map[string]string{prefixes: "true"}, 20, Demand{Own: 1, First: 33, Blocks: 2}},
		{"Xen has no prefixes", xen, map[string]string{prefixes: "true"}, 0, Demand{Own: 1, First: 10, Warm: 10}},
		{"custom networking: all but the first interface", xlarge4, map[string]string{custom: "true"}, 0, Demand{Own: 1, First: 1, Elsewhere: 210}},
		{"custom networking and prefixes", large, map[string]string{custom: "true", prefixes: "true"}, 0, Demand{Own: 1, First: 1, Elsewhere: 113, Blocks: 7}},
		{"custom networking on one interface", snapshot.InstanceType{Interfaces: 1, IPv4PerInterface: 4}, map[string]string{custom: "true"}, 0, Demand{Own: 1, First: 1}},
		{"IPv6", xlarge4, map[string]string{"ENABLE_IPv6": "true"}, 0, Demand{Own: 1, First: 1}},
		{"a type that nothing is known of", snapshot.InstanceType{}, nil, 110, Demand{Own: 1, First: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := SettingsOf(&snapshot.CNI{Env: tt.env})
			s.MaxPods = tt.pods
			expect.Same(t, "Full", s.Full(tt.of), tt.want)
		})
	}
}

// Whatever the settings, a node that is full holds at least what it took as it
// started, unless its kubelet allows fewer pods than the plugin keeps ready.
func TestFullIsNotLessThanAtStart(t *testing.T) {
	for _, row := range limits(t) {
		for _, env := range []map[string]string{
			nil, {"ENABLE_PREFIX_DELEGATION": "true"}, {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, {"WARM_IP_TARGET": "5"}, {"MAX_ENI": "2"},
			{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true", "ENABLE_PREFIX_DELEGATION": "true", "WARM_IP_TARGET": "20"},
		} {
			s := SettingsOf(&snapshot.CNI{Env: env})
			start, full := s.AtStart(row.of), s.Full(row.of)
			if full.Total() < start.Total() || full.Elsewhere < start.Elsewhere || full.Blocks < start.Blocks {
				t.Errorf("%s, %v: full %+v, at start %+v", row.of.Name, env, full, start)
			}
		}
	}
}

// limit is a line of the independent table: a type, and the most pods that the
// plugin's own table gives it.
type limit struct {
	of   snapshot.InstanceType
	pods int
}

func limits(t *testing.T) []limit {
	t.Helper()
	f, err := os.Open("testdata/limits.txt")
	expect.OK(t, err)
	defer f.Close()
	var list []limit
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		expect.OK(t, err)
		return n
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.Fields(lines.Text())
		if len(line) != 6 || line[0] == "#" {
			continue
		}
		row := limit{of: snapshot.InstanceType{
			Name: line[0], Interfaces: number(line[1]), IPv4PerInterface: number(line[2]), Hypervisor: line[3], BareMetal: line[4] == "true",
		}, pods: number(line[5])}
		if row.of.Hypervisor == "unknown" {
			row.of.Hypervisor = "" // as EC2 says of bare metal
		}
		list = append(list, row)
	}
	if len(list) < 60 {
		t.Fatalf("%d types in the table, want 60 at least", len(list))
	}
	return list
}

// A node that is full has as many pods as the plugin's own table says, and
// holds all addresses of all its interfaces.
func TestFullAgreesWithThePluginsTable(t *testing.T) {
	for _, row := range limits(t) {
		if got := Defaults().Pods(row.of); got != row.pods {
			t.Errorf("%s: %d pods, the table says %d", row.of.Name, got, row.pods)
		}
		full := Defaults().Full(row.of)
		if got := full.Total() - row.of.Interfaces + hostPods; got != row.pods || full.First != row.of.IPv4PerInterface {
			t.Errorf("%s: full it takes %+v, which is %d pods; the table says %d", row.of.Name, full, got, row.pods)
		}
	}
}

// The simulated AWS, on which everything else is measured, says the same of
// every type that it knows as the independent table.
func TestTheStagesTypesAgreeWithThePluginsTable(t *testing.T) {
	w, err := world.New(&worldfile.File{Time: time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)}, world.Options{})
	expect.OK(t, err)
	table := map[string]limit{}
	for _, row := range limits(t) {
		table[row.of.Name] = row
	}
	known := 0
	for in := (&ec2.DescribeInstanceTypesInput{}); in != nil; {
		page, err := w.EC2().DescribeInstanceTypes(in)
		expect.OK(t, err)
		for _, info := range page.InstanceTypes {
			known++
			row, is := table[string(info.InstanceType)]
			if !is {
				t.Errorf("%s is not in the independent table: add it", info.InstanceType)
				continue
			}
			interfaces, each := int(aws.ToInt32(info.NetworkInfo.MaximumNetworkInterfaces)), int(aws.ToInt32(info.NetworkInfo.Ipv4AddressesPerInterface))
			if interfaces != row.of.Interfaces || each != row.of.IPv4PerInterface || (info.Hypervisor == ec2types.InstanceTypeHypervisorNitro) != (row.of.Hypervisor == "nitro") {
				t.Errorf("%s: the stage says %d interfaces of %d, %s; the table %+v", info.InstanceType, interfaces, each, info.Hypervisor, row.of)
			}
		}
		if in = nil; page.NextToken != nil {
			in = &ec2.DescribeInstanceTypesInput{NextToken: page.NextToken}
		}
	}
	if known < 40 {
		t.Errorf("the stage names %d types only", known)
	}
}

func TestPodSubnets(t *testing.T) {
	const a, b = "us-west-2a", "us-west-2b"
	at := func(id, zone string, free int, tags ...string) snapshot.Subnet {
		n := snapshot.Subnet{ID: id, VPC: "vpc-0a", Zone: zone, Free: free, Tags: map[string]string{}}
		for i := 0; i < len(tags); i += 2 {
			n.Tags[tags[i]] = tags[i+1]
		}
		return n
	}
	node := at("subnet-0node", a, 50)
	shut := at("subnet-0node", a, 50, discoveryTag, "0")
	tagged := at("subnet-0pods", a, 4000, discoveryTag, "1")
	const custom, label = "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG", "ENI_CONFIG_LABEL_DEF"
	byZone := map[string]string{custom: "true", label: "topology.kubernetes.io/zone"}
	config := func(name, subnet string) snapshot.ENIConfig {
		return snapshot.ENIConfig{Name: name, Subnet: subnet}
	}
	old := "amazon-k8s-cni:v1.20.4"
	own := Places{First: true, Further: []string{"subnet-0node"}}
	tests := []struct {
		name    string
		cni     snapshot.CNI
		node    snapshot.Subnet
		others  []snapshot.Subnet
		configs []snapshot.ENIConfig
		want    Places
	}{
		{"no tags", snapshot.CNI{}, node, []snapshot.Subnet{at("subnet-0b", a, 9000)}, nil, own},
		{"a tagged subnet of the zone, with more free", snapshot.CNI{}, node, []snapshot.Subnet{tagged}, nil, Places{First: true, Further: []string{"subnet-0pods", "subnet-0node"}}},
		{"of another zone, another VPC", snapshot.CNI{}, node, []snapshot.Subnet{at("subnet-0pods", b, 4000, discoveryTag, "1"), {ID: "subnet-0x", VPC: "vpc-0x", Zone: a, Tags: map[string]string{discoveryTag: "1"}}}, nil, own},
		{"switched off", snapshot.CNI{Env: map[string]string{"ENABLE_SUBNET_DISCOVERY": "false"}}, node, []snapshot.Subnet{tagged}, nil, own},
		{"the node's own is shut", snapshot.CNI{}, shut, []snapshot.Subnet{tagged}, nil, Places{Further: []string{"subnet-0pods"}}},
		{"shut, and no other", snapshot.CNI{}, shut, nil, nil, Places{Further: []string{}}},
		{"a value of 0 counts since 1.22.1 only", snapshot.CNI{Image: old}, shut, []snapshot.Subnet{at("subnet-0pods", a, 4000, discoveryTag, "0")}, nil, Places{First: true, Further: []string{"subnet-0pods", "subnet-0node"}}},
		{"for this cluster", snapshot.CNI{Env: map[string]string{"CLUSTER_NAME": "prod"}}, node, []snapshot.Subnet{at("subnet-0pods", a, 4000, discoveryTag, "1", clusterTagHead+"prod", "", clusterTagHead+"other", "")}, nil, Places{First: true, Further: []string{"subnet-0pods", "subnet-0node"}}},
		{"for another cluster", snapshot.CNI{Env: map[string]string{"CLUSTER_NAME": "prod"}}, node, []snapshot.Subnet{at("subnet-0pods", a, 4000, discoveryTag, "1", clusterTagHead+"other", "")}, nil, own},
		{"for another cluster, and aws-node knows no name", snapshot.CNI{}, node, []snapshot.Subnet{at("subnet-0pods", a, 4000, discoveryTag, "1", clusterTagHead+"other", "")}, nil, Places{First: true, Further: []string{"subnet-0pods", "subnet-0node"}}},
		{"the node's own without the tag is any cluster's", snapshot.CNI{Env: map[string]string{"CLUSTER_NAME": "prod"}}, at("subnet-0node", a, 50, clusterTagHead+"other", ""), nil, nil, own},
		{"custom networking by zone", snapshot.CNI{Env: byZone}, node, []snapshot.Subnet{tagged, at("subnet-0second", a, 1)}, []snapshot.ENIConfig{config(b, "subnet-0second"), config(a, "subnet-0pods")}, Places{Further: []string{"subnet-0pods"}}},
		{"by zone, and none for it", snapshot.CNI{Env: byZone}, node, []snapshot.Subnet{tagged}, []snapshot.ENIConfig{config(b, "subnet-0pods")}, Places{Further: []string{"subnet-0pods"}, Doubt: NoConfig}},
		{"by a label, one ENIConfig in the zone", snapshot.CNI{Env: map[string]string{custom: "true"}}, node, []snapshot.Subnet{tagged, at("subnet-0far", b, 10)}, []snapshot.ENIConfig{config("blue", "subnet-0pods"), config("green", "subnet-0pods"), config("far", "subnet-0far")}, Places{Further: []string{"subnet-0pods"}}},
		{"by a label, two subnets", snapshot.CNI{Env: map[string]string{custom: "true"}}, node, []snapshot.Subnet{tagged, at("subnet-0second", a, 1)}, []snapshot.ENIConfig{config("blue", "subnet-0pods"), config("default", "subnet-0second")}, Places{Further: []string{"subnet-0pods", "subnet-0second"}, Doubt: NodesChoose}},
		{"custom networking without ENIConfigs", snapshot.CNI{Env: map[string]string{custom: "true"}}, node, nil, nil, Places{Further: []string{}, Doubt: NoConfig}},
		{"an ENIConfig to a subnet that was not read", snapshot.CNI{Env: map[string]string{custom: "true"}}, node, nil, []snapshot.ENIConfig{config("default", "subnet-0gone")}, Places{Further: []string{}, Doubt: NoConfig}},
		{"custom networking goes before discovery", snapshot.CNI{Env: byZone}, shut, []snapshot.Subnet{tagged, at("subnet-0second", a, 1)}, []snapshot.ENIConfig{config(a, "subnet-0second")}, Places{Further: []string{"subnet-0second"}}},
		{"IPv6", snapshot.CNI{Env: map[string]string{"ENABLE_IPv6": "true"}}, node, []snapshot.Subnet{tagged}, nil, Places{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := SettingsOf(&tt.cni).PodSubnets(tt.node, append([]snapshot.Subnet{tt.node}, tt.others...), tt.configs)
			expect.Same(t, "PodSubnets", got, tt.want)
		})
	}
}

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
	expect.Same(t, "got", FittingPools(town(), Defaults(), []Pool{pool(func(p *Pool) { p.Nodes, p.Wanted = few(7), 2 })}), want)
}

var now = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC) // a Friday

// series is what a subnet of 1,019 addresses had every five minutes until now,
// by how many hours ago that was.
func series(hours float64, free func(ago float64) float64) []snapshot.Sample {
	var list []snapshot.Sample
	for ago := time.Duration(hours * float64(time.Hour)); ago >= 0; ago -= slot {
		v := math.Round(min(max(free(ago.Hours()), 0), 1019))
		list = append(list, snapshot.Sample{Subnet: "subnet-1", At: now.Add(-ago), Free: int(v), Total: 1019})
	}
	return list
}

func wave(ago float64) float64 { return 600 + 250*math.Cos(ago*math.Pi/12) }

func TestForecast(t *testing.T) {
	fall := func(perHour, left float64) func(float64) float64 {
		return func(ago float64) float64 { return min(left+perHour*ago, 1000) }
	}
	tests := []struct {
		name    string
		samples []snapshot.Sample
		reason  Reason
		left    time.Duration // of falls, to a tenth
	}{
		{"nothing", nil, TooFewSamples, 0},
		{"three looks", series(0.17, fall(10, 500)), TooFewSamples, 0},
		{"nobody looked lately", series(72, fall(10, 500))[:72*12-10], TooFewSamples, 0},
		{"still", series(72, fall(0, 500)), NoTrend, 0},
		{"no more than needed", series(72, fall(50, 9)), Reached, 0},
		{"a leak of hours", series(72, fall(42, 429)), Steady, 10 * time.Hour},
		{"a leak of days", series(24*14, fall(4, 105)), Steady, 24 * time.Hour},
		{"ten a minute", series(72, fall(600, 259)), Fast, 25 * time.Minute},
		{"a leak on a daily wave", series(24*10, func(ago float64) float64 { return wave(ago) - 300 + 5*min(ago, 60) }), Steady, 11 * time.Hour},
		{"a daily wave, as it falls", series(24*10, func(ago float64) float64 { return wave(ago + 16) }), Wave, 0},
		{"one deployment", series(72, func(ago float64) float64 { return 900 - 600*b(ago < 1) }), NoTrend, 0},
		{"one that takes a quarter of an hour", series(72, func(ago float64) float64 { return 900 - 600*min(max(1-ago, 0)*4, 1) }), NoTrend, 0},
		{"a spike just now", series(72, func(ago float64) float64 { return 900 - 880*b(ago < 0.01) }), NoTrend, 0},
		{"a leak that ended", series(72, func(ago float64) float64 { return 300 + 40*max(ago-8, 0) }), NoTrend, 0},
		{"given back", series(72, func(ago float64) float64 { return 300 + 40*min(ago, 15) + 400*b(ago < 0.3) }), Rising, 0},
		{"rising", series(72, func(ago float64) float64 { return 600 - 5*ago }), Rising, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Forecast(tt.samples, 9, now)
			left, known := r.Left(now)
			if r.Reason != tt.reason || known != (tt.left > 0 || tt.reason == Reached) {
				t.Fatalf("Forecast = %+v, want %q", r, tt.reason)
			}
			if d := left - tt.left; d.Abs() > tt.left/10+5*time.Minute {
				t.Errorf("%s are left, want about %s (%+v)", left, tt.left, r)
			}
			if r.Falls() && (r.Earliest.After(r.Empty) || !r.Latest.IsZero() && r.Latest.Before(r.Empty) || r.Since.After(now) || r.From < r.Free) {
				t.Errorf("odd: %+v", r)
			}
		})
	}
}

func b(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func TestSince(t *testing.T) {
	r := Forecast(series(96, func(ago float64) float64 { return min(1000, 400+50*ago) }), 9, now)
	if got := now.Sub(r.Since); (got-12*time.Hour).Abs() > time.Hour || r.From < 980 || r.From > 1020 || math.Abs(r.PerHour-50) > 1 {
		t.Errorf("since %s, from %d, %v an hour; want 12 h, 1000, 50", got, r.From, r.PerHour)
	}
}

// Gaps, restarts, looks by others in between and the order do not matter; another
// number of addresses is another subnet.
func TestForecastOfOddSamples(t *testing.T) {
	leak := series(72, func(ago float64) float64 { return min(1000, 429+42*ago) })
	rng := rand.New(rand.NewPCG(1, 2))
	holes := slices.DeleteFunc(slices.Clone(leak), func(s snapshot.Sample) bool {
		ago := now.Sub(s.At).Hours()
		return rng.Float64() < 0.1 || ago > 20 && ago < 26 || ago > 6 && ago < 6.7
	})
	twice := append(slices.Clone(leak), leak...)
	unknown := slices.Clone(leak)
	for i := range unknown {
		unknown[i].Total *= i % 2
	}
	hours := append(slices.DeleteFunc(slices.Clone(leak), func(s snapshot.Sample) bool { return now.Sub(s.At) > 24*time.Hour }), slices.DeleteFunc(slices.Clone(leak), func(s snapshot.Sample) bool {
		return now.Sub(s.At) <= 24*time.Hour || s.At.Minute() != 55
	})...)
	rng.Shuffle(len(hours), func(i, k int) { hours[i], hours[k] = hours[k], hours[i] })
	later := append(slices.Clone(leak), snapshot.Sample{At: now.Add(time.Hour), Free: 1000, Total: 1019})
	for name, list := range map[string][]snapshot.Sample{"holes": holes, "twice": twice, "totals unknown": unknown, "hours before today, in any order": hours, "one of tomorrow": later} {
		r := Forecast(list, 9, now)
		left, _ := r.Left(now)
		if r.Reason != Steady || (left-10*time.Hour).Abs() > time.Hour {
			t.Errorf("%s: %+v, want a steady fall that leaves 10 h", name, r)
		}
	}
	grown := slices.Clone(leak)
	for i := range grown[:len(grown)-3] {
		grown[i].Total = 507
	}
	if r := Forecast(grown, 9, now); r.Reason != TooFewSamples {
		t.Errorf("another subnet: %+v", r)
	}
}

// A warning does not come and go with what is foretold, and ends when addresses
// come back. It is the same whether the samples are added one by one or read.
func TestWarn(t *testing.T) {
	leak := func(ago float64) float64 { return min(1000, 20+20*(ago+24)) }
	samples := series(120, func(ago float64) float64 { return leak(ago - 24) })
	var w Series
	began, flips, last := time.Time{}, 0, false
	for i, s := range samples {
		w.Add(s)
		_, warn := w.Warn(9, 24*time.Hour, s.At)
		if warn != last {
			flips++
			last = warn
			if warn {
				began = s.At
			}
		}
		if i%97 == 0 {
			if _, again := Warn(samples[:i+1], 9, 24*time.Hour, s.At); again != warn {
				t.Errorf("%s: %v one by one, %v all at once", s.At, warn, again)
			}
		}
	}
	if flips != 1 || now.Sub(began) < 20*time.Hour {
		t.Errorf("it changed %d times, first %s before the end", flips, now.Sub(began))
	}
	back := append(samples[:len(samples)-6:len(samples)-6], samples[len(samples)-6:]...)
	for i := len(back) - 3; i < len(back); i++ {
		back[i].Free += 600
	}
	if r, warn := Warn(back, 9, 24*time.Hour, now); warn {
		t.Errorf("after 600 came back: %+v", r)
	}
}

// Whatever the samples are, a forecast ends, and what it says is whole.
func FuzzForecast(f *testing.F) {
	f.Add(uint64(1), 300, 9, 251)
	f.Add(uint64(2), 2500, 0, 0)
	f.Add(uint64(3), 20, -5, 4091)
	f.Fuzz(func(t *testing.T, seed uint64, n, need, total int) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var list []snapshot.Sample
		at, free := now, total
		for range min(max(n, 0), 3000) {
			at = at.Add(-time.Duration(rng.Int64N(int64(10 * time.Minute))))
			if rng.IntN(200) == 0 {
				at = at.Add(-time.Duration(rng.Int64N(int64(40 * 24 * time.Hour))))
			}
			free += rng.IntN(21) - 9
			list = append(list, snapshot.Sample{At: at, Free: free, Total: total})
		}
		r, _ := Warn(list, need, 24*time.Hour, now)
		if r.Falls() && (r.Empty.IsZero() || math.IsNaN(r.PerHour) || r.PerHour <= 0 || r.Since.IsZero()) {
			t.Errorf("%+v", r)
		}
	})
}

func TestSettingsWithoutTheCNI(t *testing.T) {
	expect.Same(t, "SettingsOf(nil)", SettingsOf(nil), Defaults())
}

func TestSettingsOf(t *testing.T) {
	with := func(change func(*Settings)) Settings {
		s := Defaults()
		change(&s)
		return s
	}
	const image = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni"
	tests := []struct {
		name string
		cni  snapshot.CNI
		want Settings
	}{
		{"nothing said", snapshot.CNI{Image: image + ":v1.23.1-eksbuild.1"}, Defaults()},
		{"before the tag's value counted", snapshot.CNI{Image: image + ":v1.22.0-eksbuild.1"}, with(func(s *Settings) { s.ByValue = false })},
		{"from then on", snapshot.CNI{Image: image + ":v1.22.1"}, Defaults()},
		{"before other subnets were looked for", snapshot.CNI{Image: image + ":v1.17.9"}, with(func(s *Settings) { s.Discovery, s.ByValue = false, false })},
		{"a version that is none", snapshot.CNI{Image: image + ":v1.latest.0"}, Defaults()},
		{"no version", snapshot.CNI{Image: image + "@sha256:0123"}, Defaults()},
		{"a registry with a port", snapshot.CNI{Image: "registry:5000/cni:v1.17.0"}, with(func(s *Settings) { s.Discovery, s.ByValue = false, false })},
		{"switched off", snapshot.CNI{Env: map[string]string{"ENABLE_SUBNET_DISCOVERY": "False"}}, with(func(s *Settings) { s.Discovery = false })},
		{"a value that is none leaves it on", snapshot.CNI{Env: map[string]string{"ENABLE_SUBNET_DISCOVERY": "maybe"}}, Defaults()},
		{"custom networking by zone", snapshot.CNI{Env: map[string]string{"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "1", "ENI_CONFIG_LABEL_DEF": "topology.kubernetes.io/zone", "CLUSTER_NAME": "prod"}},
			with(func(s *Settings) { s.Elsewhere, s.ConfigLabel, s.Cluster = true, "topology.kubernetes.io/zone", "prod" })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, "SettingsOf", SettingsOf(&tt.cni), tt.want)
		})
	}
}
