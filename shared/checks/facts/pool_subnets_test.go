package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/node/scheduling"
	"rollcall/shared/snapshot"
)

func TestPoolSubnets(t *testing.T) {
	class := snapshot.ClassRef{Group: snapshot.KarpenterGroup, Kind: "EC2NodeClass", Name: "gpu"}
	a, b, c := snapshot.ZonedSubnet{ID: "subnet-a", Zone: "us-west-2a"}, snapshot.ZonedSubnet{ID: "subnet-b", Zone: "us-west-2b"}, snapshot.ZonedSubnet{ID: "subnet-c", Zone: "us-west-2c"}
	tagged := func(id, zone, team string) snapshot.Subnet {
		return snapshot.Subnet{ID: id, Zone: zone, Tags: map[string]string{"karpenter.sh/discovery": "prod", "team": team}}
	}
	subnets := []snapshot.Subnet{tagged("subnet-a", "us-west-2a", "ml"), tagged("subnet-b", "us-west-2b", "web"), {ID: "subnet-c", Zone: "us-west-2c"}}
	terms := func(list ...snapshot.SelectorTerm) snapshot.NodeClass {
		return snapshot.NodeClass{Name: "gpu", Subnets: list}
	}
	zones := func(operator string, values ...string) []snapshot.Requirement {
		return []snapshot.Requirement{{Key: scheduling.ZoneLabel, Operator: operator, Values: values}}
	}
	for name, tt := range map[string]struct {
		class    snapshot.NodeClass
		requires []snapshot.Requirement
		subnets  []snapshot.Subnet
		want     []snapshot.ZonedSubnet
		known    bool
	}{
		"as the class says":           {snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{b, a}}, nil, nil, []snapshot.ZonedSubnet{a, b}, true},
		"in one zone":                 {snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{a, b}}, zones("In", "us-west-2b"), nil, []snapshot.ZonedSubnet{b}, true},
		"in all zones but one":        {snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{a, b}}, zones("NotIn", "us-west-2b"), nil, []snapshot.ZonedSubnet{a}, true},
		"in a zone without a subnet":  {snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{a, b}}, zones("In", "us-west-2d"), nil, nil, true},
		"by tags":                     {terms(snapshot.SelectorTerm{Tags: map[string]string{"karpenter.sh/discovery": "prod", "team": "ml"}}), nil, subnets, []snapshot.ZonedSubnet{a}, true},
		"by a tag of any value":       {terms(snapshot.SelectorTerm{Tags: map[string]string{"team": "*"}}), nil, subnets, []snapshot.ZonedSubnet{a, b}, true},
		"by id, or by a tag":          {terms(snapshot.SelectorTerm{ID: "subnet-c"}, snapshot.SelectorTerm{Tags: map[string]string{"team": "web"}}), nil, subnets, []snapshot.ZonedSubnet{b, c}, true},
		"by nothing":                  {terms(snapshot.SelectorTerm{}), nil, subnets, nil, true},
		"by tags, and no subnet read": {terms(snapshot.SelectorTerm{ID: "subnet-c"}), nil, nil, nil, false},
		"it says nothing":             {snapshot.NodeClass{Name: "gpu"}, nil, subnets, nil, false},
		"it found none": {snapshot.NodeClass{Name: "gpu", Conditions: map[string]snapshot.ObservedCondition{"SubnetsReady": {Condition: snapshot.Condition{Status: "False"}}}},
			nil, subnets, nil, true},
		"its class is not there": {snapshot.NodeClass{Name: "other"}, nil, subnets, nil, true},
	} {
		s := &snapshot.Snapshot{Read: map[snapshot.Source]bool{snapshot.EC2NodeClassesOf: true, snapshot.Subnets: tt.subnets != nil}, EC2NodeClasses: []snapshot.NodeClass{tt.class}, Subnets: tt.subnets}
		got, known := PoolSubnets(NewView(s), snapshot.NodePool{Name: "gpu", Class: class, Requirements: tt.requires})
		if diff := cmp.Diff(tt.want, got); diff != "" || known != tt.known {
			t.Errorf("%s: known %v, want %v (-want +got):\n%s", name, known, tt.known, diff)
		}
	}
	if _, known := PoolSubnets(NewView(&snapshot.Snapshot{}), snapshot.NodePool{Name: "gpu", Class: class}); known {
		t.Error("the classes were not read, and it is known where they launch")
	}
}

// TestSubnetOfKarpentersInstance: EC2 forgets the subnet of a terminated
// instance; the class leaves no choice where it has one in the zone.
func TestSubnetOfKarpentersInstance(t *testing.T) {
	class := snapshot.NodeClass{Name: "gpu", Selected: []snapshot.ZonedSubnet{{ID: "subnet-a", Zone: "us-west-2a"}, {ID: "subnet-b1", Zone: "us-west-2b"}, {ID: "subnet-b2", Zone: "us-west-2b"}}}
	s := NewView(&snapshot.Snapshot{
		Read:           map[snapshot.Source]bool{snapshot.EC2NodeClassesOf: true},
		NodePools:      []snapshot.NodePool{{Name: "other"}, {Name: "gpu", Class: snapshot.ClassRef{Group: snapshot.KarpenterGroup, Name: "gpu"}}},
		EC2NodeClasses: []snapshot.NodeClass{class},
	})
	for _, tt := range []struct{ pool, zone, has, want string }{
		{"gpu", "us-west-2a", "", "subnet-a"}, {"gpu", "us-west-2b", "", ""}, {"gpu", "us-west-2c", "", ""}, {"gpu", "us-west-2a", "subnet-x", "subnet-x"},
		{"other", "us-west-2a", "", ""}, {"", "us-west-2a", "", ""},
	} {
		for _, tag := range []string{scheduling.PoolLabel, AutoPoolTag} {
			if got := SubnetOf(s, &snapshot.Instance{ID: "i-1", Zone: tt.zone, Subnet: tt.has, Tags: map[string]string{tag: tt.pool}}); got != tt.want {
				t.Errorf("%+v by %s: %q", tt, tag, got)
			}
		}
	}
}
