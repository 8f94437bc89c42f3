package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/shared/checkid"
	"rollcall/shared/diagnosis"
)

func TestLaunchesOf(t *testing.T) {
	obs := Observation{Launches: []Launch{{Instance: "i-1", Status: Joined}, {Instance: "i-2", Status: Missed}}}
	ofNodes := diagnosis.Cause{Check: checkid.IPLeakedInterfaces, Instances: []string{"i-1", "i-2", "i-3"}}
	ofPods := ofNodes
	ofPods.Symptoms = []checkid.ID{checkid.IPPodWithoutAddress}
	for name, test := range map[string]struct {
		cause diagnosis.Cause
		want  []string
	}{
		"of launches":     {ofNodes, []string{"i-1", "i-2", "i-3"}},
		"of Ready nodes'": {ofPods, []string{"i-2", "i-3"}},
	} {
		var got []string
		for _, l := range obs.LaunchesOf(test.cause) {
			got = append(got, l.Instance)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
