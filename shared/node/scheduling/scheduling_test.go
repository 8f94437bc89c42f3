package scheduling

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAmount(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "100": "100", "1.5": "3/2", ".5": "1/2", "500m": "1/2", "250u": "1/4000", "3n": "3/1000000000", "2k": "2000", "1M": "1000000", "7G": "7000000000",
		"1Ki": "1024", "400Gi": "429496729600", "1Ei": "1152921504606846976", "1e3": "1000", "12E2": "1200", "2E": "2000000000000000000", "-1": "-1", " 4 ": "4", "1.": "1",
	} {
		if got, ok := ParseAmount(text); !ok || got.RatString() != want {
			t.Errorf("ParseAmount(%q) = %s, %v; want %s", text, got.RatString(), ok, want)
		}
	}
	for _, text := range []string{"", "cpu", "1 Gi", "1GI", "0x10", "1/2", "1e", "1e999", "∞", "1Gi!", "--1"} {
		if got, ok := ParseAmount(text); ok || got.Sign() != 0 {
			t.Errorf("ParseAmount(%q) = %s, %v; want none", text, got.RatString(), ok)
		}
	}
}

func TestRemaining(t *testing.T) {
	for name, tt := range map[string]struct{ limit, used, want string }{
		"left":                 {"100", "96", "4"},
		"none left":            {"1k", "1000", "0"},
		"more than is allowed": {"10", "12", "-2"},
		"other units":          {"1Gi", "1024Mi", "0"},
		"not counted":          {"100", "", "none"},
		"nothing is allowed":   {"0", "", "0"},
		"no amount":            {"many", "1", "none"},
		"no amount is used":    {"1", "many", "none"},
	} {
		got, ok := Remaining(tt.limit, tt.used)
		if ok != (tt.want != "none") || ok && got.RatString() != tt.want {
			t.Errorf("%s: %v, %v; want %s", name, got, ok, tt.want)
		}
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, seed := range []string{"100", "500m", "400Gi", "1e3", "-.5Ki", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) { ParseAmount(text) }) // must not panic, nor take for ever
}

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
