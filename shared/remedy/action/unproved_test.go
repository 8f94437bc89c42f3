package action

import (
	"testing"

	"rollcall/shared/snapshot"
)

func TestUnproved(t *testing.T) {
	const rest = " the cluster's only tags say, which anybody who can start an instance can set: look before you approve."
	for want, things := range map[string][]string{
		"":                              nil,
		"That subnet-0a is" + rest:      {"subnet-0a"},
		"That i-0a and i-0b are" + rest: {"i-0a", "i-0b"},
	} {
		if got := Unproved(things); got != want {
			t.Errorf("%v: %q, want %q", things, got, want)
		}
	}
}

// An instance in a subnet proves that the cluster launches there only where a group of the
// cluster launched it: anybody may start one with its tags.
func TestLaunchesInto(t *testing.T) {
	owned := map[string]string{"kubernetes.io/cluster/prod": "owned"}
	grouped := map[string]string{"kubernetes.io/cluster/prod": "owned", "aws:autoscaling:groupName": "a"}
	group := func(tags map[string]string) snapshot.Group {
		return snapshot.Group{Name: "a", Tags: tags, Instances: []snapshot.GroupInstance{{ID: "i-0a"}}}
	}
	for name, tt := range map[string]struct {
		s    snapshot.Snapshot
		want bool
	}{
		"nothing is there":              {snapshot.Snapshot{}, false},
		"a group of the cluster has it": {snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-0a", Subnet: "subnet-0a", Tags: grouped}}, Groups: []snapshot.Group{group(owned)}}, true},
		"in another subnet":             {snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-0a", Subnet: "subnet-0b", Tags: grouped}}, Groups: []snapshot.Group{group(owned)}}, false},
		"a tagged stranger":             {snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-0z", Subnet: "subnet-0a", Tags: owned}}, Groups: []snapshot.Group{group(owned)}}, false},
		"of another cluster's group":    {snapshot.Snapshot{Instances: []snapshot.Instance{{ID: "i-0a", Subnet: "subnet-0a", Tags: grouped}}, Groups: []snapshot.Group{group(nil)}}, false},
	} {
		tt.s.Cluster.Name = "prod"
		l := Look{Snapshot: &tt.s}
		l.Subject.Cluster = "prod"
		if got := l.LaunchesInto("subnet-0a"); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
