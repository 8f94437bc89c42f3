package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/exit"
	"rollcall/shared/report"
)

// What is asked for alone is told, and what could not be looked at and may be about it.
func TestOnly(t *testing.T) {
	r := Result{
		Incidents: []Incident{
			{Cause: "a", Instances: []string{"i-1"}, Nodegroups: []string{"workers"}}, {Cause: "b", Resources: []string{"i-2"}, Nodegroups: []string{"spot"}},
			{Cause: "c", Resources: []string{"nodepool/gpu"}}, {Cause: "d", Confidence: "advice"},
		},
		Unknown: []Unknown{{Check: "u1", Resource: "i-1"}, {Check: "u2", Resource: "i-2 i-3"}, {Check: "u3", Resource: "prod"}, {Check: "u4", Resource: "i-1 i-2 subnet-1"}, {Check: "u5"}, {Check: "u6", Resource: "i-9"}},
	}
	seen := []report.Observation{{Launches: []report.Launch{
		{Instance: "i-1", Nodegroup: "workers", Group: "eks-workers"}, {Instance: "i-2", Nodegroup: "spot"}, {Instance: "i-3", Nodegroup: "spot"},
	}}}
	for name, tt := range map[string]struct{ instance, nodegroup, causes, unknown string }{
		"all":                  {"", "", "abcd", "u1 u2 u3 u4 u5 u6 "},
		"an instance":          {"i-1", "", "a", "u1 u3 u4 u5 "},
		"one among resources":  {"i-2", "", "b", "u2 u3 u4 u5 "},
		"a nodegroup":          {"", "spot", "b", "u2 u3 u4 u5 u6 "},
		"a NodePool":           {"", "gpu", "c", "u3 u4 u5 u6 "},
		"a group":              {"", "eks-workers", "", "u1 u3 u4 u5 u6 "},
		"both, not each other": {"i-1", "spot", "", "u3 u4 u5 "},
	} {
		t.Run(name, func(t *testing.T) {
			c := r
			c.Incidents, c.Unknown = append([]Incident{}, r.Incidents...), append([]Unknown{}, r.Unknown...)
			got := c.Only(tt.instance, tt.nodegroup, seen)
			if want := got.Status() == exit.Healthy; got.Healthy != want {
				t.Errorf("healthy %v, want %v", got.Healthy, want)
			}
			causes, unknown := "", ""
			for _, i := range got.Incidents {
				causes += i.Cause
			}
			for _, u := range got.Unknown {
				unknown += u.Check + " "
			}
			if diff := cmp.Diff([]string{tt.causes, tt.unknown}, []string{causes, unknown}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
