package scheduling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fieldMessages are messages of schedulers of several versions.
func fieldMessages() map[string][]obstacleKind {
	return map[string][]obstacleKind{
		"0/12 nodes are available: 1 node(s) had volume node affinity conflict, 2 Insufficient memory, 2 node(s) didn't match node selector, 9 Insufficient cpu.":                                                        {VolumeElsewhere, TooSmall, NotSelected, TooSmall},
		"0/3 nodes are available: 1 node(s) had untolerated taint {dedicated: gpu, x: y}, 2 node(s) had volume node affinity conflict. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.": {Tainted, VolumeElsewhere},
		"0/3 nodes are available: 3 node(s) had no available volume zone.":                                                                                        {VolumeElsewhere},
		"0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) exceed max volume count.":                                                               {Cordoned, TooSmall},
		"0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/2 nodes are available: 2 No preemption victims found.":          {Unbound},
		"pod didn't trigger scale-up (it wouldn't fit if a new node is added): 1 node(s) had volume node affinity conflict, 2 node(s) didn't match node selector": {VolumeElsewhere, NotSelected},
		"0/4 nodes are available: 2 node(s) had volume node affinity conflict, 2 node(s) didn't match Pod's node affinity/selector.":                              {VolumeElsewhere, NotSelected},
		"running PreBind plugin: timed out":                               {OtherObstacle},
		"persistentvolumeclaim \"redis\" not found":                       {OtherObstacle},
		"0/1 nodes are available: 1 something that a later version says.": {OtherObstacle},
		"": nil,
	}
}

func TestObstacles(t *testing.T) {
	for message, want := range fieldMessages() {
		var got []obstacleKind
		for _, o := range Obstacles(message) {
			got = append(got, o.Kind)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", message, diff)
		}
	}
}

func FuzzObstacles(f *testing.F) {
	for message := range fieldMessages() {
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, message string) {
		for _, o := range Obstacles(message) {
			if o.nodes < 0 && message == "" {
				t.Error("an obstacle of nothing")
			}
		}
	})
}
